"""What was said in a session, from its log, for the rules of focused reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from holdfast.reading.history import claude, pi
from holdfast.reading.history.signals import Heard
from holdfast.reading.history.steps import Step
from holdfast.reading.history.tail import newest_objects

if TYPE_CHECKING:
    from holdfast.reading.session_log import SessionLog


def heard_in_log(log: SessionLog | None) -> Heard:
    """What was said; empty for a log whose texts we cannot read."""
    from holdfast.reading.hosts.claude_code import ClaudeCodeLog

    if isinstance(log, ClaudeCodeLog):
        return heard_in_transcript(log.path, subagent=log.sidechain)
    from holdfast.reading.hosts.pi import PiLog
    from holdfast.reading.hosts.pi_bridge import PiBridge

    if isinstance(log, PiLog | PiBridge):
        return _listen(lambda: pi.contexts("", newest_objects(log.path))[0].steps)
    return _listen(lambda: getattr(log, "steps", ()))


def heard_in_transcript(path: str, *, subagent: bool = False) -> Heard:
    """What was said in a transcript of Claude Code; only its newest part if it is long."""
    return _listen(lambda: claude.contexts("", newest_objects(path), subagent=subagent)[0].steps)


def _listen(steps: Callable[[], Iterable[Step]]) -> Heard:
    found = Heard()
    with suppress(OSError):
        for step in steps():
            found.take(step)
    return found
