"""An answer of `clones` that is kept beside the segments of its tree.

Finding the blocks costs more than everything else, and most trees did not change since the last
time. A kept answer holds the size and the time stamp of every file it was made of, as they were
when the file was read. It is used only if the tree has exactly these files now, by the same rule as
for segments (`files.snapshot.as_known`); otherwise the blocks are found again.

The first lines of blocks are not kept: they are read from the files for each answer, so that no
text of a tree is stored here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from zlib import crc32

import msgspec

from holdfast import __version__
from holdfast.files import disk
from holdfast.files.listing import TreeListing
from holdfast.files.secrets import masked_line
from holdfast.files.snapshot import as_known, compressed, not_searched
from holdfast.sequence.clones_request import ClonesRequest
from holdfast.sequence.report import CLONES_VERSION, ClonesReport, GroupReport
from holdfast.sequence.tokens.lexer import LEXER_VERSION

KEPT_VERSION = 1
"""1: the files with size and stamp, when they were listed, and the report without first lines."""

RULES_VERSION = 1
"""Which files and blocks count as code; a change of these rules needs a new number.
1: `find.is_code` and `clones.code_like`."""

KEPT_MAX = 8
"""How many answers are kept for a tree, each for other options."""
PLACES_MAX = 20_000
"""An answer with more places is for a program and is not kept."""

LINE_SHOWN = 100
LINES_TRIED, LETTERS_MIN = 5, 4
FIRST_LINES_MAX = 200
"""How many groups show their first line: longer answers are for programs, which use the places."""


class _Kept(msgspec.Struct, frozen=True):
    files: dict[str, tuple[int, int]]
    taken_ns: int
    report: ClonesReport


class KeptClones:
    """The kept answer to one request about one tree."""

    def __init__(self, directory: Path, root: Path, request: ClonesRequest) -> None:
        """`directory` has the segments of the tree."""
        self._directory, self._root, self._request = directory, root, request
        question = (
            *(KEPT_VERSION, RULES_VERSION, LEXER_VERSION, CLONES_VERSION, __version__, str(root)),
            *(request.minimum, request.limit, request.renamed, request.overlapping),
            *(request.every_file, request.options.comments, request.options.whitespace),
        )
        self._path = directory / f"{sha256(repr(question).encode()).hexdigest()[:16]}.clones"

    def current(self, listing: TreeListing) -> ClonesReport | None:
        """The kept answer, if the tree has exactly the files that it was made of."""
        cached = self._read()
        if cached is None or cached.files.keys() != listing.walk.stats.keys():
            return None
        for path, stat in listing.walk.stats.items():
            if not as_known(cached.files[path], stat, cached.taken_ns):
                return None
        skipped = listing.walk.skipped
        return msgspec.structs.replace(
            cached.report,
            groups=with_first_lines(self._root, cached.report.groups),
            not_searched=not_searched(
                compressed(listing.walk.unreadable), skipped["large"], skipped["unnameable"]
            ),
        )

    def keep(
        self, files: Mapping[str, tuple[int, int]], taken_ns: int, report: ClonesReport
    ) -> None:
        """Keep an answer that was made of these files; if that fails, the next one costs more."""
        if self._request.since is not None:
            return
        if sum(group.count for group in report.groups) > PLACES_MAX:
            return
        groups = tuple(msgspec.structs.replace(group, first_line="") for group in report.groups)
        bare = msgspec.structs.replace(report, groups=groups, not_searched=None)
        data = msgspec.json.encode(_Kept(dict(files), taken_ns, bare))
        part = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        with suppress(OSError):
            self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            part.write_bytes(b"%08x\n" % crc32(data) + data)
            part.replace(self._path)
            others = sorted(self._directory.glob("*.clones"), key=lambda path: path.stat().st_mtime)
            for old in others[:-KEPT_MAX]:
                old.unlink(missing_ok=True)

    def _read(self) -> _Kept | None:
        """The kept answer; None if there is none, or if it is damaged."""
        if self._request.since is not None:
            return None
        try:
            head, _, data = self._path.read_bytes().partition(b"\n")
            if head != b"%08x" % crc32(data):
                return None
            return msgspec.json.decode(data, type=_Kept)
        except (OSError, msgspec.DecodeError):
            return None


def with_first_lines(root: Path, groups: tuple[GroupReport, ...]) -> tuple[GroupReport, ...]:
    """The groups with the first line of each, from its file; empty where it cannot be read."""
    first_groups = [
        msgspec.structs.replace(
            group, first_line=_line(root, group.places[0].path, _numbers(group))
        )
        for group in groups[:FIRST_LINES_MAX]
    ]
    return (*first_groups, *groups[FIRST_LINES_MAX:])


def _numbers(group: GroupReport) -> range:
    """The lines of a block that may stand for it: the first ones."""
    first, last = group.places[0].line, group.places[0].end_line
    return range(first, min(last + 1, first + LINES_TRIED))


def _line(root: Path, path: str, numbers: range) -> str:
    """A line of a file of the tree as it may be shown: without links out of it, and secrets.

    The first one with a few letters; a block may begin with a closing bracket.
    """
    data: bytes | None = None
    with suppress(OSError):
        data, _ = disk.read_file(str(root), path)
    if data is None:
        return ""
    lines = [_shown(data, number) for number in numbers]
    return next((line for line in lines if sum(map(str.isalpha, line)) >= LETTERS_MIN), lines[0])


def _shown(data: bytes, number: int) -> str:
    # Four bytes for each character that is shown, after the indentation.
    text = masked_line(data, number).lstrip()[: 4 * LINE_SHOWN].decode("utf-8", "replace")
    text = "".join(c if c.isprintable() else " " for c in text).strip()
    return text if len(text) <= LINE_SHOWN else text[: LINE_SHOWN - 1] + "…"
