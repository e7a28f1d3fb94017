"""One line of a Claude Code transcript: its place, its calls, and what its results showed.

Parsing needs only the line and the calls before it, not the file or the tree.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from holdfast.reading.events import LINES, Anchored, Barrier, Event, Forgotten, Hidden, Printed
from holdfast.reading.hosts import claude_attachments, claude_results
from holdfast.reading.hosts.sidecar import text_digest, texts_of
from holdfast.reading.scope import WHOLE

SHORT, EDIT, SIZE = "/short", "/edit", "/size"
"""Suffixes of entry ids: for a short form of ours, for an edit whose place the line does not state,
and for the size of the text that a line adds."""

_BLOCKS = ("text", "thinking", "tool_use", "tool_result", "image")
_BLOCK_BYTES = 40
"""The approximate bytes that a block costs in addition to its text."""

_OURS = "[holdfast: "
"""How our short forms of the agent's own results begin."""

Events = tuple[tuple[str, Event | None], ...]
"""Events with the ids of their entries."""


class ToolCall(NamedTuple):
    """A call of the model: the tool, its arguments, and the directory it was made in."""

    name: str = ""
    arguments: Mapping[str, Any] = {}
    cwd: str = ""


UNKNOWN = ToolCall()


@dataclass(slots=True)
class TranscriptLine:
    """One line with a uuid."""

    uuid: str
    parent: str | None
    number: int
    size: int
    """How many bytes of the line the model sees."""
    total: int
    """The sum of `size` for all lines of the file up to and including this one."""
    sidechain: bool
    kind: str
    message: str | None = None
    """For an assistant's line, the message that it is a block of."""
    calls: dict[str, ToolCall] = field(default_factory=dict)
    results: tuple[str, ...] = ()
    events: Events = ()
    shown: dict[str, frozenset[str]] = field(default_factory=dict)
    """Digests of the texts that each result may represent, by call id, to match sidecar records.

    For a result with structured content the model is shown that, as JSON that contains the text.
    """
    bridged: str | None = None
    """For a compaction, the line before it. Never used for trust."""
    boundary: bool = False
    """Whether it is a compaction that cuts the tree."""
    blanks: bool = False
    """Whether it blanks results anywhere in the tree."""
    at_s: float | None = None
    """When it was written, if the line has a timestamp."""

    @property
    def compacts(self) -> bool:
        """Whether nothing shown before this line counts."""
        return any(isinstance(event, Barrier) for _, event in self.events)


def parse_line(
    raw: Mapping[str, Any],
    number: int,
    shown_before: int,
    calls: Mapping[str, ToolCall],
    answered: Container[str],
) -> TranscriptLine:
    """A line with a uuid; a result counts unless its call was answered before."""
    parent, message = raw.get("parentUuid"), raw.get("message")
    content = message.get("content") if isinstance(message, Mapping) else None
    attachment = raw.get("attachment")
    size = _text_size(content) + _text_size(claude_attachments.shown_text(attachment))
    line = TranscriptLine(
        str(raw["uuid"]),
        parent if isinstance(parent, str) else None,
        number,
        size,
        shown_before + size,
        raw.get("isSidechain") is True,
        str(raw.get("type")),
        at_s=_seconds(raw.get("timestamp")),
    )
    blocks = [b for b in content if isinstance(b, Mapping)] if isinstance(content, list) else []
    match line.kind:
        case "assistant":
            message_id = message.get("id") if isinstance(message, Mapping) else None
            line.message = message_id if isinstance(message_id, str) else None
            line.calls = _calls(raw, blocks)
        case "user":
            _parse_results(line, raw, blocks, calls, answered)
        case "system":
            _parse_system(line, raw)
        case "attachment":
            line.events = tuple(
                (f"{line.uuid}/{count}{LINES}", event)
                for count, event in enumerate(claude_attachments.events(attachment))
            )
        case _:
            pass
    if raw.get("isCompactSummary") is True:
        line.events = ((f"{line.uuid}/summary", Barrier()), *line.events)
    return line


def replaced_results(
    replacements: object, name: str, number: int, shown_before: int
) -> TranscriptLine | None:
    """A line for results of which the model is shown only a part, or a file name.

    None when it is not known which results they are.
    """
    items = replacements if isinstance(replacements, list) else [None]
    ids = [one.get("toolUseId") if isinstance(one, Mapping) else None for one in items]
    if not all(isinstance(call, str) for call in ids):
        return None
    line = TranscriptLine(name, None, number, 0, shown_before, False, "system", blanks=True)
    line.events = ((f"{name}/results", Hidden(tuple(map(str, ids)))),)
    return line


def _calls(raw: Mapping[str, Any], blocks: list[Mapping[str, Any]]) -> dict[str, ToolCall]:
    calls: dict[str, ToolCall] = {}
    for block in blocks:
        call, arguments = block.get("id"), block.get("input")
        if block.get("type") == "tool_use" and isinstance(call, str):
            members = arguments if isinstance(arguments, Mapping) else {}
            calls.setdefault(call, ToolCall(str(block.get("name")), members, _cwd(raw)))
    return calls


