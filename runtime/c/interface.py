"""The C side of a compiled program, as data: what `header` and `wrapper` make C of.

The interface is a library's with one instance: `load` maps the weights file and allocates memory, `forward` (each method
under its name) takes the numbers that sizes depend on and plain pointers to contiguous arrays, `free` gives everything
back. The wrapper checks the numbers, grows the arena where they ask for more, and describes the pointers to the driver as
memrefs; where they point is decided in `library`. Only libc is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.expr import Dim, condition_text, max_, prod
from xdsl_exir.dialects.sizes import is_static
from xdsl_exir.lowering.body_types import FLOAT8
from xdsl_exir.lowering.dispatches.buffers import ALIGNMENT
from xdsl_exir.lowering.sizes import Sizes
from xdsl_exir.names import c_name
from xdsl_exir.runtime.c.sizes import SizesInC
from xdsl_exir.runtime.guards import free_symbols
from xdsl_exir.targets.cpu.machine import Processor

MAGIC = b"exirwts\0"
VERSION = 1
"""Of the weights file's format."""
HEADER_BYTES = 64

ERRORS = (
    ("OPEN", "the weights file cannot be opened or mapped"),
    ("FORMAT", "not a weights file, or not a whole one"),
    ("VERSION", "a weights file of another version of the format"),
    ("MISMATCH", "the weights file of another program"),
    ("DAMAGED", "the weights are not what was written: their checksum differs"),
    ("MEMORY", "not enough memory"),
    ("NOT_LOADED", "no weights are loaded"),
    ("CPU", "this processor lacks instructions that the library was compiled for"),
    ("SIZE", "a size that the method does not take"),
    ("ASSERTION", "something that the program asserts does not hold"),
    ("NULL", "an array is NULL"),
    ("BACKEND", "nobody runs the delegates of a backend, or who does refuses one"),
    ("DELEGATE", "a delegate failed"),
)
"""Name and message of each error; the code is its position, from 1. From SIZE on they say more when they happen."""

C_TYPES = {
    dt.Bool: "bool",
    dt.Byte: "uint8_t",
    dt.Char: "int8_t",
    dt.Short: "int16_t",
    dt.Int: "int32_t",
    dt.Long: "int64_t",
    dt.UInt16: "uint16_t",
    dt.UInt32: "uint32_t",
    dt.UInt64: "uint64_t",
    dt.Half: "uint16_t",
    dt.BFloat16: "uint16_t",
    **dict.fromkeys(FLOAT8, "uint8_t"),
    dt.Float: "float",
    dt.Double: "double",
    dt.ComplexFloat: "float _Complex",
    dt.ComplexDouble: "double _Complex",
}
"""C type of an element. C has no portable float of 8 or 16 bits: those are passed as their bits."""


@dataclass(frozen=True)
class Symbol:
    """A number of the caller's, on which sizes depend."""

    symbol: str
    """Its name in the program."""
    name: str
    """In C."""
    comment: str

    @property
    def declaration(self) -> str:
        return f"int64_t {self.name}"


@dataclass(frozen=True)
class Parameter:
    """An array of the caller's: contiguous, of fixed rank and dtype."""

    name: str
    """As in C: `in_x`, `out0`."""
    shape: Sizes
    dtype: DType
    written: bool
    """Whether a call writes to it."""
    comment: str
    given: bool = False
    """Whether it is memory of the library's, to which a call sets a pointer: its size depends on data."""

    @property
    def declaration(self) -> str:
        stars = "**" if self.given else "*"
        return (
            f"{'' if self.written and not self.given else 'const '}{C_TYPES[self.dtype]} {stars}{self.name}"
        )

    @property
    def type(self) -> str:
        return f"{self.dtype.torch_name}[{', '.join(map(str, self.shape))}]"


@dataclass(frozen=True)
class Place:
    """Where an array of the driver is: bytes after an address in C, and its shape."""

    base: str
    offset: Dim
    shape: Sizes
    dtype: DType

    @property
    def nbytes(self) -> Dim:
        return prod(self.shape) * self.dtype.itemsize

    def address(self, sizes: SizesInC) -> str:
        """A C expression."""
        return self.base if self.offset == 0 else f"{self.base} + {sizes(self.offset)}"


@dataclass(frozen=True)
class Requirement:
    """A condition on symbols, without which a call is an error."""

    condition: Dim
    error: str
    """Name of the error."""
    text: str
    """What it says, with placeholders."""
    values: tuple[Dim, ...] = ()
    """What stands there."""

    @property
    def condition_text(self) -> str:
        return str(self.condition) if isinstance(self.condition, int) else condition_text(self.condition)


# --- what a call does ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Drive:
    """Native code is called."""

    driver: str
    """Its function in the object file."""
    symbols: Sequence[Dim]
    arguments: Sequence[Place]
    """What it takes after the symbols."""
    arena: Dim
    """Bytes of what lives during this alone."""


@dataclass(frozen=True)
class Hold:
    """There is memory for what one step makes and a later one takes."""

    name: str
    slot: int
    """Which memory of the instance: that of values which are not needed at the same time is one."""
    nbytes: Dim


@dataclass(frozen=True)
class Read:
    """A number is read out of an array of one element: a symbol's value."""

    symbol: str
    """In C."""
    place: Place


@dataclass(frozen=True)
class Let:
    """A symbol has a value that other symbols say."""

    symbol: str
    value: Dim


@dataclass(frozen=True)
class Store:
    """A number is put into an array of one element."""

    place: Place
    number: Dim


@dataclass(frozen=True)
class Copy:
    """An array is copied to another one."""

    destination: Place
    source: Place


