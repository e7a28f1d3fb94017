"""Connects to the background host and starts one if none runs.

Imports as little as the shim does.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Mapping

from holdfast.errors import HOME_HINT
from holdfast.locks import STOPPED_S, LockHeld, take_lock
from holdfast.mcp.frozen_host import (
    answer_seconds,
    end_frozen_host,
    end_stopped_host,
    stopped_host,
)
from holdfast.mcp.rendezvous import (
    GREETING_BYTES_MAX,
    Rendezvous,
    peer_user,
)

TYPE_CHECKING = False  # `typing` defines it too, but is slow to import
if TYPE_CHECKING:
    from typing import Any

START_S = 60.0
"""How long a host may take to start. Importing on a busy machine is slow."""


HOST_MODULE = "holdfast.cli.host"
"""The module that a host runs. It includes the commands, which this package must not import."""

QUICK_S = 2.0
"""How long to wait for a listening host before it counts as possibly frozen."""


class HostRefused(Exception):
    """Raised when no host can be used; `hint` is the next step."""

    def __init__(self, sentence: str, hint: str) -> None:
        super().__init__(sentence)
        self.hint = hint


def unreachable(error: OSError) -> HostRefused:
    """The error for a host that could not be started: nothing ran, and a retry would fail too."""
    where = f": {error.filename}" if error.filename else ""
    return HostRefused(
        f"the Holdfast host could not be started: {error.strerror or error}{where}",
        f"{HOME_HINT}; holdfast doctor says more",
    )


def connect_to_host(
    place: Rendezvous, hello: Mapping[str, object], environment: Mapping[str, str]
) -> socket.socket:
    """A connection to the host. Starts one with this environment if none runs.

    A host that is frozen is ended and replaced.
    """
    os.chdir(place.run)  # a socket path is limited to about 100 bytes, so use a relative one
    answer_s = answer_seconds(environment)
    for _attempt in range(5):
        connection = None
        try:
            connection = _connect(place, answer_s)
            if connection is None:
                _start(place, environment)
                continue
            answer = _greet(connection, hello)
        except (TimeoutError, BlockingIOError):
            if connection is not None:
                connection.close()
            if not end_frozen_host(place, answer_s):
                raise _not_answering(place, answer_s) from None
            continue
        if answer is None:
            connection.close()  # it was about to end
            _wait_for_end(place)
            continue
        if answer.get("ok") is True:
            connection.settimeout(None)
            return connection
        connection.close()
        if answer.get("leaves") is True:
            _wait_for_end(place)
            continue
        raise _refused(answer)
    raise HostRefused(
        "the Holdfast host ends as soon as a client connects", f"see its log: {place.log}"
    )


def running_host_connection(
    place: Rendezvous, hello: Mapping[str, object], answer_s: float
) -> socket.socket | None:
    """A connection to a running host that accepts us; None if one must be started or replaced.

    Raises `HostRefused` if the running host refuses us permanently.
    """
    try:
        os.chdir(place.run)
        connection = _connect(place, min(answer_s, QUICK_S))
    except OSError:
        return None
    if connection is None:
        return None
    try:
        answer = _greet(connection, hello)
    except TimeoutError:
        answer = None
    if answer is not None and answer.get("ok") is True:
        connection.settimeout(None)
        return connection
    connection.close()
    if answer is not None and answer.get("leaves") is not True:
        raise _refused(answer)
    return None


def _refused(answer: Mapping[str, Any]) -> HostRefused:
    return HostRefused(str(answer.get("message", "the host refused")), str(answer.get("hint", "")))


def _not_answering(place: Rendezvous, answer_s: float) -> HostRefused:
    return HostRefused(
        f"the Holdfast host did not answer within {answer_s:.0f} s and could not be ended",
        f"end it with: holdfast mcp --stop; see its log: {place.log}",
    )


def _connect(place: Rendezvous, answer_s: float) -> socket.socket | None:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(answer_s)
    try:
        connection.connect(place.socket)
    except (FileNotFoundError, ConnectionRefusedError):
        connection.close()
        return None
    except OSError:
        connection.close()
        raise
    user = peer_user(connection)
    if user is not None and user != os.getuid():
        connection.close()
        raise HostRefused(
            f"the socket in {place.run} is held by user {user}",
            "only your own host is used",
        )
    return connection


def _greet(connection: socket.socket, hello: Mapping[str, object]) -> dict[str, Any] | None:
    """The host's answer; None if it closed the connection. Raises `TimeoutError`."""
    try:
        connection.sendall(json.dumps(hello).encode() + b"\n")
        line = b""
        while not line.endswith(b"\n"):
            # Byte by byte: the bytes after the line belong to the MCP protocol.
            piece = connection.recv(1)
            if not piece or len(line) > GREETING_BYTES_MAX:
                return None
            line += piece
        answer = json.loads(line)
    except TimeoutError:
        raise
    except (OSError, ValueError):
        return None
    return answer if isinstance(answer, dict) else None


