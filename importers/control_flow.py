"""Higher-order operators of a graph: sub-graphs become regions, or go where they are called.

`cond`, `while_loop`, `map`, `scan` and their kin become operations of the `higher_order` dialect; each sub-graph is built,
functionalized, in a region of its own. Wrappers that mean nothing to values (`invoke_subgraph`, gradients on or off)
are built in place. A sub-graph that writes to its operands is refused, as PyTorch itself does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from xdsl_exir.dialects import backend
from xdsl_exir.dialects import control_flow as cf
from xdsl_exir.dialects.builder import Namespace, cast
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.exir import RefineOp
from xdsl_exir.dialects.meta import as_meta, as_operand, may_equal
from xdsl_exir.dialects.promotion import Operand, result_type
from xdsl_exir.dialects.tensors import is_tensor_type, is_value
from xdsl_exir.errors import LoadError, Unsupported, UnsupportedError
from xdsl_exir.exchange import graph as g
from xdsl_exir.importers.auto_functionalized import build_auto_functionalized, build_auto_functionalized_v2
from xdsl_exir.importers.autocast import DEFAULT_DTYPE, DTYPES, Autocast
from xdsl_exir.importers.build import GraphBuilder
from xdsl_exir.importers.functionalize import Tensor

Types: TypeAlias = Sequence[Attribute]


# --- arguments -----------------------------------------------------------------------------------------------


def _subgraph(node: g.Node, index: int) -> g.Subgraph:
    value = node.inputs[index].value if index < len(node.inputs) else None
    if not isinstance(value, g.Subgraph):
        raise LoadError(f"argument {index} is {value!r}, not a sub-graph")
    return value


def _check_operands(subgraph: g.Subgraph, count: int) -> None:
    if (inputs := len(subgraph.graph.inputs)) != count:
        raise LoadError(f"sub-graph {subgraph.name} has {inputs} inputs for {count} operands")


def _values(node: g.Node, index: int) -> tuple[g.Value, ...]:
    """A list argument; operators without additional inputs may leave the last one out."""
    value = node.inputs[index].value if index < len(node.inputs) else ()
    if not isinstance(value, tuple):
        raise LoadError(f"argument {index} is {value!r}, not a list")
    return value


def _operand(build: GraphBuilder, value: g.Value) -> SSAValue:
    """A value as operand; numbers are symbolic ones, as they are inside the sub-graphs."""
    if not isinstance(value, g.Ref | bool | int | float):
        raise LoadError(f"{value!r} passed to a sub-graph")
    return build.symbolic_operand(value)


def _operands(build: GraphBuilder, node: g.Node, index: int) -> list[SSAValue]:
    return [_operand(build, value) for value in _values(node, index)]


def _within(build: GraphBuilder, graph: g.Graph, block: Block) -> GraphBuilder:
    """What builds a sub-graph: under autocast where it is called so."""
    inner = GraphBuilder(
        graph,
        block,
        build.source,
        decided=build.decided,
        ranges=build.ranges,
        checked_ranges=build.checked_ranges,
    )
    inner.autocasts, inner.infers_types = build.autocasts[-1:], build.infers_types
    return inner


# --- regions -------------------------------------------------------------------------------------------------


class _Body:
    """A sub-graph built in a region; `finish` ends it with its yield."""

    def __init__(
        self,
        build: GraphBuilder,
        node: g.Node,
        subgraph: g.Subgraph,
        operand_types: Types,
        infers_types: bool = False,
    ):
        graph, block = subgraph.graph, Block()
        self.node = node
        self.region = Region(block)
        self.build = _within(build, graph, block)
        self.build.infers_types |= infers_types
        self.build.locate(node)
        _check_operands(subgraph, len(operand_types))
        for value, operand_type in zip(graph.inputs, operand_types, strict=True):
            type = operand_type
            if isinstance(value, g.Ref) and self.build.is_described(value.name):
                type = self.build.type_of(value.name, operand_type)
            argument = block.insert_arg(type, len(block.args))
            if isinstance(value, g.Ref):
                self.build.define(value.name, argument)
        arguments = list(self.build.values.items())
        outputs = self.build.build()
        self.build.locate(node)
        written = [name for name, value in arguments if isinstance(value, Tensor) and value.storage.version]
        if written:
            raise _unsupported(node, f"sub-graph {subgraph.name} writes to its operand '{written[0]}'")
        if None in outputs:
            raise _unsupported(node, f"sub-graph {subgraph.name} returns None")
        self.outputs: list[SSAValue] = [
            output if isinstance(output, SSAValue) else _operand(self.build, output) for output in outputs
        ]

    @property
    def types(self) -> list[Attribute]:
        """Types of what the sub-graph returns."""
        return [output.type for output in self.outputs]

    def finish(self, types: Types = ()) -> Region:
        """The region, ended with a yield of the outputs; tensors whose sizes have other names in `types` are retyped.

        `types` may be those of the first outputs only; whether the yield fits is left to the verifier.
        """
        count = min(len(types), len(self.outputs))
        retyped = [self._refined(value, type) for value, type in zip(self.outputs, types, strict=False)]
        op = cf.YieldOp(*retyped, *self.outputs[count:])
        if self.build.builder.location is not None:
            op.location = self.build.builder.location
        self.build.block.add_op(op)
        return self.region

    def _refined(self, value: SSAValue, type: Attribute) -> SSAValue:
        # A number's type says its value, so a number keeps it.
        if value.type == type or not is_tensor_type(type) or not may_equal(value.type, type):
            return value
        return self.build.builder.insert(RefineOp(value, type)).results[0]


def _unsupported(node: g.Node, reason: str) -> UnsupportedError:
    return UnsupportedError([Unsupported(node.target, reason)])


def _types_of(values: Sequence[SSAValue]) -> list[Attribute]:
    return [value.type for value in values]


def _slices(values: Sequence[SSAValue]) -> list[Attribute]:
    """Types of the values' elements along their leading dimension. Raises `LoadError` where there is none."""
    try:
        return [cf.slice_type(value.type) for value in values]
    except VerifyException as error:
        raise LoadError(str(error)) from None


