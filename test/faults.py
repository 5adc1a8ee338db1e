"""Processes that are killed while they write, disks that are full, entries of the cache and weight files of C libraries that
are damaged, forks while other threads compile: what is there afterwards is right or refused, and the next save cleans up.

    python test/faults.py [PART ...] [--count N]      # prints the figures; exit code 1 where something else happened

Parts are the functions of `PARTS`; `--count` is the number of trials of each, about. A program is a product with a matrix
that holds one number, by which one knows which one it is. Moments and damage are drawn from the trial's number.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import argparse
import ctypes
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import xdsl_exir
from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.errors import ExirError
from xdsl_exir.exchange.tensor_data import TensorData
from xdsl_exir.importers.mlir import read_mlir
from xdsl_exir.lowering import cache
from xdsl_exir.program import Program
from xdsl_exir.runtime.c.library import compile_library
from xdsl_exir.targets.cpu import compile as compiling

ROWS, COLUMNS = 1024, 256
TEXT = f"""
func.func @forward(%w: tensor<{ROWS}x{COLUMNS}xf32> {{exir.input = #exir.input<parameter, "w">}},
                   %x: tensor<{COLUMNS}xf32> {{exir.input = #exir.input<user_input, "x">}}) -> tensor<{ROWS}xf32> {{
  %0 = aten.mv(%w, %x) : (tensor<{ROWS}x{COLUMNS}xf32>, tensor<{COLUMNS}xf32>) -> tensor<{ROWS}xf32>
  func.return %0 : tensor<{ROWS}xf32>
}}
"""
NUMBERS = (1, 2)
KILLED = -signal.SIGKILL


@dataclass
class Figures:
    """What became of a part's trials."""

    name: str
    seen: Counter[str] = field(default_factory=Counter)
    bad: list[str] = field(default_factory=list)

    def add(self, what: str, is_bad: bool = False) -> None:
        self.seen[what] += 1
        if is_bad:
            self.bad.append(what)

    def __str__(self) -> str:
        return f"{self.name}: " + ", ".join(f"{count} {what}" for what, count in sorted(self.seen.items()))


def programs(folder: Path) -> list[Program]:
    """One for each number."""
    path = folder / "text.mlir"
    path.write_text(TEXT, encoding="utf-8")
    program = read_mlir(path)
    return [
        replace(program, state={"w": TensorData.of(np.full((ROWS, COLUMNS), number, np.float32), dt.Float)})
        for number in NUMBERS
    ]


def number_in(path: Path) -> int | None:
    """The number of a saved program, if it has one. Raises `LoadError`."""
    found = set(np.unique(xdsl_exir.load(path).state["w"].numpy()).tolist())
    return next(iter(found)) if len(found) == 1 and found < set(NUMBERS) else None


def in_child(work: Callable[[], object], until: float | None = None) -> int:
    """The exit code of a child that does this, negative where a signal ended it; it is killed after some seconds."""
    child = os.fork()
    if child == 0:
        code = 99
        try:
            code = int(bool(work()))
        finally:
            os._exit(code)
    if until is not None:
        time.sleep(until)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def forever(works: Sequence[Callable[[], object]]) -> Callable[[], None]:
    def work() -> None:
        while True:
            for each in works:
                each()

    return work


# --- kills ---------------------------------------------------------------------------------------------------


def kills_of_saves(folder: Path, count: int, suffix: str) -> Figures:
    """A process saves one program and another in turns, and is killed at a random moment."""
    figures, rng = Figures(f"kills while .{suffix} is saved"), random.Random(0)
    known = programs(folder)
    path = folder / "saved" / f"net.{suffix}"
    path.parent.mkdir()
    known[0].save(path)
    names = {file.name for file in path.parent.iterdir()}
    left = 0
    for _ in range(count):
        works = [lambda program=program: program.save(path) for program in known]
        in_child(forever(works), rng.uniform(0.005, 0.5))
        try:
            number = number_in(path)
            figures.add("wrong" if number is None else f"program {number}", number is None)
        except ExirError as error:
            figures.add(f"refused ({error})", True)
        left += len({file.name for file in path.parent.iterdir()} - names)
    known[0].save(path)
    after = {file.name for file in path.parent.iterdir()} - names
    figures.seen["pieces left until the next save"] = left
    figures.add("pieces left after the last save", bool(after)) if after else None
    return figures


def kills_of_the_cache(folder: Path, count: int) -> Figures:
    figures, rng = Figures("kills while entries are written"), random.Random(0)
    entries = {f"{number:064x}": rng.randbytes(300_000) for number in range(8)}

    def work() -> None:
        for path in (folder / "cache").glob("*.entry"):
            path.unlink()
        for key, data in entries.items():
            cache.cached(key, lambda data=data: data)

    with in_cache(folder / "cache"):
        for _ in range(count):
            in_child(forever([work]), rng.uniform(0.002, 0.05))
            for key, data in entries.items():
                made: list[bool] = []
                got = cache.cached(key, lambda data=data, made=made: (made.append(True), data)[1])
                figures.add("wrong" if got != data else "made" if made else "kept", got != data)
        others = [path for path in (folder / "cache").iterdir() if path.suffix != cache.SUFFIX]
    if others:
        figures.add(f"{len(others)} pieces left", True)
    return figures


def kills_of_libraries(folder: Path, count: int) -> Figures:
    """Each file is an old one or a new one; a library with the other one's weights says so."""
    figures, rng = Figures("kills while C libraries are written"), random.Random(0)
    known = programs(folder)
    target = folder / "library"
    for program in known:
        compile_library(program, target, "net")
    names = {file.name for file in target.iterdir()}
    works = [lambda program=program: compile_library(program, target, "net") for program in known]
    for _ in range(count):
        in_child(forever(works), rng.uniform(0.05, 1.2))
        code = in_child(lambda: call_library(target) not in (None, *NUMBERS))
        figures.add("right or refused" if code == 0 else f"ended with {code}", code != 0)
        if not names <= {file.name for file in target.iterdir()}:
            figures.add("a file missing", True)
    compile_library(known[0], target, "net")
    if {file.name for file in target.iterdir()} != names:
        figures.add("pieces left after the last one", True)
    if call_library(target) != NUMBERS[0]:
        figures.add("the last one wrong", True)
    return figures


def call_library(folder: Path, weights: Path | None = None) -> float | None:
    """The number that a library computes with; None where it refuses its weights, NaN where it has several."""
    library = ctypes.CDLL(str(folder / "libnet.so"))
    if library.net_load(os.fsencode(weights or folder / "net.weights")):
        return None
    x, out = np.full(COLUMNS, 1 / COLUMNS, np.float32), np.empty(ROWS, np.float32)
    code = library.net_forward(ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(out.ctypes.data))
    library.net_free()
    return float(out[0]) if code == 0 and (out == out[0]).all() else float("nan")


# --- disks ---------------------------------------------------------------------------------------------------


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path | None]:
    """A folder on a disk of this size; None where this process may not mount one."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    mounted = shutil.which("mount") and subprocess.run(command, capture_output=True).returncode == 0
    try:
        yield folder if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=True)


def full_disks(folder: Path, count: int) -> Figures:
    """Files that cannot be longer than this, and a disk with room for one program but not for two."""
    figures, rng = Figures("full disks"), random.Random(0)
    known = programs(folder)

    def trial(place: Path, path: Path, size: int | None) -> None:
        def write() -> bool:
            if size is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            try:
                if path.suffix == ".so":
                    compile_library(known[1], place, "net")
                else:
                    known[1].save(path)
            except (OSError, ExirError):
                return False
            return True

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            before = {file: file.read_bytes() for file in place.iterdir()}
            code = in_child(write)
        same = before == {file: file.read_bytes() for file in place.iterdir()}
        right = code == 0 and same
        figures.add(
            "error, old files untouched"
            if right
            else f"ended with {code}, files {'' if same else 'not '}the same",
            not right,
        )

    files = ["a.mlir", "a.pt2", "libnet.so"]
    for number in range(count):
        place = folder / f"disk{number}"
        place.mkdir()
        path = place / files[number % 3]
        if path.suffix == ".so":
            compile_library(known[0], place, "net")
        else:
            known[0].save(path)
        trial(place, path, rng.choice((0, 100, 5000, 1_000_000)))
    for number, name in enumerate(files):
        with small_disk(folder / f"mount{number}", 3 << 19) as place:
            if place is None:
                figures.add("no disk could be mounted")
                break
            if name == "libnet.so":
                compile_library(known[0], place, "net")
            else:
                known[0].save(place / name)
            trial(place, place / name, None)
    return figures


# --- damage --------------------------------------------------------------------------------------------------


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Bytes with bits flipped, or cut off, or longer, or with zeros."""
    changed = bytearray(data)
    at = rng.randrange(rng.choice((100, len(changed))))
    match rng.randrange(5):
        case 0:
            del changed[at:]
        case 1:
            changed += bytes(rng.randrange(1, 5000))
        case 2:
            changed[at : at + 4096] = bytes(len(changed[at : at + 4096]))
        case _:
            for _ in range(3):
                at = rng.randrange(rng.choice((100, len(changed))))
                changed[at] ^= 1 << rng.randrange(8)
    return bytes(changed)


@contextmanager
def many_processes() -> Iterator[None]:
    """Several processes compile a program, however short it is."""
    before, compiling.WORTHWHILE = compiling.WORTHWHILE, 1
    try:
        yield
    finally:
        compiling.WORTHWHILE = before


@contextmanager
def in_cache(folder: Path) -> Iterator[None]:
    before = os.environ.get(cache.VARIABLE)
    os.environ[cache.VARIABLE] = str(folder)
    try:
        yield
    finally:
        del os.environ[cache.VARIABLE]
        if before is not None:
            os.environ[cache.VARIABLE] = before


def result(program: Program) -> float:
    """The number that native code computes with."""
    out = xdsl_exir.compile(program, "native").flat([np.full(COLUMNS, 1 / COLUMNS, np.float32)])[0]
    return float(out[0]) if (out == out[0]).all() else float("nan")


VARIED = """graph():
    %x : [num_users=2] = placeholder[target=x]
    %w : [num_users=1] = placeholder[target=w]
    %p : [num_users=1] = call_function[target=torch.ops.aten.mm.default](args = (%x, %x), kwargs = {})
    %s : [num_users=1] = call_function[target=torch.ops.aten._softmax.default](args = (%p, -1, False), kwargs = {})
    %f : [num_users=1] = call_function[target=torch.ops.aten.flip.default](args = (%s, [0]), kwargs = {})
    %c : [num_users=1] = call_function[target=torch.ops.aten.cumsum.default](args = (%f, 1), kwargs = {})
    %u : [num_users=1] = call_function[target=torch.ops.aten.unsqueeze.default](args = (%c, 0), kwargs = {})
    %m : [num_users=1] = call_function[target=torch.ops.aten.convolution.default](args = (%u, %w, None, [1], [1], [1], False, [0], 1), kwargs = {})
    return (%m,)"""


def varied() -> tuple[Program, list[Any]]:
    """A program that becomes objects of all kinds (products, rows, groups in linalg, convolutions, a driver), and inputs."""
    rng = np.random.default_rng(0)
    types = {"x": "float32[48, 48]", "w": "float32[16, 48, 3]"}
    inputs = [
        rng.standard_normal((48, 48)).astype(np.float32),
        rng.standard_normal((16, 48, 3)).astype(np.float32),
    ]
    return xdsl_exir.from_fx_text(VARIED, types), inputs


def compute() -> bytes:
    """What native code makes of it, compiled now."""
    program, inputs = varied()
    return xdsl_exir.compile(program, "native").flat(inputs)[0].tobytes()


def damaged_entries(folder: Path, count: int) -> Figures:
    """Each of a program's entries in turn with bits flipped, cut off, zeroed or longer, or all of them."""
    figures, rng = Figures("damaged entries"), random.Random(0)
    program, inputs = varied()
    [wanted] = xdsl_exir.compile(program).flat(inputs)
    with in_cache(folder / "cache"):
        expected = compute()
        close = np.allclose(np.frombuffer(expected, np.float32), wanted.reshape(-1), 1e-4, 1e-5)
        figures.add("different from the interpreter's", True) if not close else None
        entries = {entry: entry.read_bytes() for entry in sorted((folder / "cache").iterdir())}
        for number in range(count):
            chosen = list(entries) if number % 10 == 9 else [list(entries)[number % len(entries)]]
            for entry in chosen:
                entry.write_bytes(damaged(entries[entry], rng))
            code = in_child(lambda: compute() != expected)
            same = all(entry.read_bytes() == whole for entry, whole in entries.items())
            right = f"{'right' if code == 0 else f'ended with {code}'}, {'' if same else 'not '}replaced"
            figures.add(right, code != 0 or not same)
        figures.seen["entries of a program"] = len(entries)
    return figures


def no_cache(folder: Path, count: int) -> Figures:
    """Where the cache should be is none, or no room, or somebody else's: programs are compiled, each time, and that is said."""
    figures = Figures("caches that cannot be used")
    expected = compute()

    def trial(name: str, place: Path, said: str, prepare: Callable[[], object] = lambda: None) -> None:
        def work() -> bool:
            prepare()
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                right = compute() == expected
            return not (right and (not said or any(said in str(warning.message) for warning in caught)))

        with in_cache(place):
            code = in_child(work)
        figures.add(f"{name}: {'right' if code == 0 else f'ended with {code}'}", code != 0)

    def another_user() -> None:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setuid(65534)

    def of_size(size: int) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    folder.chmod(0o755)
    theirs, file, loop, inside = (folder / name for name in ("theirs", "file", "loop", "inside"))
    with in_cache(theirs):
        compute()
    theirs.chmod(0o555)
    file.write_text("")
    loop.symlink_to(loop)
    for _ in range(max(count // 30, 1)):
        trial("another user's", theirs, "cannot be kept", another_user)
        trial("a file", file, "cannot be kept")
        trial("in a file", file / "cache", "cannot be kept")
        trial("a link to itself", loop, "cannot be kept")
        trial("of files of no size", folder / "none", "cannot be kept", lambda: of_size(0))
        trial("of files of 1,000 bytes", folder / "small", "cannot be kept", lambda: of_size(1000))
        with small_disk(folder / "disk", 8 << 10) as disk:
            if disk is not None:
                trial("a full disk", disk, "cannot be kept")
        if (folder / "disk").exists():
            (folder / "disk").rmdir()
        with in_cache(inside):
            compute()
        for entry in list(inside.iterdir()):
            entry.unlink()
            entry.mkdir()
        trial("folders in place of entries", inside, "cannot be kept")
        shutil.rmtree(inside)
        with in_cache(inside):
            compute()
        for entry in list(inside.iterdir()):
            entry.unlink()
            entry.symlink_to("/dev/null")
        trial("links to nothing in place of entries", inside, "")
        shutil.rmtree(inside)
    return figures


def tools_at_work(marker: str) -> list[int]:
    """Processes whose environment has this in it."""
    found: list[int] = []
    for place in Path("/proc").iterdir():
        try:
            if place.name.isdecimal() and marker.encode() in (place / "environ").read_bytes():
                found.append(int(place.name))
        except OSError:
            continue
    return found


def kills_of_compilations(folder: Path, count: int) -> Figures:
    """A process and those that work for it compile; it is killed. None of them goes on, and what they left is right."""
    figures, rng = Figures("kills while programs are compiled"), random.Random(0)
    expected = compute()
    with in_cache(folder / "cache"), many_processes():
        for _ in range(count):
            command = [sys.executable, __file__, "--forever"]
            with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
                assert process.stdout is not None
                process.stdout.readline()
                time.sleep(rng.uniform(0, 2))
                process.kill()
            # Their environment says whose they are.
            until = time.monotonic() + 5
            while (left := tools_at_work(str(folder / "cache"))) and time.monotonic() < until:
                time.sleep(0.01)
            right = compute() == expected
            figures.add("right" if right else "wrong", not right)
            figures.add("tools that go on", True) if left else None
        pieces = [path for path in (folder / "cache").iterdir() if path.suffix != cache.SUFFIX]
        figures.add("pieces left after the last one", True) if pieces else None
    return figures


def compile_forever() -> None:
    """What the part above kills."""
    print("started", flush=True)
    with many_processes():
        while True:
            for entry in list(cache.cache_directory().glob(f"*{cache.SUFFIX}")):
                entry.unlink(missing_ok=True)
            compute()


def processes_at_once(folder: Path, count: int) -> Figures:
    """Six at a time compile the same programs into an empty cache."""
    figures = Figures("processes at once")
    known = programs(folder)
    for number in range(max(count // 10, 1)):
        with in_cache(folder / f"cache{number}"):
            children = []
            for _ in range(6):
                if (child := os.fork()) == 0:
                    code = 99
                    try:
                        code = int([result(program) for program in known] != list(NUMBERS))
                    finally:
                        os._exit(code)
                children.append(child)
            for child in children:
                code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                figures.add("right" if code == 0 else f"ended with {code}", code != 0)
    return figures


def damaged_weights(folder: Path, count: int) -> Figures:
    """Weight files of a C library: refused, whatever is wrong with them."""
    figures, rng = Figures("damaged weights of a C library"), random.Random(0)
    [program, _] = programs(folder)
    compile_library(program, folder, "net")
    whole = (folder / "net.weights").read_bytes()
    for first in range(0, count * 13, 50):
        trials = [damaged(whole, rng) for _ in range(min(50, count * 13 - first))]

        def load_all(trials: list[bytes] = trials) -> bool:
            for data in trials:
                (folder / "damaged").write_bytes(data)
                if call_library(folder, folder / "damaged") is not None and data != whole:
                    return True
            return False

        code = in_child(load_all)
        for _ in trials:
            figures.add("refused" if code == 0 else f"ended with {code}", code != 0)
    return figures


# --- forks ---------------------------------------------------------------------------------------------------


def forks(folder: Path, count: int) -> Figures:
    """Two threads compile programs, the process forks, the child compiles one as well, all natively, with other processes' help."""
    figures, rng = Figures("forks while other threads compile"), random.Random(0)
    stop, errors = threading.Event(), list[BaseException]()
    [program, _] = programs(folder)

    def scaled(factor: float) -> Program:
        text = TEXT.replace("func.return %0", f"%f = exir.number {factor!r} : f64\n  %1 = aten.mul.Scalar(%0, %f) : "
                            f"(tensor<{ROWS}xf32>, f64) -> tensor<{ROWS}xf32>\n  func.return %1")  # fmt: skip
        path = folder / f"{factor}.mlir"
        path.write_text(text, encoding="utf-8")
        return replace(read_mlir(path), state=program.state)

    def compile_on(number: int) -> None:
        while not stop.is_set():
            number += 1
            try:
                assert result(scaled(number + 0.5)) == number + 0.5
            except BaseException as error:
                errors.append(error)
                return

    with in_cache(folder / "cache"), many_processes():
        threads = [threading.Thread(target=compile_on, args=(1000 * number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for number in range(count):
            time.sleep(rng.uniform(0, 1))

            def in_time(number: int = number) -> bool:
                signal.alarm(120)
                return result(scaled(number + 0.25)) != number + 0.25

            code = in_child(in_time)
            what = "hung" if code == -signal.SIGALRM else "right" if code == 0 else f"ended with {code}"
            figures.add(what, code != 0)
        stop.set()
        for thread in threads:
            thread.join()
    for error in errors:
        figures.add(f"threads: {error!r}", True)
    return figures


PARTS: dict[str, Callable[[Path, int], Figures]] = {
    "mlir": lambda folder, count: kills_of_saves(folder, count, "mlir"),
    "pt2": lambda folder, count: kills_of_saves(folder, count, "pt2"),
    "cache": kills_of_the_cache,
    "library": kills_of_libraries,
    "disks": full_disks,
    "entries": damaged_entries,
    "no cache": no_cache,
    "compilations": kills_of_compilations,
    "processes": processes_at_once,
    "weights": damaged_weights,
    "forks": forks,
}


def run_part(name: str, count: int) -> Figures:
    """Runs a part in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        return PARTS[name](Path(folder), count)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)} (default: all)")
    parser.add_argument("--count", type=int, default=30, help="trials (default: %(default)s)")
    parser.add_argument("--forever", action="store_true", help=argparse.SUPPRESS)
    args: Any = parser.parse_args()
    if args.forever:
        compile_forever()
    code = 0
    for name in args.parts or PARTS:
        start = time.perf_counter()
        figures = run_part(name, args.count)
        print(f"{figures} ({time.perf_counter() - start:.0f} s)", flush=True)
        code |= bool(figures.bad)
    return code


if __name__ == "__main__":
    sys.exit(main())
