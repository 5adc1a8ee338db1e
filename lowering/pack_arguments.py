"""`pack-arguments`: functions that are called from outside take one argument, the address of words.

A driver of a large model has thousands of memrefs, each of several numbers: LLVM takes time that grows with the square of a function's
arguments, and so does who calls it. The words, of 64 bits, are the numbers that a function takes and the descriptors of its memrefs,
one after the other, each as MLIR lays it out
(https://mlir.llvm.org/docs/TargetLLVMIR/#ranked-memref-types): allocated and aligned pointer, offset, sizes, strides.
Each is read where it is first needed: thousands of values that live from the beginning on are what LLVM takes long over, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects import arith, func, llvm
from xdsl.dialects.builtin import (
    ArrayAttr,
    IndexType,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnrealizedConversionCastOp,
    i64,
)
from xdsl.ir import Attribute, BlockArgument, Operation
from xdsl.passes import ModulePass
from xdsl.utils.hints import isa

from xdsl_exir.errors import VerificationError
from xdsl_exir.names import own_name

POINTER = llvm.LLVMPointerType()
INTERFACE = "llvm.emit_c_interface"
"""The attribute of functions that are called from outside."""
LONG = 2_000
"""Operations of a function from which on it is not optimised: it only passes on what it is given, and selecting instructions for
thousands of calls together takes time that grows with their square."""


ENTRY = own_name("entry.")
"""What the names of functions begin with that are called from outside with words."""


@dataclass(frozen=True)
class PackArguments(ModulePass):
    """Gives functions with `llvm.emit_c_interface` one argument and a name of their own kind.

    Raises `VerificationError` for an argument that is neither an `index` nor a memref."""

    name = "pack-arguments"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, func.FuncOp) and INTERFACE in function.attributes:
                pack(function)


def pack(function: func.FuncOp) -> None:
    """Makes the arguments of a function what lies at the address that it is given."""
    block, place = function.body.block, 0
    taken = list(block.args)
    words = block.insert_arg(POINTER, 0)
    order = {op: position for position, op in enumerate(block.ops)}
    for arg in taken:
        type, count = packed(arg.type)
        users = [user for use in arg.uses if (user := block.find_ancestor_op_in_block(use.operation))]
        if users:
            address = llvm.GEPOp(words, [place], i64)
            load = llvm.LoadOp(address.result, type)
            block.insert_ops_before([address, load, unpacked(load, arg)], min(users, key=order.__getitem__))
        block.erase_arg(arg)
        place += count
    function.update_function_type()
    function.properties["sym_name"] = StringAttr(ENTRY + function.sym_name.data)
    del function.attributes[INTERFACE]
    if sum(1 for _ in function.walk()) > LONG:
        function.attributes["passthrough"] = ArrayAttr([StringAttr("noinline"), StringAttr("optnone")])


def packed(type: Attribute) -> tuple[Attribute, int]:
    """What an argument of a type is in memory, and how many words it takes. Raises `VerificationError` for other types."""
    if isinstance(type, IndexType):
        return i64, 1
    if not isa(type, MemRefType[Attribute]):
        raise VerificationError(f"functions that are called from outside take no {type}")
    rank = type.get_num_dims()
    sizes = [llvm.LLVMArrayType(rank, i64)] * 2 if rank else []
    return llvm.LLVMStructType.from_type_list([POINTER, POINTER, i64, *sizes]), 3 + 2 * rank


def unpacked(load: llvm.LoadOp, arg: BlockArgument[Any]) -> Operation:
    """Makes what was loaded an argument."""
    if isinstance(arg.type, IndexType):
        op = arith.IndexCastOp(load.dereferenced_value, arg.type)
    else:
        op = UnrealizedConversionCastOp.get([load.dereferenced_value], [arg.type])
    arg.replace_all_uses_with(op.results[0])
    return op
