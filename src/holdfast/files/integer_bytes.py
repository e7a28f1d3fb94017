"""Integers as bytes: one after the other, little endian."""

from __future__ import annotations

import sys
from array import array


def pack(numbers: array[int]) -> bytes:
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers.tobytes()


def unpack(kind: str, data: bytes) -> array[int]:
    """`kind` is the type code of an array; raises ValueError if these are not whole numbers."""
    numbers = array(kind, data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
