"""A tool: a name, input and output schemas, hints about its effects, and a function.

Arguments are checked here against the input schema, for the keywords of JSON Schema that our
schemas use, so a wrong call gets one message that names every fault. A refusal is an ordinary
result; `failed` marks a result that does not contain what the call requested.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from holdfast.files.workspace import Workspace
    from holdfast.mcp.caller import Caller
    from holdfast.mcp.host_context import HostContext
    from holdfast.reading.events import Printed
    from holdfast.reading.reader import Reader

Schema = dict[str, Any]


class BadArguments(HoldfastError):
    """Raised when a call's arguments do not fit the tool's schema."""

    def __init__(self, tool: str, faults: list[str], expected: str) -> None:
        self.tool, self.faults = tool, faults
        self.hint = f"expected: {expected}"

    def __str__(self) -> str:
        return f"{self.tool}: {'; '.join(self.faults)}"


class CallCancelled(HoldfastError):
    """Raised inside a tool when its caller has cancelled the call."""

    def __str__(self) -> str:
        return "the call was cancelled"


_DEFAULTS: dict[str, dict[str, Any]] = {}
"""The default arguments of every tool, by its name."""

_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")


def snake_case(name: str) -> str:
    """A name in the style of our arguments: `groupBy` becomes `group_by`."""
    return _HUMP.sub(lambda hump: "_" + hump[1].lower(), name)


def spared(tool: str, args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call without those equal to their defaults: agents pay for every word."""
    defaults = _DEFAULTS.get(tool, {})
    members = {snake_case(name): value for name, value in args.items()}
    return {
        name: value for name, value in members.items() if value not in (None, defaults.get(name))
    }


def call_text(tool: str, args: Mapping[str, Any]) -> str:
    """A call as an agent reads it: read(path="a.py", offset=3)."""
    arguments = ", ".join(
        f"{name}={json.dumps(value, ensure_ascii=False)}"
        for name, value in spared(tool, args).items()
    )
    return f"{tool}({arguments})"


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a tool: text for the agent and the same facts as data."""

    text: str
    facts: dict[str, Any]
    failed: bool = False
    images: tuple[tuple[str, str], ...] = ()
    """Pictures as (base64, MIME type)."""

    def ended(self, why: str, tool: str, **args: Any) -> Result:
        """The result with the call that continues or helps added at the end."""
        facts = {**self.facts, "continue": {"tool": tool, "args": spared(tool, args)}}
        text = f"{self.text}\n[{why}: {call_text(tool, args)}]".lstrip("\n")
        return replace(self, text=text, facts=facts)


def failure(message: str, hint: str = "") -> Result:
    """A failed result, with a hint about the next step."""
    facts = {"status": "error", "message": message, **({"hint": hint} if hint else {})}
    return Result(f"{message}\n[{hint}]" if hint else message, facts, failed=True)


@dataclass(slots=True)
class ToolCall:
    """One call of a tool, as its function sees it. Functions run in threads."""

    context: HostContext
    caller: Caller
    arguments: dict[str, Any]
    meta: Mapping[str, Any] = field(default_factory=dict)
    progress: Callable[[float, float, str], None] = lambda done, total, text: None
    cancelled: Callable[[], bool] = lambda: False
    after_sent: Callable[[Callable[[], None]], None] = lambda act: act()
    """Runs a function after the answer was sent to the agent."""
    declared: Callable[[], Iterable[str]] = tuple
    """Asks the client for the roots that it declares."""
    _workspace: Workspace | None = None

    @property
    def workspace(self) -> Workspace:
        """What this call may read."""
        if self._workspace is None:
            self._workspace = self.context.workspace(self.caller, self.declared)
        return self._workspace

    def tree(self, name: str) -> str:
        """The real path of a directory that the caller names; raises `OutsideWorkspace`."""
        return self.workspace.admit(self.caller.path(name))

    def reader(self) -> Reader:
        """A reader of files in the workspace of the caller."""
        from holdfast.reading.disk import read_once

        reader = self.context.reader(self.caller.cwd or "/", self.caller.home)
        return reader.with_file_access(lambda path: read_once(path, self.workspace.open))

    def note_shown(self, tool: str, lines: Sequence[Printed], text: str) -> None:
        """Note the lines of files that this answer prints as they are, after it was sent."""
        from holdfast.mcp.binding import Bound

        if not lines:
            return
        self.after_sent(lambda: self.context.shown.note(text, lines))
        with self.context.sessions.of(self.caller, self.meta, tool, self.arguments) as session:
            if isinstance(session, Bound):
                self.after_sent(partial(session.record_shown, lines, text))

    def check_cancelled(self) -> None:
        if self.cancelled():
            raise CallCancelled


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool."""

    name: str
    title: str
    description: str
    input: Schema
    output: Schema
    run: Callable[[ToolCall], Result]
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    unlisted: Schema = field(default_factory=dict)
    """Arguments that are accepted but not listed: older spellings, and rarely used ones."""

    def __post_init__(self) -> None:
        members = {**self.input["properties"], **self.unlisted}.items()
        defaults = {name: schema["default"] for name, schema in members if "default" in schema}
        _DEFAULTS[self.name] = defaults

    def checked(self, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
        """The arguments with defaults filled in; raises `BadArguments`."""
        arguments = {name: value for name, value in (arguments or {}).items() if value is not None}
        # Every tool accepts `verbose`; it takes effect where the answer is sent.
        if "verbose" not in self.input["properties"] and isinstance(arguments.get("verbose"), bool):
            del arguments["verbose"]
        properties = {**self.input["properties"], **self.unlisted}
        arguments = {
            name if name in properties else snake_case(name): value
            for name, value in arguments.items()
        }
        accepted = {**self.input, "properties": properties}
        faults = list(faults_of(arguments, accepted, ""))
        if faults:
            raise BadArguments(self.name, faults, signature(self.name, self.input))
        return {**_DEFAULTS[self.name], **_whole(arguments, accepted)}


# schemas

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}


