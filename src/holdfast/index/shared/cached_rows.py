"""A team's rows with a local copy, so that each is fetched once and usable offline.

Rows never change under their key, so the copy is never out of date. It is derived data: `clear`
removes a damaged file, and its rows are fetched again.

A server that is frozen costs its deadline with each request, and one answer may need many. So after
a failure the server is left alone for a while, and answers come from the copy and from files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from mmap import mmap
from pathlib import Path

from holdfast import system
from holdfast.errors import CodeIndexError
from holdfast.index.generations.unnamed_files import mapped_parts
from holdfast.index.shared.rows import Seal
from holdfast.index.shared.store import ASK_MAX, SharedStore

AWAY_S = 30.0
"""How long a server that failed is not asked again, at least."""

AWAY_TIMES = 10
"""The same, in times of how long it took to fail: a refusal costs nothing, a deadline 20 seconds,
which agents would otherwise wait for in every minute.
"""


class CachedRows:
    """Checked rows; missing and damaged ones are left out."""

    def __init__(
        self,
        local: SharedStore,
        remote: SharedStore | None,
        seal: Seal,
        clock: Callable[[], float] = system.monotonic,
        directory: Path | None = None,
    ) -> None:
        """`directory` is where values may be put into files without a name."""
        self._local, self._remote, self._seal = local, remote, seal
        self._directory = directory
        self._clock, self._away_until = clock, 0.0
        self._failure: CodeIndexError | None = None

    @property
    def failure(self) -> CodeIndexError | None:
        """How the server failed, if that is so recent that it is not asked."""
        return self._failure if self._clock() < self._away_until else None

    def back(self) -> None:
        """Ask the server again: it has just answered."""
        self._away_until = 0.0

    def get(self, keys: Sequence[bytes], *, ask: bool = True) -> dict[bytes, memoryview]:
        """The values under these keys, from the local copy first; never raises."""
        rows: dict[bytes, memoryview] = {}
        with suppress(CodeIndexError):
            rows = self._opened(self._local.get(keys).items())
        missing = [key for key in keys if key not in rows]
        if not missing or self._remote is None or not ask or self.failure is not None:
            return rows
        begun = self._clock()
        try:
            for at in range(0, len(missing), ASK_MAX):
                fetched = dict(self._remote.get(missing[at : at + ASK_MAX]))
                opened = self._opened(fetched.items())
                rows |= opened
                with suppress(CodeIndexError):
                    self._local.put([(key, fetched[key]) for key in opened], replace=True)
        except CodeIndexError as error:
            now = self._clock()
            self._failure = error
            self._away_until = now + max(AWAY_S, AWAY_TIMES * (now - begun))
        return rows

    def _opened(self, stored: Iterable[tuple[bytes, bytes]]) -> dict[bytes, memoryview]:
        opened = ((key, self._seal.open(key, data)) for key, data in stored)
        return {key: value for key, value in opened if value is not None}

    def whole(self, keys: Sequence[bytes]) -> bytes | None:
        """The values under all keys, joined; None if one is missing."""
        with suppress(KeyError):
            return b"".join(self._parts(keys))
        return None

    def mapped(self, keys: Sequence[bytes]) -> mmap | bytes | None:
        """The same in a mapped file; in memory if there is no room for one."""
        try:
            return mapped_parts(self._parts(keys), self._directory)
        except KeyError:
            return None
        except (OSError, ValueError):
            return self.whole(keys)

    def _parts(self, keys: Sequence[bytes]) -> Iterator[memoryview]:
        for key in keys:  # One at a time: each may be megabytes large.
            yield self.get([key])[key]

    def close(self) -> None:
        self._local.close()
