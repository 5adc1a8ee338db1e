"""In-place operators, writes through views and buffers: what a functionalized program gives is what eager does.

Each program is exported in the training dialect (before PyTorch functionalizes), imported, and called twice, since the
second call sees what the first one wrote. Outputs, buffers and mutated inputs are compared, as imported, as core and as
edge, with xDSL's clean-ups between all stages.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import numpy as np  # noqa: E402
from differential import to_numpy, to_torch  # noqa: E402
from eager import aten_operators  # noqa: E402

import xdsl_exir  # noqa: E402
from xdsl_exir.dialects.schema import FunctionSchema  # noqa: E402
from xdsl_exir.dialects.signature import OUTPUT, OutputAttr, OutputKind  # noqa: E402
from xdsl_exir.dialects.spec import find, specs  # noqa: E402
from xdsl_exir.errors import InputError, SpecError  # noqa: E402
from xdsl_exir.importers.functionalize import COMPOSED, mutation_of  # noqa: E402
from xdsl_exir.program import Program  # noqa: E402

# What torch.export warns of is its own use of its own functions.
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:torch",
    "ignore:`isinstance\\(treespec, LeafSpec\\)` is deprecated:FutureWarning",
)

Forward = Callable[..., Any]


class Model(torch.nn.Module):
    """A module of a function of its buffers and inputs."""

    def __init__(self, forward: Forward, **buffers: torch.Tensor):
        super().__init__()
        self.function = forward
        for name, value in buffers.items():
            self.register_buffer(name, value)

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.function(self, *inputs)


def counting(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    count = int(np.prod(shape))
    return (torch.arange(count, dtype=torch.float64) * 0.75 - 2).reshape(shape).to(dtype)


def relu_(m: Any, x: Any) -> Any:
    y = x + 0
    return y.relu_() * 2, y


def add_to_view(m: Any, x: Any) -> Any:
    y = x.clone()
    y.view(3, 2).add_(1)
    return y


def add_to_slice(m: Any, x: Any) -> Any:
    y = x.clone()
    y[:, 1:].add_(10)
    return y


def add_to_strided_slice(m: Any, x: Any) -> Any:
    y = torch.cat([x, x], 1)
    y[:, ::2].mul_(-1)
    y[:, -2:].sub_(3)
    return y


def add_to_select(m: Any, x: Any) -> Any:
    y = x.clone()
    y.select(1, -1).add_(10)
    return y


def add_to_transposed(m: Any, x: Any) -> Any:
    y = x.clone()
    t = y.t()
    t.add_(torch.ones(2))
    t[0] = 7
    return y, t


def add_to_permuted(m: Any, x: Any) -> Any:
    y = torch.stack([x, x * 2])
    y.permute(2, 0, 1)[1].add_(5)
    y.transpose(0, 2)[0].mul_(2)
    return y


def add_to_squeezed(m: Any, x: Any) -> Any:
    y = x.unsqueeze(0).clone()
    y.squeeze(0).add_(1)
    y.unsqueeze(1).mul_(3)
    return y


def add_to_view_of_view(m: Any, x: Any) -> Any:
    y = x.clone()
    y[1].view(3, 1)[1:].squeeze(1)[0].fill_(9)
    return y


def add_to_diagonal(m: Any, x: Any) -> Any:
    y = x.clone()
    y.diagonal().add_(4)
    return y


def add_to_narrow(m: Any, x: Any) -> Any:
    y = x.clone()
    y.narrow(1, 1, 2).add_(4)
    return y


def copy_to_computed_place(m: Any, x: Any) -> Any:
    at = (m.total.sum() * 0 + 1).int().item()
    torch._check(at >= 0)
    torch._check(at < 2)
    m.total.narrow(0, at, 1).copy_(x[0, 0])
    return x + m.total


def assign_column(m: Any, x: Any) -> Any:
    y = x.clone()
    y[:, 0] = 5
    y[0, 1:] = x[1, 1:]
    y[..., 2] = torch.tensor([1.0, 2.0])
    return y


def assign_mask(m: Any, x: Any) -> Any:
    y = x.clone()
    y[x > 0] = 0
    return y


def index_put_(m: Any, x: Any) -> Any:
    y = x.clone()
    y[torch.tensor([1, 0]), torch.tensor([2, 2])] = torch.tensor([10.0, 20.0])
    y.index_put_((torch.tensor([0, 0]),), torch.ones(3), accumulate=True)
    return y


def copy_(m: Any, x: Any) -> Any:
    y = torch.zeros(2, 3)
    y.copy_(x)
    y[0].copy_(x[1])
    return y


def copy_broadcast(m: Any, x: Any) -> Any:
    y = torch.zeros(2, 3, dtype=torch.float64)
    return y.copy_(x[0])


def chunks(m: Any, x: Any) -> Any:
    y = torch.cat([x, x], 1)
    a, b, c = y.chunk(3, 1)
    a.add_(1)
    b.mul_(c)
    return y, a + b + c


def splits(m: Any, x: Any) -> Any:
    y = torch.cat([x, x], 1)
    a, b = y.split([2, 4], 1)
    b[:, 0].add_(a[:, 1])
    first, second = y.unbind(0)
    first.sub_(second)
    return y, b


def write_base_read_view(m: Any, x: Any) -> Any:
    y = x.clone()
    v = y[0]
    y.add_(1)
    return v * 2


def write_view_read_base(m: Any, x: Any) -> Any:
    y = x.clone()
    v = y.view(-1)[2:4]
    v.zero_()
    return y.sum(), v


def two_views(m: Any, x: Any) -> Any:
    y = x.clone()
    a, b = y[:, :2], y[:, 1:]
    a.add_(1)
    b.mul_(2)
    a.sub_(x[:, 1:])
    return y, a, b


def out_variant(m: Any, x: Any) -> Any:
    y = torch.empty(2, 3)
    torch.add(x, 1, out=y)
    torch.mul(y, 2, out=y)
    return y


def out_variants_of_other_names(m: Any, x: Any) -> Any:
    y, z, n = torch.empty(2, 3), torch.empty(2), torch.empty(5, dtype=torch.float64)
    torch.max(x, x.flip(0), out=y)
    torch.mean(x, 1, out=z)
    torch.arange(0, 1, 0.2, out=n)  # in double, as `out` is
    return y, z, n


def out_variants_of_several_results(m: Any, x: Any) -> Any:
    y, n, total = torch.zeros(4, 3), torch.zeros(2, 3, dtype=torch.int64), torch.empty(3)
    torch.sort(x.flip(1), out=(y[1:3], n))  # into a view
    torch.sum(x, 0, out=total)
    high, at = torch.empty(3), torch.empty(3, dtype=torch.int64)
    torch.max(x, 0, out=(high, at))
    return y, n, total, high, at, torch.ones(2, 3).ldexp_(n)


def diagonals(m: Any, x: Any) -> Any:
    y, tall, cube = x.clone(), torch.zeros(8, 3), torch.ones(3, 3, 3, dtype=torch.int64)
    y.mT.fill_diagonal_(2)
    tall[1:].fill_diagonal_(5, wrap=True)
    return y, tall, cube.fill_diagonal_(2.7)


def written_from(m: Any, x: Any) -> Any:
    y = x.clone()
    torch.narrow(y, 1, torch.tensor(-2), 1).mul_(3)
    torch._neg_view(y)[0].add_(1)
    return y


def renormed(m: Any, x: Any) -> Any:
    table = x.clone()
    return torch.nn.functional.embedding(torch.tensor([[0, 0]]), table, max_norm=0.5, norm_type=1.0), table


def dropped_out(m: Any, x: Any) -> Any:
    y = x + 1
    torch.nn.functional.dropout(y, 0.5, training=False, inplace=True)
    return y


def constant_tensor(m: Any, x: Any) -> Any:
    y = torch.tensor([1.0, 2.0, 3.0])
    y[0] = 5
    y[1:] += x[0, 1:]
    return x + y


def mul_by_double(m: Any, x: Any, d: Any) -> Any:
    y = x.clone()
    y.mul_(d)
    y[0].add_(d[0])
    return y


def int_in_place(m: Any, x: Any) -> Any:
    y = x.to(torch.int64)
    y.add_(2).mul_(3)
    y[0] //= 2
    return y


def reshape_copies(m: Any, x: Any) -> Any:
    y = x.clone()
    y.t().reshape(6).add_(100)  # a copy: nothing is written to y
    y.reshape(3, 2).add_(1)  # a view
    return y


def to_same_dtype(m: Any, x: Any) -> Any:
    y = x.clone()
    y.to(torch.float32).add_(1)  # no conversion: the same memory
    y.to(torch.float64).add_(100)  # another
    y.contiguous().mul_(2)
    y.t().contiguous().add_(100)
    return y


def detach_and_alias(m: Any, x: Any) -> Any:
    y = x.clone()
    y.detach().add_(1)
    torch.ops.aten.alias(y).mul_(2)
    return y


def detach_of_what_overlaps(m: Any, x: Any) -> Any:
    y = x.sum(0).expand(3, x.shape[1])
    z = y.detach()
    before = y.sum()
    z[1] = x[0]
    y[2, 0] = 5.0
    return before, y, z, z[0] * 2


def fills(m: Any, x: Any) -> Any:
    y, z = x.clone(), x.clone()
    y.zero_()
    z[1].fill_(3.5)
    return y, z, torch.empty(2).fill_(1)


def masked(m: Any, x: Any) -> Any:
    y = x.clone()
    y.masked_fill_(x > 1, -1.0)
    y.clamp_(min=-1.5)
    return y


def scatter_(m: Any, x: Any) -> Any:
    y = x.clone()
    y.scatter_(1, torch.tensor([[0], [2]]), 9.0)
    y.scatter_add_(0, torch.tensor([[0, 0, 0]]), torch.ones(1, 3))
    return y


def mutated_input(m: Any, x: Any) -> Any:
    x.add_(1)
    return x * 2


def mutated_input_through_view(m: Any, x: Any) -> Any:
    x[:, 0] = 5
    x.t()[1].add_(1)
    return x.sum()


def mutated_input_of_two(m: Any, x: Any, d: Any) -> Any:
    d.sub_(x)
    return x + d


def updated_buffer(m: Any, x: Any) -> Any:
    m.total.add_(x.sum(0))
    m.count += 1
    return m.total / m.count


def cache(m: Any, x: Any) -> Any:
    m.cache[1:3] = x
    m.cache[0].copy_(m.cache[1] + 1)
    return m.cache[:2] * 2


def buffer_replaced(m: Any, x: Any) -> Any:
    m.total.copy_(m.total * 0.5 + x.sum(0) * 0.5)
    return x + m.total


def chain_of_writes(m: Any, x: Any) -> Any:
    return x.clone().add_(x).add_(x, alpha=2).addcmul_(x, x, value=0.5).pow_(2).sqrt_().pow_(x)


ONE = (counting(2, 3),)
TWO = (counting(2, 3), counting(2, 3, dtype=torch.float64))


def python_in_place(m: Any, x: Any) -> Any:
    """`&=` and its like call operators of their own."""
    n = x.to(torch.int32)
    n[0] &= 6
    n[1] ^= n[0]
    n |= 8
    n <<= 2
    n >>= 1
    return n, 3 & n, 100 >> (n & 3), 7 % n


PROGRAMS: dict[str, tuple[Forward, tuple[torch.Tensor, ...], dict[str, torch.Tensor]]] = {
    **{
        function.__name__: (function, ONE, {})
        for function in (
            relu_,
            python_in_place,
            add_to_view,
            add_to_slice,
            add_to_strided_slice,
            add_to_select,
            add_to_transposed,
            add_to_permuted,
            add_to_squeezed,
            add_to_view_of_view,
            add_to_diagonal,
            add_to_narrow,
            assign_column,
            assign_mask,
            index_put_,
            copy_,
            copy_broadcast,
            chunks,
            splits,
            write_base_read_view,
            write_view_read_base,
            two_views,
            out_variant,
            out_variants_of_other_names,
            out_variants_of_several_results,
            diagonals,
            written_from,
            renormed,
            dropped_out,
            constant_tensor,
            int_in_place,
            reshape_copies,
            to_same_dtype,
            detach_and_alias,
            detach_of_what_overlaps,
            fills,
            masked,
            scatter_,
            mutated_input,
            mutated_input_through_view,
            chain_of_writes,
        )
    },
    "mul_by_double": (mul_by_double, TWO, {}),
    "mutated_input_of_two": (mutated_input_of_two, TWO, {}),
    "updated_buffer": (updated_buffer, ONE, {"total": torch.zeros(3), "count": torch.tensor(0)}),
    "copy_to_computed_place": (copy_to_computed_place, ONE, {"total": torch.zeros(3)}),
    "cache": (cache, ONE, {"cache": torch.zeros(4, 3)}),
    "buffer_replaced": (buffer_replaced, ONE, {"total": torch.ones(3)}),
}


def flat(outputs: Any) -> list[Any]:
    return list(outputs) if isinstance(outputs, tuple) else [outputs]


def stages(program: Program) -> dict[str, Program]:
    """A program at every stage, and with the clean-ups between all stages."""
    tidy = "canonicalize,cse,dce"
    cleaned = program.transform(tidy)
    core = cleaned.transform("decompose-aten").transform(tidy)
    return {
        "imported": program,
        "core": program.to_core(),
        "edge": program.to_edge(),
        "cleaned": cleaned,
        "cleaned core": core,
        "cleaned edge": core.transform("aten-to-edge").transform(tidy),
    }


def check(model: torch.nn.Module, inputs: tuple[torch.Tensor, ...], calls: int = 2) -> Program:
    """Compares two calls of a model in eager and of its export at every stage: outputs, buffers, mutated inputs."""
    exported = torch.export.export(copy.deepcopy(model), copy.deepcopy(inputs))
    imported = xdsl_exir.from_exported_program(exported)
    for stage, program in stages(imported).items():
        eager, run = copy.deepcopy(model), xdsl_exir.compile(program)
        theirs = copy.deepcopy(inputs)
        ours = [to_numpy(value).copy() for value in inputs]
        for call in range(calls):
            with torch.no_grad():
                expected = flat(eager(*theirs))
            given = flat(run(*ours))
            what = f"{stage}, call {call}"
            compare(f"{what}: outputs", given, expected)
            compare(f"{what}: inputs", ours, theirs)
            for name, buffer in eager.named_buffers():
                if name in run.state:
                    compare(f"{what}: {name}", [run.array(name)], [buffer])
    return imported


def compare(what: str, given: Any, expected: Any) -> None:
    assert len(given) == len(expected), what
    for index, (value, wanted) in enumerate(zip(given, expected, strict=True)):
        array = to_torch(np.asarray(value))
        torch.testing.assert_close(array, wanted, msg=lambda text, index=index: f"{what} {index}: {text}")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    forward, inputs, buffers = PROGRAMS[name]
    program = check(Model(forward, **buffers), inputs)
    names = [op.name.partition(".")[2].split(".")[0] for op in program.module.walk()]
    assert not [
        name for name in names if (name.endswith("_") and not name.endswith("__")) or name[:3] == "__i"
    ]


def kinds(program: Program) -> list[tuple[OutputKind, str]]:
    found = []
    for item in program.method().res_attrs or ():
        attr = item.data[OUTPUT]
        assert isinstance(attr, OutputAttr)
        found.append((attr.data.kind, attr.data.target))
    return found


def test_signature_of_what_is_written() -> None:
    def forward(m: Any, x: Any) -> Any:
        m.total.add_(x.sum(0))
        x.mul_(2)
        return x + 1

    exported = torch.export.export(Model(forward, total=torch.zeros(3)), ONE)
    assert kinds(xdsl_exir.from_exported_program(exported)) == [
        (OutputKind.BUFFER_MUTATION, "total"),
        (OutputKind.USER_INPUT_MUTATION, "inputs_0"),
        (OutputKind.USER_OUTPUT, ""),
    ]


def test_programs_that_write_nothing_pay_nothing() -> None:
    exported = torch.export.export(Model(lambda m, x: x.view(3, 2).relu().t()), ONE)
    names = [op.name for op in xdsl_exir.from_exported_program(exported).module.walk() if "aten" in op.name]
    assert names == ["aten.view", "aten.relu", "aten.t"]


class Normalized(torch.nn.Module):
    def __init__(self, **kwargs: Any):
        super().__init__()
        self.conv = torch.nn.Conv2d(2, 3, 3)
        self.norm = torch.nn.BatchNorm2d(3, **kwargs)

    def forward(self, x: Any) -> Any:
        return self.norm(self.conv(x)).relu_()


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize(
    "kwargs", [{}, {"momentum": 0.5}, {"affine": False}, {"track_running_stats": False}], ids=repr
)
def test_batch_norm(training: bool, kwargs: dict[str, Any]) -> None:
    torch.manual_seed(0)
    model = Normalized(**kwargs).train(training)
    program = check(model, (torch.randn(2, 2, 5, 5),))
    written = {target for kind, target in kinds(program) if kind is OutputKind.BUFFER_MUTATION}
    tracked = {"norm.num_batches_tracked", "norm.running_mean", "norm.running_var"}
    assert written == (tracked if training and kwargs.get("track_running_stats", True) else set())


def test_native_batch_norm() -> None:
    """PyTorch's own operator writes its statistics as well, and gives those of the batch."""

    def forward(self: Any, x: Any) -> Any:
        return torch.native_batch_norm(x, self.w, None, self.mean, self.var, True, 0.1, 1e-5)

    program = check(
        Model(forward, w=torch.rand(3), mean=torch.zeros(3), var=torch.ones(3)), (torch.randn(4, 3, 2),)
    )
    written = {target for kind, target in kinds(program) if kind is OutputKind.BUFFER_MUTATION}
    assert written == {"mean", "var"}


