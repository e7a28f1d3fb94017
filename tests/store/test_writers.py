"""Several writers at once: threads on one store, processes on one space."""

import json
import subprocess
import sys
import threading
from asyncio import CancelledError
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import StoreError
from holdfast.ids import EntityId, LocalSeq, Seq, SessionId
from holdfast.store.errors import (
    ConflictError,
    InvalidValue,
    NotPermitted,
    PatchError,
    StoreBusy,
    StoreClosed,
    StoreFailed,
)
from holdfast.store.group import GroupCommit
from holdfast.store.model import Applied, CommitKey, Guard
from holdfast.store.settings import StoreSettings
from holdfast.store.store import Store, open_store
from holdfast.store.tables import CommitRow
from holdfast.store.values import Problematic
from tests.postgres import PostgresServer
from tests.scale import examples
from tests.store.harness import Engines, Writer, commit, dump, patch_, set_


def rows(store: Store) -> list[CommitRow]:
    return store.engine.tables.commits(0, 10**6)  # type: ignore[arg-type]


def sound(store: Store) -> None:
    assert [row.seq for row in rows(store)] == list(range(1, store.newest_seq() + 1))
    report = store.verify()
    assert report.findings == []
    assert report.reordered == 0


ADD_ONE = {"op": "increment", "path": "/value/n", "by": 1}


@pytest.mark.shows("STORE-GROUP", "INV-5", "INV-22")
def test_threads_share_trips_and_each_gets_its_own_answer(store: Store) -> None:
    each, threads = 25, 8

    def write(number: int) -> list[Applied]:
        writer = Writer(store, f"s{number}")
        return [writer(patch_("doc:all", ADD_ONE), set_(f"doc:{number}", n)) for n in range(each)]

    with ThreadPoolExecutor(threads) as pool:
        answers = list(pool.map(write, range(threads)))
    for number, applied in enumerate(answers):
        seqs = [answer.seq for answer in applied]
        assert seqs == sorted(seqs), "a session's commits land in its order"
        for n, answer in enumerate(applied, 1):
            row = store.engine.tables.commit_at(answer.seq)
            assert row is not None
            assert (row.session, row.local_seq) == (f"s{number}", n)
    assert store.read("doc:all") == {"value": {"n": each * threads}}
    assert store.newest_seq() == each * threads
    sound(store)


@pytest.mark.shows("STORE-GROUP", "INV-8")
def test_a_refused_commit_does_not_disturb_those_beside_it(store: Store) -> None:
    """Queued while the writer is held up, so that good and bad ones share one transaction."""
    Writer(store, "seed")(set_("doc:a", {"n": 0}))
    bad: list[dict[str, Any]] = [
        commit(3, patch_("doc:a", {"op": "remove", "path": "/value/zzz"})),
        commit(3, set_("doc:b", 1), reads=[{"id": "doc:a", "path": [], "seq": 0}]),
        commit(3, set_("doc:b", 1), branch="nowhere"),
    ]
    told: dict[str, Any] = {}
    done = threading.Semaphore(0)

    def queue(name: str, message: dict[str, Any]) -> None:
        def tell(answer: Applied | StoreError) -> None:
            told[f"{name}/{message['localSeq']}"] = answer
            done.release()

        store.submit(name, message, tell)

    def queue_all() -> None:
        for n in (1, 2):
            queue("good", commit(n, patch_("doc:a", ADD_ONE)))
        for n, message in enumerate(bad):
            queue(f"bad{n}", message)
        queue("good", commit(3, patch_("doc:a", ADD_ONE)))
        queue("good", commit(2, patch_("doc:a", ADD_ONE)))
        queue("good", commit(1, set_("doc:a", "another payload")))

    store._group.exclusively(queue_all)
    for _ in range(8):
        assert done.acquire(timeout=30)
    assert [told[f"good/{n}"].seq for n in (2, 3)] == [3, 4]
    assert told["good/2"].replayed, "the same commit again, in the same batch"
    assert told["good/1"].name == "ProtocolError", "another payload under the same number"
    assert isinstance(told["bad0/3"], PatchError)
    assert isinstance(told["bad1/3"], ConflictError)
    assert told["bad2/3"].name == "TransactionError"
    assert store.read("doc:a") == {"value": {"n": 3}}
    assert store.newest_seq() == 4
    sound(store)


