"""An agent reduced to lines of JSON over pipes, so that it can also send what no client would."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.hostile.commands import MEMORY_BYTES, program

WAIT_S = 90.0


class NoAnswer(Exception):
    """Raised when an answer does not come in time."""


class Agent:
    """Starts `holdfast mcp` and talks to it."""

    def __init__(self, cwd: Path, environment: dict[str, str]) -> None:
        limit = f'ulimit -v {MEMORY_BYTES >> 10}; exec "$@"'
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", limit, "sh", *program(), "mcp", "--tools", "all"],
            cwd=cwd, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        self._last, self._buffer = 0, b""
        self._waiting: dict[int, dict[str, Any]] = {}
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "hostile", "version": "1"},
        }
        self.request("initialize", hello)
        self.send({"method": "notifications/initialized"})

    def send(self, message: dict[str, Any]) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        assert self.process.stdin is not None
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def start(self, method: str, parameters: dict[str, Any]) -> int:
        """Send a request and return its id."""
        self._last += 1
        self.send({"id": self._last, "method": method, "params": parameters})
        return self._last

    def answer(self, id: int, wait_s: float = WAIT_S) -> dict[str, Any]:
        """The answer to a request; others that come first are kept."""
        end = time.monotonic() + wait_s
        while id not in self._waiting:
            self._read(end)
        return self._waiting.pop(id)

    def received(self) -> int:
        """How many answers have arrived that were not asked for yet."""
        try:
            while True:
                self._read(time.monotonic())
        except NoAnswer:
            return len(self._waiting)

    def _read(self, end: float) -> None:
        assert self.process.stdout is not None
        descriptor = self.process.stdout.fileno()
        while b"\n" not in self._buffer:
            left = max(0.0, end - time.monotonic())
            if not select.select([descriptor], [], [], left)[0]:
                raise NoAnswer("no answer in time")
            piece = os.read(descriptor, 1 << 20)
            if not piece:
                raise NoAnswer("the server has ended")
            self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\n")
        message = json.loads(line)
        if "id" in message and "method" not in message:
            self._waiting[message["id"]] = message
        elif "id" in message:
            self.send({"id": message["id"], "error": {"code": -32601, "message": "no"}})

    def request(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        return self.answer(self.start(method, parameters))

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
