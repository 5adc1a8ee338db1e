"""Watching passes at work: what each application of a pattern does, how many there are, how long passes take.

    with watching(Watch()) as watch:
        edge = program.to_edge()
    print(watch.table())

Every pass has a logger, `xdsl_exir.pass.<name>`, which tells of each application with its location at DEBUG and of the
whole pass at INFO. `XDSL_EXIR_OPT_LIMIT=decompose-aten=10` stops that pass after 10 applications, a number alone stops
all passes after so many together; `xdsl-exir bisect` finds with it the application that changes a result. A pass that
applies no patterns counts as one application.

What patterns build inherits the location and the origin (`exir.origin`) of the operation that they were applied to.
Patterns of `transforms/patterns.py` see to that themselves. For all others, a user's or xDSL's own, xDSL's walker has no
hook that knows which operation is being rewritten, so while passes of a program run, `PatternRewriteWalker` is given
patterns that do.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnknownLoc
from xdsl.ir import Operation, Region
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
)
from xdsl.traits import HasCanonicalizationPatternsTrait
from xdsl.transforms.canonicalize import CanonicalizationRewritePattern

from xdsl_exir.dialects.signature import ORIGIN
from xdsl_exir.errors import ExirError
from xdsl_exir.locations import location_text

LIMIT = "XDSL_EXIR_OPT_LIMIT"
"""The environment variable that says after how many applications to stop: `pass=N`, or `N` for all; several with commas."""

ALL = ""
"""What stands for all passes among limits."""


def _limits() -> dict[str, int]:
    """What `XDSL_EXIR_OPT_LIMIT` says. Raises `ExirError`."""
    limits, text = dict[str, int](), os.environ.get(LIMIT, "")
    for item in filter(None, text.split(",")):
        name, _, number = item.rpartition("=")
        if not (number.isascii() and number.isdigit()):
            raise ExirError(f"{LIMIT}={text}: '{item}' is neither a number nor PASS=NUMBER")
        limits[name] = int(number)
    return limits


@dataclass(frozen=True)
class Application:
    """One application of a pattern."""

    number: int
    """Which of all it is, from 1 on."""
    of_pass: int
    """Which of its pass it is."""
    transform: str
    """The pass."""
    pattern: str
    operation: str
    """The operation that was rewritten; empty where it is a whole pass."""
    location: str

    def __str__(self) -> str:
        if not self.operation:
            return self.pattern
        at = f" ({self.location})" if self.location else ""
        on = "" if self.operation in self.pattern else f" on {self.operation}"
        return f"application {self.of_pass} of {self.transform}, {self.pattern}{on}{at}"


@dataclass
class Watch:
    """Counts applications, takes times, and stops at limits."""

    limits: Mapping[str, int] = field(default_factory=_limits)
    """After how many applications a pass stops, by name; `ALL` for all together. What the environment says, if nothing."""
    counts: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    """Applications by pass and pattern."""
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    """What passes took."""
    totals: Counter[str] = field(default_factory=Counter[str])
    """Applications by pass; `ALL` for all together."""
    last: Application | None = None
    """The application that was made last."""

    def allows(self, transform: str) -> bool:
        """Whether a pass may apply one more pattern."""
        return all(
            self.totals[name] < limit for name, limit in self.limits.items() if name in (ALL, transform)
        )

    def record(self, transform: str, pattern: str, op: Operation | None) -> None:
        """Takes down an application of a pattern to an operation, or of a whole pass."""
        self.totals[ALL] += 1
        self.totals[transform] += 1
        self.counts[transform, pattern] += 1
        name, location = (op.name, location_text(op)) if op is not None else ("", "")
        of_pass, number = self.totals[transform], self.totals[ALL]
        self.last = Application(number, of_pass, transform, pattern, name, location)
        if op is not None:
            logger(transform).debug("%s", self.last)

    def table(self) -> str:
        """Seconds by pass and applications by pattern, as text."""
        lines = list[str]()
        for transform, seconds in self.seconds.items():
            lines.append(f"{seconds:10.4f} s  {transform}")
            patterns = {pattern: n for (name, pattern), n in self.counts.items() if name == transform}
            lines += [
                f"{count:10d}    {pattern}" for pattern, count in sorted(patterns.items(), key=_most_first)
            ]
        return "\n".join(lines)


def _most_first(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def logger(transform: str) -> logging.Logger:
    """The logger of a pass."""
    return logging.getLogger(f"xdsl_exir.pass.{transform}")


def tell_kept(pattern: str, op: Operation, reason: str) -> None:
    """Tells the log of the pass at work that a pattern matched an operation and does not apply to it."""
    run = _RUN.get()
    log = logger(run.transform if run is not None else "")
    log.debug("%s keeps %s (%s): %s", pattern, op.name, location_text(op), reason)


# --- while passes run ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Run:
    """A pass at work."""

    transform: str
    watch: Watch | None
    """None where nobody watches."""


_WATCH: ContextVar[Watch | None] = ContextVar("watch", default=None)
_RUN: ContextVar[_Run | None] = ContextVar("run", default=None)
"""The pass at work, in this thread."""


@contextmanager
def watching(watch: Watch) -> Generator[Watch]:
    """Passes that run in it are watched."""
    token = _WATCH.set(watch)
    try:
        yield watch
    finally:
        _WATCH.reset(token)


@contextmanager
def statistics() -> Generator[None]:
    """Prints on standard error, at the end, how long the passes that ran in it took and how often each pattern was applied."""
    with watching(Watch()) as watch:
        yield
    print(watch.table(), file=sys.stderr)


def run_passes(passes: Sequence[ModulePass], ctx: Context, module: ModuleOp) -> None:
    """Applies passes to a module, one after another, and watches them if that is asked for."""
    watch = _WATCH.get()
    if watch is None and (os.environ.get(LIMIT) or any(map(_is_logged, passes))):
        watch = Watch()
    with _walkers_that_tell():
        for transform in passes:
            _run_pass(transform, ctx, module, watch)


def is_watching() -> bool:
    """Whether passes are watched, or stopped."""
    return _WATCH.get() is not None or bool(os.environ.get(LIMIT))


@cache
def watched_alone(transform: type[ModulePass]) -> type[ModulePass]:
    """A pass that is watched too, if logging or the environment asks for it, where it is not a program's: `xdsl-opt` applies passes
    itself. Limits for all passes together hold for each there."""
    apply = transform.apply

    def watched(self: ModulePass, ctx: Context, op: ModuleOp) -> None:
        if _RUN.get() is None and _WATCH.get() is None and (os.environ.get(LIMIT) or _is_logged(self)):
            run_passes((self,), ctx, op)
        else:
            apply(self, ctx, op)

    transform.apply = watched
    return transform


def run_inner(passes: Sequence[ModulePass], ctx: Context, module: ModuleOp) -> None:
    """Applies passes that another pass is made of, each watched under its own name where that one is watched."""
    run = _RUN.get()
    for transform in passes:
        if run is None:
            transform.apply(ctx, module)
        else:
            _run_pass(transform, ctx, module, run.watch)


def _is_logged(transform: ModulePass) -> bool:
    return logger(transform.name).isEnabledFor(logging.INFO)


def _run_pass(transform: ModulePass, ctx: Context, module: ModuleOp, watch: Watch | None) -> None:
    if watch is not None and not watch.allows(transform.name):
        return
    before, start = watch.totals[ALL] if watch else 0, time.perf_counter()
    token = _RUN.set(_Run(transform.name, watch))
    try:
        transform.apply(ctx, module)
    finally:
        _RUN.reset(token)
    if watch is None:
        return
    seconds = time.perf_counter() - start
    watch.seconds[transform.name] = watch.seconds.get(transform.name, 0) + seconds
    count = watch.totals[ALL] - before
    if not count:
        watch.record(transform.name, f"{transform.name} as a whole", None)
    logger(transform.name).info("%d applications, %.1f ms", count, seconds * 1000)


@contextmanager
def _walkers_that_tell() -> Generator[None]:
    """xDSL's walkers apply patterns that are watched."""
    stock = PatternRewriteWalker.rewrite_region

    def rewrite_region(self: PatternRewriteWalker, region: Region) -> bool:
        run = _RUN.get()  # of this thread: others may be about programs of their own
        return stock(self if run is None else _telling(self, run), region)

    PatternRewriteWalker.rewrite_region = rewrite_region
    try:
        yield
    finally:
        PatternRewriteWalker.rewrite_region = stock


