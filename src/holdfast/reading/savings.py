"""What a session saved so far, estimated from the answers in its window."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.reading import javascript
from holdfast.reading.meta import MODES
from holdfast.reading.tree import Served

if TYPE_CHECKING:
    from holdfast.reading.report import Saved


@dataclass(frozen=True, slots=True)
class Savings:
    """Answers by mode, and the bytes that plain reads would have sent on top."""

    counts: Mapping[str, int]
    saved_bytes: int

    @property
    def tokens(self) -> int:
        """Four bytes to a token, rounded up."""
        return math.ceil(self.saved_bytes / 4)

    def report(self) -> Saved:
        from holdfast.reading.report import Saved

        return Saved(self.saved_bytes, self.tokens)


def estimate(answers: Iterable[Served]) -> Savings:
    """Expected size of each answer's lines, less what was sent, never below zero.

    An answer that was cut at the limits saved nothing: a plain read would have been cut as well.
    """
    counts = dict.fromkeys(MODES, 0)
    saved = 0
    for answer in answers:
        counts[answer.mode] += 1
        if answer.truncated or not answer.served_bytes:
            continue
        share = min(1.0, (answer.last - answer.first + 1) / answer.lines_total)
        expected = max(1, javascript.rounded(answer.size_bytes * share))
        saved += max(0, expected - answer.served_bytes)
    return Savings(counts, saved)
