"""Codex's hooks: their payloads and our replies.

    PreToolUse      a command or a patch that is about to run. The reply may change the command
    PostToolUse     its output. A `block` decision replaces the output with the given reason
    SessionStart    with source `compact`: the reply is added after the summary

Codex reads files with shell commands. A failed patch fires only PreToolUse.

A subagent is a thread with its own rollout. Its events have the id of the conversation that
started it as `session_id`, its own id as `agent_id`, and its own rollout as `transcript_path`. An
event that names another rollout is left alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

from holdfast.agents.hook_event import (
    Call,
    HookEvent,
    Moment,
    Outcome,
    PatchCall,
    ShellCall,
    ToolUse,
)

AGENT = "codex"


def event_of(payload: Mapping[str, Any]) -> HookEvent | None:
    """The event in a payload; None for events and tools that we do not handle."""
    name, session = payload.get("hook_event_name"), payload.get("session_id")
    log, cwd = payload.get("transcript_path"), payload.get("cwd")
    if not isinstance(name, str) or not isinstance(session, str) or not isinstance(log, str):
        return None
    subagent = payload.get("agent_id")
    if subagent is not None and not _is_rollout_of(subagent, log):
        return None
    moment, uses = _uses(name, payload)
    if moment is None:
        return None
    return HookEvent(
        AGENT,
        moment,
        session,
        log,
        str(cwd or ""),
        uses,
        subagent=subagent,
        name=name,
        only_logged_calls=True,
    )


def _is_rollout_of(thread: object, log: str) -> TypeGuard[str]:
    """Whether this is the rollout of the thread; its name ends with the thread's id."""
    return isinstance(thread, str) and bool(thread) and log.endswith(f"-{thread}.jsonl")


def _uses(name: str, payload: Mapping[str, Any]) -> tuple[Moment | None, tuple[ToolUse, ...]]:
    if name == "SessionStart":
        compacted = payload.get("source") == "compact"
        return (Moment.AFTER_COMPACTION if compacted else Moment.SESSION_START), ()
    call = _call(str(payload.get("tool_name")), payload.get("tool_input"))
    if call is None:
        return None, ()
    use_id = payload.get("tool_use_id")
    id = use_id if isinstance(use_id, str) else None
    if name == "PreToolUse":
        return Moment.BEFORE_TOOL, (ToolUse(call, id, result=payload.get("tool_input")),)
    result = payload.get("tool_response")
    if name == "PostToolUse" and isinstance(result, str):
        return Moment.AFTER_TOOL, (ToolUse(call, id, result, result=result),)
    return None, ()


def _call(name: str, arguments: object) -> Call | None:
    command = arguments.get("command") if isinstance(arguments, Mapping) else None
    if not isinstance(command, str):
        return None
    if name == "Bash":
        return ShellCall(command)
    return PatchCall(command) if name == "apply_patch" else None


def shown_text(event: HookEvent, outcome: Outcome) -> str | None:
    """The replacement of an output, which the log shows unchanged."""
    return outcome.replacements.get(0)


def reply_to(event: HookEvent, outcome: Outcome) -> dict[str, Any]:
    """The hook's reply."""
    text = outcome.replacements.get(0)
    if event.moment is Moment.AFTER_TOOL and text is not None:
        return {"decision": "block", "reason": text}
    notes = [*outcome.notes.values(), *([outcome.note] if outcome.note else [])]
    if not notes:
        return {}
    out = {"hookEventName": event.name, "additionalContext": "\n\n".join(notes)}
    return {"hookSpecificOutput": out}
