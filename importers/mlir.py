"""Reads programs from MLIR text: the module, its weights in the `.safetensors` file beside it, and how it is called.

What Python needs to call a method is JSON in an attribute of its function, so that any MLIR tool hands it on; a program
in memory has it in its `conventions` instead.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import ParseError, VerifyException

from xdsl_exir.dialects.spec import hint
from xdsl_exir.errors import LoadError
from xdsl_exir.exchange import pytree
from xdsl_exir.exchange.json_text import read_json
from xdsl_exir.exchange.safetensors import OtherWeightsError, read_safetensors
from xdsl_exir.exchange.tensor_data import TensorData
from xdsl_exir.importers.text import TextParser, check_text
from xdsl_exir.narrowing import is_list
from xdsl_exir.program import CallingConvention, Program, Slot, context

CONVENTION = "exir.convention"
"""The attribute of a function that says how it is called from Python."""
WEIGHTS_SUFFIX = ".safetensors"
"""Of the file with a module's weights; its stem is the module's."""
WEIGHTS = "exir.weights"
"""The attribute of a module with the digest that the file of its weights says of itself."""

_PARSER_ERRORS = (
    *(ValueError, TypeError, LookupError, ArithmeticError, AssertionError, NotImplementedError),
    *(RecursionError, MemoryError),
)
"""What xDSL's parser raises, besides errors of its own, for texts that it did not expect."""


def weights_of(path: Path) -> Path:
    """The file with the weights of the text at `path`: beside it, else beside what it links to."""
    beside = path.with_suffix(WEIGHTS_SUFFIX)
    if not os.path.lexists(beside):
        beside = Path(os.path.realpath(path)).with_suffix(WEIGHTS_SUFFIX)
    return Path(os.path.realpath(beside))


def waiting(weights: Path, digest: str) -> Path:
    """Where weights of this digest are from the moment that the text which names them is put in its place, until they are
    in theirs."""
    name = hashlib.sha256(os.fsencode(weights.name)).hexdigest()
    return weights.with_name(f".xdsl-exir-{name[:16]}-{digest[:32]}")


def read_mlir(path: Path, mapped: bool = False) -> Program:
    """A program from MLIR text, with the weights that lie beside it, if any do. Not verified.

    Raises `LoadError` where the text does not parse, or names weights that the file beside it does not have as said, or
    where that file is of another program.
    """
    while True:
        file = _identity(path)
        try:
            return _read(path, _text(path), mapped)
        except OtherWeightsError:
            if _identity(path) == file:
                raise
            # A program was saved there meanwhile, maybe the same one again.


def _identity(path: Path) -> tuple[int, int, int]:
    """What tells a file from all that took its place."""
    found = path.stat()
    return found.st_ino, found.st_ctime_ns, found.st_mtime_ns


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise LoadError(f"{path}: not text ({error.reason})") from None


def read_module(text: str, name: str) -> ModuleOp:
    """The module of a text, which errors call `name`. Raises `LoadError` with line and column."""
    check_text(name, text)
    parser = TextParser(context().clone(), text, name)
    try:
        return parser.parse_module()
    except ParseError as error:
        raise LoadError(_where(error)) from None
    except VerifyException as error:
        raise LoadError(f"{parser.place}: {error}") from None
    except _PARSER_ERRORS as error:
        raise LoadError(f"{parser.place}: cannot be read: {error or type(error).__name__}") from error


def unpickled(text: str, state: Mapping[str, TensorData], name: str = "pickle") -> Program:
    """A program from what `exporters.mlir.text_of` wrote, and its arrays. Errors call the text `name`."""
    module, conventions = _read_text(name, text)
    return Program(module, state, conventions)


def _read_text(name: str, text: str) -> tuple[ModuleOp, dict[str, CallingConvention]]:
    """A module, and how its methods are called."""
    module = read_module(text, name)
    conventions = {
        function.sym_name.data: _read_convention(f"{name}: {function.sym_name.data}: {CONVENTION}", attr)
        for function in _functions(module)
        if (attr := function.attributes.pop(CONVENTION, None)) is not None
    }
    return module, conventions


def _read(path: Path, text: str, mapped: bool) -> Program:
    module, conventions = _read_text(str(path), text)
    attr = module.attributes.pop(WEIGHTS, None)
    digest = attr.data if isinstance(attr, StringAttr) else None
    if digest is not None and not re.fullmatch("[0-9a-f]{64}", digest):
        raise LoadError(f"{path}: {WEIGHTS} is {digest!r:.80}, expected 64 hexadecimal digits")
    return Program(module, _weights(weights_of(path), digest, mapped), conventions)


def _weights(weights: Path, digest: str | None, mapped: bool) -> dict[str, TensorData]:
    """The weights of a text that names this digest, where they are or are about to be; none where there is no file."""
    # Looked for once more where they belong: they may be put there just now.
    places = [weights] if digest is None else [weights, waiting(weights, digest), weights]
    other: OtherWeightsError | None = None
    for place in places:
        try:
            return read_safetensors(place, digest, mapped)
        except FileNotFoundError:
            continue
        except OtherWeightsError as error:
            other = error
    if other is not None:
        raise other
    return {}


def _functions(module: ModuleOp) -> list[FuncOp]:
    return [op for op in module.ops if isinstance(op, FuncOp)]


def _where(error: ParseError) -> str:
    """`model.mlir:3:12: operation is not registered`: where the text begins to be wrong, and what it lacks."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    message = lines[-1].lstrip("^ ")
    unknown = re.fullmatch(r"Operation (?:edge\.)?(\w+\.\S+) is not registered", message)
    return f"{lines[0]}: {message:.1000}{hint(unknown[1]) if unknown else ''}"


def _read_convention(at: str, attr: object) -> CallingConvention:
    try:
        held = read_json(attr.data.encode()) if isinstance(attr, StringAttr) else None
    except LoadError as error:
        raise LoadError(f"{at}: {error}") from None
    return _convention(at, held)


def _convention(at: str, held: Any) -> CallingConvention:
    match held:
        case {
            "in_spec": str(in_spec),
            "out_spec": str(out_spec),
            "inputs": [*inputs],
            "outputs": [*outputs],
            "arg_names": [*_] | None as arg_names,
            "modules": {**modules},
            "calls": {**calls},
            "namedtuples": {**fields},
        }:
            pass
        case _:
            raise LoadError(f"{at}: a field is missing, or of another type")
    if not all(is_list(names) for names in fields.values()):
        raise LoadError(f"{at}: the fields of a namedtuple are no list")
    namedtuples = {name: tuple(map(str, names)) for name, names in fields.items()}
    try:
        specs = pytree.loads(in_spec, namedtuples), pytree.loads(out_spec, namedtuples)
    except LoadError as error:
        raise LoadError(f"{at}: {error}") from None
    return CallingConvention(
        *specs,
        tuple(_slot(at, slot) for slot in inputs),
        tuple(_slot(at, slot) for slot in outputs),
        None if arg_names is None else tuple(map(str, arg_names)),
        {path: str(cls) for path, cls in modules.items()},
        {path: None if call is None else _convention(f"{at}: {path}", call) for path, call in calls.items()},
    )


def _slot(at: str, value: Any) -> Slot:
    match value:
        case {"name": str(name), "constant": None | bool() | int() | float() | str() as constant}:
            return Slot(constant, True, name)
        case {"name": str(name), "index": int(index)} if index >= 0:
            return Slot(name=name, index=index)
        case {"name": str(name)}:
            return Slot(name=name)
        case _:
            raise LoadError(f"{at}: expected an input or output, got {value!r:.60}")