@pytest.mark.parametrize("training", [True, False])
def test_instance_norm(training: bool) -> None:
    model = torch.nn.InstanceNorm1d(3, affine=True, track_running_stats=True).train(training)
    rows = {0: torch.export.Dim("rows", min=2, max=9)}
    program = check(model, (torch.randn(2, 3, 5),))
    written = {target for kind, target in kinds(program) if kind is OutputKind.BUFFER_MUTATION}
    assert written == ({"running_mean", "running_var"} if training else set())
    exported = torch.export.export(copy.deepcopy(model), (torch.randn(2, 3, 5),), dynamic_shapes=(rows,))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported).to_edge())
    x = torch.randn(4, 3, 5)
    compare("instance norm", run.flat([x.numpy()]), [model(x)])
    compare("its statistics", [run.array("running_var")], [model.running_var])


def test_programs_that_pytorch_functionalized() -> None:
    """The same in the core dialect, where `run_decompositions` has left nothing to functionalize."""
    for forward, buffers in (
        (updated_buffer, {"total": torch.zeros(3), "count": torch.tensor(0)}),
        (mutated_input, {}),
    ):
        model = Model(forward, **buffers)
        exported = torch.export.export(copy.deepcopy(model), copy.deepcopy(ONE)).run_decompositions()
        run, eager = xdsl_exir.compile(xdsl_exir.from_exported_program(exported)), copy.deepcopy(model)
        ours, theirs = [to_numpy(ONE[0]).copy()], copy.deepcopy(ONE)
        for _ in range(2):
            compare(forward.__name__, flat(run(*ours)), flat(eager(*theirs)))
            compare(forward.__name__, ours, theirs)


