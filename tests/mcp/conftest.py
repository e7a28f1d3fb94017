"""A machine for each test, and one that several tests share because a host takes long to start."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp.agents import Machine, Web, machine_in


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    with machine_in(tmp_path, forks_host=True) as made:
        yield made


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with machine_in(tmp_path_factory.mktemp("machine"), forks_host=True) as made:
        yield made


@pytest.fixture(scope="module")
def web(shared: Machine) -> Iterator[Web]:
    served = Web(shared)
    yield served
    served.stop()
