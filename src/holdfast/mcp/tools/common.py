"""What tools share: the words of their schemas, and how a call is written down."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from holdfast.mcp.tool import Result, Schema, anything, outputs, string

STATUS = string("ok, or why not: a refusal is an answer too")
MESSAGE = string("the refusal or failure in one sentence")
HINT = string("the next step after a failure")

CONTINUE: Schema = {
    "type": "object",
    "description": "the call that continues this answer",
    "properties": {"tool": string(), "args": anything()},
    "required": ["tool", "args"],
}

SPAN: Schema = {
    "type": "object",
    "properties": {"startLine": {"type": "integer"}, "endLine": {"type": "integer"}},
}


def answer_schema(**properties: Schema) -> Schema:
    """The schema of an answer: it always says its status, and the rest where it applies."""
    return outputs(
        "status", status=STATUS, message=MESSAGE, hint=HINT, **{"continue": CONTINUE}, **properties
    )


def call_text(tool: str, args: Mapping[str, Any]) -> str:
    """A call as an agent reads it: read(path="a.py", offset=3)."""
    shown = ", ".join(
        f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in args.items()
    )
    return f"{tool}({shown})"


def continued(tool: str, **args: Any) -> dict[str, Any]:
    """The call that continues an answer."""
    return {
        "tool": tool,
        "args": {name: value for name, value in args.items() if value is not None},
    }


def refused(facts: dict[str, Any]) -> Result:
    """A refusal of the index, ended by the call that helps."""
    message = str(facts.get("message", facts["status"]))
    hints = facts.get("hints") or {}
    helps = hints.get("create") or hints.get("reindex") or hints.get("status")
    if not isinstance(helps, dict) or not {"tool", "args"} <= helps.keys():
        return Result(message, facts)
    facts["continue"] = continued(helps["tool"], **helps["args"])
    return Result(f"{message}\n[{call_text(helps['tool'], helps['args'])}]", facts)


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
