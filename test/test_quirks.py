"""What this package relies on in xDSL, MLIR, NumPy and PyTorch, one assertion each, so that an upgrade shows what changed."""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
import warnings
from importlib.metadata import entry_points, version
from io import StringIO
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    ModuleOp,
    StringAttr,
    f32,
    f64,
)
from xdsl.interpreter import Interpreter
from xdsl.ir import Dialect, Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition, opt_prop_def
from xdsl.parser import Parser
from xdsl.passes import PassPipeline
from xdsl.printer import Printer
from xdsl.universe import Universe
from xdsl.utils.exceptions import ArgSpecParseError, PassFailedException, VerifyException

import xdsl_exir
from xdsl_exir.dialects import aten
from xdsl_exir.dialects.arguments import MEMORY_FORMATS
from xdsl_exir.program import context

MLIR_OPT = "mlir-opt-22"
needs_mlir_opt = pytest.mark.skipif(shutil.which(MLIR_OPT) is None, reason=f"{MLIR_OPT} is not installed")
ROOT = Path(__file__).parents[1]


def attribute(text: str) -> object:
    return Parser(context().clone(), text).parse_attribute()


def printed(attr: object) -> str:
    stream = StringIO()
    Printer(stream).print_attribute(attr)  # pyright: ignore
    return stream.getvalue()


def mlir_opt(text: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([MLIR_OPT, *options], input=text, capture_output=True, text=True)


# --- xDSL ----------------------------------------------------------------------------------------------------


def test_version() -> None:
    """The rest of this file was found with this one."""
    assert version("xdsl") == "0.74.0"


def test_literals_beyond_ascii_are_bytes() -> None:
    """Why `parse_string` reads both, and strings of properties may be `BytesAttr`."""
    assert printed(StringAttr("é")) == '"\\C3\\A9"'
    assert attribute('"\\C3\\A9"') == BytesAttr("é".encode())
    assert attribute('"é"') == StringAttr("é")


def test_dense_infinities_are_read_as_integers() -> None:
    """Why `exir.constant` holds numbers and no dense attribute."""
    attr = attribute("dense<0xFF800000> : tensor<f32>")
    assert isinstance(attr, DenseIntOrFPElementsAttr)
    assert attr.get_values() == (4286578688.0,)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, -0.0, 5e-324])
def test_float_attributes_are_exact(value: float) -> None:
    """Scalars survive text where dense attributes do not: arguments and numbers are held as these."""
    back = attribute(printed(FloatAttr(value, f64)))
    assert isinstance(back, FloatAttr)
    assert repr(back.value.data) == repr(value)


def test_members_of_operation_hide_fields() -> None:
    """Why `field_name` appends an underscore to arguments of such names."""

    @irdl_op_definition
    class Hidden(IRDLOperation):
        name = "test.hidden"
        parent = opt_prop_def()  # pyright: ignore
        walk = opt_prop_def()  # pyright: ignore
        other = opt_prop_def()

    assert "other" in Hidden.get_irdl_definition().properties
    assert Hidden.walk is not Operation.walk or "walk" not in Hidden.get_irdl_definition().properties
    assert {"detach", "parent", "walk", "print", "results", "next_op"} <= set(dir(Operation))


def test_dialects_load_on_first_use() -> None:
    """Why `xdsl-opt` pays for no dialect that a file does not use."""
    loaded: list[str] = []

    def factory() -> Dialect:
        loaded.append("aten")
        return aten.dialect()

    ctx = Context()
    ctx.register_dialect("aten", factory)
    assert loaded == []
    assert ctx.get_optional_op("aten.mm") is not None
    assert loaded == ["aten"]


def test_universe() -> None:
    """How stock `xdsl-opt` finds the plugin: values are factories without arguments."""
    [entry] = [entry for entry in entry_points(group="xdsl.universe") if entry.name == "xdsl_exir"]
    assert entry.value == "xdsl_exir.universe:XDSL_EXIR_UNIVERSE"
    universe = Universe.get_multiverse()
    assert {"aten", "edge", "exir", "higher_order"} <= universe.all_dialects.keys()
    assert universe.all_passes["decompose-aten"]().name == "decompose-aten"
    assert universe.all_targets["exir-run"]().name == "exir-run"


def test_pipelines_raise_base_exceptions() -> None:
    """Why `transform` names the exceptions that it catches."""
    assert not issubclass(ArgSpecParseError, Exception)
    for pipeline, error in (
        ("a,,", ArgSpecParseError),
        ("a{b=c.d}", ArgSpecParseError),
        ("nonesuch", ValueError),
    ):
        with pytest.raises(error):
            PassPipeline.parse_spec({}, pipeline)


def test_options_with_dots_are_quoted() -> None:
    """Why it is `decompose-aten{keep="aten.silu"}`."""
    passes = Universe.get_multiverse().all_passes
    [decompose] = PassPipeline.parse_spec(passes, 'decompose-aten{keep="aten.silu","aten.mm"}').passes
    assert decompose.keep == ("aten.silu", "aten.mm")  # pyright: ignore


def test_what_diagnostics_are() -> None:
    """Why violations are shown by `xdsl-opt --verify-diagnostics`."""
    assert issubclass(xdsl_exir.VerificationError, PassFailedException)
    assert issubclass(PassFailedException.__base__, Exception)  # pyright: ignore
    assert PassFailedException.__base__ is VerifyException.__base__


