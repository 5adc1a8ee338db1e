"""Input guards: what a program's sizes have to fulfil beyond the ranges of its symbols, from PyTorch's text to conditions.

    (L['x'].size()[0] % 2) == 0    where x is tensor<?x..., #exir.shape<[s77, ...]>>:    eq(s77 mod 2, 0)

Guards stand in `guards_code` only, as Python expressions on the inputs by the names of the arguments and the paths into them.
Nothing is evaluated here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from xdsl.ir import Attribute

from xdsl_exir.dialects.expr import Dim, Expr, ExprError
from xdsl_exir.dialects.tensors import SymType, is_tensor_type, tensor_meta
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.exchange.pytree import TreeSpec, paths
from xdsl_exir.syntax import parse_expression

RENAMED = {
    "max": "Max",
    "min": "Min",
    "torch.sym_float": "ToFloat",
    "abs": "Abs",
    "round": "RoundToInt",
    "math.trunc": "TruncToInt",
    "math.floor": "FloorToInt",
    "math.ceil": "CeilToInt",
    "math.sqrt": "OpaqueUnaryFn_sqrt",
}
"""Python's functions by the names that expressions have them under."""

VARIADIC = re.compile(r"^L\['(\w+)_(\d+)'\]")
"""The path of an argument that may be one of `*args`."""


OF_EXAMPLES = re.compile(r"\._base\b|\.(stride|storage_offset)\(\)")
"""What says something of how an example lay in memory, or of what it was a view of: other inputs lie as they do."""


class _Reader(ast.NodeTransformer):
    """Puts a name of its own in place of each size and number of an input."""

    def __init__(self, inputs: Mapping[str, Attribute | int]):
        self.inputs = inputs
        """By path: types, values of constants."""
        self.found: dict[str, Dim] = {}

    def number(self, value: Dim) -> ast.Name:
        name = f"guarded{len(self.found)}"
        self.found[name] = value
        return ast.Name(name)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        match node:
            case ast.Subscript(ast.Call(ast.Attribute(at, "size"), [], []), ast.Constant(int(dim))):
                type = self.inputs.get(ast.unparse(at))
                if isinstance(type, Attribute) and is_tensor_type(type) and dim < tensor_meta(type).ndim:
                    return self.number(tensor_meta(type).shape[dim])
            case _:
                pass
        known = self.inputs.get(ast.unparse(node))
        if isinstance(known, int):
            return self.number(known)
        return self.number(known.data) if isinstance(known, SymType) else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = ast.unparse(node.func)
        if name in RENAMED:
            node.func = ast.Name(RENAMED[name])
        return self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Python divides to floats, where texts of expressions divide exactly."""
        self.generic_visit(node)
        divides = isinstance(node.op, ast.Div)
        return ast.Call(ast.Name("IntTrueDiv"), [node.left, node.right], []) if divides else node


def read_guard(text: str, inputs: Mapping[str, Attribute | int]) -> Dim:
    """A guard as a condition on the program's symbols.

    Raises `UnsupportedError` for one about anything but sizes and numbers among the inputs.
    """
    reader = _Reader(inputs)
    try:
        tree = parse_expression(text.strip())
        condition = Expr.from_str_expr(ast.unparse(reader.visit(tree)))
    except (SyntaxError, ExprError) as error:
        raise UnsupportedError([Unsupported(f"guard {text}", str(error))]) from error
    return condition.substitute(reader.found) if isinstance(condition, Expr) else condition


def read_guards(
    texts: Sequence[str],
    in_spec: TreeSpec,
    arg_names: Sequence[str] | None,
    leaves: Sequence[Attribute | int | None],
) -> list[Expr]:
    """What guards say of the symbols. `leaves` are the types of the inputs, or their constant values."""
    named = zip(paths(in_spec, arg_names), leaves, strict=True)
    inputs = {f"L{path}": leaf for path, leaf in named if leaf is not None}
    # Of `*args` the arguments' names say `args_0`, guards `args[0]`.
    spread = {VARIADIC.sub(r"L['\1'][\2]", path): leaf for path, leaf in inputs.items()}
    # Of programs exported with `strict=True` guards know no arguments, only the leaves of all.
    counted = {f"L['flat_args'][{i}]": leaf for i, leaf in enumerate(leaves) if leaf is not None}
    inputs = counted | spread | inputs
    conditions = dict.fromkeys(read_guard(text, inputs) for text in texts if not OF_EXAMPLES.search(text))
    return [one for one in conditions if isinstance(one, Expr)]
