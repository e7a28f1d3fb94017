"""The mount table: what is mounted inside a tree, and on which kind of file system it is."""

from __future__ import annotations

import os
import re
from pathlib import Path

TRUSTED_KINDS = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "tmpfs"})
"""File systems that update the times of a directory whenever a name is added or removed. Others may
do so as well, but there every directory is listed again each time."""


def is_trusted(root: str) -> bool:
    """Whether a tree is on a file system of which we know what its directories' times say."""
    try:
        table = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return False
    return kind_at(table, os.path.realpath(root)) in TRUSTED_KINDS


def kind_at(table: str, path: str) -> str:
    """The kind of the file system at a path, by a table in the form of `mountinfo`; "" if none."""
    best, kind = "", ""
    for line in table.split("\n"):
        row, _, rest = line.partition(" - ")
        fields = row.split(" ", 5)
        if len(fields) > 4:
            point = _ESCAPE.sub(_unescaped, fields[4])
            above = point.rstrip("/") + "/"
            # Of several at one place the last is the one that is seen.
            if f"{path}/".startswith(above) and len(above) >= len(best):
                best, kind = above, rest.split(" ", 1)[0]
    return kind


def mounted_below(root: str) -> frozenset[str] | None:
    """The keys at which file systems are mounted in a tree; None when the system does not say.

    Asking once spares a system call for every directory: nothing else can be on another disk.
    """
    try:
        table = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    points = mount_points(table)
    if not points:
        return None
    above = os.path.realpath(root).rstrip("/") + "/"
    return frozenset(point[len(above) :] for point in points if point.startswith(above))


def mount_points(table: str) -> frozenset[str]:
    """The mount points that a table in the form of `mountinfo` names."""
    rows = (line.split(" ", 5) for line in table.split("\n"))
    return frozenset(_ESCAPE.sub(_unescaped, row[4]) for row in rows if len(row) > 5)


_ESCAPE = re.compile(r"\\([0-7]{3})")


def _unescaped(match: re.Match[str]) -> str:
    return chr(int(match[1], 8))
