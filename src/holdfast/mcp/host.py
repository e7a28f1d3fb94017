"""The background host: one process with the official SDK for all agents of this user.

The host starts on demand, serves each connection with its own server object, and ends when it has
had no client for a while and no build runs. A client that crashes only closes its own connection.
Only processes of the same user are served: the mode of the directory, the mode of the socket and
the credentials of the peer each ensure that.

A greeting from another version is refused, because its tools may differ. A host without clients
then ends, so an upgrade takes effect by itself.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import fcntl
import gc
import json
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Iterable
from typing import IO, TYPE_CHECKING, Any, Protocol

from holdfast import __version__, system
from holdfast.app import App, process_environment
from holdfast.extras import install_command
from holdfast.mcp import hook_protocol
from holdfast.mcp.rendezvous import (
    GREETING_BYTES_MAX,
    GREETING_VERSION,
    LINE_BYTES_MAX,
    PING,
    Rendezvous,
    peer_user,
    rendezvous_of,
)
from holdfast.text import counted

if TYPE_CHECKING:
    from holdfast.index.code_index import CodeIndex
    from holdfast.mcp.host_context import HostContext
    from holdfast.notes.near_code import NotesByFile
    from holdfast.store.store import Store

IDLE_S = 15 * 60.0
GREET_S = 10.0
LOG_BYTES_MAX = 1 << 20

log = logging.getLogger("holdfast.mcp")

Serve = Callable[
    ["HostContext", dict[str, Any], asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]
]
"""Serves one connection until it ends."""


class Shared(Protocol):
    """What the commands that run in the host share with its tools."""

    @property
    def app(self) -> App: ...

    @property
    def index(self) -> CodeIndex: ...

    def keep_space(self, name: str) -> Store: ...

    def notes(self, space: str) -> NotesByFile: ...

    def note_printed(self, text: str, lines: Iterable[tuple[str, int, str]]) -> None: ...


class Commands(Protocol):
    """Runs commands for other processes (`cli/hosting.py`)."""

    async def serve(
        self, line: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None: ...

    def close(self) -> None: ...


COMMAND_PREFIX = b'{"holdfast":"cli"'


class BackgroundHost:
    """Accepts connections and decides when to end."""

    def __init__(
        self,
        place: Rendezvous,
        context: HostContext,
        serve: Serve,
        version: str,
        idle_s: float,
        clock: Callable[[], float] = system.monotonic,
        commands: Commands | None = None,
    ) -> None:
        self._place, self._context, self._serve = place, context, serve
        self._commands = commands
        self._version, self._idle_s, self._clock = version, idle_s, clock
        self._clients: set[asyncio.Task[None]] = set()
        self._idle_since = self._clock()
        self._served = False
        self._disconnected = asyncio.Event()
        self._leave = asyncio.Event()

    async def serve(self, listening: socket.socket, ready: int | None) -> None:
        """Serve until the host has been idle for long enough."""
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
        loop.run_in_executor(None, self._context.prepare_hooks)
        await self._leave.wait()
        idling.cancel()
        # New clients no longer find the socket; a queued one will reconnect to the next host.
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
            if self._clients or self._context.busy:
                self._idle_since = self._clock()
            elif not self._can_be_found() or (idle_s >= self._idle_max_s() and self._may_end()):
                self._leave.set()
                return
            wait_s = min(30.0, max(0.05, self._idle_max_s() - idle_s))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._disconnected.wait()
            self._disconnected.clear()

    def _idle_max_s(self) -> float:
        """How long the host may idle. The first client always gets time for its greeting."""
        return self._idle_s if self._served else max(self._idle_s, GREET_S)

    def _can_be_found(self) -> bool:
        """Whether clients can still connect: not after the home was removed."""
        return os.path.exists(self._place.socket)

    def _may_end(self) -> bool:
        """Whether no client is connected and no process holds the start lock and relies on us."""
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
        self._disconnected.set()
        if not task.cancelled() and task.exception() is not None:
            log.error("a connection failed", exc_info=task.exception())

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            peer = writer.get_extra_info("socket")
            user = peer_user(peer)
            if user is not None and user != os.getuid():
                log.warning("refused a process of user %d", user)
                return
            async with asyncio.timeout(GREET_S):
                line = await reader.readline()
            if line.startswith(hook_protocol.PREFIX):
                await self._context.hooks.serve(line, reader, writer)
                return
            if self._commands is not None and line.startswith(COMMAND_PREFIX):
                await self._commands.serve(line, reader, writer)
                return
            hello = await self._greeted(line, writer)
            if hello is not None:
                await self._serve(self._context, hello, reader, writer)
        except (ConnectionError, TimeoutError, asyncio.LimitOverrunError):
            log.info("a client went away")
        finally:
            writer.close()

    async def _greeted(self, line: bytes, writer: asyncio.StreamWriter) -> dict[str, Any] | None:
        """The greeting, if this host can serve its sender."""
        try:
            hello = json.loads(line) if len(line) <= GREETING_BYTES_MAX else None
        except ValueError:
            hello = None
        if isinstance(hello, dict) and hello.get("holdfast") == PING["holdfast"]:
            writer.write(json.dumps({**PING, "ok": True, "pid": os.getpid()}).encode() + b"\n")
            await writer.drain()
            return None
        if not isinstance(hello, dict) or hello.get("holdfast") != "mcp-shim":
            log.warning("refused a peer without a greeting")
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
            "leaves": others == 0 and not self._context.busy,
            "message": f"this is holdfast {theirs}, but the running host is {self._version} and "
            f"serves {counted(others, 'other session')}",
            "hint": "end those sessions, or stop the old host: holdfast mcp --stop",
        }


def listen(place: Rendezvous) -> socket.socket:
    """The socket, bound from its own directory because the whole path may be too long."""
    os.chdir(place.run)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(place.socket)  # left by a host that crashed; this process has the lock
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listening.bind(place.socket)
    finally:
        os.umask(before)
    listening.listen(256)
    return listening


def only_one(place: Rendezvous, now_s: float) -> IO[str] | None:
    """Take the lock of the host and write our process id into it; None if another host has it."""
    lock = open(place.lock, "a+")  # noqa: SIM115
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        return None
    os.chmod(place.lock, 0o600)
    lock.truncate(0)
    json.dump({"pid": os.getpid(), "version": __version__, "started": int(now_s)}, lock)
    lock.flush()
    return lock


def log_to(path: str) -> None:
    """Log to a file that only its owner may read; one older file is kept."""
    from logging.handlers import RotatingFileHandler

    os.umask(0o077)
    handler = RotatingFileHandler(path, maxBytes=LOG_BYTES_MAX, backupCount=1, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger("holdfast").setLevel(logging.INFO)


def idle_seconds(value: str | float) -> float | None:
    """A number of seconds; None if the value is not a valid one."""
    try:
        seconds = float(value)
    except ValueError:
        return None
    return seconds if seconds >= 0 else None


SWITCH_S = 0.0005
"""How long a computing thread may keep the GIL while others wait for it."""
GC_THRESHOLDS = (10_000, 10, 1_000)
"""Net allocations before a collection, and collections before one of older objects.

