"""One space as the server sees it: its newest known seq, who watches what, what must be sent.

The server learns of commits in three ways: one of its sessions made one, another process announced
one, or the newest seq in the store is above the known one. All three end in `advance`: seqs have no
gaps, so the commits in between can be read from the log. A commit marks as stale only the sessions
that track a document it wrote, through an index from document to sessions; the others cost nothing.

Everything is read as of one seq, never as of "now": another thread or process may be writing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from holdfast.ids import MAIN, BranchName, EntityId, Seq, SpaceId
from holdfast.store import replay
from holdfast.store.store import Store
from holdfast.sync.server.read_cache import BranchReader, DocumentKey, ReadCache

if TYPE_CHECKING:
    from holdfast.sync.server.session_registry import ServerSession

_PAGE = 256


class Space:
    """An open space: its store, its newest known seq, and who watches what."""

    def __init__(self, name: SpaceId, store: Store) -> None:
        self.name, self.store = name, store
        self.seq = store.newest_seq()
        self.used_ms = 0
        """When it was last requested, or last had a session."""
        self.pins = 0
        """How many calls other than sessions use the store now, so that it must stay open."""
        self.stale: dict[ServerSession, None] = {}
        self._views: ReadCache | None = None
        self._watchers: dict[DocumentKey, dict[ServerSession, None]] = {}
        self.on_commit: Callable[[BranchName, list[EntityId]], None] | None = None
        """Called with every commit."""

    @contextmanager
    def pinned(self) -> Iterator[Store]:
        """Use the store without a session; it is not closed meanwhile."""
        self.pins += 1
        try:
            yield self.store
        finally:
            self.pins -= 1

    # what happened

    def committed(self, seq: Seq, branch: BranchName, ids: list[EntityId]) -> None:
        """A commit landed; every commit below it is looked up unless it is known."""
        if seq <= self.seq:
            return
        if seq > self.seq + 1:
            self._read_up_to(Seq(seq - 1))
        self._take(seq, branch, ids)

    def advance(self) -> Seq:
        """Read every new commit from the log; returns the newest seq."""
        newest = self.store.newest_seq()
        if newest > self.seq:
            self._read_up_to(newest)
        return self.seq

    def _read_up_to(self, last: Seq) -> None:
        while self.seq < last:
            with self.store.reading() as engine:
                rows = engine.tables.commits(self.seq, min(_PAGE, last - self.seq))
                commits = [(row, engine.decode(row.original)) for row in rows]
            assert commits, "seqs have no gaps"
            for row, original in commits:
                self._take(row.seq, row.branch, ids_of(original))

    def _take(self, seq: Seq, branch: BranchName, ids: list[EntityId]) -> None:
        assert seq == self.seq + 1, "commits are taken in order"
        self.seq = seq
        for id in ids:
            if (branch, id) in self._watchers:
                self.mark([(branch, id)])
        if self.on_commit is not None:
            self.on_commit(branch, ids)

    def mark(self, documents: Iterable[DocumentKey]) -> None:
        """Mark stale every session that tracks one of these documents."""
        for key in documents:
            for session in self._watchers.get(key, ()):
                session.stale.setdefault(key[0], set()).add(key[1])
                self.stale[session] = None

    # who watches what

    def track(self, session: ServerSession, branch: BranchName, ids: Iterable[EntityId]) -> None:
        for id in ids:
            self._watchers.setdefault((branch, id), {})[session] = None

    def untrack(self, session: ServerSession, branch: BranchName, ids: Iterable[EntityId]) -> None:
        for id in ids:
            watchers = self._watchers.get((branch, id))
            if watchers is not None:
                watchers.pop(session, None)
                if not watchers:
                    del self._watchers[branch, id]

    def watchers(self, branch: BranchName, id: EntityId) -> list[ServerSession]:
        return list(self._watchers.get((branch, id), ()))

    @property
    def tracked(self) -> int:
        """How many documents are watched."""
        return len(self._watchers)

    # reading

    def views(self) -> ReadCache:
        """Documents as of the newest known seq; what was read is cached until the next commit."""
        if self._views is None or self._views.seq != self.seq:
            self._views = ReadCache(self.store, self.seq)
        return self._views

    def view_at(self, branch: BranchName, seq: Seq | None) -> BranchReader:
        """Documents of a branch as of `seq`, which must be in its range; None is now."""
        if seq is None:
            return self.views()(branch)
        with self.store.reading() as engine:
            known_branch = replay.required_branch(engine.tables, branch)
        replay.check_range(known_branch, seq)
        return BranchReader(self.store, known_branch, seq)


def ids_of(original: Any) -> list[EntityId]:
    """The documents that a stored commit wrote."""
    return [EntityId(operation["id"]) for operation in original.get("operations", ())]


def keys_of(commit: Any) -> list[DocumentKey]:
    """Every document that a refused commit wrote or read, on the branch where it did."""
    branch = commit.get("branch", MAIN)
    keys = [(branch, operation["id"]) for operation in commit.get("operations", ())]
    reads = commit.get("reads") or {}
    for read in reads.get("confirmed", ()):
        read_branch = read.get("branch")
        keys.append((branch if read_branch is None else read_branch, read["id"]))
    keys += [(branch, read["id"]) for read in reads.get("pending", ())]
    return [(BranchName(branch), EntityId(id)) for branch, id in keys]
