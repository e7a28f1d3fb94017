"""Short answers to an agent's own reads: each must give back the whole result.

The judge rebuilds the result from the short text and from what the model holds, and from nothing
else. It knows neither runs nor records.
"""

import hashlib
import random
import re

import pytest

from holdfast.reading import native
from holdfast.reading.events import Hunk, Patched, Pieced, Printed
from holdfast.reading.native import Options, Pass, Result, Short, decide
from holdfast.reading.view import View
from tests.scale import seeds

PATH = "/w/a.py"
STORE: dict[str, bytes] = {}


def load(digest: str) -> bytes | None:
    return STORE.get(digest)


def kept(text: str) -> tuple[bytes, str]:
    data = text.encode()
    digest = hashlib.sha256(data).hexdigest()
    STORE[digest] = data
    return data, digest


def text_of(count: int, prefix: str = "line of text number") -> list[str]:
    return [f"{prefix} {n}" for n in range(1, count + 1)]


def answer(
    view: View, rows: list[str], first: int = 1, last: int | None = None, **options: object
) -> native.Decision:
    data, digest = kept("\n".join(rows) + "\n")
    shown = tuple(rows[first - 1 : last])
    size = sum(len(row) + 8 for row in shown)
    return decide(view, Result(PATH, first, shown, size), data, digest, Options(**options))  # type: ignore[arg-type]


def viewing(*events: Printed | Patched | Pieced) -> View:
    view = View()
    for at, event in enumerate(events):
        view.apply(event, at, load)
    return view


def rebuilt(live: dict[int, str], text: str) -> list[str]:
    """The result that a short answer stands for, by its words alone."""
    head, *rest = text.split("\n")
    where = re.match(r"\[holdfast: lines? (\d+)(?:-(\d+))?", head)
    assert where is not None, head
    first, last = int(where[1]), int(where[2] or where[1])
    if " unchanged" in head:
        return [live[n] for n in range(first, last + 1)]
    if "with this diff" in head:
        return patched(live, rest, first, last)
    out: list[str] = []
    while rest:
        line = rest.pop(0)
        if found := re.fullmatch(r"\[(\d+)(?:-(\d+))?:\]", line):
            count = int(found[2] or found[1]) - int(found[1]) + 1
            out += rest[:count]
            del rest[:count]
            continue
        found = re.fullmatch(
            r"\[(\d+)(?:-(\d+))? as you have them(?:, there numbered (\d+)-(\d+))?\]", line
        )
        assert found is not None, line
        start = int(found[3] or found[1])
        out += [live[start + at] for at in range(int(found[2] or found[1]) - int(found[1]) + 1)]
    assert len(out) == last - first + 1
    return out


