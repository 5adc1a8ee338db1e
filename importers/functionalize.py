"""Functionalization: in-place operators and writes through views become values.

Every tensor of the graph being imported is a `Tensor`: a storage, and the view operators that lead from it. A write
computes the storage's new value, through the inverse of each view; a read of another view of that storage computes it
anew from there. What aliases what is read off the schemas' alias annotations. Programs without a mutating operator pay
nothing: their tensors are storages of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects import spec
from xdsl_exir.errors import SpecError, Unsupported, UnsupportedError
from xdsl_exir.narrowing import is_list
from xdsl_exir.transforms.builder import Builder, Namespace, meta


@dataclass(eq=False)
class Storage:
    """Memory that tensors may share: its value so far, and how often it was written."""

    value: SSAValue
    version: int = 0


@dataclass(frozen=True)
class Step:
    """A view operator on the way from a storage: its arguments besides the tensor it views, and which result it is."""

    operator: str
    source: str
    """Name of the argument that is viewed."""
    arguments: Mapping[str, Any]
    index: int | None = None
    """Of an operator with several results: which."""

    def apply(self, builder: Builder, value: SSAValue) -> SSAValue:
        """The view of a value."""
        results = builder.call(self.operator, (), {**self.arguments, self.source: value})
        return results if self.index is None else results[self.index]


@dataclass(eq=False)
class Tensor:
    """A tensor of the graph: a view of a storage."""

    storage: Storage
    steps: tuple[Step, ...] = ()
    cached: SSAValue | None = None
    version: int = field(default=0)

    @staticmethod
    def of(value: SSAValue) -> Tensor:
        """A tensor with a storage of its own."""
        return Tensor(Storage(value), cached=value)

    def view(self, step: Step, value: SSAValue) -> Tensor:
        """A view of this tensor; `value` is what the view operator gave."""
        return Tensor(self.storage, (*self.steps, step), value, self.storage.version)

    def read(self, builder: Builder) -> SSAValue:
        """The tensor's value now."""
        if self.cached is None or self.version != self.storage.version:
            value = self.storage.value
            for step in self.steps:
                value = step.apply(builder, value)
            self.cached, self.version = value, self.storage.version
        return self.cached

    def write(self, builder: Builder, value: SSAValue) -> None:
        """Gives the tensor a new value of the same shape and dtype, in its storage."""
        bases = [self.storage.value]
        for step in self.steps[:-1]:
            bases.append(step.apply(builder, bases[-1]))
        written = value
        for base, step in zip(reversed(bases), reversed(self.steps), strict=False):
            written = invert(builder, step, base, written)
        self.storage.value = written
        self.storage.version += 1
        self.cached, self.version = value, self.storage.version

    def replace(self, value: SSAValue) -> None:
        """Gives the tensor, alone in its storage, a new value of any shape."""
        self.storage.value, self.steps = value, ()
        self.storage.version += 1
        self.cached, self.version = value, self.storage.version


# --- inverses of views ---------------------------------------------------------------------------------------

Inverse = Callable[[Namespace, SSAValue, Mapping[str, Any], "int | None", SSAValue], SSAValue]
INVERSES: dict[str, Inverse] = {}


def inverse(*names: str) -> Callable[[Inverse], Inverse]:
    """Registers how a write through these view operators changes what they view."""

    def register(function: Inverse) -> Inverse:
        INVERSES.update(dict.fromkeys(names, function))
        return function

    return register


def invert(builder: Builder, step: Step, base: SSAValue, value: SSAValue) -> SSAValue:
    """What `base` becomes when its view by `step` becomes `value`. Raises `UnsupportedError` for unknown views."""
    function = INVERSES.get(step.operator)
    if function is None:
        raise UnsupportedError([Unsupported(step.operator, "a write through this view is not known")])
    return function(Namespace(builder), base, step.arguments, step.index, value)


@inverse("aten.alias", "aten.detach", "aten.lift_fresh", "aten.contiguous", "aten.to.dtype", "aten.to.device",
         "aten.to.dtype_layout", "aten.to.other", "aten.type_as")  # fmt: skip
def _same(
    aten: Namespace, base: SSAValue, args: Mapping[str, Any], index: int | None, value: SSAValue
) -> SSAValue:
    return value


@inverse("aten.view", "aten._unsafe_view", "aten.reshape", "aten.flatten.using_ints", "aten.unflatten.int",
         "aten.view_as", "aten.reshape_as", "aten.unsqueeze", "aten.squeeze", "aten.squeeze.dim",
         "aten.squeeze.dims", "aten.atleast_1d", "aten.atleast_2d", "aten.atleast_3d")  # fmt: skip
