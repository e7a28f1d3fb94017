"""Start a helper process that inherits only its pipes, and ends with its parent.

Forking is fastest, and the child shares the loaded modules. It is unsafe when another Python thread
may hold a lock, because nothing would release the lock in the child; then a new interpreter is
started. The new interpreter does not run the caller's main program, which may not be in a file or
would start everything again. (Threads outside Python do not count: their locks are private or
handled at fork, as in memory allocators and linear algebra libraries.)

The caller first waits for a ready message from the process: a process that ends without that
message could not be started, and its work is not the cause.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from holdfast import parent_death, system

_CODE = """
import gc, os, signal, sys
gc.disable()
signal.signal(signal.SIGINT, signal.SIG_IGN)
os.closerange({2} + 1, os.sysconf("SC_OPEN_MAX"))
sys.path[:] = sys.argv[2:]
from holdfast.parent_death import end_with_parent
end_with_parent({2})
import {0} as module
module.{1}()
"""
_LIFE = 3
"""In the process, the descriptor of the pipe whose other end only its parent has."""
_FIRST_FREE = 16
_BLOCKED = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})


def may_fork() -> bool:
    """Whether forking is safe now."""
    return threading.active_count() == 1


class Child(msgspec.Struct):
    """A process that was started here."""

    pid: int
    life: int
    """The writing end of a pipe: when the last copy of it is closed, the process is killed."""

    def kill(self) -> None:
        """Kill the process, without waiting for its end."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def end(self) -> None:
        """Kill the process, and wait for its end if it is a child of this one."""
        self.kill()
        self.close()

    def close(self) -> None:
        """Wait for the end of a process that was killed or has nothing more to read."""
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)
        self.leave()

    def leave(self) -> None:
        """After a fork, in the new process: it belongs to another process."""
        os.close(self.life)


def start(serve: Callable[[], None], stdin: int, stdout: int) -> Child:
    """Start a process that runs `serve`; OSError if none could be started.

    It ignores Ctrl-C, which is for the parent. It is killed when its parent is gone. Its garbage
    collector is off: prepared files have no cycles, and scanning the nodes of a syntax tree took a
    third of the time.
    """
    import fcntl

    life, ours = os.pipe()
    # Move the pipes to high numbers: a pipe may have the number of a closed standard stream.
    moved: list[int] = []
    try:
        pipes = (stdin, stdout, life)
        moved.extend(fcntl.fcntl(p, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE) for p in pipes)
        return Child(_forked(serve, moved) if may_fork() else _spawned(serve, moved), ours)
    except BaseException:
        os.close(ours)
        raise
    finally:
        for pipe in (life, *moved):
            os.close(pipe)


def _numbers(pipes: Sequence[int]) -> list[tuple[int, int]]:
    return list(zip(pipes, (0, 1, _LIFE), strict=True))


def _forked(serve: Callable[[], None], pipes: Sequence[int]) -> int:
    # The child shares the parent's heap. Collecting garbage there would copy it page by page, and
    # run finalizers of objects that belong to the parent. Signals are for the parent.
    collects = gc.isenabled()
    gc.disable()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _BLOCKED)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # for threads outside Python
            pid = os.fork()
            if not pid:
                _child(serve, pipes, before)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if collects:
            gc.enable()
    return pid


def _child(
    serve: Callable[[], None], pipes: Sequence[int], mask: set[signal.Signals | int]
) -> None:
    try:
        signal.set_wakeup_fd(-1)
        for terminating in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(terminating, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask - _BLOCKED)
        for pipe, number in _numbers(pipes):
            os.dup2(pipe, number)
        os.dup2(os.open(os.devnull, os.O_RDWR), 2)
        # An inherited descriptor would keep the parent's file locks.
        os.closerange(_LIFE + 1, os.sysconf("SC_OPEN_MAX"))
        parent_death.end_with_parent(_LIFE)
        serve()
    finally:
        os._exit(0)


def _spawned(
    serve: Callable[[], None],
    pipes: Sequence[int],
    environment: Callable[[], Mapping[str, str]] = system.environment,
) -> int:
    if not sys.executable:
        raise FileNotFoundError("the path of the Python interpreter is unknown")
    import holdfast

    ours = str(Path(holdfast.__file__).parents[1])
    code = _CODE.format(serve.__module__, serve.__qualname__, _LIFE)
    return os.posix_spawn(
        sys.executable,
        [sys.executable, "-I", "-S", "-c", code, "holdfast", *sys.path, ours],
        environment(),
        file_actions=[
            *((os.POSIX_SPAWN_DUP2, pipe, number) for pipe, number in _numbers(pipes)),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_RDWR, 0),
        ],
        setsigmask=(),
        setsigdef=(signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE),
    )