# --- results -------------------------------------------------------------------------------------------------


def _check_results(names: Sequence[str | None], count: int) -> None:
    if len(names) != count:
        raise LoadError(f"{len(names)} results, its sub-graph returns {count}")


def _result_types(build: GraphBuilder, node: g.Node, default: Types) -> list[Attribute]:
    """Types of the results as the graph says them, of those it does not name as inferred."""
    names = node.result_names
    if len(names) <= len(default) and not any(map(build.is_described, names)):
        return list(default)
    _check_results(names, len(default))
    return [
        build.type_of(name, inferred) if name and build.is_described(name) else inferred
        for name, inferred in zip(names, default, strict=True)
    ]


def _define_results(build: GraphBuilder, node: g.Node, op: Operation) -> None:
    build.builder.insert(op)
    build.define_all(node.result_names, op.results)


# --- operators -----------------------------------------------------------------------------------------------


def _cond(build: GraphBuilder, node: g.Node) -> None:
    """`cond(pred, true_fn, false_fn, operands)`."""
    pred = build.argument(node.inputs[0].value)
    if isinstance(pred, bool):  # decided at export
        _inline(build, node, _subgraph(node, 1 if pred else 2), _values(node, 3))
        return
    operands = _operands(build, node, 3)
    bodies = [_Body(build, node, _subgraph(node, index), _types_of(operands)) for index in (1, 2)]
    types = _result_types(build, node, bodies[0].types)
    true_region, false_region = (body.finish(types) for body in bodies)
    _define_results(build, node, cf.CondOp(pred, operands, true_region, false_region, types))


