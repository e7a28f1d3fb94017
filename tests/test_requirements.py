"""docs/requirements.md and the tests agree, both ways."""

import re
from collections import Counter

import pytest

from tests import requirements

LONG_ONLY = {
    *("CLI-VERBOSE", "DOCS-ARCHITECTURE-PICTURE", "DOCS-WORDING", "EDIT-MEANT"),
    *("FILES-HOSTILE-DEEP", "INDEX-GROWTH", "INDEX-HOSTILE", "INDEX-TWO-PROCESSES"),
    *("MCP-BENCH", "MCP-CANCEL", "MCP-CONCURRENT", "MCP-NO-SDK", "PKG-CONTENT"),
    *("PKG-REPRODUCIBLE", "SEARCH-QUICK-TWIN", "SEC-DISK-FILLS", "SEC-FULL-DISK"),
    *("SEC-HOSTILE-COMMANDS", "SEC-HOSTILE-TOOLS"),
}
"""What cannot be shown in a second; DOCS-WORDING is a part of `make lint`."""


def test_every_mark_on_a_test_names_a_listed_requirement() -> None:
    listed = set(requirements.listed(requirements.PAGE.read_text(encoding="utf-8")))
    unknown = {mark: tests for mark, tests in requirements.marks().items() if mark not in listed}
    assert unknown == {}


def test_every_requirement_is_listed_once() -> None:
    counts = Counter(requirements.listed(requirements.PAGE.read_text(encoding="utf-8")))
    assert [name for name, count in counts.items() if count > 1] == []


def test_the_page_says_what_the_marks_say() -> None:
    text = requirements.PAGE.read_text(encoding="utf-8")
    assert requirements.rewritten(text, requirements.marks()) == text, "run: make requirements"


def test_make_quick_shows_every_requirement_that_needs_no_service_and_little_time(
    pytestconfig: pytest.Config,
) -> None:
    """Whole requirements would leave `make quick` unnoticed as their tests are marked as long."""
    found = pytestconfig.stash[requirements.NOT_IN_QUICK]
    if found is None:
        pytest.skip("only a part of the tests was collected")
    assert found == LONG_ONLY


def test_no_requirement_with_a_mark_is_open() -> None:
    """A mark in `pytestmark` was overlooked: a requirement with tests was listed as *not yet*."""
    assert _mentioned() - set(requirements.marks()) == set()


def _mentioned() -> set[str]:
    """Every id in a `shows(...)` anywhere in the tests, as text."""
    found: set[str] = set()
    for path in (requirements.ROOT / "tests").rglob("test_*.py"):
        for arguments in re.findall(r"mark\.shows\(([^)]*)\)", path.read_text(encoding="utf-8")):
            found.update(re.findall(r'"([^"]+)"', arguments))
    return found
