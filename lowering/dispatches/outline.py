"""What a dispatch computes, taken out of the program: its operators as a block of their own, and as the body of a function over memrefs.

Every dispatch has such a body, linalg on tensors between memrefs, whose formulas are those of its operators' lowerings. A kernel takes its
arguments as it needs them, packed, merged, in another order: the body sees them again as the program's tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from xdsl.dialects.arith import AddiOp, DivUIOp, MuliOp
from xdsl.dialects.builtin import IndexType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.memref import ExtractStridedMetaDataOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from xdsl_exir.dialects.exir import ConstantOp
from xdsl_exir.dialects.expr import Dim, Expr
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.sizes import is_symbol, symbols_of
from xdsl_exir.dialects.tensors import SymIntType, SymType, is_tensor_type, tensor_meta, tensor_type
from xdsl_exir.dialects.upstream import MaterializeInDestinationOp, ToTensorOp
from xdsl_exir.lowering.arithmetic import SizesOf
from xdsl_exir.lowering.dispatches.buffers import Value, memref_type
from xdsl_exir.lowering.dispatches.views import is_view, views_of
from xdsl_exir.lowering.driver import reinterpreted, with_elements
from xdsl_exir.lowering.edge_to_linalg import FunctionLowering
from xdsl_exir.lowering.linalg import LinalgBuilder
from xdsl_exir.lowering.tensors import Tensor

if TYPE_CHECKING:
    from xdsl_exir.lowering.dispatch import Planner
    from xdsl_exir.lowering.kernel import Kernel


@dataclass(frozen=True)
class Packed:
    """What a kernel takes in place of a constant."""

    value: Value
    unpack: Callable[[LinalgBuilder, Tensor], Tensor]
    """Builds the constant from it."""


class Outline:
    """Operators of the program in a block of their own. Its arguments are the numbers that its sizes need, then `inputs`."""

    def __init__(self, planner: Planner, ops: Sequence[OperatorOp], from_memory: bool = False):
        self.planner, self.from_memory = planner, from_memory
        """Whether inputs are what lies in memory already, and views of it part of the block."""
        self.block = Block()
        self.mapper: dict[SSAValue, SSAValue] = {}
        self.inputs: list[SSAValue | Value | Packed] = []
        """Values of the program, or what a kernel has in their place, in the order of the block's arguments behind numbers."""
        self.numbers: dict[SymType, SSAValue] = {}
        self.lying: dict[SSAValue, SSAValue] = {}
        """Values whose elements the block has in the order of others, and these."""
        self.operators(ops)

    def operators(self, ops: Sequence[OperatorOp]) -> None:
        """Adds operators and what they need."""
        for op in ops:
            for operand in op.operands:
                self.bring(operand)
            self.add(op.clone(self.mapper, clone_name_hints=False))

    def add(self, op: OperatorOp) -> OperatorOp:
        """Adds an operator of the block's own."""
        op.attributes.clear()
        self.block.add_op(op)
        return op

    def epilogue(
        self, ops: Sequence[OperatorOp], made: Mapping[SSAValue, SSAValue], place: SSAValue | None = None
    ) -> None:
        """Adds what happens to a kernel's result before it is stored; `made` says of what is made of it in which order its elements are:
        of the same one as the result's, or as a view's. Elementwise operators on a view are applied to what it is a view of, or to the
        view of the result as which that lies in memory, its `place`."""
        for op in ops:
            mine = [operand for operand in op.operands if operand in made]
            under = {operand: self.under(operand, place) for operand in mine}
            if all(made[value] is made[root] and root not in self.lying for value, root in under.items()):
                self.operators([op])
            else:
                self.apply(op, under)

    def under(self, value: SSAValue, place: SSAValue | None) -> SSAValue:
        """What the block has, or is brought as the result's place, that a value is a view of."""
        while value not in self.mapper:
            if value is place:
                self.bring(value)
                return value
            source = self.source(value)
            assert source is not None
            value = source
        return value

    def apply(self, op: OperatorOp, under: Mapping[SSAValue, SSAValue]) -> None:
        """Adds an elementwise operator, applied to what its operands are views of; others are numbers."""

        def operand(given: SSAValue) -> SSAValue:
            if given in under:
                return self.mapper[under[given]]
            number = self.planner.splat(given)
            assert number is not None
            constant = ConstantOp(number, tensor_type((), tensor_meta(given.type).dtype))
            self.block.add_op(constant)
            return constant.result

        first = next(iter(under.values()))
        shape = tensor_meta(self.mapper[first].type).shape
        dtype = tensor_meta(op.results[0].type).dtype
        applied = self.add(type(op).from_bound(op.arguments(operand), [tensor_type(shape, dtype)]))
        self.mapper[op.results[0]] = applied.results[0]
        self.lying[op.results[0]] = self.lying.get(first, first)

    def argument(self, type: Attribute, value: SSAValue | Value | Packed) -> SSAValue:
        """Makes a value an input."""
        self.inputs.append(value)
        return self.block.insert_arg(type, len(self.block.args))

    def brought(self, value: SSAValue) -> SSAValue:
        """A value of the program in the block."""
        self.bring(value)
        return self.mapper[value]

    def number(self, type: SymType) -> SSAValue:
        """A number that its type says; symbols are arguments of the function."""
        if type not in self.numbers:
            self.numbers[type] = self.block.insert_arg(type, 0)
            self.numbers[type].name_hint = f"sym_{type.data}" if is_symbol(type.data) else None
        return self.numbers[type]

    def bring(self, value: SSAValue) -> None:
        """Puts a value into the block: what makes it, if that is a view of what the block makes, or an argument."""
        chain = [value]
        while chain[-1] not in self.mapper and (source := self.source(chain[-1])) is not None:
            chain.append(source)
        if chain[-1] not in self.mapper:
            there = (at for at, each in enumerate(chain) if each in self.planner.values)
            chain = chain[: next(there, len(chain) - 1) + 1] if self.from_memory else [value]
            while len(chain) > 1 and self.lies_as_other(chain[-1]):
                chain.pop()
            self.bring_whole(chain[-1])
        for each in reversed(chain[:-1]):
            if each in self.planner.identities:
                self.mapper[each] = self.mapper[self.planner.identities[each]]
            else:
                assert isinstance(each.owner, OperatorOp)
                self.operators([each.owner])

    def lies_as_other(self, value: SSAValue) -> bool:
        """Whether a value lies in memory in another dtype: what a kernel's epilogue made of it."""
        lies = self.planner.values.get(value)
        return (
            lies is not None
            and is_tensor_type(value.type)
            and lies.dtype is not tensor_meta(value.type).dtype
        )

    def source(self, value: SSAValue) -> SSAValue | None:
        """What a value is the same as, or a view of; None of anything else."""
        if isinstance(value.type, SymType) or value in self.planner.constants:
            return None
        if value in self.planner.identities:
            return self.planner.identities[value]
        return (
            value.owner.operands[0] if isinstance(value.owner, OperatorOp) and is_view(value.owner) else None
        )

    def bring_whole(self, value: SSAValue) -> None:
        """Puts a value that the block does not make into it."""
        splat = self.planner.splat(value)
        if isinstance(value.type, SymType):
            self.mapper[value] = self.number(value.type)
        elif splat is not None and is_tensor_type(value.type):
            constant = ConstantOp(splat, value.type)
            self.block.add_op(constant)
            self.mapper[value] = constant.result
        else:
            self.mapper[value] = self.argument(value.type, value)

    def end(self, outputs: Sequence[SSAValue]) -> Block:
        """The block, which returns these values and has the symbols of all its types."""
        self.block.add_op(ReturnOp(*map(self.brought, outputs)))
        for symbol in sorted(symbols_in(self.block), reverse=True):
            self.number(SymIntType(Expr.symbol(symbol)))
        return self.block

    def body(
        self,
        arguments: Sequence[Value],
        outputs: Sequence[SSAValue],
        instead: Mapping[SSAValue, Packed] = MappingProxyType({}),
    ) -> Body | None:
        """What a kernel called with arguments computes; None where no strides say what its arguments are of the program's values.
        `instead` says what it has in place of constants."""
        planner = self.planner
        copies = {
            planner.copied[value.buffer]: value.buffer
            for value in arguments
            if value.buffer in planner.copied
        }

        def place(given: SSAValue | Value | Packed) -> Value | Packed:
            """Where among the arguments an input is."""
            if not isinstance(given, SSAValue):
                return given
            if given in instead:
                return instead[given]
            value = planner.value(given)
            return Value(copies[value], value.shape, value.dtype) if value in copies else value

        block, inputs = self.end(outputs), [place(given) for given in self.inputs]
        made = [in_memory(planner, self.lying.get(value, value)) for value in outputs]
        stored = [value for value in made if value is not None]
        there = {value.buffer for value in arguments}
        used = [*stored, *(given.value if isinstance(given, Packed) else given for given in inputs)]
        if len(stored) != len(made) or any(value.buffer not in there for value in used):
            return None
        return Body(block, arguments, inputs, stored)


