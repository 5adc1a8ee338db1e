"""A function of single values on whole batches of them, as `torch.vmap` does it.

What depends on no element of the batch is as it was. Operators that are element by element, and picking an element of a
tensor by such values, are themselves on larger tensors. A function of others is called element by element.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, Region, SSAValue

from xdsl_exir.dialects import control_flow as cf
from xdsl_exir.dialects.builder import Builder, Namespace, meta, sizes
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.spec import BY_ELEMENTS, OperatorSpec
from xdsl_exir.dialects.tensors import is_tensor_type

CREATION = frozenset(
    f"aten.{name}" for stem in ("full", "ones", "zeros") for name in (f"{stem}_like", f"new_{stem}")
)
"""Operators that see of a tensor only what kind it is."""
OF_DIMENSIONS = frozenset({"aten.prelu", "aten._prelu_kernel"})
"""Operators of the family that are not element by element: which weight an element has depends on its place."""
INDEX = frozenset({"aten.index.Tensor", "aten._unsafe_index.Tensor"})


def batched(
    builder: Builder, region: Region, batch: Sequence[SSAValue], others: Sequence[SSAValue]
) -> SSAValue:
    """The result of a function that gives a 0-dim tensor, for every element of a batch.

    Its first arguments are 0-dim, and `batch` what they are for all elements: tensors of equally many dimensions that
    broadcast. Its last ones are `others`. The result broadcasts to the shape of the batch.
    """
    block = region.block
    values = dict[SSAValue, SSAValue](zip(block.args, (*batch, *others), strict=True))
    varying = set[SSAValue](block.args[: len(batch)])
    ops = list(block.ops)
    for op in ops:
        if varying.intersection(op.operands):
            if not isinstance(op, cf.YieldOp) and not has_rule(op, varying):
                return mapped(builder, region, batch, others)
            varying.update(op.results)
    aten, single = Namespace(builder), [1] * meta(batch[0]).ndim

    def whole(value: SSAValue) -> SSAValue:
        """What a value is; of a 0-dim tensor one of as many dimensions as the batch, which has as much say in the dtype."""
        known = values[value]
        return aten.view(known, single) if is_tensor_type(known.type) and not meta(known).ndim else known

    for op in ops:
        if isinstance(op, cf.YieldOp):
            return whole(op.values[0])
        if isinstance(op, OperatorOp) and varying.intersection(op.operands):
            values[op.results[0]] = builder.call(op.SPEC.qualified_name, (), op.arguments(whole))
        else:
            copy = op.clone(values)
            builder.insert(copy)
            values.update(zip(op.results, copy.results, strict=True))
    raise AssertionError("a region ends in a yield")


def has_rule(op: Operation, varying: set[SSAValue]) -> bool:
    """Whether an operation on single values, some of which vary, is the same operation on batches."""
    if not isinstance(op, OperatorOp) or len(op.results) != 1 or meta(op.results[0]).ndim:
        return False
    name = op.SPEC.qualified_name
    if name in INDEX:
        source, *indices = op.operands
        return (
            source not in varying
            and len(indices) == meta(source).ndim
            and not any(meta(i).ndim for i in indices)
        )
    single = all(not is_tensor_type(value.type) or not meta(value).ndim for value in op.operands)
    return single and is_pointwise(op.SPEC)


def is_pointwise(spec: OperatorSpec) -> bool:
    """Whether an operator is element by element, and gives the same for the same elements."""
    if "random" in spec.tags or spec.qualified_name in OF_DIMENSIONS:
        return False
    return spec.family in BY_ELEMENTS or "pointwise" in spec.tags or spec.qualified_name in CREATION


def mapped(
    builder: Builder, region: Region, batch: Sequence[SSAValue], others: Sequence[SSAValue]
) -> SSAValue:
    """The same by calls of the function, element by element."""
    aten = Namespace(builder)
    whole = aten.broadcast_tensors(list(batch))
    flat = [aten.reshape(value, [-1]) for value in whole]
    body = region.clone()
    types = [value.type for value in flat]
    results = [cf.stack_type(type, cf.leading_dimension(types)) for type in cf.yielded_types(body)]
    op = builder.insert(cf.MapOp(flat, others, body, results))
    return aten.reshape(op.results[0], sizes(aten, whole[0]))
