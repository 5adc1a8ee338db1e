"""Who shares memory with whom: what the spec says against PyTorch's kernels, writes through every view, random programs.

Each program is exported before PyTorch functionalizes, imported, and called twice; outputs, inputs and state are compared with
those of eager.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import aliases  # noqa: E402
from aliases import compare  # noqa: E402
from differential import to_numpy  # noqa: E402
from eager import torch_value, value_of  # noqa: E402
from samples import sample_ops  # noqa: E402
from xdsl.ir import SSAValue  # noqa: E402

import xdsl_exir  # noqa: E402
from xdsl_exir.dialects.operator import OperatorOp  # noqa: E402
from xdsl_exir.dialects.sharing import is_viewable  # noqa: E402
from xdsl_exir.dialects.spec import find  # noqa: E402
from xdsl_exir.errors import UnsupportedError  # noqa: E402
from xdsl_exir.exchange import graph as g  # noqa: E402
from xdsl_exir.importers.strides import number_of  # noqa: E402
from xdsl_exir.tools.spec import memory  # noqa: E402

pytestmark = pytest.mark.filterwarnings(
    "ignore"
)  # of what PyTorch has deprecated, and of its own uses of that


# --- the spec ------------------------------------------------------------------------------------------------


def given(op: OperatorOp) -> dict[str, Any]:
    """The arguments of a sample, as PyTorch takes them."""
    arguments = op.arguments(lambda value: value_of(SSAValue.get(value).type, 0))
    base = {argument.name: argument.type.base for argument in op.SPEC.schema.arguments}
    return {name: torch_value(base[name], value) for name, value in arguments.items()}


def test_what_operators_share() -> None:
    """`shares` of every operator says what calls of it show; the generator also tries PyTorch's own samples."""
    calls = {name: memory.written(name) for name in memory.probed()}
    for op in sample_ops("aten"):
        if op.name in calls:
            calls[op.name].append(given(op))
    wrong: dict[str, list[str]] = {}
    with torch.no_grad():
        for name, some in calls.items():
            sharing = find(name).sharing
            for seen in memory.seen(name, some):
                said = sharing is not None and sharing.source == seen.source
                said = said and sharing.holds(seen.arguments, seen.before, seen.after)
                same = said and sharing.or_itself and seen.before == seen.after
                if said is not seen.shares or same is not seen.is_same:
                    wrong.setdefault(name, []).append(str(seen))
    assert not wrong


@pytest.mark.parametrize(
    "name", ["aten.reshape", "aten.dropout", "aten.einsum", "aten.resolve_neg", "aten.pad"]
)
def test_generator(name: str) -> None:
    known = find(name).shares
    assert dict(memory.derive({name: memory.written(name)})) == {name: known}


def test_a_sharing_that_no_condition_says_is_an_error() -> None:
    seen = memory.seen("aten.pad", memory.written("aten.pad"))[0]
    with pytest.raises(xdsl_exir.ExirError, match="no condition"):
        memory.fit(
            "aten.dropout", [*memory.seen("aten.dropout", memory.written("aten.dropout")), _shared(seen)]
        )


def _shared(seen: memory.Observation) -> memory.Observation:
    arguments = {"p": 0.5, "train": True}
    return memory.Observation("input", arguments, seen.before, seen.after, shares=True, is_same=False)


@pytest.mark.parametrize(
    ("sizes", "strides", "to"),
    [
        ((4, 3), (3, 1), (12,)),
        ((4, 3), (3, 1), (2, 2, 3)),
        ((4, 3), (1, 4), (2, 2, 3)),
        ((4, 3), (1, 4), (12,)),
        ((4, 3), (6, 2), (12,)),
        ((4, 3), (6, 1), (2, 2, 3)),
        ((4, 3), (6, 1), (6, 2)),
        ((2, 1, 3), (3, 77, 1), (1, 6, 1)),
        ((3, 2), (0, 1), (3, 2, 1)),
        ((3, 2), (0, 1), (6,)),
        ((3, 2), (0, 0), (6,)),
        ((), (), (1, 1)),
        ((2, 0), (1, 1), (0, 5)),
    ],
)
def test_viewable(sizes: tuple[int, ...], strides: tuple[int, ...], to: tuple[int, ...]) -> None:
    tensor = torch.zeros(100).as_strided(sizes, strides)
    theirs = tensor.reshape(to).untyped_storage().data_ptr() == tensor.untyped_storage().data_ptr()
    assert is_viewable(memory.memory_of(tensor), to) == (theirs or not tensor.numel())


