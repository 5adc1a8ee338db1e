"""The operator spec: its two readings agree, it is as PyTorch has it, and what it lists every stage knows."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import pytest
import yaml
from samples import sample_module

from xdsl_exir.dialects import aten, edge
from xdsl_exir.dialects.arguments import ArgumentSlots
from xdsl_exir.dialects.meta import SHAPES, broadcast
from xdsl_exir.dialects.named_rules import expand
from xdsl_exir.dialects.operator import OperatorOp, class_name, result_names
from xdsl_exir.dialects.schema import MISSING, Alias, FunctionSchema, Type
from xdsl_exir.dialects.spec import ENTRY, FAMILIES, SpecTable, families, find, specs
from xdsl_exir.errors import SpecError
from xdsl_exir.interpreter.operators import IMPLS
from xdsl_exir.lowering import LOWERINGS
from xdsl_exir.program import context
from xdsl_exir.tools.spec.entries import Entry, rule_text
from xdsl_exir.transforms.aten_to_edge import AtenToEdge
from xdsl_exir.transforms.canonicalizations import CANONICALIZATIONS
from xdsl_exir.transforms.decompose_aten import Decomposer
from xdsl_exir.transforms.decompositions import DECOMPOSITIONS
from xdsl_exir.transforms.patterns import apply_once
from xdsl_exir.transforms.verify import violations_of

FOLDER = files("xdsl_exir.dialects.spec")


def text_of(name: str) -> str:
    return FOLDER.joinpath(f"{name}.yaml").read_text()


def entries(name: str) -> list[dict[str, Any]]:
    """A file as YAML reads it."""
    return yaml.safe_load(text_of(name))


# --- two readings --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_families_as_yaml(family: str) -> None:
    """What the regular expressions find is what YAML says, nothing more and nothing less."""
    table = SpecTable()
    table.add(family, text_of(family))
    found = [
        (spec.schema_text, spec.tags, spec.shares, yaml.safe_load(spec.rule_text) or {})
        for spec in table.values()
    ]
    expected = [
        (
            entry.pop("func"),
            frozenset(entry.pop("tags", ())),
            entry.pop("shares", ""),
            entry,
        )
        for entry in entries(family)
    ]
    assert found == expected


def test_entries_print_as_they_are() -> None:
    """What the tools that bring the files up to date leave alone stays as it is written."""
    for family in FAMILIES:
        text = text_of(family)
        assert ENTRY.sub(lambda match: str(Entry.of(match)), text) == text
    for spec in specs().values():
        if spec.rule_text and not spec.functions and not spec.place:
            assert rule_text(yaml.safe_load(spec.rule_text)) == spec.rule_text


def test_operators_are_in_one_family() -> None:
    names = Counter(
        f"{schema.qualified_name}"
        for family in FAMILIES
        for schema in (FunctionSchema.parse(entry["func"]) for entry in entries(family))
    )
    assert [name for name, count in names.items() if count > 1] == []
    assert sum(names.values()) == sum(not spec.functions for spec in specs().values())


def test_sets_of_families() -> None:
    assert families("view", "fft") == {"view", "fft"}
    with pytest.raises(SpecError, match="no family 'linalg'"):
        families("view", "linalg")


def test_twice_is_refused() -> None:
    table = SpecTable()
    table.add("a", text_of("matmul"))
    with pytest.raises(SpecError, match=r"aten\.mm is specified twice"):
        table.add("b", text_of("matmul"))
    with pytest.raises(SpecError, match=r"unknown operator 'aten\.nonesuch'"):
        find("aten.nonesuch")


# --- what is made of it --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "module", ["tools.spec.harvest", "dialects.spec.autocast", "dialects.stubs.generate"]
)
def test_made_files_are_up_to_date(module: str) -> None:
    """Run `make spec` where this fails."""
    if ".spec." in module:
        pytest.importorskip("torch")
    command = [sys.executable, "-m", f"xdsl_exir.{module}", "--check"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_rules_print_as_rows() -> None:
    """Each rule's long form, as `xdsl-exir ops` shows it, is a rule of the same meaning."""
    for name, spec in specs().items():
        rule = spec.dtype_rule
        if rule is not None:
            rows = rule.to_yaml()
            assert rows["func"] == name.replace(".", "::", 1)
            again = expand(spec.schema, yaml.safe_load(yaml.safe_dump(rows)))
            assert again.rows == rule.rows, name
            assert again.promotes == rule.promotes, name
            assert again.allowed == rule.allowed, name


