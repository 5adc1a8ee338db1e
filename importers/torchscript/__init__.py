"""TorchScript archives (`torch.jit.save`) and what becomes of them, without PyTorch.

`archive` opens the zip, `pickles` decodes its pickles as data, `source` its code's classes and signatures, `compile` the bodies
of functions to the `torchscript` dialect. `machine` runs that: with arrays, or with the shapes of inputs, which gives a
graph of aten operators as `torch.export` would (`trace`).
"""
