"""One executable called from several threads, and in the children of forks: results are those of one call at a time."""

# pyright: basic, reportMissingImports=false, reportPrivateImportUsage=false

from __future__ import annotations

import ctypes
import importlib
import multiprocessing
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.runtime.executable import Executable
from xdsl_exir.runtime.openmp import find_openmp
from xdsl_exir.targets.cpu.machine import llvm_binding
from xdsl_exir.threads import UNFORKED, Lock, cached_property, once

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::UserWarning", "ignore::DeprecationWarning"
)

THREADS = 4


@pytest.fixture(params=["interpreter", "native"])
def target(request: Any) -> str:
    if request.param == "native":
        request.getfixturevalue("native_tools")
    return request.param


@pytest.fixture(autouse=True)
def _short_turns() -> Any:
    """Threads take turns often, so that a race shows."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


class Net(torch.nn.Module):
    """Two layers with intermediate results that lie in the arena."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(64, 128), torch.nn.GELU(), torch.nn.Linear(128, 32), torch.nn.Softmax(-1)
        )

    def forward(self, x: Any) -> Any:
        return self.layers(x) + x.mean()


class Gather(torch.nn.Module):
    """A result whose size depends on the data."""

    def forward(self, x: Any) -> Any:
        kept = x[x.sum(1) > 0]
        return kept.exp().sum(1), torch.softmax(kept, -1)


def export(module: Any, *inputs: Any, **options: Any) -> xdsl_exir.Program:
    with torch.no_grad():
        return xdsl_exir.from_exported_program(torch.export.export(module.eval(), inputs, **options))


def in_threads(work: Callable[[int], Any], threads: int = THREADS) -> list[Any]:
    """What `work` gives for each number of a thread, all of which begin together."""
    start = threading.Barrier(threads)

    def run(number: int) -> Any:
        start.wait()
        return work(number)

    with ThreadPoolExecutor(threads) as pool:
        return [future.result() for future in [pool.submit(run, number) for number in range(threads)]]


def wrong_results(run: Executable, inputs: Sequence[Sequence[Any]], calls: int) -> int:
    """How many of the calls of all threads give other numbers than a call that is alone, bit by bit."""
    wanted = [run.flat(values) for values in inputs]

    def work(number: int) -> int:
        wrong = 0
        for call in range(calls):
            which = (number + call) % len(inputs)
            got = run.flat(inputs[which])
            wrong += not all(map(np.array_equal, got, wanted[which]))
        return wrong

    return sum(in_threads(work))


def inputs_of(sizes: Sequence[int]) -> list[list[Any]]:
    rng = np.random.default_rng(0)
    return [[rng.standard_normal((size, 64)).astype(np.float32)] for size in sizes]


# --- threads ------------------------------------------------------------------------------------------------


def test_equal_sizes(target: str) -> None:
    run = xdsl_exir.compile(export(Net(), torch.randn(16, 64)), target)
    assert wrong_results(run, inputs_of([16] * 5), 20 if target == "interpreter" else 60) == 0


def test_sizes_that_change(target: str) -> None:
    """Calls at the same time have arenas of different sizes."""
    batch = torch.export.Dim("batch", max=512)
    program = export(Net(), torch.randn(16, 64), dynamic_shapes=({0: batch},))
    assert wrong_results(xdsl_exir.compile(program, target), inputs_of([1, 300, 7, 64, 33]), 20) == 0


def test_sizes_that_depend_on_data(target: str) -> None:
    """Native pieces, with the interpreter between them."""
    run = xdsl_exir.compile(export(Gather(), torch.randn(16, 64)), target, fallback="interpreter")
    assert wrong_results(run, inputs_of([16] * 5), 25) == 0


# --- state --------------------------------------------------------------------------------------------------


