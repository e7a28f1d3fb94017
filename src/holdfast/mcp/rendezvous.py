"""Where a shim and its host meet, and what the first line each way says.

Everything is in `$HOLDFAST_HOME/run`, a directory of the user's own (0700). There is one host for
each set of settings, because a host reads its settings once: the names below carry a key made of
them, so an agent that was given another database never talks to the wrong host.

    host-<key>.sock    the socket, 0600
    host-<key>.lock    held by the host for as long as it lives
    host-<key>.start   held by whoever starts a host, or ends one: so two never start at once
    host-<key>.log     what the host did; no arguments, no contents

The first line from the shim is its greeting, the first line back the host's answer. Both are JSON,
with a version of their own: unlike all else here, they are read by programs of other versions.

Greeting history
    1   first version

Imports only what is there anyway when Python has started: agents start the shim often.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Mapping

from holdfast.home import Home

GREETING_VERSION = 1
GREETING_BYTES_MAX = 256 * 1024
LINE_BYTES_MAX = 64 << 20
"""The longest message that is taken."""

SETTINGS = (
    "HOLDFAST_DATABASE_URL",
    "HOLDFAST_INDEX_NAMESPACE",
    "HOLDFAST_EMBEDDING",
    "HOLDFAST_EMBEDDING_URL",
    "HOLDFAST_EMBEDDING_MODEL",
    "HOLDFAST_EMBEDDING_DIMENSION",
    "OPENAI_API_KEY",
    "VOYAGE_API_KEY",
)
"""What a host reads from its environment once and for all its clients."""

TOLD = (
    "CLAUDECODE",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_PROJECT_DIR",
    "CODEX_HOME",
    "CODEX_THREAD_ID",
    "HOME",
)
"""What a shim tells of its environment: names one by one, since some of their kin are secrets."""


class Rendezvous:
    """The files of one host."""

    def __init__(self, run: str, key: str) -> None:
        self.run, self.key = run, key
        self.socket = f"host-{key}.sock"
        self.lock = os.path.join(run, f"host-{key}.lock")
        self.start = os.path.join(run, f"host-{key}.start")
        self.log = os.path.join(run, f"host-{key}.log")


def rendezvous_of(home: Home, environment: Mapping[str, str]) -> Rendezvous:
    """The files of the host for these settings. Creates nothing; see `Home.make_run`."""
    return Rendezvous(home.run_directory, settings_key(environment))


def settings_key(environment: Mapping[str, str]) -> str:
    """A short name for a set of settings; `default` when there are none."""
    given = [f"{name}={environment[name]}" for name in SETTINGS if environment.get(name)]
    if not given:
        return "default"
    import hashlib

    return hashlib.sha256("\0".join(given).encode("utf-8", "surrogateescape")).hexdigest()[:12]


def peer_user(connection: socket.socket) -> int | None:
    """Whose process is at the other end, as the system says; None where it cannot say."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return None
    size = struct.calcsize("3i")
    _pid, user, _group = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, option, size))
    return int(user)


def greeting(
    version: str, environment: Mapping[str, str], session: str | None, host: str | None
) -> dict[str, object]:
    """What a shim says first: who it is, where it stands, and whose child it is."""
    try:
        cwd: str | None = os.getcwd()
    except OSError:
        cwd = None
    return {
        "holdfast": "mcp-shim",
        "v": GREETING_VERSION,
        "version": version,
        "pid": os.getpid(),
        "cwd": cwd,
        "environment": {name: environment[name] for name in TOLD if environment.get(name)},
        "ancestors": ancestors(),
        "session": session,
        "host": host,
    }


def ancestors() -> list[dict[str, object]]:
    """Our parent, its parent, and so on: process id, start time, name. Empty where unknown."""
    found: list[dict[str, object]] = []
    pid = os.getppid()
    while pid > 1 and len(found) < 32:
        facts = process(pid)
        if facts is None:
            break
        parent = facts.pop("parent")
        found.append(facts)
        assert isinstance(parent, int)
        pid = parent
    return found


def process(pid: int) -> dict[str, object] | None:
    """A process by its id: `pid` and `start` name it for ever, `name` is what it calls itself."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            stat = file.read().decode("utf-8", "replace")
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read().decode("utf-8", "replace").split("\0")
    except OSError:
        return None
    # The name stands in parentheses and may hold any character, parentheses too.
    name, _, rest = stat.partition("(")[2].rpartition(") ")
    fields = rest.split()
    return {
        "pid": pid,
        "parent": int(fields[1]),
        "start": int(fields[19]),
        "name": name,
        "programs": [os.path.basename(word) for word in words[:2] if word],
    }
