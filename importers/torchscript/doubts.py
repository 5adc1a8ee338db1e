"""Which storages may be one: nobody knows where data, strides or how often a loop turns decide.

A write to one of them makes the others stale: it is not known whether it wrote to them as well. Only what is stale and used is an error.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Doubts:
    """What is known of storages, by their ids. Texts say whose they are, and why nobody knows."""

    pairs: dict[int, dict[int, str]] = field(default_factory=dict[int, dict[int, str]])
    """Those that may be one."""
    tied: dict[int, str] = field(default_factory=dict[int, str])
    """Those that may be one with others that the graph does not see."""
    stale: dict[int, str] = field(default_factory=dict[int, str])
    """Those of which it is not known what they hold."""

    def add(self, one: int, other: int, why: str) -> None:
        """Notes that two may be one."""
        if one != other:
            self.pairs.setdefault(one, {})[other] = why
            self.pairs.setdefault(other, {})[one] = why

    def __contains__(self, storage: int) -> bool:
        return storage in self.pairs or storage in self.tied

    def linked(self, storage: int) -> dict[int, str]:
        """Those that one may be, by a chain of pairs, and what the last of them says; none for itself."""
        found, waiting = {storage: ""}, [storage]
        while waiting:
            for near, why in self.pairs.get(waiting.pop(), {}).items():
                if near not in found:
                    found[near] = why
                    waiting.append(near)
        return found

    def hidden(self, storage: int) -> str | None:
        """Whose a storage may be that the graph does not see; None where there is none."""
        found = ((why or self.tied[near]) for near, why in self.linked(storage).items() if near in self.tied)
        return next(found, None)

    def others(self, storage: int) -> dict[int, str]:
        """Those that become stale by a write."""
        return {near: why for near, why in self.linked(storage).items() if near != storage}
