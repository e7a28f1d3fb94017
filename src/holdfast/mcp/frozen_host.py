"""Checks whether the background host still answers, and ends one that does not.

A stopped process (SIGSTOP, a debugger, a cgroup freezer) keeps its socket and its lock: clients
can connect and wait forever, and no other host can start. Only a process that is proven to be the
host is ended: it has the lock, wrote its process id into it, and is the peer of our connection.

Imports as little as the shim does.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping

from holdfast.locks import is_stopped
from holdfast.mcp.rendezvous import PING, Rendezvous, peer_process

TYPE_CHECKING = False  # `typing` defines it too, but is slow to import
if TYPE_CHECKING:
    from typing import Any

ANSWER_S = 20.0
"""How long a host may take to answer a greeting or a ping; `HOLDFAST_MCP_ANSWER_S` overrides it."""

END_S = 10.0
"""How long a killed process may take to end."""


def answer_seconds(environment: Mapping[str, str]) -> float:
    """The deadline for answers of the host; a value that is not a positive number is ignored."""
    try:
        seconds = float(environment.get("HOLDFAST_MCP_ANSWER_S") or ANSWER_S)
    except ValueError:
        return ANSWER_S
    return seconds if seconds > 0 else ANSWER_S


def host_answers(place: Rendezvous, answer_s: float) -> bool:
    """Whether the host answers a ping, or none listens. Takes at most twice `answer_s`."""
    return _frozen_process(place, answer_s) is None


def end_frozen_host(place: Rendezvous, answer_s: float) -> bool:
    """End the host if it does not answer; True if it answers or has ended."""
    pid = _frozen_process(place, answer_s)
    if pid is None:
        return True
    return _is_host(place, pid) and _killed(place, pid)


def _killed(place: Rendezvous, pid: int) -> bool:
    import signal

    try:
        # Not SIGTERM: a stopped process does not receive it.
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return _ended(place, pid)


def stopped_host(place: Rendezvous) -> bool:
    """Whether the process that has the lock of the host is stopped."""
    facts = lock_facts(place)
    return facts is not None and is_stopped(int(facts.get("pid", 0)))


def end_stopped_host(place: Rendezvous) -> bool:
    """End a host that is stopped, whether or not it listens yet; True if it has ended."""
    facts = lock_facts(place)
    pid = 0 if facts is None else int(facts.get("pid", 0))
    return pid > 1 and is_stopped(pid) and _killed(place, pid)


def _frozen_process(place: Rendezvous, answer_s: float) -> int | None:
    """The process id of a host that does not answer, 0 if unknown; None if it answers."""
    pid = _unanswered_ping(place, answer_s)
    if pid is None or is_stopped(pid):
        return pid
    # The process is not stopped, so it may only be slow: try once more.
    return _unanswered_ping(place, answer_s)


def _unanswered_ping(place: Rendezvous, answer_s: float) -> int | None:
    os.chdir(place.run)  # a socket path is limited to about 100 bytes
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(answer_s)
        pid = 0
        try:
            connection.connect(place.socket)
            pid = peer_process(connection) or int((lock_facts(place) or {}).get("pid", 0))
            connection.sendall(json.dumps(PING).encode() + b"\n")
            connection.recv(1)  # an answer, or the end of the connection: both are signs of life
        except (FileNotFoundError, ConnectionError):
            return None
        except (TimeoutError, BlockingIOError):
            # BlockingIOError: its accept queue is full.
            return pid or int((lock_facts(place) or {}).get("pid", 0))
    return None


def _is_host(place: Rendezvous, pid: int) -> bool:
    """Whether this process currently has the lock of the host."""
    facts = lock_facts(place)
    return facts is not None and facts.get("pid") == pid and pid > 1


def lock_facts(place: Rendezvous) -> dict[str, Any] | None:
    """What the host wrote into its lock; None if no process has the lock."""
    import fcntl

    try:
        with open(place.lock) as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                facts = json.load(lock)
                return facts if isinstance(facts, dict) else None
    except (OSError, ValueError):
        pass
    return None


def _ended(place: Rendezvous, pid: int) -> bool:
    import time

    for _moment in range(int(END_S / 0.02)):
        facts = lock_facts(place)
        if facts is None or facts.get("pid") != pid:
            return True
        time.sleep(0.02)
    return False
