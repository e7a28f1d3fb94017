"""The content store: named by digest, checked on load, shared without locks."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from holdfast.reading.objects import LAYOUT_VERSION, Objects, digest_of

TEXT = b"alpha\nbeta\n"
DIGEST = digest_of(TEXT)


@pytest.fixture
def objects(tmp_path: Path) -> Objects:
    return Objects(tmp_path / "store")


@pytest.mark.shows("READ-OBJ-WRITE", "READ-T-OBJECTS")
def test_writes_reads_and_writes_once(objects: Objects) -> None:
    assert objects.keep(TEXT, DIGEST)
    written = os.stat(objects.path_of(DIGEST)).st_mtime_ns
    assert objects.keep(TEXT, DIGEST)
    assert os.stat(objects.path_of(DIGEST)).st_mtime_ns == written
    assert objects.load(DIGEST) == TEXT
    assert objects.load(digest_of(b"other")) is None


@pytest.mark.shows("READ-OBJ-LAYOUT")
def test_the_layout_is_private_and_has_a_version(objects: Objects) -> None:
    objects.keep(TEXT, DIGEST)
    assert LAYOUT_VERSION == 1
    names = sorted(path.relative_to(objects.root).as_posix() for path in objects.root.rglob("*"))
    assert names == ["objects", f"objects/sha256-{DIGEST}.txt", "tmp"]
    for path in (objects.root, objects.root / "objects", objects.root / "tmp"):
        assert path.stat().st_mode & 0o777 == 0o700
    assert os.stat(objects.path_of(DIGEST)).st_mode & 0o777 == 0o600


@pytest.mark.shows("READ-OBJ-PARALLEL", "READ-EDGE-12", "READ-T-OBJECTS")
def test_twenty_writers_of_one_object_do_not_disturb_each_other(objects: Objects) -> None:
    results: list[bool] = []
    threads = [
        threading.Thread(target=lambda: results.append(objects.keep(TEXT, DIGEST)))
        for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 20
    assert objects.load(DIGEST) == TEXT
    assert list((objects.root / "tmp").iterdir()) == []


PROGRAM = """
import random, sys, time
from holdfast.reading.objects import Objects, digest_of
objects, rng = Objects(sys.argv[1]), random.Random(int(sys.argv[2]))
for _ in range(300):
    data = b"x" * rng.randrange(40) * 1000
    assert objects.keep(data, digest_of(data))
    found = objects.load(digest_of(data))
    assert found is None or found == data
    if rng.random() < 0.1:
        objects.collect(now=time.time(), age_max_s=0)
"""


@pytest.mark.long
@pytest.mark.shows("READ-OBJ-PARALLEL")
def test_processes_share_one_store(objects: Objects) -> None:
    """They write the same objects, and collect each other's, all at once."""
    running = [
        subprocess.Popen([sys.executable, "-c", PROGRAM, str(objects.root), str(seed)])
        for seed in range(3)
    ]
    assert [process.wait(timeout=120) for process in running] == [0, 0, 0]
    for path in (objects.root / "objects").iterdir():
        assert digest_of(path.read_bytes()) == path.name[7:-4]


@pytest.mark.shows("READ-OBJ-STATS", "READ-T-OBJECTS")
def test_stats_count_objects_and_bytes(objects: Objects) -> None:
    assert objects.stats().count == 0
    objects.keep(TEXT, DIGEST)
    objects.keep(b"x", digest_of(b"x"))
    (objects.root / "objects" / "stranger.txt").write_text("not ours")
    assert (objects.stats().count, objects.stats().size_bytes) == (2, len(TEXT) + 1)


def aged(objects: Objects, data: bytes, used_at: float) -> str:
    digest = digest_of(data)
    objects.keep(data, digest)
    os.utime(objects.path_of(digest), (used_at, used_at))
    return digest


@pytest.mark.shows("READ-OBJ-GC", "READ-T-OBJECTS")
def test_collecting_deletes_what_was_not_used_for_a_day(objects: Objects) -> None:
    now = 1_000_000.0
    old = aged(objects, b"old", now - 25 * 3600)
    young = aged(objects, b"young", now - 3600)
    found = objects.collect(now)
    assert (found.scanned, found.deleted) == (2, 1)
    assert objects.load(old) is None
    assert objects.load(young) == b"young"


@pytest.mark.shows("READ-OBJ-GC", "READ-B11")
def test_live_bases_stay_and_use_keeps_objects_young(objects: Objects) -> None:
    now = 1_000_000.0
    live = aged(objects, b"live", now - 90 * 3600)
    used = aged(objects, b"used", now - 90 * 3600)
    objects.keep(b"used", used, now)
    objects.collect(now, live={live})
    assert objects.load(live) == b"live"
    assert objects.load(used) == b"used"


@pytest.mark.shows("READ-OBJ-GC", "READ-B11")
def test_the_longest_unused_go_first_when_the_store_is_too_big(objects: Objects) -> None:
    now = 1_000_000.0
    digests = [aged(objects, bytes([n]) * 100, now - 100 + n) for n in range(5)]
    left = objects.root / "tmp" / "left-behind.tmp"
    left.write_bytes(b"half")
    os.utime(left, (now - 7200, now - 7200))
    objects.collect(now, live={digests[0]}, size_bytes_max=250)
    kept = [objects.load(digest) is not None for digest in digests]
    assert kept == [True, False, False, False, True]
    assert not left.exists()


@pytest.mark.parametrize("age", [-1.0, float("inf"), float("nan")])
def test_an_age_that_is_none_is_refused(objects: Objects, age: float) -> None:
    with pytest.raises(ValueError, match="Invalid age"):
        objects.collect(0, age_max_s=age)


@pytest.mark.shows("READ-OBJ-VERIFY", "READ-B03")
@pytest.mark.parametrize("damage", [b"", b"alpha", b"alpha\nbeta\n\n"])
def test_a_damaged_object_is_missing_and_taken_away(objects: Objects, damage: bytes) -> None:
    objects.keep(TEXT, DIGEST)
    Path(objects.path_of(DIGEST)).write_bytes(damage)
    assert objects.load(DIGEST) is None
    assert not os.path.exists(objects.path_of(DIGEST))
    objects.keep(TEXT, DIGEST)
    assert objects.load(DIGEST) == TEXT


@pytest.mark.shows("READ-OBJ-NAMES", "READ-B21")
@pytest.mark.parametrize(
    "digest",
    ["../../etc/passwd", "", "AB" * 32, "a" * 63, "a" * 65, "a" * 64 + "\n", "/" + "a" * 63],
)
def test_what_is_no_digest_never_becomes_a_path(objects: Objects, digest: str) -> None:
    assert objects.load(digest) is None
    with pytest.raises(ValueError, match="not a digest"):
        objects.path_of(digest)


@pytest.mark.shows("READ-OBJ-BLOCKED")
def test_a_store_that_cannot_be_made_keeps_nothing_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("in the way")
    objects = Objects(tmp_path / "store")
    assert not objects.keep(TEXT, DIGEST)
    assert objects.load(DIGEST) is None
    with pytest.raises(OSError, match="directory"):
        objects.stats()
    assert objects.collect(0).scanned == 0


def test_an_object_beyond_the_cap_is_not_kept(objects: Objects) -> None:
    big = b"x" * (16 * 1024 * 1024 + 1)
    assert not objects.keep(big, digest_of(big))
