"""From an exported program as plain data to a module: one function per method, with what its signature says of it.

Buffers and inputs that the program writes leave as extra results with a mutation spec, before the user's, as in programs
that PyTorch has functionalized.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from xdsl_exir.dialects.builder import Namespace, meta
from xdsl_exir.dialects.exir import RefineOp
from xdsl_exir.dialects.expr import Expr, provably
from xdsl_exir.dialects.meta import same_shape
from xdsl_exir.dialects.signature import (
    GUARDS,
    INPUT,
    MUTATIONS,
    OUTPUT,
    RANGES,
    InputAttr,
    InputKind,
    InputSpec,
    OutputAttr,
    OutputKind,
    OutputSpec,
    RangeAttr,
    checked_range,
    checked_ranges_of,
)
from xdsl_exir.dialects.tensors import (
    SymBoolType,
    is_tensor_type,
    is_value,
    tensor_type,
)
from xdsl_exir.errors import LoadError, Unsupported, UnsupportedError
from xdsl_exir.exchange import graph as g
from xdsl_exir.exchange import pytree
from xdsl_exir.exchange.guards import read_guards
from xdsl_exir.importers.block_masks import without_block_masks
from xdsl_exir.importers.build import GraphBuilder
from xdsl_exir.importers.decided import numbers_of
from xdsl_exir.importers.drawn import in_drawn_order
from xdsl_exir.importers.effects import without_tokens
from xdsl_exir.importers.functionalize import Tensor
from xdsl_exir.importers.laid import as_laid
from xdsl_exir.importers.least_sizes import least_sizes
from xdsl_exir.importers.offsets import without_offsets
from xdsl_exir.importers.sparse import in_pairs
from xdsl_exir.importers.strides import (
    clone_order,
    in_memory_order,
)
from xdsl_exir.importers.synonyms import in_aten
from xdsl_exir.importers.ties import check_ties, tie

OUTPUT_OF_INPUT = {
    InputKind.BUFFER: OutputKind.BUFFER_MUTATION,
    InputKind.PARAMETER: OutputKind.PARAMETER_MUTATION,
    InputKind.USER_INPUT: OutputKind.USER_INPUT_MUTATION,
}


def build_method(name: str, program: g.ExportedGraph, source: str) -> FuncOp:
    """The function of one exported program."""
    program = in_pairs(without_tokens(program), source)
    graph = in_aten(program.graph, source)
    graph = without_block_masks(without_offsets(graph))
    graph = in_memory_order(as_laid(graph, program.range_constraints))
    graph = in_drawn_order(graph, program.range_constraints)
    program = replace(program, graph=graph)
    block = Block()
    build = GraphBuilder(program.graph, block, source)
    arg_attrs: list[DictionaryAttr] = []
    given: dict[str, Tensor | SSAValue] = {}  # as they come, however the program sees them later
    for item in program.inputs:
        if item.kind == "constant_input":
            continue
        value = block.insert_arg(build.type_of(item.name), len(block.args))
        build.define(item.name, value)
        given[item.name] = copy(build.values[item.name])
    if build.mutates:
        tie(build, program)
        given |= {name: copy(build.values[name]) for name in given}
    guards = _guards(build, program)
    build.ranges = program.range_constraints
    build.decided = numbers_of(guards, build.ranges)
    build.checked_ranges = {name: checked_range(said) for name, said in build.ranges.items()}
    outputs = build.build()
    check_ties(program, given)
    _check_seen_as_given(build, given)
    for item in program.inputs:
        if item.kind == "constant_input":
            continue
        kind = _kind(item, given[item.name])
        target = item.name if kind is InputKind.USER_INPUT else item.target or ""
        order = dim_order(program, item.name) if kind is InputKind.USER_INPUT else None
        persistent = item.persistent is not False and item.kind != "constant_tensor"
        arg_attrs.append(_attrs(INPUT, InputAttr(InputSpec(kind, target, persistent, order))))
    values, res_attrs = _mutated_inputs(build, program, given)
    for spec_, value in zip(program.outputs, outputs, strict=True):
        if is_value(value):
            kind = OutputKind(spec_.kind)
            values.append(_as_written(build, program, given, kind, spec_.target or "", value))
            ref = spec_.value if kind is OutputKind.USER_OUTPUT else None
            order = dim_order(program, ref.name) if isinstance(ref, g.Ref) else None
            if order and len(order) != meta(value).ndim:
                order = None  # where PyTorch's tracing finds another shape than its kernels, its order says nothing
            res_attrs.append(_attrs(OUTPUT, OutputAttr(OutputSpec(kind, spec_.target or "", order))))
    block.add_op(ReturnOp(*values))
    function = FuncOp(
        name,
        ([arg.type for arg in block.args], [value.type for value in values]),
        Region(block),
        arg_attrs=ArrayAttr(arg_attrs) if arg_attrs else None,
        res_attrs=ArrayAttr(res_attrs) if res_attrs else None,
    )
    if program.range_constraints:
        said = {str(Expr.from_str_expr(size)): bounds for size, bounds in program.range_constraints.items()}
        attrs = {size: RangeAttr(bounds) for size, bounds in sorted(said.items())}
        function.attributes[RANGES] = DictionaryAttr(attrs)
    ranges = checked_ranges_of(function)
    guards = [guard for guard in (*guards, *dict.fromkeys(build.unlike)) if not provably(guard, ranges)]
    if guards := [*guards, *least_sizes(function, guards)]:
        function.attributes[GUARDS] = ArrayAttr([SymBoolType(guard) for guard in guards])
    return function


def dim_order(program: g.ExportedGraph, name: str) -> tuple[int, ...] | None:
    """The order of a value's dimensions in memory; None of what is row-major, or is no tensor."""
    meta = program.graph.values.get(name)
    order = clone_order(meta, program.range_constraints) if isinstance(meta, g.TensorMeta) else None
    return None if order is None or order == tuple(range(len(order))) else order


