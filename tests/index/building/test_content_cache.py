"""What is kept of content: by what version it is read, and what another one's file comes to."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from holdfast.index.building.content_cache import CONTENT_VERSION, ContentStore

OLD = """
CREATE TABLE prepared (key BLOB PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE vector (key BLOB PRIMARY KEY, row BLOB NOT NULL) WITHOUT ROWID;
INSERT INTO prepared VALUES (x'01', x'aa');
INSERT INTO vector VALUES (x'02', x'bb');
"""


def old(path: Path, version: int) -> ContentStore:
    connection = apsw.Connection(str(path))
    connection.execute(OLD)
    connection.execute(f"PRAGMA user_version={version}")
    connection.close()
    return ContentStore(path)


def version_of(path: Path) -> int:
    connection = apsw.Connection(str(path))
    try:
        return int(connection.pragma("user_version"))
    finally:
        connection.close()


@pytest.mark.shows("INDEX-REUSE")
def test_what_version_1_kept_is_used_and_added_to(tmp_path: Path) -> None:
    store = old(tmp_path / "content.sqlite", 1)
    assert store.has_prepared()
    assert (store.prepared(b"\1"), store.vectors([b"\2"])) == (b"\xaa", [b"\xbb"])
    store.keep_prepared([(b"\3", b"new"), (b"\1", b"other")])
    assert [store.prepared(key) for key in (b"\1", b"\3")] == [b"other", b"new"]
    store.close()


def test_what_an_unknown_version_kept_is_made_again(tmp_path: Path) -> None:
    store = old(tmp_path / "content.sqlite", CONTENT_VERSION + 1)
    assert not store.has_prepared()
    store.keep_prepared([(b"\1", b"new")])
    store.keep_prepared([(b"\1", b"newer")])
    assert store.prepared(b"\1") == b"newer"
    store.close()
    assert version_of(tmp_path / "content.sqlite") == CONTENT_VERSION == 2
