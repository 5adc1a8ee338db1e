"""Pools of memory: what lies in one memory space of a function is planned together, and is its caller's, one argument a pool.

    plan-memory{pools="1:65536:128","2"}        # space 1 has 65,536 bytes, parts of it begin at multiples of 128; space 2 has no limit

Space 0, the ordinary one, is always there; its arena is the first of these arguments and its bytes are in `exir.arena_bytes`. Of the other spaces, those
that a function has memory in say the same in `exir.pools`, in the order of their arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, MemRefType, NoneAttr, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue

from xdsl_exir.dialects.expr import Dim, Expr
from xdsl_exir.dialects.signature import ARENA_BYTES, POOLS
from xdsl_exir.errors import ExirError
from xdsl_exir.lowering.dispatches.buffers import ALIGNMENT
from xdsl_exir.lowering.driver import as_attribute, size_in

ORDINARY = 0
"""The memory space of what says none."""


@dataclass(frozen=True)
class Pool:
    """What is known of a memory space."""

    space: int = ORDINARY
    capacity: int | None = None
    """Bytes; None where that is no matter."""
    alignment: int = ALIGNMENT
    """What parts begin at multiples of, in bytes."""

    def check(self, total: Dim) -> None:
        """Raises `ExirError` unless so many bytes are there."""
        if self.capacity is not None and (not isinstance(total, int) or total > self.capacity):
            raise ExirError(f"memory space {self.space} has {self.capacity} bytes, and {total} are needed")


def parse_pools(texts: Sequence[str]) -> dict[int, Pool]:
    """Pools by memory space, each said as `SPACE`, `SPACE:BYTES` or `SPACE:BYTES:ALIGNMENT`. Raises `ExirError`."""
    pools: dict[int, Pool] = {}
    for text in texts:
        parts = text.split(":")
        if len(parts) > 3 or not all(part.isascii() and part.isdigit() for part in parts):
            raise ExirError(f"plan-memory: '{text}' is no pool: SPACE:BYTES:ALIGNMENT in numbers")
        space, capacity, alignment = (*map(int, parts), *(None,) * (3 - len(parts)))
        assert space is not None
        if space in pools or alignment == 0:
            raise ExirError(f"plan-memory: '{text}': a space has one pool, and an alignment above 0")
        pools[space] = Pool(space, capacity, alignment or ALIGNMENT)
    return pools


def space_of(type: MemRefType[Attribute]) -> int:
    """The memory space of a type. Raises `ExirError` for one that is no number."""
    match type.memory_space:
        case NoneAttr():
            return ORDINARY
        case IntegerAttr(value=number):
            return number.data
        case other:
            raise ExirError(f"plan-memory: {other} is no memory space: they are numbers here")


@dataclass(frozen=True)
class Arena:
    """A pool as a function has it."""

    pool: Pool
    nbytes: Dim
    argument: SSAValue


def keep_arenas(function: FuncOp, pools: Mapping[int, tuple[Pool, Dim]]) -> None:
    """Says how large a function's arenas are, which are its last arguments, in the order of spaces."""
    said: dict[str, Attribute] = {}
    for space, (pool, nbytes) in sorted(pools.items()):
        if space == ORDINARY:
            function.attributes[ARENA_BYTES] = as_attribute(nbytes)
        if pool != Pool(ORDINARY):
            parts = {"bytes": nbytes, "capacity": pool.capacity, "alignment": pool.alignment}
            said[str(space)] = DictionaryAttr(
                {name: as_attribute(part) for name, part in parts.items() if part is not None}
            )
    if said:
        function.attributes[POOLS] = DictionaryAttr(said)


def arenas_of(function: FuncOp) -> list[Arena]:
    """The arenas of a function, in the order of its arguments, the ordinary one first. Raises `ExirError` where its memory was not planned."""
    total = size_in(function.attributes.get(ARENA_BYTES))
    if total is None:
        raise ExirError(f"plan-memory has not run on @{function.sym_name.data}")
    found = {ORDINARY: (Pool(), total)}
    said = function.attributes.get(POOLS, DictionaryAttr({}))
    for space, parts in said.data.items() if isinstance(said, DictionaryAttr) else ():
        sizes = (
            {name: size_in(part) for name, part in parts.data.items()}
            if isinstance(parts, DictionaryAttr)
            else {}
        )
        match tuple(map(sizes.get, ("bytes", "capacity", "alignment"))):
            case (int() | Expr() as nbytes, int() | None as capacity, int() as alignment) if (
                space.isdigit() and alignment > 0
            ):
                found[int(space)] = Pool(int(space), capacity, alignment), nbytes
            case _:
                raise ExirError(f"{POOLS} of @{function.sym_name.data}: {parts} is no pool")
    last = list(function.args)[-len(found) :]
    if len(last) != len(found):
        raise ExirError(f"@{function.sym_name.data} does not take the {len(found)} arenas that it says")
    return [Arena(*found[space], argument) for space, argument in zip(sorted(found), last, strict=True)]


def memory_space(space: int) -> Attribute:
    """A memory space in types."""
    return NoneAttr() if space == ORDINARY else IntegerAttr(space, i64)