def _telling(walker: PatternRewriteWalker, run: _Run) -> PatternRewriteWalker:
    """A walker whose patterns are watched, and of which what they build inherits."""
    heir = Heir()
    listener = replace(
        walker.listener,
        operation_insertion_handler=[*walker.listener.operation_insertion_handler, heir.inserted],
    )
    return replace(walker, pattern=_told(walker.pattern, run, heir), listener=listener)


def _told(pattern: RewritePattern, run: _Run, heir: Heir | None) -> RewritePattern:
    if run.watch is not None:
        match pattern:
            case GreedyRewritePatternApplier():
                parts = [_told(part, run, heir) for part in pattern.rewrite_patterns]
                pattern = replace(pattern, rewrite_patterns=parts)
            case CanonicalizationRewritePattern():
                return ToldCanonicalizations(run, heir)
            case _:
                pass
    return Told(pattern, run, heir)


def told(pattern: RewritePattern) -> RewritePattern:
    """A pattern as it is applied where the pass at work is watched."""
    run = _RUN.get()
    return pattern if run is None or run.watch is None else _told(pattern, run, None)


@dataclass(eq=False, repr=False)
class Heir:
    """Gives to operations without location and origin those of the operation that is being rewritten."""

    parent: Operation | None = None

    def inserted(self, op: Operation) -> None:
        """Hears of an operation that was inserted."""
        if self.parent is None:
            return
        for made in op.walk():
            if isinstance(made.location, UnknownLoc):
                made.location = self.parent.location
            if ORIGIN in self.parent.attributes:
                made.attributes.setdefault(ORIGIN, self.parent.attributes[ORIGIN])


