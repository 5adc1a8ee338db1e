"""Every overload over the twelve dtypes, against PyTorch's CPU kernels: how exact the dtype rules are.

    python test/dtype_sweep.py [NAME...]      # all overloads that have a rule, or those named

The calls are those of `samples.py` and some more, not the generator's, each as it is, with operands made 0-dim, empty,
Python numbers or absent one by one, and with other flags. In each the dtypes of tensors, numbers and `dtype` arguments
run over all combinations (pairs of places where there are too many), and `op.verify()` of the aten operation, with
results of PyTorch's dtypes, must accept what PyTorch runs and refuse what it does not.

A combination is valid where PyTorch runs it, with results in dtypes that the IR has.
"""

from __future__ import annotations

import itertools
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import eager
import torch
from differential import find_operator, flatten
from samples import Call, calls, dialect_of, type_of
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.utils.exceptions import VerifyException

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.arguments import ArgumentSlots
from xdsl_exir.dialects.dtype_rules import dtype_set
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.exir import number_type
from xdsl_exir.dialects.meta import MetaError, infer_result_types
from xdsl_exir.dialects.operator import metas
from xdsl_exir.dialects.promotion import DtypeError
from xdsl_exir.dialects.spec import OperatorSpec, find, specs
from xdsl_exir.dialects.tensors import TensorMeta, is_tensor_type, tensor_meta
from xdsl_exir.errors import ExirError
from xdsl_exir.transforms.decompositions import reaches_edge

TWELVE = dtype_set("All")
OURS = {eager.torch_dtype(dtype): dtype for dtype in dt.DTYPES}
PRODUCT = 2000
"""Combinations up to which all are tried."""

Arguments = dict[str, Any]
"""A call: TensorMetas in place of tensors, else Python values."""


# --- calls ---------------------------------------------------------------------------------------------------


def constant(value: Any) -> Any:
    """A sample's value with its symbolic sizes made constant; a computed number is dropped by a KeyError."""
    if isinstance(value, TensorMeta):
        return TensorMeta(tuple(map(eager.size_of, value.shape)), value.dtype)
    if isinstance(value, list):
        return [constant(item) for item in value]
    if type(value).__name__ == "Number":
        return eager.SYMBOL
    return value


def bound(spec: OperatorSpec, call: Call) -> Arguments:
    """A call's arguments by name, defaults filled in."""
    layout = ArgumentSlots.of(spec)
    names = [slot.name for slot in layout.positional]
    given = dict(zip(names, map(constant, call.args), strict=False))
    given |= {name: constant(value) for name, value in call.kwargs.items()}
    defaults = {slot.name: slot.default for slot in layout.slots if slot.name not in given}
    return defaults | given


def tensor_places(arguments: Arguments) -> Iterator[tuple[str, int | None, TensorMeta]]:
    for name, value in arguments.items():
        if isinstance(value, TensorMeta):
            yield name, None, value
        elif isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, TensorMeta):
                    yield name, index, item


def put(arguments: Arguments, name: str, index: int | None, value: Any) -> Arguments:
    if index is None:
        return arguments | {name: value}
    items = list(arguments[name])
    items[index] = value
    return arguments | {name: items}


