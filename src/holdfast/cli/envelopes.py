"""The tools' answers in a terminal: exit codes, and hints as commands that can be typed."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path

from holdfast.cli.failures import CommandRefused

OK, REFUSED = 0, 1

_CALL = re.compile(
    r"\b([Cc])all (?:manage_index with )?action='(\w+)'(?: \(or '\w+'\))?"
    r"(?: and (?:path='(.*?)'(?=[.\s]|$)|(its path)))?( or create with force=true)?"
)


def exit_code(answer: Mapping[str, object]) -> int:
    return OK if answer.get("status") == "ok" else REFUSED


def spoken(text: str, path: str = "") -> str:
    """What a tool said to a program, said to a person: its calls as commands.

    `path` is what the answer is about, for calls that do not repeat it.
    """

    def command(call: re.Match[str]) -> str:
        verb, action, named, any_path, force = call.groups()
        where = "PATH" if any_path else shlex.quote(named or path) if named or path else ""
        run = "Run" if verb == "C" else "run"
        said = f"{run} `{f'holdfast index {action} {where}'.strip()}`"
        return f"{said} or `{f'holdfast index create --force {where}'.strip()}`" if force else said

    return _CALL.sub(command, text)


def no_file(typed: str, whole: str, command: str, *rest: str) -> CommandRefused:
    """A file that is not one: the same command on what may have been meant."""
    from holdfast.reading.errors import Unreadable
    from holdfast.reading.suggest import listed, suggestion

    is_folder = os.path.isdir(whole)
    kind = "EISDIR" if is_folder else "ENOENT"
    found = suggestion(Unreadable(kind, "", "", whole), os.path.abspath(whole), listed)
    said = f"{typed} is a directory" if is_folder else f"there is no file {typed}"
    hint = ""
    if found is not None:
        near = shlex.join(["holdfast", command, os.path.relpath(found.path), *rest])
        hint = f"{found.why}: {near}"
    return CommandRefused("IsDirectory" if is_folder else "NoSuchFile", said, hint)


def typed_in(root: Path) -> Callable[[str], str]:
    """How files of a tree are typed here: from where one stands, whatever tree was asked about."""
    return lambda file: os.path.relpath(root / file)


def as_typed(file: str, asked: str) -> str:
    """A file of a tree as one would type it here; `asked` is the tree or a directory in it."""
    above = os.path.abspath(asked)
    while not os.path.exists(os.path.join(above, file)):
        if above == os.path.dirname(above):
            return file
        above = os.path.dirname(above)
    return os.path.relpath(os.path.join(above, file))
