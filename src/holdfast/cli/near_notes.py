"""The line about notes on the code that a command shows, as agents' tools have it."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from holdfast.cli.console import CONSOLE, here

if TYPE_CHECKING:
    from holdfast.app import App
    from holdfast.notes.code import LinkedCode
    from holdfast.notes.near_code import NearNote, NotesByFile, Shown


def linked_code(app: App) -> LinkedCode:
    """The code that links may refer to from the working directory."""
    from holdfast.notes.code import LinkedCode

    cwd = here()

    def tracked() -> list[str]:
        from holdfast.index.generations.registry import Registry

        return list(Registry(app.home.index_registry).records())

    return LinkedCode(cwd, lambda: app.workspace([cwd], tracked))


def _notes(app: App, space: str) -> NotesByFile:
    """The notes of a space, which the host keeps; a missing space has none."""
    from holdfast.notes.near_code import NotesByFile

    console = CONSOLE.get()
    if console is not None and console.notes is not None:
        return console.notes(space)
    return NotesByFile(lambda: app.open_space(space, create=False))


def near_notes(app: App, shown: Shown) -> str:
    """One line about the notes on the code that is shown; empty if there are none."""
    if app.database_url is None and not os.path.isdir(app.home.spaces):
        return ""  # nothing was ever written: a plain read need not open a store
    from holdfast.app import DEFAULT_SPACE
    from holdfast.notes.near_code import OFF, SETTING, note_line

    space = app.environment.get(SETTING, "") or DEFAULT_SPACE
    if space == OFF:
        return ""
    notes = _notes(app, space).near(shown, linked_code(app).judge, here())

    def more(first: NearNote) -> str:
        words = ["holdfast", "memory"]
        if len(notes) == 1:
            words += ["get", first.note.id]
        else:
            words += ["find", "--code", first.note.link.path]
        return shlex.join([*words, *(["--space", space] if space != DEFAULT_SPACE else [])])

    return note_line(notes, more)
