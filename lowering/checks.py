"""Operators that only look at what tensors hold, and raise where that is not right: code cannot, so callers do.

They are taken out of a method before it is lowered. What they look at become further results of the method; who calls it runs
them, in order. What other operators demand of their operands has become such operators before (`lowering.preconditions`).
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region

from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.errors import LoadError
from xdsl_exir.interpreter.operators import IMPLS
from xdsl_exir.lowering import LOWERINGS
from xdsl_exir.lowering.preconditions import assert_preconditions
from xdsl_exir.lowering.printing import generic_text
from xdsl_exir.program import methods_of
from xdsl_exir.transforms.fold_constants import Stored, constant_arguments


def is_check(op: Operation) -> bool:
    """Whether an operation only looks at what tensors hold, and raises where that is not right."""
    if not isinstance(op, OperatorOp) or op.results or not op.operands:
        return False
    return LOWERINGS.find(op.SPEC) is None and IMPLS.find(op.SPEC) is not None


def is_draw(op: Operation) -> bool:
    """Whether an operation draws random numbers."""
    return isinstance(op, OperatorOp) and "random" in op.SPEC.tags


def take_checks(
    module: ModuleOp, state: Mapping[str, Stored], draws: bool = False
) -> dict[str, list[OperatorOp]]:
    """Takes the checks out of the methods of a module at edge, and gives them by method, others' demands on their operands among them;
    drops random numbers that nobody uses, unless they stay (`draws`)."""
    methods = methods_of(module)
    for method in methods.values():
        if not draws:
            drop_draws(method)
        assert_preconditions(method, constant_arguments(module, method, state))
    return {name: take_checks_of(method) for name, method in methods.items()}


def drop_draws(function: FuncOp) -> None:
    """Drops random numbers that nobody uses: native code has no stream of them that others continue."""
    for op in reversed(list(function.walk())):
        if is_draw(op) and not any(r.uses for r in op.results):
            op.detach()
            op.erase()


def take_checks_of(function: FuncOp) -> list[OperatorOp]:
    """Takes the checks out of a function, each with a block of arguments for what it looks at."""
    end = function.get_return_op()
    assert end is not None
    checks: list[OperatorOp] = []
    for op in list(function.body.block.ops):
        if isinstance(op, OperatorOp) and is_check(op):
            end.operands = (*end.operands, *op.operands)
            block = Block(arg_types=op.operand_types)
            check = op.clone(dict(zip(op.operands, block.args, strict=True)))
            block.add_op(check)
            checks.append(check)
            op.detach()
            op.erase()
    function.update_function_type()
    return checks


def check_text(check: OperatorOp) -> str:
    """A check as text, which needs no dialect of ours where it is kept."""
    block = Block(arg_types=check.operand_types)
    block.add_op(check.clone(dict(zip(check.operands, block.args, strict=True))))
    block.add_op(ReturnOp())
    return generic_text(FuncOp("check", (check.operand_types, ()), Region(block)))


def check_of(text: str) -> OperatorOp:
    """A check from its text. Raises `LoadError` for text that is none."""
    from xdsl_exir.importers.mlir import read_module

    match list(read_module(text, "a check").ops):
        case [FuncOp() as function] if function.body.blocks:
            match list(function.body.block.ops):
                case [OperatorOp() as check, ReturnOp()] if is_check(check):
                    return check
                case _:
                    pass
        case _:
            pass
    raise LoadError(f"{text!r:.100} is no check")