def reshaped(arguments: Arguments, change: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Arguments:
    """A call with the shapes of all tensors changed."""
    for name, index, meta in list(tensor_places(arguments)):
        arguments = put(arguments, name, index, TensorMeta(change(meta.shape), meta.dtype))
    return arguments


def filled(arguments: Arguments, call: Arguments) -> Arguments:
    """A call with the shapes of another."""
    for (name, index, meta), (_, _, other) in zip(
        list(tensor_places(arguments)), list(tensor_places(call)), strict=True
    ):
        arguments = put(arguments, name, index, replace(meta, shape=other.shape))
    return arguments


FLAGS: dict[str, Sequence[Any]] = {
    "rounding_mode": (None, "floor", "trunc"),
    "reduce": ("sum", "prod", "mean", "amax", "amin", "add", "multiply"),
    "approximate": ("none", "tanh"),
    "mode": ("constant", "reflect", "replicate", "circular", "reduced", "complete", "r"),
    "ord": ("fro", "nuc"),
    "padding": ("same", "valid"),
    "interpolation": ("linear", "lower", "nearest"),
    "side": ("left", "right"),
}
"""Values tried for `str` arguments."""


UNSAFE = ("batch_norm", "instance_norm", "_weight_norm", "lstm", "gru", "rnn_", "_chunk_cat", "_backward")
"""Kernels that read past the end of parameters of a wrong shape, and statistics that are not there: of these only
dtypes change, and whether they train."""
CONVERSIONS = ("to", "_to_copy", "copy", "_conj")
"""Operators that PyTorch's binding calls with numbers, too, and then gives numbers: these are others, not of tensors."""
EMPTY = "empty"


def variants(spec: OperatorSpec, call: Arguments) -> Iterator[tuple[str, Arguments]]:
    """A call as it is, and changed in one way each."""
    yield "as is", call
    unsafe = any(name in spec.qualified_name for name in UNSAFE)
    places = [] if unsafe else list(tensor_places(call))
    for name, index, meta in places:
        if meta.shape:
            yield f"0-dim {name}", put(call, name, index, TensorMeta((), meta.dtype))
    if len(places) > 1:
        yield "all 0-dim", reshaped(call, lambda shape: ())
    if places:
        yield EMPTY, reshaped(call, lambda shape: (0, *shape[1:]) if shape else shape)
        yield f"{EMPTY} at the end", reshaped(call, lambda shape: (*shape[:-1], 0) if shape else shape)
    for argument in spec.schema.arguments:
        value = call.get(argument.name)
        if argument.type.is_tensor and isinstance(value, TensorMeta) and spec.schema.name not in CONVERSIONS:
            yield f"number {argument.name}", call | {argument.name: 2}
        given = unsafe and "_backward" in spec.qualified_name
        if argument.type.optional and argument.type.base in ("Tensor", "Scalar") and not given:
            if value is not None:
                yield f"no {argument.name}", call | {argument.name: None}
            elif argument.type.base == "Scalar":
                yield f"with {argument.name}", call | {argument.name: 2}
        training = argument.name in ("train", "training") and "no_stats" not in spec.qualified_name
        safe = not unsafe or (training and not given)
        if argument.type.base == "bool" and not argument.type.is_list and safe:
            yield f"{argument.name}={not value}", call | {argument.name: not value}
        if argument.type.base == "str":
            for other in FLAGS.get(argument.name, ()):
                if other != value:
                    yield f"{argument.name}={other}", call | {argument.name: other}


# --- combinations --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """A place in a call that has a dtype, and what is put there: TensorMetas, Python numbers, DTypes."""

    name: str
    index: int | None
    choices: tuple[Any, ...]

    def alike(self, dtype: DType) -> Any:
        """The choice of a dtype; the usual one of a number or `dtype` argument."""
        return next((c for c in self.choices if isinstance(c, TensorMeta) and c.dtype is dtype), self.usual)

    @property
    def usual(self) -> Any:
        return self.choices[1] if type(self.choices[0]) is bool else self.choices[0]


def numbers(value: Any) -> tuple[bool, int, float, complex]:
    """One number of each kind, near a given one."""
    whole = int(value.real) if abs(value) >= 1 or value == 0 else 1
    return (bool(whole), whole, whole + 0.5, complex(whole, 1))


def places_of(spec: OperatorSpec, arguments: Arguments) -> list[Place]:
    found: list[Place] = []
    for argument in spec.schema.arguments:
        if argument.name not in arguments:
            continue
        value = arguments[argument.name]
        items = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
        for index, item in items:
            if isinstance(item, TensorMeta):
                choices: tuple[Any, ...] = tuple(replace(item, dtype=dtype) for dtype in TWELVE)
            elif argument.type.base == "Scalar" or argument.type.is_tensor:
                if item is None:
                    continue
                choices = numbers(item)
            elif argument.type.base == "ScalarType":
                # An operation has no way to say None where that is not the default.
                absent = (None,) if argument.type.optional and argument.default is None else ()
                choices = (*absent, *TWELVE)
            else:
                continue
            found.append(Place(argument.name, index, choices))
    return found


def one_apart(places: Sequence[Place], base: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """One place over all it can be, the others as they are."""
    for i, place in enumerate(places):
        for choice in place.choices:
            yield (*base[:i], choice, *base[i + 1 :])


def combinations(places: Sequence[Place], base: Sequence[Any], most: bool) -> Iterator[tuple[Any, ...]]:
    """All of them; where they are too many all pairs beside the usual ones, or `most`: beside some that are alike."""
    count = 1
    for place in places:
        count *= len(place.choices)
    if count <= (PRODUCT if most else PRODUCT / 4):
        yield from itertools.product(*(place.choices for place in places))
        return
    if len(places) > 4 and not most:
        yield from one_apart(places, base)
        for dtype in TWELVE:
            yield tuple(place.alike(dtype) for place in places)
        return
    seen: dict[tuple[Any, ...], None] = {}
    others = (dt.Short, dt.BFloat16, dt.Double, dt.ComplexFloat) if most else ()
    beside = [tuple(base), *(tuple(place.alike(dtype) for place in places) for dtype in others)]
    for rest in beside:
        for i, j in itertools.combinations(range(len(places)), 2):
            for a, b in itertools.product(places[i].choices, places[j].choices):
                seen[*rest[:i], a, *rest[i + 1 : j], b, *rest[j + 1 :]] = None
    for dtype in TWELVE:
        seen |= dict.fromkeys(one_apart(places, tuple(place.alike(dtype) for place in places)))
    yield from seen


# --- PyTorch -------------------------------------------------------------------------------------------------


@cache
def tensor(meta: TensorMeta, integer: int) -> torch.Tensor:
    fill = integer if meta.dtype.category <= Category.INT else 1
    return torch.full(list(meta.shape), fill, dtype=eager.torch_dtype(meta.dtype))


def torch_value(value: Any, base: str, integer: int) -> Any:
    if isinstance(value, TensorMeta):
        return tensor(value, integer)
    if isinstance(value, list):
        return [torch_value(item, base, integer) for item in value]
    return eager.torch_value(base, value)


class Reference:
    """What PyTorch says of one operator's calls."""

    def __init__(self, spec: OperatorSpec) -> None:
        self.op = find_operator(spec.qualified_name)
        self.bases = {argument.name: argument.type.base for argument in spec.schema.arguments}
        self.integers = [0, 1]
        """What integer tensors are filled with: zeros (which index anything), or ones (which divide)."""

    def run(self, arguments: Arguments) -> list[Any] | None:
        """The results of a call; None where PyTorch refuses it, or computes in a dtype that is none of ours."""
        holds_integers = any(meta.dtype.category <= Category.INT for _, _, meta in tensor_places(arguments))
        for integer in list(self.integers) if holds_integers else self.integers[:1]:
            given = {name: torch_value(value, self.bases[name], integer) for name, value in arguments.items()}
            try:
                results = flatten(self.op(**given))
            except eager.REFUSALS:
                continue
            if integer != self.integers[0]:
                self.integers.reverse()
            dtypes = {value.dtype for value in results if isinstance(value, torch.Tensor)}
            return results if dtypes.issubset(OURS) else None
        return None


# --- ours ----------------------------------------------------------------------------------------------------


class Verifier:
    """What `verify` says of one operator's operations."""

    def __init__(self, spec: OperatorSpec) -> None:
        self.spec = spec
        self.cls = dialect_of(spec.qualified_name, "aten")[spec.qualified_name]
        self.block = Block()
        self.held: dict[tuple[Attribute, int], SSAValue] = {}

    def value(self, type: Attribute) -> SSAValue:
        if type not in self.held:
            self.held[type] = self.block.insert_arg(type, len(self.block.args))
        return self.held[type]

    def lower(self, value: Any, is_tensor: bool) -> Any:
        if isinstance(value, TensorMeta):
            return self.value(_type_of(value))
        if is_tensor and isinstance(value, list):
            return [self.lower(item, True) for item in value]
        if is_tensor and value is not None:
            return self.value(number_type(value))
        return value

    def values(self, arguments: Arguments) -> dict[str, Any]:
        return {slot.name: self.lower(arguments[slot.name], slot.is_tensor) for slot in self.cls.SLOTS.slots}

    def inferred(self, values: Mapping[str, Any]) -> list[Attribute]:
        types = infer_result_types(self.spec, {name: metas(value) for name, value in values.items()})
        return [type if type is not None else number_type(1) for type in types]

    def infers(self, arguments: Arguments) -> list[DType] | None:
        """Dtypes of the results that it infers, None where it refuses the operands."""
        try:
            types = self.inferred(self.values(arguments))
        except ExirError:
            return None
        return [tensor_meta(type).dtype for type in types if is_tensor_type(type)]

    def refuses_shapes(self, arguments: Arguments, results: Sequence[Any]) -> bool:
        """Whether it refuses a call, and not for its dtypes."""
        if self.refusal(arguments, results) is None:
            return False
        try:
            self.inferred(self.values(arguments))
        except MetaError:
            return True
        except DtypeError:
            return False
        return self.infers(arguments) == _dtypes(results)

    def refusal(self, arguments: Arguments, results: Sequence[Any] | None) -> str | None:
        """None where an operation verifies, else why it does not. Without results it has those we infer."""
        values = self.values(arguments)
        try:
            # What PyTorch leaves out of its results (gradients nobody asked for) has the type that we infer.
            traced = TRACED_SHAPES.get(self.spec.qualified_name)
            partial = results is None or traced is not None or any(result is None for result in results)
            inferred = self.inferred(values) if partial else []
            types = [
                inferred[i]
                if result is None
                else _type_of(replace(tensor_meta(inferred[i]), dtype=OURS[result.dtype]))
                if i == traced
                else result_type(result)
                for i, result in enumerate(results or [None] * len(inferred))
            ]
            operands, properties = self.cls.SLOTS.encode(values)
            op = self.cls.create(operands=operands, properties=properties, result_types=types)
            op.verify_()
        except (ExirError, VerifyException) as error:
            return str(error)
        else:
            op.drop_all_references()
            return None


@cache
def _type_of(meta: TensorMeta) -> Attribute:
    return type_of(meta)


def _dtypes(results: Sequence[Any] | None) -> list[DType] | None:
    """Dtypes of the tensors among PyTorch's results."""
    return (
        None if results is None else [OURS[item.dtype] for item in results if isinstance(item, torch.Tensor)]
    )


def result_type(value: Any) -> Attribute:
    if isinstance(value, torch.Tensor):
        return _type_of(TensorMeta(tuple(value.shape), OURS[value.dtype]))
    return number_type(value)


_BAGS = ("embedding_bag", "embedding_bag.padding_idx", "_embedding_bag", "_embedding_bag_forward_only")
TRACED_SHAPES = {f"aten.{name}": 1 for name in _BAGS}
"""Results of which PyTorch's tracer, whose shapes exported programs have, says another shape than the kernel gives."""

LAX = {
    r"aten\.convolution_backward\b": "oneDNN's bfloat16 kernel reads weights of other dtypes",
    r"aten\.convolution .*input=BFloat16.* bias=(?!BFloat16)": "oneDNN checks the bias on processors with AVX-512 alone",
}
"""Kernels that check too little, here or elsewhere, of which valid combinations are rejected."""

STRICT = {
    r"aten\.(conv|_conv).*(input|self)=Half.* bias=(?!Half)": "oneDNN checks the bias on processors with half arithmetic alone",
    r"aten\.gelu_backward .*grad_output=(?!Half).* self=Half": "oneDNN's kernel, which takes one dtype, is for processors with half arithmetic",
}
"""Kernels that check more on some processors, of which combinations that are invalid there are accepted."""


# --- both ----------------------------------------------------------------------------------------------------


@dataclass
class Sweep:
    """What became of the combinations."""

    step: int = 1
    """Of combinations that are neither alike nor one place apart, every so many-th is tried."""
    valid: int = 0
    invalid: int = 0
    vacuous: int = 0
    """Combinations of which kernels say something else where tensors are empty, as they return before they look at
    dtypes: not counted."""
    rejected: list[str] = field(default_factory=list)
    """Valid combinations that we reject, or give other dtypes."""
    accepted: list[str] = field(default_factory=list)
    """Invalid combinations that we accept."""
    strict: Counter[str] = field(default_factory=Counter)
    """Valid combinations rejected of operators that are always decomposed. (Composite ones check little; what they
    lead to where their parts would promote is not worth a rule.)"""
    shapes: set[str] = field(default_factory=set)
    """Variants that we refuse for their shapes or values, whatever their dtypes, and PyTorch takes."""
    covered: set[str] = field(default_factory=set)
    """Overloads of which valid combinations are accepted."""

    def add(self, name: str) -> None:
        spec = find(name)
        reference, verifier = Reference(spec), Verifier(spec)
        for call in [bound(spec, call) for call in calls(spec)]:
            for what, arguments in variants(spec, call):
                self.variant(spec, what, arguments, call, reference, verifier)

    def variant(
        self,
        spec: OperatorSpec,
        what: str,
        arguments: Arguments,
        call: Arguments,
        reference: Reference,
        verifier: Verifier,
    ) -> None:
        places = places_of(spec, arguments)
        base = [arguments[p.name] if p.index is None else arguments[p.name][p.index] for p in places]
        few = [*one_apart(places, base), *(tuple(place.alike(dtype) for place in places) for dtype in TWELVE)]

        def made(seen: Sequence[Any]) -> Arguments:
            result = arguments
            for place, choice in zip(places, seen, strict=True):
                result = put(result, place.name, place.index, choice)
            return result

        empty = what.startswith(EMPTY)

        def alike(arguments: Arguments, results: Sequence[Any] | None) -> bool:
            """Whether PyTorch says the same of tensors that are not empty."""
            return _dtypes(reference.run(filled(arguments, call))) == _dtypes(results)

        runs = False
        taken: list[tuple[Arguments, Sequence[Any]]] = []
        for arguments in map(made, few):
            results = reference.run(arguments)
            runs = runs or results is not None
            if results is not None and (not empty or alike(arguments, results)):
                taken.append((arguments, results))
        if taken and all(verifier.refuses_shapes(arguments, results) for arguments, results in taken):
            self.shapes.add(f"{spec.qualified_name} [{what}]")
            return
        if not runs and not what.startswith("number"):
            return  # the shapes are not right
        most = what == "as is" and reaches_edge(spec)
        some = itertools.islice(combinations(places, base, most), 0, None, self.step) if runs else ()
        for seen in (*few, *some):
            results = reference.run(made(seen))
            if empty and not alike(made(seen), results):
                self.vacuous += 1
                continue
            self.combination(spec, what, made(seen), results, list(zip(places, seen, strict=True)), verifier)

    def combination(
        self,
        spec: OperatorSpec,
        what: str,
        arguments: Arguments,
        results: Sequence[Any] | None,
        seen: Sequence[tuple[Place, Any]],
        verifier: Verifier,
    ) -> None:
        error = verifier.refusal(arguments, results)
        text = ""
        if (results is None) == (error is None):
            shown = ", ".join(f"{p.name}={_shown(c)}" for p, c in seen)
            text = f"{spec.qualified_name} [{what}] ({shown})"
        if results is None:
            self.invalid += 1
            if error is None and not any(re.match(strict, text) for strict in STRICT):
                self.accepted.append(text)
        else:
            self.valid += 1
            if error is None:
                self.covered.add(spec.qualified_name)
            elif (not reaches_edge(spec) or any(re.match(lax, text) for lax in LAX)) and verifier.infers(
                arguments
            ) is None:
                self.strict[spec.qualified_name] += 1
            else:
                self.rejected.append(f"{text}: {' '.join(error.split())[:300]}")

    def line(self) -> str:
        """What was found, as the issue asks for it."""
        return (
            f"{len(self.rejected)} valid combinations rejected, {len(self.accepted)} invalid accepted "
            f"({self.valid} valid and {self.invalid} invalid ones tried; {len(self.covered)} overloads; "
            f"{self.vacuous} more differ only where tensors are empty; {self.strict.total()} valid ones of "
            f"{len(self.strict)} overloads that are always decomposed are rejected)"
        )


def _shown(choice: Any) -> str:
    if isinstance(choice, TensorMeta):
        return f"{choice.dtype}{list(choice.shape)}"
    return str(choice)


def sweep(
    names: Sequence[str], progress: Callable[[str, float, Sweep], None] | None = None, step: int = 1
) -> Sweep:
    """Compares operators with PyTorch."""
    total = Sweep(step)
    torch.set_num_threads(1)  # tensors are tiny
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            start = time.perf_counter()
            total.add(name)
            if progress is not None:
                progress(name, time.perf_counter() - start, total)
    return total


def with_rules() -> list[str]:
    """The operators that have a dtype rule, and kernels (those of quantized_decomposed are written in Python)."""
    return [name for name, spec in specs().items() if spec.rule_text and name.startswith("aten.")]


def main() -> int:
    names = sys.argv[1:] or with_rules()
    last = [0, 0]

    def progress(name: str, seconds: float, total: Sweep) -> None:
        now = [len(total.rejected), len(total.accepted)]
        if now != last or seconds > 1:
            print(f"{name}: {seconds:.1f} s, +{now[0] - last[0]} rejected, +{now[1] - last[1]} accepted")
            for text in (
                *total.rejected[last[0] :],
                *(f"accepted {text}" for text in total.accepted[last[1] :]),
            ):
                print(" ", text, flush=True)
            last[:] = now

    total = sweep(names, progress)
    print(total.line())
    print("refused for shapes or values:", *sorted(total.shapes), sep="\n  ")
    print("not covered:", *(set(names) - total.covered))
    return bool(total.rejected or total.accepted)


if __name__ == "__main__":
    sys.exit(main())
