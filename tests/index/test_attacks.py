"""Attacks on an index that once went through; each test tells what went wrong."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import threading
from pathlib import Path
from typing import Any

import apsw
import pytest

from holdfast.errors import HoldfastError, UsageError
from holdfast.files import listing_cache
from holdfast.index.building.preflight import IgnoreOnly, Needed, preflight
from holdfast.index.building.progress import Progress
from holdfast.index.errors import BackendUnavailable, OutsideRoot, RegistryDamaged
from holdfast.index.generations.record import IndexFailed, Indexing
from holdfast.index.generations.registry import Registry
from holdfast.index.generations.sqlite import tables as sqlite_tables
from tests.index.wire import (
    call_graph,
    file_outline,
    list_codebases,
    manage_index,
    read_file,
    search_code,
)
from tests.index.world import World
from tests.scale import size


@pytest.fixture
def ready(world: World) -> World:
    manage_index(world.index, "create", world.root)
    return world


@pytest.mark.shows("INDEX-RELATIVE-KEY")
def test_a_linked_folder_does_not_lead_out_of_the_tree(ready: World, tmp_path: Path) -> None:
    """A relative name was only looked at for `..`: through a link in the tree the outline of any
    file on the machine could be asked for, and code like it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text("def secret_thing():\n    pass\n")
    (ready.tree / "link").symlink_to(outside)
    with pytest.raises(OutsideRoot):
        file_outline(ready.index, ready.root, "link/secret.py")
    with pytest.raises(OutsideRoot):
        call_graph(
            ready.index, ready.root, {"file": "link/secret.py", "symbolLabel": "secret_thing"}
        )
    with pytest.raises(HoldfastError, match="there is no file"):
        search_code(ready.index, ready.root, "", similar="link/secret.py")


@pytest.mark.shows("INDEX-RELATIVE-KEY")
def test_a_linked_folder_inside_the_tree_names_the_file_it_leads_to(ready: World) -> None:
    (ready.tree / "link").symlink_to(ready.tree / "src")
    found: Any = file_outline(ready.index, ready.root, "link/cart.py")
    assert (found["status"], found["file"]) == ("ok", "src/cart.py")


@pytest.mark.shows("ISS-INDEX-STABILITY-A15")
def test_a_part_of_a_root_is_governed_by_it_in_every_action(ready: World) -> None:
    """Status said of a folder in an indexed tree that neither it nor anything above was indexed,
    and told to create an index for it; the search in that folder answered all along."""
    part = f"{ready.root}/src"
    status: Any = manage_index(ready.index, "status", part)
    assert (status["status"], status["path"]) == ("ok", part)
    assert f"'{part}' is part of '{ready.root}'." in status["humanText"]
    assert "fully indexed and ready for search" in status["humanText"]
    ready.write("src/late.py", "def late():\n    pass\n")
    ready.later(60)
    synced: Any = manage_index(ready.index, "sync", part)
    assert (synced["status"], synced["path"]) == ("ok", part)
    assert synced["syncStats"]["added"] == 1
    ready.backend.marker = None
    stale: Any = manage_index(ready.index, "status", part)
    assert stale["status"] == "not_indexed"
    assert stale["hints"]["create"]["args"]["path"] == ready.root


@pytest.mark.shows("ISS-INDEX-STABILITY-A15", "ISS-INDEX-STABILITY-D1")
def test_clearing_a_part_of_a_root_clears_nothing_and_names_the_root(ready: World) -> None:
    cleared: Any = manage_index(ready.index, "clear", f"{ready.root}/src")
    assert (cleared["status"], cleared["reason"]) == ("not_indexed", "not_indexed")
    assert cleared["hints"]["clear"]["args"]["path"] == ready.root
    assert ready.membership() == [ready.root]
    assert manage_index(ready.index, "status", ready.root)["status"] == "ok"


def database(world: World) -> Path:
    (path,) = (world.home / "index" / "roots").glob("*.sqlite")
    return path


def state(world: World) -> str:
    return str(manage_index(world.index, "status", world.root)["humanText"])


