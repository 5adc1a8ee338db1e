"""The C side of a compiled program: the text of its header, and of the wrapper that is linked with its object file.

The interface is a library's with one instance: `load` maps the weights file and allocates memory, `forward` (each method
under its name) takes the numbers that sizes depend on and plain pointers to contiguous arrays, `free` gives everything
back. The wrapper checks the numbers, grows the arena where they ask for more, and describes the pointers to the driver as
memrefs; where they point is decided in `aot`. Only libc is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import Template

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.expr import Dim, prod
from xdsl_exir.lowering.dispatches.buffers import ALIGNMENT, contiguous_strides
from xdsl_exir.lowering.processor import Processor
from xdsl_exir.lowering.sizes import Sizes, is_static
from xdsl_exir.lowering.toolchain import ENTRY
from xdsl_exir.names import c_comment
from xdsl_exir.runtime.c_cpu import cpu_check
from xdsl_exir.runtime.c_sizes import HELPERS, SizesInC, c_string
from xdsl_exir.runtime.guards import condition_text, free_symbols

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
        return [self.name, f"{self.name}_arena_bytes", *(_shape_function(self, p) for p in self.symbolic)]

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


# --- the header ----------------------------------------------------------------------------------------------

HEADER = Template(
    """\
/* $name: a program compiled by xdsl-exir, for $cpu.
 *
 *     if ($name_load("$name.weights") != $NAME_OK) puts($name_error());
 *     $name_$first(...);
 *     $name_free();
 *
 * Arrays are contiguous (row-major), of the shapes below, and owned by the caller; results may not overlap inputs. One
 * that is NULL is an error, unless it has no elements. What
 * shapes depend on is passed before the arrays; in its formulas division rounds down.
 * There is one instance in a process: calls must not run at the same time, whichever threads they come from; who has
 * several threads holds a lock of their own around each call, and around reading what it wrote. A call uses as many
 * threads as OMP_NUM_THREADS says. float16 and bfloat16 elements are passed as their bits, in uint16_t.
 * For an array A the macros are A_DTYPE, A_RANK and, if its shape is fixed, A_ELEMENTS, A_BYTES and, where it has dimensions,
 * A_SHAPE (an initializer).
 */
#ifndef XDSL_EXIR_$NAME_H
#define XDSL_EXIR_$NAME_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Return codes. */
enum {
  $NAME_OK = 0,
$codes
};

/* Maps the weights file, which must not be written to until $name_free: put another in its place by renaming, as
 * xdsl-exir does. Allocates $memory bytes for the state and intermediate results; calls whose sizes ask for more
 * allocate that, and it is kept. State gets its initial values. An instance that was loaded before is freed first. Returns
 * $NAME_OK or an error. */
int $name_load(const char *weights_path);

/* What the last error was, as text. Never NULL. */
const char *$name_error(void);

/* Gives everything back. Harmless when nothing is loaded. */
void $name_free(void);
$methods
#ifdef __cplusplus
}
#endif
#endif
""".replace("$name_", "${name}_").replace("$NAME_", "${NAME}_")
)

METHOD_HEADER = Template("""
/* Runs $title. Returns ${NAME}_OK or an error.
 *
$comments
 */
int ${name}_$method($parameters);
$macros

/* Bytes of what `$method` allocates for intermediate results$at_sizes. */
int64_t ${name}_${method}_arena_bytes($symbols);
$shapes""")

SHAPE_HEADER = Template("""
/* Writes the shape of $array, $type, unless `shape` is NULL. Returns the number of elements; -1 for sizes that `$method`
 * does not take. */
