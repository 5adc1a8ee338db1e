"""`xdsl-exir ops`: browse the operator spec: schemas, dtype rows, and which stages know an operator."""

from __future__ import annotations

import argparse
import fnmatch
import re
import sys
from typing import Any

from xdsl_exir.dialects.spec import FAMILIES, OperatorSpec, find, specs
from xdsl_exir.dialects.spec.edge_yaml import edge_yaml_at
from xdsl_exir.errors import SpecError
from xdsl_exir.names import like


def add_parser(subparsers: Any) -> None:
    """Adds this command to the command line."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "ops", help="browse the operators", description=__doc__
    )
    parser.add_argument(
        "patterns",
        nargs="*",
        help="names, parts of names (relu) or patterns (aten.add.*); one whole name shows all about it",
    )
    parser.add_argument(
        "--family", help=f"only operators of this family: {', '.join(FAMILIES)}, or the namespace of users'"
    )
    parser.add_argument("--tag", help="only operators with this tag (core, composite, view, ...)")
    parser.add_argument(
        "--edge-yaml",
        metavar="FILE",
        help="a file of ExecuTorch's form: what it says other than PyTorch's kernels",
    )
    parser.set_defaults(function=run)


def stages_of(spec: OperatorSpec) -> dict[str, bool]:
    """Which stages know an operator."""
    from xdsl_exir.dialects.meta import SHAPES
    from xdsl_exir.interpreter.operators import IMPLS
    from xdsl_exir.lowering import LOWERINGS
    from xdsl_exir.transforms.decompositions import DECOMPOSITIONS
    from xdsl_exir.transforms.gradients import GRADIENTS

    return {
        "shape rule": SHAPES.find(spec) is not None,
        "decomposition": DECOMPOSITIONS.find(spec) is not None,
        "gradient": GRADIENTS.find(spec) is not None,
        "interpreter": IMPLS.find(spec) is not None,
        "lowering": LOWERINGS.find(spec) is not None,
    }


def plain(pattern: str) -> str:
    """A name without what PyTorch writes around it: `torch.ops.aten.relu.default` and `aten::relu` are `aten.relu`."""
    return re.sub(r"^(torch\.ops\.|edge\.)|\.default$", "", pattern.replace("::", "."))


def matches(name: str, pattern: str) -> bool:
    """Whether a name is what a pattern says or, where that is no operator's name, contains it, in capitals or not."""
    if pattern in specs():
        return name == pattern
    pattern = pattern if re.search(r"[*?\[]", pattern) else f"*{pattern}*"
    return fnmatch.fnmatchcase(name.lower(), pattern.lower())


def run(args: argparse.Namespace) -> int:
    """Prints one operator in full, or a line for each."""
    patterns = [plain(pattern) for pattern in args.patterns]
    if args.edge_yaml is not None:
        show_mistakes(args.edge_yaml)
        return 0
    if len(patterns) == 1 and patterns[0] in specs():
        show(find(patterns[0]))
        return 0
    selected = [
        spec
        for name, spec in specs().items()
        if (not patterns or any(matches(name, pattern) for pattern in patterns))
        and args.family in (None, spec.family)
        and (args.tag is None or args.tag in spec.tags)
    ]
    if not selected:
        bases = {name.split(".")[1] for name in specs()}
        meant = [like(pattern.rpartition(".")[2], bases) for pattern in patterns]
        raise SpecError(f"no operator matches {' '.join(patterns) or 'this selection'}{''.join(meant)}")
    width = max(len(spec.qualified_name) for spec in selected)
    for spec in selected:
        known = ", ".join(stage for stage, has in stages_of(spec).items() if has)
        rule = spec.dtype_rule.rule or "rows" if spec.dtype_rule else "-"
        print(f"{spec.qualified_name:{width}}  {spec.family:13}  {rule:16}  {known}")
    print(f"{len(selected)} operators", file=sys.stderr)
    return 0


def show_mistakes(path: str) -> None:
    """Prints a line for each row of an edge.yaml that says other than PyTorch."""
    table = edge_yaml_at(path, "ops")
    for mistake in table.mistakes:
        print(mistake)
    rows = sum(len(operator.rule.rows) for operator in table.values())
    print(f"{len(table)} operators, {rows} rows, {len(table.mistakes)} of them wrong", file=sys.stderr)


def show(spec: OperatorSpec) -> None:
    """Prints all that is known of an operator."""
    from xdsl_exir.dialects.spec import dump
    from xdsl_exir.lowering import LOWERINGS

    print(spec.schema_text)
    print(f"family: {spec.family}")
    print(f"tags: {', '.join(sorted(spec.tags)) or '-'}")
    if spec.place:
        print(f"specified at: {spec.place}")
    for stage, has in stages_of(spec).items():
        print(f"{stage}: {'yes' if has else 'no'}")
    lowering = LOWERINGS.find(spec)
    if lowering is not None:
        print(f"lowering of complex numbers: {'yes' if lowering.options.get('takes_complex') else 'no'}")
    rule = spec.dtype_rule
    if rule is not None:
        print(
            f"dtype rule: {rule.rule or 'rows of its own'}"
            + (f", promotes {', '.join(rule.promotes)}" if rule.promotes else "")
        )
        print(dump(rule.to_yaml()), end="")
