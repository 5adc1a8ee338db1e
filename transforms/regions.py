"""Building operations with regions so that it reads like PyTorch's calls of functions that take functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Block, Region, SSAValue

from xdsl_exir.dialects import control_flow as cf
from xdsl_exir.dialects.builder import Namespace, cast, meta

Values = Sequence[SSAValue]


def scan(
    aten: Namespace,
    combine: Callable[[Values, Values, Values], tuple[Values, Values]],
    init: Values,
    xs: Values,
    additional: Values = (),
) -> tuple[list[SSAValue], list[SSAValue]]:
    """`torch._higher_order_ops.scan`: the last carried values, and the outputs of all steps, stacked.

    `combine` builds one step, of the carried values, one element of each of `xs` and the additional values: the next carried
    values and the outputs. It sees nothing else. Carried values are tensors. Where a step changes their dtypes, it begins
    with `init` cast to the new ones, so `combine` may be called twice.
    """
    elements = [cf.slice_type(x.type) for x in xs]
    first, last = len(init), len(init) + len(xs)
    while True:
        block = Block(arg_types=[*cf.types_of(init), *elements, *cf.types_of(additional)])
        args = list(block.args)
        with aten.builder.inside(block):
            carried, outputs = combine(args[:first], args[first:last], args[last:])
            aten.builder.insert(cf.YieldOp(*carried, *outputs))
        dtypes = [meta(value).dtype for value in carried]
        if dtypes == [meta(value).dtype for value in init]:
            break
        init = [cast(aten, value, dtype) for value, dtype in zip(init, dtypes, strict=True)]
    length = cf.leading_dimension(cf.types_of(xs))
    types = [*cf.types_of(init), *(cf.stack_type(output.type, length) for output in outputs)]
    made = aten.builder.insert(cf.ScanOp(init, xs, additional, Region(block), types))
    return list(made.results[:first]), list(made.results[first:])
