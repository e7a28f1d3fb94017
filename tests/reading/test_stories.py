"""Whole sessions: ranges, compaction, branches, refreshes, restarts."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.reading import commands
from holdfast.reading.hosts.pi import PiLog
from holdfast.reading.paths import Request
from tests.reading.desk import Desk, numbered, reason
from tests.reading.pi_session import PiSession

# Ranges


@pytest.mark.shows("READ-T-RANGE", "READ-MODE-unchanged_range", "READ-MARKERS")
def test_a_range_is_sent_once(desk: Desk) -> None:
    desk.write("a.txt", numbered(12))
    assert desk.read("a.txt:3-5").mode == "full"
    assert desk.read("a.txt:3-5").text == "[readcache: unchanged in lines 3-5 of 12]"


@pytest.mark.shows(
    "READ-T-RANGE", "READ-EDGE-06", "READ-R-range_slice_unchanged", "READ-IT-SELECTIVE"
)
def test_an_edit_outside_the_range_leaves_it_unchanged(desk: Desk) -> None:
    rows = numbered(400).split("\n")
    desk.write("a.txt", "\n".join(rows))
    desk.read("a.txt:160-249")
    rows[120] = "edited"
    desk.write("a.txt", "\n".join(rows))
    answer = desk.read("a.txt:160-249")
    assert answer.text == (
        "[readcache: unchanged in lines 160-249; changes exist outside this range]"
    )
    assert reason(answer) == "range_slice_unchanged"
    wider = desk.read("a.txt:100-349")
    assert wider.mode == "full"
    assert "\nedited\n" in wider.text
    rows[120] = "edited again"
    desk.write("a.txt", "\n".join(rows))
    assert reason(desk.read("a.txt:100-349")) == "range_slice_changed"


@pytest.mark.shows("READ-T-RANGE", "READ-EDGE-05", "READ-R-range_slice_changed", "READ-X-14")
def test_an_insertion_before_the_range_shifts_it(desk: Desk) -> None:
    desk.write("a.txt", numbered(12))
    desk.read("a.txt:3-5")
    desk.write("a.txt", "new\n" + numbered(12))
    answer = desk.read("a.txt:3-5")
    assert answer.mode == "baseline_fallback"
    assert answer.text.startswith("line 2\nline 3\nline 4\n")


@pytest.mark.shows("READ-EDGE-07", "READ-X-11")
def test_the_whole_file_answers_for_a_range_but_not_the_reverse(desk: Desk) -> None:
    desk.write("a.txt", numbered(12))
    desk.read("a.txt:3-5")
    assert desk.read("a.txt").mode == "full"
    assert desk.read("a.txt:7-9").mode == "unchanged_range"


@pytest.mark.shows("READ-UNION", "READ-X-12")
def test_a_part_of_a_range_already_shown_is_not_sent_again(desk: Desk) -> None:
    desk.write("a.txt", numbered(40))
    desk.read("a.txt:1-10")
    desk.read("a.txt:11-20")
    assert desk.read("a.txt:5-15").text == "[readcache: unchanged in lines 5-15 of 40]"
    assert desk.read("a.txt:15-25").mode == "full"


@pytest.mark.shows("READ-X-10")
def test_a_file_that_changes_back_is_a_diff_twice_and_then_unchanged(desk: Desk) -> None:
    first = numbered(60, "    value = compute")
    second = first.replace("compute 30", "recompute 30")
    modes = []
    for text in (first, second, first, first):
        desk.write("a.py", text)
        modes.append(desk.read("a.py").mode)
    assert modes == ["full", "diff", "diff", "unchanged"]


# Compaction


def compact(desk: Desk, kept: str | None = None) -> str:
    return desk.session.append("compaction", summary="…", firstKeptEntryId=kept, tokensBefore=1)


@pytest.mark.shows(
    "first_read_after_compaction_is_baseline_even_if_precompaction_anchor_exists",
    "READ-BOUNDARY",
    "READ-T-COMPACTION",
    "READ-BOOTSTRAP",
    "READ-B07",
    "READ-X-30",
)
def test_first_read_after_compaction_is_baseline_even_if_precompaction_anchor_exists(
    desk: Desk,
) -> None:
    """Once an unchanged answer inside the kept window could vouch for a text long gone."""
    desk.write("a.txt", numbered(12))
    desk.read("a.txt")
    anchor = desk.session.leaf
    assert desk.read("a.txt").mode == "unchanged"
    unchanged = desk.session.leaf
    for kept in (anchor, unchanged, "nobody", None):
        desk.session.navigate(unchanged)
        compact(desk, kept)
        answer = desk.ask("a.txt")
        assert (answer.mode, reason(answer)) == ("full", "no_base_hash")


@pytest.mark.shows("latest_compaction_wins_when_multiple_compactions_exist", "READ-T-COMPACTION")
def test_latest_compaction_wins_when_multiple_compactions_exist(desk: Desk) -> None:
    desk.write("a.txt", numbered(12))
    desk.read("a.txt")
    compact(desk)
    assert desk.read("a.txt").mode == "full"
    compact(desk)
    assert desk.read("a.txt").mode == "full"
    assert desk.read("a.txt").mode == "unchanged"


@pytest.mark.shows("post_compaction_first_range_read_is_baseline_range", "READ-T-COMPACTION")
def test_post_compaction_first_range_read_is_baseline_range(desk: Desk) -> None:
    desk.write("a.txt", numbered(12))
    desk.read("a.txt")
    desk.read("a.txt:3-5")
    compact(desk, desk.session.leaf)
    answer = desk.read("a.txt:3-5")
    assert answer.mode == "full"
    assert answer.text.startswith("line 3\nline 4\nline 5")
    assert desk.read("a.txt:3-5").mode == "unchanged_range"


@pytest.mark.shows(
    "prefers_fresher_full_trust_over_older_exact_range_trust_when_selecting_baseHash",
    "READ-FRESH",
    "READ-T-COMPACTION",
    "READ-X-15",
)
def test_prefers_fresher_full_trust_over_older_exact_range_trust_when_selecting_baseHash(
    desk: Desk,
) -> None:
    desk.write("a.txt", numbered(12))
    desk.read("a.txt:3-5")
    desk.write("a.txt", numbered(12, "other"))
    full = desk.read("a.txt")
    assert full.meta is not None
    answer = desk.read("a.txt:3-5")
    assert answer.meta is not None
    assert (answer.mode, answer.meta.base) == ("unchanged_range", full.meta.digest)


@pytest.mark.shows(
    "tree_navigation_pre_compaction_restores_precompaction_visibility", "READ-T-COMPACTION"
)
def test_tree_navigation_pre_compaction_restores_precompaction_visibility(desk: Desk) -> None:
    desk.write("a.txt", numbered(12))
    desk.read("a.txt")
    before = desk.session.leaf
    compact(desk)
    assert desk.ask("a.txt").mode == "full"
    desk.session.navigate(before)
    assert desk.read("a.txt").mode == "unchanged"


# Branches


@pytest.mark.shows("READ-T-TREE", "READ-SC-2", "READ-FOOT-01", "READ-FOOT-03")
def test_no_branch_knows_what_another_was_shown(desk: Desk) -> None:
    desk.write("a.txt", numbered(12))
    root = desk.session.append("message", message={"role": "user", "content": "go"})
    desk.read("a.txt")
    desk.session.navigate(root)
    desk.session.append("message", message={"role": "user", "content": "other way"})
    assert desk.read("a.txt").mode == "full"
    assert desk.read("a.txt").mode == "unchanged"


@pytest.mark.shows("READ-T-TREE", "READ-X-36")
def test_a_fork_is_not_touched_by_later_reads_of_its_source(desk: Desk) -> None:
    desk.write("a.txt", "v1")
    desk.read("a.txt")
    fork = desk.session.fork("fork")
    desk.write("a.txt", "v2")
    desk.read("a.txt")
    desk.write("a.txt", "v1")
    assert desk.ask("a.txt", fork).mode == "unchanged"
    assert desk.ask("a.txt").mode == "baseline_fallback"


@pytest.mark.shows("READ-EDGE-11", "READ-X-29")
def test_before_the_first_entry_nothing_is_held(desk: Desk) -> None:
    desk.write("a.txt", numbered(3))
    desk.read("a.txt")
    desk.session.navigate(None)
    assert desk.ask("a.txt").mode == "full"


# Refreshes


@pytest.mark.shows("READ-T-REFRESH", "READ-CMD-REFRESH")
def test_a_refresh_has_the_text_sent_again(desk: Desk) -> None:
    desk.write("a.txt", numbered(12))
    desk.read("a.txt")
    request = commands.parse_refresh("a.txt", desk.place)
    desk.reader.refresh(request, desk.session)
    assert desk.session.entries[-1]["customType"] == "pi-readcache"
    answer = desk.read("a.txt")
    assert (answer.mode, answer.text) == ("full", numbered(12))


@pytest.mark.shows("READ-T-REFRESH", "READ-BLOCK")
def test_a_range_refresh_blocks_the_whole_file_until_the_range_was_printed(desk: Desk) -> None:
    desk.write("a.txt", numbered(12))
    desk.read("a.txt")
    desk.reader.refresh(Request("a.txt:3-5"), desk.session)
    assert desk.read("a.txt:3-5").mode == "full"
    assert desk.read("a.txt:3-5").mode == "unchanged_range"
    assert desk.read("a.txt").mode == "unchanged"


@pytest.mark.shows("READ-T-REFRESH", "READ-BLOCK")
def test_reading_the_whole_file_does_not_lift_a_range_refresh(desk: Desk) -> None:
    desk.write("a.txt", numbered(12))
    desk.read("a.txt")
    desk.reader.refresh(Request("a.txt:3-5"), desk.session)
    assert desk.read("a.txt").mode == "unchanged"
    assert desk.read("a.txt:3-5").mode == "full"


@pytest.mark.shows("READ-T-REFRESH", "READ-CMD-REFRESH")
def test_the_tool_and_the_command_mean_the_same(desk: Desk) -> None:
    desk.write("a.txt", numbered(12))
    desk.reader.refresh(Request("a.txt", 3, 3), desk.session)
    desk.reader.refresh(commands.parse_refresh("a.txt 3-5", desk.place), desk.session)
    first, second = (entry["data"]["scopeKey"] for entry in desk.session.entries)
    assert first == second == "r:3:5"


@pytest.mark.shows("READ-X-34")
def test_a_refresh_counts_on_its_own_branch_only(desk: Desk) -> None:
    desk.write("a.txt", numbered(12))
    desk.read("a.txt")
    before = desk.session.leaf
    desk.reader.refresh(Request("a.txt"), desk.session)
    desk.session.navigate(before)
    assert desk.ask("a.txt").mode == "unchanged"


@pytest.mark.shows("READ-X-33")
def test_a_marker_in_the_log_does_not_lift_a_blocker(desk: Desk) -> None:
    desk.write("a.txt", numbered(12))
    desk.read("a.txt")
    desk.reader.refresh(Request("a.txt:3-5"), desk.session)
    assert desk.ask("a.txt:3-5").mode == "full"
    marker = desk.ask("a.txt:3-5")
    assert marker.mode == "unchanged_range"
    desk.session.append_read(marker.content, marker.details)
    assert desk.ask("a.txt:3-5").mode == "full"


# Restarts


@pytest.mark.shows("READ-T-RESTART", "READ-SC-2")
def test_trust_and_refreshes_survive_opening_the_file_again(desk: Desk) -> None:
    desk.session = desk.new_session("on-disk", on_disk=True)
    path = desk.session.path
    assert path is not None
    desk.write("a.txt", numbered(12))
    desk.read("a.txt")
    desk.session = PiSession.open(path, now_ms=desk.now_ms, new_id=desk.new_id)
    desk.reader = desk.new_reader()
    assert desk.ask("a.txt").mode == "unchanged"
    desk.reader.refresh(Request("a.txt"), desk.session)
    text = Path(path).read_text()
    assert '"toolName":"read"' in text
    assert '"customType":"pi-readcache"' in text
    desk.session = PiSession.open(path, now_ms=desk.now_ms, new_id=desk.new_id)
    desk.reader = desk.new_reader()
    assert desk.ask("a.txt").mode == "full"
    assert desk.new_reader().read(Request("a.txt"), PiLog(path)).mode == "full"


@pytest.mark.shows("READ-T-RESTART")
def test_two_sessions_of_one_reader_stay_apart(desk: Desk) -> None:
    other = desk.new_session("other")
    desk.write("a.txt", numbered(12))
    desk.read("a.txt")
    assert desk.ask("a.txt", other).mode == "full"
    assert desk.ask("a.txt").mode == "unchanged"
    assert desk.ask("a.txt", other).mode == "unchanged"
