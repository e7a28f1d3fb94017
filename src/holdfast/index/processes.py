"""Start a helper process that inherits only some pipes.

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
from pathlib import Path

from holdfast import system

_CODE = """
import gc, os, signal, sys
gc.disable()
signal.signal(signal.SIGINT, signal.SIG_IGN)
os.closerange(int(sys.argv[2]), os.sysconf("SC_OPEN_MAX"))
sys.path[:] = sys.argv[3:]
import {0} as module
module.{1}()
"""
_FIRST = 3
"""The descriptor of the first pipe after those that replace stdin and stdout."""
_FIRST_FREE = 16
_BLOCKED = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})


def may_fork() -> bool:
    """Whether forking is safe now."""
    return threading.active_count() == 1


def start(serve: Callable[[], None], pipes: Sequence[int]) -> int:
    """Start a process that runs `serve`, and return its pid; OSError if none could be started.

    In the process the pipes have the descriptors 0, 1, and 3 onwards. It ignores Ctrl-C, which is
    for the parent. Its garbage collector is off: prepared files have no cycles, and scanning the
    nodes of a syntax tree took a third of the time.
    """
    import fcntl

    # Move the pipes to high numbers: a pipe may have the number of a closed standard stream.
    moved: list[int] = []
    try:
        moved.extend(fcntl.fcntl(p, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE) for p in pipes)
        return _forked(serve, moved) if may_fork() else _spawned(serve, moved)
    finally:
        for pipe in moved:
            os.close(pipe)


def _numbers(pipes: Sequence[int]) -> list[tuple[int, int]]:
    return list(zip(pipes, (0, 1, *range(_FIRST, _FIRST + len(pipes))), strict=False))


def _after(pipes: Sequence[int]) -> int:
    return _FIRST + max(0, len(pipes) - 2)


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
        os.closerange(_after(pipes), os.sysconf("SC_OPEN_MAX"))
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
    code = _CODE.format(serve.__module__, serve.__qualname__)
    return os.posix_spawn(
        sys.executable,
        [sys.executable, "-I", "-S", "-c", code, "holdfast", str(_after(pipes)), *sys.path, ours],
        environment(),
        file_actions=[
            *((os.POSIX_SPAWN_DUP2, pipe, number) for pipe, number in _numbers(pipes)),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_RDWR, 0),
        ],
        setsigmask=(),
        setsigdef=(signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE),
    )
