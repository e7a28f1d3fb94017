"""Which agent wrote a session file, and its conversations as steps."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from holdfast.files.regular import open_regular
from holdfast.reading.history import claude, codex, gemini, pi
from holdfast.reading.history.steps import Context
from holdfast.reading.hosts.lines import loads, objects

BYTES_MAX = 256 << 20
"""A longer file is not read."""


def contexts_at(path: str | Path) -> list[Context]:
    """The conversations in a session file; none when it is not one. Raises OSError."""
    with open(open_regular(path), "rb") as file:
        data = file.read(BYTES_MAX + 1)
    if len(data) > BYTES_MAX:
        return []
    name = Path(path).stem
    return contexts_in(data, name, subagent=name.startswith("agent-"))


def contexts_in(data: bytes, name: str, *, subagent: bool = False) -> list[Context]:
    """The conversations in the bytes of a session file."""
    whole = loads(data) if data.lstrip()[:1] == b"{" and data.count(b"\n{") == 0 else None
    lines = [whole] if isinstance(whole, Mapping) else _values(data)
    for raw in lines:
        if not isinstance(raw, Mapping):
            continue
        kind = raw.get("type")
        if kind == "session":
            return pi.contexts(name, lines)
        if kind == "session_meta" or "payload" in raw:
            return codex.contexts(name, lines)
        if "projectHash" in raw:
            return gemini.gemini_contexts(name, lines)
        message = raw.get("message")
        if "uuid" in raw and isinstance(message, Mapping) and "parts" in message:
            return gemini.qwen_contexts(name, lines)
        if "uuid" in raw and isinstance(message, Mapping):
            return claude.contexts(name, lines, subagent=subagent)
    return []


def _values(data: bytes) -> list[object]:
    return [one for line in data.split(b"\n") if line.strip() for one in objects(line)]