@pytest.mark.shows("STORE-GROUP")
def test_closing_finishes_what_was_queued(engines: Engines) -> None:
    store = engines.open()
    told: list[Applied | StoreError] = []

    def queue_all() -> None:
        for n in range(1, 101):
            store.submit("s", commit(n, patch_("doc:a", ADD_ONE)), told.append)

    store._group.exclusively(queue_all)
    store.close()
    assert [answer.seq for answer in told if isinstance(answer, Applied)] == list(range(1, 101))


@pytest.mark.shows("STORE-GROUP")
def test_a_listener_that_fails_stops_nobody_else(store: Store) -> None:
    """The thread that writes for everybody used to end with it, and all later commits hung."""
    told: list[Any] = []
    done = threading.Event()

    def fail(answer: Any) -> None:
        raise ValueError("the listener's own mistake")

    def queue_all() -> None:
        store.submit("a", commit(1, set_("doc:a", 1)), fail)
        store.submit("b", commit(1, set_("doc:b", 1)), lambda answer: told.append(answer))
        store.submit("c", commit(1, set_("doc:c", 1)), lambda answer: done.set())

    store._group.exclusively(queue_all)
    assert done.wait(30)
    assert store.newest_seq() == 3
    assert len(told) == 1


@pytest.mark.shows("STORE-GROUP")
def test_a_closed_store_says_so(engines: Engines) -> None:
    store = engines.open()
    Writer(store)(set_("doc:a", 1))
    store.close()
    verbs: list[Callable[[], Any]] = [
        lambda: store.transact("s", commit(1, set_("doc:a", 1))),
        lambda: store.submit("s", commit(1, set_("doc:a", 1)), lambda answer: None),
        lambda: store.read("doc:a"),
        lambda: store.branches(),
        lambda: store.create_branch("draft"),
        lambda: store.put_blob(b"x"),
        lambda: store.verify(),
        lambda: list(store.export("did:key:x")),
        lambda: store.newest_seq(),
    ]
    for verb in verbs:
        with pytest.raises(StoreClosed, match="the store is closed"):
            verb()
    store.close()


@pytest.mark.shows("STORE-GROUP")
def test_a_batch_that_cannot_be_written_fails_for_all_who_waited() -> None:
    class Broken(Exception):
        pass

    def write(items: Any) -> list[int]:
        if "bad" in items:
            raise Broken
        return [len(item) for item in items]

    group: GroupCommit[str, int] = GroupCommit(write)
    told: list[Any] = []
    done = threading.Semaphore(0)

    def tell(fate: Any) -> None:
        told.append(type(fate))
        done.release()

    def queue_all() -> None:
        for item in ("good", "bad"):
            group.submit(item, tell)

    group.exclusively(queue_all)
    for _ in range(2):
        assert done.acquire(timeout=30)
    assert told == [Broken, Broken]
    assert group.do("next") == 4, "the next batch is a new one"
    group.close()


@pytest.mark.shows("STORE-GROUP")
def test_the_first_of_a_crowd_does_not_make_a_trip_alone() -> None:
    """The first to come back after a batch wrote at once, and the rest waited for its trip too.

    So where the last trip took several, callers queue. One who then comes alone writes as before.
    """
    trips: list[tuple[str, int]] = []

    def write(items: Any) -> list[int]:
        trips.append((threading.current_thread().name, len(items)))
        return [len(item) for item in items]

    group: GroupCommit[str, int] = GroupCommit(write)
    done = threading.Semaphore(0)

    def queue_all() -> None:
        for item in ("one", "two"):
            group.submit(item, lambda _: done.release())

    here = threading.current_thread().name
    assert group.do("alone") == 5
    group.exclusively(queue_all)
    for _ in range(2):
        assert done.acquire(timeout=30)
    for item in ("after the crowd", "alone again"):
        assert group.do(item) == len(item)
    group.close()
    assert trips == [(here, 1), ("holdfast-commit", 2), ("holdfast-commit", 1), (here, 1)]