def symbols_in(block: Block) -> set[str]:
    """The symbols that types in a block name."""
    values = [*block.args, *(result for op in block.ops for result in op.results)]
    sizes: list[Dim] = []
    for type in (value.type for value in values):
        sizes += (
            tensor_meta(type).shape
            if is_tensor_type(type)
            else [type.data]
            if isinstance(type, SymType)
            else []
        )
    return symbols_of(sizes)


def in_memory(planner: Planner, value: SSAValue) -> Value | None:
    """Where a value lies without a copy; None where no strides say that."""
    chain = [value]
    while chain[-1] not in planner.values:
        source = planner.identities.get(chain[-1])
        if source is None:
            op = chain[-1].owner
            if not isinstance(op, OperatorOp) or not is_view(op):
                return None  # it lies as a view of it wants it to: heads of an attention next to each other
            source = op.operands[0]
        chain.append(source)
    found: Value | None = planner.values[chain.pop()]
    for each in reversed(chain):
        if each not in planner.identities and found is not None:
            op = each.owner
            assert isinstance(op, OperatorOp)
            found = next(
                v for v, result in zip(views_of(found, op), op.results, strict=True) if result is each
            )
    return found


@dataclass(frozen=True)
class Body:
    """What a kernel computes: operators of the program, between what the kernel takes."""

    block: Block
    """The operators, as `Outline` has them."""
    arguments: Sequence[Value]
    """Of the kernel."""
    inputs: Sequence[Value | Packed]
    """What the block's inputs are of these arguments, and its outputs."""
    outputs: Sequence[Value]

    @property
    def symbols(self) -> list[str]:
        """The symbols that the operators need."""
        types = [arg.type for arg in self.block.args if isinstance(arg.type, SymIntType)]
        return [str(type.data) for type in types if is_symbol(type.data)]

    def function(self, kernel: Kernel, name: str) -> FuncOp:
        """The function of this name that takes what the kernel takes; a declaration where the kernel is not given a symbol that the
        operators need."""
        types: list[Attribute] = [*[IndexType()] * len(kernel.symbols), *kernel.types.values()]
        if not set(self.symbols) <= set(kernel.symbols):
            return FuncOp.external(name, types, [])
        entry = Block(arg_types=types)
        symbols = dict(zip(kernel.symbols, entry.args, strict=False))
        taken = list(zip(self.arguments, entry.args[len(symbols) :], strict=True))
        sizes = SizesOf(entry, symbols)
        builder = LinalgBuilder(entry.add_op, symbols.__getitem__)

        def view(value: Value) -> SSAValue:
            """A value, which is a view of an argument."""
            of_buffer = [(known, arg) for known, arg in taken if known.buffer is value.buffer]
            for known, arg in of_buffer:
                if arg.type == value.type and known.offset == value.offset:  # types do not say offsets
                    return arg
            known, memory = of_buffer[-1]
            if known.offset:
                return near(builder, known, memory, value, sizes)
            memory = with_elements(memory, value, builder.add)
            return builder.add(reinterpreted(memory, value, value.type, sizes.index))

        def read(given: Value | Packed) -> SSAValue:
            if isinstance(given, Value):
                return builder.add(ToTensorOp(view(given)))
            packed = Tensor(read(given.value), given.value.shape, given.value.dtype)
            return given.unpack(builder, packed).value

        lowered = FunctionLowering(FuncOp(name, type_of(self.block), Region(self.block))).run().body.block
        given = [*(symbols[name] for name in self.symbols), *map(read, self.inputs)]
        for arg, value in zip(lowered.args, given, strict=True):
            arg.replace_all_uses_with(value)
        end = lowered.last_op
        assert isinstance(end, ReturnOp)
        results = list(end.operands)
        for op in list(lowered.ops):
            op.detach()
            if op is not end:
                entry.add_op(op)
        for result, value in zip(results, self.outputs, strict=True):
            entry.add_op(MaterializeInDestinationOp(result, view(value)))
        entry.add_op(ReturnOp())
        end.erase()
        return FuncOp(name, (types, []), Region(entry))


