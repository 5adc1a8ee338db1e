"""Fast kernels for contractions, convolutions, pooling and row programs, made for concrete shapes.

    bias = Step(Elementwise("aten.add.Tensor"), (0, 1))
    kernel = Matmul(m=128, n=1536, k=384, epilogue=Epilogue((Input((1536,)),), (bias,)), machine=processor().machine())
    kernel.key, kernel.symbols                         # its canonical text, the symbols that its sizes depend on
    kernel.function("linear")                          # func.func private @linear(lhs, rhs, in0, out), of operations
    packed = kernel.pack(weight, transposed=True)      # once, NumPy

A kernel is a frozen dataclass, plain data that says which problem it solves: equal ones are found equal by their text, and keys of
caches are made of it. Only what is not in a cache is expanded to operations of upstream dialects. `types` are its
function's arguments (memrefs, contiguous unless strides are given), behind an index for each of `symbols`; `scratch` is the shape of the
float32 buffer it needs, `pack` the weights as it takes them. Products are of float32, float64 and integers, maps of halves and
Bools too (`elements`), most else of float32. Which operators become which kernel, and where buffers live, is decided elsewhere.
"""

from xdsl_exir.targets.cpu.kernels.across import Across
from xdsl_exir.targets.cpu.kernels.bags import Bags
from xdsl_exir.targets.cpu.kernels.chain import Chain
from xdsl_exir.targets.cpu.kernels.columns import Columns
from xdsl_exir.targets.cpu.kernels.contraction import Matmul
from xdsl_exir.targets.cpu.kernels.convolution import Conv2d
from xdsl_exir.targets.cpu.kernels.copies import Copy
from xdsl_exir.targets.cpu.kernels.description import Constant, Elementwise, Epilogue, Input, Machine, Step
from xdsl_exir.targets.cpu.kernels.fourier import Fourier
from xdsl_exir.targets.cpu.kernels.kernel import Kernel
from xdsl_exir.targets.cpu.kernels.orders import Order
from xdsl_exir.targets.cpu.kernels.pooling import Pool
from xdsl_exir.targets.cpu.kernels.rows import Rows
from xdsl_exir.targets.cpu.kernels.scans import Scan
from xdsl_exir.targets.cpu.kernels.selections import Select
from xdsl_exir.targets.cpu.kernels.topk import KthValue, Sort, TopK

__all__ = [
    "Across",
    "Bags",
    "Chain",
    "Columns",
    "Constant",
    "Conv2d",
    "Copy",
    "Elementwise",
    "Epilogue",
    "Fourier",
    "Input",
    "Kernel",
    "KthValue",
    "Machine",
    "Matmul",
    "Order",
    "Pool",
    "Rows",
    "Scan",
    "Select",
    "Sort",
    "Step",
    "TopK",
]