def _reshape(
    aten: Namespace, base: SSAValue, args: Mapping[str, Any], index: int | None, value: SSAValue
) -> SSAValue:
    return aten.view(value, aten_sizes(aten, base))


def aten_sizes(aten: Namespace, value: SSAValue) -> list[Any]:
    """The sizes of a value, computed ones as operands."""
    return [
        size if isinstance(size, int) else aten.sym_size.int(value, dim)
        for dim, size in enumerate(meta(value).shape)
    ]


@inverse("aten.transpose.int")
def _transpose(
    aten: Namespace, base: SSAValue, args: Mapping[str, Any], index: int | None, value: SSAValue
) -> SSAValue:
    return aten.transpose.int(value, args["dim0"], args["dim1"])


@inverse("aten.t", "aten.numpy_T", "aten.mT")
def _t(
    aten: Namespace, base: SSAValue, args: Mapping[str, Any], index: int | None, value: SSAValue
) -> SSAValue:
    rank = meta(value).ndim
    order = list(range(rank))
    return aten.permute(value, order[:-2] + order[-2:][::-1] if rank == 2 else order[::-1])


@inverse("aten.permute")
def _permute(
    aten: Namespace, base: SSAValue, args: Mapping[str, Any], index: int | None, value: SSAValue
) -> SSAValue:
    dims = [dim % len(args["dims"]) for dim in args["dims"]]
    return aten.permute(value, [dims.index(dim) for dim in range(len(dims))])


@inverse("aten.slice.Tensor")
def _slice(
    aten: Namespace, base: SSAValue, args: Mapping[str, Any], index: int | None, value: SSAValue
) -> SSAValue:
    return aten.slice_scatter(base, value, args["dim"], args["start"], args["end"], args["step"])


@inverse("aten.narrow")
def _narrow(
    aten: Namespace, base: SSAValue, args: Mapping[str, Any], index: int | None, value: SSAValue
) -> SSAValue:
    dim, start, length = args["dim"], args["start"], args["length"]
    if isinstance(start, int) and isinstance(length, int):
        return aten.slice_scatter(base, value, dim, start, start + length)
    # What begins there, with the value as its beginning: no sum of computed numbers.
    rest = aten.slice_scatter(aten.slice.Tensor(base, dim, start), value, dim, 0, length)
    return aten.slice_scatter(base, rest, dim, start)


@inverse("aten.select.int")
def _select(
    aten: Namespace, base: SSAValue, args: Mapping[str, Any], index: int | None, value: SSAValue
) -> SSAValue:
    return aten.select_scatter(base, value, args["dim"], args["index"])


@inverse("aten.unbind.int")
def _unbind(
    aten: Namespace, base: SSAValue, args: Mapping[str, Any], index: int | None, value: SSAValue
) -> SSAValue:
    return aten.select_scatter(base, value, args["dim"], index)


@inverse("aten.diagonal")
def _diagonal(
    aten: Namespace, base: SSAValue, args: Mapping[str, Any], index: int | None, value: SSAValue
) -> SSAValue:
    return aten.diagonal_scatter(base, value, args["offset"], args["dim1"], args["dim2"])


@inverse("aten.as_strided")
def _as_strided(
    aten: Namespace, base: SSAValue, args: Mapping[str, Any], index: int | None, value: SSAValue
) -> SSAValue:
    return aten.as_strided_scatter(base, value, args["size"], args["stride"], args["storage_offset"])


@inverse(
    "aten.split.Tensor",
    "aten.split_with_sizes",
    "aten.split.sizes",
    "aten.chunk",
    "aten.tensor_split.sections",
)
def _split(
    aten: Namespace, base: SSAValue, args: Mapping[str, Any], index: int | None, value: SSAValue
) -> SSAValue:
    dim: int = args["dim"] % meta(base).ndim
    assert index is not None
    size, length = meta(base).shape[dim], meta(value).shape[dim]
    if not (isinstance(size, int) and isinstance(length, int)):
        raise UnsupportedError([Unsupported("aten.split", "a write through a view of computed bounds")])
    # All parts before this one are as long as the first; only split_with_sizes says otherwise.
    sizes = args.get("split_sizes") or args.get("split_size")
    start: int = sum(sizes[:index]) if is_list(sizes) else _part_start(args, size, index)
    return aten.slice_scatter(base, value, dim, start, start + length)


