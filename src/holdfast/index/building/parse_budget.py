"""A limit on the total time for files that cannot be parsed in time, for one tree.

A single hostile file is stopped by its own limit, which is a hundred times the usual time, so that
normal files never reach it. A tree full of them would still take hours. So the limit of each file
that is given up is charged to a budget. After the first ones, the limit is lowered to twenty times
the usual time for the rest of the run. When the whole budget is spent, large files in the languages
concerned are kept as text without being parsed; other languages are not affected.

May keep a normal file as text in a tree with many hostile ones. Never parses without end.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from holdfast.files.policy import language_of
from holdfast.index.facts.parse import SHORT_BYTES, full_seconds

SHARE = 0.2
"""The share of its time limit that a file has after `first_s` seconds were spent."""


class Allowance(msgspec.Struct, frozen=True, array_like=True):
    """What a worker may do now: the share of each time limit, and the languages left as text."""

    share: float = 1.0
    unparsed: tuple[str, ...] = ()

    def parses(self, path: str, size_bytes: int) -> bool:
        return size_bytes <= SHORT_BYTES or language_of(path) not in self.unparsed


@dataclass(slots=True)
class ParseBudget:
    """The seconds that hostile files may take before limits are lowered, and in total."""

    first_s: float = 10.0
    all_s: float = 30.0
    spent_s: float = 0.0
    _languages: set[str] = field(default_factory=set)

    def allowance(self) -> Allowance:
        if self.spent_s < self.first_s:
            return Allowance()
        spent = self.spent_s >= self.all_s
        return Allowance(SHARE, tuple(sorted(self._languages)) if spent else ())

    @property
    def given_up(self) -> bool:
        """Whether a file was given up."""
        return bool(self._languages)

    def spend(self, size_bytes: int) -> None:
        """Charge the time limit for a stopped parse of this many bytes."""
        self.spent_s += full_seconds(size_bytes) * self.allowance().share

    def charge(self, path: str, size_bytes: int) -> None:
        """The same for a file that is given up; its language may not be parsed any more."""
        self.spend(size_bytes)
        self._languages.add(language_of(path))
