"""Who calls: what a shim told about the agent behind it, or what is known over HTTP."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.errors import UsageError

_PLAIN = re.compile(r"[^a-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Ancestor:
    """A process above the shim. `pid` and `start` together name it for ever."""

    pid: int
    start: int
    name: str = ""
    programs: tuple[str, ...] = ()

    def is_called(self, program: str) -> bool:
        return program in (self.name, *(os.path.splitext(one)[0] for one in self.programs))


@dataclass(slots=True)
class Caller:
    """One connection."""

    cwd: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    ancestors: tuple[Ancestor, ...] = ()
    session: str | None = None
    host: str | None = None
    transport: str = "stdio"
    name: str = "mcp"
    """Who commits, as the store's log shows it; unique for each connection."""
    client: str = ""
    """What the program at the other end calls itself; empty until it has said so."""

    _local_seq: int = 0
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def next_local_seq(self) -> int:
        with self._turn:
            self._local_seq += 1
            return self._local_seq

    def path(self, given: str) -> str:
        """A path as the agent means it: from its own directory."""
        expanded = given
        if given == "~" or given.startswith("~/"):
            expanded = self.home + given[1:]
        if os.path.isabs(expanded):
            return os.path.normpath(expanded)
        if self.cwd is None:
            raise UsageError(
                f"{given!r} is a relative path, and over {self.transport} nobody says from where",
                "give an absolute path",
            )
        return os.path.normpath(os.path.join(self.cwd, expanded))

    @property
    def home(self) -> str:
        return self.environment.get("HOME") or os.path.expanduser("~")


def caller_of(hello: Mapping[str, Any], unique: str) -> Caller:
    """The caller that a greeting describes; what it does not say in the right form is not known."""

    def text(name: str) -> str | None:
        value = hello.get(name)
        return value if isinstance(value, str) and value else None

    told = hello.get("environment")
    environment = {
        name: value
        for name, value in (told.items() if isinstance(told, dict) else ())
        if isinstance(value, str)
    }
    above = hello.get("ancestors")
    return Caller(
        text("cwd"),
        environment,
        tuple(filter(None, map(_ancestor, above if isinstance(above, list) else ()))),
        text("session"),
        text("host"),
        name=f"mcp-{unique}",
    )


def _ancestor(raw: object) -> Ancestor | None:
    if not isinstance(raw, dict):
        return None
    pid, start, programs = raw.get("pid"), raw.get("start"), raw.get("programs")
    if not isinstance(pid, int) or not isinstance(start, int):
        return None
    words = programs if isinstance(programs, list) else []
    return Ancestor(pid, start, str(raw.get("name", "")), tuple(map(str, words)))


def named(client: str, unique: str) -> str:
    """A name for the log: what the agent calls itself, and what tells this connection apart."""
    plain = _PLAIN.sub("-", client.lower()).strip("-")[:40]
    return f"{plain or 'mcp'}-{unique}"
