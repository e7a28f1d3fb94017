"""A team's rows with a local copy, so that each is fetched once and usable offline.

Rows never change under their key, so the copy is never out of date. It is derived data: `clear`
removes a damaged file, and its rows are fetched again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from holdfast.errors import CodeIndexError
from holdfast.index.shared.rows import Seal
from holdfast.index.shared.store import ASK_MAX, SharedStore


class CachedRows:
    """Checked rows; missing and damaged ones are left out."""

    def __init__(self, local: SharedStore, remote: SharedStore | None, seal: Seal) -> None:
        self._local, self._remote, self._seal = local, remote, seal

    def get(self, keys: Sequence[bytes], *, ask: bool = True) -> dict[bytes, memoryview]:
        """The values under these keys, from the local copy first; never raises."""
        rows: dict[bytes, memoryview] = {}
        with suppress(CodeIndexError):
            rows = self._opened(self._local.get(keys).items())
        missing = [key for key in keys if key not in rows]
        if not missing or self._remote is None or not ask:
            return rows
        try:
            for at in range(0, len(missing), ASK_MAX):
                fetched = dict(self._remote.get(missing[at : at + ASK_MAX]))
                opened = self._opened(fetched.items())
                rows |= opened
                with suppress(CodeIndexError):
                    self._local.put([(key, fetched[key]) for key in opened], replace=True)
        except CodeIndexError:
            return rows
        return rows

    def _opened(self, stored: Iterable[tuple[bytes, bytes]]) -> dict[bytes, memoryview]:
        opened = ((key, self._seal.open(key, data)) for key, data in stored)
        return {key: value for key, value in opened if value is not None}

    def whole(self, keys: Sequence[bytes]) -> bytes | None:
        """The values under all keys, joined; None if one is missing."""
        parts = []
        for key in keys:  # One at a time: each may be megabytes large.
            part = self.get([key]).get(key)
            if part is None:
                return None
            parts.append(part)
        return b"".join(parts)

    def close(self) -> None:
        self._local.close()
