"""What the built-in read prints: the plain safe answer, rendered from bytes already read.

Every shortened answer is judged against this text. It is a pure function of
the bytes, so the answer and its proof come from one read of the file.

Two dialects exist. Until 0.75.4 the line limit counted the empty line after a final newline, so a
file of 2,000 lines and a newline was cut; later versions do not count it.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from holdfast.reading import javascript
from holdfast.reading.errors import BeyondEnd
from holdfast.reading.scope import Lines

LINES_MAX = 2000
BYTES_MAX = 50 * 1024


class Dialect(enum.Enum):
    """How the line limit counts a final newline."""

    COUNTED = "counted"
    """The empty line after it counts (up to 0.75.4)."""
    UNCOUNTED = "uncounted"
    """It does not (since 0.75.5)."""


@dataclass(frozen=True, slots=True)
class Truncation:
    """How the selected text was cut to fit, as `details.truncation` reports it."""

    content: str
    by: str
    lines_total: int
    bytes_total: int
    lines_printed: int
    bytes_printed: int
    first_line_too_long: bool
    bytes_max: int = BYTES_MAX

    def as_details(self) -> dict[str, Any]:
        return {
            "content": self.content,
            "truncated": True,
            "truncatedBy": self.by,
            "totalLines": self.lines_total,
            "totalBytes": self.bytes_total,
            "outputLines": self.lines_printed,
            "outputBytes": self.bytes_printed,
            "lastLinePartial": False,
            "firstLineExceedsLimit": self.first_line_too_long,
            "maxLines": LINES_MAX,
            "maxBytes": self.bytes_max,
        }


@dataclass(frozen=True, slots=True)
class Baseline:
    """The plain answer: its text, how it was cut, and which lines of the file it really shows."""

    text: str
    truncation: Truncation | None
    printed: Lines | None
    """None when no whole line is shown."""


def decode(data: bytes) -> str:
    """The text an agent is shown: anything that is not UTF-8 becomes U+FFFD; a BOM stays."""
    return data.decode("utf-8", errors="replace")


def count_lines(text: str) -> int:
    """Lines as the read tool counts them: cut at `\\n` only."""
    return text.count("\n") + 1


def selection(
    text: str, total: int, offset: float | None, limit: float | None
) -> tuple[str, float, float | None]:
    """The selected text, its 0-based start and how many lines the caller limited it to."""
    start = max(0, offset - 1) if offset else 0
    if start >= total:
        assert offset is not None
        raise BeyondEnd(offset, total)
    if limit is None:
        if start < 1:
            return text, start, None
        return text[_line_start(text, int(start)) :], start, None
    end = min(start + limit, total)
    first = int(start)
    last = int(end) if end >= 0 else max(0, total + int(end))
    if last <= first:
        return "", start, end - start
    begin = _line_start(text, first)
    if last >= total:
        return text[begin:], start, end - start
    finish = begin
    for _ in range(last - first):
        finish = text.index("\n", finish) + 1
    return text[begin : finish - 1], start, end - start


def _line_start(text: str, skip: int) -> int:
    """Where the line after `skip` newlines begins."""
    at = 0
    for _ in range(skip):
        at = text.index("\n", at) + 1
    return at


def _cut(selected: str, dialect: Dialect, bytes_max: int) -> Truncation | None:
    """Whole lines from the top, within both limits; None when everything fits."""
    size = _size(selected)
    lines = selected.count("\n") + 1
    if dialect is Dialect.UNCOUNTED and lines > 1 and selected.endswith("\n"):
        lines -= 1
    if lines <= LINES_MAX and size <= bytes_max:
        return None
    newline = selected.find("\n")
    first_line = selected if newline < 0 else selected[:newline]
    if _size(first_line) > bytes_max:
        return Truncation("", "bytes", lines, size, 0, 0, True, bytes_max)
    # Whole lines end at a newline: the last one within the limit, or the one after the last line
    # allowed. No more than `bytes_max` characters can be printed, so the rest is not looked at.
    head = selected[: bytes_max + 1].encode("utf-8", "surrogatepass")
    end = head.rfind(b"\n", 0, bytes_max + 1)
    if end < 0:
        end = len(head)
    lines_shown = head.count(b"\n", 0, end) + 1
    if lines_shown > LINES_MAX:
        lines_shown = LINES_MAX
        end = len(b"\n".join(head.split(b"\n", LINES_MAX)[:LINES_MAX]))
    by = "lines" if lines_shown == LINES_MAX else "bytes"
    content = head[:end].decode("utf-8", "surrogatepass")
    return Truncation(content, by, lines, size, lines_shown, end, False, bytes_max)


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def printed_lines(
    text: str,
    total: int,
    offset: float | None,
    limit: float | None,
    dialect: Dialect = Dialect.COUNTED,
    bytes_max: int = BYTES_MAX,
) -> Lines | None:
    """The lines `render` would show, found without building its text."""
    selected, start, _ = selection(text, total, offset, limit)
    return _printed(selected, start, _cut(selected, dialect, bytes_max))


def _printed(selected: str, start: float, cut: Truncation | None) -> Lines | None:
    count = selected.count("\n") + 1 if cut is None else cut.lines_printed
    return Lines(int(start) + 1, int(start) + count) if count else None


def render(
    text: str,
    path: str,
    offset: float | None = None,
    limit: float | None = None,
    dialect: Dialect = Dialect.COUNTED,
    bytes_max: int = BYTES_MAX,
) -> Baseline:
    """Print the requested lines of `text` with the built-in read's limits and notices.

    `path` is shown as the caller typed it. Raises BeyondEnd when the offset lies past the end.
    """
    total = count_lines(text)
    selected, start, limited = selection(text, total, offset, limit)
    cut = _cut(selected, dialect, bytes_max)
    printed = _printed(selected, start, cut)
    if cut is None:
        if limited is None or start + limited >= total:
            return Baseline(selected, None, printed)
        remaining, following = total - (start + limited), start + limited + 1
        notice = (
            f"[{javascript.number(remaining)} more lines in file."
            f" Use offset={javascript.number(following)} to continue.]"
        )
        return Baseline(f"{selected}\n\n{notice}", None, printed)
    first = start + 1
    if cut.first_line_too_long:
        newline = selected.find("\n")
        size = javascript.size(_size(selected if newline < 0 else selected[:newline]))
        at = javascript.number(first)
        notice = (
            f"[Line {at} is {size}, exceeds {javascript.size(bytes_max)} limit."
            f" Use bash: sed -n '{at}p' {path} | head -c {bytes_max}]"
        )
        return Baseline(notice, cut, printed)
    last = first + cut.lines_printed - 1
    why = "" if cut.by == "lines" else f" ({javascript.size(bytes_max)} limit)"
    notice = (
        f"[Showing lines {javascript.number(first)}-{javascript.number(last)} of {total}{why}."
        f" Use offset={javascript.number(last + 1)} to continue.]"
    )
    return Baseline(f"{cut.content}\n\n{notice}", cut, printed)
