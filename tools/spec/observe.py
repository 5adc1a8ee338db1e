"""What PyTorch's CPU kernels say to every dtype of their arguments: a call of `samples`, cast over all dtypes, and run."""

# pyright: basic, reportMissingImports=false
# (PyTorch's types are unknown to the checker.)

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.promotion import NUMBER_DTYPE, DtypeError, Operand, result_type
from xdsl_exir.dialects.schema import Argument
from xdsl_exir.dialects.spec import OperatorSpec, specs
from xdsl_exir.threads import cached_property
from xdsl_exir.tools.spec.samples import (
    EXOTIC,
    OF_TORCH,
    PROBED,
    TORCH,
    WRITTEN,
    bind,
    harvest,
    overload,
    run,
)

Seen = Operand | DType | None
"""What a rule sees in a slot: an operand, a `dtype` argument, nothing."""


@dataclass(frozen=True)
class Slot:
    """A place in a call that has a dtype: a tensor, an element of a list of tensors, a number or a `dtype`."""

    argument: Argument
    value: Any
    index: int | None = None
    """Place in a list of tensors."""
    _cast: dict[Seen, Any] = field(default_factory=dict[Seen, Any], compare=False)

    @property
    def name(self) -> str:
        return self.argument.name

    @property
    def is_tensor(self) -> bool:
        return self.argument.type.is_tensor

    @property
    def is_number(self) -> bool:
        return self.argument.type.base == "Scalar"

    @property
    def tier(self) -> int:
        """The tier of a tensor of the slot's own shape."""
        return 2 if self.value.ndim else 1

    @cached_property
    def choices(self) -> tuple[Seen, ...]:
        """All that the slot is cast to, but for the shape of a tensor."""
        if self.is_tensor:
            return tuple(Operand(dtype, self.tier) for dtype in PROBED)
        if self.is_number:
            return tuple(Operand(dtype, 0) for dtype in NUMBER_DTYPE.values())
        absent = (None,) if self.argument.type.optional else ()
        return (*absent, *PROBED)

    @cached_property
    def usual(self) -> Seen:
        """The choice that other slots are cast under: an integer for a number, no `dtype`."""
        return Operand(dt.Long, 0) if self.is_number else self.choices[0]

    def cast(self, seen: Seen) -> Any:
        """The slot's value as `seen`."""
        if seen not in self._cast:
            self._cast[seen] = self._make(seen)
        return self._cast[seen]

    def _make(self, seen: Seen) -> Any:
        if not isinstance(seen, Operand):
            return None if seen is None else TORCH[seen]
        if seen.tier == 0:
            return number(self.value, seen.dtype.category)
        value = ones_for(self.value)
        return (value if seen.tier == self.tier else value.flatten()[0]).to(TORCH[seen.dtype])


def number(value: Any, category: Category) -> bool | int | float | complex:
    """A number of a category: one that no narrower category can hold."""
    if isinstance(value, torch.Tensor):
        value = value.flatten()[0].item()
    real = int(min(abs(value), 9))
    real = 1 if 0 < abs(value) < 1 else real
    return (True, real, real + 0.5, complex(real, 1))[category]


def ones_for(value: torch.Tensor) -> torch.Tensor:
    """Ones for a tensor of floats, a fine argument for any function; integers (indices, sizes) stay as they are."""
    return torch.ones(value.shape) if value.is_floating_point() or value.is_complex() else value


