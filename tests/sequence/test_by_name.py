"""Every named test of our sources, played from the conformance cases by its name."""

import json
from pathlib import Path

import pytest

from holdfast.sequence.search import Clear
from tests.conformance.players import sequence

CASES = Path(__file__).parent.parent / "conformance" / "cases" / "sequence"


def play(*names: str) -> None:
    """Play every case of each name; a name without a case fails."""
    known: dict[str, list[sequence.Case]] = {}
    for name, case in sequence.cases(CASES):
        whole = name.split("-", 1)[1]
        for short in {whole, whole.partition("#")[0]}:
            known.setdefault(short, []).append((name, case))
    for name in names:
        assert known.get(name), f"no case is called {name}"
        for _, case in known[name]:
            case()


@pytest.mark.shows(
    "SEQ-PLAN-example_basic_sequence_search",
    "SEQ-PLAN-example_single_atom_error",
    "SEQ-PLAN-example_helper_methods",
    "SEQ-PLAN-example_token_pattern_element",
    "SEQ-PLAN-example_hierarchical_parent_search",
    "SEQ-PLAN-example_hierarchical_ancestor_search",
    "SEQ-PLAN-example_incomplete_postfix",
    "SEQ-PLAN-example_incomplete_prefix",
    "SEQ-PLAN-example_pattern_location_access",
    "SEQ-PLAN-example_pattern_width",
    "SEQ-PLAN-example_expect_complete",
    "SEQ-PLAN-find_ancestor1_single_token",
    "SEQ-PLAN-find_ancestor1_b_c",
    "SEQ-PLAN-find_ancestor1_a_bc",
    "SEQ-PLAN-find_ancestor1_ab_c",
    "SEQ-PLAN-find_ancestor1_a_bc_d",
    "SEQ-PLAN-find_ancestor1_a_b_c",
    "SEQ-PLAN-find_ancestor1_a_b_c_c",
    "SEQ-PLAN-find_ancestor1_long_pattern",
    "SEQ-PLAN-find_ancestor2",
    "SEQ-PLAN-find_ancestor3",
    "SEQ-PLAN-find_consecutive1",
    "SEQ-PLAN-find_sequence",
    "SEQ-PLAN-find_pattern1",
    "SEQ-PLAN-find_parent1",
    "SEQ-PLAN-prefix1",
    "SEQ-PLAN-postfix1",
    "SEQ-PLAN-range1",
    "SEQ-PLAN-test_compare_state_candidate_advance",
    "SEQ-PLAN-test_compare_state_matched_advance",
    "SEQ-PLAN-test_parent_compare_state_advance_success",
    "SEQ-PLAN-test_parent_compare_state_advance_at_last_index",
    "SEQ-PLAN-test_parent_compare_state_advance_with_nested_pattern",
    "SEQ-PLAN-test_parent_compare_state_cursor_conversion",
    "SEQ-PLAN-test_state_advance_error_propagation",
)
def test_the_tests_of_the_plan_hold_by_name() -> None:
    play(
        "example_basic_sequence_search",
        "example_single_atom_error",
        "example_helper_methods",
        "example_token_pattern_element",
        "example_hierarchical_parent_search",
        "example_hierarchical_ancestor_search",
        "example_incomplete_postfix",
        "example_incomplete_prefix",
        "example_pattern_location_access",
        "example_pattern_width",
        "example_expect_complete",
        "find_ancestor1_single_token",
        "find_ancestor1_b_c",
        "find_ancestor1_a_bc",
        "find_ancestor1_ab_c",
        "find_ancestor1_a_bc_d",
        "find_ancestor1_a_b_c",
        "find_ancestor1_a_b_c_c",
        "find_ancestor1_long_pattern",
        "find_ancestor2",
        "find_ancestor3",
        "find_consecutive1",
        "find_sequence",
        "find_pattern1",
        "find_parent1",
        "prefix1",
        "postfix1",
        "range1",
        "test_compare_state_candidate_advance",
        "test_compare_state_matched_advance",
        "test_parent_compare_state_advance_success",
        "test_parent_compare_state_advance_at_last_index",
        "test_parent_compare_state_advance_with_nested_pattern",
        "test_parent_compare_state_cursor_conversion",
        "test_state_advance_error_propagation",
    )


@pytest.mark.shows(
    "SEQ-LATER-prefix1_heldld",
    "SEQ-LATER-search_pattern1_by_z",
    "SEQ-LATER-search_pattern2_a_b_y",
    "SEQ-LATER-search_infix1_a_b",
    "SEQ-LATER-search_infix2_a_b_c_d",
    "SEQ-LATER-search_complete_token_a_bc",
    "SEQ-LATER-entire_root_cursor_position",
    "SEQ-LATER-no_match_entire_root_cursor_position",
    "SEQ-LATER-cdefghi_trace_cache",
    "SEQ-LATER-xyyxy_xy",
    "SEQ-LATER-xyyxy_exact",
    "SEQ-LATER-xyyxy_y",
)
def test_the_later_tests_of_search_hold_by_name() -> None:
    play(
        "later:prefix1_heldld",
        "later:search_pattern1_by_z",
        "later:search_pattern2_a_b_y",
        "later:search_infix1_a_b",
        "later:search_infix2_a_b_c_d",
        "later:search_complete_token_a_bc",
        "later:entire_root_cursor_position",
        "later:no_match_entire_root_cursor_position",
        "later:cdefghi_trace_cache",
        "later:xyyxy_xy",
        "later:xyyxy_exact",
        "later:xyyxy_y",
    )


