"""The tensors of a run: each operator that the program calls becomes a node of a graph of aten operators, and is built at once.

What is built says of what shape and dtype results are; `GraphBuilder` sees to writes and views, as for exported programs.
What is known (`arrays`) is computed at once: all of it where the program is being run, constants where it is only traced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Literal

from xdsl.dialects.builtin import FileLineColLoc
from xdsl.ir import Block, Operation, SSAValue

from xdsl_exir.dialects import spec
from xdsl_exir.dialects.builder import meta
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.exir import RefineOp
from xdsl_exir.dialects.expr import Expr, prod, to_srepr
from xdsl_exir.dialects.meta import UNKNOWN, depends_on_data, infer_result_types
from xdsl_exir.dialects.operator import EFFECT_TAGS, OperatorOp, metas
from xdsl_exir.dialects.schema import Argument
from xdsl_exir.dialects.sharing import Memory
from xdsl_exir.dialects.tensors import SymType, TensorMeta, is_tensor_type, tensor_meta, tensor_type
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.exchange import graph as g
from xdsl_exir.importers.build import GraphBuilder
from xdsl_exir.importers.functionalize import Mutation, Tensor, mutation_of
from xdsl_exir.importers.nodes import dialect_of, is_known, mutates
from xdsl_exir.importers.strides import tensor_of
from xdsl_exir.importers.synonyms import made_of
from xdsl_exir.importers.torchscript.arguments import is_default, word
from xdsl_exir.importers.torchscript.doubts import Doubts
from xdsl_exir.importers.torchscript.evaluate import Evaluator
from xdsl_exir.importers.torchscript.layouts import RULES
from xdsl_exir.importers.torchscript.values import DeviceValue, Number, ScriptError, TensorValue, named
from xdsl_exir.importers.views import OVERLAPPING
from xdsl_exir.interpreter.operators import Array
from xdsl_exir.narrowing import is_sequence

FOLDED = 256
"""Elements up to which what only depends on constants is computed while a program is traced."""


BY_DATA = frozenset(
    f"aten.{name}"
    for name in ("nonzero", "argwhere", "masked_select", "index.Tensor", "_unsafe_index.Tensor", "_unique", "_unique2",
                 "unique_consecutive", "unique_dim", "repeat_interleave.Tensor", "repeat_interleave.self_Tensor", "bincount")
)  # fmt: skip
"""Operators whose results may be of sizes that data decide."""


@dataclass(frozen=True)
class Held:
    """A tensor that the graph may be given: what it is, and its elements where they are known."""

    meta: TensorMeta
    array: Array | None = None
    is_contiguous: bool = True
    is_tied: bool = False
    """Whether another tensor may share its memory."""


class Tensors:
    """A graph that is being built. With an `evaluator` of its own and `runs`, every operator is run as well.

    `held` says what a name is that nothing in the graph has made, when it is first used: state, and what is around a branch.
    """

    def __init__(
        self,
        source: str,
        evaluator: Evaluator,
        runs: bool,
        held: Callable[[str], Held | SymType],
        prefix: str = "",
    ):
        self.source, self.evaluator, self.runs, self.held = source, evaluator, runs, held
        self.given: dict[str, Held | SymType] = {}
        """What the graph was given so far."""
        self.block = Block()
        self.build = GraphBuilder(g.Graph((), (), (), {}), self.block, source)
        self.build.mutates = True
        self.nodes: list[g.Node] = []
        self.arrays: dict[SSAValue, Any] = {}
        """What is known of values of the block."""
        self.literals: dict[str, tuple[Array, DType]] = {}
        """Tensors that the program makes of numbers."""
        self.described: dict[str, g.ValueMeta] = {}
        """What numbers of tensors' elements are, symbols that nothing says more of; and how views lie in memory."""
        self.turned: set[int] = set()
        """Tensors that are seen otherwise than when they were made (`t_`)."""
        self.doubts = Doubts()
        """Which tensors may be one memory."""
        self.location: FileLineColLoc | None = None
        self.function = ""
        self.modules = ""
        """The modules around what is called, as PyTorch writes them."""
        self.symbols = count(1)
        """Numbers of symbols, which a graph has in common with those around it."""
        self._prefix, self._count = prefix, 0
        self._last: Operation | None = None

    # values

    def input(self, name: str, held: Held | SymType) -> None:
        """Gives the graph a tensor, or a number."""
        type = held
        if isinstance(held, Held):
            type = tensor_type(held.meta.shape, held.meta.dtype, None, held.meta.device)
        assert not isinstance(type, Held)
        value = self.block.insert_arg(type, len(self.block.args))
        self.given[name] = held
        self.build.define(name, value)
        if isinstance(held, Held) and held.array is not None:
            self.arrays[value] = held.array
        if isinstance(held, Held) and held.is_tied:
            self.doubts.tied[self.storage(TensorValue(name))] = f"one of '{name}' and others"

    def require(self, name: str) -> None:
        """Sees to it that the graph has a value of a name."""
        if name not in self.build.values:
            self.input(name, self.held(name))

    def literal(self, array: Array, dtype: DType) -> TensorValue:
        """A tensor of these elements: an input of the graph that the program brings along."""
        name = self.fresh("literal")
        self.literals[name] = (array, dtype)
        self.input(name, Held(TensorMeta(array.shape, dtype), array))
        return self.call("aten.lift_fresh_copy", {"self": TensorValue(name)})

    def meta(self, tensor: TensorValue) -> TensorMeta:
        """What a tensor is now."""
        self.require(tensor.name)
        value = self.build.values[tensor.name]
        assert isinstance(value, Tensor)
        if value.cached is not None:
            return meta(value.cached)
        return meta(self.read(tensor))

    def read(self, tensor: TensorValue) -> SSAValue:
        """The value that a tensor has now."""
        self.require(tensor.name)
        value = self.build.read(tensor.name)
        self._run()
        return value

    def array(self, tensor: TensorValue) -> Array | None:
        """The elements that a tensor has now, where they are known."""
        self.check_known(tensor)
        return self.arrays.get(self.read(tensor))

    # which tensors may be one memory

    def doubt(self, one: TensorValue, other: TensorValue, why: str) -> None:
        """Notes that nobody knows whether two tensors are one memory, and why."""
        said = f"one of '{one.name}' and '{other.name}', {why}"
        self.doubts.add(self.storage(one), self.storage(other), said)

    def check_known(self, tensor: TensorValue) -> None:
        """Raises `UnsupportedError` for a tensor of which it is not known what was written to it."""
        if self.doubts.stale and (said := self.doubts.stale.get(self.storage(tensor))) is not None:
            reason = f"a write to {said}, and the other is used after it"
            raise UnsupportedError([self._unsupported("a tensor", reason)])

    def check_all_known(self) -> None:
        """Raises `UnsupportedError` if that is so of any tensor that the graph was given: what it holds in the end is seen."""
        for name, held in self.given.items():
            if isinstance(held, Held):
                self.check_known(TensorValue(name))

    def storage(self, tensor: TensorValue) -> int:
        """Which memory a tensor lies in."""
        self.require(tensor.name)
        value = self.build.values[tensor.name]
        assert isinstance(value, Tensor)
        return id(value.storage)

    def identity(self, tensor: TensorValue) -> int:
        """Which tensor one is: operators that write give the one that they wrote to."""
        self.require(tensor.name)
        return id(self.build.values[tensor.name])

    def is_written(self, name: str) -> bool:
        """Whether the graph writes to a tensor that it was given."""
        value = self.build.values[name]
        return isinstance(value, Tensor) and value.storage.version > 0

    def _number(self, name: str) -> Any:
        """A number of the graph, or what it is where that is known."""
        value = self.build.values[name]
        assert isinstance(value, SSAValue)
        if value in self.arrays:
            return self.arrays[value]
        type = value.type
        assert isinstance(type, SymType)
        known = type.data
        if not isinstance(known, Expr):
            return known
        kind = type.category.name.lower()
        assert kind in ("int", "float", "bool")
        return Number(name, kind)

    def fresh(self, name: str = "") -> str:
        """A name that no value has yet."""
        self._count += 1
        return f"{self._prefix}{name or 'v'}_{self._count}"

    # calls

    def constant(self, value: Any, argument: Argument | None = None) -> g.Value:
        """A value as an argument of a node."""
        base = argument.type.base if argument is not None else ""
        if base in ("int", "SymInt") and isinstance(value, float | complex | str | DeviceValue):
            raise ScriptError(f"expected an integer, got {named(value)}")  # lists are not looked into before
        match value:
            case TensorValue() | Number():
                self.require(value.name)
                if isinstance(value, TensorValue):
                    self.check_known(value)
                return g.Ref(value.name)
            case DeviceValue():
                return g.Device(value.name)
            case DType() | g.Subgraph():
                return value
            case bool() | float() | complex() | str() | None:
                return g.Device(value) if base == "Device" and isinstance(value, str) else value
            case int():
                return word(base, value)
            case _ if is_sequence(value):
                return tuple(self.constant(item, argument) for item in value)
            case _:
                raise UnsupportedError(
                    [self._unsupported(base or "?", f"an argument of kind {type(value).__name__}")]
                )

    def _unsupported(self, target: str, reason: str) -> Unsupported:
        at = self.location
        return Unsupported(target, reason, f"{at.filename.data}:{at.line.data}" if at is not None else "")

    def call(
        self, target: str, given: Mapping[str, Any], arguments: Mapping[str, Argument] | None = None
    ) -> Any:
        """The result of an operator for arguments by name: a tensor, a list of them, or a tuple of several results.

        Raises `UnsupportedError` for an operator that is not known.
        """
        known = arguments or {}
        inputs = tuple(
            g.NodeInput(name, self.constant(value, known.get(name)), False)
            for name, value in given.items()
            if name not in known or not is_default(value, known[name])
        )
        node = self.node(target, inputs)
        if not is_known(target):
            self.build.graph = g.Graph((), (node,), (), {})
            self.build.check_targets()
        mutating = mutates(target)
        mutation = mutation_of(target) if mutating else None
        written = written_by(mutation, given) if mutation is not None else []
        others = self._others_written(target, written)
        if mutation is not None and not mutation.fills:
            self._check_apart_from_itself(target, written)
        names, shape = self._outputs(node, mutating)
        node = replace(node, outputs=names)
        if mutation is not None and (mutation.is_view or mutation.resizes):
            values = (value for value in given.values() if isinstance(value, TensorValue))
            self.turned |= {self.identity(value) for value in values}
        if not mutating:
            self.described |= self._described(node, given)
        self.add(node)
        self.doubts.stale |= others
        results = [self._result(ref, node, given) for ref in node.result_names if ref is not None]
        if shape == "list":
            return results
        return tuple(results) if shape == "several" else (results[0] if results else None)

    def stands_for(self, target: str, given: Mapping[str, Any], count: int = 1) -> Any:
        """The result of an operator that stands for calls of others, or the tuple of its `count` results."""
        inputs = tuple(g.NodeInput(name, self.constant(value), False) for name, value in given.items())
        operands = [item for value in given.values() for item in (value if is_sequence(value) else [value])]
        known: dict[str, Any] = {
            item.name: item for item in operands if isinstance(item, TensorValue | Number)
        }
        metas = {
            name: tensor_of(self.meta(item)) for name, item in known.items() if isinstance(item, TensorValue)
        }
        outputs = tuple(g.Ref(self.fresh()) for _ in range(count))
        for node in made_of(replace(self.node(target, inputs), outputs=outputs), metas, self.source):
            self._make(node, known)
        results = tuple(known[ref.name] for ref in outputs)
        return results if count > 1 else results[0]

    def _make(self, node: g.Node, known: dict[str, Any]) -> None:
        """Adds a node whose references are values of `known`, and its results to them."""
        if all(item.name for item in node.inputs):
            made = self.call(node.target, {item.name: _known(item.value, known) for item in node.inputs})
            results = made if is_sequence(made) else [made]
        else:
            inputs = tuple(
                replace(item, value=self.constant(_known(item.value, known))) for item in node.inputs
            )
            names = [self.fresh() for _ in node.outputs]
            self.add(replace(node, inputs=inputs, outputs=tuple(map(g.Ref, names))))
            results = [
                TensorValue(name) if isinstance(self.build.values[name], Tensor) else self._number(name)
                for name in names
            ]
        known.update(zip((name for name in node.result_names if name), results, strict=False))

    def symbolic(self, target: str, *operands: Any) -> Any:
        """Arithmetic on numbers of the graph: a number, or what it is where that is known."""
        name = self.fresh("n")
        inputs = tuple(g.NodeInput("", self.constant(item), False) for item in operands)
        self.add(replace(self.node(target, inputs), outputs=(g.Ref(name),)))
        return self._number(name)

    def size(self, tensor: TensorValue, dim: int) -> Any:
        """A size: a number, or a number of the graph."""
        size = self.meta(tensor).shape[dim]
        if isinstance(size, int):
            return size
        name = self.fresh("size")
        inputs = (g.NodeInput("self", g.Ref(tensor.name), False), g.NodeInput("dim", dim, False))
        self.add(replace(self.node("aten.sym_size.int", inputs), outputs=(g.Ref(name),)))
        return self._number(name)

    def item(self, tensor: TensorValue) -> Any:
        """The one element of a tensor: a number, or a number of the graph."""
        array = self.array(tensor)
        if array is not None:
            return array.item()
        name = self.fresh("item")
        kind = _KINDS.get(self.meta(tensor).dtype.category)
        if kind is None:
            raise UnsupportedError([self._unsupported("aten.item", "a complex number that depends on data")])
        symbol = Expr.symbol(
            f"{'u' if kind == 'int' else 'zuf' if kind == 'float' else 'zub'}{next(self.symbols)}"
        )
        self.described[name] = g.SymMeta(kind, g.Symbolic(to_srepr(symbol)))
        inputs = (g.NodeInput("self", g.Ref(tensor.name), False),)
        self.add(replace(self.node("aten.item", inputs), outputs=(g.Ref(name),)))
        return self._number(name)

    def node(self, target: str, inputs: tuple[g.NodeInput, ...]) -> g.Node:
        at = self.location
        trace = "" if at is None else f'File "{at.filename.data}", line {at.line.data}, in {self.function}'
        return g.Node(self.fresh(), target, inputs, (), None, trace, self.modules)

    def add(self, node: g.Node) -> None:
        """Adds a node, and runs what it is built of."""
        self.nodes.append(node)
        values = {name: self.described[name] for name in node.result_names if name in self.described}
        self.build.graph = g.Graph((), (node,), (), values)
        self.build.build()
        self._run()
        if self.runs:
            self._settle(node)

    def _outputs(self, node: g.Node, mutating: bool) -> tuple[tuple[g.Result, ...], str]:
        """Names of the results of a node, and whether they are a list, or several."""
        if mutating:
            mutation = mutation_of(node.target)
            assert mutation is not None
            returns = (
                ()
                if mutation.functional not in spec.specs()
                else spec.find(mutation.functional).schema.returns
            )
            count = max(len(returns), len(mutation.written))
            names = tuple(g.Ref(self.fresh()) for _ in range(count))
            return names, "several" if count > 1 else ""
        schema = spec.find(node.target).schema if node.target in spec.specs() else None
        if schema is None:
            return (g.Ref(self.fresh()),), ""
        if len(schema.returns) == 1 and schema.returns[0].type.is_list:
            count = len(self._types(node))
            return (tuple(g.Ref(self.fresh()) for _ in range(count)),), "list"
        names = tuple(g.Ref(self.fresh()) for _ in schema.returns)
        return names, "several" if len(names) > 1 else ""

    # memory

    def memory(self, tensor: TensorValue) -> Memory | None:
        """How a tensor lies in memory; None where it is not known, as of symbolic sizes."""
        self.require(tensor.name)
        value = self.build.values[tensor.name]
        held = self.given.get(tensor.name)
        is_given_so = not isinstance(held, Held) or held.is_contiguous
        if (
            not tensor.has_layout
            or not is_given_so
            or not isinstance(value, Tensor)
            or id(value) in self.turned
        ):
            return None
        return value.memory if all(isinstance(size, int) for size in value.meta.sizes) else None

    def _by_data(self, node: g.Node) -> dict[str, g.ValueMeta]:
        """What results are whose sizes data decide: each such size is a symbol of its own."""
        found: dict[str, g.ValueMeta] = {}
        types = self._types(node, infer_result_types)
        if not any(map(depends_on_data, types)):
            return {}
        for name, type in zip(node.result_names, types, strict=True):
            assert name is not None
            known = tensor_meta(type)
            shape = [
                Expr.symbol(f"u{next(self.symbols)}") if size is UNKNOWN else size for size in known.shape
            ]
            found[name] = tensor_of(replace(known, shape=tuple(shape)))
        return found

    def _described(self, node: g.Node, given: Mapping[str, Any]) -> dict[str, g.ValueMeta]:
        """What results are whose sizes data decide, and what views lie like where that is known."""
        if node.target in BY_DATA:
            return self._by_data(node)
        rule = RULES.get(node.target)
        known = spec.find(node.target).sharing if node.target in spec.specs() else None
        base = None if known is None else given.get(known.source)
        memory = self.memory(base) if isinstance(base, TensorValue) else None
        if rule is None or memory is None:
            return {}
        types = [type for type in self._types(node) if is_tensor_type(type)]
        described = [tensor_of(tensor_meta(type)) for type in types]
        found: dict[str, g.ValueMeta] = {}
        for name, result in zip(node.result_names, described, strict=False):
            sizes = [size for size in result.sizes if isinstance(size, int)]
            strides = rule(memory, given, sizes) if len(sizes) == len(result.sizes) else None
            if strides is not None and name is not None:
                found[name] = replace(result, strides=strides)
        return found if len(found) == len(types) else {}

    def _types(self, node: g.Node, infer: Callable[..., Any] | None = None) -> Sequence[Any]:
        """Types of the results of a node that is not built yet."""
        cls = dialect_of(node.target)[node.target]
        given = {item.name: self.build.argument(item.value) for item in node.inputs}
        self.build.locate(node)
        args, given = self.build.builder.with_numbers(cls, (), given)
        bound = cls.SLOTS.bind(args, given)
        known = {name: metas(value) for name, value in bound.items()}
        types = cls.infer(bound) if infer is None else infer(cls.SPEC, known)
        self._run()
        return types

    def _result(self, name: str, node: g.Node, given: Mapping[str, Any]) -> TensorValue | Any:
        value = self.build.values[name]
        if not isinstance(value, Tensor):
            return self._number(name)
        operands = [item for of in given.values() for item in (of if is_sequence(of) else [of])]
        tensors = [item for item in operands if isinstance(item, TensorValue)]
        known = spec.find(node.target).sharing if node.target in spec.specs() else None
        if known is not None and name in self.described:
            return TensorValue(name)
        memories = [self.memory(tensor) for tensor in tensors]
        contiguous = all(memory is not None and memory.is_contiguous for memory in memories)
        made = TensorValue(name, contiguous and known is None and not _reorders(node))
        if known is None:
            return self._written(made, tensors)
        viewed = given.get(known.source)
        if isinstance(viewed, TensorValue) and known.condition != "always":
            # Whether it is a copy depends on strides, which are not known.
            self.doubt(
                viewed, made, f"what {node.target} makes of it: whether they share memory depends on strides"
            )
        return made

    def _written(self, made: TensorValue, tensors: Sequence[TensorValue]) -> TensorValue:
        """A result; of operators that write, what they wrote to."""
        identity = id(self.build.values[made.name])
        same = next((item for item in tensors if id(self.build.values[item.name]) == identity), None)
        return made if same is None else TensorValue(made.name, same.has_layout)

    def _check_apart_from_itself(self, target: str, written: Sequence[TensorValue]) -> None:
        """Raises `UnsupportedError` for a write to a view that may overlap itself, of a tensor of which it is not known how it lies in memory."""
        for item in written:
            held = self.build.values[item.name]
            overlaps = isinstance(held, Tensor) and any(step.operator in OVERLAPPING for step in held.steps)
            if overlaps and self.memory(item) is None:
                reason = "a write to a tensor that may overlap itself: it is not known how it lies in memory"
                raise UnsupportedError([self._unsupported(target, reason)])

    def _others_written(self, target: str, written: Sequence[TensorValue]) -> dict[int, str]:
        """The storages that a write may write to beside its own, and whose they are. Raises `UnsupportedError` where some of those are not seen."""
        found: dict[int, str] = {}
        for own in map(self.storage, written):
            if own not in self.doubts:
                continue
            if (said := self.doubts.hidden(own)) is not None:
                reason = f"a write to {said}: others may share its memory"
                raise UnsupportedError([self._unsupported(target, reason)])
            found |= self.doubts.others(own)
        return found

    # running

    def _run(self) -> None:
        """Computes what was added to the block, as far as it is known."""
        op = self.block.first_op if self._last is None else self._last.next_op
        while op is not None:
            self._last = op
            if all(operand in self.arrays for operand in op.operands) and self._is_run(op):
                values = [self.arrays[operand] for operand in op.operands]
                results = self.evaluator.results(op, values)
                if results is not None:
                    self.arrays.update(zip(op.results, results, strict=True))
            op = op.next_op

    def _is_run(self, op: Operation) -> bool:
        if self.runs or not isinstance(op, OperatorOp):
            return True
        if op.SPEC.tags & EFFECT_TAGS:
            return False
        counts = [prod(meta(result).shape) for result in op.results if is_tensor_type(result.type)]
        return all(isinstance(count, int) and count <= FOLDED for count in counts)

    def _settle(self, node: g.Node) -> None:
        """Gives results whose sizes depended on data their sizes, where the program is run."""
        for name in node.result_names:
            value = self.build.values.get(name or "")
            if not isinstance(value, Tensor) or value.cached is None:
                continue
            known = meta(value.cached)
            if all(isinstance(size, int) for size in known.shape):
                continue
            array = self.arrays[value.cached]
            type = tensor_type(array.shape, known.dtype, None, known.device)
            refined = self.build.builder.insert(RefineOp(value.cached, type)).results[0]
            self.build.values[name or ""] = Tensor.of(refined)
            self._run()


