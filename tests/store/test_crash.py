"""Nothing acknowledged is lost, and nothing is half there, wherever the process dies.

A worker (`tests/store/crash.py`) writes to a space in every way and tells what was acknowledged.
It is killed, the space is opened again, and what is there is compared with what the worker told:
commit by commit, and as whole worlds, which a twin folds from the commits alone.
"""

import copy
import hashlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest

from holdfast.errors import StoreError
from holdfast.ids import LocalSeq, SessionId
from holdfast.store import patch
from holdfast.store.checks import text_digest
from holdfast.store.errors import StoreFailed, StoreUnreachable
from holdfast.store.model import CommitKey
from holdfast.store.settings import StoreSettings
from holdfast.store.store import Store, open_store
from holdfast.store.tables import CommitRow
from tests.postgres import PostgresServer, running_server
from tests.scale import examples
from tests.store.crash import DOCUMENTS, POINTS, SETTINGS, watched_store
from tests.store.harness import Engines, Writer, commit, dump, patch_, replace_, set_

World = dict[str, Any]


@dataclass
class Ledger:
    """What the worker told, over all its lives."""

    commits: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    acknowledged: dict[tuple[str, int], int] = field(default_factory=dict)
    lifecycle: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    merges: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)
    blobs: dict[str, str] = field(default_factory=dict)
    copies: dict[str, str] = field(default_factory=dict)
    copied: set[str] = field(default_factory=set)
    in_doubt: set[tuple[str, int]] = field(default_factory=set)
    texts: dict[int, str] = field(default_factory=dict)
    """The texts of commits, as they were before retention removed them."""

    def whole(self, row: CommitRow) -> CommitRow:
        """A commit with its text; a removed one was the text whose digest is left."""
        if not row.squashed:
            self.texts[row.seq] = row.original
            return row
        text = self.texts[row.seq]
        assert row.digest == text_digest(text)
        return row._replace(original=text)

    def hear(self, line: dict[str, Any]) -> None:
        kind = line.get("try_") or line["done"]
        if kind == "blob":
            self.blobs[line["hash"]] = line["data"]
        elif kind == "import":
            if "try_" in line:
                self.copies[line["space"]] = line["digest"]
            else:
                self.copied.add(line["space"])
        elif kind != "collect":
            self._hear_write(kind, line)

    def _hear_write(self, kind: str, line: dict[str, Any]) -> None:
        if "commit" in line:
            line["localSeq"] = line["commit"]["localSeq"]
        key = (line["session"], line["localSeq"])
        if "try_" in line:
            self.in_doubt.add(key)
            if kind == "commit":
                self.commits[key] = line["commit"]
            elif kind == "merge":
                self.merges[key] = line
            else:
                self.lifecycle[key] = line
            return
        self.in_doubt.discard(key)
        if line.get("seq") is not None:
            self.acknowledged[key] = line["seq"]
        if kind == "close":
            self.closed.add(self.lifecycle[key]["name"])


class Workers:
    """Starts workers and hears them out."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.store.crash"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )

    def live_and_die(self, order: dict[str, Any], ledger: Ledger) -> str:
        """Let one worker live; how it died."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        for text in self._process.stdout:
            line = json.loads(text)
            if "died" in line:
                return str(line["died"])
            ledger.hear(line)
        raise AssertionError("the workers' server is gone")

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)
        assert self._process.stdout is not None
        self._process.stdout.close()


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    started = Workers()
    yield started
    started.close()


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path)
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.url


# what must be so after every death


