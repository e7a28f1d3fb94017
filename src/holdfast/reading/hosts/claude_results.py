"""Which lines of a file a result in a Claude Code transcript showed the model.

    Read     the numbered text, if it matches the content that the result carries
    Edit     where the old text was, by the original file or by the patch's line numbers. The lines
             of the patch itself are for display: leading tabs are spaces there
    Write    the whole file, as the model wrote it
    Bash     the output of a command that prints lines of one file

An edit that cannot be placed leaves nothing certain about its file.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Mapping
from typing import Any

from holdfast.reading import shell
from holdfast.reading.events import (
    UNSURE,
    Forgotten,
    Hunk,
    Patched,
    Place,
    Printed,
    Replaced,
    Seen,
)
from holdfast.reading.hosts import calls

NUMBERED = re.compile(r" *([0-9]+)(?:\t|\u2192)(.*)\Z", re.DOTALL)
_PERSISTED = "<persisted-output>"
_MOVED = re.compile(r"\s*(Shell cwd was reset to [^\n]+?)\s*")
_REMINDER = "<system-reminder>"
_MODIFIED = "user modified"
"""What Claude Code writes when the user changed an edit before it was applied."""
_PLACES_MAX = 500


def events(
    name: str,
    arguments: Mapping[str, Any],
    result: Mapping[str, Any],
    text: str,
    folders: tuple[str, str],
) -> tuple[Seen, ...]:
    """The events about lines of a file in the result of a call of this tool.

    `folders` are the working directories at the call and when the result was written.
    """
    match name:
        case "Read":
            event = read(result, text)
            return unclear(result) if event is None else (event,)
        case "Edit" | "MultiEdit":
            return edit(result, text)
        case "Write":
            return write(result, text)
        case "NotebookEdit":
            path = arguments.get("notebook_path")
            return (Forgotten(path),) if isinstance(path, str) else ()
        case "Bash":
            printed = bash(arguments, result, text, folders)
            return () if printed is None else (printed,)
        case _:
            return ()


def plain_events(
    name: str, arguments: Mapping[str, Any], text: str, folders: tuple[str, str]
) -> tuple[Seen, ...]:
    """`events` when only the text of the result is known, as in the transcript of a subagent.

    The place of an edit is unknown then, so nothing about its file is certain afterwards.
    """
    path = arguments.get("file_path")
    if name == "Bash":
        return _plain_bash(arguments, text, folders)
    if not isinstance(path, str) or not os.path.isabs(path):
        return ()
    match name:
        case "Read":
            return _plain_read(path, arguments, text)
        case "Write" if _MODIFIED not in text and isinstance(arguments.get("content"), str):
            return (calls.written(path, str(arguments["content"])),)
        case "Edit" | "MultiEdit" | "Write":
            return (Forgotten(path),)  # the sidecar may know where; see `is_plain_edit`
        case _:
            return ()


def is_plain_edit(name: str, text: str) -> bool:
    """Whether an edit was made as the model asked, by what its result says."""
    return name in ("Edit", "MultiEdit") and "has been updated" in text and _MODIFIED not in text


def _plain_read(path: str, arguments: Mapping[str, Any], text: str) -> tuple[Seen, ...]:
    """The numbered lines, if the text has nothing else but reminders after them."""
    lines = text.split("\n")
    start = NUMBERED.match(lines[0])
    if start is None:  # a notice, which shows no line
        return (Forgotten(path),) if "contents are empty" in text[:200] else ()
    first, rows = int(start[1]), list[str]()
    for line in lines:
        match = NUMBERED.match(line)
        if match is None or int(match[1]) != first + len(rows):
            break
        rows.append(match[2])
    rest = "\n".join(lines[len(rows) :]).lstrip()
    if first < 1 or (rest and not rest.startswith(_REMINDER)):
        return (Forgotten(path),)
    whole = "offset" not in arguments and "limit" not in arguments
    return (Printed(path, first, tuple(rows), whole),)


def _plain_bash(
    arguments: Mapping[str, Any], text: str, folders: tuple[str, str]
) -> tuple[Seen, ...]:
    """The lines that a command printed; none if the output may have been cut."""
    command = arguments.get("command")
    if not isinstance(command, str) or arguments.get("run_in_background"):
        return ()
    read = shell_read(command, *folders)
    if read is None:
        return ()
    printed = read.printed(text)
    if printed is None or text.startswith(_PERSISTED) or _REMINDER in text:
        return (Forgotten(read.path),)
    first, rows = printed
    if read.numbering is None and rows[0][:1].isspace():
        rows = (UNSURE, *rows[1:])
    return (Printed(read.path, first, rows, read.everything),)


def unclear(result: Mapping[str, Any]) -> tuple[Seen, ...]:
    """Forget a file of which a Read showed something else than its result says, or no line.

    What was shown of it before is no longer certain to be the newest.
    """
    file = result.get("file")
    if result.get("type") != "text" or not isinstance(file, Mapping):
        return ()
    path = file.get("filePath")
    return (Forgotten(path),) if isinstance(path, str) else ()


def read(result: Mapping[str, Any], text: str) -> Printed | None:
    """The lines that a Read printed, if the text shown matches them."""
    file = result.get("file")
    if result.get("type") != "text" or not isinstance(file, Mapping):
        return None
    path, content = file.get("filePath"), file.get("content")
    first, total = _integer(file.get("startLine")), _integer(file.get("totalLines"))
    if not isinstance(path, str) or not path.startswith("/") or not isinstance(content, str):
        return None
    rows = content.split("\n")
    if first is None or first < 1 or not content:
        return None
    if _integer(file.get("numLines")) not in (len(rows), len(rows) - 1):
        return None
    shown = numbered(text, first, len(rows))
    if shown is None and rows[-1] == "" and len(rows) > 1:
        rows.pop()
        shown = numbered(text, first, len(rows))
    if shown != rows:
        return None
    whole = first == 1 and total is not None and len(rows) in (total, total - 1)
    return Printed(path, first, tuple(rows), whole and not file.get("truncatedByTokenCap"))


def numbered(text: str, first: int, count: int) -> list[str] | None:
    """The first `count` lines of a numbered text, if they are numbered from `first` on."""
    rows = text.split("\n", count)[:count]
    if len(rows) < count:
        return None
    out = []
    for number, row in enumerate(rows, start=first):
        match = NUMBERED.match(row)
        if match is None or int(match[1]) != number:
            return None
        out.append(match[2])
    return out


def edit(result: Mapping[str, Any], text: str) -> tuple[Seen, ...]:
    """The edit that the model made, and the lines that the result echoes."""
    path = result.get("filePath")
    if not isinstance(path, str):
        return ()
    changes = _changes(result)
    if not changes or result.get("userModified") is True:
        return (Forgotten(path),)
    original = result.get("originalFile", result.get("originalFileContents"))
    if isinstance(original, str) and original:
        events = _from_original(path, original, changes, _grown(result.get("structuredPatch")))
    elif len(changes) == 1:
        old, new, every = changes[0]
        places = _places(result.get("structuredPatch"))
        events = [Replaced(path, old, new, every, places)] if old and places else None
    else:
        events = None
    if events is None:
        return (Forgotten(path),)
    echo = echoed(path, text)
    return (*events, echo) if echo is not None else tuple(events)


def _changes(result: Mapping[str, Any]) -> list[tuple[str, str, bool]]:
    edits = result.get("edits")
    if not isinstance(edits, list):
        edits = [
            {
                "old_string": result.get("oldString"),
                "new_string": result.get("newString"),
                "replace_all": result.get("replaceAll"),
            }
        ]
    out = []
    for one in edits:
        old = one.get("old_string") if isinstance(one, Mapping) else None
        new = one.get("new_string") if isinstance(one, Mapping) else None
        if not isinstance(old, str) or not isinstance(new, str):
            return []
        out.append((old, new, one.get("replace_all") is True))
    return out


def _grown(patch: object) -> int | None:
    """By how many lines the file grew, if the patch says so."""
    places = _places(patch)
    return sum(place.new - place.old for place in places) if places else None


def _from_original(
    path: str, original: str, changes: list[tuple[str, str, bool]], grown: int | None
) -> list[Seen] | None:
    """Exact hunks, from the original text; None if they do not give the file's new length."""
    hunks = _hunks_of(path, original, changes)
    if grown is None or hunks is None or _growth(hunks) == grown:
        return hunks
    # Deleting a text also deletes its line break.
    changes = [
        (old + "\n", new, every) if not new and not old.endswith("\n") else (old, new, every)
        for old, new, every in changes
    ]
    hunks = _hunks_of(path, original, changes)
    return hunks if hunks is not None and _growth(hunks) == grown else None


