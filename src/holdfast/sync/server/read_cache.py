"""Documents as of one seq: what is read, evaluated or encoded once serves every session.

A commit to a document with a hundred watchers must not cost a hundred times what it costs with one.
So what does not depend on the session is cached here for as long as its seq is the newest.
"""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.ids import BranchName, EntityId, Seq
from holdfast.store import codec, replay
from holdfast.store.graph import GraphEntity, Loaded, Memo, Rewrite
from holdfast.store.model import Branch
from holdfast.store.store import Store
from holdfast.sync.wire.messages import Upsert, effect_tail, to_wire

DocumentKey = tuple[BranchName, EntityId]

CACHED_MAX = 2_000
"""How many documents a cache holds."""

MEMO_MAX = 100_000


class BranchReader:
    """Documents of one branch as of one seq, each read once."""

    def __init__(self, store: Store, branch: Branch, seq: Seq) -> None:
        self._store, self._branch, self._seq = store, branch, seq
        self._read: dict[EntityId, Loaded | None] = {}

    def __call__(self, id: EntityId) -> Loaded | None:
        if id in self._read:
            return self._read[id]
        with self._store.reading() as engine:
            state = replay.state_at(engine.tables, engine.decode, self._branch, id, self._seq)
        loaded = None if state is None else Loaded(state.seq, state.document)
        if len(self._read) >= CACHED_MAX:
            self._read.clear()
        self._read[id] = loaded
        return loaded


@dataclass(frozen=True, slots=True)
class KnownDocument:
    """A document as the client has it once it has integrated everything up to `proven`."""

    seq: Seq
    deleted: bool
    proven: Seq


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """A document that exists as of a view's seq, and everything that its watchers need of it.

    There is one for each document and seq, so it is compared by identity.
    """

    key: DocumentKey
    rewrite: Rewrite
    known: KnownDocument


class ReadCache:
    """A view per branch, all as of one seq; what is read or encoded once serves every session."""

    def __init__(self, store: Store, seq: Seq) -> None:
        self._store, self.seq = store, seq
        self._views: dict[BranchName, BranchReader] = {}
        self._texts: dict[tuple[str, str, int], str] = {}
        self._memo: Memo = {}
        self._written: dict[DocumentKey, Written | None] = {}
        self._tails: dict[tuple[Seq | Written, ...], str] = {}

    @property
    def memo(self) -> Memo:
        """The targets of places; shared by all traversals as of this seq."""
        if len(self._memo) >= MEMO_MAX:
            self._memo = {}
        return self._memo

    def text(self, upsert: Upsert, unified: bool) -> str:
        """A document as it appears in a frame."""
        key = (upsert.branch, upsert.id, upsert.seq)
        text = self._texts.get(key)
        if text is None:
            if len(self._texts) >= CACHED_MAX:
                self._texts.clear()
            text = self._texts[key] = codec.encode(to_wire(upsert), unified)
        return text

    def written(self, branch: BranchName, id: EntityId) -> Written | None:
        """A document that was written; None if it does not exist now."""
        key = (branch, id)
        if key in self._written:
            return self._written[key]
        loaded = self(branch)(id)
        written = None
        if loaded is not None and loaded.document is not None:
            entity = GraphEntity(branch=branch, id=id, seq=loaded.seq, document=loaded.document)
            rewrite = Rewrite(entity, loaded, {})
            written = Written(key, rewrite, KnownDocument(loaded.seq, False, self.seq))
        if len(self._written) >= CACHED_MAX:
            self._written.clear()
        self._written[key] = written
        return written

    def tail(self, since: Seq, changed: list[Written], unified: bool) -> str:
        """The end of an effect about these documents; the same for all sessions that need it."""
        key: tuple[Seq | Written, ...] = (since, *changed)
        tail = self._tails.get(key)
        if tail is None:
            if len(self._tails) >= CACHED_MAX:
                self._tails.clear()
            upserts = [upsert(written.rewrite.entity) for written in changed]
            texts = [self.text(upsert, unified) for upsert in upserts]
            tail = self._tails[key] = effect_tail(since, self.seq, texts, ())
        return tail

    def __call__(self, name: BranchName) -> BranchReader:
        view = self._views.get(name)
        if view is None:
            with self._store.reading() as engine:
                branch = replay.required_branch(engine.tables, name)
            # A branch whose newest commit is older has the same documents at both seqs.
            at = Seq(min(self.seq, branch.head_seq))
            view = self._views[name] = BranchReader(self._store, branch, at)
        return view


def upsert(entity: GraphEntity) -> Upsert:
    """A document as it is sent."""
    if entity["document"] is None:
        return Upsert(branch=entity["branch"], id=entity["id"], seq=entity["seq"], deleted=True)
    return Upsert(
        branch=entity["branch"], id=entity["id"], seq=entity["seq"], doc=entity["document"]
    )