@pytest.mark.shows("INDEX-DAMAGED-HEALS")
@pytest.mark.parametrize("action", ["create", "reindex"])
@pytest.mark.parametrize("page", range(size(8, 2)))
def test_a_rebuild_mends_a_damaged_file(ready: World, action: Any, page: int) -> None:
    """Where the file's first page was good and another was not, every rebuild failed at the old
    tables, with the advice to rebuild; only a clear helped, which nothing said."""
    ready.backend.inner.close()
    data = bytearray(database(ready).read_bytes())
    assert len(data) >= 8 * sqlite_tables.PAGE_BYTES
    start = page * sqlite_tables.PAGE_BYTES
    data[start : start + sqlite_tables.PAGE_BYTES] = b"\xaa" * sqlite_tables.PAGE_BYTES
    database(ready).write_bytes(data)
    manage_index(ready.index, action, ready.root, force=True)
    assert "The last run failed" not in state(ready)
    assert "fully indexed and ready for search" in state(ready)
    assert "probe_failed" not in state(ready)
    found: Any = search_code(ready.index, ready.root, "total price")
    assert found["results"][0]["file"] == "src/cart.py"


@pytest.mark.shows("INDEX-DAMAGED-HEALS")
def test_pages_that_are_damaged_and_free_fail_one_rebuild_at_most(ready: World) -> None:
    ready.write(
        "src/big.py", "".join(f"def f{n}():\n    return {n}\n\n" for n in range(size(3000, 700)))
    )
    ready.later(60)
    manage_index(ready.index, "sync", ready.root)
    os.unlink(ready.tree / "src/big.py")
    manage_index(ready.index, "sync", ready.root)
    ready.backend.inner.close()
    connection = apsw.Connection(str(database(ready)))
    connection.set_busy_timeout(60_000)  # the log of the last run may still be folded in
    free, pages = connection.pragma("freelist_count"), connection.pragma("page_count")
    connection.close()
    assert free > 3
    data = bytearray(database(ready).read_bytes())
    trunk = int.from_bytes(data[32:36], "big")
    start = (trunk - 1) * sqlite_tables.PAGE_BYTES
    data[start : start + sqlite_tables.PAGE_BYTES] = b"\xaa" * sqlite_tables.PAGE_BYTES
    database(ready).write_bytes(data)
    assert trunk <= pages
    manage_index(ready.index, "reindex", ready.root)
    manage_index(ready.index, "create", ready.root)
    assert "fully indexed and ready for search" in state(ready)
    assert "The last run failed" not in state(ready)


