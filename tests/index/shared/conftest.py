"""Machines are closed after each test."""

from collections.abc import Iterator

import pytest

from tests.index.shared import team


@pytest.fixture(autouse=True)
def close_machines() -> Iterator[None]:
    yield
    while team.MACHINES:
        team.MACHINES.pop().index.close()
