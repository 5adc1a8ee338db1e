"""Matrix products, pools, reductions and scans as dispatches: which schedule takes which operator, and with what folded in.

Weights that do not depend on inputs are packed; elementwise operators that follow go into the epilogue; permuted
operands and results are read and written in place. Reductions over outer dimensions read halves as they are. A `cat` of
many pieces is copies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import Dim, apply, prod
from xdsl_exir.dialects.meta import wrap_dims
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.sizes import is_static
from xdsl_exir.lowering.dispatches.buffers import Buffer, Shape, Value
from xdsl_exir.lowering.dispatches.outline import Body, Outline, Packed
from xdsl_exir.lowering.dispatches.views import RENAMES, is_view, permuted, reshaped
from xdsl_exir.lowering.edge_to_linalg import meta_of, shape_of
from xdsl_exir.lowering.windows import Sliding, even_lines, lines_of
from xdsl_exir.targets.cpu.epilogues import HALVES, Absorber, epilogue_input
from xdsl_exir.targets.cpu.kernels import Bags, Columns, Conv2d, Kernel, Machine, Matmul, Pool, Scan
from xdsl_exir.targets.cpu.kernels.pooling import Pooled
from xdsl_exir.targets.cpu.widenings import HELD, Groups, before_widening, groups_of, in_pairs, unwiden

if TYPE_CHECKING:
    from xdsl_exir.lowering.dispatch import Planner
    from xdsl_exir.lowering.linalg import LinalgBuilder
    from xdsl_exir.lowering.tensors import Tensor

Schedule = Callable[["Planner", OperatorOp, Machine], bool]
SCHEDULES: dict[str, tuple[str | None, Schedule]] = {}
"""By operator: the kind of kernel, None for MLIR's lowering; and what makes a dispatch of it and what it can absorb, if a schedule takes it."""


def schedule(name: str, kernel: type[Kernel] | None) -> Callable[[Schedule], Schedule]:
    """Registers how an operator becomes a scheduled dispatch."""

    def register(function: Schedule) -> Schedule:
        SCHEDULES[name] = (kernel and kernel.__name__, function)
        return function

    return register


def seen_along(shape: Shape, dim: int) -> tuple[Dim, Dim, Dim]:
    """[outer, size, inner]: a tensor of a shape, seen along a dimension."""
    dim %= len(shape)
    return prod(shape[:dim]), shape[dim], prod(shape[dim + 1 :])


ELEMENTS = {dt.Float: "f32", dt.Double: "f64", dt.Int: "i32", dt.Long: "i64"}
"""What products have kernels for, by dtype."""
WIDE_FLOATS = {dt.Float: "f32", dt.Double: "f64"}
HALVES_TOO = {**ELEMENTS, **HALVES}
"""What scans have kernels for, and what reductions down columns read, by dtype."""
FLOATS = {**WIDE_FLOATS, **HALVES}
"""What pools and bags have kernels for, by dtype."""


def broadcast(planner: Planner, value: SSAValue, shape: Shape) -> Value:
    """A value as input of an epilogue on results of a shape."""
    given = planner.value(value)
    found = epilogue_input(given, shape, shape) or epilogue_input(planner.contiguous(given), shape, shape)
    assert found is not None
    return found


def dispatch(
    planner: Planner,
    kernel: Matmul | Conv2d,
    arguments: Sequence[Value],
    out: Value,
    body: Callable[[Sequence[Value]], Body | None],
    ops: Sequence[OperatorOp],
    dtype: dt.DType = dt.Float,
) -> None:
    """Calls a kernel for operators, with its scratch buffer, of the dtype that it computes in, if it has one."""
    scratch = [planner.allocate(kernel.scratch, dtype)] if kernel.scratch else []
    arguments = [*arguments, *scratch, out]
    planner.call_kernel(kernel, arguments, lambda: body(arguments), ops)


# --- matrix products -----------------------------------------------------------------------------------------


@schedule("aten.mm", Matmul)
def _mm(planner: Planner, op: OperatorOp, machine: Machine) -> bool:
    lhs, rhs = op.operands
    return product(planner, op, machine, lhs, rhs)