NO_KERNEL: frozenset[str] = frozenset()
"""Operators that have neither a kernel nor a decomposition."""


def test_every_stage_knows_every_operator() -> None:
    unknown: dict[str, list[str]] = {}
    for name, spec in specs().items():
        schema = spec.schema
        tensors = any(ret.type.is_tensor for ret in schema.returns)
        lacking = {
            "dtype rule": tensors and spec.dtype_rule is None,
            "shape rule": SHAPES.find(spec) is None,
            "kernel": IMPLS.find(spec) is None
            and DECOMPOSITIONS.find(spec) is None
            and name not in NO_KERNEL,
        }
        for what, lacks in lacking.items():
            if lacks:
                unknown.setdefault(what, []).append(name)
    assert unknown == {}


@pytest.mark.parametrize(
    "registry",
    [SHAPES, IMPLS, DECOMPOSITIONS, CANONICALIZATIONS, LOWERINGS],
    ids=lambda registry: registry.what,
)
def test_functions_are_in_their_familys_file(registry: Any) -> None:
    """But for what a helper makes of a table's entry: it is from the helper's file. A library's are in the library's file."""
    for name in registry.names(FAMILIES):
        spec = find(name)
        function = registry.find(spec).function
        if function is not broadcast and "<locals>" not in function.__qualname__:
            home = spec.functions or f"{registry.package}.{spec.family}"
            assert function.__module__ == home, f"{registry.what} of {name}"


def test_what_decomposition_leaves_can_run() -> None:
    """Every operator's samples, decomposed, then as edge: all is valid, and what is left has kernels."""
    module = sample_module("aten")
    apply_once(module, Decomposer())
    assert violations_of(module, "aten") == []
    AtenToEdge().apply(context(), module)
    assert violations_of(module, "edge") == []
    left = {op.SPEC for op in module.walk() if isinstance(op, OperatorOp)}
    assert sorted(spec.qualified_name for spec in left if IMPLS.find(spec) is None) == []


def test_operators_of_exported_programs(figures: Callable[[str], None]) -> None:
    """Which of PyTorch's core operators, and of those that its operator samples leave in programs, are not known.

    The list of what is missing is exact, with its reasons: a new operator takes itself off.
    """
    pytest.importorskip("torch")
    from xdsl_exir.tools.missing import REASONS, core_operators, exported_targets, missing

    wanted = {"tagged core": core_operators(), **exported_targets()}
    lacking = missing()
    for source, names in wanted.items():
        found = [name for name in lacking if name in names]
        figures(f"{source}: {len(names) - len(found)} of {len(names)} operators; missing: {', '.join(found)}")
    assert [len(names) for names in wanted.values()] == [193, 620, 331]
    assert set(lacking) == set(REASONS)


@pytest.mark.parametrize("dialect", [aten.OPERATORS, edge.OPERATORS], ids=lambda dialect: dialect.name)
def test_class_names_are_unique(dialect: Any) -> None:
    namespaces = {name.split(".")[0] for name in dialect.operators()}
    for namespace in namespaces:
        names = Counter(class_name(find(n)) for n in dialect.operators() if n.startswith(f"{namespace}."))
        assert [name for name, count in names.items() if count > 1] == []


def test_accessors_are_unique_and_free() -> None:
    """No operand, property or result hides another one, nor a member of `Operation`."""
    from xdsl.ir import Operation

    members = set(dir(Operation))
    for spec in specs().values():
        layout = ArgumentSlots.of(spec)
        names = [slot.operand_name for slot in layout.slots if slot.operand is not None]
        names += result_names(spec)
        assert len(set(names)) == len(names), spec.schema_text
        assert members.isdisjoint(names), spec.schema_text


# --- the schema language -------------------------------------------------------------------------------------


def test_pytorchs_schemas() -> None:
    """Every registered operator's schema is read, and printed as it was: those of lists, dicts and objects too."""
    torch = pytest.importorskip("torch")

    texts = [str(schema) for schema in torch._C._jit_get_all_schemas()]
    assert len(texts) >= 4374
    for text in texts:
        assert str(FunctionSchema.parse(text)) == text


