"""What tools share: the words of their schemas, and how a call is written down."""

from __future__ import annotations

import os
from typing import Any

from holdfast.mcp.tool import Call, Result, Schema, anything, outputs, spared, string

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


def tree_of(call: Call, path: str) -> str | None:
    """The root of the tracked tree that a path lies in."""
    _, record = call.desk.index.root_of(path)
    return None if record is None else record.root


def meant(call: Call, file: str) -> str:
    """A file as an agent means it: from where it stands, or from the root of the tree it stands in.

    The latter is how answers name files.
    """
    whole = call.caller.path(file)
    if call.caller.cwd is None or os.path.lexists(whole):
        return whole
    root = tree_of(call, call.caller.cwd)
    below = whole if root is None else os.path.join(root, file)
    return below if os.path.isfile(below) else whole


def usable(call: Call, one: dict[str, Any], root: str) -> dict[str, Any]:
    """A result or symbol of a tree, with what to pass on as it is right where the agent stands."""
    hint = one.get("callGraphHint") or {}
    if root == call.caller.cwd or "symbolRef" not in hint:
        return one
    reference = {**hint["symbolRef"], "file": os.path.join(root, hint["symbolRef"]["file"])}
    return {**one, "callGraphHint": {**hint, "symbolRef": reference}}


def below(call: Call, root: str | None) -> list[str]:
    """Says from where files are named, if that is not where the agent stands."""
    return [] if root is None or root == call.caller.cwd else [f"[files are from {root}]"]


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
