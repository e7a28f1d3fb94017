"""Where agents keep their sessions, newest first."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

AGENTS = ("claude-code", "codex", "pi", "opencode", "gemini", "qwen")
CLIENTS = {"claude": "claude-code"}
"""Clients whose name in commands differs from the agent's name."""


@dataclass(frozen=True, slots=True)
class AgentSession:
    """A session file of an agent, or its database."""

    agent: str
    path: Path
    at_s: float
    """When it was last written."""


def session_files(
    user_home: str, environment: Mapping[str, str], since_s: float, agent: str | None = None
) -> list[AgentSession]:
    """The session files written since `since_s`, the newest first."""
    files = [
        one
        for name, path in _files(Path(user_home), environment)
        if agent in (None, name) and (one := _stat(name, path)) is not None and one.at_s >= since_s
    ]
    return sorted(files, key=lambda one: one.at_s, reverse=True)


def _files(home: Path, environment: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    def folder(variable: str, default: str) -> Path:
        value = environment.get(variable)
        return Path(value) if value else home / default

    claude = folder("CLAUDE_CONFIG_DIR", ".claude") / "projects"
    for pattern in ("*/*.jsonl", "*/*/subagents/agent-*.jsonl"):
        yield from (("claude-code", path) for path in claude.glob(pattern))
    codex = folder("CODEX_HOME", ".codex") / "sessions"
    yield from (("codex", path) for path in codex.glob("**/rollout-*.jsonl"))
    pi = folder("PI_CODING_AGENT_DIR", ".pi/agent") / "sessions"
    yield from (("pi", path) for path in pi.glob("**/*.jsonl"))
    data = folder("XDG_DATA_HOME", ".local/share")
    yield from (("opencode", path) for path in (data / "opencode").glob("opencode.db"))
    gemini = home / ".gemini" / "tmp"
    for pattern in ("*/chats/session-*.json", "*/chats/session-*.jsonl"):
        yield from (("gemini", path) for path in gemini.glob(pattern))
    qwen = home / ".qwen" / "projects"
    yield from (("qwen", path) for path in qwen.glob("*/chats/*.jsonl"))


def _stat(agent: str, path: Path) -> AgentSession | None:
    try:
        return AgentSession(agent, path, os.stat(path).st_mtime)
    except OSError:
        return None
