"""Building linalg for other compilers: named operations where there is one, borders as `tensor.pad`, and sums of products in the dtype that
elements are computed in, as PyTorch has them. Compilers know how to tile these; loops that accumulate in float64 they may refuse.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseIntElementsAttr, IndexType, TensorType, i64
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.expr import Dim
from xdsl_exir.dialects.named_linalg import LOOPS, OPERATIONS, NamedOp, Token, linear, renamed, tokens
from xdsl_exir.lowering.body_types import compute_dtype
from xdsl_exir.lowering.linalg import LinalgBuilder
from xdsl_exir.lowering.tensors import Tensor, static_size, storage_type

# --- which name loops have -----------------------------------------------------------------------------------

KINDS: dict[tuple[type[Operation], ...], str] = {
    (arith.MulfOp, arith.AddfOp): "product",
    (arith.MuliOp, arith.AddiOp): "product",
    (arith.MaximumfOp,): "max",
    (arith.MaxSIOp,): "max",
    (arith.AddfOp,): "sum",
    (arith.AddiOp,): "sum",
}
"""What bodies do, by their operations."""


def kind_of_name(name: str) -> str:
    """What the loops of a name do to elements."""
    return name.rpartition("_")[2] if name.startswith("pooling") else "product"


NAMES = {(kind_of_name(name), renamed(tokens(text))): name for name, text in LOOPS.items()}


def kind_of_body(block: Block) -> str | None:
    """What a body does to elements, widened or not, and the result so far, if it does no more than that."""
    *ops, last = block.ops
    *elements, total = block.args
    widened = {op.input: op.result for op in ops if isinstance(op, arith.ExtFOp)}
    elements = [widened.get(element, element) for element in elements]
    ops = [op for op in ops if not isinstance(op, arith.ExtFOp)]
    kind = KINDS.get(tuple(map(type, ops)))
    if kind is None or last.operands[0] is not ops[-1].results[0]:
        return None
    term = ops[0].results[0] if kind == "product" else elements[0]
    if set(ops[-1].operands) != {total, term} or (kind == "product" and list(ops[0].operands) != elements):
        return None
    return kind


def index_of(expr: AffineExpr, kept: set[int]) -> tuple[Token, tuple[int, ...]] | None:
    """An index of an operand, and a window's stride and dilation; None where it is neither a loop nor a window."""
    if isinstance(expr, AffineDimExpr):
        return (str(expr.position),), ()
    form = linear(expr)
    if form is None or form[1] or len(form[0]) != 2:
        return None
    place, tap = sorted(form[0], key=lambda loop: loop not in kept)
    if place not in kept or tap in kept:
        return None
    return (str(place), str(tap)), (form[0][place], form[0][tap])


def named(op: GenericOp) -> NamedOp | None:
    """The named operation that does what a `linalg.generic` does, which gives it its body; None where there is none."""
    kind = kind_of_body(op.body.block)
    kept = {loop for loop, type in enumerate(op.iterator_types) if type.data is IteratorType.PARALLEL}
    found = [[index_of(expr, kept) for expr in map.data.results] for map in op.indexing_maps]
    known = [[one for one in operand if one is not None] for operand in found]
    if kind is None or len(op.outputs) != 1 or known != found:
        return None
    name = NAMES.get((kind, renamed([[token for token, _ in operand] for operand in known])))
    if name is None:
        return None
    scales = [scale for operand in known for _, scale in operand if scale]
    properties: dict[str, Attribute] = {}
    if scales:
        sizes = TensorType(i64, [len(scales)])
        for of, numbers in zip(("strides", "dilations"), zip(*scales, strict=True), strict=True):
            properties[of] = DenseIntElementsAttr.from_list(sizes, numbers)
    made = OPERATIONS[name].build(
        operands=[op.inputs, op.outputs],
        result_types=[[result.type for result in op.results]],
        properties=properties,
        regions=[op.detach_region(op.body)],
    )
    if not scales:
        made.properties["indexing_maps"] = made.indexing_maps
    return made


# --- building ------------------------------------------------------------------------------------------------


class NamedBuilder(LinalgBuilder):
    """A builder that names what it can."""

    def add(self, op: Operation) -> SSAValue:
        name = named(op) if isinstance(op, GenericOp) else None
        return super().add(name or op)

    def accumulator(self, dtype: DType) -> DType:
        return compute_dtype(dtype)

    def pad(self, input: Tensor, low: Sequence[Dim], high: Sequence[Dim], value: complex) -> Tensor:
        if not any((*low, *high)) or input.dtype.category is Category.COMPLEX:
            return super().pad(input, low, high, value)
        borders = list(zip(low, input.shape, high, strict=True))
        shape = tuple(a + size + b for a, size, b in borders)
        # Known is only what is made of known numbers, whatever is known of their sum.
        known = [all(isinstance(size, int) for size in border) for border in borders]
        sizes = [
            static_size(size) if all_ else DYNAMIC_INDEX for size, all_ in zip(shape, known, strict=True)
        ]
        block = Block(arg_types=[IndexType()] * input.ndim)
        block.add_op(tensor.YieldOp(self.constant(value, input.dtype)))
        op = tensor.PadOp(
            input.value,
            self.dynamic(low),
            self.dynamic(high),
            Region(block),
            list(map(static_size, low)),
            list(map(static_size, high)),
            TensorType(storage_type(input.dtype), sizes),
        )
        return self.retyped(Tensor(self.add(op), (*sizes,), input.dtype), shape)
