"""Decide whether a commit may land: every read it depends on must still hold.

A read holds while no other commit wrote to the path it looked at. Two paths overlap when one is at
or below the other. Two rules say which paths a write touches besides the one it names:

    PARENTS  an add, remove or move also touches the container, so readers of its siblings conflict
    LEAF     it touches the container only when that may be an array, whose other slots shift;
             a reader of a sibling member does not conflict

Under both rules an edit that appends a slot to an array breaks a read of the array's `length`. A
`set` or `delete` replaces the document, so it touches every path.

Both rules may refuse a commit that was in fact fine; neither admits one that was not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple, NotRequired, TypedDict

import msgspec

from holdfast.ids import EntityId, LocalSeq, Seq
from holdfast.store import patch, pointer
from holdfast.store.errors import ProtocolError
from holdfast.store.model import ConfirmedRead, PendingRead
from holdfast.store.pointer import Path

Had = Callable[[Path], bool]
"""Whether a path certainly existed in the document that the reader saw."""


class Reach(Enum):
    """Which paths a write touches in addition to the one it names."""

    PARENTS = "parents"
    LEAF = "leaf"


class RevisionWrite(NamedTuple):
    """One revision as admission sees it: its seq, its kind and its patch operations."""

    seq: Seq
    op: str
    patches: list[Mapping[str, Any]] | None


class StoredWrite:
    """A revision as it is stored. Its patches are decoded on first use.

    Only the kinds and paths are decoded, not the values: that takes a tenth of the time.
    """

    __slots__ = ("_patches", "_reach", "_text", "_touched", "op", "seq")

    def __init__(self, seq: Seq, op: str, text: str | None) -> None:
        self.seq, self.op, self._text = seq, op, text
        self._patches: list[Mapping[str, Any]] | None = None
        self._reach: Reach | None = None
        self._touched: list[Path] = []

    def touched(self, reach: Reach) -> list[Path]:
        """Every path that its operations touch, in their order; computed once for a rule."""
        if self._reach is not reach:
            paths = [path for one in self.patches or () for path in touched(one, reach)]
            # An empty patch changes no member, but it may have created the document.
            self._touched, self._reach = paths or [pointer.ROOT], reach
        return self._touched

    @property
    def patches(self) -> list[Mapping[str, Any]] | None:
        if self._patches is None and self.op == "patch" and self._text is not None:
            self._patches, self._text = _places_of(self._text), None
        return self._patches


Write = RevisionWrite | StoredWrite

WRITES_MAX = 1_000
"""A read is checked against at most this many commits that wrote its document. An older read is
refused: checking it would keep other writers waiting."""

_EditPlace = TypedDict("_EditPlace", {"op": str, "path": str, "from": NotRequired[str]})

_decode_places = msgspec.json.Decoder(list[_EditPlace]).decode


def _places_of(text: str) -> list[Mapping[str, Any]]:
    """The kinds and paths of stored patch operations, without their values."""
    return _decode_places(text)  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class Overlap:
    """The write that broke a read, and the path it wrote (None: the whole document)."""

    write: Write
    path: Path | None


# one patch operation


def touched(operation: Mapping[str, Any], reach: Reach) -> list[Path]:
    """Every path whose readers conflict with this patch operation."""
    path = pointer.parse(operation["path"])
    kind = operation["op"]
    if kind not in ("add", "remove", "move"):
        # `-` does not say which slot is appended, so readers of the whole array conflict too.
        return [path, pointer.parent(path)] if path[-1:] == _BEHIND else [path]
    ends = [path] if kind != "move" else [pointer.parse(operation["from"]), path]
    containers = [
        pointer.parent(end)
        for end in ends
        if reach is Reach.PARENTS or not end or pointer.looks_like_slot(end[-1])
    ]
    return ends + containers


_BEHIND = (pointer.END,)

_KEEPS_MEMBERS = ("replace", "append", "add-unique", "increment")
"""Kinds that keep a container's members, if the member they write to exists."""

_CREATES_MISSING = ("append", "add-unique", "increment")
"""Kinds that create what they write to. In an array that is a new last slot."""


LENGTH = "length"
"""The member of a list that says how many elements it has."""


def grows(operation: Mapping[str, Any], path: Path, had: Had) -> Path | None:
    """The slot this operation may append to an array whose `length` is read at `path`."""
    if operation["op"] not in _CREATES_MISSING:
        return None
    end = pointer.parse(operation["path"])
    if not end or not pointer.looks_like_slot(end[-1]):
        return None
    length = (*pointer.parent(end), LENGTH)
    return end if pointer.is_prefix(length, path) and not had(end) else None


