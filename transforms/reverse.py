"""Reverse mode: gradients of values carried back through operations, by the rules of `gradients/`.

`pull_back` walks a block's operations backwards. Each gives its operands a share of what its results have; shares of a
value are added. Nothing here knows what a loss or a parameter is; `grad` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from xdsl.ir import Operation, SSAValue

from xdsl_exir.dialects.builder import Builder, Namespace, cast, meta, sizes
from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.exir import RefineOp
from xdsl_exir.dialects.meta import may_equal
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.registry import Entry
from xdsl_exir.dialects.signature import STRAIGHT
from xdsl_exir.dialects.spec import OperatorSpec
from xdsl_exir.dialects.tensors import is_value
from xdsl_exir.errors import ExirError, Unsupported, UnsupportedError
from xdsl_exir.locations import location_text
from xdsl_exir.narrowing import is_sequence
from xdsl_exir.transforms.decompositions.pointwise import real_part
from xdsl_exir.transforms.gradients import GRADIENTS
from xdsl_exir.transforms.gradients.control_flow import REGIONS, Share, is_differentiable

NO_RULE = "it has no gradient rule"


def has_rule(spec: OperatorSpec) -> bool:
    """Whether it is known of an operator what its gradients are, if only that there are none."""
    return GRADIENTS.find(spec) is not None


def _is_constant(op: Operation) -> bool:
    if not isinstance(op, OperatorOp):
        return False
    entry = GRADIENTS.find(op.SPEC)
    return entry is not None and entry.options.get("constant", False)


def varied(ops: Iterable[Operation], wrt: Iterable[SSAValue]) -> set[SSAValue]:
    """What changes continuously with some values."""
    found = set(wrt)
    for op in ops:
        if not found.isdisjoint(op.operands) and not _is_constant(op):
            found.update(filter(is_differentiable, op.results))
    return found


def _useful(ops: Sequence[Operation], changing: set[SSAValue], ends: Iterable[SSAValue]) -> list[Operation]:
    """The operations, last one first, that lead from what changes to the ends."""
    wanted, found = set(ends), list[Operation]()
    for op in reversed(ops):
        if any(result in wanted and result in changing for result in op.results):
            found.append(op)
            wanted.update(op.operands)
    return found


def _obstacles(ops: Iterable[Operation]) -> Iterator[Unsupported]:
    """The operations that no gradient passes, in their order."""
    for op in ops:
        if isinstance(op, OperatorOp):
            if not has_rule(op.SPEC):
                yield Unsupported(op.name, NO_RULE, location_text(op))
        elif not isinstance(op, RefineOp) and type(op) not in REGIONS:
            yield Unsupported(op.name, NO_RULE, location_text(op))


class Backward:
    """Gradients of values, as far as they are known while operations are walked backwards."""

    def __init__(self, builder: Builder, changing: set[SSAValue]):
        self.builder = builder
        self.aten = Namespace(builder)
        self.changing = changing
        """What gradients are for."""
        self.gradients: dict[SSAValue, SSAValue] = {}

    def add(self, value: SSAValue, share: SSAValue) -> None:
        """Adds to the gradient of a value."""
        share = fitted(self.aten, share, value)
        known = self.gradients.get(value)
        self.gradients[value] = share if known is None else self.aten.add.Tensor(known, share)

    def pass_through(self, op: Operation) -> None:
        """Gives an operation's operands what its results have."""
        grads = [self.gradients.pop(result, None) for result in op.results]
        if all(grad is None for grad in grads):
            return
        self.builder.follow(op)
        shares = list(self.shares(op, grads))
        self.builder.follow(op)
        for value, share in shares:
            if share is not None and value in self.changing:
                self.add(value, share)

    def shares(self, op: Operation, grads: list[SSAValue | None]) -> Iterable[Share]:
        if isinstance(op, RefineOp):
            return [(op.input, grads[0])]
        if STRAIGHT in op.attributes:
            return [(op.operands[0], grads[0])]
        if isinstance(op, OperatorOp):
            entry = GRADIENTS.find(op.SPEC)
            assert entry is not None
            return self.of_operator(op, entry, grads)
        return REGIONS[type(op)](self.aten, op, grads, self.changing, pull_back)

    def of_operator(self, op: OperatorOp, entry: Entry[Any], grads: list[SSAValue | None]) -> Iterator[Share]:
        """What an operator's rule gives each argument that is a tensor."""
        arguments = op.arguments()
        tensors = [arguments[slot.name] for slot in op.SLOTS.slots if slot.is_tensor]
        needed = [any(value in self.changing for value in values_of(tensor)) for tensor in tensors]
        extras = {"result": op.results[0], "results": tuple(op.results), "needed": needed}
        # A list of results, and several, come as one thing; the one result of most operators alone.
        is_one = len(op.SPEC.schema.returns) == 1 and not op.SPEC.schema.returns[0].type.is_list
        given = entry.call({**extras, **arguments}, self.aten, grads[0] if is_one else tuple(grads))
        shares = [given] if is_value(given) or given is None else list(given)
        for tensor, share in zip(tensors, shares, strict=False):
            if share is not None:
                yield from zip(values_of(tensor), values_of(share), strict=True)


def values_of(argument: Any) -> list[Any]:
    """The values of an argument, which may be a list of them or none."""
    if is_sequence(argument):
        return list(argument)
    return [] if argument is None else [argument]


def fitted(aten: Namespace, gradient: SSAValue, like: SSAValue) -> SSAValue:
    """A gradient with the shape and the dtype of the value that it is for: summed over what the value was repeated along,
    repeated along what it was summed over, real where the value is, cast back from what it was promoted to."""
    wanted = meta(like)
    if wanted.dtype.category < Category.COMPLEX and meta(gradient).dtype.category is Category.COMPLEX:
        gradient = real_part(aten, gradient)
    if (extra := meta(gradient).ndim - wanted.ndim) > 0:
        gradient = aten.sum.dim_IntList(gradient, list(range(extra)))
    given = meta(gradient).shape
    pairs = enumerate(zip(given, wanted.shape, strict=True)) if extra >= 0 else ()
    if repeated := [dim for dim, (had, size) in pairs if size == 1 and had != 1]:
        gradient = aten.sum.dim_IntList(gradient, repeated, True)
    gradient = cast(aten, gradient, wanted.dtype)
    summed = (had == 1 and size != 1 for had, size in zip(given, wanted.shape, strict=False))
    if extra < 0 or any(summed):
        gradient = aten.expand(gradient, sizes(aten, like))
    if gradient.type == like.type:
        return gradient
    if not may_equal(gradient.type, like.type):
        raise ExirError(f"a gradient is {gradient.type}, for a value of {like.type}")
    return aten.builder.insert(RefineOp(gradient, like.type)).results[0]


def pull_back(
    builder: Builder, ops: Sequence[Operation], seeds: Sequence[Share], wrt: Sequence[SSAValue]
) -> list[SSAValue | None]:
    """The gradients of values, from those of others (`seeds`) that operations compute of them; None where there is none.

    Raises `UnsupportedError` listing the operations in between of which no gradients are known.
    """
    changing = varied(ops, wrt)
    way = _useful(ops, changing, [value for value, _ in seeds])
    if obstacles := list(_obstacles(reversed(way))):
        raise UnsupportedError(obstacles)
    backward = Backward(builder, changing)
    for value, share in seeds:
        if share is not None:
            backward.add(value, share)
    for op in way:
        backward.pass_through(op)
    return [backward.gradients.get(value) for value in wrt]
