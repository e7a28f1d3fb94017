"""What is kept of content: by what version it is read, and what another one's file comes to."""

from __future__ import annotations

import math
from pathlib import Path

import apsw
import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.files.snapshot import Entry, Stat
from holdfast.index.building import content_cache
from holdfast.index.building.cached_file import _large, _small, pack, unpack
from holdfast.index.building.content_cache import CONTENT_VERSION, ContentCache
from holdfast.index.building.prepare import prepare, prepare_many, with_vectors
from holdfast.index.embedding.hashed import DIMENSION, HashedEmbedding
from holdfast.index.generations.model import SourceFile
from holdfast.index.search.posting_segment import quantised
from tests.index import double

OLD = """
CREATE TABLE prepared (key BLOB PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE vector (key BLOB PRIMARY KEY, row BLOB NOT NULL) WITHOUT ROWID;
INSERT INTO prepared VALUES (x'01', x'aa');
INSERT INTO vector VALUES (x'02', x'0000803f');
"""


def old(path: Path, version: int) -> ContentCache:
    connection = apsw.Connection(str(path))
    connection.execute(OLD)
    connection.execute(f"PRAGMA user_version={version}")
    connection.close()
    return ContentCache(path)


def kept(store: ContentCache, key: bytes) -> bytes | None:
    found = store.prepared(key)
    return None if found is None else bytes(found)


def version_of(path: Path) -> int:
    connection = apsw.Connection(str(path))
    try:
        return int(connection.pragma("user_version"))
    finally:
        connection.close()


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_what_an_older_version_kept_has_no_checksums_and_is_made_again(
    tmp_path: Path, version: int
) -> None:
    store = old(tmp_path / "content.sqlite", version)
    assert not store.has_prepared()
    assert (kept(store, b"\1"), store.vectors([b"\2"], 1)) == (None, [None])
    store.keep_prepared([(b"\3", b"new"), (b"\1", b"other")])
    assert [kept(store, key) for key in (b"\1", b"\3")] == [b"other", b"new"]
    store.close()
    assert version_of(tmp_path / "content.sqlite") == CONTENT_VERSION == 5


@pytest.mark.shows("DAMAGE-NEWER")
def test_what_a_newer_version_kept_is_neither_used_nor_changed(tmp_path: Path) -> None:
    path = tmp_path / "content.sqlite"
    store = old(path, CONTENT_VERSION + 1)
    before = path.read_bytes()
    assert not store.has_prepared()
    store.keep_prepared([(b"\1", b"new")])
    assert kept(store, b"\1") is None
    store.close()
    assert path.read_bytes() == before


@pytest.mark.shows("DAMAGE-CACHE")
def test_an_entry_with_a_wrong_bit_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "content.sqlite"
    store = ContentCache(path)
    store.keep_prepared([(b"\1", b"one"), (b"\2", b"two")])
    store.close()
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE prepared SET data = data || x'00' WHERE key = x'01'")
    connection.close()
    assert (kept(store, b"\1"), kept(store, b"\2")) == (None, b"two")
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE prepared SET key = x'03' WHERE key = x'02'")
    connection.close()
    assert kept(store, b"\3") is None, "the value of another key"
    store.keep_prepared([(b"\1", b"one")])
    assert kept(store, b"\1") == b"one"
    store.close()


