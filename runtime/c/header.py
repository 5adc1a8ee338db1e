"""The text of a library's C header."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from string import Template

from xdsl_exir.names import c_comment
from xdsl_exir.runtime.c.cpu import needs_text
from xdsl_exir.runtime.c.interface import (
    ERRORS,
    CLibrary,
    CMethod,
    Parameter,
    Symbol,
)

HEADER = Template(
    """\
/* $name: a program compiled by xdsl-exir, for $cpu.
 * It needs $needs.
 *
$example
 *
 * Arrays are contiguous (row-major), of the shapes below, and owned by the caller; results may not overlap inputs. One
 * that is NULL is an error, unless it has no elements. What
 * shapes depend on is passed before the arrays; in its formulas division rounds down.
 * $calls $threads Floats of 8 and 16 bits are passed as their bits, in uint8_t and uint16_t.
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

$backends$life
$methods
#ifdef __cplusplus
}
#endif
#endif
""".replace("$name_", "${name}_").replace("$NAME_", "${NAME}_")
)

EXAMPLES = (
    Template("""\
 *     if (${name}_load($given) != ${NAME}_OK) puts(${name}_error());
 *     ${name}_$first(...);
 *     ${name}_free();"""),
    Template("""\
 *     ${name}_instance *instance = ${name}_new($given);
 *     if (!instance) puts(${name}_error());
 *     ${name}_$first(instance, ...);
 *     ${name}_delete(instance);"""),
)
"""Of a library with one instance, and of one with several."""

CALLS = (
    """There is one instance in a process: calls must not run at the same time, whichever threads they come from; who has
 * several threads holds a lock of their own around each call, and around reading what it wrote.""",
    """There are any number of instances, each with memory and state of its own: calls of one must not run at the same time, those of
 * others may.""",
)

LIFE = (
    Template("""\
/* ${maps} ${name}_free${renaming}. Allocates $memory bytes for the state and intermediate results; calls whose sizes ask for more
 * allocate that, and it is kept. State gets its initial values. An instance that was loaded before is freed first. Returns
 * ${NAME}_OK or an error. */
int ${name}_load($path);

/* What the last error was, as text. Never NULL. */
const char *${name}_error(void);

/* Gives everything back. Harmless when nothing is loaded. */
void ${name}_free(void);"""),
    Template("""\
typedef struct ${name}_instance ${name}_instance;

/* An instance. ${maps} ${name}_delete${renaming}. Allocates $memory bytes for the state and intermediate results; calls whose sizes ask for more
 * allocate that, and it is kept. State has its initial values. NULL is an error, which ${name}_error says. */
${name}_instance *${name}_new($path);

/* What the last error of this thread was, as text. Never NULL. */
const char *${name}_error(void);

/* Gives everything of an instance back. Harmless for NULL. */
void ${name}_delete(${name}_instance *instance);"""),
)

MAPS = "Maps the weights file, which must not be written to until"
RENAMING = ": put another in its place by renaming, as\n * xdsl-exir does"
EMBEDDED = "The weights are in the library. What is allocated is there until"
"""How weights are got at: from their file, or in the library."""

BACKEND_TYPES = """\
#ifndef XDSL_EXIR_BACKEND
#define XDSL_EXIR_BACKEND
/* An array that a delegate takes or gives: contiguous (row-major), in memory of the library's or its caller's. */
typedef struct exir_array {
  void *data;
  const int64_t *shape;
  int rank;
  const char *dtype; /* "float32", as A_DTYPE has it */
} exir_array;

/* What runs the delegates of a backend: the same for all libraries. */
typedef struct exir_backend {
  /* Makes what runs a delegate, of the bytes that the backend's `preprocess` made of it, which stay until `free`, and of what it is told besides:
   * names, each before its value, then NULL. NULL is an error. */
  void *(*load)(const void *bytes, int64_t count, const char *const *specs);
  /* Reads the inputs and writes the outputs. All but 0 is an error. */
  int (*run)(void *delegate, int inputs, const exir_array *in, int outputs, const exir_array *out);
  /* Gives back what `load` made. */
  void (*free)(void *delegate);
} exir_backend;
#endif

"""

BACKEND = Template("""\
/* Says who runs the delegates of backend $title, before they are loaded: `backend` has to stay as it is. NULL is nobody, which is an error
 * (${NAME}_ERROR_BACKEND) when they are. */
$declaration;

""")
SEED = (
    Template("""

/* Starts random numbers anew: from then on they are those that PyTorch draws on the CPU after torch.manual_seed. Loading starts them anywhere. */
void ${name}_seed(uint64_t seed);"""),
    Template("""

/* Starts an instance's random numbers anew: from then on they are those that PyTorch draws on the CPU after torch.manual_seed. A new instance's
 * start anywhere. */
