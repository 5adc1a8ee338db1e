"""Every decomposition and every lowering in the registries against PyTorch, on random inputs: no test is written for one.

The calls of an operator come from samples.py. `variants` makes more of each: every dtype that the operator's rule
lists, 0-dim, empty, broadcast and strided operands, NaN, infinities and zeros of both signs. What an operator's
verifier or PyTorch refuses is left out; a dtype of the rule that is never run fails the test.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from differential import compare, find_operator, flatten, run, to_numpy, to_torch  # noqa: E402
from differential import dtype as dtype_of_torch  # noqa: E402
from eager import REFUSALS, size_of, torch_value  # noqa: E402
from samples import Call, Number, build, calls, function_of, type_of  # noqa: E402
from torch.utils._pytree import tree_leaves  # noqa: E402
from xdsl.context import Context  # noqa: E402
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType  # noqa: E402
from xdsl.dialects.func import FuncOp  # noqa: E402
from xdsl.ir import Attribute  # noqa: E402
from xdsl.utils.exceptions import VerifyException  # noqa: E402

from xdsl_exir.dialects import dtypes as dt  # noqa: E402
from xdsl_exir.dialects.dtype_rules import ABSENT, NOT, RANK  # noqa: E402
from xdsl_exir.dialects.dtypes import Category, DType  # noqa: E402
from xdsl_exir.dialects.exir import number_type  # noqa: E402
from xdsl_exir.dialects.operator import OperatorOp  # noqa: E402
from xdsl_exir.dialects.registry import Registry  # noqa: E402
from xdsl_exir.dialects.schema import Argument  # noqa: E402
from xdsl_exir.dialects.spec import FAMILIES, OperatorSpec, specs  # noqa: E402
from xdsl_exir.dialects.tensors import TensorMeta, tensor_meta  # noqa: E402
from xdsl_exir.errors import ExirError, UnsupportedError  # noqa: E402
from xdsl_exir.interpreter.interpreter import InterpreterEngine  # noqa: E402
from xdsl_exir.lowering import LOWERINGS  # noqa: E402
from xdsl_exir.lowering.edge_to_linalg import EdgeToLinalg, obstacles  # noqa: E402
from xdsl_exir.program import Program  # noqa: E402
from xdsl_exir.runtime.native import NativeEngine  # noqa: E402
from xdsl_exir.transforms.aten_to_edge import AtenToEdge  # noqa: E402
from xdsl_exir.transforms.decompose_aten import DecomposeAten  # noqa: E402
from xdsl_exir.transforms.decompositions import DECOMPOSITIONS  # noqa: E402

DTYPES = (dt.Float, dt.Double, dt.Half, dt.BFloat16, dt.Long, dt.Int, dt.Short, dt.Char, dt.Byte, dt.Bool,
          dt.ComplexFloat, dt.ComplexDouble)  # fmt: skip
SPECIAL = (float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1e-3, 40.0)

# --- values --------------------------------------------------------------------------------------------------

pytestmark = pytest.mark.filterwarnings("ignore:Casting complex values to real")

WIDE = frozenset(
    {"pointwise", "activation", "special", "reduction", "view", "slicing", "joining", "matmul", "creation"}
)
"""Families whose integer tensors hold data; elsewhere they are indices, into sizes of two and more."""
UNIT = frozenset({"q", "p", "std", "target", "weight", "random", "aten.binary_cross_entropy self"})
"""Arguments, families and arguments of operators that are probabilities, or stay in their range."""
INDICES = {
    "pivots": (1, 3),
    "LU_pivots": (1, 3),
    "lengths": (1, 2),
    "repeats": (0, 3),
    "batch_sizes": (1, 2),
    "offs": (0, 7),
}
"""What integers are, where they are not 0 or 1."""


@dataclass(frozen=True)
class Variant:
    """A call, and what its tensors are like."""

    label: str
    call: Call
    special: bool = False
    strided: bool = False
    dtype: DType | None = None
    """What it is there for, of `recast` and `by_rows`."""
    last: bool = False
    """Whether it is needed only if no variant before had its dtype."""


def values(spec: OperatorSpec, argument: Argument, meta: TensorMeta, variant: Variant, rng: Any) -> Any:
    """A tensor for an argument."""
    shape, numpy = tuple(map(size_of, meta.shape)), meta.dtype.numpy
    match meta.dtype.category:
        case Category.BOOL:
            array = rng.random(shape) < 0.5
        case Category.INT:
            low = 0 if meta.dtype is dt.Byte else -4
            usual = (low, 6) if spec.family in WIDE else (0, 2)
            array = rng.integers(*INDICES.get(argument.name, usual), shape)
            if argument.name == "offsets" and shape:
                array = np.sort(array)
                array[..., :1] = 0
            if argument.name == "offs" and shape:  # of groups of all six rows: PyTorch writes no others
                array = np.sort(array)
                array[..., -1:] = 6
        case _:
            unit = UNIT & {argument.name, spec.family, f"{spec.qualified_name} {argument.name}"}
            array = rng.random(shape) if unit else rng.standard_normal(shape)
            if meta.dtype.category is Category.COMPLEX:
                array = array + 1j * rng.standard_normal(shape)
            elif variant.special and not unit:
                chosen = rng.random(shape) < 0.4
                array = np.where(chosen, rng.choice(SPECIAL, shape), array)
            if spec.family == "linear_algebra" and len(shape) > 1 and shape[-1] == shape[-2]:
                array = array @ np.conj(np.swapaxes(array, -1, -2)) + 2 * np.eye(shape[-1])
    tensor = to_torch(np.asarray(array, dtype=numpy).reshape(shape))
    if variant.strided and tensor.ndim > 1:
        tensor = tensor.mT.contiguous().mT
    return tensor


def by_name(spec: OperatorSpec, call: Call) -> dict[str, Any]:
    return dict(zip((a.name for a in spec.schema.arguments), call.args, strict=False)) | dict(call.kwargs)


def arguments(spec: OperatorSpec, variant: Variant) -> dict[str, Any]:
    """A call's arguments for PyTorch, by name."""
    rng = np.random.default_rng(zlib.crc32(f"{spec.qualified_name} {variant.label}".encode()))

    def make(argument: Argument, value: Any) -> Any:
        if isinstance(value, TensorMeta):
            return values(spec, argument, value, variant, rng)
        if isinstance(value, list):
            return [make(argument, item) for item in value]
        return torch_value(argument.type.base, value)

    return {
        name: make(spec.schema.argument(name), value) for name, value in by_name(spec, variant.call).items()
    }