@pytest.mark.parametrize(
    ("sizes", "strides"),
    [
        ((2, 3), (3, 1)),
        ((2, 3), (0, 1)),
        ((3, 2), (2, 3)),
        ((3, 3), (1, 1)),
        ((1, 3), (0, 1)),
        ((0, 3), (0, 0)),
    ],
)
def test_overlaps(sizes: tuple[int, ...], strides: tuple[int, ...]) -> None:
    tensor = torch.zeros(100).as_strided(sizes, strides)
    assert memory.memory_of(tensor).overlaps == aliases.overlaps(tensor)


def test_sizes_without_a_value_at_export() -> None:
    """What is decided by symbols alone has nothing in common with other symbols."""
    numbers = [number_of(g.Symbolic(f"Symbol('{name}', integer=True)")) for name in ("u0", "u1", "u0")]
    assert numbers[0] == numbers[2] != numbers[1]
    assert number_of(g.Symbolic("Symbol('s0', integer=True)", 4)) == 4


# --- programs ------------------------------------------------------------------------------------------------

Forward = Callable[..., Any]


class Model(torch.nn.Module):
    """A module of a function; tensors named `b_...` are buffers, others are its plain attributes."""

    def __init__(self, forward: Forward, **tensors: torch.Tensor):
        super().__init__()
        self.function = forward
        for name, value in tensors.items():
            if name.startswith("b_"):
                self.register_buffer(name, value)
            else:
                setattr(self, name, value)

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.function(self, *inputs)


def leaves(value: Any) -> list[Any]:
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, list | tuple) else [value]


def check(
    model: Model, *inputs: torch.Tensor, target: str = "interpreter", calls: int = 2
) -> xdsl_exir.Program:
    """Compares calls of a model's export with those of the same export in PyTorch."""
    exported = torch.export.export(model, copy.deepcopy(inputs))
    eager = copy.deepcopy(exported).module()
    program = xdsl_exir.from_exported_program(exported)
    stages = [program, program.to_edge()] if target == "interpreter" else [program]
    runs = [xdsl_exir.compile(stage, target) for stage in stages]
    for call in range(calls):
        with torch.no_grad():
            expected = leaves(eager(*copy.deepcopy(inputs)))
        for run in runs:
            compare(f"call {call}", leaves(run(*[to_numpy(each).copy() for each in inputs])), expected)
    return program


X = torch.arange(6.0).reshape(2, 3)


def arange_out(m: Any, x: Any) -> Any:
    y, z = torch.zeros(2, 3, dtype=torch.int64), torch.zeros(2, 3)
    torch.arange(3, out=y[0])
    torch.arange(2, 5, out=z[1])
    torch.arange(0, 6, 2, out=z[0])
    return y, z


def bernoulli_broadcast(m: Any, x: Any) -> Any:
    y, z = torch.zeros(2, 3), torch.ones(2, 3)
    y.t().bernoulli_(x[:, :1].clamp(0, 1).t())
    return y, z.bernoulli_(x[0].clamp(0, 1).round())


def logical_not_by_strides(m: Any, x: Any) -> Any:
    y, z = x.clone(), x.clone().t()
    v, w = y.as_strided((2, 2), (1, 2)), z.as_strided((2,), (2,), 1)
    v.logical_not_()
    v[0].logical_not_()
    w.logical_not_()
    return y, z, v, w


