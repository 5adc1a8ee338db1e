"""The way back to PyTorch, over everything: models, ordinary models, and PyTorch's samples of its operators.

    python test/round_trips.py [REGEX of names]

Each case is exported by PyTorch, in the training and the core dialect, saved by it, and read by this package. Then

    pt2         `program.save(".pt2")`, read by `torch.export.load`
    text        MLIR in custom and generic form, with locations, and FX text: read again, the module is the same
    mlir        `program.save(".mlir")` with its weights, read again: module, weights and calling convention
    torch       `program.to_exported_program()`, accepted by `torch.export`'s verifier
    edge        the same of `program.to_edge()`
    to_edge     ExecuTorch's `to_edge` takes both; where ExecuTorch is installed
    runtime     ExecuTorch's runtime runs what `to_executorch()` makes of `torch`; for the models alone

Everything that PyTorch runs has to give results equal to those of the program that came in, on a first and on a second
call, and to leave equal inputs. `pt2` and `torch` have to be the program itself (see `differences`).
"""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import collections
import copy
import importlib.util
import itertools
import logging
import operator
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from ordinary import ORDINARY
from torch.utils import _pytree as pytree
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir.errors import ExirError
from xdsl_exir.exporters.graph import graph_of
from xdsl_exir.importers.nodes import value_type
from xdsl_exir.program import Program, context
from xdsl_exir.tools.missing import sample_modules

STEPS = ("pt2", "text", "mlir", "torch", "edge", "to_edge", "runtime")
DIALECTS = ("training", "core")
MODELS = ("mlp", "bert6", "llama8", "resnet18", "mobilenetv2")
SAMPLES = 300
HAS_EXECUTORCH = importlib.util.find_spec("executorch") is not None


Made: TypeAlias = "tuple[torch.nn.Module, tuple[Any, ...]]"


@dataclass
class Case:
    """A module and what it is called with, made when they are needed."""

    name: str
    make: Callable[[], Made]

    @cached_property
    def made(self) -> Made:
        torch.manual_seed(0)
        return self.make()

    @property
    def args(self) -> tuple[Any, ...]:
        return self.made[1]


