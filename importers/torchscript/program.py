"""A TorchScript program: run as it is, with state that calls change, or traced to an ordinary program for given inputs."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from xdsl_exir.dialects.sharing import Memory
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.dialects.torchscript import operations as script_ops
from xdsl_exir.dialects.torchscript import types as ts
from xdsl_exir.dialects.torchscript.aliases import Aliases
from xdsl_exir.dialects.torchscript.verifier import violations_of_module
from xdsl_exir.errors import ExirError, InputError, LoadError, VerificationError
from xdsl_exir.exchange.arrays import MASKED, array_of
from xdsl_exir.exchange.tensor_data import TensorData
from xdsl_exir.importers.torchscript.carried import DTYPES, kind_of
from xdsl_exir.importers.torchscript.evaluate import Evaluator
from xdsl_exir.importers.torchscript.machine import Machine, enum_member
from xdsl_exir.importers.torchscript.module import ScriptModule, of_text, read_module
from xdsl_exir.importers.torchscript.pickles import Instance, PickledTensor
from xdsl_exir.importers.torchscript.source import Class, Parameter, Signature
from xdsl_exir.importers.torchscript.tensors import FOLDED, Held, Tensors
from xdsl_exir.importers.torchscript.values import EnumValue, Loader, Object, TensorValue
from xdsl_exir.interpreter.interpreter import dtype_of
from xdsl_exir.interpreter.operators import Array
from xdsl_exir.locations import errors_at, location_text
from xdsl_exir.narrowing import is_dict, is_list, is_sequence, is_tuple
from xdsl_exir.program import Program


class StateTable:
    """The tensors that a program starts with, by name, and what calls have made of them."""

    def __init__(self) -> None:
        self.data: dict[str, TensorData] = {}
        self.kinds: dict[str, str] = {}
        self.tied: set[str] = set()
        """Names of tensors that share memory in a way that is not kept from one call to the next."""

    def add(self, name: str, data: TensorData, kind: str) -> str:
        """Adds a tensor, under a name like this one that nothing has yet; gives the name."""
        free = name or "tensor"
        count = 0
        while free in self.data:
            count += 1
            free = f"{name}_{count}"
        self.data[free], self.kinds[free] = data, kind
        return free

    def with_numbers(self, numbers: Mapping[str, Any]) -> StateTable:
        """A table that has these numbers too, as buffers."""
        made = StateTable()
        made.data, made.kinds, made.tied = dict(self.data), dict(self.kinds), set(self.tied)
        for name, number in numbers.items():
            dtype = DTYPES[kind_of(number)]
            made.data[name] = TensorData.of(np.array(number, dtype.numpy), dtype)
            made.kinds[name] = "buffer"
        return made

    def held(self, name: str, with_array: bool) -> Held:
        """What a name is."""
        if name not in self.data:
            raise ExirError(f"no tensor is called {name:.200}")
        data = self.data[name]
        meta = TensorMeta(data.sizes, data.dtype)
        certain = Memory(data.dtype, data.sizes, data.strides).is_contiguous
        is_small = self.kinds[name] == "constant_tensor" and math.prod(data.sizes) <= FOLDED
        return Held(meta, data.numpy() if with_array or is_small else None, certain, name in self.tied)

    def find_ties(self) -> None:
        """Notes which tensors share memory."""
        groups: dict[int, list[str]] = {}
        for name, data in self.data.items():
            groups.setdefault(data.storage_key, []).append(name)
        self.tied = {name for names in groups.values() if len(names) > 1 for name in names}


class Session:
    """A program with its data: what tensors it has, and what calls of it have made of them."""

    def __init__(self, script: ScriptModule, path: str):
        self.script, self.path = script, path
        self.state = StateTable()
        loader = Loader(self._enum, self._tensor)
        with errors_at(f"{path}: data.pkl"):
            self.root: Object = loader.value(script.root)
        with errors_at(f"{path}: constants.pkl"):
            self.constants = [
                loader.value(value, "", f"constant_{i}") for i, value in enumerate(script.constants)
            ]
        self.state.find_ties()
        self._evaluator = Evaluator()

    def _enum(self, data: Instance) -> EnumValue | None:
        found = self.script.source.find(data.class_name)
        if not isinstance(found, Class) or found.category != "enum":
            return None
        members = (enum_member(self.script, data.class_name, name) for name in found.constants)
        member = next((member for member in members if member.value == data.value), None)
        if member is None:
            raise LoadError(f"{data.class_name:.200} has no member of value {data.value!r:.100}")
        return member

    def _tensor(self, data: PickledTensor, path: str, name: str, owner: str) -> TensorValue:
        found = self.script.source.find(owner) if owner else None
        kind = "parameter" if isinstance(found, Class) and name in found.parameters else "buffer"
        kind = kind if owner else "constant_tensor"
        kept = self.state.add(".".join(part for part in (path, name) if part), data.data, kind)
        return TensorValue(kept, Memory(data.data.dtype, data.data.sizes, data.data.strides).is_contiguous)

    def signature(self, method: str = "forward") -> Signature:
        """What a method takes and gives. Raises `InputError` for an unknown one."""
        return self.script.signature(method)

    def errors_in(self, method: str) -> AbstractContextManager[None]:
        """Errors inside say that they are of this method, where they say no line of its code."""
        function = self.script.functions().get(self.script.entry(method))
        place = location_text(function) if function is not None else ""
        return errors_at(f"{self.path}: {place or method:.200}")

    def run(self, machine: Machine, method: str, root: Object, arguments: Sequence[Any]) -> Any:
        """What a method gives, in a machine."""
        return machine.call(self.script.entry(method), [*([] if self.script.is_text else [root]), *arguments])

    # running

    def call(self, method: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """What a method gives. State is changed as the method says, if it ends."""
        with self.errors_in(method):
            return self._call(method, args, kwargs)

    def _call(self, method: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        arguments = self.arguments(method, args, kwargs)
        tensors = Tensors(self.path, self._evaluator, True, lambda name: self.state.held(name, True))
        root = deepcopy(self.root)
        machine = Machine(self.script, tensors, self.constants)
        given = [_given(tensors, value, f"input_{index}") for index, value in enumerate(arguments)]
        result = self.run(machine, method, root, given)
        made = _arrays(tensors, result)
        self._keep(tensors, root)
        return made

    def arguments(self, method: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The arguments of a method in order; defaults are those of its code."""
        parameters = self.signature(method).parameters
        names = [parameter.name for parameter in parameters]
        if len(args) > len(names):
            raise InputError(f"{method} takes {len(names)} arguments, not {len(args)}")
        given = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name not in names or name in given:
                raise InputError(f"{method} takes no argument '{name:.100}', or has it already")
            given[name] = value
        return [
            _as_number(given[item.name], item.type) if item.name in given else self._default(method, item)
            for item in parameters
        ]

    def _default(self, method: str, parameter: Parameter) -> Any:
        import ast

        node = parameter.default
        if node is None:
            raise InputError(f"{method} needs argument '{parameter.name}'")
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "CONSTANTS"
        ):
            return self.constants[int(node.attr[1:])]
        try:
            return ast.literal_eval(node)
        except (ValueError, SyntaxError, TypeError):
            raise InputError(
                f"{method} needs argument '{parameter.name}': its default is no constant"
            ) from None

    def _keep(self, tensors: Tensors, root: Object) -> None:
        """Makes the state what a call has left."""
        written: dict[str, TensorData] = {}
        for name in tensors.given:
            if name in self.state.data and tensors.is_written(name):
                array = tensors.array(TensorValue(name))
                assert array is not None
                written[name] = TensorData.of(array, self.state.data[name].dtype)
        self.state.data.update(written)
        # Operators that write give the tensor that they wrote to, which state has already.
        known = {
            tensors.identity(TensorValue(name)): name for name in tensors.given if name in self.state.data
        }
        values = {id(value): value for value in tensors_of(root)}
        stays = {value.name for value in [*values.values(), *tensors_of(self.constants)]} | set(
            known.values()
        )
        made: dict[int, TensorValue] = {}
        storages: dict[int, str] = {}

        def keep(value: TensorValue, name: str) -> TensorValue:
            if value.name in self.state.data:
                return value
            identity = tensors.identity(value)
            if identity in known:
                return TensorValue(known[identity], value.has_layout)
            if identity not in made:
                array = tensors.array(value)
                assert array is not None
                if name not in stays:
                    self.state.data.pop(name, None)
                added = self.state.add(name, TensorData.of(array, dtype_of(array.dtype)), "buffer")
                made[identity] = TensorValue(added)
                storage = tensors.storage(value)
                if storage in storages:
                    self.state.tied |= {added, storages[storage]}
                storages[storage] = added
            return made[identity]

        stays -= {name for name in known.values() if not self._is_used(tensors, root, name)}
        self.root = _mapped_object(root, keep)
        used = {value.name for value in [*tensors_of(self.root), *tensors_of(self.constants)]}
        for name in [name for name in self.state.data if name not in used]:
            del self.state.data[name]

    def _is_used(self, tensors: Tensors, root: Object, name: str) -> bool:
        """Whether an attribute is still the tensor of this name."""
        identity = tensors.identity(TensorValue(name))
        return any(
            value.name == name or (value.name in tensors.build.values and tensors.identity(value) == identity)
            for value in [*tensors_of(root), *tensors_of(self.constants)]
        )


