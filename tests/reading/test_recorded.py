"""Recorded sessions by name, for the rules they show; all of them play in tests/conformance."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.reading.hosts.pi_entries import LENIENT
from holdfast.reading.paths import Request
from tests.conformance.players import reading as player
from tests.conformance.test_cases import OWN_CASES
from tests.reading.desk import Desk, numbered, reason

DOCUMENT = json.loads((OWN_CASES / "reading" / "scenarios.json").read_text(encoding="utf-8"))
SCENARIOS: dict[str, dict[str, Any]] = {s["id"]: s for s in DOCUMENT["scenarios"]}
OURS = json.loads(player.EXPECTATIONS.read_text(encoding="utf-8"))


def play(*names: str) -> None:
    for name in names:
        player.play_as_reference(SCENARIOS[name], OURS.get(name))
        player.play_as_shipped(SCENARIOS[name])


@pytest.mark.shows("READ-CONFORM", "READ-SC-8")
def test_only_scenarios_of_repaired_defects_have_expectations_of_our_own() -> None:
    affected = {name for name, scenario in SCENARIOS.items() if scenario["affected_by"]}
    assert set(OURS) == affected
    assert all(ours["why"] for ours in OURS.values())


@pytest.mark.shows("READ-CONFORM")
def test_the_player_notices_a_wrong_answer() -> None:
    wrong = json.loads(json.dumps(SCENARIOS["full_repeat"]))
    wrong["steps"][2]["expect"]["text"] = "[readcache: unchanged, 4 lines]"
    with pytest.raises(AssertionError, match="full_repeat step 2 read: text"):
        player.play_as_reference(wrong, None)
    wrong["steps"][0]["op"] = "paint"
    with pytest.raises(AssertionError, match="unknown step 'paint'"):
        player.play_as_reference(wrong, None)


@pytest.mark.shows("READ-X-02", "READ-X-03", "READ-X-04", "READ-X-05", "READ-X-19", "READ-EDGE-04")
def test_texts_and_their_ends() -> None:
    play("only_newline_file", "newline_added_at_eof", "no_final_newline_edit_last")
    play("crlf", "crlf_range", "diff_shrink", "diff_grow", "gate_byte_ratio", "fork_isolated")


@pytest.mark.shows("READ-X-21", "READ-X-22", "READ-B03", "READ-DEC-13")
def test_stores_that_are_damaged_or_blocked() -> None:
    play("object_corrupted", "object_missing_range", "store_unwritable", "store_layout")


@pytest.mark.shows("READ-X-25", "READ-X-26", "READ-B09")
def test_links_and_spellings() -> None:
    play("symlink", "path_forms", "path_at_prefix_diff_header", "path_tilde")


@pytest.mark.shows("READ-X-31", "READ-X-32", "READ-X-35", "READ-X-37", "READ-X-40")
def test_orders_of_events() -> None:
    play("refresh_full_changed", "refresh_then_compaction", "restart_unflushed")
    play("parallel_order_in_session", "realistic_turns")


@pytest.mark.shows("READ-DEC-08", "READ-BASE-ODD", "READ-EDGE-14", "READ-FOOT-08")
def test_arguments_and_files_outside_the_domain() -> None:
    play("args_odd_numbers", "invalid_utf8", "image_png")


@pytest.mark.shows("READ-DEC-15", "READ-DEC-16", "READ-DEC-18", "READ-DIFF-USEFUL")
def test_gates_of_a_diff() -> None:
    play("gate_line_ratio_20_lines_5_changed", "gate_line_ratio_20_lines_6_changed")
    play("diff_hunk_merge_gap6", "diff_hunk_split_gap7", "diff_repetitive_lines", "diff_every_10th")


@pytest.mark.shows(
    "READ-DEC-11", "READ-DEC-14", "READ-B15", "READ-SC-3", "READ-SC-4", "READ-FOOT-05"
)
def test_bases_and_guards() -> None:
    play("replay_guards", "replay_only_derived", "range_vs_full_freshness", "range_limit_only")
    play("range_edit_inside_and_outside")


@pytest.mark.shows("READ-META-FIELDS", "READ-META-EXTRACT")
def test_metadata_that_is_invalid_or_elsewhere() -> None:
    play("replay_invalid_metadata", "replay_other_tools")


@pytest.mark.shows("READ-CMD-REFRESH", "READ-CMD-STATUS", "READ-B17")
def test_commands() -> None:
    play("refresh_commands", "status_truncated_overestimate")


@pytest.mark.shows("READ-X-13")
def test_a_limit_that_was_the_whole_file_becomes_a_range_when_it_grows(desk: Desk) -> None:
    desk.write("a.txt", numbered(10))
    assert desk.read("a.txt", limit=10).mode == "full"
    desk.write("a.txt", numbered(12))
    answer = desk.read("a.txt", limit=10)
    assert answer.text == "[readcache: unchanged in lines 1-10; changes exist outside this range]"


@pytest.mark.shows("READ-X-27", "READ-B21")
@pytest.mark.parametrize("forged", ["../../../etc/passwd", "A" * 64, "f" * 64, "x", None])
def test_a_forged_digest_is_answered_in_full(desk: Desk, forged: str | None) -> None:
    """None stands for the worst: the digest of the file as it is, over a text never shown."""
    desk.write("a.txt", numbered(10))
    details = desk.ask("a.txt").details
    assert details is not None
    if forged is not None:
        details["readcache"]["servedHash"] = forged
    desk.session.append_read([{"type": "text", "text": "x"}], details)
    answer = desk.ask("a.txt")
    assert (answer.text, reason(answer)) == (numbered(10), "no_base_hash")
    if forged is not None:
        lenient = desk.new_session("lenient", rules=LENIENT)
        lenient.append_read([{"type": "text", "text": "x"}], details)
        answer = desk.ask("a.txt", lenient)
        assert (answer.text, reason(answer)) == (numbered(10), "base_object_missing")


@pytest.mark.shows("READ-X-06")
def test_odd_separators_are_ordinary_characters(desk: Desk) -> None:
    text = "a\rb\u2028c\x85d\x0ce\x0bf\n" + numbered(60, "a row of text, number")
    desk.write("a.txt", text)
    assert desk.read("a.txt").text == text
    desk.write("a.txt", text.replace("number 40", "number forty"))
    assert desk.read("a.txt").mode == "diff"
    assert desk.read("a.txt:1-1").mode == "unchanged_range"


@pytest.mark.shows("READ-X-41")
def test_a_copied_session_says_nothing_about_another_place(desk: Desk) -> None:
    desk.write("a.txt", numbered(10))
    desk.read("a.txt")
    desk.write("elsewhere/a.txt", numbered(10))
    assert desk.reader.read(Request("elsewhere/a.txt"), desk.session).mode == "full"