def models() -> Iterator[Case]:
    """The five of bench/models."""
    path = Path(__file__).parents[1] / "bench" / "export_models.py"
    spec = importlib.util.spec_from_file_location("export_models", path)
    assert spec is not None
    assert spec.loader is not None
    script = sys.modules["export_models"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    for name in MODELS:
        yield Case(f"model.{name}", partial(script.get_model_and_inputs, name))


def ordinary() -> Iterator[Case]:
    """Those of ordinary.py."""
    for name, make in ORDINARY.items():
        yield Case(f"ordinary.{name}", make)


def samples() -> Iterator[Case]:
    """The first of each operator that has samples in float32, of so many operators, evenly chosen."""
    from torch.testing._internal.common_methods_invocations import op_db

    infos = [info for info in op_db if torch.float32 in info.dtypes]
    chosen = [infos[i * len(infos) // SAMPLES] for i in range(SAMPLES)]
    for info in chosen:
        name = f"sample.{info.name}.{info.variant_test_name or 'default'}"
        yield Case(name, partial(first_sample, info))


def first_sample(info: Any) -> Any:
    # To their end: a generator of PyTorch's that is collected in an export breaks the tracer.
    first, *_ = sample_modules(info, torch.float32)
    return first


def cases() -> Iterator[Case]:
    """All cases."""
    yield from models()
    yield from ordinary()
    yield from samples()


# --- what is compared ----------------------------------------------------------------------------------------


def call(program: Any, args: tuple[Any, ...]) -> list[Any]:
    """What two calls of an exported program give, and what they leave of their inputs."""
    run, seen = copy.deepcopy(program.module()), []  # what it writes is the program's own
    for _ in range(2):
        mine = copy.deepcopy(args)
        torch.manual_seed(0)
        with torch.no_grad():
            seen += pytree.tree_leaves((run(*mine), mine))
    return seen


def assert_equal(got: list[Any], wanted: list[Any], layouts: bool = True, arbitrary: bool = False) -> None:
    """Raises `AssertionError` unless values are equal, and lie equally in memory; of arbitrary ones, types are."""
    assert len(got) == len(wanted), f"{len(got)} results for {len(wanted)}"
    for value, expected in zip(got, wanted, strict=True):
        if isinstance(expected, torch.Tensor):
            value, same = (
                (value, expected) if not arbitrary else (torch.zeros_like(value), torch.zeros_like(expected))
            )
            torch.testing.assert_close(value, same, rtol=1e-4, atol=1e-4, equal_nan=True)
            assert not layouts or value.stride() == expected.stride(), (
                f"strides {value.stride()} for {expected.stride()}"
            )
        else:
            assert value == expected or value != value, f"{value!r} for {expected!r}"


def operators(program: Any) -> set[Any]:
    """The operators of a program."""
    nodes = (node for module in program.graph_module.modules() for node in module.graph.nodes)
    return {node.target for node in nodes if isinstance(node.target, torch._ops.OpOverload)}


NORMS = {
    "aten.batch_norm.default": ("training",),
    "aten.native_batch_norm.default": ("training",),
    "aten.instance_norm.default": ("use_input_stats",),
}


def writes(program: Any) -> bool:
    """Whether a program has operators that write to their arguments, which come back as functional ones. Norms in
    training write their statistics, though their schemas do not say so."""
    return any(target._schema.is_mutable for target in operators(program)) or any(
        arguments(node).get(flag) == ("bool", True)
        for node in program.graph.nodes
        for flag in NORMS.get(str(node.target), ())
    )


def is_arbitrary(program: Any, decomposed: bool = False) -> bool:
    """Whether a program's values are whatever is in memory, or are drawn, which a decomposed one does otherwise."""
    targets = operators(program)
    drawn = any(torch.Tag.nondeterministic_seeded in target.tags for target in targets)
    return (decomposed and drawn) or any("empty" in target.name() for target in targets)


def name_of(node: torch.fx.Node) -> str:
    """A node's name; of one that is a result of another, which: PyTorch counts these, those that it removes as well."""
    if node.target is not operator.getitem:
        return node.name
    source, index = node.args
    return f"{name_of(source)}[{index}]"


def argument(value: Any) -> Any:
    """An argument of a node, comparable: nodes by name; which sequences are tuples PyTorch does not keep."""
    match value:
        case torch.fx.Node():
            return f"%{name_of(value)}"
        case tuple() | list():
            return tuple(map(argument, value))
        case dict():
            return {key: argument(item) for key, item in value.items()}
        case float():
            return repr(value)
        case torch.SymInt() | torch.SymFloat() | torch.SymBool():
            return str(value)
        case _:
            return type(value).__name__, value


def arguments(node: torch.fx.Node) -> dict[str, Any]:
    """A node's arguments by name, with the defaults of those that it leaves out."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return {str(name): argument(value) for name, value in [*enumerate(node.args), *node.kwargs.items()]}
    formal = node.target._schema.arguments
    # An offset that is left out is the operand's own.
    given = {"storage_offset": 0} if "as_strided" in str(node.target) else {}
    given |= {item.name: value for item, value in zip(formal, node.args, strict=False)} | node.kwargs
    return {
        item.name: argument(given.get(item.name, item.default_value if item.has_default_value() else None))
        for item in formal
    }


def value_of(node: torch.fx.Node) -> Any:
    """What a node's value is said to be."""
    value = node.meta.get("val")
    if isinstance(value, torch.Tensor):
        return value.dtype, tuple(map(str, value.shape)), str(value.device)
    return None if isinstance(value, tuple | list) else str(value)


def lines(module: torch.fx.GraphModule) -> Iterator[Any]:
    """The nodes of a graph and of its sub-graphs, as they are compared; results that nothing reads have no node."""
    for node in module.graph.nodes:
        if re.search(r"_unused_\d+$", node.name) and not node.users:
            continue
        yield node.op, name_of(node), str(node.target), arguments(node), value_of(node)
        if node.op == "get_attr" and isinstance(
            inner := getattr(module, str(node.target)), torch.fx.GraphModule
        ):
            yield from lines(inner)


def aspects(program: Any) -> dict[str, list[Any]]:
    """All of an exported program that has to come back, by what it is."""
    signature = program.graph_signature
    names = {node.name: name_of(node) for node in program.graph.nodes}

    def named(value: Any) -> str:
        return re.sub(r"name='(\w*)'", lambda found: f"name='{names.get(found[1], found[1])}'", repr(value))

    return {
        "inputs": signature.input_specs,
        "outputs": list(map(named, signature.output_specs)),
        "nodes": list(lines(program.graph_module)),
        "ranges": sorted((str(key), str(value)) for key, value in program.range_constraints.items()),
        "guards": list(program._guards_code),
        "module calls": [(entry.fqn, named(entry.signature)) for entry in program.module_call_graph],
        "weights": [
            (name, type(data).__name__, data.requires_grad, data.dtype, data.stride(), tuple(data.shape))
            for name, data in sorted({**program.state_dict, **program.constants}.items())
        ],
    }


def differences(got: Any, wanted: Any) -> Iterator[str]:
    """Where an exported program is not the one that it has to be.

    Of programs without operators that write to arguments everything is compared: the signature; each node's name, target,
    arguments (with defaults) and value; ranges; guards; module calls with their signatures; weights' types and strides.
    Of others, whose graph comes back functional, all but nodes and what they are said to give.
    """
    ours, theirs = aspects(got), aspects(wanted)
    apart = ("nodes", "outputs") if writes(wanted) else ()
    for name, parts in theirs.items():
        if name in apart:
            continue
        for mine, its in itertools.zip_longest(ours[name], parts):
            if mine != its and str(mine) != str(its):
                yield f"{name}: {mine} for {its}"
                break


def assert_same(got: Any, wanted: Any) -> None:
    found = list(differences(got, wanted))
    assert not found, "; ".join(found)


# --- the steps -----------------------------------------------------------------------------------------------


@dataclass
class Trip:
    """A program on its way."""

    case: Case
    exported: Any
    program: Program
    folder: Path

    @cached_property
    def expected(self) -> list[Any]:
        return call(self.exported, self.case.args)

    def pt2(self) -> None:
        self.program.save(self.folder / "again.pt2")
        back = torch.export.load(self.folder / "again.pt2")
        assert_same(back, self.exported)
        assert_equal(call(back, self.case.args), self.expected, arbitrary=is_arbitrary(self.exported))
        again = xdsl_exir.load(self.folder / "again.pt2")
        assert operations(again) == operations(self.program), "another module"

    def text(self) -> None:
        for generic in (False, True):
            text = self.program.text(generic=generic, locations=True)
            module = Parser(context().clone(), text).parse_module()
            assert module.is_structurally_equivalent(self.program.module) or "nan" in text, "another module"
            assert replace_module(self.program, module).text(generic=generic, locations=True) == text
        text = self.program.fx_text()
        back = xdsl_exir.from_fx_text(text, types_for_text(self.program))
        assert counted(back.fx_text()) == counted(text), "another FX text"
        assert operations(back) == operations(self.program), "another module by FX text"

    def mlir(self) -> None:
        self.program.save(self.folder / "m.mlir")
        back = xdsl_exir.load(self.folder / "m.mlir")
        assert back.text(locations=True) == self.program.text(locations=True), "another module"
        assert back.conventions == self.program.conventions, "another calling convention"
        assert back.state.keys() == self.program.state.keys()
        for name, data in self.program.state.items():
            np.testing.assert_array_equal(back.state[name].numpy(), data.numpy())

    def torch(self) -> None:
        back = self.program.to_exported_program()
        back.validate()
        assert_same(back, self.exported)
        assert_equal(call(back, self.case.args), self.expected, arbitrary=is_arbitrary(self.exported))

    def edge(self) -> None:
        back = self.program.to_edge().to_exported_program()
        back.validate()
        assert_equal(
            call(back, self.case.args), self.expected, arbitrary=is_arbitrary(self.exported, decomposed=True)
        )

    def to_edge(self) -> None:
        for program in (self.program.to_core(), self.program.to_edge()):
            edge_manager(program)

    def runtime(self) -> None:
        from executorch.runtime import Runtime

        exported = edge_manager(self.program.to_core()).to_executorch()
        method = Runtime.get().load_program(exported.buffer).load_method("forward")
        assert method is not None
        got = method.execute([x.contiguous() for x in pytree.tree_leaves(self.case.args)])
        with torch.no_grad():
            wanted = pytree.tree_leaves(self.exported.module()(*copy.deepcopy(self.case.args)))
        assert_equal(list(got), wanted, layouts=False)


def replace_module(program: Program, module: Any) -> Program:
    return Program(module, program.state, program.conventions)


def counted(text: str) -> str:
    """FX text with the results of nodes numbered as they come; PyTorch's numbers count those that it has removed."""
    names = {
        name: f"getitem_{i}" for i, name in enumerate(dict.fromkeys(re.findall(r"getitem_?\d*\b", text)))
    }
    return re.sub(r"getitem_?\d*\b", lambda found: names[found[0]], text)


def types_for_text(program: Program) -> dict[str, Any]:
    """What FX text does not say: the types of inputs, and of what has a size that depends on data."""
    graph = graph_of(program)
    types: dict[str, Any] = {
        name: type
        for name, meta in graph.graph.values.items()
        if re.search(r"\b(u|zuf)\d+\b", str(type := value_type(meta, name)))
    }
    kinds = iter(argument.type for argument in program.method().body.block.args)
    return types | {
        spec.name: None if spec.kind == "constant_input" else next(kinds) for spec in graph.inputs
    }


def operations(program: Program) -> str:
    """A program's operations, without names, and without what FX text does not say: places and kinds of inputs."""
    module = program.module.clone()
    for op in module.walk():
        op.attributes.clear()
        for name in ("arg_attrs", "res_attrs"):
            op.properties.pop(name, None)
        for value in (
            *op.results,
            *(arg for region in op.regions for block in region.blocks for arg in block.args),
        ):
            value.name_hint = None
    return str(module)


def edge_manager(program: Program) -> Any:
    from executorch.exir import EdgeCompileConfig, to_edge

    config = EdgeCompileConfig(_check_ir_validity=False)
    return to_edge(program.to_exported_program(), compile_config=config)


def applies(step: str, case: Case) -> bool:
    if step in ("to_edge", "runtime") and not HAS_EXECUTORCH:
        return False
    return step != "runtime" or case.name.startswith("model.")


def reason(error: Exception) -> str:
    """The first line that says what is in the way."""
    found = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {found[0] if found else ''}"


def follow(case: Case, dialect: str) -> dict[str, str | None]:
    """How a case fares: by step, None or the reason why it fails; empty for what PyTorch does not export or save."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "m.pt2"
        try:
            with torch.no_grad():
                exported = torch.export.export(copy.deepcopy(case.made[0]), case.args)
                exported = exported if dialect == "training" else exported.run_decompositions()
            torch.export.save(exported, path)
            exported = torch.export.load(path)
            call(exported, case.args)
        except Exception:  # PyTorch's own refusals are of all kinds
            return {}
        try:
            trip = Trip(case, exported, xdsl_exir.load(path), Path(name))
        except ExirError as error:
            return {"import": reason(error)}
        found: dict[str, str | None] = {"import": None}
        for step in STEPS:
            if applies(step, case):
                try:
                    getattr(trip, step)()
                    found[step] = None
                except Exception as error:  # PyTorch and ExecuTorch raise errors of all kinds as well
                    found[step] = reason(error)
        return found


def results(
    chosen: Iterable[Case], dialects: Iterable[str] = DIALECTS
) -> Iterator[tuple[str, dict[str, str | None]]]:
    """How cases fare, with name and dialect."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.disable(logging.ERROR)
        try:
            for case in chosen:
                for dialect in dialects:
                    yield f"{case.name} {dialect}", follow(case, dialect)
        finally:
            logging.disable(logging.NOTSET)


def main(pattern: str = "") -> None:
    """Prints what fails, and the counts."""
    table: dict[str, dict[str, str | None]] = {}
    for name, steps in results(case for case in cases() if re.search(pattern, case.name)):
        table[name] = steps
        for step, why in steps.items():
            if why is not None:
                print(f"{name}: {step}: {why[:400]}", flush=True)
    print(f"{'':22}{'cases':>9}{'export':>9}" + "".join(f"{step:>9}" for step in ("import", *STEPS)))
    for group, dialect in itertools.product(("model", "ordinary", "sample"), DIALECTS):
        chosen = [steps for name, steps in table.items() if re.fullmatch(rf"{group}\..* {dialect}", name)]
        counts = [len(chosen), sum(map(bool, chosen))]
        tried = collections.Counter(step for steps in chosen for step in steps)
        passed = collections.Counter(step for steps in chosen for step, why in steps.items() if why is None)
        figures = [f"{passed[step]}/{tried[step]}" for step in ("import", *STEPS)]
        print(f"{group + ' ' + dialect:22}" + "".join(f"{item:>9}" for item in [*counts, *figures]))


if __name__ == "__main__":
    main(*sys.argv[1:])
