"""Checksums of stored rows, so that damage is noticed and damaged data is never used.

Each row has a CRC-32 of its values and of what it belongs to, so a row that is found under another
file's number or path fails as well. A CRC-32 notices every change of a few bits; it does not
protect against someone who can write the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from zlib import crc32

import msgspec

__all__ = ["blob_check", "crc32", "encode", "mapping_check", "row_check"]

encode = msgspec.msgpack.Encoder().encode
"""Encodes the values of a checksum. Loops over many rows call it and `crc32` directly."""


def row_check(values: tuple[Any, ...]) -> int:
    """The checksum of a row of plain values."""
    return crc32(encode(values))


def blob_check(path: str, *blobs: bytes) -> int:
    """The checksum of the large values that belong to a file."""
    check = crc32(path.encode("utf-8", "surrogatepass"))
    for blob in blobs:
        check = crc32(blob, check)
    return check


def mapping_check(values: Mapping[str, Any]) -> int:
    """The checksum of named values, in any order."""
    return crc32(encode(sorted(values.items(), key=lambda item: str(item[0]))))
