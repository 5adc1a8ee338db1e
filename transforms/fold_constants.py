"""`fold-constants`: what does not depend on a program's inputs is computed once, by the interpreter, and becomes state.

It must not cost memory: weights that are kept in few bytes, to be made numbers of more where they are used, stay as they
are, and what nothing but folded operators needed is dropped. Native code is planned with the same `Folding`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import is_side_effect_free
from xdsl.transforms.dead_code_elimination import is_trivially_dead

from xdsl_exir.dialects import control_flow as cf
from xdsl_exir.dialects.exir import ConstantOp
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.signature import INPUT, MUTATIONS, OUTPUT, InputAttr, InputKind, InputSpec, OutputAttr
from xdsl_exir.dialects.tensors import is_tensor_type, tensor_meta
from xdsl_exir.errors import ExirError
from xdsl_exir.interpreter.generator import Generator
from xdsl_exir.interpreter.interpreter import literal_array, run_operator
from xdsl_exir.interpreter.operators import IMPLS
from xdsl_exir.program import State, methods_of, state_of
from xdsl_exir.transforms.canonicalizations.view import PERMUTES
from xdsl_exir.transforms.matching import says_order, static

Array = np.ndarray[Any, np.dtype[Any]]

LARGEST = 1 << 25
"""Bytes up to which what is made of the program's literals alone is folded, and what cannot be lowered."""
LARGEST_OF_STATE = 1 << 22
"""Bytes up to which what has more elements than the state it is made of is folded."""
LARGEST_WIDENED = 1 << 16
"""Bytes up to which the elements of state are folded to larger ones."""

FILLED = ("aten.full_like", "aten.zeros_like", "aten.ones_like", "aten.full")
"""Operators whose result is one number everywhere, whatever their operands hold."""


