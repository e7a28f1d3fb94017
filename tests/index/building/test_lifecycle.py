"""Runs end in one of two ways: published, or back to what can still be proven."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holdfast.files import disk
from holdfast.index.answers import ManageAnswer
from holdfast.index.building import lifecycle
from holdfast.index.building.progress import Progress
from holdfast.index.code_index import CodeIndex, run_in_thread
from holdfast.index.embedding.hashed import HashedEmbedding
from holdfast.index.errors import BackendUnavailable, RegistryDamaged
from holdfast.index.facts.model import decode
from holdfast.index.generations.leases import Leases, process_start
from holdfast.index.generations.record import (
    Indexed,
    IndexFailed,
    Indexing,
    Options,
    Record,
    SyncCompleted,
    Unseen,
)
from holdfast.index.generations.registry import REGISTRY_FORMAT, Registry
from holdfast.index.generations.sqlite.backend import SqliteBackend
from holdfast.index.search import posting_segment as segments_of
from holdfast.index.tools import manage
from holdfast.index.tools.manage.request import ManageRequest
from holdfast.index.tools.manage.sync import sync
from tests.index.tools.test_decision_tables import make_ready
from tests.index.wire import list_codebases, manage_index, search_code
from tests.index.world import World


def labels(world: World, query: str, **more: Any) -> list[str]:
    answer: Any = search_code(world.index, world.root, query, **more)
    assert answer["status"] == "ok", answer
    return [r["symbolLabel"] for r in answer["results"] if r["symbolLabel"]]


class Remote(HashedEmbedding):
    """Stands for a paid provider: counts what it embeds, and fails when told."""

    name = "remote"
    local = False

    def __init__(self) -> None:
        super().__init__()
        self.embedded: list[str] = []
        self.broken = False

    def embed(self, texts: Sequence[str]) -> Any:
        if self.broken:
            raise ConnectionError("quota exceeded")
        self.embedded += texts
        return super().embed(texts)

    def embed_query(self, text: str) -> Any:
        return super().embed([text])


@pytest.mark.shows("INDEX-EMBEDDING-FAILS-RUN", "INDEX-PREVIOUS-SERVES")
def test_a_failed_embedding_fails_the_run_and_the_previous_generation_serves(world: World) -> None:
    provider = Remote()
    world.index.provider = provider
    make_ready(world)
    before = labels(world, "total price")
    world.write("src/new.py", "def refund():\n    pass\n")
    provider.broken = True
    answer: Any = manage_index(world.index, "sync", world.root)
    assert answer["status"] == "error"
    assert "quota exceeded" in answer["humanText"]
    manage_index(world.index, "reindex", world.root)
    status: Any = manage_index(world.index, "status", world.root)
    assert status["status"] == "ok"
    assert "The last run failed" in status["humanText"]
    assert "quota exceeded" in status["humanText"]
    assert before[0] in labels(world, "total price")
    provider.broken = False
    manage_index(world.index, "reindex", world.root)
    assert "The last run failed" not in manage_index(world.index, "status", world.root)["humanText"]
    assert "refund" in labels(world, "refund")


@pytest.mark.shows("INDEX-EMBEDDING-FAILS-RUN")
def test_a_first_run_that_fails_leaves_no_marker(world: World) -> None:
    provider = Remote()
    provider.broken = True
    world.index.provider = provider
    manage_index(world.index, "create", world.root)
    status: Any = manage_index(world.index, "status", world.root)
    assert status["status"] == "error"
    assert "quota exceeded" in status["humanText"]
    assert world.backend.inner.read_marker(world.root) is None


@pytest.mark.shows("INDEX-PREVIOUS-SERVES", "INDEX-DISK-FULL")
def test_a_disk_that_fills_up_at_the_end_leaves_the_previous_generation(world: World) -> None:
    make_ready(world)
    world.write("src/cart.py", "def entirely_different():\n    pass\n")
    world.backend.writing = "late"
    manage_index(world.index, "reindex", world.root)
    status: Any = manage_index(world.index, "status", world.root)
    assert status["status"] == "ok"
    assert "disk is full" in status["humanText"]
    assert manage_index(world.index, "sync", world.root)["status"] == "error"
    assert "price_of" in labels(world, "price of")


@pytest.mark.shows("INDEX-REUSE")
def test_vectors_and_facts_are_reused_across_clones_branches_and_failures(
    world: World, tmp_path: Path
) -> None:
    provider = Remote()
    world.index.provider = provider
    make_ready(world)
    first = len(provider.embedded)
    assert first > 0
    extracted: list[str] = []
    extract = world.index.extract

    def counting(path: str, source: bytes) -> Any:
        extracted.append(path)
        return extract(path, source)

    counting.__module__, counting.__qualname__ = extract.__module__, extract.__qualname__
    world.index.extract = counting
    clone = tmp_path / "clone"
    for path in world.tree.rglob("*"):
        if path.is_file():
            target = clone / path.relative_to(world.tree)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    assert manage_index(world.index, "create", str(clone))["status"] == "ok"
    assert extracted == []
    assert len(provider.embedded) == first
    # One function of a file changes: only its text is embedded again.
    text = (world.tree / "src/cart.py").read_text()
    world.write("src/cart.py", text.replace("cart.append(item)", "cart.insert(0, item)"))
    manage_index(world.index, "sync", world.root)
    assert extracted == ["src/cart.py"]
    assert len(provider.embedded) == first + 1


@pytest.mark.long
@pytest.mark.shows("INDEX-PARSER-CRASH")
def test_a_file_that_kills_the_parser_is_kept_as_text(world: World) -> None:
    for number in range(40):
        world.write(f"src/f{number}.py", f"def f{number}():\n    pass\n" + "# filler\n" * 2000)
    world.write("src/bad.py", "# CRASH THE PARSER with undefined_behaviour_zone\n")
    world.index.processes = 2
    make_ready(world)
    for query in ("undefined_behaviour_zone", "re:behaviour_z.ne"):
        answer: Any = search_code(world.index, world.root, query)
        assert answer["results"][0]["file"] == "src/bad.py"
    with world.backend.reader(world.root) as reader:
        (kept,) = reader.facts(["src/bad.py"]).values()
        assert [problem.code for problem in decode(kept).problems] == ["too_hard"]
        assert reader.totals().files == 45


@pytest.mark.long
@pytest.mark.shows("INDEX-POOL")
def test_many_processes_make_the_same_index_as_one(world: World) -> None:
    for number in range(60):
        body = "".join(f"    step_{number}_{line}()\n" for line in range(600))
        world.write(f"src/f{number}.py", f"def f{number}():\n{body}")
    dumps = []
    for processes in (1, 2, 5):
        world.index.processes = processes
        world.index.content.close()
        (world.home / "index" / "content.sqlite").unlink(missing_ok=True)
        manage_index(world.index, "create", world.root, force=True)
        with world.backend.reader(world.root) as reader:
            segments = [part.segment for part in reader.corpus().parts]
            dumps.append(
                [
                    [(segments_of.pack(s), segments_of.pack_vectors(s)) for s in segments],
                    list(reader.kept_files()),
                    [
                        [path, entry, reader.chunks_of(path), reader.facts([path])]
                        for path, entry in sorted(reader.snapshot().entries.items())
                    ],
                ]
            )
    assert dumps[0] == dumps[1] == dumps[2]


@pytest.mark.shows("INDEX-LIMIT-REACHED", "ISS-INDEX-STABILITY-A24")
def test_iss_index_stability_a24_a_limit_that_is_reached_is_said(world: World) -> None:
    world.index.chunks_max = 3
    make_ready(world)
    status: Any = manage_index(world.index, "status", world.root)
    assert status["status"] == "ok"
    assert "limit_reached (partial" in status["humanText"]
    assert "only partly indexed" in status["humanText"]
    assert "fully indexed" not in status["humanText"]
    world.later(60)
    manage_index(world.index, "sync", world.root)
    status = manage_index(world.index, "status", world.root)
    assert "sync completed, only partly indexed" in status["humanText"]
    assert (
        "(partial: the limit of chunks was reached; HOLDFAST_INDEX_CHUNKS_MAX raises it)"
        in list_codebases(world.index)["text"]
    )
    assert "fully indexed" not in status["humanText"]


@pytest.mark.shows("INDEX-LIMIT-REACHED")
@pytest.mark.parametrize("processes", [1, 2])
def test_a_sync_at_the_limit_takes_nothing_for_removed(
    world: World, monkeypatch: pytest.MonkeyPatch, processes: int
) -> None:
    """Files that the run did not get to were taken out of the index and told as removed; those it
    had read ahead were said to be indexed as they are now, and were not."""
    monkeypatch.setattr("holdfast.index.building.workers.POOL_BYTES_MIN", 0)
    world.index.processes = processes
    make_ready(world)
    world.index.chunks_max = 1
    for name in ("cart", "checkout", "prices"):
        world.write(f"src/{name}.py", f"def renewed_{name}():\n    pass\n")
    for name in ("aaa", "zzz"):
        world.write(f"src/{name}.py", f"def added_{name}():\n    pass\n")
    world.later(60)
    synced: Any = manage_index(world.index, "sync", world.root)
    assert synced["syncStats"] == {
        "added": 0, "removed": 0, "modified": 3, "renamed": 0, "unreadable": 0,
    }  # fmt: skip
    assert "partial" in manage_index(world.index, "status", world.root)["humanText"]
    with world.index.backend.reader(world.root) as reader:
        stored = reader.snapshot().entries
        assert {key for key in stored if key.endswith(".py")} == {
            "src/cart.py", "src/checkout.py", "src/prices.py",
        }  # fmt: skip
        for name in ("cart", "checkout", "prices"):
            (chunk,) = reader.chunks_of(f"src/{name}.py")
            assert f"renewed_{name}" in chunk.text
    manifest = world.index.freshness.manifest(world.root)
    assert manifest is not None
    assert manifest[1].entries == stored
    world.later(60)
    found: Any = search_code(world.index, world.root, "added_zzz")
    assert found["results"][0]["file"] == "src/zzz.py"
    assert found["freshnessDecision"]["mode"] == "overlay"


@pytest.mark.shows("INDEX-LIMIT-REACHED")
def test_an_index_that_just_fits_is_whole(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    make_ready(world)
    with world.index.backend.reader(world.root) as reader:
        chunks = reader.totals().chunks
    world.index.chunks_max = chunks
    manage_index(world.index, "reindex", world.root)
    assert "partial" not in manage_index(world.index, "status", world.root)["humanText"]


@pytest.mark.shows("INDEX-PROGRESS")
def test_progress_has_phases_counts_and_never_goes_back(world: World) -> None:
    seen: list[Progress] = []
    manage_index(world.index, "create", world.root, report=seen.append)
    assert list(dict.fromkeys(p.phase for p in seen)) == ["scanning", "extracting", "publishing"]
    assert [p.pct for p in seen] == sorted(p.pct for p in seen)
    assert seen[-1].pct == 100
    assert seen[-1].done == seen[-1].total == 4
    assert "extracting" in str(seen[1])


@pytest.mark.shows("INDEX-BACKGROUND", "ISS-INDEX-STABILITY-A22")
def test_iss_index_stability_a22_a_background_run_gates_reads_and_the_second_create_loses(
    world: World,
) -> None:
    world.index.start = run_in_thread
    go_on, begun, done = threading.Event(), threading.Event(), threading.Event()
    extract = world.index.extract

    def slow(path: str, source: bytes) -> Any:
        begun.set()
        assert go_on.wait(20)
        return extract(path, source)

    world.index.extract = slow
    released = world.index.start

    def start(job: Any) -> None:
        def run() -> None:
            job()
            done.set()

        released(run)

    world.index.start = start
    first: Any = manage_index(world.index, "create", world.root)
    assert "Started background indexing" in first["humanText"]
    assert begun.wait(20)
    second: Any = manage_index(world.index, "create", world.root)
    assert (second["status"], second["reason"]) == ("not_ready", "indexing")
    assert search_code(world.index, world.root, "price")["status"] == "not_ready"
    world.later(10_000)
    third: Any = manage_index(world.index, "reindex", world.root)
    assert third["status"] == "not_ready", "a slow writer is not a dead one"
    go_on.set()
    assert done.wait(20)
    assert search_code(world.index, world.root, "price")["status"] == "ok"


@pytest.mark.shows("INDEX-IGNORE-CHANGE")
def test_a_sync_applies_changed_ignore_rules(world: World) -> None:
    make_ready(world)
    world.write(".gitignore", "src/prices.py\n")
    answer: Any = manage_index(world.index, "sync", world.root)
    assert answer["syncStats"]["removed"] == 1
    assert "lookup" not in labels(world, "lookup")
    (world.tree / ".gitignore").unlink()
    manage_index(world.index, "sync", world.root)
    assert "lookup" in labels(world, "lookup")


@pytest.mark.shows("INDEX-OPTIONS")
def test_a_sync_keeps_to_what_was_asked_for_at_create(world: World) -> None:
    world.write("src/data.weird", "def odd_one():\n    pass\n")
    manage_index(
        world.index, "create", world.root, custom_extensions=[".weird"], ignore_patterns=["docs/"]
    )
    world.write("src/more.weird", "def odd_two():\n    pass\n")
    world.write("docs/new.md", "# hidden page\n")
    manage_index(world.index, "sync", world.root)
    with world.backend.reader(world.root) as reader:
        paths = set(reader.snapshot().entries)
    assert {"src/data.weird", "src/more.weird"} <= paths
    assert not any(path.startswith("docs/") for path in paths)


@pytest.mark.shows("INDEX-WATCH")
def test_a_watched_root_keeps_itself_in_sync(world: World) -> None:
    world.index.watches = True
    synced = threading.Event()
    change = world.index.registry.change

    def noting(root: str, decide: Any) -> Any:
        after = change(root, decide)
        if after is not None and isinstance(after.state, SyncCompleted):
            synced.set()
        return after

    world.index.registry.change = noting  # type: ignore[method-assign]
    manage_index(world.index, "create", world.root)
    assert world.index.watchers[world.root].ready.wait(10)
    world.write("src/new.py", "def refund_everything():\n    pass\n")
    assert synced.wait(20)
    manage_index(world.index, "clear", world.root)
    assert world.index.watchers == {}


@pytest.mark.shows("INDEX-WATCH")
def test_a_root_that_is_cleared_during_a_sync_is_not_watched_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.index.watches = True
    manage_index(world.index, "create", world.root)
    watcher = world.index.watchers[world.root]
    assert watcher.ready.wait(10)

    def cleared_meanwhile(index: CodeIndex, request: ManageRequest) -> ManageAnswer:
        answer = sync(index, request)
        assert answer.sync_stats is not None
        index.watchers.pop(world.root).stop()
        return answer

    monkeypatch.setattr(manage, "sync", cleared_meanwhile)
    manage._sync_quietly(world.index, world.root)
    assert world.index.watchers == {}


# Freshness without writing.


@pytest.mark.shows("INDEX-FRESHNESS")
def test_changed_files_are_ranked_as_they_are_now_and_the_answer_says_so(world: World) -> None:
    make_ready(world)
    world.write("src/new.py", "def refund_everything():\n    pass\n")
    world.write("src/cart.py", "def total_price_v2(cart):\n    return 3\n")
    (world.tree / "src/prices.py").unlink()
    before = world.bytes_at_rest()
    answer: Any = search_code(world.index, world.root, "refund everything")
    assert answer["results"][0]["symbolLabel"] == "refund_everything"
    assert answer["results"][0]["stalenessBucket"] == "fresh"
    assert answer["freshnessDecision"]["mode"] == "overlay"
    assert answer["freshnessDecision"]["stats"] == {
        "added": 1, "modified": 1, "removed": 1, "unread": 0,
    }  # fmt: skip
    found = labels(world, "total price")
    assert "total_price_v2" in found
    assert "total_price" not in found
    assert "price_of" not in labels(world, "price of item lookup")
    assert world.bytes_at_rest() == before
    with world.backend.reader(world.root) as reader:
        assert "src/new.py" not in reader.snapshot().entries


@pytest.mark.shows("INDEX-FRESHNESS")
def test_an_overlay_ranks_as_the_synced_index_does(world: World) -> None:
    make_ready(world)
    world.write("src/new.py", "def settle_invoice(bill):\n    pass\n\ndef invoice():\n    pass\n")
    over: Any = search_code(world.index, world.root, "settle the invoice bill")
    manage_index(world.index, "sync", world.root)
    world.later(10)
    stored: Any = search_code(world.index, world.root, "settle the invoice bill")
    key = [(r["file"], r["symbolLabel"]) for r in stored["results"]]
    assert [(r["file"], r["symbolLabel"]) for r in over["results"]][:2] == key[:2]


@pytest.mark.shows("INDEX-FRESHNESS")
def test_a_recent_look_serves_until_a_hit_moves(world: World) -> None:
    make_ready(world)
    first: Any = search_code(world.index, world.root, "total price")
    assert first["freshnessDecision"]["mode"] == "skipped_source_unchanged"
    second: Any = search_code(world.index, world.root, "total price")
    assert second["freshnessDecision"]["mode"] == "skipped_recent"
    world.write("src/cart.py", "def something_else():\n    pass\n")
    third: Any = search_code(world.index, world.root, "total price")
    assert third["freshnessDecision"]["mode"] == "overlay"
    assert "total_price" not in [r["symbolLabel"] for r in third["results"]]


# The registry and leases.


@pytest.mark.shows("INDEX-REGISTRY-ROUNDTRIP")
@pytest.mark.parametrize(
    "state",
    [
        Indexed(3, 4, "limit_reached"), SyncCompleted(1, 2, 3, 4, 5), IndexFailed("x", 3.5),
        Indexing("run", 5.0, "extracting", Indexed(1, 2)),
    ],
)  # fmt: skip
def test_a_record_comes_back_as_it_was(tmp_path: Path, state: Any) -> None:
    registry = Registry(tmp_path / "r.json")
    record = Record(
        "/repo", state, "2026", options=Options((".x",), ("a/",)), last_error="e",
        unseen=Unseen(7, ("a", "b/c"), 2),
    )  # fmt: skip
    registry.change("/repo", lambda now: record)
    assert Registry(tmp_path / "r.json").records() == {"/repo": record}


@pytest.mark.shows("INDEX-REGISTRY-FORMAT")
def test_the_registry_format_has_this_shape(tmp_path: Path) -> None:
    """Change the shape and you need a new REGISTRY_FORMAT."""
    registry = Registry(tmp_path / "r.json")
    registry.change("/repo", lambda now: Record("/repo", Indexed(3, 4), "2026"))
    import json

    assert REGISTRY_FORMAT == 3
    assert json.loads((tmp_path / "r.json").read_text()) == {
        "formatVersion": 3,
        "check": 3871633124,
        "codebases": {
            "/repo": {
                "status": "indexed", "indexedFiles": 3, "totalChunks": 4,
                "indexStatus": "completed", "lastUpdated": "2026", "indexFingerprint": None,
                "fingerprintSource": "verified", "customExtensions": [], "ignorePatterns": [],
                "unreadable": 0, "unreadableExamples": [], "unnameable": 0, "unparsed": [],
                "unparsedMore": 0,
            }
        },
    }  # fmt: skip


@pytest.mark.shows("INDEX-REGISTRY-FORMAT")
def test_a_registry_of_format_1_is_read_as_it_is_and_written_by_a_change_only(
    tmp_path: Path,
) -> None:
    import json

    path = tmp_path / "r.json"
    old = {"status": "indexed", "indexedFiles": 3, "totalChunks": 4, "lastUpdated": "2026"}
    text = json.dumps({"formatVersion": 1, "codebases": {"/repo": old}})
    path.write_text(text)
    registry = Registry(path)
    assert registry.records() == {"/repo": Record("/repo", Indexed(3, 4), "2026")}
    assert path.read_text() == text
    registry.change("/other", lambda now: Record("/other", Indexed(1, 1), "2026"))
    assert json.loads(path.read_text())["formatVersion"] == REGISTRY_FORMAT
    assert set(registry.records()) == {"/repo", "/other"}


@pytest.mark.shows("INDEX-UNSEEN")
def test_what_a_run_could_not_take_in_is_said_by_every_tool_of_its_root(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(7):
        world.write(f"locked/{number}.py", "x = 1\n")
    odd = os.path.join(os.fsencode(world.root), b"caf\xe9.py")
    with open(odd, "wb") as file:
        file.write(b"x = 1\n")
    world.write("back\\slash.py", "x = 1\n")
    really = disk.read_file

    def refused(root: str, key: str) -> Any:
        if key.startswith("locked/"):
            raise PermissionError(13, "Permission denied", key)
        return really(root, key)

    monkeypatch.setattr(disk, "read_file", refused)
    make_ready(world)
    read = "7 parts could not be read and may be missing from the index: locked/0.py, locked/1.py"
    named = "2 names left out: not UTF-8, or with a backslash."

    def said(answer: Any) -> None:
        assert read in answer["humanText"]
        assert "locked/4.py, …" in answer["humanText"]
        assert named in answer["humanText"]
        assert [w["code"] for w in answer["warnings"]] == ["INDEX_PARTS_UNSEEN"] * 2

    said(manage_index(world.index, "status", world.root))
    said(manage_index(world.index, "sync", world.root))
    listed = list_codebases(world.index)
    assert listed["codebases"][0]["detail"] == "7 parts unreadable, 2 names left out"
    # Once everything can be read again, nothing is said.
    monkeypatch.setattr(disk, "read_file", really)
    os.unlink(odd)
    os.unlink(os.path.join(world.root, "back\\slash.py"))
    assert manage_index(world.index, "sync", world.root)["syncStats"]["added"] == 7
    answer = manage_index(world.index, "status", world.root)
    assert "warnings" not in answer
    assert list_codebases(world.index)["codebases"][0]["detail"] is None


@pytest.mark.shows("INDEX-HOME-HINT")
def test_a_home_that_cannot_be_used_is_not_to_be_repaired(world: World, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    registry = Registry(tmp_path / "file" / "index" / "registry.json")
    with pytest.raises(RegistryDamaged) as caught:
        registry.records()
    assert "HOLDFAST_HOME" in caught.value.hint
    backend = SqliteBackend(tmp_path / "file" / "roots", 1)
    with pytest.raises(BackendUnavailable) as refused:
        backend.check("/repo")
    assert "HOLDFAST_HOME" in refused.value.hint


@pytest.mark.shows("INDEX-REGISTRY-DAMAGED")
@pytest.mark.parametrize("text", ["", "{", "[]", '{"formatVersion": 0, "codebases": {}}', "\xff"])
def test_a_registry_that_cannot_be_read_is_never_an_empty_one(world: World, text: str) -> None:
    make_ready(world)
    world.registry_path.write_bytes(text.encode("latin-1"))
    with pytest.raises(RegistryDamaged):
        search_code(world.index, world.root, "price")
    with pytest.raises(RegistryDamaged):
        list_codebases(world.index)
    assert manage_index(world.index, "create", world.root)["status"] == "error"
    assert world.registry_path.read_bytes() == text.encode("latin-1")
    assert world.index.registry.set_aside() is not None
    assert lifecycle.reconcile_nondestructive(world.index) == [world.root]
    assert search_code(world.index, world.root, "price")["status"] == "ok"


@pytest.mark.shows("INDEX-REGISTRY-DAMAGED")
def test_one_damaged_entry_is_listed_as_failed_and_kept(world: World) -> None:
    import json

    make_ready(world)
    wire = json.loads(world.registry_path.read_text())
    wire["codebases"]["/other"] = {"status": "odd"}
    del wire["check"]
    world.registry_path.write_text(json.dumps(wire | {"formatVersion": 2}))
    assert "/other (the registry entry is damaged" in list_codebases(world.index)["text"]
    manage_index(world.index, "sync", world.root)
    assert json.loads(world.registry_path.read_text())["codebases"]["/other"] == {"status": "odd"}


@pytest.mark.shows("INDEX-REGISTRY-CONCURRENT")
def test_two_writers_never_lose_each_others_roots(tmp_path: Path) -> None:
    path = tmp_path / "r.json"

    def _put(record: Record, now: Record | None) -> Record:
        return record

    def write(prefix: str) -> None:
        registry = Registry(path)
        for number in range(40):
            root = f"/{prefix}{number}"
            record = Record(root, Indexed(1, 1), "")
            registry.change(root, partial(_put, record))

    threads = [threading.Thread(target=write, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(Registry(path).records()) == 120


@pytest.mark.shows("INDEX-LEASE")
def test_a_lease_is_for_one_and_ends_with_its_holder(tmp_path: Path) -> None:
    leases = Leases(tmp_path)
    first = leases.acquire("/repo", "run_1", "create")
    assert first is not None
    assert leases.live_writer("/repo") is None, "nothing is written yet"
    first.announce()
    assert leases.acquire("/repo", "run_2", "create") is None
    assert leases.acquire("/other", "run_2", "create") is not None
    writer = leases.live_writer("/repo")
    assert writer is not None
    assert (writer.pid, writer.run_id) == (os.getpid(), "run_1")
    first.release()
    first.release()
    assert leases.live_writer("/repo") is None
    assert leases.acquire("/repo", "run_3", "sync") is not None


@pytest.mark.shows("INDEX-LEASE")
def test_a_process_is_told_from_a_later_one_with_its_pid() -> None:
    import subprocess

    child = subprocess.Popen(["sleep", "60"])
    try:
        start = process_start(child.pid)
        assert start
        assert start == process_start(child.pid)
    finally:
        child.kill()
        child.wait()
    assert process_start(child.pid) == ""


def test_vectors_of_the_default_embedding_do_not_depend_on_the_process() -> None:
    """Built in one process, asked in another: the vectors have to be the same."""
    one = HashedEmbedding().embed(["def parse_http(request)", "", "ünïcode wörds"])
    other = HashedEmbedding()
    other.embed([f"warm up {number}" for number in range(50)])
    again = other.embed(["def parse_http(request)", "", "ünïcode wörds"])
    assert np.allclose(one, again, atol=1e-6)
    assert np.allclose(np.linalg.norm(one, axis=1), [1, 0, 1], atol=1e-5)
    assert np.allclose(one[0, :8], FIRST_VALUES, atol=1e-3)


# These change only with the model's name.
FIRST_VALUES = [-0.0896, 0.0, 0.0, 0.045, 0.0, -0.0896, 0.0, 0.0]
