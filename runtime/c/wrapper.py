"""The text of the C wrapper, which is linked with a program's object file: the functions that the header declares."""

from __future__ import annotations

from string import Template

from xdsl_exir.lowering.dispatches.buffers import ALIGNMENT
from xdsl_exir.names import own_name
from xdsl_exir.runtime.c.calls import copy_text, given_name, methods_text, ranks_of
from xdsl_exir.runtime.c.cpu import cpu_check, cpu_include
from xdsl_exir.runtime.c.header import declaration_of_backend
from xdsl_exir.runtime.c.interface import ERRORS, HEADER_BYTES, MAGIC, VERSION, CLibrary
from xdsl_exir.runtime.c.random import definitions
from xdsl_exir.runtime.c.sizes import HELPERS, SizesInC, c_string

WRAPPER = Template("""\
#define _DEFAULT_SOURCE
#include "$name.h"

$includes
$structs

$weights
enum { ERRORS = $errors };
static const size_t MEMORY = $memory; /* state */
static const int64_t ARENA = $arena; /* what methods of fixed sizes need */

$draws
$instance {
  const char *file;    /* the weights file in memory; NULL when nothing is loaded */
  const char *weights; /* in it, after the header */
  char *memory;  /* state */
  char *arena;   /* what lives during a call alone */
  int64_t capacity; /* of the arena */
$generator$more}$single

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
$hold$cpu_check
$map
const char *${name}_error(void) { return last.text; }

static void unload(${only}) {
$end  free(instance.memory);
  free(instance.arena);
$unmap  memset(&instance, 0, sizeof instance);
}

static int load(${path}) {
  if (!usable()) return fail(${NAME}_ERROR_CPU);
  int code = map(${passed});
  if (code != ${NAME}_OK) return fail(code);
  instance.memory = aligned_alloc($alignment, MEMORY);
  if (!instance.memory || !reserve(${gives}ARENA)) {
    unload(${given});
    return fail(${NAME}_ERROR_MEMORY);
  }
$state
$seeded$begin  return ${NAME}_OK;
}
$life$seed$methods""")

INCLUDES = """\
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
"""
FILES = """\
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
"""
"""What is included for weights in a file."""

FILE = Template("""\
struct header {
  char magic[8];
  uint32_t version, checksum;
  uint64_t size;
  unsigned char digest[32];
  uint64_t reserved;
};

enum { VERSION = $version };
static const char MAGIC[8] = {$magic};
static const unsigned char DIGEST[32] = {$digest};
static const uint64_t SIZE = UINT64_C($weights);
""")

MAP = Template("""\
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
""")

EMBEDDED = Template("""\
/* The weights file, in the library. */
__asm__(".section .rodata\\n.balign $alignment\\n\\"$symbol\\": .incbin \\"$name.weights\\"\\n.byte 0\\n.previous");
extern const char embedded[] __asm__("$symbol") __attribute__((visibility("hidden")));
""")

MAP_EMBEDDED = Template("""\
static int map(${only}) {
  instance.file = embedded;
  instance.weights = embedded + $header;
  return ${NAME}_OK;
}
""")

HOLD = Template("""\
/* Memory for what one step of a call makes and a later one takes; what it held is gone. */
static char *hold(${takes}int slot, int64_t bytes) {
  if (bytes > instance.held[slot].capacity || !instance.held[slot].data) {
    free(instance.held[slot].data);
    instance.held[slot].capacity = 0;
    instance.held[slot].data = bytes > INT64_MAX - $alignment ? NULL : aligned_alloc($alignment, (bytes / $alignment + 1) * $alignment);
    if (instance.held[slot].data) instance.held[slot].capacity = bytes;
  }
  return instance.held[slot].data;
}
""")

DELEGATES = Template("""\
static const char *const BACKENDS[] = {$backends};
static const exir_backend *backends[sizeof BACKENDS / sizeof *BACKENDS];
static const struct {
  int backend;
  const char *const *specs;
  int64_t offset, bytes; /* in the weights */
} DELEGATES[] = {
$delegates
};
enum { ALL_DELEGATES = sizeof DELEGATES / sizeof *DELEGATES };
""")

BEGIN = Template("""\
  for (int i = 0; i < ALL_DELEGATES; i++) {
    const char *name = BACKENDS[DELEGATES[i].backend];
    const exir_backend *backend = backends[DELEGATES[i].backend];
    void *made = backend ? backend->load(instance.weights + DELEGATES[i].offset, DELEGATES[i].bytes, DELEGATES[i].specs) : NULL;
    if (!made) {
      unload(${given});
      return backend ? refuse(${NAME}_ERROR_BACKEND, "backend %s does not take delegate %d", name, i)
                     : refuse(${NAME}_ERROR_BACKEND, "nobody runs the delegates of backend %s: say who does before they are loaded", name);
    }
    instance.delegates[i].backend = backend;
    instance.delegates[i].made = made;
  }
""")