class Stored(Protocol):
    """An array that is read when it is asked for, as a program's state is."""

    @property
    def nbytes(self) -> int: ...
    @property
    def sizes(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    def numpy(self) -> Array: ...


class Known(MutableMapping[SSAValue, Array]):
    """Arrays by value. Those of state are read from their file when they are asked for, which raises as `Stored.numpy` does."""

    def __init__(self, given: Mapping[SSAValue, Array | Stored]):
        self.entries: dict[SSAValue, Array | Stored] = dict(
            given.entries if isinstance(given, Known) else given
        )

    def __getitem__(self, value: SSAValue) -> Array:
        entry = self.entries[value]
        if not isinstance(entry, np.ndarray):
            entry = self.entries[value] = entry.numpy()
        return entry

    def __contains__(self, value: object) -> bool:
        return value in self.entries

    def __setitem__(self, value: SSAValue, array: Array) -> None:
        self.entries[value] = array

    def __delitem__(self, value: SSAValue) -> None:
        del self.entries[value]

    def __iter__(self) -> Iterator[SSAValue]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def read(self, value: SSAValue) -> Array:
        """The array of a value, which is not kept."""
        entry = self.entries[value]
        return entry if isinstance(entry, np.ndarray) else entry.numpy()

    def nbytes(self, value: SSAValue) -> int:
        """Bytes of an array, which is not read."""
        return self.entries[value].nbytes

    def splat(self, value: SSAValue) -> Array | None:
        """The array of a value, if one number in memory is all of it; it is not read for that."""
        entry = self.entries.get(value)
        if entry is None or not entry.nbytes:
            return None
        shape = entry.shape if isinstance(entry, np.ndarray) else entry.sizes
        return self[value] if prod(shape) == 1 or not any(entry.strides) else None


class Folding:
    """What is known of a function: its constants, its literals, and the values that depend on them alone.

    `inner` folds in regions as well, and results of symbolic shape that are one number everywhere: these have one element.
    `lowers` says which operators the stage below can do; what it cannot is folded though it takes more memory. `limit` is in bytes, as
    `LARGEST_OF_STATE`.
    """

    def __init__(
        self,
        function: FuncOp,
        constants: Mapping[SSAValue, Array | Stored],
        inner: bool = False,
        lowers: Callable[[Operation], bool] = lambda op: True,
        limit: int = LARGEST_OF_STATE,
    ):
        self.function, self.inner, self.lowers, self.limit = function, inner, lowers, limit
        self.known = Known(constants)
        """What is known and needed by operations that are not folded."""
        self.folded: set[Operation] = set()
        """Operators whose results are known."""
        self.state = {value: frozenset([value]) for value in constants}
        """The constants that known values are made of."""
        self.nbytes = {value: self.known.nbytes(value) for value in constants}
        self.needed: dict[SSAValue, int] = {}
        """How many uses of a known value are not folded."""
        self.rng = Generator(0)
        with np.errstate(all="ignore"):
            for op in list(function.walk()) if inner else list(function.body.block.ops):
                self.visit(op)

    def visit(self, op: Operation) -> None:
        """Folds an operation, if it can be and is worth its memory."""
        for operand, arg in cf.shared_arguments(op) if self.inner else ():
            if operand in self.known:
                self.known[arg], self.state[arg] = self.known[operand], self.state.get(operand, frozenset())
        if isinstance(op, ConstantOp):
            self.take(op, [literal_array(op)])
        elif self.inner and is_filled(op) and self.lowers(op):
            assert isinstance(op, OperatorOp)
            self.take(op, [filled(op)])
        elif isinstance(op, OperatorOp) and self.is_foldable(op):
            # What fails does so when the program runs, if it gets there: an assertion, or a branch, may stand before it.
            with suppress(ExirError):
                self.take(op, self.computed(op))

    def computed(self, op: OperatorOp) -> Iterable[Array]:
        return run_operator(op, tuple(self.known[operand] for operand in op.operands), self.rng)

    def take(self, op: Operation, results: Iterable[Array]) -> None:
        """Keeps an operation's results, and drops what it was the last to need."""
        state = frozenset[SSAValue]().union(*(self.state.get(operand, ()) for operand in op.operands))
        self.folded.add(op)
        for result, array in zip(op.results, results, strict=True):
            self.known[result], self.state[result] = array, state
        for operand in op.operands:
            left = self.needed.get(operand, sum(1 for _ in operand.uses)) - 1
            self.needed[operand] = left
            if not left and operand.owner in self.folded:
                self.known.pop(operand, None)

    def is_foldable(self, op: OperatorOp) -> bool:
        """Whether an operator's results can be computed now, and are worth their memory."""
        if IMPLS.find(op.SPEC) is None or not is_side_effect_free(op) or says_order(op):
            return False
        if not all(operand in self.known for operand in op.operands):
            return False
        is_known = all(has_static_shape(value) for value in (*op.operands, *op.results))
        return is_known and all(self.is_worth(op, result) for result in op.results)

    def is_worth(self, op: OperatorOp, result: SSAValue) -> bool:
        """Whether a result of static shape takes no more memory than what it is made of, or little."""
        meta = tensor_meta(result.type)
        count = prod(size for size in meta.shape if isinstance(size, int))
        if count * meta.dtype.itemsize <= min(LARGEST_WIDENED, self.limit):
            return True
        of_state = [value for value in op.operands if self.state.get(value)]
        if not of_state or not self.lowers(op):
            return count * meta.dtype.itemsize <= LARGEST
        largest = tensor_meta(max(of_state, key=self.known.nbytes).type)
        is_wider = meta.dtype.itemsize > largest.dtype.itemsize
        state = frozenset[SSAValue]().union(*(self.state.get(value, ()) for value in op.operands))
        limit = min(LARGEST_WIDENED, self.limit) if is_wider else self.limit
        return count * meta.dtype.itemsize <= max(limit, sum(self.nbytes[value] for value in state))


def has_static_shape(value: SSAValue) -> bool:
    """Whether a value is a tensor whose sizes are numbers."""
    return is_tensor_type(value.type) and static(tensor_meta(value.type).shape) is not None


def is_filled(op: Operation) -> bool:
    """Whether an operation is one of `FILLED`, and it is known what number it fills its result with."""
    if not isinstance(op, OperatorOp) or op.SPEC.qualified_name not in FILLED:
        return False
    return not isinstance(op.arguments().get("fill_value"), SSAValue)


def filled(op: OperatorOp) -> Array:
    """The result of an operator of `FILLED`: one number in memory, seen everywhere; of symbolic shape, one element."""
    meta = tensor_meta(op.results[0].type)
    number = {"aten.zeros_like": 0, "aten.ones_like": 1}.get(op.SPEC.qualified_name)
    given = op.arguments()["fill_value"] if number is None else number
    number = np.asarray(given).astype(meta.dtype.numpy)
    return np.broadcast_to(number, static(meta.shape) or [1] * meta.ndim)


# --- results that are state --------------------------------------------------------------------------------------


def constant_arguments(module: ModuleOp, function: FuncOp, state: Mapping[str, Stored]) -> Known:
    """Arrays of the arguments that hold state which no call of any method changes."""
    found = constants_by_position(methods_of(module).values(), function, state)
    return Known({function.args[position]: data for position, data in found.items()})


def constants_by_position(
    methods: Iterable[FuncOp], method: FuncOp, state: Mapping[str, Stored]
) -> dict[int, Stored]:
    """The arguments of a method that hold state which no call of any of the methods changes, by position."""
    written = {
        attr.data.target
        for each in methods
        for attrs in each.res_attrs or ()
        if isinstance(attr := attrs.data.get(OUTPUT), OutputAttr) and attr.data.kind in MUTATIONS
    }
    constants: dict[int, Stored] = {}
    for position, attrs in enumerate(method.arg_attrs or ()):
        spec = input_of(attrs)
        if spec is not None and spec.kind is not InputKind.USER_INPUT:
            data = state.get(spec.target)
            if data is not None and spec.target not in written:
                constants[position] = data
    return constants


def bind_folded(function: FuncOp, folding: Folding) -> dict[SSAValue, Array]:
    """Makes known results that are needed arguments of the function, the last ones, with their arrays. Drops what computed them."""
    block = function.body.block
    bound: dict[SSAValue, Array] = {}
    for op in list(block.ops):
        for result in op.results if op in folding.folded and not isinstance(op, ConstantOp) else ():
            if not all(use.operation in folding.folded for use in result.uses):
                arg = block.insert_arg(result.type, len(block.args))
                arg.name_hint = result.name_hint
                bound[arg] = folding.known[result]
                result.replace_all_uses_with(arg)
    drop_dead(block)
    function.update_function_type()
    return bound


def is_permuted_state(op: Operation) -> bool:
    """Whether an operation does no more than permute an argument of the function."""
    return (
        isinstance(op, OperatorOp)
        and op.SPEC.qualified_name in PERMUTES
        and isinstance(op.operands[0], BlockArgument)
    )


def drop_dead(block: Block) -> None:
    """Drops what nobody uses."""
    for op in reversed(list(block.ops)):
        if is_trivially_dead(op):
            op.detach()
            op.erase()


def input_of(attrs: DictionaryAttr) -> InputSpec | None:
    """What an argument of a method is, by its attributes."""
    attr = attrs.data.get(INPUT)
    return attr.data if isinstance(attr, InputAttr) else None


def is_state(value: SSAValue) -> bool:
    """Whether a value is an argument of a method that callers do not give: a parameter, a buffer, a constant."""
    function = value.owner.parent_op() if isinstance(value, BlockArgument) else None
    attrs = list(function.arg_attrs or ()) if isinstance(function, FuncOp) else []
    if not isinstance(value, BlockArgument) or value.index >= len(
        attrs
    ):  # of arguments without any there is no list
        return False
    spec = input_of(attrs[value.index])
    return spec is not None and spec.kind is not InputKind.USER_INPUT


def is_of_state(value: SSAValue) -> bool:
    """Whether a value is state, or made of state alone by operators without effects: a weight that is transposed."""
    todo, seen = [value], {value}
    while todo:
        value = todo.pop()
        op = value.owner
        if isinstance(op, OperatorOp) and op.operands and is_side_effect_free(op):
            todo += [operand for operand in op.operands if operand not in seen]
            seen.update(op.operands)
        elif not is_state(value):
            return False
    return True


def take_arguments(function: FuncOp, taken: Collection[BlockArgument]) -> set[str]:
    """Takes arguments away that nobody uses; gives the names of the state that they were."""
    block, attrs, names = function.body.block, list(function.arg_attrs or ()), set[str]()
    for arg in reversed(block.args):
        if arg in taken:
            spec = input_of(attrs.pop(arg.index))
            names |= {spec.target} if spec is not None else set()
            block.erase_arg(arg)
    function.arg_attrs = ArrayAttr(attrs)
    function.update_function_type()
    return names


def forget(module: ModuleOp, state: State, names: Iterable[str]) -> None:
    """Drops state that no method names any more."""
    specs = [input_of(attrs) for method in methods_of(module).values() for attrs in method.arg_attrs or ()]
    for name in {*names} - {spec.target for spec in specs if spec is not None}:
        state.pop(name, None)


def first_user_input(function: FuncOp) -> int:
    """Where the arguments begin that callers give: state comes before them."""
    for index, attrs in enumerate(function.arg_attrs or ()):
        spec = input_of(attrs)
        if spec is None or spec.kind is InputKind.USER_INPUT:
            return index
    return len(function.args)


def move_argument(function: FuncOp, arg: BlockArgument, to: int, attrs: Mapping[str, Attribute]) -> None:
    """Gives an argument, the last one, another place and attributes."""
    block = function.body.block
    all_attrs = list(function.arg_attrs or [DictionaryAttr({})] * (len(block.args) - 1))
    moved = block.insert_arg(arg.type, to)
    moved.name_hint = arg.name_hint
    arg.replace_all_uses_with(moved)
    block.erase_arg(arg)
    all_attrs.insert(to, DictionaryAttr(dict(attrs)))
    function.arg_attrs = ArrayAttr(all_attrs)
    function.update_function_type()


@dataclass(frozen=True)
class FoldConstants(ModulePass):
    """Computes what depends on literals and on state that no call changes. Results are state themselves, constant tensors that
    come before what callers give; state that only folded operators used goes.

    A permutation of state stays, unless more is computed of it: it moves nothing where it is a view, and native kernels, which pack weights
    from either order, are no faster with a copy (a small LSTM's were 6 % slower).

    `limit` is in bytes: what takes more than its state does is folded up to it. Under `xdsl-opt` programs have no state: only what
    literals make is folded, small as `canonicalize` does.

    What fails when it is computed, as an integer division by a literal 0 does, is left to fail when the program runs.
    """

    name = "fold-constants"

    limit: int = LARGEST_OF_STATE

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        state, unused = state_of(ctx), set[str]()
        for function in methods_of(op).values():
            unused |= self.fold(function, constant_arguments(op, function, state), state)
        forget(op, state, unused)

    def fold(self, function: FuncOp, constants: Known, state: State) -> set[str]:
        """Folds a method; gives the names of state that it needs no more."""
        needed = [arg for arg in function.args if arg in constants and arg.uses]
        folding = Folding(function, constants, limit=self.limit)
        # What literals alone make is text of the program, not state.
        folding.folded = {
            op
            for op in folding.folded
            if any(folding.state.get(value) for value in op.results) and not is_permuted_state(op)
        }
        for value, array in bind_folded(function, folding).items():
            assert isinstance(value, BlockArgument)
            spec = InputSpec(InputKind.CONSTANT_TENSOR, state.add("folded", array))
            move_argument(function, value, first_user_input(function), {INPUT: InputAttr(spec)})
        return take_arguments(function, [arg for arg in needed if not arg.uses])
