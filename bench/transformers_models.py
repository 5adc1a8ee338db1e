"""Models of Hugging Face's `transformers` through its own exporters with our backend, against eager PyTorch.

    python bench/transformers_models.py [--types bert,gpt2,...] [--target native] [--dynamic]

Each is a small configuration with random weights (`SIZES`), exported by `transformers.exporters`, saved, loaded, and called. It prints a line a model:
`ok` with the largest difference and the seconds that export, import with compilation, and a call take; `wrong`; `eager is off`, where they differ
but ours are the model's in float64; `exported other`, where PyTorch's run of what `transformers` exports is as far from the model; what
`xdsl-exir` refuses; or that the model, or `torch.export`, does not get that far.
Needs `transformers` (5.23 or later) beside the development environment.
"""

import argparse
import collections
import copy
import inspect
import logging
import multiprocessing
import tempfile
import time
import warnings
from collections.abc import Callable, Collection, Mapping
from typing import Any

import torch
from vision_models import declare_nms

import xdsl_exir

declare_nms()  # for transformers, which imports torchvision where there is one
import transformers  # noqa: E402
from transformers.exporters import AutoHfExporter, ExportedModel  # noqa: E402
from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES  # noqa: E402

SMALL: dict[str, Any] = {
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "dim", "embed_dim", "projection_dim"), 32),
    **dict.fromkeys(
        ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "decoder_layers"), 2
    ),
    **dict.fromkeys(("num_decoder_layers", "num_encoder_layers", "encoder_depth", "decoder_depth"), 2),
    **dict.fromkeys(("depth", "num_blocks", "vision_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads"), 4),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads", "num_key_value_heads"), 4),
    **dict.fromkeys(
        ("intermediate_size", "encoder_ffn_dim", "decoder_ffn_dim", "d_ff", "ffn_dim", "hidden_dim"), 64
    ),
    **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size", "ffn_hidden_size"), 32),
    **dict.fromkeys(("vocab_size", "vocab_size_per_layer_input"), 99),
    **dict.fromkeys(("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len"), 64),
    **dict.fromkeys(
        ("embedding_size", "head_dim", "d_kv", "linear_key_head_dim", "linear_value_head_dim"), 8
    ),
    **dict.fromkeys(
        ("kv_lora_rank", "q_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "num_queries"),
        8,
    ),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"), 4),
    **dict.fromkeys(("num_experts_per_tok", "linear_num_key_heads", "linear_num_value_heads"), 2),
    **dict.fromkeys(("n_group", "topk_group", "first_k_dense_replace", "n_shared_experts"), 1),
    **dict.fromkeys(("image_size",), 64),
    **dict.fromkeys(("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id"), 1),
}
"""What makes a configuration small, by the names that models have for it; of configurations inside of it, too."""

LAYERS = (
    *("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "decoder_layers"),
    *("num_decoder_layers", "num_encoder_layers", "encoder_depth", "decoder_depth", "depth", "num_queries"),
)
SIZES: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    (SMALL, ("out_features", "out_indices", "stage_names")),
    ({**SMALL, "num_key_value_heads": 2}, ("out_features", "out_indices", "stage_names")),
    (SMALL, ()),
    ({name: SMALL[name] for name in LAYERS}, ("out_features", "out_indices", "stage_names")),
    ({}, ()),
]
"""What configurations are tried with, and without: not every model has sizes that fit each other however small they are."""

GIVEN: dict[str, dict[str, Any]] = {
    **{
        key: {"context_length": 32, "patch_length": 8, "patch_stride": 8}
        for key in ("patchtst", "patchtsmixer")
    },
    **{key: {"rotary_dim": 8} for key in ("codegen", "gptj")},
    "esm": {"vocab_size": 99},
    "rwkv": {"attention_hidden_size": 32},
    "xmod": {"default_language": "en_XX"},
}
"""What configurations of single types need besides."""


