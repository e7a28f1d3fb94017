"""A world for each test, in memory if `make quick` runs it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.in_memory import tmp_path_factory
from tests.index.world import World

__all__ = ["tmp_path_factory", "world"]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.close()
