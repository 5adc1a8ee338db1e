"""`prim.If` whose condition is a tensor's: both blocks are traced, as the two functions of a `cond`.

Each is traced into a graph of its own, which is given what it uses of the tensors around it. What a block writes to tensors,
lists and attributes leaves it as a further result, and is written outside; what cannot be one of two values, as lists of
different lengths, is refused by name. A block that raises becomes an assertion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects.tensors import SymType
from xdsl_exir.dialects.torchscript.operations import ScriptOp
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.exchange import graph as g
from xdsl_exir.importers.torchscript.carried import DTYPES, as_tensor, from_tensor, kind_of, stand_in
from xdsl_exir.importers.torchscript.tensors import Held, Tensors
from xdsl_exir.importers.torchscript.values import (
    UNINITIALIZED,
    Condition,
    Number,
    Object,
    ScriptError,
    TensorValue,
    named,
)
from xdsl_exir.locations import location_text
from xdsl_exir.narrowing import is_dict, is_list, is_tuple

if TYPE_CHECKING:
    from xdsl_exir.importers.torchscript.machine import Machine


class Journal:
    """The lists, dicts and objects that a block changes, as they were."""

    def __init__(self) -> None:
        self.before: dict[int, tuple[Any, Any]] = {}

    def note(self, container: Any) -> None:
        """Keeps what a container is, before it is changed first."""
        if id(container) not in self.before:
            self.before[id(container)] = (container, contents(container))

    def undo(self) -> dict[int, tuple[Any, Any]]:
        """Makes containers what they were; what they had become."""
        after = {key: (container, contents(container)) for key, (container, _) in self.before.items()}
        for container, was in self.before.values():
            become(container, was)
        return after


def contents(container: Any) -> Any:
    """A copy of what a list, dict or object holds."""
    return dict(container.attributes) if isinstance(container, Object) else container.copy()


def become(container: Any, held: Any) -> None:
    """Makes a list, dict or object hold something else."""
    if is_list(container):
        container[:] = held
        return
    target = container.attributes if isinstance(container, Object) else container
    target.clear()
    target.update(held)


@dataclass
class Branch:
    """One block, traced: what it gives, and what it changes."""

    tensors: Tensors
    results: list[Any] = field(default_factory=list[Any])
    changed: dict[int, tuple[Any, Any]] = field(default_factory=dict[int, tuple[Any, Any]])
    raised: ScriptError | None = None

    @property
    def written(self) -> list[str]:
        """Tensors from outside that it writes to."""
        return [
            name
            for name, held in self.tensors.given.items()
            if isinstance(held, Held) and self.tensors.is_written(name)
        ]


@dataclass(frozen=True)
class _Slot:
    """A result of the `cond`, before there is one."""

    index: int
    kind: str = "tensor"


def branch(
    machine: Machine, op: ScriptOp, condition: Condition | Number, values: dict[SSAValue, Any]
) -> list[Any]:
    """What an `If` gives whose condition nobody knows yet."""
    outer = machine.tensors
    branches = [
        traced(
            machine,
            f"{outer.fresh('branch')}_",
            lambda index=index: machine.block(op.regions[index].block, dict(values)),
        )
        for index in (0, 1)
    ]
    if all(each.raised is not None for each in branches):
        raise branches[0].raised or ScriptError("both branches raise")
    for index, each in enumerate(branches):
        if each.raised is not None:
            _assert(outer, condition, index == 1, str(each.raised))
            return machine.block(op.regions[1 - index].block, dict(values))
    return _Join(machine, op, branches).finish(condition)


def traced(
    machine: Machine, prefix: str, run: Callable[[], list[Any]], written: Sequence[str] = ()
) -> Branch:
    """What `run` gives with a graph of its own, which is given what it uses of the tensors around it. Of those that are `written` to
    nobody knows the elements."""
    outer, journal = machine.tensors, machine.journal

    def held(name: str) -> Held | SymType:
        outer.require(name)
        value = outer.build.values[name]
        if isinstance(value, SSAValue):
            assert isinstance(value.type, SymType)
            return value.type
        tensor = TensorValue(name)
        array = None if name in written else outer.array(tensor)
        outer.check_known(tensor)
        memory = outer.memory(tensor)
        is_contiguous = memory is not None and memory.is_contiguous
        return Held(outer.meta(tensor), array, is_contiguous, outer.storage(tensor) in outer.doubts)

    inner = Tensors(outer.source, outer.evaluator, False, held, prefix)
    inner.location, inner.function, inner.modules = outer.location, outer.function, outer.modules
    inner.symbols = outer.symbols
    made = Branch(inner)
    machine.tensors, machine.journal = inner, Journal()
    try:
        made.results = run()
    except ScriptError as error:
        made.raised = error
    finally:
        made.changed = machine.journal.undo()
        machine.tensors, machine.journal = outer, journal
    return made


def check_apart(
    tensors: Tensors,
    bodies: Sequence[Branch],
    written: Sequence[str],
    refused: Callable[[str], UnsupportedError],
    further: Sequence[str] = (),
) -> None:
    """Refuses a write in a body to memory that another tensor of any, or a `further` one, shares: it would not see the write; and `t_()` there."""
    given = {name for each in bodies for name, held in each.tensors.given.items() if isinstance(held, Held)}
    given -= {name for each in bodies for name in each.tensors.literals}
    known = [name for name in sorted({*given, *written, *further}) if name in tensors.build.values]
    storages = [tensors.storage(TensorValue(name)) for name in known]
    for each in bodies:
        for name, held in each.tensors.given.items():
            if isinstance(held, Held) and each.tensors.identity(TensorValue(name)) in each.tensors.turned:
                raise refused(f"it changes how '{name}' lies in memory")
    for name in written:
        if storages.count(tensors.storage(TensorValue(name))) > 1:
            raise refused(f"it writes to '{name}', which another tensor shares memory with")


def subgraph(
    each: Branch,
    operands: Sequence[str],
    results: Sequence[TensorValue],
    written: Sequence[str],
    refused: Callable[[str], UnsupportedError],
) -> g.Graph:
    """What was traced as a function of operands: what it writes to is a copy, what it gives back are no operands."""
    if each.tensors.literals:
        raise refused("it makes a tensor of a list")
    inner = each.tensors
    for result in results:
        inner.require(result.name)
        inner.check_known(result)
    renamed = {name: f"{name}_given" for name in written}
    nodes = [
        replace(inner.node("aten.clone", (g.NodeInput("self", g.Ref(given), False),)), outputs=(g.Ref(name),))
        for name, given in renamed.items()
    ]
    nodes += inner.nodes
    outputs: list[g.Value] = []
    for result in results:
        name = inner.fresh("out")
        source = (g.NodeInput("self", g.Ref(result.name), False),)
        nodes.append(replace(inner.node("aten.clone", source), outputs=(g.Ref(name),)))
        outputs.append(g.Ref(name))
    inputs = tuple(g.Ref(renamed.get(name, name)) for name in operands)
    return g.Graph(inputs, tuple(nodes), tuple(outputs), dict(inner.described))


def note_doubts(
    tensors: Tensors,
    body: Branch,
    inside: Sequence[TensorValue],
    results: Sequence[TensorValue],
    names: Mapping[str, TensorValue],
) -> None:
    """Notes which results may be one memory with tensors around a body or with one another: what it gives are copies here.

    `names` are tensors that have other names in the body.
    """
    inner = body.tensors
    places: dict[int, list[TensorValue]] = {}
    for name, held in inner.given.items():
        if isinstance(held, Held) and name not in inner.literals:
            around = names.get(name, TensorValue(name))
            places.setdefault(inner.storage(TensorValue(name)), []).append(around)
    for one, result in zip(inside, results, strict=True):
        for storage in inner.doubts.linked(inner.storage(one)):
            for other in places.setdefault(storage, []):
                tensors.doubt(result, other, "and data decide whether they share memory")
            places[storage].append(result)


def _assert(tensors: Tensors, condition: Condition | Number, holds: bool, message: str) -> None:
    """Asserts what a condition is, at run time."""
    if isinstance(condition, Number):
        said = condition if holds else tensors.symbolic("torch.sym_not", condition)
        tensors.call("aten._assert_scalar", {"self": said, "assert_msg": message})
        return
    said = condition.tensor
    if not holds:
        said = tensors.call("aten.logical_not", {"self": said})
    tensors.call("aten._assert_async.msg", {"self": said, "assert_msg": message})


def around_of(inner: Tensors, value: TensorValue) -> str | None:
    """The name around a branch of the tensor that one in it is; None for what the branch makes. What is written there is written to it, too."""
    identity = inner.identity(value)
    return next(
        (
            name
            for name, held in inner.given.items()
            if isinstance(held, Held)
            and name not in inner.literals
            and inner.identity(TensorValue(name)) == identity
        ),
        None,
    )


class _Join:
    """Makes one `cond` of two branches."""

    def __init__(self, machine: Machine, op: ScriptOp, branches: Sequence[Branch]):
        self.machine, self.op, self.branches = machine, op, branches
        self.tensors = machine.tensors
        self.pairs: list[tuple[Any, Any]] = []
        """What the branches give as results of the `cond`."""
        self.seen: list[int] = []
        """Those of them that the program sees as tensors."""

    def refused(self, reason: str) -> UnsupportedError:
        """An error that says why the branches cannot be one `cond`."""
        return UnsupportedError(
            [Unsupported("prim.If", f"{reason}, and data decide which", location_text(self.op))]
        )

    def finish(self, condition: Condition | Number) -> list[Any]:
        """Builds the `cond`, writes what the branches write, and gives what they give."""
        first, second = self.branches
        merged = [self.merged(a, b, "results") for a, b in zip(first.results, second.results, strict=True)]
        changes = self.changes()
        written = list(dict.fromkeys([*first.written, *second.written]))
        check_apart(self.tensors, self.branches, written, self.refused)
        writes = [self.slot(TensorValue(name), TensorValue(name)) for name in written]
        results = self.build(condition)
        for name, slot in zip(written, writes, strict=True):
            self.tensors.call("aten.copy_", {"self": TensorValue(name), "src": results[slot.index]})
        for index, each in enumerate(self.branches):
            given = [(pair[index], result) for pair, result in zip(self.pairs, results, strict=True)]
            given = [given[at] for at in self.seen]
            note_doubts(self.tensors, each, [a for a, _ in given], [b for _, b in given], {})
        for container, held in changes:
            self.machine.journal.note(container)
            become(container, self.filled(held, results))
        return [self.filled(value, results) for value in merged]

    def changes(self) -> list[tuple[Any, Any]]:
        """The lists, dicts and objects that branches change, and what they hold then."""
        first, second = (each.changed for each in self.branches)
        found: list[tuple[Any, Any]] = []
        for key in dict.fromkeys([*first, *second]):
            container = (first.get(key) or second[key])[0]
            now = contents(container)
            a, b = (changed[key][1] if key in changed else now for changed in (first, second))
            found.append(
                (container, self.merged(a, b, f"the contents of a {type(container).__name__.lower()}"))
            )
        return found

    def merged(self, a: Any, b: Any, what: str) -> Any:
        """One value of two, of which tensors are slots."""
        if a is b and not isinstance(a, TensorValue):
            return a
        first, second = (each.tensors for each in self.branches)
        match a, b:
            case TensorValue(), TensorValue():
                if (around := around_of(first, a)) is not None and around == around_of(second, b):
                    return TensorValue(around, a.has_layout and b.has_layout)
                self.seen.append(len(self.pairs))
                return self.slot(a, b)
            case _ if (
                kind_of(a) in DTYPES
                and kind_of(a) == kind_of(b)
                and (isinstance(a, Condition | Number) or a != b)
            ):
                return replace(self.slot(as_tensor(first, a), as_tensor(second, b)), kind=kind_of(a))
            case _ if a is UNINITIALIZED:
                return self.merged(stand_in(first, b, second, self.tensors), b, what)
            case _ if b is UNINITIALIZED:
                return self.merged(a, stand_in(second, a, first, self.tensors), what)
            case _ if is_tuple(a) and is_tuple(b) and len(a) == len(b):
                return tuple(self.merged(x, y, what) for x, y in zip(a, b, strict=True))
            case _ if is_list(a) and is_list(b) and len(a) == len(b):
                return [self.merged(x, y, what) for x, y in zip(a, b, strict=True)]
            case _ if is_dict(a) and is_dict(b) and a.keys() == b.keys():
                return {key: self.merged(a[key], b[key], what) for key in a}
            case _ if type(a) is type(b) and not isinstance(a, Object | Number) and a == b:
                return a
            case _:
                raise self.refused(f"{what} of the branches are {named(a)} and {named(b)}")

    def slot(self, a: TensorValue, b: TensorValue) -> _Slot:
        self.pairs.append((a, b))
        return _Slot(len(self.pairs) - 1)

    def filled(self, value: Any, results: Sequence[TensorValue]) -> Any:
        """A value with the results of the `cond` in it."""
        match value:
            case _Slot():
                return from_tensor(self.tensors, results[value.index], value.kind)
            case _ if is_tuple(value):
                return tuple(self.filled(item, results) for item in value)
            case _ if is_list(value):
                return [self.filled(item, results) for item in value]
            case _ if is_dict(value):
                return {key: self.filled(item, results) for key, item in value.items()}
            case _:
                return value

    def build(self, condition: Condition | Number) -> list[TensorValue]:
        """The results of the `cond`."""
        if not self.pairs:
            return []
        for index, each in enumerate(self.branches):
            for pair in self.pairs:
                each.tensors.require(pair[index].name)
        for pair in self.pairs:
            kinds = [each.tensors.meta(one) for each, one in zip(self.branches, pair, strict=True)]
            if len({(kind.ndim, kind.dtype) for kind in kinds}) > 1:
                a, b = (f"{kind.dtype.torch_name} of {kind.ndim} dimensions" for kind in kinds)
                raise self.refused(f"tensors of the branches are {a} and {b}")
        operands = list(
            dict.fromkeys(
                name
                for each in self.branches
                for name in each.tensors.given
                if name not in each.tensors.literals
            )
        )
        graphs = [
            g.Subgraph(
                self.tensors.fresh("graph"),
                subgraph(each, operands, [pair[index] for pair in self.pairs], each.written, self.refused),
            )
            for index, each in enumerate(self.branches)
        ]
        predicate = condition.tensor if isinstance(condition, Condition) else condition
        values: list[g.Value] = [
            self.tensors.constant(predicate),
            *graphs,
            tuple(map(g.Ref, operands)),
        ]
        for name in operands:
            self.tensors.require(name)
        names = [self.tensors.fresh("cond") for _ in self.pairs]
        inputs = tuple(g.NodeInput("", value, False) for value in values)
        node = self.tensors.node("higher_order.cond", inputs)
        self.tensors.add(replace(node, outputs=tuple(map(g.Ref, names))))
        return [TensorValue(name) for name in names]
