"""Trial parses: a text is parsed in a disposable process first.

A system timer kills that process when the parse takes too long, and a text that killed it is not
parsed anywhere else. The process is started by the first trial and reused. The cost is a second
parse of texts that are parsed outside workers, which are few: larger trees are prepared by workers,
which are disposable themselves.

The limits need POSIX; on other systems texts are parsed without a trial.
"""

from __future__ import annotations

import math
import os
import signal
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from holdfast import system
from holdfast.index import processes
from holdfast.index.frozen_process import LOOK_S, Frozen, Watch

_HEAD = struct.Struct("<dIIII")
_MEMORY_BYTES, _MEMORY_PER_BYTE = 1 << 29, 300
_POSSIBLE = hasattr(signal, "setitimer") and hasattr(os, "posix_spawn") and bool(sys.executable)

_READY = b"r"
"""Sent once when the process is ready. If it dies before that, no text is the cause."""

_disposable = False


def is_possible() -> bool:
    """Whether this system allows limiting and replacing a process."""
    return _POSSIBLE


def is_disposable() -> bool:
    """Whether this process may be killed by a parse."""
    return _disposable


def mark_disposable() -> None:
    """Declare that this process may be killed: its parent handles its death."""
    global _disposable
    if not _POSSIBLE:
        return
    _disposable = True
    import resource

    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


@contextmanager
def cpu_and_memory_limits(seconds: float, size_bytes: int) -> Iterator[None]:
    """Kill this process if the block exceeds the processor time or the memory for that size."""
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


def allow(seconds: float, process_s: Callable[[], float] = system.process_s) -> None:
    """Kill this process if it uses more processor time than this from now on."""
    if not _disposable:
        return
    import resource

    most = math.ceil(process_s() + seconds)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (most, hard))


def _taken_bytes() -> int:
    try:
        with open("/proc/self/statm", "rb", buffering=0) as file:
            return int(file.read().split()[5]) * os.sysconf("SC_PAGESIZE")
    except (OSError, ValueError, IndexError):
        return 1 << 32


def serve() -> None:
    """The main loop of the trial process: parse each text and report that the parse ended."""
    from holdfast.index.facts.parse import TooHardError, captures, limited, parser_of

    mark_disposable()
    os.write(1, _READY)
    with open(0, "rb") as file:
        while head := file.read(_HEAD.size):
            seconds, *sizes, size = _HEAD.unpack(head)
            module, function, query = (file.read(each).decode() for each in sizes)
            source, grammar = file.read(size), (module, function)
            try:
                with cpu_and_memory_limits(seconds, size):
                    tree = limited(parser_of(grammar), source)
                if query:
                    with cpu_and_memory_limits(seconds, size):
                        captures(grammar, query, tree)
                verdict = b"1"
            except TooHardError:
                verdict = b"0"
            os.write(1, verdict)


class _Trial:
    """A connection to the trial process. One text at a time."""

    def __init__(self, look_s: float = LOOK_S) -> None:
        self.owner = os.getpid()
        texts, self._texts = os.pipe()
        self._verdicts, verdicts = os.pipe()
        os.set_blocking(self._texts, False)
        try:
            self._process = processes.start(serve, texts, verdicts)
        except BaseException:
            os.close(self._texts)
            os.close(self._verdicts)
            raise
        finally:
            os.close(texts)
            os.close(verdicts)
        self._watch = Watch(self._process.pid, look_s)
        try:
            ready = self._watch.read(self._verdicts, 1)
        except BaseException:
            self.end()
            raise
        if ready != _READY:
            self.close()
            raise ChildProcessError("the trial process could not be started")

    def passes(
        self, grammar: tuple[str, str], source: bytes, seconds: float, query: str
    ) -> bool | None:
        """Whether the parse ended in time; None if the process died, by its limits or otherwise."""
        parts = [*(name.encode() for name in (*grammar, query)), source]
        head = _HEAD.pack(seconds, *map(len, parts))
        try:
            self._watch.write(self._texts, head, *parts)
            verdict = self._watch.read(self._verdicts, 1)
        except BrokenPipeError:
            return None
        except Frozen:
            self._process.kill()
            return None
        return verdict == b"1" if verdict else None

    def end(self) -> None:
        """Kill the process."""
        self._process.kill()
        self.close()

    def close(self) -> None:
        """Close the pipes, and wait for the process if it is a child of this one."""
        os.close(self._texts)
        os.close(self._verdicts)
        if self.owner == os.getpid():
            self._process.close()
        else:
            self._process.leave()


_lock = threading.Lock()
_trial: _Trial | None = None


def passes(grammar: tuple[str, str], source: bytes, seconds: float, query: str = "") -> bool | None:
    """Whether parsing this text ends in time; None where no trial is possible.

    With a query, running it on the tree has to end in time too.
    """
    global _trial
    if not _POSSIBLE:
        return None
    with _lock:
        if _trial is not None and _trial.owner != os.getpid():
            # After a fork, the trial process belongs to the parent.
            _trial.close()
            _trial = None
        for _ in range(2):
            try:
                _trial = _trial or _Trial()
            except OSError:
                return None
            try:
                verdict = _trial.passes(grammar, source, seconds, query)
            except BaseException:
                # Interrupted: its next verdict would be for this text.
                _trial.end()
                _trial = None
                raise
            if verdict is not None:
                return verdict
            _trial.close()
            _trial = None
            # It may have been killed for another reason, or the machine was suspended, so the text
            # gets a second trial in a new process.
        return False
