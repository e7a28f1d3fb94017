"""A space over the network, for programs with an event loop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from holdfast.ids import MAIN
from holdfast.store.model import Document
from holdfast.sync.client.commits import Landed
from holdfast.sync.client.errors import (
    CommitRefused,
    ConnectionLost,
    MergeNeedsResolution,
    StorageTransactionInconsistent,
)
from holdfast.sync.client.outbox import Outbox
from holdfast.sync.client.replica import Notification
from holdfast.sync.client.space_session import SpaceSession
from holdfast.sync.client.streams import Stream
from holdfast.sync.client.transaction import Transaction
from holdfast.sync.client.watch_view import Snapshot, WatchView
from holdfast.sync.io.link import Link
from holdfast.sync.io.transactions import AsyncTransaction
from holdfast.sync.wire.messages import Sync, WatchSpec

CLOSE_TIMEOUT_S = 5.0


UPDATE_TIMEOUT_S = 30.0
"""How long `update` tries."""

RETRY_FIRST_S, RETRY_MAX_S = 0.002, 0.5


def worth_retrying(error: Exception) -> bool:
    """Whether the same transaction, run again on the new state, may succeed."""
    if isinstance(error, CommitRefused):
        return error.is_conflict
    return isinstance(error, StorageTransactionInconsistent)


class Attempts:
    """When to retry after a lost race: at once at first, then after growing random waits."""

    def __init__(
        self, timeout_s: float, now_s: Callable[[], float], chance: Callable[[], float]
    ) -> None:
        self._now_s, self._chance = now_s, chance
        self._until_s = now_s() + timeout_s
        self._failed = 0

    def wait_s(self, error: Exception) -> float:
        """How long to wait before the next attempt; raises the error if time is up."""
        longest = min(RETRY_FIRST_S * 2**self._failed, RETRY_MAX_S)
        # Most conflicts are resolved by one retry: the new state is already here.
        wait_s = longest * self._chance() if self._failed else 0.0
        self._failed = min(self._failed + 1, 30)
        if not worth_retrying(error) or self._now_s() + wait_s >= self._until_s:
            raise error
        return wait_s


class AsyncSpace:
    """One space, live. Reads are local and instant; commits are shown at once."""

    def __init__(self, link: Link, session: SpaceSession, outbox: Outbox) -> None:
        self.link, self.session, self._outbox = link, session, outbox

    async def open(self) -> None:
        """Wait until the session is open; keeps trying while the server is unreachable."""
        while True:
            try:
                await self.link.settled(self.session.opening)
                return
            except ConnectionLost:
                continue

    # reading

    @property
    def view(self) -> WatchView:
        """Everything that is watched, in order."""
        return self.session.view

    def read(self, id: str, branch: str = MAIN) -> Document | None:
        """A document as it looks now, own commits included. Do not change it: write instead."""
        return self.session.replica.visible(id, branch)

    async def sync(
        self, id: str, path: Sequence[str] = (), schema: Any = False, branch: str = MAIN
    ) -> Document | None:
        """Keep a document, and what it links to, up to date from now on; returns the document."""
        await self.link.settled(self.session.sync(id, path, schema, branch))
        return self.read(id, branch)

    async def watch(self, *watches: WatchSpec) -> Sync:
        """Watch more graphs."""
        return await self.link.settled(self.session.watch_add(watches))

    async def watch_only(self, *watches: WatchSpec) -> Sync:
        """Watch these graphs and nothing else."""
        return await self.link.settled(self.session.watch_set(watches))

    async def query(self, query: Mapping[str, Any]) -> Any:
        """Read a graph once, from the server."""
        return await self.link.settled(self.session.query(query))

    async def synced(self) -> None:
        """Wait until everything requested so far is answered."""
        await self.link.settled(self.session.synced())

    # listening

    def snapshots(self) -> Stream[Snapshot]:
        """The watched documents, after each change; the newest if several are unread."""
        stream: Stream[Snapshot] = Stream(newest_only=True)
        stream.on_close = self.view.subscribe(stream.put)
        return stream

    def syncs(self) -> Stream[Sync]:
        """Changes to the watched documents, as they come."""
        stream: Stream[Sync] = Stream()
        stream.on_close = self.view.subscribe_sync(stream.put)
        return stream

    def notifications(self) -> Stream[Notification]:
        """Everything that changes how documents look here: commits, reverts, remote changes."""
        stream: Stream[Notification] = Stream()
        stream.on_close = self.session.replica.subscribe(stream.put)
        return stream

    # writing

    def transaction(self, branch: str = MAIN) -> AsyncTransaction:
        """Read and write against one snapshot.

        As an `async with` block it commits on a clean exit and waits for the verdict; an exception
        rolls it back. Without a block, end it with its `commit` or `abort`.
        """
        return AsyncTransaction(self.link, Transaction(self.session, branch))

    async def commit(self, transaction: AsyncTransaction) -> Landed | None:
        """The same as `await transaction.commit()`."""
        return await transaction.commit()

    async def update(
        self,
        change: Callable[[AsyncTransaction], Any],
        branch: str = MAIN,
        timeout_s: float = UPDATE_TIMEOUT_S,
    ) -> Landed | None:
        """Run a change in a transaction, and run it again on the new state when it lost a race.

        It is tried again, after a wait that grows, until `timeout_s` is over; then the last
        refusal is raised. Waiting for an unreachable server is not limited by it. Documents that
        it used without a watch are watched from the first conflict on, or it would never see what
        the others wrote.
        """
        attempts = Attempts(timeout_s, self.link.now_s, self.link.client.chance)
        while True:
            async with self.transaction(branch) as transaction:
                result = change(transaction)
                if inspect.isawaitable(result):
                    await result
                try:
                    return await transaction.commit()
                except Exception as error:
                    wait_s = attempts.wait_s(error)
            for id, where in transaction.inner.unwatched:
                await self.sync(id, branch=where)
            await asyncio.sleep(wait_s)

    async def put(self, id: str, document: Document, branch: str = MAIN) -> Landed:
        """Write a whole document, whatever was there."""
        operation = {"op": "set", "id": id, "value": document}
        return await self.link.settled(self.session.commit([operation], (), branch))

    # branches and history

    async def create_branch(
        self, name: str, parent: str = MAIN, fork_seq: int | None = None
    ) -> Any:
        return await self.link.settled(self.session.create_branch(name, parent, fork_seq))

    async def delete_branch(self, name: str) -> Any:
        return await self.link.settled(self.session.delete_branch(name))

    async def branches(self, include_deleted: bool = False) -> Any:
        return await self.link.settled(self.session.branches(include_deleted))

    async def diff(self, branch: str, against: str | None = None) -> Any:
        return await self.link.settled(self.session.diff_branch(branch, against))

    async def propose_merge(
        self, source: str, target: str = MAIN, resolutions: Mapping[str, Any] | None = None
    ) -> Any:
        return await self.link.settled(self.session.propose_merge(source, target, resolutions))

    async def merge(
        self, source: str, target: str = MAIN, resolutions: Mapping[str, Any] | None = None
    ) -> Landed | None:
        """Merge one branch into another; None if there is nothing to merge.

        Raises `MergeNeedsResolution`, with both values, if both sides changed the same place.
        """
        proposal = await self.propose_merge(source, target, resolutions)
        if proposal["clashes"]:
            raise MergeNeedsResolution(source, target, proposal["clashes"])
        if not proposal["commit"]["operations"]:
            return None
        local_seq = self.session.replica.next_local_seq
        commit = {"localSeq": local_seq, **proposal["commit"]}
        return await self.link.settled(self.session.transact(commit))

    async def history(self, from_seq: int = 0, **where: Any) -> AsyncIterator[Any]:
        """The changes after `from_seq`, oldest first, fetched a page at a time."""
        more = True
        while more:
            page = await self.link.settled(self.session.history(from_seq, **where))
            for change in page["changes"]:
                yield change
            more, from_seq = page["more"], page["atSeq"]

    # the end

    @property
    def pending(self) -> int:
        """How many commits have no verdict yet."""
        return len(self.session.outstanding)

    async def close(self, timeout_s: float = CLOSE_TIMEOUT_S) -> None:
        """Close. Commits that were sent may still be answered within `timeout_s`."""
        await self.link.stop(timeout_s)
        self._outbox.close()

    async def __aenter__(self) -> AsyncSpace:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()
