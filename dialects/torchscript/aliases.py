"""Alias analysis of one function: which values may be the same memory, or hold it, and who writes to it.

Every value of a type that can be written to has a cell. A cell points to the cells that it may be (a view to what it is of, a result of `prim.If`
to what its blocks give), and holds the cells of what is in it. What leaves sight, because it is put in a list, set as an attribute or passed to
a function, may be whatever else of its type did so: there is one such cell a type, `outside`. Arguments begin there.

What operators share and write is what their schemas say (`Tensor(a!)`, `t(c -> *)`). Answers are never finer than those of TorchScript's own
analysis (`AliasDb`), which knows no more either; what a loop carries may here be what an earlier turn left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Block, BlockArgument, SSAValue

from xdsl_exir.dialects.schema import Alias, FunctionSchema, Type
from xdsl_exir.dialects.torchscript import types as ts
from xdsl_exir.dialects.torchscript.operations import FuncOp, ReturnOp, ScriptOp, YieldOp
from xdsl_exir.errors import ExirError

CREATORS = frozenset(
    f"prim.{name}"
    for name in ("Constant", "CreateObject", "tolist", "Uninitialized", "AutogradZero", "AutogradAdd", "FusedConcat", "MMTreeReduce",
                 "MMBatchSide", "BroadcastSizes", "ChunkSizes", "ConstantMKLDNNTensor", "StaticSubgraph", "TensorExprGroup")
)  # fmt: skip
"""Operations whose results are nothing else's."""
EXTRACTORS = frozenset(
    f"prim.{name}"
    for name in ("TupleUnpack", "TupleIndex", "TupleSlice", "ListUnpack", "PythonOp", "GetAttr", "ModuleContainerIndex.list",
                 "ModuleContainerIndex.dict")
)  # fmt: skip
"""Operations that take something out of something."""
CALLS = frozenset(["prim.CallFunction", "prim.CallMethod", "prim.Enter", "prim.Exit"])
"""Operations that may do anything to what they are given."""
SAME = frozenset(["prim.unchecked_cast", "prim.annotate", "prim.profile", "prim.profile_ivalue", "prim.TypeCheck", "prim.RequiresGradCheck",
                  "prim.BroadcastMKLDNNTensors"])  # fmt: skip
"""Operations whose results are their operands, one by one."""
CONTAINERS = frozenset(["prim.ListConstruct", "prim.TupleConstruct", "prim.DictConstruct"])
SUBGRAPHS = frozenset(
    f"prim.{name}"
    for name in (
        "FusionGroup",
        "CudaFusionGroup",
        "oneDNNFusionGroup",
        "DifferentiableGraph",
        "FallbackGraph",
    )
)
READS_LISTS = frozenset(
    f"aten.{name}" for name in ("cat", "broadcast_tensors", "stack", "vstack", "hstack", "dstack")
)
"""Operators of a list of tensors that give nothing of it."""
STATISTICS = {"aten.batch_norm": (3, 4, 5), "aten.instance_norm": (3, 4, 5)}
"""Operators that write to two of their operands, which no schema says, unless a third is False."""


def written_types(type: Attribute) -> tuple[Attribute, ...]:
    """The types of what can be written to in a value of a type: what is None or a number besides is left out."""
    match type:
        case ts.SpelledType():
            return written_types(type.of)
        case ts.OptionalType():
            return written_types(type.item)
        case ts.UnionType():
            return tuple(dict.fromkeys(inner for item in type.items for inner in written_types(item)))
        case ts.TupleType():
            items = [inner for item in type.items for inner in written_types(item)]
            return (ts.tuple_of(items),) if items else ()
        case ts.FutureType():
            items = written_types(type.item)
            return (ts.FutureType(items[0] if len(items) == 1 else ts.ANY),) if items else ()
        case ts.ListType() | ts.DictType():
            return (ts.unspelled(type),)
        case ts.ClassType():
            return (type,)
        case _:
            return (type,) if type in (ts.TENSOR, ts.ANY) else ()


