"""`holdfast mcp`: forwards bytes between an agent and the background host.

Importing the SDK takes most of a second, so only the background host imports it. The shim is a
socket and three loops. It parses messages only to know which requests are unanswered. When the
connection to the host is lost,

    a tool call       is answered with an error, because it may or may not have run
    another request   (handshake, lists) is sent again to the next host

A frozen host counts as lost too: while a request is unanswered and the host sends nothing, the shim
pings it on a second connection, and ends it when it does not answer. A host that is busy with a
long call still answers pings, so long calls are not cut off.

The next message starts a new host. The shim repeats the handshake with it and drops the second
answer, which the agent already has.

While the first host starts, the shim answers the handshake and the list of tools with the answers
of the last host of this version: so even an agent that does not wait has our tools in its first
request. A hook that is called as a tool gets an empty answer after 0.3 s at the latest.
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
from holdfast.mcp.agent_lines import LineBuffer, LineSender
from holdfast.mcp.frozen_host import answer_seconds, end_frozen_host, host_answers
from holdfast.mcp.handshake_cache import KEPT, KeptAnswers
from holdfast.mcp.hook_protocol import HOOK_TOOL, hook_seconds
from holdfast.mcp.host_connection import (
    HostRefused,
    connect_to_host,
    running_host_connection,
    unreachable,
)
from holdfast.mcp.rendezvous import LINE_BYTES_MAX, greeting, rendezvous_of

LOST, REFUSED, INVALID = -32000, -32001, -32600

HOOK_S = 0.3
"""How long a hook may keep an agent waiting in any case."""
NO_HOOK_ANSWER = '{"content":[{"type":"text","text":"{}"}]}'

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


class Shim:
    """The connection of one agent; the host behind it may be replaced."""

    def __init__(
        self,
        connect: Callable[[], socket.socket],
        read: int,
        write: int,
        host_lives: Callable[[], bool] = lambda: True,
        quiet_s: float = 10.0,
        running: Callable[[], socket.socket | None] | None = None,
        answers: KeptAnswers | None = None,
        hook_s: float = HOOK_S,
    ) -> None:
        """`host_lives` is called when a request is unanswered and the host was silent for `quiet_s`
        seconds; it ends a host that does not answer. `running` connects to a running host; with it,
        a missing host is started in the background while the shim answers from `answers`."""
        self._connect, self._in, self._out = connect, read, write
        self._host_lives, self._quiet_s = host_lives, quiet_s
        self._requested, self._stopped = threading.Event(), threading.Event()
        self._received = 0
        self._host: socket.socket | None = None
        self._turn = threading.RLock()
        self._sender = LineSender()
        self._writing = threading.Lock()
        self._unanswered: dict[str, tuple[str, bytes]] = {}
        """Requests without an answer: method and line, by id."""
        self._resent: set[str] = set()
        self._handshake: list[bytes] = []
        self._replayed = 0
        self._ended = False
        self._reader: threading.Thread | None = None
        self._running, self._answers, self._hook_s = running, answers, hook_s
        self._protocol = ""
        self._starting: threading.Thread | None = None
        self._queued: list[bytes] = []
        """The messages that the agent sent while a host is being started."""
        self._hooks: set[str] = set()
        """Ids of unanswered hooks; `_given_up` has those that got an empty answer."""
        self._given_up: set[str] = set()
        self._hook_turn = threading.Lock()

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
        self._sender.start()
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
            starting = self._starting if self._unanswered else None
        if starting is not None:
            starting.join()
        self._sender.finish()
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
                if self._host is None and self._is_starting(line):
                    return
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
        self._sender.put(host, line)

    def _is_starting(self, line: bytes) -> bool:
        """Whether this message waits for a host that is being started."""
        if self._starting is None:
            if self._running is None:
                return False
            host = self._running()
            if host is not None:
                self._attach(host)
                return False
            self._starting = threading.Thread(target=self._start_host, daemon=True)
            self._starting.start()
        self._queued.append(line)
        for id, (method, noted) in list(self._unanswered.items()):
            if noted is line and method in KEPT and self._answers is not None:
                result = self._answers.get(method, self._protocol)
                if result is not None:
                    del self._unanswered[id]
                    self._queued.remove(line)
                    text = f'{{"jsonrpc":"2.0","id":{id},"result":{json.dumps(result)}}}\n'
                    self._write(text.encode())
        return True

    def _start_host(self) -> None:
        """Start a host, and forward what the agent sent in the meantime."""
        try:
            host = self._connect()
        except HostRefused as error:
            refusal = error
        except OSError as error:
            refusal = unreachable(error)
        else:
            with self._turn:
                self._starting = None
                queued, self._queued = self._queued, []
                try:
                    self._attach(host)
                    # The shim already repeated the handshake if the agent has its answer.
                    initializing = self._is_initializing()
                    lines = [one for one in queued if initializing or one not in self._handshake]
                    with self._sender.turn:
                        host.sendall(b"".join(lines))
                except OSError:
                    return  # the reader thread sees the loss too and answers what is unanswered
            return
        with self._turn:
            self._starting, self._queued = None, []
            self._refuse(refusal)

    def _is_initializing(self) -> bool:
        return any(method == "initialize" for method, _ in self._unanswered.values())

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
            if method == "tools/call":
                self._note_hook(json.dumps(id), message.get("params"))
        if method == "initialize":
            params = message.get("params")
            self._protocol = str(params.get("protocolVersion") if isinstance(params, dict) else "")
            again = {**message, "id": f"{_REPLAY}{self._replayed}"}
            self._handshake = [json.dumps(again).encode() + b"\n"]
        elif method == "notifications/initialized" and self._handshake:
            self._handshake = [self._handshake[0], line]

    def _note_hook(self, id: str, params: object) -> None:
        """Send a hook an empty answer if the host does not answer in time."""
        if not isinstance(params, dict) or params.get("name") != HOOK_TOOL:
            return
        with self._hook_turn:
            self._hooks.add(id)
        timer = threading.Timer(self._hook_s, self._give_up, (id,))
        timer.daemon = True
        timer.start()

    def _give_up(self, id: str) -> None:
        # Not under the connection's lock, which is held while waiting for a host.
        with self._hook_turn:
            if id not in self._hooks:
                return
            self._hooks.discard(id)
            self._given_up.add(id)
        self._write(f'{{"jsonrpc":"2.0","id":{id},"result":{NO_HOOK_ANSWER}}}\n'.encode())

    def _may_answer(self, id: str) -> bool:
        """Whether the agent still waits for this answer."""
        with self._hook_turn:
            self._hooks.discard(id)
            if id in self._given_up:
                self._given_up.discard(id)
                return False
            return True

    def _open(self) -> socket.socket:
        """Connect to a host and repeat the handshake with it."""
        return self._attach(self._connect())

    def _attach(self, host: socket.socket) -> socket.socket:
        if self._handshake and not self._is_initializing():
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
        passed = []
        for line in lines.splitlines(keepends=True):
            answered = _answered(line)
            if answered is not None:
                if answered.startswith(f'"{_REPLAY}'):
                    continue
                with self._turn:
                    method = self._unanswered.pop(answered, ("", b""))[0]
                if not self._may_answer(answered):
                    continue
                if method in KEPT and self._answers is not None:
                    self._keep(method, line)
            passed.append(line)
        self._write(b"".join(passed))

    def _keep(self, method: str, line: bytes) -> None:
        result = json.loads(line).get("result")
        if isinstance(result, dict) and not result.get("nextCursor") and self._answers is not None:
            self._answers.put(method, self._protocol, result)

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
                    with self._sender.turn:
                        fresh.sendall(b"".join(again))
                except ConnectionError:
                    # The reader thread answers requests that were sent; answer the others here.
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
        with self._hook_turn:
            is_hook = id in self._hooks
        if not self._may_answer(id):
            return
        if is_hook:  # our failure must not become an error of the agent
            self._write(f'{{"jsonrpc":"2.0","id":{id},"result":{NO_HOOK_ANSWER}}}\n'.encode())
            return
        error = json.dumps({"code": code, "message": message, "data": data})
        self._write(f'{{"jsonrpc":"2.0","id":{id},"error":{error}}}\n'.encode())


def _answered(line: bytes) -> str | None:
    """The id that a message answers, as JSON; None if it answers nothing."""
    match = _ANSWER.match(line)
    if match is not None:
        # Normalized: the host may write a character where json.dumps writes an escape.
        return json.dumps(json.loads(match[1]))
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
    """Run a stdio MCP server for the process that started us; `tools` names its toolsets."""
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
    return Shim(
        connect,
        *ends,
        host_lives,
        answer_s / 2,
        lambda: running_host_connection(place, hello, answer_s),
        KeptAnswers(place.run, __version__),
        hook_seconds(environment, HOOK_S),
    ).run()
