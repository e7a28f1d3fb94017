"""What the tools share: parts of schemas, refusals, and how files and calls are formatted."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import structs

from holdfast.index.answers import CallGraphAnswer, ManageAnswer, OutlineAnswer, OutlineSymbol
from holdfast.index.search_answers import SearchAnswer, SearchResult
from holdfast.index.tools.render import Surface
from holdfast.mcp.tool import Result, Schema, ToolCall, anything, call_text, outputs, spared, string

if TYPE_CHECKING:
    from holdfast.index.references.answers import (
        ExploreAnswer,
        ImpactAnswer,
        ReferencesAnswer,
        SymbolEditAnswer,
    )

    IndexAnswer = (
        OutlineAnswer
        | CallGraphAnswer
        | ManageAnswer
        | SearchAnswer
        | ReferencesAnswer
        | ExploreAnswer
        | ImpactAnswer
        | SymbolEditAnswer
    )
    Symbol = TypeVar("Symbol", OutlineSymbol, SearchResult)

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
"""The index's hints that are calls, the most helpful first, with their labels."""

AGENT = Surface(call=lambda call: call_text(call.tool, call.args))
"""How answers are written for agents."""


def answer_schema(**properties: Schema) -> Schema:
    """The schema of an answer: it always has a status; the other members are optional."""
    return outputs(
        "status", status=STATUS, message=MESSAGE, hint=HINT, **{"continue": CONTINUE}, **properties
    )


def schema_of(answer: type[msgspec.Struct], **more: Schema) -> Schema:
    """The schema of an answer, derived from its type; `more` adds members.

    A failure has a status and a message only, so nothing else is required. Hints are not spelled
    out: they would double the list of tools, and an agent uses only the calls in them.
    """
    _, parts = msgspec.json.schema_components([answer], ref_template="#/$defs/{name}")
    for part in parts.values():
        _tidy(part)
    parts["Hints"] = anything("calls that help")
    own = parts.pop(answer.__name__)["properties"]
    described = answer_schema()["properties"]
    properties = {name: schema for name, schema in own.items() if name not in described}
    schema = answer_schema(**properties, **more)
    used: Schema = {}
    _collect(schema, parts, used)
    return {**schema, "$defs": used} if used else schema


def _collect(schema: Any, parts: Schema, used: Schema) -> None:
    """Put the parts that a schema refers to into `used`."""
    members = schema if isinstance(schema, list) else schema.values()
    for member in members:
        if isinstance(member, str) and member.startswith("#/$defs/"):
            name = member.removeprefix("#/$defs/")
            if name not in used:
                used[name] = parts[name]
                _collect(parts[name], parts, used)
        elif isinstance(member, dict | list):
            _collect(member, parts, used)


def _tidy(schema: Any) -> None:
    """Remove what only repeats the type: titles, docstrings, and null for absent fields."""
    if isinstance(schema, list):
        for member in schema:
            _tidy(member)
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "object":
        for name in ("title", "description"):
            if isinstance(schema.get(name), str):
                del schema[name]
    if "default" in schema:
        del schema["default"]
        present = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
        if len(present) == 1:
            del schema["anyOf"]
            schema.update(present[0])
    for member in schema.values():
        _tidy(member)


def continued(tool: str, **args: Any) -> dict[str, Any]:
    """The call that continues an answer."""
    return {"tool": tool, "args": spared(tool, args)}


def refused(answer: IndexAnswer, text: str | None = None) -> Result:
    """A refusal of the index, ended by the call that helps, if it names one."""
    is_missing = not os.path.exists(answer.path)
    result = Result(text or answer.message or answer.status, answer.to_wire(), failed=is_missing)
    for name, why in HELPS.items():
        call = getattr(answer.hints, name, None)
        if call is not None:
            return result.ended(why, call.tool, **call.args)
    return no_such_tree(result) if is_missing else result


def from_here(call: ToolCall, path: str) -> str:
    """A tree as a call names it: `.`, which may be left out, for the working directory."""
    return "." if path == call.caller.cwd else path


def no_such_tree(result: Result) -> Result:
    """A refusal about a path that does not exist."""
    return replace(result, failed=True).ended("the tracked trees", "list_codebases")


def listed_inside(call: ToolCall) -> Callable[[str], list[str]]:
    """A function that lists directories for suggestions; empty outside the workspace."""
    from holdfast.reading.suggest import listed

    return lambda folder: listed(folder) if call.workspace.admits(folder) else []


def tree_of(call: ToolCall, path: str) -> str | None:
    """The root of the tracked tree that contains a path."""
    _, record = call.context.index.root_of(path)
    return None if record is None else record.root


def located(call: ToolCall, file: str) -> str:
    """The path of a file that is relative to the agent's working directory or its tree's root.

    Answers name files relative to the root.
    """
    whole = call.caller.path(file)
    if call.caller.cwd is None or os.path.lexists(whole):
        return whole
    root = tree_of(call, call.caller.cwd)
    below = whole if root is None else os.path.join(root, file)
    return below if os.path.isfile(below) else whole


def file_inside(call: ToolCall, file: str) -> str:
    """The path of a file that an agent names, if it may be read; raises `OutsideWorkspace`."""
    path = located(call, file)
    call.workspace.admit(path)
    return path


def usable(call: ToolCall, one: Symbol, root: str) -> Symbol:
    """A result or symbol whose reference is valid from the agent's working directory."""
    hint = one.call_graph_hint
    if root == call.caller.cwd or hint is None or hint.symbol_ref is None:
        return one
    reference = structs.replace(hint.symbol_ref, file=os.path.join(root, hint.symbol_ref.file))
    return structs.replace(one, call_graph_hint=structs.replace(hint, symbol_ref=reference))


def in_several_trees() -> Surface:
    """How files are named when an answer is about several trees."""
    return structs.replace(AGENT, file=lambda tree, file: f"{tree}: {file}")


def below(call: ToolCall, root: str | None) -> list[str]:
    """The line that says what files are relative to, if not to the working directory."""
    return [] if root is None or root == call.caller.cwd else [f"[files are from {root}]"]
