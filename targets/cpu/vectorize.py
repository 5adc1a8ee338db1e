"""Operators as programs of rows, by their lowering to linalg: what it does to elements, and what it reduces over the last dimensions.

    row_program(op)        # of softmax: x, its maximum, exp(x - maximum), the sum of these, their quotient

A lowering is run with a builder that keeps a node of a row program in the place of each `linalg.generic`: a map over rows, a map over one
number a row, or a reduction of rows to one. What makes anything else has no rows. So formulas stand in lowerings alone, and
whether an operator has rows follows from what its lowering does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, f64
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineMap

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import Dim, Expr, prod
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.tensors import is_tensor_type
from xdsl_exir.lowering import LOWERINGS
from xdsl_exir.lowering.body_types import compute_dtype
from xdsl_exir.lowering.edge_to_linalg import meta_of, refusal
from xdsl_exir.lowering.linalg import Body, LinalgBuilder
from xdsl_exir.lowering.reassociation import broadcast_map
from xdsl_exir.lowering.sizes import Sizes
from xdsl_exir.lowering.tensors import Tensor, tensor_of
from xdsl_exir.targets.cpu.kernels.description import Body as Formula
from xdsl_exir.targets.cpu.kernels.description import Instruction
from xdsl_exir.targets.cpu.kernels.elements import (
    CONSTANT,
    TYPES,
    body_of,
    hoisted,
    is_bit,
    is_of_vectors,
    stored_bit,
)
from xdsl_exir.targets.cpu.kernels.row_nodes import (
    LONG,
    REDUCTIONS,
    DType,
    Map,
    Node,
    Reduce,
)

DTYPES: dict[dt.DType, DType] = {dt.Float: "f32", dt.Double: "f64", dt.Bool: "i1"}
"""Of nodes; float64 of numbers of a row, of operands, of what is reduced to a number as it is computed, and of all that a row has."""

LONGEST = 64 * LONG
"""Elements of a row up to which float64 is added up in the lanes of a few vectors, in blocks: of these there are at most as many as additions in one."""

KINDS = {kind.name: name for name, (kind, _) in REDUCTIONS.items()}
"""Of reductions, by the operation that combines."""

WIDER = (Instruction(arith.ExtFOp.name, (0,), "f64"),)
"""What a reduction does to its operand by itself."""


class NoRowsError(Exception):
    """A lowering makes what is no program of rows."""


@dataclass(frozen=True)
class Operand(Node):
    """An operand's row, broadcast to a shape."""

    at: int = 0
    """Its position."""
    shape: Sizes = ()
    whole: bool = False
    """Whether its elements are those of the rows, one by one."""


@dataclass(frozen=True)
class RowProgram:
    """Rows [*leading, length], nodes over them, and those that are the results."""

    leading: Sizes
    length: Dim
    nodes: tuple[Node, ...]
    results: tuple[int, ...]

    def takes_rows(self, at: int, given: Sizes) -> bool:
        """Whether what an operand of a shape has along its last dimension is the rows, or one number for each of them."""
        return all(
            (given[-1] if given else 1) == self.length
            if node.whole
            else are_numbers_of_rows(given, node.shape, self.length)
            for node in self.nodes
            if isinstance(node, Operand) and node.at == at
        )

    @property
    def is_one_pass(self) -> bool:
        """Whether it makes numbers alone, of one look at each row: no element waits for a reduction."""
        later: list[bool] = []
        for node in self.nodes:
            given = [later[n] or isinstance(self.nodes[n], Reduce) for n in node.operands]
            later.append(any(given))
        rows = (n for n, node in enumerate(self.nodes) if node.length != 1 or isinstance(node, Reduce))
        return not any(later[n] for n in rows) and all(self.nodes[n].length == 1 for n in self.results)


def without_ones(shape: Sizes) -> Sizes:
    """The shape without leading dimensions of size 1."""
    first = next((dim for dim, size in enumerate(shape) if size != 1), len(shape))
    return shape[first:]


def are_numbers_of_rows(given: Sizes, shape: Sizes, length: Dim) -> bool:
    """Whether a tensor has one number for each row of a length, which meets all of its row in a shape."""
    padded = (*[1] * (len(shape) - len(given)), *given)
    repeated = [dim for dim, size in enumerate(padded) if size != shape[dim]]
    kept = [dim for dim, size in enumerate(padded) if size != 1]
    return (
        bool(repeated)
        and all(padded[dim] == 1 for dim in repeated)
        and all(dim < min(repeated) for dim in kept)
        and prod(shape[dim] for dim in repeated) == length
    )