END = """\
  for (int i = 0; i < ALL_DELEGATES; i++)
    if (instance.delegates[i].made) instance.delegates[i].backend->free(instance.delegates[i].made);
"""

BACKEND = Template("""
$declaration { backends[$index] = backend; }
""")

SINGLE = Template("""
void ${name}_free(void) { unload(); }

int ${name}_load($path) {
  unload();
  return load(${passed});
}
""")

SEVERAL = Template("""
${name}_instance *${name}_new($path) {
  ${name}_instance *self = calloc(1, sizeof *self);
  if (!self) {
    fail(${NAME}_ERROR_MEMORY);
  } else if (load(${passed}) != ${NAME}_OK) {
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


def wrapper_text(library: CLibrary) -> str:
    """The C source of the functions that the header declares."""
    names = {"name": library.name, "NAME": library.name.upper(), **_self(library)}
    names["alignment"] = str(ALIGNMENT)
    life = SEVERAL if library.instances else SINGLE
    of_life = {"path": path_of(library) or "void", "passed": _passed(library)}
    return WRAPPER.substitute(
        names,
        includes=INCLUDES + ("" if library.embedded else FILES) + cpu_include(library.cpus),
        structs="\n".join(map(_struct, ranks_of(library))),
        weights=_weights(library) + _delegates(library),
        errors=len(ERRORS),
        memory=library.memory,
        arena=library.arena,
        helpers=HELPERS,
        messages="\n".join(f'  "{text}",' for _, text in ERRORS),
        hold=HOLD.substitute(names) if library.slots else "",
        map=(MAP_EMBEDDED if library.embedded else MAP).substitute(names, header=HEADER_BYTES),
        unmap=""
        if library.embedded
        else "  if (instance.file) munmap((void *)instance.file, sizeof(struct header) + SIZE);\n",
        cpu_check=cpu_check(library.cpus),
        state="\n".join(copy_text(*copy, SizesInC({})) for copy in library.state),
        begin=BEGIN.substitute(names) if library.delegates else "",
        end=_end(library),
        path=", ".join(filter(None, [names["only"] if library.instances else "", path_of(library)]))
        or "void",
        passed=_passed(library),
        methods=methods_text(library, _self(library)) + _backends(library),
        instance=f"struct {library.name}_instance" if library.instances else "static struct",
        more=_more(library),
        single="; /* what functions of one are given */\n#define instance (*self)"
        if library.instances
        else " instance;",
        overflow=f"static {THREAD_LOCAL if library.instances else ''}bool overflow; {_OVERFLOW}\n",
        thread_local=THREAD_LOCAL if library.instances else "",
        life=life.substitute(names, **of_life),
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


def path_of(library: CLibrary) -> str:
    """The parameter for the weights file, where there is one."""
    return "" if library.embedded else "const char *weights_path"


def _passed(library: CLibrary) -> str:
    return ", ".join(
        filter(None, ["self" if library.instances else "", "" if library.embedded else "weights_path"])
    )


def _weights(library: CLibrary) -> str:
    """The weights file in the library, or what is known of it."""
    if library.embedded:
        symbol = own_name(f"{library.name}.weights")
        return EMBEDDED.substitute(name=library.name, symbol=symbol, alignment=ALIGNMENT)
    return FILE.substitute(
        version=VERSION,
        magic=", ".join(map(str, MAGIC)),
        digest=", ".join(map(str, library.digest)),
        weights=library.weights,
    )


def _more(library: CLibrary) -> str:
    """What an instance has besides."""
    lines = [
        f"  struct {{ bool there; int64_t sizes[{max(1, len(array.shape))}]; }} {given_name(method, array)}; /* what the last call gave */"
        for method in library.methods
        for array in method.given
    ]
    if library.slots:
        lines.append(
            f"  struct {{ char *data; int64_t capacity; }} held[{library.slots}]; /* between steps of a call */"
        )
    if library.delegates:
        lines.append("  struct { const exir_backend *backend; void *made; } delegates[ALL_DELEGATES];")
    return "".join(f"{line}\n" for line in lines)


def _end(library: CLibrary) -> str:
    """What is given back besides."""
    held = f"  for (int i = 0; i < {library.slots}; i++) free(instance.held[i].data);\n"
    return (held if library.slots else "") + (END if library.delegates else "")


def _delegates(library: CLibrary) -> str:
    """The delegates, and who runs them."""
    if not library.delegates:
        return ""
    names = list(library.backends)
    rows = [
        f"  {{{names.index(one.backend)}, (const char *const[]){{{''.join(f'{c_string(text)}, ' for pair in one.specs for text in pair)}NULL}}, "
        f"{one.blob.offset}, {one.blob.nbytes}}},"
        for one in library.delegates
    ]
    return DELEGATES.substitute(backends=", ".join(map(c_string, names)), delegates="\n".join(rows))


def _backends(library: CLibrary) -> str:
    """The functions that say who runs delegates."""
    return "".join(
        BACKEND.substitute(index=index, declaration=declaration_of_backend(library, name))
        for index, name in enumerate(library.backends.values())
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