@pytest.mark.shows("INDEX-DISK-FULL")
def test_a_disk_that_fills_up_after_publishing_takes_nothing_back(
    ready: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tidying up after a commit may fail; the sync then told that it had failed and changed
    nothing, and what it had published was served."""
    real = sqlite_tables.rows

    def full(connection: apsw.Connection, sql: str, *rest: Any) -> list[Any]:
        if "wal_checkpoint" in sql:
            raise apsw.FullError("database or disk is full")
        return real(connection, sql, *rest)

    monkeypatch.setattr(sqlite_tables, "rows", full)
    ready.write("src/late.py", "def late():\n    pass\n")
    ready.later(60)
    synced: Any = manage_index(ready.index, "sync", ready.root)
    assert (synced["status"], synced["syncStats"]["added"]) == ("ok", 1)


@pytest.mark.shows("INDEX-PREVIOUS-SERVES")
def test_a_failed_run_over_a_proven_index_that_the_registry_lost_leaves_it_to_serve(
    ready: World,
) -> None:
    """The state went to *indexed* and the fingerprint stayed unknown, so that a proven index was
    said to be incompatible with the settings that had made it."""
    ready.registry_path.unlink()
    ready.backend.writing = "late"
    manage_index(ready.index, "create", ready.root)
    status: Any = manage_index(ready.index, "status", ready.root)
    assert status["status"] == "ok"
    assert "The last run failed (the disk is full)" in status["humanText"]
    assert search_code(ready.index, ready.root, "price")["status"] == "ok"


@pytest.mark.shows("INDEX-PREVIOUS-SERVES")
def test_a_run_that_fails_after_it_was_published_is_not_said_to_have_failed(ready: World) -> None:
    """The answer to the last step was lost, or the caller's progress raised: the new generation
    served under the counts of the old, with the word that the one before was served."""
    ready.write("src/late.py", "def late():\n    pass\n")

    def broken(progress: Progress) -> None:
        if progress.pct == 100:
            raise BackendUnavailable("the connection was lost")

    manage_index(ready.index, "reindex", ready.root, report=broken)
    assert "5 files" in state(ready)
    assert "The last run failed" not in state(ready)


@pytest.mark.shows("INDEX-PREVIOUS-SERVES")
@pytest.mark.parametrize("published", [False, True])
def test_a_run_that_died_is_mentioned_if_another_one_is_served(
    ready: World, published: bool
) -> None:
    record = ready.index.registry.find(ready.root)
    proof = ready.index.prove(ready.root)
    assert record is not None
    assert proof.marker is not None
    run = proof.marker.run_id if published else "run_dead"
    ready.put_record(Indexing(run, 40.0))
    ready.later(600)
    assert manage_index(ready.index, "create", ready.root)["status"] == "blocked"
    assert ("The last run failed (indexing was interrupted" in state(ready)) is not published


def deny(monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    """Make a directory one that may not be listed, which to a superuser none is.

    Its mode is set, to what it was: a change of rights shows in the directory's times.
    """
    os.chmod(folder, stat.S_IMODE(os.stat(folder).st_mode))
    real = os.scandir

    def listing(path: Any = ".") -> Any:
        if str(path) == folder:
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", listing)


@pytest.mark.long
@pytest.mark.shows("INDEX-COMPLETE")
def test_an_answer_is_not_complete_while_changed_files_are_unread(ready: World) -> None:
    """More files changed than one answer reads. An exact search said that nothing held the text,
    and that this was the complete answer; a file that was not read held it."""
    for number in range(260):
        ready.write(f"src/n{number:03}.py", f"def needle_{number:03}():\n    pass\n")
    ready.later(60)
    found: Any = search_code(ready.index, ready.root, "must:needle_255")
    assert found["freshnessDecision"]["mode"] == "overlay_partial"
    assert found["counts"]["complete"] is False
    assert any(said.startswith("CHANGES_UNREAD:60 ") for said in found["warnings"])
    assert manage_index(ready.index, **found["hints"]["sync"]["args"])["status"] == "ok"
    found = search_code(ready.index, ready.root, "must:needle_255")
    assert (found["counts"]["complete"], found["results"][0]["file"]) == (True, "src/n255.py")


@pytest.mark.shows("INDEX-COMPLETE")
def test_parts_that_cannot_be_read_are_not_called_unchanged(
    ready: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready.later(60)
    deny(monkeypatch, f"{ready.root}/src")
    listing_cache._trees.clear()
    found: Any = search_code(ready.index, ready.root, "must:total_price")
    assert found["freshnessDecision"]["mode"] == "overlay_partial"
    assert found["freshnessDecision"]["stats"]["unreadable"] == 1
    assert found["counts"]["complete"] is False
    assert any(said.startswith("TREE_UNREADABLE:1 ") for said in found["warnings"])
    assert found["results"][0]["file"] == "src/cart.py"


@pytest.mark.shows("INDEX-COMPLETE")
def test_a_tree_that_is_away_is_not_searched_completely(ready: World) -> None:
    ready.later(60)
    ready.tree.rename(ready.tree.with_name("away"))
    found: Any = search_code(ready.index, ready.root, "must:total_price")
    assert found["freshnessDecision"]["mode"] == "skipped_missing_path"
    assert found["counts"]["complete"] is False
    assert any(said.startswith("TREE_MISSING:") for said in found["warnings"])


@pytest.mark.shows("INDEX-ROOT-UNREADABLE")
def test_a_root_that_cannot_be_read_is_not_indexed_as_an_empty_one(
    ready: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reindex replaced four files by none and called the tree fully indexed; a sync said that
    nothing had changed."""
    deny(monkeypatch, ready.root)
    listing_cache._trees.clear()
    synced: Any = manage_index(ready.index, "sync", ready.root)
    assert (synced["status"], "cannot be read" in synced["humanText"]) == ("error", True)
    manage_index(ready.index, "reindex", ready.root)
    assert "The last run failed" in state(ready)
    assert "4 files" in state(ready)
    manage_index(ready.index, "clear", ready.root)
    manage_index(ready.index, "create", ready.root)
    status: Any = manage_index(ready.index, "status", ready.root)
    assert (status["status"], "cannot be read" in status["humanText"]) == ("error", True)


@pytest.mark.shows("INDEX-KEEPS-UNREADABLE")
@pytest.mark.parametrize("alike", [True, False])
def test_a_reindex_keeps_what_it_cannot_read_now(
    ready: World, monkeypatch: pytest.MonkeyPatch, alike: bool
) -> None:
    """It dropped the files of a part that could not be read at that moment; a sync kept them."""
    ready.write("other.py", "def elsewhere():\n    pass\n")
    ready.write("gone.py", "def gone():\n    pass\n")
    ready.later(60)
    manage_index(ready.index, "sync", ready.root)
    (ready.tree / "gone.py").unlink()
    ready.write("other.py", "def renewed():\n    pass\n")
    ready.later(60)
    with monkeypatch.context() as denied:
        deny(denied, f"{ready.root}/src")
        listing_cache._trees.clear()
        if not alike:
            ready.index.schema_version = "another"
        manage_index(ready.index, "reindex", ready.root)
        with ready.index.backend.reader(ready.root) as reader:
            files = set(reader.snapshot().entries)
            totals = reader.totals()
    assert {name for name in files if name.startswith("src/")} == (
        {"src/cart.py", "src/checkout.py", "src/prices.py"} if alike else set()
    )
    assert ("gone.py" in files, "other.py" in files, totals.files) == (False, True, len(files))
    status: Any = manage_index(ready.index, "status", ready.root)
    assert f"{len(files)} files" in status["humanText"]
    assert "1 part could not be read" in status["humanText"]
    if not alike:
        return
    listing_cache._trees.clear()
    found: Any = search_code(ready.index, ready.root, "must:total_price")
    assert found["results"][0]["file"] == "src/cart.py"
    assert found["freshnessDecision"]["mode"] == "skipped_source_unchanged"
    assert not search_code(ready.index, ready.root, "must:gone")["results"]
    manage_index(ready.index, "reindex", ready.root)
    with ready.index.backend.reader(ready.root) as reader:
        assert set(reader.snapshot().entries) == files


@pytest.mark.shows("INDEX-TWO-HOMES")
def test_a_home_answers_by_its_own_rules_from_what_another_home_made(
    ready: World, tmp_path: Path
) -> None:
    """Rules are no part of a generation's settings: every look and every sync applies its own."""
    other = World(tmp_path / "other", ready.backend.inner)
    other.tree, other.root = ready.tree, ready.root
    other.put_record(IndexFailed("not yet"))
    manage_index(other.index, "create", other.root, force=True, ignore_patterns=["prices.py"])
    with ready.index.backend.reader(ready.root) as reader:
        assert "src/prices.py" not in reader.snapshot().entries
    ready.later(60)
    found: Any = search_code(ready.index, ready.root, "must:price_of")
    assert "src/prices.py" in {result["file"] for result in found["results"]}
    assert found["freshnessDecision"]["mode"] == "overlay"
    assert manage_index(ready.index, "sync", ready.root)["status"] == "ok"
    with ready.index.backend.reader(ready.root) as reader:
        assert "src/prices.py" in reader.snapshot().entries
    other.later(60)
    found = search_code(other.index, other.root, "must:price_of")
    assert "src/prices.py" not in {result["file"] for result in found["results"]}
    other.close()


@pytest.mark.shows("INDEX-KILL")
def test_a_writer_that_died_leaves_no_registries_behind(
    ready: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each left one under a name of its own."""
    writer, fsync = threading.get_ident(), os.fsync

    def dies(descriptor: int) -> None:
        if threading.get_ident() == writer:
            raise KeyboardInterrupt
        fsync(descriptor)  # of the checkpoint after the build, which may not be over yet

    before = sorted(path.name for path in ready.registry_path.parent.iterdir())
    for number in (1, 2):
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", dies)
            patched.setattr(os, "getpid", lambda number=number: number)
            with pytest.raises(KeyboardInterrupt):
                ready.put_record(IndexFailed(f"odd {number}"))
    ready.put_record(IndexFailed("even"))
    assert sorted(path.name for path in ready.registry_path.parent.iterdir()) == before


@pytest.mark.shows("INDEX-MANAGE-ANSWERS")
@pytest.mark.parametrize("action", ["create", "reindex", "sync", "clear"])
def test_a_registry_that_cannot_be_written_is_an_answer(
    ready: World, monkeypatch: pytest.MonkeyPatch, action: Any
) -> None:
    """A full disk came out of the tool as an OSError, past the handlers of its callers."""

    def full(registry: Registry, codebases: dict[str, object]) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Registry, "_write", full)
    answer: Any = manage_index(ready.index, action, ready.root, force=action == "create")
    assert answer["status"] == "error"
    assert "No space left on device" in answer["humanText"]
    monkeypatch.undo()
    assert ready.membership() == [ready.root]
    expected = "not_indexed" if action == "clear" else "ok"
    assert manage_index(ready.index, "status", ready.root)["status"] == expected


@pytest.mark.shows("INDEX-CANONICAL-ROOT")
@pytest.mark.parametrize("linked", [False, True])
def test_a_root_whose_name_is_not_utf8_is_refused(
    world: World, tmp_path: Path, linked: bool
) -> None:
    """The run began, failed at the last step with half a letter in its error, and raised."""
    bad = os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff")
    os.mkdir(bad)
    asked = bad
    if linked:
        asked = str(tmp_path / "good")
        os.symlink(bad, asked)
    for action in ("create", "status", "sync", "clear"):
        with pytest.raises(UsageError, match="not UTF-8"):
            manage_index(world.index, action, asked)
    with pytest.raises(UsageError, match="not UTF-8"):
        search_code(world.index, asked, "price")
    assert world.membership() == []


@pytest.mark.shows("INDEX-REGISTRY-DAMAGED")
def test_a_registry_of_a_newer_version_is_not_to_be_repaired(ready: World) -> None:
    """The advice was to repair it, and the repair moved a good registry away."""
    wire = json.loads(ready.registry_path.read_text())
    ready.registry_path.write_text(json.dumps(wire | {"formatVersion": 99}))
    before = ready.bytes_at_rest()
    answer: Any = manage_index(ready.index, "status", ready.root)
    assert answer["status"] == "error"
    assert "update holdfast" in answer["humanText"]
    assert "repair" not in answer["humanText"]
    with pytest.raises(RegistryDamaged):
        ready.index.registry.set_aside()
    assert ready.bytes_at_rest() == before


@pytest.mark.shows("ISS-INDEX-STABILITY-R6")
def test_a_renamed_file_is_no_change_of_rules(ready: World) -> None:
    """The old name of a rename was read as a line of its own, without its first letters."""
    ready.write("abc.gitignore", "x\n")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"],
                  ["mv", "abc.gitignore", ".gitignore"]):  # fmt: skip
        settings = ["-c", "user.email=a@b", "-c", "user.name=n"]
        subprocess.run(["git", "-C", ready.root, *settings, *words], check=True)
    assert preflight(ready.root) == Needed()
    (ready.tree / ".gitignore").rename(ready.tree / "abc.gitignore")
    subprocess.run(["git", "-C", ready.root, "reset", "-q"], check=True)
    ready.write(".gitignore", "y\n")
    assert preflight(ready.root) == IgnoreOnly((".gitignore",))


@pytest.mark.shows("ISS-INDEX-STABILITY-ST10")
def test_the_text_names_the_settings_that_the_marker_names(ready: World) -> None:
    """The text gave the registry's fingerprint, equal to the one in force, beside the message that
    they differ; the structured answer had the marker's."""
    other = ready.index.runtime().to_wire() | {"embeddingModel": "another-model"}
    ready.backend.marker = json.dumps(ready.marker(fingerprint=other))
    for action in ("status", "create", "sync"):
        answer: Any = manage_index(ready.index, action, ready.root)
        assert answer["status"] == "requires_reindex"
        line = next(x for x in answer["humanText"].splitlines() if x.startswith("Indexed finger"))
        assert "another-model" in line


@pytest.mark.shows("INDEX-FRESHNESS")
def test_a_call_graph_shows_files_as_they_are_now(ready: World) -> None:
    """A look that was made a moment ago served although a file of the answer had changed since:
    lines were where they had been, and nothing said so."""
    ready.later(60)
    ref: Any = {"file": "src/checkout.py", "symbolLabel": "pay"}
    before: Any = call_graph(ready.index, ready.root, ref, direction="callees")
    site = {"file": "src/checkout.py", "startLine": 4, "text": "return total_price(cart)"}
    assert before["edges"][0]["site"] == site
    ready.write("src/checkout.py", "\n\n" + (ready.tree / "src/checkout.py").read_text())
    after: Any = call_graph(ready.index, ready.root, ref, direction="callees")
    assert after["edges"][0]["site"] == {**site, "startLine": 6}
    (ready.tree / "src/checkout.py").unlink()
    assert call_graph(ready.index, ready.root, ref)["status"] == "not_found"
    ready.write("src/checkout.py", "def pay():\n    pass\n")
    assert call_graph(ready.index, ready.root, ref)["status"] == "ok"


@pytest.mark.shows("INDEX-WATCH")
def test_a_watcher_outlives_a_sync_that_breaks_and_a_dead_one_is_replaced(ready: World) -> None:
    """A registry that could not be read for a moment ended the thread, and the root was taken for
    watched until the process ended."""
    ready.index.watches = True
    manage_index(ready.index, "sync", ready.root)
    first = ready.index.watchers[ready.root]
    good = ready.bytes_at_rest()
    ready.registry_path.write_bytes(b"{")
    first._changed(frozenset({"src/cart.py"}))
    ready.registry_path.write_bytes(good)
    assert first.running
    first.stop()
    manage_index(ready.index, "sync", ready.root)
    second = ready.index.watchers[ready.root]
    assert second.running
    assert second is not first
    manage_index(ready.index, "sync", ready.root)
    assert ready.index.watchers[ready.root] is second


@pytest.mark.shows("INDEX-TWO-HOMES")
def test_a_sync_notices_that_another_home_made_the_index_anew(
    ready: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two homes share a backend. Between a sync's look and its writing the other one cleared the
    root and made it with other rules; both generations were number one, so the sync added its
    change to files that were not there, and called the result whole."""
    other = World(tmp_path / "other", ready.backend.inner)
    other.tree, other.root = ready.tree, ready.root
    other.put_record(IndexFailed("not yet"))
    ready.write("src/late.py", "def late():\n    pass\n")
    ready.later(60)
    real = ready.backend.writer
    came: list[str] = []

    def writer(root: str) -> Any:
        if not came:
            came.append(root)
            manage_index(other.index, "clear", root)
            manage_index(other.index, "create", root, ignore_patterns=["prices.py", "late.py"])
        return real(root)

    monkeypatch.setattr(ready.backend, "writer", writer)
    assert manage_index(ready.index, "sync", ready.root)["status"] == "ok"
    assert came
    with ready.index.backend.reader(ready.root) as reader:
        assert {"src/prices.py", "src/late.py"} <= set(reader.snapshot().entries)
    other.close()


@pytest.mark.shows("ISS-INDEX-STABILITY-RF1")
def test_a_shortened_read_names_a_call_that_exists(ready: World) -> None:
    """It named a tool that no client has."""
    ready.write("long.py", "".join(f"x = {n}\n" for n in range(1500)))
    content = read_file(ready.index, f"{ready.root}/long.py")["content"]
    assert content.endswith(f"continue: read(path='{ready.root}/long.py', offset=1001)]")


@pytest.mark.shows("ISS-INDEX-STABILITY-L1")
def test_a_root_with_a_line_break_in_its_name_is_one_line_of_the_list(
    world: World, tmp_path: Path
) -> None:
    """Its second half stood there as a root of its own."""
    root = tmp_path / "one\n- /two"
    root.mkdir(parents=True)
    (root / "a.py").write_text("def a():\n    pass\n")
    manage_index(world.index, "create", str(root))
    text = list_codebases(world.index)["text"]
    assert [line for line in text.splitlines() if line.startswith("- ")] == [f"- {str(root)!r}"]
