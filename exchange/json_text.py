"""Reads JSON that may come from anywhere: its size is bounded before objects are made of it, and what no program writes is
refused."""

from __future__ import annotations

import json
import re
from typing import NoReturn

from xdsl_exir.errors import LoadError
from xdsl_exir.limits import LIMITS


def read_json(text: bytes) -> object:
    """The value of a JSON text. Keys that occur twice, NaN and Infinity as bare words and half surrogate pairs are refused.

    Raises `LoadError` that says what is wrong, but not where the text is from; also for more bytes, values or nesting than
    the limits allow.
    """
    if len(text) > LIMITS.text_bytes:
        raise LoadError(f"JSON of {len(text)} bytes; at most {LIMITS.text_bytes} are read")
    # Those in strings are counted too, which are few.
    values = sum(text.count(mark) for mark in (b"[", b"{", b","))
    if values > LIMITS.values:
        raise LoadError(f"JSON of up to {values} values; at most {LIMITS.values} are read")
    try:
        decoded = text.decode()
        value: object = json.loads(decoded, object_pairs_hook=_unique, parse_constant=_no_constant)
        if re.search(r"\\u[dD][89a-fA-F]", decoded):
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:  # JSONDecodeError and UnicodeError are ValueErrors
        raise LoadError(f"not JSON that can be read: {error}") from None
    return value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError(f"an object has a key twice: {[key for key, _ in pairs][:10]!r:.200}")
    return result


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")
