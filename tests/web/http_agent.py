"""An agent that speaks MCP over HTTP and knows the addresses of several servers."""

import http.client
import json
import time
import urllib.request
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any
from urllib.parse import urlsplit

PROTOCOL = "2025-06-18"
GONE = (OSError, http.client.HTTPException)
"""What a connection raises when its server is away."""

AGAIN = (429, 503)
"""Answers of a server that has no room or is about to stop: ask another one."""


class NoServer(Exception):
    """Raised when none of the servers answered in time."""


class HttpAgent:
    """One session. A request that was not answered is sent to the next server."""

    def __init__(
        self, bases: Sequence[str], token: str, first: int = 0, patience_s: float = 60.0
    ) -> None:
        self._places = [(urlsplit(b).hostname or "", urlsplit(b).port or 80) for b in bases]
        self._at, self._patience_s = first % len(bases), patience_s
        self._headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        self._connection: http.client.HTTPConnection | None = None
        self._streams: list[http.client.HTTPConnection] = []
        self._numbers = count(1)
        self.moves = 0
        """How often a request was sent to another server than before."""
        self.refusals = 0
        """How often a server had no room."""

    def start(self) -> None:
        who = {"name": "fleet", "version": "1"}
        asked = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": who}
        self.request("initialize", asked)
        self._headers["mcp-protocol-version"] = PROTOCOL
        self._answer({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        result: dict[str, Any] = self.request("tools/call", {"name": tool, "arguments": arguments})
        return result

    def request(self, method: str, params: dict[str, Any]) -> Any:
        """The result of a request, whichever server answers it."""
        message = {"jsonrpc": "2.0", "id": next(self._numbers), "method": method, "params": params}
        answers = [answer for answer in self._answer(message) if answer.get("id") == message["id"]]
        assert len(answers) == 1, answers
        assert "result" in answers[0], answers[0]
        return answers[0]["result"]

    def _answer(self, message: dict[str, Any]) -> list[dict[str, Any]]:
        until = time.monotonic() + self._patience_s
        while True:
            try:
                response = self.post(message)
                body = response.read()
            except GONE:
                self._leave()
            else:
                if response.status not in AGAIN:
                    assert response.status < 300, (response.status, body)
                    session = response.getheader("mcp-session-id")
                    if session is not None:
                        self._headers["mcp-session-id"] = session
                    return list(events(body))
                self.refusals += 1
                self._leave()
            if time.monotonic() >= until:
                raise NoServer(message.get("method"))

    def post(self, message: dict[str, Any]) -> http.client.HTTPResponse:
        """Send one message; the response is not read yet."""
        if self._connection is None:
            self._connection = http.client.HTTPConnection(
                *self._places[self._at], timeout=self._patience_s
            )
        self._connection.request("POST", "/mcp", json.dumps(message), self._headers)
        return self._connection.getresponse()

    def stream(self) -> http.client.HTTPResponse:
        """The stream of what the server sends by itself, on a connection of its own."""
        connection = http.client.HTTPConnection(*self._places[self._at], timeout=self._patience_s)
        self._streams.append(connection)
        connection.request("GET", "/mcp", headers=self._headers)
        return connection.getresponse()

    def _leave(self) -> None:
        self._disconnect()
        self._at = (self._at + 1) % len(self._places)
        self.moves += 1

    def close(self) -> None:
        self._disconnect()
        for stream in self._streams:
            stream.close()

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def events(body: bytes) -> Iterator[dict[str, Any]]:
    """The messages of an answer, which is one JSON value or a stream of events."""
    if body.lstrip().startswith(b"{"):
        yield json.loads(body)
        return
    for line in body.splitlines():
        if line.startswith(b"data:") and line[5:].strip():
            yield json.loads(line[5:])


def metrics(base: str, token: str) -> dict[str, float]:
    """The figures of a server, by name and labels."""
    asked = urllib.request.Request(f"{base}/metrics", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(asked, timeout=60) as answer:
        lines = answer.read().decode().splitlines()
    pairs = (line.rpartition(" ") for line in lines if not line.startswith("#"))
    return {name: float(value) for name, _, value in pairs}
