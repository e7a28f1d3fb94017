"""Blocks of a mapped file are checked when they are needed, the last few of a range with them."""

from __future__ import annotations

from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from holdfast.index.errors import DamagedBackend
from holdfast.index.generations.segment_files import BLOCK_BYTES, FEW_LEFT, CheckedFile

BLOCKS = 4 * FEW_LEFT
DAMAGED = 5


@pytest.fixture
def file(tmp_path: Path) -> CheckedFile:
    """A file whose block DAMAGED has another byte than when its checks were made."""
    data = bytearray(np.random.default_rng(1).bytes(BLOCKS * BLOCK_BYTES))
    starts = range(0, len(data), BLOCK_BYTES)
    checks = b"".join(crc32(data[at : at + BLOCK_BYTES]).to_bytes(4, "little") for at in starts)
    data[DAMAGED * BLOCK_BYTES] ^= 1
    path = tmp_path / "file"
    path.write_bytes(data)
    return CheckedFile(path, len(data), checks)


def starts_of(blocks: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(blocks, dtype=np.int64) * BLOCK_BYTES


def test_a_damaged_block_is_told_only_to_who_needs_it(file: CheckedFile) -> None:
    others = [block for block in range(BLOCKS) if block not in (DAMAGED, DAMAGED + 1)]
    for _ in range(2):
        file.need_each(starts_of(others), 8)
    with pytest.raises(DamagedBackend):
        file.need_each(starts_of([DAMAGED]), 8)
    with pytest.raises(DamagedBackend):
        file.need_each(starts_of([DAMAGED - 1]) + BLOCK_BYTES - 4, 8)


def test_the_last_few_blocks_of_a_range_are_checked_with_the_others(file: CheckedFile) -> None:
    file.need_each(starts_of([0, BLOCKS - 1]), 8)
    assert sum(file._seen) == 2, "most blocks of the range are not needed yet"
    file.need_each(starts_of([block for block in range(BLOCKS) if block % FEW_LEFT != DAMAGED]), 8)
    assert [block for block in range(BLOCKS) if not file._seen[block]] == [DAMAGED]
