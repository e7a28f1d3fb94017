"""The client of a connection, as described by its greeting or by the HTTP request."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.errors import UsageError
from holdfast.home import expand_user

_PLAIN = re.compile(r"[^a-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Ancestor:
    """A parent process of the shim. `pid` and `start` together identify it."""

    pid: int
    start: int
    name: str = ""
    programs: tuple[str, ...] = ()

    def is_called(self, program: str) -> bool:
        return program in (self.name, *(os.path.splitext(one)[0] for one in self.programs))


@dataclass(slots=True)
class Caller:
    """The client at the other end of one connection."""

    cwd: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    ancestors: tuple[Ancestor, ...] = ()
    session: str | None = None
    host: str | None = None
    transport: str = "stdio"
    name: str = "mcp"
    """The name in the store's log of commits; unique for each connection."""
    served_from: str | None = None
    """Where the server was started, for a client whose own working directory is unknown."""
    client: str = ""
    """The name that the client program reports; empty until it has done so."""

    principal: str | None = None
    """The key whose pass the client presented: it may only read some repositories."""
    repositories: Callable[[str], str | None] = lambda name: None
    """The directory of a repository without a checkout, by its name."""

    notes_told: set[tuple[str, int]] = field(default_factory=set)
    """The notes about code that answers have already mentioned, each with its seq."""

    _local_seq: int = 0
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def next_local_seq(self) -> int:
        with self._turn:
            self._local_seq += 1
            return self._local_seq

    def path(self, name: str) -> str:
        """An absolute path; a relative one starts at the working directory of the agent."""
        expanded = name
        if name == "~" or name.startswith("~/"):
            expanded = self.home + name[1:]
        if os.path.isabs(expanded):
            return os.path.normpath(expanded)
        root = self.repositories(name)
        if root is not None:
            return root
        if self.cwd is None:
            raise UsageError(
                f"{name!r} is relative, and over {self.transport} the working directory is unknown",
                "pass an absolute path, or a repository as list_codebases() names it",
            )
        return os.path.normpath(os.path.join(self.cwd, expanded))

    @property
    def directories(self) -> list[str]:
        """The directories that the client works in."""
        paths = (self.cwd, self.served_from, self.environment.get("CLAUDE_PROJECT_DIR"))
        return [path for path in paths if path]

    def may_have_conversation(self, client: str) -> bool:
        """Whether a call of this client could ever be proven to belong to a conversation."""
        agents = ("claude", "codex", "pi")
        return (
            self.session is not None
            or client.lower().startswith(agents[:2])
            or any(one.is_called(agent) for one in self.ancestors for agent in agents)
            or "CLAUDECODE" in self.environment
        )

    @property
    def home(self) -> str:
        return expand_user("~", self.environment)


def caller_of(hello: Mapping[str, Any], unique: str) -> Caller:
    """The caller that a greeting describes. Malformed members count as missing."""

    def text(name: str) -> str | None:
        value = hello.get(name)
        return value if isinstance(value, str) and value else None

    variables = hello.get("environment")
    environment = {
        name: value
        for name, value in (variables.items() if isinstance(variables, dict) else ())
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
    """A name for the log of commits: the agent's name and a suffix unique to the connection."""
    plain = _PLAIN.sub("-", client.lower()).strip("-")[:40]
    return f"{plain or 'mcp'}-{unique}"