@dataclass(eq=False, repr=False)
class Told(RewritePattern):
    """A pattern whose applications are watched."""

    pattern: RewritePattern
    run: _Run
    heir: Heir | None

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        transform, watch = self.run.transform, self.run.watch
        if self.heir is not None:
            self.heir.parent = op
        if watch is None:
            self.pattern.match_and_rewrite(op, rewriter)
        elif watch.allows(transform):
            recorded, acted, rewriter.has_done_action = watch.totals[ALL], rewriter.has_done_action, False
            self.pattern.match_and_rewrite(op, rewriter)
            if rewriter.has_done_action and watch.totals[ALL] == recorded:  # not a part's
                watch.record(transform, label(self.pattern, op), op)
            rewriter.has_done_action |= acted


@dataclass(eq=False, repr=False)
class ToldCanonicalizations(RewritePattern):
    """xDSL's `CanonicalizationRewritePattern`, each pattern of an operation's watched."""

    run: _Run
    heir: Heir | None

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        for trait in op.get_traits_of_type(HasCanonicalizationPatternsTrait):
            for pattern in trait.get_patterns(type(op)):
                Told(pattern, self.run, self.heir).match_and_rewrite(op, rewriter)
                if rewriter.has_done_action:
                    return


def label(pattern: RewritePattern, op: Operation) -> str:
    """What a pattern is called that was applied to an operation: what it says itself, or its class."""
    from xdsl.dialects.pdl import PatternOp
    from xdsl.interpreters.pdl import PDLRewritePattern  # an interpreter, for who does not watch

    match pattern:
        case Labelled():
            return pattern.label(op)
        case GreedyRewritePatternApplier():
            return "fold or erase"
        case PDLRewritePattern(pdl_rewrite_op=rewrite):
            said = rewrite.parent_op()
            name = said.sym_name if isinstance(said, PatternOp) else None
            return type(pattern).__name__ if name is None else f"@{name.data}"
        case _:
            return type(pattern).__name__


class Labelled(RewritePattern):
    """A pattern that says what it is called."""

    def label(self, op: Operation) -> str:
        """What it is called where it was applied to an operation."""
        return type(self).__name__
