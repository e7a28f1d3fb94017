"""What tools share: the words of their schemas, and how a call is written down."""

from __future__ import annotations

import os
from typing import Any

from holdfast.mcp.tool import Result, Schema, anything, outputs, spared, string

STATUS = string("ok, or why not: a refusal is an answer too")
MESSAGE = string("the refusal or failure in one sentence")
HINT = string("the next step after a failure")

CONTINUE: Schema = {
    "type": "object",
    "description": "the call that continues this answer",
    "properties": {"tool": string(), "args": anything()},
    "required": ["tool", "args"],
}

HELPS = {
    "create": "to index it",
    "reindex": "to rebuild it",
    "sync": "to bring it up to date",
    "status": "how far it is",
}
"""Hints of the index that are calls, the most helpful first, and what each is for."""

SPAN: Schema = {
    "type": "object",
    "properties": {"startLine": {"type": "integer"}, "endLine": {"type": "integer"}},
}


def answer_schema(**properties: Schema) -> Schema:
    """The schema of an answer: it always says its status, and the rest where it applies."""
    return outputs(
        "status", status=STATUS, message=MESSAGE, hint=HINT, **{"continue": CONTINUE}, **properties
    )


def continued(tool: str, **args: Any) -> dict[str, Any]:
    """The call that continues an answer."""
    return {"tool": tool, "args": spared(tool, args)}


def refused(facts: dict[str, Any]) -> Result:
    """A refusal of the index, ended by the call that helps, if it names one."""
    result = Result(str(facts.get("message") or facts.get("humanText") or facts["status"]), facts)
    hints = facts.get("hints") or {}
    for name, why in HELPS.items():
        helps = hints.get(name)
        if isinstance(helps, dict) and {"tool", "args"} <= helps.keys():
            return result.ended(why, helps["tool"], **helps["args"])
    path = str(facts.get("path", ""))
    return no_such_tree(result) if path and not os.path.exists(path) else result


def no_such_tree(result: Result) -> Result:
    """A refusal about a path that is not there."""
    return result.ended("the trees there are", "list_codebases")


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
