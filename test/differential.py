"""One operator, run by PyTorch and by every stage of ours, and compared.

`check("aten.add.Tensor", x, y, alpha=2)` builds a program of that one operator, compares its inferred result types with
PyTorch's results, then runs it in the interpreter as it is, decomposed, and as edge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import torch
from interpreter_only import INTERPRETER_ONLY
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from xdsl_exir.dialects import aten
from xdsl_exir.dialects.builder import Builder, flat_results
from xdsl_exir.dialects.dtypes import BY_TORCH_NAME, DType
from xdsl_exir.dialects.expr import Expr
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.tensors import tensor_meta, tensor_type
from xdsl_exir.interpreter.interpreter import make_interpreter, run_function
from xdsl_exir.program import Program
from xdsl_exir.runtime.fallback import make_engine
from xdsl_exir.tools.spec.harvest import find_overload
from xdsl_exir.transforms.aten_to_edge import AtenToEdge
from xdsl_exir.transforms.decompose_aten import DecomposeAten
from xdsl_exir.transforms.runnable import runnable

TOLERANCE = {  # (rtol, atol) of torch.testing.assert_close
    torch.float16: (1e-3, 1e-5),
    torch.complex32: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}

UNKNOWN_TO_NUMPY = {
    torch.bfloat16: (torch.int16, ml_dtypes.bfloat16),
    torch.complex32: (torch.int32, ml_dtypes.complex32),
}
"""Dtypes that PyTorch does not give NumPy: integers of their size, and what ml_dtypes has for them."""


def to_numpy(tensor: torch.Tensor) -> np.ndarray[Any, Any]:
    """A tensor as array; bfloat16 and complex32 as ml_dtypes has them."""
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if tensor.dtype in UNKNOWN_TO_NUMPY:
        bits, in_numpy = UNKNOWN_TO_NUMPY[tensor.dtype]
        return tensor.contiguous().view(bits).numpy().view(in_numpy)
    return tensor.numpy()


def to_torch(array: np.ndarray[Any, Any]) -> torch.Tensor:
    """The reverse of `to_numpy`."""
    array = np.ascontiguousarray(array).reshape(array.shape)
    for dtype, (bits, in_numpy) in UNKNOWN_TO_NUMPY.items():
        if array.dtype == in_numpy:
            return torch.from_numpy(array.view(f"i{bits.itemsize}").copy()).view(dtype)
    return torch.from_numpy(array.copy())


def dtype(torch_dtype: torch.dtype) -> DType:
    return BY_TORCH_NAME[str(torch_dtype).removeprefix("torch.")]


def find_operator(name: str) -> Any:
    """The OpOverload of `aten.add.Tensor`."""
    return find_overload(*name.split(".", 1))


def program_of(
    name: str, *args: Any, symbols: Mapping[int, str] | None = None, **kwargs: Any
) -> tuple[ModuleOp, list[torch.Tensor]]:
    """A module with one function that calls the operator; its arguments are the call's tensors, in order.

    `symbols` names sizes that the tensors' types are to have symbolic: `{7: "s0"}`.
    """
    names = {size: Expr.symbol(symbol) for size, symbol in (symbols or {}).items()}
    tensors: list[torch.Tensor] = []
    block = Block()

    def lower(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            tensors.append(value)
            shape = tuple(names.get(size, size) for size in value.shape)
            return block.insert_arg(tensor_type(shape, dtype(value.dtype)), len(block.args))
        if isinstance(value, list | tuple):
            return [lower(item) for item in value]
        if isinstance(value, torch.dtype):
            return dtype(value)
        if isinstance(value, torch.device):
            return str(value)
        if isinstance(value, torch.layout | torch.memory_format):
            return str(value).removeprefix("torch.")
        return value

    results = Builder(aten.OPERATORS, block).call(
        name, [lower(arg) for arg in args], {key: lower(value) for key, value in kwargs.items()}
    )
    flat = flat_results(results)
    block.add_op(ReturnOp(*flat))
    function = FuncOp("forward", ([arg.type for arg in block.args], [v.type for v in flat]), Region(block))
    return ModuleOp([function]), tensors


def run(module: ModuleOp, tensors: list[torch.Tensor]) -> tuple[Any, ...]:
    """Runs a module's one function in the interpreter."""
    [function] = module.ops
    assert isinstance(function, FuncOp)
    return run_function(
        make_interpreter(runnable(module), seed=0), function.sym_name.data, tuple(map(to_numpy, tensors))
    )


def flatten(results: Any) -> list[torch.Tensor]:
    """An eager call's results one after another."""
    if results is None:
        return []
    return [results] if not isinstance(results, list | tuple) else list(results)


def compare(
    what: str, got: Any, expected: Any, values: bool = True, scale: float = 1, least: float = 0
) -> None:
    """Asserts equal dtype, shape and (within PyTorch's tolerance, times `scale`, absolutely at least `least`) values."""
    if expected is None:  # a gradient that nobody asked for
        assert np.size(got) == 0, f"{what}: {np.shape(got)}, expected no elements"
        return
    if not isinstance(expected, torch.Tensor):
        assert got == expected, f"{what}: {got} != {expected}"
        return
    actual = to_torch(np.asarray(got))
    assert actual.dtype == expected.dtype, f"{what}: dtype {actual.dtype}, expected {expected.dtype}"
    assert actual.shape == expected.shape, (
        f"{what}: shape {tuple(actual.shape)}, expected {tuple(expected.shape)}"
    )
    if values:
        rtol, atol = TOLERANCE.get(expected.dtype, (0, 0))
        if expected.dtype == torch.complex32:  # which PyTorch does not compare
            actual, expected = actual.to(torch.complex64), expected.to(torch.complex64)
        torch.testing.assert_close(
            actual,
            expected.resolve_conj().resolve_neg().contiguous(),
            rtol=rtol * scale,
            atol=max(atol * scale, least),
            equal_nan=True,
            msg=lambda text: f"{what}: {text}",
        )


