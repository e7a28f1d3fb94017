"""The decisive test: nothing we say is untrue of the text the model can see.

Random sessions on every host: files change, contexts are compacted, edited, rewound, forked and
resumed, objects vanish; the twin is the context window itself. A failure names host and seed.
"""

import os
from pathlib import Path

import pytest

from holdfast.reading.hosts.claude_code import ClaudeCodeLog
from holdfast.reading.objects import Objects
from holdfast.reading.paths import Place, Request
from holdfast.reading.reader import Reader
from holdfast.reading.result import Answer
from holdfast.reading.scope import Lines
from holdfast.replay import player
from holdfast.replay.writers import ClaudeWriter
from tests.reading import window
from tests.reading.desk import Desk
from tests.reading.searches import search, search_result
from tests.reading.simulation import DRIVERS, Simulation
from tests.scale import FIRST_SEED, QUICK, SOAKING, size

SEEDS = 1_000 if SOAKING else 1 if QUICK else 10
SESSIONS_PER_SEED = size(10, 3)
STEPS = size(200, 100)
"""Together 20,000 steps on every host, and two millions under soak."""


@pytest.mark.shows("READ-PROMISE", "READ-TWIN", "READ-FOOT-02", "READ-FOOT-04", "READ-SC-7")
@pytest.mark.parametrize(
    ("host", "seed"),
    [
        (host, FIRST_SEED + seed)
        for host in DRIVERS
        # The owned pi session is the same adapter from the writing side: fewer will do.
        for seed in range(max(1, SEEDS // 5) if host == "pi-owned" else SEEDS)
    ],
)
def test_every_claim_is_true_of_the_text_the_model_can_see(
    host: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Durability is tested elsewhere; here it would only take time.
    monkeypatch.setattr(os, "fsync", lambda _: None)
    for session in range(SESSIONS_PER_SEED):
        number = seed * SESSIONS_PER_SEED + session
        simulation = Simulation(tmp_path / str(session), host, number)
        for step in range(STEPS):
            try:
                simulation.step()
            except AssertionError as error:
                last = ", ".join(simulation.steps[-8:])
                raise AssertionError(
                    f"{host} seed {number} step {step} ({last}): {error}"
                ) from error
        assert simulation.modes.get("full"), "something was read"


@pytest.mark.long
@pytest.mark.parametrize("host", list(DRIVERS))
def test_the_simulation_reaches_every_mode(
    host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    modes: set[str] = set()
    maps = 0
    for number in range(8):
        simulation = Simulation(tmp_path / str(number), host, number)
        for _ in range(STEPS):
            simulation.step()
        modes.update(simulation.modes)
        maps += simulation.maps
    assert maps, "a context map listed something"
    assert modes >= {"full", "unchanged", "unchanged_range", "diff", "baseline_fallback"}
    # Only these count the lines of an answer one by one; pi keeps to its contract.
    assert ("unseen" in modes) == (host in ("claude-code", "codex"))


HEAD = "[holdfast: lines 1-4, only what you do not have; bypass_cache=true prints all]"
SHOWN = window.Shown("/f", "a\nb\nc", 1, ("a", "b", "c"))


@pytest.mark.parametrize(
    ("visible", "text", "current", "mode"),
    [
        ([], "[readcache: unchanged, 3 lines]", "a\nb\nc", "unchanged"),
        ([SHOWN], "[readcache: unchanged, 3 lines]", "a\nb\nX", "unchanged"),
        ([SHOWN], "[readcache: unchanged, 4 lines]", "a\nb\nc", "unchanged"),
        ([SHOWN], "[readcache: unchanged in lines 2-4 of 4]", "a\nb\nc\nd", "unchanged_range"),
        (
            [window.Shown("/f", "a\nb\nc", 1, ("a", "b"))],
            "[readcache: unchanged in lines 2-3 of 3]",
            "a\nb\nc",
            "unchanged_range",
        ),
        (
            [SHOWN],
            "[readcache: 1 lines changed of 3]\n--- a/f\t\n+++ b/f\t\n@@ -1,1 +1,1 @@\n-a\n+A",
            "B\nb\nc",
            "diff",
        ),
        ([SHOWN], "a\nb\nX", "a\nb\nc", "full"),
        ([], f"{HEAD}\n[1-2 as you have them]\n[3-4:]\nc\nd", "a\nb\nc\nd", "full"),
        ([SHOWN], f"{HEAD}\n[1-2 as you have them]\n[3-4:]\nc\nX", "a\nb\nc\nd", "full"),
        ([SHOWN], f"{HEAD}\n[1-2 as you have them]\n[4:]\nd", "a\nb\nc\nd", "full"),
        ([SHOWN], f"{HEAD}\n[1-2 as you have them]\n[3:]\nc", "a\nb\nc\nd", "full"),
        ([SHOWN], f"{HEAD}\n[1-2 as you have them]\n[3-4:]\nc\nd", "a\nB\nc\nd", "full"),
    ],
)
def test_the_judge_finds_what_is_untrue(
    visible: list[window.Fact], text: str, current: str, mode: str
) -> None:
    with pytest.raises(window.Untrue):
        window.judge(visible, "/f", text, current, 1, mode)


def test_the_judge_takes_what_is_named_and_printed_truly() -> None:
    text = f"{HEAD}\n[1-2 as you have them]\n[3-4:]\nc\nd"
    fact = window.judge([SHOWN], "/f", text, "a\nb\nc\nd", 3, "full")
    assert fact is not None
    now = "a\nb\nc\nd"
    assert window.knowledge([SHOWN, fact], "/f").known[now] == {1, 2, 3, 4}
    assert window.knowledge([fact], "/f").known[now] == {3, 4}, "without what it refers to"


def test_a_patch_that_adds_the_last_newline_fits_only_a_text_without_one() -> None:
    """The twin took such a patch for one of the text that it makes: an answer that rested on the
    text before then seemed to rest on another answer, and counted as untrue once that was gone
    (native, seed 74)."""
    patch = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b"
    assert window.apply_patch("a\nb", patch) == "a\nb\n"
    assert window.apply_patch("a\nb\n", patch) is None


class Overlap:
    """A conversation of Claude Code with our own read, on a file of 200 rows."""

    def __init__(self, root: Path) -> None:
        self.file = root / "a.txt"
        self.rows = [f"row {n} of a file with rows of some length" for n in range(1, 201)]
        self.writer = ClaudeWriter(root)
        self.log = player.log_of("claude-code", self.writer)
        self.reader = Reader(
            Place(str(root), str(root)),
            Objects(root / "objects"),
            now_ms=lambda: 1,
            monotonic=lambda: 0.0,
        )
        self.at = 0.0

    def read(self, first: int, last: int, *, again: bool = False) -> Answer:
        self.file.write_text("\n".join(self.rows) + "\n")
        self.at += 1
        call = search(self.writer, self.at)
        self.log.call = call  # type: ignore[attr-defined]
        asked = Request(str(self.file), first, last - first + 1, bypass_cache=again)
        answer = self.reader.only_unseen().read(asked, self.log)
        self.log.record(answer, call)
        search_result(self.writer, call, answer.text, self.at)
        return answer


@pytest.mark.shows("READ-UNSEEN")
def test_a_range_that_overlaps_what_was_shown_brings_only_the_rest(tmp_path: Path) -> None:
    """The whole range came again, however much of it had just been shown."""
    talk = Overlap(tmp_path)
    talk.read(1, 100)
    answer = talk.read(50, 130)
    head, named, first, *rest = answer.text.split("\n")
    assert head.startswith("[holdfast: lines 50-130, only what you do not have")
    assert (named, first) == ("[50-100 as you have them]", "[101-130:]")
    assert rest[:30] == talk.rows[100:130]
    assert rest[30:] == ["", "[71 more lines in file. Use offset=131 to continue.]"]
    assert answer.meta is not None
    assert (answer.meta.mode, answer.meta.scope) == ("full", Lines(101, 130))
    assert talk.read(50, 130).mode == "unchanged_range", "the lines that came count from then on"
    fresh = talk.read(50, 130, again=True)
    assert fresh.text.startswith("\n".join(talk.rows[49:130]))


@pytest.mark.shows("READ-UNSEEN")
def test_a_line_that_came_between_is_not_named_as_it_was_before(tmp_path: Path) -> None:
    """Only the longest run of such an answer counted: when a line of another one changed back, it
    was named as held, though it was last shown otherwise."""
    talk = Overlap(tmp_path)
    talk.read(1, 100)
    before = talk.rows[59]
    talk.rows[59] = "changed by someone else"
    assert "[60:]\nchanged by someone else" in talk.read(40, 130).text
    talk.rows[59] = before
    again = talk.read(41, 150).text
    assert f"[60:]\n{before}\n" in again
    assert "[61-130 as you have them]\n[131-150:]" in again


@pytest.mark.shows("READ-UNSEEN")
def test_lines_that_moved_are_sent_again(tmp_path: Path) -> None:
    """What an answer says of other numbers is not kept, so it says nothing of them."""
    talk = Overlap(tmp_path)
    talk.read(1, 100)
    talk.rows[49:49] = ["one row more"]
    text = talk.read(30, 130).text
    assert "there numbered" not in text
    assert "[30-49 as you have them]\n[50-130:]\none row more\n" in text


@pytest.mark.shows("READ-UNSEEN")
def test_lines_are_sent_when_an_answer_with_other_text_is_not_in_the_log_yet(
    tmp_path: Path,
) -> None:
    """Two reads of one message, and the file changes back between them."""
    talk = Overlap(tmp_path)
    talk.read(1, 100)
    before = list(talk.rows)
    first, second = (
        talk.writer.call(
            "mcp__holdfast__read", {"path": str(talk.file), "offset": at, "limit": 81}, talk.at + at
        )
        for at in (50, 55)
    )
    for call, at, row in ((first, 50, "changed, and of some length too"), (second, 55, before[59])):
        talk.rows[59] = row
        talk.file.write_text("\n".join(talk.rows) + "\n")
        assert isinstance(talk.log, ClaudeCodeLog)
        talk.log.call = call
        answer = talk.reader.only_unseen().read(Request(str(talk.file), at, 81), talk.log)
        talk.log.record(answer, call)
        assert row in answer.text


@pytest.mark.shows("READ-UNSEEN")
def test_a_session_that_does_not_count_single_lines_gets_the_range(desk: Desk) -> None:
    rows = [f"row {number} of a file with rows of some length" for number in range(1, 201)]
    desk.write("a.txt", "\n".join(rows) + "\n")
    desk.read("a.txt", offset=1, limit=100)
    plain = desk.reader.only_unseen().read(Request("a.txt", 50, 81), desk.session)
    assert plain.text.startswith(rows[49])
