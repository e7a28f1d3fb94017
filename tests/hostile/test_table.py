"""The table in `docs/security.md` lists every campaign as a run of it would."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from tests.hostile import run, table
from tests.hostile.campaigns import CAMPAIGNS
from tests.hostile.result import Result

FLIPS_MIN = 2_000
RESULTS = table.PAGE.parent / "evidence" / "campaigns.json"


@pytest.mark.shows("SEC-CAMPAIGNS")
def test_the_table_is_that_of_one_run_with_every_campaign() -> None:
    results = run.results_of(RESULTS.read_text(encoding="utf-8"))
    assert list(results) == [each.name for each in CAMPAIGNS]
    text = table.PAGE.read_text(encoding="utf-8")
    assert table.written(text, table.rows(results)) == text, f"run: {table.START}"
    for each in CAMPAIGNS:
        what, times, happened, problems = table.listed(text)[each.name]
        assert what == each.what
        assert int(times.replace(",", "")) >= min(each.count, each.batch)
        assert re.fullmatch(r"[\w', ]+ [\d,]+(?:, [\w', ]+ [\d,]+)*", happened), happened
        assert problems == "0", each.name
        assert (table.PAGE.parents[1] / each.tests).is_file()


@pytest.mark.shows("SEC-CAMPAIGNS")
def test_enough_bits_are_flipped_in_an_ordinary_run() -> None:
    flips = [each.count for each in CAMPAIGNS if each.name.startswith("flips")]
    assert sum(flips) >= FLIPS_MIN


def test_the_table_is_written_in_place() -> None:
    result = Result(Counter({"a: same": 3, "b: same": 1, "b: refused": 2}))
    (row,) = table.rows({"flips: store": result})
    assert "| 6 | same 4, refused 2 | 0 |" in row
    page = f"before\n{table.START}\nold\n{table.END}\nafter\n"
    again = table.written(page, [row])
    assert again.startswith("before\n")
    assert again.endswith("after\n")
    assert "old" not in again
    assert list(table.listed(again)) == ["flips: store"]
    assert table.written(again, [row]) == again
