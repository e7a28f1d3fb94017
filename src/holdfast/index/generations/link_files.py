"""The stored links of a root: which segments a generation has, and which files they are about.

What call graphs find files by is kept in segments (`calls/link_segment.py`), in files beside those
of postings. They can be missing or damaged: then the files they were about are found by their facts
instead, and the next writers make their links again, some at a time.

A slot of a segment has a check of the path and the content of its file. It is current if the
generation has a file with that check. So a segment that was left behind by an older version, or
that has files from before a change, is never believed about another content.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

from holdfast.index.errors import BackendUnavailable, DamagedBackend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.index.calls.link_segment import LinkSegment
    from holdfast.index.generations.segment_files import SegmentFiles

SMALL_FILES, SMALL_MAX = 200, 8
MIDDLE_FILES, MIDDLE_MAX = 4_000, 24
"""With more segments of up to so many files than this, small ones or half of the others are made
again as one. Larger ones are left as they are: that would take longer than a sync may."""
REMADE_AT_ONCE = 500
"""So many files whose links are missing are caught up on by one writer."""


@dataclass(frozen=True, slots=True)
class LinkRow:
    """What the tables have of a segment of links."""

    digest: str
    files: int
    size_bytes: int
    check: int
    run: str
    """The generation that had links for all of its files when this row was last written."""


def file_check(path: str, digest: str) -> int:
    """A number for a path with a content."""
    try:
        content = int(digest[:16], 16)
    except ValueError:
        content = crc32(digest.encode("utf-8", "surrogatepass"))
    named = crc32(path.encode("utf-8", "surrogatepass")) * 0x9E3779B97F4A7C15
    return (content ^ named) & 0xFFFFFFFFFFFFFFFF


def checked(digests: Iterable[tuple[str, str]]) -> dict[int, str]:
    """Paths by their checks; two paths with one check have none."""
    found: dict[int, str] = {}
    twice: set[int] = set()
    for path, digest in digests:
        check = file_check(path, digest)
        if found.setdefault(check, path) != path:
            twice.add(check)
    for check in twice:
        del found[check]
    return found


def placed(
    segments: Sequence[LinkSegment], checks: Mapping[int, str]
) -> tuple[list[list[str | None]], set[str]]:
    """The path of each slot of each segment, None if it is not current; and the paths left over.

    A file that is in two segments is taken from the last.
    """
    left = dict(checks)
    slots = [
        [left.pop(check, None) for check in segment.checks.tolist()]
        for segment in reversed(segments)
    ]
    return slots[::-1], set(left.values())


def open_links(
    files: SegmentFiles, stored: Iterable[LinkRow], known: Mapping[str, LinkSegment]
) -> dict[str, LinkSegment]:
    """The segments that can be read, oldest first. What is damaged is left out."""
    from holdfast.index.calls.link_segment import LinkSegment

    found = {}
    for one in stored:
        segment = known.get(one.digest)
        if segment is None:
            try:
                data = files.mapped(one.digest, one.size_bytes, one.check)
                segment = LinkSegment(data)
            except (DamagedBackend, BackendUnavailable, ValueError):
                continue
        if len(segment.checks) == one.files:
            found[one.digest] = segment
    return found


def too_many(files: Mapping[str, int]) -> set[str]:
    """Of segments with so many files, those to be made again as one."""
    ordered = sorted(files, key=lambda digest: (files[digest], digest))
    small = [digest for digest in ordered if files[digest] <= SMALL_FILES]
    if len(small) > SMALL_MAX:
        return set(small)
    middle = [digest for digest in ordered if files[digest] <= MIDDLE_FILES]
    return set(middle[: len(middle) // 2]) if len(middle) > MIDDLE_MAX else set()
