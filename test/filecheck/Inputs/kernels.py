"""Prints a small kernel of each kind, as operations in generic form."""

from xdsl.dialects.builtin import ModuleOp

from xdsl_exir.dialects.expr import Expr
from xdsl_exir.lowering.printing import generic_text
from xdsl_exir.targets.cpu.kernels import (
    Chain,
    Constant,
    Conv2d,
    Elementwise,
    Epilogue,
    Fourier,
    Input,
    Machine,
    Matmul,
    Pool,
    Rows,
    Step,
)
from xdsl_exir.targets.cpu.kernels.description import Body, Instruction
from xdsl_exir.targets.cpu.kernels.row_nodes import (
    Load,
    Map,
    Reduce,
)
from xdsl_exir.targets.cpu.kernels.tails import without_tail

ONE, TWO = Machine(4, 16, 1), Machine(4, 16, 2)
BIASED = Epilogue(
    (Input((4,)),),
    (
        Step(Elementwise("aten.add.Tensor"), (0, 1)),
        Step(Elementwise("aten.maximum"), (2, Constant(0.0))),
    ),
)
SUB = Elementwise("aten.sub.Tensor")
MEAN = Body(
    1,
    (
        Instruction("arith.constant", (), "f64", 6.0),
        Instruction("arith.divf", (0, 1), "f64"),
        Instruction("arith.truncf", (2,)),
    ),
)
ABSOLUTE, DIVIDE = (Elementwise(f"aten.{name}") for name in ("abs", "div.Tensor"))
SHARES = (Load(6), Map(6, (0,), element=ABSOLUTE), Reduce(1, (1,)), Map(6, (1, 2), element=DIVIDE))
LEFT, TAIL = without_tail(Rows((4,), (Input((4, 6)),), SHARES, (3,), ONE), 4)
KERNELS = {
    "matmul": Matmul(2, 4, 8, epilogue=BIASED, machine=ONE),
    "symbolic": Matmul(Expr.symbol("s0"), 4, 8, machine=TWO),
    "transposed": Matmul(4, 4, 4, rhs="transposed", machine=ONE),
    "channels": Conv2d(1, 2, 3, 3, 4, (2, 2), machine=ONE),
    "depthwise": Conv2d(1, 2, 4, 4, 2, (3, 3), padding=(1, 1), groups=2, machine=Machine(4, 32, 1)),
    "pool": Pool("max", 1, (4, 4), (2, 2), (2, 2), (2, 2), (0, 0), (1, 1), machine=ONE),
    "rows": Rows(
        (3,),
        (Input((3, 6)),),
        (Load(6), Reduce(1, (0,), "f64"), Map(1, (1,), element=MEAN), Map(6, (0, 2), element=SUB)),
        (3,),
        ONE,
    ),
    "chain": Chain(
        Matmul(4, 6, 2, rhs="row_major", machine=ONE),
        LEFT,
        0,
        Matmul(4, 4, 6, rhs="row_major", machine=ONE),
        TAIL,
    ),
    "long": Matmul(2, 4, 5000, machine=ONE),
    "fourier": Fourier(1, 4, 4, "r2c", True, 3, 0, "f32", machine=ONE),
}

module = ModuleOp([kernel.function(name) for name, kernel in KERNELS.items()])
module.verify()
print(generic_text(module))
