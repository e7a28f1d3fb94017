"""Single lines of files of a tree, as they are now and without secrets."""

from __future__ import annotations

from holdfast.files import disk
from holdfast.files.secrets import masked

LINE_MAX = 200
"""A longer line is cut."""


class SourceLines:
    """Reads each file once."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._files: dict[str, list[str]] = {}

    def line(self, path: str, number: int) -> str | None:
        """A line without its indentation; None if there is nothing in it."""
        if path not in self._files:
            try:
                source = masked(disk.read_file(self._root, path)[0])
            except OSError:
                source = b""
            self._files[path] = source.decode("utf-8", "replace").split("\n")
        lines = self._files[path]
        return lines[number - 1].strip()[:LINE_MAX] or None if number <= len(lines) else None