def views_in_place(m: Any, x: Any) -> Any:
    y = x.reshape(1, 2, 3).clone()
    z = y.view(6)
    y.squeeze_(0)
    y.unsqueeze_(1)
    y.transpose_(0, 1)
    y.squeeze_()
    y.t_()
    y.add_(1)
    y.swapaxes_(0, 1)
    y[0] = 5
    y.as_strided_((2,), (1,))
    y.mul_(2)
    return y, z


def memory_of_a_tensor_that_is_seen_otherwise_since(m: Any, x: Any) -> Any:
    y = x.clone()
    z = y.as_strided((), ())
    y.transpose_(0, 1)
    return z.as_strided((3,), (1,)), z.as_strided((2, 2), (1, 3)), y


def same_tensor(m: Any, x: Any) -> Any:
    y = x.reshape(1, 6).clone()
    z = torch.dropout(y, 0.5, False).to(y.dtype).contiguous()
    z.squeeze_()
    z.add_(1)
    return y.view(6), z + 1


def expanded(m: Any, x: Any) -> Any:
    y, z = torch.zeros(3, 1), x.clone()
    e = y.expand(3, 4)
    e.fill_(2.0)
    e[1].zero_()
    a, b = z.expand(2, 3), z.broadcast_to(2, 3)
    a.add_(2)
    b.mul_(2)
    z.expand_as(x)[0].sub_(1)
    c, _ = torch.broadcast_tensors(z, x + 1)
    c.add_(1)
    return y, e, z, a, b, c


def meshgrid(m: Any, x: Any) -> Any:
    y = x[0].clone()
    a, b = torch.meshgrid(y, x[1] + 1, indexing="ij")
    y.add_(1)
    return y, a, b


def conjugates(m: Any, x: Any) -> Any:
    y = torch.complex(x, x + 1)
    c = y.conj()
    c.add_(1j)
    r = c.resolve_conj()
    r.mul_(2)
    i, h, re = c.imag, y.mH, y.real
    i.add_(5)
    h.mul_(1j)
    re[0] = 4
    return y, c, r, i, h, re


def complex_as_real(m: Any, x: Any) -> Any:
    y = torch.complex(x, x + 1)
    v = torch.view_as_real(y)
    v[..., 0].mul_(3)
    w = torch.view_as_complex(v)
    w.add_(1j)
    return y, v, w


def unfolded(m: Any, x: Any) -> Any:
    y = x.reshape(-1).clone()
    u, v = y.unfold(0, 2, 2), y.unfold(0, 3, 1)
    u.add_(1)
    u[:, 1].mul_(2)
    y[1] = 9
    return y, u, v


def parts_of_unfolded(m: Any, x: Any) -> Any:
    y = torch.complex(x, x + 1)
    u = y.unfold(1, 2, 1)
    u.imag[:, 1:].mul_(2)
    torch.view_as_real(u)[0].T[0].add_(3)
    u.mT.real[:, 0].neg_()
    return y, u, u.imag


def moved(m: Any, x: Any) -> Any:
    y = torch.stack([x, x + 1])
    a, b, c, d = y.movedim(0, 2), y.moveaxis((0, 1), (1, 0)), y.swapaxes(0, 1), y.mT
    a.add_(torch.arange(2.0))
    b[0].mul_(2)
    c[1] = 3
    d[0].neg_()
    return y, a, b, c, d


def split(m: Any, x: Any) -> Any:
    y = torch.arange(12.0).reshape(4, 3).clone()
    a, b = y.tensor_split([1])
    a.add_(1)
    b.mul_(2)
    _, d, _ = y.split([1, 2, 1])
    d.neg_()
    y.hsplit([1])[1].add_(5)
    y.chunk(2, -1)[1].zero_()
    y.tensor_split([3, 1])[2].add_(3)
    torch.unsafe_chunk(y, 2)[0].add_(7)
    return y, a, b, d


def nothing_done(m: Any, x: Any) -> Any:
    y = x.clone()
    z, w, t = torch.dropout(y, 0.5, False), torch.einsum("ij->ji", y), y.type_as(x)
    z.add_(1)
    w[0] = 7
    t.mul_(2)
    torch.ops.aten.sum_to_size(y, [2, 3]).add_(1)
    torch.conj_physical(y)[1] = 0
    (+y)[0] = 6
    return y, z, w, t