# --- variants ------------------------------------------------------------------------------------------------


def map_value(value: Any, change: Any) -> Any:
    """A call's argument with its tensors changed."""
    if isinstance(value, TensorMeta):
        return change(value)
    return [map_value(item, change) for item in value] if isinstance(value, list) else value


def map_tensors(call: Call, change: Any) -> Call:
    return replace(
        call,
        args=tuple(map_value(value, change) for value in call.args),
        kwargs={key: map_value(value, change) for key, value in call.kwargs.items()},
    )


def tensors_of(call: Call) -> list[TensorMeta]:
    found: list[TensorMeta] = []
    map_tensors(call, lambda meta: found.append(meta) or meta)
    return found


def is_static(call: Call) -> bool:
    """Whether all sizes and numbers of a call are known, and the types of its results."""
    numbers = [*call.args, *call.kwargs.values()]
    numbers += [item for value in numbers if isinstance(value, list) for item in value]
    sizes = [size for meta in tensors_of(call) for size in meta.shape]
    return not any(isinstance(x, Number) for x in numbers) and all(isinstance(size, int) for size in sizes)


def recast(call: Call, dtype: DType) -> Iterator[Call]:
    """The call with its main dtype (its first tensor's) replaced: of all tensors that have it, or of the first."""
    main = tensors_of(call)[0].dtype
    yield map_tensors(call, lambda meta: replace(meta, dtype=dtype) if meta.dtype is main else meta)
    for position in range(len(tensors_of(call)) if len(tensors_of(call)) > 1 else 0):
        seen = iter(range(100))
        yield map_tensors(call, lambda meta: replace(meta, dtype=dtype) if next(seen) == position else meta)  # noqa: B023


