"""Names keep one number each, also when several searches ask at once."""

from __future__ import annotations

import sys
import threading
import zlib
from typing import Any, cast

import numpy as np
import pytest

from holdfast.index.search.fields import Field
from holdfast.index.search.name_table import Named, NameTable
from holdfast.index.search.posting_segment import PostingSegment


class Defining:
    """A segment that defines some names, one in each row."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.stored_tables = None
        hashes = np.array([zlib.crc32(name.encode()) for name in names], dtype=np.uint64)
        self.exact_terms: Any = (hashes, np.arange(len(names) + 1))
        self._rows = np.arange(len(names), dtype=np.uint16)
        self._counts = np.full(len(names), (Field.NAME << 5) + 1, dtype=np.uint8)

    def run(self, low: int, high: int) -> tuple[Any, Any]:
        return self._rows[low:high], self._counts[low:high]


@pytest.mark.shows("SEARCH-CORPUS-FOLLOWS")
def test_no_number_is_given_to_two_names() -> None:
    segments = [Defining([f"name_{(7 * n + k) % 9_000}" for k in range(3_000)]) for n in range(24)]
    callables = NameTable()
    found: dict[int, Named] = {}
    begin = threading.Barrier(6)

    def ask(at: int) -> None:
        begin.wait()
        for number in range(at, len(segments), 6):
            found[number] = callables.of(cast(PostingSegment, segments[number]))

    pace = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=ask, args=(at,)) for at in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(pace)
    numbers: dict[str, int] = {}
    for number, segment in enumerate(segments):
        for name, given in zip(segment.names, found[number].defined.tolist(), strict=True):
            assert numbers.setdefault(name, given) == given
    assert sorted(numbers.values()) == list(range(len(numbers)))