class Aliases:
    """The analysis of a function. Values are asked for as they are, or by name (`"%x"`)."""

    def __init__(self, function: FuncOp):
        self.function = function
        self._points: list[set[int]] = []
        self._holds: list[set[int]] = []
        self._cells: dict[SSAValue, int] = {}
        self._outside: dict[tuple[Attribute, ...], int] = {}
        self._gone: list[tuple[SSAValue, int]] = []
        """Values that leave sight, and the cell of all others of their type."""
        self._writes: list[tuple[ScriptOp, SSAValue, bool]] = []
        """Who writes to what, and whether also to what is in it."""
        self._writes_outside: list[ScriptOp] = []
        block = function.regions[0].block
        for arg in block.args:
            self._leave(arg)
        self._block(block)
        self._settle()

    # questions

    def may_alias(self, a: SSAValue | str, b: SSAValue | str) -> bool:
        """Whether two values may be the same memory."""
        first, second = (
            self._places(cell) if (cell := self._cell_of(value)) is not None else set[int]()
            for value in (a, b)
        )
        return not first.isdisjoint(second)

    def may_contain_alias(self, a: SSAValue | str, b: SSAValue | str) -> bool:
        """Whether two values, or what is in them, may be the same memory."""
        first, second = (
            self._reached(cell) if (cell := self._cell_of(value)) is not None else set[int]()
            for value in (a, b)
        )
        return not first.isdisjoint(second)

    def writers(self, value: SSAValue | str) -> list[ScriptOp]:
        """The operations that may write to a value's memory, in order."""
        places = self._known(value)
        return [op for op, written in self._written.items() if not places.isdisjoint(written)]

    def has_writers(self, value: SSAValue | str) -> bool:
        """Whether anything may write to a value's memory."""
        return not self._known(value).isdisjoint(self._all_written)

    def writes(self, op: ScriptOp, value: SSAValue | str) -> bool:
        """Whether an operation, or one in its blocks, may write to a value's memory."""
        places = self._known(value)
        return any(
            not places.isdisjoint(self._written.get(inner, ()))
            for inner in op.walk()
            if isinstance(inner, ScriptOp)
        )

    def value(self, name: str) -> SSAValue:
        """The value of a name. Raises `ExirError` where there is none."""
        wanted = name.removeprefix("%")
        for op in self.function.walk():
            blocks = (block for region in op.regions for block in region.blocks)
            values = [*op.results, *(arg for block in blocks for arg in block.args)]
            found = next((value for value in values if value.name_hint == wanted), None)
            if found is not None:
                return found
        raise ExirError(f"no value is called %{wanted:.100}")

    # cells

    def _cell_of(self, value: SSAValue | str) -> int | None:
        return self._cells.get(self.value(value) if isinstance(value, str) else value)

    def _known(self, value: SSAValue | str) -> set[int]:
        """The memory that a value may be; none of None, to which nobody can write."""
        found = self.value(value) if isinstance(value, str) else value
        cell = None if _is_none(found) else self._cells.get(found)
        return set() if cell is None else self._places(cell)

    def _new(self) -> int:
        self._points.append(set())
        self._holds.append(set())
        return len(self._points) - 1

    def _fresh(self, value: SSAValue, holds_outside: bool = True) -> None:
        """A value of its own; what is in it may be anything that left sight."""
        types = written_types(value.type)
        if not types or value in self._cells:
            return
        self._cells[value] = cell = self._new()
        if holds_outside:
            self._fill(cell, types)

    def _fill(self, cell: int, types: Sequence[Attribute]) -> None:
        if len(types) > 1:
            self._points[cell] |= {self._outside_of((type,)) for type in types}
            return
        for item in ts.items_of(types[0]) or ([ts.ANY] if isinstance(types[0], ts.ClassType) else ()):
            if inner := written_types(item):
                self._holds[cell].add(self._outside_of(inner))

    def _outside_of(self, types: tuple[Attribute, ...]) -> int:
        """The cell of all values of a type that left sight."""
        if types not in self._outside:
            self._outside[types] = cell = self._new()
            self._fill(cell, types)
        return self._outside[types]

    def _cell(self, value: SSAValue) -> int:
        self._fresh(value)
        return self._cells[value]

    def _leave(self, value: SSAValue) -> int | None:
        """A value may be any other of its type that left sight; the cell of those."""
        types = written_types(value.type)
        if not types:
            return None
        self._cell(value)
        outside = self._outside_of(types)
        self._gone.append((value, outside))
        return outside

    def _point(self, value: SSAValue, to: SSAValue) -> None:
        """A value may be another one."""
        if _is_nothing(value) or _is_nothing(to):
            self._fresh(value)
            self._fresh(to)
        elif value is not to and written_types(value.type) and written_types(to.type):
            self._points[self._cell(value)].add(self._cell(to))

    def _write(self, op: ScriptOp, value: SSAValue, inside: bool = False) -> None:
        if written_types(value.type):
            self._cell(value)
            self._writes.append((op, value, inside))

    # what is found out

    def _leaves(self, cell: int) -> set[int]:
        """The cells at the ends of what a cell points to."""
        seen, waiting, found = set[int](), [cell], set[int]()
        while waiting:
            at = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            waiting += self._points[at]
            if not self._points[at]:
                found.add(at)
        return found

    def _settle(self) -> None:
        self._also: dict[int, set[int]] = {}
        """Memory that left sight: what else it may be."""
        for value, outside in self._gone:
            for place in self._leaves(self._cells[value]):
                self._also.setdefault(place, set()).update(self._leaves(outside) - {place})
        self._found_places: dict[int, set[int]] = {}
        self._found_reached: dict[int, set[int]] = {}
        everything = set(self._outside.values())
        self._written: dict[ScriptOp, set[int]] = {}
        for op, value, inside in self._writes:
            cell = self._cells[value]
            found = self._reached(cell) if inside else self._places(cell)
            self._written.setdefault(op, set()).update(found)
        for op in self._writes_outside:
            self._written.setdefault(op, set()).update(everything)
        self._all_written = {place for places in self._written.values() for place in places}

    def _places(self, cell: int) -> set[int]:
        """The memory that a cell may be."""
        if cell not in self._found_places:
            leaves = self._leaves(cell)
            self._found_places[cell] = leaves.union(*(self._also.get(leaf, ()) for leaf in leaves))
        return self._found_places[cell]

    def _reached(self, cell: int) -> set[int]:
        """A cell, the memory that it may be, and what is in that."""
        if cell in self._found_reached:
            return self._found_reached[cell]
        seen, waiting = set[int](), [cell]
        any_class = self._outside.get((ts.ANY,))
        while waiting:
            at = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            waiting += [*self._places(at), *self._holds[at]]
            if at == any_class:  # what an object of unknown attributes holds
                waiting += self._outside.values()
        self._found_reached[cell] = seen
        return seen

    # operations

    def _block(self, block: Block) -> None:
        for op in block.ops:
            assert isinstance(op, ScriptOp)
            if not isinstance(op, YieldOp | ReturnOp):
                self._operation(op)

    def _operation(self, op: ScriptOp) -> None:
        name = ".".join(op.kind.split(".")[:2])
        if op.kind == "prim.If":
            self._if(op)
        elif op.kind == "prim.Loop":
            self._loop(op)
        elif op.kind == "prim.fork" or "subgraph" in op.attributes:
            self._subgraph(op)
        elif name == "aten.wait":
            self._all_leave(op.results)
            self._writes_outside.append(op)
        elif op.kind in CONTAINERS:
            self._container(op)
        elif op.kind in EXTRACTORS:
            self._all_leave(op.results)
        elif op.kind in CALLS:
            self._call(op)
        elif op.kind == "prim.SetAttr":
            self._write(op, op.operands[0])
            self._leave(op.operands[1])
        elif op.kind in SAME:
            self._one_by_one(op.results, op.operands)
        elif op.kind == "prim.ConstantChunk":
            for result in op.results:
                self._point(result, op.operands[0])
        elif op.kind in CREATORS or name in STATISTICS:
            self._created(op, name)
        elif (schema := op.schema()) is not None:
            self._by_schema(op, schema)

    def _created(self, op: ScriptOp, name: str) -> None:
        for result in op.results:
            self._fresh(result)
        if name in STATISTICS:
            mean, variance, training = STATISTICS[name]
            if _constant(op.operands[training]) != 0:
                self._write(op, op.operands[mean])
                self._write(op, op.operands[variance])

    def _all_leave(self, values: Iterable[SSAValue]) -> None:
        for value in values:
            self._leave(value)

    def _one_by_one(self, values: Sequence[SSAValue], others: Sequence[SSAValue]) -> None:
        for value, other in zip(values, others, strict=False):
            self._point(value, other)

    def _if(self, op: ScriptOp) -> None:
        for region in op.regions:
            self._block(region.block)
            last = region.block.last_op
            assert last is not None
            self._one_by_one(op.results, last.operands)

    def _loop(self, op: ScriptOp) -> None:
        block = op.regions[0].block
        self._one_by_one(block.args[1:], op.operands[2:])
        self._block(block)
        last = block.last_op
        assert last is not None
        self._one_by_one(op.results, last.operands[1:])
        self._one_by_one(op.results, op.operands[2:])
        self._one_by_one(block.args[1:], last.operands[1:])

    def _subgraph(self, op: ScriptOp) -> None:
        if op.kind == "prim.fork":
            self._all_leave(op.operands)
        for region in op.regions:
            if op.kind == "prim.fork":
                self._all_leave(region.block.args)
            self._one_by_one(region.block.args, op.operands)
            self._block(region.block)
            last = region.block.last_op
            assert last is not None
            if op.kind != "prim.fork":
                self._one_by_one(op.results, last.operands)
            else:
                self._all_leave(last.operands)
        for result in op.results:
            self._fresh(result)

    def _container(self, op: ScriptOp) -> None:
        [result] = op.results
        if not written_types(result.type):
            return
        if _stays(op):
            self._fresh(result, holds_outside=False)
            items = (item for item in op.operands if written_types(item.type))
            self._holds[self._cells[result]] |= {self._cell(item) for item in items}
            return
        self._fresh(result)
        for operand in op.operands:
            outside = self._leave(operand)
            if outside is not None:
                self._holds[self._cells[result]].add(outside)

    def _call(self, op: ScriptOp) -> None:
        for operand in op.operands:
            self._write(op, operand, inside=True)
        self._all_leave([*op.operands, *op.results])

    def _by_schema(self, op: ScriptOp, schema: FunctionSchema) -> None:
        bound: dict[str, SSAValue] = {}
        for argument, value in zip(schema.arguments, op.operands, strict=False):
            alias = alias_of(argument.type)
            if alias is None or not written_types(value.type):
                continue
            [name] = list(alias.sets)[:1]
            if name in bound:
                continue
            bound[name] = value
            if alias.is_write:
                self._write(op, value)
            if "->" in alias.text:
                self._leave(value)
        for ret, result in zip(schema.returns, op.results, strict=False):
            self._result(op, alias_of(ret.type), result, bound)
        if schema.returns_any:
            for result in op.results:
                self._fresh(result)

    def _result(
        self, op: ScriptOp, alias: Alias | None, result: SSAValue, bound: dict[str, SSAValue]
    ) -> None:
        if alias is None:
            self._fresh(result)
        elif written_types(result.type):
            if "*" in alias.sets:
                self._leave(result)
                return
            known = [bound[name] for name in alias.sets if name in bound]
            for value in known:
                self._point(result, value)
            if not known:
                self._fresh(result)
            if alias.is_write:
                self._write(op, result)


