"""Answers of the index on a terminal: exit codes, and calls as commands that can be typed."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.cli.console import absolute, columns, relative
from holdfast.cli.output import BOLD, DIM, GREEN, YELLOW, plain, styled
from holdfast.files.policy import language_of
from holdfast.index.answers import Call
from holdfast.index.tools.render import Style, Surface
from holdfast.patterns import lazy_pattern
from holdfast.text import line_range

if TYPE_CHECKING:
    from holdfast.cli.failures import CommandRefused

OK, REFUSED = 0, 1

_CALL = lazy_pattern(
    r"\b([Cc])all (?:manage_index with )?action='(\w+)'(?: \(or '\w+'\))?"
    r"(?: and (?:path='(.*?)'(?=[.\s]|$)|(its path)))?( or create with force=true)?"
)
_NOT_TRACKED = "is not indexed, and neither is any directory above it"
_COMMENTS_APART = frozenset({
    "c", "cpp", "csharp", "go", "java", "javascript", "kotlin", "python", "rust", "scala", "swift",
    "tsx", "typescript", "zig",
})  # fmt: skip
_STYLES: dict[Style, str] = {"heading": BOLD, "name": GREEN, "dim": DIM, "warning": YELLOW}


def exit_code(status: str) -> int:
    return OK if status == "ok" else REFUSED


def with_commands(text: str, path: str = "") -> str:
    """A message of the index with commands instead of tool calls.

    `path` is the answer's path, for calls that do not name one.
    """

    def command(call: re.Match[str]) -> str:
        verb, action, typed, any_path, force = call.groups()
        if typed and action == "create" and _NOT_TRACKED in text:
            typed = project_of(typed)
        where = "PATH" if any_path else shlex.quote(typed or path) if typed or path else ""
        run = "Run" if verb == "C" else "run"
        line = f"{run} `{f'holdfast index {action} {where}'.strip()}`"
        return f"{line} or `{f'holdfast index create --force {where}'.strip()}`" if force else line

    return _CALL.sub(command, text)


def project_of(path: str) -> str:
    """The work tree around a path, which is what people index; the path itself without one.

    Some people keep their home directory in git, and do not want all of it indexed.
    """
    from holdfast.files.git_directory import find_git

    git = find_git(Path(path))
    return path if git is None or git.top == Path("~").expanduser() else str(git.top)


def terminal(*, several_trees: bool = False) -> Surface:
    """The surface that formats answers for a terminal."""
    return Surface(
        call=_read_command,
        # Among several trees, the name of the tree matters most.
        file=(lambda tree, file: os.path.join(os.path.basename(tree), file))
        if several_trees
        else (lambda tree, file: as_typed(file, tree)),
        message=with_commands,
        text=plain,
        style=lambda text, style: styled(text, _STYLES[style]),
        columns=columns(),
        is_terminal=columns() is not None,
        all_results="--raw",
    )


def _read_command(call: Call) -> str:
    """The command for a call of read; other calls are not shown with results.

    Without comments, which are half of many files: results leave them out too. Not in languages
    whose long strings have lines that look like comments.
    """
    assert call.tool == "read", call.tool
    first, count = call.args["offset"], call.args["limit"]
    name = f"{relative(call.args['path'])}:{line_range(first, first + count - 1)}"
    options = "--no-comments " if language_of(call.args["path"]) in _COMMENTS_APART else ""
    return f"holdfast read {options}{shlex.quote(name)}"


def no_file(typed: str, whole: str, command: str, *rest: str) -> CommandRefused:
    """The error for a path that is not a file, with the same command for a similar file.

    For a pipe or a device nothing is suggested.
    """
    from holdfast.cli.failures import CommandRefused
    from holdfast.reading.errors import Unreadable
    from holdfast.reading.suggest import listed, suggestion

    is_folder = os.path.isdir(absolute(whole))
    if os.path.exists(absolute(whole)) and not is_folder:
        return CommandRefused("NotAFile", f"{typed} is not a regular file")
    kind = "EISDIR" if is_folder else "ENOENT"
    similar = suggestion(Unreadable(kind, "", "", whole), absolute(whole), listed)
    message = f"{typed} is a directory" if is_folder else f"there is no file {typed}"
    hint = ""
    if similar is not None:
        near = shlex.join(["holdfast", command, relative(similar.path), *rest])
        hint = f"{similar.why}: {near}"
    return CommandRefused("IsDirectory" if is_folder else "NoSuchFile", message, hint)


def as_typed(file: str, tree: str) -> str:
    """A file of a tree, relative to the working directory.

    `tree` is the tree or a directory in it.
    """
    above = absolute(tree)
    while not os.path.exists(os.path.join(above, file)):
        if above == os.path.dirname(above):
            return file
        above = os.path.dirname(above)
    return relative(os.path.join(above, file))
