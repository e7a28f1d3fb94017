"""How facts and names are compressed, in an index and in the content cache."""

from __future__ import annotations

import zlib

LEVEL = 1
"""The compression level: 4 takes a quarter more time and saves 2 % of the source's size."""


def packed(value: bytes) -> bytes:
    return zlib.compress(value, LEVEL)


def unpacked(stored: bytes) -> bytes | None:
    """The inverse of `packed`; None for anything else."""
    try:
        return zlib.decompress(stored)
    except zlib.error:
        return None