def alias_of(type: Type) -> Alias | None:
    """What a schema says of a value's memory; of a list of which it says nothing, what it says of its items."""
    return type.list_alias or type.alias


def _stays(op: ScriptOp) -> bool:
    """Whether what is in a container can be found nowhere else: a list for an operator that gives nothing of it, a tuple that is returned."""
    [*uses] = op.results[0].uses
    user = uses[0].operation if len(uses) == 1 else None
    if op.kind == "prim.TupleConstruct":
        return isinstance(user, ReturnOp)
    reads = isinstance(user, ScriptOp) and ".".join(user.kind.split(".")[:2]) in READS_LISTS
    return reads and op.kind == "prim.ListConstruct"


def _is_none(value: SSAValue) -> bool:
    """Whether a value is None for certain."""
    op = None if isinstance(value, BlockArgument) else value.owner
    if not isinstance(op, ScriptOp) or op.kind != "prim.Constant":
        return value.type == ts.NONE
    is_bare = not op.attributes.keys() - {"scope"}
    return value.type == ts.NONE or (is_bare and isinstance(value.type, ts.OptionalType))


def _is_nothing(value: SSAValue) -> bool:
    """Whether a value is None for certain, or never looked at."""
    op = None if isinstance(value, BlockArgument) else value.owner
    return _is_none(value) or (isinstance(op, ScriptOp) and op.kind == "prim.Uninitialized")


def _constant(value: SSAValue) -> int | None:
    """The number that a value is, where it is a constant."""
    op = value.owner
    held = op.attributes.get("value") if isinstance(op, ScriptOp) and op.kind == "prim.Constant" else None
    return held.value.data if isinstance(held, IntegerAttr) else None