@schedule("aten.addmm", Matmul)
def _addmm(planner: Planner, op: OperatorOp, machine: Machine) -> bool:
    a = op.arguments()
    return (a["alpha"], a["beta"]) == (1, 1) and product(
        planner, op, machine, a["mat1"], a["mat2"], a["self"]
    )


@schedule("aten.bmm", Matmul)
def _bmm(planner: Planner, op: OperatorOp, machine: Machine) -> bool:
    lhs, rhs = op.operands
    return product(planner, op, machine, lhs, rhs)


def product(
    planner: Planner,
    op: OperatorOp,
    machine: Machine,
    lhs: SSAValue,
    rhs: SSAValue,
    bias: SSAValue | None = None,
) -> bool:
    """A matrix product, batched or not, plus a bias that broadcasts to it."""
    result = op.results[0]
    given = [lhs, rhs, *([] if bias is None else [bias])]
    *batch, m, n = shape_of(result)
    k = shape_of(lhs)[-1]
    dtype = meta_of(result).dtype
    plain = dtype is dt.Float
    one_dtype = all(meta_of(value).dtype is dtype for value in given) and dtype in ELEMENTS
    # Only float32 has epilogues.
    if not one_dtype or not (plain or bias is None) or 0 in (*batch, m, n, k):
        return False
    if not is_as_said(planner, (*batch, m, k, *batch, k, n), (*shape_of(lhs), *shape_of(rhs))):
        return False
    sides = sides_of(planner, op, machine, lhs, rhs)
    apart = batches_apart(planner, sides.lhs, sides.rhs) if batch else None
    if apart is not None:
        lhs, rhs, batch = apart
        sides = replace(sides, lhs=lhs, rhs=rhs)
    frame = (*batch, m, n)
    first = [] if bias is None else [broadcast(planner, bias, frame)]
    absorber = Absorber(planner, result, lambda value: True, frame, narrows=plain)
    absorber.run()
    stored = meta_of(absorber.result).dtype
    epilogue = absorber.epilogue(first, sides.factor)
    kernel = Matmul(m, n, k, tuple(batch), epilogue=epilogue, machine=machine)
    kernel = replace(kernel, dtype=ELEMENTS[dtype], out_dtype=HALVES.get(stored))
    kernel, left, right = laid(planner, kernel, sides)
    absorber.commit()
    out, place = placed(planner, result, frame, stored)
    kernel = replace(kernel, out_strides=None if out.is_contiguous else out.strides)
    computed = [*sides.ops, op]

    def unpacked(b: LinalgBuilder, packed: Tensor) -> Tensor:
        return b.convert(kernel.unpack(b, packed), meta_of(sides.rhs).dtype)

    instead = {sides.rhs: Packed(right, unpacked)} if kernel.rhs == "packed" else {}
    if sides.groups:
        first = [sides.groups.packed(planner, kernel, instead), *first]

    def body(arguments: Sequence[Value]) -> Body | None:
        stored = absorber.result if absorber.ops else place
        outline = Outline(planner, computed, True)
        outline.epilogue(absorber.ops, absorber.made, place)
        return outline.body(arguments, [stored], instead)

    ops = [*computed, *absorber.ops]
    dispatch(planner, kernel, [left, right, *first, *absorber.inputs], out, body, ops, dtype)
    return True


@dataclass(frozen=True)
class Sides:
    """Both sides of a product as a kernel reads them: not what makes float32 of them, nor what multiplies all of one."""

    lhs: SSAValue
    rhs: SSAValue
    factor: float
    """Of the product."""
    ops: Sequence[OperatorOp]
    """What made the sides of these."""
    pairs: bool = False
    """Whether they are bfloat16 that is multiplied in pairs."""
    groups: Groups | None = None
    """What the right-hand side is, if its rows have scales in groups."""


