"""How facts and names are compressed, in an index and in the content cache."""

from __future__ import annotations

import zlib

LEVEL = 4
"""The compression level: as fast as 1 with values of this size; higher levels gain little."""


def packed(value: bytes) -> bytes:
    return zlib.compress(value, LEVEL)


def unpacked(stored: bytes) -> bytes | None:
    """The inverse of `packed`; None for anything else."""
    try:
        return zlib.decompress(stored)
    except zlib.error:
        return None
