"""What targets know: which operators they have kernels for, the kernels, and the machine that runs them. A folder each.

Targets of other packages are entry points (`runtime.targets`).
"""