@dataclass
class Probe:
    """One call of an operator, to be repeated with other dtypes."""

    spec: OperatorSpec
    arguments: dict[str, Any]
    observed: dict[tuple[Seen, ...], tuple[DType, ...] | None] = field(
        default_factory=dict[tuple[Seen, ...], "tuple[DType, ...] | None"]
    )
    """Dtypes of the results by what was in the slots; None where PyTorch refuses them."""

    @cached_property
    def op(self) -> Any:
        return overload(self.spec.qualified_name)

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        found: list[Slot] = []
        for argument in self.spec.schema.arguments:
            value = self.arguments.get(argument.name)
            if argument.type.is_tensor and isinstance(value, list | tuple):
                found += [Slot(argument, item, i) for i, item in enumerate(value) if item is not None]
            elif argument.type.base == "ScalarType" or (argument.type.is_tensor and value is not None):
                found.append(Slot(argument, value))
            elif argument.type.base == "Scalar" and not argument.type.is_list:
                default = None if argument.required else argument.default
                value = default if value is None else value
                found += [Slot(argument, value)] if value is not None else []
        return tuple(found)

    @cached_property
    def flags(self) -> dict[str, Any]:
        """Arguments that choose between behaviours: their values tell probes of one operator apart."""
        return {
            argument.name: self.arguments.get(argument.name, argument.default)
            for argument in self.spec.schema.arguments
            if argument.type.base in ("bool", "str") and not argument.type.is_list
        }

    def try_(self, seen: tuple[Seen, ...]) -> tuple[DType, ...] | None:
        """Runs the kernel with slots cast, and notes what it says."""
        if seen not in self.observed:
            self.observed[seen] = self.run(seen)
        return self.observed[seen]

    def run(self, seen: tuple[Seen, ...]) -> tuple[DType, ...] | None:
        """Dtypes of the results with slots cast; None where PyTorch refuses them."""
        arguments = {
            name: list(value) if isinstance(value, tuple) else value for name, value in self.arguments.items()
        }
        for slot, choice in zip(self.slots, seen, strict=True):
            if slot.index is None:
                arguments[slot.name] = slot.cast(choice)
            else:
                if arguments[slot.name] is self.arguments[slot.name]:
                    arguments[slot.name] = list(arguments[slot.name])
                arguments[slot.name][slot.index] = slot.cast(choice)
        result = run(self.op, (), arguments)
        dtypes = None if result is None else self._dtypes(result)
        return None if dtypes == (dt.Bool,) and in_complex32(seen) else dtypes

    def _dtypes(self, result: tuple[Any, ...]) -> tuple[DType, ...] | None:
        """Dtypes of the tensor results; None where the IR has none of them or they differ within a list."""
        found: list[DType] = []
        for value, ret in zip(result, self.spec.schema.returns, strict=True):
            if not ret.type.is_tensor:
                continue
            items: list[Any] = value if ret.type.is_list else [value]
            if not items:
                return None
            # `aten.to.other(2, tensor)` is another operator, of numbers.
            within = {OF_TORCH.get(item.dtype) if isinstance(item, torch.Tensor) else None for item in items}
            dtype = within.pop()
            if dtype is None or within:
                return None
            found.append(dtype)
        return tuple(found)

    def alike(self, dtype: DType) -> tuple[Seen, ...]:
        """All tensors of one dtype, the rest as usual."""
        return tuple(Operand(dtype, slot.tier) if slot.is_tensor else slot.usual for slot in self.slots)

    def into(self, dtype: DType) -> tuple[Seen, ...]:
        """Tensors of float32, and `dtype` as dtype argument."""
        pairs = zip(self.slots, self.alike(dt.Float), strict=True)
        return tuple(seen if slot.is_tensor or slot.is_number else dtype for slot, seen in pairs)

    def explore(self) -> None:
        """Tries all combinations where they are few; else all pairs of slots, the other slots being alike."""
        choices = [slot.choices for slot in self.slots]
        if len(list(itertools.islice(itertools.product(*choices), FEW + 1))) <= FEW:
            for seen in itertools.product(*choices):
                self.try_(seen)
        else:
            for seen in self._pairs():
                self.try_(seen)
        for seen in self._tiers():
            self.try_(seen)
        for as_ in (self.alike, self.into):
            if all(self.observed.get(as_(dtype)) is not None for dtype in PROBED):
                for dtype in EXOTIC:
                    self.try_(as_(dtype))

    def _pairs(self) -> Iterator[tuple[Seen, ...]]:
        for dtype in (dt.Bool, dt.Long, dt.Half, dt.Float, dt.ComplexFloat):
            base = self.alike(dtype)
            for i, j in itertools.combinations(range(len(self.slots)), 2):
                for a, b in itertools.product(self.slots[i].choices, self.slots[j].choices):
                    yield (*base[:i], a, *base[i + 1 : j], b, *base[j + 1 :])
        # One slot apart, the others alike: an input beside parameters of another dtype.
        for i, slot in enumerate(self.slots):
            for dtype, other in itertools.product(PROBED, slot.choices):
                base = self.alike(dtype)
                yield (*base[:i], other, *base[i + 1 :])

    def _tiers(self) -> Iterator[tuple[Seen, ...]]:
        """Two operands of all dtypes and tiers (0-dim tensors, Python numbers), the others alike."""
        operands = [i for i, slot in enumerate(self.slots) if slot.is_tensor or slot.is_number]
        for i, j in itertools.combinations(operands, 2):
            for dtype in (dt.Bool, dt.Float):
                base = self.alike(dtype)
                for a, b in itertools.product(self._tiered(i), self._tiered(j)):
                    seen = (*base[:i], a, *base[i + 1 : j], b, *base[j + 1 :])
                    if any(isinstance(item, Operand) and item.tier for item in seen):
                        yield seen

    def _tiered(self, i: int) -> tuple[Seen, ...]:
        """The choices of a slot, also as 0-dim tensor and as number where the operator takes them so."""
        slot = self.slots[i]
        choices = slot.choices
        for tier, dtypes in ((1, PROBED), (0, NUMBER_DTYPE.values())):
            base = self.alike(dt.Float)
            lowered = Operand(dt.Float, tier)
            trial = (*base[:i], lowered, *base[i + 1 :])
            if slot.is_tensor and slot.tier == 2 and self.run(trial) is not None:
                choices = (*choices, *(Operand(dtype, tier) for dtype in dtypes))
        return choices


