"""What is shown beside the best result: code that it names, not comments or copies."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.index.generations.model import StoredChunk
from holdfast.index.search.comment_lines import comment_lines, is_comment_line
from holdfast.index.search.companions import _CALLED, _ENDS, _OPENED, _has_name, companions
from holdfast.index.search.preview import Asked, whole_code

ASKED = Asked({"delay": 1.0, "retry": 1.0, "exhaust": 1.0})


def chunk(label: str, first: int, text: str, kind: str = "function") -> StoredChunk:
    last = first + text.rstrip("\n").count("\n")
    return StoredChunk((1, first), "a.py", "python", first, last, text, f"sym_{label}", label, kind)


BEST = chunk("attempt", 1, "def attempt(job):\n    return later(job, delay_for(job))\n")
DELAY = chunk("delay_for", 4, "def delay_for(job):\n    return job.count ** 4\n")
OTHER = chunk("unrelated", 7, "def unrelated(job):\n    return job.name\n")
TWIN = chunk("attempt_too", 10, "def attempt_too(job):\n    return later(job, delay_for(job))\n")
CALLER = chunk("run", 13, "def run(jobs):\n    # the delay of a retry\n    attempt(jobs)\n")
FILE = [BEST, DELAY, OTHER, TWIN, CALLER]


def shown(file: list[StoredChunk] = FILE, room: int = 2_000, **ranked: int) -> list[str]:
    found = companions([BEST], file, {f"sym_{k}": v for k, v in ranked.items()}, ASKED, room)
    return [one.label for one in found if one.shown is not None]


@pytest.mark.shows("ANSWER-COMPANIONS")
def test_callers_and_callees_without_room_are_named_by_their_lines() -> None:
    """The reader had to ask for the outline of the file to find what the best result calls."""
    found = companions([BEST], FILE, {}, ASKED, 0)
    assert [(one.label, one.span, one.shown) for one in found] == [
        ("delay_for", (4, 5), None),
        ("run", (13, 15), None),
    ]
    listed = companions([BEST], FILE, {"sym_delay_for": 0, "sym_run": 1}, ASKED, 0)
    assert listed == [], "what was found too is listed already"
    assert companions([BEST], [BEST, OTHER], {}, ASKED, 0) == []


@pytest.mark.shows("ANSWER-COMPANIONS")
def test_what_the_best_result_calls_is_shown_with_it() -> None:
    assert shown() == ["delay_for"]
    assert shown(run=0) == ["run", "delay_for"], "it was found too, and calls the best result"
    assert shown([BEST, OTHER]) == []


@pytest.mark.shows("ANSWER-COMPANIONS")
def test_a_place_that_repeats_the_best_result_is_not_shown() -> None:
    assert "attempt_too" not in shown(attempt_too=0)


@pytest.mark.shows("ANSWER-COMPANIONS")
def test_companions_stay_within_their_room() -> None:
    for room in range(0, 120, 5):
        found = companions([BEST], FILE, {}, ASKED, room)
        assert sum(len(one.shown.text) for one in found if one.shown is not None) <= room


@pytest.mark.shows("ANSWER-COMPANIONS")
def test_the_span_of_a_companion_is_that_of_its_symbol() -> None:
    one = companions([BEST], FILE, {}, ASKED, 2_000)[0]
    assert (one.span, one.symbol_id) == ((4, 5), "sym_delay_for")
    assert one.shown is not None
    assert one.shown.lines == ((4, "def delay_for(job):"), (5, "    return job.count ** 4"))


@pytest.mark.parametrize(
    ("language", "text", "comments"),
    [
        (
            "python",
            '# a\nx = 1  # b\n"""doc"""\n"""\nlong\n"""\ny = """data\nz"""',
            {0, 2, 3, 4, 5},
        ),
        ("go", "// a\nx := 1 // b\n/* c */\n/*\n d\n*/\n/* e */ y()", {0, 2, 3, 4, 5}),
        ("php", "/**\n * a\n *\n */\nfunction f() {", {0, 1, 2, 3}),
        ("c", "int *p;\n*p = 1;\n#include <a.h>", set()),
        ("java", "return base\n    * LIMIT_FACTOR\n    + 1;", set()),
        ("java", "/* default */ int cap = LIMIT_FACTOR; /* bytes */", set()),
        ("java", "/* a\n * b\n */ int c = 1;\n* d", {0, 1}),
        ("c", "*p = 1; /* a */\nint c = 1;", set()),
        ("java", "* the rest of it\n */\nint c = 1;", {0, 1}),
        ("lua", "-- a\nlocal x = 1", {0}),
        ("lua", "--[[ a ]] local x = 1", set()),
        ("unknown", "# a\n// b", set()),
    ],
)
def test_lines_that_are_only_comments(language: str, text: str, comments: set[int]) -> None:
    assert comment_lines(text.split("\n"), language) == comments


@pytest.mark.parametrize(
    ("language", "line", "is_comment"),
    [
        ("java", "  // LIMIT_FACTOR", True),
        ("java", "/* LIMIT_FACTOR */", True),
        ("java", "/* default */ int cap = LIMIT_FACTOR; /* bytes */", False),
        ("java", "    * LIMIT_FACTOR", False),
        ("java", "*/", False),
        ("java", "/*/", False),
        ("java", "# LIMIT_FACTOR", False),
        ("python", "# limit", True),
        ("python", "// limit", False),
        ("ruby", "#{limit}", False),
        ("lua", "-- limit", True),
        ("", "// limit", False),
    ],
)
def test_a_line_that_is_a_comment_whatever_is_around_it(
    language: str, line: str, is_comment: bool
) -> None:
    assert is_comment_line(line, language) is is_comment


@pytest.mark.shows("ANSWER-COMPANIONS")
def test_all_code_is_shown_and_of_comments_those_about_the_question() -> None:
    text = "def f():\n    # nothing to see\n    # the delay before it\n    return 1\n"
    found = whole_code(text, 10, ASKED, "python")
    assert [number for number, _ in found.lines] == [10, 12, 13]
    assert not found.whole
    assert whole_code("def f():\n    return 1\n", 1, ASKED, "python").whole


PIECES = ["send", "resend", "send_all", "sends", "save!", " ", "\n", "(", "{", "<", ".", "2", "é"]


@given(
    st.lists(st.sampled_from(PIECES), max_size=20).map("".join),
    st.sampled_from(["send", "save!", "send_all"]),
    st.sampled_from([_ENDS, _CALLED, _OPENED]),
)
def test_a_name_is_found_where_a_pattern_finds_it(
    text: str, name: str, follows: re.Pattern[str]
) -> None:
    plain = re.search(rf"\b{re.escape(name)}{follows.pattern}", text)
    assert _has_name(text, name, follows) == (plain is not None)
