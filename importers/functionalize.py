"""Functionalization: in-place operators and writes through views become values.

Every tensor of the graph being imported is a `Tensor`: a storage, and the view operators that lead from it. A write
computes the storage's new value, through the inverse of each view (`importers.views`); a read of another view of that storage
computes it anew from there. What shares memory with what the spec says of every operator (`dialects.sharing`). Programs without a
mutating operator pay nothing: their tensors are storages of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects import spec
from xdsl_exir.dialects.builder import Builder, Namespace, meta, sizes
from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.expr import Expr
from xdsl_exir.dialects.sharing import Memory
from xdsl_exir.errors import SpecError
from xdsl_exir.exchange import graph as g
from xdsl_exir.importers.strides import memory_of, tensor_of
from xdsl_exir.importers.views import (
    CONJUGATIONS,
    OVERLAPPING,
    Step,
    and_then,
    straight_through,
    write_through,
)


@dataclass(eq=False)
class Storage:
    """Memory that tensors may share: its value so far, and how often it was written."""

    value: SSAValue
    version: int = 0
    others: list[Other] = field(default_factory=list["Other"])
    """What would be the same memory where a size is 1."""

    def look(self) -> None:
        """Says of a look at what it holds."""
        for other in self.others:
            if other.storage.version != other.version:
                other.unlike.append(other.condition)


@dataclass(eq=False)
class Other:
    """A storage that is not the same memory as another, under a condition: a transposed matrix is copied to be contiguous, but of
    one row not. What is written to one of them is seen in the other where it does not hold."""

    storage: Storage
    version: int
    """How often it had been written when one was made of the other."""
    condition: Expr
    unlike: list[Expr]
    """Conditions that matter: one was looked at after the other had been written."""


def tell_apart(a: Storage, b: Storage, condition: Expr, unlike: list[Expr]) -> None:
    """Notes that two storages are different memory under a condition alone."""
    a.others.append(Other(b, b.version, condition, unlike))
    b.others.append(Other(a, a.version, condition, unlike))


@dataclass(eq=False)
class Detached:
    """What `detach` made of a view: the same memory, and from the first write on a gradient of its own."""

    steps: tuple[Step, ...]
    """From the storage to it."""
    value: SSAValue | None = None
    """What it was when its gradient last changed; None before it has one."""
    version: int = 0

    def read(self, builder: Builder, storage: Storage) -> SSAValue:
        """Its value now. What others wrote there since changed no gradient of its."""
        if self.value is not None and self.version == storage.version:
            return self.value
        value = _viewed(builder, storage.value, self.steps)
        return value if self.value is None else straight_through(builder, self.value, value)


@dataclass(eq=False)
class Tensor:
    """A tensor of the graph: a view of a storage."""

    storage: Storage
    described: g.TensorMeta | None = None
    """What the graph says of it; None where it says nothing."""
    steps: tuple[Step, ...] = ()
    cached: SSAValue | None = None
    version: int = field(default=0)
    is_conjugated: bool = False
    """Whether it is the conjugate of what lies in its memory."""
    is_negated: bool = False
    detached: Detached | None = None
    """The last of its views that autograd takes for a tensor of its own."""

    @staticmethod
    def of(value: SSAValue, described: g.TensorMeta | None = None) -> Tensor:
        """A tensor with a storage of its own."""
        return Tensor(Storage(value), described, cached=value)

    def view(self, step: Step, value: SSAValue, described: g.TensorMeta | None) -> Tensor:
        """A view of this tensor; `value` is what the view operator gave."""
        flags = self._flags_after(step.operator)
        steps = and_then(self.steps, step)
        detached = Detached(steps) if step.operator == "aten.detach" else self.detached
        return Tensor(self.storage, described, steps, value, self.storage.version, *flags, detached)

    def _flags_after(self, operator: str) -> tuple[bool, bool]:
        """Whether its view by an operator is conjugated and negated: the imaginary part of a conjugate is a negative."""
        is_complex = self.cached is not None and meta(self.cached).dtype.category is Category.COMPLEX
        if operator in CONJUGATIONS and is_complex:
            return not self.is_conjugated, self.is_negated
        if operator == "aten._neg_view":
            return self.is_conjugated, not self.is_negated
        if operator == "aten.imag":
            return False, self.is_conjugated
        return self.is_conjugated and operator not in ("aten.real", "aten.view_as_real"), self.is_negated

    @property
    def meta(self) -> g.TensorMeta:
        """What it is; taken as contiguous where the graph does not say."""
        if self.described is not None:
            return self.described
        assert self.cached is not None
        return tensor_of(meta(self.cached))

    @property
    def memory(self) -> Memory:
        """How it lies in memory."""
        return replace(memory_of(self.meta), is_conjugated=self.is_conjugated, is_negated=self.is_negated)

    def become(self, other: Tensor) -> None:
        """Makes this tensor, under all its names, what another one is: what operators like `squeeze_` do."""
        self.__dict__.update(other.__dict__)

    def read(self, builder: Builder) -> SSAValue:
        """The tensor's value now."""
        self.storage.look()
        if self.cached is None or self.version != self.storage.version:
            base, steps = self._base(builder)
            self.cached, self.version = _viewed(builder, base, steps), self.storage.version
        return self.cached

    def _base(self, builder: Builder) -> tuple[SSAValue, tuple[Step, ...]]:
        """What autograd takes it for a view of, and the steps from there."""
        if self.detached is None:
            return self.storage.value, self.steps
        return self.detached.read(builder, self.storage), self.steps[len(self.detached.steps) :]

    def write(self, builder: Builder, value: SSAValue) -> None:
        """Gives the tensor a new value of the same shape and dtype, in its storage."""
        base, steps = self._base(builder)
        written = write_through(builder, base, steps, value)
        self.storage.version += 1
        if self.detached is not None:
            written = self._write_detached(builder, self.detached, written, value)
        self.storage.value = written
        self.cached, self.version = value, self.storage.version

    def _write_detached(
        self, builder: Builder, detached: Detached, written: SSAValue, value: SSAValue
    ) -> SSAValue:
        """What the storage becomes where a part of what was detached, which is `written` by that, becomes `value`. Of what
        overlaps itself the part is elsewhere, too."""
        before, detached.version = self.storage.value, self.storage.version
        detached.value = written
        if not any(step.operator in OVERLAPPING for step in detached.steps):
            return write_through(builder, before, detached.steps, written)
        after = straight_through(builder, before, write_through(builder, before, self.steps, value))
        detached.value = straight_through(builder, written, _viewed(builder, after, detached.steps))
        return after

    def refill(self, value: SSAValue, described: g.TensorMeta | None) -> None:
        """Gives the tensor, alone in its storage, a new value of any shape."""
        self.storage.value, self.steps, self.described, self.detached = value, (), described, None
        self.storage.version += 1
        self.cached, self.version = value, self.storage.version


