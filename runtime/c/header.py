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
 * $calls $threads float16 and bfloat16 elements are passed as their bits, in uint16_t.
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

$life
$methods
#ifdef __cplusplus
}
#endif
#endif
""".replace("$name_", "${name}_").replace("$NAME_", "${NAME}_")
)

EXAMPLES = (
    Template("""\
 *     if (${name}_load("$name.weights") != ${NAME}_OK) puts(${name}_error());
 *     ${name}_$first(...);
 *     ${name}_free();"""),
    Template("""\
 *     ${name}_instance *instance = ${name}_new("$name.weights");
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
/* Maps the weights file, which must not be written to until ${name}_free: put another in its place by renaming, as
 * xdsl-exir does. Allocates $memory bytes for the state and intermediate results; calls whose sizes ask for more
 * allocate that, and it is kept. State gets its initial values. An instance that was loaded before is freed first. Returns
 * ${NAME}_OK or an error. */
int ${name}_load(const char *weights_path);

/* What the last error was, as text. Never NULL. */
const char *${name}_error(void);

/* Gives everything back. Harmless when nothing is loaded. */
void ${name}_free(void);"""),
    Template("""\
typedef struct ${name}_instance ${name}_instance;

/* An instance: maps the weights file, which must not be written to until ${name}_delete: put another in its place by renaming, as
 * xdsl-exir does. Allocates $memory bytes for the state and intermediate results; calls whose sizes ask for more
 * allocate that, and it is kept. State has its initial values. NULL is an error, which ${name}_error says. */
${name}_instance *${name}_new(const char *weights_path);

/* What the last error of this thread was, as text. Never NULL. */
const char *${name}_error(void);

/* Gives everything of an instance back. Harmless for NULL. */
void ${name}_delete(${name}_instance *instance);"""),
)

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
        cpu=library.cpu.triple or library.cpu.name,
        needs=textwrap.fill(needs_text(library.cpu), 110, subsequent_indent=" * "),
        threads="A call uses as many\n * threads as OMP_NUM_THREADS says."
        if library.cpu.openmp
        else "A call runs in its\n * thread alone.",
        example=EXAMPLES[library.instances].substitute(names, first=library.methods[0].name),
        calls=CALLS[library.instances],
        life=LIFE[library.instances].substitute(names, memory=library.memory + library.arena)
        + (SEED[library.instances].substitute(names) if library.draws else ""),
        codes="\n".join(codes),
        methods="".join(_method_header(library, method) for method in library.methods),
    )


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
        at_sizes=" at these sizes; -1 for sizes that it does not take" if method.symbols else "",
        symbols=declarations(method.symbols),
        shapes="".join(shapes),
    )


def declarations(parameters: Sequence[Symbol | Parameter]) -> str:
    return ", ".join(parameter.declaration for parameter in parameters) or "void"