def test_parsers_do_not_verify_operations() -> None:
    """Why the command line verifies what it reads."""
    text = "func.func @f(%x: tensor<2xf32>) { %0 = aten.relu(%x) : (tensor<2xf32>) -> tensor<3xf32> func.return }"
    module = Parser(context().clone(), text).parse_module()
    with pytest.raises(VerifyException):
        module.verify()


def test_attributes_verify_as_they_are_read() -> None:
    with pytest.raises(VerifyException):
        attribute("#exir.shape<dim_order = [0, 0]>")


def test_private_names() -> None:
    """Names of xDSL that have an underscore and are used all the same."""
    parser = Parser(Context(), "a + 1 >")
    assert parser._current_token.text == "a"  # pyright: ignore
    parser._consume_token()  # pyright: ignore
    assert parser._current_token.text == "+"  # pyright: ignore
    assert Interpreter(ModuleOp([]))._impls._impl_dict == {}  # pyright: ignore


def test_builders_of_dense_attributes_from_bytes_are_exact() -> None:
    values = np.array([1.5, -np.inf, np.nan], np.float32)
    from xdsl.dialects.builtin import TensorType

    attr = DenseIntOrFPElementsAttr(TensorType(f32, [3]), BytesAttr(values.tobytes()))
    np.testing.assert_array_equal(np.array(attr.get_values(), np.float32), values)


# --- MLIR ----------------------------------------------------------------------------------------------------


@needs_mlir_opt
def test_mlir_refuses_a_bare_greater_than() -> None:
    """Why comparisons in types are calls: `gt(s0, 4)`."""
    text = '"test.op"() {{a = #exir.shape<[{}]>}} : () -> ()'
    assert mlir_opt(text.format("gt(s0, 4)"), "--allow-unregistered-dialect").returncode == 0
    assert mlir_opt(text.format("s0 > 4"), "--allow-unregistered-dialect").returncode != 0


@needs_mlir_opt
def test_mlir_keeps_encodings_and_unsigned_tensors() -> None:
    text = '"test.op"() : () -> tensor<?x8xui8, #exir.shape<[(s53 - 1) floordiv 2 + 1, 8]>>'
    run = mlir_opt(
        text, "--allow-unregistered-dialect", "--mlir-print-op-generic", "--mlir-print-local-scope"
    )
    assert run.returncode == 0, run.stderr
    assert "tensor<?x8xui8, #exir.shape<[(s53 - 1) floordiv 2 + 1, 8]>>" in run.stdout


# --- Python, NumPy, PyTorch ----------------------------------------------------------------------------------


def test_modules_are_imported_under_one_name() -> None:
    """Why everything is imported as `xdsl_exir....`: under its own name a folder is another module."""
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import dialects.aten, xdsl_exir.dialects.aten; "
        "print(dialects.aten.OPERATORS is xdsl_exir.dialects.aten.OPERATORS)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


def test_bfloat16_is_not_numpys() -> None:
    """Why dtypes are compared as dtypes, never by kind or name alone."""
    dtype = np.dtype(ml_dtypes.bfloat16)
    assert dtype.kind == "V"
    assert dtype == ml_dtypes.bfloat16
    assert np.asarray(np.ones(2, dtype)).astype(np.float32).tolist() == [1, 1]


def test_numpy_warns_of_nan_to_integer() -> None:
    """Why methods run under `np.errstate(all="ignore")`."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        np.array([np.nan]).astype(np.int64)
    assert [warning.category for warning in caught] == [RuntimeWarning]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        np.array([np.nan]).astype(np.int64)


def test_pytorch_version() -> None:
    """The schemas, the file format and the rules are of this one."""
    torch = pytest.importorskip("torch")
    assert torch.__version__.split("+")[0] == "2.13.0"


def test_memory_formats_by_number() -> None:
    """Schema defaults are c10's enum values (`memory_format=0`)."""
    torch = pytest.importorskip("torch")
    assert "MemoryFormat memory_format=0" in str(torch.ops.aten.contiguous.default._schema)
    assert MEMORY_FORMATS[0] == "contiguous_format"
    for name in MEMORY_FORMATS:
        assert str(getattr(torch, name)) == f"torch.{name}"


def test_default_dtypes_by_number() -> None:
    torch = pytest.importorskip("torch")
    from xdsl_exir.dialects.dtypes import BY_CODE, Long

    assert "ScalarType? dtype=4" in str(torch.ops.aten.randperm.default._schema)
    assert BY_CODE[4] is Long


def test_overload_names_hide_the_default() -> None:
    """`aten.mm` in the IR is `torch.ops.aten.mm.default`."""
    torch = pytest.importorskip("torch")
    assert torch.ops.aten.mm.default._schema.overload_name == ""
    assert torch.ops.aten.add.Tensor._schema.overload_name == "Tensor"


def test_training_programs_are_not_functional() -> None:
    """Why the importer functionalizes: `torch.export.export` keeps in-place operators."""
    torch = pytest.importorskip("torch")

    class InPlace(torch.nn.Module):
        def forward(self, x: object) -> object:
            return (x + 1).relu_()  # pyright: ignore

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = torch.export.export(InPlace(), (torch.ones(2),))
    assert "aten.relu_.default" in [str(node.target) for node in exported.graph.nodes]
    assert exported.dialect == "TRAINING"
