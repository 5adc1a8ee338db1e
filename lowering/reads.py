"""Sizes that a method reads out of memory while it runs: how many elements a mask picks, how many values there are.

A *read* is `_local_scalar_dense` of one int64 that is at most a number of elements, whatever a call gives (`index_ranges`): its *most*. The driver
loads it and computes with it as with the symbols that it is given. What has a size that depends on it is given the memory that it
needs at most; so is a result, which its caller cuts, to whom the number is another result.

Numbers without such a bound, and those on which it depends what memory kernels look at, are the host's (`runtime.fallback`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import meta
from xdsl_exir.dialects.expr import Dim, Expr, apply, as_dim, max_, min_, prod, provably
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.sizes import is_symbol, sizes_of
from xdsl_exir.dialects.sizes import symbols_of as free_symbols
from xdsl_exir.dialects.tensors import TensorMeta, is_tensor_type
from xdsl_exir.errors import ExirError
from xdsl_exir.lowering.dispatches.assertions import LATE, asserted, assumed
from xdsl_exir.lowering.edge_to_linalg import obstacle
from xdsl_exir.lowering.index_ranges import Known, range_of
from xdsl_exir.transforms.numbers_to_tensors import is_item

Most: TypeAlias = Mapping[str, Dim]
"""By symbol that is read, in order, what it is at most."""
READ = TensorMeta((), dt.Long)
"""What holds a number that is read."""


# --- which numbers -------------------------------------------------------------------------------------------


def reads_of(function: FuncOp, known: Known) -> dict[str, Dim]:
    """The sizes that a method reads, by symbol, in order: what each is at most. Not those that are read twice, which need not be the same."""
    items = [op for op in function.body.block.ops if isinstance(op, OperatorOp) and is_item(op)]
    said = Counter(size_of(op) for op in items)
    found: dict[str, Dim] = {}
    for op in items:
        end = most_of_item(op, known) if said[size_of(op)] == 1 else None
        largest = None if end is None else most(end, found)  # of what was picked before
        if largest is not None:
            found[str(size_of(op))] = largest
    return found


def size_of(op: OperatorOp) -> Dim:
    """The number that an operator gives."""
    return sizes_of(op.results)[0]


def most_of_item(op: OperatorOp, known: Known) -> Dim | None:
    """What a number is at most that is read as a symbol of its own; None where that is not known."""
    if not is_symbol(size_of(op)) or meta(op.operands[0]) != READ:
        return None
    low, high = range_of(op.operands[0], known)
    return None if low is None or low < 0 or high is None else high - 1


def obstacle_to_reads(op: Operation, reads: Most) -> str | None:
    """Why an operation of a method with reads cannot be lowered; None where it can."""
    if (
        isinstance(op, OperatorOp)
        and is_item(op)
        and isinstance(op.parent_op(), FuncOp)
        and str(size_of(op)) in reads
    ):
        return None
    if (reason := obstacle(op)) is not None or not (free_symbols(sizes_of(op.operands)) & reads.keys()):
        return reason
    for value in op.results:
        if is_tensor_type(value.type) and (reason := obstacle_to_room(meta(value), reads)) is not None:
            return reason
    if not isinstance(op, OperatorOp) or op.SPEC.qualified_name in LATE:
        return None
    demanded = (condition for condition, _ in (*asserted(op), *assumed(op)))
    return next((f"{each} depends on data" for each in demanded if not holds(each, reads)), None)


def obstacle_to_room(meta: TensorMeta, reads: Most) -> str | None:
    """Why a tensor is not given the memory that it needs at most; None where it is."""
    needed = most(prod(meta.shape) * meta.dtype.itemsize, reads)
    if needed is None:
        return f"nothing is known that [{', '.join(map(str, meta.shape))}] is at most"
    large = isinstance(needed, int) and needed > MOST_BYTES
    return f"may need {needed} bytes, and far less as well" if large else None


MOST_BYTES = 1 << 26
"""A tensor that may be larger is made when its size is known: to hand it over takes no time then in comparison."""


def holds(condition: Dim, reads: Most) -> bool:
    """Whether a condition is none on sizes that are read, or holds whatever these are."""
    if not isinstance(condition, Expr) or not condition.free_symbols() & reads.keys():
        return True
    return provably(condition, ranges_of_reads(reads)) is True


def ranges_of_reads(reads: Most) -> dict[str, tuple[int | None, int | None]]:
    """The ranges of sizes that are read, both ends included."""
    return {name: (0, size if isinstance(size, int) else None) for name, size in reads.items()}


# --- how large -----------------------------------------------------------------------------------------------

Ends: TypeAlias = tuple[Dim, Dim]
"""The least and the most that a size may be."""
Span: TypeAlias = tuple["Dim | None", "Dim | None"]
"""The same; None where it is not known."""


def most(size: Dim, reads: Most) -> Dim | None:
    """What a size is at most, whatever the sizes are that are read; None where that is not known."""
    return span(size, reads)[1]


def at_most(size: Dim, reads: Most) -> Dim:
    """The same. Raises `ExirError` where it is not known."""
    found = most(size, reads)
    if found is None:
        raise ExirError(f"nothing is known that {size} is at most")
    return found


def span(size: Dim, reads: Most) -> Span:
    """Between which sizes a size is."""
    if not isinstance(size, Expr) or not size.free_symbols() & reads.keys():
        return size, size
    if size.head == "symbol":
        return 0, reads[str(size)]
    args = [span(as_dim(arg), reads) for arg in size.args]
    rule = SPANS.get(size.head)
    if rule is None or any(end is None for arg in args for end in arg):
        return None, None
    return rule([(low, high) for low, high in args if low is not None and high is not None])


def _sum(args: Sequence[Ends]) -> Span:
    return sum((low for low, _ in args), 0), sum((high for _, high in args), 0)


def _product(args: Sequence[Ends]) -> Span:
    """Of a number and sizes, or of sizes alone: those are not negative."""
    (factor, also), *sizes = args
    if isinstance(factor, int) and factor == also and factor < 0:
        low, high = _product(sizes)
        return (None, None) if low is None or high is None else (factor * high, factor * low)
    return (
        (prod(low for low, _ in args), prod(high for _, high in args))
        if all(map(_is_size, args))
        else (None, None)
    )


def _is_size(ends: Ends) -> bool:
    """Whether a number is not negative."""
    low = ends[0]
    return (
        low >= 0
        if isinstance(low, int)
        else provably(apply("ge", low, 0), dict.fromkeys(low.free_symbols(), (0, None))) is True
    )


def _power(args: Sequence[Ends]) -> Span:
    """Of a size that is not negative, and a number of times."""
    base, (exponent, also) = args
    if not isinstance(exponent, int) or exponent != also or exponent <= 0:
        return None, None
    return _product([base for _ in range(exponent)])


def _quotient(args: Sequence[Ends]) -> Span:
    (low, high), (divisor, also) = args
    known = isinstance(divisor, int) and divisor == also and divisor > 0
    return (low // divisor, high // divisor) if known else (None, None)


def _rest(args: Sequence[Ends]) -> Span:
    _, (divisor, also) = args
    return (0, divisor - 1) if isinstance(divisor, int) and divisor == also and divisor > 0 else (None, None)


def _largest(args: Sequence[Ends]) -> Span:
    return max_(*(low for low, _ in args)), max_(*(high for _, high in args))


def _smallest(args: Sequence[Ends]) -> Span:
    return min_(*(low for low, _ in args)), min_(*(high for _, high in args))


SPANS: Mapping[str, Callable[[Sequence[Ends]], Span]] = {
    "add": _sum,
    "mul": _product,
    "pow": _power,
    "floordiv": _quotient,
    "mod": _rest,
    "max": _largest,
    "min": _smallest,
}
"""By function of sizes, between what its result is, from between what its operands are."""
