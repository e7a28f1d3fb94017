"""The client's copy of a space: confirmed documents, and its own commits on top of them.

    visible = confirmed ⊕ layer ⊕ layer ⊕ …          in localSeq order, at every instant

A layer is one commit's writes to one document. It is shown the moment the commit is made and
removed when the server's verdict is known. Layers keep their operations, not their results, and are
replayed over whatever is confirmed below, so a remote change elsewhere in the document is visible.
A layer that no longer applies is not shown; the server will refuse it.

It is tempting to fold a layer into the confirmed document as soon as the commit is accepted at some
seq, and to say from then on "I saw this document at that seq". But a patch that landed at seq 9 on
a document last seen at seq 5 says nothing about seq 6 to 8. So a landed patch stays a layer, and
reads go on naming it, until the server has sent everything up to its seq. May keep a layer
longer than needed. Never claims to have seen a write it has not.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from msgspec import UNSET

from holdfast.ids import GENESIS, MAIN, BranchName, EntityId, LocalSeq, Seq
from holdfast.store.errors import PatchError
from holdfast.store.model import Commit, Document, Operation
from holdfast.store.values import same
from holdfast.sync.client import reads
from holdfast.sync.client.errors import CommitRefused
from holdfast.sync.client.layers import (
    ORIGINAL,
    SOUND,
    Key,
    Kind,
    Layer,
    Listener,
    Manner,
    Notification,
    Record,
    Refusal,
)
from holdfast.sync.client.outbox import Base
from holdfast.sync.client.reads import Basis, Read
from holdfast.sync.wire.messages import Sync

_log = logging.getLogger(__name__)

__all__ = [
    "ORIGINAL",
    "SOUND",
    "Key",
    "Kind",
    "Layer",
    "Manner",
    "Notification",
    "Record",
    "Refusal",
    "Replica",
]


@dataclass(slots=True)
class _Pending:
    keys: tuple[Key, ...]
    names: frozenset[LocalSeq]
    source: object


class Replica:
    """The documents of one space as one client sees them."""

    def __init__(
        self,
        manner: Manner = SOUND,
        next_local_seq: int = 1,
        applied: Callable[[Sync, Kind], None] | None = None,
    ) -> None:
        self.manner = manner
        self._applied = applied
        self.records: dict[Key, Record] = {}
        self.integrated = GENESIS
        """Every watched change up to here is part of the confirmed documents."""
        self._next = next_local_seq
        self._pending: dict[LocalSeq, _Pending] = {}
        self._landed: set[Key] = set()
        self._recalled: set[Key] = set()
        """Documents of commits that a former process made, and that this one has not watched."""
        self._listeners: list[Listener] = []
        self._holds = 0
        self._waiting: list[tuple[Sync, Kind]] = []

    # reading

    def visible(self, id: str, branch: str = MAIN) -> Document | None:
        """The document as this client shows it; None if it does not exist or is not known."""
        record = self.records.get((BranchName(branch), EntityId(id)))
        return None if record is None else record.visible()

    def record(self, id: str, branch: str = MAIN) -> Record | None:
        return self.records.get((BranchName(branch), EntityId(id)))

    @property
    def next_local_seq(self) -> int:
        """The localSeq of the next commit."""
        return self._next

    def take_local_seq(self) -> LocalSeq:
        """Use up a localSeq for a write that is not a commit of documents."""
        self._next += 1
        return LocalSeq(self._next - 1)

    @property
    def pending(self) -> list[LocalSeq]:
        """The commits without a verdict, oldest first."""
        return list(self._pending)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every notification; returns a function that ends this."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    # writing

    def commit(
        self,
        operations: Sequence[Mapping[str, Any]],
        looks: Iterable[Read] = (),
        branch: str = MAIN,
        source: object = None,
        extra: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Show a commit at once; returns what to send. Listeners are called before this returns."""
        wire = self.draft(operations, looks, branch, extra)
        self.restore(wire, source)
        return wire

    def draft(
        self,
        operations: Sequence[Mapping[str, Any]],
        looks: Iterable[Read] = (),
        branch: str = MAIN,
        extra: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The message that a commit would send now. Nothing is shown yet."""
        on = BranchName(branch)
        wire: dict[str, Any] = {
            "localSeq": self._next,
            "reads": self._reads(looks, on),
            "operations": [_sent(operation) for operation in operations],
        }
        if on != MAIN:
            wire["branch"] = on
        wire.update(extra or {})
        return wire

    def restore(self, wire: Mapping[str, Any], source: object = None) -> None:
        """Show a commit that was made before, with its own localSeq."""
        commit = Commit.parse(wire)
        newest = next(reversed(self._pending), 0)
        assert commit.local_seq > newest, "commits are made in localSeq order"
        written: dict[Key, list[Operation]] = {}
        for operation in commit.operations:
            written.setdefault((commit.branch, operation.id), []).append(operation)
        before = self._visible(written)
        for key, operations in written.items():
            record = self.records.setdefault(key, Record())
            record.layers.append(Layer(commit.local_seq, tuple(operations)))
        names = frozenset(layer for read in commit.pending for layer in read.layers)
        self._next = max(self._next, commit.local_seq + 1)
        self._pending[commit.local_seq] = _Pending(tuple(written), names, source)
        self._notify("commit", before, source=source)

    def bases(self, commit: Mapping[str, Any]) -> list[Base]:
        """The confirmed documents below a commit's patches, so that these can be shown later."""
        branch = BranchName(commit.get("branch", MAIN))
        patched = {op["id"]: None for op in commit["operations"] if op["op"] == "patch"}
        return [
            self.records[branch, id].base(branch, id)
            for id in patched
            if (branch, id) in self.records
        ]

    def recall(self, bases: Iterable[Base], commits: Iterable[Mapping[str, Any]]) -> None:
        """Show the commits that a former process made, on the documents it made them on."""
        for base in bases:
            key = (BranchName(base.branch), EntityId(base.id))
            record = self.records[key] = Record.based_on(base)
            if record.layers:
                self._landed.add(key)
        for commit in commits:
            self.restore(commit)
        self._recalled = set(self.records)

    def accept(self, local_seq: int, seq: int) -> None:
        """The commit landed. What is shown usually stays the same.

        A commit that was not looked at and sent again may land after commits that were made later.
        Then listeners are notified, as of any remote change.
        """
        pending = self._pending.pop(LocalSeq(local_seq), None)
        if pending is None:
            return
        before = self._visible(pending.keys)
        for key in pending.keys:
            record = self.records.get(key)
            if record is None:
                continue
            for place, layer in enumerate(record.layers):
                if layer.local_seq == local_seq:
                    record.layers[place] = replace(layer, landed=Seq(seq))
            self._settle(key, record)
        self._notify_if_changed("integrate", before)

    def reject(self, local_seq: int, error: Exception) -> list[Refusal]:
        """Revert a commit and those that depend on it. Listeners are called before this returns."""
        refused: list[Refusal] = []
        waiting = [Refusal(LocalSeq(local_seq), error)]
        while waiting:
            refusal = waiting.pop(0)
            if refusal.local_seq not in self._pending:
                continue
            refused.append(refusal)
            self._revert(refusal)
            if self.manner.cascade:
                waiting += [
                    Refusal(other, _inherited(refusal))
                    for other, pending in self._pending.items()
                    if refusal.local_seq in pending.names
                ]
        return sorted(refused, key=lambda refusal: refusal.local_seq)

    def orphan(self) -> None:
        """The session was replaced by another one: reads can no longer name its commits."""
        for key in self._landed:
            record = self.records[key]
            record.layers = [replace(x, orphaned=x.landed is not None) for x in record.layers]

    # what the server says

    def integrate(self, sync: Sync) -> None:
        """Apply changes from the server; notifies only if something looks different."""
        self._take(sync, "integrate")

    def pull(self, sync: Sync) -> None:
        """Apply the answer to a watch."""
        self._take(sync, "pull")

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Keep confirmed documents unchanged; what arrives meanwhile is applied afterwards."""
        self.begin_hold()
        try:
            yield
        finally:
            self.end_hold()

    def begin_hold(self) -> None:
        self._holds += 1

    def end_hold(self) -> None:
        assert self._holds > 0, "there is no hold to end"
        self._holds -= 1
        while self._waiting and not self._holds:
            self._apply(*self._waiting.pop(0))

    def reset(self) -> None:
        """Forget what is confirmed. Commits without a verdict stay."""
        before = self._visible(self.records)
        for key, record in list(self.records.items()):
            waiting = [layer for layer in record.layers if layer.landed is None]
            if waiting:
                self.records[key] = Record(layers=waiting)
            else:
                del self.records[key]
        self._landed.clear()
        self._recalled.clear()
        self._waiting.clear()
        self.integrated = GENESIS
        self._notify("reset", before)

    def load(self, keys: Iterable[Key]) -> None:
        """Tell listeners what is known of some documents."""
        documents = {
            key: (None, self.visible(key[1], key[0])) for key in keys if key in self.records
        }
        self._emit(Notification("load", documents))

    # inside

    def _reads(self, looks: Iterable[Read], on: BranchName) -> dict[str, list[dict[str, Any]]]:
        based = []
        for look in looks:
            if reads.is_inline(look.id):
                continue
            there = on if look.branch is None else look.branch
            record = self.records.get((there, look.id))
            basis = Basis(GENESIS) if record is None else record.basis
            if look.seq is not None and not basis.layers:
                basis = Basis(look.seq)
            if there != on:
                # A pending read has no branch; this one may be refused once the layer
                # lands, and is never wrong.
                basis = Basis(basis.seq)
                based.append((look, basis))
            else:
                based.append((replace(look, branch=None), basis))
        return reads.to_wire(based, self.manner.layered, self.manner.shapes)

    def _revert(self, refusal: Refusal) -> None:
        pending = self._pending.pop(refusal.local_seq)
        before = self._visible(pending.keys)
        for key in pending.keys:
            record = self.records.get(key)
            if record is None:
                continue
            record.layers = [x for x in record.layers if x.local_seq != refusal.local_seq]
            self._settle(key, record)
        self._notify("revert", before, refusal.error, pending.source)

    def _take(self, sync: Sync, kind: Kind) -> None:
        if self._holds or self._waiting:
            self._waiting.append((sync, kind))
        else:
            self._apply(sync, kind)

    def _apply(self, sync: Sync, kind: Kind) -> None:
        keys = [(BranchName(entry.branch), EntityId(entry.id)) for entry in sync.upserts]
        gone = [(BranchName(entry.branch), EntityId(entry.id)) for entry in sync.removes]
        if kind == "pull":
            self._recalled.difference_update(keys)
        for key in self._recalled.intersection(gone):
            # An earlier process watched it, not this one. What is known of it stays visible.
            self.records[key].watched = False
        gone = [key for key in gone if key not in self._recalled]
        before = self._visible([*keys, *gone])
        for key, entry in zip(keys, sync.upserts, strict=True):
            record = self.records.setdefault(key, Record())
            record.watched = True
            if entry.seq >= record.seq:
                record.seq = Seq(entry.seq)
                record.document = None if entry.deleted is True or entry.doc is UNSET else entry.doc
        for key in gone:
            if key in self.records:
                record = self.records[key]
                record.seq, record.document, record.watched = GENESIS, None, False
        self.integrated = Seq(max(self.integrated, sync.to_seq))
        for key in [key for key in {*keys, *self._landed} if key in self.records]:
            self._settle(key, self.records[key])
        for key in gone:
            if key in self.records and not self.records[key].layers:
                del self.records[key]
        if self._applied is not None:
            self._applied(sync, kind)
        if kind == "pull":
            if sync.upserts or sync.removes:
                self._notify(kind, before)
        else:
            self._notify_if_changed(kind, before)

    def _settle(self, key: Key, record: Record) -> None:
        """Fold landed layers into the confirmed document, as far as that is known to be right."""
        layers = [x for x in record.layers if x.landed is None or x.landed > record.seq]
        first_waiting = next(
            (place for place, layer in enumerate(layers) if layer.landed is None), len(layers)
        )
        # In the server's order, which differs from ours if a commit had to be sent again.
        landed = sorted(layers[:first_waiting], key=lambda layer: layer.landed or GENESIS)
        for place in range(len(landed) - 1, -1, -1):
            if landed[place].replaces:
                # It replaces the document, so what was below does not matter.
                self._fold(record, landed[place])
                del landed[: place + 1]
                break
        while landed and self._may_fold(record, landed[0]) and self._fold(record, landed[0]):
            del landed[0]
        record.layers = landed + layers[first_waiting:]
        if any(layer.landed is not None for layer in record.layers):
            self._landed.add(key)
        else:
            self._landed.discard(key)

    def _may_fold(self, record: Record, layer: Layer) -> bool:
        assert layer.landed is not None
        if not self.manner.covered:
            return True
        covered = max(record.seq, self.integrated) if record.watched else record.seq
        return covered >= layer.landed - 1

    def _fold(self, record: Record, layer: Layer) -> bool:
        assert layer.landed is not None
        try:
            record.document = layer.over(record.document)
        except PatchError:
            # The server applied it to a state that we have not seen yet; it will be sent.
            if self.manner.covered:
                return False
        record.seq = layer.landed
        return True

    def _visible(self, keys: Iterable[Key]) -> dict[Key, Document | None]:
        return {key: self.visible(key[1], key[0]) for key in keys}

    def _notify(
        self,
        kind: Kind,
        before: Mapping[Key, Document | None],
        reason: Exception | None = None,
        source: object = None,
    ) -> None:
        if self._listeners:
            documents = {key: (old, self.visible(key[1], key[0])) for key, old in before.items()}
            self._emit(Notification(kind, documents, reason, source))

    def _notify_if_changed(self, kind: Kind, before: Mapping[Key, Document | None]) -> None:
        if self._listeners and any(
            not _alike(old, self.visible(key[1], key[0])) for key, old in before.items()
        ):
            self._notify(kind, before)

    def _emit(self, notification: Notification) -> None:
        for listener in list(self._listeners):
            try:
                listener(notification)
            except Exception:
                # A listener's mistake must not stop a commit half-way, nor the next listener.
                _log.exception("a listener failed on a %s notification", notification.kind)


def _alike(one: Document | None, other: Document | None) -> bool:
    return one is other or (one is not None and other is not None and same(one, other))


def _sent(operation: Mapping[str, Any]) -> dict[str, Any]:
    """An operation as it is sent: without the result that a patch may carry."""
    wire = dict(operation)
    if wire.get("op") == "patch":
        wire.pop("value", None)
    return wire


def _inherited(refusal: Refusal) -> Exception:
    """Why a commit that depends on this one is reverted too.

    If the outcome of the first is unknown, so is the outcome of the second.
    """
    if isinstance(refusal.error, CommitRefused):
        message = f"pending dependency not resolved: {refusal.local_seq}"
        return CommitRefused("ConflictError", message)
    return refusal.error