class Counter(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.register_buffer("twice", torch.zeros((), dtype=torch.int64))

    def forward(self, x: Any) -> Any:
        self.calls.add_(1)
        self.twice.copy_(2 * self.calls)
        return x + self.calls


class Reader(Counter):
    def forward(self, x: Any) -> Any:
        return x + self.twice - 2 * self.calls


def test_calls_that_change_state_are_ordered(target: str) -> None:
    run = xdsl_exir.compile(export(Counter(), torch.zeros((), dtype=torch.int64)), target)
    zero = np.zeros((), np.int64)
    seen = in_threads(lambda _: [int(run.flat([zero])[0]) for _ in range(50)])
    assert sorted(number for numbers in seen for number in numbers) == list(range(1, 50 * THREADS + 1))
    assert all(numbers == sorted(numbers) for numbers in seen)
    assert run.array("calls") == 50 * THREADS


def test_reads_of_state_are_of_one_moment(target: str) -> None:
    """A method that reads two buffers sees both as the same call of another method left them."""
    zero = torch.zeros((), dtype=torch.int64)
    methods = {
        name: torch.export.export(module, (zero,))
        for name, module in {"write": Counter(), "read": Reader()}.items()
    }
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(methods), target)

    def work(number: int) -> list[int]:
        method = run.method("write" if number % 2 else "read")
        return [int(method.flat([zero.numpy()])[0]) for _ in range(60)]

    seen = in_threads(work)
    assert all(not any(numbers) for numbers in seen[::2])
    assert run.array("calls") == 60 * THREADS // 2


def test_gradients_are_those_of_the_threads_own_call() -> None:
    from torch.export.experimental import _export_forward_backward

    class Loss(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(4))

        def forward(self, x: Any) -> Any:
            return (self.weight * x).sum()

    joint = _export_forward_backward(torch.export.export(Loss(), (torch.randn(4),)))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(joint))

    def work(number: int) -> bool:
        mine = np.full(4, number + 1, np.float32)
        right = True
        for _ in range(40):
            run.flat([mine])
            right &= np.array_equal(run.gradients["weight"], mine)
        return right

    assert all(in_threads(work))
    assert run.gradients["weight"][0] in range(1, THREADS + 1), "of a thread that made none, the last of all"


# --- what is made when it is first used ---------------------------------------------------------------------


def test_once() -> None:
    """Threads that ask at the same time get one object."""
    made: list[object] = []

    @once
    def make(key: int) -> object:
        made.append(object())
        threading.Event().wait(0.01)
        return made[-1]

    assert len({id(value) for value in in_threads(lambda _: make(1))}) == 1
    assert len(made) == 1
    assert make(2) is not make(1)


FIRST_USE = """
import sys, threading
import numpy as np
import xdsl_exir

sys.setswitchinterval(1e-6)
start, errors = threading.Barrier(4), []
x = np.linspace(-1, 1, 16 * 64, dtype=np.float32).reshape(16, 64)

def work(number):
    start.wait()
    try:
        program = xdsl_exir.load(sys.argv[1]).to_edge()
        run = xdsl_exir.compile(program, sys.argv[2])
        np.testing.assert_allclose(run.flat([x])[0], np.load(sys.argv[3]), rtol=1e-4, atol=1e-6)
    except BaseException as error:
        errors.append(repr(error))

threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.exit("; ".join(errors) or None)
"""


def test_threads_are_first_to_load_and_compile(target: str, tmp_path: Path) -> None:
    """In a fresh process: registries, dialects, tools and LLVM are set up by whichever thread comes first."""
    net = Net()
    program, expected = tmp_path / "net.pt2", tmp_path / "expected.npy"
    export(net, torch.randn(16, 64)).save(program)
    x = torch.linspace(-1, 1, 16 * 64).reshape(16, 64)
    np.save(expected, net(x).detach().numpy())
    done = subprocess.run(
        [sys.executable, "-c", FIRST_USE, str(program), target, str(expected)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "XDSL_EXIR_CACHE": str(tmp_path / "cache")},
    )
    assert done.returncode == 0, done.stderr


# --- fork ---------------------------------------------------------------------------------------------------