def _delegate(build: GraphBuilder, node: g.Node) -> None:
    """`executorch_call_delegate(graph, operands, backend, what is said of it)`, as `exporters.blocks` writes it."""
    operands = _operands(build, node, 1)
    name, said = (node.inputs[index].value if index < len(node.inputs) else None for index in (2, 3))
    if not isinstance(name, str) or not isinstance(said, str):
        raise LoadError("a delegate that does not say which backend's it is")
    body = _Body(build, node, _subgraph(node, 0), _types_of(operands))
    types = _result_types(build, node, body.types)
    body.build.block.add_op(backend.YieldOp(*body.outputs))
    op = backend.DelegateOp(name, operands, body.region, types)
    op.attributes[backend.SAID] = StringAttr(said)
    _define_results(build, node, op)


def _while_loop(cls: type[cf.LoopOp]) -> Callable[[GraphBuilder, g.Node], None]:
    """`while_loop(cond_fn, body_fn, carried_inputs, additional_inputs)`."""

    def build_loop(build: GraphBuilder, node: g.Node) -> None:
        carried, additional = _operands(build, node, 2), _operands(build, node, 3)
        inputs = _types_of([*carried, *additional])
        condition, body = (_Body(build, node, _subgraph(node, index), inputs) for index in (0, 1))
        types = _result_types(build, node, body.types)
        regions = condition.finish(), body.finish(_types_of(carried))
        _define_results(build, node, cls(carried, additional, *regions, types))

    return build_loop


def _map(build: GraphBuilder, node: g.Node) -> None:
    """`map_impl(f, xs, pos_args)`."""
    xs, args = _operands(build, node, 1), _operands(build, node, 2)
    body = _Body(build, node, _subgraph(node, 0), [*_slices(xs), *_types_of(args)])
    types = _result_types(build, node, _stacked(body.types, xs))
    _define_results(build, node, cf.MapOp(xs, args, body.finish(), types))


def _scan(build: GraphBuilder, node: g.Node) -> None:
    """`scan(combine_fn, init, xs, additional_inputs)`."""
    init, xs, additional = (_operands(build, node, index) for index in (1, 2, 3))
    body = _Body(build, node, _subgraph(node, 0), [*_types_of(init), *_slices(xs), *_types_of(additional)])
    count = len(init)
    types = _result_types(build, node, [*body.types[:count], *_stacked(body.types[count:], xs)])
    _define_results(build, node, cf.ScanOp(init, xs, additional, body.finish(_types_of(init)), types))


def _associative_scan(build: GraphBuilder, node: g.Node) -> None:
    """`associative_scan(combine_fn, xs, additional_inputs)`."""
    xs, additional = _operands(build, node, 1), _operands(build, node, 2)
    slices = _slices(xs)
    body = _Body(build, node, _subgraph(node, 0), [*slices, *slices, *_types_of(additional)])
    types = _result_types(build, node, _types_of(xs))
    _define_results(build, node, cf.AssociativeScanOp(xs, additional, body.finish(slices), types))


def _flex_attention(build: GraphBuilder, node: g.Node) -> None:
    """`flex_attention(query, key, value, score_mod, block_mask, scale, kernel_options, score_args, mask_args)`.

    The block mask ends in the function that says where attention goes; the tensors before it, which blocks that leaves, and
    the options are for GPUs' kernels. PyTorch describes scores in the query's dtype, and computes them in a wider one.
    """
    match [item.value for item in node.inputs[:6]]:
        case [
            g.Ref(),
            g.Ref(),
            g.Ref(),
            g.Subgraph() as score,
            (*_, g.Subgraph() as mask),
            int() | float() as scale,
        ]:
            query, key, value = (_operand(build, item.value) for item in node.inputs[:3])
        case _:
            raise LoadError("arguments that are not query, key, value, a function, a block mask and a number")
    score_args, mask_args = _operands(build, node, 7), _operands(build, node, 8)
    if not all(is_tensor_type(each.type) for each in (query, key, value)):
        raise LoadError("query, key and value are tensors")
    indices = [cf.INDEX] * 4
    scores = _Body(build, node, score, [cf.score_type(query.type), *indices, *_types_of(score_args)], True)
    places = _Body(build, node, mask, [*indices, *_types_of(mask_args)], True)
    regions = scores.finish(), places.finish()
    op = cf.FlexAttentionOp(query, key, value, score_args, mask_args, float(scale), *regions)
    _define_results(build, node, op)


