"""Runs a command in the background host, if there is one.

Imports as little as possible: with a warm host, starting Python takes most of a command's time.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from holdfast import __version__
from holdfast.cli.command_protocol import (
    COMMAND_VERSION,
    FORWARDED,
    HOSTED,
    SETTING,
    SHOWN,
    SILENT_S,
)

TYPE_CHECKING = False  # `typing` defines it too, but is slow to import
if TYPE_CHECKING:
    from _socket import socket
    from typing import Any, TextIO


def ask_host(argv: Sequence[str], environment: Mapping[str, str]) -> int | None:
    """Have the host run a command and write its output; None if it must run here."""
    if argv[0] not in HOSTED or environment.get(SETTING) == "0":
        return None
    if "-h" in argv or "--help" in argv or sys.stdout is None or sys.stderr is None:
        return None
    try:
        cwd = os.getcwd()
        connection = _connect(environment)
    except OSError:
        return None
    if connection is None:
        return None
    import json

    from holdfast.cli.streams import prepared

    out, err = prepared(sys.stdout, environment), prepared(sys.stderr, environment, rewrites=True)
    sys.stdout, sys.stderr = out, err
    request = {
        "holdfast": "cli",
        "v": COMMAND_VERSION,
        "version": __version__,
        "argv": list(argv),
        "cwd": cwd,
        "environment": {name: environment[name] for name in FORWARDED if name in environment},
        "terminal": [out.isatty(), err.isatty()],
        "columns": os.get_terminal_size(out.fileno()).columns if out.isatty() else None,
        "encoding": out.encoding,
    }
    line = json.dumps(request, separators=(",", ":")).encode() + b"\n"
    try:
        return _converse(connection, line, out, err, json.loads)
    finally:
        connection.close()


def _connect(environment: Mapping[str, str]) -> socket | None:
    """A connection to the host of these settings, if it runs as the same user."""
    import _socket

    from holdfast.home import home_of
    from holdfast.mcp.rendezvous import peer_user, rendezvous_of

    place = rendezvous_of(home_of(environment), environment)
    name = os.path.join(place.run, place.socket)
    if not os.path.exists(name):
        return None
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.settimeout(SILENT_S)
    try:
        if len(os.fsencode(name)) < 100:
            connection.connect(name)
        else:  # a socket path is limited to about 100 bytes
            back = os.open(".", os.O_RDONLY)
            try:
                os.chdir(place.run)
                connection.connect(place.socket)
            finally:
                os.fchdir(back)
                os.close(back)
    except OSError:
        connection.close()
        raise
    if peer_user(connection) not in (None, os.getuid()):
        connection.close()
        return None
    return connection


def _converse(
    connection: socket, request: bytes, out: TextIO, err: TextIO, parse: Any
) -> int | None:
    written = False
    try:
        connection.sendall(request)
        pending = b""
        while True:
            piece = connection.recv(1 << 16)
            if not piece:
                return 0 if written else None
            *lines, pending = (pending + piece).split(b"\n")
            for line in lines:
                if not line.strip():
                    continue
                answer = parse(line)
                if answer.get("local"):
                    return None
                if answer.get("err"):
                    err.write(answer["err"])
                    err.flush()
                if answer.get("out"):
                    written = True
                    out.write(answer["out"])
                if "code" in answer:
                    return int(answer["code"])
                if "out" in answer:
                    out.flush()
                    connection.sendall(SHOWN)
    except BrokenPipeError:
        return 0 if written else None
    except (OSError, ValueError):
        # Shown text cannot be taken back; the host records only what was confirmed.
        return 0 if written else None