def sides_of(planner: Planner, op: OperatorOp, machine: Machine, lhs: SSAValue, rhs: SSAValue) -> Sides:
    """The sides of a product, taken out of what waits to make them."""
    if meta_of(op.results[0]).dtype is not dt.Float:
        return Sides(lhs, rhs, 1.0, [])
    (left, scaled), (right, also_scaled) = planner.unscale(lhs, op), planner.unscale(rhs, op)
    factor, factors = left * right, [*scaled, *also_scaled]
    groups = groups_of(planner, rhs, op) if len(shape_of(lhs)) == 2 else None
    if groups is not None:
        return Sides(lhs, groups.weight, factor, [*groups.ops, *factors], groups=groups)
    pairs = in_pairs(planner, op, machine, lhs, rhs)
    widening = pairs or unwiden(planner, rhs, op, HELD)
    narrow: dict[SSAValue, SSAValue] = {each.results[0]: each.operands[0] for each in widening}
    return Sides(narrow.get(lhs, lhs), narrow.get(rhs, rhs), factor, [*widening, *factors], bool(pairs))


def laid(planner: Planner, kernel: Matmul, sides: Sides) -> tuple[Matmul, Value, Value]:
    """The kernel for its sides as they lie, and these: a matrix that is known is packed, others are read where they are."""
    rhs, (m, n, k) = sides.rhs, (kernel.m, kernel.n, kernel.k)
    left = planner.plain(in_batches(planner.value(sides.lhs), (*kernel.batch, m, k)))
    if sides.pairs:
        left = left if left.strides[-1] == 1 else planner.contiguous(left)
        kernel = replace(kernel, lhs_dtype="bf16")
    if rhs in planner.constants and not kernel.batch and is_static((k, n)):
        kernel = planner.target.tuned(replace(kernel, lhs_strides=strides_of(left)))
        held, size = dt.BFloat16 if sides.pairs else meta_of(rhs).dtype, sides.groups and sides.groups.size
        kernel = replace(kernel, rhs_dtype=HELD.get(held), scaled=size)
        packed = kernel.pack(planner.constants[rhs].astype(held.numpy, copy=False))
        return kernel, left, planner.constant(packed, held)
    right = planner.plain(in_batches(planner.value(rhs), (*kernel.batch, k, n)))
    right = right if 1 in right.strides[-2:] else planner.contiguous(right)
    layout = "row_major" if right.strides[-1] == 1 else "transposed"
    if layout == "transposed":
        right = swapped(right)
        if m == 1 and left.strides[-1] != 1:
            left = planner.contiguous(left)  # a row, for which the kernel need not pack a matrix
    kernel = replace(kernel, rhs=layout, rhs_strides=strides_of(right), rhs_dtype=HELD.get(right.dtype))
    return planner.target.tuned(replace(kernel, lhs_strides=strides_of(left))), left, right


def placed(planner: Planner, result: SSAValue, frame: Shape, dtype: dt.DType) -> tuple[Value, SSAValue]:
    """Memory of a dtype for a product's result, which it has in the shape `frame`, and which value it is then: the result, or the view of it that lies so that
    what permutes it further on moves nothing."""
    strides = merged_heads(result, frame) if len(frame) > 2 else None
    place = seen_as(result, frame) if strides is not None else result
    out = planner.allocate(frame, dtype, strides if place is not None else None)
    if place is None or place is result:
        whole = reshaped(out, shape_of(result))
        assert whole is not None
        planner.values[result] = whole
        return out, result
    planner.values[place] = out
    return out, place


def is_as_said(planner: Planner, said: Shape, made: Shape) -> bool:
    """Whether a kernel takes or makes tensors of the sizes that the program says: some by guards, which are checked."""
    apart = [pair for pair in zip(said, made, strict=True) if pair[0] != pair[1]]
    if any(isinstance(size, int) and isinstance(other, int) for size, other in apart):
        return False
    for size, other in apart:
        planner.require(apply("eq", other, size), f"{other} elements along a dimension are not {size}")
    return True


def batches_apart(
    planner: Planner, lhs: SSAValue, rhs: SSAValue
) -> tuple[SSAValue, SSAValue, list[Dim]] | None:
    """The operands with the several batch dimensions that a view made one of, if that view would have to copy one of them; those of
    size 1, which an `unbind` leaves, count for nothing."""
    sources = [before_view(planner, value) for value in (lhs, rhs)]
    left, right = sources
    if left is None or right is None:
        return None
    batch, other = ([size for size in shape_of(source)[:-2] if size != 1] for source in (left, right))
    if batch != other:
        return None
    seen = zip((left, right), (lhs, rhs), strict=True)
    if all(reshaped(planner.value(source), shape_of(value)) is not None for source, value in seen):
        return None
    return left, right, batch


