"""The key and the author of a command's commit: each command is a separate session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.app import App

if TYPE_CHECKING:
    from holdfast.store.author import Author
    from holdfast.store.model import CommitKey


def author(app: App) -> Author:
    """The user, and the conversation of the agent whose shell the command was typed in, if any."""
    session = app.environment.get("CLAUDE_CODE_SESSION_ID", "")
    return app.author("claude-code", session) if session else app.author("cli")


def new_key(app: App) -> CommitKey:
    """A key that no other commit has."""
    from holdfast.ids import LocalSeq, SessionId
    from holdfast.store.model import CommitKey

    return CommitKey(SessionId(app.writer_id("cli")), LocalSeq(1))


def next_key(key: CommitKey) -> CommitKey:
    """The key of the next commit of the same command."""
    from holdfast.ids import LocalSeq

    return key._replace(local_seq=LocalSeq(key.local_seq + 1))
