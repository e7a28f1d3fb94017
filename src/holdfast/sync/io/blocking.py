"""A space over the network, for programs without an event loop.

The loop runs in its own thread. Every call that touches the client happens under the link's
lock, so a program may use a space from any of its threads; a transaction belongs to the one that
made it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, TypeVar

from holdfast.ids import MAIN
from holdfast.store.model import Document
from holdfast.sync.client.commits import Landed
from holdfast.sync.client.outcome import Outcome
from holdfast.sync.client.replica import Notification
from holdfast.sync.client.streams import Stream
from holdfast.sync.client.transaction import Transaction
from holdfast.sync.client.watch_view import Snapshot, WatchView
from holdfast.sync.io.aio import UPDATE_TIMEOUT_S, AsyncSpace, Attempts
from holdfast.sync.io.link import Link
from holdfast.sync.io.transactions import BlockingTransaction
from holdfast.sync.wire.messages import Sync, WatchSpec

Result = TypeVar("Result")


class LoopThread:
    """An event loop in its own thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="holdfast-sync", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
        finally:
            self.loop.close()

    def run(self, work: Coroutine[Any, Any, Result], timeout_s: float | None = None) -> Result:
        """Run a coroutine in the loop and wait for its result."""
        assert threading.current_thread() is not self._thread, "the loop cannot wait for itself"
        running = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return running.result(timeout_s)
        except FutureTimeout:
            if running.done():
                raise  # the coroutine's own timeout, which says more
            running.cancel()
            raise TimeoutError from None

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()