def child_of_fork(work: Callable[[], bool], seconds: float = 60) -> bool:
    """Whether `work` gives true in the child of a fork, in time."""
    child = multiprocessing.get_context("fork").Process(target=lambda: os._exit(0 if work() else 1))
    child.start()
    child.join(seconds)
    hangs = child.is_alive()
    if hangs:
        child.kill()
        child.join()
    return not hangs and child.exitcode == 0


def test_fork(target: str) -> None:
    """Calls before a fork, after it in the parent and in the child, and in a child's child; loops run in threads."""
    run = xdsl_exir.compile(export(Net(), torch.randn(256, 64)), target)
    [values] = inputs_of([256])
    wanted = run.flat(values)[0]

    def is_right() -> bool:
        return all(np.array_equal(run.flat(values)[0], wanted) for _ in range(3))

    assert child_of_fork(is_right)
    assert is_right()
    assert child_of_fork(
        lambda: is_right() and child_of_fork(is_right) and wrong_results(run, [values], 5) == 0
    )
    assert all(in_threads(lambda _: child_of_fork(is_right), 2)), "forked by threads"


def test_fork_in_the_middle_of_others_calls(target: str) -> None:
    """The child goes on with the state as the last call that had ended left it, and with no lock held."""
    run = xdsl_exir.compile(export(Counter(), torch.zeros((), dtype=torch.int64)), target)
    zero, stop = np.zeros((), np.int64), threading.Event()

    def call() -> bool:
        before = int(run.array("calls"))
        return int(run.flat([zero])[0]) == before + 1 and run.array("twice") == 2 * run.array("calls")

    def others() -> None:
        while not stop.is_set():
            run.flat([zero])

    with ThreadPoolExecutor(2) as pool:
        busy = [pool.submit(others) for _ in range(2)]
        held = [child_of_fork(call) for _ in range(5)]
        stop.set()
        for future in busy:
            future.result()
    assert all(held)


def test_fork_among_threads_that_are_always_at_work() -> None:
    """Forks come to pass though some thread is at work at every time, and a child may begin such work itself."""
    stop, switch = threading.Event(), sys.getswitchinterval()

    def enter() -> bool:
        with UNFORKED:
            return True

    def others() -> None:
        while not stop.is_set():
            enter()

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(3) as pool:
            busy = [pool.submit(others) for _ in range(3)]
            free = [child_of_fork(enter, 10) for _ in range(20)]
            stop.set()
            for future in busy:
                future.result()
    finally:
        sys.setswitchinterval(switch)
    assert all(free)


def test_a_lock_that_another_thread_held_is_free_in_the_child() -> None:
    lock, held, done = Lock(), threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            held.set()
            done.wait()

    def take() -> bool:
        with lock:
            return True

    def take_twice() -> bool:
        with lock:
            return child_of_fork(take)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    assert child_of_fork(take)
    done.set()
    thread.join()
    assert take_twice(), "the thread that forks keeps what it holds"


def forked_during(work: Callable[[threading.Event], None], then: Callable[[], bool]) -> bool:
    """Whether `then` gives true in the child of a fork that begins when another thread is in the middle of `work`."""
    inside = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work, inside)
        inside.wait()
        right = child_of_fork(then, 20)
        future.result()
    return right


@pytest.mark.usefixtures("native_tools")
def test_fork_while_another_thread_is_in_llvm() -> None:
    """Also outside of a compilation: what it leaves is disposed of by whichever thread drops it."""

    def work(inside: threading.Event) -> None:
        with llvm_binding().ffi.lib._lock:
            inside.set()
            time.sleep(0.2)

    assert forked_during(work, lambda: bool(llvm_binding().get_host_cpu_name()))


def test_fork_while_another_thread_is_in_a_cached_property() -> None:
    class Slow:
        inside = threading.Event()

        @cached_property
        def value(self) -> int:
            self.inside.set()
            time.sleep(0.2)
            return 1

    def work(inside: threading.Event) -> None:
        Slow.inside = inside
        assert Slow().value == 1

    assert forked_during(work, lambda: Slow().value == 1)