def reduced(config: Any, sizes: Mapping[str, Any], without: Collection[str]) -> dict[str, Any]:
    """What a configuration says, with what it has of `sizes`. Lists that have an entry for each layer are so long as there are layers."""
    said: dict[str, Any] = {}
    for name, value in config.to_dict().items():
        inner = getattr(config, name, None)
        if isinstance(inner, transformers.PretrainedConfig):
            said[name] = reduced(inner, sizes, without)
        elif name not in type(config).attribute_map and name not in (*UNSAID, *without):
            is_size = isinstance(value, int) and not isinstance(value, bool) and name in sizes
            said[name] = sizes[name] if is_size and (name.endswith("_id") or sizes[name] < value) else value
    for layers in {"num_hidden_layers", "encoder_layers", "num_layers", "decoder_layers"} & said.keys():
        before = getattr(config, layers)
        said |= {
            name: [*dict.fromkeys(value), *value][: said[layers]]
            for name, value in said.items()
            if isinstance(value, list) and len(value) == before and all(isinstance(of, str) for of in value)
        }
    return {**said, "model_type": config.model_type}


UNSAID = ("model_type", "transformers_version", "architectures", "dtype", "per_layer_config", "feature_size")
SEED = 1
"""From where models draw that draw numbers."""
MOST = 250_000_000
"""So many parameters a model has at most."""


def small(kind: str) -> tuple[Any, dict[str, Any], Any]:
    """A model of a type, inputs, and what it makes of these: with the first sizes of `SIZES` with which it runs."""
    failed: Exception | None = None
    for sizes, without in SIZES:
        try:
            config = transformers.AutoConfig.for_model(kind)
            said = {**reduced(config, sizes, without), **GIVEN.get(kind, {})}
            said.pop("model_type")
            config = type(config)(**said)
            with torch.device("meta"):
                if transformers.AutoModel.from_config(config).num_parameters() > MOST:
                    continue
            torch.manual_seed(0)
            model = transformers.AutoModel.from_config(config).eval()
            inputs = inputs_of(model, kind)
            torch.manual_seed(SEED)
            with torch.no_grad():
                return model, inputs, model(**inputs)
        except Exception as error:
            failed = failed or error
    raise failed or ValueError("too large")


def size_of(config: Any, *names: str, default: int) -> Any:
    """The first of these that a configuration has, or one inside of it."""
    inner = (getattr(config, f"{part}_config", None) for part in ("vision", "audio", "text", "backbone"))
    for each in filter(None, (config, *inner)):
        for name in names:
            if (value := getattr(each, name, None)) is not None:
                return value
    return default


def video(config: Any) -> dict[str, Any]:
    return {"pixel_values": torch.randn(1, config.num_frames, 3, config.image_size, config.image_size)}


def waves(config: Any) -> dict[str, Any]:
    return {"input_values": torch.randn(1, 1, 3200)}


INPUTS: dict[str, Callable[[Any], dict[str, Any]]] = {
    **dict.fromkeys(("videomae", "timesformer", "vivit"), video),
    **dict.fromkeys(("encodec", "dac", "mimi", "xcodec"), waves),
    **dict.fromkeys(
        ("fastspeech2_conformer", "vits"), lambda config: {"input_ids": torch.randint(0, 30, (1, 9))}
    ),
    "clap": lambda config: {
        "input_ids": torch.randint(3, 90, (1, 9)),
        "input_features": torch.randn(1, 1, 64, 64),
    },
    "gemma3n_audio": lambda config: {
        "audio_mel": torch.randn(1, 64, config.input_feat_size),
        "audio_mel_mask": torch.zeros(1, 64, dtype=torch.bool),
    },
    "decision_transformer": lambda config: {
        "states": torch.randn(1, 5, config.state_dim),
        "actions": torch.randn(1, 5, config.act_dim),
        "rewards": torch.randn(1, 5, 1),
        "returns_to_go": torch.randn(1, 5, 1),
        "timesteps": torch.arange(5)[None],
        "attention_mask": torch.ones(1, 5),
    },
    "whisper": lambda config: {
        "input_features": torch.randn(1, config.num_mel_bins, 3000),
        "decoder_input_ids": torch.randint(3, 90, (1, 5)),
    },
    "lightglue": lambda config: {"pixel_values": torch.randn(1, 2, 3, 64, 64)},
    "sam": lambda config: {
        "pixel_values": torch.randn(1, 3, *[config.vision_config.image_size] * 2),
        "input_points": torch.tensor([[[[10.0, 12.0]]]]),
    },
}
"""Inputs of types that take others than those of the names below."""


