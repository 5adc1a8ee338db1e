"""The canonical form of each function: how a node is made from its arguments, and simplified."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache, reduce
from typing import cast

from xdsl_exir.dialects.expr.limits import (
    MAX_BITS,
    MAX_EXPANDED_POWER,
    MAX_LENGTH,
    ExprError,
    ExprLimitError,
    excerpt,
)
from xdsl_exir.dialects.expr.nodes import (
    FUNCTIONS,
    PRIMARY,
    Dim,
    Expr,
    Monomial,
    Terms,
    apply_node,
    as_operand,
    call,
    constant,
    make_node,
    order_of,
    sum_text,
    text_of,
)
from xdsl_exir.dialects.expr.polynomial import (
    difference_of,
    divide,
    from_terms,
    integer_of,
    is_constant,
    is_integral,
    is_whole,
    leading_coefficient,
    lowest_terms,
    merge,
    remainders_in,
    scale,
    split,
    terms_of,
    times,
)
from xdsl_exir.dialects.expr.values import FLIPPED, REAL_FUNCTIONS, VALUES, Kind, Number, whole


def _number(expr: Expr) -> Expr:
    """A bool in arithmetic counts as 1 or 0, as in Python."""
    return _where(expr, constant(1), constant(0)) if expr.kind == "bool" else expr


def boolean(function: str, expr: Expr) -> Expr:
    """The argument of a function that takes conditions. Raises ExprError for another one."""
    if expr.kind != "bool":
        raise ExprError(f"{function} expects a condition, not {excerpt(expr.text)}")
    return expr


def _promote(args: Iterable[Expr]) -> tuple[list[Expr], Kind]:
    """The arguments as numbers of one kind: all exact, or all floats."""
    numbers = [_number(arg) for arg in args]
    if all(number.kind == "int" for number in numbers):
        return numbers, "int"
    return [_to_float(number) for number in numbers], "float"


def _identity(x: Expr) -> Expr:
    return x


def _to_float(x: Expr) -> Expr:
    return x if x.kind == "float" else call("to_float", (_number(x),), "float")


def add(*args: Expr) -> Expr:
    """Left to right; exact up to the first float."""
    numbers = [_number(arg) for arg in args]
    exact = next((i for i, number in enumerate(numbers) if number.kind == "float"), len(numbers))
    start = [from_terms(merge(map(terms_of, numbers[:exact])))] if exact else []
    return reduce(_float_add, (*start, *numbers[exact:]))


def _float_add(a: Expr, b: Expr) -> Expr:
    a, b = sorted(
        (_to_float(a), _to_float(b)), key=lambda x: (x.head == "constant", x.head != "add", order_of(x))
    )
    if a.head == "constant":
        return call("add", (a, b), "float")
    return make_node("add", (a, b), "float", sum_text((a, b)))


def neg(x: Expr) -> Expr:
    return mul(constant(-1), x)


def sub(a: Expr, b: Expr) -> Expr:
    return add(a, neg(b))


def mul(*args: Expr) -> Expr:
    """Left to right; exact up to the first float."""
    return reduce(_mul_pair, map(_number, args))


def _mul_pair(a: Expr, b: Expr) -> Expr:
    if a.kind == b.kind == "int":
        return from_terms(times(terms_of(a), terms_of(b)))
    return _float_mul(
        *sorted(
            (_to_float(a), _to_float(b)), key=lambda x: (x.head != "constant", x.head != "mul", order_of(x))
        )
    )


def _float_mul(a: Expr, b: Expr) -> Expr:
    """Only signs are simplified: they never change the rounding."""
    if b.head == "constant":
        return call("mul", (a, b), "float")
    if is_constant(a, 1.0):
        return b
    if a.head == "constant" and b.head == "mul" and b.args[0].head == "constant":
        factors = cast("float", a.value), cast("float", b.args[0].value)
        if -1.0 in factors:
            return _float_mul(constant(math.prod(factors)), b.args[1])
    right = text_of(b, PRIMARY)
    if is_constant(a, -1.0):
        return make_node("mul", (a, b), "float", f"-{right}")
    chained = a.head == "constant" or (a.head == "mul" and not a.text.startswith("-"))
    return make_node("mul", (a, b), "float", f"{a.text if chained else text_of(a, PRIMARY)} * {right}")


def pow_(a: Expr, b: Expr) -> Expr:
    (a, b), kind = _promote((a, b))
    if kind == "float" or not is_integral(b):
        return call("pow", (_to_float(a), _to_float(b)), "float")
    exponent = integer_of(b)
    return call("pow", (a, b), "int") if exponent is None else _integer_power(a, exponent)


def _integer_power(base: Expr, exponent: int) -> Expr:
    terms = terms_of(base)
    if exponent == 0:
        return constant(1)
    if not terms and exponent < 0:
        raise ExprError(f"division by zero in pow(0, {exponent})")
    if len(terms) <= 1:
        return from_terms(dict(_term_power(*term, exponent) for term in terms.items()))
    if exponent < 0:
        return call("pow", (base, constant(exponent)), "int")
    if exponent > MAX_EXPANDED_POWER:
        raise ExprLimitError(f"pow({excerpt(base.text)}, {exponent}) is too large to expand")
    return from_terms(reduce(times, [terms] * exponent))


def _term_power(monomial: Monomial, coefficient: Number, exponent: int) -> tuple[Monomial, Number]:
    bits = max(abs(coefficient.numerator), coefficient.denominator).bit_length()
    if abs(coefficient) != 1 and bits * abs(exponent) > MAX_BITS:
        raise ExprLimitError(f"a constant power of more than {MAX_BITS} bits")
    return tuple((base, n * exponent) for base, n in monomial), whole(Fraction(coefficient) ** exponent)


def _float_pow(a: Expr, b: Expr) -> Expr:
    return pow_(_to_float(a), _to_float(b))


def rational(a: Expr, b: Expr) -> Expr:
    """Exact division."""
    return mul(a, pow_(b, constant(-1)))


@lru_cache(maxsize=4096)
def floordiv(a: Expr, b: Expr) -> Expr:
    (a, b), kind = _promote((a, b))
    if kind == "float":
        return call("floordiv", (a, b), "float")
    _check_divisor(a, b)
    if is_constant(a, 0):
        return a
    dividend, divisor = lowest_terms(terms_of(a), terms_of(b))
    if len(divisor) == 1:
        quotient, rest = split(dividend, divisor)
        if quotient:
            return add(from_terms(quotient), floordiv(from_terms(rest), from_terms(divisor)))
    a, b = from_terms(dividend), from_terms(divisor)
    match [monomial for monomial in dividend if monomial] if integer_of(b) is not None else []:
        case [((Expr(head="floordiv", args=(x, y)), 1),) as inner] if dividend[inner] == 1:
            # floor((floor(x / y) + m) / n) = floor((x + m * y) / (y * n)) for a positive integer n, which b is in lowest terms.
            return floordiv(add(x, mul(constant(dividend.get((), 0)), y)), mul(y, b))
        case _:
            pass
    return call("floordiv", (a, b), "int")


def mod(a: Expr, b: Expr) -> Expr:
    (a, b), kind = _promote((a, b))
    if kind == "float":
        return call("mod", (a, b), "float")
    _check_divisor(a, b)
    divisor = terms_of(b)
    rest = _not_divisible(_whole_dividends(terms_of(a), b), divisor)
    if not rest:
        return constant(0)
    if leading_coefficient(divisor) < 0:
        return neg(mod(from_terms(scale(rest, -1)), neg(b)))
    return call("mod", (from_terms(rest), b), "int")


def _check_divisor(a: Expr, b: Expr) -> None:
    if is_constant(b, 0):
        raise ExprError(f"division by zero: {excerpt(a.text)} by 0")


def _not_divisible(dividend: Terms, divisor: Terms) -> Terms:
    """The dividend without what is certainly a whole multiple of the divisor."""
    if len(divisor) == 1:
        return split(dividend, divisor)[1]
    quotient = divide(dividend, divisor)
    return {} if quotient is not None and is_whole(quotient) else dividend


def _whole_dividends(dividend: Terms, divisor: Expr) -> Terms:
    """A dividend where for remainders of the same division, as often as a whole number says, stand what was divided."""
    inner = {
        monomial: scale(terms_of(divided), factor)
        for monomial, factor, divided, by in remainders_in(dividend)
        if by == divisor and isinstance(factor, int)
    }
    others = {monomial: factor for monomial, factor in dividend.items() if monomial not in inner}
    return merge((others, *inner.values()))


def _ceildiv(a: Expr, b: Expr) -> Expr:
    divisor = integer_of(b)
    if divisor is not None and divisor > 0 and is_integral(a):
        return floordiv(add(a, constant(divisor - 1)), b)
    return neg(floordiv(neg(a), b))


def _modular_indexing(a: Expr, divisor: Expr, modulus: Expr) -> Expr:
    return mod(floordiv(a, divisor), modulus)


def _lshift(a: Expr, b: Expr) -> Expr:
    return mul(a, pow_(constant(2), b))


def _rshift(a: Expr, b: Expr) -> Expr:
    return floordiv(a, pow_(constant(2), b))


def _truediv(a: Expr, b: Expr) -> Expr:
    (a, b), kind = _promote((a, b))
    return a if kind == "float" and is_constant(b, 1.0) else call("truediv", (a, b), "float")


def _abs(x: Expr) -> Expr:
    x = _number(x)
    return call("abs", (x,), x.kind)


def _extremum(head: str) -> Callable[..., Expr]:
    pick = VALUES[head]

    def make(*args: Expr) -> Expr:
        numbers, kind = _promote(args)
        if len(numbers) == 1:
            return numbers[0]
        if kind == "float":
            return call(head, numbers, "float")
        best: dict[Expr, Number] = {}  # of expressions that differ by a constant only one stays
        for number in numbers:
            for item in number.args if number.head == head else (number,):
                terms = terms_of(item)
                offset = terms.pop((), 0)
                base = from_terms(terms)
                best[base] = pick(best.get(base, offset), offset)
        items = sorted((add(base, constant(offset)) for base, offset in best.items()), key=order_of)
        return items[0] if len(items) == 1 else call(head, items, "int")

    return make


_NEGATED = {"gt": "le", "ge": "lt", "lt": "ge", "le": "gt", "eq": "ne", "ne": "eq"}


def _comparison(head: str) -> Callable[[Expr, Expr], Expr]:
    holds = VALUES[head]

    def make(a: Expr, b: Expr) -> Expr:
        if a.kind == b.kind == "bool" and head in ("eq", "ne"):
            if a == b:
                return constant(head == "eq")
            return call(head, sorted((a, b), key=order_of), "bool")
        a, b = _number(a), _number(b)
        if a.head == "constant" and b.head != "constant":
            return COMPARISONS[FLIPPED[head]](b, a)
        if a.kind == b.kind == "int":
            difference = difference_of(a, b)
            if not any(difference):
                return constant(holds(difference.get((), 0), 0))
        elif a.kind == "int" and isinstance(b.value, float) and not math.isfinite(b.value):
            return constant(holds(0, b.value))
        args = sorted((a, b), key=order_of) if head in ("eq", "ne") else (a, b)
        return call(head, args, "bool")

    return make


def _junction(head: str, absorbing: bool) -> Callable[..., Expr]:
    def make(*args: Expr) -> Expr:
        """Order is kept: a condition may guard the ones after it."""
        flat: dict[Expr, None] = {}
        for arg in args:
            flat.update(dict.fromkeys(arg.args if arg.head == head else (boolean(head, arg),)))
        if constant(absorbing) in flat:
            return constant(absorbing)
        flat.pop(constant(not absorbing), None)
        if len(flat) < 2:
            return next(iter(flat), constant(not absorbing))
        return call(head, tuple(flat), "bool")

    return make


def _not(x: Expr) -> Expr:
    boolean("not", x)
    if x.head == "not":
        return x.args[0]
    # With a NaN, only `eq` and `ne` are each other's negation.
    if x.head in _NEGATED and (x.head in ("eq", "ne") or all(arg.kind == "int" for arg in x.args)):
        return COMPARISONS[_NEGATED[x.head]](*x.args)
    return call("not", (x,), "bool")


def _alternatives(values: Sequence[Expr]) -> tuple[list[Expr], Kind]:
    if all(value.kind == "bool" for value in values):
        return list(values), "bool"
    return _promote(values)


def _where(condition: Expr, x: Expr, y: Expr) -> Expr:
    boolean("where", condition)
    if condition.head == "constant":
        return x if condition.value else y
    (x, y), kind = _alternatives((x, y))
    return x if x == y else call("where", (condition, x, y), kind)


def _piecewise(*args: Expr) -> Expr:
    """`piecewise(value, condition, value, condition, ...)`: the value of the first condition that holds."""
    if len(args) % 2:
        raise ExprError("piecewise takes pairs of a value and a condition")
    cases: list[tuple[Expr, Expr]] = []
    for value, condition in zip(args[::2], args[1::2], strict=True):
        boolean("piecewise", condition)
        if condition.value is not False:
            cases.append((value, condition))
        if condition.value is True:
            break
    if not cases:
        raise ExprError("piecewise without a condition that can hold")
    values, kind = _alternatives([value for value, _ in cases])
    conditions = [condition for _, condition in cases]
    if conditions[-1].value is True and len(cases) <= 2:
        return values[0] if len(cases) == 1 else _where(conditions[0], *values)
    pairs = zip(values, conditions, strict=True)
    return call("piecewise", [part for pair in pairs for part in pair], kind)


def _rounded(head: str, quotient: Callable[[Expr, Expr], Expr]) -> Callable[[Expr], Expr]:
    """A float made a whole number by a division that rounds: what floats hold of sizes is exact, and no quotient of numbers
    below 2**53 is rounded to a whole number that it is not."""

    def make(x: Expr) -> Expr:
        x = _number(x)
        if x.kind == "int" or x.head == "to_float":
            return quotient(x if x.kind == "int" else x.args[0], constant(1))
        if x.head == "truediv" and all(arg.kind == "int" for arg in x.args):
            return quotient(*x.args)
        return call(head, (x,), "int")

    return make


def _rounding(head: str) -> Callable[[Expr], Expr]:
    def make(x: Expr) -> Expr:
        x = _number(x)
        return x if x.kind == "int" and is_integral(x) else call(head, (x,), "int")

    return make


def _trunc_to_float(x: Expr) -> Expr:
    return call("trunc_to_float", (_to_float(x),), "float")


def _round_decimal(x: Expr, digits: Expr) -> Expr:
    return call("round_decimal", (_to_float(x), _whole_number("round_decimal", digits)), "float")


def _whole_number(function: str, x: Expr) -> Expr:
    x = _number(x)
    if x.kind != "int" or not is_integral(x):
        raise ExprError(f"{function} expects an integer, not {excerpt(x.text)}")
    return x


def _bitwise(head: str, of_bools: Callable[[Expr, Expr], Expr]) -> Callable[[Expr, Expr], Expr]:
    def make(a: Expr, b: Expr) -> Expr:
        if a.kind == b.kind == "bool":
            return of_bools(a, b)
        return call(head, sorted((_whole_number(head, a), _whole_number(head, b)), key=order_of), "int")

    return make


def _real_function(head: str) -> Callable[[Expr], Expr]:
    def make(x: Expr) -> Expr:
        return call(head, (_to_float(x),), "float")

    return make


COMPARISONS = {head: _comparison(head) for head in FLIPPED}
and_, or_ = _junction("and", absorbing=False), _junction("or", absorbing=True)
_MANY = MAX_LENGTH
FUNCTIONS.update(
    {
        "add": (add, 1, _MANY),
        "sub": (sub, 2, 2),
        "neg": (neg, 1, 1),
        "mul": (mul, 1, _MANY),
        "pow": (pow_, 2, 2),
        "float_pow": (_float_pow, 2, 2),
        "rational": (rational, 2, 2),
        "floordiv": (floordiv, 2, 2),
        "ceildiv": (_ceildiv, 2, 2),
        "mod": (mod, 2, 2),
        "modular_indexing": (_modular_indexing, 3, 3),
        "lshift": (_lshift, 2, 2),
        "rshift": (_rshift, 2, 2),
        "truediv": (_truediv, 2, 2),
        "abs": (_abs, 1, 1),
        "max": (_extremum("max"), 1, _MANY),
        "min": (_extremum("min"), 1, _MANY),
        **{head: (make, 2, 2) for head, make in COMPARISONS.items()},
        "and": (and_, 1, _MANY),
        "or": (or_, 1, _MANY),
        "not": (_not, 1, 1),
        "where": (_where, 3, 3),
        "piecewise": (_piecewise, 2, _MANY),
        "identity": (_identity, 1, 1),
        "to_float": (_to_float, 1, 1),
        "ceil_to_int": (_rounded("ceil_to_int", _ceildiv), 1, 1),
        "floor_to_int": (_rounded("floor_to_int", floordiv), 1, 1),
        "trunc_to_int": (_rounding("trunc_to_int"), 1, 1),
        "round_to_int": (_rounding("round_to_int"), 1, 1),
        "trunc_to_float": (_trunc_to_float, 1, 1),
        "round_decimal": (_round_decimal, 2, 2),
        "bitwise_and": (_bitwise("bitwise_and", and_), 2, 2),
        "bitwise_or": (_bitwise("bitwise_or", or_), 2, 2),
        "bitwise_xor": (_bitwise("bitwise_xor", COMPARISONS["ne"]), 2, 2),
        **{name: (_real_function(name), 1, 1) for name in REAL_FUNCTIONS},
    }
)


def substitute(expr: Expr, mapping: Mapping[str, Dim]) -> Expr:
    """An expression with symbols replaced. Raises ExprError for a float in place of an integer."""
    return _substituted(expr, mapping, {})


def _substituted(expr: Expr, mapping: Mapping[str, Dim], done: dict[Expr, Expr]) -> Expr:
    """The same, of whose parts some are there several times."""
    if expr.head == "constant":
        return expr
    if expr.head == "symbol":
        return _replaced(expr, mapping)
    if (made := done.get(expr)) is None:
        args = [_substituted(arg, mapping, done) for arg in expr.args]
        made = done[expr] = apply_node(expr.head, args)
    return made


def _replaced(expr: Expr, mapping: Mapping[str, Dim]) -> Expr:
    value = _number(as_operand(mapping.get(expr.text, expr)))
    if expr.kind == "float":
        return _to_float(value)
    if value.kind == "float":
        raise ExprError(f"the symbol {expr.text} is an integer, its replacement {excerpt(value.text)} is not")
    return value


def total(operands: Sequence[Expr]) -> Expr:
    """The sum of one or more operands."""
    return operands[0] if len(operands) == 1 else add(*operands)
