"""The background host of a home, as a process that a test may stop."""

from __future__ import annotations

import json
import socket
from contextlib import chdir
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
