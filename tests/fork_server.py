"""Starts hosts and servers by a fork of a process that has imported them.

Importing what a host uses takes two seconds of processor time, and hundreds of tests start a host,
a server or a command. The forked process runs the same module with the arguments, environment,
directory and streams that `subprocess.Popen` would give it. Tests of how a program starts, and of
what it imports, use `Popen`.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import random
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import holdfast
from holdfast import system
from tests.hindered import obey_permissions

WAIT_S = 60.0
OTHERS = (
    "encodings.idna",
    "anyio._backends._asyncio",
    "uvicorn.lifespan.on",
    "uvicorn.loops.asyncio",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.h11_impl",
    "uvicorn.protocols.websockets.websockets_sansio_impl",
    "websockets.extensions.permessage_deflate",
)
"""What is imported late and is not ours."""
LEFT_OUT = ("__main__", "compiled")
"""Modules that run when they are imported, or that import numba."""


class SharedForkServer:
    """A process that has imported everything, and forks for several clients."""

    def __init__(self, clients: int) -> None:
        ours, theirs = zip(*(socket.socketpair() for _ in range(clients)), strict=True)
        fds = [end.fileno() for end in theirs]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.fork_server", *map(str, fds)],
            cwd=Path(__file__).resolve().parents[1],
            pass_fds=fds,
            stdin=subprocess.DEVNULL,
        )
        for end in theirs:
            end.close()
        self.clients = [ForkServer(end) for end in ours]

    def close(self) -> None:
        for client in self.clients:
            client.close()
        self._process.wait(WAIT_S)


class ForkServer:
    """The client's end: asks for processes and hears how they ended."""

    def __init__(self, server: socket.socket) -> None:
        self._socket = server
        self._lock = threading.Lock()
        self._pending = b""
        self._codes: dict[int, int] = {}

    def fork(
        self,
        module: str,
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: Path,
        fds: Sequence[int],
        hindered: bool = False,
    ) -> int:
        """Run a module in a new process with these descriptors as 0, 1, 2 …; returns its id.

        A `hindered` one obeys the permissions of files although it is root's.
        """
        request = {
            "module": module,
            "argv": list(argv),
            "env": dict(env),
            "cwd": str(cwd),
            "hindered": hindered,
        }
        data = json.dumps(request).encode()
        with self._lock:
            socket.send_fds(self._socket, [len(data).to_bytes(4, "big")], list(fds))
            self._socket.sendall(data)
            while True:
                message = self._receive(WAIT_S)
                assert message is not None, "the fork server does not answer"
                if "forked" in message:
                    pid: int = message["forked"]
                    return pid

    def code(self, pid: int, timeout: float) -> int | None:
        """How a process ended, as `Popen.returncode`; None if it still runs."""
        with self._lock:
            while pid not in self._codes:
                if self._receive(timeout) is None:
                    return None
            return self._codes[pid]

    def _receive(self, timeout: float) -> dict[str, Any] | None:
        while b"\n" not in self._pending:
            if not select.select([self._socket], [], [], timeout)[0]:
                return None
            data = self._socket.recv(4096)
            assert data, "the fork server ended"
            self._pending += data
        line, _, self._pending = self._pending.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        if "ended" in message:
            self._codes[message["ended"]] = message["code"]
        else:
            self._codes.pop(message["forked"], None)  # of an earlier process with this id
        return message

    def close(self) -> None:
        self._socket.close()


_own: ForkServer | None = None


def fork_server() -> ForkServer:
    """The one of this process; started when it is first needed, if no other was adopted."""
    global _own
    if _own is None:
        server = SharedForkServer(1)
        atexit.register(server.close)
        (_own,) = server.clients
    return _own


def adopt(server: ForkServer) -> None:
    """Use a server that was started before this process was forked."""
    global _own
    _own = server