@dataclass(frozen=True)
class Assertion:
    """What the program asserts about the elements of an array."""

    place: Place
    relation: str
    """How each element has to be to 0, in C."""
    text: str


@dataclass(frozen=True)
class Number:
    """A parameter is set to a number."""

    parameter: str
    value: Dim


@dataclass(frozen=True)
class Give:
    """A parameter is set to where an array is."""

    parameter: Parameter
    place: Place


@dataclass(frozen=True)
class Delegated:
    """A backend runs a delegate."""

    index: int
    """Among the library's."""
    inputs: Sequence[Place]
    outputs: Sequence[Place]


Step = Drive | Hold | Read | Let | Store | Copy | Assertion | Requirement | Number | Give | Delegated


@dataclass(frozen=True)
class Delegate:
    """A delegate of a library."""

    backend: str
    specs: tuple[tuple[str, str], ...]
    blob: Place
    """What its backend made of it."""


@dataclass(frozen=True)
class CMethod:
    """A method as C sees it, and what its wrapper does."""

    name: str
    title: str
    """As in the program: any text."""
    symbols: Sequence[Symbol]
    requirements: Sequence[Requirement]
    """What is checked before anything is done."""
    parameters: Sequence[Parameter]
    codes: Sequence[Sequence[Step]]
    """What a call does, on each of the library's processors."""

    def arena(self, code: Sequence[Step]) -> Dim:
        """Bytes of what lives during the steps of a call alone, as far as the caller's numbers say them."""
        known = {symbol.symbol for symbol in self.symbols}
        sizes = [step.arena for step in code if isinstance(step, Drive)]
        return reduce(max_, (size for size in sizes if free_symbols(size) <= known), 0)

    @property
    def holds(self) -> bool:
        """Whether one step makes what a later one takes."""
        return any(isinstance(step, Hold) for code in self.codes for step in code)

    @property
    def given(self) -> list[Parameter]:
        """Parameters whose shape depends on data: a function says that of the last call."""
        return [parameter for parameter in self.parameters if parameter.given]

    @property
    def symbolic(self) -> list[Parameter]:
        """Parameters whose shape depends on symbols: a function says it."""
        return [one for one in self.parameters if not is_static(one.shape) and not one.given]

    @property
    def functions(self) -> list[str]:
        """The C functions that a method is, without the library's prefix."""
        shapes = map(self.shape_function, (*self.symbolic, *self.given))
        return [self.name, f"{self.name}_arena_bytes", *shapes]

    def shape_function(self, parameter: Parameter) -> str:
        """The C function that says the shape of an array of symbolic sizes."""
        return f"{self.name}_{parameter.name}_shape"

    def macros(self, parameter: Parameter) -> dict[str, object]:
        """What is defined for a parameter, by names without the library's prefix."""
        values: dict[str, object] = {
            "DTYPE": f'"{parameter.dtype.torch_name}"',
            "RANK": len(parameter.shape),
        }
        if is_static(parameter.shape):
            elements = prod(parameter.shape)
            values |= {"ELEMENTS": elements, "BYTES": elements * parameter.dtype.itemsize}
            if parameter.shape:
                values["SHAPE"] = f"{{{', '.join(map(str, parameter.shape))}}}"
        prefix = f"{self.name}_{parameter.name}".upper()
        return {f"{prefix}_{key}": value for key, value in values.items()}

    def conditions(self, symbol: str | None = None) -> list[str]:
        """What is required of one symbol; without one, of several together."""
        free = {one: free_symbols(one.condition) for one in self.requirements}
        return [
            one.condition_text
            for one, found in free.items()
            if ([*found] == [symbol] if symbol else len(found) != 1)
        ]

    def sizes(self) -> SizesInC:
        """What writes sizes in one of its functions."""
        return SizesInC({symbol.symbol: symbol.name for symbol in self.symbols})


@dataclass(frozen=True)
class CLibrary:
    """A compiled program as C sees it."""

    name: str
    """Prefix of all its names."""
    methods: Sequence[CMethod]
    memory: int
    """Bytes of the state."""
    state: Sequence[tuple[Place, Place]]
    """Buffers that calls change: where they live, and where their initial values are."""
    weights: int
    """Bytes of the weights, without the file's header."""
    digest: bytes
    """Their SHA-256: says that a file belongs to this library."""
    cpus: Sequence[Processor]
    """What the code is for: the last that this processor can be is used."""
    instances: bool = False
    """Whether there may be several, each with memory and state of its own."""
    delegates: Sequence[Delegate] = ()
    embedded: bool = False
    """Whether the weights are in the library."""
    draws: Mapping[str, int] = field(default_factory=dict[str, int])
    """Names of the functions that its code calls for random numbers, and how many arrays they take."""

    @property
    def arena(self) -> int:
        """Bytes of the largest arena, among methods of fixed sizes."""
        sizes = [method.arena(code) for method in self.methods for code in method.codes]
        return max([ALIGNMENT, *(size for size in sizes if isinstance(size, int))])

    @property
    def slots(self) -> int:
        """How many memories there are for what one step makes and a later one takes."""
        steps = [step for method in self.methods for code in method.codes for step in code]
        return max((step.slot + 1 for step in steps if isinstance(step, Hold)), default=0)

    @property
    def backends(self) -> dict[str, str]:
        """The backends of its delegates, and what they are called in C."""
        taken = set[str]()
        return {
            name: c_name(name, taken)
            for name in dict.fromkeys(delegate.backend for delegate in self.delegates)
        }

    @property
    def reserved(self) -> tuple[str, ...]:
        """Functions of the library's own."""
        life = ("new", "error", "delete") if self.instances else ("load", "error", "free")
        backends = (f"backend_{name}" for name in self.backends.values())
        return (*life, *(["seed"] if self.draws else []), *backends)
