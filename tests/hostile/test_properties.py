"""The campaign of property tests: which files, with which seeds, and what it counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile import properties
from tests.hostile.campaigns import CAMPAIGNS, KINDS

REPORT = """<testsuites><testsuite>
<testcase classname="tests.a" name="test_drawn"/>
<testcase classname="tests.a" name="test_seed[4]"/>
<testcase classname="tests.a" name="test_seed[5]"><failure message="x">seed 5</failure></testcase>
<testcase classname="tests.a" name="test_set_up"><error message="x">no server</error></testcase>
<testcase classname="tests.a" name="test_later"><skipped/></testcase>
</testsuite></testsuites>"""
SAID = """
tests/a.py::test_drawn:

  - during generate phase (8.54 seconds):
    - Typical runtimes: ~ 0-95 ms, of which ~ 0-18 ms in data generation
    - 150 passing, 0 failing, and 21 invalid test cases
"""


def test_examples_and_seeds_are_counted_and_failures_are_problems() -> None:
    found = properties.counted(REPORT, SAID, "pytest --hypothesis-seed=7")
    assert found.outcomes == {
        "examples that Hypothesis drew: as promised": 150,
        "tests of one seed or more: as promised": 1,
        "wrong": 2,
    }
    assert [problem.partition(": ")[0] for problem in found.problems] == [
        "pytest --hypothesis-seed=7 (tests.a::test_seed[5])",
        "pytest --hypothesis-seed=7 (tests.a::test_set_up)",
    ]


def test_every_file_with_property_tests_has_its_turn() -> None:
    files = properties.files()
    names = {str(path.relative_to(properties.TESTS)) for path in files}
    assert {"store/test_values.py", "files/test_ignore.py", "reading/test_requests.py"} <= names
    assert not any(name.startswith(("hostile/", "simulation/")) for name in names)
    turns = len(files) // 8 + 1
    seen = [path for turn in range(turns) for path in properties.chosen(files, 8, turn)]
    assert set(seen) == set(files)
    assert len(properties.chosen(files, 8, 10**9)) == 8
    assert sorted(properties.chosen(files[:3], 8, 1)) == files[:3]


@pytest.mark.long
def test_a_batch_tries_examples_and_seeds_of_its_own(tmp_path: Path) -> None:
    files = properties.files()
    turn = files.index(properties.TESTS / "sequence" / "test_tokens.py")
    found = properties.campaign(1, turn, tmp_path / "batch")
    found.kept_every_promise()
    assert found.tried > 0


def test_each_campaign_has_one_kind() -> None:
    named = sorted(name for names in KINDS.values() for name in names)
    assert named == sorted(each.name for each in CAMPAIGNS)
