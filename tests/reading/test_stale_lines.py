"""What is said about held lines that changed on disk, judged by a line-by-line twin."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.reading import stale_lines

ROWS = [f"row {n}" for n in range(1, 11)]
LIVE = dict(enumerate(ROWS, start=1))


@pytest.mark.shows("STALE-NOTICE")
@pytest.mark.parametrize(
    ("live", "rows", "said"),
    [
        (LIVE, ROWS, None),
        (LIVE, [*ROWS, "more"], None),
        ({}, ROWS, None),
        (LIVE, [*ROWS[:3], "x", *ROWS[4:]], "line 4"),
        (LIVE, [*ROWS[:3], "x", "y", *ROWS[5:]], "lines 4-5"),
        (LIVE, ["x", *ROWS[1:8], "y", ROWS[9]], "lines 1, 9"),
        (LIVE, [*ROWS[:4], "new", *ROWS[4:]], "lines 5-10 moved by +1"),
        (LIVE, [*ROWS[:4], *ROWS[5:]], "line 5; lines 6-10 moved by -1"),
        ({4: ROWS[3]}, [*ROWS[:3], "x", *ROWS[4:]], "line 4"),
        ({4: ROWS[3]}, ["x", *ROWS[1:]], None),
    ],
)
def test_a_notice_names_the_held_lines_that_changed(
    live: dict[int, str], rows: list[str], said: str | None
) -> None:
    found = stale_lines.notice("a.py", live, rows)
    wanted = None if said is None else f"[holdfast: a.py changed on disk since you read it: {said}]"
    assert found == wanted


def test_a_removed_file_is_named() -> None:
    assert (
        stale_lines.notice("a.py", LIVE, None) == "[holdfast: a.py was removed since you read it]"
    )


@pytest.mark.shows("STALE-NOTICE")
@given(
    st.lists(st.sampled_from("abcd"), max_size=8),
    st.lists(st.sampled_from("abcd"), max_size=8),
    st.sets(st.integers(1, 8)),
)
def test_every_held_line_is_where_it_was_or_is_named(
    before: list[str], rows: list[str], held: set[int]
) -> None:
    live = {n: before[n - 1] for n in held if n <= len(before)}
    said = stale_lines.notice("f", live, rows) or ""
    changed, _, tail = said.partition("moved by")
    for number, text in live.items():
        if number <= len(rows) and rows[number - 1] == text:
            continue
        spans = [(int(a), int(b or a)) for a, b in re.findall(r"(\d+)(?:-(\d+))?", changed)]
        assert any(first <= number <= last for first, last in spans), (said, number)
        if tail and number >= spans[-1][0]:
            shift = int(re.findall(r"[+-]\d+", tail)[0])
            assert rows[number + shift - 1] == text