@pytest.mark.shows("STORE-GROUP")
def test_a_machine_out_of_threads_refuses_one_caller_and_stops_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The item used to stay queued for a thread that never ran, and every later commit hung."""

    def no_room(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    group: GroupCommit[str, int] = GroupCommit(lambda items: [len(item) for item in items])
    told: list[Any] = []
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", no_room)
        with pytest.raises(RuntimeError, match="can't start"):
            group.submit("lost", told.append)
    assert not group._waiting, "who was refused is not written later"
    group.submit("queued", told.append)
    group.close()
    assert told == [6]


@pytest.mark.shows("STORE-GROUP")
def test_a_caller_interrupted_while_it_wakes_the_writer_stops_nobody() -> None:
    """The writer had been marked as woken and was not, so nobody woke it ever again."""

    class Bell:
        """The writer's bell; the first to ring it is interrupted before it sounds."""

        def __init__(self, bell: Any) -> None:
            self._bell = bell
            self.locked = bell.locked
            self.interrupted = False
            self.sleeping = threading.Event()

        def acquire(self) -> None:
            self.sleeping.set()
            self._bell.acquire()

        def release(self) -> None:
            if not self.interrupted:
                self.interrupted = True
                raise KeyboardInterrupt
            self._bell.release()

    group: GroupCommit[str, int] = GroupCommit(lambda items: [len(item) for item in items])
    bell: Any = Bell(group._bell)
    group._bell = bell
    told: list[Any] = []
    done = threading.Semaphore(0)

    def tell(fate: Any) -> None:
        told.append(fate)
        done.release()

    group.submit("first", tell)
    assert bell.sleeping.wait(30)
    assert done.acquire(timeout=30)
    with pytest.raises(KeyboardInterrupt):
        group.submit("interrupted", tell)
    group.submit("next", tell)
    for _ in range(2):
        assert done.acquire(timeout=10), "the writer sleeps on"
    assert told == [5, 11, 4], "who was interrupted had queued"
    group.close()


@pytest.mark.shows("STORE-GROUP")
def test_a_listener_that_is_cancelled_stops_nobody_else(store: Store) -> None:
    """What is no `Exception` ended the thread that writes for everybody."""

    def cancelled(answer: Any) -> None:
        raise CancelledError

    done = threading.Event()

    def queue_all() -> None:
        store.submit("a", commit(1, set_("doc:a", 1)), cancelled)
        store.submit("b", commit(1, set_("doc:b", 1)), lambda answer: done.set())

    store._group.exclusively(queue_all)
    assert done.wait(10)
    assert store.newest_seq() == 2


@pytest.mark.shows("STORE-GROUP")
@pytest.mark.parametrize("fails", [False, True], ids=["after a success", "after a failure"])
@pytest.mark.parametrize("verb", ["do", "submit", "exclusively", "close"])
def test_a_listener_may_write_itself(verb: str, fails: bool) -> None:
    """It waited for the thread that was waiting for it, or for a lock that thread held."""

    def write(items: Any) -> list[int]:
        if fails and "one" in items:
            raise StoreFailed("disk I/O error")
        return [len(item) for item in items]

    group: GroupCommit[str, int] = GroupCommit(write)
    acts: dict[str, Callable[[], Any]] = {
        "do": lambda: group.do("again"),
        "submit": lambda: group.submit("again", lambda fate: None),
        "exclusively": lambda: group.exclusively(lambda: 5),
        "close": group.close,
    }
    answers: list[Any] = []
    done = threading.Semaphore(0)

    def listen(fate: Any) -> None:
        answers.append(acts[verb]())
        done.release()

    def queue_all() -> None:
        group.submit("one", listen)
        group.submit("two", lambda fate: done.release())

    group.exclusively(queue_all)
    for _ in range(2):
        assert done.acquire(timeout=10), "they wait for each other"
    assert answers == [5 if verb in ("do", "exclusively") else None]
    group.close()


