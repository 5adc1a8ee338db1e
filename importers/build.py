"""A graph as plain data (`exchange.graph`) becomes the operations of a block: functional, typed, located.

Result types are those the program was exported with; the verifier compares them with what the operators give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from xdsl.ir import Attribute, Block, SSAValue

from xdsl_exir.dialects import aten, backend, spec
from xdsl_exir.dialects.builder import (
    Builder,
    Namespace,
    cast,
    computation_dtype,
    flat_results,
    meta,
)
from xdsl_exir.dialects.dtypes import Bool, DType
from xdsl_exir.dialects.exir import NumberOp
from xdsl_exir.dialects.expr import Dim, Expr, Ranges, simplified
from xdsl_exir.dialects.meta import infer_result_types, same_shape
from xdsl_exir.dialects.operator import OperatorOp, metas
from xdsl_exir.dialects.promotion import DtypeError
from xdsl_exir.dialects.signature import (
    ORIGIN,
    Origin,
    OriginAttr,
)
from xdsl_exir.dialects.sizes import is_static
from xdsl_exir.dialects.sym_ops import SYM_OPS
from xdsl_exir.dialects.tensors import (
    SymType,
    is_tensor_type,
    is_value,
    tensor_meta,
    tensor_type,
)
from xdsl_exir.errors import ExirError, LoadError, Unsupported, UnsupportedError
from xdsl_exir.exchange import graph as g
from xdsl_exir.importers import composites, overlaps
from xdsl_exir.importers.built_apart import BUILT_APART
from xdsl_exir.importers.decided import refined
from xdsl_exir.importers.functionalize import (
    COMPOSED,
    Autograd,
    Mutation,
    Tensor,
    cast_like,
    mutation_of,
    tell_apart,
)
from xdsl_exir.importers.nodes import (
    ASKS,
    AUTOCAST,
    HIGHER_ORDER_TARGETS,
    all_nodes,
    at_node,
    check_arguments,
    dialect_of,
    frame_text,
    is_known,
    location_of,
    may_write,
    mutates,
    value_type,
)
from xdsl_exir.importers.pieces import counted
from xdsl_exir.importers.strides import (
    REPORTS,
    apart_unless,
    reported,
    shares,
    size_of,
    viewed_by,
)
from xdsl_exir.importers.views import step_of
from xdsl_exir.narrowing import is_sequence
from xdsl_exir.transforms.backend_ops import BACKEND_OPS

if TYPE_CHECKING:
    from xdsl_exir.importers.autocast import Autocast


@dataclass
class GraphBuilder:
    """Builds the operations of one graph at the end of a block.

    Raises `UnsupportedError` listing all operators that the spec does not have.
    """

    graph: g.Graph
    block: Block
    source: str
    """What is being imported, for error messages."""
    values: dict[str, Tensor | SSAValue] = field(default_factory=dict[str, "Tensor | SSAValue"])
    """What each name of the graph stands for: tensors, or other SSA values."""
    decided: Mapping[Dim, int] = field(default_factory=dict[Dim, int])
    """Computed sizes that guards fix: whether one is 1 decides what a squeeze leaves, and what broadcasts."""
    ranges: Ranges = field(default_factory=dict[str, tuple[int | None, int | None]])
    """Of the symbols."""
    checked_ranges: Ranges = field(default_factory=dict[str, tuple[int | None, int | None]])
    """What they are when the program runs (`signature.checked_range`)."""
    unlike: list[Expr] = field(default_factory=list["Expr"])
    """What has to hold of symbols so that what is written to one tensor is not seen in another."""

    def __post_init__(self):
        self.builder = Builder(aten.OPERATORS, self.block)
        self.builder.dialect_of, self.builder.settled = dialect_of, self.settled
        self.check_targets()
        self.mutates = any(may_write(node.target) for node in all_nodes(self.graph))
        self.autograd = Autograd()
        self.autocasts: list[Autocast | None] = [None]
        """What autocast does, outermost region first."""
        self.infers_types = any(
            node.target in AUTOCAST or (node.target in MISTRACED and MISTRACED[node.target](self, node))
            for node in all_nodes(self.graph)
        )
        """Whether types are what operators give: PyTorch does not always describe what autocast and kernels choose."""

    # values

    def define(self, name: str, value: SSAValue) -> None:
        """A name stands for a value; tensors get a storage of their own."""
        # What xDSL prints and reads again.
        value.name_hint = name if name.isascii() and SSAValue.is_valid_name(name) else None
        if is_tensor_type(value.type):
            known = self.graph.values.get(name)
            if not isinstance(known, g.TensorMeta) or len(known.sizes) != meta(value).ndim:
                known = None
            self.values[name] = Tensor.of(value, known)
        else:
            self.values[name] = value

    def define_all(self, names: Iterable[str | None], values: Iterable[SSAValue]) -> None:
        """Names stand for values, one by one; None where nobody uses a value."""
        for name, value in zip(names, values, strict=False):
            if name is not None:
                self.define(name, value)

    def read(self, name: str) -> SSAValue:
        """The value that a name stands for now."""
        value = self.values[name]
        return value.read(self.builder) if isinstance(value, Tensor) else value

    def argument(self, value: g.Value) -> Any:
        """An argument as the operations' constructors take it."""
        match value:
            case g.Ref():
                return self.read(value.name)
            case tuple():
                if any(isinstance(item, tuple) for item in value):
                    raise LoadError(f"{self.source}: an argument that is a list of lists")
                return [self.argument(item) for item in value]
            case g.MemoryFormat() | g.Layout() | g.Device():
                return value.name
            case None | bool() | int() | float() | complex() | str() | DType():
                return value
            case _:
                raise LoadError(f"{self.source}: an argument of kind {type(value).__name__}")

    def type_of(self, name: str, inferred: Attribute | None = None) -> Attribute:
        """The type of a value as the program describes it, or as it was inferred where that cannot be what it is."""
        type = value_type(self.graph.values[name], f"{self.source}: value {name}")
        type = self.resized(type, self.checked_ranges)
        if self.infers_types and is_tensor_type(type) and inferred is not None and is_tensor_type(inferred):
            known, seen = tensor_meta(type), tensor_meta(inferred)
            shape = known.shape if same_shape(known.shape, seen.shape) else seen.shape
            return tensor_type(shape, seen.dtype, None, known.device)
        return type

    def settled(self, type: Attribute) -> Attribute:
        """What an operator gives, in sizes as PyTorch traces them: with what the symbols' ranges decide left out."""
        return self.resized(type, self.ranges)

    def resized(self, type: Attribute, ranges: Ranges) -> Attribute:
        """A type with numbers for sizes that guards or these ranges fix."""
        if not is_tensor_type(type) or is_static(tensor_meta(type).shape):
            return type
        known = tensor_meta(type)
        sizes = (simplified(size, ranges) if ranges else size for size in known.shape)
        shape = tuple(self.decided.get(size, size) for size in sizes)
        return tensor_type(shape, known.dtype, None, known.device)

    def dtype_of(self, name: str | None) -> DType | None:
        """The dtype of a tensor that the program describes."""
        described = self.graph.values.get(name) if name is not None else None
        return described.dtype if isinstance(described, g.TensorMeta) else None

    def is_mixed(self, node: g.Node) -> bool:
        """Whether tensors that a node takes are of several dtypes."""
        given = [
            self.graph.values.get(item.value.name) for item in node.inputs if isinstance(item.value, g.Ref)
        ]
        return len({meta.dtype for meta in given if isinstance(meta, g.TensorMeta)}) > 1

    def is_described(self, name: str | None) -> bool:
        """Whether the program says what a value is. Text does not: its values are what the operators give."""
        return name in self.graph.values

    def meta_of(self, name: str) -> g.ValueMeta | None:
        """What a value is; a tensor that the program does not describe is taken as contiguous."""
        value = self.values.get(name)
        return value.meta if isinstance(value, Tensor) else self.graph.values.get(name)

    # nodes

    def build(self) -> list[Any]:
        """Builds all nodes and returns the outputs: SSA values or constants."""
        for node in self.graph.nodes:
            self.locate(node)
            try:
                self.node(node)
            except (TypeError, ExirError) as error:
                raise at_node(error, self.source, node) from error
        return [self.argument(output) for output in self.graph.outputs]

    def check_targets(self) -> None:
        """Raises `UnsupportedError` listing all operators that the spec does not have, before anything is built."""
        unknown = [
            Unsupported(node.target, f"unknown operator{spec.hint(node.target)}", frame_text(node))
            for node in all_nodes(self.graph)
            if not is_known(node.target)
        ]
        if unknown:
            raise UnsupportedError(unknown)

    def locate(self, node: g.Node) -> None:
        """What is built from here on comes from this node."""
        origin = Origin(node.name, node.target, node.module_path)
        self.builder.location = location_of(node.stack_trace)
        self.builder.attributes = {ORIGIN: OriginAttr(origin)}

    def node(self, node: g.Node) -> None:
        """Builds one node."""
        node = counted(self, self.unchanging(node))
        if node.target in ASKS:
            return  # what it said is in the graph
        if node.target in SYM_OPS:
            self.symbolic(node)
        elif node.target.startswith(HIGHER_ORDER_TARGETS):
            from xdsl_exir.importers.control_flow import build_higher_order

            build_higher_order(self, node)
        elif node.target in REPORTS:
            self.report(node)
        elif mutates(node.target):
            self.mutation(node)
        else:
            self.operator(node)

    def unchanging(self, node: g.Node) -> g.Node:
        """A `sum_to_size` to the size that there is as the alias that it is: integers keep their dtype, except of 0-dim tensors."""
        if node.target != "aten.sum_to_size":
            return node
        [summed, size, *_] = node.inputs
        known = self.meta_of(summed.value.name) if isinstance(summed.value, g.Ref) else None
        is_same = isinstance(known, g.TensorMeta) and known.sizes == size.value != ()
        return replace(node, target="aten.alias", inputs=(summed,)) if is_same else node

    def operator(self, node: g.Node) -> None:
        """Builds an operator that mutates nothing; of a backend's, what it is made of, for programs are at aten."""
        if node.target in BACKEND_OPS:
            bound = backend.OPERATORS[node.target].SLOTS.bind(
                (), {item.name: self.argument(item.value) for item in node.inputs}
            )
            results = flat_results(BACKEND_OPS[node.target].built(self.builder, bound))
            self.define_all(node.result_names, results)
            return
        cls = dialect_of(node.target)[node.target]
        given = {item.name: self.argument(item.value) for item in node.inputs if item.name != "generator"}
        args, given = self.builder.with_numbers(cls, (), given)
        bound = cls.SLOTS.bind(args, given)
        apart = BUILT_APART.get(node.target)
        if apart is not None and apart(self, node, bound):
            return
        flat = node.result_names
        autocast = self.autocasts[-1]
        taken = autocast.operands(self.builder, cls, bound) if autocast else bound
        called = refined(self.builder, cls, taken, self.settled)
        made = autocast.composed(self.builder, cls, bound) if autocast else None
        if made is None:
            made = self.of_nothing(cls, called, flat)
        if made is None and not self.infers_types and "composite" in cls.SPEC.tags:
            check_arguments(cls, called)
            made = composites.of_parts(self.builder, cls, called, [self.dtype_of(name) for name in flat])
        if made is None:
            made = self.builder.build(cls, called, self.result_types(cls, called, flat))
        results = flat_results(made)
        flat += [None] * (len(results) - len(flat))
        for index, (name, value) in enumerate(zip(flat, results, strict=True)):
            if name is None:
                continue
            if node.target in TRACED_APART and not self.infers_types:
                value = self.as_traced(name, value)
            self.define(name, value)
            if self.mutates and taken == bound:
                self.alias(node, name, value, bound, index if len(flat) > 1 or _is_list(cls) else None)

    def of_nothing(
        self, cls: type[OperatorOp], bound: Mapping[str, Any], names: list[str | None]
    ) -> list[SSAValue] | None:
        """The results without elements of a call in dtypes that PyTorch's kernel does not take, as it never runs.

        Raises `UnsupportedError` where it makes something of nothing, in such dtypes.
        """
        known = [self.graph.values.get(name) for name in names if name is not None]
        tensors = [meta for meta in known if isinstance(meta, g.TensorMeta) and 0 in meta.sizes]
        operands = [item for value in bound.values() for item in (value if is_sequence(value) else [value])]
        shapes = [meta(item).shape for item in operands if is_value(item) and is_tensor_type(item.type)]
        if not tensors and not any(0 in shape for shape in shapes):
            return None
        try:
            infer_result_types(cls.SPEC, {name: metas(value) for name, value in bound.items()})
        except DtypeError as error:
            from xdsl_exir.transforms.decompositions.view import Sizes

            if len(tensors) < len(names):
                if "composite" in cls.SPEC.tags:
                    return None
                raise UnsupportedError([Unsupported(cls.SPEC.qualified_name, str(error))]) from error
            aten = Namespace(self.builder)
            shape_of = Sizes(aten, *(item for item in operands if is_value(item)))
            return [
                aten.full(shape_of.all(list(map(size_of, meta.sizes))), 0, dtype=meta.dtype)
                for meta in tensors
            ]
        except ExirError:
            pass  # said where it is built
        return None

    def result_types(
        self, cls: type[OperatorOp], bound: Mapping[str, Any], names: list[str | None]
    ) -> list[Attribute]:
        """Types of an operator's results: the file's, and the operator's own of results that it does not describe."""
        if cls.SPEC.qualified_name in TRACED_APART:
            return list(cls.infer(bound))
        known = [name for name in names if name is not None and self.is_described(name)]
        if len(known) == len(names) and not self.infers_types:
            return [self.type_of(name) for name in known]
        if len(known) == len(names):
            seen = infer_result_types(cls.SPEC, {name: metas(value) for name, value in bound.items()})
            return [self.type_of(name, type) for name, type in zip(known, seen, strict=False)]
        check_arguments(cls, bound)
        inferred = cls.infer(bound)
        if len(names) > len(inferred):
            raise LoadError(f"{cls.SPEC.qualified_name} has {len(inferred)} results, not {len(names)}")
        named = zip_longest(names, inferred)
        return [
            self.type_of(name, type) if name and self.is_described(name) else type for name, type in named
        ]

    def as_traced(self, name: str, value: SSAValue) -> SSAValue:
        """A tensor in the dtype that the program was exported with."""
        traced = self.graph.values.get(name)
        return (
            cast(Namespace(self.builder), value, traced.dtype) if isinstance(traced, g.TensorMeta) else value
        )

    def alias(
        self, node: g.Node, name: str, value: SSAValue, bound: Mapping[str, Any], index: int | None
    ) -> None:
        """Makes a result a view of the argument it shares memory with, if it does."""
        viewed = viewed_by(node, name)
        base = None if viewed is None else self.values[viewed.name]
        made = self.values[name]
        if not isinstance(base, Tensor) or not isinstance(made, Tensor):
            return
        if shares(node, base.memory, made.memory):
            view = base.view(step_of(node, bound, index, value), value, made.described)
            sharing = spec.find(node.target).sharing
            is_base = sharing is not None and sharing.or_itself and view.memory == base.memory
            self.values[name] = base if is_base else view
            return
        for condition in apart_unless(node, base.meta, made.meta):
            tell_apart(base.storage, made.storage, condition, self.unlike)

    def mutation(self, node: g.Node) -> None:
        """Builds the functional variant of an operator that writes to arguments, and writes its results there."""
        mutation = mutation_of(node.target)
        assert mutation is not None
        refs = {item.name: item.value for item in node.inputs}
        given = self.given_to(node, mutation)
        if mutation.is_view:
            self.view_in_place(node, mutation, given)
            return
        composed = COMPOSED.get(mutation.functional)
        if composed is not None:
            results = [composed(Namespace(self.builder), **given)]
        else:
            results = self.functional(mutation, given)
        targets: list[Tensor] = []
        for argument, value in zip(
            mutation.written, results[len(results) - len(mutation.written) :], strict=True
        ):
            ref = refs[argument]
            target = self.values[ref.name] if isinstance(ref, g.Ref) else None
            if not isinstance(target, Tensor):
                raise LoadError(f"{node.target} writes to '{argument}', which is no tensor")
            self.write(node, mutation, target, value)
            targets.append(target)
        fresh = results[: len(results) - len(mutation.written)]
        for name, value in zip(node.result_names, [*fresh, *targets], strict=False):
            if name is None:
                continue
            if isinstance(value, Tensor):
                self.values[name] = value
            else:
                self.define(name, value)

    def functional(self, mutation: Mutation, given: Mapping[str, Any]) -> list[SSAValue]:
        """What a mutating operator's functional variant gives; nothing is written where there are no elements, in any dtypes."""
        try:
            return flat_results(composites.call(self.builder, mutation.functional, given))
        except DtypeError:
            written = [given.get(mutation.names.get(name, name)) for name in mutation.written]
            if not all(is_value(value) and 0 in meta(value).shape for value in written):
                raise
            return [value for value in written if is_value(value)]

    def given_to(self, node: g.Node, mutation: Mutation) -> dict[str, Any]:
        """The arguments of a mutating operator's functional variant, as tensors are now."""
        given = {
            mutation.names.get(item.name, item.name): self.argument(item.value)
            for item in node.inputs
            if item.name not in mutation.dropped and item.name != "generator"
        }
        if not mutation.dropped or given.get("dtype") is not None:
            return given
        if "dtype" in dialect_of(mutation.functional)[mutation.functional].SLOTS.by_name:
            # An operator that can be told its dtype computes in that of `out`.
            [out, *_] = (item.value for item in node.inputs if item.name == mutation.written[0])
            given["dtype"] = meta(self.argument(out)).dtype
        return given

    def view_in_place(self, node: g.Node, mutation: Mutation, given: Mapping[str, Any]) -> None:
        """Builds an operator that changes how its tensor is seen, as `squeeze_` does."""
        viewing = replace(node, target=mutation.functional)
        cls = dialect_of(mutation.functional)[mutation.functional]
        bound = cls.SLOTS.bind(*self.builder.with_numbers(cls, (), given))
        [name] = node.result_names
        viewed = node.inputs[0].value
        target = self.values[viewed.name] if isinstance(viewed, g.Ref) else None
        if name is None or not isinstance(target, Tensor):
            raise LoadError(f"{node.target} takes and gives one tensor")
        made = flat_results(self.builder.build(cls, bound, self.result_types(cls, bound, [name])))
        described = self.graph.values.get(name)
        known = described if isinstance(described, g.TensorMeta) else None
        target.become(target.view(step_of(viewing, bound, None, made[0]), made[0], known))
        self.values[name] = target

    def write(self, node: g.Node, mutation: Mutation, target: Tensor, value: SSAValue) -> None:
        """Gives a tensor what an operator writes to it. Raises `UnsupportedError` for memory that overlaps itself."""
        now = target.read(self.builder)
        if mutation.resizes or (mutation.dropped and meta(value).shape != meta(now).shape):
            self.resize(node, target, value)
            return
        value = cast_like(self.builder, value, now)
        if mutation.fills or not target.memory.overlaps:
            target.write(self.builder, value)
        else:
            self.write_overlapping(node, mutation, target, value)

    def write_overlapping(self, node: g.Node, mutation: Mutation, target: Tensor, value: SSAValue) -> None:
        """Gives a tensor whose memory overlaps itself what an operator writes to it, in PyTorch's order."""

        def compute() -> SSAValue:
            [result] = self.functional(mutation, self.given_to(node, mutation))
            return cast_like(self.builder, result, target.read(self.builder))

        given = {item.name: item.value for item in node.inputs}
        if overlaps.is_selective(mutation.functional, bool(given.get("accumulate"))):
            mask = self.given_to(node, mutation)["mask"] if mutation.functional in overlaps.MASKED else None
            overlaps.write_some(self.builder, target, value, mask, node.target)
        elif (
            mutation.functional in spec.specs()
            and spec.find(mutation.functional).family in spec.BY_ELEMENTS
            and not mutation.dropped
        ):
            names = [item.value.name for item in node.inputs if isinstance(item.value, g.Ref)]
            tensors = [tensor for name in names if isinstance(tensor := self.values[name], Tensor)]
            memories = [tensor.memory for tensor in tensors]
            functional = dialect_of(mutation.functional)[mutation.functional]
            dtype = computation_dtype(functional, self.given_to(node, mutation))
            at_once = dtype is not target.memory.dtype
            overlaps.write_in_order(self.builder, target, compute, memories, at_once, node.target)
        else:
            raise UnsupportedError([Unsupported(node.target, "a write to memory that overlaps itself")])

    def resize(self, node: g.Node, target: Tensor, value: SSAValue) -> None:
        """Gives a tensor a value of another shape. Raises `UnsupportedError` where others share its memory."""
        for other in self.values.values():
            if isinstance(other, Tensor) and other is not target and other.storage is target.storage:
                raise UnsupportedError(
                    [Unsupported(node.target, "other tensors share the memory it resizes")]
                )
        name = next(filter(None, node.result_names), None)
        described = None if name is None else self.graph.values.get(name)
        target.refill(value, described if isinstance(described, g.TensorMeta) else None)

    def symbolic(self, node: g.Node) -> None:
        """Builds arithmetic on symbolic numbers. `round(x, None)`, as PyTorch has it, is `round(x)`."""
        operands = [self.symbolic_operand(item.value) for item in node.inputs if item.value is not None]
        [result] = node.outputs
        assert isinstance(result, g.Ref)
        if not all(isinstance(operand.type, SymType) for operand in operands):
            raise LoadError("arithmetic on sizes takes numbers")
        type = self.type_of(result.name) if self.is_described(result.name) else None
        op = SYM_OPS[node.target](operands, type)
        self.define(result.name, self.builder.insert(op).results[0])

    def report(self, node: g.Node) -> None:
        """Computes what an operator reports of its operand's layout from the sizes and numbers that there are."""
        from xdsl_exir.transforms.decompositions.view import Sizes

        operands = [name for item in node.inputs for name in g.references(item.value)]
        number = reported(node, self.meta_of(operands[0]) if operands else None)
        known = [value for value in self.values.values() if is_value(value)]
        name, *others = *node.result_names, None
        if name is None or others != [None]:
            raise LoadError(f"{node.target} gives one number")
        sizes = Sizes(Namespace(self.builder), *map(self.read, operands), *self.block.args, *known)
        value = sizes(number) if isinstance(number, Expr) else number
        self.define(name, value if is_value(value) else self.symbolic_operand(value))

    def symbolic_operand(self, value: g.Value) -> SSAValue:
        """A number as operand of symbolic arithmetic; constants are numbers whose type says their value."""
        if isinstance(value, g.Ref):
            return self.read(value.name)
        if not isinstance(value, bool | int | float):
            raise LoadError(f"{self.source}: {value!r} in arithmetic on sizes")
        return self.builder.insert(NumberOp(value, symbolic=True)).results[0]


