"""What pi's own tools showed of a file: read, bash, edit, write.

A result names its call; the call is in an assistant message before it. Only lines that can matter
are decoded, because most of a session file is text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.reading.events import Event, Forgotten, Seen, Together
from holdfast.reading.hosts import calls
from holdfast.reading.hosts.lines import loads
from holdfast.reading.hosts.sidecar import Sidecar, text_digest

_TOOLS = ("read", "bash", "edit", "write")
_RESULT = b'"toolResult"'
_CALL = b'"toolCall"'


class PiCalls:
    """The calls of a session by id, and the events about lines of files in their results."""

    def __init__(self, sidecar: Sidecar | None = None) -> None:
        self.sidecar = sidecar
        self._calls: dict[str, tuple[str, Mapping[str, Any]]] = {}

    def event(self, line: bytes, cwd: str) -> Event | None:
        """The event about lines of files in an entry; also remembers the calls in it."""
        if _RESULT not in line and _CALL not in line:
            return None
        raw = loads(line)
        message = raw.get("message") if isinstance(raw, Mapping) else None
        if not isinstance(message, Mapping):
            return None
        if message.get("role") == "assistant":
            self._take_calls(message.get("content"))
            return None
        if message.get("role") != "toolResult" or message.get("isError") is True:
            return None
        events = self._result(message, cwd)
        if not events:
            return None
        return events[0] if len(events) == 1 else Together(events)

    def _take_calls(self, content: object) -> None:
        for block in content if isinstance(content, list) else []:
            if not isinstance(block, Mapping) or block.get("type") != "toolCall":
                continue
            call, name, arguments = block.get("id"), block.get("name"), block.get("arguments")
            if isinstance(call, str) and name in _TOOLS and isinstance(arguments, Mapping):
                self._calls[call] = (str(name), arguments)

    def _result(self, message: Mapping[str, Any], cwd: str) -> tuple[Seen, ...]:
        call = message.get("toolCallId")
        name, arguments = self._calls.get(call if isinstance(call, str) else "", ("", {}))
        text = calls.text_of(message.get("content"))
        if not name or text is None:
            return ()
        short = None if self.sidecar is None else self.sidecar.short.get(str(call))
        if short is not None and short.text_sha256 == text_digest(text):
            return (short.event,)
        if name == "bash":
            printed = calls.shell_read(arguments.get("command"), cwd, text)
            return () if printed is None else _checked((printed,))
        path = calls.absolute(arguments.get("path", arguments.get("file_path")), cwd)
        if path is None:
            return ()
        match name:
            case "read":
                details = message.get("details")
                if isinstance(details, Mapping) and "readcache" in details:
                    return ()  # our own answer: its metadata says what it shows
                read = calls.plain_read(path, arguments.get("offset"), arguments.get("limit"), text)
                return (Forgotten(path),) if read is None else _checked((read,))
            case "edit":
                return _edited(path, arguments, message.get("details"))
            case _:
                return (calls.write(path, arguments.get("content")),)


def _edited(path: str, arguments: Mapping[str, Any], details: object) -> tuple[Seen, ...]:
    """An edit: placed by the numbers in its diff, or else by the text it replaced."""
    diff = details.get("diff") if isinstance(details, Mapping) else None
    changes = arguments.get("edits", arguments)
    if isinstance(diff, str):
        every = changes if isinstance(changes, list) else [changes]
        texts = [one.get("newText") for one in every if isinstance(one, Mapping)]
        new = "\n".join(text for text in texts if isinstance(text, str))
        patch = calls.numbered_diff(path, diff, new)
        if patch is not None:
            return (patch,)
    return calls.edits(path, changes)


def _checked(events: tuple[Seen, ...]) -> tuple[Seen, ...]:
    """The events; a text that looks like our short form, without a record, forgets its file."""
    return tuple(Forgotten(one.path) if calls.is_short(one) else one for one in events)
