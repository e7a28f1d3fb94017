"""A pool of worker processes that answer orders, each over its own pipes.

Orders and answers are opaque bytes. An answer waits in its pipe until it is read, and the next
order is already in the other pipe, so no worker waits for the pool or for another worker. Answers
are yielded in the order of the orders.

When a worker dies, the order it was working on is answered with `Died`, and a new worker takes the
rest. A worker reports when it is ready; if it dies before that, its orders are not to blame. If no
worker becomes ready, orders are answered with `Unstarted`.

A worker is replaced after many orders, because its memory grows: what was freed stays scattered
between what is in use.

A worker that is frozen (stopped, for example) is killed, and its orders go to others: the orders
need not be the cause. Only an order at which two workers froze is answered with `Died`.
"""

from __future__ import annotations

import os
import pickle
import struct
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import TypeVar

from holdfast.index import processes
from holdfast.index.frozen_process import LOOK_S, Frozen, Watch

T = TypeVar("T")

Work = Callable[[Connection, Connection], None]
"""The function that a worker runs, with its pipes. It calls `ready` before it takes an order."""

AHEAD = 2
"""How many orders a worker is sent at once: one to work on and the next one."""
WINDOW = 4
"""Orders per worker that may be in progress or waiting for an earlier answer."""
PIPE_BYTES = 1 << 20
ORDERS_MAX = 400
"""After this many answers a worker is replaced; the second one some orders later, and so on."""
STARTS_MAX = 2
"""After this many failed attempts in a row, no more workers are started."""
_SHORT, _LONG, _SHORT_MAX = struct.Struct("!i"), struct.Struct("!Q"), 0x7FFFFFFF
"""How a `Connection` writes the length of a message."""
_READY = b"ready"


@dataclass(frozen=True, slots=True)
class Died:
    """In place of an answer: the worker died while working on this order."""


@dataclass(frozen=True, slots=True)
class Unstarted:
    """In place of an answer: no worker could be started, so the order was not processed."""


Answer = bytes | Died | Unstarted


def ready(results: Connection) -> None:
    """Report that this worker is ready; from now on a failure is caused by an order."""
    results.send_bytes(_READY)


@dataclass(eq=False, slots=True)
class _Worker:
    process: processes.Child
    orders: Connection
    results: Connection
    room_bytes: int
    """How many bytes fit in the pipe of orders before a write blocks."""
    watch: Watch
    ready: bool = False
    frozen: bool = False
    orders_left: int = ORDERS_MAX
    sent: deque[tuple[int, bytes]] = field(default_factory=deque)

    def takes(self, order: bytes) -> bool:
        """Whether the worker can be sent an order now without blocking."""
        if self.orders_left <= 0:
            return False
        if not self.sent:
            return True
        return len(self.sent) < AHEAD and len(order) < self.room_bytes

    def send(self, *parts: bytes) -> None:
        """Send one message, as `Connection.recv_bytes` reads it."""
        size = sum(map(len, parts))
        head = _SHORT.pack(size) if size <= _SHORT_MAX else _SHORT.pack(-1) + _LONG.pack(size)
        self.watch.write(self.orders.fileno(), head, *parts)

    def receive(self) -> bytes:
        """One message, as `Connection.send_bytes` wrote it."""
        (size,) = _SHORT.unpack(self._read(_SHORT.size))
        if size == -1:
            (size,) = _LONG.unpack(self._read(_LONG.size))
        return self._read(size)

    def _read(self, size_bytes: int) -> bytes:
        data = self.watch.read(self.results.fileno(), size_bytes)
        if len(data) < size_bytes:
            raise EOFError
        return data


