"""A method that is linalg on tensors already, as one dispatch: what native code is made of for a program that others lowered, or changed there."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from xdsl.dialects import arith, cf, scf, tensor
from xdsl.dialects.builtin import FunctionType, IndexType, StringAttr, TensorType, UnitAttr, i8
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block
from xdsl.rewriter import Rewriter
from xdsl.utils.hints import isa

from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.sizes import sizes_of, symbols_of
from xdsl_exir.dialects.tensors import SymIntType, SymType, is_tensor_type, tensor_meta
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.locations import location_text
from xdsl_exir.lowering.dispatch import Dispatches, Plan, symbol_places
from xdsl_exir.lowering.dispatches.buffers import NAME, Value, value_for
from xdsl_exir.lowering.dispatches.groups import LARGE, NESTED, destination_style
from xdsl_exir.lowering.driver import Driver
from xdsl_exir.lowering.preconditions import FLAG, before
from xdsl_exir.transforms.fold_constants import Stored


def plan_whole(
    function: FuncOp,
    signature: FuncOp,
    constants: Mapping[int, Stored],
    dispatches: Dispatches,
    name: str,
) -> Plan:
    """The plan of a lowered method, whose signature at edge is given, and the arrays of constants by position among its arguments."""
    plan, driver = Plan(), Driver()
    args = Block(arg_types=signature.function_type.inputs).args
    plan.symbols = symbol_places(signature.function_type.inputs.data)
    for symbol in plan.symbols:
        driver.symbol(symbol)
    unknown = (
        symbols_of(sizes_of(Block(arg_types=signature.function_type.outputs).args)) - plan.symbols.keys()
    )
    if unknown:
        reason = "a result has a size that the program reads: native code is made of it as it was at edge"
        raise UnsupportedError([Unsupported(symbol, reason) for symbol in sorted(unknown)])
    tensors = {
        position: value_for(tensor_meta(arg.type))
        for position, arg in enumerate(args)
        if is_tensor_type(arg.type)
    }
    plan.inputs = [value for position, value in tensors.items() if position not in constants]
    for position, data in constants.items():
        array = data.numpy()
        plan.constants.append((tensors[position], np.ascontiguousarray(array).reshape(array.shape)))
    # The driver takes inputs first, then constants; the dispatch takes them as the method does.
    for value in (*plan.inputs, *(value for value, _ in plan.constants)):
        driver.argument(value)
    taken = list(tensors.values())
    for position, result in enumerate(Block(arg_types=signature.function_type.outputs).args):
        if isinstance(result.type, SymType):
            plan.numbers[position] = result.type.data
        else:
            plan.outputs.append(value_for(tensor_meta(result.type)))
            driver.argument(plan.outputs[-1])
    called = dispatches.function("method", as_dispatch(function, plan, taken))
    numbers = [
        str(arg.type.data)
        for arg in args
        if isinstance(arg.type, SymIntType) and str(arg.type.data) in plan.symbols
    ]
    driver.call(called, numbers, [*taken, *plan.outputs])
    plan.driver = driver.function(name, list(plan.symbols))
    return plan


def asserted(function: FuncOp, signature: FuncOp) -> tuple[FuncOp, FuncOp, list[OperatorOp]]:
    """A method and its signature, where what is asserted are further results, and the checks of these that its caller makes: what LLVM has for
    `cf.assert` ends the process. Raises `UnsupportedError` for an assertion in a region."""
    made, signature = function.clone(), signature.clone()
    asserts = [op for op in made.walk() if isinstance(op, cf.AssertOp)]
    inside = [op for op in asserts if op.parent_op() is not made]
    if inside:
        found = (Unsupported(op.name, "an assertion inside a region", location_text(op)) for op in inside)
        raise UnsupportedError(list(found))
    for op in asserts:
        returned = made.get_return_op()
        assert returned is not None
        byte = arith.ExtUIOp(op.arg, i8)
        flag = tensor.FromElementsOp(byte.result, result_type=TensorType(i8, []))
        Rewriter.replace_op(op, [byte, flag], [])
        returned.operands = (*returned.operands, flag.results[0])
    made.update_function_type()
    taken, given = signature.function_type.inputs, signature.function_type.outputs
    signature.function_type = FunctionType.from_lists([*taken], [*given, *[FLAG] * len(asserts)])
    return made, signature, [assertion(op) for op in asserts]


def assertion(op: cf.AssertOp) -> OperatorOp:
    """The check that one Bool is set."""
    block = Block(arg_types=[FLAG])
    end = ReturnOp()
    block.add_op(end)
    before(end)._assert_async.msg(block.args[0], op.msg.data)
    check = block.first_op
    assert isinstance(check, OperatorOp)
    check.location = op.location
    return check


def has_nested_sizes(function: FuncOp) -> bool:
    """Whether branches or loops hold tensors of sizes that are not known."""
    nests = [op for op in function.walk() if isinstance(op, scf.ForOp | scf.IfOp | scf.WhileOp)]
    made = [result.type for nest in nests for op in nest.walk() for result in op.results]
    return any(isa(type, TensorType[Attribute]) and not type.has_static_shape() for type in made)


def as_dispatch(function: FuncOp, plan: Plan, taken: list[Value]) -> FuncOp:
    """A copy of the method that takes the numbers first, and writes its tensors to its last arguments."""
    made = function.clone()
    made.attributes.clear()
    made.properties = {"sym_name": StringAttr(NAME), "function_type": made.function_type}
    made.attributes[LARGE] = UnitAttr()
    if has_nested_sizes(made):
        made.attributes[NESTED] = UnitAttr()
    block = made.body.block
    for arg in [arg for arg in block.args if isinstance(arg.type, IndexType)]:
        first = sum(isinstance(other.type, IndexType) for other in block.args[: arg.index])
        moved = block.insert_arg(arg.type, first)
        arg.replace_all_uses_with(moved)
        block.erase_arg(arg)
    returned = block.last_op
    assert isinstance(returned, ReturnOp)
    returned.operands = [
        operand for position, operand in enumerate(returned.operands) if position not in plan.numbers
    ]
    return destination_style(made, [*taken, *plan.outputs])
