"""Diffs: the reference's tie-breaking, gates, and a patch that can be applied."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.reading import diff, myers
from tests.reading import window
from tests.reading.desk import numbered

lines = st.lists(st.sampled_from(["a", "b", "}", "", " ", "--j", "++k", "\r", "é"]), max_size=25)
texts = st.builds(lambda rows, end: "\n".join(rows) + end, lines, st.sampled_from(["", "\n"]))


@pytest.mark.shows("READ-DIFF-FORM", "READ-T-DIFF")
def test_a_changed_line_makes_headers_one_hunk_and_a_count() -> None:
    patch = diff.compute("a\nb\nc\n", "a\nB\nc\n", "dir/f.txt")
    assert isinstance(patch, diff.Patch)
    assert patch.text == ("--- a/dir/f.txt\t\n+++ b/dir/f.txt\t\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c")
    assert (patch.added, patch.removed, patch.changed) == (1, 1, 1)


@pytest.mark.shows("READ-DIFF-FORM", "READ-T-DIFF")
def test_equal_texts_have_no_diff() -> None:
    assert diff.compute("a\nb", "a\nb", "f") is None


@pytest.mark.shows("READ-DIFF-USEFUL", "READ-T-DIFF")
def test_a_diff_is_useful_only_when_it_is_clearly_shorter() -> None:
    base = numbered(100, "a line with some text in it")
    current = base.replace("it 50", "it fifty")
    patch = diff.compute(base, current, "f")
    assert isinstance(patch, diff.Patch)
    assert diff.is_useful(patch, base, current)
    assert not diff.is_useful(patch, "x" * 200, "x" * 200), "byte ratio"
    assert not diff.is_useful(patch, "\n" * 9999, "\n" * 9), "line ratio"
    assert not diff.is_useful(patch, "\n" * 12_001, "\n" * 12_001), "line limit"
    assert not diff.is_useful(patch, "x" * (2 * 1024 * 1024 + 1), current), "byte limit"


@pytest.mark.shows("READ-DIFF-USEFUL")
@pytest.mark.parametrize(("changed", "useful"), [(5, True), (6, False)])
def test_of_twenty_lines_five_changed_ones_are_worth_a_diff(changed: int, useful: bool) -> None:
    base = numbered(20, "    value = compute something quite long here")
    rows = base.split("\n")
    current = "\n".join(["x" + row for row in rows[:changed]] + rows[changed:])
    patch = diff.compute(base, current, "f")
    assert isinstance(patch, diff.Patch)
    assert diff.is_useful(patch, base, current) is useful


@pytest.mark.shows("READ-DIFF-WHOLE", "READ-B06")
@given(texts, texts)
def test_applying_the_patch_gives_the_current_text(base: str, current: str) -> None:
    patch = diff.compute(base, current, "f")
    if patch is None:
        assert base == current
        return
    assert isinstance(patch, diff.Patch)
    assert window.apply_patch(base, patch.text) == current


@pytest.mark.shows("READ-DIFF-COUNT", "READ-B16")
@given(texts, texts)
def test_counts_are_those_of_the_lines_in_the_patch(base: str, current: str) -> None:
    patch = diff.compute(base, current, "f")
    if isinstance(patch, diff.Patch):
        rows = window.body(patch.text)
        assert patch.added == sum(row.startswith("+") for row in rows)
        assert patch.removed == sum(row.startswith("-") for row in rows)


def shortest(old: list[int], new: list[int]) -> int:
    """The number of edits, by the textbook table."""
    row = list(range(len(new) + 1))
    for n, a in enumerate(old, 1):
        above, row[0] = row[0], n
        for m, b in enumerate(new, 1):
            above, row[m] = row[m], above if a == b else 1 + min(row[m], row[m - 1])
    return row[-1]


numbers = st.lists(st.integers(0, 3), max_size=30)


@pytest.mark.shows("READ-DIFF-TIES")
@given(numbers, numbers)
def test_the_edit_is_a_shortest_one(old: list[int], new: list[int]) -> None:
    steps = myers.edit(old, new)
    assert steps is not None
    assert sum(step.count for step in steps if step.kind != " ") == shortest(old, new)
    assert diff.edits_at_least(old, new) <= shortest(old, new)


@pytest.mark.shows("READ-DIFF-TIES", "READ-DIFF-FAST")
@given(
    st.lists(st.integers(0, 5), max_size=70), st.randoms(use_true_random=False), st.integers(0, 4)
)
def test_whole_rounds_at_a_time_find_the_same_edit(
    old: list[int], rng: random.Random, switch_at: int
) -> None:
    new = list(old)
    for _ in range(rng.randrange(25)):
        if new and rng.random() < 0.5:
            del new[rng.randrange(len(new))]
        else:
            new.insert(rng.randrange(len(new) + 1), rng.randrange(6))
    plain, before = myers.edit(old, new), myers.PLAIN_EDITS
    try:
        myers.PLAIN_EDITS = switch_at
        assert myers.edit(old, new) == plain
    finally:
        myers.PLAIN_EDITS = before


@pytest.mark.shows("READ-DIFF-CUTOFF")
def test_a_search_stops_where_no_diff_could_be_sent() -> None:
    base = numbered(12_000)
    rewritten = numbered(12_000, "other")
    limit = diff.edits_worth_sending(12_000)
    assert limit == 1996
    assert diff.compute(base, rewritten, "f", edits_max=limit) == diff.TooFar()


@pytest.mark.shows("READ-DIFF-CUTOFF")
@given(texts, texts)
def test_the_cut_off_never_withholds_a_useful_diff(base: str, current: str) -> None:
    limit = diff.edits_worth_sending(current.count("\n") + 1)
    whole = diff.compute(base, current, "f")
    before = diff.CHEAP_EDITS
    try:
        diff.CHEAP_EDITS = 0
        cut = diff.compute(base, current, "f", edits_max=limit)
    finally:
        diff.CHEAP_EDITS = before
    if isinstance(whole, diff.Patch) and diff.is_useful(whole, base, current):
        assert cut == whole


@pytest.mark.shows("READ-DIFF-TIME", "READ-B13")
def test_time_that_is_up_ends_the_search() -> None:
    rng = random.Random(1)
    base = "\n".join(rng.choice("ab") for _ in range(4000))
    current = "\n".join(rng.choice("ab") for _ in range(4000))
    found = diff.compute(base, current, "f", edits_max=1996, expired=lambda: True)
    assert found == diff.TooFar(out_of_time=True)


@pytest.mark.shows("READ-DIFF-FORM")
@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        (" a.txt ", "a.txt"),
        ("a\tb\rc\nd", "a_b_c_d"),
        ("  ", "unknown"),
        ("@x", "@x"),
        ("/t/x", "/t/x"),
    ],
)
def test_the_header_shows_the_path_as_typed(typed: str, shown: str) -> None:
    assert diff.label(typed) == shown