def _start(place: Rendezvous, environment: Mapping[str, str]) -> None:
    """Start a host unless another process does; returns when one listens."""
    with open(place.start, "w") as starting:
        try:
            take_lock(starting.fileno(), place.start, START_S, stopped_s=STOPPED_S)
        except LockHeld as error:
            # The process that has the lock may be stopped after it started a working host.
            if _listens(place):
                return
            raise HostRefused(str(error), error.hint) from None
        if _other_host_listens(place):
            return
        try:
            _spawn(place, environment)
        except HostRefused:
            if not _other_host_listens(place):
                raise


def _other_host_listens(place: Rendezvous) -> bool:
    """Wait for a host that another process started; False if none runs.

    The shim that started it may have ended since, so only the host's own lock is reliable.
    """
    import fcntl
    import time

    stopped_s = 0.0
    for _moment in range(int(START_S / 0.02)):
        if _listens(place):
            return True
        with open(place.lock, "a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                stopped_s = stopped_s + 0.02 if stopped_host(place) else 0.0
                if stopped_s >= STOPPED_S:
                    end_stopped_host(place)
                time.sleep(0.02)
                continue
        return False
    raise HostRefused(
        "a Holdfast host is starting and did not listen in time", f"see its log: {place.log}"
    )


def _listens(place: Rendezvous) -> bool:
    """Whether a host listens; the greeting then shows whether it also answers."""
    try:
        connection = _connect(place, START_S)
    except (TimeoutError, BlockingIOError):
        return True
    if connection is None:
        return False
    connection.close()
    return True


def _spawn(place: Rendezvous, environment: Mapping[str, str]) -> None:
    import select
    import subprocess

    ready, signal = os.pipe()
    log = os.open(place.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    begun = os.fstat(log).st_size
    try:
        host = subprocess.Popen(  # noqa: S603
            [sys.executable, "-P", "-m", HOST_MODULE, "--ready", str(signal)],
            cwd=place.run,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(signal,),
            start_new_session=True,
        )
        host.returncode = 0  # it outlives us, so it is not waited for
        os.close(signal)
        signal = -1
        listens = select.select([ready], [], [], START_S)[0] and os.read(ready, 1) == b"1"
    finally:
        os.close(ready)
        os.close(log)
        if signal != -1:
            os.close(signal)
    if not listens:
        raise HostRefused(
            f"the Holdfast host did not start: {_last_line(place.log, begun)}",
            f"its log has more: {place.log}",
        )


def start_aside(place: Rendezvous, environment: Mapping[str, str], tree: str) -> None:
    """Start a host that loads the index of a tree, without waiting for it.

    If another host runs or is starting, this one ends at once.
    """
    import subprocess

    log = os.open(place.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        host = subprocess.Popen(  # noqa: S603
            [sys.executable, "-P", "-m", HOST_MODULE, "--warm", tree],
            cwd=place.run,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        host.returncode = 0  # it outlives us, so it is not waited for
    finally:
        os.close(log)


def _last_line(log: str, begun: int) -> str:
    try:
        with open(log, "rb") as file:
            file.seek(begun)
            lines = file.read()[-4096:].decode("utf-8", "replace").strip().splitlines()
    except OSError:
        lines = []
    return lines[-1] if lines else "no message in its log"


def _wait_for_end(place: Rendezvous) -> None:
    """Wait until a host that is ending has ended."""
    with open(place.lock, "a") as lock:
        try:
            take_lock(lock.fileno(), place.lock, START_S, stopped_s=STOPPED_S)
            return
        except LockHeld:
            if end_stopped_host(place):
                return
    raise HostRefused(
        "a Holdfast host is ending and did not end in time", f"see its log: {place.log}"
    )
