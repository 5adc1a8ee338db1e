"""The C text of a library's methods: each step of a call in its turn.

Of several processors that a library has code for, each has functions of its own, which those that the header declares call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import Template
from typing import Any

from xdsl_exir.dialects.expr import prod
from xdsl_exir.dialects.sizes import is_static
from xdsl_exir.lowering.dispatches.buffers import contiguous_strides
from xdsl_exir.runtime.c.header import declarations, given_shape, parameters_of
from xdsl_exir.runtime.c.interface import (
    C_TYPES,
    Assertion,
    CLibrary,
    CMethod,
    Copy,
    Delegated,
    Drive,
    Give,
    Hold,
    Let,
    Number,
    Parameter,
    Place,
    Read,
    Requirement,
    Step,
    Store,
)
from xdsl_exir.runtime.c.sizes import SizesInC, c_string

METHOD = Template("""$drivers
${hidden}int64_t ${prefix}${method}_arena_bytes($symbols) {
$requirements
}

${hidden}int $prefix$method($parameters) {
  if (${missing}!instance.file) return fail(${NAME}_ERROR_NOT_LOADED);
  const int64_t bytes = ${prefix}${method}_arena_bytes($symbol_names);
  if (bytes < 0) return last.code;
  if (!reserve(${gives}bytes)) return fail(${NAME}_ERROR_MEMORY);
$body
  return ${NAME}_OK;
}
""")

CHOOSE = Template("""
$type ${name}_$function($parameters) {
  switch (processor) {
$cases
    default: return fail(${NAME}_ERROR_CPU)$otherwise;
  }
}
""")

SHAPE = Template("""
int64_t ${name}_$function($symbols, int64_t shape[$rank]) {
  if (${name}_${method}_arena_bytes($symbol_names) < 0) return -1;
$body
}
""")

GIVEN_SHAPE = Template("""
int64_t ${name}_$function($parameters) {
  if (${missing}!instance.$array.there) return refuse(${NAME}_ERROR_SIZE, "no call of '$method' has given $array yet"), -1;
  if (shape) memcpy(shape, instance.$array.sizes, sizeof instance.$array.sizes);
  return $product;
}
""")


def methods_text(library: CLibrary, given: dict[str, str]) -> str:
    """The functions of all methods; `given` is how those that work on an instance are given it."""
    return "".join(_method(library, method, given) for method in library.methods)


def driver_names(library: CLibrary) -> dict[str, str]:
    """What native code is called in C, by its name in the object files."""
    steps = [step for method in library.methods for code in method.codes for step in code]
    found = dict.fromkeys(step.driver for step in steps if isinstance(step, Drive))
    return {driver: f"driver{index}" for index, driver in enumerate(found)}


def given_name(method: CMethod, parameter: Parameter) -> str:
    """What of an instance says the shape of what a method gave."""
    return f"{method.name}_{parameter.name}"


def _method(library: CLibrary, method: CMethod, given: dict[str, str]) -> str:
    name, several = library.name, len(method.codes) > 1
    prefixes = [f"on{index}_" for index in range(len(method.codes))] if several else [f"{name}_"]
    texts = [
        _code(library, method, code, prefix, given)
        for prefix, code in zip(prefixes, method.codes, strict=True)
    ]
    if several:
        texts += _choice(library, method, prefixes)
    texts += [_shape(name, method, array) for array in method.symbolic]
    texts += [_given_shape(library, method, array) for array in method.given]
    return "".join(texts)


def _choice(library: CLibrary, method: CMethod, prefixes: Sequence[str]) -> list[str]:
    """The functions that call those of the processor that this is."""
    symbols = ", ".join(symbol.name for symbol in method.symbols)
    names = ["self"] * library.instances + [one.name for one in (*method.symbols, *method.parameters)]
    functions = (
        ("int64_t", f"{method.name}_arena_bytes", declarations(method.symbols), symbols, ", -1"),
        ("int", method.name, parameters_of(library, method, "self"), ", ".join(names), ""),
    )
    return [
        CHOOSE.substitute(
            type=type,
            name=library.name,
            NAME=library.name.upper(),
            function=function,
            parameters=parameters,
            cases="\n".join(
                f"    case {index}: return {prefix}{function}({arguments});"
                for index, prefix in enumerate(prefixes)
            ),
            otherwise=otherwise,
        )
        for type, function, parameters, arguments, otherwise in functions
    ]


def _code(
    library: CLibrary, method: CMethod, code: Sequence[Step], prefix: str, given: dict[str, str]
) -> str:
    """The functions of a method for one processor."""
    drivers, sizes = driver_names(library), method.sizes()
    called = dict.fromkeys(step.driver for step in code if isinstance(step, Drive))
    names = [array.name for array in method.given]
    body = [_not_null(library.name, parameter, sizes) for parameter in method.parameters]
    body += [f"  instance.{method.name}_{array}.there = false;" for array in names]
    writer = Writer(library, method, sizes, drivers, given)
    body = [*writer.flushed(), *body]
    for step in code:
        text = TEXTS[type(step)](writer, step)
        body += [*writer.flushed(), text]
    return METHOD.substitute(
        name=library.name,
        NAME=library.name.upper(),
        method=method.name,
        prefix=prefix,
        hidden="static " if len(method.codes) > 1 else "",
        drivers="".join(
            f'\nextern void {drivers[driver]}(void *words) __asm__("{driver}");' for driver in called
        ),
        symbols=declarations(method.symbols),
        symbol_names=", ".join(symbol.name for symbol in method.symbols),
        parameters=parameters_of(library, method, "self"),
        missing="!self || " if library.instances else "",
        gives=given["gives"],
        requirements=_requirements(library.name, method, code),
        body="\n".join(body),
    )


class Writer:
    """What writes the steps of one function."""

    def __init__(
        self,
        library: CLibrary,
        method: CMethod,
        sizes: SizesInC,
        drivers: dict[str, str],
        given: dict[str, str],
    ):
        self.library, self.method, self.sizes, self.drivers = library, method, sizes, drivers
        self.gives = given["gives"]
        self.upper = library.name.upper()
        self.reads = False
        """Whether numbers have been read, of which sizes may not fit."""

    def flushed(self) -> list[str]:
        """The statements that compute what sizes were written since this was last called."""
        new = self.sizes.new_statements()
        return [*new, _fits(self.library.name, "")] if new and self.reads else new

    def symbol(self, symbol: str, value: str) -> str:
        """A symbol has a value from here on."""
        self.reads = True
        self.sizes.symbols = {**self.sizes.symbols, symbol: f"size_{symbol}"}
        return f"  const int64_t size_{symbol} = {value};"

    def require(self, one: Requirement) -> str:
        return _require(self.library.name, one, self.sizes, "")


def _drive(to: Writer, step: Drive) -> str:
    """Grows the arena where sizes that were read ask for more."""
    sizes = to.sizes
    ranks = [_rank(place) for place in step.arguments]
    symbols = [sizes(symbol) for symbol in step.symbols]
    known = {symbol.symbol for symbol in to.method.symbols}
    reserve = ""
    if not isinstance(step.arena, int) and not step.arena.free_symbols() <= known:
        reserve = f"  if (!reserve({to.gives}{sizes(step.arena)})) return fail({to.upper}_ERROR_MEMORY);\n"
    return reserve + "\n".join(
        [
            *(["  drawing = &instance.generator;"] if to.library.draws else []),
            "  struct {",
            *(f"    int64_t s{index};" for index in range(len(symbols))),
            *(f"    union memref{rank} a{index};" for index, rank in enumerate(ranks)),
            f"  }} words{to.drivers[step.driver].removeprefix('driver')} = {{",
            *(f"    {symbol}," for symbol in symbols),
            *(_memref(place, sizes) for place in step.arguments),
            "  };",
            f"  {to.drivers[step.driver]}(&words{to.drivers[step.driver].removeprefix('driver')});",
        ]
    )


def _hold(to: Writer, step: Hold) -> str:
    return (
        f"  char *const {step.name} = hold({to.gives}{step.slot}, {to.sizes(step.nbytes)});\n"
        f"  if (!{step.name}) return fail({to.upper}_ERROR_MEMORY);"
    )


def _copy(to: Writer, step: Copy) -> str:
    return copy_text(step.destination, step.source, to.sizes)


def copy_text(destination: Place, source: Place, sizes: SizesInC) -> str:
    return f"  memcpy({destination.address(sizes)}, {source.address(sizes)}, {sizes(source.nbytes)});"


def _assertion(to: Writer, step: Assertion) -> str:
    failed = f"return refuse({to.upper}_ERROR_ASSERTION, {c_string(step.text)});"
    return (
        f"  for (int64_t i = 0; i < {to.sizes(prod(step.place.shape))}; i++)\n"
        f"    if (!({_elements(step.place, to.sizes)}[i] {step.relation} 0)) {failed}"
    )


def _elements(place: Place, sizes: SizesInC) -> str:
    return f"((const {C_TYPES[place.dtype]} *)({place.address(sizes)}))"


def _read(to: Writer, step: Read) -> str:
    return to.symbol(step.symbol, f"{_elements(step.place, to.sizes)}[0]")


def _let(to: Writer, step: Let) -> str:
    return to.symbol(step.symbol, to.sizes(step.value))


def _store(to: Writer, step: Store) -> str:
    return f"  *({C_TYPES[step.place.dtype]} *)({step.place.address(to.sizes)}) = {to.sizes(step.number)};"


def _number(to: Writer, step: Number) -> str:
    return f"  *{step.parameter} = {to.sizes(step.value)};"


def _give(to: Writer, step: Give) -> str:
    """Where an array is, and its shape."""
    parameter, into = step.parameter, f"instance.{given_name(to.method, step.parameter)}"
    written = [f"  {into}.sizes[{dim}] = {to.sizes(size)};" for dim, size in enumerate(parameter.shape)]
    address = f"(const {C_TYPES[parameter.dtype]} *)({step.place.address(to.sizes)})"
    return "\n".join([*written, f"  {into}.there = true;", f"  *{parameter.name} = {address};"])


def _delegated(to: Writer, step: Delegated) -> str:
    """Calls who runs the delegate."""
    backend = to.library.delegates[step.index].backend
    lists = [
        f"    const exir_array {name}[] = {{{', '.join(_array(place, to.sizes) for place in places) or '{0}'}}};"
        for name, places in (("inputs", step.inputs), ("outputs", step.outputs))
    ]
    text = c_string(f"backend {backend} failed in delegate {step.index}, with code ") + ' "%d"'
    return "\n".join(
        [
            "  {",
            *lists,
            f"    const int code = instance.delegates[{step.index}].backend->run(instance.delegates[{step.index}].made, "
            f"{len(step.inputs)}, inputs, {len(step.outputs)}, outputs);",
            f"    if (code) return refuse({to.upper}_ERROR_DELEGATE, {text}, code);",
            "  }",
        ]
    )


def _array(place: Place, sizes: SizesInC) -> str:
    shape = f"(const int64_t[]){{{', '.join(map(sizes, place.shape))}}}" if place.shape else "NULL"
    return f'{{(void *)({place.address(sizes)}), {shape}, {len(place.shape)}, "{place.dtype.torch_name}"}}'


TEXTS: dict[type, Callable[[Writer, Any], str]] = {
    Drive: _drive,
    Hold: _hold,
    Copy: _copy,
    Assertion: _assertion,
    Requirement: Writer.require,
    Read: _read,
    Let: _let,
    Store: _store,
    Number: _number,
    Give: _give,
    Delegated: _delegated,
}
"""How each kind of step is written."""


def _requirements(name: str, method: CMethod, code: Sequence[Step]) -> str:
    """What checks the symbols and says how large the arena is."""
    sizes = method.sizes()
    checks = [_require(name, one, sizes, ", -1") for one in method.requirements]
    last = f"  return {sizes(method.arena(code))};"
    return "\n".join(["  overflow = false;", *sizes.new_statements(), *checks, _fits(name), last])


def _require(name: str, one: Requirement, sizes: SizesInC, otherwise: str) -> str:
    """Refuses what a condition does not hold for; a function that gives no code then gives this."""
    values = "".join(f", (long long){sizes(value)}" for value in one.values)
    error = f"{name.upper()}_ERROR_{one.error}, {c_string(one.text)}{values}"
    return f"  if (!{sizes(one.condition)}) return refuse({error}){otherwise};"


def _fits(name: str, otherwise: str = ", -1") -> str:
    """Says that sizes do not fit in memory if they do not fit in 64 bits."""
    return f"  if (overflow) return fail({name.upper()}_ERROR_MEMORY){otherwise};"


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
        body="\n".join([*sizes.new_statements(), _fits(name), "  if (shape) {", *written, "  }", last]),
    )


def _given_shape(library: CLibrary, method: CMethod, array: Parameter) -> str:
    """The function that says the shape of what the last call gave."""
    into = given_name(method, array)
    sizes = [f"instance.{into}.sizes[{dim}]" for dim in range(len(array.shape))]
    return GIVEN_SHAPE.substitute(
        name=library.name,
        NAME=library.name.upper(),
        function=method.shape_function(array),
        parameters=given_shape(library, array, "self"),
        missing="!self || " if library.instances else "",
        method=method.name,
        array=into,
        product=" * ".join(sizes),
    )


def _not_null(name: str, parameter: Parameter, sizes: SizesInC) -> str:
    """Refuses a parameter that is NULL and has elements, or is to be set."""
    count = "" if parameter.given else f" && {sizes(prod(parameter.shape))}"
    failed = f"return refuse({name.upper()}_ERROR_NULL, {c_string(f'{parameter.name} is NULL')});"
    return f"  if (!{parameter.name}{count}) {failed}"


def _rank(place: Place) -> int:
    """Rank of the memref that the driver takes: of a symbolic shape it wants the address alone."""
    return len(place.shape) if is_static(place.shape) else 1


def ranks_of(library: CLibrary) -> list[int]:
    """The ranks of all memrefs that code takes."""
    steps = [step for method in library.methods for code in method.codes for step in code]
    return sorted({_rank(place) for step in steps if isinstance(step, Drive) for place in step.arguments})


def _memref(place: Place, sizes: SizesInC) -> str:
    """The initializer of a descriptor."""
    shape = place.shape if is_static(place.shape) else (1,)
    lists = (shape, contiguous_strides(shape)) if shape else ()
    dimensions = "".join(f", {{{', '.join(map(str, values))}}}" for values in lists)
    address = f"(void *)({place.address(sizes)})"
    return f"    {{{{{address}, {address}, 0{dimensions}}}}},"
