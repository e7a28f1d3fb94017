"""A world per test, closed afterwards."""

from collections.abc import Iterator

import pytest

from tests.sync.wire import World


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    made.close()
