"""Where the shim and the host find each other, and the first line each sends.

All files are in `$HOLDFAST_HOME/run`, which only its owner may open (0700). A host reads its
settings once, so there is one host for each set of settings: the file names contain a key made from
them, and an agent that uses another database never reaches the wrong host.

    host-<key>.sock    the socket, 0600
    host-<key>.lock    locked by the host while it runs
    host-<key>.start   locked while a host is started or ends, so two never start at once
    host-<key>.log     what the host did, without arguments and file contents

The first line from the shim is its greeting, the first line back is the host's answer. Both are
JSON and carry a version, because a program of another version may read them.

Greeting history
    1   first version

Imports only what Python has loaded at start-up: agents start the shim often.
"""

from __future__ import annotations

import _socket
import os
import sys
from collections.abc import Mapping

from holdfast.home import Home

GREETING_VERSION = 1
_SOL_LOCAL, _LOCAL_PEERCRED, _LOCAL_PEERPID = 0, 1, 2  # macOS, <sys/un.h>
GREETING_BYTES_MAX = 256 * 1024
LINE_BYTES_MAX = 64 << 20
"""The longest message that is accepted."""

PING = {"holdfast": "mcp-ping", "v": GREETING_VERSION}
"""Sent instead of a greeting to check whether the host answers; it answers and disconnects."""

SETTINGS = (
    "HOLDFAST_DATABASE_URL",
    "HOLDFAST_INDEX_URL",
    "HOLDFAST_INDEX_TOKEN",
    "HOLDFAST_INDEX_SECRET",
    "HOLDFAST_INDEX_NAMESPACE",
    "HOLDFAST_EMBEDDING",
    "HOLDFAST_EMBEDDING_URL",
    "HOLDFAST_EMBEDDING_MODEL",
    "HOLDFAST_EMBEDDING_DIMENSION",
    "OPENAI_API_KEY",
    "VOYAGE_API_KEY",
)
"""The settings that a host reads once, for all its clients."""
KEYS = 2
"""How many of the last settings are keys of providers."""

FORWARDED = (
    "CLAUDECODE",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_PROJECT_DIR",
    "CODEX_HOME",
    "CODEX_THREAD_ID",
    "HOLDFAST_MCP_STRUCTURED",
    "HOLDFAST_NOTES",
    "HOLDFAST_MCP_TOOLS",
    "HOME",
)
"""The variables that a shim sends to the host. Listed one by one: others may hold secrets."""


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
    """A short name for a set of settings; `default` when there are none.

    Keys of providers count only if an embedding is configured: otherwise nothing uses them.
    """
    names = SETTINGS if environment.get("HOLDFAST_EMBEDDING") else SETTINGS[:-KEYS]
    pairs = [f"{name}={environment[name]}" for name in names if environment.get(name)]
    if not pairs:
        return "default"
    import hashlib

    return hashlib.sha256("\0".join(pairs).encode("utf-8", "surrogateescape")).hexdigest()[:12]


def peer_user(connection: _socket.socket, platform: str = sys.platform) -> int | None:
    """The user id of the process at the other end; None if the system does not report it."""
    credentials = _credentials(connection, platform)
    return None if credentials is None else credentials[1]


def peer_process(connection: _socket.socket, platform: str = sys.platform) -> int | None:
    """The id of the process at the other end; None if the system does not report it."""
    credentials = _credentials(connection, platform)
    return None if credentials is None else credentials[0]


def _credentials(connection: _socket.socket, platform: str) -> tuple[int, int] | None:
    """Process id and user id at the other end, on Linux and macOS."""
    if platform == "darwin":
        # LOCAL_PEERCRED has a version, a user and groups; LOCAL_PEERPID has a process.
        owner = memoryview(connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, 76))[:8].cast("I")
        process = memoryview(connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERPID, 4)).cast("i")
        return process[0], owner[1]
    option = getattr(_socket, "SO_PEERCRED", None)
    if option is None:
        return None
    # Three C integers: process, user and group.
    facts = memoryview(connection.getsockopt(_socket.SOL_SOCKET, option, 12)).cast("i")
    return facts[0], facts[1]


def greeting(
    version: str, environment: Mapping[str, str], session: str | None, host: str | None
) -> dict[str, object]:
    """The first line of a shim: version, working directory, environment, parent processes."""
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
        "environment": {name: environment[name] for name in FORWARDED if environment.get(name)},
        "ancestors": ancestors(),
        "session": session,
        "host": host,
    }


def ancestors() -> list[dict[str, object]]:
    """Our parent process, its parent, and so on. Empty if the system does not report them."""
    processes: list[dict[str, object]] = []
    pid = os.getppid()
    while pid > 1 and len(processes) < 32:
        facts = process(pid)
        if facts is None:
            break
        parent = facts.pop("parent")
        processes.append(facts)
        assert isinstance(parent, int)
        pid = parent
    return processes


def process(pid: int) -> dict[str, object] | None:
    """A process by its id. `pid` and `start` together identify it, also after the id is reused."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            stat = file.read().decode("utf-8", "replace")
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read().decode("utf-8", "replace").split("\0")
    except OSError:
        return None
    # The name is in parentheses and may contain any character, parentheses too.
    name, _, rest = stat.partition("(")[2].rpartition(") ")
    fields = rest.split()
    return {
        "pid": pid,
        "parent": int(fields[1]),
        "start": int(fields[19]),
        "name": name,
        "programs": [os.path.basename(word) for word in words[:2] if word],
    }