def check(store: Store, ledger: Ledger) -> None:
    # On PostgreSQL the dead client's transaction may still be ending; a write waits for that.
    store.engine.writing.begin()
    store.engine.writing.rollback()
    assert store.verify().findings == []
    stored = store.engine.tables.commits(0, 10**6)  # type: ignore[arg-type]
    rows = [ledger.whole(row) for row in stored]
    assert [row.seq for row in rows] == list(range(1, len(rows) + 1)), "seqs are gap-free"
    landed = {(str(row.session), int(row.local_seq)): row for row in rows}
    for key, seq in ledger.acknowledged.items():
        assert key in landed, f"{key} was acknowledged at seq {seq} and is gone"
        assert landed[key].seq == seq
    for key, row in landed.items():
        if key in ledger.commits:
            assert store.engine.decode(row.original) == ledger.commits[key]
        else:
            assert key in ledger.merges or key in ledger.lifecycle, f"nobody wrote {key}"
    for name in ledger.closed:
        branch = store.branch(name)
        assert branch is not None
        assert branch.status == "deleted"
    for hash, data in ledger.blobs.items():
        assert store.blob(hash)[0].hex() == data
    check_worlds(store, rows)


def check_worlds(store: Store, rows: list[CommitRow]) -> None:
    """The twin copies the world at every fork and folds commits one by one."""
    worlds: dict[str, list[World]] = {"": [{}]}
    forks = {branch.name: branch for branch in store.branches()}
    for row in rows:
        message = store.engine.decode(row.original)
        for history in worlds.values():
            history.append(history[-1])
        lifecycle = message.get("branchLifecycle")
        if lifecycle is None:
            worlds[row.branch][-1] = after(worlds[row.branch][-1], message["operations"])
        elif lifecycle["op"] == "create":
            branch = forks[row.branch]
            assert branch.parent is not None
            assert branch.fork_seq is not None
            inherited = worlds[branch.parent][branch.fork_seq]
            worlds[row.branch] = [inherited] * (row.seq + 1)
    assert set(worlds) == set(forks)
    for branch_name, history in worlds.items():
        for id in DOCUMENTS:
            assert store.read(id, branch_name) == history[-1].get(id)


def after(world: World, operations: list[dict[str, Any]]) -> World:
    world = dict(world)
    for operation in operations:
        id = operation["id"]
        if operation["op"] == "set":
            world[id] = operation["value"]
        elif operation["op"] == "delete":
            world.pop(id, None)
        else:
            world[id] = patch.apply(copy.deepcopy(world.get(id, {})), operation["patches"])
    return world


def replay_what_is_in_doubt(store: Store, ledger: Ledger) -> None:
    """Sending it again settles it: it lands once, and the second time nothing happens."""
    for key in sorted(ledger.in_doubt):
        by = CommitKey(SessionId(key[0]), LocalSeq(key[1]))
        stored = store.engine.tables.seq_of(by)
        act = _again(store, ledger, by)
        before = store.newest_seq()
        try:
            first = act()
        except StoreError:
            # Its branch was closed or its name taken by what landed instead; then it is not there.
            assert stored is None or key in ledger.commits
            assert store.newest_seq() == before
            continue
        grown = store.newest_seq() - before
        assert grown == 0 if stored is not None else grown <= 1
        assert act() == first, "a replayed merge answers its seq too"
        assert store.newest_seq() == before + grown
        if key in ledger.commits:
            ledger.acknowledged[key] = first
    ledger.in_doubt.clear()


def _again(store: Store, ledger: Ledger, by: CommitKey) -> Callable[[], Any]:
    key = (str(by.session), int(by.local_seq))
    if key in ledger.commits:
        return lambda: int(store.transact(key[0], ledger.commits[key]).seq)
    if key in ledger.merges:
        line = ledger.merges[key]
        resolutions = dict.fromkeys(DOCUMENTS, "source")

        def merged() -> int | None:
            applied = store.merge(by, line["source"], line["target"], resolutions)
            return None if applied is None else int(applied.seq)

        return merged
    line = ledger.lifecycle[key]
    if line["try_"] == "fork":
        return lambda: store.create_branch(line["name"], line["of"], by=by)
    return lambda: store.delete_branch(line["name"], by=by)


def check_copies(url: str, ledger: Ledger) -> None:
    """An import is there whole, or not at all."""
    for space, digest in ledger.copies.items():
        with open_store(url, space, SETTINGS) as store:
            store.engine.writing.begin()
            store.engine.writing.rollback()
            if store.newest_seq() == 0:
                assert space not in ledger.copied, "an acknowledged import is gone"
                assert store.engine.tables.blob_hashes() == []
                assert len(store.branches()) == 1
                continue
            lines = list(store.export(space.partition("-copy-")[0]))
            assert hashlib.sha256("\n".join(lines).encode()).hexdigest() == digest
            assert store.verify().findings == []
    ledger.copies.clear()