def written_copy(m: Any, x: Any) -> Any:
    y = x * 2
    return y, y.t().contiguous().add_(1)


def copy_of_what_is_written(m: Any, x: Any) -> Any:
    y = x * 2
    z = y.t().reshape(-1)
    y.add_(1)
    return z


def written_copy_of_an_input(m: Any, x: Any) -> Any:
    return x.t().contiguous().add_(1)


def written_copy_alone(m: Any, x: Any) -> Any:
    return (x * 2).t().contiguous().add_(1)


@pytest.mark.parametrize(
    ("forward", "takes_one"),
    [
        (written_copy, False),
        (copy_of_what_is_written, False),
        (written_copy_of_an_input, False),
        (written_copy_alone, True),
    ],
)
def test_copies_that_are_none_at_size_1(forward: Forward, takes_one: bool) -> None:
    """Of one row, a transposed matrix is contiguous as it is: what is written to one tensor is seen in another, where anybody looks."""
    auto = torch.export.Dim.AUTO
    exported = torch.export.export(
        Model(forward), (counting(3, 4),), dynamic_shapes={"inputs": ({0: auto, 1: auto},)}
    )
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported))
    for shape in ((5, 3), (0, 3), (1, 4), (4, 1)):
        ours, theirs = to_numpy(counting(*shape)).copy(), counting(*shape)
        if 1 in shape and not takes_one:
            with pytest.raises(InputError, match="!= 1"):
                run(ours)
        else:
            compare(forward.__name__, flat(run(ours)), flat(exported.module()(theirs)))
            compare(forward.__name__, [ours], [theirs])


