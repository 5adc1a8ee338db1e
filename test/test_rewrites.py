"""Every decomposition and every lowering in the registries against PyTorch, on random inputs: no test is written for one.

The calls of an operator come from samples.py. `variants` makes more of each: every dtype that the operator's rule
lists, 0-dim, empty, broadcast and strided operands, NaN, infinities and zeros of both signs. What an operator's
verifier or PyTorch refuses is left out; a dtype of the rule that is never run fails the test.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from differential import compare, find_operator, flatten, program_of, run, to_numpy, to_torch  # noqa: E402
from differential import dtype as dtype_of_torch  # noqa: E402
from eager import REFUSALS, torch_value  # noqa: E402
from samples import Call, Number, calls  # noqa: E402
from xdsl.context import Context  # noqa: E402
from xdsl.dialects.builtin import ModuleOp, StringAttr  # noqa: E402

from xdsl_exir.dialects import dtypes as dt  # noqa: E402
from xdsl_exir.dialects.dtypes import Category, DType  # noqa: E402
from xdsl_exir.dialects.exir import TensorMeta  # noqa: E402
from xdsl_exir.dialects.operator import OperatorOp  # noqa: E402
from xdsl_exir.dialects.schema import Argument  # noqa: E402
from xdsl_exir.dialects.spec import FAMILIES, OperatorSpec, specs  # noqa: E402
from xdsl_exir.errors import ExirError, UnsupportedError  # noqa: E402
from xdsl_exir.lowering import LOWERINGS  # noqa: E402
from xdsl_exir.lowering.edge_to_linalg import obstacles  # noqa: E402
from xdsl_exir.program import Program  # noqa: E402
from xdsl_exir.runtime.native import NativeEngine  # noqa: E402
from xdsl_exir.transforms.aten_to_edge import AtenToEdge  # noqa: E402
from xdsl_exir.transforms.decompose_aten import DecomposeAten  # noqa: E402
from xdsl_exir.transforms.decompositions import DECOMPOSITIONS  # noqa: E402

DTYPES = (dt.Float, dt.Double, dt.Half, dt.BFloat16, dt.Long, dt.Int, dt.Short, dt.Char, dt.Byte, dt.Bool,
          dt.ComplexFloat, dt.ComplexDouble)  # fmt: skip
SPECIAL = (float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1e-3, 40.0)

# --- values --------------------------------------------------------------------------------------------------

WIDE = frozenset({"pointwise", "reduction", "view", "matmul", "creation"})
"""Families whose integer tensors hold data; elsewhere they are indices, into sizes of two and more."""
UNIT = frozenset({"q", "p", "target", "weight"})
"""Arguments that are probabilities, or stay in their range."""


@dataclass(frozen=True)
class Variant:
    """A call, and what its tensors are like."""

    label: str
    call: Call
    special: bool = False
    strided: bool = False


def values(spec: OperatorSpec, argument: Argument, meta: TensorMeta, variant: Variant, rng: Any) -> Any:
    """A tensor for an argument."""
    shape, numpy = tuple(map(int, meta.shape)), meta.dtype.numpy
    match meta.dtype.category:
        case Category.BOOL:
            array = rng.random(shape) < 0.5
        case Category.INT:
            low = 0 if meta.dtype is dt.Byte else -4
            array = rng.integers(*((low, 6) if spec.family in WIDE else (0, 2)), shape)
            if argument.name == "offsets":
                array = np.sort(array)
                array[:1] = 0
        case _:
            array = rng.random(shape) if argument.name in UNIT else rng.standard_normal(shape)
            if meta.dtype.category is Category.COMPLEX:
                array = array + 1j * rng.standard_normal(shape)
            elif variant.special:
                chosen = rng.random(shape) < 0.4
                array = np.where(chosen, rng.choice(SPECIAL, shape), array)
            if spec.family == "linalg" and len(shape) > 1 and shape[-1] == shape[-2]:
                array = array @ np.conj(np.swapaxes(array, -1, -2)) + 2 * np.eye(shape[-1])
    tensor = to_torch(np.asarray(array, dtype=numpy).reshape(shape))
    if variant.strided and tensor.ndim > 1:
        tensor = tensor.mT.contiguous().mT
    return tensor


def arguments(spec: OperatorSpec, variant: Variant) -> dict[str, Any]:
    """A call's arguments for PyTorch, by name."""
    rng = np.random.default_rng(zlib.crc32(f"{spec.qualified_name} {variant.label}".encode()))
    given = dict(zip((a.name for a in spec.schema.arguments), variant.call.args, strict=False))
    given |= variant.call.kwargs

    def make(argument: Argument, value: Any) -> Any:
        if isinstance(value, TensorMeta):
            return values(spec, argument, value, variant, rng)
        if isinstance(value, list):
            return [make(argument, item) for item in value]
        return torch_value(argument.type.base, value)

    return {name: make(spec.schema.argument(name), value) for name, value in given.items()}


