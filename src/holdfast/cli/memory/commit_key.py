"""The key of a command's commit: each command is a session of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.app import App

if TYPE_CHECKING:
    from holdfast.store.model import CommitKey


def new_key(app: App) -> CommitKey:
    """A key that no other commit has."""
    from holdfast.ids import LocalSeq, SessionId
    from holdfast.store.model import CommitKey

    return CommitKey(SessionId(app.writer_id("cli")), LocalSeq(1))
