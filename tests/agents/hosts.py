"""The background host of a home, as a process that a test may stop."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path

PING = b'{"holdfast":"mcp-ping","v":1}\n'


def host_process(home: Path) -> int:
    """The id of the host that serves this home."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection, chdir(home / "run"):
        connection.settimeout(20)
        connection.connect("host-default.sock")
        connection.sendall(PING)
        with connection.makefile("rb") as answers:
            return int(json.loads(answers.readline())["pid"])


@contextmanager
def broken_host(home: Path, trouble: str) -> Iterator[None]:
    """Something listens where the host would, and never answers (frozen), or refuses us."""
    run = home / "run"
    run.mkdir(exist_ok=True, mode=0o700)
    held = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        with chdir(run):
            server.bind("host-default.sock")
        server.listen()

        def take() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                held.append(connection)
                if trouble == "another version":
                    answer = {
                        "holdfast": "mcp-host", "v": 1, "version": "0", "ok": False,
                        "leaves": False, "message": "another version", "hint": "",
                    }  # fmt: skip
                    connection.sendall(json.dumps(answer).encode() + b"\n")

        thread = threading.Thread(target=take, daemon=True)
        thread.start()
        try:
            yield
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join(10)
            for connection in held:
                connection.close()
