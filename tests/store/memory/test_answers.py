"""The verbs of memory: typed answers, their JSON form, and one text for each."""

from collections.abc import Iterator

import pytest

from holdfast.ids import LocalSeq, SessionId
from holdfast.store.memory import verbs
from holdfast.store.memory.answers import (
    DocumentPart,
    MergeConflicts,
    Merged,
    MergePreview,
    MissingDocument,
    MissingPart,
)
from holdfast.store.memory.render import plain_text
from holdfast.store.model import CommitKey
from holdfast.store.store import Store, open_store


def key(number: int) -> CommitKey:
    return CommitKey(SessionId("me"), LocalSeq(number))


@pytest.fixture
def store() -> Iterator[Store]:
    with open_store("memory:", "did:key:memory", clock=lambda: "2026-01-01T00:00:00.000Z") as store:
        value = {"value": {"title": "old"}}
        verbs.commit(store, key(1), [{"op": "set", "id": "note:a", "value": value}])
        yield store


def edit(store: Store, number: int, title: str, branch: str = "") -> None:
    patch = {"op": "replace", "path": "/value/title", "value": title}
    operation = {"op": "patch", "id": "note:a", "patches": [patch]}
    verbs.commit(store, key(number), [operation], branch=branch)


def test_a_document_a_part_of_it_and_what_is_missing(store: Store) -> None:
    whole = verbs.get(store, "note:a")
    assert isinstance(whole, DocumentPart)
    assert whole.to_wire()["document"] == {"value": {"title": "old"}}
    part = verbs.get(store, "note:a", "/value/title")
    assert isinstance(part, DocumentPart)
    assert part.part == "old"
    assert verbs.get(store, "note:b", at=1) == MissingDocument("note:b", 1)
    assert str(verbs.get(store, "note:b", at=1)) == "there is no note:b at seq 1"
    assert verbs.get(store, "note:a", "/x") == MissingPart("note:a", "/x")


def test_documents_are_listed_and_found_page_by_page(store: Store) -> None:
    verbs.commit(store, key(2), [{"op": "set", "id": "note:b", "value": {"body": "Bare"}}])
    assert plain_text(verbs.list_documents(store, "note:")) == (
        'id  seq  value\nnote:a  1  {"title": "old"}\nnote:b  2  {"body": "Bare"}'
    )
    page = verbs.find(store, limit=1)
    assert ([one.id for one in page.documents], page.total, page.more) == (["note:a"], 2, True)
    assert [one.id for one in verbs.find(store, after="note:a").documents] == ["note:b"]
    assert [one.id for one in verbs.find(store, contains="bare").documents] == ["note:b"]
    assert [one.id for one in verbs.find(store, ids=["note:a"]).documents] == ["note:a"]
    assert plain_text(verbs.find(store, prefix="x")) == "no documents"


def test_history_says_whether_there_is_more(store: Store) -> None:
    edit(store, 2, "new")
    newest = verbs.history(store, limit=1)
    assert (len(newest.entries), newest.more) == (1, True)
    assert plain_text(newest) == (
        "seq  when  branch  by  what\n2  2026-01-01T00:00:00.000Z  -  me  patch note:a"
    )
    assert not verbs.history(store, limit=2).more
    assert plain_text(verbs.history(store, "note:b")) == "no commit wrote note:b"


def test_a_merge_is_previewed_refused_or_committed(store: Store) -> None:
    created = verbs.create_branch(store, key(2), "draft")
    assert plain_text(created) == "created draft from the default branch at seq 1"
    edit(store, 3, "theirs", "draft")
    assert plain_text(verbs.diff(store, "draft")) == (
        '~ note:a\n    /value/title: "old" → "theirs"'
    )
    preview = verbs.merge(store, key(4), "draft", dry_run=True)
    assert isinstance(preview, MergePreview)
    assert plain_text(preview) == "patch note:a\n1 document would change"
    edit(store, 5, "ours")
    conflicts = verbs.merge(store, key(6), "draft")
    assert isinstance(conflicts, MergeConflicts)
    assert plain_text(conflicts).splitlines() == [
        "1 conflict; nothing was written",
        "  note:a /value/title",
        '    draft: "theirs"',
        '    default branch: "ours"',
        '    before: "old"',
    ]
    merged = verbs.merge(store, key(6), "draft", take="source")
    assert isinstance(merged, Merged)
    assert plain_text(merged) == "merged draft into the default branch at seq 5: 1 document changed"
    again = verbs.merge(store, key(6), "draft", take="source")
    assert plain_text(again) == plain_text(merged), "the same merge again gets the same answer"
    assert plain_text(verbs.merge(store, key(7), "draft")) == "nothing to merge"


def test_branches_are_listed_with_where_they_were_forked(store: Store) -> None:
    verbs.create_branch(store, key(2), "draft")
    assert plain_text(verbs.delete_branch(store, key(3), "draft")) == (
        "deleted draft; it can still be read and forked"
    )
    assert plain_text(verbs.branches(store)).splitlines() == [
        "name  parent  forked at  head  status",
        "(default)  -  -  1  active",
        "draft  (default)  1  2  deleted",
    ]
