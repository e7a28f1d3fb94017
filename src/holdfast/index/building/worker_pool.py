"""Some processes that answer orders, each over pipes of its own.

Orders are bytes and so are answers; what they mean is none of our business. An answer waits in its
pipe until we have time for it, and the next order is already in the other pipe, so that no worker
waits for us or for another worker. Answers are handed on in the order of the orders.

A worker that dies takes the order with it that it was working at; that order is answered with
`Died`, and a new worker takes up the rest. But a worker says when it can work, and one that dies
before has judged nothing. Where none comes so far, orders are answered with `Unstarted`.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import TypeVar

from holdfast.index import processes

T = TypeVar("T")

Work = Callable[[Connection, Connection], None]
"""What a worker runs, with its ends of the pipes. It says `ready` before it takes an order."""

AHEAD = 2
"""How many orders a worker is given at once: one to work at and one to go on with."""
WINDOW = 4
"""For each worker, how many orders may be out or wait for an earlier one's answer."""
PIPE_BYTES = 1 << 20
STARTS_MAX = 2
"""After so many vain attempts in a row to start a worker, no more are made."""
_READY = b"ready"
_LIFE = 3
"""The number of the pipe whose other end nobody but our parent has."""


@dataclass(frozen=True, slots=True)
class Died:
    """In place of an answer: the worker ended while it worked at this order."""


@dataclass(frozen=True, slots=True)
class Unstarted:
    """In place of an answer: there is no worker to be had, and nobody looked at this order."""


Answer = bytes | Died | Unstarted


def ready(results: Connection) -> None:
    """Say that whatever happens from now on is due to the orders."""
    results.send_bytes(_READY)


@dataclass(eq=False, slots=True)
class _Worker:
    pid: int
    orders: Connection
    results: Connection
    life: Connection
    room_bytes: int
    """What the pipe of orders takes without anybody reading."""
    ready: bool = False
    given: deque[tuple[int, bytes]] = field(default_factory=deque)

    def takes(self, order: bytes) -> bool:
        """Whether it can be given an order now without waiting for what it does."""
        if not self.given:
            return True
        return len(self.given) < AHEAD and len(order) < self.room_bytes


class Crew:
    """Workers that are started when they are needed."""

    def __init__(self, work: Work, count: int) -> None:
        self._work, self._count = work, count
        self._packed: bytes | None = None
        self._workers: list[_Worker] = []
        self._failed = 0

    def answers(self, orders: Iterable[tuple[T, bytes]]) -> Iterator[tuple[T, Answer]]:
        """The answer to each order, in their order, with whatever came with the order."""
        coming = enumerate(orders)
        waiting: deque[tuple[int, bytes]] = deque()
        whose: dict[int, T] = {}
        answered: dict[int, Answer] = {}
        at = 0
        while True:
            while len(whose) < self._count * WINDOW:
                if (following := next(coming, None)) is None:
                    break
                number, (thing, order) = following
                whose[number] = thing
                waiting.append((number, order))
                self._give(waiting)
            if not whose:
                return
            answered.update(self._received(waiting, block=at not in answered))
            self._give(waiting)
            if not self._workers:
                answered.update((number, Unstarted()) for number, _ in waiting)
                waiting.clear()
            if at in answered:
                yield whose.pop(at), answered.pop(at)
                at += 1

    def alone(self, orders: Iterable[tuple[T, bytes]]) -> Iterator[tuple[T, Answer]]:
        """The same by one worker of its own, which has one order at a time."""
        worker: _Worker | None = None
        try:
            for thing, order in orders:
                while worker is None and self._failed < STARTS_MAX:
                    worker = self._readied()
                if worker is None:
                    yield thing, Unstarted()
                    continue
                try:
                    worker.orders.send_bytes(order)
                    answer: Answer = worker.results.recv_bytes()
                except (EOFError, OSError):
                    _ended(worker)
                    worker, answer = None, Died()
                yield thing, answer
        finally:
            if worker is not None:
                _ended(worker)

    def end(self) -> None:
        """End every worker; whatever one works at is lost."""
        for worker in self._workers:
            _kill(worker)  # All before one is waited for: giving back memory takes time.
        for worker in self._workers:
            _ended(worker)
        self._workers.clear()

    def _give(self, waiting: deque[tuple[int, bytes]]) -> None:
        while waiting:
            number, order = waiting[0]
            worker = min(self._workers, key=lambda w: len(w.given), default=None)
            while (worker is None or worker.given) and self._wants_another():
                another = self._started()
                if another is not None:
                    self._workers.append(another)
                    worker = another
            if worker is None or not worker.takes(order):
                return
            waiting.popleft()
            worker.given.append((number, order))
            try:
                worker.orders.send_bytes(order)
            except OSError:
                return  # It is dead, and its other pipe will say so.

    def _wants_another(self) -> bool:
        return len(self._workers) < self._count and self._failed < STARTS_MAX

    def _received(
        self, waiting: deque[tuple[int, bytes]], block: bool
    ) -> Iterator[tuple[int, Answer]]:
        by_pipe = {worker.results: worker for worker in self._workers if worker.given}
        if not by_pipe:
            return
        for pipe in wait(list(by_pipe), None if block else 0):
            worker = by_pipe[pipe]  # type: ignore[index]
            try:
                answer = worker.results.recv_bytes()
            except (EOFError, OSError):
                self._workers.remove(worker)
                _ended(worker)
                if worker.ready:
                    yield worker.given.popleft()[0], Died()
                else:
                    self._failed += 1
                waiting.extendleft(reversed(worker.given))
                continue
            if worker.ready:
                yield worker.given.popleft()[0], answer
            else:
                worker.ready, self._failed = True, 0

    def _readied(self) -> _Worker | None:
        """A worker that can work, if one comes so far."""
        worker = self._started()
        if worker is None:
            return None
        try:
            worker.results.recv_bytes()
        except (EOFError, OSError):
            _ended(worker)
            self._failed += 1
            return None
        self._failed = 0
        return worker

    def _started(self) -> _Worker | None:
        """A worker that may come to work; None if there is no process to be had."""
        try:
            with ExitStack() as ours, ExitStack() as theirs:
                worker = self._start(ours, theirs)
                ours.pop_all()
                return worker
        except (OSError, MemoryError):
            self._failed += 1
            return None

    def _start(self, ours: ExitStack, theirs: ExitStack) -> _Worker:
        # Only the worker keeps its ends, or nobody would see that it died.
        orders_in, orders = _pipe(theirs, ours)
        results, answers = _pipe(ours, theirs)
        life_in, life = _pipe(theirs, ours)
        room_bytes = _widened(orders)
        _widened(answers)
        forked = processes.may_fork()
        packed = b"" if forked else self._pack()
        pipes = [pipe.fileno() for pipe in (orders_in, answers, life_in)]
        pid = processes.start(self._serve if forked else serve, pipes)
        worker = _Worker(pid, orders, results, life, room_bytes)
        theirs.close()
        if not forked:
            with suppress(OSError):  # It is dead, and its other pipe will say so.
                orders.send_bytes(packed)
        return worker

    def _pack(self) -> bytes:
        if self._packed is None:
            try:
                self._packed = pickle.dumps(self._work)
            except Exception as error:
                raise OSError(f"a worker cannot be told its work: {error}") from error
        return self._packed

    def _serve(self) -> None:
        _begin(self._work, _orders())


