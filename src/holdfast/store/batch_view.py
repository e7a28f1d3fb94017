"""The tables of a space together with the commits of a batch that are not written yet.

Each commit of a batch is decided as if those accepted before it had landed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from typing import Any

from holdfast.ids import MAIN, BranchName, EntityId, Seq
from holdfast.store import admit, checks, replay
from holdfast.store.admit import RevisionWrite, StoredWrite
from holdfast.store.headcache import HeadCache, HeadDocument
from holdfast.store.model import Branch, CommitKey
from holdfast.store.pointer import Path
from holdfast.store.recent import RecentWrites
from holdfast.store.snapshots import Chain
from holdfast.store.tables import NewCommit, Tables

DocumentKey = tuple[BranchName, EntityId]

RevisionTuple = tuple[BranchName, EntityId, Seq, int, str, str | None, int]
"""A revision row: branch, id, seq, opIndex, op, data and its checksum."""


DEFAULT_BRANCH = Branch(MAIN, None, None, Seq(0), Seq(0))


class BatchView:
    """What a commit of the batch would find; `tip` is the newest commit and its hash, if known."""

    def __init__(
        self,
        tables: Tables,
        cache: HeadCache,
        decode: Callable[[str], Any],
        tip: tuple[Seq, bytes] | None = None,
        recent: RecentWrites | None = None,
    ) -> None:
        self._tables = tables
        self._cache = cache
        self._decode = decode
        self._known_newest: Seq | None = None
        self._link = checks.GENESIS_CHAIN
        if tip is not None:
            self._known_newest, self._link = tip
        self._recent = RecentWrites() if recent is None else recent
        self._scans: dict[tuple[BranchName, EntityId, Seq], list[StoredWrite] | None] = {}
        self._branches: dict[BranchName, Branch] = {}
        self._commits: dict[CommitKey, NewCommit] = {}
        self._revisions: dict[DocumentKey, list[RevisionTuple]] = {}
        self._patches: dict[tuple[Seq, int], Any] = {}
        self._documents: dict[DocumentKey, HeadDocument] = {}

    @property
    def tip(self) -> tuple[Seq, bytes] | None:
        """The newest commit and its hash, if it was needed."""
        newest = self._known_newest
        return None if newest is None else (newest, self._link)

    @property
    def _newest(self) -> Seq:
        """The newest seq of the space. Looked up late: a stale commit is refused without it."""
        if self._known_newest is None:
            self._known_newest, self._link = self._tables.newest_link()
        return self._known_newest

    def _branch(self, name: BranchName) -> Branch:
        if name == MAIN:
            # It always exists and cannot be deleted.
            return DEFAULT_BRANCH
        branch = self._branches.get(name)
        if branch is None:
            branch = self._branches[name] = replay.required_branch(self._tables, name)
        return branch

    def _seq_of(self, key: CommitKey) -> Seq | None:
        here = self._commits.get(key)
        return self._tables.seq_of(key) if here is None else here[0]

    def _newest_write(self, branch: BranchName, id: EntityId) -> RevisionWrite | None:
        """The newest write of a document on this branch, its patches left out."""
        here = self._revisions.get((branch, id))
        if here is not None:
            return self._write_of(here[-1])
        head = self._tables.head_kind(branch, id)
        return None if head is None else RevisionWrite(head[0], head[1], None)

    def _writes_since(
        self, branch: BranchName, id: EntityId, after: Seq
    ) -> list[admit.Write] | None:
        """The writes of a document above `after`, newest first; None if there are too many.

        The stored ones are looked up once for all reads of the same moment.
        """
        key = (branch, id, after)
        if key not in self._scans:
            head = self._tables.head_kind(branch, id)
            newest = Seq(0) if head is None else head[0]
            recent = self._recent
            self._scans[key] = (
                [] if newest <= after else recent.since(self._tables, (branch, id), after, newest)
            )
        stored = self._scans[key]
        if stored is None:
            return None
        here = reversed(self._revisions.get((branch, id), ()))
        return [*(self._write_of(row) for row in here if row[2] > after), *stored]

    def _write_of(self, row: RevisionTuple) -> RevisionWrite:
        _, _, seq, index, op, _, _ = row
        return RevisionWrite(seq, op, self._patches.get((seq, index)))

    def _key_at(self, seq: Seq) -> CommitKey:
        """The key of the commit at a seq."""
        for key, row in reversed(self._commits.items()):
            if row[0] == seq:
                return key
        commit_key = self._tables.key_at(seq)
        assert commit_key is not None, "every write has a commit"
        return commit_key

    def _memory(
        self, branch: BranchName, id: EntityId, seq: Seq, layers: Collection[Seq] = ()
    ) -> admit.Had:
        """Whether a reader through `layers` certainly saw a path; the document is read once."""

        @cache
        def read() -> tuple[Any, list[admit.Write]] | None:
            here = self._revisions.get((branch, id))
            if here is not None and here[0][2] <= seq:
                return None  # that state is in this batch, not yet in the tables
            state = replay.state_at(self._tables, self._decode, self._branch(branch), id, seq)
            if state is None:
                return None
            own = self._writes_since(branch, id, seq) if layers else []
            return state.document, [write for write in own or () if write.seq in layers]

        def had(path: Path) -> bool:
            what = read()
            return what is not None and admit.certainly_had(path, *what)

        return had

    def _head_document(self, branch: Branch, id: EntityId) -> HeadDocument:
        """The newest state of a document, as the base for a patch."""
        key = (branch.name, id)
        here = self._documents.get(key)
        if here is not None:
            return here
        revisions = self._revisions.get(key)
        if revisions is not None:
            _, _, seq, index, _, text, _ = revisions[-1]
            return self._written((seq, index), text)
        row = self._tables.head_revision(branch.name, id)
        if row is None:
            below = replay.inherited(self._tables, self._decode, branch, id, branch.head_seq)
            return HeadDocument((Seq(0), 0), None if below is None else below.document, Chain())
        at = (row.seq, row.op_index)
        cached = self._cache.get(key, at)
        if cached is not None:
            return cached
        if row.op == "patch":
            rebuilt = replay.rebuild(self._tables, self._decode, branch, id, at)
            return HeadDocument(at, rebuilt.document, rebuilt.chain)
        return self._written(at, row.data)

    def _written(self, at: tuple[Seq, int], text: str | None) -> HeadDocument:
        """The document after a `set` (its text) or a `delete` (None).

        Decoded from the text, because the caller may change its own message.
        """
        document = None if text is None else self._decode(text)
        return HeadDocument(at, document, Chain(base_bytes=len(text or "")))