void ${name}_seed(${name}_instance *instance, uint64_t seed);"""),
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

GIVEN_SHAPE_HEADER = Template("""
/* Writes the shape of $array, $type, as the last call of `$method` gave it, unless `shape` is NULL. Returns the number of elements; -1
 * where the last call gave none. */
int64_t ${name}_$function($parameters);
""")


def header_text(library: CLibrary) -> str:
    """The C header."""
    codes = [
        f"  {library.name.upper()}_ERROR_{name} = {i}, /* {text} */"
        for i, (name, text) in enumerate(ERRORS, 1)
    ]
    names = {"name": library.name, "NAME": library.name.upper()}
    return HEADER.substitute(
        name=library.name,
        NAME=library.name.upper(),
        cpu=_processors(library),
        needs=textwrap.fill(needs_text(library.cpus), 110, subsequent_indent=" * "),
        threads="A call uses as many\n * threads as OMP_NUM_THREADS says."
        if library.cpus[0].openmp
        else "A call runs in its\n * thread alone.",
        example=EXAMPLES[library.instances].substitute(
            names,
            first=library.methods[0].name,
            given="" if library.embedded else f'"{library.name}.weights"',
        ),
        calls=CALLS[library.instances],
        backends=_backends(library),
        life=LIFE[library.instances].substitute(
            names,
            memory=library.memory + library.arena,
            path="void" if library.embedded else "const char *weights_path",
            maps=EMBEDDED if library.embedded else MAPS,
            renaming="" if library.embedded else RENAMING,
        )
        + (SEED[library.instances].substitute(names) if library.draws else ""),
        codes="\n".join(codes),
        methods="".join(_method_header(library, method) for method in library.methods),
    )


def _processors(library: CLibrary) -> str:
    """What the library has code for."""
    return library.cpus[0].triple or ", ".join(cpu.name for cpu in library.cpus)


def _backends(library: CLibrary) -> str:
    """What runs delegates, where there are any."""
    declared = [
        BACKEND.substitute(
            NAME=library.name.upper(),
            title=c_comment(f"`{title}`"),
            declaration=declaration_of_backend(library, name),
        )
        for title, name in library.backends.items()
    ]
    return "".join([BACKEND_TYPES, *declared]) if declared else ""


def declaration_of_backend(library: CLibrary, name: str) -> str:
    """The function that says who runs the delegates of a backend."""
    return f"void {library.name}_backend_{name}(const exir_backend *backend)"


def given_shape(library: CLibrary, array: Parameter, instance: str = "instance") -> str:
    """The parameters of the function that says the shape of what a method gave."""
    shape = f"int64_t shape[{max(1, len(array.shape))}]"
    return f"{library.name}_instance *{instance}, {shape}" if library.instances else shape


def parameters_of(library: CLibrary, method: CMethod, instance: str = "instance") -> str:
    """The parameters of a method's function."""
    given = declarations([*method.symbols, *method.parameters])
    if not library.instances:
        return given
    return ", ".join([f"{library.name}_instance *{instance}", *([] if given == "void" else [given])])


def _method_header(library: CLibrary, method: CMethod) -> str:
    name = library.name
    comments = [
        *(f" *   {s.name}: {'; '.join([s.comment, *method.conditions(s.symbol)])}" for s in method.symbols),
        *(f" *   {p.name}: {p.type}, {p.comment}" for p in method.parameters),
        *(f" *   requires {text}" for text in method.conditions()),
    ]
    shapes = [
        SHAPE_HEADER.substitute(
            name=name,
            method=method.name,
            function=method.shape_function(array),
            array=array.name,
            type=c_comment(array.type),
            rank=len(array.shape),
            symbols=declarations(method.symbols),
        )
        for array in method.symbolic
    ]
    shapes += [
        GIVEN_SHAPE_HEADER.substitute(
            name=name,
            method=method.name,
            function=method.shape_function(array),
            array=array.name,
            type=c_comment(array.type),
            parameters=given_shape(library, array),
        )
        for array in method.given
    ]
    return METHOD_HEADER.substitute(
        name=name,
        NAME=name.upper(),
        method=method.name,
        title=c_comment(f"`{method.title}`"),
        comments="\n".join(map(c_comment, comments)) or " *   no arrays",
        parameters=parameters_of(library, method),
        macros="\n".join(
            f"#define {name.upper()}_{macro} {value}"
            for parameter in method.parameters
            for macro, value in method.macros(parameter).items()
        ),
        at_sizes=(" at these sizes; -1 for sizes that it does not take" if method.symbols else "")
        + (", and more where sizes depend on data" if method.holds else ""),
        symbols=declarations(method.symbols),
        shapes="".join(shapes),
    )


def declarations(parameters: Sequence[Symbol | Parameter]) -> str:
    return ", ".join(parameter.declaration for parameter in parameters) or "void"
