"""The trust state machine: every row of its table, and what may not bootstrap trust."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.reading.events import (
    Anchored,
    Barrier,
    Derived,
    Event,
    Forgotten,
    Hidden,
    Hunk,
    Patched,
    Piece,
    Pieced,
    Printed,
    Refreshed,
    Replaced,
)
from holdfast.reading.scope import WHOLE, Lines, Scope
from holdfast.reading.tree import NO_ENTRY, Tree
from holdfast.reading.trust import (
    Holdings,
    Ledger,
    Overlay,
    Trust,
    choose_base,
    is_stale,
)
from holdfast.reading.view import View
from tests.reading.replay import replay

A = "/a.py"
OLD, NEW, OTHER = "0" * 64, "1" * 64, "2" * 64
RUN = Lines(2, 4)


def after(*events: Event) -> Ledger:
    return replay([(str(number), event) for number, event in enumerate(events)])


def base(ledger: Ledger, scope: Scope, *, union: bool = False) -> str | None:
    found = choose_base(Holdings(ledger), A, scope, union=union)
    return None if found is None else found.digest


@pytest.mark.shows("applies_full_anchor_without_prior_trust", "READ-SM-ANCHOR", "READ-T-REPLAY")
@pytest.mark.parametrize("scope", [WHOLE, RUN])
def test_applies_full_anchor_without_prior_trust(scope: Scope) -> None:
    assert after(Anchored(A, scope, OLD)).trusted(A, scope) == Trust(OLD, 1)


@pytest.mark.shows("ignores_unchanged_without_full_anchor", "READ-SM-UNCHANGED", "READ-T-REPLAY")
@pytest.mark.parametrize(
    "before",
    [
        [],
        [Anchored(A, WHOLE, NEW)],
        [Anchored(A, RUN, OLD)],
        [Anchored("/b.py", WHOLE, OLD)],
        [Anchored(A, WHOLE, OLD), Barrier()],
    ],
)
def test_ignores_unchanged_without_full_anchor(before: list[Event]) -> None:
    ledger = after(*before, Derived("unchanged", A, WHOLE, OLD, OLD))
    trust = ledger.trusted(A, WHOLE)
    assert trust is None or trust.digest == NEW


@pytest.mark.shows(
    "applies_unchanged_with_matching_full_anchor",
    "READ-SM-UNCHANGED",
    "READ-SM-SEQ",
    "READ-T-REPLAY",
)
def test_applies_unchanged_with_matching_full_anchor() -> None:
    ledger = after(Anchored(A, WHOLE, OLD), Derived("unchanged", A, WHOLE, OLD, OLD))
    assert ledger.trusted(A, WHOLE) == Trust(OLD, 2)


@pytest.mark.shows("READ-SM-UNCHANGED")
def test_an_unchanged_that_served_another_text_than_its_base_is_nonsense() -> None:
    ledger = after(Anchored(A, WHOLE, OLD), Derived("unchanged", A, WHOLE, OLD, NEW))
    assert ledger.trusted(A, WHOLE) == Trust(OLD, 1)


@pytest.mark.shows(
    "ignores_diff_without_matching_full_anchor", "READ-SM-DIFF", "READ-EDGE-17", "READ-T-REPLAY"
)
@pytest.mark.parametrize("before", [[], [Anchored(A, WHOLE, OTHER)], [Anchored(A, RUN, OLD)]])
def test_ignores_diff_without_matching_full_anchor(before: list[Event]) -> None:
    ledger = after(*before, Derived("diff", A, WHOLE, OLD, NEW))
    trust = ledger.trusted(A, WHOLE)
    assert trust is None or trust.digest == OTHER


@pytest.mark.shows("applies_diff_with_matching_full_anchor", "READ-SM-DIFF", "READ-T-REPLAY")
def test_applies_diff_with_matching_full_anchor() -> None:
    ledger = after(Anchored(A, WHOLE, OLD), Derived("diff", A, WHOLE, OLD, NEW))
    assert ledger.trusted(A, WHOLE) == Trust(NEW, 2)


@pytest.mark.shows(
    "applies_unchanged_range_with_matching_range_anchor", "READ-SM-RANGE", "READ-T-REPLAY"
)
def test_applies_unchanged_range_with_matching_range_anchor() -> None:
    ledger = after(Anchored(A, RUN, OLD), Derived("unchanged_range", A, RUN, OLD, NEW))
    assert ledger.trusted(A, RUN) == Trust(NEW, 2)


@pytest.mark.shows(
    "applies_unchanged_range_with_matching_full_anchor", "READ-SM-RANGE", "READ-T-REPLAY"
)
def test_applies_unchanged_range_with_matching_full_anchor() -> None:
    ledger = after(Anchored(A, WHOLE, OLD), Derived("unchanged_range", A, RUN, OLD, NEW))
    assert ledger.trusted(A, RUN) == Trust(NEW, 2)
    assert ledger.trusted(A, WHOLE) == Trust(OLD, 1)


@pytest.mark.shows("READ-SM-RANGE")
def test_ignores_unchanged_range_without_matching_anchor() -> None:
    ledger = after(
        Anchored(A, WHOLE, OTHER),
        Anchored(A, Lines(1, 9), OLD),
        Derived("unchanged_range", A, RUN, OLD, NEW),
    )
    assert ledger.trusted(A, RUN) is None


@pytest.mark.shows("READ-SM-OTHER")
@pytest.mark.parametrize(
    ("mode", "scope"),
    [("unchanged", RUN), ("diff", RUN), ("unchanged_range", WHOLE), ("full", WHOLE)],
)
def test_other_combinations_change_nothing_but_take_a_seq(mode: str, scope: Scope) -> None:
    ledger = after(
        Anchored(A, WHOLE, OLD),
        Anchored(A, RUN, OLD),
        Derived(mode, A, scope, OLD, NEW),
        Anchored("/b.py", WHOLE, NEW),
    )
    assert ledger.scopes(A) == {WHOLE: Trust(OLD, 1), RUN: Trust(OLD, 2)}
    assert ledger.trusted("/b.py", WHOLE) == Trust(NEW, 4)


@pytest.mark.shows("full_invalidation_clears_all_scopes", "READ-INV-FULL", "READ-T-REPLAY")
def test_full_invalidation_clears_all_scopes() -> None:
    ledger = after(
        Anchored(A, WHOLE, OLD),
        Anchored(A, RUN, OLD),
        Refreshed(A, Lines(7, 8)),
        Anchored("/b.py", WHOLE, OLD),
        Refreshed(A, WHOLE),
    )
    assert ledger.scopes(A) == {}
    assert ledger.blocked(A) == frozenset()
    assert ledger.trusted("/b.py", WHOLE) is not None


@pytest.mark.shows("range_invalidation_clears_only_range_scope", "READ-INV-RANGE", "READ-T-REPLAY")
def test_range_invalidation_clears_only_range_scope() -> None:
    ledger = after(
        Anchored(A, WHOLE, OLD),
        Anchored(A, RUN, OLD),
        Anchored(A, Lines(7, 9), OLD),
        Refreshed(A, RUN),
    )
    assert set(ledger.scopes(A)) == {WHOLE, Lines(7, 9)}
    assert set(after(Anchored(A, RUN, OLD), Refreshed(A, RUN)).paths()) == set()


@pytest.mark.shows("range_scope_blocker_persists_until_range_anchor", "READ-BLOCK", "READ-T-REPLAY")
def test_range_scope_blocker_persists_until_range_anchor() -> None:
    events: list[Event] = [Anchored(A, WHOLE, OLD), Refreshed(A, RUN)]
    assert base(after(*events), RUN) is None
    assert base(after(*events), Lines(2, 3)) == OLD, "other runs are unaffected"
    assert base(after(*events), WHOLE) == OLD, "and so is the whole"
    assert base(after(*events, Anchored(A, WHOLE, NEW)), RUN) is None
    assert base(after(*events, Derived("unchanged_range", A, RUN, OLD, OLD)), RUN) is None
    overlay = Overlay()
    overlay.move("leaf", branch_point=False)
    overlay.record(A, RUN, NEW)
    found = choose_base(Holdings(after(*events), overlay), A, RUN)
    assert found is not None
    assert found.digest == NEW
    assert base(after(*events, Anchored(A, RUN, NEW)), RUN) == NEW


@pytest.mark.shows("READ-BOUNDARY", "READ-T-REPLAY", "READ-EDGE-10")
def test_replay_starts_after_the_latest_barrier() -> None:
    ledger = after(
        Anchored(A, WHOLE, OLD), Barrier(), Anchored(A, RUN, OLD), Barrier(), Anchored(A, RUN, NEW)
    )
    assert ledger.scopes(A) == {RUN: Trust(NEW, 1)}


@pytest.mark.shows("READ-EDGE-16", "READ-X-32")
def test_after_a_barrier_only_derived_events_prove_nothing() -> None:
    ledger = after(
        Anchored(A, WHOLE, OLD),
        Refreshed(A, RUN),
        Barrier(),
        Derived("unchanged", A, WHOLE, OLD, OLD),
        Derived("unchanged_range", A, RUN, OLD, OLD),
        Derived("diff", A, WHOLE, OLD, NEW),
    )
    assert ledger.scopes(A) == {}
    assert ledger.blocked(A) == frozenset()


@pytest.mark.shows("READ-FRESH", "READ-EDGE-18", "READ-SC-5", "READ-FOOT-06")
def test_the_fresher_of_run_and_whole_is_the_base() -> None:
    assert base(after(Anchored(A, RUN, OLD), Anchored(A, WHOLE, NEW)), RUN) == NEW
    assert base(after(Anchored(A, WHOLE, NEW), Anchored(A, RUN, OLD)), RUN) == OLD


@pytest.mark.shows("READ-FRESH-TIE")
def test_on_a_tie_the_run_itself_is_the_base() -> None:
    ledger = Ledger()
    ledger._trust = {A: {WHOLE: Trust(NEW, 7), RUN: Trust(OLD, 7)}}
    assert base(ledger, RUN) == OLD


@pytest.mark.shows("READ-BASE-FULL")
def test_runs_never_answer_for_the_whole_file() -> None:
    assert base(after(Anchored(A, Lines(1, 9), OLD)), WHOLE, union=True) is None


@pytest.mark.shows("READ-T-REPLAY")
def test_mixed_replay_with_guards_and_invalidation() -> None:
    ledger = after(
        Derived("unchanged", A, WHOLE, OLD, OLD),
        Anchored(A, WHOLE, OLD),
        Derived("diff", A, WHOLE, OLD, NEW),
        Anchored(A, RUN, NEW),
        Refreshed(A, RUN),
        Derived("unchanged_range", A, Lines(1, 2), NEW, NEW),
    )
    assert ledger.scopes(A) == {WHOLE: Trust(NEW, 3), Lines(1, 2): Trust(NEW, 5)}


@pytest.mark.shows("READ-OVERLAY", "READ-T-REPLAY", "READ-EDGE-11")
def test_the_overlay_is_fresher_and_vanishes_when_the_leaf_changes() -> None:
    overlay = Overlay()
    overlay.move(("s", "e1"), branch_point=False)
    overlay.record(A, WHOLE, NEW)
    holdings = Holdings(after(Anchored(A, WHOLE, OLD), Anchored(A, RUN, OLD)), overlay)
    found = choose_base(holdings, A, RUN)
    assert found is not None
    assert found.digest == NEW
    overlay.move(("s", None), branch_point=False)
    assert not overlay
    overlay.record(A, WHOLE, NEW)
    overlay.move(("s", None), branch_point=True)
    assert not overlay, "a leaf with children keeps nothing"


@pytest.mark.shows("READ-HIDDEN", "READ-B05")
def test_what_is_hidden_was_never_shown_nor_what_stands_on_it() -> None:
    events: list[tuple[str, Event]] = [
        ("r1", Anchored(A, WHOLE, OLD)),
        ("r2", Derived("unchanged_range", A, RUN, OLD, OLD)),
        ("r3", Derived("diff", A, WHOLE, OLD, NEW)),
        ("r4", Derived("unchanged", A, WHOLE, NEW, NEW)),
    ]
    assert replay([*events, ("x", Hidden(("r1",)))]).scopes(A) == {}
    kept = replay([*events, ("x", Hidden(("r3",)))])
    assert kept.scopes(A) == {WHOLE: Trust(OLD, 1), RUN: Trust(OLD, 2)}


@pytest.mark.shows("READ-UNION")
def test_runs_do_not_cover_lines_that_were_seen_otherwise_since() -> None:
    """Lines 1-10 were called unchanged from two older looks, though the last look at lines 3-4 had
    shown another text."""
    events = [
        Anchored("/a", Lines(1, 5), "old"),
        Anchored("/a", Lines(6, 10), "old"),
        Anchored("/a", Lines(3, 4), "new"),
    ]
    holdings = Holdings(replay((str(n), event) for n, event in enumerate(events)))
    assert choose_base(holdings, "/a", Lines(1, 10)) is None
    assert choose_base(holdings, "/a", Lines(4, 7)) is None
    assert choose_base(holdings, "/a", Lines(7, 9)) == Trust("old", 2)
    events.append(Anchored("/a", Lines(2, 5), "old"))
    holdings = Holdings(replay((str(n), event) for n, event in enumerate(events)))
    assert choose_base(holdings, "/a", Lines(2, 4)) == Trust("old", 4)


@pytest.mark.shows("READ-UNION", "READ-B08")
def test_runs_of_one_text_cover_a_run_together() -> None:
    parts = [Anchored(A, Lines(1, 5), OLD), Anchored(A, Lines(6, 9), OLD)]
    assert base(after(*parts), Lines(3, 8), union=True) == OLD
    assert base(after(*parts), Lines(3, 8), union=False) is None
    assert base(after(*parts), Lines(3, 10), union=True) is None
    gap = [Anchored(A, Lines(1, 4), OLD), Anchored(A, Lines(6, 9), OLD)]
    assert base(after(*gap), Lines(3, 8), union=True) is None
    mixed = [Anchored(A, Lines(1, 5), OLD), Anchored(A, Lines(6, 9), NEW)]
    assert base(after(*mixed), Lines(3, 8), union=True) is None


@pytest.mark.shows("READ-UNION")
def test_no_union_where_someone_asked_to_see_lines_again() -> None:
    parts = [Anchored(A, Lines(1, 5), OLD), Anchored(A, Lines(6, 9), OLD)]
    assert base(after(*parts, Refreshed(A, Lines(5, 6))), Lines(3, 8), union=True) is None
    assert base(after(*parts, Refreshed(A, Lines(9, 9))), Lines(3, 8), union=True) == OLD


runs = st.tuples(st.integers(1, 12), st.integers(0, 6)).map(lambda p: Lines(p[0], p[0] + p[1]))


@pytest.mark.shows("READ-UNION")
@given(st.lists(st.tuples(runs, st.sampled_from([OLD, NEW])), max_size=8), runs)
def test_a_union_covers_what_counting_lines_says(
    held: list[tuple[Lines, str]], wanted: Lines
) -> None:
    ledger = after(*(Anchored(A, run, digest) for run, digest in held))
    looks: dict[int, str] = {}
    for run, digest in held:
        looks |= dict.fromkeys(range(run.first, run.last + 1), digest)
    seen = {looks.get(line) for line in range(wanted.first, wanted.last + 1)}
    covered = seen.pop() if len(seen) == 1 else None
    assert base(ledger, wanted, union=True) == dict(held).get(wanted, covered)


paths = st.sampled_from([A, "/b.py"])
scopes_ = st.sampled_from([WHOLE, RUN, Lines(1, 2)])
digests = st.sampled_from([OLD, NEW])
events_ = st.one_of(
    st.builds(Anchored, paths, scopes_, digests),
    st.builds(
        Derived,
        st.sampled_from(["unchanged", "unchanged_range", "diff"]),
        paths,
        scopes_,
        digests,
        digests,
    ),
    st.builds(Refreshed, paths, scopes_),
    st.just(Barrier()),
    st.builds(lambda n: Hidden((f"e{n}",)), st.integers(0, 12)),
    st.none(),
)


@pytest.mark.shows("READ-INCREMENTAL", "READ-B12")
@given(st.lists(st.tuples(events_, st.integers(-1, 12)), max_size=14), st.data())
def test_going_on_from_a_leaf_gives_what_replaying_from_scratch_gives(
    entries: list[tuple[Event | None, int]], data: st.DataObject
) -> None:
    tree = Tree()
    raw: list[tuple[int, Event | None]] = []
    for number, (event, above) in enumerate(entries):
        parent = above if above < number else number - 1
        tree.add(f"e{number}", f"e{parent}" if parent >= 0 else None, "k", event)
        raw.append((parent, event))
        leaf = data.draw(st.integers(NO_ENTRY, number))
        path = []
        at = leaf
        while at >= 0:
            path.append((f"e{at}", raw[at][1]))
            at = raw[at][0]
        expected = replay([(name, event) for name, event in reversed(path) if event is not None])
        found = tree.ledger(leaf)
        for name in (A, "/b.py"):
            assert found.scopes(name) == expected.scopes(name)
            assert found.blocked(name) == expected.blocked(name)


@pytest.mark.shows("READ-PI-TREE")
def test_an_id_seen_twice_makes_everything_before_it_uncertain() -> None:
    tree = Tree()
    tree.add("a", None, "k", Anchored(A, WHOLE, OLD))
    tree.add("b", "a", "k")
    tree.add("c", "b", "k", Anchored(A, RUN, OLD))
    assert len(tree.ledger(2).scopes(A)) == 2
    tree.add("b", None, "k")
    assert set(tree.ledger(2).scopes(A)) == {RUN}


def test_an_entry_that_is_its_own_parent_is_a_root() -> None:
    tree = Tree()
    tree.add("a", "a", "k", Anchored(A, WHOLE, OLD))
    tree.add("b", "z", "k")
    assert tree.path(0) == [0]
    assert tree.path(1) == [1]


EVENTS: list[Event] = [
    Printed(A, 1, ("one", "two", "three"), whole=True),
    Printed(A, 2, ("TWO",)),
    Anchored(A, WHOLE, OLD),
    Anchored(A, RUN, OLD),
    Refreshed(A, WHOLE),
    Refreshed(A, RUN),
    Forgotten(A),
    Patched(A, (Hunk(2, ("two",), ("2", "two and a half")),), frozenset({"2"})),
    Replaced(A, "TWO", "2"),
    Pieced(A, (Piece(1, 1, 1), Piece(2, 2)), NEW, whole=True),
    Pieced(A, (Piece(2, 1, 2),), NEW),
    Derived("diff", A, WHOLE, OLD, NEW),
]
TEXTS = {OLD: b"one\ntwo\nthree\nfour\n", NEW: b"one\nTWO\nthree\n"}


@pytest.mark.shows("READ-VIEW-FOLD")
@given(st.lists(st.sampled_from(EVENTS), max_size=12), st.integers(0, 12), st.integers(0, 12))
def test_a_view_is_the_fold_of_all_events_however_it_is_reached(
    events: list[Event], asked: int, kept: int
) -> None:
    """What is skipped or taken over from another replay changes nothing that is held."""
    simple, before, ledger = View(), Ledger(), Ledger()
    for count, event in enumerate(events):
        before.apply(event, count)
        if count == asked:
            before.view(A, TEXTS.get)
    for count, event in enumerate(events[:kept]):
        ledger.apply(event, count)
    ledger.take_views(before)
    for count, event in enumerate(events[kept:], start=kept):
        ledger.apply(event, count)
    for seen, at in ledger.history(A):
        simple.apply(seen, at, TEXTS.get)
    for one in (ledger, before):
        view = one.view(A, TEXTS.get)
        if one.history(A) == ledger.history(A):
            assert (view.lines, view.named) == (simple.lines, simple.named)


@pytest.mark.shows("READ-CHANGE-AND-BACK")
def test_a_line_that_a_later_whole_read_did_not_have_is_stale() -> None:
    """The file lost its last line, was shown so by the agent's own read, and got the line back."""
    rows = ["one", "two", "three", "four", ""]
    shown = Anchored(A, WHOLE, OLD)
    shorter = Printed(A, 1, ("one", "two", "three"), whole=True)
    part = Printed(A, 1, ("one", "two", "three"))

    def stale(*events: Event) -> bool:
        holdings = Holdings(after(*events))
        trust = choose_base(holdings, A, Lines(4, 4))
        assert trust is not None
        return is_stale(holdings, A, Lines(4, 4), trust, (rows, rows), TEXTS.get)

    assert stale(shown, shorter)
    assert stale(shown, shorter, part)
    assert not stale(shown, part)
    assert not stale(shown, Printed(A, 1, tuple(rows[:-1]), whole=True))