FLAGS = {"True": True, "False": False, ABSENT: None}


def by_rows(spec: OperatorSpec, call: Call, dtype: DType) -> Iterator[Call]:
    """The call with the dtypes and flags of each row of the operator's rule in which a tensor may have `dtype`."""
    rule = spec.dtype_rule
    assert rule is not None
    for row in (row for held in rule.rows for row in (held, *held.before)):
        for chosen in dict.fromkeys(row.operands.values()):
            if dtype in rule.aliases.get(chosen, ()):
                yield Call((), dict(of_row(spec, by_name(spec, call), row.operands, chosen, dtype)))


def of_row(
    spec: OperatorSpec, given: Mapping[str, Any], operands: Mapping[str, str], chosen: str, dtype: DType
) -> Iterator[tuple[str, Any]]:
    """Arguments by name, as a row has them whose variable `chosen` is `dtype`."""
    assert spec.dtype_rule is not None
    for argument in spec.schema.arguments:
        name, variable = argument.name, operands.get(argument.name, "")
        value = given.get(name)
        dtypes = (dtype,) if variable == chosen else spec.dtype_rule.aliases.get(variable, ())
        if dtypes and argument.type.base == "ScalarType":
            yield name, dtypes[0]
        elif dtypes and value is not None:
            scalar = operands.get(f"{name}{RANK}") == "0"

            def change(
                meta: TensorMeta, dtypes: tuple[DType, ...] = dtypes, scalar: bool = scalar
            ) -> TensorMeta:
                kept = meta.dtype if meta.dtype in dtypes else dtypes[0]
                return replace(meta, dtype=kept, shape=() if scalar else meta.shape)

            yield name, map_value(value, change)
        elif argument.type.base in ("bool", "str") and variable and not variable.startswith(NOT):
            yield name, FLAGS.get(variable, variable)
        elif name in given and variable != ABSENT:
            yield name, value


def reshaped(call: Call) -> Iterator[tuple[str, Call]]:
    """The call with other shapes: they may be invalid."""
    yield "0-dim", map_tensors(call, lambda meta: replace(meta, shape=()))
    for size in sorted({size_of(size) for meta in tensors_of(call) for size in meta.shape}):
        emptied = partial(
            lambda size, meta: replace(meta, shape=tuple(0 if s == size else s for s in meta.shape)), size
        )
        yield f"empty {size}", map_tensors(call, emptied)
    first = iter([lambda shape: (*shape[:-1], 1)])
    other = lambda shape: (1, *shape[1:])  # noqa: E731
    yield (
        "broadcast",
        map_tensors(call, lambda m: replace(m, shape=next(first, other)(m.shape) if m.shape else ())),
    )


def shortened(spec: OperatorSpec, call: Call) -> Iterator[tuple[str, Call]]:
    """The call with one number in place of a list, for all that it says, and all lists cut so."""
    given = by_name(spec, call)
    lists = [
        a.name for a in spec.schema.arguments if (a.type.size or 1) > 1 and a.type.base in ("int", "SymInt")
    ]
    cut = {name: given[name][:1] for name in lists if isinstance(given.get(name), list | tuple)}
    for name, first in cut.items():
        yield f"one {name}", Call((), {**given, name: first}, call.results)
    if len(cut) > 1:
        yield "one of each", Call((), {**given, **cut}, call.results)


