"""Commits that wait together land together.

Making a commit durable means waiting for the disk, and the disk does not care how many commits
it is told about at once. So while one batch is on its way, others queue, and the next trip takes
them all. Each caller is answered only after its batch is durable. A caller who finds nobody ahead
writes at once, in its own thread; but not if the last trip took several, because then the others
are about to come back, and would have to wait for a trip that took one.
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
"""Whom to tell how an item ended: its answer, or what kept its batch from being written."""


def _tell(tell: Tell[Answer], fate: Answer | BaseException) -> None:
    """Tell one caller; its mistakes, and its being cancelled, must not keep the others waiting."""
    try:
        tell(fate)
    except BaseException:
        import logging

        logging.getLogger(__name__).exception("a listener failed when told how its commit ended")


class GroupCommit(Generic[Item, Answer]):
    """Runs `write` over batches of items, one batch at a time."""

    def __init__(self, write: Callable[[Sequence[Item]], list[Answer]]) -> None:
        self._write = write
        self._writing = threading.Lock()
        self._queue = threading.Lock()  # guards what is below
        self._waiting: deque[tuple[Item, Tell[Answer]]] = deque()
        self._thread: threading.Thread | None = None
        self._asleep = self._closed = False
        self._bell = threading.Lock()  # held; let go of to wake the thread
        self._bell.acquire()
        self._crowded = False  # whether the last trip of the thread took several

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
            # Whoever was just told writes in turn; the thread cannot wait for itself.
            return self.exclusively(lambda: self._write([item])[0])
        done = threading.Lock()
        done.acquire()
        told: list[Answer | BaseException] = []

        def tell(fate: Answer | BaseException) -> None:
            told.append(fate)
            done.release()

        self.submit(item, tell)
        done.acquire()
        (fate,) = told
        if isinstance(fate, BaseException):
            raise fate
        return fate

    def submit(self, item: Item, tell: Tell[Answer]) -> None:
        """Queue one item; `tell` is called from the writing thread once its batch is durable."""
        with self._queue:
            if self._closed:
                raise StoreClosed
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="holdfast-commit", daemon=True)
                # It may not start. Then nothing is queued for it, and the next caller tries again.
                thread.start()
                self._thread = thread
            self._waiting.append((item, tell))
            self._wake()

    def _wake(self) -> None:
        """Ring for the thread, once, if it sleeps. The queue is held.

        It marks itself as awake: who is interrupted while ringing leaves that to the next caller.
        """
        if self._asleep and self._bell.locked():
            self._bell.release()

    def exclusively(self, act: Callable[[], Made]) -> Made:
        """Run something that writes on its own, between batches."""
        with self._writing:
            if self._closed:
                raise StoreClosed
            return act()

    def _run(self) -> None:
        while self._something_waits():
            with self._writing:
                batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), BATCH_MAX))]
                self._crowded = len(batch) > 1
                fates: Sequence[Answer | BaseException]
                try:
                    fates = self._write([item for item, _ in batch])
                except BaseException as failure:
                    fates = [failure] * len(batch)
            # Not while writing: whoever is told may want to write, or to close.
            for (_, tell), fate in zip(batch, fates, strict=True):
                _tell(tell, fate)

    def _something_waits(self) -> bool:
        """Sleep until there is something to write; false when there never will be again."""
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
        """Finish what was queued, then refuse everything else."""
        with self._queue:
            self._closed = True
            self._wake()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        with self._writing:
            pass