def in_complex32(seen: Iterable[Seen]) -> bool:
    """Whether operands promote to complex32, in which few kernels compute, and those that compare none of the numbers."""
    operands = tuple(item for item in seen if isinstance(item, Operand))
    try:
        return result_type(operands) is dt.ComplexHalf
    except DtypeError:
        return False


FEW = 2500
"""Combinations up to which all are tried."""


def representative(calls: Iterable[dict[str, Any]], spec: OperatorSpec) -> list[Probe]:
    """The calls worth probing: for each combination of flags the one with most slots, and small ones of these."""
    best: dict[str, tuple[Any, Probe]] = {}
    for call in calls:
        probe = Probe(spec, call)
        tensors = [slot.value for slot in probe.slots if slot.is_tensor]
        if any(
            not isinstance(tensor, torch.Tensor) or tensor.numel() == 0 or tensor.is_sparse
            for tensor in tensors
        ):
            continue
        full = sum(tensor.ndim > 0 for tensor in tensors)
        rank = (-full, -len(probe.slots), sum(tensor.numel() for tensor in tensors))
        key = repr(probe.flags)
        if key not in best or rank < best[key][0]:
            best[key] = (rank, probe)
    return [probe for _, probe in best.values()][:PROBES]


PROBES = 6
"""Combinations of flags tried of one operator."""


def probes(names: Sequence[str]) -> dict[str, list[Probe]]:
    """The probes of operators, not yet explored."""
    table = specs()
    written = {f"aten.{name}" for name in WRITTEN}
    calls = harvest(frozenset(name for name in names if name not in written))
    for name in names:
        for call in WRITTEN.get(name.removeprefix("aten."), ()):
            calls[name].append(bind(table[name].schema, call, {}))
    return {name: representative(calls[name], table[name]) for name in names}