def variants(spec: OperatorSpec) -> Iterator[Variant]:
    for index, call in enumerate(call for call in calls(spec) if is_static(call)):
        yield Variant(f"{index}", call)
        if not tensors_of(call):
            continue
        if not UNCHECKED & {spec.family, spec.qualified_name}:
            yield Variant(f"{index} strided", call, strided=True)
        if spec.family not in ("linear_algebra", "fft"):
            yield Variant(f"{index} special", call, special=True)
        for label, other in reshaped(call):
            if not UNCHECKED & {spec.family, spec.qualified_name} or all(
                0 not in meta.shape for meta in tensors_of(other)
            ):
                yield Variant(f"{index} {label}", other)
        for label, other in shortened(spec, call):
            yield Variant(f"{index} {label}", other)
        for dtype in DTYPES:
            for position, other in enumerate(recast(call, dtype)):
                yield Variant(f"{index} {dtype} {position or 'all'}", other, dtype=dtype)
    for index, call in enumerate(call for call in calls(spec) if is_static(call)):
        for dtype in DTYPES if spec.dtype_rule and tensors_of(call) else ():
            for row, other in enumerate(by_rows(spec, call, dtype)):
                yield Variant(f"{index} {dtype} row {row}", other, dtype=dtype, last=True)


# --- running -------------------------------------------------------------------------------------------------


UNCHECKED = frozenset(
    {
        "attention",
        "backward",
        "recurrent",
        "aten.embedding_bag",
        "aten.embedding_bag.padding_idx",
        "aten._embedding_bag",
        "aten._embedding_bag_forward_only",
        "aten._weight_norm",
    }
)
"""Families and operators whose kernels in PyTorch take empty operands unchecked, and end the process; strided ones they
read as contiguous."""


def eager(name: str, given: Mapping[str, Any]) -> list[Any] | None:
    """What PyTorch gives; None where it refuses."""
    torch.manual_seed(0)
    try:
        return flatten(find_operator(name)(**given))
    except REFUSALS:
        return None


def built(spec: OperatorSpec, call: Call, expected: list[Any] | None) -> ModuleOp | None:
    """The program of a call; None where the operator does not verify. `expected` are results whose sizes depend on data."""
    try:
        results = None if expected is None else tuple(map(result_type, call.results or (), expected))
        op = build(spec.qualified_name, replace(call, results=results))
        module = ModuleOp([function_of(op)])
        module.verify()
    except (ExirError, VerifyException):
        return None
    return module


def result_type(type: Attribute, value: Any) -> Attribute:
    """The type of a sample's result, as it is for a result of PyTorch's."""
    if isinstance(type, TensorType):
        return type_of(replace(tensor_meta(type), dtype=dtype_of(value)))
    return type if isinstance(value, int) and not isinstance(value, bool) else number_type(value)


Case: TypeAlias = "tuple[str, ModuleOp, list[Any], list[Any]]"
"""A label, a program, its tensors, expected results."""


def ready(spec: OperatorSpec, brief: bool = False) -> Iterator[Case]:
    """An operator's variants that both we and PyTorch take.

    `brief` leaves out those that are there for a dtype that another has had.
    """
    seen: set[DType] = set()
    for variant in variants(spec):
        if variant.dtype in seen and (brief or variant.last):
            continue
        given = arguments(spec, variant)
        needed = None if variant.call.results is None else eager(spec.qualified_name, given)
        program = built(spec, variant.call, needed)
        expected = None if program is None else eager(spec.qualified_name, given)
        if program is not None and expected is not None:
            tensors = [leaf for leaf in tree_leaves(given) if torch.is_tensor(leaf)]
            yield variant.label, program, tensors, expected
            seen |= {dtype_of(tensor) for tensor in tensors}


def dtype_of(tensor: Any) -> DType:
    return dtype_of_torch(tensor.dtype)


def listed(spec: OperatorSpec) -> set[DType]:
    """Dtypes that rows of the operator's rule have for its tensors."""
    rule = spec.dtype_rule
    if rule is None:
        return set()
    tensors = [argument.name for argument in spec.schema.arguments if argument.type.is_tensor]
    variables = {row.operands[name] for row in rule.rows for name in tensors if name in row.operands}
    return {dtype for variable in variables for dtype in rule.aliases.get(variable, ())} & set(DTYPES)


# --- comparing -----------------------------------------------------------------------------------------------