def patched(live: dict[int, str], rows: list[str], first: int, last: int) -> list[str]:
    out: dict[int, str] = {}
    shift = old = 0
    number = first
    for row in rows:
        if hunk := re.fullmatch(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@", row):
            start = int(hunk[3]) + (hunk[4] == "0")
            old = int(hunk[1]) + (hunk[2] == "0")
            shift = old - start
            while number < start:
                out[number] = live[number + shift]
                number += 1
            continue
        if row[0] == "+" or row[0] == " ":
            if row[0] == " ":
                assert live[old] == row[1:]
            out[number] = row[1:]
            number += 1
        if row[0] == "-" or row[0] == " ":
            assert live[old] == row[1:], "a diff removes only what is held"
            old += 1
        shift = old - number
    while number <= last:
        out[number] = live[number + shift]
        number += 1
    return [out[n] for n in range(first, last + 1)]


@pytest.mark.shows("READ-NATIVE-SHORT")
def test_what_is_held_line_by_line_is_unchanged_and_asking_twice_prints_it() -> None:
    rows = text_of(40)
    view = viewing(Printed(PATH, 1, tuple(rows)))
    short = answer(view, rows)
    assert isinstance(short, Short)
    assert short.text == (
        "[holdfast: lines 1-40 unchanged, as you have them; same call again prints all]"
    )
    view.apply(short.record, 1, load)
    assert isinstance(answer(view, rows), Pass), "asked twice"
    assert isinstance(answer(view, rows, 5, 30), Short), "other lines were not asked for twice"


def test_a_changed_line_is_a_diff() -> None:
    rows = text_of(40)
    view = viewing(Printed(PATH, 1, tuple(rows)))
    changed = [*rows[:19], "something else", *rows[20:]]
    short = answer(view, changed)
    assert isinstance(short, Short)
    assert short.text.split("\n")[1:] == [
        "@@ -17,7 +17,7 @@",
        *[f" {row}" for row in rows[16:19]],
        f"-{rows[19]}",
        "+something else",
        *[f" {row}" for row in rows[20:23]],
    ]


def test_only_the_lines_not_yet_seen_are_printed() -> None:
    rows = text_of(60)
    view = viewing(Printed(PATH, 11, tuple(rows[10:40])))
    short = answer(view, rows)
    assert isinstance(short, Short)
    assert short.kind == "unseen"
    assert short.text.split("\n")[1] == "[1-10:]"
    assert "[11-40 as you have them]" in short.text


def test_more_of_a_file_than_was_held_is_not_a_change_of_it() -> None:
    """They came as the added lines of a diff, as if the file had grown."""
    rows = text_of(60)
    view = viewing(Printed(PATH, 1, tuple(rows[:40])))
    short = answer(view, rows)
    assert isinstance(short, Short)
    assert short.text.split("\n")[1:] == ["[1-40 as you have them]", "[41-60:]", *rows[40:]]
    added = answer(view, [*rows[:20], "one more", *rows[20:40]])
    assert isinstance(added, Short)
    assert added.kind == "diff", "where lines moved there was a change"


def test_lines_that_moved_are_named_by_their_old_numbers() -> None:
    rows = text_of(60)
    view = viewing(Printed(PATH, 31, tuple(rows[30:60])))
    short = answer(view, ["new at the top", *rows])
    assert isinstance(short, Short)
    assert "[32-61 as you have them, there numbered 31-60]" in short.text


@pytest.mark.shows("READ-CHANGE-AND-BACK")
def test_a_line_counts_by_its_newest_showing() -> None:
    rows = text_of(40)
    changed = [*rows[:19], "another text", *rows[20:]]
    view = viewing(Printed(PATH, 1, tuple(rows)), Printed(PATH, 18, tuple(changed[17:22])))
    short = answer(view, rows)
    assert isinstance(short, Short)
    assert short.kind == "diff", "the newest text of line 20 is the other one"


@pytest.mark.shows("READ-CHANGE-AND-BACK")
def test_the_models_own_edit_counts_and_its_revert_is_told() -> None:
    rows = text_of(40)
    edit = Patched(PATH, (Hunk(20, (rows[19],), ("mine", "and mine")),), frozenset({"mine"}))
    view = viewing(Printed(PATH, 1, tuple(rows)), edit)
    after = [*rows[:19], "mine", "and mine", *rows[20:]]
    short = answer(view, after)
    assert isinstance(short, Short)
    assert short.kind == "unchanged"
    back = answer(view, rows)
    assert isinstance(back, Short)
    assert back.kind == "diff"


def test_an_edit_inside_a_line_that_was_never_shown_is_not_known() -> None:
    rows = text_of(40)
    edit = Patched(PATH, (Hunk(20, (rows[19],), ("secret half, mine",)),), frozenset({"mine"}))
    view = viewing(Printed(PATH, 1, tuple(rows[:10])), edit)
    assert 20 not in view.live(9, None)


def test_an_edit_at_an_unknown_place_leaves_nothing() -> None:
    rows = text_of(40)
    edit = Patched(PATH, (Hunk(0, ("never shown",), ("x",)),), frozenset({"x"}))
    assert not viewing(Printed(PATH, 1, tuple(rows)), edit).live(9, None)


def test_what_was_shown_too_long_ago_does_not_count() -> None:
    rows = text_of(40)
    view = viewing(Printed(PATH, 1, tuple(rows)))
    assert isinstance(answer(view, rows, horizon=100, now=100), Short)
    assert isinstance(answer(view, rows, horizon=100, now=101), Pass)


def test_a_result_that_is_not_what_the_file_holds_passes() -> None:
    rows = text_of(40)
    view = viewing(Printed(PATH, 1, tuple(rows)))
    data, digest = kept("\n".join(rows[:-1]) + "\n")
    result = Result(PATH, 1, tuple(rows), 2000)
    assert isinstance(decide(view, result, data, digest), Pass)


def test_a_file_that_reads_like_our_answers_passes() -> None:
    rows = ["[holdfast: lines 1-9 unchanged]", *text_of(40)]
    view = viewing(Printed(PATH, 1, tuple(rows)))
    assert isinstance(answer(view, rows), Pass)


WORDS = ["}", "", "    return x", "value = compute(1)", "def f():", "    pass", "# note"]


@pytest.mark.shows("READ-NATIVE-SHORT")
@pytest.mark.parametrize("seed", seeds(40))
def test_every_short_answer_gives_back_the_whole_result(seed: int) -> None:
    rng = random.Random(seed)
    view = View()
    rows = [rng.choice(WORDS) + str(rng.randrange(30)) for _ in range(rng.randint(5, 60))]
    shorts = 0
    for step in range(60):
        what = rng.random()
        at = rng.randrange(len(rows) + 1)
        if what < 0.25:
            rows[at : at + rng.randrange(3)] = [
                rng.choice(WORDS) + str(rng.randrange(99)) for _ in range(rng.randrange(4))
            ]
            rows = rows or ["x"]
            continue
        if what < 0.4 and at < len(rows):
            new = tuple(rng.choice(WORDS) for _ in range(rng.randrange(4)))
            old = tuple(rows[at : at + rng.randrange(4)])
            written = frozenset(rng.sample(sorted(set(new)), rng.randrange(len(set(new)) + 1)))
            view.apply(Patched(PATH, (Hunk(at + 1, old, new),), written), step, load)
            rows[at : at + len(old)] = new
            rows = rows or ["x"]
            continue
        first, last = 1, len(rows)
        if rng.random() < 0.6:
            first = rng.randint(1, len(rows))
            last = rng.randint(first, len(rows))
        horizon = rng.choice([None, 10])
        live = dict(view.live(step, horizon))
        found = answer(view, rows, first, last, horizon=horizon, now=step)
        if isinstance(found, Short):
            shorts += 1
            assert rebuilt(live, found.text) == rows[first - 1 : last], f"seed {seed} step {step}"
            view.apply(found.record, step, load)
        else:
            whole = (first, last) == (1, len(rows))
            view.apply(Printed(PATH, first, tuple(rows[first - 1 : last]), whole), step, load)
        now = view.live(step, None)
        assert [now.get(n) for n in range(first, last + 1)] == rows[first - 1 : last] or horizon
    assert shorts or seed


@pytest.mark.shows("READ-VIEW-FOLD")
def test_an_edit_beside_a_line_that_is_held_as_something_else_forgets_that_line() -> None:
    """Someone inserted a line; the model then put one before what it saw elsewhere.

    The line behind the new one counted as moved, with a text that the file no longer had there.
    """
    view = View()
    view.apply(Printed("/a", 1, ("one", "two", "three")), 0, lambda _: None)
    hunk = Hunk(3, ("two",), ("new", "two"))
    view.apply(Patched("/a", (hunk,), frozenset({"new"})), 1, lambda _: None)
    assert {number: held.text for number, held in view.lines.items()} == {
        1: "one",
        2: "two",
        3: "new",
    }


@pytest.mark.shows("READ-NATIVE-SHORT")
def test_the_empty_row_after_the_last_newline_is_not_a_line() -> None:
    """A read after `cat` was answered with that row alone, as if it were new."""
    rows = text_of(40)
    view = viewing(Printed(PATH, 1, tuple(rows), whole=True))
    found = answer(view, rows)
    data, digest = kept("\n".join(rows) + "\n")
    read = decide(view, Result(PATH, 1, (*rows, ""), 900), data, digest)
    assert isinstance(read, Short)
    assert isinstance(found, Short)
    assert read.text == found.text
    assert read.text.startswith("[holdfast: lines 1-40 unchanged")
    view.apply(read.record, 1, load)
    assert isinstance(decide(view, Result(PATH, 1, (*rows, ""), 900), data, digest), Pass)


@pytest.mark.shows("NATIVE-SHORTER")
def test_a_file_that_lost_its_end_says_where_it_ends() -> None:
    rows = text_of(60)
    view = viewing(Printed(PATH, 1, tuple(rows)))
    short = answer(view, rows[:40])
    assert isinstance(short, Short)
    assert short.text == (
        "[holdfast: lines 1-40 unchanged, as you have them; the file ends at line 40 now; "
        "same call again prints all]"
    )
    ranged = answer(view, rows, 5, 40)
    assert isinstance(ranged, Short)
    assert "ends" not in ranged.text, "a range says nothing about the end of the file"


@pytest.mark.shows("READ-NATIVE-SHORT")
def test_asking_again_after_a_change_is_answered_by_the_change() -> None:
    """The whole text came, though only one line was new."""
    rows = text_of(40)
    view = viewing(Printed(PATH, 1, tuple(rows)))
    short = answer(view, rows)
    assert isinstance(short, Short)
    view.apply(short.record, 1, load)
    changed = [*rows[:19], "something else", *rows[20:]]
    diff = answer(view, changed)
    assert isinstance(diff, Short)
    assert diff.kind == "diff"
    view.apply(diff.record, 2, load)
    assert isinstance(answer(view, changed), Pass), "the same text asked for twice is printed"
