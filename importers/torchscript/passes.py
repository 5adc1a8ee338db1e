"""Passes on modules of the `torchscript` dialect: calls inlined, and what is left as aten, for inputs of given types.

The second is one abstract run (`trace`): what constants, types and shapes decide disappears as it is met, so that nothing has to be found again between
one pass and the next: branches, loops, lists, tuples, dicts, objects, numbers. What data decide becomes `cond` and `while_loop`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from xdsl_exir.dialects.torchscript import types as ts
from xdsl_exir.dialects.torchscript.operations import FuncOp, ReturnOp, ScriptOp
from xdsl_exir.errors import ExirError
from xdsl_exir.importers.torchscript.program import ScriptProgram
from xdsl_exir.limits import LIMITS
from xdsl_exir.locations import errors_at

LARGEST = 1 << 20
"""Operations that a function becomes at most: each may call another twice."""


@dataclass(frozen=True)
class InlineTorchscriptCalls(ModulePass):
    """Puts the bodies of functions and methods where they are called. Functions that nothing calls stay; what an interface stands for is not known."""

    name = "inline-torchscript-calls"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = {f.text("sym_name"): f for f in op.ops if isinstance(f, FuncOp)}
        called: set[str] = set()
        done: set[str] = set()
        for name in functions:
            _inline_into(name, functions, done, called, ())
        for name in called:
            Rewriter.erase_op(functions[name])


def _inline_into(
    name: str, functions: Mapping[str, FuncOp], done: set[str], called: set[str], around: tuple[str, ...]
) -> None:
    """Inlines what a function calls, and what that calls before."""
    if name in around:
        raise ExirError(f"{name:.200} calls itself")
    if len(around) > LIMITS.nesting:
        raise ExirError(f"{name:.200}: calls lie more than {LIMITS.nesting} deep in one another")
    if name in done:
        return
    done.add(name)
    calls = [op for op in functions[name].walk() if isinstance(op, ScriptOp)]
    for op in calls:
        callee = _callee(op)
        if callee not in functions:
            continue
        _inline_into(callee, functions, done, called, (*around, name))
        called.add(callee)
        _inline(op, functions[callee].regions[0].block)
    if sum(1 for _ in functions[name].walk()) > LARGEST:
        raise ExirError(f"{name:.200}: more than {LARGEST} operations when its calls are inlined")


def _callee(op: ScriptOp) -> str:
    """The function that a call calls; nothing for what is none."""
    match op.kind:
        case "prim.CallFunction":
            return op.text("name")
        case "prim.CallMethod" if isinstance(owner := ts.unspelled(op.operands[0].type), ts.ClassType):
            return f"{owner.qualified_name}.{op.text('name')}"
        case _:
            return ""


def _inline(call: ScriptOp, body: Block) -> None:
    """Puts a copy of a body where it is called."""
    values: dict[SSAValue, SSAValue] = dict(zip(body.args, call.operands, strict=True))
    made = [op.clone(values) for op in body.ops if not isinstance(op, ReturnOp)]
    [end] = (op for op in body.ops if isinstance(op, ReturnOp))
    Rewriter.insert_op(made, InsertPoint.before(call))
    Rewriter.replace_op(call, [], [values.get(value, value) for value in end.operands])


@dataclass(frozen=True)
class TorchscriptToAten(ModulePass):
    """One method as an ordinary program of aten, for inputs of these types (`float32[s0, 8]`) and numbers."""

    name = "torchscript-to-aten"

    inputs: tuple[str | int | float | bool, ...] = ()
    method: str = "forward"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        with errors_at(f"pass {self.name}"):
            made = ScriptProgram(op).to_aten(list(self.inputs), self.method).module
        for each in list(op.ops):
            Rewriter.erase_op(each)
        Rewriter.inline_block(made.body.block, InsertPoint.at_end(op.body.block))
