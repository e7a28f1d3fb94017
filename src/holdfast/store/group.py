"""Group commit: commits that wait together are written in one transaction.

Making a commit durable means waiting for the disk, and one wait can serve many commits. So while
one batch is being written, others queue, and the next batch takes them all. A caller gets its
answer only after its batch is durable. With an empty queue a caller writes at once in its own
thread, unless the last batch had several commits: then the other callers are about to return, and a
batch of one would make them wait.
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


Tell = Callable[[Answer | BaseException], None]
"""The callback of an item: its answer, or the error that kept its batch from being written."""


def _call(tell: Tell[Answer], outcome: Answer | BaseException) -> None:
    """Call one callback; its errors, and its cancellation, must not keep the others waiting."""
    try:
        tell(outcome)
    except BaseException:
        import logging

        logging.getLogger(__name__).exception("the callback of a commit failed")


class GroupCommit(Generic[Item, Answer]):
    """Runs `write` over batches of items, one batch at a time."""

    def __init__(self, write: Callable[[Sequence[Item]], list[Answer]]) -> None:
        self._write = write
        self._writing = threading.Lock()
        self._queue = threading.Lock()  # guards the attributes below
        self._waiting: deque[tuple[Item, Tell[Answer]]] = deque()
        self._thread: threading.Thread | None = None
        self._asleep = self._closed = False
        self._bell = threading.Lock()  # locked; released to wake the thread
        self._bell.acquire()
        self._crowded = False  # whether the last batch had several commits

    def do(self, item: Item) -> Answer:
        """Write one item and wait until it is durable. Raises an answer that is an error."""
        if not self._waiting and not self._crowded and self._writing.acquire(blocking=False):
            try:
                if self._closed:
                    raise StoreClosed
                return self._write([item])[0]
            finally:
                self._writing.release()
        if threading.current_thread() is self._thread:
            # A callback is writing; the thread cannot wait for itself.
            return self.exclusively(lambda: self._write([item])[0])
        done = threading.Lock()
        done.acquire()
        outcomes: list[Answer | BaseException] = []

        def tell(outcome: Answer | BaseException) -> None:
            outcomes.append(outcome)
            done.release()

        self.submit(item, tell)
        done.acquire()
        (outcome,) = outcomes
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def submit(self, item: Item, tell: Tell[Answer]) -> None:
        """Queue one item; `tell` is called from the writing thread once its batch is durable."""
        with self._queue:
            if self._closed:
                raise StoreClosed
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="holdfast-commit", daemon=True)
                # If it does not start, nothing was queued, and the next caller tries again.
                thread.start()
                self._thread = thread
            self._waiting.append((item, tell))
            self._wake()

    def _wake(self) -> None:
        """Wake the thread if it sleeps. The caller holds the queue's lock.

        The thread marks itself as awake, so a caller interrupted here leaves that to the next one.
        """
        if self._asleep and self._bell.locked():
            self._bell.release()

    def exclusively(self, act: Callable[[], Made]) -> Made:
        """Run a write that is not a commit, between batches."""
        with self._writing:
            if self._closed:
                raise StoreClosed
            return act()

    def _run(self) -> None:
        while self._something_waits():
            with self._writing:
                batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), BATCH_MAX))]
                self._crowded = len(batch) > 1
                outcomes: Sequence[Answer | BaseException]
                try:
                    outcomes = self._write([item for item, _ in batch])
                except BaseException as failure:
                    outcomes = [failure] * len(batch)
            # Outside the lock: a callback may write or close.
            for (_, tell), outcome in zip(batch, outcomes, strict=True):
                _call(tell, outcome)

    def _something_waits(self) -> bool:
        """Sleep until there is something to write; false once closed."""
        while True:
            with self._queue:
                self._asleep = False
                if self._waiting:
                    return True
                if self._closed:
                    return False
                self._asleep = True
            self._bell.acquire()

    def close(self) -> None:
        """Write what is queued, then refuse further work."""
        with self._queue:
            self._closed = True
            self._wake()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        with self._writing:
            pass
