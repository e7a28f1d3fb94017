"""Claude Code's hooks: their payloads and our replies.

    PostToolUse      the result of a call, before the model sees it. The reply replaces it, in the
                     full shape of the tool; Claude Code ignores a reply of any other shape
    PostToolBatch    every call of a turn with the text that the model gets. Failed edits fire only
                     this event
    SessionStart     with source `compact`: the reply is added after the summary

A command gets the payload unchanged. From an `mcp_tool` hook every member is a string, which
contains JSON if the value is not text; missing members are empty strings.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from holdfast.agents.hook_event import (
    Call,
    EditCall,
    HookEvent,
    Moment,
    Outcome,
    OwnCall,
    ReadCall,
    ShellCall,
    ToolUse,
    WriteCall,
)
from holdfast.agents.plugin_event import whole_number

if TYPE_CHECKING:
    from holdfast.reading.pieces import Run

AGENT = "claude-code"
FIELDS = (
    *("hook_event_name", "session_id", "transcript_path", "cwd", "agent_id", "prompt_id"),
    *("tool_name", "tool_use_id", "tool_input", "tool_response", "tool_calls", "source"),
)
"""The members of a payload that are used."""

OWN_PREFIXES = ("mcp__holdfast__", "mcp__plugin_holdfast_holdfast__")
BASH_CHARACTERS_MAX = 29_000
"""Claude Code moves a longer replacement of a command's output to a file, and previews 2 KB."""


def event_of(payload: Mapping[str, Any]) -> HookEvent | None:
    """The event in a payload; None for events and tools that we do not handle."""
    name = _text(payload, "hook_event_name")
    session, log = _text(payload, "session_id"), _text(payload, "transcript_path")
    if not name or not session or not log:
        return None
    subagent = _text(payload, "agent_id") or None
    moment, uses = _uses(name, payload)
    if moment is None:
        return None
    return HookEvent(
        AGENT,
        moment,
        session,
        transcript_of(log, subagent),
        _text(payload, "cwd"),
        uses,
        subagent,
        name,
        _text(payload, "prompt_id"),
        tuple(id for id in map(_id, _calls(payload)) if id) if name == "PostToolBatch" else (),
        has_batches=True,
    )


def transcript_of(main: str, subagent: str | None) -> str:
    """The file of one context: a subagent's is in a folder named after the main file."""
    if subagent is None:
        return main
    return os.path.join(os.path.splitext(main)[0], "subagents", f"agent-{subagent}.jsonl")


def _uses(name: str, payload: Mapping[str, Any]) -> tuple[Moment | None, tuple[ToolUse, ...]]:
    if name == "SessionStart":
        compacted = _text(payload, "source") == "compact"
        return (Moment.AFTER_COMPACTION if compacted else Moment.SESSION_START), ()
    if name == "PostToolUse":
        use = _use(payload, _value(payload, "tool_response"))
        return (None, ()) if use is None else (Moment.AFTER_TOOL, (use,))
    if name == "PostToolBatch":
        uses = [_use(one, one.get("tool_response")) for one in _calls(payload)]
        return Moment.AFTER_BATCH, tuple(use for use in uses if use is not None)
    return None, ()