def _part_start(args: Mapping[str, Any], size: int, index: int) -> int:
    if "split_size" in args:
        return args["split_size"] * index
    if "chunks" in args:
        return -(-size // args["chunks"]) * index
    sections = args["sections"]
    return size // sections * index + min(index, size % sections)


# --- functional variants of mutating operators ---------------------------------------------------------------


@dataclass(frozen=True)
class Mutation:
    """A mutating operator as a functional one: which operator, and which arguments get its last results."""

    functional: str
    written: tuple[str, ...]
    dropped: tuple[str, ...] = ()
    """Arguments that only say where results go (`out`)."""
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """Arguments that the functional operator has under another name."""

    @property
    def resizes(self) -> bool:
        """Whether what is written to gets another shape."""
        return self.functional in ("aten.resize", "aten.resize_as")


FUNCTIONAL_NAMES = {
    "aten._native_batch_norm_legit": "aten._native_batch_norm_legit_functional",
    "aten._batch_norm_with_update": "aten._batch_norm_with_update_functional",
    "aten.normal_": "aten.normal_functional",
    "aten.zero_": "aten.zeros_like",
    "aten.pow_.Scalar": "aten.pow.Tensor_Scalar",
    "aten.float_power_.Scalar": "aten.float_power.Tensor_Scalar",
    "aten.float_power_.Tensor": "aten.float_power.Tensor_Tensor",
    "aten.pow_.Tensor": "aten.pow.Tensor_Tensor",
    "aten.floor_divide_.Tensor": "aten.floor_divide",
    "aten.bernoulli_.float": "aten.bernoulli.p",
    "aten.arange.start_out": "aten.arange.start_step",
    **{f"aten.{name}.out": f"aten.{name}.other" for name in ("max", "min")},
    **{
        f"aten.__i{name}__.{overload}": f"aten.__{name}__.{overload}"
        for name in ("and", "or", "xor", "lshift", "rshift")
        for overload in ("Tensor", "Scalar")
    },
    **{f"aten.{name}.out": f"aten.{name}.dim" for name in ("all", "any", "mean", "std", "var")},
}
"""Mutating operators whose functional variant has another name than PyTorch's convention gives it."""

OUT_NAMES: dict[str, str] = dict.fromkeys(
    ("aten.huber_loss_backward.out", "aten._softmax_backward_data.out"), "grad_input"
)
"""Out-variants that write to an argument of another name than `out`."""


def mutation_of(target: str) -> Mutation | None:
    """The mutation that a target means, by PyTorch's naming convention; None of operators that do not mutate.

    In-place operators end in an underscore (or are Python's, as `__iand__`) and write their first argument; out-variants have an overload named `out`
    or ending in `_out`. Others with a functional variant are listed in `FUNCTIONAL_NAMES`. Users' specs say what they write.
    """
    if target in spec.specs():
        writes = spec.find(target).writes
        return Mutation(target, writes) if writes else None
    namespace, _, rest = target.partition(".")
    name, _, overload = rest.partition(".")
    if target in ("aten._native_batch_norm_legit", "aten._batch_norm_with_update"):
        return Mutation(FUNCTIONAL_NAMES[target], ("running_mean", "running_var"))
    if (name.endswith("_") and not name.endswith("__")) or name.startswith("__i"):
        base = f"{namespace}.{name[:-1]}"
        functional = FUNCTIONAL_NAMES.get(target, f"{base}.{overload}" if overload else base)
        if functional not in spec.specs():
            raise SpecError(f"{target} has no functional variant in the spec ({functional})")
        # The in-place operator calls what it writes `self`; the functional one may say `input`, or have it second.
        arguments = spec.find(functional).schema.arguments
        written = next(argument.name for argument in arguments if argument.type.is_tensor)
        own = "self" if namespace == "aten" else written
        return Mutation(functional, (own,), names={own: written})
    if overload == "out" or overload.endswith("_out"):
        return _out_variant(f"{namespace}.{name}", overload)
    return None


def _out_variant(prefix: str, overload: str) -> Mutation:
    stem = overload.removesuffix("out").rstrip("_")
    candidates = [f"{prefix}.{stem}", f"{prefix}.{stem}_Tensor"] if stem else [prefix, f"{prefix}.Tensor"]
    candidates.insert(0, FUNCTIONAL_NAMES.get(f"{prefix}.{overload}", candidates[0]))
    for name in candidates:
        if name in spec.specs() and len(spec.find(name).schema.returns) == 1:
            written = OUT_NAMES.get(f"{prefix}.{overload}", "out")
            return Mutation(name, (written,), (written,))
    raise SpecError(f"{prefix}.{overload} has no functional variant in the spec")


def cast_like(builder: Builder, value: SSAValue, like: SSAValue) -> SSAValue:
    """What an in-place operator stores: its result in the dtype and shape of the tensor it writes to."""
    aten = Namespace(builder)
    if meta(value).dtype is not meta(like).dtype:
        value = aten._to_copy(value, dtype=meta(like).dtype)
    if meta(value).shape != meta(like).shape:
        value = aten.expand(value, aten_sizes(aten, like))
    return value