@pytest.mark.shows("READ-CHANGE-AND-BACK")
def test_an_unchanged_without_its_base_keeps_only_lines_that_agree_with_it() -> None:
    """A newer text was cleared from the context and an older one was not: `unchanged`, left without
    its base, was overlooked, and a diff stood on lines that it denies."""
    older = Printed(A, 1, ("one", "two", "three", "four"), whole=True)
    whole, part = (
        Derived("unchanged", A, WHOLE, NEW, NEW),
        Derived("unchanged_range", A, Lines(3, 4), NEW, NEW),
    )
    for event, lines in ((whole, {1: "one", 3: "three"}), (part, {1: "one", 2: "two", 3: "three"})):
        held = after(older, event).view(A, TEXTS.get).lines
        assert {number: line.text for number, line in held.items()} == lines
    assert len(after(older, whole).view(A, lambda _: None).lines) == 4, "a text that is not known"


@pytest.mark.shows("READ-CHANGE-AND-BACK")
def test_an_edit_is_placed_only_where_its_old_text_is_held_once_overlaps_counted() -> None:
    """Agents refuse an old text that overlaps itself, so the held lines are not the file's."""
    lines = Printed(A, 1, ("one", "two", "two", "two", "five"), whole=True)
    for old, count in (("two\ntwo", 0), ("w", 0), ("one\nt", 5), ("five", 6)):
        assert len(after(lines, Replaced(A, old, "x\ny")).view(A, TEXTS.get).lines) == count, old
