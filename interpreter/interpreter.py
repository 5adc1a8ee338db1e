"""The interpreter: functions of NumPy arrays, registered with xDSL's interpreter framework.

It runs programs at every stage as they stand, in `aten` and in `edge`, control flow included, and is what every other
way of running is compared with. Tensors are NumPy arrays (bfloat16 and eight-bit floats from ml_dtypes), numbers are
Python numbers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from typing_extensions import TypeIs
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    OpImplResult,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_callable,
    impl_terminator,
    register_impls,
)
from xdsl.ir import Attribute, Operation, SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.exir import ConstantOp, NumberOp, RefineOp, number_type
from xdsl_exir.dialects.expr import Expr
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.promotion import NUMBER_DTYPE, UNROUNDED, Operand
from xdsl_exir.dialects.sym_ops import SYM_OPS, SymOp
from xdsl_exir.dialects.tensors import (
    SymBoolType,
    SymFloatType,
    SymIntType,
    is_tensor_type,
    number_category,
    tensor_meta,
)
from xdsl_exir.dialects.upstream import UPSTREAM
from xdsl_exir.errors import ExirError, Unsupported, UnsupportedError
from xdsl_exir.interpreter.generator import Generator
from xdsl_exir.interpreter.memory import bytes_of, check_fits
from xdsl_exir.interpreter.operators import IMPLS, Array, is_array
from xdsl_exir.interpreter.walk import ProgramInterpreter, for_one_call
from xdsl_exir.locations import location_text
from xdsl_exir.narrowing import is_list

if TYPE_CHECKING:
    from xdsl_exir.interpreter.upstream.boundary import Boundary

OpImpl: TypeAlias = Callable[[Any, Interpreter, Any, PythonValues], OpImplResult]

RNG = "exir.rng"
"""Key of the run's random generator in the interpreter's data."""

# --- dtypes at run time --------------------------------------------------------------------------------------


@cache
def dtype_of(array_dtype: np.dtype[Any]) -> DType:
    """The PyTorch dtype of a NumPy dtype. Raises `ExirError` for one that PyTorch does not have."""
    for dtype in dt.DTYPES:
        if dtype.numpy == array_dtype:
            return dtype
    raise ExirError(f"NumPy dtype {array_dtype} is no PyTorch dtype")


_OPMATH = {
    dtype.numpy: np.dtype(np.float32)
    for dtype in dt.DTYPES
    if dtype.category is Category.FLOAT and dtype.bits < 32
} | {dt.ComplexHalf.numpy: np.dtype(np.complex64)}


def opmath(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype that operators compute in: float32 for shorter floats, complex64 for pairs of them."""
    return _OPMATH.get(dtype, dtype)


_TWICE = {np.dtype(np.float32): np.dtype(np.float64), np.dtype(np.complex64): np.dtype(np.complex128)}


def sum_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype that sums and products of many elements accumulate in: twice the precision that they compute in, so that
    their error does not grow with the number of terms (NumPy adds pairwise along the last axis only). Of float64 there is none."""
    return _TWICE.get(opmath(dtype), opmath(dtype))


def wide(array: Array) -> Array:
    """An array in the dtype that its sums accumulate in."""
    return array.astype(sum_dtype(array.dtype), copy=False)


def raise_precision(value: Any) -> Any:
    """An argument with reduced floats as float32."""
    if is_array(value):
        return value.astype(opmath(value.dtype), copy=False)
    if is_list(value):
        return [raise_precision(item) for item in value]
    return value


def as_operand(value: Any) -> Operand:
    """What type promotion sees of a run-time value."""
    if is_array(value):
        return Operand(dtype_of(value.dtype), 2 if value.ndim else 1)
    category = number_category(number_type(value))
    assert category is not None
    return Operand(NUMBER_DTYPE[category], 0)


def promoted(
    op: OperatorOp, arguments: dict[str, Any], returns: tuple[DType, ...], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Arguments with those that promote in the computation dtype, integers as the floats that the results are.

    `options` are those of its function's registration: reduced floats come as float32 unless `raw`, rounded to the
    computation dtype unless that is `UNROUNDED`.
    """
    raw = options["raw"]
    rest = arguments if raw else {name: raise_precision(value) for name, value in arguments.items()}
    rule = op.SPEC.dtype_rule
    names = [name for name in (rule.promotes if rule else ()) if arguments[name] is not None]
    if rule is None or not names:
        return rest
    values = [item for name in names for item in _items(arguments[name])]
    dtype = rule.promotion([as_operand(value) for value in values])
    if returns and returns[0].category > Category.INT >= dtype.category:
        dtype = returns[0]
    target = dtype.numpy if raw else opmath(dtype.numpy)

    def cast(name: str) -> Any:
        value = arguments[name]
        exact = name == UNROUNDED.get(op.SPEC.qualified_name) and np.size(value) == 1
        return _cast(value if exact else _cast(value, dtype.numpy), target)

    return rest | {name: cast(name) for name in names}


