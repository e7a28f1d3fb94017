"""The newest lines of a log, for callers that need speed more than completeness."""

from __future__ import annotations

import os

from holdfast.files.regular import open_regular
from holdfast.reading.hosts.lines import objects

TAIL_BYTES = 6_000_000


def newest_objects(path: str, limit: int = TAIL_BYTES) -> list[object]:
    """The JSON values of a log's last lines, and of its first line, which has the task."""
    with open(open_regular(path), "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - limit))
        data = file.read(limit)
        head = b""
        if size > limit:
            data = data.partition(b"\n")[2]
            file.seek(0)
            head = file.read(limit // 10).rpartition(b"\n")[0]
    lines = [*head.split(b"\n"), *data.split(b"\n")]
    return [one for line in lines if line.strip() for one in objects(line)]