def _known(value: g.Value, known: Mapping[str, Any]) -> Any:
    """An argument of a node as a value of the run."""
    if is_sequence(value):
        return [_known(item, known) for item in value]
    return known[value.name] if isinstance(value, g.Ref) else value


_KINDS: Mapping[Category, Literal["int", "float", "bool"]] = {
    Category.BOOL: "bool",
    Category.INT: "int",
    Category.FLOAT: "float",
}

_PERMUTING = (
    "linalg",
    "attention",
    "lstm",
    "gru",
    "rnn",
    "einsum",
    "tensordot",
    "stft",
    "fft",
    "qr",
    "svd",
    "aten.lu",
)
"""In names of operators whose results may lie in another order than their operands."""


def _reorders(node: g.Node) -> bool:
    formats = (item.value for item in node.inputs if isinstance(item.value, g.MemoryFormat))
    return any(item.name.startswith("channels_last") for item in formats) or any(
        part in node.target for part in _PERMUTING
    )


def written_by(mutation: Mutation, given: Mapping[str, Any]) -> list[TensorValue]:
    """The tensors that an operator writes to."""
    values = (given.get(mutation.names.get(name, name)) for name in mutation.written)
    items = (item for value in values for item in (value if is_sequence(value) else [value]))
    return [item for item in items if isinstance(item, TensorValue)]