def _calls(payload: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    calls = _value(payload, "tool_calls")
    return [one for one in calls if isinstance(one, Mapping)] if isinstance(calls, list) else []


def _id(call: Mapping[str, Any]) -> str:
    return _text(call, "tool_use_id")


def _use(payload: Mapping[str, Any], result: object) -> ToolUse | None:
    call = _call(_text(payload, "tool_name"), _value(payload, "tool_input"))
    if call is None:
        return None
    id = _text(payload, "tool_use_id") or None
    if isinstance(result, str):  # from a batch: the text that the model gets
        return ToolUse(call, id, result, failed="<tool_use_error>" in result, result=result)
    if not isinstance(result, Mapping):
        return None
    file = result.get("file")
    if isinstance(call, ReadCall) and isinstance(file, Mapping):
        return _read_use(call, id, result, file)
    if isinstance(call, ShellCall) and _is_plain_output(result):
        return ToolUse(call, id, str(result["stdout"]), trimmed=True, result=result)
    if isinstance(call, EditCall | WriteCall | OwnCall):
        return ToolUse(call, id, result=result)
    return None


def _read_use(
    call: ReadCall, id: str | None, result: Mapping[str, Any], file: Mapping[str, Any]
) -> ToolUse | None:
    if result.get("type") == "file_unchanged":
        return ToolUse(call, id, claims_unchanged=True, result=result)
    content, first = file.get("content"), file.get("startLine")
    lines, total = file.get("numLines"), file.get("totalLines")
    if result.get("type") != "text" or not isinstance(content, str) or not isinstance(first, int):
        return None
    whole = first == 1 and lines == total and not file.get("truncatedByTokenCap")
    return ToolUse(call, id, content, first, is_whole=whole, result=result)


def _is_plain_output(result: Mapping[str, Any]) -> bool:
    """Whether a command finished and the model is shown everything it printed."""
    return (
        isinstance(result.get("stdout"), str)
        and not result.get("stderr")
        and not result.get("interrupted")
        and not result.get("isImage")
        and "persistedOutputPath" not in result
        and "backgroundTaskId" not in result
    )


def _call(name: str, arguments: object) -> Call | None:
    if not isinstance(arguments, Mapping):
        return None
    path = arguments.get("file_path")
    if name == "Read" and isinstance(path, str):
        return ReadCall(
            path, whole_number(arguments.get("offset")), whole_number(arguments.get("limit"))
        )
    command = arguments.get("command")
    if name == "Bash" and isinstance(command, str) and not arguments.get("run_in_background"):
        return ShellCall(command)
    if name == "Edit" and isinstance(path, str):
        old, new = arguments.get("old_string"), arguments.get("new_string")
        if isinstance(old, str) and isinstance(new, str):
            return EditCall(path, old, new, arguments.get("replace_all") is True)
    if name == "Write" and isinstance(path, str) and isinstance(arguments.get("content"), str):
        return WriteCall(path, arguments["content"])
    own = next((name.removeprefix(one) for one in OWN_PREFIXES if name.startswith(one)), None)
    return None if own is None else OwnCall(own)


def shown_text(event: HookEvent, outcome: Outcome) -> str | None:
    """The replacement of a result as the transcript shows it: lines of Read are numbered."""
    changed = _changed(event.uses[0], outcome)
    if changed is None:
        return None
    file = changed.get("file")
    if file is None:
        return str(changed["stdout"])
    numbered = enumerate(file["content"].split("\n"), start=file["startLine"])
    return "\n".join(f"{number}\t{line}" for number, line in numbered)


def reply_to(event: HookEvent, outcome: Outcome) -> dict[str, Any]:
    """The hook's reply; empty when the result's shape does not allow one."""
    out: dict[str, Any] = {}
    if event.moment is Moment.AFTER_TOOL:
        changed = _changed(event.uses[0], outcome)
        if changed is not None:
            out["updatedToolOutput"] = changed
    notes = [*outcome.notes.values(), *([outcome.note] if outcome.note else [])]
    if notes:
        out["additionalContext"] = "\n\n".join(notes)
    return {"hookSpecificOutput": {"hookEventName": event.name, **out}} if out else {}


def _changed(use: ToolUse, outcome: Outcome) -> dict[str, Any] | None:
    """The result with another text, in the full shape of its tool."""
    text, result = outcome.replacements.get(0), use.result
    whole = outcome.texts.get(0)
    if isinstance(use.call, ReadCall) and whole is not None:
        return _text_result(use.call, whole, use.call.first or 1)
    if text is None:
        return None
    if isinstance(use.call, ReadCall):
        return _numbered_result(use.call, text, outcome.pieces.get(0, ()))
    if isinstance(use.call, ShellCall) and len(text) <= BASH_CHARACTERS_MAX:
        return {**result, "stdout": text}
    return None


def _numbered_result(call: ReadCall, text: str, pieces: tuple[Run, ...]) -> dict[str, Any]:
    """A short answer as the result of Read, which numbers every line.

    A single run of new lines is printed under its own numbers, after a line that says which lines
    are held. A diff that removes lines is printed as it is, because it says more than that.
    """
    new = [run for run in pieces if run.before is None]
    in_place = all(run.before in (None, run.first) for run in pieces)
    removes = any(line.startswith("-") for line in text.split("\n")[1:])
    if len(new) == 1 and in_place and new[0].first > 1 and not removes:
        run, last = new[0], pieces[-1].first + len(pieces[-1].rows) - 1
        until = run.first + len(run.rows) - 1
        head = (
            f"[holdfast: only lines {run.first}-{until} of {pieces[0].first}-{last}; you have the "
            "others as they are; the same Read again prints all]"
        )
        return _text_result(call, "\n".join((head, *run.rows)), run.first - 1)
    if "\n" in text:
        text = text.replace("; ", "; the numbers on the left are not the file's; ", 1)
    return _text_result(call, text, 1)


def _text_result(call: ReadCall, text: str, first: int) -> dict[str, Any]:
    lines = text.count("\n") + 1
    file = {
        "filePath": call.path,
        "content": text,
        "numLines": lines,
        "startLine": first,
        "totalLines": first + lines - 1,
    }
    return {"type": "text", "file": file}


def _text(payload: Mapping[str, Any], name: str) -> str:
    value = payload.get(name)
    return value if isinstance(value, str) and not value.startswith("${") else ""


def _value(payload: Mapping[str, Any], name: str) -> Any:
    """A member that is not text; from `mcp_tool` it is JSON in a string."""
    value = payload.get(name)
    if not isinstance(value, str) or not value.startswith(("{", "[")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