def _items(value: Any) -> list[Any]:
    return value if is_list(value) else [value]


def _cast(value: Any, dtype: np.dtype[Any]) -> Any:
    if is_list(value):
        return [_cast(item, dtype) for item in value]
    return _rounded(np.asarray(value), dtype)


def _rounded(array: Array, dtype: np.dtype[Any]) -> Array:
    """The numbers in another dtype. Short floats are rounded from float32, so float64 is rounded twice, as in PyTorch."""
    if array.dtype != dtype:
        array = array.astype(opmath(dtype), copy=False)
        if dtype in (dt.Float8_e4m3fn.numpy, dt.Float8_e5m2.numpy):
            return _eight_bits(array, dtype)
    return array.astype(dtype, copy=False)


def _eight_bits(array: Array, dtype: np.dtype[Any]) -> Array:
    """float32 numbers as floats of 8 bits, as PyTorch has them: without an infinity, what is too large is the greatest; all bits of NaN are set."""
    if dtype == dt.Float8_e4m3fn.numpy:
        array = np.clip(array, -448, 448)
    made = np.asarray(array.astype(dtype))
    return np.where(np.isnan(array), made.view(np.uint8) | 0x7F, made.view(np.uint8)).view(dtype)


def to_dtype(array: Array, dtype: np.dtype[Any]) -> Array:
    """A cast as PyTorch does it: complex to real drops the imaginary part."""
    if array.dtype == dtype:
        return array
    array = raise_precision(array)
    if array.dtype.kind == "c" and opmath(dtype).kind != "c":
        array = array.astype(np.bool_) if dtype.kind == "b" else np.real(array)
    return _rounded(array, dtype)


# --- operators -----------------------------------------------------------------------------------------------


def return_dtypes(op: OperatorOp) -> tuple[DType, ...]:
    """Dtypes of an operation's tensor results."""
    return tuple(tensor_meta(type).dtype for type in op.result_types if is_tensor_type(type))


ADDRESSES = (1 << 63) - 1
"""Bytes that an array may say it has."""


def run_operator(op: OperatorOp, values: PythonValues, rng: Generator) -> PythonValues:
    """The results of an operation for these operand values."""
    return Bound(op)(values, rng)


class Bound:
    """An operation with its function, and what of its arguments and results is the same whenever it runs."""

    def __init__(self, op: OperatorOp):
        entry = IMPLS.find(op.SPEC)
        if entry is None:
            raise UnsupportedError(
                [Unsupported(op.name, "the interpreter has no function for it", location_text(op))]
            )
        self.op, self.entry, self.options = op, entry, entry.options
        self.returns, self.types = return_dtypes(op), op.result_types
        self.nbytes = sum(map(bytes_of, self.types))
        returned = op.SPEC.schema.returns
        self.is_one = len(returned) == 1 and not returned[0].type.is_list
        given = op.arguments()
        places = {value: at for at, value in enumerate(op.operands)}
        self.taken = {name: places[value] for name, value in given.items() if isinstance(value, SSAValue)}
        """Which operand an argument is."""
        self.fixed = None if any(map(is_list, given.values())) else given
        """The arguments, those to be replaced by values; None where some are lists of them."""

    def arguments(self, values: PythonValues) -> dict[str, Any]:
        if self.fixed is None:
            held = dict(zip(self.op.operands, values, strict=True))
            return self.op.arguments(lambda value: held[value])
        return {**self.fixed, **{name: values[at] for name, at in self.taken.items()}}

    def __call__(self, values: PythonValues, rng: Generator) -> PythonValues:
        op, options, arguments = self.op, self.options, self.arguments(values)
        if options["promote"]:
            arguments = promoted(op, arguments, self.returns, options)
        elif not options["raw"]:
            arguments = {name: raise_precision(value) for name, value in arguments.items()}
        # What only moves elements may see few of them as many.
        check_fits(op.name, self.nbytes, ADDRESSES if options["raw"] else None)
        try:
            results = self.entry.call({**arguments, "out": self.returns, "rng": rng})
        except MemoryError as error:
            raise ExirError(f"{op.name}: {error or 'not enough memory'}") from error
        if self.is_one:
            results = (results,)
        elif results is None:
            results = ()
        if len(results) != len(self.types):
            raise ExirError(f"{op.name} gives {len(results)} results for {len(self.types)}")
        return tuple(conform(result, type, op.name) for result, type in zip(results, self.types, strict=True))


def is_numpy(value: object) -> TypeIs[Array | np.generic[Any]]:
    """Whether this is an array or a NumPy scalar."""
    return isinstance(value, np.ndarray | np.generic)


