"""One line of a pi session file as an entry of a tree.

    {"type":"message","id":…,"parentId":…,"message":{"role":"toolResult","toolName":"read",…}}

Versions 1 to 3 are understood: 1 is a plain list without ids, 2 and 3 are trees. Unknown
kinds are kept in the tree and ignored. Only entries that can matter for trust are decoded further,
because most of a session file is text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from holdfast.reading import meta as metas
from holdfast.reading import scope as scopes
from holdfast.reading.events import Anchored, Barrier, Derived, Event, Hidden
from holdfast.reading.hosts.lines import loads
from holdfast.reading.hosts.result_check import is_shown
from holdfast.reading.meta import Meta
from holdfast.reading.scope import Lines
from holdfast.reading.tree import NO_ENTRY, Served, Tree
from holdfast.reading.view import Load

RESULT = "toolResult"
"""The kind, in our tree, of a message that is the result of a call."""
_ROLE = b'"role":"toolResult"'
_ROLE_WITHIN = 300
"""pi writes a message's role within this many bytes. Otherwise it is unknown, which is safe."""

_ALWAYS_DECODED = frozenset({"compaction", "context_edit", "custom"})
"""Kinds that matter even without metadata."""


class _Envelope(msgspec.Struct, gc=False):
    type: str
    id: str | None = None
    parentId: str | None = None
    customType: str | None = None
    targetId: str | None = None
    message: msgspec.Raw = msgspec.Raw()
    data: msgspec.Raw = msgspec.Raw()


class _Block(msgspec.Struct, gc=False):
    type: str
    text: str = ""


class _Why(msgspec.Struct, gc=False):
    reason: str
    scope: str
    baseHashFound: bool
    diffAttempted: bool
    outsideRangeChanged: bool | UnsetType = UNSET
    baseObjectFound: bool | UnsetType = UNSET
    largestBytes: int | UnsetType = UNSET
    maxLines: int | UnsetType = UNSET
    diffBytes: int | UnsetType = UNSET
    diffChangedLines: int | UnsetType = UNSET


class _Meta(msgspec.Struct, gc=False):
    v: int
    pathKey: str
    scopeKey: str
    servedHash: str
    mode: str
    totalLines: int
    rangeStart: int
    rangeEnd: int
    bytes: int
    baseHash: str | UnsetType = UNSET
    debug: _Why | UnsetType = UNSET


class _Details(msgspec.Struct, gc=False):
    readcache: _Meta
    truncation: Any = None


class _ToolResult(msgspec.Struct, gc=False):
    role: str
    toolName: str = ""
    content: list[_Block] | None = None
    details: _Details | None = None


_envelope = msgspec.json.Decoder(_Envelope)
_tool_result = msgspec.json.Decoder(_ToolResult)


class Rules(NamedTuple):
    """How a session is read."""

    aliases: bool = True
    """Understand the names that early writers used."""
    verify: bool = False
    """Trust metadata only if the text in the log is what it claims (see `shown`)."""
    load: Load | None = None
    """Loads the text with a digest, to compare with; without it only line counts are checked."""


LENIENT = Rules()
STRICT = Rules(verify=True)


class Entry(NamedTuple):
    """An entry of the tree, with its event about a read, if any."""

    id: str
    parent: str | None
    kind: str
    event: Event | None = None
    served: Served | None = None


@dataclass(frozen=True, slots=True)
class Header:
    """The first line: not part of the tree."""

    id: str
    version: int
    cwd: str


def parse_header(line: bytes) -> Header | None:
    """The header in this line, or None if it is not one."""
    raw = loads(line)
    if not isinstance(raw, dict) or raw.get("type") != "session":
        return None
    session, version = raw.get("id"), raw.get("version", 1)
    if not isinstance(session, str) or isinstance(version, bool) or not isinstance(version, int):
        return None
    cwd = raw.get("cwd")
    return Header(session, version, cwd if isinstance(cwd, str) else "")


