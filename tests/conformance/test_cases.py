"""Plays every conformance case: `pytest tests/conformance --cases DIR`."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conformance import players

OWN_CASES = Path(__file__).parent / "cases"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    directory = metafunc.config.getoption("--cases") or OWN_CASES
    found = list(players.cases(Path(directory)))
    metafunc.parametrize("play", [play for _, play in found], ids=[name for name, _ in found])


def test_case(play: Callable[[], None]) -> None:
    play()