LEAST = {torch.float16: 2**-7, torch.bfloat16: 2**-4}
"""What half results may differ by, absolutely: a unit in the last place of terms of 8, of which they come."""

EXCEPTIONS = {
    r"aten\.(linalg_svd|svd|_linalg_svd)\b": "singular vectors have a sign or a phase of their own",
    r"aten\.(as_strided|as_strided_copy|as_strided_scatter|resize) .*strided": "tensors are taken as contiguous",
    r"aten\.resize(_as)? .*(0-dim|empty|broadcast)": "what a tensor has more than before is undefined",
    r"aten\.pixel_unshuffle .*empty": "PyTorch's kernel gives empty tensors back as they are, its meta kernel does not",
    r"aten\.(embedding_bag|_embedding_bag|_embedding_bag_forward_only)\b.*BFloat16.* result 1":
        "whether it is empty PyTorch's tracer does not know",
    r"aten\._upsample_\w+2d_aa\.vec .*broadcast": "PyTorch misreads rows of images one element wide",
    r"aten\._scaled_dot_product_flash_attention_for_cpu .*special": "how far a NaN spreads depends on its blocks",
    r"aten\._weight_norm .*broadcast": "PyTorch reads lengths that are not there",
    r"aten\.fake_quantize_per_channel_affine.* .*special": "PyTorch makes infinities integers, which C++ leaves undefined",
    r"aten\.(multi|multilabel)_margin_loss .*empty": "PyTorch leaves the loss of no items uninitialised",
    r"aten\.istft .*(Half|BFloat16) 2": "PyTorch adds up squares of a short window in its dtype, one after the other",
    r"aten\.gelu_backward .*(BFloat16|Half) 2": "oneDNN computes in the dtype of self, not in the common one",
    r"aten\.special_\w+_polynomial_[\w.]+ .*special": "PyTorch gives back a number that it never wrote for NaN",
    r"aten\.(var_mean|native_layer_norm)\b.*special.* result 1":
        "means of infinities are NaN or not by the order of Welford's updates",
}  # fmt: skip
"""Results that are not compared, and why: those with several right answers, and those where PyTorch differs with itself."""


SCALES = {r"aten\.(lstm|gru)\.input .*Complex": 16}
"""Tolerances that are wider: PyTorch's complex products are not as exact without AVX, nor the same wherever operands lie."""


def has_values(module: Any) -> bool:
    """Whether what a program gives is determined: it has no random and no uninitialised tensors."""
    operators = [op for op in module.walk() if isinstance(op, OperatorOp)]
    return not any(
        op.SPEC.family == "random"
        or "nondeterministic_seeded" in op.SPEC.tags
        or "empty" in op.SPEC.qualified_name
        for op in operators
    )


@dataclass
class Report:
    """What was run of a kind of rewrite."""

    rules: int = 0
    runs: int = 0
    pairs: int = 0
    unexercised: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def compare(self, what: str, results: Any, expected: list[Any], determined: bool) -> None:
        self.runs += 1
        try:
            for index, (got, want) in enumerate(zip(results, expected, strict=True)):
                if any(re.match(pattern, f"{what}, result {index}") for pattern in EXCEPTIONS):
                    continue
                least = LEAST.get(getattr(want, "dtype", None), 0)
                scale = next((factor for pattern, factor in SCALES.items() if re.match(pattern, what)), 4)
                compare(f"{what}, result {index}", got, want, determined, scale=scale, least=least)
        except AssertionError as error:
            self.failures.append(" ".join(str(error).split()))

    def exercised(self, spec: OperatorSpec, wanted: set[DType], seen: set[DType]) -> None:
        self.rules += 1
        self.pairs += len(seen)
        self.unexercised += [f"{spec.qualified_name} {dtype}" for dtype in DTYPES if dtype in wanted - seen]

    def close(self, kind: str, figures: Any) -> None:
        figures(
            f"{self.rules} {kind}, {self.runs} runs, {self.pairs} (rule, dtype) pairs; "
            f"never exercised: {', '.join(self.unexercised) or 'none'}"
        )
        assert not self.failures, "\n".join(self.failures)
        assert not self.unexercised


