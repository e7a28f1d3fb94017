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
    """Send a request and write the answer; None if it must run here, and nothing was written yet.

    Text that was written cannot be taken back, and the host records only what was confirmed. So a
    host that ends in the middle of its answer is an error, not a reason to write everything again.
    """
    written = False
    try:
        connection.sendall(request)
        pending = b""
        while piece := connection.recv(1 << 16):
            *lines, pending = (pending + piece).split(b"\n")
            for line in lines:
                if not line.strip():
                    continue
                answer = parse(line)
                if answer.get("local"):
                    return _incomplete(err) if written else None
                if "out" in answer or "err" in answer:
                    written = written or bool(answer.get("out"))
                    failure = _write(answer, out, err)
                    if failure is not None:
                        return failure
                if "code" in answer:
                    return int(answer["code"])
                if "out" in answer:
                    connection.sendall(SHOWN)
    except (OSError, ValueError):
        pass
    return _incomplete(err) if written else None


def _write(answer: Mapping[str, Any], out: TextIO, err: TextIO) -> int | None:
    """Write what an answer contains; an exit code if that is not possible."""
    from holdfast.cli.streams import discard, undelivered

    for stream, text in ((err, answer.get("err")), (out, answer.get("out"))):
        try:
            stream.write(text or "")
            stream.flush()
        except OSError as error:
            discard(stream)
            return undelivered(error)
    return None


def _incomplete(err: TextIO) -> int:
    err.write("holdfast: the background host ended before the output was complete\n")
    err.write("hint: run the command again\n")
    return 3
