"""Trees of a given number of files, from a large directory and from changed copies of it.

A copy is changed so that its files share no work with the others: in copy 2, every capitalised name
of ten letters and more ends with `Copy2`, everywhere alike, so that calls still reach what they
reached and the words of an index grow as they do with other packages. A file without such a name
ends with another line break.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from holdfast.files import disk
from holdfast.files.policy import Policy

_NAME = re.compile(rb"\b[A-Z][A-Za-z]{9,}\b")


def evenly(paths: Sequence[str], count: int) -> list[str]:
    """So many paths, in equal steps."""
    step = max(1.0, len(paths) / count)
    return sorted({paths[min(len(paths) - 1, int(n * step))] for n in range(count)})


def changed(source: bytes, copy: int) -> bytes:
    """A file's bytes in the copy with this number, which begins with 2."""
    marked, times = _NAME.subn(rb"\g<0>Copy%d" % copy, source)
    return marked if times else source + b"\n" * (copy - 1)


def parts(paths: Sequence[str], files: int) -> Iterator[tuple[int, Sequence[str]]]:
    """The number of each copy, the first being the tree itself, and the files it has."""
    copy = 1
    while files > 0 and paths:
        yield copy, paths if files >= len(paths) else evenly(paths, files)
        files -= len(paths)
        copy += 1


def make_tree(source: Path, files: int, into: Path) -> int:
    """So many files of a directory and of changed copies; returns their size in bytes."""
    paths = sorted(disk.walk(str(source), Policy()).stats)
    total = 0
    for copy, chosen in parts(paths, files):
        root = into if copy == 1 else into / f"copy{copy}"
        for path in chosen:
            place = root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            if copy == 1:
                shutil.copy2(source / path, place)
            else:
                place.write_bytes(changed((source / path).read_bytes(), copy))
            total += place.stat().st_size
    return total
