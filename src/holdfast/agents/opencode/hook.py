"""OpenCode's plugin: its payloads and our replies.

    tool          the result of a call, before it is stored. The reply replaces it
    request       every tool call in the messages that go to the model now, with the results it
                  gets: this is what the model holds. The reply changes results for this request
                  only, so it is repeated for each request
    compacting    the conversation is about to be summarised. The reply is added to the prompt of
                  the summary

Read numbers its lines and puts the file's name above them:

    <path>/shop/a.py</path>
    <type>file</type>
    <content>
    1: import math
    ...

    (End of file - total 12 lines)
    </content>
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
    OwnCall,
    PatchCall,
    ReadCall,
    ShellCall,
    ToolUse,
    WriteCall,
)
from holdfast.agents.plugin_event import plugin_event, shown_text, taken_in, whole_number

AGENT = "opencode"

__all__ = ["event_of", "reply_to", "shown_text"]

_HEAD = re.compile(r"<path>([^\n]*)</path>\n<type>file</type>\n<content>\n")
_TAIL = re.compile(
    r"\n\n\((?:End of file - total (?P<total>\d+) lines|Showing lines \d+-\d+ of \d+\.[^\n]*)\)\n"
    r"</content>(?:\n*\Z|(?=\n\n<system-reminder>))"
)
_NUMBERED = re.compile(r"(\d+): (.*)\Z", re.DOTALL)
_CUT = "... (line truncated to "


def event_of(payload: Mapping[str, Any]) -> HookEvent | None:
    """The event in a payload; None for events and tools that we do not handle."""
    return plugin_event(AGENT, payload, _use)


def _use(value: object) -> ToolUse | None:
    if not isinstance(value, Mapping):
        return None
    call = _call(str(value.get("tool")), value.get("input"))
    id, status = value.get("id"), value.get("status")
    if call is None or not isinstance(id, str):
        return None
    if status == "error":
        error = value.get("error")
        return ToolUse(call, id, str(error), failed=True, shown=str(error), result=value)
    output = value.get("output")
    if status != "completed" or not isinstance(output, str) or value.get("compacted") is True:
        # Not, or no longer, shown to the model.
        return ToolUse(call, id, None, result=value)
    if isinstance(call, ReadCall):
        return _read_use(call, id, output, value)
    return ToolUse(call, id, output, shown=output, result=value)


def _read_use(call: ReadCall, id: str, output: str, arguments: Mapping[str, Any]) -> ToolUse:
    """The lines of a read; none if the output does not show lines of a file."""
    head = _HEAD.match(output)
    tail = _TAIL.search(output, head.end()) if head else None
    if head is None or tail is None:
        return ToolUse(call, id, None, shown=output, result=arguments)
    rows, first = [], 0
    for at, row in enumerate(output[head.end() : tail.start()].split("\n")):
        match = _NUMBERED.match(row)
        if match is None or (at and int(match[1]) != first + at) or _CUT in match[2]:
            return ToolUse(call, id, None, shown=output, result=arguments)
        first = first or int(match[1])
        rows.append(match[2])
    total = tail["total"]
    whole = first == 1 and total is not None and int(total) == len(rows)
    read = ReadCall(head[1], call.first, call.count)
    return ToolUse(read, id, "\n".join(rows), first, is_whole=whole, shown=output, result=arguments)


def _call(name: str, arguments: object) -> Call | None:
    if not isinstance(arguments, Mapping):
        return None
    path = arguments.get("filePath")
    if name == "read" and isinstance(path, str):
        return ReadCall(
            path, whole_number(arguments.get("offset")), whole_number(arguments.get("limit"))
        )
    if name == "bash" and isinstance(arguments.get("command"), str):
        # With another working directory the command's paths mean other files.
        return None if arguments.get("workdir") else ShellCall(arguments["command"])
    if name == "edit" and isinstance(path, str):
        old, new = arguments.get("oldString"), arguments.get("newString")
        if isinstance(old, str) and isinstance(new, str):
            return EditCall(path, old, new, arguments.get("replaceAll") is True)
    if name == "write" and isinstance(path, str) and isinstance(arguments.get("content"), str):
        return WriteCall(path, arguments["content"])
    if name in ("apply_patch", "patch") and isinstance(arguments.get("patchText"), str):
        return PatchCall(arguments["patchText"])
    return OwnCall(name.removeprefix("holdfast_")) if name.startswith("holdfast_") else None


def reply_to(event: HookEvent, outcome: Outcome) -> dict[str, Any]:
    """The reply that tells the plugin what to replace."""
    if event.moment is Moment.AFTER_TOOL:
        text = outcome.replacements.get(0)
        return {} if text is None else {"output": text}
    if event.moment is Moment.AFTER_COMPACTION:
        return {} if outcome.note is None else {"context": outcome.note}
    uses: dict[str, dict[str, str]] = {}
    for place, text in outcome.texts.items():
        uses[str(event.uses[place].id)] = {"output": text}
    for place, note in outcome.notes.items():
        use = event.uses[place]
        kind = "error" if use.failed else "output"
        before = uses.get(str(use.id), {}).get(kind) or str(use.result.get(kind))
        uses[str(use.id)] = {kind: f"{before}\n\n{note}"}
    return taken_in(outcome, uses)