def inputs(*required: str, **properties: Schema) -> Schema:
    """The schema of arguments; others are refused."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def outputs(*required: str, **properties: Schema) -> Schema:
    """The schema of a result. Later versions may add members."""
    return {"type": "object", "properties": properties, "required": list(required)}


def string(description: str = "", **more: Any) -> Schema:
    return _described("string", description, more)


def integer(description: str = "", **more: Any) -> Schema:
    return _described("integer", description, more)


def number(description: str = "", **more: Any) -> Schema:
    return _described("number", description, more)


def boolean(description: str = "", **more: Any) -> Schema:
    return _described("boolean", description, more)


def array(items: Schema, description: str = "", **more: Any) -> Schema:
    return {**_described("array", description, more), "items": items}


def choice(values: tuple[str, ...], description: str = "", **more: Any) -> Schema:
    return {**_described("string", description, more), "enum": list(values)}


def anything(description: str = "", **more: Any) -> Schema:
    """An object with any members."""
    return _described("object", description, more)


def _described(kind: str, description: str, more: Mapping[str, Any]) -> Schema:
    described = {"description": description} if description else {}
    return {"type": kind, **described, **more}


def faults_of(value: object, schema: Schema, where: str) -> list[str]:
    """A short message for every fault of a value."""
    name = where or "the arguments"
    if "anyOf" in schema:
        fitting = [one for one in schema["anyOf"] if _is(value, one["type"])]
        if not fitting:
            allowed = " or ".join(_a(one["type"]) for one in schema["anyOf"])
            return [f"{name} must be {allowed}, not {_shown(value)}"]
        return faults_of(value, fitting[0], where)
    kinds = schema.get("type")
    if kinds is not None:
        names = kinds if isinstance(kinds, list) else [kinds]
        if not any(_is(value, kind) for kind in names):
            return [f"{name} must be {' or '.join(map(_a, names))}, not {_shown(value)}"]
    if "enum" in schema and value not in schema["enum"]:
        allowed = ", ".join(repr(one) for one in schema["enum"])
        return [f"{name} must be one of {allowed}, not {_shown(value)}"]
    faults: list[str] = []
    if isinstance(value, int | float) and not isinstance(value, bool):
        if "minimum" in schema and value < schema["minimum"]:
            faults.append(f"{name} must be at least {schema['minimum']}, not {value}")
        if "maximum" in schema and value > schema["maximum"]:
            faults.append(f"{name} must be at most {schema['maximum']}, not {value}")
    if isinstance(value, str) and len(value) < schema.get("minLength", 0):
        faults.append(f"{name} must not be empty")
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            faults.append(f"{name} must not be empty")
        for place, item in enumerate(value):
            faults += faults_of(item, schema.get("items", {}), f"{where}[{place}]")
    if isinstance(value, dict):
        faults += _member_faults(value, schema, where)
    return faults


def _whole(value: Any, schema: Schema) -> Any:
    """A valid value with integers as `int`: JSON may write them as 2.0."""
    if isinstance(value, float) and schema.get("type") == "integer":
        return int(value)
    if isinstance(value, list):
        return [_whole(item, schema.get("items", {})) for item in value]
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        return {name: _whole(member, properties.get(name, {})) for name, member in value.items()}
    return value


def _member_faults(value: dict[str, Any], schema: Schema, where: str) -> list[str]:
    properties = schema.get("properties", {})
    of = f" of {where}" if where else ""
    faults = [f"{name}{of} is missing" for name in schema.get("required", ()) if name not in value]
    unknown = []
    for name, member in value.items():
        if name in properties:
            faults += faults_of(member, properties[name], f"{where}.{name}" if where else name)
        elif schema.get("additionalProperties") is False:
            unknown.append(_shown(name))
    if unknown:
        faults.append(
            f"there is no {', '.join(unknown)}{of}; known: {', '.join(properties) or 'none'}"
        )
    return faults


def signature(name: str, schema: Schema) -> str:
    """How a tool is called, in one line: required arguments first, optional ones with a `?`."""
    return f"{name}({_members(schema)})"


def _members(schema: Schema) -> str:
    required = schema.get("required", ())
    names = sorted(schema["properties"], key=lambda name: name not in required)
    return ", ".join(
        f"{name}{'' if name in required else '?'}: {_kind(schema['properties'][name])}"
        for name in names
    )


def _kind(schema: Schema) -> str:
    if "enum" in schema:
        return "|".join(map(repr, schema["enum"]))
    if "properties" in schema:
        return f"{{{_members(schema)}}}"
    if "anyOf" in schema:
        return "|".join(map(_kind, schema["anyOf"]))
    kind = schema.get("type", "any")
    if kind == "array":
        return f"[{_kind(schema.get('items', {}))}]"
    return "|".join(kind) if isinstance(kind, list) else str(kind)


def _is(value: object, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()  # JSON has one kind of number
    return isinstance(value, _TYPES[kind])


def _a(kind: str) -> str:
    if kind == "null":
        return kind
    return f"an {kind}" if kind[0] in "aeio" else f"a {kind}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
