"""Starts a background host when a tree is large, so that the next command does not wait.

Loading the index of a large tree takes most of a command's time. A command that has loaded one
starts a host, which has the index in memory for the next command.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib.util import find_spec

from holdfast.app import App
from holdfast.cli.command_protocol import SETTING
from holdfast.cli.console import CONSOLE
from holdfast.index.code_index import CodeIndex
from holdfast.index.generations.gate import Open

FILES_MIN = 2_000
"""For trees with at least this many files, a host is worth its memory."""


def large_root(app: App, index: CodeIndex, path: str) -> str | None:
    """The tree that a path is in, if it was searched here and is large enough for a host."""
    if CONSOLE.get() is not None or app.environment.get(SETTING) == "0" or find_spec("mcp") is None:
        return None
    _, record = index.root_of(path)
    if record is None or not index.freshness.is_checked(record.root):
        return None
    gate = index.gate(record)
    files = gate.marker.indexed_files if isinstance(gate, Open) and gate.marker is not None else 0
    return record.root if files >= FILES_MIN else None


def start_host(app: App, root: str) -> None:
    """Start a host for a tree if none runs, after flushing what was printed."""
    from holdfast.mcp.control import running_host
    from holdfast.mcp.host_connection import start_aside
    from holdfast.mcp.rendezvous import rendezvous_of

    with suppress(OSError, ValueError):
        sys.stdout.flush()
    with suppress(OSError):
        if running_host(app) is None:
            app.home.make_run()
            place = rendezvous_of(app.home, app.environment)
            environment = {**app.environment, "HOLDFAST_HOME": app.home.root}
            start_aside(place, environment, root)
