"""TorchScript archives of whole models: read without PyTorch, run as they are, brought to native code, and compared with PyTorch.

    python bench/torchscript_models.py [--only 'PATTERN'] [--forms scripted,traced,frozen] [--silero silero_vad.jit]

Each model is scripted, traced and frozen, saved, and run twice by PyTorch. Then, in this order: its graph's text is read and printed; the archive is
run by the interpreter; made an ordinary program; compiled natively; its further methods likewise. It prints a line a step: `ok` with the seconds of processor time, what is
refused and why, or what is wrong. `--silero` takes the archive out of the `silero-vad` wheel: both rates, state over 100 chunks, .pt2, a C library,
latency. Needs torchvision beside the development environment (its operators in C++ need not load: those of detectors are defined here).
"""

from __future__ import annotations

import argparse
import ctypes
import fnmatch
import importlib
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

import xdsl_exir
from xdsl_exir.errors import ExirError, UnsupportedError

sys.path.insert(0, str(Path(__file__).parents[1] / "test"))
from script_features import FEATURES
from scripted import assert_same, freeze, quiet, renamed, save, script, to_numpy, trace

OPERATORS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "box_iou_rotated(Tensor boxes1, Tensor boxes2) -> Tensor",
    "roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio, bool aligned) -> Tensor",
)


def nms(dets: torch.Tensor, scores: torch.Tensor, iou_threshold: float) -> torch.Tensor:
    """The boxes that no better one overlaps."""
    left = torch.argsort(scores, descending=True, stable=True)
    kept: list[torch.Tensor] = []
    while len(left):
        best, left = left[0], left[1:]
        kept.append(best)
        low, high = (
            torch.maximum(dets[best, :2], dets[left, :2]),
            torch.minimum(dets[best, 2:], dets[left, 2:]),
        )
        common = (high - low).clamp(min=0).prod(1)
        area = (dets[:, 2] - dets[:, 0]) * (dets[:, 3] - dets[:, 1])
        left = left[~(common / (area[best] + area[left] - common) > iou_threshold)]  # of NaN, too
    return torch.stack(kept) if kept else torch.zeros(0, dtype=torch.long)


def has_operators() -> bool:
    """What scripts of detectors ask."""
    return True


def vision() -> dict[str, tuple[Callable[[], Any], Sequence[Any]]]:
    """torchvision's models, with inputs."""
    library = torch.library.Library("torchvision", "DEF")
    for schema in OPERATORS:
        library.define(schema)
    library.impl("nms", nms, "CPU")
    models = importlib.import_module("torchvision").models
    extension = importlib.import_module("torchvision.extension")
    extension._has_ops = has_operators
    align = importlib.import_module("torchvision.ops.roi_align")._roi_align
    library.impl("roi_align", getattr(align, "__wrapped__", align), "CPU")
    globals()["library"] = library  # it lives as long as its operators are called
    image, boxed = torch.rand(1, 3, 64, 64), [torch.rand(3, 64, 80)]
    small: dict[str, Any] = {"weights_backbone": None, "num_classes": 5, "min_size": 64, "max_size": 96}
    return {
        "resnet50": (models.resnet50, [image]),
        "densenet121": (models.densenet121, [image]),
        "efficientnet_b0": (models.efficientnet_b0, [image]),
        "googlenet": (lambda: models.googlenet(init_weights=False), [image]),
        "swin_t": (models.swin_t, [image]),
        "vit_b_16": (lambda: models.vit_b_16(image_size=64), [image]),
        "convnext_tiny": (models.convnext_tiny, [image]),
        "fcn_resnet50": (lambda: models.segmentation.fcn_resnet50(weights_backbone=None), [image]),
        "deeplabv3": (
            lambda: models.segmentation.deeplabv3_mobilenet_v3_large(weights_backbone=None),
            [image],
        ),
        "r3d_18": (models.video.r3d_18, [torch.rand(1, 3, 4, 32, 32)]),
        "s3d": (models.video.s3d, [torch.rand(1, 3, 16, 224, 224)]),
        "retinanet": (lambda: models.detection.retinanet_resnet50_fpn(**small), [boxed]),
        "fasterrcnn": (
            lambda: models.detection.fasterrcnn_mobilenet_v3_large_320_fpn(
                weights_backbone=None, num_classes=5
            ),
            [boxed],
        ),
    }


def five() -> dict[str, tuple[Callable[[], Any], Sequence[Any]]]:
    """The five models that the project measures itself by."""
    sys.path.insert(0, str(Path(__file__).parent / "models"))
    found: dict[str, tuple[Callable[[], Any], Sequence[Any]]] = {}
    for name in ("mlp", "bert6", "llama8", "resnet18", "mobilenetv2"):
        module = importlib.import_module(name)
        found[name] = (
            lambda module=module: module.get_model_and_inputs()[0],
            module.get_model_and_inputs()[1],
        )
    return found


