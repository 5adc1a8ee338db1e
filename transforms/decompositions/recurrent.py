"""Decompositions of recurrent layers and cells: a layer is a loop over time.

A cell is a function of what its input contributes (`x W_ih + b_ih`, computed for all times at once), its state and
its weights for the state; it gives the next state, whose first part is the output.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, meta, sizes
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
    aten: Namespace,
    step: Cell,
    input: SSAValue,
    state: State,
    weights: Weights,
    backwards: bool,
    there: SSAValue | None = None,
) -> tuple[SSAValue, State]:
    """One layer in one direction: `[T, N, I]` to `[T, N, H]`, and the last state.

    `there`, `[T, N, 1]`, says of sequences of several lengths which steps there are: others change no state.
    """
    if backwards:
        # The times are turned round, as in PyTorch's `scan(reverse=True)`.
        there = there and aten.flip(there, [0])
        output, state = one_layer(aten, step, aten.flip(input, [0]), state, weights, False, there)
        return aten.flip(output, [0]), state
    gates = aten.linear(input, weights.w_ih, weights.b_ih)
    if meta(input).shape[0] == 1 and there is None:
        state = step(aten, aten.select.int(gates, 0, 0), state, weights)
        return aten.unsqueeze(state[0], 0), state

    def combine(state: Values, elements: Values, used: Values) -> tuple[Values, Values]:
        after = step(aten, elements[0], tuple(state), weights.of_state(used))
        for is_there in elements[1:]:
            pairs = zip(after, state, strict=True)
            after = tuple(aten.where.self(is_there, new, old) for new, old in pairs)
        return after, after[:1]

    xs = [gates] if there is None else [gates, there]
    last, [output] = scan(aten, combine, state, xs, weights.for_state)
    return output, tuple(last)


def layers(
    run: Callable[[SSAValue, State, Weights, bool], tuple[SSAValue, State]],
    aten: Namespace,
    input: SSAValue,
    hx: Sequence[SSAValue],
    params: Sequence[SSAValue],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> tuple[SSAValue, ...]:
    """A stack of layers. `run` is one in one direction: it gives output and last state.

    `hx` are the parts of the state, `[layers directions, N, H]` each; gives output and those.
    """
    directions = 2 if bidirectional else 1
    size = len(params) // (directions * num_layers)
    states: list[State] = []
    for layer in range(num_layers):
        outputs: list[SSAValue] = []
        for direction in range(directions):
            number = layer * directions + direction
            weights = weights_of(params[number * size : (number + 1) * size], has_biases)
            start = tuple(aten.select.int(part, 0, number) for part in hx)
            output, state = run(input, start, weights, direction == 1)
            outputs.append(output)
            states.append(state)
        input = aten.cat(outputs, -1) if bidirectional else outputs[0]
        if train and dropout > 0 and layer < num_layers - 1:
            input = aten.dropout(input, dropout, True)
    return input, *(aten.stack(list(parts)) for parts in zip(*states, strict=True))


@dataclass(frozen=True)
class Packed:
    """How the rows of a packed sequence lie: those of all sequences' first steps, then those of the second steps of the
    sequences that have one, and so on; longer sequences come first."""

    rows: SSAValue
    """By step and sequence, `[T, N]`, the row; of a step that is not there any."""
    there: SSAValue
    """`[T, N, 1]`, which steps there are."""
    places: SSAValue
    """By row, its place among all steps of all sequences."""

    @staticmethod
    def of(aten: Namespace, data: SSAValue, batch_sizes: SSAValue, state: SSAValue) -> Packed:
        """`batch_sizes`, `[T]`, is how many sequences there are at each step."""
        batch = sizes(aten, state)[1]
        ends = aten.cumsum(batch_sizes, 0)
        begins = aten.sub.Tensor(ends, batch_sizes)
        sequences = aten.arange.start_step(0, batch)
        there = aten.lt.Tensor(sequences, aten.unsqueeze(batch_sizes, 1))
        rows = aten.add.Tensor(aten.unsqueeze(begins, 1), sequences)
        rows = aten.where.self(there, rows, aten.zeros_like(rows))
        all_rows = aten.arange.start_step(0, sizes(aten, data)[0])
        steps = aten.searchsorted.Tensor(ends, all_rows, right=True)
        before = aten.mul.Scalar(steps, batch)
        places = aten.add.Tensor(before, aten.sub.Tensor(all_rows, aten.index_select(begins, 0, steps)))
        return Packed(rows, aten.unsqueeze(there, 2), places)

    def run(
        self, aten: Namespace, step: Cell, data: SSAValue, state: State, weights: Weights, backwards: bool
    ) -> tuple[SSAValue, State]:
        """One layer in one direction on packed sequences, `[rows, I]` to `[rows, H]`."""
        padded = aten.index_select(data, 0, aten.view(self.rows, [-1]))
        padded = aten.view(padded, [*sizes(aten, self.rows), *sizes(aten, data)[1:]])
        output, state = one_layer(aten, step, padded, state, weights, backwards, self.there)
        return aten.index_select(aten.flatten.using_ints(output, 0, 1), 0, self.places), state


def weights_of(params: Sequence[SSAValue], has_biases: bool) -> Weights:
    """`w_ih, w_hh[, b_ih, b_hh][, w_hr]`"""
    if has_biases:
        return Weights(*params)
    return Weights(*params[:2], w_hr=params[2] if len(params) > 2 else None)


def _register_layers(name: str, step: Cell) -> None:
    """The rules of a network, of padded and of packed sequences. States are a tensor, or a list of them where a layer has several."""

    def padded(
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
        options = (has_biases, num_layers, dropout, train, bidirectional)
        input = aten.transpose.int(input, 0, 1) if batch_first else input
        output, *last = layers(partial(one_layer, aten, step), aten, input, states, params, *options)
        return aten.transpose.int(output, 0, 1) if batch_first else output, *last

    def packed(
        aten: Namespace,
        data: SSAValue,
        batch_sizes: SSAValue,
        hx: SSAValue | list[SSAValue],
        params: list[SSAValue],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
    ) -> tuple[SSAValue, ...]:
        states = [hx] if isinstance(hx, SSAValue) else hx
        options = (has_biases, num_layers, dropout, train, bidirectional)
        run = partial(Packed.of(aten, data, batch_sizes, states[0]).run, aten, step)
        return layers(run, aten, data, states, params, *options)

    decomposition(f"{name}.input")(padded)
    decomposition(f"{name}.data")(packed)


_register_layers("aten.lstm", lstm_step)
_register_layers("aten.gru", gru_step)
_register_layers("aten.rnn_tanh", simple_step("tanh"))
_register_layers("aten.rnn_relu", simple_step("relu"))
