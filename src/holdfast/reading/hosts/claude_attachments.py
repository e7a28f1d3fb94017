"""Texts of files that Claude Code itself adds to a conversation, without a call.

    edited_text_file    some changed lines of a file, after another program changed it
    file                a file that the user named with @, or that is added after a compaction

The model is shown these lines, so they replace what it was shown of them before: a file that was
changed back since is not the one that it saw last. A text that was cut proves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.reading.events import Forgotten, Printed, Seen
from holdfast.reading.hosts.claude_results import NUMBERED

_GAP = "..."
"""Stands between two runs of changed lines."""


def events(attachment: object) -> tuple[Seen, ...]:
    """The events about lines of a file in an attachment."""
    if not isinstance(attachment, Mapping):
        return ()
    path = attachment.get("filename")
    if not isinstance(path, str) or not path.startswith("/"):
        return ()
    match attachment.get("type"):
        case "edited_text_file":
            return _changed(path, attachment.get("snippet")) or (Forgotten(path),)
        case "file":
            return (_whole(path, attachment) or Forgotten(path),)
        case _:
            return ()


def shown_text(attachment: object) -> str:
    """The text of an attachment that the model is shown."""
    if not isinstance(attachment, Mapping):
        return ""
    shown = attachment.get("snippet", _file(attachment).get("content"))
    return shown if isinstance(shown, str) else ""


def _changed(path: str, snippet: object) -> tuple[Seen, ...]:
    """The runs of numbered lines; none if there is anything else, such as a note of a cut."""
    if not isinstance(snippet, str):
        return ()
    out: list[Seen] = []
    first, rows = 0, list[str]()
    for line in [*snippet.split("\n"), _GAP]:
        match = NUMBERED.match(line)
        if match is not None and int(match[1]) == first + len(rows) and rows:
            rows.append(match[2])
            continue
        if rows:
            out.append(Printed(path, first, tuple(rows)))
        first, rows = (int(match[1]), [match[2]]) if match is not None else (0, [])
        if line != _GAP and first < 1:
            return ()
    return tuple(out)


def _whole(path: str, attachment: Mapping[str, Any]) -> Printed | None:
    """The lines of a file or of a part of it, if nothing was cut."""
    file = _file(attachment)
    content, first, total = file.get("content"), file.get("startLine"), file.get("totalLines")
    cut = attachment.get("truncated") or file.get("truncatedByTokenCap")
    if cut or not isinstance(content, str) or not content or file.get("filePath") != path:
        return None
    if not isinstance(first, int) or isinstance(first, bool) or first < 1:
        return None
    rows = content.split("\n")
    if file.get("numLines") != len(rows):
        return None
    whole = first == 1 and total == len(rows)
    # What follows the last newline is not a line.
    return Printed(path, first, tuple(rows if rows[-1] else rows[:-1]), whole)


def _file(attachment: Mapping[str, Any]) -> Mapping[str, Any]:
    content = attachment.get("content")
    if not isinstance(content, Mapping) or content.get("type") != "text":
        return {}
    file = content.get("file")
    return file if isinstance(file, Mapping) else {}
