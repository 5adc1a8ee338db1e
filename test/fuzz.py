"""Mutated `.pt2` archives, FX text and MLIR text: each is read, or refused with one `ExirError`. Nothing else happens.

    python test/fuzz.py --count 20000                 # prints the figures; exit code 1 where something else happened
    python test/fuzz.py --count 20000 --torchscript   # TorchScript archives (code, pickles, the zip) and graph text

What is mutated is made from bench/digits and, where PyTorch is installed, from the models of ordinary.py and small
programs with control flow and symbolic sizes. A case is one file, its mutation drawn from its number: `--only N` runs
one again. Each is read in a process that may take 1 GiB of memory more than it had, for 2 s of its time; what can be
read is taken to edge as well.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import argparse
import io
import json
import math
import random
import re
import resource
import signal
import sys
import tempfile
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import xdsl_exir
from xdsl_exir.dialects.tensors import tensor_meta
from xdsl_exir.errors import ExirError

SECONDS = 2.0
BYTES = 1 << 30
DIGITS = Path(__file__).parents[1] / "bench" / "digits" / "digits.pt2"

# --- what is mutated -----------------------------------------------------------------------------------------


def seeds(folder: Path) -> list[Path]:
    """Good files of the three kinds, written to a folder."""
    programs = {"digits": xdsl_exir.load(DIGITS)}
    try:
        import torch
    except ImportError:
        pass
    else:
        programs |= {name: xdsl_exir.from_exported_program(program) for name, program in exported(torch)}
    written: list[Path] = []
    for name, program in programs.items():
        for suffix in (".pt2", ".mlir"):
            program.save(folder / f"{name}{suffix}")
        program.to_edge().save(folder / f"{name}.generic.mlir")
        (folder / f"{name}.generic.mlir").write_text(program.to_edge().text(generic=True))
        (folder / f"{name}.fx").write_text(fx_case(program))
        written += [folder / f"{name}{suffix}" for suffix in (".pt2", ".mlir", ".generic.mlir", ".fx")]
    return written


def script_seeds(folder: Path) -> list[Path]:
    """Good TorchScript archives, and the text of their graphs."""
    import torch
    from scripted import MODULES, quiet, save

    written: list[Path] = []
    torch.manual_seed(0)
    for name, (make, inputs) in MODULES.items():
        path = folder / f"{name}.pt"
        with quiet():
            module = make()
            save(module, path)
            path.with_suffix(".ts").write_text(str(module.inlined_graph))
        path.with_suffix(".json").write_text(json.dumps([list(value.shape) for value in inputs]))
        written += [path, path, path.with_suffix(".ts")]
    return written


def fx_case(program: xdsl_exir.Program) -> str:
    """FX text, after a line with the types of its inputs."""
    metas = [tensor_meta(type) for type in program.method().function_type.inputs.data]
    types = [f"{meta.dtype.torch_name}[{', '.join(map(str, meta.shape))}]" for meta in metas]
    return json.dumps(types) + "\n" + program.fx_text()


def exported(torch: Any) -> Iterator[tuple[str, Any]]:
    """Small programs of PyTorch's, by name."""
    from ordinary import ORDINARY

    class Branches(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            y = torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos() + 1, (x,))
            return torch.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (torch.tensor(0), y))

    class Sizes(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.cat([x, x * x.shape[0]]).reshape(-1, 2)[: x.shape[0] // 2], x.nonzero()

    torch.manual_seed(0)
    yield "branches", torch.export.export(Branches(), (torch.ones(3),))
    n = torch.export.Dim("n", min=4, max=64)
    yield "sizes", torch.export.export(Sizes(), (torch.ones(8, 4),), dynamic_shapes=({0: 2 * n},))
    for name in ("SqueezeExcite", "LSTM", "GraphNet", "MixtureOfExperts", "CachedDecoder", "Losses"):
        model, inputs = ORDINARY[name]()
        yield name, torch.export.export(model, inputs)


# --- mutations -----------------------------------------------------------------------------------------------

TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
ODD = ("", "-1", "0", "1e999", str(1 << 63), str(1 << 200), "s0", "u0", "nan", "%x", "@f", "#a", "!t", '"', "\\", "\0", "é", "😀",
       "x) { return } func.func @y(", "*/", "\u202e", "??/", "../x", "1x" * 5000, "x" * 100_000, "9" * 100_000,
       "(" * 5000, "[" * 5000, "tensor<", "x" * 5000, "s0 ** s0 ** s0", "9" * 5000, "-", "loc(", "dense<", "{", "}")  # fmt: skip
SPARE: tuple[Any, ...] = (None, True, 0, -1, 1 << 63, 1 << 200, 1.5, 1e300, "", "x", "s0**s0", "(" * 3000, [], {}, [[]], [[]] * 5000,
                          "x) { return } func.func @y(", "*/", "\u202e", "../x", "x" * 100_000, 10**1000, 1 << 60,
                          {"as_int": 1}, {"name": "x"}, {"as_tensor": {"name": "x"}}, "torch.ops.aten.mm.default")  # fmt: skip


def mutate_text(text: str, rng: random.Random) -> str:
    """A text with some tokens dropped, doubled, moved, replaced by others of it, or by odd ones; or cut off."""
    tokens = TOKEN.findall(text)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        at, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        match rng.randrange(7):
            case 0:
                tokens[at] = rng.choice(ODD)
            case 1:
                tokens[at] = tokens[other]
            case 2:
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case 3:
                tokens[at : at + rng.randrange(1, 8)] = [" "]
            case 4:
                tokens[at:at] = tokens[other : other + rng.randrange(1, 30)]
            case 5 if tokens[at].isdigit():
                tokens[at] = str(int(tokens[at][:9]) + rng.choice((-1, 1, 2, 1000)))
            case 6 if rng.random() < 0.1:
                tokens = [*tokens[:at], " "]
            case _:
                tokens[at] = rng.choice(ODD[:12])
    return "".join(tokens)


def mutate_bytes(data: bytes, rng: random.Random) -> bytes:
    """Bytes with some changed, most at the end, where the archive's directory is; or cut off, or with some missing."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 4, 16))):
        at = rng.randrange(rng.choice((0, max(len(changed) - 1500, 0))), len(changed))
        match rng.randrange(8):
            case 0:
                del changed[at : at + rng.randrange(1, 64)]
            case 1:
                changed[at:at] = bytes(rng.randrange(1, 64))
            case 2 if rng.random() < 0.2:
                del changed[at:]
            case _:
                changed[at] = rng.randrange(256)
        if len(changed) < 2:
            break
    return bytes(changed)


def mutate_json(value: Any, rng: random.Random) -> None:
    """Replaces, drops or doubles a piece of a JSON value, anywhere in it."""
    steps: list[tuple[Any, Any]] = []
    while isinstance(value, dict | list) and value and not (len(steps) > 2 and rng.random() < 0.1):
        step = rng.choice(list(value) if isinstance(value, dict) else range(len(value)))
        steps.append((value, step))
        value = value[step]
    if not steps:
        return
    (container, step), (giver, given) = rng.choice(steps[-4:]), rng.choice(steps)
    match rng.randrange(4):
        case 0:
            del container[step]
        case 1:
            container[step] = json.loads(json.dumps(giver[given]))
        case 2 if isinstance(container, list):
            container.insert(step, json.loads(json.dumps(container[step])))
        case _:
            container[step] = json.loads(json.dumps(rng.choice(SPARE)))


def mutate_archive(data: bytes, rng: random.Random) -> bytes:
    """An archive with its JSON changed, or an entry dropped, renamed, or another one's."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    names = sorted(entries)
    model = next(name for name in names if name.endswith("models/model.json"))
    content = json.loads(entries[model])
    for _ in range(rng.choice((1, 1, 2, 4))):
        name, other = rng.choice(names), rng.choice(names)
        match rng.randrange(12):
            case 0:
                entries.pop(name, None)
            case 1:
                entries[rng.choice(("../x", "/x", "x" * 300, name.upper()))] = entries.pop(name, b"")
            case 2:
                entries[name] = entries.get(other, b"")
            case _:
                mutate_json(content, rng)
                entries[model] = json.dumps(content).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return out.getvalue()


def mutate_script(data: bytes, rng: random.Random) -> bytes:
    """A TorchScript archive with code or a pickle changed, or an entry dropped, renamed, or another one's."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    names = sorted(entries)
    name, other = rng.choice(names), rng.choice(names)
    match rng.randrange(12):
        case 0:
            entries.pop(name)
        case 1:
            entries[rng.choice(("../x", "/x", "x" * 300, name.upper()))] = entries.pop(name)
        case 2:
            entries[name] = entries[other]
        case 3 | 4 | 5 | 6:
            chosen = rng.choice([name for name in names if name.endswith(".pkl")])
            entries[chosen] = mutate_bytes(entries[chosen], rng)
        case _:
            chosen = rng.choice([name for name in names if name.endswith(".py")])
            entries[chosen] = mutate_text(entries[chosen].decode(), rng).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return out.getvalue()


READING: list[Path] = []
"""The case that is being read."""


def forbid_code(event: str, arguments: Any) -> None:
    """An audit hook: what a file could want to be run."""
    if READING and event.startswith(("pickle.", "os.system", "os.exec", "os.spawn", "socket.")):
        raise RuntimeError(f"a file had code run: {event} {arguments}")


# --- one case ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What happened to a case."""

    number: int
    seed: str
    kind: str
    """`read`, an `ExirError`'s name, or what should not be: `hang`, `memory`, or another exception's name."""
    detail: str = ""

    @property
    def is_failure(self) -> bool:
        return bool(self.detail)


class Hang(BaseException):
    """A case took too much time. No `except Exception` catches it."""


def give_up(number: int, frame: FrameType | None) -> None:
    raise Hang(traceback.format_stack(frame)[-1] if frame else "")


def read(path: Path) -> None:
    """Reads a case, and takes it to edge."""
    if path.suffix == ".fx":
        line, _, text = path.read_text().partition("\n")
        program = xdsl_exir.from_fx_text(text, json.loads(line))
    elif path.suffix == ".ts":
        xdsl_exir.from_torchscript_text(path.read_text()).torchscript_text()
        return
    elif path.suffix == ".pt":
        read_script(path)
        return
    else:
        program = xdsl_exir.load(path)
    program.to_edge().text()


class Long(Exception):
    """A program that was read runs long: its loops may say so."""


def read_script(path: Path) -> None:
    """Reads an archive, prints it, and runs what was read."""
    program = xdsl_exir.load(path)
    program.text()
    program.torchscript_text()
    shapes = json.loads(path.with_suffix(".json").read_text())
    inputs = [np.linspace(-1, 1, math.prod(shape), dtype=np.float32).reshape(shape) for shape in shapes]
    try:
        program(*inputs)
        program.to_aten(inputs)
    except Hang as error:
        raise Long from error


def write_case(number: int, seeds: Sequence[Path], folder: Path) -> tuple[Path, Path]:
    """Writes a case's file; gives the seed and it."""
    rng = random.Random(number)
    seed = seeds[number % len(seeds)]
    path = folder / f"case{number}{seed.suffix}"
    if seed.suffix == ".pt2":
        mutate = rng.choice((mutate_bytes, mutate_archive, mutate_archive, mutate_archive))
        path.write_bytes(mutate(seed.read_bytes(), rng))
    elif seed.suffix == ".pt":
        mutate = rng.choice((mutate_bytes, mutate_script, mutate_script, mutate_script))
        path.write_bytes(mutate(seed.read_bytes(), rng))
        path.with_suffix(".json").symlink_to(seed.with_suffix(".json"))
    elif seed.suffix == ".ts":
        path.write_text(mutate_text(seed.read_text(), rng))
    elif seed.suffix == ".fx":
        types, _, text = seed.read_text().partition("\n")
        path.write_text(f"{types}\n{mutate_text(text, rng)}")
    else:
        path.write_text(mutate_text(seed.read_text(), rng))
        path.with_suffix(".safetensors").symlink_to(seed.with_suffix(".safetensors"))
    return seed, path


PLACED = r"case\d+|FX text|:\d+|[a-z]\.[a-z]|unsupported|%|@|method|argument"
"""What errors that say where they happened hold, but for those of scripts, which say the file or the line."""


def run_case(seeds: Sequence[Path], folder: Path, number: int) -> Outcome:
    """One case. Process time counts, not the clock's: the machine may be busy."""
    seed, path = write_case(number, seeds, folder)
    outcome = partial(Outcome, number, seed.name)
    signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    READING.append(path)
    try:
        read(path)
        return outcome("read")
    except ExirError as error:
        text = str(error)
        of_script = path.suffix in (".pt", ".ts")
        placed = re.search(r"\.py:\d+|case\d+|TorchScript text" if of_script else PLACED, text)
        return outcome(type(error).__name__, "" if text and placed else f"without a place: {text[:200]}")
    except Long:
        return outcome("runs long")
    except Hang as error:
        return outcome("hang", str(error))
    except MemoryError:
        return outcome("memory", traceback.format_exc(limit=-3))
    except Exception as error:
        return outcome(type(error).__name__, traceback.format_exc(limit=-3))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        READING.clear()
        path.unlink(missing_ok=True)
        path.with_suffix(".safetensors").unlink(missing_ok=True)
        path.with_suffix(".json").unlink(missing_ok=True)


def limit_memory() -> None:
    """Of this process: what it has, with everything imported, and a GiB."""
    xdsl_exir.load(DIGITS).to_edge()
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    sys.addaudithook(forbid_code)


def run_cases(
    numbers: Sequence[int], report: Callable[[Outcome], None], processes: int = 2, torchscript: bool = False
) -> None:
    """Runs cases, and reports each one's outcome. A process that dies is an outcome too."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        made = script_seeds(folder) if torchscript else seeds(folder)
        left = list(numbers)
        while left:
            with ProcessPoolExecutor(processes, get_context("spawn"), limit_memory) as pool:
                done = 0
                try:
                    for outcome in pool.map(partial(run_case, made, folder), left, chunksize=50):
                        report(outcome)
                        done += 1
                    return
                except BrokenProcessPool:
                    report(
                        Outcome(
                            left[done],
                            "",
                            "crash",
                            f"a process died in cases {left[done]} to {left[done] + 99}",
                        )
                    )
                    left = left[done + 100 :]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--only", type=int, help="run this case alone")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--torchscript", action="store_true", help="TorchScript archives and graph text")
    args = parser.parse_args()
    kinds: Counter[tuple[str, str]] = Counter()
    failures: list[Outcome] = []

    def report(outcome: Outcome) -> None:
        kinds[Path(outcome.seed).suffix, outcome.kind] += 1
        if outcome.is_failure:
            failures.append(outcome)
            print(f"case {outcome.number} ({outcome.seed}): {outcome.kind}\n{outcome.detail}", flush=True)

    numbers = range(args.start, args.start + args.count) if args.only is None else [args.only]
    run_cases(numbers, report, args.processes, args.torchscript)
    for (suffix, kind), count in sorted(kinds.items()):
        print(f"{suffix or '-':6} {kind:24} {count}")
    print(f"{sum(kinds.values())} cases, {len(failures)} neither read nor refused")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