def at_least(m: Any, x: Any) -> Any:
    y = x[0].clone()
    a, (b, _) = torch.atleast_2d(y), torch.atleast_3d(y, x)
    a.add_(1)
    b[0, 0].zero_()
    y.ravel()[1] = 8
    torch.cartesian_prod(y).add_(1)
    return y, a, b


def other_dtype(m: Any, x: Any) -> Any:
    y = x.clone()
    v = y.view(torch.int32)
    v.bitwise_and_(-65536)
    y.view(torch.int16)[:, 0] = 0
    return y, v


def reshaped(m: Any, x: Any) -> Any:
    y = torch.stack([x, x + 1]).transpose(0, 1)
    r, q, s, t = y.reshape(6, 2), y.flatten(0, 1), y[0].reshape(-1), y[:, 0].reshape(-1)
    r.add_(1)
    q.mul_(2)
    s.neg_()
    t.mul_(3)
    y.contiguous().zero_()
    return y, r, q, s, t


def statistics(m: Any, x: Any) -> Any:
    v = m.b_mean.view(3, 1)
    return torch.nn.functional.batch_norm(x, m.b_mean, m.b_var, training=True), v


def out_of_no_size(m: Any, x: Any) -> Any:
    z, w = torch.empty(0), torch.zeros(2, 3)
    torch.add(x, x, out=z)
    torch.mul(x[0], 2, out=w[0])
    return z, w


def broadcast_by_strides(m: Any, x: Any) -> Any:
    y = x.clone()
    y.copy_(torch.tensor(2.0))
    v = y.as_strided((2,), (2,), 1)
    v.unfold(0, 2, 2).neg_()
    return y, v


def tied(m: Any, x: Any) -> Any:
    m.b_a.add_(1)
    m.b_b.add_(x[0])
    return m.b_b + x, m.b_a + 0


def beside_its_view(m: Any, x: Any) -> Any:
    m.b_a.add_(1)
    m.part.add_(1)
    return m.part + x[0, 1], m.b_a + 0


def constant(m: Any, x: Any) -> Any:
    m.hidden[0].copy_(x[1, 2])
    m.hidden.mul_(2)
    return x + m.hidden


WHOLE = torch.arange(4.0)
PROGRAMS: dict[Forward, dict[str, torch.Tensor]] = {
    **{
        forward: {}
        for forward in (
            *(arange_out, bernoulli_broadcast, logical_not_by_strides, views_in_place, same_tensor, expanded),
            memory_of_a_tensor_that_is_seen_otherwise_since,
            *(
                meshgrid,
                conjugates,
                complex_as_real,
                unfolded,
                parts_of_unfolded,
                moved,
                split,
                nothing_done,
                at_least,
            ),
            *(other_dtype, reshaped, out_of_no_size, broadcast_by_strides),
        )
    },
    statistics: {"b_mean": torch.zeros(3), "b_var": torch.ones(3)},
    tied: {"b_a": WHOLE[:3], "b_b": WHOLE[:3]},
    beside_its_view: {"b_a": WHOLE, "part": WHOLE[1:3]},
    constant: {"hidden": torch.ones(3)},
}


@pytest.mark.parametrize("forward", PROGRAMS, ids=lambda each: each.__name__)
def test_program(forward: Forward) -> None:
    check(Model(forward, **copy.deepcopy(PROGRAMS[forward])), X)


@pytest.mark.parametrize("forward", [expanded, conjugates, split, constant], ids=lambda each: each.__name__)
def test_native_code(forward: Forward) -> None:
    check(Model(forward, **copy.deepcopy(PROGRAMS[forward])), X, target="native")


def test_results_apart_from_inputs_that_are_written() -> None:
    """The interpreter's `clone` gives its operand; what the caller's input becomes afterwards is not seen in it."""

    def forward(m: Any, x: Any) -> Any:
        y = x.clone()
        x.add_(1)
        return y

    program = xdsl_exir.from_exported_program(torch.export.export(Model(forward), (X.clone(),)))
    given = to_numpy(X).copy()
    compare("result", [xdsl_exir.compile(program)(given)], [X])
    compare("input", [given], [X + 1])


