"""A frozen process is told from a busy one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

import pytest

from holdfast.index.frozen_process import (
    IDLE_LOOKS,
    STOPPED_LOOKS,
    UNKNOWN_LOOKS,
    Frozen,
    Watch,
)
from holdfast.locks import process_state

State = tuple[bool, int] | None


def looks(states: Iterable[State]) -> Iterator[bool]:
    """What a watch says at each look of a process with these states."""
    coming = iter(states)
    watch = Watch(1, state=lambda pid: next(coming))
    while True:
        try:
            yield watch.is_frozen()
        except StopIteration:
            return


def first(states: list[State]) -> int | None:
    """At which look it is called frozen."""
    return next((n for n, frozen in enumerate(looks(states), 1) if frozen), None)


@pytest.mark.shows("SEC-FROZEN-WORKER")
@pytest.mark.parametrize(
    ("states", "at"),
    [
        ([(True, 7)] * 20, STOPPED_LOOKS),
        ([(False, 7)] * 100, IDLE_LOOKS + 1),
        ([None] * 1_000, UNKNOWN_LOOKS),
        ([(False, ticks) for ticks in range(500)], None),
        ([(False, ticks // 3) for ticks in range(500)], None),
        ([(True, 7), (True, 7), (False, 8)] * 100, None),
    ],
)
def test_a_process_is_frozen_when_it_is_stopped_or_idle_for_long(
    states: list[State], at: int | None
) -> None:
    assert first(states) == at


def test_an_answer_ends_the_count() -> None:
    watch = Watch(1, state=lambda pid: (True, 1))
    assert [watch.is_frozen() for _ in range(4)] == [False] * 4
    watch.restart()
    assert [watch.is_frozen() for _ in range(5)] == [False] * 4 + [True]


@pytest.mark.shows("SEC-FROZEN-WORKER")
def test_reading_and_writing_end_when_the_process_is_frozen() -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    watch = Watch(1, look_s=0.001, state=lambda pid: (True, 1))
    try:
        with pytest.raises(Frozen):
            watch.read(reader, 1)
        with pytest.raises(Frozen):
            watch.write(writer, bytes(1 << 24))
        assert watch.read(reader, 100) == bytes(100)
    finally:
        os.close(reader)
        os.close(writer)


def test_the_system_tells_about_this_process() -> None:
    state = process_state(os.getpid())
    assert state is None or (state[0] is False and state[1] > 0)
    assert process_state(-1) is None