def _growth(events: list[Seen]) -> int:
    hunks = [hunk for one in events if isinstance(one, Patched) for hunk in one.hunks]
    return sum(len(hunk.new) - len(hunk.old) for hunk in hunks)


def _hunks_of(path: str, original: str, changes: list[tuple[str, str, bool]]) -> list[Seen] | None:
    out: list[Seen] = []
    text = original
    for old, new, every in changes:
        if not old or old not in text:
            return None
        hunks, written, at, count = [], set[str](), 0, 0
        while (place := text.find(old, at)) >= 0 and (every or not count):
            count += 1
            if count > _PLACES_MAX:
                return None
            hunk, full = _hunk(text, place, old, new)
            hunks.append(hunk)
            written.update(full)
            at = place + len(old)
        merged = _merged(hunks)
        if merged is None:
            return None
        out.append(Patched(path, merged, frozenset(written)))
        text = text.replace(old, new, -1 if every else 1)
    return out


def _hunk(text: str, at: int, old: str, new: str) -> tuple[Hunk, list[str]]:
    """The lines that a replacement touches, and the new lines that it writes in full."""
    start = text.rfind("\n", 0, at) + 1
    stop = text.find("\n", at + len(old))
    end = len(text) if stop < 0 else stop
    before, after = text[start:at], text[at + len(old) : end]
    lines = (before + new + after).split("\n")
    full = lines[bool(before) : len(lines) - bool(after)]
    first = text.count("\n", 0, start) + 1
    return Hunk(first, tuple(text[start:end].split("\n")), tuple(lines)), full