def _stacked(types: Types, xs: Sequence[SSAValue]) -> list[Attribute]:
    """Types of results that are stacked along the leading dimension of `xs`. Raises `LoadError` for others than tensors."""
    try:
        length = cf.leading_dimension(_types_of(xs))
        return [cf.stack_type(type, length) for type in types]
    except VerifyException as error:
        raise LoadError(str(error)) from None


# --- wrappers ------------------------------------------------------------------------------------------------


def _inline(build: GraphBuilder, node: g.Node, subgraph: g.Subgraph, arguments: Sequence[g.Value]) -> None:
    """Builds a sub-graph where it is called. It shares the storages of its operands, so writes to them are seen."""
    graph = subgraph.graph
    inner = _within(build, graph, build.block)
    inner.mutates, inner.autograd = build.mutates, build.autograd
    _check_operands(subgraph, len(arguments))
    for value, argument in zip(graph.inputs, arguments, strict=True):
        if isinstance(value, g.Ref):
            is_ref = isinstance(argument, g.Ref)
            inner.values[value.name] = build.values[argument.name] if is_ref else _operand(build, argument)
    outputs, names = inner.build(), node.result_names
    _check_results(names, len(outputs))
    for name, source, value in zip(names, graph.outputs, outputs, strict=True):
        if name is not None:
            known = inner.values[source.name] if isinstance(source, g.Ref) else None
            build.values[name] = known or (value if isinstance(value, SSAValue) else _operand(build, value))


def _call(function: int = 0, first: int = 1, listed: bool = False) -> Callable[[GraphBuilder, g.Node], None]:
    """How operators are built that call a sub-graph, the argument at `function`, and mean nothing else to values.

    Its operands are the arguments from `first` on, or, if `listed`, the one there. Keywords are for code generators and
    for autograd; those that are meant for the sub-graph, as `hints_wrapper` may have, are refused.
    """

    def build_call(build: GraphBuilder, node: g.Node) -> None:
        arguments = [item.value for item in node.inputs[first:] if not item.keyword]
        if listed:
            arguments, keywords = list(_values(node, first)), arguments[1:]
            if any(keywords):
                raise _unsupported(node, f"keyword arguments of its sub-graph: {keywords}")
        _inline(build, node, _subgraph(node, function), arguments)

    return build_call


def _out_dtype(build: GraphBuilder, node: g.Node) -> None:
    """`out_dtype(op, dtype, *args)`: the operator in the dtype that its arguments and `dtype` promote to, then cast."""
    match [item.value for item in node.inputs]:
        case [g.OperatorRef(operator), DType() as dtype, *given]:
            arguments = [build.argument(value) for value in given]
        case _:
            raise LoadError("arguments that do not begin with an operator and a dtype")
    seen = [as_operand(as_meta(each.type) if is_value(each) else each) for each in arguments]
    computed = result_type((Operand(dtype, 2), *(each for each in seen if isinstance(each, Operand))))
    aten = Namespace(build.builder)
    casted = [
        cast(aten, each, computed) if is_value(each) and is_tensor_type(each.type) else each
        for each in arguments
    ]
    result = cast(aten, build.builder.call(operator, casted, {}), dtype)
    build.define_all(node.result_names, [result])


def _enter_autocast(build: GraphBuilder, node: g.Node) -> None:
    """`_enter_autocast(device_type, dtype, enabled, cache_enabled)`: how autocast begins in a graph with control flow."""
    if len(node.inputs) < 3:
        raise LoadError("autocast without device, dtype and whether it is enabled")
    device, dtype, enabled = (item.value for item in node.inputs[:3])
    now = build.autocasts[-1]
    if device == "cpu":
        dtype = DEFAULT_DTYPE if dtype is None else dtype
        now = Autocast(dtype) if enabled and dtype in DTYPES else None
    elif enabled and device in _devices(build.graph):
        raise _unsupported(node, f"autocast of tensors on {device}; {EXPLICIT}")
    build.autocasts.append(now)