def check_symbolic(
    symbols: Mapping[int, str], name: str, *args: Any, scale: float = 1, **kwargs: Any
) -> None:
    """Compares a call whose operands' types have symbolic sizes, decomposed and as edge, with PyTorch's."""
    expected = flatten(find_operator(name)(*args, **kwargs))
    module, tensors = program_of(name, *args, symbols=symbols, **kwargs)
    for stage in (DecomposeAten(), AtenToEdge()):
        stage.apply(Context(), module)
        module.verify()
        for index, (got, value) in enumerate(zip(run(module, tensors), expected, strict=True)):
            compare(f"{name} after {stage.name}, result {index}", got, value, scale=scale)


def run_native(module: ModuleOp, tensors: list[torch.Tensor]) -> tuple[Any, ...]:
    """Compiles an edge module's one function and runs it."""
    [function] = module.ops
    assert isinstance(function, FuncOp)
    engine = make_engine(Program(module), "error")
    return tuple(engine.run(function.sym_name.data, [to_numpy(t) for t in tensors]))


def check_native(name: str, *args: Any, values: bool = True, scale: float = 1, **kwargs: Any) -> None:
    """Compares one call of an operator in PyTorch with native code: decomposed, as edge, through linalg and LLVM."""
    expected = flatten(find_operator(name)(*args, **kwargs))
    module, tensors = program_of(name, *args, **kwargs)
    DecomposeAten().apply(Context(), module)
    AtenToEdge().apply(Context(), module)
    for index, (got, value) in enumerate(zip(run_native(module, tensors), expected, strict=True)):
        compare(f"{name} natively, result {index}", got, value, values, scale)


def needs_interpreter(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether a call ends in an operator that is known to have no lowering."""
    program, _ = program_of(name, *args, **kwargs)
    DecomposeAten().apply(Context(), program)
    return any(
        isinstance(op, OperatorOp) and op.SPEC.qualified_name in INTERPRETER_ONLY for op in program.walk()
    )


def check_natively(
    calls: Iterable[tuple[str, Sequence[Any], Mapping[str, Any]]],
    scale: float = 1,
    symbols: Mapping[int, str] | None = None,
) -> None:
    """`check_native` of many calls (operator, arguments, keyword arguments), compiled together; `symbols` as `program_of` has them."""
    module = ModuleOp([])
    given = [call for call in calls if not needs_interpreter(*call)]
    inputs: list[list[torch.Tensor]] = []
    for index, (name, args, kwargs) in enumerate(given):
        program, tensors = program_of(name, *args, symbols=symbols, **kwargs)
        inputs.append(tensors)
        [function] = program.ops
        assert isinstance(function, FuncOp)
        function.detach()
        function.sym_name = StringAttr(f"call_{index}")
        module.body.block.add_op(function)
    DecomposeAten().apply(Context(), module)
    AtenToEdge().apply(Context(), module)
    engine = make_engine(Program(module), "error")
    for index, (name, args, kwargs) in enumerate(given):
        results = engine.run(f"call_{index}", [to_numpy(tensor) for tensor in inputs[index]])
        expected = flatten(find_operator(name)(*args, **kwargs))
        for position, (got, value) in enumerate(zip(results, expected, strict=True)):
            compare(
                f"{name}{tuple(args)} {kwargs or ''} natively, result {position}", got, value, scale=scale
            )


def check(
    name: str,
    *args: Any,
    values: bool = True,
    edge: bool = True,
    scale: float = 1,
    least: float = 0,
    keywords: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> None:
    """Compares one call of an operator in PyTorch with all stages of ours.

    `values` False compares types only; `scale` and `least` are `compare`'s. `keywords` are further arguments, for names that this function has itself.
    """
    kwargs |= keywords or {}
    expected = flatten(find_operator(name)(*args, **kwargs))
    module, tensors = program_of(name, *args, **kwargs)
    module.verify()
    [function] = module.ops
    assert isinstance(function, FuncOp)
    types = function.function_type.outputs.data
    assert len(types) == len(expected), f"{name}: {len(types)} results, expected {len(expected)}"
    for index, (type, value) in enumerate(zip(types, expected, strict=True)):
        if isinstance(type, TensorType) and value is not None:
            meta = tensor_meta(type)
            assert meta.shape == tuple(value.shape), (
                f"{name}: result {index} is {type}, expected {tuple(value.shape)}"
            )
            assert meta.dtype is dtype(value.dtype), (
                f"{name}: result {index} is {type}, expected {value.dtype}"
            )
    stages = {"aten": module}
    stages["core"] = module.clone()
    DecomposeAten().apply(Context(), stages["core"])
    stages["core"].verify()
    if edge:
        stages["edge"] = stages["core"].clone()
        AtenToEdge().apply(Context(), stages["edge"])
        stages["edge"].verify()
    for stage, stage_module in stages.items():
        for index, (got, value) in enumerate(zip(run(stage_module, tensors), expected, strict=True)):
            compare(f"{name} as {stage}, result {index}", got, value, values, scale, least)
