"""`edge-to-linalg`: an edge program as linalg on tensors, in upstream dialects only.

Functions keep their names and their arguments' order; types are converted (`linalg.lowered_type`). Everything that
cannot be lowered is reported at once, before anything is changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from xdsl_exir.dialects.dtypes import BY_MLIR_TYPE, Category
from xdsl_exir.dialects.exir import ConstantOp, ShapeAttr, TensorMeta, is_tensor_type, tensor_meta
from xdsl_exir.dialects.backend import DelegateOp
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.locations import location_text
from xdsl_exir.lowering import LOWERINGS
from xdsl_exir.lowering.linalg import LinalgBuilder, Tensor, lowered_type, static_shape


def obstacle(op: Operation) -> str | None:
    """Why an operation cannot be lowered; None where it can."""
    if isinstance(op, OperatorOp):
        if op.NUMBERS:
            return "not an edge operation"
        if LOWERINGS.find(op.SPEC) is None:
            return "no lowering"
    elif not isinstance(op, ConstantOp | ReturnOp | FuncOp | ModuleOp):
        return "no lowering"
    for value in (*op.operands, *op.results):
        if not is_tensor_type(value.type):
            return f"a value of type {value.type}"
        dtype = BY_MLIR_TYPE[value.type.element_type]
        if dtype.category is Category.COMPLEX or (dtype.bits == 8 and dtype.category is Category.FLOAT):
            return f"dtype {dtype}"
        if isinstance(value.type.encoding, ShapeAttr) and value.type.encoding.data.sizes is not None:
            return "symbolic sizes"
    return refusal(op) if isinstance(op, OperatorOp) else None


def refusal(op: OperatorOp) -> str | None:
    """Why an operator's lowering does not take this call; None where it does."""
    entry = LOWERINGS.find(op.SPEC)
    elif isinstance(op, DelegateOp):
        return f"belongs to backend {op.backend}"
    refuses = entry.options.get("refuses") if entry is not None else None
    return refuses(op.arguments(meta_of)) if refuses is not None else None


def obstacles(module: ModuleOp) -> list[Unsupported]:
    """Everything in a module that cannot be lowered; of what is in a delegate only that."""
    found: list[Unsupported] = []
    for op in module.walk():
        reason = None if isinstance(op.parent_op(), DelegateOp) else obstacle(op)
        if reason is not None:
            found.append(Unsupported(op.name, reason, location_text(op)))
    return found


class FunctionLowering:
    """Lowers one function into a block of its own."""

    def __init__(self, function: FuncOp):
        self.function = function
        self.block = Block()
        self.values: dict[SSAValue, Tensor] = {}
        self.location = function.location

    def insert(self, op: Operation) -> None:
        op.location = self.location
        self.block.add_op(op)

    def run(self) -> FuncOp:
        """The lowered function."""
        builder = LinalgBuilder(self.insert)
        for arg in self.function.args:
            meta = meta_of(arg)
            value = self.block.insert_arg(lowered_type(meta), len(self.block.args))
            value.name_hint = arg.name_hint
            self.values[arg] = Tensor(value, static_shape(meta), meta.dtype)
        for op in self.function.body.block.ops:
            self.location = op.location
            self.operation(builder, op)
        types = [arg.type for arg in self.block.args], [value.type for value in self.results]
        return FuncOp(self.function.sym_name.data, types, Region(self.block), self.function.sym_visibility)

    def operation(self, builder: LinalgBuilder, op: Operation) -> None:
        match op:
            case OperatorOp():
                for result, value in zip(op.results, self.operator(builder, op), strict=True):
                    self.values[result] = value
            case ConstantOp():
                self.values[op.result] = literal(builder, op)
            case _:
                assert isinstance(op, ReturnOp)
                self.results = [self.values[operand].value for operand in op.operands]
                self.insert(ReturnOp(*self.results))

    def operator(self, builder: LinalgBuilder, op: OperatorOp) -> Sequence[Tensor]:
        entry = LOWERINGS.find(op.SPEC)
        assert entry is not None
        arguments: dict[str, Any] = op.arguments(lambda value: self.values[value])
        given = entry.call({**arguments, "out": [meta_of(result) for result in op.results]}, builder)
        if given is None:
            return ()
        results = [given] if isinstance(given, Tensor) else list(given)
        for result, value in zip(op.results, results, strict=True):
            meta = meta_of(result)
            assert (value.shape, value.dtype) == (meta.shape, meta.dtype), (
                f"lowering of {op.name} gives {value.dtype}{list(value.shape)} for {result.type}"
            )
        return results


def meta_of(value: SSAValue) -> TensorMeta:
    """Shape and dtype of a tensor of the edge program."""
    assert is_tensor_type(value.type)
    return tensor_meta(value.type)


def literal(builder: LinalgBuilder, op: ConstantOp) -> Tensor:
    """A literal as a filled tensor, or as elements put together."""
    from xdsl.dialects import tensor

    meta = tensor_meta(op.type)
    shape, values = static_shape(meta), op.values
    numbers = [value for value in values if not isinstance(value, complex)]
    if op.is_splat:
        return builder.fill(numbers[0], shape, meta.dtype)
    elements = [builder.constant(value, meta.dtype) for value in numbers]
    type = lowered_type(meta)
    flat = TensorType(type.element_type, [len(elements)])
    value = builder.add(tensor.FromElementsOp(*elements, result_type=flat))
    return builder.reshape(Tensor(value, (len(elements),), meta.dtype), shape)


@dataclass(frozen=True)
class EdgeToLinalg(ModulePass):
    """Lowers edge operations to linalg on tensors."""

    name = "edge-to-linalg"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = obstacles(op)
        if found:
            raise UnsupportedError(found)
        for function in list(op.ops):
            assert isinstance(function, FuncOp)
            Rewriter.replace_op(function, FunctionLowering(function).run())
