"""Gemini CLI's hook: adds the file's current text to the error of a failed edit.

AfterTool runs after every call. Blocking with a reason turns the result into an error with that
text, so we block only results that are errors anyway: a short answer to a read would look like a
failure to the user and the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.agents.hook_event import EditCall, HookEvent, Moment, Outcome, ToolUse

AGENT = "gemini"


def event_of(payload: Mapping[str, Any]) -> HookEvent | None:
    """A failed edit; None for anything else."""
    response = payload.get("tool_response")
    if payload.get("hook_event_name") != "AfterTool" or not isinstance(response, Mapping):
        return None
    error = response.get("error")
    text = error.get("message") if isinstance(error, Mapping) else None
    content = response.get("llmContent")
    return failed_edit(AGENT, payload, text, content if isinstance(content, str) else text)


def failed_edit(
    agent: str, payload: Mapping[str, Any], error: object, output: object
) -> HookEvent | None:
    """The event of an edit that failed with this error, and what the model would be shown."""
    arguments, session, cwd = (payload.get(name) for name in ("tool_input", "session_id", "cwd"))
    if (
        not isinstance(arguments, Mapping)
        or not isinstance(session, str)
        or not isinstance(cwd, str)
    ):
        return None
    path, old, new = (arguments.get(name) for name in ("file_path", "old_string", "new_string"))
    if not isinstance(path, str) or not isinstance(old, str) or not isinstance(new, str):
        return None
    if not isinstance(error, str) or not isinstance(output, str):
        return None
    every = any(arguments.get(name) is True for name in ("replace_all", "allow_multiple"))
    use = ToolUse(EditCall(path, old, new, every), None, error, failed=True, shown=output)
    name = str(payload.get("hook_event_name"))
    return HookEvent(agent, Moment.AFTER_TOOL, session, None, cwd, (use,), name=name)


def shown_text(event: HookEvent, outcome: Outcome) -> str | None:
    """Results are not replaced."""
    return None


def reply_to(event: HookEvent, outcome: Outcome) -> dict[str, Any]:
    """The agent's own error, followed by the file's current text."""
    note = outcome.notes.get(0)
    if note is None:
        return {}
    return {"decision": "block", "reason": f"{event.uses[0].shown}\n\n{note}"}