def in_batches(value: Value, frame: Shape) -> Value:
    """Matrices seen in these dimensions: they have no others but of size 1, and sizes that `is_as_said` takes for the same."""
    apart = len(value.shape) != len(frame)
    seen = reshaped(value, (*frame[:-2], *value.shape[-2:])) if apart else value
    assert seen is not None
    return replace(seen, shape=frame, strides=() if seen.is_contiguous else seen.strides)


def before_view(planner: Planner, value: SSAValue) -> SSAValue | None:
    """What a value is a view of that has the same matrices, in more batch dimensions."""
    op = value.owner
    if value in planner.values or value in planner.constants or not isinstance(op, OperatorOp):
        return None
    if op.SPEC.qualified_name not in RENAMES or value in planner.identities:
        return None
    shape = shape_of(op.operands[0])
    same = len(shape) > len(shape_of(value)) and shape[-2:] == shape_of(value)[-2:]
    return op.operands[0] if same else None


def seen_as(result: SSAValue, shape: Shape) -> SSAValue | None:
    """The result, or the view of it that is all that is used of it, of a shape; None if there is none."""
    value = result
    while shape_of(value) != shape:
        op = value.get_user_of_unique_use()
        if not isinstance(op, OperatorOp) or op.SPEC.qualified_name not in RENAMES:
            return None
        value = op.results[0]
    return value


def swapped(value: Value) -> Value:
    """The value with its last two dimensions exchanged."""
    rank = len(value.shape)
    return permuted(value, [*range(rank - 2), rank - 1, rank - 2])


def strides_of(value: Value) -> Shape | None:
    """Strides as a kernel wants them: None for a contiguous operand."""
    return None if value.is_contiguous else value.strides


def merged_heads(result: SSAValue, frame: Shape) -> Shape | None:
    """Strides of a result, seen in the shape `frame`, that is permuted further on, such that it is then contiguous; None if that is not so or not possible.

    So attention's heads are written next to each other.
    """
    value, chain = result, list[OperatorOp]()
    while isinstance(op := value.get_user_of_unique_use(), OperatorOp) and is_view(op):
        name = op.SPEC.qualified_name
        if name not in RENAMES and name != "aten.permute":
            return None
        chain.append(op)
        value = op.results[0]
        if name == "aten.permute":
            break
    if not chain or chain[-1].SPEC.qualified_name != "aten.permute":
        return None
    dims: list[int] = chain[-1].arguments()["dims"]
    inverse = [[d % len(dims) for d in dims].index(d) for d in range(len(dims))]
    merged = Value(Buffer(0), shape_of(value), dt.Float)
    own = reshaped(permuted(merged, inverse), frame)
    return own.strides if own is not None and own.strides[-1] == 1 else None


# --- pooling -------------------------------------------------------------------------------------------------


POOLED: dict[Pooled, dict[dt.DType, str]] = {"max": FLOATS, "mean": WIDE_FLOATS}
"""Dtypes that have kernels: means of halves would have to be rounded to them."""


def pooled(
    planner: Planner,
    op: OperatorOp,
    kind: Pooled,
    lines: Sequence[Sliding],
    machine: Machine,
    **counting: Any,
) -> bool:
    """Pooling along lines of windows, of which some says how what is in them is counted."""
    x, result = op.operands[0], op.results[0]
    shape, dtype, space = shape_of(x), POOLED[kind].get(meta_of(result).dtype), len(lines)
    widths = [line.width for line in lines if isinstance(line.width, int)]
    if dtype is None or len(widths) < space or 0 in (*shape, *shape_of(result)):
        return False
    pool = Pool(
        kind,
        prod(shape[:-space]),
        tuple(line.size for line in lines),
        tuple(line.count for line in lines),
        tuple(widths),
        tuple(line.step for line in lines),
        tuple(line.pad for line in lines),
        tuple(line.spread for line in lines),
        **counting,
        machine=machine,
        dtype=dtype,
    )
    if not pool.unrolls:
        return False
    planes = reshaped(planner.contiguous(planner.value(x)), (pool.planes, *pool.size))
    target = reshaped(planner.make(result), (pool.planes, *pool.out_size))
    assert planes is not None
    assert target is not None
    wide = dt.Double if pool.wide == "f64" else dt.Float
    arguments = [planes, planner.allocate(pool.scratch, wide), target]
    planner.call_kernel(pool, arguments, lambda: Outline(planner, [op], True).body(arguments, [result]), [op])
    return True