A collection holds the GIL. With the default thresholds, a call that makes a million objects causes
repeated collections of half a second each, while every agent waits.
"""


def _lacking(error: ImportError) -> str:
    if (error.name or "").partition(".")[0] in ("mcp", "mcp_types"):
        return "the tools need the package mcp, which is not installed"
    return str(error)


def main(
    argv: list[str] | None = None, commands_of: Callable[[Shared], Commands] | None = None
) -> int:
    """Run the host; `commands_of` creates the object that runs commands for other processes."""
    parser = argparse.ArgumentParser(prog="holdfast.mcp.host")
    parser.add_argument("--ready", type=int, help="a pipe to write to once we listen")
    parser.add_argument("--warm", metavar="PATH", help="load the index of this tree first")
    args = parser.parse_args(argv)
    app = App.from_environment(process_environment())
    app.home.make_run()
    place = rendezvous_of(app.home, app.environment)
    idle_s = idle_seconds(app.environment.get("HOLDFAST_MCP_IDLE_S") or IDLE_S)
    if idle_s is None:
        value = app.environment["HOLDFAST_MCP_IDLE_S"]
        print(f"HOLDFAST_MCP_IDLE_S must be a number of seconds (got {value!r})", file=sys.stderr)
        return 1
    from holdfast.index.facts import extractor

    extractor.mark_shared()
    # Each time another call needs the GIL, it waits at most this long for a computing one.
    sys.setswitchinterval(SWITCH_S)
    lock = only_one(place, app.clock.now_s())
    if lock is None:
        print("another host is running", file=sys.stderr)
        return 1
    try:
        # Imported before serving, so that the first call does not wait for it.
        from holdfast.mcp.host_context import HostContext
        from holdfast.mcp.sdk_server import serve_stream
    except ImportError as error:
        print(f"{_lacking(error)}; run: {install_command('agents')}", file=sys.stderr)
        return 1
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    listening = listen(place)
    log_to(place.log)
    context = HostContext(app)
    commands = None if commands_of is None else commands_of(context)
    if args.warm is not None:
        threading.Thread(target=_warm, args=(context, args.warm), daemon=True).start()
    host = BackgroundHost(
        place, context, serve_stream, __version__, idle_s, app.clock.monotonic, commands
    )
    try:
        asyncio.run(host.serve(listening, args.ready))
    finally:
        if commands is not None:
            commands.close()
        context.close()
        lock.close()
    # Threads of abandoned calls must not keep a host alive that no client can reach.
    logging.shutdown()
    os._exit(0)


def _warm(context: HostContext, tree: str) -> None:
    """Search a tree once, so that the first command finds its index in memory."""
    from holdfast.index.tools.search import search_code

    with contextlib.suppress(Exception):
        search_code(context.index, tree, "main")


if __name__ == "__main__":
    raise SystemExit(main())
