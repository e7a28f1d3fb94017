"""Nothing acknowledged is lost, and nothing is half there, wherever the process dies.

A worker (`tests/store/crash.py`) writes to a space in every way and tells what was acknowledged.
It is killed, the space is opened again, and what is there is compared with what the worker told:
commit by commit, and as whole worlds, which a twin folds from the commits alone.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from holdfast.ids import LocalSeq, SessionId
from holdfast.store.errors import StoreFailed, StoreUnreachable
from holdfast.store.model import CommitKey
from holdfast.store.settings import StoreSettings
from holdfast.store.store import Store, open_store
from tests.postgres import PostgresServer, running_server
from tests.scale import examples
from tests.store.crash import POINTS, SETTINGS, watched_store
from tests.store.deaths import Workers, at_point, at_random, rounds
from tests.store.harness import Engines, Writer, commit, dump, patch_, replace_, set_


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


@pytest.mark.shows("STORE-CRASH", "INV-7", "INV-8", "INV-11", "INV-20", "INV-21", "INV-22")
@pytest.mark.parametrize("point", POINTS)
def test_killed_at(point: str, workers: Workers, url: str) -> None:
    space = f"did:key:crash-{POINTS.index(point)}"
    deaths = examples(4 if "compacting" in point else 8)
    rounds(workers, url, space, deaths, at_point(point, Random(point)))


@pytest.mark.shows("STORE-CRASH", "INV-7", "INV-8", "INV-11", "INV-20", "INV-21", "INV-22")
@pytest.mark.parametrize("seed", range(4))
def test_killed_at_random_moments(seed: int, workers: Workers, url: str) -> None:
    rounds(workers, url, f"did:key:random-{seed}", examples(12), at_random(Random(seed)))


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


@pytest.mark.service("postgres")
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


@pytest.mark.service("postgres")
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