TRACED_APART = (
    "aten._native_batch_norm_legit_functional",
    "aten._batch_norm_with_update_functional",
    "aten._native_batch_norm_legit_no_training",
    "aten.native_layer_norm",
    "aten.native_group_norm",
    "aten.embedding_bag",
    "aten.embedding_bag.padding_idx",
)
"""Operators whose side results are traced as other types than kernels give. Statistics of the former two are traced in Float for
half precision, which what follows rounds anyway; those of the other norms, with parameters in Float (as autocast has them), in half
precision; bags of which the last offset is the end, where the table has a gradient, with fewer sizes."""


def _has_no_dims(graph: GraphBuilder, node: g.Node) -> bool:
    return any(item.name == "dim" and item.value == () for item in node.inputs)


def _is_along_the_last(graph: GraphBuilder, node: g.Node) -> bool:
    return any(item.name == "dim" and item.value == -1 for item in node.inputs)


def _is_of_booleans(graph: GraphBuilder, node: g.Node) -> bool:
    """Whether a node is of a tensor of booleans and of one, which is no power of integers."""
    [base, exponent] = (item.value for item in node.inputs)
    return isinstance(exponent, bool) and isinstance(base, g.Ref) and graph.dtype_of(base.name) is Bool


MISTRACED: Mapping[str, Callable[[GraphBuilder, g.Node], bool]] = {
    **dict.fromkeys(
        ("aten.native_dropout_backward", "aten.threshold_backward", "aten.ldexp.Tensor"),
        GraphBuilder.is_mixed,
    ),
    **dict.fromkeys(("aten.nansum", "aten.nanmean"), _has_no_dims),
    "aten.pow.Tensor_Scalar": _is_of_booleans,
    "aten.unique_consecutive": _is_along_the_last,
}
"""Operators that tracers give another type than kernels do, and of which calls: the former two promote, and are traced in
the gradient's dtype; powers of an exponent without dimensions are traced in float32; two reduce all dimensions for an empty list, and are traced as reducing none; powers of booleans are traced as integers; distinct
rows along a dimension counted from the end have more dimensions. What follows is then described wrongly, too."""


def _is_list(cls: Any) -> bool:
    return any(ret.type.is_list for ret in cls.SPEC.schema.returns)
