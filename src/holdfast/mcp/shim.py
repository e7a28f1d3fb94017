"""`holdfast mcp`: forwards bytes between an agent and the background host.

Importing the SDK takes most of a second, so only the background host imports it. The shim is a
socket and two loops. It parses messages only to know which requests are unanswered. When the
connection to the host is lost,

    a tool call       is answered with an error, because it may or may not have run
    another request   (handshake, lists) is sent again to the next host

A host that is frozen is lost too: while a request is unanswered and the host sends nothing, the
shim pings it on a second connection, and ends it when it does not answer. A host that works for a
long time answers pings meanwhile, so long calls are not cut off.

The next message starts a new host. The shim repeats the handshake with it and drops the second
answer, which the agent already has.
"""

from __future__ import annotations

import json
import os
import re
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress

from holdfast import __version__
from holdfast.app import App
from holdfast.mcp.frozen_host import answer_seconds, end_frozen_host, host_answers
from holdfast.mcp.host_connection import HostRefused, connect_to_host, unreachable
from holdfast.mcp.rendezvous import LINE_BYTES_MAX, greeting, rendezvous_of

LOST, REFUSED, INVALID = -32000, -32001, -32600

REPEATABLE = frozenset(
    {
        "initialize",
        "ping",
        "server/discover",
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "prompts/list",
        "prompts/get",
    }
)
"""Requests that change nothing and may be sent twice."""

_ANSWER = re.compile(rb'\{"jsonrpc":"2\.0","id":("(?:[^"\\]|\\.)*"|-?[0-9]+),"(?:result|error)"')
_NO_ANSWER = b'{"jsonrpc":"2.0","method"'
_REPLAY = "holdfast-again-"


