"""Stored links: calls are the same as with the facts of all files, after any edits and damage."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from mmap import mmap
from pathlib import Path

import apsw
import pytest

from holdfast.files.disk import digest
from holdfast.files.snapshot import Entry, Stat
from holdfast.index.building.prepare import prepare_many
from holdfast.index.calls.linked_program import LinkedProgram
from holdfast.index.calls.program import MemoryProgram
from holdfast.index.calls.resolve import Resolver
from holdfast.index.calls.stored_program import StoredProgram
from holdfast.index.errors import DamagedBackend
from holdfast.index.facts.extract import extract
from holdfast.index.facts.model import FileFacts, decode
from holdfast.index.generations import link_files, programs
from holdfast.index.generations.freshness import FreshFiles
from holdfast.index.generations.link_files import checked, file_check, too_many
from holdfast.index.generations.model import PreparedFile, SourceFile
from holdfast.index.generations.postgres.backend import PostgresBackend
from holdfast.index.generations.programs import ProgramCache
from holdfast.index.generations.sqlite.backend import SqliteBackend
from tests.index.calls.twins import graph, tables
from tests.index.claims import split
from tests.index.samples import all_cases
from tests.postgres import PostgresServer
from tests.scale import seeds, size

ROOT = "/the/tree"

BUSY_MS = 60_000
"""The log of the last run may still be folded in."""


def _prepared(path: str, text: str, *, links: bool = True) -> PreparedFile:
    source = text.encode()
    entry = Entry(Stat(len(source), 1, 1), digest(source))
    return prepare_many([SourceFile(path, source, entry)], extract, stored=links)[0]


class Tree:
    """A tree of texts, and its generations."""

    def __init__(self, backend: SqliteBackend | PostgresBackend) -> None:
        self.backend = backend
        self.files: dict[str, PreparedFile] = {}
        self.cache = ProgramCache(self._remade)

    def _remade(self, root: str, path: str) -> FileFacts | None:
        return decode(self.files[path].facts)

    def publish(self, put: dict[str, PreparedFile], *removed: str, anew: bool = False) -> None:
        with self.backend.writer(ROOT) as writer:
            if anew:
                writer.start_over()
                self.files.clear()
            for path in removed:
                writer.remove(path)
                del self.files[path]
            for file in put.values():
                writer.put(file)
            self.files |= put
            writer.publish("{}", 1)
        if isinstance(self.backend, SqliteBackend):
            self.backend._wait_for_checkpoint()

    @property
    def file(self) -> Path:
        assert isinstance(self.backend, SqliteBackend)
        return self.backend._path(ROOT)

    def segments(self) -> list[Path]:
        with apsw.Connection(str(self.file)) as connection:
            connection.set_busy_timeout(BUSY_MS)
            names = connection.execute("SELECT digest FROM link ORDER BY id").fetchall()
        return [self.file.with_suffix(".segments") / f"{name}.segment" for (name,) in names]

    def check(
        self,
        kind: type = StoredProgram,
        changed: dict[str, PreparedFile] | None = None,
        gone: frozenset[str] = frozenset(),
    ) -> None:
        """The program that is made for questions answers as one with all files in memory."""
        now = {p: f for p, f in (self.files | (changed or {})).items() if p not in gone}
        facts = [decode(now[path].facts) for path in sorted(now)]
        with self.backend.reader(ROOT) as reader:
            fresh = FreshFiles(reader.identity, reader.snapshot(), 0.0)
            fresh.changed, fresh.gone = changed or {}, gone
            found = self.cache.program(ROOT, reader, fresh)
            assert type(found.resolver.program) is kind
            memory = LinkedProgram(Resolver(facts))
            assert tables(found.resolver.program, facts) == tables(memory.resolver.program, facts)
            assert graph(found, facts) == graph(memory, facts)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(SqliteBackend(tmp_path, 0))


@pytest.fixture
def server_tree(postgres: PostgresServer) -> Iterator[Tree]:
    backend = PostgresBackend(postgres.url, 0, f"links {next(numbers)}")
    yield Tree(backend)
    backend.close()


numbers = itertools.count()


SHOP = {
    "shop.py": "def total(cart):\n    return price(cart)\n\ndef price(item):\n    return 1\n",
    "use.py": "from shop import total as sum_up\n\ndef pay(cart):\n    return sum_up(cart)\n",
    "go.mod": "module example.org/shop\n",
    "notes.md": "# Paying\n\nText.\n",
}


def _shop(**more: str) -> dict[str, PreparedFile]:
    return {path: _prepared(path, text) for path, text in (SHOP | more).items()}


def _texts() -> list[tuple[str, str]]:
    return [(f.path, "\n".join(f.lines) + "\n") for case in all_cases() for f in split(case)]


@pytest.mark.shows("FACT-STORED-CALLS")
@pytest.mark.parametrize("seed", seeds(4))
@pytest.mark.parametrize("where", ["tree", pytest.param("server_tree", marks=pytest.mark.service)])
def test_calls_are_those_of_all_facts_after_any_syncs(
    seed: int, where: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree: Tree = request.getfixturevalue(where)
    monkeypatch.setattr(link_files, "SMALL_MAX", 3)
    monkeypatch.setattr(link_files, "MIDDLE_FILES", 0)
    rng, texts = random.Random(seed), _texts()
    some = dict(rng.sample(texts, 30))
    tree.publish({path: _prepared(path, text) for path, text in some.items()}, anew=True)
    tree.check()
    for _ in range(size(7, 3)):
        paths = sorted(tree.files)
        removed = rng.sample(paths, 2)
        renamed = {f"moved/{path}": path for path in rng.sample(paths, 1)}
        put = {path: _prepared(path, text) for path, text in rng.sample(texts, 4)}
        known = dict(texts)
        for new, old in renamed.items():
            put[new] = _prepared(new, known.get(old.removeprefix("moved/"), "x = 1\n"))
        tree.publish(put, *(path for path in removed if path not in put))
        with tree.backend.reader(ROOT) as reader:
            assert 0 < len(reader.links({})) <= 4
        edited = {path: _prepared(path, text, links=False) for path, text in rng.sample(texts, 2)}
        gone = frozenset(rng.sample(sorted(tree.files), 1)) - edited.keys()
        tree.check(changed=edited, gone=gone)
        tree.check()


@pytest.mark.parametrize("how", ["flipped", "shortened", "removed", "emptied"])
def test_damaged_links_are_not_believed_and_made_again(how: str, tree: Tree) -> None:
    tree.publish(_shop(), anew=True)
    (segment,) = tree.segments()
    data = bytearray(segment.read_bytes())
    if how == "flipped":
        data[len(data) // 2] ^= 1
        segment.write_bytes(bytes(data))
    elif how == "shortened":
        segment.write_bytes(bytes(data[:-1]))
    elif how == "emptied":
        segment.write_bytes(b"")
    else:
        segment.unlink()
    tree.check(MemoryProgram)
    tree.publish({"more.py": _prepared("more.py", "from shop import price\nprice(1)\n")})
    tree.check()
    assert sum(path is not None for path in tree.segments()) >= 1
    with tree.backend.reader(ROOT) as reader:
        known = {int(c) for s in reader.links({}).values() for c in s.checks}
    assert known >= {file_check(p, f.entry.digest) for p, f in tree.files.items()}


def test_a_damaged_row_is_not_believed(tree: Tree) -> None:
    tree.publish(_shop(), anew=True)
    with apsw.Connection(str(tree.file)) as connection:
        connection.set_busy_timeout(BUSY_MS)
        connection.execute("UPDATE link SET files = files + 1")
    tree.check(MemoryProgram)
    tree.publish({})
    tree.check()


def test_a_segment_that_became_shorter_while_open_is_not_read(tree: Tree) -> None:
    tree.publish(_shop(), anew=True)
    tree.check()
    (segment,) = tree.segments()
    with open(segment, "r+b") as file:
        file.truncate(100)
    tree.check(MemoryProgram)


def test_a_generation_without_links_is_read_as_a_whole_and_gets_them(tree: Tree) -> None:
    tree.publish(_shop(), anew=True)
    with apsw.Connection(str(tree.file)) as connection:
        connection.set_busy_timeout(BUSY_MS)
        connection.execute("DROP TABLE link")
    tree.check(MemoryProgram)
    tree.publish({})
    tree.check()


def test_links_are_caught_up_on_some_files_at_a_time(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.index.generations.link_writer.REMADE_AT_ONCE", 1)
    tree.publish(_shop(), anew=True)
    with apsw.Connection(str(tree.file)) as connection:
        connection.set_busy_timeout(BUSY_MS)
        connection.execute("DELETE FROM link")
    counts = []
    for _ in range(5):
        tree.publish({})
        with tree.backend.reader(ROOT) as reader:
            counts.append(sum(len(s.checks) for s in reader.links({}).values()))
        tree.check()
    assert counts == [1, 2, 3, 4, 4]


def test_what_an_older_version_synced_has_no_links_and_is_read(tree: Tree) -> None:
    tree.publish(_shop(), anew=True)
    with apsw.Connection(str(tree.file)) as connection:
        connection.set_busy_timeout(BUSY_MS)
        rows = connection.execute("SELECT * FROM link").fetchall()
    changed = _prepared("shop.py", "def total(cart):\n    return pay(cart)\n")
    tree.publish({"shop.py": changed})
    with apsw.Connection(str(tree.file)) as connection:
        connection.set_busy_timeout(BUSY_MS)
        connection.execute("DELETE FROM link")
        connection.executemany("INSERT INTO link VALUES (?,?,?,?,?,?,?)", rows)
    tree.check()
    tree.publish({})
    tree.check()


def test_too_many_files_without_links_are_read_with_all_others(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "MISSING_MAX", 1)
    monkeypatch.setattr("holdfast.index.generations.link_writer.REMADE_AT_ONCE", 0)
    tree.publish(_shop(), anew=True)
    more = {f"m{n}.py": _prepared(f"m{n}.py", "from shop import price\n") for n in range(2)}
    with apsw.Connection(str(tree.file)) as connection:
        connection.set_busy_timeout(BUSY_MS)
        rows = connection.execute("SELECT * FROM link").fetchall()
    tree.publish(more)
    with apsw.Connection(str(tree.file)) as connection:
        connection.set_busy_timeout(BUSY_MS)
        connection.execute("DELETE FROM link")
        connection.executemany("INSERT INTO link VALUES (?,?,?,?,?,?,?)", rows)
    tree.check(MemoryProgram)


def test_damaged_links_are_found_by_reading_everything(tree: Tree) -> None:
    tree.publish(_shop(), anew=True)
    tree.backend.verify(ROOT)
    (segment,) = tree.segments()
    segment.write_bytes(segment.read_bytes()[:-1] + b"?")
    with pytest.raises(Exception, match="links of the index are damaged"):
        tree.backend.verify(ROOT)


def test_damaged_facts_are_made_again_from_the_file(tree: Tree) -> None:
    tree.publish(_shop(), anew=True)
    with apsw.Connection(str(tree.file)) as connection:
        connection.set_busy_timeout(BUSY_MS)
        connection.execute("UPDATE facts SET facts_check = facts_check + 1")
    tree.check()


def test_files_that_are_put_without_links_get_them(tree: Tree) -> None:
    tree.publish({p: _prepared(p, t, links=False) for p, t in SHOP.items()}, anew=True)
    tree.check()


def test_two_files_with_one_check_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert checked([("a", "0" * 64), ("b", "0" * 64)]).keys() == {
        file_check("a", "0" * 64),
        file_check("b", "0" * 64),
    }
    monkeypatch.setattr(link_files, "file_check", lambda path, digest: len(path))
    assert checked([("a", ""), ("b", ""), ("cc", "")]) == {2: "cc"}


def test_many_small_segments_are_made_again_as_one() -> None:
    large = {"a": 9_000, "b": 8_000}
    assert too_many({str(n): n for n in range(8)} | large) == set()
    assert too_many({str(n): n for n in range(9)} | large) == {str(n) for n in range(9)}
    assert too_many({str(n): 300 + n for n in range(24)} | large) == set()
    assert too_many({str(n): 300 + n for n in range(25)} | large) == {str(n) for n in range(12)}
    assert too_many({str(n): 9_000 for n in range(99)}) == set()


@pytest.mark.shows("FACT-STORED-CALLS")
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE link SET data = overlay(data placing '?'::bytea from length(data) - 9)",
        "UPDATE link SET data = substring(data from 1 for length(data) - 1)",
        "UPDATE link SET files = files + 1",
        "UPDATE link SET run = 'another'",
        "DELETE FROM link",
        "DROP TABLE link",
    ],
)
def test_damaged_links_on_a_server_are_not_believed_and_made_again(
    server_tree: Tree, statement: str
) -> None:
    server_tree.publish(_shop(), anew=True)
    server_tree.check()
    server_tree.backend.verify(ROOT)
    backend = server_tree.backend
    assert isinstance(backend, PostgresBackend)
    with backend._session() as connection:
        connection.execute(statement)
    server_tree.cache = ProgramCache(server_tree._remade)
    server_tree.check(MemoryProgram)
    if statement.startswith("UPDATE"):
        with pytest.raises(DamagedBackend):
            backend.verify(ROOT)
    server_tree.publish({"more.py": _prepared("more.py", "from shop import price\nprice(1)\n")})
    server_tree.check()
    backend.verify(ROOT)


@pytest.mark.shows("FACT-STORED-CALLS")
def test_links_from_a_server_are_not_kept_in_memory(server_tree: Tree) -> None:
    """They are a seventh of the source of the tree."""
    server_tree.publish(_shop(), anew=True)
    with server_tree.backend.reader(ROOT) as reader:
        assert {type(one.data) for one in reader.links({}).values()} == {mmap}


@pytest.mark.shows("FACT-STORED-CALLS")
def test_a_server_node_that_knows_no_links_leaves_none_that_are_wrong(server_tree: Tree) -> None:
    """Old nodes go on while new ones run; they change files and leave the links as they were."""
    server_tree.publish(_shop(), anew=True)
    backend = server_tree.backend
    assert isinstance(backend, PostgresBackend)
    kept = "SELECT * FROM link"
    with backend._session() as connection:
        connection.execute(f"CREATE TABLE before AS {kept}")
    changed = _prepared("shop.py", "def total(cart):\n    return pay(cart)\n")
    server_tree.publish({"shop.py": changed})
    with backend._session() as connection:
        connection.execute("DELETE FROM link")
        connection.execute("INSERT INTO link SELECT * FROM before")
    server_tree.check()
    server_tree.publish({})
    server_tree.check()
    backend.verify(ROOT)
