"""Which scenario is driven in which real program, and where none is, why.

`python -m tests.agents.matrix --write` brings the table in docs/agents.md up to date.
"""

from __future__ import annotations

import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "agents.md"
START, END = "<!-- scenarios -->", "<!-- end of scenarios -->"

AGENTS = {
    "claude": "Claude Code",
    "codex": "Codex",
    "opencode": "OpenCode",
    "pi": "pi",
    "gemini": "Gemini CLI",
    "qwen": "Qwen Code",
}

UNTOUCHED = (
    "its reads are left as they are, and help for a failed edit speaks only of the file: nothing "
    "is said that a conversation could make false"
)
WINDOW = "only in its window; what is held is taken from each request, whatever led to it"
NONE = "it has none"
ONE_DECISION = "not driven: the decision is the same, and tests/edits judges it"
SERVICE = "the service decides when, not a script; tests with simulated requests cover it"

SIX_CLAUDE = "test_claude.py::test_the_six_checks_hold_in_one_conversation"
SIX_CODEX = "test_codex.py::test_the_six_checks_hold_in_one_conversation"
SIX_OPENCODE = "test_opencode.py::test_the_six_checks"
SIX_PI = "test_pi_tools.py::test_the_six_checks"
GEMINI = "test_gemini.py::test_a_failed_edit_is_helped_and_reads_are_untouched"
QWEN = "test_gemini.py::test_qwen_is_helped_with_failed_edits_and_its_reads_are_its_own"
GOES_ON = "test_other_sessions.py::test_the_words_of_a_conversation_that_goes_on_are_true"
FORK = "test_other_sessions.py::test_a_fork_holds_what_its_request_shows"
CLAUDE_MOVES = "test_claude_sessions.py::test_resume_fork_and_rewind_hold_what_their_request_shows"
CODEX_MOVES = (
    "test_codex_sessions.py::test_after_a_fork_a_rewind_and_a_compaction_every_word_is_true"
)
CODEX_RESUMED = (
    "test_codex_sessions.py::test_a_resumed_conversation_holds_what_it_read_and_another_nothing"
)
TWO = "test_other_sessions.py::test_two_of_them_in_one_tree_hold_each_what_they_were_shown"
NESTED = "test_other_sessions.py::test_one_in_the_shell_of_another_starts_with_nothing"
LOST = "test_other_sessions.py::test_a_host_that_is_lost_in_mid_session_leaves_its_own_results"
LOST_CODEX = (
    "test_codex_sessions.py::test_a_host_that_is_lost_in_mid_session_leaves_its_own_results"
)
LOST_CLAUDE = (
    "test_claude_sessions.py::test_a_host_that_is_lost_in_mid_session_costs_nothing_but_the_saving"
)
BROKEN = "test_broken_host.py::test_with_a_host_that_does_not_answer_every_result_is_the_agents_own"
BROKEN_CLAUDE = "test_claude.py::test_without_a_working_host_every_result_is_the_agents_own"
NO_HOST = "test_gemini.py::test_without_a_host_their_own_errors_stay"
INSTALLED = "test_install.py::test_each_client_alone_leaves_foreign_settings_to_the_byte"

Row = tuple[str, str, str, str, str, str]

