"""The C side of a compiled program, as data: what `header` and `wrapper` make C of.

The interface is a library's with one instance: `load` maps the weights file and allocates memory, `forward` (each method
under its name) takes the numbers that sizes depend on and plain pointers to contiguous arrays, `free` gives everything
back. The wrapper checks the numbers, grows the arena where they ask for more, and describes the pointers to the driver as
memrefs; where they point is decided in `library`. Only libc is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.expr import Dim, prod
from xdsl_exir.dialects.sizes import is_static
from xdsl_exir.lowering.sizes import Sizes
from xdsl_exir.runtime.c.sizes import SizesInC
from xdsl_exir.runtime.guards import condition_text, free_symbols
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
)
"""Name and message of each error; the code is its position, from 1. The last three say more when they happen."""

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
    dt.Float: "float",
    dt.Double: "double",
    dt.ComplexFloat: "float _Complex",
    dt.ComplexDouble: "double _Complex",
}
"""C type of an element. C has no portable 16-bit float: those are passed as their bits."""


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

    @property
    def declaration(self) -> str:
        return f"{'' if self.written else 'const '}{C_TYPES[self.dtype]} *{self.name}"

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


@dataclass(frozen=True)
class Assertion:
    """What the program asserts about the elements of an array, which the driver computes."""

    place: Place
    relation: str
    """How each element has to be to 0, in C."""
    text: str


@dataclass(frozen=True)
class CMethod:
    """A method as C sees it, and what its wrapper does."""

    name: str
    title: str
    """As in the program: any text."""
    driver: str
    """Its function in the object file."""
    symbols: Sequence[Symbol]
    requirements: Sequence[Requirement]
    parameters: Sequence[Parameter]
    arguments: Sequence[Place]
    """What the driver takes after the symbols, in order."""
    copies: Sequence[tuple[Place, Place]]
    """After the driver's call: destination and source."""
    assertions: Sequence[Assertion]
    """Then checked."""
    numbers: Sequence[tuple[str, Dim]]
    """Parameters that are set to numbers."""
    writes: Sequence[tuple[Place, Place]]
    """In the end: copies to state, and to inputs that the program changes."""
    arena: Dim
    """Bytes of what lives during a call alone."""

    @property
    def symbolic(self) -> list[Parameter]:
        """Parameters whose shape depends on symbols: a function says it."""
        return [parameter for parameter in self.parameters if not is_static(parameter.shape)]

    @property
    def functions(self) -> list[str]:
        """The C functions that a method is, without the library's prefix."""
        return [self.name, f"{self.name}_arena_bytes", *(self.shape_function(p) for p in self.symbolic)]

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
    arena: int
    """Bytes of the largest arena, among methods without symbols."""
    state: Sequence[tuple[Place, Place]]
    """Buffers that calls change: where they live, and where their initial values are."""
    weights: int
    """Bytes of the weights, without the file's header."""
    digest: bytes
    """Their SHA-256: says that a file belongs to this library."""
    cpu: Processor
    """What the code is for."""
    instances: bool = False
    """Whether there may be several, each with memory and state of its own."""
    draws: Mapping[str, int] = field(default_factory=dict[str, int])
    """Names of the functions that its code calls for random numbers, and how many arrays they take."""

    @property
    def reserved(self) -> tuple[str, ...]:
        """Functions of the library's own."""
        life = ("new", "error", "delete") if self.instances else ("load", "error", "free")
        return (*life, "seed") if self.draws else life