def inputs_of(model: Any, kind: str) -> dict[str, Any]:
    """What a model is called with: what its `forward` takes of what its main input goes with."""
    torch.manual_seed(0)
    config, main = model.config, model.main_input_name
    if kind in INPUTS:
        return INPUTS[kind](config)
    taken = inspect.signature(model.forward).parameters
    given: dict[str, Any] = {}
    of_text = "input_ids" in taken and main != "pixel_values"
    if main == "pixel_values" or (
        "pixel_values" in taken and size_of(config, "image_token_id", "image_token_index", default=-1) < 0
    ):
        size = size_of(config, "image_size", default=64)
        size = tuple(size.values()) if isinstance(size, dict) else size
        height, width = size if isinstance(size, list | tuple) else (size, size)
        channels = size_of(config, "num_channels", "in_channels", default=3)
        given["pixel_values"] = torch.randn(1, channels, height, width)
    count = 1 if "pixel_values" in given or not of_text else 2
    ids = torch.randint(3, 90, (count, 16))
    given |= {
        "input_ids": ids,
        "attention_mask": torch.ones_like(ids),
        "bbox": torch.randint(0, 30, (*ids.shape, 4)).sort(-1).values,
        "mm_token_type_ids": torch.zeros_like(ids),
    }
    if "grid_thw" in taken:
        patch = (
            size_of(config, "temporal_patch_size", default=1) * size_of(config, "patch_size", default=14) ** 2
        )
        given |= {
            "hidden_states": torch.randn(
                16, size_of(config, "in_channels", "num_channels", default=3) * patch
            ),
            "grid_thw": torch.tensor([[1, 4, 4]]),
        }
    if main in ("input_features", "input_values", "past_values"):
        shapes = {
            "input_features": (1, size_of(config, "num_mel_bins", default=80), 64),
            "input_values": (1, 4000),
            "past_values": (
                2,
                size_of(config, "context_length", default=32),
                size_of(config, "num_input_channels", default=1),
            ),
        }
        given = {main: torch.randn(*shapes[main])}
    if config.is_encoder_decoder:
        given["decoder_input_ids"] = torch.randint(3, 90, (count, 5))
    return {name: value for name, value in given.items() if name in taken}


def leaves(outputs: Any) -> list[torch.Tensor]:
    return [leaf for leaf in torch.utils._pytree.tree_leaves(outputs) if isinstance(leaf, torch.Tensor)]


def compare(got: Any, wanted: Any, check_dtype: bool = True) -> float:
    """The largest difference; raises `AssertionError` beyond what PyTorch takes for equal, of float32 models a little wider."""
    most = 0.0
    for value, expected in zip(leaves(got), leaves(wanted), strict=True):
        torch.testing.assert_close(
            value, expected, rtol=1e-4, atol=1e-4, equal_nan=True, check_dtype=check_dtype
        )
        if expected.is_floating_point() and expected.numel():
            most = max(most, (value - expected).abs().nan_to_num().max().item())
    return most


def first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"[:140]


