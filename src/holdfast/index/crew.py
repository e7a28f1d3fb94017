"""Some processes that answer orders, each over pipes of its own.

Orders are bytes and so are answers; what they mean is none of our business. An answer waits in its
pipe until we have time for it, and the next order is already in the other pipe, so that no worker
waits for us or for another worker. Answers are handed on in the order of the orders.

A worker that dies takes the order with it that it was working at; that order is answered with
`Died`, and a new worker takes up the rest.
"""

from __future__ import annotations

import multiprocessing
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

T = TypeVar("T")

Hire = tuple[Callable[..., None], tuple[Any, ...]]
"""What a worker runs, and with what."""

AHEAD = 2
"""How many orders a worker is given at once: one to work at and one to go on with."""
WINDOW = 4
"""For each worker, how many orders may be out or wait for an earlier one's answer."""
PIPE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Died:
    """In place of an answer: the worker ended while it worked at this order."""


@dataclass(eq=False, slots=True)
class _Worker:
    process: BaseProcess
    orders: Connection
    results: Connection
    room_bytes: int
    """What the pipe of orders takes without anybody reading."""
    given: deque[tuple[int, bytes]] = field(default_factory=deque)

    def takes(self, order: bytes) -> bool:
        """Whether it can be given an order now without waiting for what it does."""
        if not self.given:
            return True
        return len(self.given) < AHEAD and len(order) < self.room_bytes


class Crew:
    """Workers that are started when they are needed."""

    def __init__(
        self, work: Callable[[Connection, Connection, bool], Hire], processes: int
    ) -> None:
        """`work` says what a worker runs, given its ends of the pipes and whether it is forked."""
        self._work, self._processes = work, processes
        self._workers: list[_Worker] = []

    def answers(self, orders: Iterable[tuple[T, bytes]]) -> Iterator[tuple[T, bytes | Died]]:
        """The answer to each order, in their order, with whatever came with the order."""
        coming = enumerate(orders)
        waiting: deque[tuple[int, bytes]] = deque()
        whose: dict[int, T] = {}
        answered: dict[int, bytes | Died] = {}
        at = 0
        while True:
            while len(whose) < self._processes * WINDOW:
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
            if at in answered:
                yield whose.pop(at), answered.pop(at)
                at += 1

    def alone(self, orders: Iterable[tuple[T, bytes]]) -> Iterator[tuple[T, bytes | Died]]:
        """The same by one worker of its own, which has one order at a time."""
        worker = self._started()
        try:
            for thing, order in orders:
                try:
                    worker.orders.send_bytes(order)
                    yield thing, worker.results.recv_bytes()
                except (EOFError, OSError):
                    _ended(worker)
                    worker = self._started()
                    yield thing, Died()
        finally:
            _ended(worker)

    def end(self) -> None:
        """End every worker; whatever one works at is lost."""
        for worker in self._workers:
            worker.process.kill()  # All before one is waited for: giving back memory takes time.
        for worker in self._workers:
            _ended(worker)
        self._workers.clear()

    def _give(self, waiting: deque[tuple[int, bytes]]) -> None:
        while waiting:
            number, order = waiting[0]
            worker = min(self._workers, key=lambda w: len(w.given), default=None)
            if (worker is None or worker.given) and len(self._workers) < self._processes:
                worker = self._started()
                self._workers.append(worker)
            if worker is None or not worker.takes(order):
                return
            waiting.popleft()
            worker.given.append((number, order))
            try:
                worker.orders.send_bytes(order)
            except OSError:
                return  # It is dead, and its other pipe will say so.

    def _received(
        self, waiting: deque[tuple[int, bytes]], block: bool
    ) -> Iterator[tuple[int, bytes | Died]]:
        by_pipe = {worker.results: worker for worker in self._workers if worker.given}
        for pipe in wait(list(by_pipe), None if block else 0):
            worker = by_pipe[pipe]  # type: ignore[index]
            try:
                answer: bytes | Died = worker.results.recv_bytes()
            except (EOFError, OSError):
                answer = Died()
            yield worker.given.popleft()[0], answer
            if isinstance(answer, Died):
                waiting.extendleft(reversed(worker.given))
                self._workers.remove(worker)
                _ended(worker)

    def _started(self) -> _Worker:
        # Forking is fastest, and unsafe once other threads may hold locks.
        forks = threading.active_count() == 1 and "fork" in multiprocessing.get_all_start_methods()
        context = multiprocessing.get_context("fork" if forks else "spawn")
        theirs, orders = context.Pipe(duplex=False)
        results, answers = context.Pipe(duplex=False)
        room_bytes = _widened(orders)
        _widened(answers)
        run, given = self._work(theirs, answers, forks)
        process: BaseProcess = context.Process(target=run, args=given, daemon=True)  # type: ignore[attr-defined]
        process.start()
        # Only the worker holds its ends, or nobody would see that it died.
        theirs.close()
        answers.close()
        return _Worker(process, orders, results, room_bytes)


def _ended(worker: _Worker) -> None:
    # It keeps nothing, so there is nothing to wait for.
    worker.process.kill()
    worker.process.join()
    worker.orders.close()
    worker.results.close()


def _widened(pipe: Connection) -> int:
    """Let a pipe hold more; how much it holds, 0 when that cannot be told."""
    import fcntl

    try:
        return int(fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, PIPE_BYTES)) // 2
    except (AttributeError, OSError):
        return 0