def row_of_a_block(m: Any, x: Any) -> Any:
    y = x * 2
    z = y[:, :1].reshape(1, -1)
    y[0].add_(1)
    return z


def reshape_of_a_permutation(m: Any, x: Any) -> Any:
    y = x * 2
    z = y.permute(1, 2, 0).reshape(-1)
    y.add_(1)
    return z


def half_of_the_rows(m: Any, x: Any) -> Any:
    y = x * 2
    z = y[::2].mT.reshape(-1)
    y.add_(1)
    return z


@pytest.mark.parametrize(
    ("forward", "taken", "refused"),
    [
        # A stride is a size too: the rows left out lie between those taken.
        (row_of_a_block, [(3, 4, 2), (2, 3, 5)], [(1, 3, 2), (3, 1, 2), (2, 3, 1)]),
        # One dimension of 1 leaves a copy, two do not.
        (reshape_of_a_permutation, [(3, 4, 2), (3, 1, 2), (3, 4, 1)], [(3, 1, 1)]),
        (half_of_the_rows, [(5, 3, 2), (5, 3, 1)], [(2, 3, 1), (1, 3, 1)]),
    ],
)
def test_copies_that_are_none_where_sizes_are_1(
    forward: Forward, taken: list[tuple[int, ...]], refused: list[tuple[int, ...]]
) -> None:
    auto = torch.export.Dim.AUTO
    exported = torch.export.export(
        Model(forward), (counting(5, 7, 4),), dynamic_shapes={"inputs": ({0: auto, 1: auto, 2: auto},)}
    )
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported))
    for shape in taken:
        x = counting(*shape)
        compare(forward.__name__, flat(run(to_numpy(x).copy())), flat(exported.module()(x)))
    for shape in refused:
        with pytest.raises(InputError, match="!= 1"):
            run(to_numpy(counting(*shape)))