# --- variants ------------------------------------------------------------------------------------------------


def map_tensors(call: Call, change: Any) -> Call:
    def walk(value: Any) -> Any:
        if isinstance(value, TensorMeta):
            return change(value)
        return [walk(item) for item in value] if isinstance(value, list) else value

    return replace(
        call,
        args=tuple(map(walk, call.args)),
        kwargs={key: walk(value) for key, value in call.kwargs.items()},
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


def reshaped(call: Call) -> Iterator[tuple[str, Call]]:
    """The call with other shapes: they may be invalid."""
    yield "0-dim", map_tensors(call, lambda meta: replace(meta, shape=()))
    for size in sorted({size for meta in tensors_of(call) for size in meta.shape}):
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


def variants(spec: OperatorSpec) -> Iterator[Variant]:
    for index, call in enumerate(call for call in calls(spec) if is_static(call)):
        yield Variant(f"{index}", call)
        if not tensors_of(call):
            continue
        yield Variant(f"{index} strided", call, strided=True)
        if spec.family not in ("linalg", "fft"):
            yield Variant(f"{index} special", call, special=True)
        for label, other in reshaped(call):
            yield Variant(f"{index} {label}", other)
        for dtype in DTYPES:
            for position, other in enumerate(recast(call, dtype)):
                yield Variant(f"{index} {dtype} {position or 'all'}", other)


# --- running -------------------------------------------------------------------------------------------------


CRASHES = frozenset({"aten._scaled_dot_product_flash_attention_for_cpu", "aten.lstm.input", "aten.gru.input"})
"""Operators whose kernels in PyTorch take empty operands unchecked, and end the process."""


def eager(name: str, given: Mapping[str, Any]) -> list[Any] | None:
    """What PyTorch gives; None where it refuses."""
    if name in CRASHES and not all(
        x.numel() for x in torch.utils._pytree.tree_leaves(given) if torch.is_tensor(x)
    ):
        return None
    torch.manual_seed(0)
    try:
        return flatten(find_operator(name)(**given))
    except REFUSALS:
        return None


def built(name: str, given: Mapping[str, Any]) -> Any:
    """The program of a call and its tensors; None where the operator does not verify."""
    try:
        module, tensors = program_of(name, **given)
        module.verify()
    except ExirError:
        return None
    return module, tensors


def ready(spec: OperatorSpec) -> Iterator[tuple[str, Any, list[Any], list[Any]]]:
    """An operator's variants that both we and PyTorch take: label, program, tensors, expected results."""
    for variant in variants(spec):
        given = arguments(spec, variant)
        program = built(spec.qualified_name, given)
        expected = None if program is None else eager(spec.qualified_name, given)
        if program is not None and expected is not None:
            yield variant.label, *program, expected


def dtype_of(tensor: Any) -> DType:
    return dtype_of_torch(tensor.dtype)


def listed(spec: OperatorSpec) -> set[DType]:
    """Dtypes that the operator's rule has for its tensors."""
    tensors = {argument.name for argument in spec.schema.arguments if argument.type.is_tensor}
    allowed = spec.dtype_rule.allowed if spec.dtype_rule else {}
    return {dtype for name, dtypes in allowed.items() if name in tensors for dtype in dtypes} & set(DTYPES)


# --- comparing -----------------------------------------------------------------------------------------------

LEAST = {torch.float16: 2e-3, torch.bfloat16: 1.6e-2}
"""What half results near zero may differ by, absolutely: they come of larger terms, rounded."""
AMBIGUOUS = frozenset({"aten.linalg_svd", "aten.svd", "aten._linalg_svd"})
"""Operators with several right results: singular vectors have a sign or a phase of their own."""


def has_values(module: Any) -> bool:
    """Whether what a program gives is determined: it has no random and no uninitialised tensors."""
    operators = [op for op in module.walk() if isinstance(op, OperatorOp)]
    return not any(
        "nondeterministic_seeded" in op.SPEC.tags
        or "empty" in op.SPEC.qualified_name
        or op.SPEC.qualified_name in AMBIGUOUS
        for op in operators
    )


@dataclass
class Report:
    """What was run of a kind of rewrite in one family."""

    rules: int = 0
    runs: int = 0
    pairs: int = 0
    unexercised: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def compare(self, what: str, results: Any, expected: list[Any], determined: bool) -> None:
        self.runs += 1
        try:
            for index, (got, want) in enumerate(zip(results, expected, strict=True)):
                least = LEAST.get(getattr(want, "dtype", None), 0)
                compare(f"{what}, result {index}", got, want, determined, scale=4, least=least)
        except AssertionError as error:
            self.failures.append(" ".join(str(error).split()))

    def exercised(self, spec: OperatorSpec, wanted: set[DType], seen: set[DType]) -> None:
        self.rules += 1
        self.pairs += len(seen)
        self.unexercised += [f"{spec.qualified_name} {dtype}" for dtype in DTYPES if dtype in wanted - seen]

    def close(self, kind: str, family: str, figures: Any) -> None:
        figures(
            f"{family}: {self.rules} {kind}s, {self.runs} runs, {self.pairs} (rule, dtype) pairs; "
            f"never exercised: {', '.join(self.unexercised) or 'none'}"
        )
        assert not self.failures, "\n".join(self.failures)
        assert not self.unexercised


@pytest.mark.parametrize("family", FAMILIES)
def test_decompositions(family: str, figures: Any):
    report = Report()
    for spec in list(specs().values()):
        if spec.family != family or DECOMPOSITIONS.find(spec) is None:
            continue
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
    report.close("decomposition", family, figures)


BATCH = 100
"""Programs compiled together."""


@pytest.mark.usefixtures("native_tools")
@pytest.mark.parametrize("family", FAMILIES)
def test_lowerings(family: str, figures: Any):
    report = Report()
    batch: list[tuple[str, Any, list[Any], list[Any]]] = []
    for spec in list(specs().values()):
        if spec.family != family or LOWERINGS.find(spec) is None:
            continue
        seen: set[DType] = set()
        refused: set[DType] = set()
        for label, module, tensors, expected in ready(spec):
            AtenToEdge().apply(Context(), module)
            dtypes = {dtype_of(tensor) for tensor in tensors}
            if obstacles(module):
                refused |= dtypes
            else:
                seen |= dtypes
                batch.append((f"{spec.qualified_name} [{label}]", module, tensors, expected))
        report.exercised(spec, listed(spec) - refused, seen)
    for start in range(0, len(batch), BATCH):
        run_together(batch[start : start + BATCH], report)
    report.close("lowering", family, figures)


def run_together(batch: list[tuple[str, Any, list[Any], list[Any]]], report: Report) -> None:
    """Compiles many programs as methods of one, and compares each one's results."""
    whole = ModuleOp([])
    for index, (_, module, _, _) in enumerate(batch):
        [function] = module.ops
        function.detach()
        function.sym_name = StringAttr(f"call_{index}")
        whole.body.block.add_op(function)
    engine = NativeEngine(Program(whole))
    for index, (what, _, tensors, expected) in enumerate(batch):
        try:
            results = engine.run(f"call_{index}", [to_numpy(tensor) for tensor in tensors])
        except ExirError as error:
            report.failures.append(f"{what}: {error}")
            continue
        report.compare(what, results, expected, True)