ADD = "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "add.Tensor(Tensor self) -> Tensor",
        "aten::add.Tensor(Tensor self)",
        "aten::add.Tensor Tensor self -> Tensor",
        ADD.replace("aten::", "aten:"),
        ADD.replace("Tensor other", "Dict(Tensor other"),
        ADD.replace("Tensor other", "Dict other"),
        ADD.replace("Tensor other", "(int,Tensor) other"),
        ADD.replace("Tensor other", "(" * 1000 + "Tensor other"),
        ADD.replace("Tensor other", "... other"),
        ADD.replace("Tensor other", "Tensor"),
        ADD.replace("Tensor other", "Tensor 2other"),
        ADD.replace("Tensor other", "Tensor[ other"),
        ADD.replace("Tensor other", "Tensor(A) other"),
        ADD.replace("Tensor other", "Tensor(a!!) other"),
        ADD.replace("Tensor other", "Tensor? ? other"),
        ADD.replace("alpha=1", "alpha=[1"),
        ADD.replace("alpha=1", "alpha=1+1"),
        ADD.replace("alpha=1", "alpha="),
        ADD.replace(" -> ", "->"),
        ADD.replace(", Tensor", ",Tensor"),
        ADD.replace("*, Scalar", "*, *, Scalar"),
        ADD.replace(") -> Tensor", ") -> "),
        ADD + ")",
        f" {ADD}",
    ],
)
def test_mutilated_schemas(text: str) -> None:
    with pytest.raises(SpecError):
        FunctionSchema.parse(text)


def test_what_a_schema_says() -> None:
    schema = FunctionSchema.parse(
        "aten::odd.out(Tensor(a!) self, Tensor?[] indices, SymInt[2] size=[1, 1], float? p=None, str mode='x', "
        "*, int[]? dim=None, bool keep=False) -> (Tensor(a!) out, Tensor(b)[] parts)"
    )
    assert (schema.namespace, schema.name, schema.overload) == ("aten", "odd", "out")
    assert schema.qualified_name == "aten.odd.out"
    assert schema.is_mutable
    assert schema.is_view
    self, indices, size, p, mode, dim, keep = schema.arguments
    assert self.is_write
    assert self.default is MISSING
    assert indices.type == Type("Tensor", is_list=True, item_optional=True)
    assert size.type == Type("SymInt", is_list=True, size=2)
    assert size.default == (1, 1)
    assert p.type.optional
    assert p.default is None
    assert not p.required
    assert mode.default == "x"
    assert dim.type == Type("int", optional=True, is_list=True)
    assert [argument.keyword_only for argument in schema.arguments] == [False] * 5 + [True] * 2
    assert keep.default is False
    assert [ret.name for ret in schema.returns] == ["out", "parts"]
    assert schema.argument("p") is p
    with pytest.raises(KeyError):
        schema.argument("nonesuch")


def test_types_of_types() -> None:
    schema = FunctionSchema.parse(
        "aten::odd(Dict(str, t[])(a!) self, (int, t?)[][] x, t[](b!) l, ...) -> t[](*)"
    )
    dict_, nested, list_ = (argument.type for argument in schema.arguments)
    assert dict_ == Type("Dict", alias=Alias("a!"), arguments=(Type("str"), Type("t", is_list=True)))
    pair = Type("Tuple", arguments=(Type("int"), Type("t", optional=True)), is_list=True)
    assert nested == Type("List", arguments=(pair,), is_list=True)
    assert list_.list_alias == Alias("b!")
    assert schema.is_mutable
    assert schema.takes_any
    assert not schema.returns_any


def test_aliases() -> None:
    assert Alias("a!").is_write
    assert not Alias("a").is_write
    assert Alias("a|b").sets == {"a", "b"}
    assert Alias("a! -> *").sets == {"a"}
    for text in ("", "A", "a!!", "a ->", "-> a", "a|"):
        with pytest.raises(SpecError):
            Alias(text)


def test_operators_left_to_the_interpreter_are_listed() -> None:
    """The list is exact: a new lowering takes its operator off, a new operator without one is put on."""
    from interpreter_only import INTERPRETER_ONLY

    from xdsl_exir.interpreter.operators import IMPLS
    from xdsl_exir.transforms.aten_to_edge import SCALAR_TWINS
    from xdsl_exir.transforms.count_sizes import RULES
    from xdsl_exir.transforms.decompositions import DECOMPOSITIONS

    lacking = {
        name
        for name, spec in specs().items()
        if LOWERINGS.find(spec) is None
        and RULES.find(spec) is None
        and any(result.type.is_tensor for result in spec.schema.returns)
        and name not in SCALAR_TWINS
        and (DECOMPOSITIONS.find(spec) is None or IMPLS.find(spec) is not None)
    }
    assert lacking == INTERPRETER_ONLY.keys()