def conform(value: Any, type: Attribute, name: str) -> Any:
    """A function's result as the IR types it. Raises `ExirError` where it contradicts the type's shape."""
    if not is_tensor_type(type):
        return value.item() if is_numpy(value) else value
    meta = tensor_meta(type)
    array = to_dtype(np.asarray(value), meta.dtype.numpy)
    fits = array.ndim == meta.ndim and all(
        isinstance(size, Expr) or size == given for size, given in zip(meta.shape, array.shape, strict=True)
    )
    if not fits:
        raise ExirError(f"{name} gives shape {list(array.shape)} for {type}")
    return array


class OperatorFunctions(InterpreterFunctions):
    """Implementations of all operators that occur in a module."""

    def __init__(self, module: ModuleOp):
        self.types = {type(op) for op in module.walk() if isinstance(op, OperatorOp)}
        self.bound: dict[OperatorOp, Bound] = {}
        """Operations that were run."""

    def _impls(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
    ) -> Iterable[tuple[type[Operation], OpImpl]]:
        return ((op_type, OperatorFunctions.run) for op_type in self.types)

    def _none(self) -> Iterable[Any]:
        return ()

    _cast_impls = _attr_impls = _ext_impls = _callable_impls = _none  # pyright: ignore[reportAssignmentType]

    def run(self, interpreter: Interpreter, op: OperatorOp, args: PythonValues) -> OpImplResult:
        bound = self.bound.get(op)
        if bound is None:
            bound = self.bound[op] = Bound(op)
        return OpImplResult(bound(args, generator_of(interpreter)), None)


def literal_array(op: ConstantOp) -> Array:
    """The array of a literal."""
    meta = tensor_meta(op.type)
    values = np.array(op.values).astype(meta.dtype.numpy)
    shape = tuple(size for size in meta.shape if isinstance(size, int))  # a literal's all are
    return np.full(shape, values[0]) if op.is_splat else values.reshape(shape)


