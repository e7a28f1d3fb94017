"""Commits that wait together land together.

Making a commit durable means waiting for the disk, and the disk does not care how many commits
it is told about at once. So while one batch is on its way, others queue, and the next trip takes
them all. Each caller is answered only after its batch is durable. A caller who finds nobody ahead
writes at once, in its own thread.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from holdfast.store.errors import StoreClosed

Item = TypeVar("Item")
Answer = TypeVar("Answer")
Made = TypeVar("Made")

BATCH_MAX = 512


class _Ticket(Generic[Item, Answer]):
    """One waiting item, and whom to tell."""

    __slots__ = ("item", "tell")

    def __init__(
        self, item: Item, tell: Callable[[Answer | None, BaseException | None], None]
    ) -> None:
        self.item, self.tell = item, tell


def _tell(
    ticket: _Ticket[Item, Answer], answer: Answer | None, failure: BaseException | None
) -> None:
    """Tell one caller; its mistakes must not keep the others waiting."""
    try:
        ticket.tell(answer, failure)
    except Exception:
        import logging

        logging.getLogger(__name__).exception("a listener failed when told how its commit ended")


class GroupCommit(Generic[Item, Answer]):
    """Runs `write` over batches of items, one batch at a time."""

    def __init__(self, write: Callable[[Sequence[Item]], list[Answer]]) -> None:
        self._write = write
        self._writing = threading.Lock()
        self._waiting: deque[_Ticket[Item, Answer]] = deque()
        self._wake = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    def do(self, item: Item) -> Answer:
        """Write one item and wait until it is durable."""
        if not self._waiting and self._writing.acquire(blocking=False):
            try:
                if self._closed:
                    raise StoreClosed
                return self._write([item])[0]
            finally:
                self._writing.release()
        done = threading.Lock()
        done.acquire()
        told: list[tuple[Answer | None, BaseException | None]] = []

        def tell(answer: Answer | None, failure: BaseException | None) -> None:
            told.append((answer, failure))
            done.release()

        self.submit(item, tell)
        done.acquire()
        answer, failure = told[0]
        if failure is not None:
            raise failure
        assert answer is not None
        return answer

    def submit(
        self, item: Item, tell: Callable[[Answer | None, BaseException | None], None]
    ) -> None:
        """Queue one item; `tell` is called from the writing thread once its batch is durable."""
        with self._wake:
            if self._closed:
                raise StoreClosed
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="holdfast-commit", daemon=True)
                # It may not start. Then nothing is queued for it, and the next caller tries again.
                thread.start()
                self._thread = thread
            self._waiting.append(_Ticket(item, tell))
            self._wake.notify()

    def exclusively(self, act: Callable[[], Made]) -> Made:
        """Run something that writes on its own, between batches."""
        with self._writing:
            if self._closed:
                raise StoreClosed
            return act()

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._waiting:
                    if self._closed:
                        return
                    self._wake.wait()
            with self._writing:
                batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), BATCH_MAX))]
                try:
                    answers = self._write([ticket.item for ticket in batch])
                except BaseException as failure:
                    for ticket in batch:
                        _tell(ticket, None, failure)
                    continue
            for ticket, answer in zip(batch, answers, strict=True):
                _tell(ticket, answer, None)

    def close(self) -> None:
        """Finish what was queued, then refuse everything else."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        with self._writing:
            pass
