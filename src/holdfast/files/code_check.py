"""A checksum of modules of this package, for what is stored and depends on their decisions."""

from __future__ import annotations

import zlib
from pathlib import Path


def code_check(*names: str) -> int | None:
    """The checksum of these modules' source; None if it cannot be read.

    To be taken when a module is imported: an upgrade may replace the files while a process goes on
    with the code that it has loaded.
    """
    check = 0
    try:
        for name in names:
            check = zlib.crc32(Path(__file__).with_name(name).read_bytes(), check)
    except OSError:
        return None
    return check