def _viewed(builder: Builder, value: SSAValue, steps: Sequence[Step]) -> SSAValue:
    for step in steps:
        value = step.apply(builder, value)
    return value


@dataclass(eq=False)
class Autograd:
    """Whether gradients are on, and what there was when they were turned off (`no_grad`)."""

    is_on: bool = True
    values: dict[Storage | Detached, SSAValue] = field(default_factory=dict["Storage | Detached", SSAValue])
    tensors: set[Tensor] = field(default_factory=set["Tensor"])

    def turn(self, on: bool, builder: Builder, known: Sequence[Tensor]) -> None:
        """Turns gradients on or off. Of what was made and written while they were off, autograd knows nothing: new memory
        and new views are constants; what was written keeps the gradient it had."""
        if on and not self.is_on:
            floats = [each for each in known if meta(each.storage.value).dtype.category >= Category.FLOAT]
            for held in _held(floats):
                self.make_constant(builder, held)
            for tensor in floats:
                if tensor.storage in self.values and tensor not in self.tensors:
                    value = Namespace(builder).detach(tensor.read(builder))
                    tensor.become(tensor.view(Step("aten.detach", "self", {}), value, tensor.described))
        self.is_on = on
        self.values.update((held, held.value) for held in _held(known) if held.value is not None)
        self.tensors.update(known)

    def make_constant(self, builder: Builder, held: Storage | Detached) -> None:
        """Makes what was written while gradients were off constant."""
        value, before = held.value, self.values.get(held)
        if value is None or before is value:
            return
        is_new = before is None
        held.value = Namespace(builder).detach(value) if is_new else straight_through(builder, before, value)
        held.version += 1


