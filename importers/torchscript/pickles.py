"""Pickles, decoded as data: a loop over the few opcodes that TorchScript writes. Nothing is imported, looked up or called.

What a pickle would call becomes data where it is one of the functions below (`_rebuild_tensor_v2`, lists of a type...) and
an inert `Instance` where it is a class of the archive's own code; everything else is refused by name.
"""

from __future__ import annotations

import pickletools
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import BY_TORCH_NAME, DType
from xdsl_exir.errors import LoadError, UnsupportedTensorError
from xdsl_exir.exchange.tensor_data import Storage, TensorData
from xdsl_exir.limits import LIMITS
from xdsl_exir.narrowing import is_dict, is_list, is_tuple


@dataclass(frozen=True)
class Global:
    """The name of a function or class, which stays a name."""

    module: str
    name: str

    @property
    def qualified_name(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(eq=False)
class Instance:
    """An object of a class of the archive: its attributes, or of an enum its value."""

    class_name: str
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    value: Any = None


@dataclass(frozen=True, eq=False)
class PickledTensor:
    """A tensor. Tensors that are one object in the pickle are one here."""

    data: TensorData
    requires_grad: bool


@dataclass(frozen=True)
class PickledDevice:
    name: str


@dataclass(frozen=True)
class StorageRef:
    """A storage by the name of its entry, with its dtype."""

    dtype: DType
    key: str


STORAGES: Mapping[str, DType] = {
    "FloatStorage": dt.Float, "DoubleStorage": dt.Double, "HalfStorage": dt.Half, "BFloat16Storage": dt.BFloat16,
    "LongStorage": dt.Long, "IntStorage": dt.Int, "ShortStorage": dt.Short, "CharStorage": dt.Char,
    "ByteStorage": dt.Byte, "BoolStorage": dt.Bool, "ComplexFloatStorage": dt.ComplexFloat,
    "ComplexDoubleStorage": dt.ComplexDouble, "UntypedStorage": dt.Byte,
}  # fmt: skip
"""Classes of storages, of the module `torch`."""

_LISTS = frozenset(f"torch.jit._pickle.build_{kind}list" for kind in ("int", "tensor", "double", "bool"))


class _Refused(Exception):
    pass


def _refuse(message: str) -> NoReturn:
    raise _Refused(message)


class Decoder:
    """The stack machine of pickles, over data."""

    def __init__(self, storage: Callable[[str], Storage]):
        self._storage = storage
        """The bytes of a storage by its key."""
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[int, Any] = {}

    def decode(self, text: bytes) -> Any:
        for count, (opcode, argument, _) in enumerate(pickletools.genops(text)):
            if count > LIMITS.values:
                _refuse(f"more than {LIMITS.values} opcodes")
            if opcode.name == "STOP":
                return self._pop()
            self._step(opcode.name, argument)
        _refuse("it does not end")

    def _pop(self) -> Any:
        if len(self._stack) <= (self._marks[-1] if self._marks else 0):
            _refuse("the stack is empty")
        return self._stack.pop()

    def _top(self) -> Any:
        value = self._pop()
        self._stack.append(value)
        return value

    def _since_mark(self) -> list[Any]:
        if not self._marks:
            _refuse("there is no mark")
        start = self._marks.pop()
        items = self._stack[start:]
        del self._stack[start:]
        return items

    def _step(self, name: str, argument: Any) -> None:
        push = self._stack.append
        match name:
            case "PROTO" | "FRAME":
                pass
            case "MARK":
                self._marks.append(len(self._stack))
            case "NONE":
                push(None)
            case "NEWTRUE" | "NEWFALSE":
                push(name == "NEWTRUE")
            case "BININT" | "BININT1" | "BININT2" | "LONG1" | "BINFLOAT" | "BINUNICODE" | "SHORT_BINUNICODE":
                push(argument)
            case "EMPTY_TUPLE":
                push(())
            case "EMPTY_LIST":
                push([])
            case "EMPTY_DICT":
                push({})
            case "TUPLE":
                push(tuple(self._since_mark()))
            case "TUPLE1" | "TUPLE2" | "TUPLE3":
                items = [self._pop() for _ in range(int(name[-1]))]
                push(tuple(reversed(items)))
            case "APPEND":
                value = self._pop()
                self._extend([value])
            case "APPENDS":
                self._extend(self._since_mark())
            case "SETITEM":
                value, key = self._pop(), self._pop()
                self._update([key, value])
            case "SETITEMS":
                self._update(self._since_mark())
            case "BINPUT" | "LONG_BINPUT":
                self._memo[argument] = self._top()
            case "MEMOIZE":
                self._memo[len(self._memo)] = self._top()
            case "BINGET" | "LONG_BINGET":
                if argument not in self._memo:
                    _refuse(f"nothing was put at {argument}")
                push(self._memo[argument])
            case "GLOBAL":
                module, _, of = argument.partition(" ")
                push(Global(module, of))
            case "BINPERSID":
                push(_storage_of(self._pop()))
            case "NEWOBJ":
                arguments, cls = self._pop(), self._pop()
                if not isinstance(cls, Global) or not cls.module.startswith("__torch__") or arguments != ():
                    _refuse(f"an object of {_named(cls)}")
                push(Instance(cls.qualified_name))
            case "BUILD":
                state, instance = self._pop(), self._top()
                if is_dict(instance):
                    return  # attributes that an OrderedDict has beside its items: versions of modules
                if not isinstance(instance, Instance):
                    _refuse("the state of what is no object")
                if is_dict(state) and all(isinstance(key, str) for key in state):
                    instance.attributes.update(state)
                else:
                    instance.value = state
            case "REDUCE":
                arguments, function = self._pop(), self._pop()
                # TorchScript writes members of enums so: the class, the value itself, and the call.
                push(self._called(function, arguments if is_tuple(arguments) else (arguments,)))
            case _:
                _refuse(f"opcode {name}")

    def _extend(self, items: list[Any]) -> None:
        top = self._top()
        if not is_list(top):
            _refuse("items of what is no list")
        top.extend(items)

    def _update(self, items: list[Any]) -> None:
        top = self._top()
        if not is_dict(top) or len(items) % 2:
            _refuse("items of what is no dict")
        for key, value in zip(items[::2], items[1::2], strict=True):
            if not isinstance(key, str | int | float | complex | bool):
                _refuse("a key that is neither text nor a number")
            top[key] = value

    def _called(self, function: Any, arguments: tuple[Any, ...]) -> Any:
        name = function.qualified_name if isinstance(function, Global) else ""
        match name, arguments:
            case "collections.OrderedDict", ():
                return {}
            case "torch._utils._rebuild_tensor_v2" | "torch._utils._rebuild_tensor", (
                storage,
                offset,
                sizes,
                strides,
                *rest,
            ):
                return self._tensor(storage, offset, sizes, strides, bool(rest and rest[0]))
            case "torch._utils._rebuild_tensor_v3", (
                StorageRef(key=key),
                offset,
                sizes,
                strides,
                requires_grad,
                _,
                Global("torch", name),
                *_,
            ) if name in BY_TORCH_NAME:
                return self._tensor(
                    StorageRef(BY_TORCH_NAME[name], key), offset, sizes, strides, bool(requires_grad)
                )
            case "torch._utils._rebuild_parameter", (PickledTensor() as held, bool() as requires_grad, *_):
                return PickledTensor(held.data, requires_grad)
            case "torch.jit._pickle.restore_type_tag", (value, str()):
                return value
            case "torch.device", (str() as device,):
                return PickledDevice(device)
            case "builtins.complex", (int() | float() as real, int() | float() as imaginary):
                return complex(real, imaginary)
            case _, (items,) if name in _LISTS and is_list(items):
                return items
            case _, (value,) if name.startswith("__torch__."):
                return Instance(name, value=value)
            case _:
                _refuse(f"a call of {_named(function)}")

    def _tensor(
        self, storage: Any, offset: Any, sizes: Any, strides: Any, requires_grad: bool
    ) -> PickledTensor:
        numbers = (offset, *sizes, *strides) if is_tuple(sizes) and is_tuple(strides) else (None,)
        if not isinstance(storage, StorageRef) or not all(type(number) is int for number in numbers):
            _refuse("a tensor that is not described by numbers")
        if len(sizes) > LIMITS.rank:
            _refuse(f"a tensor of {len(sizes)} dimensions")
        data = TensorData(storage.dtype, sizes, strides, offset, self._storage(storage.key))
        return PickledTensor(data, requires_grad)


def _named(value: Any) -> str:
    return value.qualified_name[:100] if isinstance(value, Global) else f"a {type(value).__name__}"


def _storage_of(identity: Any) -> StorageRef:
    match identity:
        case (
            "storage",
            Global("torch" | "torch.storage", name),
            str() as key,
            str(),
            int(),
        ):  # wherever it was
            if name not in STORAGES:
                raise UnsupportedTensorError(f"{name}", "")
            return StorageRef(STORAGES[name], key)
        case _:
            _refuse("a persistent object that is no storage")


def decode(text: bytes, storage: Callable[[str], Storage], source: str) -> Any:
    """What a pickle says. `storage` has the bytes of tensors by key. Raises `LoadError` that begins with `source`."""
    if len(text) > LIMITS.text_bytes:
        raise LoadError(f"{source}: a pickle of {len(text)} bytes; at most {LIMITS.text_bytes} are read")
    try:
        with warnings.catch_warnings(action="ignore"):  # of escapes that Python does not know
            return Decoder(storage).decode(text)
    except UnsupportedTensorError as error:
        raise UnsupportedTensorError(error.items[0].operator, source) from None
    except LoadError as error:
        raise LoadError(f"{source}: {error}") from None
    except _Refused as error:
        raise LoadError(f"{source}: refused: the pickle has {error}") from None
    except (ValueError, TypeError, OverflowError, MemoryError, EOFError) as error:
        # What `genops` raises for what is no pickle, and comparing what it says.
        raise LoadError(f"{source}: not a pickle that can be read: {error}") from None
