"""Models of `timm` and torchvision natively, against eager PyTorch: whether the numbers are right, and what takes how long.

    python bench/vision_models.py [--only 'PATTERN'] [--target native] [--batch 1] [--dynamic] [--limit 600]

Each has random weights, is exported, saved, loaded, compiled without the interpreter's help and called, in a process of its own. It prints a
line a model: `ok` with the largest difference in parts of the largest number of the output, seconds of export, import and compilation, and
milliseconds of a call of ours and of eager's; `wrong`; what `xdsl-exir` refuses; or that `torch.export` does not take the model. With `--dynamic` each is exported for as many images of
any height and width as PyTorch takes it for, and also called with other ones. Needs `timm` and
`torchvision` beside the development environment.
"""

from __future__ import annotations

import argparse
import collections
import fnmatch
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

import xdsl_exir

TIMM: dict[str, int] = {
    "beit_base_patch16_224": 224,
    "cait_xxs24_224": 224,
    "coat_tiny": 224,
    "convit_tiny": 224,
    "convmixer_768_32": 224,
    "cpubone_nano": 224,
    "crossvit_tiny_240": 240,
    "cs3darknet_focus_s": 256,
    "csatv2": 512,
    "cspnext_tiny": 224,
    "davit_tiny": 224,
    "deepseek_vit_412m": 546,
    "deit_tiny_patch16_224": 224,
    "densenet121": 224,
    "dla46x_c": 224,
    "dpn48b": 224,
    "edgenext_xx_small": 256,
    "efficientformer_l1": 224,
    "efficientformerv2_s0": 224,
    "efficientvim_m1": 224,
    "efficientvit_b0": 224,
    "efficientvit_m0": 224,
    "ese_vovnet19b_slim_dw": 224,
    "eva02_tiny_patch14_224": 224,
    "fasternet_t0": 224,
    "fastvit_t8": 256,
    "focalnet_tiny_srf": 224,
    "gcvit_xxtiny": 224,
    "gemma4_vit_167m": 768,
    "ghostnet_050": 224,
    "gmlp_ti16_224": 224,
    "halonet_h1": 256,
    "hardcorenas_b": 224,
    "hgnetv2_b0": 224,
    "hiera_tiny_224": 224,
    "hieradet_small": 256,
    "hrnet_w18_small": 224,
    "iformer_t": 224,
    "inception_next_atto": 224,
    "inception_resnet_v2": 299,
    "inception_v3": 299,
    "inception_v4": 299,
    "lcnetv2_small": 224,
    "legacy_seresnet18": 224,
    "legacy_xception": 299,
    "levit_128s": 224,
    "lowformer_b0": 224,
    "mobilenetv3_small_050": 224,
    "mobilenetv5_base": 256,
    "mobilevit_xxs": 256,
    "mvitv2_tiny": 224,
    "naflexvit_base_patch16_parfac_gap": 384,
    "nasnetalarge": 331,
    "nest_tiny": 224,
    "nextvit_small": 224,
    "pit_ti_224": 224,
    "pnasnet5large": 331,
    "poolformerv2_s12": 224,
    "pvt_v2_b0": 224,
    "qwen3_vit_88m": 768,
    "rdnet_tiny": 224,
    "regnetx_002": 224,
    "repghostnet_050": 224,
    "repvit_m1": 224,
    "res2next50": 224,
    "resnest14d": 224,
    "resnetv2_18": 224,
    "rexnet_100": 224,
    "samvit_base_patch16_224": 224,
    "selecsls42": 224,
    "sequencer2d_s": 224,
    "shvit_s1": 224,
    "skresnet18": 224,
    "starnet_s050": 224,
    "swiftformer_xs": 224,
    "swin_tiny_patch4_window7_224": 224,
    "swinv2_cr_tiny_224": 224,
    "swinv2_tiny_window16_256": 256,
    "test_byobnet": 160,
    "test_coatnet": 160,
    "test_convnext": 160,
    "test_efficientnet": 160,
    "test_mambaout": 160,
    "test_nfnet": 160,
    "test_resnet": 160,
    "test_vit": 160,
    "test_vit_relpos": 160,
    "tiny_vit_5m_224": 224,
    "tnt_s_legacy_patch16_224": 224,
    "tresnet_m": 224,
    "twins_svt_small": 224,
    "vgg11": 224,
    "visformer_tiny": 224,
    "vit_tiny_r_s16_p8_224": 224,
    "vitamin_small_224": 224,
    "volo_d1_224": 224,
    "xception41p": 299,
    "xcit_nano_12_p8_224": 224,
}
"""The smallest model of each family (by weights and pixels), and the size of its images."""