def row_program(op: OperatorOp) -> RowProgram | None:
    """What an operator does row by row; None if it does not work so, or not on these dtypes."""
    entry = LOWERINGS.find(op.SPEC)
    values = (*op.operands, *op.results)
    if entry is None or not op.results or not all(is_tensor_type(value.type) for value in values):
        return None
    metas = [meta_of(value) for value in values]
    if any(meta.dtype not in DTYPES or 0 in meta.shape for meta in metas):
        return None
    if refusal(op) is not None:
        return None
    builder = RowsBuilder(all(meta.dtype is dt.Double for meta in metas))
    places = {value: at for at, value in enumerate(op.operands)}
    arguments: dict[str, Any] = op.arguments(lambda value: builder.operand(places[value], value))
    try:
        made = entry.call({**arguments, "out": [meta_of(result) for result in op.results]}, builder)
        return builder.program([made] if isinstance(made, Tensor) else list(made))
    except NoRowsError:
        return None


class RowsBuilder(LinalgBuilder):
    """Makes nodes of what lowerings make."""

    def __init__(self, double: bool) -> None:
        super().__init__(self.refuse)
        self.double = double
        """Whether all operands and results are of float64, so that buffers are."""
        self.nodes: list[Node] = []
        self.made: dict[SSAValue, int] = {}
        """Of tensors, their nodes."""
        self.given: dict[SSAValue, int] = {}
        """Of operands, their positions."""
        self.filled: dict[SSAValue, complex] = {}
        """Of tensors that results begin with, the number that fills them."""
        self.sizes: dict[SSAValue, Expr] = {}
        self.shape: Sizes | None = None
        """Of the rows, as the operator has it: what the first reduction is of."""
        self.leading: Sizes = ()
        self.length: Dim = 1

    def refuse(self, op: Operation) -> None:
        raise NoRowsError

    def tensor(self, shape: Sizes, dtype: dt.DType, place: int) -> Tensor:
        """A tensor that stands for a node."""
        made = self.empty(shape, dtype)
        self.made[made] = place
        return Tensor(made, shape, dtype)

    def operand(self, at: int, value: SSAValue) -> Tensor:
        meta = meta_of(value)
        made = self.empty(meta.shape, meta.dtype)
        self.given[made] = at
        return Tensor(made, meta.shape, meta.dtype)

    def program(self, results: Sequence[Tensor]) -> RowProgram:
        """The program that has these results."""
        places = tuple(self.made[result.value] for result in results if result.value in self.made)
        if self.shape is None or len(places) < len(results):
            raise NoRowsError
        return RowProgram(without_ones(self.leading), self.length, tuple(self.nodes), places)

    # what lowerings make

    def size(self, size: Dim) -> SSAValue:
        if not isinstance(size, Expr):
            raise NoRowsError
        value = Block(arg_types=[f64 if size.kind == "float" else IndexType()]).args[0]
        self.sizes[value] = size
        return value

    def empty(self, shape: Sizes, dtype: dt.DType) -> SSAValue:
        return Block(arg_types=[tensor_of(shape, dtype)]).args[0]

    def fill(self, value: complex | Expr, shape: Sizes, dtype: dt.DType) -> Tensor:
        if isinstance(value, Expr):
            raise NoRowsError
        made = self.empty(shape, dtype)
        self.filled[made] = value
        return Tensor(made, shape, dtype)

    def reshape(self, input: Tensor, shape: Sizes) -> Tensor:
        """Rows, and numbers, stay in their order."""
        if input.shape == shape:
            return input
        return (
            self.tensor(shape, input.dtype, self.made[input.value])
            if input.value in self.made
            else self.refused()
        )

    def refused(self) -> Any:
        raise NoRowsError

    def _fold_in_blocks(
        self,
        combine: Body,
        inputs: Sequence[Tensor],
        over: Sequence[int],
        initial: bool | int | float,
        dtype: dt.DType,
        join: Body,
    ) -> Tensor:
        """Lanes are blocks, whose results are joined in pairs."""
        count = prod(inputs[0].shape[dim] for dim in over)
        if not isinstance(count, int) or count > LONGEST:
            raise NoRowsError
        return self.fold(combine, inputs, over, initial, dtype)

    def generic(
        self,
        inputs: Sequence[tuple[Tensor, AffineMap]],
        init: Tensor,
        output_map: AffineMap,
        iterators: Sequence[str],
        body: Body,
        **attributes: Attribute,
    ) -> Tensor:
        over = [dim for dim, kind in enumerate(iterators) if kind == "reduction"]
        if init.value in self.made or init.value in self.given or init.dtype not in DTYPES or not inputs:
            raise NoRowsError
        shape = inputs[0][0].shape if over else init.shape
        if over:
            self.reduced(shape, over)
        if self.shape is None or any(map != broadcast_map(t.shape, shape) for t, map in inputs):
            raise NoRowsError
        nodes = [self.node(tensor, shape) for tensor, _ in inputs]
        block = self.body([tensor for tensor, _ in inputs], init, body)
        end = block.last_op
        assert isinstance(end, YieldOp)
        result = stored_bit(end.operands[0])
        make = self.reduction if over else self.map
        return self.tensor(init.shape, init.dtype, make(block.args, result, nodes, shape, init))

    # rows

    def reduced(self, shape: Sizes, over: Sequence[int]) -> None:
        """Rows are what is reduced over the last dimensions: the same in all reductions."""
        first = len(shape) - len(over)
        length = prod(shape[first:])
        if list(over) != list(range(first, len(shape))):
            raise NoRowsError
        if self.shape is None:
            self.shape, self.leading, self.length = shape, shape[:first], length
        if without_ones(shape) != without_ones(self.shape) or length != self.length:
            raise NoRowsError

    def is_row(self, shape: Sizes) -> bool:
        """Whether a tensor of a shape has rows, not one number for each, as rows of one element have."""
        if prod(shape) == prod(self.leading):
            return False
        return self.is_all(shape) or self.refused()

    def is_all(self, shape: Sizes) -> bool:
        """Whether a tensor of a shape has all elements of the rows."""
        return prod(shape) == prod((*self.leading, self.length))

    def node(self, tensor: Tensor, shape: Sizes) -> int:
        """The node of a tensor that broadcasts to a shape."""
        place, same = self.made.get(tensor.value), without_ones(tensor.shape) == without_ones(shape)
        if tensor.value in self.given:
            if tensor.dtype not in DTYPES or not self.is_all(shape):
                raise NoRowsError
            operand = Operand(self.length, (), DTYPES[tensor.dtype], self.given[tensor.value], shape, same)
            return self.nodes.index(operand) if operand in self.nodes else self.add_node(operand)
        if place is None or not (same or are_numbers_of_rows(tensor.shape, shape, self.length)):
            raise NoRowsError
        return place

    def is_whole(self, n: int) -> bool:
        """Whether a node has an element for each of the row."""
        node = self.nodes[n]
        return node.whole if isinstance(node, Operand) else node.length == self.length

    def add_node(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def map(
        self, args: Sequence[SSAValue], result: SSAValue, nodes: list[int], shape: Sizes, init: Tensor
    ) -> int:
        row = self.is_row(shape)
        formula = body_of(args[:-1], result, self.sizes)
        if formula is None or (row and init.dtype is dt.Double and not self.double):
            raise NoRowsError
        dtype = DTYPES[init.dtype]
        return self.row(formula, nodes, dtype) if row else self.add_node(Map(1, tuple(nodes), dtype, formula))

    def row(self, formula: Formula, nodes: Sequence[int], dtype: DType) -> int:
        """A node of rows; what its formula computes of numbers alone is a number too."""
        parts, (rest, taken) = hoisted(formula, [self.nodes[n].length == 1 for n in nodes])
        if not is_of_vectors(rest):
            raise NoRowsError
        numbers: list[int] = []
        for part, arguments in parts:
            of = cast("DType", part.instructions[-1].dtype)
            numbers.append(self.add_node(Map(1, tuple(nodes[at] for at in arguments), of, part)))
        operands = [*nodes, *numbers]
        return self.add_node(Map(self.length, tuple(operands[at] for at in taken), dtype, rest))

    def reduction(
        self, args: Sequence[SSAValue], result: SSAValue, nodes: list[int], shape: Sizes, init: Tensor
    ) -> int:
        """A reduction of a term of elements."""
        combine, dtype = result.owner, DTYPES[compute_dtype(init.dtype)]
        kind = KINDS.get(combine.name) if isinstance(combine, Operation) else None
        if kind is None or not isinstance(combine, Operation):
            raise NoRowsError
        so_far, term = map(bit, combine.operands)
        if so_far is not args[-1]:
            so_far, term = term, so_far
        formula = body_of(args[:-1], term, self.sizes) if so_far is args[-1] and term is not so_far else None
        if formula is None:
            raise NoRowsError
        if len(nodes) > 1 or formula.instructions not in ((), WIDER) or not self.is_whole(nodes[0]):
            of = cast("DType", TYPES.get(term.type, "i1"))
            nodes = [self.row(formula, nodes, of)]
        made = self.add_node(Reduce(1, tuple(nodes), dtype, kind))
        begun, neutral = self.filled.get(init.value), REDUCTIONS[kind][1]
        if begun == neutral:
            return made
        if not isinstance(begun, float | int):
            raise NoRowsError
        number = Instruction(CONSTANT, (), dtype, float(begun) if dtype != "i1" else bool(begun))
        whole = Formula(1, (number, Instruction(combine.name, (0, 1), dtype)))
        return self.add_node(Map(1, (made,), dtype, whole))


def bit(value: SSAValue) -> SSAValue:
    """The byte of which a value asks whether it is set; any other value itself."""
    return value.owner.operands[0] if isinstance(value.owner, Operation) and is_bit(value.owner) else value
