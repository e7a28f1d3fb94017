"""Which lines of a file a result in a conversation showed, and what a call changed in one.

Tolerant, because this is only for statistics and hints: a result that looks like numbered lines
counts as such. Trust is decided elsewhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.reading import shell
from holdfast.reading.history.steps import Returned

READ_TOOLS = frozenset({"Read", "read", "read_file", "view"})
SHELL_TOOLS = frozenset(
    {"Bash", "bash", "shell", "exec_command", "run_shell_command", "local_shell", "shell_command"}
)
EDIT_TOOLS = frozenset({"Edit", "MultiEdit", "edit", "replace", "multiedit"})
WRITE_TOOLS = frozenset({"Write", "write", "write_file"})
SEARCH_TOOLS = frozenset({"Grep", "grep", "search_file_content", "grep_search"})
PATH_NAMES = ("file_path", "filePath", "absolute_path", "path")
_NUMBERED = re.compile(r" *(\d+)(?:\t|\u2192|: |\|)(.*)\Z", re.DOTALL)
_OPENCODE = re.compile(r"\A<path>[^\n]*</path>\n<type>file</type>\n<content>\n")
_ENDS = ("\n\n<system-reminder>", "\n<system-reminder>", "\n\n(End of file", "\n\n(Showing lines")
_OURS = ("[holdfast: ", "[readcache: ")


@dataclass(frozen=True, slots=True)
class Shown:
    """Lines of one file that a result printed."""

    path: str
    first: int
    rows: tuple[str, ...]
    whole: bool
    """The call asked for the whole file and, as far as is known, got it."""
    size_bytes: int
    """What the model was sent, numbers and notices included."""
    total: int = 0
    """How many lines the file had; 0 when the result does not say."""
    shell: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """A text of one file that was replaced by another; the whole file when `old` is None."""

    path: str
    old: str | None
    new: str
    every: bool = False


def path_of(arguments: Mapping[str, Any], cwd: str) -> str | None:
    """The file that a call names, absolute."""
    for name in PATH_NAMES:
        path = arguments.get(name)
        if isinstance(path, str) and path:
            return os.path.normpath(os.path.join(cwd or "/", path))
    return None


def command_of(arguments: Mapping[str, Any]) -> str | None:
    """The command of a shell call."""
    command = arguments.get("command", arguments.get("cmd"))
    if isinstance(command, list):
        return shell.unwrapped(command)
    return command if isinstance(command, str) else None


def is_read(step: Returned) -> bool:
    """Whether a result is that of a read, even if its text cannot be parsed."""
    if step.tool in READ_TOOLS:
        return not step.failed
    return step.tool in SHELL_TOOLS and not step.failed and _shell_read(step) is not None


def shown(step: Returned) -> Shown | None:
    """The lines that a result showed; None when it showed none or cannot be parsed."""
    if step.failed or step.text.startswith(_OURS):
        return None
    if step.tool in SHELL_TOOLS:
        return _shell_shown(step)
    path = path_of(step.arguments, step.cwd)
    if step.tool not in READ_TOOLS or path is None:
        return None
    size = len(step.text.encode("utf-8", "surrogatepass"))
    ranged = any(step.arguments.get(n) is not None for n in ("offset", "limit", "start_line"))
    file = step.detail.get("file") if isinstance(step.detail, Mapping) else None
    if isinstance(file, Mapping) and isinstance(file.get("content"), str):
        first, total = file.get("startLine"), file.get("totalLines")
        rows = tuple(str(file["content"]).split("\n"))
        if isinstance(first, int) and rows != ("",):
            lines_total = total if isinstance(total, int) else 0
            return Shown(path, first, rows, not ranged, size, lines_total)
    numbered = _numbered(step.text)
    if numbered is not None:
        first, rows = numbered
        return Shown(path, first, rows, first == 1 and not ranged, size)
    return _plain(step, path, ranged=ranged, size=size)


def _numbered(text: str) -> tuple[int, tuple[str, ...]] | None:
    text = _OPENCODE.sub("", text)
    for end in _ENDS:
        text = text.partition(end)[0]
    rows: list[str] = []
    first = 0
    for row in text.split("\n"):
        match = _NUMBERED.match(row)
        if match is None or (rows and int(match[1]) != first + len(rows)):
            break
        first = first if rows else int(match[1])
        rows.append(match[2])
    return (first, tuple(rows)) if rows and first > 0 else None


def _plain(step: Returned, path: str, *, ranged: bool, size: int) -> Shown | None:
    """Lines without numbers, as pi and Gemini print them."""
    text = re.sub(r"\n\n\[\d+ more lines in file\.[^\n]*\]\Z", "", step.text)
    if text.startswith("\nIMPORTANT: The file content has been truncated."):
        _, separator, text = text.partition("--- FILE CONTENT (truncated) ---\n")
        if not separator:
            return None
        ranged = True
    if not text:
        return None
    start = step.arguments.get("offset", step.arguments.get("start_line"))
    first = start if isinstance(start, int) and not isinstance(start, bool) else 1
    if step.tool == "read_file" and "offset" in step.arguments:
        first += 1  # its offsets count from 0
    return Shown(path, max(1, first), tuple(text.split("\n")), not ranged, size)


def _shell_read(step: Returned) -> shell.FileRead | None:
    command = command_of(step.arguments)
    folder = step.arguments.get("workdir", step.arguments.get("dir_path"))
    cwd = folder if isinstance(folder, str) and os.path.isabs(folder) else step.cwd
    return None if command is None else shell.parse(command, cwd or "/")


def _shell_shown(step: Returned) -> Shown | None:
    read = _shell_read(step)
    output = output_of(step.text)
    printed = None if read is None or not output else read.printed(output)
    if read is None or printed is None:
        return None
    size = len(step.text.encode("utf-8", "surrogatepass"))
    return Shown(read.path, printed[0], printed[1], read.everything, size, 0, True)


def output_of(text: str) -> str:
    """The output of a command, without the text that Codex and Gemini add around it."""
    head, separator, rest = text.partition("\nOutput:\n")
    if separator and "\n" not in head.replace("\nWall time", "").replace("\nProcess exited", ""):
        return rest
    if text.startswith("Output: "):
        return text.removeprefix("Output: ").partition("\nProcess Group PGID:")[0]
    return text


def changes(step: Returned) -> list[Change]:
    """The changes that a call made to files, as far as its arguments show them."""
    path = path_of(step.arguments, step.cwd)
    if step.failed or path is None:
        return []
    arguments = step.arguments
    if step.tool in WRITE_TOOLS and isinstance(arguments.get("content"), str):
        return [Change(path, None, arguments["content"])]
    if step.tool not in EDIT_TOOLS:
        return []
    edits = arguments.get("edits")
    out = []
    for one in edits if isinstance(edits, list) else [arguments]:
        if not isinstance(one, Mapping):
            continue
        old = next((one[n] for n in ("old_string", "oldString", "oldText") if n in one), None)
        new = next((one[n] for n in ("new_string", "newString", "newText") if n in one), None)
        every = any(one.get(n) is True for n in ("replace_all", "replaceAll", "allow_multiple"))
        if isinstance(old, str) and isinstance(new, str):
            out.append(Change(path, old, new, every))
    return out