TORCHVISION: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(
        (
            "alexnet",
            "convnext_tiny",
            "densenet121",
            "efficientnet_b0",
            "efficientnet_v2_s",
            "googlenet",
            "maxvit_t",
            "mnasnet0_5",
            "mobilenet_v2",
            "mobilenet_v3_small",
            "regnet_x_400mf",
            "regnet_y_400mf",
            "resnet18",
            "resnext50_32x4d",
            "shufflenet_v2_x0_5",
            "squeezenet1_1",
            "swin_t",
            "swin_v2_t",
            "vgg11_bn",
            "vit_b_32",
        ),
        (3, 224, 224),
    ),
    "inception_v3": (3, 299, 299),
    **dict.fromkeys(
        ("deeplabv3_mobilenet_v3_large", "fcn_resnet50", "lraspp_mobilenet_v3_large"), (3, 224, 224)
    ),
    **dict.fromkeys(("mc3_18", "r2plus1d_18", "r3d_18"), (3, 8, 112, 112)),
    "mvit_v2_s": (3, 16, 224, 224),
    "s3d": (3, 16, 224, 224),
    "swin3d_t": (3, 8, 112, 112),
}
"""Models, and what they take of one sample."""


def declare_nms() -> None:
    """What torchvision's Python side registers functions for, where its C++ side is built for another PyTorch."""
    for name in ("nms", "qnms"):
        if not hasattr(torch.ops.torchvision, name):
            torch.library.define(
                f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
            )


def made(name: str, batch: int) -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    """The model in evaluation mode, and inputs."""
    library, _, model = name.partition("/")
    declare_nms()
    torch.manual_seed(0)
    if library == "timm":
        import timm

        size = TIMM[model]
        return timm.create_model(model).eval(), (torch.randn(batch, 3, size, size),)
    import torchvision

    given: dict[str, Any] = {"weights": None}
    if hasattr(torchvision.models.segmentation, model):
        given["weights_backbone"] = None
    net = torchvision.models.get_model(model, **given).eval()
    return net, (torch.randn(batch, *TORCHVISION[model]),)


def leaves(outputs: Any) -> list[torch.Tensor]:
    found = torch.utils._pytree.tree_leaves(outputs)
    return [torch.as_tensor(leaf) for leaf in found if isinstance(leaf, torch.Tensor | np.ndarray)]


def difference(got: Any, wanted: Any) -> float:
    """The largest, in parts of an output's largest number; infinite for other shapes, or NaN."""
    most = 0.0
    for value, expected in zip(leaves(got), leaves(wanted), strict=True):
        if value.shape != expected.shape or bool((value.isnan() != expected.isnan()).any()):
            return float("inf")
        if expected.numel():
            scale = max(expected.double().abs().nan_to_num().max().item(), 1e-30)
            apart = (value.double() - expected.double()).abs().nan_to_num()
            most = max(most, apart.max().item() / scale)
    return most


