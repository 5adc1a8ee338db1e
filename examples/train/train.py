"""Trains the digit classifier without PyTorch: loss, gradients and optimiser are part of the program.

    python examples/train/train.py [sgd|adam] [steps]

The program is the classifier as `torch.export` saved it for inference (bench/digits). Four passes make a training step of it,
each printable like any other: batches are normalised by their own statistics, the loss is appended, `grad` adds the
backward pass, and each gradient becomes an update. Parameters are buffers that the program writes to, and so is what the
optimiser remembers: a call is a step. `compare.py` runs PyTorch's loop beside this one.
"""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

import xdsl_exir
from xdsl_exir.dialects import aten as dialect
from xdsl_exir.dialects.aten import BatchNormOp
from xdsl_exir.dialects.builder import Builder, Namespace, meta
from xdsl_exir.dialects.dtypes import Double, Long
from xdsl_exir.dialects.signature import (
    INPUT,
    OUTPUT,
    InputAttr,
    InputKind,
    InputSpec,
    OutputAttr,
    OutputKind,
    OutputSpec,
)
from xdsl_exir.dialects.tensors import tensor_type
from xdsl_exir.exchange.tensor_data import TensorData
from xdsl_exir.interpreter.interpreter import dtype_of
from xdsl_exir.program import Program, methods_of, state_of

DIGITS = Path(__file__).parents[2] / "bench" / "digits"

# --- changing a method and its signature ---------------------------------------------------------------------


class Method:
    """The method of a module, before whose end operations are built, and whose inputs and outputs may change."""

    def __init__(self, ctx: Context, module: ModuleOp):
        [self.function] = methods_of(module).values()
        self.state = state_of(ctx)
        self.block = self.function.body.block
        self.end = self.function.get_return_op()
        self.aten = Namespace(Builder(dialect.OPERATORS, self.end))
        self.corrections: list[SSAValue] = []
        self.inputs: list[InputSpec] = _specs(self.function.arg_attrs, INPUT)
        specs: list[OutputSpec] = _specs(self.function.res_attrs, OUTPUT)
        self.outputs: list[tuple[OutputSpec, SSAValue]] = list(zip(specs, self.end.arguments, strict=True))

    def argument(self, name: str) -> SSAValue:
        """An input, or a piece of state."""
        return self.block.args[[spec.target for spec in self.inputs].index(name)]

    def add_input(self, name: str, type: Attribute) -> SSAValue:
        self.inputs.append(InputSpec(InputKind.USER_INPUT, name))
        return self.block.insert_arg(type, len(self.block.args))

    def add_state(self, name: str, array: np.ndarray[Any, Any], type: Attribute) -> SSAValue:
        """A buffer, which begins with an array."""
        place = [spec.kind for spec in self.inputs].index(InputKind.USER_INPUT)
        self.state[name] = TensorData.of(array, dtype_of(array.dtype))
        self.inputs.insert(place, InputSpec(InputKind.BUFFER, name))
        return self.block.insert_arg(type, place)

    def remember(self, name: str, like: SSAValue) -> SSAValue:
        """A buffer that begins with zeros, as large as a value."""
        held = meta(like)
        shape = [size for size in held.shape if isinstance(size, int)]
        return self.add_state(name, np.zeros(shape, held.dtype.numpy), like.type)

    def write(self, name: str, value: SSAValue) -> None:
        """Writes to a buffer, when the method ends."""
        self.outputs.insert(0, (OutputSpec(OutputKind.BUFFER_MUTATION, name), value))

    def done(self) -> None:
        """Signs the method as it is now."""
        self.end.operands = [value for _, value in self.outputs]
        self.function.arg_attrs = _attrs(INPUT, [InputAttr(spec) for spec in self.inputs])
        self.function.res_attrs = _attrs(OUTPUT, [OutputAttr(spec) for spec, _ in self.outputs])
        self.function.update_function_type()


def _specs(attrs: ArrayAttr[DictionaryAttr] | None, name: str) -> list[Any]:
    held: list[Any] = [item.data[name] for item in attrs or ()]
    return [attr.data for attr in held]


def _attrs(name: str, specs: Sequence[Attribute]) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr(DictionaryAttr({name: spec}) for spec in specs)


# --- the passes ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NormalizeByBatch(ModulePass):
    """Batch norms take a batch's own statistics, and keep running ones."""

    name = "normalize-by-batch"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        method = Method(ctx, op)
        names = dict(zip(method.block.args, (spec.target for spec in method.inputs), strict=True))
        for norm in [each for each in method.block.ops if isinstance(each, BatchNormOp)]:
            given: dict[str, Any] = norm.arguments()
            state = [given[name] for name in ("input", "weight", "bias", "running_mean", "running_var")]
            aten = Namespace(Builder(dialect.OPERATORS, norm))
            normal, _, _, *running = aten._native_batch_norm_legit_functional(
                *state, True, given["momentum"], given["eps"]
            )
            norm.results[0].replace_all_uses_with(normal)
            Rewriter.erase_op(norm)
            for old, new in zip(state[3:], running, strict=True):
                method.write(names[old], new)
        method.done()


@dataclass(frozen=True)
class CrossEntropy(ModulePass):
    """In place of scores the method gives their loss, for labels that are given besides."""

    name = "cross-entropy"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        method = Method(ctx, op)
        spec, scores = method.outputs.pop()
        labels = method.add_input("labels", tensor_type((meta(scores).shape[0],), Long))
        method.outputs.append((spec, method.aten.cross_entropy_loss(scores, labels)))
        method.done()


