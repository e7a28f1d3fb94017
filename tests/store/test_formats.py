"""What is kept at rest changes only together with its version."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.ids import LocalSeq, SessionId
from holdfast.store import sqlite, transfer
from holdfast.store.errors import DamagedStore
from holdfast.store.model import CommitKey
from holdfast.store.settings import StoreSettings
from holdfast.store.store import Store, open_store
from holdfast.store.tables import SCHEMA_VERSION, partitions
from tests.store.harness import Engines, Writer, dump, patch_, replace_, set_
from tests.store.older import downgrade

# One line per version that ever left this project: never edit one, add one.
SCHEMAS = {
    3: {
        "sqlite": "5863fd7adb1e4e79",
        "postgres": "348a7ff33f5d8430",
    },
    4: {
        "sqlite": "444467eaf2a1dcb5",
        "postgres": "348a7ff33f5d8430",
    },
    5: {
        "sqlite": "1f3ec99cf379274b",
        "postgres": "aac8ef3846a39fa0",
    },
    6: {
        "sqlite": "b067a13755a321ec",
        "postgres": "d697a2c154d4809e",
    },
    7: {"postgres": "80b87b16e9334ac2"},
    8: {"postgres": "80b87b16e9334ac2"},
}
EXPORTS = {
    1: "18a7d48aad4aaf55",
    2: "802a77344032f595",
}


SMALL = StoreSettings(snapshot_interval=2)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@pytest.mark.shows("STORE-FORMATS")
@pytest.mark.parametrize(
    ("engine", "version", "schema"),
    [
        ("sqlite", SCHEMA_VERSION, sqlite._SCHEMA),
        (
            "postgres",
            partitions.VERSION,
            ";\n".join([*partitions.table_statements(), *partitions.view_statements(1)]),
        ),
    ],
)
def test_the_tables_change_only_with_a_new_schema_version(
    engine: str, version: int, schema: str
) -> None:
    plain = " ".join(schema.split())
    assert SCHEMAS.get(version, {}).get(engine) == digest(plain), (
        f"the tables on {engine} are not those of version {version}. Spaces that people "
        f"have would be opened and misread. Raise the version (tables/database.py, on PostgreSQL "
        f"tables/partitions.py), say in its history what is new, and add this version's digest "
        f"here: {digest(plain)}"
    )


@pytest.mark.shows("STORE-FORMATS")
def test_the_export_changes_only_with_a_new_format() -> None:
    clock = iter(f"2026-01-01T00:00:{second:02}.000Z" for second in range(60))
    with open_store("memory:", "did:key:format", clock=lambda: next(clock)) as store:
        main = store.branch("")
        assert main is not None
        store.engine._writes.put_branch(replace(main, created_at="2026-01-01T00:00:00.000Z"))
        write = Writer(store)
        write(set_("doc:a", {"n": 1.5, "é": [None, True]}), codeCID="bafy")
        store.create_branch("draft", by=CommitKey(SessionId("keeper"), LocalSeq(1)))
        pending: dict[str, Any] = {"id": "doc:a", "path": [], "localSeq": [1], "basisSeq": 1}
        write(patch_("doc:a", replace_("/value/n", 2)), pending=[pending], branch="draft")
        store.delete_branch("draft")
        store.put_blob(b"\0\1\2", "text/plain")
        text = "\n".join(store.export("did:key:format"))
    assert EXPORTS.get(transfer.EXPORT_FORMAT) == digest(text), (
        f"an export is not what format {transfer.EXPORT_FORMAT} is. Exports that people keep could "
        f"no longer be read, or would be read as something else. Raise EXPORT_FORMAT in "
        f"transfer.py, say in its history what is new, and add this format's digest here: "
        f"{digest(text)}"
    )


@pytest.mark.shows("STORE-FORMATS")
@pytest.mark.parametrize("version", [3, 4, 5, 6, 7])
def test_tables_of_an_older_version_are_brought_up_to_date(engines: Engines, version: int) -> None:
    if engines.url == "memory:":
        return  # what is in memory was never left by another version
    if version >= SCHEMA_VERSION and not engines.url.startswith("postgres"):
        return  # that is this version, or none
    space = engines.space()
    with open_store(engines.url, space, SMALL) as store:
        write = Writer(store)
        write(set_("doc:a", {"n": 1}))
        for n in range(5):
            write(patch_("doc:a", replace_("/value/n", n)))
        by = CommitKey(SessionId("keeper"), LocalSeq(1))
        store.create_branch("draft", by=by)
        write(set_("doc:b", {"n": 3}), branch="draft")
        store.merge(CommitKey(SessionId("keeper"), LocalSeq(2)), "draft")
        store.create_branch("a", "draft")
        hash = store.put_blob(b"bytes", "text/plain")
        before = dump(store)
    downgrade(engines.url, space, version)
    for _ in "once", "and again, with nothing left to do":
        with open_store(engines.url, space, SMALL, create=False) as store:
            after = dump(store)
            if version < 5:
                before.pop("blob_store", None)
            assert after.items() >= before.items()
            assert store.blob(hash) == (b"bytes", "text/plain")
            assert store.collect_garbage(blobs=True).blobs_dropped == 0, "put an unknown time ago"
            assert store.verify().findings == []
            if not engines.url.startswith("postgres"):
                rows = store.engine.writing.rows
                assert rows("PRAGMA user_version") == [(SCHEMA_VERSION,)]
                assert rows("PRAGMA foreign_key_check") == []
                assert rows("PRAGMA foreign_keys") == [(1,)]
                schema = "SELECT sql FROM sqlite_master ORDER BY name"
                with open_store("memory:", "did:key:new") as fresh:
                    assert rows(schema) == fresh.engine.writing.rows(schema)
        before.pop("blob_store", None)
    with open_store(engines.url, space, SMALL) as store:
        assert write_again(store) == (10, 2)


def write_again(store: Store) -> tuple[int, int]:
    """The seq of one commit more, and of one that landed before the file was brought up to date."""
    again = {
        "localSeq": 2,
        "reads": {"confirmed": [], "pending": []},
        "operations": [patch_("doc:a", replace_("/value/n", 0))],
    }
    more = {"localSeq": 9, "operations": [set_("doc:c", {"n": 4})]}
    return store.transact("writer", more).seq, store.transact("writer", again).seq


@pytest.mark.shows("STORE-FORMATS")
def test_a_file_of_another_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    with open_store(tmp_path, "did:key:odd") as store:
        Writer(store)(set_("doc:a", {"n": 1}))
        store.engine.writing.rows("PRAGMA user_version=99")
    (file,) = tmp_path.rglob("*.sqlite")
    before = file.read_bytes()
    with pytest.raises(DamagedStore) as caught:
        open_store(tmp_path, "did:key:odd")
    assert "import" in caught.value.hint
    assert file.read_bytes() == before
