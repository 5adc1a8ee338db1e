"""The C side of a compiled program: the text of its header, and of the wrapper that is linked with its object file.

The interface is a library's with one instance: `load` maps the weights file and allocates the arena, `forward` (each
method under its name) takes plain pointers to contiguous arrays, `free` gives everything back. The wrapper describes the
pointers to the driver as memrefs; where they point is decided in `aot`. Only libc is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from string import Template

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import DType

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
)
"""Name and message of each error; the code is its position, from 1."""

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

CPU_FEATURES = ("avx", "avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl")
"""x86 features that LLVM and C compilers call by one name, and that decide whether the code runs."""


@dataclass(frozen=True)
class Parameter:
    """An array of the caller's: contiguous, of fixed shape and dtype."""

    name: str
    """As in C: `in_x`, `out0`."""
    shape: tuple[int, ...]
    dtype: DType
    written: bool
    """Whether a call writes to it."""
    comment: str

    @property
    def declaration(self) -> str:
        return f"{'' if self.written else 'const '}{C_TYPES[self.dtype]} *{self.name}"

    @property
    def type(self) -> str:
        return f"{self.dtype.torch_name}{list(self.shape)}"


@dataclass(frozen=True)
class Place:
    """Where an array of the driver is: a C expression for its address, and its shape."""

    address: str
    shape: tuple[int, ...]
    dtype: DType

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize


@dataclass(frozen=True)
class CMethod:
    """A method as C sees it, and what its wrapper does."""

    name: str
    parameters: Sequence[Parameter]
    arguments: Sequence[Place]
    """What the driver takes, in order."""
    copies: Sequence[tuple[Place, Place]]
    """After the driver's call: destination and source."""


@dataclass(frozen=True)
class CLibrary:
    """A compiled program as C sees it."""

    name: str
    """Prefix of all its names."""
    methods: Sequence[CMethod]
    memory: int
    """Bytes of the instance's memory: state, results that replace it, arena."""
    state: Sequence[tuple[Place, Place]]
    """Buffers that calls change: where they live, and where their initial values are."""
    weights: int
    """Bytes of the weights, without the file's header."""
    digest: bytes
    """Their SHA-256: says that a file belongs to this library."""
    cpu: str
    features: Sequence[str]
    """Of `CPU_FEATURES`, those that the code may use."""


# --- the header ----------------------------------------------------------------------------------------------

