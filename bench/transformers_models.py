"""Models of Hugging Face's `transformers` through its own exporters with our backend, against eager PyTorch.

    python bench/transformers_models.py [--types bert,gpt2,...] [--target native] [--dynamic]

Each is a small configuration with random weights, exported by `transformers.exporters`, saved, loaded, and called. It prints a line a model:
`ok` with the largest difference and the seconds that export, import with compilation, and a call take; `wrong`; what `xdsl-exir` refuses; or
that the model, or `torch.export`, does not get that far. Needs `transformers` (5.23 or later) beside the development environment.
"""

import argparse
import collections
import inspect
import logging
import tempfile
import time
import warnings
from typing import Any

import torch
from vision_models import declare_nms

import xdsl_exir

declare_nms()  # for transformers, which imports torchvision where there is one
import transformers  # noqa: E402
from transformers.exporters import AutoHfExporter, ExportedModel  # noqa: E402

TEXT = [
    "albert",
    "bart",
    "bert",
    "bert-generation",
    "big_bird",
    "biogpt",
    "blenderbot-small",
    "bloom",
    "camembert",
    "canine",
    "codegen",
    "convbert",
    "ctrl",
    "deberta",
    "deberta-v2",
    "distilbert",
    "electra",
    "ernie",
    "esm",
    "falcon",
    "fnet",
    "funnel",
    "gemma",
    "gemma2",
    "gpt2",
    "gpt_bigcode",
    "gpt_neo",
    "gpt_neox",
    "gptj",
    "granite",
    "ibert",
    "layoutlm",
    "led",
    "llama",
    "longformer",
    "luke",
    "m2m_100",
    "marian",
    "mbart",
    "megatron-bert",
    "mistral",
    "mixtral",
    "mobilebert",
    "modernbert",
    "mpnet",
    "mpt",
    "mra",
    "mt5",
    "nystromformer",
    "olmo",
    "olmo2",
    "opt",
    "pegasus",
    "persimmon",
    "phi",
    "phi3",
    "plbart",
    "prophetnet",
    "qwen2",
    "qwen3",
    "rembert",
    "roberta",
    "roberta-prelayernorm",
    "roc_bert",
    "roformer",
    "smollm3",
    "squeezebert",
    "stablelm",
    "starcoder2",
    "switch_transformers",
    "t5",
    "umt5",
    "xglm",
    "xlm",
    "xlm-roberta",
    "xlnet",
    "xmod",
    "yoso",
]
VISION = [
    "beit",
    "bit",
    "convnext",
    "convnextv2",
    "cvt",
    "data2vec-vision",
    "deit",
    "dinov2",
    "dpt",
    "efficientnet",
    "focalnet",
    "hiera",
    "levit",
    "mobilenet_v1",
    "mobilenet_v2",
    "mobilevit",
    "poolformer",
    "pvt",
    "regnet",
    "resnet",
    "segformer",
    "swiftformer",
    "swin",
    "swinv2",
    "vit",
    "vit_mae",
    "vit_msn",
    "vitdet",
]

SMALL: dict[str, Any] = {
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "dim", "embed_dim"), 32),
    **dict.fromkeys(
        ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "decoder_layers"), 2
    ),
    **dict.fromkeys(("num_decoder_layers", "num_encoder_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads"), 4),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads", "num_key_value_heads"), 4),
    **dict.fromkeys(
        ("intermediate_size", "encoder_ffn_dim", "decoder_ffn_dim", "d_ff", "ffn_dim", "hidden_dim"), 64
    ),
    **dict.fromkeys(("vocab_size",), 99),
    **dict.fromkeys(("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len"), 64),
    **dict.fromkeys(("embedding_size", "head_dim", "d_kv"), 8),
    **dict.fromkeys(("image_size",), 64),
    **dict.fromkeys(("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id"), 1),
}
"""What makes a configuration small, by the names that models have for it."""


def small(kind: str) -> Any:
    """The configuration of a model type with what it has of `SMALL`; lists of numbers stay, an int is no list."""
    config = transformers.AutoConfig.for_model(kind)
    given = {
        name: value
        for name, value in SMALL.items()
        if isinstance(getattr(config, name, None), int) and name not in type(config).attribute_map
    }
    for key in ("num_hidden_layers", "encoder_layers", "decoder_layers"):
        if isinstance(layers := getattr(config, "layer_types", None), list) and key in given:
            given["layer_types"] = layers[: given[key]]
    return transformers.AutoConfig.for_model(kind, **given)


def inputs_of(model: Any, kind: str) -> dict[str, Any]:
    torch.manual_seed(0)
    if kind in VISION:
        size = getattr(model.config, "image_size", 64)
        height, width = size if isinstance(size, list | tuple) else (size, size)
        return {"pixel_values": torch.randn(1, getattr(model.config, "num_channels", 3), height, width)}
    ids = torch.randint(3, 90, (2, 16))
    given = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if model.config.is_encoder_decoder:
        given["decoder_input_ids"] = torch.randint(3, 90, (2, 5))
    taken = inspect.signature(model.forward).parameters
    return {name: value for name, value in given.items() if name in taken}


def leaves(outputs: Any) -> list[torch.Tensor]:
    return [leaf for leaf in torch.utils._pytree.tree_leaves(outputs) if isinstance(leaf, torch.Tensor)]


def compare(got: Any, wanted: Any) -> float:
    """The largest difference; raises `AssertionError` beyond what PyTorch takes for equal, of float32 models a little wider."""
    most = 0.0
    for value, expected in zip(leaves(got), leaves(wanted), strict=True):
        torch.testing.assert_close(value, expected, rtol=1e-4, atol=1e-4, equal_nan=True)
        if expected.is_floating_point() and expected.numel():
            most = max(most, (value - expected).abs().nan_to_num().max().item())
    return most


def first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"[:140]


def attempt(kind: str, target: str, dynamic: bool) -> tuple[str, str]:
    """What comes of a model: a word and what there is to say."""
    try:
        model = transformers.AutoModel.from_config(small(kind)).eval()
        inputs = inputs_of(model, kind)
        with torch.no_grad():
            wanted = model(**inputs)
        exporter = AutoHfExporter.from_config({"export_format": "dynamo"})
        exporter.export(model, inputs, {"dynamic": dynamic})
    except Exception as error:
        return "not exported", first_line(error)
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
            got = loaded(**inputs)
            start = time.perf_counter()
            loaded(**inputs)
            calling = time.perf_counter() - start
            return (
                "ok",
                f"{compare(got, wanted):.1e}  {exporting:.1f} s {compiling:.1f} s {calling * 1e3:.1f} ms",
            )
    except AssertionError as error:
        return "wrong", first_line(error)
    except xdsl_exir.ExirError as error:
        return "refused", first_line(error)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--types", default=",".join([*TEXT, *VISION]))
    parser.add_argument("--target", default="native")
    parser.add_argument("--dynamic", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    xdsl_exir.register_with_transformers()
    counts: collections.Counter[str] = collections.Counter()
    for kind in options.types.split(","):
        outcome, detail = attempt(kind, options.target, options.dynamic)
        counts[outcome] += 1
        print(f"{kind:24} {outcome:14} {detail}", flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main()