int64_t ${name}_$function($symbols, int64_t shape[$rank]);
""")


def header_text(library: CLibrary) -> str:
    """The C header."""
    codes = [
        f"  {library.name.upper()}_ERROR_{name} = {i}, /* {text} */"
        for i, (name, text) in enumerate(ERRORS, 1)
    ]
    return HEADER.substitute(
        name=library.name,
        NAME=library.name.upper(),
        cpu=library.cpu.name,
        first=library.methods[0].name,
        codes="\n".join(codes),
        memory=library.memory + library.arena,
        methods="".join(_method_header(library.name, method) for method in library.methods),
    )


def _method_header(name: str, method: CMethod) -> str:
    comments = [
        *(f" *   {s.name}: {'; '.join([s.comment, *method.conditions(s.symbol)])}" for s in method.symbols),
        *(f" *   {p.name}: {p.type}, {p.comment}" for p in method.parameters),
        *(f" *   requires {text}" for text in method.conditions()),
    ]
    shapes = [
        SHAPE_HEADER.substitute(
            name=name,
            method=method.name,
            function=_shape_function(method, array),
            array=array.name,
            type=c_comment(array.type),
            rank=len(array.shape),
            symbols=_declarations(method.symbols),
        )
        for array in method.symbolic
    ]
    return METHOD_HEADER.substitute(
        name=name,
        NAME=name.upper(),
        method=method.name,
        title=c_comment(f"`{method.title}`"),
        comments="\n".join(map(c_comment, comments)) or " *   no arrays",
        parameters=_declarations([*method.symbols, *method.parameters]),
        macros="\n".join(
            f"#define {name.upper()}_{macro} {value}"
            for parameter in method.parameters
            for macro, value in method.macros(parameter).items()
        ),
        at_sizes=" at these sizes; -1 for sizes that it does not take" if method.symbols else "",
        symbols=_declarations(method.symbols),
        shapes="".join(shapes),
    )


def _declarations(parameters: Sequence[Symbol | Parameter]) -> str:
    return ", ".join(parameter.declaration for parameter in parameters) or "void"


def _shape_function(method: CMethod, parameter: Parameter) -> str:
    return f"{method.name}_{parameter.name}_shape"


# --- the wrapper ---------------------------------------------------------------------------------------------

WRAPPER = Template("""\
#define _DEFAULT_SOURCE
#include "$name.h"

$cpu_include#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

$structs

struct header {
  char magic[8];
  uint32_t version, checksum;
  uint64_t size;
  unsigned char digest[32];
  uint64_t reserved;
};

enum { VERSION = $version, ERRORS = $errors };
static const char MAGIC[8] = {$magic};
static const unsigned char DIGEST[32] = {$digest};
static const uint64_t SIZE = UINT64_C($weights);
static const size_t MEMORY = $memory; /* state */
static const int64_t ARENA = $arena; /* what methods of fixed sizes need */

static struct {
  char *file;    /* the mapped weights file; NULL when nothing is loaded */
  char *weights; /* in it, after the header */
  char *memory;  /* state */
  char *arena;   /* what lives during a call alone */
  int64_t capacity; /* of the arena */
} instance;

static const char *const MESSAGES[ERRORS + 1] = {
  "no error",
$messages
};
static struct {
  int code;
  const char *text;
} last = {0, "no error"};

static int fail(int code) {
  last.text = MESSAGES[code];
  return last.code = code;
}

/* Fails with a text of its own. */
static int refuse(int code, const char *format, ...) {
  static char text[1024];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  last.text = text;
  return last.code = code;
}

/* Sees to it that the arena has so many bytes, a multiple of $alignment. */
static bool reserve(int64_t bytes) {
  if (bytes <= instance.capacity) return true;
  free(instance.arena);
  instance.arena = aligned_alloc($alignment, bytes);
  instance.capacity = instance.arena ? bytes : 0;
  return instance.arena;
}

$helpers
/* CRC-32 (that of zip and zlib), eight bytes at a time: Kounavis and Berry, 2005, "slicing-by-8". */
static uint32_t checksum(const unsigned char *data, uint64_t size) {
  static uint32_t table[8][256];
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xEDB88320) : 0);
    table[0][i] = crc;
  }
  for (int slice = 1; slice < 8; slice++)
    for (int i = 0; i < 256; i++)
      table[slice][i] = table[slice - 1][i] >> 8 ^ table[0][table[slice - 1][i] & 255];
  uint32_t crc = ~UINT32_C(0);
  for (; size >= 8; size -= 8, data += 8) {
    crc ^= data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
    crc = table[7][crc & 255] ^ table[6][crc >> 8 & 255] ^ table[5][crc >> 16 & 255] ^ table[4][crc >> 24]
        ^ table[3][data[4]] ^ table[2][data[5]] ^ table[1][data[6]] ^ table[0][data[7]];
  }
  for (; size; size--) crc = crc >> 8 ^ table[0][(crc ^ *data++) & 255];
  return ~crc;
}

