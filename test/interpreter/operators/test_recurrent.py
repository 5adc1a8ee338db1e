"""Recurrent layers and cells against PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import check, check_natively, check_symbolic, flatten, program_of  # noqa: E402
from xdsl.context import Context  # noqa: E402

from xdsl_exir.dialects.meta import MetaError  # noqa: E402
from xdsl_exir.dialects.spec import specs  # noqa: E402
from xdsl_exir.transforms.decompose_aten import DecomposeAten  # noqa: E402

torch.manual_seed(0)

GATES = {"rnn_tanh": 1, "rnn_relu": 1, "gru": 3, "lstm": 4}
N, T, INPUTS, H = 2, 3, 4, 5


def cell(name: str, dtype: Any = torch.float32, biases: bool = True) -> tuple[Any, ...]:
    gates = GATES[name]
    x, h = torch.randn(N, INPUTS, dtype=dtype), torch.randn(N, H, dtype=dtype)
    state = [h, torch.randn(N, H, dtype=dtype)] if name == "lstm" else h
    weights = [torch.randn(gates * H, INPUTS, dtype=dtype), torch.randn(gates * H, H, dtype=dtype)]
    bias = [torch.randn(gates * H, dtype=dtype) for _ in range(2)] if biases else []
    return f"aten.{name}_cell", x, state, *weights, *bias


def layers(
    name: str, count: int = 1, biases: bool = True, both: bool = False, first: bool = False, proj: int = 0
) -> tuple[Any, ...]:
    gates, directions, size = GATES[name], 2 if both else 1, proj or H
    params: list[Any] = []
    for layer in range(count):
        for _ in range(directions):
            inputs = INPUTS if layer == 0 else size * directions
            params += [torch.randn(gates * H, inputs), torch.randn(gates * H, size)]
            params += [torch.randn(gates * H), torch.randn(gates * H)] if biases else []
            params += [torch.randn(proj, H)] if proj else []
    x = torch.randn(N, T, INPUTS) if first else torch.randn(T, N, INPUTS)
    h = torch.randn(count * directions, N, size)
    state = [h, torch.randn(count * directions, N, H)] if name == "lstm" else h
    return f"aten.{name}.input", x, state, params, biases, count, 0.0, False, both, first


def packed(call: tuple[Any, ...], lengths: tuple[int, ...] = (4, 3, 1)) -> tuple[Any, ...]:
    """The same call of sequences of several lengths."""
    name, _, hx, *rest = call
    sequences = [torch.randn(length, INPUTS) for length in lengths]
    rows = torch.nn.utils.rnn.pack_sequence(sequences)
    states = [torch.randn(part.shape[0], len(lengths), part.shape[2]) for part in flatten(hx)]
    state = states if isinstance(hx, list) else states[0]
    return name.replace("input", "data"), rows.data, rows.batch_sizes, state, *rest[:-1]


CALLS = [
    *(cell(name) for name in GATES),
    *(cell(name, torch.float64, biases=False) for name in GATES),
    *(layers(name) for name in GATES),
    *(layers(name, 2, both=True, first=True) for name in GATES),
    layers("lstm", 2, biases=False),
    layers("gru", 2, biases=False, both=True),
    layers("lstm", 2, both=True, proj=3),
    layers("lstm", biases=False, proj=3),
    *(packed(layers(name)) for name in GATES),
    *(packed(layers(name, 2, both=True)) for name in GATES),
    packed(layers("lstm", biases=False, proj=3), (2, 2)),
    packed(layers("gru", both=True), (1,)),
]


def test_every_operator_occurs() -> None:
    assert {name for name, spec in specs().items() if spec.family == "recurrent"} == {c[0] for c in CALLS}


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0])
def test_calls(call: tuple[Any, ...]) -> None:
    check(*call, scale=10)


def over(steps: int, call: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same call of as many steps."""
    name, x, *rest = call
    return name, torch.randn(steps, *x.shape[1:]), *rest


@pytest.mark.parametrize("name", GATES)
def test_layers_are_loops(name: str) -> None:
    """However many steps there are."""
    lengths: set[int] = set()
    for steps in (2, 500):
        module, _ = program_of(*over(steps, layers(name, 2, both=True)))
        DecomposeAten().apply(Context(), module)
        lengths.add(sum(1 for _ in module.walk()))
        assert sum(op.name == "higher_order.scan" for op in module.walk()) == 4
    assert len(lengths) == 1
    check(*over(1, layers(name, 2, both=True)), scale=10)


@pytest.mark.parametrize("name", GATES)
def test_symbolic_sizes(name: str) -> None:
    """The number of steps and the batch."""
    check_symbolic({T: "s0", N: "s1"}, *layers(name, both=True), scale=10)
    check_symbolic({T: "s0", N: "s1"}, *layers(name, 2, first=True), scale=10)


@pytest.mark.native
@pytest.mark.slow
def test_natively() -> None:
    """Every call, compiled together."""
    check_natively([(name, args, {}) for name, *args in CALLS], scale=10)


@pytest.mark.parametrize("name", ["lstm", "gru"])
def test_packed_of_symbolic_sizes(name: str) -> None:
    """Of how many rows, steps and sequences: 9, 4 and 3."""
    call = packed(layers(name, both=True), (4, 3, 2))
    check_symbolic({9: "s0"}, *call, scale=10)


def test_refused() -> None:
    name, x, state, *rest = cell("gru")
    with pytest.raises(MetaError, match="batches of 2 and 1"):
        program_of(name, x, state[:1], *rest)
    with pytest.raises(MetaError, match=r"'w_ih' is not of shape \[15, 4\]"):
        program_of(name, x, state, rest[1], *rest[1:])
    name, x, state, params, *rest = layers("lstm")
    with pytest.raises(MetaError, match="3 parameters, expected 4"):
        program_of(name, x, state, params[:3], *rest)
    with pytest.raises(MetaError, match="a sequence of length 0"):
        program_of(name, x[:0], state, params, *rest)
