"""Processes that answer orders: in order, whatever their size, and whoever dies."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from holdfast.index import processes
from holdfast.index.building import worker_pool
from holdfast.index.building.worker_pool import Died, Unstarted, WorkerPool, ready
from tests.scale import first_in_quick, size

DIE = b"die"


def answer(order: bytes) -> bytes:
    """What the workers below make of an order: longer than it, to fill the way back."""
    return order[::-1] * 3


def work(orders: Connection, results: Connection) -> None:
    ready(results)
    while order := orders.recv_bytes():
        if order == DIE:
            os._exit(3)
        results.send_bytes(answer(order))


def stillborn(orders: Connection, results: Connection) -> None:
    raise ImportError("nothing to work with")


@pytest.fixture(params=[1, pytest.param(2, marks=pytest.mark.long), 3])
def pool(request: pytest.FixtureRequest) -> Iterator[WorkerPool]:
    made = WorkerPool(work, request.param)
    yield made
    made.end()


def expected(order: bytes) -> bytes | Died:
    return Died() if order == DIE else answer(order)


@pytest.mark.shows("INDEX-POOL")
def test_answers_come_in_the_order_of_the_orders(pool: WorkerPool) -> None:
    orders = [f"order {number}".encode() * (number % 7 + 1) for number in range(60)]
    got = list(pool.answers((number, order) for number, order in enumerate(orders)))
    assert got == [(number, answer(order)) for number, order in enumerate(orders)]


def test_no_orders_start_nobody(pool: WorkerPool) -> None:
    assert list(pool.answers(iter(()))) == []
    assert pool._workers == []


def test_orders_and_answers_that_no_pipe_holds(pool: WorkerPool) -> None:
    """Nobody waits for somebody who waits for them."""
    orders = [bytes([number]) * (worker_pool.PIPE_BYTES * 2) for number in range(1, 8)]
    assert [got for _, got in pool.answers((None, order) for order in orders)] == [
        answer(order) for order in orders
    ]


def signed(orders: Connection, results: Connection) -> None:
    """As `work`, with the process that answered."""
    ready(results)
    while order := orders.recv_bytes():
        if order == DIE:
            os._exit(3)
        results.send_bytes(b"%d " % os.getpid() + answer(order))


@pytest.mark.shows("INDEX-POOL")
@pytest.mark.parametrize("count", [1, 3])
def test_a_worker_is_replaced_after_its_orders_and_no_order_is_lost(count: int) -> None:
    """The memory of a worker grows with what it has read."""
    pool = WorkerPool(signed, count, orders_max=4)
    orders = [DIE if number == 17 else b"%d" % number * (1 + number % 5) for number in range(60)]
    try:
        got = [answer for _, answer in pool.answers((None, order) for order in orders)]
    finally:
        pool.end()
    answered: dict[bytes, int] = {}
    for order, found in zip(orders, got, strict=True):
        if isinstance(found, bytes):
            pid, _, text = found.partition(b" ")
            assert text == answer(order)
            answered[pid] = answered.get(pid, 0) + 1
        else:
            assert (order, found) == (DIE, Died())
    assert max(answered.values()) < 8
    assert len(answered) > 59 // 8
    for pid in answered:
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


@pytest.mark.shows("INDEX-PARSER-CRASH")
def test_who_dies_takes_only_the_order_that_killed_it(pool: WorkerPool) -> None:
    orders = [DIE if number in (0, 5, 6, 19) else b"%d" % number for number in range(20)]
    got = [answer for _, answer in pool.answers((None, order) for order in orders)]
    assert got == [expected(order) for order in orders]


def test_alone_one_order_at_a_time(pool: WorkerPool) -> None:
    orders = [b"a", DIE, b"b", DIE, DIE, b"c"]
    got = [answer for _, answer in pool.alone((None, order) for order in orders)]
    assert got == [expected(order) for order in orders]


def test_what_is_not_wanted_any_more_ends(pool: WorkerPool) -> None:
    answers = pool.answers((None, b"x" * 100_000) for _ in range(50))
    next(answers)
    pids = [worker.process.pid for worker in pool._workers]
    pool.end()
    assert pids
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_workers_are_spawned_where_forking_is_not_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    pool = WorkerPool(work, 1)
    try:
        assert list(pool.answers([("a", b"abc")])) == [("a", answer(b"abc"))]
    finally:
        pool.end()


def nowhere(orders: Connection, results: Connection) -> None:
    """A work that a new interpreter cannot find."""


nowhere.__module__ = "holdfast.nowhere"


def no_process(serve: Callable[[], None], stdin: int, stdout: int) -> processes.Child:
    raise BlockingIOError("no process to be had")


HINDRANCES = [
    *("ends at once", "cannot be told", "no process"),
    pytest.param("cannot be found", marks=pytest.mark.long),
]


@pytest.mark.shows("INDEX-POOL-UNSTARTED")
@pytest.mark.parametrize("hindrance", HINDRANCES)
@pytest.mark.parametrize("count", first_in_quick([3, 1]))
def test_where_nobody_can_be_started_no_order_is_said_to_kill(
    monkeypatch: pytest.MonkeyPatch, hindrance: str, count: int
) -> None:
    """Each order was answered with a death, and its files were kept as plain text."""
    working = stillborn
    if hindrance == "no process":
        monkeypatch.setattr(processes, "start", no_process)
    if hindrance.startswith("cannot"):
        monkeypatch.setattr(threading, "active_count", lambda: 2)
        working = nowhere if hindrance == "cannot be told" else stillborn
    if hindrance == "cannot be found":
        working = Lost()
    pool = WorkerPool(working, count)
    orders = [(number, b"%d" % number) for number in range(size(20, 5))]
    try:
        assert list(pool.answers(orders)) == [(number, Unstarted()) for number, _ in orders]
        assert list(pool.alone(orders)) == [(number, Unstarted()) for number, _ in orders]
        assert not pool._workers
    finally:
        pool.end()


def gone() -> None:
    raise ModuleNotFoundError("only here")


class Lost:
    """Can be sent, and not be put together again."""

    def __call__(self, orders: Connection, results: Connection) -> None: ...

    def __reduce__(self) -> tuple[object, tuple[()]]:
        return gone, ()


def test_who_was_started_does_the_work_of_those_who_cannot_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real, started = processes.start, 0

    def once(serve: Callable[[], None], stdin: int, stdout: int) -> processes.Child:
        nonlocal started
        started += 1
        return (real if started == 1 else no_process)(serve, stdin, stdout)

    monkeypatch.setattr(processes, "start", once)
    pool = WorkerPool(work, 3)
    orders = [(number, b"%d" % number) for number in range(30)]
    try:
        assert list(pool.answers(orders)) == [(n, answer(order)) for n, order in orders]
        assert len(pool._workers) == 1
    finally:
        pool.end()


def inherits(orders: Connection, results: Connection) -> None:
    ready(results)
    while orders.recv_bytes():
        results.send_bytes(b" ".join(os.listdir(b"/proc/self/fd")))


@pytest.mark.parametrize("threads", [1, 2])
def test_a_worker_has_nothing_of_ours_but_its_pipes(
    monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    """An open file is a lock held: a worker would keep our lease after we die."""
    monkeypatch.setattr(threading, "active_count", lambda: threads)
    with open(__file__), open(__file__):
        pool = WorkerPool(inherits, 2)
        try:
            found = [got for _, got in pool.answers([(None, b"?")] * 4)]
        finally:
            pool.end()
    for got in found:
        assert isinstance(got, bytes)
        # The last is of the directory itself, while it is listed.
        assert sorted(map(int, got.split())) == [0, 1, 2, 3, 4]


STOP = b"stop"
LARGE = b"x" * (worker_pool.PIPE_BYTES * 2)


def stopping(folder: str, orders: Connection, results: Connection) -> None:
    """Stops itself at the order STOP, the first time: as if somebody stopped it."""
    ready(results)
    while order := orders.recv_bytes():
        if order.startswith(STOP):
            with contextlib.suppress(FileExistsError):
                os.close(os.open(f"{folder}/{order.decode()}", os.O_CREAT | os.O_EXCL))
                os.kill(os.getpid(), signal.SIGSTOP)
        results.send_bytes(answer(order))


def always_stopping(orders: Connection, results: Connection) -> None:
    ready(results)
    while order := orders.recv_bytes():
        if order == STOP:
            os.kill(os.getpid(), signal.SIGSTOP)
        results.send_bytes(answer(order))


def stopped_at_start(orders: Connection, results: Connection) -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


@pytest.mark.shows("SEC-FROZEN-WORKER")
@pytest.mark.parametrize("count", [1, 2])
def test_a_stopped_worker_is_replaced_and_its_orders_are_answered(
    tmp_path: Path, count: int
) -> None:
    """A build waited for it without limit."""
    orders = [b"a", STOP, b"b", STOP + b"2", LARGE, b"c"]
    pool = WorkerPool(partial(stopping, str(tmp_path)), count, look_s=0.02)
    try:
        got = [found for _, found in pool.answers((None, order) for order in orders)]
    finally:
        pool.end()
    assert got == [answer(order) for order in orders]


@pytest.mark.shows("SEC-FROZEN-WORKER")
def test_an_order_at_which_two_workers_stop_is_given_up() -> None:
    died: list[bytes] = []
    pool = WorkerPool(always_stopping, 1, died=died.append, look_s=0.02)
    orders = [b"a", STOP, LARGE, b"b"]
    try:
        got = [found for _, found in pool.answers((None, order) for order in orders)]
        assert got == [answer(b"a"), Died(), answer(LARGE), answer(b"b")]
        assert died == [STOP]
        alone = [found for _, found in pool.alone((None, order) for order in orders)]
        assert alone == got
    finally:
        pool.end()


@pytest.mark.shows("SEC-FROZEN-WORKER")
def test_workers_that_stop_while_they_start_are_not_waited_for() -> None:
    pool = WorkerPool(stopped_at_start, 2, look_s=0.02)
    try:
        assert [found for _, found in pool.answers([(None, LARGE)])] == [Unstarted()]
        assert [found for _, found in pool.alone([(None, LARGE)])] == [Unstarted()]
    finally:
        pool.end()
