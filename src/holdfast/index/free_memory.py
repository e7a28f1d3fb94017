"""Give memory that is free in this process back to the system.

The allocator of C keeps what was freed between parts that are in use. A build that frees large
arrays and syntax trees again and again would hold a third more than it uses.
"""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def _trim() -> Any:
    """The allocator's function for it; None where there is none."""
    import ctypes

    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None


def give_back() -> None:
    """Takes a few milliseconds; does nothing where the allocator cannot do it."""
    trim = _trim()
    if trim is not None:
        trim(0)
