"""A rollout of Codex as steps."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.reading.history.steps import (
    Called,
    Compacted,
    Context,
    Returned,
    Said,
    mappings,
    text_of,
)

AGENT = "codex"
_NOT_SAID = ("<environment_context>", "<user_instructions>", "# AGENTS.md")


def contexts(name: str, lines: Iterable[object]) -> list[Context]:
    """The one conversation of a rollout."""
    context = Context(name, AGENT)
    calls: dict[str, Called] = {}
    for raw in lines:
        payload = raw.get("payload") if isinstance(raw, Mapping) else None
        if not isinstance(raw, Mapping) or not isinstance(payload, Mapping):
            continue
        match raw.get("type"):
            case "session_meta" | "turn_context":
                cwd = payload.get("cwd")
                context.cwd = cwd if isinstance(cwd, str) else context.cwd
            case "compacted":
                context.steps.append(Compacted())
            case "response_item":
                _item(context, payload, calls)
            case _:
                pass
    return [context]


def _item(context: Context, payload: Mapping[str, Any], calls: dict[str, Called]) -> None:
    call = payload.get("call_id")
    match payload.get("type"):
        case "message":
            text = text_of(list(mappings(payload.get("content"))))
            role = payload.get("role")
            if role in ("user", "assistant") and not text.startswith(_NOT_SAID):
                context.steps.append(Said("user" if role == "user" else "assistant", text))
        case "function_call" | "local_shell_call" if isinstance(call, str):
            arguments = _arguments(payload.get("arguments", payload.get("action")))
            calls[call] = Called(call, str(payload.get("name") or "local_shell"), arguments)
            context.steps.append(calls[call])
        case "custom_tool_call" if isinstance(call, str):
            name, patch = str(payload.get("name")), str(payload.get("input", ""))
            calls[call] = Called(call, name, {"patch": patch})
            context.steps.append(calls[call])
        case "function_call_output" | "custom_tool_call_output" if isinstance(call, str):
            request = calls.pop(call, None)
            if request is not None:
                text = _output(payload.get("output"))
                context.steps.append(
                    Returned(call, request.tool, request.arguments, text, cwd=context.cwd)
                )
        case _:
            pass


def _arguments(value: object) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    try:
        arguments = json.loads(value) if isinstance(value, str) else None
    except (ValueError, RecursionError):
        return {}
    return arguments if isinstance(arguments, Mapping) else {}


def _output(output: object) -> str:
    """What the model was shown; some versions wrap it in JSON."""
    if isinstance(output, Mapping):
        return text_of(output.get("content", output.get("output")))
    if isinstance(output, str) and output.startswith('{"output":'):
        return text_of(_arguments(output).get("output"))
    return text_of(output)