def rounds(workers: Workers, url: str, space: str, deaths: int, orders: Any) -> None:
    ledger = Ledger()
    for life in range(deaths):
        order = {"url": url, "space": space, "life": life, "seed": life, **next(orders)}
        assert workers.live_and_die(order, ledger) == "SIGKILL", order
        with open_store(url, space, SETTINGS) as store:
            check(store, ledger)
            replay_what_is_in_doubt(store, ledger)
            assert store.verify().findings == []
            for row in store.engine.tables.commits(0, 10**6):  # type: ignore[arg-type]
                ledger.whole(row)
        check_copies(url, ledger)


@pytest.mark.shows("STORE-CRASH", "INV-7", "INV-8", "INV-11", "INV-20", "INV-21", "INV-22")
@pytest.mark.parametrize("point", POINTS)
def test_killed_at(point: str, workers: Workers, url: str) -> None:
    random = Random(point)
    most = 3 if "compacting" in point else 40 if "statement" in point else 15

    def orders() -> Iterator[dict[str, Any]]:
        while True:
            yield {"point": point, "nth": random.randint(1, most), "lifetime": 30}

    space = f"did:key:crash-{POINTS.index(point)}"
    deaths = examples(4 if "compacting" in point else 8)
    rounds(workers, url, space, deaths, orders())


@pytest.mark.shows("STORE-CRASH", "INV-7", "INV-8", "INV-11", "INV-20", "INV-21", "INV-22")
@pytest.mark.parametrize("seed", range(4))
def test_killed_at_random_moments(seed: int, workers: Workers, url: str) -> None:
    random = Random(seed)

    def orders() -> Iterator[dict[str, Any]]:
        while True:
            yield {"point": "", "nth": 0, "lifetime": random.expovariate(1 / 0.05)}

    rounds(workers, url, f"did:key:random-{seed}", examples(12), orders())


# a step that fails without the process dying


class NoRoom(Exception):
    """What the test lets the disk say."""


class Failing:
    """Raises at the n-th passage of any point, once."""

    def __init__(self, nth: int | None = None) -> None:
        self.left, self.struck = nth, ""

    def __call__(self, point: str) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left == 0:
                self.left, self.struck = None, point
                raise NoRoom(point)


def _lifecycle(store: Store) -> Any:
    return store.create_branch("made", by=CommitKey(SessionId("keeper"), LocalSeq(1)))


WRITES: dict[str, Callable[[Store], Any]] = {
    "commit": lambda store: store.transact(
        "s", commit(1, set_("doc:new", 1), patch_("doc:hot", replace_("/value/n", 99)))
    ),
    "fork": _lifecycle,
    "merge": lambda store: store.merge(CommitKey(SessionId("m"), LocalSeq(1)), "draft"),
    "blob": lambda store: store.put_blob(b"bytes"),
    "collect": lambda store: store.collect_garbage(blobs=True),
}


@pytest.mark.shows("STORE-DISK-FULL", "INV-8")
@pytest.mark.parametrize("write", WRITES)
def test_a_step_that_fails_takes_everything_back(write: str, engines: Engines) -> None:
    """Every step of every kind of write fails once; then the write is done again and works."""
    for nth in range(1, 40):
        failing = Failing()
        settings = StoreSettings(snapshot_interval=2, snapshot_retention=1)
        store = watched_store(engines.url, engines.space(), failing, settings)
        with store:
            writer = Writer(store)
            writer(set_("doc:hot", {"n": 0}), set_("doc:other", {"x": 0}))
            for n in range(1, 4):
                writer(patch_("doc:hot", replace_("/value/n", n)))
            store.create_branch("draft")
            writer(patch_("doc:other", replace_("/value/x", 1)), branch="draft")
            writer(patch_("doc:hot", replace_("/value/n", 4)))
            before = dump(store)
            failing.left = nth
            try:
                WRITES[write](store)
            except NoRoom:
                pass
            else:
                failing.left = None
                assert nth > 4, "a write has steps"
                return
            landed = failing.struck in ("after COMMIT", "before compacting", "after compacting")
            assert landed or dump(store) == before, f"step {nth}, {failing.struck}"
            if write == "commit":
                assert store.read("doc:hot") == {"value": {"n": 99 if landed else 4}}
            WRITES[write](store)
            assert store.verify().findings == []
            assert Writer(store, "next")(set_("doc:next", 1)).seq == store.newest_seq()
    raise AssertionError("a write has fewer than forty steps")


