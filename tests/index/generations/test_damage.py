"""Damaged, newer and half-written files: noticed, named alike by every tool, never believed."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw
import pytest

from holdfast.cli.main import main
from holdfast.index.code_index import CodeIndex, open_index, run_here
from holdfast.index.errors import DamagedBackend, RegistryDamaged
from holdfast.index.generations.record import Indexing
from holdfast.index.generations.registry import Registry
from holdfast.index.generations.sqlite import tables
from holdfast.observed.codebases import CodebaseObserver
from tests.index.wire import (
    call_graph,
    file_outline,
    list_codebases,
    manage_index,
    search_code,
)
from tests.index.world import FILES, World

COLUMNS = [
    (table, column)
    for table, columns in {
        "meta": "key value",
        "file": "id path digest size_bytes mtime_ns ctime_ns language problem chunk_count segment "
        "slot stat_check place_check",
        "facts": "file_id facts facts_check",
        "chunk": "id data chunk_check",
        "segment": "id digest rows size_bytes checks segment_check",
        "trigram": "file_id signatures names trigram_check",
        "link": "id digest files size_bytes data_check run link_check",
        "listings": "data listings_check",
        "file_list": "key data list_check",
    }.items()
    for column in columns.split()
]


@contextmanager
def changed(world: World) -> Iterator[apsw.Connection]:
    """A connection to the index file of a world that nothing else has open."""
    world.backend.inner.close()
    connection = apsw.Connection(str(index_file(world)))
    connection.set_busy_timeout(60_000)
    try:
        yield connection
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        connection.close()


def index_file(world: World) -> Path:
    (path,) = (world.home / "index" / "roots").glob("*.sqlite")
    return path


@pytest.fixture
def ready(world: World) -> World:
    assert manage_index(world.index, "create", world.root)["status"] == "ok"
    return world


def test_the_table_above_has_every_column(ready: World) -> None:
    with changed(ready) as connection:
        stored = [
            (table, column)
            for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type='table'")
            for _, column, *_ in connection.execute(f"PRAGMA table_info({table})").fetchall()
        ]
    assert sorted(stored) == sorted(COLUMNS)


@pytest.mark.shows("DAMAGE-ROWS")
@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_no_stored_value_can_change_unnoticed(ready: World, table: str, column: str) -> None:
    ready.backend.inner.verify(ready.root)
    with changed(ready) as connection:
        found: Any = connection.execute(
            f"SELECT rowid, typeof({column}), {column} FROM {table} ORDER BY {column} LIMIT 1"
            if table != "meta"
            else f"SELECT key, typeof({column}), {column} FROM meta WHERE key = 'taken_ns'"
        ).fetchall()
        ((first, kind, value),) = found
        other: Any = {"integer": 7_777_777, "text": "other", "null": "other"}.get(kind, b"other")
        key = "key" if table == "meta" else "rowid"
        assert value != other
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (other, first))
    with pytest.raises(DamagedBackend):
        ready.backend.inner.verify(ready.root)


@pytest.mark.shows("DAMAGE-ROWS")
@pytest.mark.parametrize("table", ["file", "facts", "chunk", "segment", "trigram"])
def test_no_row_can_be_missing_unnoticed(ready: World, table: str) -> None:
    with changed(ready) as connection:
        connection.execute(f"DELETE FROM {table} WHERE rowid = (SELECT min(rowid) FROM {table})")
    with pytest.raises(DamagedBackend):
        ready.backend.inner.verify(ready.root)


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def emptied(path: Path) -> None:
    os.truncate(path, 0)


def overwritten(path: Path) -> None:
    path.write_bytes(b"\xaa" * path.stat().st_size)


def marker_survives(path: Path) -> None:
    """The first pages are as they were, and what they lead to is gone."""
    connection = apsw.Connection(str(path))
    found: Any = connection.execute(
        "SELECT rootpage FROM sqlite_schema WHERE name = 'segment'"
    ).fetchall()
    ((page,),) = found
    connection.close()
    data = bytearray(path.read_bytes())
    start = (page - 1) * tables.PAGE_BYTES
    data[start : start + tables.PAGE_BYTES] = b"\xaa" * tables.PAGE_BYTES
    path.write_bytes(data)


def a_table_is_gone(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("DROP TABLE IF EXISTS chunk")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()


def a_newer_version_wrote(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(f"PRAGMA user_version={tables.SCHEMA_VERSION + 1}")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()


VERBS = ("search", "outline", "calls", "status", "sync")


class Tree:
    """A real tree, indexed in a home of its own, whose index file is then damaged."""

    def __init__(self, directory: Path) -> None:
        self.home, self.root = directory / "home", str((directory / "repo").resolve())
        for name, text in FILES.items():
            path = Path(self.root) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            os.utime(path, (1_700_000_000, 1_700_000_000))
        self.home.mkdir(mode=0o700)
        with self.index() as index:
            assert manage_index(index, "create", self.root)["status"] == "ok"

    @contextmanager
    def index(self) -> Iterator[CodeIndex]:
        index = open_index(self.home)
        index.start = run_here
        try:
            yield index
        finally:
            index.close()

    @property
    def file(self) -> Path:
        (path,) = (self.home / "index" / "roots").glob("*.sqlite")
        return path

    def answers(self) -> dict[str, Any]:
        """What each tool says, each in an index of its own, as separate commands do."""
        asked: dict[str, Callable[[CodeIndex], Any]] = {
            "search": lambda index: search_code(index, self.root, "total price"),
            "outline": lambda index: file_outline(index, self.root, "src/cart.py"),
            "calls": lambda index: call_graph(
                index, self.root, {"file": "src/cart.py", "symbolLabel": "total_price"}
            ),
            "status": lambda index: manage_index(index, "status", self.root),
            "list": list_codebases,
            "dashboard": lambda index: next(iter(CodebaseObserver(index).observe().values())),
            # The last one: it may mend what the others only name.
            "sync": lambda index: manage_index(index, "sync", self.root),
        }
        found = {}
        for name, ask in asked.items():
            with self.index() as index:
                found[name] = ask(index)
        return found


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    return Tree(tmp_path)


@pytest.mark.shows("DAMAGE-ONE-ANSWER")
@pytest.mark.parametrize("harm", [overwritten, truncated, marker_survives, a_table_is_gone])
def test_a_destroyed_file_has_one_answer_in_every_tool(
    tree: Tree, harm: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """It was *temporarily unavailable*: status ok, list Ready, doctor ok, repair ok; create said
    *already indexed* while every search failed."""
    harm(tree.file)
    main(["doctor", "--json"])
    findings = [f for f in json.loads(capsys.readouterr().out)["findings"] if f["about"] == "index"]
    assert [(f["state"], f["fix"]) for f in findings] == [
        ("wrong", f"holdfast index create {tree.root}")
    ]
    assert main(["index", "repair"]) == 1
    assert "its index is damaged" in capsys.readouterr().out
    said = tree.answers()
    partly = harm in (marker_survives, a_table_is_gone)  # Facts are still there.
    for name in ("search", "status") if partly else VERBS:
        answer = said[name]
        assert (answer["status"], answer["reason"]) == ("not_indexed", "not_indexed"), (
            name,
            answer,
        )
        assert answer["hints"]["staleLocal"]["completionProof"] == "damaged"
        assert answer["hints"]["create"]["args"] == {"action": "create", "path": tree.root}
    (row,) = said["list"]["codebases"]
    assert (row["section"], row["detail"]) == ("Failed", "stale_local:damaged")
    assert said["dashboard"]["state"] == "unproven"
    assert "damaged" in said["dashboard"]["why"]
    if said["sync"]["status"] == "ok":
        assert partly
        harm(tree.file)
    with tree.index() as index:
        started = manage_index(index, "create", tree.root)
        assert started["status"] == "ok"
        assert "damaged" in started["message"]
        assert started["hints"]["staleLocal"]["completionProof"] == "damaged"
    mended = tree.answers()
    assert [mended[name]["status"] for name in VERBS] == ["ok"] * 5
    assert main(["index", "repair"]) == 0


def test_an_emptied_file_is_an_index_that_is_missing(tree: Tree) -> None:
    emptied(tree.file)
    said = tree.answers()
    for name in VERBS:
        assert said[name]["hints"]["staleLocal"]["completionProof"] == "missing_marker_doc", name


@pytest.mark.shows("DAMAGE-NEWER")
@pytest.mark.parametrize("settings", ["the same", "others"])
def test_a_newer_file_is_named_and_kept_by_every_tool(
    tree: Tree, settings: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if settings == "others":  # as a newer version has them
        registry = Registry(tree.home / "index" / "registry.json")
        from msgspec.structs import replace

        def other(now: Any) -> Any:
            return replace(now, fingerprint=replace(now.fingerprint, schema_version="newer"))

        registry.change(tree.root, other)
    a_newer_version_wrote(tree.file)
    before = tree.file.read_bytes()
    said = tree.answers()
    for name in ("search", "outline", "calls"):
        assert (said[name]["status"], said[name]["reason"]) == ("not_indexed", "newer_format"), name
    for name in ("status", "sync"):
        assert (said[name]["status"], said[name]["reason"]) == ("error", "newer_format"), name
    for name in VERBS:
        assert "update holdfast" in said[name]["message"]
        assert "create" not in said[name].get("hints", {})
    (row,) = said["list"]["codebases"]
    assert (row["section"], row["detail"].split(":")[0]) == ("Failed", "newer_format")
    assert "update holdfast" in said["dashboard"]["why"]
    assert main(["index", "repair"]) == 1
    assert "update holdfast" in capsys.readouterr().out
    with tree.index() as index:
        for action in ("create", "reindex"):
            refused = manage_index(index, action, tree.root, force=True)
            assert refused["status"] == "error"
            assert "update holdfast" in refused["message"]
        assert manage_index(index, "status", tree.root)["reason"] == "newer_format"
    assert tree.file.read_bytes() == before
    with tree.index() as index:
        assert manage_index(index, "clear", tree.root)["status"] == "ok", "the user may give it up"


@pytest.mark.shows("DAMAGE-FACTS")
@pytest.mark.parametrize("harm", ["UPDATE facts SET facts = x'93c0'", "DELETE FROM facts"])
def test_damaged_facts_are_made_again_from_the_file(tree: Tree, harm: str) -> None:
    """`calls` on damaged facts ended in a traceback."""
    before = tree.answers()
    assert before["calls"]["edges"]
    connection = apsw.Connection(str(tree.file))
    connection.execute(harm)
    connection.close()
    after = tree.answers()
    assert after["outline"]["outline"] == before["outline"]["outline"]
    assert after["calls"]["edges"] == before["calls"]["edges"]
    assert [hit["score"] for hit in after["search"]["results"]] == [
        hit["score"] for hit in before["search"]["results"]
    ]
    assert after["status"]["hints"]["staleLocal"]["completionProof"] == "damaged"


@pytest.mark.shows("DAMAGE-REGISTRY")
def test_no_bit_of_the_registry_can_change_unnoticed(ready: World) -> None:
    text = ready.registry_path.read_bytes()
    before = Registry(ready.registry_path).records()
    for place in range(len(text)):
        for bit in (0, 3, 5):
            flipped = bytearray(text)
            flipped[place] ^= 1 << bit
            ready.registry_path.write_bytes(flipped)
            with suppress(RegistryDamaged):
                assert Registry(ready.registry_path).records() == before, (place, bit)


def test_a_registry_of_the_version_before_is_read(ready: World) -> None:
    wire = json.loads(ready.registry_path.read_text())
    before = Registry(ready.registry_path).records()
    del wire["check"]
    ready.registry_path.write_text(json.dumps(wire | {"formatVersion": 2}))
    assert Registry(ready.registry_path).records() == before


@pytest.mark.shows("INDEX-RUN-OVER")
def test_a_run_that_could_not_say_that_it_is_over_is_over(
    ready: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a full disk the registry said *indexing* for two minutes after the run had ended."""
    before = ready.registry_path.read_bytes
    real, writes = Registry._write, []

    def full(registry: Registry, codebases: dict[str, object]) -> None:
        writes.append(1)
        if len(writes) > 1:  # The first one says *indexing*.
            raise OSError(28, "No space left on device", str(ready.registry_path))
        real(registry, codebases)

    monkeypatch.setattr(Registry, "_write", full)
    failed = manage_index(ready.index, "reindex", ready.root)
    assert (failed["status"], "No space left" in failed["message"]) == ("error", True)
    monkeypatch.undo()
    assert b'"indexing"' in before()
    record = ready.index.registry.find(ready.root)
    assert record is not None
    assert isinstance(record.state, Indexing)
    search = search_code(ready.index, ready.root, "total price")
    status = manage_index(ready.index, "status", ready.root)
    (row,) = list_codebases(ready.index)["codebases"]
    assert search["status"] == status["status"] == "not_ready"
    assert "its writer is gone" in search["message"]
    assert "its writer is gone" in status["humanText"]
    assert "its writer is gone" in row["detail"]
    assert manage_index(ready.index, "sync", ready.root)["status"] == "ok", "it ends the run"
    assert search_code(ready.index, ready.root, "total price")["status"] == "ok"


