"""Compares a file as a session has it with the current file, line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from holdfast.dashboard.answers import HeldLines, Line
from holdfast.files.regular import FILE_BYTES_MAX, read_regular
from holdfast.reading import diff
from holdfast.reading.answer import strict_text

if TYPE_CHECKING:
    from holdfast.reading.context import HeldFile

KEPT, GONE, NEW = " ", "-", "+"


def line_rows(file: HeldFile, load: Callable[[str], bytes | None], lines_max: int) -> HeldLines:
    """Rows of the version held last, merged with those of the current file.

    A row is kept (in both), gone (held version only) or new (file only); `held` says whether the
    model was shown it. If the versions differ too much to be merged, the rows are those of the held
    version and `joined` is False.
    """
    version = file.texts[0]
    now = _now(file.path)
    if version.digest == (None if now is None else now[1]):
        old: str | None = now[0] if now else None
    else:
        data = load(version.digest)
        old = None if data is None else strict_text(data)
    if old is None:
        missing = "the version that was read is no longer stored"
        return HeldLines(path=file.path, state=file.state, joined=False, rows=(), missing=missing)
    shown = _member([(run.first, run.last) for run in version.runs])
    new = now[0] if now is not None else None
    removed = None if new is None else diff.removed_lines(old, new)
    joins = new is None or removed is not None
    if new is None or removed is None:
        kind = KEPT if new is not None else GONE
        rows = [Line(kind, at, None, text, shown(at)) for at, text in enumerate(old.split("\n"), 1)]
    else:
        rows = joined(old.split("\n"), new.split("\n"), removed, shown)
    return HeldLines(
        path=file.path,
        state=file.state,
        joined=joins,
        rows=tuple(rows[:lines_max]),
        total=len(rows),
    )


def joined(
    old: list[str],
    new: list[str],
    removed: Iterable[tuple[int, int]],
    shown: Callable[[int], bool],
) -> list[Line]:
    """Both versions in one list, removed lines before the new ones that replace them.

    The lines of `old` that are not in `removed` occur in `new` in the same order, so each is
    matched with its first possible place.
    """
    gone = _member(removed)
    rows: list[Line] = []
    at = 0
    for number, text in enumerate(old, 1):
        if gone(number):
            rows.append(Line(GONE, number, None, text, shown(number)))
            continue
        while new[at] != text:
            at += 1
            rows.append(Line(NEW, None, at, new[at - 1], False))
        at += 1
        rows.append(Line(KEPT, number, at, text, shown(number)))
    rows += [Line(NEW, None, n, text, False) for n, text in enumerate(new[at:], at + 1)]
    return rows


def _member(runs: Iterable[tuple[int, int]]) -> Callable[[int], bool]:
    lines = {line for first, last in runs for line in range(first, last + 1)}
    return lines.__contains__


def _now(path: str) -> tuple[str, str] | None:
    from holdfast.reading.objects import digest_of

    try:
        data = read_regular(path, FILE_BYTES_MAX + 1, follow_links=True)
    except OSError:
        return None
    if data is None or len(data) > FILE_BYTES_MAX:
        return None
    text = strict_text(data)
    return None if text is None else (text, digest_of(data))