def attempt(kind: str, target: str, dynamic: bool) -> tuple[str, str]:
    """What comes of a model: a word and what there is to say."""
    try:
        model, inputs, wanted = small(kind)
    except Exception as error:
        return "does not run", first_line(error)
    got: Any = None
    try:
        exporter = AutoHfExporter.from_config({"export_format": "xdsl-exir"})
        start = time.perf_counter()
        exported = exporter.export(model, inputs, {"dynamic": dynamic})
        exporting = time.perf_counter() - start
        with tempfile.TemporaryDirectory() as folder, torch.no_grad():
            exported.save_pretrained(folder)
            start = time.perf_counter()
            loaded = ExportedModel.from_pretrained(folder, target=target)
            compiling = time.perf_counter() - start
            for runner in loaded.runners.values():
                runner.run.manual_seed(SEED)
            got = loaded(**inputs)
            start = time.perf_counter()
            loaded(**inputs)
            calling = time.perf_counter() - start
            return (
                "ok",
                f"{compare(got, wanted):.1e}  {exporting:.1f} s {compiling:.1f} s {calling * 1e3:.1f} ms",
            )
    except AssertionError as error:
        found = "wrong"
        if got and is_exact(model, inputs, got):
            found = "eager is off"
        elif exports_other(model, inputs, dynamic, wanted):
            found = "exported other"
        return found, " ".join(str(error).split())[:200]
    except xdsl_exir.ExirError as error:
        return "refused", first_line(error)
    except Exception as error:
        return ("not exported" if refuses(model, inputs, dynamic) else "failed"), first_line(error)


def refuses(model: Any, inputs: dict[str, Any], dynamic: bool) -> bool:
    """Whether PyTorch's own exporter does not export the model either."""
    try:
        exporter = AutoHfExporter.from_config({"export_format": "dynamo"})
        exporter.export(model, inputs, {"dynamic": dynamic})
    except Exception:
        return True
    return False


def is_exact(model: Any, inputs: dict[str, Any], got: Any) -> bool:
    """Whether results are those of the model in float64, as far as float32 tells."""
    exact = {name: value.double() if value.is_floating_point() else value for name, value in inputs.items()}
    torch.manual_seed(SEED)
    try:
        with torch.no_grad():
            compare(got, copy.deepcopy(model).double()(**exact), check_dtype=False)
    except (AssertionError, RuntimeError):  # the latter of a model that makes float32 of its own
        return False
    return True


def exports_other(model: Any, inputs: dict[str, Any], dynamic: bool, wanted: Any) -> bool:
    """Whether what PyTorch's own exporter makes of the model gives other numbers than the model, when PyTorch runs it."""
    exporter = AutoHfExporter.from_config({"export_format": "dynamo"})
    exported = exporter.export(model, inputs, {"dynamic": dynamic})
    torch.manual_seed(SEED)
    try:
        with torch.no_grad():
            compare(exported(**inputs), wanted)
    except AssertionError:
        return True
    return False


def apart(kind: str, target: str, dynamic: bool, seconds: float) -> tuple[str, str]:
    """`attempt` in a process of its own, that may crash or take too long."""
    forked = multiprocessing.get_context("fork")
    ours, theirs = forked.Pipe(duplex=False)
    process = forked.Process(target=lambda: theirs.send(attempt(kind, target, dynamic)))
    process.start()
    theirs.close()
    try:
        return ours.recv() if ours.poll(seconds) else ("timeout", f"{seconds:.0f} s")
    except EOFError:
        process.join()
        return "crashed", f"exit code {process.exitcode}"
    finally:
        process.kill()
        process.join()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--types", default=",".join(MODEL_MAPPING_NAMES))
    parser.add_argument("--target", default="native")
    parser.add_argument("--dynamic", action="store_true")
    parser.add_argument("--seconds", type=float, default=240.0, help="what a model may take at most")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    xdsl_exir.register_with_transformers()
    counts: collections.Counter[str] = collections.Counter()
    for kind in options.types.split(","):
        outcome, detail = apart(kind, options.target, options.dynamic, options.seconds)
        counts[outcome] += 1
        print(f"{kind:24} {outcome:14} {detail}", flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main()
