"""What a session's own log says was said in it, for the rules of focused reads."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from holdfast.reading.history import claude
from holdfast.reading.history.signals import Heard
from holdfast.reading.history.tail import newest_objects

if TYPE_CHECKING:
    from holdfast.reading.session_log import SessionLog


def heard_in_log(log: SessionLog | None) -> Heard:
    """What was said; nothing where the log is not one whose texts are understood."""
    from holdfast.reading.hosts.claude_code import ClaudeCodeLog

    if isinstance(log, ClaudeCodeLog):
        return heard_in_transcript(log.path, subagent=log.sidechain)
    found = Heard()
    for step in getattr(log, "steps", ()):
        found.take(step)
    return found


def heard_in_transcript(path: str, *, subagent: bool = False) -> Heard:
    """What was said in a transcript of Claude Code; its newest part, if it is long."""
    found = Heard()
    with suppress(OSError):
        for step in claude.contexts("", newest_objects(path), subagent=subagent)[0].steps:
            found.take(step)
    return found