$cpu_check
static int check(const char *file, uint64_t size) {
  struct header header;
  if (size < sizeof header) return ${NAME}_ERROR_FORMAT;
  memcpy(&header, file, sizeof header);
  if (memcmp(header.magic, MAGIC, sizeof MAGIC)) return ${NAME}_ERROR_FORMAT;
  if (header.version != VERSION) return ${NAME}_ERROR_VERSION;
  if (header.size != size - sizeof header) return ${NAME}_ERROR_FORMAT;
  if (header.size != SIZE || memcmp(header.digest, DIGEST, sizeof DIGEST)) return ${NAME}_ERROR_MISMATCH;
  if (checksum((const unsigned char *)file + sizeof header, SIZE) != header.checksum) return ${NAME}_ERROR_DAMAGED;
  return ${NAME}_OK;
}

static int map(const char *path) {
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return ${NAME}_ERROR_OPEN;
  struct stat status;
  char *file = MAP_FAILED;
  int code = ${NAME}_ERROR_OPEN;
  if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
    code = ${NAME}_ERROR_FORMAT;
    if (status.st_size >= (off_t)sizeof(struct header)) {
      file = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
      code = file == MAP_FAILED ? ${NAME}_ERROR_OPEN : check(file, status.st_size);
    }
  }
  close(descriptor);
  if (code == ${NAME}_OK) {
    instance.file = file;
    instance.weights = file + sizeof(struct header);
  } else if (file != MAP_FAILED) {
    munmap(file, status.st_size);
  }
  return code;
}

const char *${name}_error(void) { return last.text; }

void ${name}_free(void) {
  free(instance.memory);
  free(instance.arena);
  if (instance.file) munmap(instance.file, sizeof(struct header) + SIZE);
  memset(&instance, 0, sizeof instance);
}

int ${name}_load(const char *weights_path) {
  ${name}_free();
  if (!usable()) return fail(${NAME}_ERROR_CPU);
  int code = map(weights_path);
  if (code != ${NAME}_OK) return fail(code);
  instance.memory = aligned_alloc($alignment, MEMORY);
  if (!instance.memory || !reserve(ARENA)) {
    ${name}_free();
    return fail(${NAME}_ERROR_MEMORY);
  }
$state
  return ${NAME}_OK;
}
$methods""")

METHOD = Template("""
extern void driver$index(void *words) __asm__("$entry$driver");