MATRIX: dict[str, Row] = {
    "read twice": (SIX_CLAUDE, SIX_CODEX, SIX_OPENCODE, SIX_PI, GEMINI, QWEN),
    "changed between": (SIX_CLAUDE, SIX_CODEX, SIX_OPENCODE, SIX_PI, UNTOUCHED, UNTOUCHED),
    "range after whole, whole after range": (
        SIX_CLAUDE, SIX_CODEX, GOES_ON, GOES_ON, UNTOUCHED, UNTOUCHED,
    ),
    "shell reads": (SIX_CLAUDE, SIX_CODEX, SIX_OPENCODE, SIX_PI, UNTOUCHED, UNTOUCHED),
    "own edit, then read": (SIX_CLAUDE, SIX_CODEX, SIX_OPENCODE, SIX_PI, UNTOUCHED, UNTOUCHED),
    "failed edits": (
        SIX_CLAUDE, SIX_CODEX, SIX_OPENCODE, SIX_PI, GEMINI, QWEN,
    ),
    "old text that is not unique": (
        "test_claude.py::"
        "test_an_edit_whose_old_text_is_not_unique_is_told_what_tells_the_places_apart",
        "test_codex.py::test_a_patch_that_fits_in_several_places_is_codexs_own",
        ONE_DECISION,
        ONE_DECISION,
        ONE_DECISION,
        ONE_DECISION,
    ),
    "lines that our search printed": (
        "test_search_lines.py::test_claude_reads_only_what_our_tools_did_not_print",
        "test_search_lines.py::test_codex_holds_what_our_tools_and_commands_printed",
        "test_search_lines.py::test_opencode_reads_only_what_our_tools_did_not_print",
        "it has no MCP, so none of our search tools",
        UNTOUCHED,
        UNTOUCHED,
    ),
    "parallel calls": (
        "test_claude_sessions.py::test_parallel_calls_are_each_true_of_the_request",
        "test_codex_sessions.py::test_parallel_calls_are_each_true_of_the_request",
        GOES_ON,
        GOES_ON,
        UNTOUCHED,
        UNTOUCHED,
    ),
    "two at once in one tree": (
        "test_claude_sessions.py::test_two_agents_in_one_tree_hold_each_what_they_were_shown",
        "test_codex_sessions.py::test_two_of_them_in_one_tree_hold_each_what_they_were_shown",
        TWO,
        TWO,
        UNTOUCHED,
        UNTOUCHED,
    ),
    "one in the shell of another": (
        "test_claude_sessions.py::test_an_agent_in_another_ones_shell_starts_with_nothing",
        "test_codex_sessions.py::test_one_in_the_shell_of_another_starts_with_nothing",
        NESTED,
        NESTED,
        UNTOUCHED,
        UNTOUCHED,
    ),
    "subagents": (
        "test_claude_sessions.py::test_a_subagent_holds_what_it_was_shown_itself",
        "test_codex_sessions.py::test_a_subagent_holds_what_it_was_shown_itself",
        "test_other_sessions.py::test_a_subagent_holds_what_it_was_shown_itself",
        NONE,
        UNTOUCHED,
        UNTOUCHED,
    ),
    "resume": (CLAUDE_MOVES, CODEX_RESUMED, GOES_ON, GOES_ON, UNTOUCHED, UNTOUCHED),
    "fork": (CLAUDE_MOVES, CODEX_MOVES, FORK, FORK, UNTOUCHED, UNTOUCHED),
    "rewind": (CLAUDE_MOVES, CODEX_MOVES, WINDOW, WINDOW, UNTOUCHED, UNTOUCHED),
    "clear, or another conversation": (
        "test_claude_sessions.py::test_a_cleared_conversation_holds_nothing",
        CODEX_RESUMED,
        GOES_ON,
        GOES_ON,
        UNTOUCHED,
        UNTOUCHED,
    ),
    "compaction by hand": (
        "test_claude.py::test_after_a_compaction_the_model_is_told_what_it_held",
        CODEX_MOVES,
        WINDOW,
        "test_pi.py::test_after_a_compaction_pi_gets_the_text_again",
        UNTOUCHED,
        UNTOUCHED,
    ),
    "compaction by overflow": (
        "test_claude_sessions.py::test_a_compaction_by_overflow_is_told_and_ends_trust",
        "test_codex.py::test_after_a_compaction_codex_is_told_what_it_held",
        "test_opencode.py::test_after_a_compaction_the_text_is_sent_again",
        "test_other_sessions.py::test_an_unchanged_that_a_compaction_kept_gets_its_text_back",
        UNTOUCHED,
        UNTOUCHED,
    ),
    "pruning": (
        SERVICE,
        NONE,
        "test_other_sessions.py::"
        "test_what_was_pruned_is_not_held_and_an_answer_that_referred_to_it_gets_its_text",
        NONE,
        UNTOUCHED,
        UNTOUCHED,
    ),
    "host killed, or none": (LOST_CLAUDE, LOST_CODEX, LOST, LOST, NO_HOST, NO_HOST),
    "host frozen": (LOST_CLAUDE, LOST_CODEX, LOST, LOST, BROKEN, BROKEN),
    "host of another version": (BROKEN_CLAUDE, BROKEN, BROKEN, BROKEN, BROKEN, BROKEN),
    "hooks that time out": (LOST_CLAUDE, BROKEN, BROKEN, BROKEN, BROKEN, BROKEN),
    "focused first reads": (
        "test_claude.py::test_a_long_file_is_folded_once_and_then_printed",
        "left as they are: it reads by the shell, where no call asks for a whole file",
        "test_other_sessions.py::test_a_long_file_is_folded_once_and_then_printed",
        "test_other_sessions.py::test_a_long_file_is_folded_once_and_then_printed",
        UNTOUCHED,
        UNTOUCHED,
    ),
    "install and uninstall to the byte": (INSTALLED,) * 6,
}  # fmt: skip


def is_test(cell: str) -> bool:
    return cell.startswith("test_")


def table() -> str:
    """The table, and below it the reasons where a program is not driven."""
    reasons: dict[str, int] = {}
    rows = [f"| | {' | '.join(AGENTS.values())} |", f"|---|{'---|' * len(AGENTS)}"]
    for scenario, cells in MATRIX.items():
        shown = []
        for cell in cells:
            number = 0 if is_test(cell) else reasons.setdefault(cell, len(reasons) + 1)
            shown.append(f"- ({number})" if number else "tested")
        rows.append(f"| {scenario} | {' | '.join(shown)} |")
    notes = [f"({number}) {reason}." for reason, number in reasons.items()]
    return "\n".join([*rows, "", " ".join(notes)])


def with_table(page: str) -> str:
    """The page with the table of now."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{table()}\n{END}{after}"


if __name__ == "__main__":
    text = with_table(PAGE.read_text())
    if "--write" in sys.argv:
        PAGE.write_text(text)
    sys.stdout.write(table() + "\n")