def test_dynamic_sizes() -> None:
    def forward(m: Any, x: Any) -> Any:
        y = x * 1
        y[1:].add_(1)
        y[:, 0] = 3
        y.view(-1).mul_(2)
        y.t()[0].sub_(x[:, 1])
        return y

    dim = torch.export.Dim("n", min=3, max=64)
    model = Model(forward)
    exported = torch.export.export(model, (counting(4, 3),), dynamic_shapes={"inputs": ({0: dim},)})
    program = xdsl_exir.from_exported_program(exported)
    for stage, at in stages(program).items():
        run = xdsl_exir.compile(at)
        for size in (3, 4, 9):
            x = counting(size, 3)
            compare(f"{stage} {size}", flat(run(to_numpy(x))), flat(model(x)))


def test_unknown_mutations_are_refused() -> None:
    torch.library.define("odd::twist_", "(Tensor(a!) x) -> ()")
    torch.library.impl("odd::twist_", "CompositeExplicitAutograd", lambda x: None)

    def forward(m: Any, x: Any) -> Any:
        y = x.clone()
        torch.ops.odd.twist_(y)
        return y

    with pytest.raises(xdsl_exir.UnsupportedError, match=r"odd\.twist_: unknown operator"):
        xdsl_exir.from_exported_program(torch.export.export(Model(forward), ONE))


def test_functional_variants_take_the_same_arguments() -> None:
    """Every mutating operator that PyTorch has and the importer knows, against its functional variant's schema."""
    known = 0
    for op in aten_operators():
        text = str(op._schema)
        if "Tensor(a!)" not in text:
            continue
        try:
            schema = FunctionSchema.parse(text)
            mutation = mutation_of(schema.qualified_name)
        except SpecError:
            continue
        if mutation is None or schema.qualified_name in {*specs(), *COMPOSED}:
            continue
        known += 1
        taken = {argument.name: argument.type.base for argument in find(mutation.functional).schema.arguments}
        for argument in schema.arguments:
            if argument.name not in mutation.dropped:
                name = mutation.names.get(argument.name, argument.name)
                assert taken.get(name) == argument.type.base, f"{schema}: {mutation}"
        assert set(mutation.written) <= {argument.name for argument in schema.arguments}, schema
    assert known > 300
