"""Shape rules of recurrent layers and cells."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl_exir.dialects.expr import Dim
from xdsl_exir.dialects.meta import Shape, check, same_shape, same_size, shape_rule, shape_text
from xdsl_exir.dialects.tensors import TensorMeta

# --- cells ---------------------------------------------------------------------------------------------------


def check_cell(
    input: TensorMeta,
    hx: TensorMeta,
    w_ih: TensorMeta,
    w_hh: TensorMeta,
    b_ih: TensorMeta | None,
    b_hh: TensorMeta | None,
    gates: int,
) -> Shape:
    """`[N, I]` and a state `[N, H]` with weights `[gates H, I]`, `[gates H, H]`, biases `[gates H]`."""
    check(input.ndim == hx.ndim == 2, "input and state need 2 dimensions")
    check(same_size(input.shape[0], hx.shape[0]), f"batches of {input.shape[0]} and {hx.shape[0]}")
    hidden = hx.shape[1]
    expected = {
        "w_ih": (w_ih, (gates * hidden, input.shape[1])),
        "w_hh": (w_hh, (gates * hidden, hidden)),
        "b_ih": (b_ih, (gates * hidden,)),
        "b_hh": (b_hh, (gates * hidden,)),
    }
    for name, (tensor, shape) in expected.items():
        fits = tensor is None or same_shape(tensor.shape, shape)
        check(fits, f"'{name}' is not of shape {shape_text(shape)}")
    return hx.shape


def _register(gates: int, *names: str) -> None:
    def cell(
        input: TensorMeta,
        hx: TensorMeta,
        w_ih: TensorMeta,
        w_hh: TensorMeta,
        b_ih: TensorMeta | None,
        b_hh: TensorMeta | None,
    ) -> Shape:
        return check_cell(input, hx, w_ih, w_hh, b_ih, b_hh, gates)

    shape_rule(*names)(cell)


_register(1, "aten.rnn_tanh_cell", "aten.rnn_relu_cell")
_register(3, "aten.gru_cell")


@shape_rule("aten.lstm_cell")
def lstm_cell(
    input: TensorMeta,
    hx: list[TensorMeta],
    w_ih: TensorMeta,
    w_hh: TensorMeta,
    b_ih: TensorMeta | None,
    b_hh: TensorMeta | None,
) -> list[Shape]:
    check(len(hx) == 2, f"{len(hx)} states, expected 2")
    check(same_shape(hx[0].shape, hx[1].shape), "states of different shapes")
    return [check_cell(input, hx[0], w_ih, w_hh, b_ih, b_hh, 4)] * 2


# --- layers --------------------------------------------------------------------------------------------------


def check_layers(
    input: TensorMeta,
    hx: TensorMeta,
    params: Sequence[TensorMeta],
    has_biases: bool,
    num_layers: int,
    bidirectional: bool,
    per_direction: int,
) -> Shape:
    """The output of a stack of layers: that of its input `[..., I]` is `[..., directions H]`."""
    directions = 2 if bidirectional else 1
    check(hx.ndim == 3, f"expected a state of 3 dimensions, got {shape_text(hx.shape)}")
    check(num_layers > 0, f"{num_layers} layers")
    check(
        len(params) == per_direction * directions * num_layers,
        f"{len(params)} parameters, expected {per_direction * directions * num_layers}",
    )
    check(same_size(hx.shape[0], directions * num_layers), f"a state for {hx.shape[0]} layers")
    check_params(input.shape[-1], hx.shape[2], params, has_biases, directions, per_direction)
    return (*input.shape[:-1], hx.shape[2] * directions)


def check_padded(input: TensorMeta, batch_first: bool) -> None:
    """Sequences of one length, `[T, N, I]`, or `[N, T, I]` where the batch comes first."""
    check(input.ndim == 3, f"expected an input of 3 dimensions, got {shape_text(input.shape)}")
    check(input.shape[1 if batch_first else 0] != 0, "a sequence of length 0")


def check_batch(input: TensorMeta, hx: TensorMeta, batch_first: bool) -> None:
    """A state `[layers, N, H]` for such sequences."""
    batch = input.shape[0 if batch_first else 1]
    check(same_size(hx.shape[1], batch), f"a state for a batch of {hx.shape[1]}, not {batch}")


def check_packed(data: TensorMeta, batch_sizes: TensorMeta) -> None:
    """The rows of sequences of several lengths, `[rows, I]`, and how many sequences there are at each step, `[T]`."""
    check(data.ndim == 2, f"expected data of 2 dimensions, got {shape_text(data.shape)}")
    check(batch_sizes.ndim == 1, f"expected sizes of 1 dimension, got {shape_text(batch_sizes.shape)}")
    check(batch_sizes.shape[0] != 0, "a sequence of length 0")


def check_params(
    inputs: Dim,
    outputs: Dim,
    params: Sequence[TensorMeta],
    has_biases: bool,
    directions: int,
    per_direction: int,
) -> None:
    """Weights `[G, I]` and `[G, H]`, biases `[G]` and perhaps a projection, for each layer and direction."""
    gates = params[0].shape[0] if params[0].ndim else 0
    for number, tensor in enumerate(params):
        place, layer = number % per_direction, number // (per_direction * directions)
        if place < 2:
            size = outputs if place == 1 else inputs if layer == 0 else outputs * directions
            expected: Shape = (gates, size)
        elif has_biases and place < 4:
            expected = (gates,)
        else:
            continue
        fits = same_shape(tensor.shape, expected)
        check(fits, f"parameter {number} is {shape_text(tensor.shape)}, not {shape_text(expected)}")


def of_lstm(
    input: TensorMeta,
    hx: list[TensorMeta],
    params: list[TensorMeta],
    has_biases: bool,
    num_layers: int,
    bidirectional: bool,
) -> list[Shape]:
    check(len(hx) == 2, f"{len(hx)} states, expected 2")
    for state in hx:
        check(state.ndim == 3, f"expected states of 3 dimensions, got {shape_text(state.shape)}")
    check(same_shape(hx[0].shape[:2], hx[1].shape[:2]), "states of different shapes")
    projected = not same_size(hx[0].shape[2], hx[1].shape[2])
    count = (4 if has_biases else 2) + projected
    output = check_layers(input, hx[0], params, has_biases, num_layers, bidirectional, count)
    return [output, hx[0].shape, hx[1].shape]


@shape_rule("aten.lstm.input")
def lstm(
    input: TensorMeta,
    hx: list[TensorMeta],
    params: list[TensorMeta],
    has_biases: bool,
    num_layers: int,
    bidirectional: bool,
    batch_first: bool,
) -> list[Shape]:
    check_padded(input, batch_first)
    shapes = of_lstm(input, hx, params, has_biases, num_layers, bidirectional)
    check_batch(input, hx[0], batch_first)
    return shapes


@shape_rule("aten.lstm.data")
def packed_lstm(
    data: TensorMeta,
    batch_sizes: TensorMeta,
    hx: list[TensorMeta],
    params: list[TensorMeta],
    has_biases: bool,
    num_layers: int,
    bidirectional: bool,
) -> list[Shape]:
    check_packed(data, batch_sizes)
    return of_lstm(data, hx, params, has_biases, num_layers, bidirectional)


@shape_rule("aten.gru.input", "aten.rnn_tanh.input", "aten.rnn_relu.input")
def rnn(
    input: TensorMeta,
    hx: TensorMeta,
    params: list[TensorMeta],
    has_biases: bool,
    num_layers: int,
    bidirectional: bool,
    batch_first: bool,
) -> list[Shape]:
    check_padded(input, batch_first)
    count = 4 if has_biases else 2
    output = check_layers(input, hx, params, has_biases, num_layers, bidirectional, count)
    check_batch(input, hx, batch_first)
    return [output, hx.shape]


@shape_rule("aten.gru.data", "aten.rnn_tanh.data", "aten.rnn_relu.data")
def packed_rnn(
    data: TensorMeta,
    batch_sizes: TensorMeta,
    hx: TensorMeta,
    params: list[TensorMeta],
    has_biases: bool,
    num_layers: int,
    bidirectional: bool,
) -> list[Shape]:
    check_packed(data, batch_sizes)
    count = 4 if has_biases else 2
    return [check_layers(data, hx, params, has_biases, num_layers, bidirectional, count), hx.shape]