def windows(m: Any, x: Any) -> Any:
    """Each write is seen by the next element of the same place."""
    y = torch.zeros(5)
    y.unfold(0, 3, 1).add_(x[0, 0])
    y.unfold(0, 2, 1).mul_(y.unfold(0, 2, 1)).sub_(x[0, :1])
    return y.square_()


def windows_of_integers(m: Any, x: Any) -> Any:
    y = torch.arange(4).unfold(0, 2, 1)
    return y.add_(1).clamp_(max=3).lt_(2)


def transposed_windows(m: Any, x: Any) -> Any:
    y = x.flatten().clone()[1:].as_strided((3, 3), (1, 1)).permute(1, 0)[1:]
    y.mul_(x - 2).neg_()
    return y


def windows_in_another_dtype(m: Any, x: Any) -> Any:
    return torch.ones(5).as_strided((2, 2), (1, 1)).mul_(x.double()[:2, :2])


def chosen_of_windows(m: Any, x: Any) -> Any:
    y = x.flatten().clone().as_strided((3, 3), (1, 1))
    y[y > 0] = 0.25
    y.masked_fill_(y < 0, 7)
    y.tril_().index_fill_(0, torch.tensor([1]), 9.0)
    y[torch.tensor([-1]), ..., 1:] = float("nan")
    return y


def chosen_of_windows_as_they_were(m: Any, x: Any) -> Any:
    """The last write to a place gives what was there before the first."""
    y = torch.ones(3, dtype=torch.int32).as_strided((2, 2), (1, 1)).neg_()
    return y.masked_scatter_(y > 0, y.clone())


def part_of_windows_of_the_same_shape(m: Any, x: Any) -> Any:
    """Of the elements that lie at one place only that of the part is written."""
    y = x.flatten()[:6].clone().reshape(3, 2)
    y.as_strided((3, 2), (0, 2), 1).diagonal().fill_(2.5)
    return y


def chosen_of_expanded(m: Any, x: Any) -> Any:
    y = x.clone().expand(2, *x.shape)
    y.masked_fill_(torch.arange(y.numel()).reshape(y.shape) % 5 == 1, 2.0)
    y[torch.tensor([0]), 1:] = 4.0
    return y * 2


@pytest.mark.filterwarnings("ignore:Use of")
@pytest.mark.parametrize(
    "forward",
    [
        windows, windows_of_integers, transposed_windows, windows_in_another_dtype, chosen_of_windows, chosen_of_windows_as_they_were, chosen_of_expanded,
        part_of_windows_of_the_same_shape,
    ],
    ids=lambda each: each.__name__,
)  # fmt: skip
def test_writes_to_memory_that_overlaps_itself(forward: Forward) -> None:
    """What PyTorch takes has its numbers: its order of writes decides."""
    exported = torch.export.export(Model(forward), (X,))
    got = xdsl_exir.compile(xdsl_exir.from_exported_program(exported))(to_numpy(X))
    compare(forward.__name__, [got], [forward(None, X.clone())])


def test_a_functionalized_write_to_a_part_of_what_overlaps() -> None:
    def forward(m: Any, x: Any) -> Any:
        y = x.flatten().clone().as_strided((3, 3), (1, 1))
        y[-1, -2] = 0.001
        return y

    exported = torch.export.export(Model(forward), (X,)).run_decompositions()
    got = xdsl_exir.compile(xdsl_exir.from_exported_program(exported))(to_numpy(X))
    compare("result", [got], [forward(None, X.clone())])


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("aten.cumsum_", lambda x: x.cumsum_(0)),
        ("aten.select_scatter", lambda x: torch.select_scatter(x, x[:, 0], 1, 1)),
        ("aten.slice_scatter", lambda x: torch.slice_scatter(x, x[:, :1], 1, 1, 2)),
        ("aten.diagonal_scatter", lambda x: torch.diagonal_scatter(x, x[:, 0])),
    ],
)
def test_other_writes_to_memory_that_overlaps_itself_are_refused(name: str, write: Any) -> None:
    exported = torch.export.export(Model(lambda m, x: write(torch.zeros(5).unfold(0, 3, 1))), (X,))
    with pytest.raises(UnsupportedError, match=rf"{name}: a write to memory that overlaps itself"):
        xdsl_exir.from_exported_program(exported)