def lines_along(op: OperatorOp) -> list[Sliding]:
    """The windows of a pool's arguments."""
    a = op.arguments()
    options = a["kernel_size"], a["stride"], a["padding"], a.get("dilation") or [1] * len(a["kernel_size"])
    return lines_of(meta_of(a["self"]), meta_of(op.results[0]), *options)


@schedule("aten.max_pool2d_with_indices", Pool)
@schedule("aten.max_pool3d_with_indices", Pool)
def _max_pool(planner: Planner, op: OperatorOp, machine: Machine) -> bool:
    return not op.results[1].uses and pooled(planner, op, "max", lines_along(op), machine)


@schedule("aten.avg_pool2d", Pool)
@schedule("aten.avg_pool3d", Pool)
def _avg_pool(planner: Planner, op: OperatorOp, machine: Machine) -> bool:
    a = op.arguments()
    given = {"divisor": a["divisor_override"], "counts_padding": a["count_include_pad"]}
    return pooled(planner, op, "mean", lines_along(op), machine, **given)


@schedule("aten._adaptive_avg_pool2d", Pool)
@schedule("aten._adaptive_avg_pool3d", Pool)
@schedule("aten.adaptive_max_pool2d", Pool)
@schedule("aten.adaptive_max_pool3d", Pool)
def _adaptive_pool(planner: Planner, op: OperatorOp, machine: Machine) -> bool:
    """Where windows are all alike."""
    result, *indices = op.results
    counts = shape_of(result)[-len(op.arguments()["output_size"]) :]
    if any(value.uses for value in indices) or 0 in counts:
        return False
    lines = even_lines(meta_of(op.operands[0]), counts)
    return lines is not None and pooled(planner, op, "max" if indices else "mean", lines, machine)


# --- reductions over outer dimensions ------------------------------------------------------------------------

REDUCED = {
    **{f"aten.{name}": kind for name, kind in (("sum.dim_IntList", "sum"), ("mean.dim", "mean"))},
    **{f"aten.{name}": kind for name, kind in (("amax", "max"), ("amin", "min"), ("prod.dim_int", "prod"))},
}
"""Kinds of reductions, by operator."""


def columns(planner: Planner, op: OperatorOp, machine: Machine) -> bool:
    """A reduction over dimensions that lie behind one another, but for some of size 1, before others that are long enough for vectors."""
    a, source = op.arguments(), op.operands[0]
    dtypes = (meta_of(source).dtype, meta_of(op.results[0]).dtype)
    sizes, given = shape_of(source), [a["dim"]] if isinstance(a["dim"], int) else a["dim"] or []
    reduced = wrap_dims(given, len(sizes))
    steps = [dim for dim, size in enumerate(sizes) if size != 1]
    shape = [sizes[dim] for dim in steps]
    dims = [at for at, dim in enumerate(steps) if dim in reduced]
    same = dtypes[0] is dtypes[1] or dtypes == (dt.Int, dt.Long)
    together = dims == list(range(dims[0], dims[-1] + 1)) and dims[-1] < len(shape) - 1 if dims else False
    if not together or not same or 0 in shape or not set(dtypes) <= set(ELEMENTS):
        return False
    outer, size, inner = (
        prod(part) for part in (shape[: dims[0]], shape[dims[0] : dims[-1] + 1], shape[dims[-1] + 1 :])
    )
    halves = before_widening(planner, source, op, through_views=False)
    value = planner.value(source if halves is None else halves.operands[0])
    few = isinstance(inner, int) and inner < machine.lanes
    if not value.is_plain or few or size == 1:
        return False
    ops = [*(unwiden(planner, source, op) if halves is not None else ()), op]
    dtype = HALVES_TOO[value.dtype]
    kernel = Columns(
        outer, size, inner, REDUCED[op.SPEC.qualified_name], dtype, ELEMENTS[dtypes[1]], machine=machine
    )
    x = reshaped(value, (outer, size, inner))
    total = {text: kind for kind, text in ELEMENTS.items()}[kernel.total]
    scratch = [planner.allocate(kernel.scratch, total)] if kernel.scratch else []
    out = reshaped(planner.make(op.results[0]), (outer, inner))
    assert x is not None
    assert out is not None
    arguments = [x, *scratch, out]
    planner.call_kernel(
        kernel, arguments, lambda: Outline(planner, ops, True).body(arguments, [op.results[0]]), ops
    )
    return True


