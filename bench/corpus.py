"""A tree of real source files for the benchmarks, gathered from this machine."""

from __future__ import annotations

import hashlib
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

SUFFIXES = {".py", ".js", ".ts", ".c", ".h", ".cpp", ".hpp", ".rs", ".go", ".java"}
SIZE_MAX = 400_000


def default_roots() -> list[Path]:
    """The interpreter's own library and what is installed beside it."""
    paths = sysconfig.get_paths()
    roots = [Path(paths["stdlib"]), Path(paths["purelib"]), Path(sys.base_prefix)]
    return list(dict.fromkeys(root.resolve() for root in roots))


def sources(roots: Sequence[Path]) -> Iterator[tuple[str, bytes]]:
    """Every distinct source file below the roots, in a fixed order, as (name, bytes)."""
    seen: set[bytes] = set()
    number = 0
    for root in roots:
        for path in sorted(root.rglob("*")):
            if path.suffix not in SUFFIXES or not path.is_file() or path.is_symlink():
                continue
            data = path.read_bytes()
            digest = hashlib.sha256(data).digest()
            if len(data) > SIZE_MAX or digest in seen or b"\0" in data:
                continue
            seen.add(digest)
            number += 1
            yield f"{number:06d}-{path.name}", data


def gather(directory: Path, roots: Sequence[Path], size_bytes: int) -> int:
    """Fill `directory` with about so many bytes of source; returns how many there are."""
    directory.mkdir(parents=True, exist_ok=True)
    total = 0
    for name, data in sources(roots):
        if total + len(data) > size_bytes:
            break
        folder = directory / name[:4]
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
        total += len(data)
    return total
