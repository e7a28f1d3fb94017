"""What an agent's hook tells us, and what we tell it back.

A hook runs inside the agent's turn, so it is quick and never fails it: whatever goes wrong here is
no reason to stop an agent. It leaves a binding (which conversation, which transcript, which
process), and after a compaction it tells the model what it no longer holds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.app import App


@dataclass(frozen=True, slots=True)
class Heard:
    """The facts of one hook call."""

    event: str
    session: str
    transcript: str
    cwd: str
    source: str = ""


def parse(raw: str) -> Heard | None:
    """What a hook was given on its standard input; None when it is nothing we know."""
    try:
        given = json.loads(raw)
    except ValueError:
        return None
    if not isinstance(given, Mapping):
        return None
    names = ("hook_event_name", "session_id", "transcript_path")
    texts = [given.get(name) for name in names]
    if not all(isinstance(text, str) and text for text in texts):
        return None
    event, session, transcript = map(str, texts)
    return Heard(
        event, session, transcript, str(given.get("cwd") or ""), str(given.get("source") or "")
    )


def answer(heard: Heard, recovery: Callable[[], str | None]) -> dict[str, Any]:
    """What to print: nothing but after a compaction, where the model is told what it lost."""
    if heard.event != "SessionStart" or heard.source != "compact":
        return {}
    lost = recovery()
    if lost is None:
        return {}
    return {
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": lost},
    }


def recovery_text(app: App, heard: Heard) -> str | None:
    """The recovery list of the conversation, or None when there is nothing to say."""
    from holdfast.reading.hosts.detect import open_host

    host = open_host(
        heard.transcript,
        app.home,
        now_ms=app.clock.now_ms,
        new_id=lambda: "hook",
        kind="claude-code",
        newest_leaf=True,
    )
    found = app.reader(heard.cwd or "/").context(host)
    if found.doubt is not None or not found.lost:
        return None
    return found.to_text(heard.cwd)
