"""Delegates as Export IR has them, calls of `executorch_call_delegate`, whose operands are all that a delegate needs; and back.

What a delegate owns is state of the method there, and so are the bytes that its backend made: its last operands, in this order. How
many there are, and compile specs, is JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument
from xdsl.passes import ModulePass

from xdsl_exir.dialects.backend import SAID, DelegateOp, delegates_of
from xdsl_exir.dialects.dtypes import Byte
from xdsl_exir.dialects.signature import INPUT, InputAttr, InputKind, InputSpec
from xdsl_exir.dialects.tensors import tensor_type
from xdsl_exir.errors import LoadError, Unsupported, UnsupportedError
from xdsl_exir.interpreter.backend import specs_of
from xdsl_exir.locations import location_text
from xdsl_exir.narrowing import is_dict
from xdsl_exir.program import methods_of, state_of
from xdsl_exir.transforms.fold_constants import first_user_input, move_argument, take_arguments
from xdsl_exir.transforms.partition import (
    attribute_of,
    disown,
    inline_dispatches,
    keep_ranges,
    own,
    with_input_attributes,
)


def said_of(op: DelegateOp) -> str:
    """The JSON of a delegate whose operands are all that it needs."""
    said = op.attributes.get(SAID)
    assert isinstance(said, StringAttr)
    return said.data


@dataclass(frozen=True)
class CallDelegates(ModulePass):
    """Makes all that delegates need their operands. Raises `UnsupportedError` for one in a region that is preprocessed."""

    name = "call-delegates"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        state = state_of(ctx)
        inline_dispatches(op)
        for inner in delegates_of(op):
            said = {"specs": dict(specs_of(inner)), "owned": len(inner.owned)}
            disown(inner)
            if inner.processed is not None:
                self.pass_bytes(inner, state)
                said["processed"] = True
            inner.attributes[SAID] = StringAttr(json.dumps(said))

    def pass_bytes(self, op: DelegateOp, state: Mapping[str, Any]) -> None:
        """Makes what its backend made of a delegate its last operand."""
        function = op.parent_op()
        assert op.processed is not None
        name = op.processed.data
        if not isinstance(function, FuncOp) or name not in state:
            reason = "Export IR has no place for the bytes of one in a region"
            raise UnsupportedError(
                [Unsupported(f"delegate of backend {op.backend.data}", reason, location_text(op))]
            )
        with_input_attributes(function)
        type, block, first = (
            tensor_type((state[name].nbytes,), Byte),
            function.body.block,
            first_user_input(function),
        )
        spec = InputSpec(InputKind.CONSTANT_TENSOR, name)
        move_argument(function, block.insert_arg(type, len(block.args)), first, {INPUT: InputAttr(spec)})
        op.body.block.insert_arg(type, len(op.body.block.args))
        op.operands = [*op.inputs, block.args[first]]
        op.properties.pop("processed")


@dataclass(frozen=True)
class TakeDelegates(ModulePass):
    """Makes what delegates own theirs again. Raises `LoadError` where what is said of one is not so."""

    name = "take-delegates"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in methods_of(op).values():
            for inner in [each for each in function.walk() if isinstance(each, DelegateOp)]:
                if SAID in inner.attributes:
                    self.take(function, inner)

    def take(self, function: FuncOp, op: DelegateOp) -> None:
        """Reads what is said of a delegate."""
        specs, owned, processed = _read(said_of(op))
        op.attributes.pop(SAID)
        if specs:
            op.properties |= DelegateOp("", [], op.body.clone(), [], specs=specs).properties | {
                "backend": op.backend
            }
        keep_ranges(op)
        if processed:
            self.take_bytes(function, op)
        count = len(op.inputs)
        if owned > count:
            raise LoadError(f"a delegate of backend {op.backend.data} owns {owned} of {count} operands")
        targets = {
            attr.data.target
            for value in op.inputs[count - owned :]
            if (attr := attribute_of(function, value))
        }
        if owned:
            own(op, targets)

    def take_bytes(self, function: FuncOp, op: DelegateOp) -> None:
        """Makes its last operand the bytes that its backend made of a delegate."""
        value = op.inputs[-1] if op.inputs else None
        attr = attribute_of(function, value) if value is not None else None
        if attr is None or not isinstance(value, BlockArgument) or op.body.block.args[-1].uses:
            raise LoadError(f"a delegate of backend {op.backend.data} without its bytes")
        op.operands = list(op.inputs[:-1])
        op.body.block.erase_arg(op.body.block.args[-1])
        op.properties["processed"] = StringAttr(attr.data.target)
        if not value.uses:
            take_arguments(function, [value])


def _read(text: str) -> tuple[dict[str, StringAttr], int, bool]:
    try:
        said = json.loads(text)
    except ValueError as error:
        raise LoadError(f"executorch_call_delegate: {error}") from None
    specs, owned = (said.get("specs", {}), said.get("owned", 0)) if is_dict(said) else (None, None)
    if not is_dict(said) or not is_dict(specs) or type(owned) is not int or owned < 0:
        raise LoadError(f"executorch_call_delegate: {text!r:.200} says nothing of a delegate")
    return (
        {str(key): StringAttr(str(value)) for key, value in specs.items()},
        owned,
        bool(said.get("processed")),
    )