def test_a_scatter_into_an_expansion() -> None:
    """PyTorch writes to a whole copy of it."""

    def forward(m: Any, x: Any) -> Any:
        wide = x[:1].expand(3, *x.shape[1:])
        return torch.select_scatter(wide, x[0] * 2, 0, 1)

    exported = torch.export.export(Model(forward), (X,))
    got = xdsl_exir.compile(xdsl_exir.from_exported_program(exported))(to_numpy(X))
    compare("result", [got], [forward(None, X.clone())])


def test_a_view_of_what_lies_as_computed_sizes_say() -> None:
    """Whether it is one is decided by all sizes and strides as they were at export."""

    def forward(m: Any, x: Any) -> Any:
        y = torch.div(x.reshape(3, 1, -1), -2, rounding_mode="floor")
        y.reshape(y.shape[2], -1).abs_()
        return y

    x = torch.arange(-18, 18, dtype=torch.int16).reshape(2, 6, 3)
    exported = torch.export.export(Model(forward), (x,), dynamic_shapes=(({1: torch.export.Dim.AUTO},),))
    got = xdsl_exir.compile(xdsl_exir.from_exported_program(exported))(to_numpy(x))
    compare("result", [got], [forward(None, x)])


def test_writes_to_memory_of_a_symbolic_size_that_overlaps_itself_are_refused() -> None:
    """In which order places are written was known of the example's size alone."""

    def forward(m: Any, x: Any) -> Any:
        y = x * 2
        y.unfold(0, 2, 1).mul_(3)
        return y

    sizes = (({0: torch.export.Dim.AUTO},),)
    exported = torch.export.export(Model(forward), (torch.ones(9),), dynamic_shapes=sizes)
    with pytest.raises(UnsupportedError, match=r"aten\.mul_\.Tensor: .* overlaps itself, of a symbolic size"):
        xdsl_exir.from_exported_program(exported)


def test_writes_to_state_that_overlaps_are_refused() -> None:
    whole = torch.zeros(4)
    exported = torch.export.export(Model(beside_its_view, b_a=whole[1:], part=whole[:2]), (X,))
    with pytest.raises(UnsupportedError, match="'b_a', 'part', which share memory"):
        xdsl_exir.from_exported_program(exported)


# --- constants that are written ------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".pt2", ".mlir"])
def test_written_constants_are_saved(suffix: str, tmp_path: Path) -> None:
    """A plain tensor of the module that the program writes is a buffer, which starts as it was in the program."""
    exported = torch.export.export(Model(constant, hidden=torch.ones(3)), (X,))
    eager = copy.deepcopy(exported).module()
    program = xdsl_exir.from_exported_program(exported)
    program.save(tmp_path / f"program{suffix}")
    run = xdsl_exir.compile(xdsl_exir.load(tmp_path / f"program{suffix}"))
    for call in range(3):
        compare(f"call {call}", [run(to_numpy(X))], [eager(X)])


def test_written_constants_go_back() -> None:
    exported = torch.export.export(Model(constant, hidden=torch.ones(3)), (X,))
    eager = copy.deepcopy(exported).module()
    back = xdsl_exir.from_exported_program(exported).to_exported_program().module()
    for _ in range(3):
        torch.testing.assert_close(back(X), eager(X))


# --- random programs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", ["imported", "edge"])
def test_random_programs(stage: str) -> None:
    seeds = range(40) if stage == "imported" else range(40, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {seed: aliases.check(seed, stage) for seed in seeds}
    assert sum(result == "ok" for result in found.values()) > len(found) // 2