def test_fork_while_another_thread_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is imported when it is first used is there in the child, whole."""
    inside = threading.Event()
    monkeypatch.setattr(threading, "slow_import_begins", inside, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "slow_module_of_a_test.py").write_text(
        "import threading, time\nthreading.slow_import_begins.set()\ntime.sleep(0.2)\nwhole = True\n"
    )

    def work(started: threading.Event) -> None:
        thread = threading.Thread(target=importlib.import_module, args=("slow_module_of_a_test",))
        thread.start()
        inside.wait()
        started.set()
        thread.join()

    assert forked_during(work, lambda: importlib.import_module("slow_module_of_a_test").whole)


COUNTS = """
import sys
import numpy as np
import xdsl_exir

x = np.linspace(-1, 1, 256 * 64, dtype=np.float32).reshape(256, 64)
np.save(sys.argv[2], xdsl_exir.compile(xdsl_exir.load(sys.argv[1]), "native").flat([x])[0])
"""


@pytest.mark.usefixtures("native_tools")
def test_any_number_of_openmp_threads(tmp_path: Path) -> None:
    """Code that was compiled for a number of threads runs with fewer and with more, to the same bits."""
    program = tmp_path / "net.pt2"
    export(Net(), torch.randn(256, 64)).save(program)
    results: list[bytes] = []
    for count in (1, 2 * (os.cpu_count() or 1) + 1):
        out = tmp_path / f"{count}.npy"
        environment = {**os.environ, "OMP_NUM_THREADS": str(count), "OMP_DYNAMIC": "false"}
        subprocess.run([sys.executable, "-c", COUNTS, str(program), str(out)], check=True, env=environment)
        results.append(out.read_bytes())
    assert len(set(results)) == 1


PARALLEL = """
func.func @squares(%out: memref<64xf32>) attributes {llvm.emit_c_interface} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %64 = arith.constant 64 : index
  scf.parallel (%i) = (%0) to (%64) step (%1) {
    %square = arith.muli %i, %i : index
    %int = arith.index_cast %square : index to i64
    %float = arith.sitofp %int : i64 to f32
    memref.store %float, %out[%i] : memref<64xf32>
  }
  return
}
"""

BESIDE_ANOTHER_RUNTIME = """
import ctypes, multiprocessing, sys
import numpy as np
from xdsl_exir.runtime import linking

def theirs():
    library = ctypes.CDLL(sys.argv[2], int(sys.argv[3]))
    region = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(lambda *_: None)
    getattr(library, "__kmpc_fork_call")(None, 0, region)

def ours():
    out = np.zeros(64, np.float32)
    linking.bind(linking.load(sys.argv[1]), "squares", [out])()
    np.testing.assert_array_equal(out, np.arange(64) ** 2)

order = [ours, theirs] if sys.argv[4] == "ours" else [theirs, ours]

def work():
    for use in order * 2:
        use()

work()
for order in (order, order[::-1]):
    child = multiprocessing.get_context("fork").Process(target=work)
    child.start()
    child.join()
    assert child.exitcode == 0, child.exitcode
"""


@pytest.mark.usefixtures("native_tools")
@pytest.mark.parametrize(
    ("name", "mode", "first"),
    [
        ("libiomp5.so", ctypes.RTLD_GLOBAL, "ours"),
        ("libiomp5-0a1b2c3d.so", ctypes.RTLD_LOCAL, "theirs"),
        ("libtheirs.so", ctypes.RTLD_GLOBAL, "theirs"),
        ("libtheirs.so", ctypes.RTLD_LOCAL, "theirs"),
    ],
)
def test_another_openmp_runtime_in_the_process(tmp_path: Path, name: str, mode: int, first: str) -> None:
    """As MKL has one, also one that cannot be told by its name. Two of a kind end a process where nobody sees to it."""
    shutil.copyfile(find_openmp(), tmp_path / name)
    environment = {name: value for name, value in os.environ.items() if name != "KMP_DUPLICATE_LIB_OK"}
    command = [sys.executable, "-c", BESIDE_ANOTHER_RUNTIME, PARALLEL, tmp_path / name, str(mode), first]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