@dataclass(frozen=True, eq=False)
class ScriptProgram(Program):
    """A program of `torch.jit.save`: a module of the `torchscript` dialect, and its tensors.

    Called, it runs as PyTorch runs it, in the interpreter, and its state (buffers, attributes) is that of the last call.
    `to_aten` gives an ordinary program for inputs like those given, with the state as it is now.
    """

    session: Session | None = None
    """The data that it runs with. Text has none."""

    def __post_init__(self) -> None:
        super().__post_init__()
        session = self.session or Session(of_text(self.module, "TorchScript text"), "TorchScript text")
        if session.script.module is not self.module:  # passes have made another
            session = copy(session)
            session.script = replace(session.script, module=self.module)
        object.__setattr__(self, "session", session)

    @property
    def _session(self) -> Session:
        assert self.session is not None
        return self.session

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What `forward` gives for arrays, numbers, strings, and lists, tuples and dicts of them."""
        return self.call("forward", *args, **kwargs)

    def call(self, method_name: str, /, *args: Any, **kwargs: Any) -> Any:
        """What a method gives. State is changed as the method says, if it ends.

        Raises `InputError` for arguments that it does not take, `ScriptError` for an exception that it raises,
        `UnsupportedError` for an operator that is not known.
        """
        return self._session.call(method_name, args, kwargs)

    @property
    def method_names(self) -> list[str]:
        """Names of its methods."""
        return self._session.script.methods

    def to_aten(self, inputs: Sequence[Any], method: str = "forward") -> Program:
        """An ordinary program of one method, for inputs of these shapes and dtypes; state is as it is now.

        `inputs` are arrays, types as text (`float32[s0, 8]`), numbers, strings, and containers of them. What depends on
        numbers, strings and shapes is decided: loops are unrolled and branches chosen. Raises `UnsupportedError` for
        what an exported program has no form for.
        """
        from xdsl_exir.importers.torchscript.trace import traced

        return traced(self._session, inputs, method)

    def to_core(self, *args: Any, **kwargs: Any) -> Program:
        """Raises `ExirError`: see `methods`."""
        return self.to_edge()

    def to_edge(self, *args: Any, **kwargs: Any) -> Program:
        """Raises `ExirError`: see `methods`."""
        raise ExirError(f"{', '.join(self.methods)}: a TorchScript program is not lowered as it is")

    @property
    def methods(self) -> dict[str, FuncOp]:
        """A TorchScript program has none: nothing says of what types its inputs are. Raises `ExirError` that says so."""
        raise ExirError(
            "the types of a TorchScript program's inputs are not known: give some, to_aten(inputs)"
        )

    def torchscript_text(self, name: str | None = None) -> str:
        """A function as TorchScript prints graphs (`print(scripted.graph)`): by its qualified name, or that of a method of
        the root; by default `forward`, or the only one. Raises `ExirError` for an unknown one.
        """
        from xdsl_exir.exchange.torchscript_text import torchscript_text

        return torchscript_text(self.function(name))

    def aliases(self, name: str | None = None) -> Aliases:
        """Which values of a function may share memory, and who writes to it: `aliases().may_alias("%x", "%y")`, `writers("%x")`.
        Raises `ExirError` for an unknown function.
        """
        return Aliases(self.function(name))

    def function(self, name: str | None = None) -> script_ops.FuncOp:
        """A function by its qualified name, or that of a method of the root; by default `forward`, or the only one. Raises
        `ExirError` for an unknown one.
        """
        functions = {op.text("sym_name"): op for op in self.module.ops if isinstance(op, script_ops.FuncOp)}
        owner = self._session.root.class_name
        wanted = name or "forward"
        found = functions.get(wanted) or functions.get(f"{owner}.{wanted}")
        if found is None and name is None and len(functions) == 1:
            [found] = functions.values()
        if found is None:
            raise ExirError(
                f"{self._session.path}: no function '{wanted:.100}'; the program has {', '.join(functions) or 'none'}"
            )
        return found

    def verify(self, places: Mapping[Operation, str] | None = None) -> ScriptProgram:
        """Itself, if its operations are as they should be. Raises `VerificationError` that lists every violation; `places` are those of operations
        that say no line of source."""
        if found := violations_of_module(self.module, places):
            raise VerificationError("\n".join(found))
        return self


def read_torchscript(path: str | os.PathLike[str], mapped: bool = False) -> ScriptProgram:
    """The program in a TorchScript archive. Raises `LoadError` for one that cannot be read."""
    session = Session(read_module(path, mapped), os.fspath(path))
    return ScriptProgram(session.script.module, session.state.data, session=session)


def _as_number(value: Any, type: Attribute) -> Any:
    """An integer as the float that a method takes."""
    return (
        float(value) if type == ts.FLOAT and isinstance(value, int) and not isinstance(value, bool) else value
    )


def _given(tensors: Tensors, value: Any, name: str) -> Any:
    """An argument of the user's as a value: arrays become tensors."""
    if value is None or isinstance(value, bool | int | float | complex | str | TensorValue):
        return value
    if is_list(value):
        return [_given(tensors, item, f"{name}_{index}") for index, item in enumerate(value)]
    if is_tuple(value):
        return tuple(_given(tensors, item, f"{name}_{index}") for index, item in enumerate(value))
    if is_dict(value):
        return {key: _given(tensors, item, f"{name}_{key}") for key, item in value.items()}
    array = as_array(value, name)
    tensors.input(name, Held(TensorMeta(array.shape, dtype_of(array.dtype)), array))
    return TensorValue(name)