def parse_entries(lines: list[bytes], *, rules: Rules = LENIENT) -> list[Entry | None]:
    """`parse_entry` of each line, many at once."""
    envelopes: list[_Envelope] = []
    try:
        # The fast decoder could join objects that span two lines, so each line must be one object.
        if all(line.startswith(b"{") and line.endswith(b"}") for line in lines):
            envelopes = _envelope.decode_lines(b"\n".join(lines))
    except (msgspec.DecodeError, ValueError, RecursionError):
        pass
    if len(envelopes) != len(lines):
        # The fast decoder rejected some line, so decode them one by one.
        return [parse_entry(line, rules=rules) for line in lines]
    return [
        Entry(
            envelope.id,
            envelope.parentId,
            RESULT if _ROLE in line[:_ROLE_WITHIN] else envelope.type,
        )
        if envelope.id and envelope.type not in _ALWAYS_DECODED and b"readcache" not in line
        else _entry(envelope, rules=rules)
        for envelope, line in zip(envelopes, lines, strict=True)
    ]


def parse_entry(line: bytes, *, rules: Rules = LENIENT) -> Entry | None:
    """The entry in this line; None for anything that cannot be placed in a tree."""
    try:
        envelope = _envelope.decode(line)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return _slow_entry(loads(line), rules=rules)
    return _entry(envelope, rules=rules)


def _entry(envelope: _Envelope, *, rules: Rules) -> Entry | None:
    if not envelope.id:
        return None
    event, served, kind = None, None, envelope.type
    match envelope.type:
        case "message":
            raw = bytes(envelope.message)
            kind = RESULT if _ROLE in raw[:_ROLE_WITHIN] else kind
            if b'"readcache"' in raw:
                event, served = _message(raw, rules=rules)
        case "compaction":
            event = Barrier()
        case "custom":
            if envelope.customType == metas.CUSTOM_TYPE:
                event = metas.parse_refresh(loads(bytes(envelope.data)))
        case "context_edit":
            event = Hidden((envelope.targetId,)) if envelope.targetId else Barrier()
        case _:
            pass
    return Entry(envelope.id, envelope.parentId, kind, event, served)


def _slow_entry(raw: object, *, rules: Rules) -> Entry | None:
    """As `parse_entry`, for lines that the fast decoder rejects."""
    if not isinstance(raw, Mapping):
        return None
    kind, entry, parent = raw.get("type"), raw.get("id"), raw.get("parentId")
    if not isinstance(kind, str) or not isinstance(entry, str) or not entry:
        return None
    if parent is not None and not isinstance(parent, str):
        return None
    return from_object(raw, entry, parent, rules=rules)


def from_object(
    raw: Mapping[str, Any], entry: str, parent: str | None, *, rules: Rules = LENIENT
) -> Entry:
    """The entry in a decoded object, with this id and parent."""
    kind = str(raw.get("type"))
    event: Event | None = None
    served = None
    if kind == "compaction":
        event = Barrier()
    elif kind == "context_edit":
        target = raw.get("targetId")
        # Without a target it is unknown what was edited, so nothing before it is certain.
        event = Hidden((target,)) if isinstance(target, str) and target else Barrier()
    elif kind == "custom" and raw.get("customType") == metas.CUSTOM_TYPE:
        event = metas.parse_refresh(raw.get("data"))
    elif kind == "message" and isinstance(message := raw.get("message"), Mapping):
        event, served = _message_object(message, rules=rules)
        kind = RESULT if message.get("role") == RESULT else kind
    return Entry(entry, parent, kind, event, served)


def hiding(tree: Tree, event: Hidden) -> Event:
    """What an edit of the context hides.

    An edit that removes a result hides it. One that removes an assistant message may also remove
    the results of its calls, which the log does not say, so nothing before it counts.
    """
    kinds = {tree.kinds[at] for at in map(tree.number, event.targets) if at != NO_ENTRY}
    return Barrier() if "message" in kinds else event