def near(builder: LinalgBuilder, known: Value, memory: SSAValue, value: Value, sizes: SizesOf) -> SSAValue:
    """The memref of a value that lies in the same buffer as another one, from where that begins on: calls pass it at any offset."""
    told = ExtractStridedMetaDataOp(memory)
    builder.add(told)
    begin, wide, narrow = told.offset, known.dtype.itemsize, value.dtype.itemsize
    if wide != narrow:  # complex numbers as pairs of floats, or these as such
        begin = builder.add(MuliOp(begin, sizes.index(wide)))
        begin = builder.add(DivUIOp(begin, sizes.index(narrow)))
    distance = value.offset - known.offset * wide // narrow
    at = builder.add(AddiOp(begin, sizes.index(distance)))
    whole = with_elements(told.base_buffer, value, builder.add)
    type = memref_type(value.shape, value.dtype, value.strides, None)
    return builder.add(reinterpreted(whole, value, type, sizes.index, at))


def copied(source: Value, target: Value, arguments: Sequence[Value]) -> Body:
    """What a copy computes."""
    block = Block(arg_types=[tensor_type(source.shape, source.dtype)])
    block.add_op(ReturnOp(block.args[0]))
    return Body(block, arguments, [source], [target])


def type_of(block: Block) -> tuple[list[Attribute], list[Attribute]]:
    """The type of a block as a function."""
    end = block.last_op
    assert isinstance(end, ReturnOp)
    return [arg.type for arg in block.args], [value.type for value in end.operands]
