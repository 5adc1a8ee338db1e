"""The text of a library's C header."""

from __future__ import annotations

from collections.abc import Sequence
from string import Template

from xdsl_exir.names import c_comment
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
            function=method.shape_function(array),
            array=array.name,
            type=c_comment(array.type),
            rank=len(array.shape),
            symbols=declarations(method.symbols),
        )
        for array in method.symbolic
    ]
    return METHOD_HEADER.substitute(
        name=name,
        NAME=name.upper(),
        method=method.name,
        title=c_comment(f"`{method.title}`"),
        comments="\n".join(map(c_comment, comments)) or " *   no arrays",
        parameters=declarations([*method.symbols, *method.parameters]),
        macros="\n".join(
            f"#define {name.upper()}_{macro} {value}"
            for parameter in method.parameters
            for macro, value in method.macros(parameter).items()
        ),
        at_sizes=" at these sizes; -1 for sizes that it does not take" if method.symbols else "",
        symbols=declarations(method.symbols),
        shapes="".join(shapes),
    )


def declarations(parameters: Sequence[Symbol | Parameter]) -> str:
    return ", ".join(parameter.declaration for parameter in parameters) or "void"
