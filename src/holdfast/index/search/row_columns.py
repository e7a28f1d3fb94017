"""The columns of a corpus's rows, such as their lengths, over several segments.

The columns of a small corpus are joined into one array, which is quickest to read. Those of a large
one would take more memory than anything else that a search keeps, and a question looks at few of
the rows; so they stay in the segments, which are mapped into memory, and are read from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

JOINED_ROWS_MAX = 400_000
"""The columns of a corpus with more rows are not joined."""
RUNS_FOR_EACH_PIECE = 4
"""Rows that change more often from segment to segment are sorted before they are read."""


class Column:
    """One or more values for each row; `column[rows]` has those of some rows."""

    def __init__(
        self,
        pieces: Sequence[NDArray[Any]],
        firsts: Sequence[int],
        kind: type[Any],
        joined_rows_max: int = JOINED_ROWS_MAX,
    ) -> None:
        """`firsts` has the first row of each piece. Values are returned as `kind`."""
        import numpy as np

        total = sum(map(len, pieces))
        if len(pieces) != 1 and total <= joined_rows_max:
            joined = np.concatenate(pieces) if pieces else np.empty(0, dtype=kind)
            pieces, firsts = [joined.astype(kind, copy=False)], [0]
        self.pieces, self._kind = pieces, np.dtype(kind)
        self._firsts = np.array(firsts, dtype=np.int64)

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        import numpy as np

        if len(self.pieces) == 1:
            return np.asarray(self.pieces[0][rows], dtype=self._kind)
        wanted = np.atleast_1d(rows)
        out = np.empty((len(wanted), *self.pieces[0].shape[1:]), dtype=self._kind)
        for piece, own, at in self._in_pieces(wanted):
            out[own] = piece.take(at, axis=0)
        return out if np.ndim(rows) else out[0]

    def cells(self, rows: NDArray[np.int64], fields: NDArray[np.uint8]) -> NDArray[Any]:
        """One of the values of each of these rows."""
        import numpy as np

        out = np.empty(len(rows), dtype=self._kind)
        for piece, own, at in self._in_pieces(rows):
            at *= piece.shape[1]
            at += fields[own]
            out[own] = piece.reshape(-1).take(at)
        return out

    def _in_pieces(
        self, rows: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[Any], Any, NDArray[np.int64]]]:
        """The pieces that have some of the rows: which of them, and where in the piece."""
        import numpy as np

        if len(self.pieces) == 1:
            yield self.pieces[0], slice(None), rows - 0
            return
        numbers = self._firsts.searchsorted(rows, side="right") - 1
        bounds = (np.flatnonzero(numbers[1:] != numbers[:-1]) + 1).tolist()
        if len(bounds) < RUNS_FOR_EACH_PIECE * len(self.pieces):
            for low, high in zip([0, *bounds], [*bounds, len(rows)], strict=True):
                if low < high:
                    number = int(numbers[low])
                    yield (
                        self.pieces[number],
                        slice(low, high),
                        rows[low:high] - self._firsts[number],
                    )
            return
        order = np.argsort(numbers, kind="stable")
        ends = np.cumsum(np.bincount(numbers, minlength=len(self.pieces))).tolist()
        for number, (low, high) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
            if low < high:
                own = order[low:high]
                yield self.pieces[number], own, rows[own] - self._firsts[number]


class Ties:
    """Decides between equal scores: by path, then by position in the file."""

    def __init__(self, ranks: NDArray[np.int64], file_of: NDArray[Any], ordinals: Column) -> None:
        """`ranks` has the place of each file in the order of paths."""
        self._ranks, self._file_of, self._ordinals = ranks, file_of, ordinals

    def __getitem__(self, rows: Any) -> NDArray[np.int64]:
        found: NDArray[np.int64] = (self._ranks[self._file_of[rows]] << 32) + self._ordinals[rows]
        return found

    def take(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The same of some rows."""
        return self[rows]
