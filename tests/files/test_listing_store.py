"""Walks with stored listings of directories, judged by walks that know nothing."""

from __future__ import annotations

import os
import random
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from holdfast.files import disk, listing_cache, listing_store, names
from holdfast.files.policy import Policy
from tests.files.test_listing_cache import TWIN, ahead, change, forgetting, next_tick
from tests.scale import seeds

POLICY = Policy(custom_extensions=TWIN.custom_extensions, size_bytes_max=1 << 21)


@pytest.fixture(autouse=True)
def forgetful() -> Iterator[None]:
    listing_cache._trees.clear()
    yield
    listing_cache._trees.clear()


def store(root: Path, policy: Policy = POLICY) -> bytes:
    """What a process that has walked the tree stores; the next one knows nothing else."""
    disk.walk(str(root), policy, ahead)
    data = listing_store.stored_listings(str(root), policy)
    assert data is not None
    listing_cache._trees.clear()
    return data


@pytest.mark.shows("FILES-STORED-LISTINGS")
@pytest.mark.parametrize("seed", seeds(12))
def test_a_walk_with_stored_listings_sees_what_one_without_sees(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    root = tmp_path / "tree"
    root.mkdir()
    data = store(root)
    done = []
    for turn in range(40):
        done.append(change(root, rng))
        listing_cache._trees.clear()
        listing_store.use_listings(str(root), POLICY, partial(bytes, data))
        seen = disk.walk(str(root), POLICY, ahead)
        twin = forgetting(root)
        assert seen.stats == twin.stats, (seed, done)
        assert +seen.skipped == +twin.skipped, (seed, done)
        assert seen.unreadable == twin.unreadable, (seed, done)
        next_tick(tmp_path)
        if turn % 3 == 2:  # Some of the listings are older than the last change.
            data = store(root)


@pytest.mark.shows("FILES-STORED-LISTINGS")
def test_the_first_walk_of_a_process_lists_and_decides_nothing_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "is_trusted", lambda root: True)
    (tmp_path / "sub").mkdir()
    (tmp_path / ".gitignore").write_text("secret*\n")
    for name in ("a.py", "sub/b.py", "sub/secret.py", "sub/picture.png"):
        (tmp_path / name).write_text("x = 1\n")
    data = store(tmp_path)
    listing_store.use_listings(str(tmp_path), POLICY, lambda: data)
    listed: list[str] = []
    real = os.scandir

    def noting(path: str) -> object:
        listed.append(os.path.basename(path))
        return real(path)

    def deciding(*arguments: object) -> None:
        raise AssertionError("a name was decided again")

    monkeypatch.setattr(os, "scandir", noting)
    monkeypatch.setattr(names, "_left_out", deciding)
    found = disk.walk(str(tmp_path), POLICY, ahead)
    assert set(found.stats) == {".gitignore", "a.py", "sub/b.py"}
    assert listed == [tmp_path.name]  # It has a file of rules, which is read every time.


@pytest.mark.shows("FILES-STORED-LISTINGS")
def test_what_this_process_listed_is_not_replaced(tmp_path: Path) -> None:
    data = store(tmp_path)
    disk.walk(str(tmp_path), POLICY, ahead)
    known = listing_cache.listings_of(str(tmp_path), POLICY)
    listing_store.use_listings(str(tmp_path), POLICY, lambda: data)
    assert listing_cache.listings_of(str(tmp_path), POLICY) is known


@pytest.mark.shows("FILES-STORED-LISTINGS")
def test_other_code_policies_and_damage_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    data = store(tmp_path)
    assert listing_store.decode(data, POLICY)
    assert listing_store.decode(data, Policy(size_bytes_max=1)) is None
    for at in range(0, len(data), 7):
        assert listing_store.decode(data[:at], POLICY) is None
    assert listing_store.decode(zlib.compress(b"\x95"), POLICY) is None
    monkeypatch.setattr(listing_store, "_CODE", 1)
    assert listing_store.decode(data, POLICY) is None
    monkeypatch.setattr(listing_store, "_CODE", None)
    assert listing_store.encode({}, POLICY) is None


@pytest.mark.shows("FILES-STORED-LISTINGS")
def test_names_that_are_not_utf8_are_decided_again(tmp_path: Path) -> None:
    os.mkdir(os.fsencode(tmp_path) + b"/tree")
    root = tmp_path / "tree"
    with open(os.fsencode(root) + b"/caf\xe9.py", "w") as file:
        file.write("x = 1\n")
    data = store(root)
    listing_store.use_listings(str(root), POLICY, lambda: data)
    assert disk.walk(str(root), POLICY, ahead).skipped["unnameable"] == 1


@pytest.mark.shows("FILES-STORED-LISTINGS")
def test_rules_that_are_not_utf8_are_stored(tmp_path: Path) -> None:
    policy = Policy(ignore_patterns=("\udcff*", "\ud800"))
    (tmp_path / "a.py").write_text("x = 1\n")
    data = store(tmp_path, policy)
    assert listing_store.decode(data, policy)
    assert listing_store.decode(data, Policy(ignore_patterns=("\udcfe*", "\ud800"))) is None


@pytest.mark.shows("FILES-STORED-LISTINGS")
def test_the_code_is_that_which_was_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """An upgrade replaces files while a host goes on with the code that it has loaded."""
    monkeypatch.setattr(Path, "read_bytes", lambda self: b"the next version")
    data = listing_store.encode({}, POLICY)
    monkeypatch.undo()
    assert data is not None
    assert listing_store.decode(data, POLICY) == {}
