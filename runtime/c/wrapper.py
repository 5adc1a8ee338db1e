"""The text of the C wrapper, which is linked with a program's object file: the functions that the header declares."""

from __future__ import annotations

from string import Template

from xdsl_exir.dialects.expr import prod
from xdsl_exir.dialects.sizes import is_static
from xdsl_exir.lowering.dispatches.buffers import ALIGNMENT, contiguous_strides
from xdsl_exir.runtime.c.cpu import cpu_check, cpu_include
from xdsl_exir.runtime.c.header import declarations, parameters_of
from xdsl_exir.runtime.c.interface import (
    C_TYPES,
    ERRORS,
    MAGIC,
    VERSION,
    Assertion,
    CLibrary,
    CMethod,
    Parameter,
    Place,
)
from xdsl_exir.runtime.c.random import definitions
from xdsl_exir.runtime.c.sizes import HELPERS, SizesInC, c_string

WRAPPER = Template("""\
#define _DEFAULT_SOURCE
#include "$name.h"

$cpu_include#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
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

$draws
$instance {
  char *file;    /* the mapped weights file; NULL when nothing is loaded */
  char *weights; /* in it, after the header */
  char *memory;  /* state */
  char *arena;   /* what lives during a call alone */
  int64_t capacity; /* of the arena */
$generator}$single

static const char *const MESSAGES[ERRORS + 1] = {
  "no error",
$messages
};
static $thread_local struct {
  int code;
  const char *text;
} last = {0, "no error"};

static int fail(int code) {
  last.text = MESSAGES[code];
  return last.code = code;
}

/* Fails with a text of its own. */
static int refuse(int code, const char *format, ...) {
  static $thread_local char text[1024];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  last.text = text;
  return last.code = code;
}

/* Sees to it that the arena has so many bytes, a multiple of $alignment. */
static bool reserve(${takes}int64_t bytes) {
  if (bytes <= instance.capacity) return true;
  free(instance.arena);
  instance.arena = aligned_alloc($alignment, bytes);
  instance.capacity = instance.arena ? bytes : 0;
  return instance.arena;
}

$overflow$helpers
/* CRC-32 (that of zip and zlib), eight bytes at a time: Kounavis and Berry, 2005, "slicing-by-8". */
static uint32_t checksum(const unsigned char *data, uint64_t size) {
  uint32_t table[8][256];
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

static int map(${takes}const char *path) {
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

static void unload(${only}) {
  free(instance.memory);
  free(instance.arena);
  if (instance.file) munmap(instance.file, sizeof(struct header) + SIZE);
  memset(&instance, 0, sizeof instance);
}

static int load(${takes}const char *weights_path) {
  if (!usable()) return fail(${NAME}_ERROR_CPU);
  int code = map(${gives}weights_path);
  if (code != ${NAME}_OK) return fail(code);
  instance.memory = aligned_alloc($alignment, MEMORY);
  if (!instance.memory || !reserve(${gives}ARENA)) {
    unload(${given});
    return fail(${NAME}_ERROR_MEMORY);
  }
$state
$seeded  return ${NAME}_OK;
}
$life$seed$methods""")

SINGLE = Template("""
void ${name}_free(void) { unload(); }

int ${name}_load(const char *weights_path) {
  unload();
  return load(weights_path);
}
""")

SEVERAL = Template("""
${name}_instance *${name}_new(const char *weights_path) {
  ${name}_instance *self = calloc(1, sizeof *self);
  if (!self) {
    fail(${NAME}_ERROR_MEMORY);
  } else if (load(self, weights_path) != ${NAME}_OK) {
    free(self);
    self = NULL;
  }
  return self;
}

void ${name}_delete(${name}_instance *self) {
  if (self) unload(self);
  free(self);
}
""")

