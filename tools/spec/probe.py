"""Derives dtype rules from what PyTorch's CPU kernels accept and return.

    python -m xdsl_exir.tools.spec.probe                           # brings <family>.yaml up to date
    python -m xdsl_exir.tools.spec.probe --check [aten.add.Tensor] # exits 1 where rules disagree with kernels
    python -m xdsl_exir.tools.spec.probe aten.add.Tensor           # only shows these operators' rules

Entries that agree with what is observed stay as they are, so those written by hand do. Those of operators that are
always decomposed may refuse what PyTorch takes (kernels of composite operators check little), but must be right in what
they take.

For every operator of the families' files: take small arguments (`samples`), cast every tensor, number and `dtype`
argument over the twelve dtypes and run the kernel (`Probe`), and write the shortest rule that says exactly what
was seen (`fit`). Needs PyTorch, with its testing modules; nothing else here does.
"""

# pyright: basic, reportMissingImports=false
# (PyTorch's types are unknown to the checker.)

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch

from xdsl_exir.dialects.dtype_rules import DtypeRule
from xdsl_exir.dialects.named_rules import expand
from xdsl_exir.dialects.spec import OperatorSpec, specs
from xdsl_exir.tools.spec.entries import options, rewrite, rule_text
from xdsl_exir.tools.spec.fit import Case, Rule, cases, disagreements, fit, predicted
from xdsl_exir.tools.spec.observe import (
    probes,
)
from xdsl_exir.transforms.decompositions import reaches_edge


def needs_rule(spec: OperatorSpec) -> bool:
    """Whether an operator takes or gives a tensor."""
    return any(item.type.is_tensor for item in (*spec.schema.arguments, *spec.schema.returns))


def derive(names: Sequence[str]) -> Iterator[tuple[str, Rule | None, list[Case]]]:
    """The entry of each operator, and the observed cases that it does not agree with.

    None for an entry that stays as it is: it agrees with all that was observed, or nothing ran.
    """
    table = specs()
    with torch.no_grad(), warnings.catch_warnings():
        for message in QUIET:
            warnings.filterwarnings("ignore", message=message)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what samples of other operators warn of is not our business
            found = probes(names)
        for name, some in found.items():
            for probe in some:
                probe.explore()
            observed = [case for probe in some for case in cases(probe)]
            rule = table[name].dtype_rule
            wrong = disagreements(rule, observed) if rule is not None else []
            if rule is not None and not reaches_edge(table[name]):
                wrong = [case for case in wrong if predicted(rule, case) is not None]
            if rule is not None and not wrong:
                yield name, None, []
            else:
                entry, left = fit(table[name], some)
                yield name, entry if entry else None, left


QUIET = (
    "Casting complex values to real",
    "ComplexHalf support is experimental",
    ".*degrees of freedom is <= 0",
    ".*deprecated",
    ".*received a mask with dtype torch.uint8",
    "indexing with dtype torch.uint8",
    "where received a uint8 condition",
    "The use of `x.T`",
)
"""Warnings of kernels at dtypes that they take, but had rather not."""


def main() -> int:
    given = options(__doc__, "show, as in aten.add.Tensor").parse_args()
    table = specs()
    names = given.names or [name for name in table if needs_rule(table[name])]
    changed: dict[str, str] = {}
    for name, rule, left in derive(names):
        if rule is not None:
            changed[name] = rule_text(rule)
        if rule is not None or (given.names and not given.check):
            print(
                f"- func: {table[name].schema.func}\n{changed.get(name, table[name].rule_text)}",
                end="",
                flush=True,
            )
        if left:
            assert rule is not None
            report(name, expand(table[name].schema, rule), left)
    if given.check:
        print(f"{len(changed)} of {len(names)} rules disagree with PyTorch's kernels")
        return 1 if changed else 0
    if not given.names:
        rewrite(lambda entry: replace(entry, rule=changed.get(entry.qualified_name, entry.rule)), check=False)
    return 0


def report(name: str, rule: DtypeRule, left: list[Case]) -> None:
    """Prints what a rule gets wrong, with an example."""
    case = left[0]
    seen = {name: value for name, value in case.arguments.items() if name in rule.allowed}
    shown = ", ".join(f"{key}={value}" for key, value in seen.items())
    print(
        f"{name}: {len(left)} cases differ, as ({shown}): {predicted(rule, case)}, not {case.given}",
        file=sys.stderr,
    )


if __name__ == "__main__":
    sys.exit(main())
