"""The decisions of admission, each by itself: values in, values out."""

from collections.abc import Mapping
from typing import Any

import pytest

from holdfast.ids import EntityId, LocalSeq, Seq
from holdfast.store import admit
from holdfast.store.admit import Layers, Overlap, Reach, RevisionWrite, StoredWrite
from holdfast.store.errors import ProtocolError
from holdfast.store.model import ConfirmedRead, PendingRead

DOC = EntityId("doc:a")


def confirmed(seq: int, *path: str) -> ConfirmedRead:
    return ConfirmedRead(DOC, path, shape=False, branch=None, seq=Seq(seq))


def pending(basis: int | None, *layers: int) -> PendingRead:
    at = None if basis is None else Seq(basis)
    return PendingRead(DOC, (), shape=False, layers=tuple(map(LocalSeq, layers)), basis=at)


def patched(seq: int, *operations: Mapping[str, Any]) -> RevisionWrite:
    return RevisionWrite(Seq(seq), "patch", list(operations))


def had(_: object) -> bool:
    return True


@pytest.mark.parametrize(
    ("newest", "overtaken"),
    [(None, False), (patched(3), False), (patched(4), False), (patched(5), True)],
)
def test_a_read_is_overtaken_by_a_later_write_only(
    newest: RevisionWrite | None, overtaken: bool
) -> None:
    assert admit.is_overtaken(confirmed(4), newest) == overtaken


def test_a_replaced_document_breaks_a_read_before_any_patch_is_decoded() -> None:
    replaced = RevisionWrite(Seq(9), "set", None)
    unread = StoredWrite(Seq(8), "patch", "not JSON")
    found = admit.first_overlap(("a",), False, [unread, replaced], Reach.LEAF, had)
    assert found == Overlap(replaced, None)


def test_of_a_stored_patch_only_the_places_are_decoded() -> None:
    text = '[{"op":"move","from":"/a","path":"/b"},{"op":"add","path":"/c","value":{"deep":[1]}}]'
    assert StoredWrite(Seq(1), "patch", text).patches == [
        {"op": "move", "from": "/a", "path": "/b"},
        {"op": "add", "path": "/c"},
    ]
    assert StoredWrite(Seq(1), "patch", "[]").patches == []
    assert StoredWrite(Seq(1), "set", "{}").patches is None


def test_a_patch_elsewhere_leaves_a_read_and_one_at_its_path_breaks_it() -> None:
    elsewhere = patched(5, {"op": "replace", "path": "/b"})
    here = patched(6, {"op": "replace", "path": "/a/x"})
    assert admit.first_overlap(("a",), False, [elsewhere], Reach.LEAF, had) is None
    found = admit.first_overlap(("a",), False, [here, elsewhere], Reach.LEAF, had)
    assert found == Overlap(here, ("a", "x"))


LANDED = {LocalSeq(1): Seq(10), LocalSeq(2): Seq(12), LocalSeq(3): Seq(11)}


@pytest.mark.parametrize(
    ("read", "resolved"),
    [
        (pending(8, 1, 2), Layers(Seq(8), frozenset({Seq(10), Seq(12)}))),
        (pending(None, 2), Layers(Seq(12), frozenset({Seq(12)}))),
        (pending(None, 1, 2), Layers(Seq(10), frozenset({Seq(10), Seq(12)}))),
        (pending(8, 1, 4), LocalSeq(4)),
        (pending(8, 2, 3), LocalSeq(2)),
    ],
    ids=["with a basis", "one layer", "the lowest layer", "one never landed", "out of order"],
)
def test_layers_resolve_to_seqs_or_name_the_one_that_is_wrong(
    read: PendingRead, resolved: Layers | LocalSeq
) -> None:
    assert admit.resolve_layers(read, LANDED) == resolved


def test_the_session_own_layers_do_not_break_its_read() -> None:
    own = patched(10, {"op": "replace", "path": "/a"})
    other = patched(11, {"op": "replace", "path": "/b"})
    read = pending(8, 1)
    assert admit.pending_overlap(read, {Seq(10)}, [own], Reach.LEAF, had) is None
    found = admit.pending_overlap(read, {Seq(10)}, [other, own], Reach.LEAF, had)
    assert found == Overlap(other, ("b",))


@pytest.mark.parametrize(
    ("operation", "path", "existed", "breaks"),
    [
        ({"op": "append", "path": "/list/2"}, ("list", "length"), False, True),
        ({"op": "append", "path": "/list/2"}, ("list", "length"), True, False),
        ({"op": "increment", "path": "/list/-"}, ("list", "length"), False, True),
        ({"op": "append", "path": "/list/2"}, ("list", "1"), False, False),
        ({"op": "append", "path": "/list/name"}, ("list", "length"), False, False),
        ({"op": "append", "path": ""}, ("length",), False, False),
        ({"op": "replace", "path": "/list/2"}, ("list", "length"), False, False),
    ],
)
def test_only_a_new_slot_breaks_a_read_of_the_length(
    operation: dict[str, Any], path: tuple[str, ...], existed: bool, breaks: bool
) -> None:
    assert (admit.grows(operation, path, lambda _: existed) is not None) == breaks


@pytest.mark.parametrize(
    ("own", "certain"),
    [
        ([], True),
        ([patched(5, {"op": "replace", "path": "/b"})], True),
        ([patched(5, {"op": "remove", "path": "/a"})], False),
        ([RevisionWrite(Seq(5), "set", None)], False),
    ],
)
def test_a_path_is_certain_unless_the_reader_own_commits_replaced_it(
    own: list[RevisionWrite], certain: bool
) -> None:
    assert admit.certainly_had(("a",), {"a": 1}, own) == certain
    assert not admit.certainly_had(("c",), {"a": 1}, own)


def test_a_read_of_a_seq_that_does_not_exist_yet_is_refused() -> None:
    admit.check_not_future("confirmed", DOC, "seq", Seq(4), Seq(4))
    with pytest.raises(ProtocolError, match="confirmed read of doc:a names seq 5, but the newest"):
        admit.check_not_future("confirmed", DOC, "seq", Seq(5), Seq(4))