class Optimiser(ModulePass, ABC):
    """Gradients become what is written to parameters, which are buffers from then on."""

    @abstractmethod
    def updated(self, method: Method, name: str, parameter: SSAValue, gradient: SSAValue) -> SSAValue:
        """What a parameter becomes."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        method = Method(ctx, op)
        self.begin(method)
        gradients = [out for out in method.outputs if out[0].kind is OutputKind.GRADIENT_TO_PARAMETER]
        method.outputs = [out for out in method.outputs if out not in gradients]
        for spec, gradient in gradients:
            parameter = method.argument(spec.target)
            method.write(spec.target, self.updated(method, spec.target, parameter, gradient))
        method.inputs = [
            replace(spec, kind=InputKind.BUFFER) if spec.kind is InputKind.PARAMETER else spec
            for spec in method.inputs
        ]
        method.done()

    def begin(self, method: Method) -> None:
        """What is done once a step."""


@dataclass(frozen=True)
class Sgd(Optimiser):
    """`torch.optim.SGD` with momentum."""

    name = "sgd"

    lr: float = 0.05
    momentum: float = 0.9

    def updated(self, method: Method, name: str, parameter: SSAValue, gradient: SSAValue) -> SSAValue:
        aten = method.aten
        kept = method.remember(f"momentum.{name}", parameter)
        speed = aten.add.Tensor(aten.mul.Scalar(kept, self.momentum), gradient)
        method.write(f"momentum.{name}", speed)
        return aten.sub.Tensor(parameter, aten.mul.Scalar(speed, self.lr))


@dataclass(frozen=True)
class Adam(Optimiser):
    """`torch.optim.Adam`."""

    name = "adam"

    lr: float = 1e-2
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8

    def begin(self, method: Method) -> None:
        """Counts the steps; the averages are of so few numbers at first that they are too small."""
        before = method.add_state("step", np.zeros((), np.float64), tensor_type((), Double))
        step = method.aten.add.Scalar(before, 1)
        method.write("step", step)
        method.corrections = [
            method.aten.rsub.Scalar(method.aten.pow.Scalar(beta, step), 1)
            for beta in (self.beta1, self.beta2)
        ]

    def updated(self, method: Method, name: str, parameter: SSAValue, gradient: SSAValue) -> SSAValue:
        aten = method.aten
        averages: list[SSAValue] = []
        for kind, beta, value in (
            ("mean", self.beta1, gradient),
            ("square", self.beta2, aten.mul.Tensor(gradient, gradient)),
        ):
            kept = method.remember(f"{kind}.{name}", parameter)
            average = aten.add.Tensor(aten.mul.Scalar(kept, beta), aten.mul.Scalar(value, 1 - beta))
            method.write(f"{kind}.{name}", average)
            averages.append(average)
        mean, square = (
            aten.div.Tensor(average, correction)
            for average, correction in zip(averages, method.corrections, strict=True)
        )
        direction = aten.div.Tensor(mean, aten.add.Scalar(aten.sqrt(square), self.eps))
        return aten.sub.Tensor(parameter, aten.mul.Scalar(direction, self.lr))


# --- the loop ------------------------------------------------------------------------------------------------

OPTIMISERS: dict[str, Optimiser] = {"sgd": Sgd(), "adam": Adam()}


def training_step(optimiser: Optimiser) -> Program:
    """Images and labels to their loss; parameters, statistics and what the optimiser remembers are changed."""
    program = replace(xdsl_exir.load(DIGITS / "digits.pt2"), conventions={})
    loss = program.transform(NormalizeByBatch()).transform(CrossEntropy())
    return loss.grad().transform(optimiser)


def initial_state(program: Program) -> dict[str, np.ndarray[Any, Any]]:
    """What training begins with: weights uniform within 1 / sqrt(inputs), norms that change nothing, and no memories."""
    random = np.random.default_rng(0)
    found: dict[str, np.ndarray[Any, Any]] = {}
    for name, data in program.state.items():
        shape, dtype = data.sizes, data.dtype.numpy
        of_norm = f"{name.rpartition('.')[0]}.running_var" in program.state
        if name.endswith("running_var") or (of_norm and name.endswith("weight")):
            found[name] = np.ones(shape, dtype)
        elif of_norm or name.split(".")[0] in ("momentum", "mean", "square", "step"):
            found[name] = np.zeros(shape, dtype)
        else:
            bound = (np.prod(shape[1:]) if len(shape) > 1 else 64) ** -0.5
            found[name] = random.uniform(-bound, bound, shape).astype(dtype)
    return found


def data() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Images, and what they show."""
    held = np.load(DIGITS / "test_images.npz")
    return held["images"], held["labels"].astype(np.int64)


def train(program: Program, steps: int, target: str = "native") -> tuple[list[float], dict[str, Any]]:
    """The loss before each step, and the state that they leave."""
    run = xdsl_exir.compile(program, target)
    run.load_state(initial_state(program), strict=False)
    images, labels = data()
    losses = [float(run.flat([images, labels])[0]) for _ in range(steps)]
    return losses, {name: run.array(name) for name in program.state}


def main(optimiser: str = "adam", steps: str = "60") -> None:
    program = training_step(OPTIMISERS[optimiser])
    start = time.perf_counter()
    losses, state = train(program, int(steps))
    for step in range(0, len(losses), 10):
        print(f"step {step:3}: loss {losses[step]:.4f}")
    print(f"{steps} steps, {time.perf_counter() - start:.1f} s with compilation")
    classifier = xdsl_exir.compile(xdsl_exir.load(DIGITS / "digits.pt2"), "native")
    classifier.load_state({name: state[name] for name in classifier.program.state})
    images, labels = data()
    print(f"{np.mean(classifier(images).argmax(1) == labels):.1%} of the images are read right")


if __name__ == "__main__":
    main(*sys.argv[1:])
