"""Processes that answer orders: in order, whatever their size, and whoever dies."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from multiprocessing.connection import Connection

import pytest

from holdfast.index import crew as crews
from holdfast.index.crew import Crew, Died, Hire

DIE = b"die"


def answer(order: bytes) -> bytes:
    """What the workers below make of an order: longer than it, to fill the way back."""
    return order[::-1] * 3


def work(orders: Connection, results: Connection) -> None:
    while order := orders.recv_bytes():
        if order == DIE:
            os._exit(3)
        results.send_bytes(answer(order))


def hire(orders: Connection, results: Connection, forked: bool) -> Hire:
    return work, (orders, results)


@pytest.fixture(params=[1, 2, 3])
def crew(request: pytest.FixtureRequest) -> Iterator[Crew]:
    made = Crew(hire, request.param)
    yield made
    made.end()


def expected(order: bytes) -> bytes | Died:
    return Died() if order == DIE else answer(order)


@pytest.mark.shows("INDEX-POOL")
def test_answers_come_in_the_order_of_the_orders(crew: Crew) -> None:
    orders = [f"order {number}".encode() * (number % 7 + 1) for number in range(60)]
    got = list(crew.answers((number, order) for number, order in enumerate(orders)))
    assert got == [(number, answer(order)) for number, order in enumerate(orders)]


def test_no_orders_start_nobody(crew: Crew) -> None:
    assert list(crew.answers(iter(()))) == []
    assert crew._workers == []


def test_orders_and_answers_that_no_pipe_holds(crew: Crew) -> None:
    """Nobody waits for somebody who waits for them."""
    orders = [bytes([number]) * (crews.PIPE_BYTES * 2) for number in range(1, 8)]
    assert [got for _, got in crew.answers((None, order) for order in orders)] == [
        answer(order) for order in orders
    ]


@pytest.mark.shows("INDEX-PARSER-CRASH")
def test_who_dies_takes_only_the_order_that_killed_it(crew: Crew) -> None:
    orders = [DIE if number in (0, 5, 6, 19) else b"%d" % number for number in range(20)]
    got = [answer for _, answer in crew.answers((None, order) for order in orders)]
    assert got == [expected(order) for order in orders]


def test_alone_one_order_at_a_time(crew: Crew) -> None:
    orders = [b"a", DIE, b"b", DIE, DIE, b"c"]
    got = [answer for _, answer in crew.alone((None, order) for order in orders)]
    assert got == [expected(order) for order in orders]


def test_what_is_not_wanted_any_more_ends(crew: Crew) -> None:
    answers = crew.answers((None, b"x" * 100_000) for _ in range(50))
    next(answers)
    processes = [worker.process for worker in crew._workers]
    crew.end()
    assert processes
    assert not any(process.is_alive() for process in processes)


def test_workers_are_spawned_where_forking_is_not_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    crew = Crew(hire, 1)
    try:
        assert list(crew.answers([("a", b"abc")])) == [("a", answer(b"abc"))]
    finally:
        crew.end()
