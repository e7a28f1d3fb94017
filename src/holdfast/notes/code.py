"""The code that links lead to, as one caller may read it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast import links
from holdfast.files.boundary import OutsideWorkspace
from holdfast.links import CodeLink, Judged

if TYPE_CHECKING:
    from holdfast.files.workspace import Workspace


@dataclass(frozen=True, slots=True)
class LinkedCode:
    """Reads, judges and digests links. Those that name no root are below `cwd`, if that is known.

    `workspace` decides what may be read: a link may name any root.
    """

    cwd: str | None
    workspace: Callable[[], Workspace]

    def _read_file(self, path: str) -> bytes | None:
        return self.workspace().read(path, links.SOURCE_BYTES_MAX + 1)

    def _below(self, path: str, root: str | None) -> bytes | None:
        base = root or self.cwd
        return None if base is None else links.reader_below(base, self._read_file)(path, root)

    def judge(self, link: CodeLink) -> Judged:
        """A link and what became of its code."""
        if link.root is None and self.cwd is None:
            return Judged(link, "unverified", "the link does not name its root")
        try:
            return links.judge(link, self._below)
        except OutsideWorkspace as error:
            return Judged(link, "unverified", str(error))

    def read(self, link: CodeLink) -> bytes | None:
        """The file of a link; None if it does not exist or may not be read."""
        try:
            return self._below(link.path, link.root)
        except OutsideWorkspace:
            return None

    def with_digests(self, value: Any) -> Any:
        """The value, with the digest of its code in each link that has none."""
        return links.with_digests(value, self.cwd, self._below)
