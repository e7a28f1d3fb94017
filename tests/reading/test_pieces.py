"""The diff of an agent's own read: applied to what is held, it gives what is there."""

from __future__ import annotations

import random
import re

import pytest

from holdfast.reading.pieces import align, diff
from tests.scale import examples, seeds

HEAD = re.compile(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@")


def applied(held: list[str], rows: list[str]) -> list[str]:
    """A naive patch: every context and removed line must be where the diff says it is."""
    out: list[str] = []
    at = 0
    for row in rows:
        if found := HEAD.fullmatch(row):
            start = int(found[1]) - (1 if int(found[2]) else 0)
            out += held[at:start]
            at = start
            assert len(out) + (1 if int(found[4]) else 0) == int(found[3])
        elif row[0] == "+":
            out.append(row[1:])
        else:
            assert held[at] == row[1:]
            out += [row[1:]] if row[0] == " " else []
            at += 1
    return out + held[at:]


def printed(rows: list[str]) -> dict[int, str]:
    """The lines of the new text that a diff shows, by number."""
    shown: dict[int, str] = {}
    number = 0
    for row in rows:
        if found := HEAD.fullmatch(row):
            number = int(found[3]) + (found[4] == "0")
        elif row[0] != "-":
            shown[number] = row[1:]
            number += 1
    return shown


def sample(chance: random.Random) -> tuple[list[str], list[str]]:
    words = ["", "", "}}", "    return total", "def fee_{}(cents):", "    cents = cents * {}", "x"]
    held = [
        chance.choice(words).format(chance.randrange(40)) for _ in range(chance.randrange(1, 60))
    ]
    new = list(held)
    for _ in range(chance.randrange(1, 5)):
        at = chance.randrange(len(new) + 1)
        gone = chance.randrange(3)
        come = [
            chance.choice(words).format(chance.randrange(40)) for _ in range(chance.randrange(3))
        ]
        new[at : at + gone] = come
    return held, new


@pytest.mark.shows("NATIVE-DIFF-APPLIES")
@pytest.mark.property
def test_a_diff_applied_to_what_is_held_is_what_is_there() -> None:
    made = 0
    for seed in seeds(3_000):
        held, new = sample(random.Random(seed))
        live = dict(enumerate(held, start=1))
        found = diff(live, align(live, 1, new), 3)
        if found is None:
            continue
        made += 1
        whole = applied(held, found.rows)
        # What is held behind the end of a result is not part of it.
        assert whole[: len(new)] == new, f"seed {seed}"
    assert made > examples(3_000) // 10


@pytest.mark.shows("NATIVE-DIFF-SHOWN")
@pytest.mark.property
def test_what_a_diff_leaves_out_counts_as_named_and_not_as_shown() -> None:
    """Short runs that are held were joined to the new lines around them and recorded as printed.

    The diff then left them out, as lines that both sides have. When the text that they were held
    from was cleared from the context, they still counted as seen.
    """
    left_out = 0
    for seed in seeds(3_000):
        held, new = sample(random.Random(seed))
        live = dict(enumerate(held, start=1))
        runs = align(live, 1, new)
        found = diff(live, runs, 3)
        if found is None:
            continue
        shown = printed(found.rows)
        assert [row for run in found.runs for row in run.rows] == new
        for run in found.runs:
            for at, row in enumerate(run.rows):
                if run.before is None:
                    assert shown.get(run.first + at) == row, f"seed {seed}"
                else:
                    assert live[run.before + at] == row, f"seed {seed}"
        left_out += found.runs != runs
    assert left_out > 10, "the samples reach it"


@pytest.mark.shows("NATIVE-DIFF-APPLIES")
def test_lines_that_both_sides_of_a_change_end_with_are_not_sent_twice() -> None:
    held = [
        line
        for n in range(1, 12)
        for line in (f"def fee_{n}(cents):", f"    return cents * {n}", "", "")
    ]
    new = list(held)
    new[25] = "    return cents * 8"
    live = dict(enumerate(held, start=1))
    found = diff(live, align(live, 1, new), 3)
    assert found is not None
    assert [row for row in found.rows if row[0] in "+-"] == [
        "-    return cents * 7",
        "+    return cents * 8",
    ]


@pytest.mark.shows("NATIVE-DIFF-APPLIES")
def test_lines_gone_from_the_start_of_a_file_are_in_the_diff() -> None:
    held = [f"line number {n} of the file" for n in range(1, 30)]
    new = [*held[2:10], "a new line in between", *held[10:]]
    live = dict(enumerate(held, start=1))
    found = diff(live, align(live, 1, new), 3)
    assert found is not None
    assert [row for row in found.rows if row[0] == "-"] == ["-" + held[0], "-" + held[1]]