class LineBuffer:
    """Splits incoming bytes into lines. Each byte is copied once, however long a line is."""

    def __init__(self) -> None:
        self._pending: list[bytes] = []

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that this piece completes, without their newlines."""
        first, *more = data.split(b"\n")
        self._pending.append(first)
        if not more:
            return []
        whole, self._pending = b"".join(self._pending), [more.pop()]
        return [whole, *more]

    def rest(self) -> bytes:
        """The bytes after the last newline."""
        return b"".join(self._pending)


class Shim:
    """The connection of one agent; the host behind it may be replaced."""

    def __init__(
        self,
        connect: Callable[[], socket.socket],
        read: int,
        write: int,
        host_lives: Callable[[], bool] = lambda: True,
        quiet_s: float = 10.0,
    ) -> None:
        """`host_lives` is called when a request has been unanswered and the host silent for that
        many seconds; it ends a host that does not answer."""
        self._connect, self._in, self._out = connect, read, write
        self._host_lives, self._quiet_s = host_lives, quiet_s
        self._requested, self._stopped = threading.Event(), threading.Event()
        self._received = 0
        self._host: socket.socket | None = None
        self._turn = threading.RLock()
        self._sending = threading.Lock()
        self._writing = threading.Lock()
        self._unanswered: dict[str, tuple[str, bytes]] = {}
        """Requests without an answer: method and line, by id."""
        self._resent: set[str] = set()
        self._handshake: list[bytes] = []
        self._replayed = 0
        self._ended = False
        self._reader: threading.Thread | None = None

    def run(self) -> int:
        """Forward until the agent closes its end."""
        threading.Thread(target=self._watch_host, daemon=True).start()
        try:
            return self._forward()
        finally:
            self._stopped.set()
            self._requested.set()

    def _watch_host(self) -> None:
        """Notice a host that is frozen, and drop the connection to it."""
        while True:
            self._requested.wait()
            received, host = self._received, self._host
            if self._stopped.wait(self._quiet_s):
                return
            with self._turn:
                if not self._unanswered:
                    self._requested.clear()
                    continue
            if host is None or self._received != received or self._host is not host:
                continue
            if not self._host_lives():
                with suppress(OSError):
                    host.shutdown(socket.SHUT_RDWR)  # the reader thread answers what is unanswered

    def _forward(self) -> int:
        lines = LineBuffer()
        while True:
            try:
                data = os.read(self._in, 1 << 16)
            except OSError:
                data = b""
            if not data:
                break
            for line in lines.feed(data):
                if line.strip():
                    self._from_agent(line + b"\n")
        if lines.rest().strip():
            self._from_agent(lines.rest() + b"\n")
        with self._turn:
            self._ended = True
            host, reader = self._host, self._reader
        if host is not None:
            with suppress(OSError):
                host.shutdown(socket.SHUT_WR)
            if reader is not None:
                reader.join()
        return 0

    def _from_agent(self, line: bytes) -> None:
        with self._turn:
            self._note_request(line)
            if len(line) > LINE_BYTES_MAX:
                self._too_long(line)
                return
            try:
                host = self._host or self._open()
            except HostRefused as refusal:
                self._refuse(refusal)
                return
            except ConnectionError:
                self._lost(None)
                return
            except OSError as error:
                self._refuse(unreachable(error))
                return
        try:
            # Without the lock: the host may wait for us to read before it reads on.
            with self._sending:
                host.sendall(line)
        except OSError:
            return  # the reader thread sees the loss too and answers what is unanswered

    def _too_long(self, line: bytes) -> None:
        """Answer a message that no host accepts with an error."""
        message = f"a message may have at most {LINE_BYTES_MAX} bytes (got {len(line)})"
        for id, (_, noted) in list(self._unanswered.items()):
            if noted is line:
                del self._unanswered[id]
                self._answer_error(id, INVALID, message, {"reason": "too_long"})

    def _note_request(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return  # the host reports what is wrong with it
        if not isinstance(message, dict):
            return
        method, id = message.get("method"), message.get("id")
        if isinstance(method, str) and isinstance(id, str | int):
            self._unanswered[json.dumps(id)] = (method, line)
            self._requested.set()
        if method == "initialize":
            again = {**message, "id": f"{_REPLAY}{self._replayed}"}
            self._handshake = [json.dumps(again).encode() + b"\n"]
        elif method == "notifications/initialized" and self._handshake:
            self._handshake = [self._handshake[0], line]

    def _open(self) -> socket.socket:
        """Connect to a host and repeat the handshake with it."""
        host = self._connect()
        initializing = any(method == "initialize" for method, _ in self._unanswered.values())
        if self._handshake and not initializing:
            for line in self._handshake:
                host.sendall(line)
        self._host = host
        self._reader = threading.Thread(target=self._from_host, args=(host,), daemon=True)
        self._reader.start()
        return host

    def _from_host(self, host: socket.socket) -> None:
        rest: list[bytes] = []
        while True:
            try:
                data = host.recv(1 << 18)
            except OSError:
                data = b""
            if not data:
                break
            self._received += len(data)
            head, newline, tail = data.rpartition(b"\n")
            if not newline:
                rest.append(data)
                continue
            whole = b"".join([*rest, head, newline])
            rest = [tail] if tail else []
            self._to_agent(whole)
        self._lost(host)

    def _to_agent(self, lines: bytes) -> None:
        """Forward whole lines, except answers to handshakes that the shim repeated."""
        kept = []
        for line in lines.splitlines(keepends=True):
            answered = _answered(line)
            if answered is not None:
                if answered.startswith(f'"{_REPLAY}'):
                    continue
                with self._turn:
                    self._unanswered.pop(answered, None)
            kept.append(line)
        self._write(b"".join(kept))

    def _write(self, data: bytes) -> None:
        with self._writing:
            view = memoryview(data)
            try:
                while view:
                    view = view[os.write(self._out, view) :]
            except OSError:
                pass  # the agent has ended and will close its other end too

    def _lost(self, host: socket.socket | None) -> None:
        with self._turn:
            if host is not None:
                host.close()
            if self._host is not host:
                return
            self._host = None
            if self._ended:
                return
            again = []
            for id, (method, line) in list(self._unanswered.items()):
                if method in REPEATABLE and id not in self._resent:
                    self._resent.add(id)
                    again.append(line)
                    continue
                del self._unanswered[id]
                self._answer_error(
                    id,
                    LOST,
                    "the Holdfast host ended before it answered; the call may or may not have "
                    "run. Call again: the next call starts a new host.",
                    {"reason": "host_lost", "method": method},
                )
            if again:
                try:
                    fresh = self._open()
                    with self._sending:
                        fresh.sendall(b"".join(again))
                except ConnectionError:
                    # The reader thread answers what was sent; what was not is answered here.
                    if self._host is None:
                        self._lost(None)
                except HostRefused as refusal:
                    self._refuse(refusal)
                except OSError as error:
                    self._refuse(unreachable(error))

    def _refuse(self, refusal: HostRefused) -> None:
        hint = f" ({refusal.hint})" if refusal.hint else ""
        print(f"holdfast: {refusal}{hint}", file=sys.stderr, flush=True)
        for id in list(self._unanswered):
            del self._unanswered[id]
            data = {"reason": "no_host", "hint": refusal.hint}
            self._answer_error(id, REFUSED, f"{refusal}{hint}", data)

    def _answer_error(self, id: str, code: int, message: str, data: Mapping[str, object]) -> None:
        error = json.dumps({"code": code, "message": message, "data": data})
        self._write(f'{{"jsonrpc":"2.0","id":{id},"error":{error}}}\n'.encode())


def _answered(line: bytes) -> str | None:
    """The id that a message answers, as JSON; None if it answers nothing."""
    found = _ANSWER.match(line)
    if found is not None:
        # Normalized: the host may write a character where json.dumps writes an escape.
        return json.dumps(json.loads(found[1]))
    if line.startswith(_NO_ANSWER):
        return None
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or "method" in message or "id" not in message:
        return None
    return json.dumps(message["id"])


def main(
    app: App,
    session: str | None = None,
    host: str | None = None,
    tools: str | None = None,
) -> int:
    """Be a stdio MCP server for the process that started us; `tools` names its toolsets."""
    settings = dict(app.environment)
    if tools is not None:
        from holdfast.mcp.toolsets import SETTING, parse

        parse(tools)
        settings[SETTING] = tools
    hello = greeting(__version__, settings, session, host)
    app.home.make_run()  # fails now, with a message, if the home cannot be used
    place = rendezvous_of(app.home, app.environment)
    environment = {**app.environment, "HOLDFAST_HOME": app.home.root}

    def connect() -> socket.socket:
        app.home.make_run()  # each time: the home may have been removed since
        return connect_to_host(place, hello, environment)

    answer_s = answer_seconds(environment)

    def host_lives() -> bool:
        if host_answers(place, answer_s):
            return True
        end_frozen_host(place, answer_s)  # so that the next call can start another one
        return False

    ends = sys.stdin.fileno(), sys.stdout.fileno()
    return Shim(connect, *ends, host_lives, answer_s / 2).run()