def as_array(value: Any, name: str) -> Array:
    """An array that a user gives, in row-major order and this machine's order of bytes. Raises `InputError` for what is none."""
    if isinstance(value, MASKED):
        raise InputError(f"{name}: masks are not known here; give the array's data, or filled()")
    try:
        array = array_of(value)
        array = np.asarray(array, array.dtype.newbyteorder("="), order="C")
        dtype_of(array.dtype)
    except (TypeError, ValueError, RuntimeError, BufferError, ExirError) as error:
        raise InputError(f"{name}: {error}") from None
    return array


def _arrays(tensors: Tensors, value: Any) -> Any:
    """A result for the user: tensors become arrays."""
    match value:
        case TensorValue():
            array = tensors.array(value)
            assert array is not None
            return np.array(array)
        case _ if is_tuple(value):
            return tuple(_arrays(tensors, item) for item in value)
        case _ if is_list(value):
            return [_arrays(tensors, item) for item in value]
        case _ if is_dict(value):
            return {key: _arrays(tensors, item) for key, item in value.items()}
        case _:
            return value


def _mapped_object(root: Object, change: Any) -> Object:
    """The object with its tensors, wherever they are, changed."""
    seen: set[int] = set()
    tuples: dict[int, Any] = {}

    def mapped(value: Any, name: str) -> Any:
        match value:
            case TensorValue():
                return change(value, name)
            case _ if is_tuple(value):
                if id(value) not in tuples:
                    made = tuple(mapped(item, f"{name}_{index}") for index, item in enumerate(value))
                    tuples[id(value)] = made, value
                return tuples[id(value)][0]
            case Object() if id(value) not in seen:
                seen.add(id(value))
                for key, item in value.attributes.items():
                    inside = ".".join(part for part in (value.path, key) if part)
                    value.attributes[key] = mapped(item, inside)
                return value
            case _ if is_list(value) and id(value) not in seen:
                seen.add(id(value))
                value[:] = [mapped(item, f"{name}_{index}") for index, item in enumerate(value)]
                return value
            case _ if is_dict(value) and id(value) not in seen:
                seen.add(id(value))
                value.update((key, mapped(item, f"{name}_{key}")) for key, item in list(value.items()))
                return value
            case _:
                return value

    return mapped(root, "")


def tensors_of(value: Any) -> list[TensorValue]:
    """The tensors in an object, list or dict, wherever they are."""
    found: list[TensorValue] = []
    waiting, seen = [value], set[int]()
    while waiting:
        item = waiting.pop()
        if isinstance(item, TensorValue):
            found.append(item)
        elif id(item) not in seen:
            seen.add(id(item))
            if isinstance(item, Object):
                waiting += item.attributes.values()
            elif is_dict(item):
                waiting += item.values()
            elif is_sequence(item):
                waiting += item
    return found