def serve() -> None:
    """What a worker runs that is no copy of us: it is told its work before its orders."""
    orders = _orders()
    work: Work = pickle.loads(orders.recv_bytes())  # noqa: S301 our own parent's
    _begin(work, orders)


def _orders() -> Connection:
    return Connection(0, writable=False)


def _begin(work: Work, orders: Connection) -> None:
    _end_with_parent()
    with suppress(EOFError, BrokenPipeError):
        work(orders, Connection(1, readable=False))


def _end_with_parent() -> None:
    """Let the system end us when our parent is gone, whatever we are in the middle of.

    Nobody else has the other end of a pipe, so all that can happen to it is that it is closed. The
    signal of that is deadly unless somebody waits for it.
    """
    import fcntl
    import select

    signal.signal(signal.SIGIO, signal.SIG_DFL)
    with suppress(OSError, AttributeError):
        fcntl.fcntl(_LIFE, fcntl.F_SETOWN, os.getpid())
        flags = fcntl.fcntl(_LIFE, fcntl.F_GETFL)
        fcntl.fcntl(_LIFE, fcntl.F_SETFL, flags | os.O_ASYNC)
    if select.select([_LIFE], [], [], 0)[0]:
        os._exit(1)  # It was gone before.


def _pipe(reads: ExitStack, writes: ExitStack) -> tuple[Connection, Connection]:
    reader, writer = os.pipe()
    return (
        reads.enter_context(Connection(reader, writable=False)),
        writes.enter_context(Connection(writer, readable=False)),
    )


def _kill(worker: _Worker) -> None:
    with suppress(ProcessLookupError):
        os.kill(worker.pid, signal.SIGKILL)


def _ended(worker: _Worker) -> None:
    # It keeps nothing, so there is nothing to wait for.
    _kill(worker)
    for pipe in (worker.orders, worker.results, worker.life):
        pipe.close()
    with suppress(ChildProcessError):
        os.waitpid(worker.pid, 0)


def _widened(pipe: Connection) -> int:
    """Let a pipe hold more; how much it holds, 0 when that cannot be told."""
    import fcntl

    try:
        return int(fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, PIPE_BYTES)) // 2
    except (AttributeError, OSError):
        return 0
