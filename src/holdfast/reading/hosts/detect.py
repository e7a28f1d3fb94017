"""Which agent wrote this session file, and the adapter for it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from holdfast.files.regular import open_regular
from holdfast.home import Home
from holdfast.reading.errors import NoSuchSession
from holdfast.reading.hosts.claude_code import ClaudeCodeLog
from holdfast.reading.hosts.codex import CodexLog
from holdfast.reading.hosts.lines import loads
from holdfast.reading.hosts.native import FileLog, NativeSession
from holdfast.reading.hosts.pi import PiLog
from holdfast.reading.hosts.pi_entries import STRICT
from holdfast.reading.hosts.sidecar import Sidecar
from holdfast.reading.session_log import SessionLog
from holdfast.reading.view import Load

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")
_LOOKED_AT = 40
HISTORY = ("opencode", "gemini", "qwen")
"""Agents whose logs can be inspected but prove nothing."""


def detect(path: str) -> str:
    """The agent that wrote this session file, recognised by its first lines."""
    try:
        with open(open_regular(path), "rb") as file:
            lines = [file.readline(1 << 20) for _ in range(_LOOKED_AT)]
    except OSError as error:
        raise NoSuchSession(path, error.strerror or str(error)) from error
    if lines[0].startswith(b"SQLite format 3\0"):
        return "opencode"
    for line in lines:
        raw = loads(line) if line.strip() else None
        if not isinstance(raw, dict):
            continue
        if raw.get("format") == "holdfast-session":
            return "native"
        if raw.get("type") == "session":
            return "pi"
        if raw.get("type") == "session_meta" or "payload" in raw:
            return "codex"
        if "projectHash" in raw:
            return "gemini"
        if isinstance(raw.get("message"), dict) and "parts" in raw["message"]:
            return "qwen"
        if "uuid" in raw or "sessionId" in raw or "leafUuid" in raw:
            return "claude-code"
    raise NoSuchSession(path, "its first lines are not from a session of a supported agent")


def open_host(
    path: str,
    home: Home,
    *,
    now_ms: Callable[[], int],
    new_id: Callable[[], str],
    kind: str | None = None,
    call: str | None = None,
    newest_leaf: bool = False,
    load: Load | None = None,
) -> SessionLog:
    """The adapter for a session file; the agent is detected if `kind` is not given.

    `load` finds stored texts, with which some logs are compared.
    """
    kind = kind or detect(path)
    if kind == "native":
        return NativeSession(FileLog(path), now_ms=now_ms, new_id=new_id)
    if not os.path.exists(path):
        raise NoSuchSession(path, "no such file")
    if kind in HISTORY:
        from holdfast.reading.hosts.history_log import HistoryLog

        return HistoryLog(path, looking=newest_leaf)
    sidecar = Sidecar(sidecar_path(home, kind, path))
    if kind == "pi":
        return PiLog(path, sidecar, rules=STRICT._replace(load=load))
    if kind == "codex":
        return CodexLog(path, sidecar)
    return ClaudeCodeLog(
        path, sidecar, call=call, newest_leaf=newest_leaf, sidechain=is_subagent(path)
    )


def is_subagent(path: str) -> bool:
    """Whether a transcript of Claude Code is that of a subagent: all of it is a side chain."""
    return os.path.basename(path).startswith("agent-")


def is_name(session: str) -> bool:
    """Whether `--session` names our own session, rather than a file of an agent."""
    return os.sep not in session and not session.endswith(".jsonl")


def sidecar_path(home: Home, kind: str, path: str) -> Path:
    """Where we keep our records of an agent's session."""
    stem = Path(path).stem
    if kind == "claude-code" and is_subagent(path):
        # The names of subagents are unique within their session only.
        stem = f"{Path(path).parent.parent.name}-{stem}"
    return home.session_records / kind / f"{stem}.jsonl"


def checked_name(name: str) -> str:
    """The name, if our own session may have it; otherwise raises NoSuchSession."""
    if _NAME.match(name) is None:
        raise NoSuchSession(
            name, "a session name may contain letters, digits, dots, dashes and underscores"
        )
    return name
