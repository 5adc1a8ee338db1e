"""Programs with their backward pass: how a method is called that has one, what is given and what comes besides, outputs by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl_exir.exchange.pytree import LEAF, TreeSpec, leaf_paths
from xdsl_exir.program import CallingConvention, Program, Slot
from xdsl_exir.transforms.grad import Grad, added_inputs, former_gradients


def differentiated(program: Program, asked: Grad) -> Program:
    """A program of which a method has its backward pass; `asked.of` may be the name of an output."""
    program = program.inlined()
    before = program.method(asked.method)
    name = before.sym_name.data
    convention = program.conventions.get(name)
    if isinstance(asked.of, str) and convention is not None:
        number = output_number(convention, asked.of)
        asked = asked if number is None else replace(asked, of=number)
    done = program.apply(asked)
    if convention is None:
        return done.verify()
    cotangents = added_inputs(before, done.method(name))
    convention = _with_outputs(_with_inputs(convention, cotangents), former_gradients(before))
    return replace(done, conventions={**program.conventions, name: convention}).verify()


def output_number(convention: CallingConvention, name: str) -> int | None:
    """Which of the outputs that are computed has a name: a key, a field, or the whole way to it (`[0]['loss']`)."""
    paths = zip(leaf_paths(convention.out_spec), convention.outputs, strict=True)
    computed = [path for path, slot in paths if not slot.is_constant]
    ways = (name, f"[{name!r}]", f".{name}")
    return next((number for number, path in enumerate(computed) if path in ways), None)


def _with_inputs(convention: CallingConvention, names: Sequence[str]) -> CallingConvention:
    """With further keyword arguments."""
    if not names:
        return convention
    positional, by_name = convention.in_spec.children
    leaves = (LEAF,) * len(names)
    more = replace(by_name, context=(*by_name.context, *names), children=(*by_name.children, *leaves))
    return replace(
        convention,
        in_spec=replace(convention.in_spec, children=(positional, more)),
        inputs=(*convention.inputs, *(Slot(name=name) for name in names)),
        arg_names=convention.arg_names and (*convention.arg_names, *names),
    )


def _with_outputs(convention: CallingConvention, names: Sequence[str]) -> CallingConvention:
    """With gradients, by name, beside what it gave."""
    if not names:
        return convention
    gradients = TreeSpec("builtins.dict", tuple(names), (LEAF,) * len(names))
    return replace(
        convention,
        out_spec=TreeSpec("builtins.tuple", None, (convention.out_spec, gradients)),
        outputs=(*convention.outputs, *(Slot() for _ in names)),
    )
