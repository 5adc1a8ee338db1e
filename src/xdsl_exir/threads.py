"""What threads share, and the child of a fork inherits: locks that no fork leaves held, and values made once for all."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Hashable
from functools import cache, wraps
from typing import Any, TypeVar

T = TypeVar("T")


class Lock:
    """A lock that the thread which holds it may take again. In the child of a fork it is free, unless the thread that forked
    held it: the others, and what they were about, do not exist there."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _LOCKS.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def renew(self) -> None:
        """Frees the lock if another thread holds it, in a process in which there is no other thread."""
        if self._lock.acquire(blocking=False):
            self._lock.release()
        else:
            self._lock = threading.RLock()


_LOCKS: weakref.WeakSet[Lock] = weakref.WeakSet()


def _renew_locks() -> None:
    for lock in list(_LOCKS):
        lock.renew()


os.register_at_fork(after_in_child=_renew_locks)


def lock_against_forks() -> threading.RLock:
    """A lock to hold while something is at work that a fork must not find half done, such as LLVM, whose own locks a child
    would inherit taken: a fork waits for it."""
    lock = threading.RLock()
    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


def once(function: Callable[..., T]) -> Callable[..., T]:
    """`functools.cache` for what must not be made twice: threads that ask at the same time get the same object."""
    made: dict[tuple[Hashable, ...], T] = {}
    lock = Lock()

    @cache
    @wraps(function)
    def first(*key: Any) -> T:
        with lock:
            if key not in made:
                made[key] = function(*key)
            return made[key]

    return first
