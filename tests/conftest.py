"""Shared fixtures, the Hypothesis profiles, and which tests `make quick` leaves out."""

import gc
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.postgres import PostgresServer, running_server
from tests.requirements import NOT_IN_QUICK
from tests.scale import FIRST_SEED, QUICK, SOAKING
from tests.workers import Workers

settings.register_profile(
    "ci", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", settings.get_profile("ci"), max_examples=5)
settings.register_profile(
    "soak",
    max_examples=5_000,
    stateful_step_count=100,
    print_blob=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
settings.register_profile(
    "fresh", settings.get_profile("ci"), derandomize=False, database=None, print_blob=True
)
settings.load_profile("soak" if SOAKING else "quick" if QUICK else "fresh" if FIRST_SEED else "ci")


HERE = Path(__file__).parent
PARSING = {
    HERE / "test_docs.py",
    HERE / "test_requirements.py",
    HERE / "hostile" / "test_one_git.py",
    HERE / "hostile" / "test_every_process.py",
}
"""Files with tests that parse the whole source."""


gc.disable()
"""Until everything is collected: none of it is garbage, and looking for some takes long."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cases", metavar="DIR", help="a directory of conformance cases to play instead of our own"
    )
    parser.addoption("--workers", type=int, default=1, help="run the tests in so many processes")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Workers(config.option.workers, PARSING), "workers")


@settings(max_examples=1)
@given(st.text(), st.floats())
def _first_property(_text: str, _number: float) -> None:
    """Hypothesis reads its tables of characters and the constants of all modules when it is first
    used; before the workers are forked, all of them have both."""


def pytest_collection_finish(session: pytest.Session) -> None:
    """Search only what tests make for garbage, not the thousands of tests themselves.

    Nor are they searched once before: that takes half a second and frees no memory.
    """
    if session.config.option.workers > 1:
        _first_property()
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """`make quick` runs what needs no PostgreSQL, browser or Node, and is not marked as long.

    The tests that parse the whole source come first and together, so that one worker parses it.
    """
    items.sort(key=lambda item: item.path not in PARSING)
    config.stash[NOT_IN_QUICK] = _not_in_quick(config, items)
    for item in items:
        if _draws(item):
            item.add_marker(pytest.mark.property)
    if not QUICK:
        return
    left_out = {item for item in items if _is_left_out(item)}
    config.hook.pytest_deselected(items=sorted(left_out, key=lambda item: item.nodeid))
    items[:] = [item for item in items if item not in left_out]


def _not_in_quick(config: pytest.Config, items: list[pytest.Item]) -> set[str] | None:
    """Requirements that only tests marked as long show; None if not all tests were collected."""
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return None
    in_quick: set[str] = set()
    long: set[str] = set()
    for item in items:
        shown = {name for mark in item.iter_markers("shows") for name in mark.args}
        if not _is_left_out(item):
            in_quick |= shown
        elif item.get_closest_marker("long") is not None and not _needs_service(item):
            long |= shown
    return long - in_quick


def _draws(item: pytest.Item) -> bool:
    """Whether Hypothesis or a seed draws what a test tries."""
    case = getattr(item, "callspec", None)
    by_seed = case is not None and "seed" in case.params
    return by_seed or getattr(getattr(item, "obj", None), "is_hypothesis_test", False)


def _is_left_out(item: pytest.Item) -> bool:
    return item.get_closest_marker("long") is not None or _needs_service(item)


def _needs_service(item: pytest.Item) -> bool:
    marked = item.get_closest_marker("service") is not None
    fixtures = getattr(item, "fixturenames", ())
    case = getattr(item, "callspec", None)
    parameters = set() if case is None else set(case.id.split("-"))
    return marked or "postgres" in fixtures or bool(parameters & {"postgres", "postgresql"})


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    yield from running_server()


@pytest.fixture(autouse=True)
def own_process_kind() -> Iterator[None]:
    """A host or server that ran inside a test does not leave this process marked as shared."""
    yield
    extractor = sys.modules.get("holdfast.index.facts.extractor")
    if extractor is not None:
        extractor._shared = False  # type: ignore[attr-defined]


@pytest.fixture(autouse=True, scope="module")
def no_thread_is_left() -> Iterator[None]:
    """A dashboard that is not stopped watches files for as long as its worker runs."""
    before = set(threading.enumerate())
    yield
    live = sys.modules.get("holdfast.live")
    names = () if live is None else live.THREADS
    left = [thread.name for thread in {*threading.enumerate()} - before if thread.name in names]
    assert left == [], "a test left a DashboardService or a RefreshLoop running: call its stop()"