def _guards(build: GraphBuilder, program: g.ExportedGraph) -> list[Expr]:
    """What guards say of the program's sizes."""
    if not program.guards_code:
        return []
    signature = program.signature
    leaves: list[Attribute | int | None] = []
    for item in program.inputs:
        if item.kind == "constant_input":
            leaves.append(item.value if isinstance(item.value, int) else None)
        elif item.kind == "user_input":
            leaves.append(build.type_of(item.name))
    in_spec = pytree.loads(signature.in_spec, program.namedtuple_fields)
    names = signature.forward_arg_names
    return read_guards(program.guards_code, in_spec, names, leaves)


def _attrs(name: str, attr: Attribute) -> DictionaryAttr:
    return DictionaryAttr({name: attr})


def _kind(item: g.InputSpec, tensor: Tensor | SSAValue) -> InputKind:
    """What an input is. A constant that is written, as a module's tensor that is no buffer, is a buffer that no file keeps."""
    kind = InputKind(item.kind)
    written = isinstance(tensor, Tensor) and tensor.storage.version
    return InputKind.BUFFER if kind is InputKind.CONSTANT_TENSOR and written else kind


def _check_seen_as_given(build: GraphBuilder, given: Mapping[str, Tensor | SSAValue]) -> None:
    """Raises `UnsupportedError` for a program that leaves an input with another shape, as `t_` does: its caller's stays."""
    for name, before in given.items():
        after = build.values[name]
        if (
            not isinstance(before, Tensor)
            or not isinstance(after, Tensor)
            or len(after.steps) == len(before.steps)
        ):
            continue
        if (after.meta.sizes, after.meta.strides) != (before.meta.sizes, before.meta.strides):
            operator = ".".join(after.steps[-1].operator.split(".")[:2]) + "_"
            raise UnsupportedError(
                [Unsupported(operator, f"it changes the shape of input '{name}' for the caller")]
            )


def _mutated_inputs(
    build: GraphBuilder, program: g.ExportedGraph, given: Mapping[str, Tensor | SSAValue]
) -> tuple[list[SSAValue], list[DictionaryAttr]]:
    """Results for the inputs that the graph wrote to."""
    values: list[SSAValue] = []
    attrs: list[DictionaryAttr] = []
    for item in program.inputs:
        tensor = given.get(item.name)
        if isinstance(tensor, Tensor):
            tensor.storage.look()
        if not isinstance(tensor, Tensor) or not tensor.storage.version:
            continue
        kind = OUTPUT_OF_INPUT.get(_kind(item, tensor))
        if kind is None:
            raise LoadError(f"{build.source}: the program writes to {item.kind} '{item.target}'")
        target = item.name if kind is OutputKind.USER_INPUT_MUTATION else item.target or ""
        values.append(tensor.read(build.builder))
        attrs.append(_attrs(OUTPUT, OutputAttr(OutputSpec(kind, target))))
    return values, attrs


def _as_written(
    build: GraphBuilder,
    program: g.ExportedGraph,
    given: Mapping[str, Tensor | SSAValue],
    kind: OutputKind,
    target: str,
    value: SSAValue,
) -> SSAValue:
    """A result as it is left in what it is written to, which PyTorch leaves to who runs the program: it broadcasts it."""
    names = {i.name if i.kind == "user_input" else i.target: i.name for i in program.inputs}
    written = given.get(names.get(target, "")) if kind in MUTATIONS else None
    if not isinstance(written, Tensor) or not is_tensor_type(value.type):
        return value
    before, now = written.storage.value, meta(value)
    if not same_shape(meta(before).shape, now.shape) or meta(before).dtype is not now.dtype:
        return Namespace(build.builder).copy(before, value)
    if meta(before).shape == now.shape:
        return value
    # Through a view by computed sizes: 2 * (s0 floordiv 2) for s0, which has to be so (`least_sizes`).
    named = tensor_type(meta(before).shape, now.dtype, now.dim_order, now.device)
    return build.builder.insert(RefineOp(value, named)).results[0]
