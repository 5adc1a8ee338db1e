"""Delegates as a whole: what they own, who takes what, what backends make of them, and where that runs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir import ExirError, InputError, UnsupportedError, VerificationError
from xdsl_exir.dialects.backend import DelegateOp
from xdsl_exir.dialects.dtypes import Float
from xdsl_exir.dialects.signature import ranges_of
from xdsl_exir.exchange.tensor_data import TensorData
from xdsl_exir.program import Program, context
from xdsl_exir.runtime.inputs import random_inputs
from xdsl_exir.transforms.partitioner import Candidate

DIGITS = Path(__file__).parents[2] / "bench" / "digits" / "digits.pt2"


@pytest.fixture(autouse=True)
def _no_backends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xdsl_exir.interpreter.backend.BACKENDS", {})


def text_program(text: str, **state: np.ndarray[Any, Any]) -> Program:
    module = Parser(context().clone(), text).parse_module()
    return Program(module, {name: TensorData.of(array, Float) for name, array in state.items()}).verify()


def delegates(program: Program) -> list[DelegateOp]:
    return [op for op in program.module.walk() if isinstance(op, DelegateOp)]


def linear() -> Program:
    """Two layers: the first one's weight is used twice, the second one's once."""
    w = 'tensor<3x3xf32> {exir.input = #exir.input<parameter, "'
    return text_program(
        f"""
        func.func @forward(%a: {w}a">}}, %b: {w}b">}}, %x: tensor<?x3xf32, #exir.shape<[s0, 3]>> {{exir.input = #exir.input<user_input, "x">}})
            -> (tensor<?x3xf32, #exir.shape<[s0, 3]>> {{exir.output = #exir.output<user_output, "y">}})
            attributes {{exir.ranges = {{s0 = #exir.range<1, 64>}}}} {{
          %0 = edge.aten.mm(%x, %a) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<3x3xf32>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
          %1 = edge.aten.relu(%0) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
          %2 = edge.aten.tanh(%1) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
          %3 = edge.aten.mm(%2, %b) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<3x3xf32>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
          %4 = edge.aten.mm(%3, %a) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<3x3xf32>) -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
          func.return %4 : tensor<?x3xf32, #exir.shape<[s0, 3]>>
        }}""",
        a=np.arange(9, dtype=np.float32).reshape(3, 3) / 9,
        b=np.eye(3, dtype=np.float32)[::-1].copy(),
    )


def by_name(*names: str) -> Callable[[Candidate], bool | str]:
    return lambda op: op.name in names or f"{op.name} is not on this chip"


X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)


def same(program: Program, other: Program, **options: Any) -> None:
    [expected] = xdsl_exir.compile(program).flat([X])
    [found] = xdsl_exir.compile(other, **options).flat([X])
    np.testing.assert_array_equal(found, expected)


def test_a_predicate_decides_and_is_told_what_was_left() -> None:
    program = linear()
    seen: list[tuple[str, int, bool, bool, list[str]]] = []

    def predicate(op: Candidate) -> bool | str:
        if op.name == "aten.mm":
            users = [user.name for user in op.users]
            seen.append((op.name, op.rank, op.is_constant("mat2"), op.is_constant("self"), users))
        assert op.dtypes == {Float}
        assert not op.is_static
        return op.name == "aten.mm" or "only products"

    parts = xdsl_exir.partition(program, "npu", predicate, specs={"speed": "high"})
    assert [(item.operator, item.reason) for item in parts.left] == [
        ("edge.aten.relu", "only products"),
        ("edge.aten.tanh", "only products"),
    ]
    assert seen == [
        ("aten.mm", 2, True, False, ["aten.relu"]),
        ("aten.mm", 2, True, False, ["aten.mm"]),
        ("aten.mm", 2, True, False, ["func.return"]),
    ]
    first, second = delegates(parts.program)
    # Both use `a`; `b` is the second one's own, and the method takes it no more.
    assert [spec.target for spec in first.owned] == []
    assert [spec.target for spec in second.owned] == ["b"]
    assert [arg.name_hint for arg in parts.program.method().args] == ["a", "x"]
    assert 'specs {speed = "high"}' in str(parts.program)
    assert "ranges {s0 = #exir.range<1, 64>}" in str(parts.program)
    same(program, parts.program, delegates="region")


def test_texts_say_everything() -> None:
    parts = xdsl_exir.partition(linear(), "npu", by_name("aten.mm", "aten.tanh"), specs={"k": "v"}).program
    for generic in (False, True):
        module = Parser(context().clone(), parts.text(generic=generic)).parse_module()
        assert module.is_structurally_equivalent(parts.module)


def test_put_back() -> None:
    program = linear()
    parts = xdsl_exir.partition(program, "npu", by_name("aten.mm")).program
    whole = parts.transform("inline-delegates")
    assert not delegates(whole)
    assert {arg.name_hint for arg in whole.method().args} == {"a", "b", "x"}
    same(program, whole)
    parts.module.walk()
    with pytest.raises(VerificationError, match="parameter 'b' has no data"):
        Program(parts.module, {"a": parts.state["a"]}).verify()


def test_a_backend_gets_its_constants_ranges_and_specs() -> None:
    program = linear()
    parts = xdsl_exir.partition(program, "npu", by_name("aten.mm"), specs={"k": "v"}).program
    given: list[Program] = []

    def compile(part: Program) -> Callable[..., Sequence[Any]]:
        given.append(part.verify())
        run = xdsl_exir.compile(part)
        return lambda *inputs: run.flat(inputs)

    xdsl_exir.register_backend("npu", compile)
    same(program, parts)
    assert [sorted(part.state) for part in given] == [[], ["b"]]
    assert ranges_of(given[1].method()) == {"s0": (1, 64)}
    weights = {"b": np.ones((3, 3), np.float32)}
    run = xdsl_exir.compile(parts)
    run.load_state(weights, strict=False)
    expected = xdsl_exir.compile(program)
    expected.load_state(weights, strict=False)
    np.testing.assert_array_equal(run.flat([X])[0], expected.flat([X])[0])


def preprocess(part: Program, specs: Mapping[str, str]) -> bytes:
    """The only thing that this chip does is multiply by a matrix of its own."""
    [weight] = part.state.values()
    assert specs == {"scale": "2"}
    return weight.numpy().tobytes()


def load(blob: bytes, specs: Mapping[str, str]) -> Callable[..., Sequence[Any]]:
    weight = np.frombuffer(blob, np.float32).reshape(3, 3)
    return lambda x: [x @ weight * int(specs["scale"])]


def only_b(op: Candidate) -> bool | str:
    return op.name == "aten.mm" and op.op.operands[1].name_hint == "b"


SECOND = """
import sys
import numpy as np
import xdsl_exir
program = xdsl_exir.load(sys.argv[1])
x = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
try:
    xdsl_exir.compile(program)
except xdsl_exir.UnsupportedError as error:
    print(error)
xdsl_exir.register_backend(
    "npu", load=lambda blob, specs: lambda x: [x @ np.frombuffer(blob, np.float32).reshape(3, 3) * int(specs["scale"])]
)
np.save(sys.argv[2], xdsl_exir.compile(program).flat([x])[0])
"""


@pytest.mark.parametrize("suffix", [".mlir", ".pt2"])
def test_bytes_are_saved_and_loaded_where_only_the_runtime_half_is(
    suffix: str,
    tmp_path: Path,
) -> None:
    parts = xdsl_exir.partition(linear(), "npu", only_b, specs={"scale": "2"}).program
    with pytest.raises(UnsupportedError, match="delegate of backend npu: it is not registered"):
        parts.transform("preprocess-delegates")
    xdsl_exir.register_backend("npu", load=load)
    with pytest.raises(UnsupportedError, match="it has no `preprocess`"):
        parts.transform("preprocess-delegates")
    with pytest.raises(UnsupportedError, match="it is not preprocessed, and only `load` is registered"):
        xdsl_exir.compile(parts)
    xdsl_exir.register_backend("npu", preprocess=preprocess, load=load)
    done = parts.transform("preprocess-delegates")
    [op] = delegates(done)
    assert op.processed is not None
    assert done.state[op.processed.data].numpy().tobytes() == parts.state["b"].numpy().tobytes()
    assert str(done.transform("preprocess-delegates")) == str(done)
    [at_once], [processed] = xdsl_exir.compile(parts).flat([X]), xdsl_exir.compile(done).flat([X])
    np.testing.assert_array_equal(at_once, processed)
    # The chip doubles, which the region does not: it did run there.
    [region] = xdsl_exir.compile(done, delegates="region").flat([X])
    np.testing.assert_array_equal(region * 2, processed)
    with pytest.raises(InputError, match="'b' is in the bytes that a backend made"):
        xdsl_exir.compile(done).load_state({"b": np.zeros((3, 3), np.float32)}, strict=False)
    xdsl_exir.register_backend("npu", lambda part: load(b"", {}))
    with pytest.raises(UnsupportedError, match="it is preprocessed, and the backend has no `load`"):
        xdsl_exir.compile(done)
    done.save(tmp_path / f"parts{suffix}")
    arguments = [sys.executable, "-c", SECOND, str(tmp_path / f"parts{suffix}"), str(tmp_path / "y.npy")]
    shown = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
    assert "delegate of backend npu: it is not registered" in shown
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), processed)


@pytest.mark.native
def test_natively_delegates_run_between_native_pieces() -> None:
    program = xdsl_exir.load(DIGITS).to_edge()
    parts = xdsl_exir.partition(program, "npu", by_name("aten.addmm", "aten.relu")).program

    def compile(part: Program) -> Callable[..., Sequence[Any]]:
        run = xdsl_exir.compile(part)
        return lambda *inputs: run.flat(inputs)

    xdsl_exir.register_backend("npu", compile)
    run = xdsl_exir.compile(parts, "native", fallback="interpreter")
    assert {item.operator for item in run.fallbacks} == {"backend.delegate"}
    inputs = random_inputs(program)
    [expected], [found] = xdsl_exir.compile(program).flat(inputs), run.flat(inputs)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


COND = """
func.func @forward(%p: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = higher_order.cond %p : tensor<i1> inputs(%x : tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    %1 = edge.aten.sin(%a) : (tensor<2xf32>) -> tensor<2xf32>
    higher_order.yield %1 : tensor<2xf32>
  } else {
  ^bb0(%a: tensor<2xf32>):
    %1 = edge.aten.cos(%a) : (tensor<2xf32>) -> tensor<2xf32>
    higher_order.yield %1 : tensor<2xf32>
  }
  %2 = edge.aten.relu(%0) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %2 : tensor<2xf32>
}
"""


def test_delegates_hold_control_flow() -> None:
    program = text_program(COND)
    whole = xdsl_exir.partition(program, "npu", lambda op: True)
    assert not whole.left
    [op] = delegates(whole.program)
    assert [inner.name for inner in op.body.block.ops] == [
        "higher_order.cond",
        "edge.aten.relu",
        "backend.yield",
    ]
    inner = xdsl_exir.partition(program, "npu", by_name("aten.sin", "aten.cos"))
    assert len(delegates(inner.program)) == 2
    assert [item.operator for item in inner.left] == ["higher_order.cond", "edge.aten.relu"]
    for parts in (whole.program, inner.program):
        for choice in (True, False):
            inputs = [np.array(choice), np.array([1, 2], np.float32)]
            [expected] = xdsl_exir.compile(program).flat(inputs)
            [found] = xdsl_exir.compile(parts, delegates="region").flat(inputs)
            np.testing.assert_array_equal(found, expected)


def test_refusals() -> None:
    with pytest.raises(UnsupportedError, match="not an edge operation"):
        xdsl_exir.partition(xdsl_exir.load(DIGITS), "npu", lambda op: True)
    with pytest.raises(ExirError, match="none of compile, preprocess and load"):
        xdsl_exir.register_backend("npu")
    with pytest.raises(ExirError, match="delegates are run by their backend or their region, not 'nobody'"):
        xdsl_exir.compile(linear(), delegates="nobody")  # pyright: ignore[reportArgumentType]

    def wrong(part: Program, specs: Mapping[str, str]) -> Any:
        return "text"

    xdsl_exir.register_backend("npu", preprocess=wrong)
    with pytest.raises(ExirError, match="preprocess of backend npu gives str, not bytes"):
        xdsl_exir.partition(linear(), "npu", only_b).program.transform("preprocess-delegates")


@pytest.mark.native
def test_c_libraries_name_the_delegates_that_there_are_no_bytes_of(tmp_path: Path) -> None:
    """(What they do with bytes: `test_npu.py`.)"""
    parts = xdsl_exir.load(DIGITS).to_edge().transform('partition{backend=npu ops="aten.relu"}')
    with pytest.raises(UnsupportedError, match="delegate of backend npu: it is not registered"):
        xdsl_exir.compile_library(parts, tmp_path, "digits")
    xdsl_exir.register_backend("npu", lambda program: lambda *arrays: arrays)
    with pytest.raises(UnsupportedError, match="delegate of backend npu: it has no `preprocess`"):
        xdsl_exir.compile_library(parts, tmp_path, "digits")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("constants", [True, False])
def test_archives_have_delegates_whole(constants: bool, tmp_path: Path) -> None:
    """With what they own, ranges, specs, and control flow in them."""
    specs = {"speed": "high"}
    names = by_name("aten.mm", "aten.tanh")
    for program, predicate in ((linear(), names), (text_program(COND), lambda op: True)):
        parts = xdsl_exir.partition(program, "npu", predicate, constants, specs).program
        parts.save(tmp_path / "parts.pt2")
        again = xdsl_exir.load(tmp_path / "parts.pt2")
        for one, other in zip(delegates(parts), delegates(again), strict=True):
            assert one.backend == other.backend
            assert one.specs == other.specs
            assert [spec.target for spec in one.owned] == [spec.target for spec in other.owned]
            assert one.ranges == other.ranges
            assert [op.name for op in one.body.walk()] == [op.name for op in other.body.walk()]
        inputs = [X] if program.state else [np.array(True), np.array([1, 2], np.float32)]
        [expected] = xdsl_exir.compile(program).flat(inputs)
        [found] = xdsl_exir.compile(again, delegates="region").flat(inputs)
        np.testing.assert_array_equal(found, expected)