def _message(raw: bytes, *, rules: Rules) -> tuple[Event | None, Served | None]:
    try:
        message = _tool_result.decode(raw)
    except (msgspec.DecodeError, ValueError, RecursionError):
        loaded = loads(raw)
        return _message_object(loaded, rules=rules) if isinstance(loaded, dict) else (None, None)
    if message.role != "toolResult" or message.toolName != "read" or message.details is None:
        return None, None
    event = _checked(message.details.readcache, rules=rules)
    if event is None:
        return None, None
    shown = "".join(block.text for block in message.content or () if block.type == "text")
    return _event_of(event, message.details.truncation, shown, rules)


def _checked(raw: _Meta, *, rules: Rules) -> Meta | None:
    """The metadata after the checks of `metas.parse` that decoding did not already make."""
    mode = metas.ALIASES.get(raw.mode, raw.mode) if rules.aliases else raw.mode
    scope = scopes.parse(raw.scopeKey)
    base = None if raw.baseHash is UNSET else raw.baseHash
    if (
        raw.v != metas.VERSION
        or not raw.pathKey
        or not raw.servedHash
        or scope is None
        or base == ""
        or (mode not in metas.ANCHORS and (mode not in metas.DERIVED or base is None))
        or raw.totalLines < 1
        or not 1 <= raw.rangeStart <= raw.rangeEnd
        or raw.bytes < 0
        or (raw.debug is not UNSET and not _is_why(raw.debug))
    ):
        return None
    return Meta(
        raw.pathKey,
        scope,
        raw.servedHash,
        mode,
        raw.totalLines,
        raw.rangeStart,
        raw.rangeEnd,
        raw.bytes,
        base,
    )


def _is_why(raw: _Why) -> bool:
    return (
        raw.reason in metas.REASONS
        and raw.scope in ("full", "range")
        and (raw.largestBytes is UNSET or raw.largestBytes >= 1)
        and (raw.maxLines is UNSET or raw.maxLines >= 1)
        and (raw.diffBytes is UNSET or raw.diffBytes >= 0)
        and (raw.diffChangedLines is UNSET or raw.diffChangedLines >= 0)
    )


def _message_object(
    message: Mapping[str, Any], *, rules: Rules
) -> tuple[Event | None, Served | None]:
    details = message.get("details")
    if (
        message.get("role") != "toolResult"
        or message.get("toolName") != "read"
        or not isinstance(details, Mapping)
    ):
        return None, None
    content = message.get("content")
    blocks = [b for b in content if isinstance(b, Mapping)] if isinstance(content, list) else []
    texts = [b.get("text") for b in blocks if b.get("type") == "text"]
    shown = "".join(text for text in texts if isinstance(text, str))
    return read_event(details.get("readcache"), details.get("truncation"), shown, rules=rules)


def read_event(
    readcache: object, truncation: object, text: str, *, rules: Rules = LENIENT
) -> tuple[Event | None, Served | None]:
    """The event of a read result with these details, and what the result cost."""
    try:
        event = _checked(msgspec.convert(readcache, _Meta), rules=rules)
    except (msgspec.ValidationError, TypeError, UnicodeEncodeError):  # a lone surrogate
        event = metas.parse(readcache, aliases=rules.aliases)
    return (None, None) if event is None else _event_of(event, truncation, text, rules)


def _event_of(
    meta: Meta, truncation: object, text: str, rules: Rules
) -> tuple[Event | None, Served | None]:
    data = text.encode("utf-8", "surrogatepass")
    event: Event | None = meta.event()
    if isinstance(event, Anchored) and truncation is not None:
        event = _only_printed(meta, truncation)
    if (
        rules.verify
        and isinstance(event, Anchored | Derived)
        and not is_shown(event, data, rules.load)
    ):
        event = None
    served = Served(
        meta.mode,
        meta.lines_total,
        meta.first,
        meta.last,
        meta.size_bytes,
        len(data),
        truncation is not None,
    )
    return event, served


def _only_printed(meta: Meta, truncation: object) -> Anchored | None:
    """The anchor of a result that was cut: the lines it printed, even if it claims more."""
    printed = truncation.get("outputLines") if isinstance(truncation, Mapping) else None
    if isinstance(printed, bool) or not isinstance(printed, int) or printed < 1:
        return None
    last = min(meta.first + printed - 1, meta.last)
    return Anchored(meta.path, Lines(meta.first, last), meta.digest)
