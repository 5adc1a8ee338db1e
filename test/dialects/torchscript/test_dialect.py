"""The `torchscript` dialect: printed and parsed in both forms, verified, its operators those of the installed PyTorch."""

from __future__ import annotations

from io import StringIO

import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Region
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xdsl_exir.dialects.torchscript import types as ts
from xdsl_exir.dialects.torchscript.matching import find_overload
from xdsl_exir.dialects.torchscript.operations import STRUCTURAL, FuncOp, operation
from xdsl_exir.dialects.torchscript.schemas import overloads, qualified_names, schema_of, type_of
from xdsl_exir.dialects.torchscript.verifier import violations_of_module
from xdsl_exir.program import context

TEXT = """\
builtin.module {
  torchscript.func() {sym_name = "__torch__.f", results = [!torchscript.Tensor]} : () -> () {
  ^bb0(%x: !torchscript.Tensor, %c: !torchscript.bool, %d: !torchscript.Dict<!torchscript.str, !torchscript.Class<@__torch__.A>>):
    %a = torchscript.prim.Constant() {value = 1 : i64} : () -> !torchscript.int
    %r = torchscript.prim.If(%c) : (!torchscript.bool) -> !torchscript.Tensor {
      %y = torchscript.aten.add.Scalar(%x, %a, %a) : (!torchscript.Tensor, !torchscript.int, !torchscript.int) -> !torchscript.Tensor
      torchscript.yield(%y) : (!torchscript.Tensor) -> ()
    } {
      torchscript.yield(%x) : (!torchscript.Tensor) -> ()
    }
    %s = torchscript.prim.Loop(%a, %c, %r) : (!torchscript.int, !torchscript.bool, !torchscript.Tensor) -> !torchscript.Tensor {
    ^bb0(%i: !torchscript.int, %v: !torchscript.Tensor):
      torchscript.yield(%c, %r) : (!torchscript.bool, !torchscript.Tensor) -> ()
    }
    %l = torchscript.prim.TupleConstruct(%s, %a) : (!torchscript.Tensor, !torchscript.int) -> !torchscript.Tuple<!torchscript.Tensor, !torchscript.int>
    torchscript.return(%s) : (!torchscript.Tensor) -> ()
  }
}"""


def parse(text: str) -> ModuleOp:
    return Parser(context().clone(), text).parse_module()


def test_both_forms_print_and_parse() -> None:
    module = parse(TEXT)
    module.verify()
    assert str(module) == TEXT
    stream = StringIO()
    Printer(stream, print_generic_format=True).print_op(module)
    assert '"torchscript.prim.If"' in stream.getvalue()
    assert str(parse(stream.getvalue())) == TEXT


def test_every_violation_is_listed() -> None:
    text = TEXT.replace("If(%c) : (!torchscript.bool)", "If(%a) : (!torchscript.int)")
    text = text.replace("Scalar(%x, %a, %a) : (!torchscript.Tensor", "Scalar(%a, %a, %a) : (!torchscript.int")
    text = text.replace("return(%s) : (!torchscript.Tensor)", "return(%a) : (!torchscript.int)")
    text = text.replace(
        "yield(%c, %r) : (!torchscript.bool, !torchscript.Tensor)", "yield(%c) : (!torchscript.bool)"
    )
    module = parse(text)
    found = violations_of_module(module)
    assert [message.partition(":")[0] for message in found] == [
        "torchscript.func",
        "torchscript.prim.If",
        "torchscript.aten.add.Scalar",
        "torchscript.prim.Loop",
    ]
    with pytest.raises(VerifyException):
        module.verify()


def test_every_operation_prints_and_parses() -> None:
    """In both forms, with operands and results of the types that its schema says: those of graphs, and every 20th operator."""
    module = ModuleOp([])
    kinds = dict.fromkeys((*STRUCTURAL, *qualified_names()[::20]))
    for kind in kinds:
        schema = schema_of(kind)
        types = [] if schema is None else [type_of(argument.type) for argument in schema.arguments]
        results = [] if schema is None else [type_of(ret.type) for ret in schema.returns]
        block = Block(arg_types=types)
        block.add_op(operation(kind)(block.args, results))
        module.body.block.add_op(FuncOp([], [], {"sym_name": StringAttr(kind)}, [Region(block)]))
    text = str(module)
    assert str(parse(text)) == text
    stream = StringIO()
    Printer(stream, print_generic_format=True).print_op(module)
    assert str(parse(stream.getvalue())) == text
    assert {op.name for op in module.walk()} >= {f"torchscript.{kind}" for kind in kinds}


