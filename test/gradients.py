"""Gradients against PyTorch's autograd, over its samples of operators, in float64.

    python test/gradients.py [REGEX of names] [--samples 3] [--native] [--limit 300]
    python test/gradients.py --models [REGEX of names]

Each sample is exported, differentiated here (`program.grad`, by all its floating-point inputs, from random gradients of all
outputs that have some), run, and compared with `torch.autograd.grad`: the largest difference over the largest gradient has to be
less than 1e-9, or a hundredth of how far autograd is from central differences (it is wrong of `as_strided_scatter` of what lies
otherwise than `self`, and rounds a sixth of `hardsigmoid` to float32). A line for what is not equal, then how many were; `--limit`
takes so many operators, evenly chosen.

With `--models` the models of bench/models, gradients of all parameters, interpreted and native: in float64 against autograd, and in
float32, where autograd's own error against float64 stands beside ours.
"""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import argparse
import collections
import logging
import re
import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch
from torch.utils._pytree import tree_leaves

import xdsl_exir
from xdsl_exir.errors import ExirError, UnsupportedError
from xdsl_exir.tools.missing import sample_modules

LARGEST = 1e-9
"""Relative errors have to be less."""


def operators() -> Iterator[Any]:
    """What PyTorch has gradients of, in float64."""
    from torch.testing._internal.common_methods_invocations import op_db

    for info in op_db:
        if torch.float64 in info.dtypes and info.supports_autograd:
            yield info


def name_of(info: Any) -> str:
    return f"{info.name}.{info.variant_test_name}" if info.variant_test_name else info.name


def is_differentiable(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex())


ROUNDING = 1e-6
"""A largest value that is less counts as so much: what is zero but for rounding."""


class NotComparable(Exception):
    """PyTorch has no gradients of this, or does not export it."""


def differentiable(module: Any, inputs: tuple[Any, ...]) -> list[int]:
    """Which inputs PyTorch has gradients of."""
    found = []
    for number, x in enumerate(inputs):
        if is_differentiable(x):
            leaves = [each.detach().clone() for each in inputs]
            leaves[number].requires_grad_()
            try:
                module(*leaves)
            except RuntimeError:
                continue
            found.append(number)
    return found


def autograd(module: Any, inputs: tuple[Any, ...]) -> tuple[list[Any], list[Any], list[Any]]:
    """The outputs, the gradients that they are given, and those that the inputs get of them."""
    leaves = [x.detach().clone() for x in inputs]
    for number in differentiable(module, inputs):
        leaves[number].requires_grad_()
    torch.manual_seed(0)
    try:
        outputs = [value for value in module(*leaves) if is_differentiable(value)]
    except RuntimeError as error:
        raise NotComparable(str(error)) from error
    if not any(value.requires_grad for value in outputs):
        raise NotComparable("no output has a gradient")
    generator = torch.Generator().manual_seed(1)
    given = [
        torch.randn(value.shape, dtype=value.dtype, generator=generator)
        if value.requires_grad
        else torch.zeros_like(value)
        for value in outputs
    ]
    wanted = [leaf for leaf in leaves if leaf.requires_grad]
    pairs = [pair for pair in zip(outputs, given, strict=True) if pair[0].requires_grad]
    ends, seeds = zip(*pairs, strict=True)
    try:
        found = torch.autograd.grad(ends, wanted, seeds, allow_unused=True)
    except RuntimeError as error:
        raise NotComparable(str(error)) from error
    zeros = (torch.zeros_like(leaf) for leaf in wanted)
    grads = [zero if grad is None else grad for grad, zero in zip(found, zeros, strict=True)]
    return outputs, given, grads


SEEDS = (0, 42)
"""Of random numbers: ours, and the one that PyTorch's samples set themselves."""


def exported(module: Any, inputs: tuple[Any, ...]) -> Any:
    try:
        return torch.export.export(module, inputs)
    except Exception as error:  # PyTorch's refusals are of all kinds
        raise NotComparable(f"export: {type(error).__name__}") from error


def error_of(got: np.ndarray, want: np.ndarray) -> float:
    """The largest difference over the largest value; what is no number has to be where it is in the other."""
    if got.shape != want.shape:
        return np.inf
    got = got.astype(want.dtype)
    if not np.array_equal(np.isfinite(got), np.isfinite(want)):
        return np.inf
    finite = np.isfinite(want)
    got, want = got[finite], want[finite]
    if not want.size:
        return 0.0
    return float(np.abs(got - want).max() / max(np.abs(want).max(), ROUNDING))


