"""Run time: a call of each model by the interpreter, native code, eager PyTorch, its inductor (plain, and with frozen weights),
ExecuTorch's XNNPACK and IREE, measured in turns.

    python bench/run_time.py [NAME ...] [--rounds N] [--threads N] [--busy N] [--contenders NAME ...] [--directory DIR]

Each contender lives in a process of its own, which loads the model, checks its results against those that eager PyTorch
gave when the model was exported, and then waits. In every round each is asked, one after the other and after a pause in
which the other's waiting threads go to sleep, for a burst of calls. `min` and `median` are over all calls, in
milliseconds (of the process, where it has one thread: then other work on the machine counts for little), with what it takes to call from Python; `ratio` is the minimum's to the best minimum. `cold` and `cached` are seconds to
compile: with an empty cache, and again from what that left. Needs torch to export the models (into a directory that is
kept and reused) and for its own columns; inductor also needs a C++ compiler. A contender that is not installed, or that fails, is left out with a word. ExecuTorch
(`pip install --no-deps executorch==1.5.1 torchao==0.18.0`, and what these import) runs in an environment of its own: this script, run
by its Python. IREE takes our linalg. `--busy` has other processes compute beside all: then medians are what counts.

Beside each model stands what the processor would take at least, of what is measured in the same run: its products at the rate of multiply-adds in registers, its
weights at the rate at which memory is read (they may lie in a cache). `limit` is the larger of the two over the contender's best time.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from limits import Limits

HERE = Path(__file__).parent
MODELS = ("mlp", "bert6", "llama8", "resnet18", "mobilenetv2")
SLOW = {"interpreter": 2}
"""Rounds of contenders that take seconds a call."""
BURST = 0.05
"""Seconds of calls in a burst."""
PAUSE = 0.02
"""Seconds before a burst; waiting threads spin for a few milliseconds after a call."""

Run = Callable[[], Sequence[Any]]
Compile = Callable[[], Run]

# --- contenders: how to compile a model, and call it ---------------------------------------------------------


def ours(target: str) -> Callable[[Path, list[Any]], Compile]:
    def load(path: Path, inputs: list[Any]) -> Compile:
        import xdsl_exir

        program = xdsl_exir.load(path)

        def compile_() -> Run:
            executable = xdsl_exir.compile(program, target=target)
            return lambda: executable.flat(inputs)

        return compile_

    return load


def pytorch(inductor: bool, freezing: bool = False) -> Callable[[Path, list[Any]], Compile]:
    def load(path: Path, inputs: list[Any]) -> Compile:
        import export_models
        import torch

        torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
        if freezing:
            import torch._inductor.config

            torch._inductor.config.freezing = True
        model, _ = export_models.get_model_and_inputs(path.name.split(".")[0])
        tensors = [torch.from_numpy(array) for array in inputs]

        def compile_() -> Run:
            torch.compiler.reset()
            compiled: Any = torch.compile(model) if inductor else model

            def run() -> Sequence[Any]:
                with torch.no_grad() if freezing else torch.inference_mode():
                    result = compiled(*tensors)
                return [tensor.numpy() for tensor in (result if isinstance(result, tuple) else (result,))]

            run()
            return run

        return compile_

    return load


def xnnpack(path: Path, inputs: list[Any]) -> Compile:
    import torch
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower
    from executorch.extension.pybindings import portable_lib as runtime

    tensors = tuple(torch.from_numpy(array) for array in inputs)
    exported = torch.export.load(path.with_name(path.name.replace(".core.", ".training.")))

    runtime._unsafe_reset_threadpool(int(os.environ["OMP_NUM_THREADS"]))
    kept: list[Any] = []  # it runs in the buffer that it was loaded from

    def compile_() -> Run:
        buffer = (
            to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()]).to_executorch().buffer
        )
        method = runtime._load_for_executorch_from_buffer(buffer)
        kept.extend((buffer, method))
        return lambda: [tensor.numpy() for tensor in method.forward(tensors)]

    return compile_


def iree(path: Path, inputs: list[Any], level: str = "O3") -> Compile:
    from iree import compiler, runtime

    import xdsl_exir

    program = xdsl_exir.load(path)
    method = xdsl_exir.compile(program).method()
    given = zip(method.targets, method.bind(inputs), strict=True)
    arrays = [
        np.asarray(method.owner.array(name) if value is None else value, order="C") for name, value in given
    ]
    text = program.to("named-linalg").text(generic=True)

    def compile_() -> Run:
        arguments = ["--iree-llvmcpu-target-cpu=host", f"--iree-opt-level={level}"]
        code = compiler.compile_str(text, target_backends=["llvm-cpu"], extra_args=arguments)
        config = runtime.Config("local-task")
        module = runtime.load_vm_module(runtime.VmModule.copy_buffer(config.vm_instance, code), config)
        on_device = [runtime.asdevicearray(config.device, array) for array in arrays]

        def run() -> Sequence[Any]:
            found = module.forward(*on_device)
            return [one.to_host() for one in (found if isinstance(found, tuple) else (found,))]

        return run

    return compile_


CONTENDERS: dict[str, Callable[[Path, list[Any]], Compile]] = {
    "interpreter": ours("interpreter"),
    "native": ours("native"),
    "eager": pytorch(inductor=False),
    "inductor": pytorch(inductor=True),
    "frozen": pytorch(inductor=True, freezing=True),
    "xnnpack": xnnpack,
    "iree": iree,
}
OURS = ("interpreter", "native")
"""Those that may not fail."""
NEEDS = {"xnnpack": ("executorch",), "iree": ("iree.compiler", "iree.runtime"), "eager": ("torch",)}
"""Packages without which a contender is left out."""


def lacking(name: str) -> str | None:
    """Why a contender cannot run here; None if it can."""
    for package in NEEDS.get(name, ()):
        try:
            found = importlib.util.find_spec(package)
        except ModuleNotFoundError:
            found = None
        if found is None:
            return f"{package} is not installed"
    compilers = ("g++", "clang++", "c++")
    if name in ("inductor", "frozen") and not any(map(shutil.which, compilers)):
        return "there is no C++ compiler"
    return None


def serve(name: str, path: Path) -> None:
    """The child: says how long compiling took, then answers each line, a number of calls, with their seconds."""
    warnings.simplefilter("ignore")
    arrays = np.load(path.with_name(f"{path.name.split('.')[0]}.npz"))
    inputs = [arrays[key] for key in arrays.files if key.startswith("in")]
    expected = [arrays[key] for key in arrays.files if key.startswith("out")]
    compile_ = CONTENDERS[name](path, inputs)
    seconds: list[float] = []
    run: Run = list
    for _ in ("cold", "cached"):
        start = time.perf_counter()
        run = compile_()
        seconds.append(time.perf_counter() - start)
    for actual, wanted in zip(run(), expected, strict=True):
        np.testing.assert_allclose(actual, wanted, rtol=1e-4, atol=1e-4)
    print(json.dumps(seconds), flush=True)
    clock = time.process_time if os.environ["OMP_NUM_THREADS"] == "1" else time.perf_counter
    for line in sys.stdin:
        times: list[float] = []
        for _ in range(int(line)):
            start = clock()
            run()
            times.append(clock() - start)
        print(json.dumps(times), flush=True)


# --- the parent ----------------------------------------------------------------------------------------------


class FailedError(SystemExit):
    """A contender ended, or never came so far; where nobody goes on without it, this is the end."""


class Child:
    """A contender in a process of its own."""

    def __init__(self, name: str, path: Path, threads: int, caches: Path):
        self.name = name
        count = str(threads)
        environment = os.environ | {
            "OMP_NUM_THREADS": count,
            "OPENBLAS_NUM_THREADS": count,
            "XDSL_EXIR_CACHE": str(caches / "ours"),
            "TORCHINDUCTOR_CACHE_DIR": str(caches / "inductor"),
        }
        processors = sorted(os.sched_getaffinity(0))[:threads]
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", name, str(path)],
            preexec_fn=lambda: os.sched_setaffinity(0, processors),  # IREE has a thread for each
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )
        self.cold, self.cached = self.read()
        self.times: list[float] = []
        self.rounds = 0
        self.calls = max(1, round(BURST / self.burst(2)[-1]))

    def read(self) -> list[float]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise FailedError(f"{self.name} failed; its message is above")
        return json.loads(line)

    def burst(self, calls: int) -> list[float]:
        assert self.process.stdin is not None
        print(calls, file=self.process.stdin, flush=True)
        return self.read()

    def turn(self) -> None:
        """One round: a call that is not counted, for caches and threads to wake up, then a burst."""
        if self.rounds < SLOW.get(self.name, self.rounds + 1):
            time.sleep(PAUSE)
            self.times += self.burst(self.calls + 1)[1:]
            self.rounds += 1

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def work(model: str) -> tuple[float, float]:
    """Operations of a model's products and convolutions, and bytes of its weights."""
    import export_models
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    module, inputs = export_models.get_model_and_inputs(model)
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        module(*inputs)
    return counter.get_total_flops(), sum(weight.nbytes for weight in module.parameters())