@pytest.mark.shows("STORE-GROUP")
def test_who_is_interrupted_while_a_transaction_begins_leaves_none_open(
    engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever waits for another process is interrupted when the lock is there at last.

    Then the transaction had begun, nobody ended it, and every later write failed.
    """
    store = engines.open()
    write = Writer(store)
    write(set_("doc:a", 1))

    def interrupted(database: Any, verb: str) -> Callable[[], None]:
        begin = getattr(database, verb)

        def beginning() -> None:
            begin()
            raise KeyboardInterrupt

        return beginning

    engine = store.engine
    verbs: list[tuple[Any, str, Callable[[], Any]]] = [
        (engine.writing, "begin", lambda: write(set_("doc:a", 2))),
        (engine.writing, "begin", lambda: store.put_blob(b"x")),
        (engine.writing, "begin", lambda: store.create_branch("draft")),
        (engine.reading, "begin_reading", lambda: store.verify()),
    ]
    before = dump(store)
    for database, verb, act in verbs:
        with monkeypatch.context() as patched:
            patched.setattr(database, verb, interrupted(database, verb))
            with pytest.raises(KeyboardInterrupt):
                act()
        assert dump(store) == before
    write(set_("doc:a", 3))
    assert store.read("doc:a") == {"value": 3}
    sound(store)


@pytest.mark.shows("STORE-GROUP", "INV-8")
def test_a_database_that_fails_while_deciding_writes_nothing(
    engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite ends a transaction on some failures, even of a question.

    The rest of the batch was then decided without a lock and written outside of any transaction.
    """
    store = engines.open()
    told: list[Applied | StoreError] = []
    done = threading.Semaphore(0)

    def tell(answer: Applied | StoreError) -> None:
        told.append(answer)
        done.release()

    def fail(key: Any) -> Any:
        store.engine.writing.rollback()
        raise StoreFailed("disk I/O error")

    def queue_all() -> None:
        pending = {"id": "doc:a", "path": [], "localSeq": 1}
        store.submit("one", commit(2, set_("doc:a", 1), pending=[pending]), tell)
        store.submit("two", commit(1, set_("doc:b", 1)), tell)

    before = dump(store)
    with monkeypatch.context() as patched:
        patched.setattr(store.engine._writes, "seq_of", fail)
        store._group.exclusively(queue_all)
        for _ in range(2):
            assert done.acquire(timeout=30)
    assert [type(answer) for answer in told] == [StoreFailed, StoreFailed]
    assert dump(store) == before
    Writer(store, "three")(set_("doc:c", 1))
    sound(store)


def _unwritable(kind: str) -> tuple[Any, list[dict[str, Any]]]:
    """A payload, and patches of it that leave what has no text."""
    if kind == "a run of holes":  # in an object it is malformed, in an array it means holes
        move = {"op": "move", "from": "/value/a", "path": "/value/list/-"}
        return {"a": Problematic("hole", 3), "list": []}, [move]
    deep: Any = 1
    for _ in range(300):  # alone in its object, a name with a slash is wrapped in one more
        deep = {"/x": deep, "y": 2}
    return deep, [{"op": "remove", "path": f"/value{'/~1x' * depth}/y"} for depth in range(300)]


@pytest.mark.shows("INV-8", "STORE-PATCHES-VALIDATED")
@pytest.mark.parametrize("interval", [0, 1], ids=["no snapshots", "a snapshot each"])
@pytest.mark.parametrize("kind", ["a run of holes", "deep"])
def test_a_patch_that_leaves_what_cannot_be_written_is_refused_and_leaves_nothing(
    engines: Engines, kind: str, interval: int
) -> None:
    """With a snapshot due it was refused and stored; without, no reader could have the document."""
    store = engines.open(settings=StoreSettings(rich_values=True, snapshot_interval=interval))
    payload, edits = _unwritable(kind)
    write = Writer(store)
    write(set_("doc:a", payload))
    before = dump(store)
    with pytest.raises(InvalidValue):
        write(patch_("doc:a", *edits))
    assert dump(store) == before
    write(patch_("doc:a", ADD_ONE), set_("doc:b", 1))
    assert store.read("doc:b") == {"value": 1}
    sound(store)


# several processes

COUNTER = """
import json, sys
from holdfast.store.errors import ConflictError, StoreBusy
from holdfast.store.store import open_store

order = json.loads(sys.argv[1])
store = open_store(order["url"], order["space"])
session, local, landed, refused = order["session"], 0, [], 0
while len(landed) < order["times"]:
    state = store.state("doc:count")
    local += 1
    commit = {
        "localSeq": local,
        "reads": {"confirmed": [{"id": "doc:count", "path": ["value", "n"], "seq": state.seq}]},
        "operations": [
            {"op": "patch", "id": "doc:count", "patches": [
                {"op": "replace", "path": "/value/n", "value": state.document["value"]["n"] + 1}]},
            {"op": "set", "id": "doc:" + session, "value": {"value": len(landed)}},
        ],
    }
    try:
        landed.append(store.transact(session, commit).seq)
    except (ConflictError, StoreBusy):
        refused += 1
store.close()
print(json.dumps({"landed": landed, "refused": refused}))
"""


@pytest.mark.long
@pytest.mark.shows("STORE-PROCESSES", "INV-1", "INV-22")
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_processes_that_read_modify_and_write_lose_no_update(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Each reads a counter, adds one, and commits on that read; refused, it tries again."""
    url = str(tmp_path)
    if engine == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres")
        url = server.url
    space, processes, times = "did:key:counters", 4, examples(25)
    with open_store(url, space) as store:
        Writer(store, "seed")(set_("doc:count", {"n": 0}))
        orders: list[dict[str, Any]] = [
            {"url": url, "space": space, "session": f"p{n}", "times": times}
            for n in range(processes)
        ]
        running = [
            subprocess.Popen(
                [sys.executable, "-c", COUNTER, json.dumps(order)], stdout=subprocess.PIPE
            )
            for order in orders
        ]
        answers = [json.loads(process.communicate(timeout=300)[0]) for process in running]
        landed = [seq for answer in answers for seq in answer["landed"]]
        assert sorted(landed) == list(range(2, processes * times + 2))
        assert store.read("doc:count") == {"value": {"n": processes * times}}
        for answer in answers:
            assert answer["landed"] == sorted(answer["landed"])
        sound(store)


@pytest.mark.shows("STORE-PROCESSES")
def test_two_handles_may_open_a_new_space_at_once(engines: Engines) -> None:
    if engines.url == "memory:":
        pytest.skip("a space in memory has one handle")
    space = engines.space()
    gate = threading.Barrier(6)

    def first(number: int) -> int:
        gate.wait()
        with open_store(engines.url, space) as store:
            return Writer(store, f"s{number}")(set_("doc:a", number)).seq

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(first, range(6))) == [1, 2, 3, 4, 5, 6]
    sound(engines.open(space))


@pytest.mark.shows("STORE-PROCESSES")
def test_a_lock_that_cannot_be_had_is_named_and_leaves_nothing_open(
    postgres: PostgresServer,
) -> None:
    """The transaction that had begun used to stay open, and every later write failed."""
    with (
        open_store(postgres.url, "did:key:locked") as one,
        open_store(postgres.url, "did:key:locked") as other,
    ):
        other.engine.writing.run("SET lock_timeout = 20")
        one.engine.writing.begin()
        with pytest.raises(StoreBusy):
            Writer(other)(set_("doc:a", 1))
        one.engine.writing.rollback()
        assert Writer(other)(set_("doc:a", 1)).seq == 1


@pytest.mark.shows("STORE-PROCESSES")
def test_a_server_with_other_defaults_is_used_on_our_terms(postgres: PostgresServer) -> None:
    """It may acknowledge before the disk has it, or show a transaction only what was before."""
    url = f"{postgres.url}{'&' if '?' in postgres.url else '?'}options=" + (
        "-csynchronous_commit%3Doff%20-cdefault_transaction_isolation%3Drepeatable%5C%20read"
    )
    space = "did:key:other-defaults"
    with open_store(url, space) as store:
        for database in (store.engine.writing, store.engine.reading):
            assert database.rows("SHOW synchronous_commit") == [("on",)]
            assert database.rows("SHOW default_transaction_isolation") == [("repeatable read",)]
        database = store.engine.writing
        database.begin()
        assert database.rows("SHOW transaction_isolation") == [("read committed",)]
        database.rollback()


@pytest.mark.shows("SYNC-ACL-INSIDE")
def test_a_guard_is_asked_about_its_document_as_it_is_when_the_write_lands(
    engines: Engines,
) -> None:
    """Two connections: what one commits between the other's look and its commit counts."""
    space = engines.space()
    ours = engines.open(space)
    theirs = ours if engines.url == "memory:" else engines.open(space)
    asked: list[Any] = []

    def judge(document: Any) -> tuple[str, str] | None:
        asked.append(document)
        return ("closed", "ask an owner") if document == {"value": "closed"} else None

    guard = Guard(EntityId("door"), theirs.newest_seq(), judge)
    assert ours.transact("a", commit(1, set_("doc:a", 1)), guard).seq == 1
    assert asked == [], "nobody has written it since"
    theirs.transact("b", commit(1, set_("door", "open")))
    assert ours.transact("a", commit(2, set_("doc:a", 2)), guard).seq == 3
    ours.create_branch("draft", by=CommitKey(SessionId("a"), LocalSeq(3)), guard=guard)
    assert asked == [{"value": "open"}] * 2
    theirs.transact("b", commit(2, set_("door", "closed")))
    before = dump(ours)
    for write in (
        lambda: ours.transact("a", commit(4, set_("doc:a", 4)), guard),
        lambda: ours.create_branch("late", by=CommitKey(SessionId("a"), LocalSeq(4)), guard=guard),
        lambda: ours.delete_branch("draft", by=CommitKey(SessionId("a"), LocalSeq(4)), guard=guard),
    ):
        with pytest.raises(NotPermitted, match="closed") as refused:
            write()
        assert refused.value.hint == "ask an owner"
    assert dump(ours) == before
    assert ours.transact("a", commit(2, set_("doc:a", 2)), guard).seq == 3, "it has landed already"
    sound(ours)


@pytest.mark.shows("SYNC-ACL-INSIDE")
def test_a_guard_sees_what_lands_before_it_in_the_same_batch(store: Store) -> None:
    def judge(document: Any) -> tuple[str, str] | None:
        return ("closed", "") if document == {"value": "closed"} else None

    engine, guard = store.engine, Guard(EntityId("door"), Seq(0), judge)
    requests = []
    for session, operation, asks in (
        ("a", set_("doc:a", 1), guard),
        ("b", set_("door", "closed"), None),
        ("a2", set_("doc:a", 2), guard),
        ("b2", {"op": "delete", "id": "door"}, None),
        ("a3", set_("doc:a", 3), guard),
    ):
        by, message = SessionId(session), commit(1, operation)
        requests.append(engine.prepare(by, message, engine.parse(by, message), asks))
    answers = engine.transact(requests)
    assert [isinstance(answer, NotPermitted) for answer in answers] == [
        False, False, True, False, False,
    ]  # fmt: skip
    sound(store)


@pytest.mark.shows("INV-3")
def test_commits_sent_again_among_new_ones_get_their_first_answers(engines: Engines) -> None:
    """Keys are not looked up before a commit is written; the index of keys finds those again."""
    store = engines.open()
    first = store.transact("one", commit(1, set_("doc:a", 1)))
    told: list[Any] = []

    def queue_all() -> None:
        for session, n in (("two", 1), ("one", 1), ("two", 2), ("one", 2)):
            message = commit(n, set_("doc:a" if session == "one" else "doc:b", n))
            store.submit(session, message, told.append)

    for _ in range(2):
        store._group.exclusively(queue_all)
        store.transact("last", commit(store.next_local_seq("last"), set_("doc:z", 1)))
    assert [(answer.seq, answer.replayed) for answer in told[:4]] == [
        (2, False),
        (first.seq, True),
        (3, False),
        (4, False),
    ]
    assert [(answer.seq, answer.replayed) for answer in told[4:]] == [
        (2, True),
        (1, True),
        (3, True),
        (4, True),
    ]
    assert not store.verify().findings
    assert store.newest_seq() == 6


def test_a_commit_of_another_connection_is_seen_by_the_next_one(engines: Engines) -> None:
    """The newest seq and hash are kept between commits, but not over those of others."""
    store = engines.open()
    if engines.url == "memory:":
        pytest.skip("a space in memory has one handle")
    other = engines.open(store.space)
    for n in range(1, 4):
        assert store.transact("one", commit(n, set_("doc:a", n))).seq == 2 * n - 1
        assert other.transact("two", commit(n, set_("doc:a", n))).seq == 2 * n
    assert not store.verify().findings
