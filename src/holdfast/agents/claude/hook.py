"""What a hook of Claude Code passes to us, and what it prints.

A hook runs inside the agent's turn, so it must be quick and must never fail it. It stores a binding
(the conversation, its transcript and the agent's process), and after a compaction it tells the
model what it no longer holds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.app import App


@dataclass(frozen=True, slots=True)
class HookCall:
    """One call of the hook."""

    event: str
    session: str
    transcript: str
    cwd: str
    source: str = ""


def parse(raw: str) -> HookCall | None:
    """The hook call in its standard input; None if it is not one we know."""
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
    return HookCall(
        event, session, transcript, str(given.get("cwd") or ""), str(given.get("source") or "")
    )


def answer(call: HookCall, recovery: Callable[[], str | None]) -> dict[str, Any]:
    """What to print: after a compaction, what the model lost; otherwise nothing."""
    if call.event != "SessionStart" or call.source != "compact":
        return {}
    lost = recovery()
    if lost is None:
        return {}
    return {
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": lost},
    }


def recovery_text(app: App, call: HookCall) -> str | None:
    """The recovery list of the conversation, or None if nothing was lost."""
    log = app.open_session(call.transcript, kind="claude-code", newest_leaf=True)
    found = app.reader(call.cwd or "/").context(log)
    if found.doubt is not None or not found.lost:
        return None
    return found.to_text(call.cwd)
