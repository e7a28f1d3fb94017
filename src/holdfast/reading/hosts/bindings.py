"""Bindings: what hooks report about conversations, as small files in `run/bindings`, one a session.

An agent's hook knows its session and its parent process. It stores both here; a shim that is a
child of the same process belongs to the same agent. The newest file of an agent
says which of its sessions is the current one.

    {"format":"holdfast-binding","v":1,"host":"claude-code","session":"…","transcript":"/…",
     "cwd":"/…","agent":{"pid":1,"start":2},"event":"SessionStart","at":1700000000000}

A file of a version that we do not know is not used. Format history
    1   first version
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from holdfast import system
from holdfast.home import Home

FORMAT_VERSION = 1
KEPT_S = 14 * 24 * 3600.0

_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}\Z")


@dataclass(frozen=True, slots=True)
class Binding:
    """A session of an agent, where its transcript is, and which process the agent is."""

    host: str
    session: str
    transcript: str
    cwd: str
    agent: tuple[int, int] | None
    """Process id and start time; None if the system does not report them."""

    event: str
    at_ms: int

    def to_wire(self) -> dict[str, object]:
        agent = None if self.agent is None else {"pid": self.agent[0], "start": self.agent[1]}
        return {
            "format": "holdfast-binding",
            "v": FORMAT_VERSION,
            "host": self.host,
            "session": self.session,
            "transcript": self.transcript,
            "cwd": self.cwd,
            "agent": agent,
            "event": self.event,
            "at": self.at_ms,
        }


def write(home: Home, binding: Binding) -> Path | None:
    """Store a binding atomically; None if its session cannot be a file name."""
    if not _SAFE.match(binding.host) or not _SAFE.match(binding.session):
        return None
    folder = home.bindings
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"{binding.host}-{binding.session}.json"
    part = folder / f".{os.getpid()}-{path.name}"
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
        json.dump(binding.to_wire(), out)
    part.replace(path)
    return path


def read_all(home: Home, now_s: Callable[[], float] = system.now_s) -> list[Binding]:
    """Every valid binding, newest first; those that are long unused are deleted."""
    bindings = []
    folder = home.bindings
    try:
        names = [entry for entry in os.scandir(folder) if entry.name.endswith(".json")]
    except OSError:
        return []
    for entry in names:
        try:
            if now_s() - entry.stat().st_mtime > KEPT_S:
                os.unlink(entry.path)
                continue
            with open(entry.path, "rb") as file:
                raw = json.load(file)
        except (OSError, ValueError):
            continue
        binding = parse(raw)
        if binding is not None:
            bindings.append(binding)
    return sorted(bindings, key=lambda binding: binding.at_ms, reverse=True)


def parse(raw: object) -> Binding | None:
    """The binding in a file's content; None if it is not valid or of another version."""
    if not isinstance(raw, Mapping) or raw.get("format") != "holdfast-binding":
        return None
    texts = [raw.get(name) for name in ("host", "session", "transcript", "cwd", "event")]
    at, agent = raw.get("at"), raw.get("agent")
    if raw.get("v") != FORMAT_VERSION or not all(isinstance(text, str) for text in texts):
        return None
    if isinstance(at, bool) or not isinstance(at, int):
        return None
    process = None
    if isinstance(agent, Mapping):
        pid, start = agent.get("pid"), agent.get("start")
        if not isinstance(pid, int) or not isinstance(start, int):
            return None
        process = (pid, start)
    host, session, transcript, cwd, event = map(str, texts)
    return Binding(host, session, transcript, cwd, process, event, at)