@pytest.mark.shows(
    "SEQ-TRACE-test_build_trace_cache1",
    "SEQ-TRACE-test_build_trace_cache2",
    "SEQ-TRACE-move_root_index",
    "SEQ-TRACE-move_leaf",
    "SEQ-TRACE-path_advance_at_end",
    "SEQ-TRACE-pattern_strings_multiple_patterns",
    "SEQ-TRACE-pattern_strings_complex_decomposition",
    "SEQ-TRACE-test_to_petgraph",
)
def test_the_tests_of_paths_and_traces_hold_by_name() -> None:
    play(
        "trace:test_build_trace_cache1",
        "trace:test_build_trace_cache2",
        "trace:move_root_index",
        "trace:move_leaf",
        "trace:path_advance_at_end",
        "trace:pattern_strings_multiple_patterns",
        "trace:pattern_strings_complex_decomposition",
        "trace:test_to_petgraph",
    )


@pytest.mark.shows(
    "SEQ-INS-insert_pattern1",
    "SEQ-INS-insert_pattern2",
    "SEQ-INS-insert_infix1",
    "SEQ-INS-insert_infix2",
    "SEQ-INS-insert_prefix1",
    "SEQ-INS-insert_postfix1",
    "SEQ-INS-insert_postfix_bc_of_abc",
    "SEQ-INS-cursor_position_after_postfix_match",
    "SEQ-INS-insert_no_overlap_path",
    "SEQ-INS-insert_finds_existing_overlap_pattern",
    "SEQ-INS-cursor_tracks_overlap_consumption",
    "SEQ-INS-reject_init_interval_with_zero_end_bound",
    "SEQ-INS-reject_init_interval_with_missing_root_entry",
    "SEQ-INS-reject_empty_pattern_search",
    "SEQ-INS-reject_empty_pattern_insert",
)
def test_the_tests_of_insertion_hold_by_name() -> None:
    play(
        "insert_pattern1",
        "insert_pattern2",
        "insert_infix1",
        "insert_infix2",
        "insert_prefix1",
        "insert_postfix1",
        "insert_postfix_bc_of_abc",
        "cursor_position_after_postfix_match",
        "insert_no_overlap_path",
        "insert_finds_existing_overlap_pattern",
        "cursor_tracks_overlap_consumption",
        "reject_init_interval_with_zero_end_bound",
        "reject_init_interval_with_missing_root_entry",
        "reject_empty_pattern_search",
        "reject_empty_pattern_insert",
    )


@pytest.mark.shows(
    "SEQ-SPLIT-interval_graph1",
    "SEQ-SPLIT-interval_graph2",
)
def test_the_tests_of_splitting_hold_by_name() -> None:
    play(
        "interval_graph1",
        "interval_graph2",
    )


@pytest.mark.shows(
    "SEQ-READ-sync_read_text1",
    "SEQ-READ-sync_read_text2.first",
    "SEQ-READ-read_sequence2",
    "SEQ-READ-read_infix1",
    "SEQ-READ-read_repeating_known1",
    "SEQ-READ-read_multiple_overlaps1.3",
    "SEQ-READ-read_multiple_overlaps1.4",
    "SEQ-READ-read_multiple_overlaps1.5",
    "SEQ-READ-read_multiple_overlaps1",
    "SEQ-READ-repetition_abcxyzabc",
    "SEQ-READ-repetition_abcabc",
    "SEQ-READ-repetition_ab_separated",
    "SEQ-READ-repetition_hello_separated",
    "SEQ-READ-linear_abc",
    "SEQ-READ-complex_abcabababcaba",
)
def test_the_tests_of_reading_hold_by_name() -> None:
    play(
        "sync_read_text1",
        "sync_read_text2#first",
        "read_sequence2",
        "read_infix1",
        "read_repeating_known1",
        "read_multiple_overlaps1#3",
        "read_multiple_overlaps1#4",
        "read_multiple_overlaps1#5",
        "read_multiple_overlaps1",
        "repetition_abcxyzabc",
        "repetition_abcabc",
        "repetition_ab_separated",
        "repetition_hello_separated",
        "linear_abc",
        "complex_abcabababcaba",
    )


@pytest.mark.shows("SEQ-SUCCESS-35", "SEQ-SUCCESS-CLEAR")
def test_the_plan_holds_to_the_letter_with_the_queue_kept() -> None:
    """Graphs by hand are not closed, so this is how they are searched unless asked otherwise."""
    entries = json.loads((CASES / "search.json").read_text(encoding="utf-8"))
    played = 0
    for entry in entries:
        if (
            entry["since"] in ("plan", "2025-12", "2026-01", "2026-02")
            and entry["method"] != "unit"
        ):
            sequence.play_recorded(entry, Clear.CLOSED)
            played += 1
    assert played >= 33
