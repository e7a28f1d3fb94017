"""Streams: read with or without a loop, bounded, ended."""

import asyncio
import threading

import pytest

from holdfast.sync.client.errors import StreamOverflow
from holdfast.sync.client.outcome import Outcome
from holdfast.sync.client.streams import Stream


def test_elements_come_in_order_until_the_end() -> None:
    stream: Stream[int] = Stream()
    for n in (1, 2, 3):
        stream.put(n)
    stream.close()
    stream.put(4)
    assert list(stream) == [1, 2, 3]


def test_a_reader_in_another_thread_is_woken() -> None:
    stream: Stream[int] = Stream()
    found: list[int] = []
    reader = threading.Thread(target=lambda: found.extend(stream))
    reader.start()
    stream.put(1)
    stream.put(None)
    reader.join(10)
    assert found == [1]


def test_a_reader_in_a_loop_is_woken() -> None:
    async def read() -> list[int]:
        stream: Stream[int] = Stream()
        loop = asyncio.get_running_loop()
        loop.call_soon(stream.put, 1)
        loop.call_later(0.001, stream.close)
        return [item async for item in stream]

    assert asyncio.run(read()) == [1]


def test_the_newest_replaces_what_was_not_read() -> None:
    stream: Stream[int] = Stream(newest_only=True)
    for n in range(5):
        stream.put(n)
    stream.close()
    assert list(stream) == [4]


def test_too_much_unread_ends_the_stream_and_says_so() -> None:
    stream: Stream[int] = Stream(most=2)
    for n in range(5):
        stream.put(n)
    reading = iter(stream)
    assert [next(reading) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(StreamOverflow):
        next(reading)


def test_an_outcome_is_settled_once() -> None:
    outcome: Outcome[int] = Outcome()
    told: list[int] = []
    outcome.then(lambda known: told.append(known.result()))
    outcome.resolve(1)
    outcome.resolve(2)
    outcome.reject(ValueError())
    outcome.then(lambda known: told.append(known.result()))
    assert told == [1, 1]
    assert Outcome.of(3).result() == 3
    with pytest.raises(ValueError, match="no"):
        Outcome.failed(ValueError("no")).result()
