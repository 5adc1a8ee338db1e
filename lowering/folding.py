"""Constant folding: what does not depend on a program's inputs is computed when it is compiled, by the interpreter.

It must not cost memory: weights that are kept in few bytes, to be made numbers of more where they are used, stay as they
are, and what nothing but folded operators needed is dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.traits import is_side_effect_free

from xdsl_exir.dialects import control_flow as cf
from xdsl_exir.dialects.exir import ConstantOp, is_tensor_type, tensor_meta
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.errors import ExirError
from xdsl_exir.exchange.tensor_data import TensorData
from xdsl_exir.interpreter.interpreter import literal_array, run_operator
from xdsl_exir.interpreter.operators import IMPLS
from xdsl_exir.lowering.edge_to_linalg import is_number, obstacle
from xdsl_exir.lowering.sizes import is_static

Array = np.ndarray[Any, np.dtype[Any]]

LARGEST = 1 << 25
"""Bytes up to which what is made of the program's literals alone is folded, and what cannot be lowered."""
LARGEST_OF_STATE = 1 << 22
"""Bytes up to which what has more elements than the state it is made of is folded."""
LARGEST_WIDENED = 1 << 16
"""Bytes up to which the elements of state are folded to larger ones."""

FILLED = ("aten.full_like", "aten.zeros_like", "aten.ones_like", "aten.full")
"""Operators whose result is one number everywhere, whatever their operands hold."""


class Known(MutableMapping[SSAValue, Array]):
    """Arrays by value. Those of state are read from their file when they are asked for, which raises as `TensorData` does."""

    def __init__(self, given: Mapping[SSAValue, Array | TensorData]):
        self.entries = dict(given.entries if isinstance(given, Known) else given)

    def __getitem__(self, value: SSAValue) -> Array:
        entry = self.entries[value]
        if isinstance(entry, TensorData):
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

    def nbytes(self, value: SSAValue) -> int:
        """Bytes of an array, which is not read."""
        return self.entries[value].nbytes

    def splat(self, value: SSAValue) -> Array | None:
        """The array of a value, if one number in memory is all of it; it is not read for that."""
        entry = self.entries.get(value)
        if entry is None or not entry.nbytes:
            return None
        shape = entry.sizes if isinstance(entry, TensorData) else entry.shape
        return self[value] if prod(shape) == 1 or not any(entry.strides) else None


class Folding:
    """What is known of a function: its constants, its literals, and the values that depend on them alone.

    `inner` folds in regions as well, and results of symbolic shape that are one number everywhere: these have one element.
    """

    def __init__(
        self, function: FuncOp, constants: Mapping[SSAValue, Array | TensorData], inner: bool = False
    ):
        self.function, self.inner = function, inner
        self.known = Known(constants)
        """What is known and needed by operations that are not folded."""
        self.folded: set[Operation] = set()
        """Operators whose results are known."""
        self.state = {value: frozenset([value]) for value in constants}
        """The constants that known values are made of."""
        self.nbytes = {value: self.known.nbytes(value) for value in constants}
        self.needed: dict[SSAValue, int] = {}
        """How many uses of a known value are not folded."""
        self.rng = np.random.default_rng(0)
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
        elif self.inner and is_filled(op):
            assert isinstance(op, OperatorOp)
            self.take(op, [filled(op)])
        elif isinstance(op, OperatorOp) and self.is_foldable(op):
            try:
                self.take(op, self.computed(op))
            except ExirError:
                if op.parent is self.function.body.block:
                    raise  # elsewhere it is of a branch that may never be taken

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
        if is_number(op) or IMPLS.find(op.SPEC) is None or not is_side_effect_free(op):
            return False
        if not all(operand in self.known for operand in op.operands):
            return False
        is_known = all(has_static_shape(value) for value in (*op.operands, *op.results))
        return is_known and all(self.is_worth(op, result) for result in op.results)

    def is_worth(self, op: OperatorOp, result: SSAValue) -> bool:
        """Whether a result of static shape takes no more memory than what it is made of, or little."""
        meta = tensor_meta(result.type)
        count = prod(size for size in meta.shape if isinstance(size, int))
        of_state = [value for value in op.operands if self.state.get(value)]
        if not of_state or obstacle(op) is not None:
            return count * meta.dtype.itemsize <= LARGEST
        largest = tensor_meta(max(of_state, key=self.known.nbytes).type)
        is_wider = meta.dtype.itemsize > largest.dtype.itemsize
        state = frozenset[SSAValue]().union(*(self.state.get(value, ()) for value in op.operands))
        limit = LARGEST_WIDENED if is_wider else LARGEST_OF_STATE
        return count * meta.dtype.itemsize <= max(limit, sum(self.nbytes[value] for value in state))


def has_static_shape(value: SSAValue) -> bool:
    """Whether a value is a tensor whose sizes are numbers."""
    return is_tensor_type(value.type) and is_static(tensor_meta(value.type).shape)


def is_filled(op: Operation) -> bool:
    """Whether an operation is one of `FILLED`, and it is known what number it fills its result with."""
    if not isinstance(op, OperatorOp) or op.SPEC.qualified_name not in FILLED or obstacle(op) is not None:
        return False
    return not isinstance(op.arguments().get("fill_value"), SSAValue)


def filled(op: OperatorOp) -> Array:
    """The result of an operator of `FILLED`: one number in memory, seen everywhere; of symbolic shape, one element."""
    meta = tensor_meta(op.results[0].type)
    number = {"aten.zeros_like": 0, "aten.ones_like": 1}.get(op.SPEC.qualified_name)
    given = op.arguments()["fill_value"] if number is None else number
    number = np.asarray(given).astype(meta.dtype.numpy)
    shape = [size for size in meta.shape if isinstance(size, int)]
    return np.broadcast_to(number, shape if is_static(meta.shape) else [1] * meta.ndim)