def run(
    *words: str,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: str | None = None,
    out: int | None = None,
    module: str = "holdfast.cli.main",
    hindered: bool = False,
) -> subprocess.CompletedProcess[str]:
    """A command from its start to its end, as `subprocess.run` would run it in an interpreter."""
    server = fork_server()
    with contextlib.ExitStack() as files:
        given, shown, errors = (files.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        given.write((stdin or "").encode())
        given.seek(0)
        fds = [given.fileno(), shown.fileno() if out is None else out, errors.fileno()]
        settings = os.environ if env is None else env
        pid = server.fork(module, words, settings, cwd or Path.cwd(), fds, hindered)
        code = server.code(pid, WAIT_S)
        assert code is not None, f"{words} does not end"
        for file in (shown, errors):
            file.seek(0)
        texts = (shown.read().decode(), errors.read().decode())
        return subprocess.CompletedProcess(words, code, *texts)


class Forked:
    """A process from the fork server, used like a `Popen` with pipes for all three streams."""

    def __init__(self, module: str, *argv: str, env: Mapping[str, str], cwd: Path) -> None:
        child_in, to_child = os.pipe()
        from_child, child_out = os.pipe()
        errors, child_errors = os.pipe()
        try:
            self._server = fork_server()
            streams = (child_in, child_out, child_errors)
            self.pid = self._server.fork(module, argv, env, cwd, streams)
        finally:
            for end in (child_in, child_out, child_errors):
                os.close(end)
        self.stdin: IO[str] = os.fdopen(to_child, "w", encoding="utf-8")
        self.stdout: IO[str] = os.fdopen(from_child, encoding="utf-8")
        self.stderr: IO[str] = os.fdopen(errors, encoding="utf-8")

    @property
    def returncode(self) -> int | None:
        return self.poll()

    def poll(self) -> int | None:
        return self._server.code(self.pid, 0)

    def wait(self, timeout: float = WAIT_S) -> int:
        code = self._server.code(self.pid, timeout)
        if code is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def close(self) -> None:
        for stream in (self.stdin, self.stdout, self.stderr):
            stream.close()


def _serve(client: socket.socket) -> dict[str, Any] | None:
    """Fork until the client ends; returns in each child, with what it shall run."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(writing)
    while True:
        ready = select.select([client.fileno(), reading], [], [])[0]
        if reading in ready:
            os.read(reading, 4096)
            _report_ended(client)
        if client.fileno() in ready:
            try:
                head, fds, _, _ = socket.recv_fds(client, 4, 8)
            except ConnectionResetError:  # It did not wait to hear how the last ones ended.
                return None
            if not head:
                return None
            size = int.from_bytes(head, "big")
            data = b""
            while len(data) < size:
                data += client.recv(size - len(data))
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                client.close()
                os.close(reading)
                os.close(writing)
                for number, fd in enumerate(fds):
                    os.dup2(fd, number)
                    os.close(fd)
                request: dict[str, Any] = json.loads(data)
                return request
            for fd in fds:
                os.close(fd)
            client.sendall(json.dumps({"forked": pid}).encode() + b"\n")


def _report_ended(client: socket.socket) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        message = {"ended": pid, "code": os.waitstatus_to_exitcode(status)}
        with contextlib.suppress(OSError):
            client.sendall(json.dumps(message).encode() + b"\n")


def _import_all() -> None:
    """What a host, a server or a command may import, at the start or late."""
    for name in OTHERS:
        importlib.import_module(name)
    for module in pkgutil.walk_packages(holdfast.__path__, "holdfast."):
        if not module.name.endswith(LEFT_OUT):
            importlib.import_module(module.name)
    gc.collect()
    gc.freeze()  # Forks need not look there for garbage, nor copy it.


def _serve_all(fds: Sequence[int]) -> dict[str, Any] | None:
    """A process for each client, which forks for it; returns in each child."""
    children = []
    for fd in fds:
        pid = os.fork()
        if pid == 0:
            for other in fds:
                if other != fd:
                    os.close(other)
            return _serve(socket.socket(fileno=fd))
        children.append(pid)
    for fd in fds:
        os.close(fd)
    for pid in children:
        os.waitpid(pid, 0)
    return None


def main() -> None:
    _import_all()
    request = _serve_all([int(fd) for fd in sys.argv[1:]])
    if request is None:
        return
    os.setsid()
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    if request["hindered"]:
        obey_permissions()
    random.seed()
    if "PYTHONUNBUFFERED" in os.environ:
        sys.stdout.reconfigure(write_through=True)  # type: ignore[union-attr]
    sys.argv = [request["module"], *request["argv"]]
    # As with `python -m`; a module that is already there would be warned about on standard error.
    sys.modules.pop(request["module"], None)
    try:
        runpy.run_module(request["module"], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            # Freeing all that was imported takes longer than most commands.
            system.leave(end.code or 0)
        raise


if __name__ == "__main__":
    main()