@pytest.mark.shows("DAMAGE-CACHE")
@pytest.mark.parametrize("damage", [b"not a database at all" * 50, b"", b"SQLite format 3\0"])
def test_a_file_that_is_no_cache_is_replaced(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "content.sqlite"
    path.write_bytes(damage)
    store = ContentCache(path)
    assert kept(store, b"\1") is None
    store.keep_prepared([(b"\1", b"one")])
    store.keep_prepared([(b"\1", b"one")])
    assert kept(store, b"\1") == b"one"
    store.close()


@pytest.mark.shows("SEARCH-FINITE")
@pytest.mark.parametrize("number", [math.nan, math.inf, 1e38])
def test_a_kept_file_whose_vectors_are_not_finite_is_made_again(number: float) -> None:
    """Six flipped bits made a NaN of a vector, and some searches never returned."""
    source = b"def load(x):\n    return x\n"
    job = SourceFile("a.py", source, Entry(Stat(len(source), 1, 1), "digest"))
    file = with_vectors(prepare(job, double.extract), HashedEmbedding())
    assert unpack(pack(file, DIMENSION), job, DIMENSION) is not None
    stored = msgspec.msgpack.decode(pack(file, DIMENSION))
    stored[-1] = np.array([number], dtype="<f4").tobytes() + stored[-1][4:]
    assert unpack(msgspec.msgpack.encode(stored), job, DIMENSION) is None


def test_a_kept_file_is_the_same_as_one_that_was_just_made() -> None:
    source = b"class Shop:\n    def load(self, x):\n        return x\n"
    job = SourceFile("a.py", source, Entry(Stat(len(source), 1, 1), "digest"))
    (made,) = prepare_many([job], double.extract, stored=True)
    file = with_vectors(made, HashedEmbedding())
    again = unpack(pack(file, DIMENSION), job, DIMENSION)
    assert again is not None
    assert msgspec.structs.replace(again, vectors=b"") == msgspec.structs.replace(file, vectors=b"")


@pytest.mark.shows("SEC-SECRET-CONTENT")
def test_a_secret_stays_masked_when_a_file_comes_from_the_cache() -> None:
    """Chunks were cut from the file's bytes as they are, so a second build indexed the secret."""
    secret = b"ghp_" + b"a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    source = b"token = '" + secret + b"'\n"
    job = SourceFile("a.py", source, Entry(Stat(len(source), 1, 1), "digest"))
    file = with_vectors(prepare(job, double.extract), HashedEmbedding())
    again = unpack(pack(file, DIMENSION), job, DIMENSION)
    assert again is not None
    assert secret.decode() not in "".join(chunk.text for chunk in file.chunks)
    assert secret.decode() not in "".join(chunk.text for chunk in again.chunks)


@pytest.mark.shows("INDEX-CACHE-BOUND")
def test_after_a_build_the_cache_takes_what_the_indexes_leave_of_2_5_times_the_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(content_cache, "FLOOR_BYTES", 100_000)
    roots = tmp_path / "roots" / "one.segments"
    roots.mkdir(parents=True)
    (roots / "a.segment").write_bytes(bytes(2_000_000))
    (tmp_path / "roots" / "one.sqlite").write_bytes(bytes(1_000_000))
    (tmp_path / "roots" / "one.sqlite-wal").write_bytes(bytes(1_000_000))
    path, entry = tmp_path / "content.sqlite", bytes(range(256)) * 200  # 51,200 bytes
    cache = ContentCache(path, indexes=tmp_path / "roots")
    cache.keep_prepared((b"old%d" % n, entry) for n in range(30))
    cache.finish_run("one", [1_000_000, 600_000])
    cache.keep_prepared((b"new%d" % n, entry) for n in range(15))
    cache.finish_run("one", [1_000_000, 600_000])
    assert all(kept(cache, b"new%d" % n) == entry for n in range(15))
    cache.close()
    assert 700_000 < path.stat().st_size <= 1_000_000


@given(st.lists(st.lists(st.floats(-2, 2, width=32), min_size=8, max_size=8), max_size=4))
def test_a_kept_file_is_indexed_as_one_that_was_just_made(numbers: list[list[float]]) -> None:
    vectors = np.array(numbers, dtype=np.float32).reshape(-1, 8)
    kept = _large(_small(vectors.tobytes(), 8), len(vectors), 8)
    assert kept is not None
    again = np.frombuffer(kept, dtype=np.float32).reshape(-1, 8)
    (levels, scales), (levels_again, scales_again) = quantised(vectors), quantised(again)
    assert np.array_equal(levels, levels_again)
    assert np.array_equal(scales, scales_again)


@pytest.mark.shows("INDEX-CACHE-BOUND")
def test_what_was_used_least_recently_goes_first(tmp_path: Path) -> None:
    path = tmp_path / "content.sqlite"
    entry = bytes(range(256)) * 200  # 51,200 bytes
    first = ContentCache(path, 2_000_000)
    first.keep_prepared((b"old%d" % n, entry) for n in range(20))
    first.keep_prepared((b"kept%d" % n, entry) for n in range(5))
    first.close()
    second = ContentCache(path, 2_000_000)
    assert all(kept(second, b"kept%d" % n) == entry for n in range(5))
    second.keep_prepared((b"new%d" % n, entry) for n in range(20))
    assert all(kept(second, b"kept%d" % n) == entry for n in range(5))
    assert all(kept(second, b"new%d" % n) == entry for n in range(20))
    left = [n for n in range(20) if kept(second, b"old%d" % n) is not None]
    assert len(left) < 10
    for turn in range(5):
        second.keep_prepared((b"%d/%d" % (turn, n), entry) for n in range(20))
    second.close()
    assert sum(each.stat().st_size for each in tmp_path.iterdir()) < 2 * 2_000_000


def test_a_cache_of_no_size_keeps_nothing(tmp_path: Path) -> None:
    cache = ContentCache(tmp_path / "content.sqlite", 0)
    cache.keep_prepared([(b"a", b"b")])
    assert not cache.has_prepared()
    assert not list(tmp_path.iterdir())


@pytest.mark.shows("SEARCH-FINITE")
def test_a_kept_vector_that_is_not_finite_is_made_again(tmp_path: Path) -> None:
    store = ContentCache(tmp_path / "content.sqlite")
    good, bad = (np.array([1.0, n], dtype=np.float32).tobytes() for n in (0.5, math.nan))
    store.keep_vectors([(b"\1", good), (b"\2", bad), (b"\3", b"short")])
    assert store.vectors([b"\1", b"\2", b"\3"], 2) == [good, None, None]
    store.close()