def written() -> dict[str, tuple[Callable[[], Any], Sequence[Any]]]:
    """Modules whose forward is more than a graph: an LSTM with a loop in Python, a beam search with lists and dicts, one with state and methods."""
    return {
        "lstm": (FEATURES["PyLSTM"][0], FEATURES["PyLSTM"][1]),
        "beam_search": (FEATURES["BeamSearch"][0], FEATURES["BeamSearch"][1]),
        "stateful": (Streaming, [torch.randn(1, 16, 4)]),
    }


class Streaming(torch.nn.Module):
    """A convolution over what comes in pieces: a cache, a count of pieces, a gain that a method sets."""

    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv1d(16, 8, 3)
        self.register_buffer("cache", torch.zeros(1, 16, 2))
        self.pieces, self.gain = 0, 1.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        joined = torch.cat([self.cache, x], 2)
        self.cache.copy_(joined[:, :, -2:])
        self.pieces += 1
        return self.convolution(joined) * self.gain + self.pieces

    @torch.jit.export
    def louder(self) -> tuple[torch.Tensor, int]:
        self.gain = self.gain * 2.0
        self.cache.mul_(self.gain)
        return self.cache, self.pieces

    @torch.jit.export
    def reset(self) -> None:
        self.cache.zero_()
        self.pieces = 0


METHODS: dict[str, Sequence[str]] = {"stateful": ("louder", "reset", "louder")}
"""Further methods, called without arguments one after the other, after `forward` was."""


def assert_same_results(ours: Any, theirs: Any) -> None:
    """As `assert_same`; boxes of equal scores may come in any order."""
    if isinstance(theirs, tuple) and len(theirs) == 2 and isinstance(theirs[1], list):
        ours, theirs = ours[1], theirs[1]  # losses, detections
    if not (isinstance(theirs, list) and isinstance(theirs[0], dict) and "boxes" in theirs[0]):
        assert_same(ours, theirs, 2e-3, 1e-4)
        return
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a["scores"], b["scores"], rtol=1e-3, atol=1e-4)
        rows = [np.column_stack([each["boxes"], each["labels"] * 1000]) for each in (a, b)]
        apart = np.abs(rows[0][:, None] - rows[1][None]).max(-1)
        assert apart.size == 0 or max(apart.min(0).max(), apart.min(1).max()) < 1e-2


def step(name: str, run: Callable[[], Any]) -> Any:
    """Runs one step and says what came of it."""
    began = time.process_time()
    try:
        result = run()
    except UnsupportedError as error:
        print(f"    {name}: refused: {error!s:.300}", flush=True)
        return None
    except (AssertionError, ExirError) as error:
        print(f"    {name}: WRONG {type(error).__name__}: {error!s:.300}", flush=True)
        return None
    print(f"    {name}: ok, {time.process_time() - began:.2f} s", flush=True)
    return result


def scattered(module: torch.nn.Module) -> torch.nn.Module:
    """A detector whose norms have seen numbers, and with larger weights: an untrained one scores all boxes alike."""
    if hasattr(module, "transform"):
        backbone: Any = module.backbone
        with torch.no_grad():
            for _ in range(8):
                backbone.train()(torch.rand(4, 3, 96, 96))
        for part in (getattr(module, name, None) for name in ("head", "roi_heads", "rpn")):
            for parameter in part.parameters() if part is not None else ():
                torch.nn.init.normal_(parameter, std=0.02)
    return module.eval()


def measured(name: str, form: str, make: Callable[[], Any], inputs: Sequence[Any], folder: Path) -> None:
    """One form of one model."""
    torch.manual_seed(0)
    print(f"{name} {form}")
    try:
        module = scattered(make().eval())
        with torch.no_grad():
            made = (
                trace(module, *inputs)
                if form == "traced"
                else {"scripted": script, "frozen": freeze}[form](module)
            )
            path = save(made, folder / f"{name}_{form}.pt")
            with quiet():
                theirs = torch.jit.load(str(path))
                expected = [to_numpy(theirs(*inputs)) for _ in range(2)][-1]
    except (RuntimeError, torch.jit.TracingCheckError, torch.jit.frontend.NotSupportedError) as error:
        print(f"    PyTorch: {str(error).strip().splitlines()[0]:.200}")
        return
    text, given = str(made.inlined_graph), to_numpy(list(inputs))

    def second(run: Callable[..., Any]) -> Any:
        """What a second call gives: state has gone on by then."""
        return [run(*given) for _ in range(2)][1]

    def read_and_print() -> None:
        assert renamed(xdsl_exir.from_torchscript_text(text).torchscript_text()) == renamed(text)

    def interpreted() -> None:
        assert_same_results(second(xdsl_exir.load(path)), expected)

    def natively(program: xdsl_exir.Program) -> None:
        assert_same_results(second(xdsl_exir.compile(program, target="native")), expected)

    step("text", read_and_print)

    def in_turn() -> None:
        """The further methods, natively: each compiled for the state that those before it leave, which the archive's own interpreter keeps."""
        with quiet():
            theirs, ours = torch.jit.load(str(path)), xdsl_exir.load(path)
        theirs(*inputs), ours(*given)
        for method in METHODS[name]:
            run = xdsl_exir.compile(ours.to_aten([], method), target="native")
            wanted = to_numpy(getattr(theirs, method)())
            assert_same_results(run(), wanted)
            assert_same_results(ours.call(method), wanted)
        assert_same_results(ours(*given), to_numpy(theirs(*inputs)))

    step("interpreter", interpreted)
    program = step("aten", lambda: xdsl_exir.load(path).to_aten(given))
    if program is not None:
        step("native", lambda: natively(program))
    if name in METHODS and form == "scripted":  # freezing forgets them
        step("methods", in_turn)