EXPLICIT = "ExportedProgram.run_decompositions() makes the casts explicit"


def _devices(graph: g.Graph) -> set[str]:
    """Kinds of devices that the graph's tensors are on."""
    tensors = [meta for meta in graph.values.values() if isinstance(meta, g.TensorMeta)]
    return {tensor.device.name.partition(":")[0] for tensor in tensors}


def _exit_autocast(build: GraphBuilder, node: g.Node) -> None:
    """`_exit_autocast(context)`: how autocast ends."""
    if len(build.autocasts) == 1:
        raise LoadError("autocast that has not begun")
    build.autocasts.pop()


def _autocast(build: GraphBuilder, node: g.Node) -> None:
    """`wrap_with_autocast(device_type, dtype, enabled, cache_enabled, fn, *operands)`."""
    _enter_autocast(build, node)
    _call(4, 5)(build, node)
    build.autocasts.pop()


def _set_grad_enabled(build: GraphBuilder, node: g.Node) -> None:
    """`wrap_with_set_grad_enabled(enabled, fn, *operands)`: what is made while it is off is a constant to gradients."""
    enabled, before = bool(node.inputs[0].value), build.autograd.is_on
    names = [name for item in node.inputs[2:] for name in g.references(item.value)]
    _turn(build, enabled, names if before else build.values)
    _call(1, 2)(build, node)
    _turn(build, before, [*names, *filter(None, node.result_names)])


def _turn(build: GraphBuilder, enabled: bool, names: Iterable[str]) -> None:
    """Turns gradients on or off; `names` are of all that was or will be made and written meanwhile."""
    tensors = [value for name in names if isinstance(value := build.values.get(name), Tensor)]
    build.autograd.turn(enabled, build.builder, tensors)


def _turn_all(build: GraphBuilder, node: g.Node) -> None:
    """`_set_grad_enabled(enabled)`: gradients are on or off from here on."""
    _turn(build, bool(node.inputs[0].value), build.values)


HIGHER_ORDER: dict[str, Callable[[GraphBuilder, g.Node], None]] = {
    "higher_order.auto_functionalized": build_auto_functionalized,
    "higher_order.auto_functionalized_v2": build_auto_functionalized_v2,
    "higher_order.cond": _cond,
    "higher_order.executorch_call_delegate": _delegate,
    "higher_order.while_loop": _while_loop(cf.WhileLoopOp),
    "higher_order.while_loop_stack_output": _while_loop(cf.WhileLoopStackOutputOp),
    "higher_order.map_impl": _map,
    "higher_order.scan": _scan,
    "higher_order.flex_attention": _flex_attention,
    "higher_order.associative_scan": _associative_scan,
    "higher_order.out_dtype": _out_dtype,
    "higher_order.wrap_with_set_grad_enabled": _set_grad_enabled,
    "higher_order.wrap_with_autocast": _autocast,
    "torch._C._set_grad_enabled": _turn_all,
    "torch.amp.autocast_mode._enter_autocast": _enter_autocast,
    "torch.amp.autocast_mode._exit_autocast": _exit_autocast,
    "higher_order.invoke_subgraph": _call(0, 2),
    **dict.fromkeys(
        (
            "higher_order.foreach_map",
            "higher_order.invoke_quant",
            "higher_order.invoke_quant_packed",
            "higher_order.tag_activation_checkpoint",
            "higher_order.wrap",
            "higher_order.wrap_activation_checkpoint",
        ),
        _call(),
    ),
    **dict.fromkeys(
        ("higher_order.hints_wrapper", "higher_order.run_const_graph", "higher_order.strict_mode"),
        _call(listed=True),
    ),
}
"""How each higher-order operator is built, by target."""


def build_higher_order(build: GraphBuilder, node: g.Node) -> None:
    """Builds a node whose target is in `HIGHER_ORDER`.

    Raises `UnsupportedError` for a sub-graph that writes to its operands or returns None, and for autocast; `LoadError`
    for arguments that are not those of the operator.
    """
    HIGHER_ORDER[node.target](build, node)
