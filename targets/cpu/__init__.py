"""Native code for processors: which kernel takes which operator, what kernels expand to, what the processor has, and the way to object files."""
