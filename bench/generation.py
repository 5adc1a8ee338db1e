"""Decoders of Hugging Face's `transformers` with a static cache, writing word after word: natively and in the interpreter against its own `generate`.

    python bench/generation.py [--types llama,gpt2,...] [--words 24] [--targets native interpreter]

Each is a small configuration with random weights, exported as `transformers.integrations.executorch` exports decoders for devices: a program of one
word that holds its keys and values in buffers. It is saved, loaded without PyTorch, and called for each word of a prompt and each that it chose
itself. It prints a line a model: whether all words are those that `generate` chooses, the largest difference of the numbers that they are chosen
by from those of the model without a cache, and milliseconds a word of ours and of the exported module's. Needs `transformers` (5.23 or later) beside
the development environment.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import argparse
import logging
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from vision_models import declare_nms

import xdsl_exir

declare_nms()  # for transformers, which imports torchvision where there is one
from transformers import AutoConfig, AutoModelForCausalLM  # noqa: E402
from transformers.integrations.executorch import TorchExportableModuleForDecoderOnlyLM  # noqa: E402

SMALL: dict[str, Any] = {
    **dict.fromkeys(("hidden_size", "n_embd"), 64),
    **dict.fromkeys(("num_hidden_layers", "n_layer"), 2),
    **dict.fromkeys(("num_attention_heads", "n_head"), 4),
    "num_key_value_heads": 2,
    "head_dim": 16,
    "intermediate_size": 96,
    "vocab_size": 320,
    "pad_token_id": 0,
}
"""Sizes, by what configurations call them."""
TYPES = "llama,mistral,qwen2,qwen3,gemma,gemma2,gemma3_text,phi,phi3,gpt2,gpt_neox,olmo2,granite,stablelm,starcoder2,smollm3"
CACHE, PROMPT = 64, [5, 17, 300, 42, 7, 99]
"""Words that a cache has room for, and those that are given."""


def small(kind: str) -> Any:
    """A model of a type with random weights."""
    torch.manual_seed(0)
    config = AutoConfig.for_model(kind)
    given = {name: size for name, size in SMALL.items() if hasattr(config, name)}
    config = type(config)(**given, bos_token_id=1, eos_token_id=None)
    model = AutoModelForCausalLM.from_config(config).eval()
    model.generation_config.cache_implementation = "static"
    model.generation_config.eos_token_id = None
    return model


def written(step: Any, words: int) -> tuple[list[int], list[np.ndarray], float]:
    """The words after the prompt, the numbers that they were chosen by, and the least seconds of a call."""
    chosen, numbers, least = list(PROMPT), list[np.ndarray](), float("inf")
    for place in range(len(PROMPT) + words - 1):
        start = time.perf_counter()
        logits = step(np.array([[chosen[place]]]), np.array([place]))
        least = min(least, time.perf_counter() - start)
        if place + 1 >= len(PROMPT):
            numbers.append(np.asarray(logits)[0, -1])
            chosen.append(int(numbers[-1].argmax()))
    return chosen[len(PROMPT) :], numbers, least


def attempt(kind: str, words: int, targets: list[str]) -> str:
    model = small(kind)
    prompt = torch.tensor([PROMPT])
    with torch.no_grad():
        wanted = model.generate(prompt, max_new_tokens=words, do_sample=False, cache_implementation=None)
        exact = model(wanted).logits[0, len(PROMPT) - 1 : -1].numpy()
        module = TorchExportableModuleForDecoderOnlyLM(model, batch_size=1, max_cache_len=CACHE)
        exported = module.export(input_ids=prompt[:, :1], cache_position=torch.tensor([0]), strict=False)
        eager = module.model
        *_, theirs = written(
            lambda word, place: eager(
                input_ids=torch.as_tensor(word), cache_position=torch.as_tensor(place)
            ).numpy(),
            words,
        )
    said: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pt2"
        torch.export.save(exported, path)
        for target in targets:
            run = xdsl_exir.compile(xdsl_exir.load(path), target, fallback="error")
            chosen, numbers, ours = written(
                lambda word, place, run=run: run(input_ids=word, cache_position=place), words
            )
            same = "ok" if chosen == wanted[0, len(PROMPT) :].tolist() else "WRONG"
            far = np.abs(np.array(numbers) - exact).max()
            said.append(f"{target} {same} {far:.1e} {ours * 1e3:.2f} ms")
    return f"{'  '.join(said)}  eager {theirs * 1e3:.2f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--types", default=TYPES)
    parser.add_argument("--words", type=int, default=24)
    parser.add_argument("--targets", nargs="+", default=["native", "interpreter"])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    for kind in options.types.split(","):
        try:
            outcome = attempt(kind, options.words, options.targets)
        except Exception as error:
            outcome = f"{type(error).__name__}: {str(error).strip().splitlines()[0][:160]}"
        print(f"{kind:16} {outcome}", flush=True)


if __name__ == "__main__":
    main()