def compare(module: Any, inputs: tuple[Any, ...], target: str = "interpreter") -> float:
    """The largest relative error. Raises `UnsupportedError` for what cannot be differentiated here, `NotComparable` for what PyTorch cannot."""
    inputs = tuple(x.detach() for x in inputs)
    outputs, given, wanted = autograd(module, inputs)
    program = xdsl_exir.from_exported_program(exported(module, inputs))
    function = program.method()
    specs = [attrs.data["exir.input"].data for attrs in function.arg_attrs or ()]
    users = [spec.target for spec in specs if spec.kind.value == "user_input"]
    names = [users[number] for number in differentiable(module, inputs)]
    joint = program.grad(names, cotangents=True)
    run = xdsl_exir.compile(joint, target, fallback="interpreter")
    for seed in SEEDS:
        run.manual_seed(seed)
        results = run.flat([*inputs, *given])
        floats = [result for result in map(np.asarray, results) if result.dtype.kind not in "biu"]
        if all(
            error_of(result, array(output)) < 1e-3 for result, output in zip(floats, outputs, strict=True)
        ):
            break
    else:
        raise NotComparable("the forward pass draws other numbers, or gives vectors of other signs")
    found = [np.asarray(run.gradients[name]) for name in names]
    error = largest(found, list(map(array, wanted)))
    if error >= LARGEST and not any(x.is_complex() for x in (*inputs, *outputs)):
        exact = by_differences(module, inputs, given)
        own, theirs = largest(found, exact), largest(list(map(array, wanted)), exact)
        if own < DIFFERENCES and own * 100 < theirs:
            return 0.0
    return error


def largest(found: list[np.ndarray], wanted: list[np.ndarray]) -> float:
    return max(error_of(*pair) for pair in zip(found, wanted, strict=True))


DIFFERENCES = 1e-9
"""So exact are central differences of what is a straight line, at least."""


def by_differences(module: Any, inputs: tuple[Any, ...], given: list[Any]) -> list[np.ndarray]:
    """The gradients as central differences: of each number of each input, how the weighted outputs change with it."""

    def weighted(changed: list[Any]) -> float:
        with torch.no_grad():
            outputs = [value for value in module(*changed) if is_differentiable(value)]
        return float(sum((x * each).sum() for x, each in zip(outputs, given, strict=True)))

    found, step = [], 2.0**-12
    for number in differentiable(module, inputs):
        gradient = np.zeros(inputs[number].shape)
        for place in np.ndindex(gradient.shape):
            sides = []
            for change in (step, -step):
                changed = [x.detach().clone() for x in inputs]
                changed[number][place] += change
                sides.append(weighted(changed))
            gradient[place] = (sides[0] - sides[1]) / (2 * step)
        found.append(gradient)
    return found


def array(tensor: Any) -> np.ndarray:
    wide = tensor.detach().double() if tensor.dtype in (torch.bfloat16, torch.float16) else tensor.detach()
    return wide.resolve_conj().resolve_neg().numpy(force=True)


def verdict(module: Any, inputs: tuple[Any, ...], target: str) -> tuple[str, str]:
    """What came of a sample, and why."""
    try:
        error = compare(module, inputs, target)
    except NotComparable as reason:
        return "not compared", str(reason)
    except UnsupportedError as reason:
        return "refused", str(reason)
    except ExirError as reason:
        return "error", str(reason)
    except Exception as reason:
        return "crash", f"{type(reason).__name__}: {reason}"
    return ("equal", "") if error < LARGEST else ("wrong", f"{error:.2e}")


class Weighted(torch.nn.Module):
    """A loss of a model: its outputs, weighted at random."""

    def __init__(self, model: Any, outputs: Any):
        super().__init__()
        self.model = model
        generator = torch.Generator().manual_seed(0)
        weights = (torch.randn(x.shape, generator=generator) / x.numel() ** 0.5 for x in tree_leaves(outputs))
        for number, each in enumerate(weights):
            self.register_buffer(f"weights_{number}", each)

    def forward(self, *inputs: Any) -> Any:
        outputs = tree_leaves(self.model(*inputs))
        return sum((x * getattr(self, f"weights_{number}")).sum() for number, x in enumerate(outputs))