def _merged(hunks: list[Hunk]) -> tuple[Hunk, ...] | None:
    """The hunks, unless two of them touch the same line."""
    for one, other in itertools.pairwise(hunks):
        if one.first + len(one.old) > other.first:
            return None
    return tuple(hunks)


def _places(patch: object) -> tuple[Place, ...]:
    out = []
    for hunk in patch if isinstance(patch, list) else []:
        numbers = [
            _integer(hunk.get(name)) if isinstance(hunk, Mapping) else None
            for name in ("oldStart", "oldLines", "newLines")
        ]
        if any(number is None for number in numbers) or not numbers[0]:
            return ()
        out.append(Place(*(number or 0 for number in numbers)))
    return tuple(out)


def echoed(path: str, text: str) -> Printed | None:
    """The numbered lines that an edit's result shows of the file after it."""
    head, separator, rest = text.partition("`cat -n`")
    rest = rest.partition("\n")[2]
    if not separator or "\n" in head:
        return None
    first = NUMBERED.match(rest.partition("\n")[0])
    if first is None:
        return None
    rows: list[str] = []
    for row in rest.split("\n"):
        one = NUMBERED.match(row)
        if one is None or int(one[1]) != int(first[1]) + len(rows):
            break
        rows.append(one[2])
    return Printed(path, int(first[1]), tuple(rows)) if rows else None


def write(result: Mapping[str, Any], text: str) -> tuple[Seen, ...]:
    """The whole file, as the model wrote it."""
    path, content = result.get("filePath"), result.get("content")
    if not isinstance(path, str):
        return ()
    if not isinstance(content, str) or result.get("userModified") is True:
        return (Forgotten(path),)
    return (calls.written(path, content),)


def bash(
    arguments: Mapping[str, Any], result: Mapping[str, Any], text: str, folders: tuple[str, str]
) -> Printed | Forgotten | None:
    """The lines that a shell command printed of one file.

    If only a part of them was shown, or it is unclear which, the file is forgotten: what was shown
    before is no longer certain to be the newest.
    """
    command, stdout = arguments.get("command"), result.get("stdout")
    if not isinstance(command, str) or not isinstance(stdout, str):
        return None
    read = shell_read(command, *folders)
    if read is None or not text.strip():
        return None
    moved = _MOVED.fullmatch(str(result.get("stderr") or ""))
    if moved is not None and text.rstrip().endswith(moved[1]):
        # Below the output is the agent's note that it returned to its directory.
        text = text.rstrip().removesuffix(moved[1])
    if (
        (result.get("stderr") and moved is None)
        or result.get("interrupted")
        or result.get("isImage")
        or result.get("persistedOutputPath")
        or result.get("backgroundTaskId")
        or result.get("returnCodeInterpretation")
        or text.strip() != stdout.strip()
        or text.startswith(_PERSISTED)
    ):
        return Forgotten(read.path)
    printed = read.printed(text)
    if printed is None:
        return Forgotten(read.path)
    first, rows = printed
    # The agent may have trimmed the start of the output.
    if read.numbering is None and rows[0][:1].isspace():
        rows = (UNSURE, *rows[1:])
    return Printed(read.path, first, rows, read.everything)


def shell_read(command: str, before: str, after: str) -> shell.FileRead | None:
    """The file read of a command; None when its file depends on which directory it ran in.

    `cd` in a command moves the agent too, and another call of the same turn may have moved it.
    """
    read = shell.parse(command, before)
    if read is None or before == after or read == shell.parse(command, after):
        return read
    folder = shell.folder(command)
    moved = None if folder is None else os.path.normpath(os.path.join(before, folder))
    return read if moved == after else None


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
