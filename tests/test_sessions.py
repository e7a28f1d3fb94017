"""Session logs in the store: durable, shared, and in order."""

import threading
from pathlib import Path

import pytest

from holdfast.sessions import StoredLog, names
from holdfast.store.store import open_store


def test_a_log_gives_back_what_was_appended(tmp_path: Path) -> None:
    with open_store(tmp_path, "sessions") as store:
        log = StoredLog(store, "demo", "writer")
        assert log.grown() == (False, [])
        log.append({"id": "a", "kind": "message"})
        log.append({"id": "b", "kind": "read", "meta": {"n": 1}})
        assert [entry["id"] for entry in log.grown()[1] if entry] == ["a", "b"]
        assert log.grown() == (False, [])
    with open_store(tmp_path, "sessions") as store:
        again = StoredLog(store, "demo", "other")
        assert [entry["id"] for entry in again.entries()] == ["a", "b"]
        assert list(StoredLog(store, "demo2", "other").entries()) == []


def test_the_names_are_those_of_logs_with_entries() -> None:
    with open_store("memory:", "sessions") as store:
        assert names(store) == []
        for name in ("b", "a", "a-1", "a.b", "a0", "ab"):
            for number in range(2):
                StoredLog(store, name, f"{name}-writer-{number}").append({"id": str(number)})
        assert sorted(names(store)) == ["a", "a-1", "a.b", "a0", "ab", "b"]
        assert len(names(store, 2)) == 2


@pytest.mark.shows("READ-NATIVE-STORED")
def test_writers_at_the_same_moment_lose_nothing(tmp_path: Path) -> None:
    """Two handles, four threads: every entry is there once, and each writer's are in its order."""
    stores = [open_store(tmp_path, "sessions") for _ in range(2)]

    def write(name: int) -> None:
        log = StoredLog(stores[name % 2], "demo", f"writer-{name}")
        for n in range(25):
            log.append({"id": f"{name}-{n}", "writer": name, "n": n})

    threads = [threading.Thread(target=write, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    entries = list(StoredLog(stores[0], "demo", "reader").entries())
    assert len(entries) == 100
    for name in range(4):
        assert [e["n"] for e in entries if e["writer"] == name] == list(range(25))
    assert stores[0].verify().findings == []
    for store in stores:
        store.close()


@pytest.mark.shows("READ-NATIVE-STORED")
def test_a_deleted_entry_leaves_a_gap_and_stops_nobody(tmp_path: Path) -> None:
    """Appending behind a deleted last entry used to look for its end forever."""
    with open_store(tmp_path, "sessions") as store:
        log = StoredLog(store, "demo", "writer")
        for name in "abc":
            log.append({"id": name})
        for number in (0, 2):
            id = f"session:demo/{number:010d}"
            operations = [{"op": "delete", "id": id}]
            store.transact(f"person-{number}", {"localSeq": 1, "operations": operations})
        again = StoredLog(store, "demo", "other")
        again.append({"id": "d"})
        assert [entry["id"] for entry in again.grown()[1] if entry] == ["b", "d"]
        assert again.grown() == (False, []), "an entry is told once"
        assert [entry["id"] for entry in again.entries()] == ["b", "d"]