def reshapes(operation: Mapping[str, Any], path: Path, had: Had) -> Path | None:
    """The path by which this operation changes which members `path` has, if it does.

    Writing to a member that existed does not change the shape of its container; writing below one
    that did not exist creates it.
    """
    kind = operation["op"]
    ends = [pointer.parse(operation["path"])]
    if kind == "move":
        ends.append(pointer.parse(operation["from"]))
    for end in ends:
        if pointer.is_prefix(end, path):
            return end
        if end[-1:] == _BEHIND and pointer.is_prefix(pointer.parent(end), path):
            return end
        if pointer.is_prefix(path, end):
            member = end[: len(path) + 1]
            writes_member = len(end) == len(member) and kind not in _KEEPS_MEMBERS
            if writes_member or not had(member):
                return end
        # A slot above the reader may have shifted it.
        shifts = kind in ("add", "remove", "move") and pointer.looks_like_slot(end[-1])
        if shifts and pointer.is_prefix(pointer.parent(end), path):
            return end
    return None


# the writes since a read


def first_overlap(
    path: Path, shape: bool, writes: Sequence[Write], reach: Reach, had: Had
) -> Overlap | None:
    """The write that broke a read of `path`, given the writes since it, newest first.

    The newest `set` or `delete` is reported before any patch, because it broke every read.
    """
    for write in writes:
        if write.op != "patch":
            return Overlap(write, None)
    simple = LENGTH not in path and not (shape and reach is Reach.LEAF)
    size = len(path)
    for write in writes:
        if simple and type(write) is StoredWrite:
            # One old read is compared with up to a thousand of these, so calls are avoided.
            for at in write._touched if write._reach is reach else write.touched(reach):
                if at[:size] == path or path[: len(at)] == at:
                    return Overlap(write, at)
            continue
        hit = _patch_hit(path, shape, write, reach, had)
        if hit is not None:
            return Overlap(write, hit)
    return None


def _patch_hit(path: Path, shape: bool, write: Write, reach: Reach, had: Had) -> Path | None:
    if not write.patches:
        # An empty patch changes no member, but it may have created the document.
        return pointer.ROOT
    for operation in write.patches:
        if shape and reach is Reach.LEAF:
            hit = reshapes(operation, path, had)
        else:
            overlaps = (at for at in touched(operation, reach) if pointer.overlap(at, path))
            hit = next(overlaps, None)
        if hit is None:
            hit = grows(operation, path, had)
        if hit is not None:
            return hit
    return None


def replaces(write: Write, path: Path) -> bool:
    """Whether a write may have changed or removed what is at `path`."""
    return write.patches is None or any(
        pointer.is_prefix(place, path)
        for operation in write.patches
        for place in touched(operation, Reach.LEAF)
    )


def certainly_had(path: Path, document: Any, own_writes: Iterable[Write]) -> bool:
    """Whether a reader certainly saw `path`: in the document at its basis, below its own writes."""
    return not any(replaces(write, path) for write in own_writes) and patch.has(document, path)


# one read


def is_overtaken(read: ConfirmedRead, newest: RevisionWrite | None) -> bool:
    """Whether the document was written since it was read."""
    return newest is not None and newest.seq > read.seq


class Layers(NamedTuple):
    """What a pending read saw: the document at `basis`, and its session's commits above it."""

    basis: Seq
    seqs: frozenset[Seq]


def resolve_layers(read: PendingRead, landed: Mapping[LocalSeq, Seq]) -> Layers | LocalSeq:
    """Where a pending read's layers landed, or the first layer that is not where it was seen.

    A layer is missing when it was refused. It is out of order when it was refused at first, sent
    again, and landed above a layer that the reader saw on top of it.
    """
    order: list[Seq] = []
    for layer in read.layers:
        if layer not in landed:
            return layer
        order.append(landed[layer])
    for place in range(1, len(order)):
        if order[place] < order[place - 1]:
            return read.layers[place - 1]
    # Without a basis the reader does not say what it saw below its layers. One layer: scan from
    # there, as the protocol's first version did. Several: from the lowest, which is stricter.
    return Layers(min(order) if read.basis is None else read.basis, frozenset(order))


def pending_overlap(
    read: PendingRead, own: Collection[Seq], writes: Iterable[Write], reach: Reach, had: Had
) -> Overlap | None:
    """The write of another commit that broke a pending read; `writes` are those since its basis."""
    others = [write for write in writes if write.seq not in own]
    return first_overlap(read.path, read.shape, others, reach, had)


def check_not_future(kind: str, id: EntityId, name: str, seq: Seq, newest: Seq) -> None:
    """Refuse a read that names a seq the space has not reached."""
    if seq > newest:
        raise ProtocolError(f"{kind} read of {id} names {name} {seq}, but the newest is {newest}")