PART = 30
"""Operators of a family that are tested together."""


def parts(registry: Registry[Any]) -> list[Any]:
    """The operators with an entry in a registry, cut into parts for pytest to spread."""
    found: list[Any] = []
    for family in FAMILIES:
        members = [spec for spec in specs().values() if spec.family == family and registry.find(spec)]
        cut = [members[start : start + PART] for start in range(0, len(members), PART)]
        found += [pytest.param(part, id=f"{family} {number}") for number, part in enumerate(cut, 1)]
    return found


@pytest.mark.parametrize("operators", parts(DECOMPOSITIONS))
def test_decompositions(operators: list[OperatorSpec], figures: Any):
    report = Report()
    for spec in operators:
        seen: set[DType] = set()
        for label, module, tensors, expected in ready(spec):
            what = f"{spec.qualified_name} [{label}]"
            determined = has_values(module)
            seen |= {dtype_of(tensor) for tensor in tensors}
            try:
                DecomposeAten().apply(Context(), module)
                results = run(module, tensors)
            except UnsupportedError:
                continue
            except ExirError as error:
                report.failures.append(f"{what}: {error}")
                continue
            report.compare(what, results, expected, determined and has_values(module))
        report.exercised(spec, listed(spec), seen)
    report.close("decompositions", figures)


BATCH = 100
"""Programs compiled together."""


@pytest.mark.usefixtures("native_tools")
@pytest.mark.parametrize("operators", parts(LOWERINGS))
def test_lowerings(operators: list[OperatorSpec], figures: Any):
    report = Report()
    batch: list[Case] = []
    for spec in operators:
        seen: set[DType] = set()
        refused: set[DType] = set()
        for place, (label, module, tensors, expected) in enumerate(ready(spec, brief=True)):
            dtypes = {dtype_of(tensor) for tensor in tensors}
            if place % 3 and dtypes <= seen:
                continue  # code takes long to make
            AtenToEdge().apply(Context(), module)
            if obstacles(module):
                refused |= dtypes
            else:
                seen |= dtypes
                batch.append((f"{spec.qualified_name} [{label}]", module, tensors, expected))
        report.exercised(spec, listed(spec) - refused, seen)
    for start in range(0, len(batch), BATCH):
        run_together(batch[start : start + BATCH], report)
    report.close("lowerings", figures)


def interpreted(module: ModuleOp, arrays: list[Any]) -> Sequence[Any]:
    """What the interpreter gives for the one function of a module, lowered to linalg."""
    lowered = Program(module).apply(EdgeToLinalg())
    [name] = lowered.methods
    return InterpreterEngine(lowered.module, lowered.signatures).run(name, arrays)


def run_together(batch: list[Case], report: Report) -> None:
    """Compiles many programs as methods of one, and compares each one's results."""
    whole = ModuleOp([])
    for index, (_, module, _, _) in enumerate(batch):
        [function] = module.clone().ops
        assert isinstance(function, FuncOp)
        function.detach()
        function.sym_name = StringAttr(f"call_{index}")
        whole.body.block.add_op(function)
    try:
        engine = NativeEngine(Program(whole))
    except ExirError as error:
        if len(batch) == 1:
            report.failures.append(f"{batch[0][0]}: {error}")
        else:  # Which one is it?
            run_together(batch[: len(batch) // 2], report)
            run_together(batch[len(batch) // 2 :], report)
        return
    for index, (what, module, tensors, expected) in enumerate(batch):
        arrays = [to_numpy(tensor) for tensor in tensors]
        report.compare(
            f"{what}, linalg interpreted", interpreted(module, arrays), expected, has_values(module)
        )
        try:
            results = engine.run(f"call_{index}", arrays)
        except ExirError as error:
            report.failures.append(f"{what}: {error}")
            continue
        report.compare(what, results, expected, has_values(module))