@pytest.mark.shows("DAMAGE-SPOT")
def test_verify_reads_everything_and_status_a_few_rows(
    tree: Tree, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["index", "verify", tree.root]) == 0
    assert "every checksum agrees" in capsys.readouterr().out
    connection = apsw.Connection(str(tree.file))
    connection.execute("UPDATE trigram SET names = x'00'")
    connection.close()
    assert main(["index", "status", tree.root]) == 0, "no answer of status depends on trigrams"
    capsys.readouterr()
    assert main(["index", "verify", tree.root, "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["verified"], said["hints"]["staleLocal"]["completionProof"]) == (False, "damaged")
    assert main(["doctor"]) == 1
    capsys.readouterr()
    assert main(["index", "create", tree.root]) == 0, "create rebuilds what it finds damaged"
    assert main(["index", "verify", tree.root]) == 0


@pytest.mark.shows("DAMAGE-ROWS")
def test_a_wrong_bit_in_a_stored_path_never_hides_a_file(tree: Tree) -> None:
    """SQLite has an index of paths without checksums: a call to a file whose path had a wrong bit
    there was missing from the answer of `calls`, which said ok."""
    before, good = tree.answers()["calls"], tree.file.read_bytes()
    wanted = [(edge["srcSymbolId"], edge["dstSymbolId"]) for edge in before["edges"]]
    assert wanted
    places = [found.start() for found in re.finditer(rb"src/\w+\.py", good)]
    assert len(places) > len(FILES)
    outcomes = set()
    for place in places:
        tree.file.write_bytes(good[:place] + b"z" + good[place + 1 :])
        for path in ("src/cart.py", "src/prices.py"):
            with tree.index() as index:
                outline = file_outline(index, tree.root, path)
                outcomes.add(outline["status"])
        with tree.index() as index:
            target = {"file": "src/cart.py", "symbolLabel": "total_price"}
            found = call_graph(index, tree.root, target)
        if found["status"] == "ok":
            edges = [(edge["srcSymbolId"], edge["dstSymbolId"]) for edge in found["edges"]]
            assert edges == wanted, f"byte {place}: {good[place - 9 : place + 30]!r}"
    assert outcomes <= {"ok", "not_indexed", "error"}
