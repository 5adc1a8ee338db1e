"""Decoders with a cache: words a second natively, in C and by eager PyTorch, against what memory and multiply-adds allow.

    python bench/decoding.py [--layers 8 24] [--threads N] [--steps 100] [--prompt 128]

The model is bench/models/llama8.py with its keys and values in buffers that each call writes to, and as many layers as asked. A step takes one
word: it reads all weights but the embedding once, so `limit` is their bytes over the bandwidth that bench/limits.py measures in the same run. The
prompt goes through at once: its limit is its multiply-adds. `copied` is what of the buffers a step copies as a whole, because it is not written in
place. All three must choose the same words. Milliseconds are the least of many, of the process where it has one thread (then other work on the
machine counts for little); the C program runs where there is a C compiler.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from export_models import load_file
from limits import Limits
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode
from turns import set_threads

import xdsl_exir
from xdsl_exir.runtime.c.library import compile_library

ROUNDS = 5
HERE = Path(__file__).parent
llama = load_file(HERE / "models" / "llama8.py")


class Decoder(nn.Module):
    """Llama with keys and values [layers, 1, heads, positions, head_dim] and a position; gives the scores [1, words] of the next word."""

    keys: Tensor
    values: Tensor
    position: Tensor

    def __init__(self, layers: int, positions: int = 512):
        super().__init__()
        self.model = llama.Llama(layers=layers, positions=positions)
        first = self.model.layers[0]
        shape = (layers, 1, first.kv_heads, positions, first.head_dim)
        self.register_buffer("keys", torch.zeros(shape))
        self.register_buffer("values", torch.zeros(shape))
        self.register_buffer("position", torch.zeros((), dtype=torch.long))

    def forward(self, ids: Tensor) -> Tensor:
        model, where = self.model, self.position + torch.arange(ids.shape[1])
        x, cos, sin = model.emb(ids), model.cos[where], model.sin[where]
        visible = torch.arange(self.keys.shape[3]) <= where[:, None]
        for layer, keys, values in zip(model.layers, self.keys, self.values, strict=True):
            y = layer.n1(x)
            q = llama.rotate(layer.split_heads(layer.q(y), layer.heads), cos, sin)
            k = llama.rotate(layer.split_heads(layer.k(y), layer.kv_heads), cos, sin)
            keys.index_copy_(2, where, k)
            values.index_copy_(2, where, layer.split_heads(layer.v(y), layer.kv_heads))
            y = nn.functional.scaled_dot_product_attention(
                q, keys, values, attn_mask=visible, enable_gqa=True
            )
            x = x + layer.o(y.transpose(1, 2).reshape(x.shape))
            y = layer.n2(x)
            x = x + layer.w2(nn.functional.silu(layer.w1(y)) * layer.w3(y))
        self.position += ids.shape[1]
        return model.head(model.n(x[:, -1]))

    def nbytes_read(self) -> int:
        """Bytes of weights that a step reads: of the embedding it takes a row."""
        return sum(w.nbytes for w in self.model.parameters()) - self.model.emb.weight.nbytes


Step = Callable[[np.ndarray], np.ndarray]


def decode(prefill: Step, step: Step, prompt: int, steps: int) -> tuple[list[int], float, float]:
    """The likeliest words after a prompt, milliseconds of the prompt and the least of a step."""
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    start = clock()
    scores = prefill(np.arange(1, prompt + 1)[None])
    first, least, words = clock() - start, np.inf, list[int]()
    for _ in range(steps):
        words.append(int(scores.argmax()))
        start = clock()
        scores = step(np.array([[words[-1]]]))
        least = min(least, clock() - start)
    return words, 1e3 * first, 1e3 * least


def in_c(program: xdsl_exir.Program, prompt: int, steps: int, threads: int) -> tuple[list[int], float]:
    """The words and milliseconds of a step of a C program."""
    with tempfile.TemporaryDirectory() as folder:
        made = compile_library(program, folder, "decoding", threads=threads)
        flags = ["-O2", f"-I{folder}", f"-L{folder}", "-ldecoding", f"-Wl,-rpath,{folder}"]
        if threads == 1:
            flags.append("-DCLOCK=CLOCK_PROCESS_CPUTIME_ID")
        subprocess.run(["cc", HERE / "decoding.c", "-o", "decoding", *flags], cwd=folder, check=True)
        run = [f"{folder}/decoding", made.weights, str(prompt), str(steps)]
        done = subprocess.run(run, capture_output=True, text=True, check=True)
        return [int(word) for word in done.stdout.split()], float(done.stderr)


def copied(run: Any) -> int:
    """Bytes of buffers that a step gives anew in place of writing to them."""
    method = run.method("decode")
    return sum(run.array(name).nbytes for name in method.changed - method.updated if run.array(name).size > 1)


def line(layers: int, threads: int, prompt: int, steps: int, limits: Limits) -> str:
    torch.manual_seed(0)
    model = Decoder(layers).eval()
    ids = torch.arange(1, prompt + 1)[None]
    with torch.no_grad():
        exported = {
            name: torch.export.export(model, (example,))
            for name, example in {"prefill": ids, "decode": ids[:, :1]}.items()
        }
    program = xdsl_exir.from_exported_program(exported)
    run = xdsl_exir.compile(program, "native")
    state = {name: run.array(name).copy() for name in run.changed}
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(ids)

    def eager(ids: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return model(torch.from_numpy(ids)).numpy()

    def native(method: str) -> Step:
        called = run.method(method)
        return lambda ids: called.flat([ids])[0]

    def again() -> None:
        run.load_state(state, strict=False)
        model.load_state_dict(
            {name: torch.from_numpy(array.copy()) for name, array in state.items()}, strict=False
        )

    found = []
    for _ in range(ROUNDS):
        again()
        ours = decode(native("prefill"), native("decode"), prompt, steps)
        theirs = decode(eager, eager, prompt, steps)
        assert ours[0] == theirs[0], "other words than eager's"
        found.append((*ours[1:], *theirs[1:]))
    first, least, their_first, their_least = np.min(found, axis=0)
    c = "-"
    if shutil.which("cc"):
        words, milliseconds = in_c(program, prompt, steps, threads)
        assert words == ours[0], "other words in C"
        c = f"{milliseconds:.2f}"
    limit = 1e3 * model.nbytes_read() / limits.bandwidth
    first_limit = 1e3 * counter.get_total_flops() / limits.multiply_adds
    return (
        f"{layers:6} {model.nbytes_read() / 1e6:8.1f} {least:7.2f} {c:>7} {their_least:7.2f} {limit:7.2f} {1e3 / least:8.1f} {limit / least:6.0%}"
        f" {copied(run):7} {first:8.1f} {their_first:7.1f} {first_limit:7.1f} {first_limit / first:6.0%}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--layers", type=int, nargs="+", default=[8, 24])
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--prompt", type=int, default=128)
    given = parser.parse_args()
    set_threads(given.threads)
    limits = Limits.measured(given.threads)
    print(limits)
    print(
        "layers      MB  native       C   eager   limit  words/s  share  copied   prompt   eager   limit  share",
        flush=True,
    )
    for layers in given.layers:
        print(line(layers, given.threads, given.prompt, given.steps, limits), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