HEADER = Template(
    """\
/* $name: a program compiled by xdsl-exir, for $cpu.
 *
 *     if ($name_load("$name.weights") != $NAME_OK) puts($name_error());
 *     $name_$first(...);
 *     $name_free();
 *
 * Arrays are contiguous (row-major), of the shapes below, and owned by the caller; results may not overlap inputs.
 * There is one instance in a process: calls must not run at the same time. A call uses as many threads as OMP_NUM_THREADS
 * says. float16 and bfloat16 elements are passed as their bits, in uint16_t.
 * For an array A the macros are A_DTYPE, A_RANK, A_ELEMENTS, A_BYTES and, where it has dimensions, A_SHAPE (an initializer).
 */
#ifndef $NAME_H
#define $NAME_H

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

/* Maps the weights file and allocates $memory bytes for the state and intermediate results; state gets its initial
 * values. An instance that was loaded before is freed first. Returns $NAME_OK or an error. */
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
/* Runs `$method`. Returns ${NAME}_OK, or ${NAME}_ERROR_NOT_LOADED.
 *
$comments
 */
int ${name}_$method($parameters);
$macros
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
        cpu=library.cpu,
        first=library.methods[0].name,
        codes="\n".join(codes),
        memory=library.memory,
        methods="".join(_method_header(library.name, method) for method in library.methods),
    )


def _method_header(name: str, method: CMethod) -> str:
    macros = [
        line
        for parameter in method.parameters
        for line in _macros(f"{name}_{method.name}".upper(), parameter)
    ]
    return METHOD_HEADER.substitute(
        name=name,
        NAME=name.upper(),
        method=method.name,
        comments="\n".join(f" *   {p.name}: {p.type}, {p.comment}" for p in method.parameters)
        or " *   no arrays",
        parameters=_parameters(method),
        macros="\n".join(macros),
    )


def _parameters(method: CMethod) -> str:
    return ", ".join(parameter.declaration for parameter in method.parameters) or "void"


def _macros(prefix: str, parameter: Parameter) -> list[str]:
    elements = prod(parameter.shape)
    values = {
        "DTYPE": f'"{parameter.dtype.torch_name}"',
        "RANK": len(parameter.shape),
        "ELEMENTS": elements,
        "BYTES": elements * parameter.dtype.itemsize,
    }
    if parameter.shape:
        values["SHAPE"] = f"{{{', '.join(map(str, parameter.shape))}}}"
    return [f"#define {prefix}_{parameter.name.upper()}_{key} {value}" for key, value in values.items()]


# --- the wrapper ---------------------------------------------------------------------------------------------

WRAPPER = Template("""\
#define _DEFAULT_SOURCE
#include "$name.h"

#include <fcntl.h>
#include <stddef.h>
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
static const size_t MEMORY = $memory;

static struct {
  char *file;    /* the mapped weights file; NULL when nothing is loaded */
  char *weights; /* in it, after the header */
  char *memory;
} instance;

static const char *const MESSAGES[ERRORS + 1] = {
  "no error",
$messages
};
static int last_error;

static int fail(int code) { return last_error = code; }

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

const char *${name}_error(void) { return MESSAGES[last_error]; }

void ${name}_free(void) {
  free(instance.memory);
  if (instance.file) munmap(instance.file, sizeof(struct header) + SIZE);
  memset(&instance, 0, sizeof instance);
}

int ${name}_load(const char *weights_path) {
  ${name}_free();
$cpu_check
  int code = map(weights_path);
  if (code != ${NAME}_OK) return fail(code);
  instance.memory = aligned_alloc(64, MEMORY);
  if (!instance.memory) {
    ${name}_free();
    return fail(${NAME}_ERROR_MEMORY);
  }
$state
  return ${NAME}_OK;
}
$methods""")

METHOD = Template("""
extern void _mlir_ciface_$method($types);

int ${name}_$method($parameters) {
  if (!instance.file) return fail(${NAME}_ERROR_NOT_LOADED);
$memrefs
  _mlir_ciface_$method($pointers);
$copies
  return ${NAME}_OK;
}
""")


def wrapper_text(library: CLibrary) -> str:
    """The C source of the functions that the header declares."""
    ranks = sorted({len(place.shape) for method in library.methods for place in method.arguments})
    checks = [
        f'  if (!__builtin_cpu_supports("{name}")) return fail({library.name.upper()}_ERROR_CPU);'
        for name in library.features
    ]
    return WRAPPER.substitute(
        name=library.name,
        NAME=library.name.upper(),
        structs="\n".join(map(_struct, ranks)),
        version=VERSION,
        errors=len(ERRORS),
        magic=", ".join(map(str, MAGIC)),
        digest=", ".join(map(str, library.digest)),
        weights=library.weights,
        memory=library.memory,
        messages="\n".join(f'  "{text}",' for _, text in ERRORS),
        cpu_check="\n".join(checks),
        state="\n".join(_copy(*copy) for copy in library.state),
        methods="".join(_method(library.name, method) for method in library.methods),
    )


def _struct(rank: int) -> str:
    dimensions = f" int64_t sizes[{rank}], strides[{rank}];" if rank else ""
    return f"struct memref{rank} {{ void *allocated, *aligned; int64_t offset;{dimensions} }};"


def _method(name: str, method: CMethod) -> str:
    count = range(len(method.arguments))
    return METHOD.substitute(
        name=name,
        NAME=name.upper(),
        method=method.name,
        types=", ".join(f"struct memref{len(place.shape)} *" for place in method.arguments),
        parameters=_parameters(method),
        memrefs="\n".join(_memref(i, place) for i, place in enumerate(method.arguments)),
        pointers=", ".join(f"&a{i}" for i in count),
        copies="\n".join(_copy(*copy) for copy in method.copies),
    )


def _memref(index: int, place: Place) -> str:
    rank = len(place.shape)
    strides = [prod(place.shape[dim + 1 :]) for dim in range(rank)]
    dimensions = (
        "".join(f", {{{', '.join(map(str, values))}}}" for values in (place.shape, strides)) if rank else ""
    )
    address = f"(void *)({place.address})"
    return f"  struct memref{rank} a{index} = {{{address}, {address}, 0{dimensions}}};"


def _copy(destination: Place, source: Place) -> str:
    return f"  memcpy({destination.address}, {source.address}, {source.nbytes});"