def model_of(name: str, dtype: Any) -> tuple[Any, tuple[Any, ...]]:
    """A model of bench/models with its loss, and its inputs."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "bench" / "models"))
    model, inputs = import_module(name).get_model_and_inputs()
    model.requires_grad_().to(
        dtype
    )  # before it runs: what it computes when it is made may have the dtype already
    inputs = tuple(x.to(dtype) if x.is_floating_point() else x for x in inputs)
    with torch.no_grad():
        return Weighted(model, model(*inputs)).to(dtype), inputs


def gradients_of(name: str, dtype: Any, target: str | None) -> dict[str, np.ndarray]:
    """Those of all parameters: PyTorch's where no target is named. In float64 models have no float32 in between, as Llama's norms do."""
    wide = torch.Tensor.double if dtype is torch.float64 else torch.Tensor.float
    with mock.patch.object(torch.Tensor, "float", wide):
        return _gradients_of(*model_of(name, dtype), target)


def _gradients_of(module: Any, inputs: tuple[Any, ...], target: str | None) -> dict[str, np.ndarray]:
    if target is None:
        named = dict(module.named_parameters())
        found = torch.autograd.grad(module(*inputs), list(named.values()))
        return {name: gradient.numpy() for name, gradient in zip(named, found, strict=True)}
    program = xdsl_exir.from_exported_program(torch.export.export(module, inputs))
    run = xdsl_exir.compile(program.grad(), target)
    run.flat(list(inputs))
    return {name: np.array(gradient) for name, gradient in run.gradients.items()}


def largest_error(got: dict[str, np.ndarray], want: dict[str, np.ndarray]) -> float:
    assert got.keys() == want.keys()
    return max(error_of(got[name].astype(np.float64), want[name].astype(np.float64)) for name in want)


def compare_models(pattern: str) -> int:
    """Prints the largest relative error of each model; gives how many are not equal."""
    wrong = 0
    for name in (name for name in MODELS if re.search(pattern, name)):
        exact = gradients_of(name, torch.float64, None)
        count = sum(gradient.size for gradient in exact.values())
        errors = [f"{name}: {len(exact)} parameters, {count:,} numbers"]
        for target in ("interpreter", "native"):
            error = largest_error(gradients_of(name, torch.float64, target), exact)
            wrong += error >= LARGEST
            errors.append(f"{target} float64 {error:.1e}")
        for target in (None, "interpreter", "native"):
            error = largest_error(gradients_of(name, torch.float32, target), exact)
            errors.append(f"{target or 'autograd'} float32 {error:.1e}")
        print("; ".join(errors), flush=True)
    return wrong


MODELS = ("mlp", "bert6", "llama8", "mobilenetv2", "resnet18")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--native", action="store_true")
    parser.add_argument("--models", action="store_true")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    if args.models:
        return compare_models(args.pattern)
    infos = [info for info in operators() if re.search(args.pattern, name_of(info))]
    if args.limit is not None:
        infos = [infos[i * len(infos) // args.limit] for i in range(args.limit)]
    counts: collections.Counter[str] = collections.Counter()
    passed = collections.Counter[str]()
    for info in infos:
        torch.manual_seed(0)
        np.random.seed(0)
        try:
            # To their end: a generator of PyTorch's that is collected in an export breaks the tracer.
            samples = list(sample_modules(info, torch.float64))[: args.samples]
        except Exception as error:
            print(f"{name_of(info)}: no samples, {type(error).__name__}", flush=True)
            continue
        kinds = set()
        for number, (module, inputs) in enumerate(samples):
            kind, why = verdict(module, inputs, "native" if args.native else "interpreter")
            counts[kind] += 1
            kinds.add(kind)
            if kind != "equal":
                print(f"{name_of(info)}[{number}]: {kind}: {why[:300]}", flush=True)
        passed[
            "all equal"
            if kinds <= {"equal", "not compared"} and "equal" in kinds
            else "other"
            if kinds - {"not compared"}
            else "not compared"
        ] += 1
    print(f"samples: {dict(counts)}; operators: {dict(passed)}")
    return 1 if counts["wrong"] or counts["crash"] or counts["error"] else 0


if __name__ == "__main__":
    sys.exit(main())