class WorkerPool:
    """Worker processes, started when they are needed."""

    def __init__(
        self,
        work: Work,
        count: int,
        preface: Callable[[], bytes] = bytes,
        died: Callable[[bytes], None] = lambda order: None,
        look_s: float = LOOK_S,
        orders_max: int = ORDERS_MAX,
    ) -> None:
        """`preface` is prepended to an order when it is sent, which is later than its creation.

        `died` is called with an order that killed its worker, before another order is sent. After
        `look_s` seconds without an answer the workers are checked: one may be frozen. After about
        `orders_max` orders a worker is replaced.
        """
        self._work, self._count, self._preface, self._died = work, count, preface, died
        self._look_s, self._orders_max, self._starts = look_s, orders_max, 0
        self._froze: set[int] = set()
        self._packed: bytes | None = None
        self._workers: list[_Worker] = []
        self._failed = 0

    def answers(self, orders: Iterable[tuple[T, bytes]]) -> Iterator[tuple[T, Answer]]:
        """The answer to each order, in order, together with the order's tag."""
        coming = enumerate(orders)
        waiting: deque[tuple[int, bytes]] = deque()
        whose: dict[int, T] = {}
        answered: dict[int, Answer] = {}
        self._froze.clear()
        at = 0
        while True:
            while len(whose) < self._count * WINDOW:
                if (following := next(coming, None)) is None:
                    break
                number, (tag, order) = following
                whose[number] = tag
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
        """The same with a separate worker that is sent one order at a time."""
        worker: _Worker | None = None
        try:
            for tag, order in orders:
                while worker is None and self._failed < STARTS_MAX:
                    worker = self._readied()
                if worker is None:
                    yield tag, Unstarted()
                    continue
                answer: Answer = Died()
                try:
                    worker.send(self._preface(), order)
                    answer = worker.receive()
                except (EOFError, OSError):
                    _ended(worker)
                    worker = None
                yield tag, answer
        finally:
            if worker is not None:
                _ended(worker)

    def end(self) -> None:
        """Kill every worker; what they are working on is lost."""
        for worker in self._workers:
            worker.process.kill()  # Kill all before waiting for one: freeing memory takes time.
        for worker in self._workers:
            _ended(worker)
        self._workers.clear()

    def _give(self, waiting: deque[tuple[int, bytes]]) -> None:
        while waiting:
            number, order = waiting[0]
            able = [worker for worker in self._workers if worker.orders_left > 0]
            worker = min(able, key=lambda w: len(w.sent), default=None)
            while (worker is None or worker.sent) and self._wants_another():
                another = self._started()
                if another is not None:
                    self._workers.append(another)
                    worker = another
            if worker is None or not worker.takes(order):
                return
            waiting.popleft()
            worker.sent.append((number, order))
            worker.orders_left -= 1
            try:
                worker.send(self._preface(), order)
            except Frozen:
                worker.frozen = True
                worker.process.kill()
                return
            except OSError:
                return  # It is dead; reading its results will show that.

    def _wants_another(self) -> bool:
        return len(self._workers) < self._count and self._failed < STARTS_MAX

    def _received(
        self, waiting: deque[tuple[int, bytes]], block: bool
    ) -> Iterator[tuple[int, Answer]]:
        by_pipe = {worker.results: worker for worker in self._workers if worker.sent}
        if not by_pipe:
            return
        arrived = wait(list(by_pipe), self._look_s if block else 0)
        if block and not arrived:
            for worker in by_pipe.values():
                if worker.watch.is_frozen():
                    worker.frozen = True
                    worker.process.kill()  # reading its results will show that
        for pipe in arrived:
            worker = by_pipe[pipe]  # type: ignore[index]
            try:
                answer = worker.receive()
            except (EOFError, OSError) as error:
                worker.frozen = worker.frozen or isinstance(error, Frozen)
                yield from self._lost(worker, waiting)
                continue
            if worker.ready:
                yield worker.sent.popleft()[0], answer
            else:
                worker.ready, self._failed = True, 0
            if not worker.sent and worker.orders_left <= 0:
                self._workers.remove(worker)
                _ended(worker)

    def _lost(
        self, worker: _Worker, waiting: deque[tuple[int, bytes]]
    ) -> Iterator[tuple[int, Answer]]:
        """The answers caused by the end of a worker; its other orders are queued again."""
        self._workers.remove(worker)
        _ended(worker)
        number, order = worker.sent[0]
        if not worker.ready:
            self._failed += 1
        elif worker.frozen and number not in self._froze:
            self._froze.add(number)
        else:
            worker.sent.popleft()
            self._died(order)
            yield number, Died()
        waiting.extendleft(reversed(worker.sent))

    def _readied(self) -> _Worker | None:
        """A worker that is ready; None if it died before."""
        worker = self._started()
        if worker is None:
            return None
        try:
            worker.receive()
        except (EOFError, OSError):
            _ended(worker)
            self._failed += 1
            return None
        self._failed = 0
        return worker

    def _started(self) -> _Worker | None:
        """A new worker; None if no process could be started."""
        try:
            with ExitStack() as ours, ExitStack() as theirs:
                worker = self._start(ours, theirs)
                ours.pop_all()
                return worker
        except (OSError, MemoryError):
            self._failed += 1
            return None

    def _start(self, ours: ExitStack, theirs: ExitStack) -> _Worker:
        # Only the worker keeps its ends, so that its death closes the pipes.
        orders_in, orders = _pipe(theirs, ours)
        results, answers = _pipe(ours, theirs)
        room_bytes = _widened(orders)
        _widened(answers)
        forked = processes.may_fork()
        packed = b"" if forked else self._pack()
        work = self._serve if forked else serve
        process = processes.start(work, orders_in.fileno(), answers.fileno())
        watch = Watch(process.pid, self._look_s)
        worker = _Worker(process, orders, results, room_bytes, watch)
        # Not all at once: while a new worker starts, the others go on.
        share = 1 + self._starts % self._count / self._count
        self._starts += 1
        worker.orders_left = max(1, int(self._orders_max * share))
        os.set_blocking(orders.fileno(), False)
        theirs.close()
        if not forked:
            with suppress(OSError):  # It is dead; reading its results will show that.
                worker.send(packed)
        return worker

    def _pack(self) -> bytes:
        if self._packed is None:
            try:
                self._packed = pickle.dumps(self._work)
            except Exception as error:
                raise OSError(f"the work of a worker cannot be pickled: {error}") from error
        return self._packed

    def _serve(self) -> None:
        _begin(self._work, _orders())


def serve() -> None:
    """The entry point of a spawned worker: it receives its work before its orders."""
    orders = _orders()
    work: Work = pickle.loads(orders.recv_bytes())  # noqa: S301 our own parent's
    _begin(work, orders)


def _orders() -> Connection:
    return Connection(0, writable=False)


def _begin(work: Work, orders: Connection) -> None:
    with suppress(EOFError, BrokenPipeError):
        work(orders, Connection(1, readable=False))


def _pipe(reads: ExitStack, writes: ExitStack) -> tuple[Connection, Connection]:
    reader, writer = os.pipe()
    return (
        reads.enter_context(Connection(reader, writable=False)),
        writes.enter_context(Connection(writer, readable=False)),
    )


def _ended(worker: _Worker) -> None:
    # A worker has no state of its own, so it is killed at once.
    worker.orders.close()
    worker.results.close()
    worker.process.end()


def _widened(pipe: Connection) -> int:
    """Enlarge a pipe's buffer; returns how many bytes fit, 0 when that is unknown."""
    import fcntl

    try:
        return int(fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, PIPE_BYTES)) // 2
    except (AttributeError, OSError):
        return 0