for _name in REDUCED:
    schedule(_name, Columns)(columns)


@schedule("aten._embedding_bag", Bags)
@schedule("aten._embedding_bag_forward_only", Bags)
def bags(planner: Planner, op: OperatorOp, machine: Machine) -> bool:
    """Sums and means of rows that indices pick, where nothing else is asked for and no index is left out."""
    a, result = op.arguments(), op.results[0]
    given = [
        a[name] for name in ("weight", "indices", "offsets", "per_sample_weights") if a[name] is not None
    ]
    shapes, dtypes = [shape_of(each) for each in given], [meta_of(each).dtype for each in given]
    is_alone = not any(other.uses for other in op.results[1:])
    same = dtypes[1] is dtypes[2] and {*dtypes[::3], meta_of(result).dtype} == {dtypes[0]}
    if a["mode"] > 1 or a["padding_idx"] >= 0 or not is_alone or not same or 0 in sum(shapes, ()):
        return False
    (count, width), ([rows, _], [picked], *_) = shape_of(result), shapes
    if 0 in (count, width) or dtypes[0] not in FLOATS or dtypes[1] not in ELEMENTS:
        return False
    said = {"is_mean": a["mode"] == 1, "is_closed": a["include_last_offset"], "has_factors": len(given) > 3}
    kernel = Bags(count, picked, rows, width, FLOATS[dtypes[0]], ELEMENTS[dtypes[1]], **said, machine=machine)
    arguments = [*(planner.contiguous(planner.value(each)) for each in given), planner.make(result)]
    planner.call_kernel(
        kernel, arguments, lambda: Outline(planner, [op], True).body(arguments, [result]), [op]
    )
    return True


# --- scans ---------------------------------------------------------------------------------------------------


def scan(planner: Planner, op: OperatorOp, machine: Machine, kind: str) -> bool:
    """Scans along any dimension."""
    source = op.operands[0]
    shape, dtypes = shape_of(source), (meta_of(source).dtype, meta_of(op.results[0]).dtype)
    same = dtypes[0] is dtypes[1] or (kind in ("sum", "prod") and dtypes == (dt.Int, dt.Long))
    if not shape or not same or 0 in shape or not set(dtypes) <= HALVES_TOO.keys():
        return False
    dim: int = op.arguments()["dim"] % len(shape)
    rows = (prod(shape[:dim]), shape[dim], prod(shape[dim + 1 :]))
    narrow, wide = (HALVES_TOO[dtype] for dtype in dtypes)
    kernel = Scan(rows[0], rows[1], kind, narrow, wide, rows[2], machine)
    given = reshaped(planner.contiguous(planner.value(source)), kernel.shape)
    made = [reshaped(planner.make(result), kernel.shape) for result in op.results]
    known = [value for value in (given, *made) if value is not None]
    assert len(known) == 1 + len(made)
    planner.call_kernel(kernel, known, lambda: Outline(planner, [op], True).body(known, op.results), [op])
    return True


for _name, _kind in (("cumsum", "sum"), ("cumprod", "prod"), ("cummax", "max"), ("cummin", "min")):
    schedule(f"aten.{_name}", Scan)(partial(scan, kind=_kind))
