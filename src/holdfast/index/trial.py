"""Parsing on trial: first in a process that may die of it.

A timer of the system ends that process, whatever its parser is in the middle of, and a text it did
not survive is not parsed anywhere else. The process is started by the first text on trial and kept
for the next. What it costs is a second parse of texts that are parsed outside of workers, which are
few: a tree of some size is prepared by workers, and those are expendable themselves.

Limits of the system are POSIX's; where there are none, texts are parsed without a trial.
"""

from __future__ import annotations

import gc
import os
import signal
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_HEAD = struct.Struct("<dIII")
_MEMORY_BYTES, _MEMORY_PER_BYTE = 1 << 30, 500
POSSIBLE = hasattr(signal, "setitimer") and hasattr(os, "posix_spawn") and bool(sys.executable)

_READY = b"r"
"""Said once, when the process can parse. One that never says it is no judge of any text."""

_expendable = False


def expendable() -> bool:
    """Whether this process may die of a parse."""
    return _expendable


def become_expendable() -> None:
    """Call in a process whose death somebody expects and takes for an answer."""
    global _expendable
    if not POSSIBLE:
        return
    _expendable = True
    import resource

    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


@contextmanager
def deadly(seconds: float, size_bytes: int) -> Iterator[None]:
    """Die if this takes more processor time, or more memory than a text of that size explains."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    most = _taken_bytes() + _MEMORY_BYTES + size_bytes * _MEMORY_PER_BYTE
    if before[1] != resource.RLIM_INFINITY:
        most = min(most, before[1])
    resource.setrlimit(resource.RLIMIT_DATA, (most, before[1]))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_DATA, before)


def _taken_bytes() -> int:
    try:
        with open("/proc/self/statm", "rb", buffering=0) as file:
            return int(file.read().split()[5]) * os.sysconf("SC_PAGESIZE")
    except (OSError, ValueError, IndexError):
        return 1 << 32


def serve(texts: int, verdicts: int) -> None:
    """The other process: parse what comes in, say that it ended, until nothing comes."""
    from holdfast.index.parsing import TooHardError, limited, parser_of

    become_expendable()
    # A forked process has the heap of another. Looking through that takes longer than any parse
    # may, and what it would find there is not ours to let go of.
    gc.disable()
    # Ctrl-C is for whoever asked; when that ends, so do we.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.write(verdicts, _READY)
    with open(texts, "rb") as file:
        while head := file.read(_HEAD.size):
            seconds, module, function, size = _HEAD.unpack(head)
            grammar = file.read(module).decode(), file.read(function).decode()
            source, parser = file.read(size), parser_of(grammar)
            try:
                with deadly(seconds, size):
                    limited(parser, source)
                verdict = b"1"
            except TooHardError:
                verdict = b"0"
            os.write(verdicts, verdict)


def _start(texts: int, verdicts: int) -> int:
    """Start the process, which has nothing of ours but two pipes."""
    import fcntl

    if threading.active_count() == 1:
        # Quickest, and unsafe once other threads may hold locks.
        pid = os.fork()
        if pid:
            return pid
        try:
            # Out of the way first: where a standard stream was closed, a pipe may have its number.
            texts, verdicts = (fcntl.fcntl(pipe, fcntl.F_DUPFD, 3) for pipe in (texts, verdicts))
            os.dup2(texts, 0)
            os.dup2(verdicts, 1)
            os.dup2(os.open(os.devnull, os.O_RDWR), 2)
            # An open file is a lock held, wherever it is open.
            os.closerange(3, os.sysconf("SC_OPEN_MAX"))
            serve(0, 1)
        finally:
            os._exit(0)
    code = "import sys; sys.path[:] = sys.argv[1:]; import holdfast.index.trial as t; t.serve(0, 1)"
    return os.posix_spawn(
        sys.executable,
        [sys.executable, "-I", "-S", "-c", code, *sys.path],
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_DUP2, texts, 0),
            (os.POSIX_SPAWN_DUP2, verdicts, 1),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_RDWR, 0),
        ],
    )


class _Trial:
    """The other process, from here. One text at a time."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        texts, self._texts = os.pipe()
        self._verdicts, verdicts = os.pipe()
        try:
            self._pid = _start(texts, verdicts)
        except BaseException:
            os.close(self._texts)
            os.close(self._verdicts)
            raise
        finally:
            os.close(texts)
            os.close(verdicts)
        try:
            ready = os.read(self._verdicts, 1)
        except BaseException:
            self.end()
            raise
        if ready != _READY:
            self.close()
            raise ChildProcessError("a process that parses cannot be started")

    def passes(self, grammar: tuple[str, str], source: bytes, seconds: float) -> bool | None:
        """Whether the parse ended there; None if the process ended, by its limits or otherwise."""
        module, function = grammar[0].encode(), grammar[1].encode()
        head = _HEAD.pack(seconds, len(module), len(function), len(source))
        with suppress(BrokenPipeError):
            left = memoryview(b"".join((head, module, function, source)))
            while left:
                left = left[os.write(self._texts, left) :]
            verdict = os.read(self._verdicts, 1)
            if verdict:
                return verdict == b"1"
        return None

    def end(self) -> None:
        """End it, whatever it is in the middle of."""
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        self.close()

    def close(self) -> None:
        """Let go of it."""
        os.close(self._texts)
        os.close(self._verdicts)
        if self.owner == os.getpid():
            with suppress(ChildProcessError):
                os.waitpid(self._pid, 0)


_lock = threading.Lock()
_trial: _Trial | None = None


def passes(grammar: tuple[str, str], source: bytes, seconds: float) -> bool:
    """Whether parsing this text ends in time."""
    global _trial
    if not POSSIBLE:
        return True
    with _lock:
        if _trial is not None and _trial.owner != os.getpid():
            # We were forked: it is our parent's.
            _trial.close()
            _trial = None
        for _ in range(2):
            try:
                _trial = _trial or _Trial()
            except OSError:
                return True  # no process to be had: better the risk than no facts
            try:
                verdict = _trial.passes(grammar, source, seconds)
            except BaseException:
                # Interrupted half way: its next verdict would be about this text.
                _trial.end()
                _trial = None
                raise
            if verdict is not None:
                return verdict
            _trial.close()
            _trial = None
            # Somebody may have ended it, or a machine that stood still was counted as its time: a
            # text has a second trial, in a process that has done nothing else.
        return False
