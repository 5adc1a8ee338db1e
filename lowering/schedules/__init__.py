"""Fast bodies for contractions, convolutions, pooling and row programs: MLIR text in upstream dialects, made for concrete shapes.

    kernel = Matmul(m=128, n=1536, k=384, epilogue=Epilogue((Input((1536,)),), add_bias), machine=processor().machine())
    text = kernel.emit("linear")                       # func.func private @linear(lhs, rhs, in0, out)
    packed = kernel.pack(weight, transposed=True)      # once, NumPy

A kernel is a frozen dataclass that says which problem it solves; `types` are its function's arguments (memrefs, contiguous unless
strides are given), `scratch` the shape of the float32 buffer it needs, `pack` the weights as it takes them. float32 only.
`functions` has exp, erf, tanh and the activations made of them for epilogues and loops. Which operators become which kernel, and where buffers live, is decided elsewhere.
"""

from xdsl_exir.lowering.schedules.contraction import Matmul
from xdsl_exir.lowering.schedules.convolution import Conv2d
from xdsl_exir.lowering.schedules.pooling import MaxPool2d
from xdsl_exir.lowering.schedules.text import Epilogue, Input, Machine, Text

__all__ = ["Conv2d", "Epilogue", "Input", "Machine", "Matmul", "MaxPool2d", "Text"]