@pytest.mark.shows("STORE-DISK-FULL")
def test_a_full_disk_is_named_and_the_store_goes_on(tmp_path: Path) -> None:
    """SQLite itself refuses here: the file may not grow."""
    with open_store(tmp_path, "did:key:full") as store:
        writer = Writer(store)
        writer(set_("doc:a", "small"))
        pages = store.engine.writing.rows("PRAGMA page_count")[0][0]
        store.engine.writing.rows(f"PRAGMA max_page_count={pages}")
        before = dump(store)
        with pytest.raises(StoreFailed, match="disk is full") as refused:
            writer(set_("doc:b", "x" * 100_000))
        assert refused.value.hint.startswith("free some space, then try again")
        assert dump(store) == before
        store.engine.writing.rows("PRAGMA max_page_count=1000000")
        again = commit(writer.local_seq, set_("doc:b", "x" * 100_000))
        assert store.transact(writer.session, again).seq == 2
        assert store.verify().findings == []


# a server that goes away


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A server of our own, durable, because we stop it without a goodbye."""
    yield from running_server(durable=True)


@pytest.mark.shows("STORE-UNREACHABLE", "INV-7")
@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_restarted_server_is_found_again(server: PostgresServer, mode: str) -> None:
    with open_store(server.url, f"did:key:restart-{mode}", SETTINGS) as store:
        writer = Writer(store)
        writer(set_("doc:a", {"n": 0}))
        store.create_branch("draft")
        for verb in (
            lambda: store.transact("s", commit(1, set_("doc:b", 1))),
            lambda: store.read("doc:a"),
            lambda: store.verify(),
            lambda: store.put_blob(b"bytes"),
            lambda: list(store.export("did:key:x")),
        ):
            server.stop(mode)
            with pytest.raises(StoreUnreachable):
                verb()
            with pytest.raises(StoreUnreachable):
                verb()
            server.start()
            verb()
            assert store.read("doc:a") == {"value": {"n": 0}}
        assert store.newest_seq() == 2
        assert store.verify().findings == []


@pytest.mark.shows("STORE-UNREACHABLE", "INV-7", "INV-11")
@pytest.mark.parametrize("point", [p for p in POINTS if "compacting" not in p])
def test_a_commit_in_doubt_is_settled_by_sending_it_again(
    server: PostgresServer, point: str
) -> None:
    """The server dies while the commit is under way, at each of its steps."""
    armed = False

    def passing(here: str) -> None:
        nonlocal armed
        if armed and here == point:
            armed = False
            server.stop("immediate")
            server.start()

    space = f"did:key:doubt-{POINTS.index(point)}"
    with watched_store(server.url, space, passing) as store:
        writer = Writer(store)
        writer(set_("doc:a", {"n": 0}))
        again = commit(1, patch_("doc:a", {"op": "increment", "path": "/value/n", "by": 1}))
        armed = True
        if point in ("before BEGIN", "after COMMIT"):
            # Nothing was under way yet, or the answer was on its way already.
            assert store.transact("s", again).seq == 2
        else:
            with pytest.raises(StoreUnreachable):
                store.transact("s", again)
        landed = store.transact("s", again)
        assert (landed.seq, landed.replayed) == (2, point in ("before BEGIN", "after COMMIT"))
        assert store.read("doc:a") == {"value": {"n": 1}}
        assert store.transact("s", again).replayed
        assert store.newest_seq() == 2
        assert store.verify().findings == []
