"""Numbers for the names that code defines and calls, shared by all segments of a tree.

How often a name is called depends on every file, so it is counted again for each generation. The
entries of a segment do not change: they are extracted once, by numbers that stay valid while
segments are added and removed.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from holdfast.index.search.fields import Field

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.search.posting_segment import PostingSegment

    Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Named:
    """The calls and definitions of a segment, each as a name's number and a row."""

    called: Numbers
    called_in: Numbers
    defined: Numbers
    defined_in: Numbers


class NameTable:
    """Assigns a number to each name."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._known: WeakKeyDictionary[PostingSegment, Named] = WeakKeyDictionary()
        self._lock = threading.Lock()
        """Searches run concurrently, and two names must not get the same number."""

    def __len__(self) -> int:
        return len(self._numbers)

    def of(self, segment: PostingSegment) -> Named:
        """The calls and definitions of a segment."""
        with self._lock:
            found = self._known.get(segment)
            if found is None:
                found = self._known[segment] = self._sorted_out(segment)
            return found

    def _sorted_out(self, segment: PostingSegment) -> Named:
        import numpy as np

        numbers = self._numbers
        names, starts, low, high = segment.exact_terms
        of_terms = np.fromiter(
            (numbers.setdefault(name, len(numbers)) for name in names), np.int64, len(names)
        )
        of_entries = np.repeat(of_terms, np.diff(starts))
        rows = segment.entry_rows[low:high].astype(np.int64)
        fields = segment.entry_counts[low:high] >> 5
        called, defined = fields == Field.CALL, fields == Field.NAME
        return Named(of_entries[called], rows[called], of_entries[defined], rows[defined])
