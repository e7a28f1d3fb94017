"""Shared fixtures and the Hypothesis profiles."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.postgres import PostgresServer, running_server
from tests.scale import SOAKING

settings.register_profile(
    "ci", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "soak",
    max_examples=5_000,
    stateful_step_count=100,
    print_blob=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("soak" if SOAKING else "ci")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cases", metavar="DIR", help="a directory of conformance cases to play instead of our own"
    )


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    yield from running_server()