@contextmanager
def beside(count: int) -> Generator[None]:
    """While so many other processes compute without a pause."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def compare(
    names: Sequence[str], path: Path, rounds: int, threads: int, limits: Limits, busy: int = 0
) -> None:
    """Prints a model's rows, and the part of the limit that ours reaches."""
    model = path.name.split(".")[0]
    with tempfile.TemporaryDirectory() as caches:
        children: list[Child] = []
        for name in names:
            try:
                children.append(Child(name, path, threads, Path(caches)))
            except FailedError as error:
                if name in OURS:
                    raise
                print(f"{model:12} {name:12} {error}", flush=True)
        with beside(busy):
            for _ in range(rounds):
                for child in children:
                    child.turn()
        for child in children:
            child.close()
    best = min(min(child.times) for child in children)
    least_seconds = limits.seconds(*work(model))
    for child in children:
        least, middle = min(child.times), statistics.median(child.times)
        print(
            f"{model:12} {child.name:12} {least * 1e3:9.3f} {middle * 1e3:9.3f} {least / best:7.2f}"
            f" {least_seconds / least:7.1%} {child.cold:7.2f} {child.cached:7.2f}",
            flush=True,
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "names",
        nargs="*",
        default=MODELS,
        metavar="NAME",
        help="of `export_models.py`; all: all architectures",
    )
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--busy", type=int, default=0, help="other processes that compute meanwhile")
    parser.add_argument("--contenders", nargs="+", choices=CONTENDERS, default=list(CONTENDERS))
    parser.add_argument("--directory", type=Path, default=Path(tempfile.gettempdir()) / "xdsl-exir-models")
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve(args.serve[0], Path(args.serve[1]))
        return 0
    if args.names == ["all"]:
        from architectures import ARCHITECTURES

        args.names = list(ARCHITECTURES)
    args.directory.mkdir(exist_ok=True)
    missing = [name for name in args.names if not (args.directory / f"{name}.npz").is_file()]
    if missing:
        export = [sys.executable, str(HERE / "export_models.py"), str(args.directory), *missing]
        subprocess.run(export, check=True, stdout=subprocess.DEVNULL)
    contenders: list[str] = args.contenders
    for name, reason in [(name, reason) for name in contenders if (reason := lacking(name)) is not None]:
        print(f"{name} is left out: {reason}")
        contenders.remove(name)
    limits = Limits.measured(args.threads)
    print(limits)
    print(
        f"{'ms a call':12} {'':12} {'min':>9} {'median':>9} {'ratio':>7} {'limit':>7} {'cold':>7} {'cached':>7}"
    )
    for name in args.names:
        compare(contenders, args.directory / f"{name}.core.pt2", args.rounds, args.threads, limits, args.busy)
    return 0


if __name__ == "__main__":
    sys.exit(main())
