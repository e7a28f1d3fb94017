"""A host keeps few spaces open, and closes none that somebody uses."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from holdfast.mcp.space_pool import SpacePool
from tests.scale import examples

NAMES = [f"space-{n}" for n in range(6)]
MOST = 3


class Paper:
    """A space that only knows whether it is open."""

    def __init__(self, name: str) -> None:
        self.name, self.closed = name, False

    def close(self) -> None:
        assert not self.closed, "closed twice"
        self.closed = True


class Lending(RuleBasedStateMachine):
    """The twin is what is lent now."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[Paper] = []
        self.spaces = SpacePool(self._open, MOST)
        self.lent: list[tuple[Any, Any]] = []

    def _open(self, name: str, make: bool) -> Any:
        self.made.append(Paper(name))
        return self.made[-1]

    @rule(name=st.sampled_from(NAMES))
    def take(self, name: str) -> None:
        lending = self.spaces.borrow(name)
        store = lending.__enter__()
        assert store.name == name  # type: ignore[attr-defined]
        self.lent.append((lending, store))

    @precondition(lambda self: self.lent)
    @rule(data=st.data())
    def give_back(self, data: st.DataObject) -> None:
        lending, _ = self.lent.pop(data.draw(st.integers(0, len(self.lent) - 1)))
        lending.__exit__(None, None, None)

    @invariant()
    def nothing_lent_is_closed_and_little_else_is_open(self) -> None:
        held = {store.name for _, store in self.lent}
        assert not any(store.closed for _, store in self.lent)
        open_now = [paper.name for paper in self.made if not paper.closed]
        assert len(open_now) == len(set(open_now)), "one space, opened twice"
        assert len(open_now) <= max(MOST, len(held))

    def teardown(self) -> None:
        self.spaces.close()
        assert all(paper.closed for paper in self.made)


TestLending = pytest.mark.shows("MCP-SPACES-BOUNDED")(Lending.TestCase)
TestLending.settings = settings(max_examples=examples(60), stateful_step_count=30)


@pytest.mark.shows("MCP-SPACES-BOUNDED")
def test_what_is_kept_stays_open_whatever_is_asked_for() -> None:
    made: dict[str, Paper] = {}

    def open_space(name: str, make: bool) -> Any:
        return made.setdefault(name, Paper(name))

    spaces = SpacePool(open_space, 2)
    log: Any = spaces.keep("sessions")
    for name in NAMES:
        with spaces.borrow(name):
            pass
    assert not log.closed
    assert sum(not paper.closed for paper in made.values()) == 2


@pytest.mark.shows("MCP-SPACES-BOUNDED")
def test_the_one_that_nobody_asked_for_longest_is_closed() -> None:
    made: dict[str, Paper] = {}

    def open_space(name: str, make: bool) -> Any:
        return made.setdefault(name, Paper(name))

    spaces = SpacePool(open_space, 2)
    for name in ("a", "b", "a", "c"):
        with spaces.borrow(name):
            pass
    assert [name for name, paper in made.items() if paper.closed] == ["b"]


def test_many_threads_share_one_space() -> None:
    made: list[Paper] = []

    def open_space(name: str, make: bool) -> Any:
        made.append(Paper(name))
        return made[-1]

    spaces = SpacePool(open_space, 1)
    together = threading.Barrier(8)

    def use() -> None:
        together.wait()
        for _ in range(50):
            with spaces.borrow("one") as store:
                assert not store.closed  # type: ignore[attr-defined]

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