@register_impls
class FunctionFunctions(InterpreterFunctions):
    """Implementations of the `func` dialect. (xDSL's lie in a package that imports every dialect it can run, which takes a quarter of a second.)"""

    @impl_terminator(ReturnOp)
    def run_return(
        self, interpreter: Interpreter, op: ReturnOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()

    @impl(CallOp)
    def run_call(self, interpreter: Interpreter, op: CallOp, args: PythonValues) -> PythonValues:
        return interpreter.call_op(op.callee, args)

    @impl_callable(FuncOp)
    def call_function(self, interpreter: Interpreter, op: FuncOp, args: PythonValues) -> PythonValues:
        if op.is_declaration:
            return interpreter.call_external(op.sym_name.data, op, args)
        return interpreter.run_ssacfg_region(op.body, args, op.sym_name.data)


@register_impls
class ExirFunctions(InterpreterFunctions):
    """Implementations of the `exir` dialect."""

    @impl(NumberOp)
    def run_number(self, interpreter: Interpreter, op: NumberOp, args: PythonValues) -> PythonValues:
        return (op.number,)

    @impl(ConstantOp)
    def run_constant(self, interpreter: Interpreter, op: ConstantOp, args: PythonValues) -> PythonValues:
        return (literal_array(op),)

    @impl(RefineOp)
    def run_refine(self, interpreter: Interpreter, op: RefineOp, args: PythonValues) -> PythonValues:
        return args


PYTHON_TYPES: dict[type[Attribute], Callable[[Any], bool | int | float]] = {
    SymIntType: int,
    SymFloatType: float,
    SymBoolType: bool,
}


COMPARISONS = {name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}
"""Of integers, by the functions of size expressions."""


class SymbolicFunctions(InterpreterFunctions):
    """Implementations of arithmetic on symbolic numbers, by the functions of size expressions."""

    def _impls(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
    ) -> Iterable[tuple[type[Operation], OpImpl]]:
        return ((op_type, SymbolicFunctions.run) for op_type in dict.fromkeys(SYM_OPS.values()))

    def _none(self) -> Iterable[Any]:
        return ()

    _cast_impls = _attr_impls = _ext_impls = _callable_impls = _none  # pyright: ignore[reportAssignmentType]

    def run(self, interpreter: Interpreter, op: SymOp, args: PythonValues) -> OpImplResult:
        compare = COMPARISONS.get(op.FUNCTION)
        if compare is not None and all(type(arg) is int for arg in args):
            return OpImplResult((compare(*args),), None)  # as nearly always, without expressions of constants
        value = op.value_of(args)
        number = value.evaluate({}) if isinstance(value, Expr) else value
        return OpImplResult((PYTHON_TYPES[type(op.result.type)](number),), None)


# --- modules -------------------------------------------------------------------------------------------------


def obstacle(op: OperatorOp) -> str | None:
    """Why an operation cannot be run, or None when it can."""
    entry = IMPLS.find(op.SPEC)
    if entry is None:
        return "the interpreter has no function for it"
    undefined = [dtype for dtype in return_dtypes(op) if dtype in entry.options["undefined"]]
    return f"PyTorch's own results in {undefined[0].torch_name} are undefined" if undefined else None


def obstacles(module: ModuleOp) -> list[tuple[OperatorOp, str]]:
    """Operations of a module that cannot be run, and why."""
    operators = [op for op in module.walk() if isinstance(op, OperatorOp) and not _is_of_backend(op)]
    return [(op, reason) for op in operators if (reason := obstacle(op)) is not None]


def _is_of_backend(op: OperatorOp) -> bool:
    """Whether a registered backend runs an operation, as part of its delegate."""
    owner = op.parent_op()
    if owner is None or owner.dialect_name() != "backend":
        return False
    from xdsl_exir.interpreter.backend import backend_of

    return backend_of(owner) is not None


def make_interpreter(
    module: ModuleOp, seed: int | None = None, state: Mapping[str, Any] = MappingProxyType({})
) -> Interpreter:
    """An interpreter for a module, whose operators have functions (`transforms.runnable` sees to that). `state` is what its delegates own.

    Raises `UnsupportedError` that lists every operator it cannot run.
    """
    if found := obstacles(module):
        raise UnsupportedError([Unsupported(op.name, reason, location_text(op)) for op, reason in found])
    interpreter = ProgramInterpreter(module)
    interpreter.register_implementations(FunctionFunctions())
    interpreter.register_implementations(ExirFunctions())
    interpreter.register_implementations(SymbolicFunctions())
    interpreter.register_implementations(OperatorFunctions(module))
    dialects = {op.dialect_name() for op in module.walk()}
    if "higher_order" in dialects:
        from xdsl_exir.interpreter.control_flow import ControlFlowFunctions

        interpreter.register_implementations(ControlFlowFunctions())
    if "backend" in dialects:
        from xdsl_exir.interpreter.backend import BackendFunctions

        interpreter.register_implementations(BackendFunctions(module, state))
    if UPSTREAM & dialects:
        from xdsl_exir.interpreter.upstream import register_upstream

        register_upstream(interpreter)
    interpreter.set_data(OperatorFunctions, RNG, Generator(seed))
    return interpreter


def run_function(interpreter: Interpreter, name: str, values: PythonValues) -> PythonValues:
    """Calls a function of the interpreter's module, by name, with run-time values. Calls share nothing but random numbers."""
    call = for_one_call(interpreter)
    with np.errstate(all="ignore"):
        return call.call_op(name, values)


def used_arguments(interpreter: Interpreter, name: str) -> Collection[int]:
    """Positions of the arguments that a function of the interpreter's module uses."""
    function = interpreter.get_op_for_symbol(name)
    assert isinstance(function, FuncOp)
    return [position for position, arg in enumerate(function.args) if arg.uses]


def generator_of(interpreter: Interpreter) -> Generator:
    """Where an interpreter's random numbers come from."""
    return interpreter.get_data(OperatorFunctions, RNG, Generator)


class InterpreterEngine:
    """Runs the methods of a module in the interpreter."""

    fallbacks: Sequence[Unsupported] = ()
    hosted: Sequence[Unsupported] = ()

    def __init__(
        self,
        module: ModuleOp,
        signatures: Mapping[str, FuncOp] = MappingProxyType({}),
        state: Mapping[str, Any] = MappingProxyType({}),
    ):
        """`signatures` say how methods are called that are lowered; `state` is what delegates own."""
        self.interpreter = make_interpreter(module, state=state)
        self.boundaries: dict[str, Boundary] = {}
        for name, signature in signatures.items():
            from xdsl_exir.interpreter.upstream.boundary import Boundary

            function = self.interpreter.get_op_for_symbol(name)
            assert isinstance(function, FuncOp)
            self.boundaries[name] = Boundary(function, signature)

    @property
    def generator(self) -> Generator:
        """Where random numbers come from."""
        return generator_of(self.interpreter)

    def reads(self, method: str) -> Collection[int]:
        """Positions of the argument values that it looks at."""
        used, boundary = used_arguments(self.interpreter, method), self.boundaries.get(method)
        return used if boundary is None else [boundary.passed[position] for position in used]

    def updates(self, method: str) -> Collection[int]:
        """Positions of the argument values that it may write to."""
        return ()

    def run(self, method: str, values: Sequence[Any]) -> Sequence[Any]:
        """Results of a method for argument values (arrays and numbers)."""
        boundary = self.boundaries.get(method)
        if boundary is None:
            return run_function(self.interpreter, method, tuple(values))
        return tuple(boundary.returned(run_function(self.interpreter, method, boundary.arguments(values))))
