"""Functions that belong to operators, found by the operator's name.

A stage (shape rules, decompositions, functions of the interpreter, lowerings) keeps one function per operator, in files named after
families. Its `Registry` imports a family's file when one of the family's operators is first asked for, so a program
pays for the families it uses. Users' operators have their functions for all stages in one file, imported likewise.
Functions take an operator's arguments by name, only those they need.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from inspect import Parameter, signature
from types import FunctionType, MappingProxyType
from typing import Any, Generic, TypeVar, cast

from xdsl_exir.dialects.spec import OperatorSpec, find, specs
from xdsl_exir.errors import SpecError
from xdsl_exir.threads import Lock

REGISTRIES: list[Registry[Any]] = []
"""Those of all stages that are imported."""

F = TypeVar("F", bound=Callable[..., Any])
G = TypeVar("G", bound=Callable[..., Any])


@dataclass(frozen=True)
class Entry(Generic[F]):
    """A registered function with the names of its parameters and the registration's options."""

    function: F
    parameters: tuple[str, ...]
    options: Mapping[str, Any]
    rank: int = 0
    """Whose it is: -1 the default, 0 the project's, 1 that of a user's library, 2 registered by hand."""

    @property
    def home(self) -> str:
        """The module, or the `.py` file, that the function is from."""
        return module_of(self.function)

    def call(self, arguments: Mapping[str, Any], *leading: Any) -> Any:
        """Calls the function with `leading` arguments, then with what it asks for of `arguments`."""
        return self.function(*leading, **{name: arguments[name] for name in self.parameters})


@dataclass(frozen=True)
class Parameters:
    """What a function may be called with."""

    names: tuple[str, ...]
    optional: frozenset[str]
    """Those that have a default."""
    by_position: int = 0
    """How many of the first cannot be given by name."""

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Parameters:
        """Those of a function, or of anything that is called as one. What `functools.partial` has given is none.

        Raises `SpecError` for what has no signature.
        """
        if isinstance(function, FunctionType) and not hasattr(function, "__wrapped__"):
            return cls._of_function(function)
        try:
            given = signature(function).parameters.values()
        except (TypeError, ValueError):
            raise SpecError(f"{function!r} is no function whose parameters are known") from None
        bound = function.keywords if isinstance(function, partial) else {}
        asked = [one for one in given if one.kind in _BY_NAME and one.name not in bound]
        by_position = sum(one.kind is Parameter.POSITIONAL_ONLY for one in asked)
        optional = frozenset(one.name for one in asked if one.default is not one.empty)
        return cls(tuple(one.name for one in asked), optional, by_position)

    @classmethod
    def _of_function(cls, function: FunctionType) -> Parameters:
        """The same without a `Signature`, which takes ten times as long: there are thousands of functions."""
        code, count = function.__code__, function.__code__.co_argcount
        names = code.co_varnames[: count + code.co_kwonlyargcount]
        defaults = names[count - len(function.__defaults__ or ()) : count]
        return cls(names, frozenset((*defaults, *(function.__kwdefaults__ or ()))), code.co_posonlyargcount)


_BY_NAME = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


def module_of(function: Callable[..., Any]) -> str:
    """The module that a function is from; of `functools.partial` that of the function which it calls."""
    return module_of(function.func) if isinstance(function, partial) else function.__module__


def name_of(function: Callable[..., Any]) -> str:
    """What a function is called; an object that is called as one is called what its class is."""
    if isinstance(function, partial):
        return name_of(function.func)
    return getattr(function, "__name__", type(function).__name__)


_FILES = Lock()
"""Held where a `.py` file is imported; of modules Python holds its own."""


def rank_of(function: Callable[..., Any]) -> int:
    """The rank of a function, by the module that it is from: a library's are those of its package."""
    module = module_of(function)
    if module.startswith("xdsl_exir."):
        return 0
    packages = {home if home.endswith(".py") else home.partition(".")[0] for home in specs().homes}
    return 1 if module in packages or module.partition(".")[0] in packages else 2


def import_functions(home: str, optional: bool = False) -> None:
    """Imports a module by name, or a `.py` file by path, once. Raises `SpecError` where there is none and it is needed."""
    if home.endswith(".py"):
        with _FILES:
            _import_file(home)
    elif home in sys.modules or find_spec(home) is not None:
        import_module(home)  # waits where another thread is importing it
    elif not optional:
        raise SpecError(f"no module '{home}', which has the functions of a library of operators")


def _import_file(home: str) -> None:
    if home in sys.modules:
        return
    spec = spec_from_file_location(home, home)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[home] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[home]
        raise


def forget(names: Collection[str], homes: Collection[str]) -> None:
    """Drops operators' functions of all stages, and the `.py` files and modules (`homes`) that they are from."""
    for registry in REGISTRIES:
        registry.forget(names, homes)
    for home in homes:
        sys.modules.pop(home, None)


