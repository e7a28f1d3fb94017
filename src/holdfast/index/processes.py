"""Starting a process that has nothing of ours but some pipes.

A process that is forked is quickest to start, and shares what is loaded. It is unsafe once another
thread of Python may hold a lock, for nobody would let go of it there; then an interpreter is
started anew. It runs none of its caller's program: that may stand in no file at all, or would begin
everything again. (Threads outside of Python do not count. What they may hold is theirs alone, or
looks after itself in a fork, as memory and linear algebra do.)

Whoever starts a process reads a first word from it before believing anything that becomes of it:
one that ends without it could not be started, and has judged nothing.
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
"""The number of the first pipe after the two that take the place of the standard streams."""
_OUT_OF_THE_WAY = 16
_HELD = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})


def may_fork() -> bool:
    """Whether a process can be forked safely from here and now."""
    return threading.active_count() == 1


def start(serve: Callable[[], None], pipes: Sequence[int]) -> int:
    """Start a process that runs `serve`, and return its number; OSError if there is none to be had.

    It has its ends of the pipes as 0, 1, and from 3 on, whatever their numbers are here. Ctrl-C is
    not for it, but for whoever asked. It collects no garbage: what a file is prepared into holds no
    cycles, and looking for some among the nodes of its tree took a third of the time.
    """
    import fcntl

    # Out of the way: where a standard stream was closed, a pipe may have its number.
    moved: list[int] = []
    try:
        moved.extend(fcntl.fcntl(p, fcntl.F_DUPFD_CLOEXEC, _OUT_OF_THE_WAY) for p in pipes)
        return _forked(serve, moved) if may_fork() else _spawned(serve, moved)
    finally:
        for pipe in moved:
            os.close(pipe)


def _numbers(pipes: Sequence[int]) -> list[tuple[int, int]]:
    return list(zip(pipes, (0, 1, *range(_FIRST, _FIRST + len(pipes))), strict=False))


def _after(pipes: Sequence[int]) -> int:
    return _FIRST + max(0, len(pipes) - 2)


def _forked(serve: Callable[[], None], pipes: Sequence[int]) -> int:
    # The child has the heap of another. Looking for garbage there takes longer than any work, and
    # what is found is not the child's to let go of. A signal is for the parent, or for nobody.
    collects = gc.isenabled()
    gc.disable()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _HELD)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads outside of Python
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
        for deadly in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(deadly, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask - _HELD)
        for pipe, number in _numbers(pipes):
            os.dup2(pipe, number)
        os.dup2(os.open(os.devnull, os.O_RDWR), 2)
        # An open file is a lock held, wherever it is open.
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
        raise FileNotFoundError("it is not known which interpreter runs this")
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
