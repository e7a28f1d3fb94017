"""Collecting garbage: what nothing names goes, and nothing else."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.store.derive import earlier
from holdfast.store.errors import DamagedStore, InvalidBlob
from holdfast.store.roots import resolve
from holdfast.store.settings import StoreSettings
from holdfast.store.store import Store, open_store
from holdfast.store.values import Map, Set, UnknownInstance
from tests.store.harness import Clock, Engines, Writer, commit, delete_, patch_, set_
from tests.store.test_transfer import as_format_1, signed


def add(path: str, value: Any) -> dict[str, Any]:
    return {"op": "add", "path": path, "value": value}


def _moved(store: Store, hash: str) -> None:
    write = Writer(store)
    write(set_("doc:a", {"kept": hash}))
    write(patch_("doc:a", {"op": "move", "from": "/value/kept", "path": "/value/$blob"}))


def _on_a_branch(store: Store, hash: str) -> None:
    store.create_branch("draft")
    Writer(store)(set_("doc:a", {"$blob": hash}), branch="draft")
    store.delete_branch("draft")


def _in_the_past(store: Store, hash: str) -> None:
    write = Writer(store)
    write(set_("doc:a", {"$blob": hash}))
    write(delete_("doc:a"))


WAYS: dict[str, Callable[[Store, str], Any]] = {
    "in a value": lambda store, hash: Writer(store)(set_("doc:a", [{"x": {"$blob": hash}}])),
    "by its metadata": lambda store, hash: Writer(store)(set_(f"urn:blob-meta:{hash}", {})),
    "by a patch": lambda store, hash: Writer(store)(
        patch_("doc:a", add("/value", {"$blob": hash}))
    ),
    "at a path": lambda store, hash: Writer(store)(patch_("doc:a", add("/value/$blob", hash))),
    "by a move": _moved,
    "on a deleted branch": _on_a_branch,
    "in the past": _in_the_past,
    "in a text": lambda store, hash: Writer(store)(set_("doc:a", f"see bbb{hash}bbb")),
    "in a set": lambda store, hash: Writer(store)(set_("doc:a", Set([{"$blob": hash}]))),
    "in a map": lambda store, hash: Writer(store)(set_("doc:a", Map([["k", {"$blob": hash}]]))),
    "in an unknown": lambda store, hash: Writer(store)(
        set_("doc:a", UnknownInstance("X@1", [hash]))
    ),
    "beside the operations": lambda store, hash: store.transact(
        "s", commit(1, set_("doc:a", 1), codeCID=hash)
    ),
}


@pytest.mark.shows("STORE-GC")
def test_a_blob_that_anything_ever_named_is_kept(engines: Engines) -> None:
    """Named by a patch's path, moved into place or held by a rich value, it used to be lost."""
    lost = []
    for way, name in WAYS.items():
        store = engines.open(settings=StoreSettings(rich_values=True))
        named, unnamed = store.put_blob(b"named"), store.put_blob(b"unnamed")
        name(store, named)
        assert store.collect_garbage().blobs_dropped == 0, "only when asked"
        dropped = store.collect_garbage(blobs=True, grace_seconds=0).blobs_dropped
        if dropped != 1 or store.engine.tables.blob(named) is None:
            lost.append(way)
        with pytest.raises(InvalidBlob):
            store.blob(unnamed)
        assert store.verify().findings == []
    assert not lost


@pytest.mark.shows("STORE-GC")
def test_a_blob_that_an_import_spells_otherwise_is_kept(engines: Engines) -> None:
    """Commits come in as they were written, and a letter can be written in two ways."""
    first, second = engines.open(), engines.open()
    hash = first.put_blob(b"named")
    Writer(first)(set_("doc:a", {"$blob": hash}))
    lines = as_format_1(list(first.export()))
    spelled = [line.replace(f'"$blob":"{hash}"', f'"$blob":"\\u0062{hash[1:]}"') for line in lines]
    assert spelled != lines
    second.import_lines(signed(spelled))
    assert second.collect_garbage(blobs=True, grace_seconds=0).blobs_dropped == 0
    assert second.blob(hash)[0] == b"named"