def largest(ours: Callable[[Any], Any], theirs: Callable[[Any], Any], chunks: Any) -> float:
    with torch.no_grad():
        pairs = [(np.asarray(ours(chunk)), theirs(torch.from_numpy(chunk)).numpy()) for chunk in chunks]
    assert all(a.shape == b.shape for a, b in pairs)
    return max(float(np.abs(a - b).max()) for a, b in pairs)


def shortest(call: Callable[[], Any], times: int = 500) -> float:
    """The seconds of the fastest of many calls."""
    best = float("inf")
    with torch.no_grad():
        for _ in range(times):
            began = time.perf_counter()
            call()
            best = min(best, time.perf_counter() - began)
    return best


def library_of(program: Any, folder: Path, shape: tuple[int, ...]) -> Callable[[Any], Any]:
    """The program as a C library, called; its result has this shape."""
    xdsl_exir.compile_library(program, folder, "vad")
    library = ctypes.CDLL(str(folder / "libvad.so"))
    assert library.vad_load(str(folder / "vad.weights").encode()) == 0

    def call(chunk: Any) -> Any:
        out = np.zeros(shape, np.float32)
        status = library.vad_forward(
            chunk.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p)
        )
        assert status == 0
        return out

    return call


def silero(path: str, folder: Path) -> None:
    """The voice activity detector: its state goes on from chunk to chunk."""
    for rate, size in ((16000, 512), (8000, 256)):
        chunks = (np.random.default_rng(0).standard_normal((101, 1, size)) * 0.1).astype(np.float32)
        program = xdsl_exir.load(path)
        model = torch.jit.load(path)

        def theirs(chunk: Any, model: Any = model, rate: int = rate) -> Any:
            return model(chunk, rate)

        found = largest(lambda chunk, p=program, r=rate: p(chunk, r), theirs, chunks[:100])
        print(f"silero {rate}: interpreter, 100 chunks, largest difference {found:.2e}")
        began = time.process_time()
        program = xdsl_exir.load(path)
        shape = np.shape(program(chunks[0], rate))  # its state has the size of this rate from here on
        aten = program.to_aten([chunks[0], rate])
        run = xdsl_exir.compile(aten, target="native")
        print(f"silero {rate}: from the file to native code {time.process_time() - began:.2f} s")
        saved = folder / f"vad{rate}.pt2"
        aten.save(saved)
        exported = torch.export.load(saved).module()
        (folder / str(rate)).mkdir()
        forms = {
            "native": lambda chunk, run=run, r=rate: run(chunk, r),
            ".pt2 run by PyTorch": lambda chunk, e=exported, r=rate: e(torch.from_numpy(chunk), r),
            "C library": library_of(aten, folder / str(rate), shape),
        }
        for form, ours in forms.items():
            model = torch.jit.load(path)
            with torch.no_grad():
                model(torch.from_numpy(chunks[0]), rate)
            found = largest(ours, lambda chunk, m=model, r=rate: m(chunk, r), chunks[1:])
            print(f"silero {rate}: {form}, 100 chunks, largest difference {found:.2e}")
        first = torch.from_numpy(chunks[0])
        best = [
            shortest(lambda r=rate, c=chunks[0], run=run: run(c, r)),
            shortest(lambda theirs=theirs, c=first: theirs(c)),
        ]
        print(
            f"silero {rate}: a chunk {best[0] * 1e3:.3f} ms, torch.jit {best[1] * 1e3:.3f} ms, one thread of PyTorch's"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="*")
    parser.add_argument("--forms", default="scripted,traced,frozen")
    parser.add_argument("--silero")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        if arguments.silero:
            silero(arguments.silero, Path(folder))
            return
        for name, (make, inputs) in (five() | written() | vision()).items():
            for form in arguments.forms.split(","):
                is_detector = isinstance(inputs[0], list)
                if fnmatch.fnmatch(name, arguments.only) and not (is_detector and form == "traced"):
                    measured(name, form, make, inputs, Path(folder))


if __name__ == "__main__":
    main()
