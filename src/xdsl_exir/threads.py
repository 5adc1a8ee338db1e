"""What threads share, and the child of a fork inherits: locks that no fork leaves held, and values made once for all."""

from __future__ import annotations

import _imp
import functools
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from importlib import _bootstrap  # pyright: ignore
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


# --- what a fork waits for -----------------------------------------------------------------------------------


def lock_against_forks() -> threading.RLock:
    """A lock to hold while something is at work that a fork must not find half done: a fork waits for it."""
    lock = threading.RLock()
    _WAITED_FOR.insert(0, lock)
    return lock


def wait_for_in_forks(lock: AbstractContextManager[Any]) -> None:
    """Has forks wait for a lock of another library's, that a child would inherit taken. Who holds it takes none of the above."""
    _WAITED_FOR.append(lock)


class Unforked:
    """What is at work here no fork finds half done, whoever else is: a fork waits for the other threads that are, and lets no thread begin. It is
    waited for before all locks, which these threads may take."""

    def __init__(self) -> None:
        self._changed = threading.Condition(threading.Lock())
        """Whose lock the thread that forks holds until it has, so that no child inherits it from another."""
        self._depth: dict[int, int] = {}
        """By thread, how often it entered."""
        self._forks = 0
        """That wait or are under way: threads that come later wait for them, or some might be at work at every time."""

    def __enter__(self) -> None:
        me = threading.get_ident()
        with self._changed:
            if me not in self._depth:
                self._changed.wait_for(lambda: not self._forks)
            self._depth[me] = self._depth.get(me, 0) + 1

    def __exit__(self, *_: object) -> None:
        me = threading.get_ident()
        with self._changed:
            self._depth[me] -= 1
            if not self._depth[me]:
                del self._depth[me]
                self._changed.notify_all()

    def before_fork(self) -> None:
        me = threading.get_ident()
        self._changed.acquire()
        self._forks += 1
        self._changed.wait_for(lambda: self._depth.keys() <= {me})

    def after_fork(self, in_child: bool = False) -> None:
        self._forks = 0 if in_child else self._forks - 1
        self._changed.notify_all()
        self._changed.release()


UNFORKED = Unforked()

_WAITED_FOR: list[AbstractContextManager[Any]] = []
"""In the order in which they are taken."""
_held: list[AbstractContextManager[Any]] = []

PATIENCE = 5.0
"""Seconds that a fork waits for others' imports; they may themselves wait for the thread that forks."""


def _imports_of_others() -> bool:
    """Whether other threads are importing modules. In a child these would stay half made, and locked."""
    mine = (None, threading.get_ident())
    locks: list[Any] = [lock() for lock in list(_bootstrap._module_locks.values())]  # pyright: ignore
    return any(getattr(lock, "owner", None) not in mine for lock in locks)


def _before_fork() -> None:
    UNFORKED.before_fork()
    for lock in tuple(_WAITED_FOR):
        lock.__enter__()
        _held.append(lock)
    until = time.monotonic() + PATIENCE
    _imp.acquire_lock()  # no other thread begins to import a module
    while _imports_of_others() and time.monotonic() < until:
        _imp.release_lock()
        time.sleep(0.001)
        _imp.acquire_lock()


def _after_fork(in_child: bool = False) -> None:
    _imp.release_lock()
    while _held:
        _held.pop().__exit__(None, None, None)
    UNFORKED.after_fork(in_child)


def register_with_forks() -> None:
    """From now on forks wait for what is said here, and children have their locks free. Raises `ImportError` on systems without forks."""
    if not hasattr(os, "register_at_fork"):
        raise ImportError(
            f"xdsl-exir needs a system with forks, as Linux, and this is {sys.platform}: use it in WSL"
        )
    os.register_at_fork(after_in_child=_renew_locks)
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=lambda: _after_fork(in_child=True)
    )


def once(function: Callable[..., T]) -> Callable[..., T]:
    """`functools.cache` for what must not be made twice: threads that ask at the same time get the same object."""
    made: dict[tuple[Hashable, ...], T] = {}
    lock = Lock()

    @functools.cache
    @functools.wraps(function)
    def first(*key: Any) -> T:
        with lock:
            if key not in made:
                made[key] = function(*key)
            return made[key]

    return first


class cached_property(functools.cached_property[T]):  # noqa: TID251
    """That of `functools`, whose lock (Python has one before 3.12) is free in the child of a fork that found another thread at work on it."""

    def __init__(self, func: Callable[[Any], T]) -> None:
        super().__init__(func)
        self.lock = Lock()