@pytest.mark.shows("STORE-GC-GRACE")
def test_a_blob_whose_commit_is_on_its_way_is_kept(engines: Engines) -> None:
    """It is put first and named after. A collection in between used to take it away."""
    clock = Clock()
    store = engines.open(clock=clock)
    young, old = store.put_blob(b"young"), store.put_blob(b"old")
    assert store.collect_garbage(blobs=True).blobs_dropped == 0
    clock.seconds += 3_599
    assert store.put_blob(b"young") == young, "put again, and counted on again"
    assert store.collect_garbage(blobs=True).blobs_dropped == 0
    clock.seconds += 1
    assert store.collect_garbage(blobs=True, grace_seconds=3_601).blobs_dropped == 0
    assert store.collect_garbage(blobs=True).blobs_dropped == 1
    Writer(store)(set_("doc:a", {"$blob": young}))
    assert store.blob(young)[0] == b"young"
    with pytest.raises(InvalidBlob):
        store.blob(old)
    clock.seconds += 1_000_000
    assert store.collect_garbage(blobs=True).blobs_dropped == 0, "now it is named"
    assert store.verify().findings == []


@pytest.mark.shows("STORE-GC-GRACE")
@given(
    puts=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 30)), max_size=12),
    grace=st.integers(0, 40),
)
def test_a_collection_drops_what_a_list_of_puts_says(
    puts: list[tuple[int, int]], grace: int
) -> None:
    clock, last = Clock(), dict[int, int]()
    with open_store("memory:", "did:key:grace", clock=clock) as store:
        for blob, waited in puts:
            clock.seconds += waited
            store.put_blob(bytes([blob]))
            last[blob] = clock.seconds
        gone = {blob for blob, at in last.items() if at <= clock.seconds - grace}
        assert store.collect_garbage(True, grace).blobs_dropped == len(gone)
        left = {store.blob(hash)[0][0] for hash in store.engine.tables.blob_hashes()}
        assert left == last.keys() - gone


@pytest.mark.shows("STORE-GC-GRACE")
def test_a_blob_of_unknown_age_waits_for_one_grace_more(engines: Engines) -> None:
    """A process of an older version may still write into tables that say when."""
    clock = Clock()
    store = engines.open(clock=clock)
    store.put_blob(b"undated")
    store.engine.writing.run("UPDATE blob_store SET put_at = ''")
    assert store.collect_garbage(blobs=True).blobs_dropped == 0
    clock.seconds += 3_600
    assert store.collect_garbage(blobs=True).blobs_dropped == 1


def test_a_grace_of_a_thousand_years_is_one() -> None:
    """Times are compared as text, and a year of three digits comes after one of four."""
    assert earlier("2026-11-16T08:00:00.000Z", 4e10) < "1000"
    assert earlier("2026-11-16T08:00:00.000Z", 4e10).startswith("0759-")


@pytest.mark.shows("INV-39")
@pytest.mark.parametrize(
    ("tree", "mended"),
    [
        ("sqlite_autoindex_commit_1", True),
        ("commit_merged", True),
        ("head", True),
        ("commit", False),
        ("revision", False),
    ],
)
def test_a_damaged_page_is_rebuilt_or_stays_known_as_damaged(
    tmp_path: Path, tree: str, mended: bool
) -> None:
    """It once copied a damaged page of commits, or of an index of them, as if it were sound.

    With the index of keys a commit that was sent again could then have landed a second time.
    """
    with open_store(tmp_path, "space") as store:
        told: list[Any] = []
        for n in range(1, 401):
            message = commit(n, set_(f"doc:{n:03}", {"n": n, "text": "x" * 60}))
            store.submit("one", message, told.append)
        store.transact("two", commit(1, set_("doc:z", 1)))
    path = resolve(tmp_path, "space")
    assert path is not None
    page = leaf_page(path, tree)
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096 + 4000)
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 4]))
    with open_store(tmp_path, "space") as store:
        assert not store.verify().sound
        if mended:
            store.collect_garbage()
        else:
            with pytest.raises(DamagedStore):
                store.collect_garbage()
        assert store.verify().sound is mended
        if mended:
            again = commit(200, set_("doc:200", {"n": 200, "text": "x" * 60}))
            assert store.transact("one", again).replayed


def leaf_page(path: Path, tree: str) -> int:
    """The page in the middle of a table or an index."""
    connection = apsw.Connection(str(path))
    sql = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path"
    pages = [page for (page,) in connection.execute(sql, (tree,))]
    connection.close()
    return int(pages[len(pages) // 2])