class Registry(Generic[F]):
    """One stage's functions by operator name."""

    def __init__(
        self,
        what: str,
        package: str | None = None,
        leading: int = 0,
        extras: frozenset[str] = frozenset(),
        default: Callable[[OperatorSpec], tuple[F, tuple[str, ...]] | None] = lambda spec: None,
    ):
        self.what = what
        """What a function is called in error messages: `shape rule`."""
        self.package = package
        """Package whose modules are named after families; None where the module that makes the registry fills it."""
        self.leading = leading
        """Number of the functions' parameters that come before the operator's arguments."""
        self.extras = extras
        """Names that functions may ask for besides the operator's arguments."""
        self.default = default
        """The function, and its parameters, of an operator for which none is registered."""
        self._entries: dict[str, tuple[Entry[F], ...]] = {}
        """By operator, by rank and then in the order in which they were registered: the last counts."""
        self._loaded: set[str] = set()
        self.altered = False
        """Whether it has ever had a function that is not the project's, or lacked one that is."""
        REGISTRIES.append(self)

    def register(
        self, *names: str, parameters: tuple[str, ...] | None = None, **options: Any
    ) -> Callable[[G], G]:
        """Decorator: the function serves the operators named (`aten.add.Tensor`).

        The last registration counts, but files are read late: what is registered by hand counts before what users'
        libraries register, and that before what the project does.

        `parameters` are the arguments it gets by name, those of its signature if not given. One that has a default is
        for those operators only that have such an argument.
        """

        def decorate(function: G) -> G:
            for name in names:
                entry = self.entry(name, cast(F, function), parameters, options)
                known = (*self._entries.get(name, ()), entry)
                self.altered |= entry.rank > 0
                self._entries[name] = tuple(sorted(known, key=lambda held: held.rank))
            return function

        return decorate

    def entry(
        self,
        name: str,
        function: F,
        parameters: tuple[str, ...] | None = None,
        options: Mapping[str, Any] = MappingProxyType({}),
    ) -> Entry[F]:
        """An entry for an operator, not registered. Raises `SpecError` for a parameter that the operator has no argument for."""
        taken = Parameters.of(function) if parameters is None else None
        if taken and taken.by_position > self.leading:
            raise SpecError(
                f"{self.what} of {name}: arguments are given by name, '{taken.names[self.leading]}' is not taken so"
            )
        asked, optional = (taken.names[self.leading :], taken.optional) if taken else (parameters or (), ())
        return Entry(function, self._arguments(name, asked, optional), options, rank_of(function))

    def _arguments(self, name: str, asked: Sequence[str], optional: Collection[str]) -> tuple[str, ...]:
        """The parameters that an operator has an argument for. Raises `SpecError` where one that is needed is missing."""
        known = set(re.findall(r"\w+", find(name).schema_text)) | self.extras
        for parameter in asked:
            if parameter not in known and parameter not in optional:
                raise SpecError(f"{self.what} of {name}: the operator has no argument '{parameter}'")
        return tuple(parameter for parameter in asked if parameter in known)

    def find(self, spec: OperatorSpec) -> Entry[F] | None:
        """The function of an operator; None where the stage has none."""
        self._load(spec.functions or self._home(spec.family))
        known = self._entries.get(spec.qualified_name)
        if not known and (default := self.default(spec)) is not None:
            known = self._entries.setdefault(spec.qualified_name, (Entry(*default, {}, rank=-1),))
        return known[-1] if known else None

    def forget(self, names: Collection[str], homes: Collection[str]) -> None:
        """Drops what is registered for the operators named, and by the modules or files named for any."""
        self._loaded.difference_update(homes)
        kept: dict[str, tuple[Entry[F], ...]] = {}
        for name, known in self._entries.items():
            left = () if name in names else tuple(entry for entry in known if entry.home not in homes)
            if left:
                kept[name] = left
        self._entries = kept

    def _home(self, family: str) -> str:
        return f"{self.package}.{family}" if self.package else ""

    def _load(self, home: str) -> None:
        if not home or home in self._loaded:
            return
        import_functions(home, optional=home.startswith(f"{self.package}."))
        self._loaded.add(home)

    def override(self, name: str, function: F | Entry[F] | None) -> Entry[F] | None:
        """Replaces an operator's function and returns its former entry, which a second call puts back.

        A new function keeps the options of the former; None removes the entry.
        """
        former = self.find(find(name))
        self.altered = True
        self._entries.pop(name, None)
        if isinstance(function, Entry):
            self._entries[name] = (function,)
        elif function is not None:
            self.register(name, **(former.options if former else {}))(function)
        return former

    def names(self, families: tuple[str, ...]) -> Iterator[str]:
        """Names of the operators that have a function, of these families."""
        for family in families:
            self._load(self._home(family))
        yield from self._entries