METHOD = Template("""
extern void driver$index(void *words) __asm__("$driver");

int64_t ${name}_${method}_arena_bytes($symbols) {
$requirements
}
$shapes
int ${name}_$method($parameters) {
  if (${missing}!instance.file) return fail(${NAME}_ERROR_NOT_LOADED);
  const int64_t bytes = ${name}_${method}_arena_bytes($symbol_names);
  if (bytes < 0) return last.code;
  if (!reserve(${gives}bytes)) return fail(${NAME}_ERROR_MEMORY);
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
        cpu_include=cpu_include(library.cpu),
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
        methods="".join(_method(library, index, method) for index, method in enumerate(library.methods)),
        instance=f"struct {library.name}_instance" if library.instances else "static struct",
        single="; /* what functions of one are given */\n#define instance (*self)"
        if library.instances
        else " instance;",
        overflow=f"static {THREAD_LOCAL if library.instances else ''}bool overflow; {_OVERFLOW}\n",
        thread_local=THREAD_LOCAL if library.instances else "",
        life=(SEVERAL if library.instances else SINGLE).substitute(
            name=library.name, NAME=library.name.upper()
        ),
        **_self(library),
        **_random(library),
    )


def _random(library: CLibrary) -> dict[str, str]:
    """What there is of random numbers."""
    if not library.draws:
        return dict.fromkeys(("draws", "generator", "seeded", "seed"), "")
    names = {"name": library.name}
    return {
        "draws": definitions(library.draws, THREAD_LOCAL if library.instances else ""),
        "generator": "  struct generator generator;\n",
        "seeded": "  seed(&instance.generator, (uint64_t)time(NULL) << 20 ^ (uint64_t)clock() ^ (uintptr_t)instance.memory);\n",
        "seed": SEED[library.instances].substitute(names),
    }


SEED = (
    Template("\nvoid ${name}_seed(uint64_t number) { seed(&instance.generator, number); }\n"),
    Template(
        "\nvoid ${name}_seed(${name}_instance *self, uint64_t number) { if (self) seed(&self->generator, number); }\n"
    ),
)
THREAD_LOCAL = "_Thread_local "
_OVERFLOW = "/* whether a size did not fit since this was last cleared */"


def _self(library: CLibrary) -> dict[str, str]:
    """How the functions that work on an instance are given it, where there are several."""
    taken, given = (f"struct {library.name}_instance *self", "self") if library.instances else ("void", "")
    following = ", " if library.instances else ""
    return {
        "only": taken,
        "takes": f"{taken}, " if library.instances else "",
        "given": given,
        "gives": given + following,
    }


def _struct(rank: int) -> str:
    dimensions = f" int64_t sizes[{rank}], strides[{rank}];" if rank else ""
    return (
        f"union memref{rank} {{\n"
        f"  struct {{ void *allocated, *aligned; int64_t offset;{dimensions} }} is;\n"
        f"  int64_t words[{3 + 2 * rank}]; /* so long, whatever pointers are */\n"
        "};"
    )


def _method(library: CLibrary, index: int, method: CMethod) -> str:
    name, given = library.name, _self(library)
    symbols = [symbol.name for symbol in method.symbols]
    shapes = [_shape(name, method, array) for array in method.symbolic]
    sizes = method.sizes()
    body = [
        *(_not_null(name, parameter, sizes) for parameter in method.parameters),
        "  struct {",
        *(f"    int64_t {symbol};" for symbol in symbols),
        *(f"    union memref{_rank(place)} a{i};" for i, place in enumerate(method.arguments)),
        "  } words = {",
        *(f"    {symbol}," for symbol in symbols),
        *(_memref(place, sizes) for place in method.arguments),
        "  };",
        *(["  drawing = &instance.generator;"] if library.draws else []),
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
        symbols=declarations(method.symbols),
        symbol_names=", ".join(symbols),
        parameters=parameters_of(library, method, "self"),
        missing="!self || " if library.instances else "",
        gives=given["gives"],
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
        function=method.shape_function(array),
        symbols=declarations(method.symbols),
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
    return f"    {{{{{address}, {address}, 0{dimensions}}}}},"


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
