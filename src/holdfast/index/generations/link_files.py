"""The stored links of a root: the segments of a generation, and the files they belong to.

The terms by which call graphs find files are kept in segments (`calls/link_segment.py`), in files
beside those of postings or in a table of the server. If they are missing or damaged, the facts of
their files are read instead, and later writers rebuild the links, some at a time.

A slot of a segment has a check of the path and the content of its file. It is current if the
generation has a file with that check. So a segment left by an older version, or with files from
before a change, is never used for other content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING
from zlib import crc32

import msgspec

from holdfast.index.errors import BackendUnavailable, DamagedBackend

if TYPE_CHECKING:
    from collections.abc import Sequence
    from mmap import mmap

    from holdfast.index.calls.link_segment import LinkSegment

SMALL_FILES, SMALL_MAX = 200, 8
MIDDLE_FILES, MIDDLE_MAX = 4_000, 24
"""Segments of up to this many files, and how many of them may exist; beyond that all small ones, or
half of the others, are rebuilt as one. Larger ones stay: rebuilding would take too long for a sync.
"""
REMADE_AT_ONCE = 500
"""For how many files one writer rebuilds missing links."""


class LinkRow(msgspec.Struct, frozen=True):
    """The table row of a segment of links."""

    digest: str
    files: int
    size_bytes: int
    check: int
    run: str
    """The run id of the generation that had links for all of its files; empty if none had."""


def file_check(path: str, digest: str) -> int:
    """A hash of a path and its content digest."""
    try:
        content = int(digest[:16], 16)
    except ValueError:
        content = crc32(digest.encode("utf-8", "surrogatepass"))
    named = crc32(path.encode("utf-8", "surrogatepass")) * 0x9E3779B97F4A7C15
    return (content ^ named) & 0xFFFFFFFFFFFFFFFF


def checked(digests: Iterable[tuple[str, str]]) -> dict[int, str]:
    """Paths by their checks; a check that two paths share is left out."""
    paths: dict[int, str] = {}
    twice: set[int] = set()
    for path, digest in digests:
        check = file_check(path, digest)
        if paths.setdefault(check, path) != path:
            twice.add(check)
    for check in twice:
        del paths[check]
    return paths


def placed(
    segments: Sequence[LinkSegment], checks: Mapping[int, str]
) -> tuple[list[list[str | None]], set[str]]:
    """The path of each slot of each segment (None if not current), and the paths without a slot.

    A file that is in two segments is taken from the last.
    """
    left = dict(checks)
    slots = [
        [left.pop(check, None) for check in segment.checks.tolist()]
        for segment in reversed(segments)
    ]
    return slots[::-1], set(left.values())


def open_links(
    read: Callable[[LinkRow], bytes | mmap],
    stored: Iterable[LinkRow],
    open_segments: Mapping[str, LinkSegment],
) -> dict[str, LinkSegment]:
    """The readable segments, oldest first; damaged ones are left out."""
    from holdfast.index.calls.link_segment import LinkSegment

    segments = {}
    for one in stored:
        segment = open_segments.get(one.digest)
        if segment is None:
            try:
                segment = LinkSegment(read(one))
            except (DamagedBackend, BackendUnavailable, ValueError):
                continue
        if len(segment.checks) == one.files:
            segments[one.digest] = segment
    return segments


def too_many(files: Mapping[str, int]) -> set[str]:
    """The segments to rebuild as one, given the number of files of each."""
    ordered = sorted(files, key=lambda digest: (files[digest], digest))
    small = [digest for digest in ordered if files[digest] <= SMALL_FILES]
    if len(small) > SMALL_MAX:
        return set(small)
    middle = [digest for digest in ordered if files[digest] <= MIDDLE_FILES]
    return set(middle[: len(middle) // 2]) if len(middle) > MIDDLE_MAX else set()
