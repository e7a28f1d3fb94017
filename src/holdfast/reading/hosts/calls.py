"""What the common tools of agents show of a file: reads, shell output, edits, writes, patches.

Each agent names and formats these in its own way; the events about lines are the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.reading import shell
from holdfast.reading.events import Forgotten, Hunk, Patched, Printed, Replaced, Seen

OURS = "[holdfast: "
"""How our short forms of an agent's own results begin."""

_MORE = re.compile(
    r"\n\n\[(?:Showing lines \d+-\d+ of \d+[^\n]*|\d+ more lines in file\.[^\n]*)\]\Z"
)
_CUT = re.compile(
    r"^\[?(?:Total output lines: \d+|Warning: truncated output)|\u2026\s?\d+ (?:tokens|chars|lines|"
    r"bytes) truncated\s?\u2026|\[(?:Showing (?:last|lines)|Output truncated)|<persisted-output>|"
    r"^\.\.\. ?\[?(?:\d+ (?:lines|characters|chars|bytes|tokens)|output) (?:truncated|omitted)|"
    r"^<bash_metadata>",
    re.MULTILINE,
)


def is_cut(text: str) -> bool:
    """Whether an output contains an agent's notice that something was left out."""
    return _CUT.search(text) is not None


def absolute(path: object, cwd: str) -> str | None:
    """The path that a call names; None when it depends on anything but the directory.

    `..` is resolved textually, as the agents that run on Node do.
    """
    if not isinstance(path, str) or not path or path.startswith("~") or "\0" in path:
        return None
    normal = os.path.normpath(os.path.join(cwd, path.removeprefix("@")))
    return normal if os.path.isabs(normal) else None


def plain_read(path: str, offset: object, limit: object, text: str) -> Printed | None:
    """The lines of a read tool that prints them as they are, with a notice below if it cut them."""
    first = 1 if offset is None else offset
    if isinstance(first, bool) or not isinstance(first, int) or first < 1:
        return None
    more = _MORE.search(text)
    rows = tuple((text if more is None else text[: more.start()]).split("\n"))
    if text.startswith("[Line ") or (isinstance(limit, int) and len(rows) > limit):
        return None
    return Printed(path, first, rows, first == 1 and more is None and limit is None)


def shell_read(command: object, cwd: str, output: str) -> Printed | Forgotten | None:
    """The lines of one file that a successful command printed.

    If it is unclear which, what was shown before is no longer certain to be the newest: the file is
    forgotten.
    """
    read = shell.parse(command, cwd) if isinstance(command, str) else None
    if read is None or not output.strip():
        return None
    printed = None if is_cut(output) else read.printed(output)
    if printed is None:
        return Forgotten(read.path)
    return Printed(read.path, *printed, read.everything)


def shell_ends(
    command: object, cwd: str, head: Sequence[str], tail: Sequence[str], rows_total: int
) -> tuple[Seen, ...]:
    """The same for an output that was cut in the middle, by its two ends."""
    read = shell.parse(command, cwd) if isinstance(command, str) else None
    if read is None:
        return ()
    elsewhere = read.searched and head[:1] and head[0].startswith("/")
    parts = ((head, 0), (tail, rows_total - len(tail)))
    lines = [read.part(rows, skipped, rows_total) for rows, skipped in parts if rows]
    if read.ours or elsewhere or not lines or None in lines:
        return (Forgotten(read.path),)
    return tuple(Printed(read.path, *one) for one in lines if one is not None)


def edits(path: str, changes: object) -> tuple[Seen, ...]:
    """Texts that the model replaced, in order; the held lines later give their places."""
    out: list[Seen] = []
    for one in changes if isinstance(changes, list) else [changes]:
        old, new = _pair(one)
        if not old or new is None:
            return (Forgotten(path),)
        every = isinstance(one, Mapping) and any(
            one.get(name) is True for name in ("replaceAll", "replace_all", "allowMultiple")
        )
        out.append(Replaced(path, old, new, every))
    return tuple(out) or (Forgotten(path),)


def _pair(one: object) -> tuple[str | None, str | None]:
    if not isinstance(one, Mapping):
        return None, None
    texts = []
    for names in (("oldText", "old_string", "oldString"), ("newText", "new_string", "newString")):
        text = next((one[name] for name in names if isinstance(one.get(name), str)), None)
        texts.append(text)
    return texts[0], texts[1]


