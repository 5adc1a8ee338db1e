"""What `dispatch` cuts programs into, by kind: kernels written by schedules, rows, groups; and the memory they share."""