def _held(tensors: Sequence[Tensor]) -> list[Storage | Detached]:
    """What the values of tensors are held by, that have gradients of their own."""
    both = ((tensor.storage, tensor.detached) for tensor in tensors)
    return list(dict.fromkeys(held for pair in both for held in pair if held is not None))


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
    def fills(self) -> bool:
        """Whether every element gets the same value."""
        return self.functional in ("aten.zeros_like", "aten.fill.Scalar", "aten.fill.Tensor")

    @property
    def is_view(self) -> bool:
        """Whether what is written is how the tensor is seen, and no element."""
        if self.functional in COMPOSED:
            return False
        known = spec.find(self.functional)
        return known.schema.is_view and known.sharing is not None and known.sharing.condition == "always"

    @property
    def resizes(self) -> bool:
        """Whether what is written to gets another shape."""
        return self.functional in ("aten.resize", "aten.resize_as")


FUNCTIONAL_NAMES = {
    "aten._native_batch_norm_legit": "aten._native_batch_norm_legit_functional",
    "aten._batch_norm_with_update": "aten._batch_norm_with_update_functional",
    "aten.rrelu_with_noise": "aten.rrelu_with_noise_functional",
    "aten.normal_": "aten.normal_functional",
    "aten.zero_": "aten.zeros_like",
    "aten.transpose_": "aten.transpose.int",
    "aten.pow_.Scalar": "aten.pow.Tensor_Scalar",
    "aten.float_power_.Scalar": "aten.float_power.Tensor_Scalar",
    "aten.float_power_.Tensor": "aten.float_power.Tensor_Tensor",
    "aten.pow_.Tensor": "aten.pow.Tensor_Tensor",
    "aten.floor_divide_.Tensor": "aten.floor_divide",
    "aten.bernoulli_.float": "aten.bernoulli.p",
    "aten.ldexp_": "aten.ldexp.Tensor",
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


def _fill_diagonal(aten: Namespace, self: SSAValue, fill_value: Any, wrap: bool = False) -> SSAValue:
    """The elements whose places are all equal; wrapped, the diagonal of a tall matrix begins anew below its end."""
    places = [
        aten.view(aten.arange(size), [-1, *[1] * (meta(self).ndim - dim - 1)])
        for dim, size in enumerate(sizes(aten, self))
    ]
    rows, *others = places
    if wrap and len(places) == 2:
        columns = aten.full([], sizes(aten, self)[1], dtype=dt.Long)
        rows = aten.remainder.Tensor(rows, aten.add.Scalar(columns, 1))
    is_diagonal = reduce(aten.logical_and, (aten.eq.Tensor(rows, place) for place in others))
    return aten.where.self(is_diagonal, aten.fill.Scalar(self, fill_value), self)


COMPOSED: dict[str, Callable[..., SSAValue]] = {"aten.fill_diagonal_": _fill_diagonal}
"""In-place operators of `self` without a functional variant, and what they write."""

OUTS: dict[str, tuple[str, tuple[str, ...]]] = {
    f"aten.{target}": (f"aten.{functional}", tuple(outs.split()))
    for target, functional, outs in (
        ("sort.values", "sort", "values indices"),
        ("sort.values_stable", "sort.stable", "values indices"),
        ("topk.values", "topk", "values indices"),
        ("kthvalue.values", "kthvalue", "values indices"),
        ("mode.values", "mode", "values indices"),
        ("median.dim_values", "median.dim", "values indices"),
        ("nanmedian.dim_values", "nanmedian.dim", "values indices"),
        ("max.dim_max", "max.dim", "max max_values"),
        ("min.dim_min", "min.dim", "min min_indices"),
        ("cummax.out", "cummax", "values indices"),
        ("cummin.out", "cummin", "values indices"),
        ("aminmax.out", "aminmax", "min max"),
        ("frexp.Tensor_out", "frexp.Tensor", "mantissa exponent"),
        ("histogram.bin_ct_out", "histogram.bin_ct", "hist bin_edges"),
        ("histogram.bins_tensor_out", "histogram.bins_tensor", "hist bin_edges"),
        ("qr.Q", "qr", "Q R"),
        ("linalg_qr.out", "linalg_qr", "Q R"),
        ("svd.U", "svd", "U S V"),
        ("linalg_svd.U", "linalg_svd", "U S Vh"),
        ("slogdet.out", "slogdet", "sign logabsdet"),
        ("linalg_slogdet.out", "linalg_slogdet", "sign logabsdet"),
        ("linalg_eigh.eigvals", "linalg_eigh", "eigvals eigvecs"),
        ("linalg_eig.out", "linalg_eig", "eigenvalues eigenvectors"),
        ("linalg_inv_ex.inverse", "linalg_inv_ex", "inverse info"),
        ("linalg_cholesky_ex.L", "linalg_cholesky_ex", "L info"),
        ("linalg_solve_ex.out", "linalg_solve_ex", "result info"),
        ("linalg_lu.out", "linalg_lu", "P L U"),
        ("linalg_lu_factor.out", "linalg_lu_factor", "LU pivots"),
        ("linalg_lu_factor_ex.out", "linalg_lu_factor_ex", "LU pivots info"),
        ("linalg_ldl_factor.out", "linalg_ldl_factor", "LD pivots"),
        ("linalg_ldl_factor_ex.out", "linalg_ldl_factor_ex", "LD pivots info"),
        ("lu_unpack.out", "lu_unpack", "P L U"),
        ("geqrf.a", "geqrf", "a tau"),
        ("triangular_solve.X", "triangular_solve", "X M"),
        ("sum.IntList_out", "sum.dim_IntList", "out"),
        ("prod.int_out", "prod.dim_int", "out"),
        ("mean.dtype_out", "mean", "out"),
        ("norm.out", "norm.ScalarOpt_dim", "out"),
        ("frobenius_norm.out", "frobenius_norm.dim", "out"),
        ("max.unary_out", "max", "out"),
        ("min.unary_out", "min", "out"),
        ("all.all_out", "all", "out"),
        ("any.all_out", "any", "out"),
        ("div.out_mode", "div.Tensor_mode", "out"),
        ("divide.out_mode", "divide.Tensor_mode", "out"),
        ("xlogy.OutTensor", "xlogy.Tensor", "out"),
        ("xlogy.OutScalar_Self", "xlogy.Scalar_Self", "out"),
        ("xlogy.OutScalar_Other", "xlogy.Scalar_Other", "out"),
    )
}
"""Out-variants that PyTorch's convention does not name, with their functional variants and the arguments they write to."""

_STATISTICS = ("running_mean", "running_var")
WRITTEN = {
    "aten._native_batch_norm_legit": _STATISTICS,
    "aten._batch_norm_with_update": _STATISTICS,
    "aten.rrelu_with_noise": ("noise",),
}
"""Operators that write to others of their arguments than their name says."""

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
    if target in COMPOSED:
        return Mutation(target, ("self",))
    if target in OUTS:
        functional, outs = OUTS[target]
        return Mutation(functional, outs, outs)
    namespace, _, rest = target.partition(".")
    name, _, overload = rest.partition(".")
    if target in WRITTEN:
        return Mutation(FUNCTIONAL_NAMES[target], WRITTEN[target])
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
        value = aten.expand(value, sizes(aten, like))
    return value
