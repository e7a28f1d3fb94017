"""The background host: the official SDK, once, for every session of every agent of this user.

It starts on demand, serves each connection with a server of its own, and ends when nobody has been
connected for a while and no build runs. A client that crashes closes its connection and nothing
else. Only processes of the same user are served; the directory, the socket's mode and the peer's
credentials each say so for themselves.

A greeting from another version is refused, because the tools it expects may not be ours. A host
that serves nobody leaves instead, so that an upgrade takes effect by itself.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import fcntl
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from typing import IO, TYPE_CHECKING, Any

from holdfast import __version__, system
from holdfast.app import App, process_environment
from holdfast.mcp.rendezvous import (
    GREETING_BYTES_MAX,
    GREETING_VERSION,
    LINE_BYTES_MAX,
    Rendezvous,
    peer_user,
    rendezvous_of,
)

if TYPE_CHECKING:
    from holdfast.mcp.desk import Desk

IDLE_S = 15 * 60.0
GREET_S = 10.0
LOG_BYTES_MAX = 1 << 20

log = logging.getLogger("holdfast.mcp")

Serve = Callable[
    ["Desk", dict[str, Any], asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]
]
"""Serves one connection until it ends."""


class Host:
    """Connections, and when to go."""

    def __init__(
        self,
        place: Rendezvous,
        desk: Desk,
        serve: Serve,
        version: str,
        idle_s: float,
        clock: Callable[[], float] = system.monotonic,
    ) -> None:
        self._place, self._desk, self._serve = place, desk, serve
        self._version, self._idle_s, self._clock = version, idle_s, clock
        self._clients: set[asyncio.Task[None]] = set()
        self._idle_since = self._clock()
        self._served = False
        self._leave = asyncio.Event()

    async def serve(self, listening: socket.socket, ready: int | None) -> None:
        """Until it is time to go."""
        server = await asyncio.start_unix_server(
            self._connected, sock=listening, limit=LINE_BYTES_MAX
        )
        loop = asyncio.get_running_loop()
        for name in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(name, self._leave.set)
        if ready is not None:
            with contextlib.suppress(BrokenPipeError):  # the shim that started us has ended
                os.write(ready, b"1")
            os.close(ready)
        log.info("serving, version %s, process %d", self._version, os.getpid())
        idling = loop.create_task(self._idle_out())
        await self._leave.wait()
        idling.cancel()
        # From here on nobody finds us; whoever is in the queue already asks again.
        with contextlib.suppress(FileNotFoundError):  # the home may have been removed
            os.unlink(self._place.socket)
        server.close()
        for client in list(self._clients):
            client.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)
        log.info("ended")

    async def _idle_out(self) -> None:
        while True:
            idle_s = self._clock() - self._idle_since
            if self._clients or self._desk.busy:
                self._idle_since = self._clock()
            elif not self._can_be_found() or (idle_s >= self._idle_max_s() and self._may_end()):
                self._leave.set()
                return
            await asyncio.sleep(min(30.0, max(0.05, self._idle_max_s() - idle_s)))

    def _idle_max_s(self) -> float:
        """How long we serve nobody; whoever started us has time to greet us, whatever was set."""
        return self._idle_s if self._served else max(self._idle_s, GREET_S)

    def _can_be_found(self) -> bool:
        """Whether anybody can still come: a home that was removed leads nobody here."""
        return os.path.exists(self._place.socket)

    def _may_end(self) -> bool:
        """Whether nobody is about to start a host: whoever is would not look again."""
        with open(self._place.start, "a") as starting:
            try:
                fcntl.flock(starting, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return False
            return not self._clients

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve_one(reader, writer))
        self._clients.add(task)
        self._served = True
        task.add_done_callback(self._gone)

    def _gone(self, task: asyncio.Task[None]) -> None:
        self._clients.discard(task)
        self._idle_since = self._clock()
        if not task.cancelled() and task.exception() is not None:
            log.error("a connection ended badly", exc_info=task.exception())

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            peer = writer.get_extra_info("socket")
            user = peer_user(peer)
            if user is not None and user != os.getuid():
                log.warning("refused a process of user %d", user)
                return
            hello = await self._greeted(reader, writer)
            if hello is not None:
                await self._serve(self._desk, hello, reader, writer)
        except (ConnectionError, TimeoutError, asyncio.LimitOverrunError):
            log.info("a client went away")
        finally:
            writer.close()

    async def _greeted(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> dict[str, Any] | None:
        """The greeting, if it is one that we serve."""
        async with asyncio.timeout(GREET_S):
            line = await reader.readline()
        try:
            hello = json.loads(line) if len(line) <= GREETING_BYTES_MAX else None
        except ValueError:
            hello = None
        if not isinstance(hello, dict) or hello.get("holdfast") != "mcp-shim":
            log.warning("refused a peer that did not greet")
            return None
        answer = self._answer(hello)
        writer.write(json.dumps(answer).encode() + b"\n")
        await writer.drain()
        if answer["ok"]:
            return hello
        if answer["leaves"]:
            self._leave.set()
        return None

    def _answer(self, hello: dict[str, Any]) -> dict[str, Any]:
        ours = {"holdfast": "mcp-host", "v": GREETING_VERSION, "version": self._version}
        theirs = hello.get("version")
        if hello.get("v") == GREETING_VERSION and theirs == self._version:
            return {**ours, "ok": True, "pid": os.getpid()}
        others = len(self._clients) - 1
        log.info("refused version %s, %d other clients", theirs, others)
        return {
            **ours,
            "ok": False,
            "leaves": others == 0 and not self._desk.busy,
            "message": f"this is holdfast {theirs}, and the host that runs is {self._version} and "
            f"serves {others} other session{'' if others == 1 else 's'}",
            "hint": "end those sessions, or stop the old host: holdfast mcp --stop",
        }


def listen(place: Rendezvous) -> socket.socket:
    """The socket, bound from its own directory: its whole path may be too long for the system."""
    os.chdir(place.run)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(place.socket)  # of a host that died; we hold the lock
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listening.bind(place.socket)
    finally:
        os.umask(before)
    listening.listen(256)
    return listening


def only_one(place: Rendezvous, now_s: float) -> IO[str] | None:
    """The lock of this host; None if another holds it. It tells who we are."""
    held = open(place.lock, "a+")  # noqa: SIM115
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        held.close()
        return None
    os.chmod(place.lock, 0o600)
    held.truncate(0)
    json.dump({"pid": os.getpid(), "version": __version__, "started": int(now_s)}, held)
    held.flush()
    return held


def log_to(path: str) -> None:
    """Keep the log, one old one beside it, readable by its owner alone."""
    from logging.handlers import RotatingFileHandler

    os.umask(0o077)
    handler = RotatingFileHandler(path, maxBytes=LOG_BYTES_MAX, backupCount=1, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger("holdfast").setLevel(logging.INFO)


def idle_seconds(given: str | float) -> float | None:
    """A time to idle; None if it is none."""
    try:
        seconds = float(given)
    except ValueError:
        return None
    return seconds if seconds >= 0 else None


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="holdfast.mcp.host")
    parser.add_argument("--ready", type=int, help="a pipe to write to once we listen")
    args = parser.parse_args(argv)
    app = App.from_environment(process_environment())
    app.home.make_run()
    place = rendezvous_of(app.home, app.environment)
    idle_s = idle_seconds(app.environment.get("HOLDFAST_MCP_IDLE_S") or IDLE_S)
    if idle_s is None:
        given = app.environment["HOLDFAST_MCP_IDLE_S"]
        print(f"HOLDFAST_MCP_IDLE_S is {given!r}, which is no number of seconds", file=sys.stderr)
        return 1
    held = only_one(place, app.clock.now_s())
    if held is None:
        print("another host holds the lock", file=sys.stderr)
        return 1
    try:
        # All of it before anybody is served: the first call shall not wait for imports.
        from holdfast.mcp.desk import Desk
        from holdfast.mcp.serving import serve_stream
    except ImportError as error:
        print(f"{error}: pip install 'holdfast[mcp]' brings what is needed", file=sys.stderr)
        return 1
    listening = listen(place)
    log_to(place.log)
    desk = Desk(app)
    try:
        asyncio.run(
            Host(place, desk, serve_stream, __version__, idle_s, app.clock.monotonic).serve(
                listening, args.ready
            )
        )
    finally:
        desk.close()
        held.close()
    # Threads of abandoned calls must not keep a host that nobody finds any more.
    logging.shutdown()
    os._exit(0)


if __name__ == "__main__":
    raise SystemExit(main())