def test_unknown_operators_are_no_operations() -> None:
    with pytest.raises(KeyError):
        operation("aten.nonesuch")
    assert operation("aten.add_.Tensor") is operation("aten.add_.Tensor")


def test_the_list_is_the_installed_pytorchs() -> None:
    """All of them, those of a name in the order in which TorchScript tries them."""
    torch = pytest.importorskip("torch")
    known = [str(schema) for schema in torch._C._jit_get_all_schemas()]
    names = dict.fromkeys(text.partition("(")[0].partition(".")[0] for text in known)
    # Libraries that other tests load register operators of their own.
    own = {name for name in names if overloads(name)}
    assert len(own) >= 2200
    for name in ("aten::add", "aten::to", "aten::div", "aten::max", "prim::min", "aten::slice"):
        assert [str(schema) for schema in overloads(name)] == [
            str(schema) for schema in torch._C._jit_get_schemas_for_operator(name)
        ]
    assert len(qualified_names()) >= 4300
    schema = schema_of("aten.add.Tensor")
    assert schema is not None
    assert schema.qualified_name == "aten.add.Tensor"


T, INT, F, S, B, N = ts.TENSOR, ts.INT, ts.FLOAT, ts.STR, ts.BOOL, ts.NONE
LIST, TUPLE = ts.list_of(INT), ts.tuple_of([INT, INT])


@pytest.mark.parametrize(
    ("name", "positional", "named", "expected"),
    [
        ("aten::add", [T, T], {}, "aten.add.Tensor"),
        ("aten::add", [T, INT], {"alpha": INT}, "aten.add.Scalar"),
        ("aten::add", [INT, F], {}, "aten.add.int_float"),
        ("aten::add", [LIST, LIST], {}, "aten.add.t"),
        ("aten::add", [S, S], {}, "aten.add.str"),
        ("aten::div", [INT, INT], {}, "aten.div.int"),
        ("aten::len", [LIST], {}, "aten.len.t"),
        ("aten::len", [ts.DictType(S, T)], {}, "aten.len.Dict_str"),
        ("aten::__getitem__", [ts.DictType(S, T), S], {}, "aten.__getitem__.Dict_str"),
        ("aten::to", [T, INT], {}, "aten.to.dtype"),
        ("aten::to", [T, ts.DEVICE], {}, "aten.to.prim_Device"),
        ("aten::to", [T, T], {}, "aten.to.other"),
        ("aten::max", [T, INT], {}, "aten.max.dim"),
        ("aten::avg_pool2d", [T, TUPLE], {}, "aten.avg_pool2d"),
        ("aten::avg_pool2d", [T, INT], {}, "aten.avg_pool2d"),
        ("aten::append", [ts.list_of(T), T], {}, "aten.append.t"),
        ("aten::append", [ts.list_of(T), S], {}, None),
        ("aten::dropout", [T, F, B], {}, "aten.dropout"),
        ("aten::dropout", [T, S, B], {}, None),
        ("aten::clamp", [T, N, F], {}, "aten.clamp"),
        ("aten::format", [S, INT, T], {}, "aten.format"),
    ],
)  # fmt: skip
def test_overloads(name: str, positional: list, named: dict, expected: str | None) -> None:
    """As TorchScript finds them: of some, PyTorch's own order decides."""
    found = find_overload(name, positional, named, lambda _: ())
    assert (found.schema.qualified_name if found else None) == expected


def test_types_as_annotations_and_what_they_have_in_common() -> None:
    pair = ts.tuple_of([T, ts.optional(INT)])
    assert str(ts.optional(ts.list_of(pair))) == "Optional[List[Tuple[Tensor, Optional[int]]]]"
    assert ts.is_subtype(INT, ts.optional(INT))
    assert ts.is_subtype(F, ts.SCALAR)
    assert not ts.is_subtype(B, ts.SCALAR)
    assert not ts.is_subtype(ts.list_of(INT), ts.list_of(ts.optional(INT)))
    assert ts.unify(N, T) == ts.optional(T)
    assert ts.unify(ts.tuple_of([T, N]), ts.tuple_of([T, INT])) == pair
