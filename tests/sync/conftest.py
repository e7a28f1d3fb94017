"""A world per test, closed afterwards."""

from collections.abc import Iterator

import pytest

from tests.in_memory import tmp_path_factory
from tests.sync import processes
from tests.sync.peers import World

__all__ = ["tmp_path_factory", "world"]


@pytest.fixture(autouse=True)
def _clients_are_closed() -> Iterator[None]:
    yield
    while processes.CLIENTS:
        processes.CLIENTS.pop().close()


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    made.close()
