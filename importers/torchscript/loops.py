"""`prim.Loop` that runs as often as data say: its body is traced, as the function of a `while_loop`.

What a turn takes over from the one before is carried as tensors: tensors, which have to keep their shapes and dtypes, conditions, and those
numbers that turns change (int64 and float64 of no dimensions, whose elements the body reads). So are what lists, dicts and objects hold
that the body changes, which have to keep their structure, and tensors from outside that it writes to. Which these are is found by
tracing until nothing new turns up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.dialects.torchscript.operations import ScriptOp
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.exchange import graph as g
from xdsl_exir.importers.torchscript.branches import (
    Branch,
    become,
    check_apart,
    contents,
    note_doubts,
    subgraph,
    traced,
)
from xdsl_exir.importers.torchscript.carried import DTYPES, as_tensor, from_tensor, kind_of, stand_in
from xdsl_exir.importers.torchscript.tensors import Held, Tensors
from xdsl_exir.importers.torchscript.values import UNINITIALIZED, Condition, Number, TensorValue, named
from xdsl_exir.locations import location_text
from xdsl_exir.narrowing import is_dict, is_list, is_tuple

if TYPE_CHECKING:
    from xdsl_exir.importers.torchscript.machine import Machine

ENDLESS = 2**63 - 1
"""What TorchScript writes for the turns of a `while`."""


def leaves(value: Any) -> list[Any]:
    """What tuples, lists and dicts hold, in order."""
    if is_tuple(value) or is_list(value):
        return [leaf for item in value for leaf in leaves(item)]
    return [leaf for item in value.values() for leaf in leaves(item)] if is_dict(value) else [value]


def filled(value: Any, items: list[Any]) -> Any:
    """The same structure, its leaves taken from the front of a list."""
    if is_tuple(value):
        return tuple(filled(item, items) for item in value)
    if is_list(value):
        return [filled(item, items) for item in value]
    return {key: filled(item, items) for key, item in value.items()} if is_dict(value) else items.pop(0)


def structure(value: Any) -> Any:
    """A value without its leaves."""
    return filled(value, [None] * len(leaves(value)))


def is_same(tensors: Tensors, was: Any, now: Any) -> bool:
    """Whether a turn leaves a leaf as it was."""
    if isinstance(was, TensorValue) and isinstance(now, TensorValue):
        return tensors.identity(was) == tensors.identity(now)
    known = not isinstance(was, Number | Condition) and type(was) is type(now)
    return was is now or (known and was == now)


@dataclass
class Loop:
    """A loop that is being built."""

    machine: Machine
    op: ScriptOp
    count: Any
    state: list[Any]
    """What turns take over: the number of the turn, whether it goes on, what the block carries, and what each of `containers` holds."""
    containers: list[Any] = field(default_factory=list[Any])
    written: list[str] = field(default_factory=list[str])
    varying: set[int] = field(default_factory=set[int])
    """Leaves of `state` that are not always the same."""

    @property
    def outer(self) -> Tensors:
        return self.machine.tensors

    def refused(self, reason: str) -> UnsupportedError:
        """An error that says why the loop cannot be a `while_loop`."""
        said = f"{reason}, in a loop that runs as often as data or symbolic sizes say"
        return UnsupportedError([Unsupported("prim.Loop", said, location_text(self.op))])

    def finish(self, values: dict[SSAValue, Any]) -> list[Any]:
        """Builds the `while_loop`; what the block carries in the end."""
        self.varying.add(1)
        body, names, after = self.body(values)
        while self.finds_more(body, names, after):
            body, names, after = self.body(values)
        return self.build(body, names, after)

    # the body

    def body(self, values: dict[SSAValue, Any]) -> tuple[Branch, dict[int, str], list[Any]]:
        """The body traced: names of its leaves that vary, and what the state is after it."""
        prefix = f"{self.outer.fresh('loop')}_"
        names = {at: f"{prefix}{at}" for at in sorted(self.varying)}
        before = leaves(self.state)
        after: list[Any] = []

        def run() -> list[Any]:
            tensors = self.machine.tensors
            inside = [
                self.entered(tensors, names[at], leaf) if at in names else leaf
                for at, leaf in enumerate(before)
            ]
            number, _, carried, *held = filled(self.state, inside)
            for container, now in zip(self.containers, held, strict=True):
                self.machine.journal.note(container)
                become(container, now)
            block = self.op.regions[0].block
            goes_on, *results = self.machine.block(
                block, values | dict(zip(block.args, [number, *carried], strict=True))
            )
            number = tensors.symbolic("_operator.add", number, 1) if isinstance(number, Number) else number
            after.extend([number, goes_on, list(results), *map(contents, self.containers)])
            return []

        body = traced(self.machine, prefix, run, self.written)
        if body.raised is not None:
            raise self.refused(f"'{body.raised}' is raised")
        return body, names, after

    def entered(self, tensors: Tensors, name: str, leaf: Any) -> Any:
        """A leaf as the body sees it, whose tensor has this name there."""
        kind = kind_of(leaf)
        if kind == "tensor":
            tensors.input(name, Held(self.outer.meta(leaf), is_contiguous=leaf.has_layout))
            return TensorValue(name, leaf.has_layout)
        tensors.input(name, Held(TensorMeta((), DTYPES[kind])))
        return from_tensor(tensors, TensorValue(name), kind)

    def finds_more(self, body: Branch, names: dict[int, str], after: list[Any]) -> bool:
        """Whether the body changes what was not known to change."""
        found = False
        for container, _ in body.changed.values():
            if not any(container is known for known in self.containers):
                self.containers.append(container)
                self.state.append(contents(container))
                found = True
        for name in body.written:
            if name in names.values():
                raise self.refused("a write to a tensor that one turn hands to the next")
            if name not in self.written:
                self.written.append(name)
                found = True
        if found:
            return True
        settled = self.settled(self.state, after, body)
        if settled != self.state:
            self.state = settled
            return True
        if structure(after) != structure(self.state):
            raise self.refused("lists or dicts become longer or shorter")
        for at, (was, now) in enumerate(zip(leaves(self.state), leaves(after), strict=True)):
            if at not in self.varying and not is_same(body.tensors, was, now):
                if not kind_of(was) or kind_of(was) != kind_of(now):
                    raise self.refused(f"{named(was)} becomes {named(now)}")
                self.varying.add(at)
                found = True
        return found

    def settled(self, was: Any, now: Any, body: Branch) -> Any:
        """What a turn takes over, with something like what it leaves where there is nothing yet."""
        if was is UNINITIALIZED and now is not UNINITIALIZED:
            return stand_in(self.outer, now, body.tensors, self.outer)
        if is_list(was) and is_list(now) and len(was) == len(now):
            return [self.settled(a, b, body) for a, b in zip(was, now, strict=True)]
        return was

    # the operation

    def build(self, body: Branch, names: dict[int, str], after: list[Any]) -> list[Any]:
        """Makes the `while_loop`, writes what it writes, and gives what it gives."""
        outer, inner = self.outer, body.tensors
        before, now = leaves(self.state), leaves(after)
        handed = [leaf.name for at in names if isinstance(leaf := before[at], TensorValue)]
        check_apart(outer, [body], self.written, self.refused, handed)
        results = [self.left(inner, names[at], before[at], now[at]) for at in names]
        written = {inner.storage(TensorValue(name)): name for name in self.written}
        for storage in (near for result in results for near in inner.doubts.linked(inner.storage(result))):
            if storage in written:
                raise self.refused(f"it hands '{written[storage]}' to the next turn, and writes to it")
        first = [as_tensor(outer, before[at]).name for at in names]
        inputs = [*names.values(), *self.written]
        condition = self.condition(names)
        around = [
            name
            for name in dict.fromkeys([*inner.given, *condition.tensors.given])
            if name not in inputs and name not in inner.literals
        ]
        graphs = [
            subgraph(condition, [*inputs, *around], condition.results, (), self.refused),
            subgraph(
                body,
                [*inputs, *around],
                [*results, *map(TensorValue, self.written)],
                self.written,
                self.refused,
            ),
        ]
        arguments: list[g.Value] = [
            *(g.Subgraph(outer.fresh("graph"), graph) for graph in graphs),
            tuple(map(g.Ref, [*first, *self.written])),
            tuple(map(g.Ref, around)),
        ]
        for name in (*first, *self.written, *around):
            outer.require(name)
        made = [outer.fresh("while_loop") for _ in inputs]
        node = outer.node(
            "higher_order.while_loop", tuple(g.NodeInput("", value, False) for value in arguments)
        )
        outer.add(replace(node, outputs=tuple(map(g.Ref, made))))
        tensors = list(map(TensorValue, made))
        for name, value in zip(self.written, tensors[len(names) :], strict=True):
            outer.call("aten.copy_", {"self": TensorValue(name), "src": value})
        seen = [(at, index) for index, at in enumerate(names) if isinstance(before[at], TensorValue)]
        for at, index in seen:
            outer.doubt(tensors[index], before[at], "as there may be no turn")
        entered = {names[at]: before[at] for at, _ in seen}
        note_doubts(
            outer, body, [results[index] for _, index in seen], [tensors[index] for _, index in seen], entered
        )
        for at, tensor in zip(names, tensors, strict=False):
            before[at] = from_tensor(outer, tensor, kind_of(before[at]))
        _, _, carried, *held = filled(self.state, before)
        for container, content in zip(self.containers, held, strict=True):
            self.machine.journal.note(container)
            become(container, content)
        return carried

    def condition(self, names: dict[int, str]) -> Branch:
        """Whether there is another turn, as a function of what is carried."""

        def run() -> list[Any]:
            tensors = self.machine.tensors
            for at, name in names.items():
                self.entered_as_is(tensors, name, leaves(self.state)[at])
            goes_on = TensorValue(names[1])
            if 0 in names:
                limit = as_tensor(tensors, self.count)
                more = tensors.call("aten.lt.Tensor", {"self": TensorValue(names[0]), "other": limit})
                goes_on = tensors.call("aten.logical_and", {"self": goes_on, "other": more})
            return [goes_on]

        return traced(self.machine, f"{self.outer.fresh('while')}_", run, self.written)

    def entered_as_is(self, tensors: Tensors, name: str, leaf: Any) -> None:
        kind = kind_of(leaf)
        meta = self.outer.meta(leaf) if kind == "tensor" else TensorMeta((), DTYPES[kind])
        tensors.input(name, Held(meta))

    def left(self, tensors: Tensors, name: str, was: Any, now: Any) -> TensorValue:
        """The tensor in which the body leaves a leaf. Raises `UnsupportedError` where it is none like the one that came."""
        if kind_of(was) != kind_of(now):
            raise self.refused(f"{named(was)} becomes {named(now)}")
        made = as_tensor(tensors, now)
        came, went = tensors.meta(TensorValue(name)), tensors.meta(made)
        if (came.shape, came.dtype) != (went.shape, went.dtype):
            raise self.refused(
                f"a tensor of {came.dtype.torch_name}{list(came.shape)} becomes one of {went.dtype.torch_name}{list(went.shape)}"
            )
        return made


def loop_while(
    machine: Machine, op: ScriptOp, count: Any, number: int, state: Sequence[Any], values: dict[SSAValue, Any]
) -> list[Any]:
    """What a `Loop` gives, from a turn on of which nobody knows yet whether there is one. `state` is whether there is, and what it takes over."""
    goes_on, *carried = state
    if isinstance(count, Number):  # the condition is given it as a tensor
        count = as_tensor(machine.tensors, count)
    made = Loop(machine, op, count, [number, goes_on, carried])
    if isinstance(count, TensorValue) or count < ENDLESS or op.regions[0].block.args[0].first_use is not None:
        made.varying.add(0)
    return made.finish(values)
