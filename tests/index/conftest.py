"""A world for each test, in memory if `make quick` runs it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.in_memory import factory_in_memory
from tests.index.world import World


@pytest.fixture(scope="session")
def tmp_path_factory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[pytest.TempPathFactory]:
    yield from factory_in_memory(tmp_path_factory)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.close()
