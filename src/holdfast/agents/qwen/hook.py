"""Qwen Code's hook: adds the file's current text to the error of a failed edit.

PostToolUseFailure may add context to the error. A result can only be replaced by stopping the call,
which marks it as an error, so reads are left as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.agents.gemini.hook import failed_edit
from holdfast.agents.hook_event import HookEvent, Outcome

AGENT = "qwen"


def event_of(payload: Mapping[str, Any]) -> HookEvent | None:
    """A failed edit; None for anything else."""
    if payload.get("hook_event_name") != "PostToolUseFailure":
        return None
    error = payload.get("error")
    return failed_edit(AGENT, payload, error, error)


def shown_text(event: HookEvent, outcome: Outcome) -> str | None:
    """Results are not replaced."""
    return None


def reply_to(event: HookEvent, outcome: Outcome) -> dict[str, Any]:
    """The file's current text, to be added below the agent's own error."""
    note = outcome.notes.get(0)
    if note is None:
        return {}
    return {"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": note}}