_DIFF_ROW = re.compile(r"([-+]) *([0-9]+) (.*)\Z", re.DOTALL)


def numbered_diff(path: str, diff: str, new: str) -> Patched | None:
    """An edit that is shown as rows `-12 old` and `+12 new`; None when any of it is unclear."""
    hunks: list[Hunk] = []
    old: list[str] = []
    fresh: list[str] = []
    first = delta = 0
    for row in [*diff.split("\n"), " end"]:
        match = _DIFF_ROW.match(row)
        if match is None or (match[1] == "-" and fresh):
            if old or fresh:
                hunks.append(Hunk(first, tuple(old), tuple(fresh)))
                delta += len(fresh) - len(old)
            old, fresh = [], []
            if match is None:
                if row and row[0] != " ":
                    return None
                continue
        number = int(match[2])
        if not old and not fresh:
            first = number if match[1] == "-" else number - delta
        expected = first + len(old) if match[1] == "-" else first + delta + len(fresh)
        if number != expected:
            return None
        (old if match[1] == "-" else fresh).append(match[3])
    return Patched(path, tuple(hunks), frozenset(new.split("\n"))) if hunks else None


def write(path: str, content: object) -> Seen:
    """A whole file that the model wrote."""
    if not isinstance(content, str):
        return Forgotten(path)
    return written(path, content)


def written(path: str, content: str) -> Printed:
    """A whole file with this content. What follows its last newline is not a line."""
    rows = content.removesuffix("\n").split("\n")
    return Printed(path, 1, tuple(rows), whole=True)


def is_short(event: Seen) -> bool:
    """Whether a printed text is our short form rather than a file's lines."""
    return isinstance(event, Printed) and bool(event.rows) and event.rows[0].startswith(OURS)


def patch(text: str, cwd: str) -> list[Seen] | None:
    """The changes of an `apply_patch` text; None when it is not one."""
    rows = text.split("\n")
    while rows and not rows[-1].strip():
        rows.pop()
    if len(rows) < 2 or rows[0].strip() != "*** Begin Patch" or rows[-1].strip() != "*** End Patch":
        return None
    out: list[Seen] = []
    at = 1
    while at < len(rows) - 1:
        kind, separator, name = rows[at].partition(" File: ")
        path = absolute(name.strip(), cwd) if separator else None
        end = at + 1
        while end < len(rows) - 1 and " File: " not in _head(rows[end]):
            end += 1
        if path is None:
            return None
        if ".." in name.split("/"):
            # Only the file system knows the parent of a directory that is a link.
            out.append(Forgotten(path))
        else:
            out += _section(kind, path, rows[at + 1 : end], cwd)
        at = end
    return out


def _head(row: str) -> str:
    return row if row.startswith(("*** Add", "*** Update", "*** Delete")) else ""


def _section(kind: str, path: str, rows: list[str], cwd: str) -> list[Seen]:
    match kind:
        case "*** Add":
            lines = [row[1:] for row in rows if row.startswith("+")]
            return [Printed(path, 1, tuple(lines), whole=True)]
        case "*** Update":
            return _updated(path, rows)
        case _:
            return [Forgotten(path)]


def _updated(path: str, rows: list[str]) -> list[Seen]:
    if any(row.startswith("*** Move to: ") for row in rows):
        return [Forgotten(path)]
    hunks: list[Hunk] = []
    written: set[str] = set()
    old: list[str] = []
    new: list[str] = []

    def finish() -> None:
        if old or new:
            hunks.append(Hunk(0, tuple(old), tuple(new)))
            old.clear()
            new.clear()

    for row in rows:
        if row.startswith(("@@", "*** End of File")):
            finish()
            continue
        sign, line = row[:1], row[1:]
        if sign in ("-", " ", ""):
            old.append(line)
        if sign in ("+", " ", ""):
            new.append(line)
        if sign == "+":
            written.add(line)
        elif sign not in ("-", " ", ""):
            return [Forgotten(path)]
    finish()
    return [Patched(path, tuple(hunks), frozenset(written))]


def text_of(content: Any) -> str | None:
    """The text of a result given as text or as text blocks; None when it has anything else."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    pieces = []
    for block in content:
        text = block.get("text") if isinstance(block, Mapping) else None
        if not isinstance(text, str):
            return None
        pieces.append(text)
    return "".join(pieces)