int64_t ${name}_${method}_arena_bytes($symbols) {
$requirements
}
$shapes
int ${name}_$method($parameters) {
  if (!instance.file) return fail(${NAME}_ERROR_NOT_LOADED);
  const int64_t bytes = ${name}_${method}_arena_bytes($symbol_names);
  if (bytes < 0) return last.code;
  if (!reserve(bytes)) return fail(${NAME}_ERROR_MEMORY);
$body
  return ${NAME}_OK;
}
""")

SHAPE = Template("""
int64_t ${name}_$function($symbols, int64_t shape[$rank]) {
  if (${name}_${method}_arena_bytes($symbol_names) < 0) return -1;
$body
}
""")


def wrapper_text(library: CLibrary) -> str:
    """The C source of the functions that the header declares."""
    ranks = sorted({_rank(place) for method in library.methods for place in method.arguments})
    return WRAPPER.substitute(
        name=library.name,
        NAME=library.name.upper(),
        cpu_include="#include <cpuid.h>\n" if library.cpu.checked else "",
        structs="\n".join(map(_struct, ranks)),
        version=VERSION,
        errors=len(ERRORS),
        magic=", ".join(map(str, MAGIC)),
        digest=", ".join(map(str, library.digest)),
        weights=library.weights,
        memory=library.memory,
        arena=library.arena,
        alignment=ALIGNMENT,
        helpers=HELPERS,
        messages="\n".join(f'  "{text}",' for _, text in ERRORS),
        cpu_check=cpu_check(library.cpu),
        state="\n".join(_copy(*copy, SizesInC({})) for copy in library.state),
        methods="".join(_method(library.name, index, method) for index, method in enumerate(library.methods)),
    )


def _struct(rank: int) -> str:
    dimensions = f" int64_t sizes[{rank}], strides[{rank}];" if rank else ""
    return f"struct memref{rank} {{ void *allocated, *aligned; int64_t offset;{dimensions} }};"


def _method(name: str, index: int, method: CMethod) -> str:
    symbols = [symbol.name for symbol in method.symbols]
    shapes = [_shape(name, method, array) for array in method.symbolic]
    sizes = method.sizes()
    body = [
        *(_not_null(name, parameter, sizes) for parameter in method.parameters),
        "  struct {",
        *(f"    int64_t {symbol};" for symbol in symbols),
        *(f"    struct memref{_rank(place)} a{i};" for i, place in enumerate(method.arguments)),
        "  } words = {",
        *(f"    {symbol}," for symbol in symbols),
        *(_memref(place, sizes) for place in method.arguments),
        "  };",
        f"  driver{index}(&words);",
        *(_copy(*copy, sizes) for copy in method.copies),
        *(_assertion(name, assertion, sizes) for assertion in method.assertions),
        *(f"  *{parameter} = {sizes(number)};" for parameter, number in method.numbers),
        *(_copy(*copy, sizes) for copy in method.writes),
    ]
    return METHOD.substitute(
        name=name,
        NAME=name.upper(),
        method=method.name,
        driver=method.driver,
        index=index,
        entry=ENTRY,
        symbols=_declarations(method.symbols),
        symbol_names=", ".join(symbols),
        parameters=_declarations([*method.symbols, *method.parameters]),
        requirements=_requirements(name, method),
        shapes="".join(shapes),
        body="\n".join(sizes.statements + body),
    )


def _requirements(name: str, method: CMethod) -> str:
    """What checks the symbols and says how large the arena is."""
    sizes, upper = method.sizes(), name.upper()
    checks: list[str] = []
    for requirement in method.requirements:
        values = "".join(f", (long long){sizes(value)}" for value in requirement.values)
        error = f"{upper}_ERROR_{requirement.error}, {c_string(requirement.text)}{values}"
        checks.append(f"  if (!{sizes(requirement.condition)}) return refuse({error}), -1;")
    last = f"  return {sizes(method.arena)};"
    return "\n".join(["  overflow = false;", *sizes.statements, *checks, _fits(name), last])


def _fits(name: str) -> str:
    """Says that sizes do not fit in memory if they do not fit in 64 bits."""
    return f"  if (overflow) return fail({name.upper()}_ERROR_MEMORY), -1;"


def _shape(name: str, method: CMethod, array: Parameter) -> str:
    """The function that says an array's shape."""
    sizes = method.sizes()
    written = [f"    shape[{dim}] = {sizes(size)};" for dim, size in enumerate(array.shape)]
    last = f"  return {sizes(prod(array.shape))};"
    return SHAPE.substitute(
        name=name,
        method=method.name,
        function=_shape_function(method, array),
        symbols=_declarations(method.symbols),
        symbol_names=", ".join(symbol.name for symbol in method.symbols),
        rank=len(array.shape),
        body="\n".join([*sizes.statements, _fits(name), "  if (shape) {", *written, "  }", last]),
    )


def _not_null(name: str, parameter: Parameter, sizes: SizesInC) -> str:
    """Refuses a parameter that is NULL and has elements."""
    failed = f"return refuse({name.upper()}_ERROR_NULL, {c_string(f'{parameter.name} is NULL')});"
    return f"  if (!{parameter.name} && {sizes(prod(parameter.shape))}) {failed}"


def _rank(place: Place) -> int:
    """Rank of the memref that the driver takes: of a symbolic shape it wants the address alone."""
    return len(place.shape) if is_static(place.shape) else 1


def _memref(place: Place, sizes: SizesInC) -> str:
    """The initializer of a descriptor."""
    shape = place.shape if is_static(place.shape) else (1,)
    lists = (shape, contiguous_strides(shape)) if shape else ()
    dimensions = "".join(f", {{{', '.join(map(str, values))}}}" for values in lists)
    address = f"(void *)({place.address(sizes)})"
    return f"    {{{address}, {address}, 0{dimensions}}},"


def _copy(destination: Place, source: Place, sizes: SizesInC) -> str:
    return f"  memcpy({destination.address(sizes)}, {source.address(sizes)}, {sizes(source.nbytes)});"


def _assertion(name: str, assertion: Assertion, sizes: SizesInC) -> str:
    place = assertion.place
    element = f"((const {C_TYPES[place.dtype]} *)({place.address(sizes)}))[i]"
    failed = f"return refuse({name.upper()}_ERROR_ASSERTION, {c_string(assertion.text)});"
    return (
        f"  for (int64_t i = 0; i < {sizes(prod(place.shape))}; i++)\n"
        f"    if (!({element} {assertion.relation} 0)) {failed}"
    )