def fastest(call: Callable[[], object], seconds: float = 1.0) -> float:
    """Milliseconds of the fastest of as many calls as the seconds hold, at least three."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def others(exported: torch.export.ExportedProgram, given: torch.Tensor) -> Iterator[torch.Tensor]:
    """Inputs of other sizes, where the program leaves them open: of all of them, or as many as there are."""
    [taken] = [node for node in exported.graph.nodes if node.name == exported.graph_signature.user_inputs[0]]

    def is_open(size: int | torch.SymInt) -> bool:
        """A symbol may have one number only."""
        if isinstance(size, int) or size.node.expr.is_number:
            return False
        bounds = exported.range_constraints.get(size.node.expr)
        return bounds is None or not bounds.is_singleton()

    for grown in ({0: 1, given.dim() - 2: 64, given.dim() - 1: 32}, {0: 1}):
        symbols = enumerate(taken.meta["val"].shape)
        yield torch.randn([given.shape[dim] + is_open(size) * grown.get(dim, 0) for dim, size in symbols])


def checked(executable: Any, net: torch.nn.Module, inputs: Iterator[torch.Tensor]) -> float:
    """The difference for the first of some inputs that the program takes: it tells of others what it does not hold for."""
    for x in inputs:
        try:
            return difference(executable(x), net(x))
        except xdsl_exir.InputError as error:
            refused = error
    raise refused


def run(name: str, target: str, batch: int, dynamic: bool) -> str:
    """The line of one model."""
    net, inputs = made(name, max(batch, 2) if dynamic else batch)
    any_size = dict.fromkeys((0, inputs[0].dim() - 2, inputs[0].dim() - 1), torch.export.Dim.AUTO)
    started = time.perf_counter()
    with torch.no_grad():
        wanted = net(*inputs)
        try:
            exported = torch.export.export(net, inputs, dynamic_shapes=(any_size,) if dynamic else None)
        except Exception as error:  # whatever stops it is the model's or PyTorch's
            return f"not exported   {first_line(error)}"
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/model.pt2"
        torch.export.save(exported, path)
        at_export = time.perf_counter() - started
        try:
            started = time.perf_counter()
            program = xdsl_exir.load(path).to_edge()
            at_import = time.perf_counter() - started
            started = time.perf_counter()
            executable = xdsl_exir.compile(
                program, target, **({"fallback": "error"} if target == "native" else {})
            )
            at_compile = time.perf_counter() - started
        except xdsl_exir.ExirError as error:
            return f"refused        {first_line(error)}"
        apart = difference(executable(*inputs), wanted)
        with torch.no_grad():
            if dynamic:
                apart = max(apart, checked(executable, net, others(exported, inputs[0])))
            ours, eager = fastest(lambda: executable(*inputs)), fastest(lambda: net(*inputs))
    word = "ok" if apart < 1e-4 else "wrong"
    return (
        f"{word:6} {apart:8.1e}   export {at_export:5.1f}  import {at_import:5.2f}  compile {at_compile:5.1f} s"
        f"   {ours:8.2f} / {eager:8.2f} ms = {ours / eager:5.2f}"
    )


def first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {(str(error).strip() or '-').splitlines()[0]}"[:140]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="*", help="names, as timm/NAME or torchvision/NAME")
    parser.add_argument("--target", default="native")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--dynamic", action="store_true")
    parser.add_argument("--limit", type=float, default=600, help="seconds that a model may take")
    parser.add_argument("--one", help="run this one here")
    given = parser.parse_args()
    if given.one:
        warnings.filterwarnings("ignore")
        print(run(given.one, given.target, given.batch, given.dynamic))
        return
    outcomes = collections.Counter[str]()
    names = [*(f"timm/{name}" for name in TIMM), *(f"torchvision/{name}" for name in TORCHVISION)]
    for name in (name for name in names if fnmatch.fnmatch(name, given.only)):
        command = [
            sys.executable,
            __file__,
            "--one",
            name,
            "--target",
            given.target,
            "--batch",
            str(given.batch),
            *(["--dynamic"] if given.dynamic else []),
        ]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=given.limit, check=False)
            said = (
                done.stdout.strip() or f"failed         {(done.stderr.strip() or '-').splitlines()[-1][:140]}"
            )
        except subprocess.TimeoutExpired:
            said = f"late           after {given.limit:.0f} s"
        outcomes[said.split()[0]] += 1
        print(f"{name:45} {said}", flush=True)
    print(dict(outcomes))


if __name__ == "__main__":
    main()
