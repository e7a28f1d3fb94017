"""pi's extension: its payloads and our replies.

    tool         the result of a call, before it is stored. The reply replaces its content
    request      every tool result in the messages that go to the model now: this is what the model
                 holds. The reply changes results for this request only
    compacted    the conversation was compacted. The reply is a message added after the summary

The extension's own tool answers `read`, so here its results are recorded but never changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from holdfast.agents.hook_event import (
    Call,
    EditCall,
    HookEvent,
    Moment,
    Outcome,
    ReadCall,
    ShellCall,
    ToolUse,
    WriteCall,
)
from holdfast.agents.plugin_event import plugin_event, shown_text, taken_in, whole_number
from holdfast.reading.hosts import calls

AGENT = "pi"

__all__ = ["event_of", "reply_to", "shown_text"]

_SUFFIX = re.compile(r":\d+(-\d+)?\Z")
"""A range at the end of a path, which `read` understands."""


def event_of(payload: Mapping[str, Any]) -> HookEvent | None:
    """The event in a payload; None for events and tools that we do not handle."""
    event = plugin_event(AGENT, payload, _use)
    if event is not None and event.moment is Moment.AFTER_TOOL:
        return None if isinstance(event.uses[0].call, ReadCall) else event
    return event


def _use(value: object) -> ToolUse | None:
    if not isinstance(value, Mapping):
        return None
    call, id = _call(str(value.get("tool")), value.get("input")), value.get("id")
    text = calls.text_of(value.get("content"))
    if call is None or not isinstance(id, str) or text is None:
        return None
    failed = value.get("isError") is True
    if not isinstance(call, ReadCall) or failed:
        return ToolUse(call, id, text, failed=failed, shown=text, result=value)
    lines = calls.plain_read(call.path, call.first, call.count, text)
    if lines is None or _SUFFIX.search(call.path):
        return ToolUse(call, id, None, shown=text, result=value)
    rows = "\n".join(lines.rows)
    return ToolUse(call, id, rows, lines.first, is_whole=lines.whole, shown=text, result=value)


def _call(name: str, arguments: object) -> Call | None:
    if not isinstance(arguments, Mapping):
        return None
    path = arguments.get("path")
    if name == "read" and isinstance(path, str):
        return ReadCall(
            path, whole_number(arguments.get("offset")), whole_number(arguments.get("limit"))
        )
    if name == "bash" and isinstance(arguments.get("command"), str):
        return ShellCall(arguments["command"])
    if name == "edit" and isinstance(path, str):
        return _edit(path, arguments)
    if name == "write" and isinstance(path, str) and isinstance(arguments.get("content"), str):
        return WriteCall(path, arguments["content"])
    return None


def _edit(path: str, arguments: Mapping[str, Any]) -> EditCall | None:
    changes = arguments.get("edits", [arguments])
    edits = []
    for one in changes if isinstance(changes, list) else []:
        old = one.get("oldText") if isinstance(one, Mapping) else None
        new = one.get("newText") if isinstance(one, Mapping) else None
        if not isinstance(old, str) or not isinstance(new, str):
            return None
        edits.append(EditCall(path, old, new))
    if not edits:
        return None
    return EditCall(path, edits[0].old, edits[0].new, more=tuple(edits[1:]))


def reply_to(event: HookEvent, outcome: Outcome) -> dict[str, Any]:
    """The reply that tells the extension what to replace."""
    if event.moment is Moment.AFTER_COMPACTION:
        return {} if outcome.note is None else {"message": outcome.note}
    if event.moment is Moment.AFTER_TOOL:
        text = outcome.replacements.get(0)
        if text is None and 0 in outcome.notes:
            text = f"{event.uses[0].shown}\n\n{outcome.notes[0]}"
        return {} if text is None else {"text": text}
    uses = {str(event.uses[place].id): text for place, text in outcome.texts.items()}
    for place, note in outcome.notes.items():
        use = event.uses[place]
        uses[str(use.id)] = f"{uses.get(str(use.id), use.shown)}\n\n{note}"
    return taken_in(outcome, uses)
