"""Decompositions of recurrent layers and cells: a layer is a loop over time.

A cell is a function of what its input contributes (`x W_ih + b_ih`, computed for all times at once), its state and
its weights for the state; it gives the next state, whose first part is the output.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, meta
from xdsl_exir.transforms.decompositions import decomposition
from xdsl_exir.transforms.regions import Values, scan

State: TypeAlias = tuple[SSAValue, ...]


@dataclass(frozen=True)
class Weights:
    """Parameters of one layer in one direction."""

    w_ih: SSAValue
    w_hh: SSAValue
    b_ih: SSAValue | None = None
    b_hh: SSAValue | None = None
    w_hr: SSAValue | None = None
    """Projects the output (LSTM with `proj_size`)."""

    @property
    def for_state(self) -> list[SSAValue]:
        """Those that are there and meet the state."""
        return [value for value in (self.w_hh, self.b_hh, self.w_hr) if value is not None]

    def of_state(self, others: Values) -> Weights:
        """With others in place of these."""
        given = iter(others)
        return replace(self, w_hh=next(given), b_hh=self.b_hh and next(given), w_hr=self.w_hr and next(given))


Cell: TypeAlias = Callable[[Namespace, SSAValue, State, Weights], State]

# --- cells ---------------------------------------------------------------------------------------------------


def lstm_step(aten: Namespace, gates: SSAValue, state: State, weights: Weights) -> State:
    hidden, memory = state
    gates = aten.add.Tensor(aten.linear(hidden, weights.w_hh, weights.b_hh), gates)
    entry, forget, candidate, exit = aten.chunk(gates, 4, 1)
    entry, forget, exit = (aten.sigmoid(gate) for gate in (entry, forget, exit))
    memory = aten.add.Tensor(aten.mul.Tensor(forget, memory), aten.mul.Tensor(entry, aten.tanh(candidate)))
    hidden = aten.mul.Tensor(exit, aten.tanh(memory))
    if weights.w_hr is not None:
        hidden = aten.linear(hidden, weights.w_hr)
    return hidden, memory


def gru_step(aten: Namespace, gates: SSAValue, state: State, weights: Weights) -> State:
    [hidden] = state
    of_input = aten.chunk(gates, 3, 1)
    of_state = aten.chunk(aten.linear(hidden, weights.w_hh, weights.b_hh), 3, 1)
    reset, update = (aten.sigmoid(aten.add.Tensor(of_state[n], of_input[n])) for n in range(2))
    new = aten.tanh(aten.add.Tensor(of_input[2], aten.mul.Tensor(of_state[2], reset)))
    return (aten.add.Tensor(aten.mul.Tensor(aten.sub.Tensor(hidden, new), update), new),)


def simple_step(activation: str) -> Cell:
    def step(aten: Namespace, gates: SSAValue, state: State, weights: Weights) -> State:
        [hidden] = state
        sum = aten.add.Tensor(aten.linear(hidden, weights.w_hh, weights.b_hh), gates)
        return (getattr(aten, activation)(sum),)

    return step


def cell(aten: Namespace, step: Cell, input: SSAValue, state: State, weights: Weights) -> State:
    return step(aten, aten.linear(input, weights.w_ih, weights.b_ih), state, weights)


@decomposition("aten.lstm_cell")
def lstm_cell(
    aten: Namespace,
    input: SSAValue,
    hx: list[SSAValue],
    w_ih: SSAValue,
    w_hh: SSAValue,
    b_ih: SSAValue | None,
    b_hh: SSAValue | None,
) -> State:
    return cell(aten, lstm_step, input, tuple(hx), Weights(w_ih, w_hh, b_ih, b_hh))


def _register_cell(name: str, step: Cell) -> None:
    def rule(
        aten: Namespace,
        input: SSAValue,
        hx: SSAValue,
        w_ih: SSAValue,
        w_hh: SSAValue,
        b_ih: SSAValue | None,
        b_hh: SSAValue | None,
    ) -> SSAValue:
        return cell(aten, step, input, (hx,), Weights(w_ih, w_hh, b_ih, b_hh))[0]

    decomposition(name)(rule)


_register_cell("aten.gru_cell", gru_step)
_register_cell("aten.rnn_tanh_cell", simple_step("tanh"))
_register_cell("aten.rnn_relu_cell", simple_step("relu"))

# --- layers --------------------------------------------------------------------------------------------------


def one_layer(
    aten: Namespace, step: Cell, input: SSAValue, state: State, weights: Weights, backwards: bool
) -> tuple[SSAValue, State]:
    """One layer in one direction: `[T, N, I]` to `[T, N, H]`, and the last state."""
    if backwards:
        # The times are turned round, as in PyTorch's `scan(reverse=True)`.
        output, state = one_layer(aten, step, aten.flip(input, [0]), state, weights, False)
        return aten.flip(output, [0]), state
    gates = aten.linear(input, weights.w_ih, weights.b_ih)
    if meta(input).shape[0] == 1:
        state = step(aten, aten.select.int(gates, 0, 0), state, weights)
        return aten.unsqueeze(state[0], 0), state

    def combine(state: Values, gates: Values, used: Values) -> tuple[Values, Values]:
        after = step(aten, gates[0], tuple(state), weights.of_state(used))
        return after, after[:1]

    last, [output] = scan(aten, combine, state, [gates], weights.for_state)
    return output, tuple(last)


def layers(
    aten: Namespace,
    step: Cell,
    input: SSAValue,
    hx: Sequence[SSAValue],
    params: Sequence[SSAValue],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[SSAValue, ...]:
    """A stack of layers. `hx` are the parts of the state, `[layers directions, N, H]` each; gives output and those."""
    directions = 2 if bidirectional else 1
    scans = directions * num_layers
    size = len(params) // scans
    if batch_first:
        input = aten.transpose.int(input, 0, 1)
    states: list[State] = []
    for layer in range(num_layers):
        outputs: list[SSAValue] = []
        for direction in range(directions):
            number = layer * directions + direction
            weights = weights_of(params[number * size : (number + 1) * size], has_biases)
            start = tuple(aten.select.int(part, 0, number) for part in hx)
            output, state = one_layer(aten, step, input, start, weights, direction == 1)
            outputs.append(output)
            states.append(state)
        input = aten.cat(outputs, 2) if bidirectional else outputs[0]
        if train and dropout > 0 and layer < num_layers - 1:
            input = aten.dropout(input, dropout, True)
    if batch_first:
        input = aten.transpose.int(input, 0, 1)
    return input, *(aten.stack(list(parts)) for parts in zip(*states, strict=True))


def weights_of(params: Sequence[SSAValue], has_biases: bool) -> Weights:
    """`w_ih, w_hh[, b_ih, b_hh][, w_hr]`"""
    if has_biases:
        return Weights(*params)
    return Weights(*params[:2], w_hr=params[2] if len(params) > 2 else None)


def _register_layers(name: str, step: Cell) -> None:
    """The rule of a network. States are a tensor, or a list of them where a layer has several."""

    def rule(
        aten: Namespace,
        input: SSAValue,
        hx: SSAValue | list[SSAValue],
        params: list[SSAValue],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
    ) -> tuple[SSAValue, ...]:
        states = [hx] if isinstance(hx, SSAValue) else hx
        options = (has_biases, num_layers, dropout, train, bidirectional, batch_first)
        return layers(aten, step, input, states, params, *options)

    decomposition(name)(rule)


_register_layers("aten.lstm.input", lstm_step)
_register_layers("aten.gru.input", gru_step)
_register_layers("aten.rnn_tanh.input", simple_step("tanh"))
_register_layers("aten.rnn_relu.input", simple_step("relu"))