def _parse_results(
    line: TranscriptLine,
    raw: Mapping[str, Any],
    blocks: list[Mapping[str, Any]],
    calls: Mapping[str, ToolCall],
    answered: Container[str],
) -> None:
    results: list[str] = []
    events: list[tuple[str, Event | None]] = []
    result_blocks = [block for block in blocks if block.get("type") == "tool_result"]
    result = raw.get("toolUseResult")
    # For subagents a transcript has only the text.
    details = result if len(result_blocks) == 1 and isinstance(result, Mapping) else None
    for block in result_blocks:
        call = block.get("tool_use_id")
        if not isinstance(call, str) or call in answered or call in results:
            continue
        results.append(call)
        text = _text_of(block.get("content"))
        if text is None or block.get("is_error") is True:
            continue
        shown, result_events = _result_events(
            call, calls.get(call, UNKNOWN), text, result, details, _cwd(raw)
        )
        line.shown[call] = shown
        events += result_events
    line.results, line.events = tuple(results), tuple(events)


def _result_events(
    call: str,
    tool_call: ToolCall,
    text: str,
    result: object,
    details: Mapping[str, Any] | None,
    cwd: str,
) -> tuple[frozenset[str], Events]:
    """The digests of the texts a result may represent, and its events about files."""
    shown = frozenset(map(text_digest, _candidates(text, result)))
    folders = (tool_call.cwd, cwd)
    if details is not None:
        file_events = claude_results.events(
            tool_call.name, tool_call.arguments, details, text, folders
        )
    else:
        file_events = claude_results.plain_events(
            tool_call.name, tool_call.arguments, text, folders
        )
        if claude_results.is_plain_edit(tool_call.name, text) and file_events:
            return shown, ((f"{call}{EDIT}", file_events[0]),)
        if file_events and isinstance(file_events[0], Printed) and tool_call.name == "Read":
            shown |= {text_digest("\n".join(file_events[0].rows))}  # without numbers
    if any(isinstance(one, Printed) and one.rows[0].startswith(_OURS) for one in file_events):
        # This is not the file's text. The sidecar records which text it represents.
        return shown, ((f"{call}{SHORT}", Forgotten(file_events[0].path)),)
    events: list[tuple[str, Event | None]] = []
    first = file_events[0] if len(file_events) == 1 and tool_call.name == "Read" else None
    if isinstance(first, Printed) and details is not None:
        events.append((call, _whole(first, details)))
    for count, one in enumerate(file_events):
        events.append((f"{call}{LINES}" if not count else f"{call}/{count}{LINES}", one))
    return shown, tuple(events)


def _parse_system(line: TranscriptLine, raw: Mapping[str, Any]) -> None:
    match raw.get("subtype"):
        case "compact_boundary":
            line.parent, line.boundary = None, True
            bridged = raw.get("logicalParentUuid")
            line.bridged = bridged if isinstance(bridged, str) else None
            line.events = ((f"{line.uuid}/boundary", Barrier()),)
        case "microcompact_boundary":
            line.blanks = True
            details = raw.get("microcompactMetadata")
            ids = details.get("compactedToolIds") if isinstance(details, Mapping) else None
            event: Event = Barrier()
            if isinstance(ids, list) and all(isinstance(call, str) for call in ids):
                event = Hidden(tuple(ids))
            line.events = ((f"{line.uuid}/boundary", event),)
        case _:
            pass


def _cwd(raw: Mapping[str, Any]) -> str:
    cwd = raw.get("cwd")
    return cwd if isinstance(cwd, str) else ""


def _seconds(text: object) -> float | None:
    try:
        return datetime.fromisoformat(text).timestamp() if isinstance(text, str) else None
    except (ValueError, OverflowError):
        return None


def _text_of(content: object) -> str | None:
    """The text of a result, or None when it is not all text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    pieces = []
    for block in content:
        if not isinstance(block, Mapping) or block.get("type") != "text":
            return None
        pieces.append(block.get("text"))
    return "".join(p for p in pieces if isinstance(p, str)) if len(pieces) == 1 else None


def _candidates(text: str, result: object) -> Iterator[str]:
    """The texts that a result may represent: as shown, and as the tool returned it."""
    yield from texts_of(text)
    if not isinstance(result, Mapping):
        return
    content = _file_content(result)
    if content is not None and claude_results.read(result, text) is not None:
        yield content


def _whole(printed: Printed, result: Mapping[str, Any]) -> Anchored | None:
    """The anchor of a Read that printed the whole file, by the digest of its content."""
    content = _file_content(result) if printed.whole else None
    if content is None:
        return None
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    return Anchored(printed.path, WHOLE, digest)


def _file_content(result: Mapping[str, Any]) -> str | None:
    file = result.get("file")
    content = file.get("content") if isinstance(file, Mapping) else None
    return content if isinstance(content, str) else None


def _text_size(value: object) -> int:
    """Approximately how many bytes of some content the model is sent."""
    if isinstance(value, str):
        return len(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, Mapping):
        parts = (value.get(name) for name in ("text", "thinking", "input", "content"))
        if value.get("type") in _BLOCKS:
            return sum(map(_text_size, parts)) + _BLOCK_BYTES
        return sum(len(str(key)) + _text_size(one) for key, one in value.items())
    if isinstance(value, list):
        return sum(map(_text_size, value))
    return 8 if value is not None else 0
