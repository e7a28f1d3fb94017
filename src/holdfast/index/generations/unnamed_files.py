"""Data that came from a server, in a file without a name, mapped into memory.

What is mapped is read as far as a question needs it, and the system may drop its pages at any time;
bytes in memory stay there whole. The file has no name, so it ends with the process.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from mmap import ACCESS_READ, mmap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def mapped_parts(parts: Iterable[bytes | memoryview], directory: Path | None = None) -> mmap:
    """The parts, joined; raises OSError if there is no room, ValueError if there is nothing."""
    with tempfile.TemporaryFile(dir=directory, prefix="holdfast-") as file:
        for part in parts:
            file.write(part)
        file.flush()
        return mmap(file.fileno(), 0, access=ACCESS_READ)
