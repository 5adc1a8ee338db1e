"""Operations of the `torchscript` dialect, all of one form:

    %3 = torchscript.aten.add.Tensor(%x, %y, %alpha) : (!torchscript.Tensor, !torchscript.Tensor, !torchscript.int) -> !torchscript.Tensor
    %4 = torchscript.prim.If(%cond) : (!torchscript.bool) -> !torchscript.Tensor {
      torchscript.yield(%3) : (!torchscript.Tensor) -> ()
    } {
      ...
    }

Every argument of a registered operator is an operand, as in TorchScript; what else an operation says is in its
attributes. A class of an operator is made when it is first asked for. What has to hold of operations is in `verifier`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import cast

from xdsl.dialects.builtin import FunctionType as MlirFunctionType
from xdsl.dialects.builtin import LocationAttr, StringAttr
from xdsl.ir import Attribute, Operation, OpTraits, Region, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from xdsl_exir.dialects.schema import FunctionSchema
from xdsl_exir.dialects.torchscript import schemas

PREFIX = "torchscript."


class ScriptOp(Operation):
    """An operation of the dialect: any operands, results and regions, in the form that all of them have."""

    traits = OpTraits(lambda: ())

    def __init__(
        self,
        operands: Sequence[SSAValue] = (),
        result_types: Sequence[Attribute] = (),
        attributes: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
        location: LocationAttr | None = None,
    ):
        super().__init__(
            operands=operands, result_types=result_types, attributes=dict(attributes or {}), regions=regions
        )
        if location is not None:
            self.location = location

    @property
    def kind(self) -> str:
        """Its name in TorchScript, with a dot after the namespace: `prim.If`."""
        return self.name.removeprefix(PREFIX)

    @classmethod
    def schema(cls) -> FunctionSchema | None:
        """The schema of a registered operator."""
        return schemas.schema_of(cls.name.removeprefix(PREFIX))

    def text(self, name: str) -> str:
        """A string among its attributes, empty where it has none."""
        value = self.attributes.get(name)
        return value.data if isinstance(value, StringAttr) else ""

    def verify_(self) -> None:
        from xdsl_exir.dialects.torchscript.verifier import violations_of

        if found := violations_of(self):
            raise VerifyException("; ".join(found))

    def print(self, printer: Printer) -> None:
        with printer.in_parens():
            printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_operation_type(self)
        for region in self.regions:
            printer.print_string(" ")
            printer.print_region(region)

    @classmethod
    def parse(cls, parser: Parser) -> ScriptOp:
        unresolved = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        at = parser.pos
        type = parser.parse_attribute()
        if not isinstance(type, MlirFunctionType):
            parser.raise_error("expected the types of operands and results", at, parser.pos)
        operands = parser.resolve_operands(unresolved, type.inputs.data, at)
        regions: list[Region] = []
        while (region := parser.parse_optional_region()) is not None:
            regions.append(region)
        return cls(operands, type.outputs.data, attributes, regions)


STRUCTURAL = (
    "prim.Constant", "prim.If", "prim.Loop", "prim.ListConstruct", "prim.TupleConstruct", "prim.DictConstruct",
    "prim.ListUnpack", "prim.TupleSlice", "prim.GetAttr", "prim.SetAttr", "prim.CallMethod", "prim.CallFunction",
    "prim.CreateObject", "prim.isinstance", "prim.annotate", "prim.fork", "prim.Enter", "prim.Exit", "prim.tolist",
)  # fmt: skip
"""What graphs are made of besides registered operators."""


@cache
def operation(kind: str) -> type[ScriptOp]:
    """The class of an operation, `aten.add.Tensor` or `prim.If`. Raises `KeyError` for what is no operation."""
    if kind not in STRUCTURAL and schemas.schema_of(kind) is None:
        raise KeyError(kind)
    return _make(kind)


@cache
def _make(kind: str) -> type[ScriptOp]:
    words = [word for part in kind.split(".") for word in part.split("_")]
    name = "".join(word[:1].upper() + word[1:] for word in words) + "Op"
    return cast("type[ScriptOp]", type(name, (ScriptOp,), {"name": PREFIX + kind, "__module__": __name__}))


class YieldOp(ScriptOp):
    """Ends a block of `prim.If` or `prim.Loop` with what it gives; of a loop first whether it goes on."""

    name = PREFIX + "yield"
    traits = OpTraits(lambda: (IsTerminator(),))


class ReturnOp(ScriptOp):
    """Ends a function."""

    name = PREFIX + "return"
    traits = OpTraits(lambda: (IsTerminator(),))


class FuncOp(ScriptOp):
    """A function or method, `sym_name = "__torch__.Net.forward"`: its arguments are those of its block; `names` they have, `defaults` of
    the last ones (a dictionary), `results` the types of what it returns."""

    name = PREFIX + "func"
    traits = OpTraits(lambda: (SymbolOpInterface(), IsolatedFromAbove()))


class ClassOp(ScriptOp):
    """A class, `sym_name = "__torch__.Net"`, of a `category`: module, class, interface, tuple or enum. `fields` are its attributes' types,
    `constants` their values in the class, of an enum its members."""

    name = PREFIX + "class"
    traits = OpTraits(lambda: (SymbolOpInterface(), IsolatedFromAbove()))


@cache
def all_operations() -> list[type[Operation]]:
    """Every operation of the dialect."""
    kinds = dict.fromkeys((*STRUCTURAL, *schemas.qualified_names()))
    return [*map(_make, kinds), YieldOp, ReturnOp, FuncOp, ClassOp]
