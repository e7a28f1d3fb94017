"""What was said in a session, from its log, for the rules of focused reads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from holdfast.files.regular import open_regular
from holdfast.reading.history import claude, pi
from holdfast.reading.history.signals import Conversation
from holdfast.reading.history.steps import Step
from holdfast.reading.hosts.lines import objects

if TYPE_CHECKING:
    from holdfast.reading.session_log import SessionLog

TAIL_BYTES = 6_000_000
"""How much of a log's end is read: these rules need speed more than completeness."""


def conversation_of(log: SessionLog | None) -> Conversation:
    """What was said; empty for a log whose texts we cannot read."""
    from holdfast.reading.hosts.claude_code import ClaudeCodeLog

    if isinstance(log, ClaudeCodeLog):
        return conversation_of_transcript(log.path, subagent=log.sidechain)
    from holdfast.reading.hosts.pi import PiLog
    from holdfast.reading.hosts.pi_bridge import PiBridge

    if isinstance(log, PiLog | PiBridge):
        return _collected(lambda: pi.contexts("", _newest_objects(log.path))[0].steps)
    return _collected(lambda: getattr(log, "steps", ()))


def conversation_of_transcript(path: str, *, subagent: bool = False) -> Conversation:
    """What was said in a transcript of Claude Code; only its newest part if it is long."""
    return _collected(
        lambda: claude.contexts("", _newest_objects(path), subagent=subagent)[0].steps
    )


def _collected(steps: Callable[[], Iterable[Step]]) -> Conversation:
    conversation = Conversation()
    with suppress(OSError):
        for step in steps():
            conversation.take(step)
    return conversation


def _newest_objects(path: str) -> list[object]:
    """The JSON values of a log's last lines, and of its first line, which has the task."""
    with open(open_regular(path), "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL_BYTES))
        data = file.read(TAIL_BYTES)
        head = b""
        if size > TAIL_BYTES:
            data = data.partition(b"\n")[2]
            file.seek(0)
            head = file.read(TAIL_BYTES // 10).rpartition(b"\n")[0]
    lines = [*head.split(b"\n"), *data.split(b"\n")]
    return [one for line in lines if line.strip() for one in objects(line)]