class BlockingSpace:
    """One space, live. Reads are local and instant; commits are shown at once."""

    def __init__(self, thread: LoopThread, link: Link, inner: AsyncSpace) -> None:
        self._thread, self._link, self._inner = thread, link, inner
        self._closed = False

    def _wait(self, outcome: Outcome[Result], timeout_s: float | None = None) -> Result:
        return self._thread.run(self._link.settled(outcome), timeout_s)

    # reading

    @property
    def view(self) -> WatchView:
        """Everything that is watched, in order."""
        return self._inner.view

    def read(self, id: str, branch: str = MAIN) -> Document | None:
        """A document as it looks now, own commits included. Do not change it: write instead."""
        with self._link.lock:
            return self._inner.read(id, branch)

    def sync(
        self,
        id: str,
        path: Sequence[str] = (),
        schema: Any = False,
        branch: str = MAIN,
        timeout_s: float | None = None,
    ) -> Document | None:
        """Keep a document, and what it links to, up to date from now on; returns the document."""
        with self._link.lock:
            request = self._inner.session.sync(id, path, schema, branch)
        self._wait(request, timeout_s)
        return self.read(id, branch)

    def watch(self, *watches: WatchSpec, timeout_s: float | None = None) -> Sync:
        """Watch more graphs."""
        with self._link.lock:
            request = self._inner.session.watch_add(watches)
        return self._wait(request, timeout_s)

    def watch_only(self, *watches: WatchSpec, timeout_s: float | None = None) -> Sync:
        """Watch these graphs and nothing else."""
        with self._link.lock:
            request = self._inner.session.watch_set(watches)
        return self._wait(request, timeout_s)

    def query(self, query: Mapping[str, Any], timeout_s: float | None = None) -> Any:
        """Read a graph once, from the server."""
        with self._link.lock:
            request = self._inner.session.query(query)
        return self._wait(request, timeout_s)

    def synced(self, timeout_s: float | None = None) -> None:
        """Wait until everything requested so far is answered."""
        with self._link.lock:
            request = self._inner.session.synced()
        self._wait(request, timeout_s)

    # listening

    def snapshots(self) -> Stream[Snapshot]:
        """The watched documents, after each change; the newest if several are unread."""
        with self._link.lock:
            return self._inner.snapshots()

    def syncs(self) -> Stream[Sync]:
        """Changes to the watched documents, as they come."""
        with self._link.lock:
            return self._inner.syncs()

    def notifications(self) -> Stream[Notification]:
        """Everything that changes how documents look here: commits, reverts, remote changes."""
        with self._link.lock:
            return self._inner.notifications()

    # writing

    def transaction(
        self, branch: str = MAIN, timeout_s: float | None = None
    ) -> BlockingTransaction:
        """Read and write against one snapshot.

        As a `with` block it commits on a clean exit and waits for the verdict, at most `timeout_s`;
        an exception rolls it back. Without a block, end it with its `commit` or `abort`.
        """
        inner = Transaction(self._inner.session, branch)
        return BlockingTransaction(self._link, inner, self._wait, timeout_s)

    def commit(
        self, transaction: BlockingTransaction, timeout_s: float | None = None
    ) -> Landed | None:
        """The same as `transaction.commit(timeout_s)`."""
        return transaction.commit(timeout_s)

    def update(
        self,
        change: Callable[[BlockingTransaction], Any],
        branch: str = MAIN,
        timeout_s: float = UPDATE_TIMEOUT_S,
    ) -> Landed | None:
        """Run a change in a transaction, and run it again on the new state when it lost a race.

        It is tried again, after a wait that grows, until `timeout_s` is over; then the last
        refusal is raised. Each verdict is awaited for at most that long. Documents that it used
        without a watch are watched from the first conflict on.
        """
        attempts = Attempts(timeout_s, self._link.now_s, self._link.client.chance)
        while True:
            with self.transaction(branch) as transaction:
                change(transaction)
                try:
                    return transaction.commit(timeout_s)
                except Exception as error:
                    wait_s = attempts.wait_s(error)
            for id, where in transaction.inner.unwatched:
                self.sync(id, branch=where, timeout_s=timeout_s)
            self._thread.run(asyncio.sleep(wait_s))

    def put(
        self, id: str, document: Document, branch: str = MAIN, timeout_s: float | None = None
    ) -> Landed:
        """Write a whole document, whatever was there."""
        operation = {"op": "set", "id": id, "value": document}
        with self._link.lock:
            request = self._inner.session.commit([operation], (), branch)
        return self._wait(request, timeout_s)

    # branches and history

    def create_branch(self, name: str, parent: str = MAIN, fork_seq: int | None = None) -> Any:
        return self._thread.run(self._inner.create_branch(name, parent, fork_seq))

    def delete_branch(self, name: str) -> Any:
        return self._thread.run(self._inner.delete_branch(name))

    def branches(self, include_deleted: bool = False) -> Any:
        return self._thread.run(self._inner.branches(include_deleted))

    def diff(self, branch: str, against: str | None = None) -> Any:
        return self._thread.run(self._inner.diff(branch, against))

    def propose_merge(
        self, source: str, target: str = MAIN, resolutions: Mapping[str, Any] | None = None
    ) -> Any:
        return self._thread.run(self._inner.propose_merge(source, target, resolutions))

    def merge(
        self, source: str, target: str = MAIN, resolutions: Mapping[str, Any] | None = None
    ) -> Landed | None:
        """Merge one branch into another; None if there is nothing to merge."""
        return self._thread.run(self._inner.merge(source, target, resolutions))

    def history(self, from_seq: int = 0, **where: Any) -> Iterator[Any]:
        """The changes after `from_seq`, oldest first, fetched a page at a time."""
        more = True
        while more:
            with self._link.lock:
                request = self._inner.session.history(from_seq, **where)
            page = self._wait(request)
            yield from page["changes"]
            more, from_seq = page["more"], page["atSeq"]

    # the end

    @property
    def pending(self) -> int:
        """How many commits have no verdict yet."""
        with self._link.lock:
            return self._inner.pending

    def close(self, timeout_s: float = 5.0) -> None:
        """Close. Commits that were sent may still be answered within `timeout_s`."""
        if self._closed:
            return
        self._closed = True
        self._thread.run(self._inner.close(timeout_s))
        self._thread.stop()

    def __enter__(self) -> BlockingSpace:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
