"""Names that code defines and calls, numbered once for all segments of a tree.

How much a name is called depends on every file, so it is counted anew for each generation. What
does not change with it are the entries of a segment: they are sorted out once, by numbers that stay
the same as long as segments come and go.
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
    """Where names are called and where they are defined: a name's number and a row, for each."""

    called: Numbers
    called_in: Numbers
    defined: Numbers
    defined_in: Numbers


class NameTable:
    """The numbers of names."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._known: WeakKeyDictionary[PostingSegment, Named] = WeakKeyDictionary()
        self._lock = threading.Lock()
        """Searches go on at once, and a number must not be given to two names."""

    def __len__(self) -> int:
        return len(self._numbers)

    def of(self, segment: PostingSegment) -> Named:
        """The names of a segment."""
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
