"""Focused first reads: what is open, what is folded, and when nothing is."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from holdfast.file_focus import focuser, outliner, units_of
from holdfast.index.facts.extract import extract
from holdfast.reading import config, focus
from holdfast.reading.errors import BadSettings
from holdfast.reading.events import FOLDED, Piece, Pieced
from holdfast.reading.focus import Presets, Signals, Unit
from holdfast.reading.history.conversation import conversation_of
from holdfast.reading.history.signals import Conversation, named_lines
from holdfast.reading.history.steps import Called, Returned, Said
from holdfast.reading.hosts.claude_code import ClaudeCodeLog
from holdfast.reading.hosts.pi import PiLog
from holdfast.reading.hosts.sidecar import Sidecar
from holdfast.reading.paths import Request
from holdfast.reading.view import View
from tests.reading.desk import Desk
from tests.scale import seeds

ROWS = ["import os", "", *(f"line {n}" for n in range(3, 401))]
UNITS = [
    Unit(3, 10, "small_one", "def small_one()", 3),
    Unit(11, 40, "quiet_one", "def quiet_one()", 12),
    Unit(41, 80, "named_one", "def named_one()", 41),
    Unit(81, 300, "long_one", "def long_one()", 83),
    Unit(301, 400, "other_one", "def other_one()", 301),
]


def opened(signals: Signals) -> set[int]:
    found = focus.focus(ROWS, UNITS, signals)
    assert found is not None
    return {n for p in found.parts if p.title is None for n in range(p.first, p.last + 1)}


@pytest.mark.shows("READ-FOCUS")
def test_what_something_points_at_is_open_and_the_rest_is_folded() -> None:
    nothing = opened(Signals())
    assert nothing == {1, 2, *range(3, 11)}, "what is outside of units, and small ones"
    named = opened(Signals(frozenset({"named_one"})))
    assert named - nothing == set(range(41, 81))
    hit = opened(Signals(lines=frozenset({20})))
    assert hit - nothing == set(range(11, 41)), "the whole unit of a line that was named"


@pytest.mark.shows("READ-FOCUS")
def test_a_blank_line_that_something_points_at_is_open() -> None:
    """The fold above it took it in. Found by a campaign."""
    rows = ["import os", *(f"line {n}" for n in range(2, 101)), "", "", ""]
    units = [Unit(2, 100, "quiet_one", "def quiet_one()", 2)]
    found = focus.focus(rows, units, Signals(lines=frozenset({102})))
    assert found is not None
    assert [(part.first, part.last) for part in found.folds] == [(2, 101)]


@pytest.mark.shows("READ-FOCUS")
def test_a_long_unit_is_folded_inside() -> None:
    nothing = opened(Signals())
    named = opened(Signals(frozenset({"long_one"})))
    assert named - nothing == set(range(81, 83 + focus.HEAD)), "its first lines"
    hit = opened(Signals(lines=frozenset({200})))
    assert {188, 200, 212} <= hit
    assert 150 not in hit
    assert 250 not in hit


@pytest.mark.shows("READ-FOCUS")
@pytest.mark.parametrize("seed", seeds(40))
def test_the_parts_cover_the_file_and_the_text_says_them(seed: int) -> None:
    """The twin reads the answer back: every line is there as it is, or in a fold."""
    rng = random.Random(seed)
    rows = [rng.choice(["", f"  word {n}", f"[{n}-{n + 3}:]"]) for n in range(rng.randint(1, 300))]
    units = []
    for _ in range(rng.randrange(12)):
        first = rng.randint(1, len(rows))
        units.append(Unit(first, rng.randint(first, first + 120), "abcd", f"def {first}()", first))
    lines = frozenset(rng.randint(1, len(rows)) for _ in range(rng.randrange(4)))
    found = focus.focus(rows, units, Signals(lines=lines))
    if found is None:
        return
    at = 0
    for part in found.parts:
        assert part.first == at + 1
        at = part.last
    assert at == len(rows)
    told = focus.to_text(rows, found, "again").split("\n")[1:]
    back: list[str | None] = []
    for part in found.parts:
        head = told.pop(0)
        count = part.last - part.first + 1
        if part.title is None:
            back += told[:count]
            del told[:count]
        else:
            assert f"{part.first}-{part.last} folded: {part.title}" in head
            back += [None] * count
    assert all(one in (None, row) for one, row in zip(back, rows, strict=True)), f"seed {seed}"
    assert not told
    assert all(back[n - 1] is not None for n in lines), "what was pointed at is open"


@pytest.mark.shows("READ-FOCUS")
def test_documents_reviews_and_files_in_full_stay_whole() -> None:
    assert focus.stays_whole("/w/docs/PLAN.md")
    assert not focus.stays_whole("/w/a.go")
    for task in (
        "can you review the change in this branch",
        "Review these files",
        "<command-name>/github-pr-review</command-name>",
        "Read the following files and return their full contents.",
    ):
        assert focus.wants_all(task), task
    for task in ("fix the review loop", "add logging to the background review process"):
        assert not focus.wants_all(task), task
    assert focus.focus(ROWS, UNITS, Signals(whole=True)) is None
    assert focus.focus(ROWS, [], Signals()) is None


@pytest.mark.shows("READ-FOCUS")
def test_what_was_said_searched_tested_and_edited_counts() -> None:
    conversation = Conversation()
    conversation.take(Said("user", "please mend parse_config"))
    conversation.take(Said("assistant", "I look at load_file"))
    conversation.take(Called("1", "Grep", {"pattern": "open_door"}))
    grep = Returned("1", "Grep", {}, "src/a.py:12: x\nother/a.py:99: y\na.py:14:z", cwd="/w")
    conversation.take(grep)
    diff = "+++ b/src/a.py\n@@ -1,9 +30,9 @@ def f\n context\n+new\n"
    conversation.take(Returned("2", "Bash", {"command": "git diff"}, diff, cwd="/w"))
    conversation.take(
        Returned("3", "Bash", {"command": "make"}, "--- FAIL: TestDoor (0.1s)", cwd="/w")
    )
    given = {"file_path": "/w/src/a.py", "old_string": "x", "new_string": "row 40\nrow 41"}
    conversation.take(Returned("4", "Edit", given, "ok", cwd="/w"))
    found = conversation.signals("/w/src/a.py", [f"row {n}" for n in range(1, 60)])
    assert {"parse_config", "load_file", "open_door", "TestDoor"} <= found.words
    assert found.lines == {12, 14, 33, 34, 35, 40, 41}
    assert list(named_lines(grep, "/w/other/a.py")) == [99, 14]


@pytest.mark.shows("READ-FOCUS")
def test_units_are_symbols_with_their_comments_and_members_of_classes() -> None:
    source = (
        "import os\n\n\n# about one\n# it\ndef one():\n    return 1\n\n\n"
        "class Two:\n    x = 1\n\n    def three(self):\n        return 3\n"
    )
    rows = source.split("\n")
    found = units_of(extract("a.py", source.encode()), rows)
    assert [(u.first, u.last, u.name) for u in found if u.name in ("one", "three")] == [
        (4, 7, "one"),
        (13, 14, "three"),
    ]
    assert units_of(extract("a.unknown", source.encode()), rows) == []


@pytest.mark.shows("READ-FOCUS-TRUST")
def test_folded_lines_are_not_held() -> None:
    view = View()
    data = b"one\ntwo\nthree\nfour\n"
    view.apply(Pieced("/a", (Piece(1, 2), Piece(3, 2, FOLDED)), "d", True), 0, {"d": data}.get)
    assert view.live(0, None) == {1: "one", 2: "two"}
    assert view.named == (1, 4)


@pytest.mark.shows("READ-FOCUS-TRUST")
def test_a_record_with_folds_is_kept_with_what_it_saved(tmp_path: Path) -> None:
    side = Sidecar(tmp_path / "side.jsonl")
    event = Pieced("/a", (Piece(1, 2), Piece(3, 2, FOLDED)), "d", True)
    side.record_short("c", event, "text", "focused", 120)
    side.catch_up()
    assert side.short["c"].event == event
    assert (side.short["c"].rule, side.short["c"].saved_bytes) == ("focused", 120)
    assert [call for call, _ in side.folded("/a")] == ["c"]
    assert side.folded("/b") == []


@pytest.mark.shows("READ-FOCUS", "READ-FOCUS-TRUST")
def test_our_own_read_folds_when_asked_and_claims_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    body = "".join(f"def f{n}():\n" + "    pass\n" * 20 for n in range(40))
    desk.write("a.py", body)
    fold = focuser(Presets(300, 300), lambda path, rows: Signals(), outliner())
    session = desk.new_session("one", on_disk=True)
    first = desk.reader.read(Request("a.py", focus=True), session, focuser=fold)
    assert "folded: def f7()" in first.text
    assert first.meta is None
    ranged = desk.reader.read(Request("a.py", 1, 400, focus=True), session, focuser=fold)
    assert "folded" not in ranged.text
    again = desk.reader.read(Request("a.py", focus=True), session, focuser=fold)
    assert again.text.startswith("def f0():"), "a second whole read prints everything"


@pytest.mark.shows("READ-FOCUS")
def test_the_setting_is_off_for_all_for_some_or_on() -> None:
    assert config.parse({}).focus_of("pi") is None
    assert config.parse({"focus": True}).focus_of("pi") == Presets()
    some = config.parse({"focus": {"pi": {"main_lines": 500}, "opencode": True}})
    assert some.focus_of("pi") == Presets(500)
    assert some.focus_of("opencode") == Presets()
    assert some.focus_of("claude-code") is None
    for wrong in ("yes", {"pi": 3}, {"pi": {"lines": 3}}, {"pi": {"main_lines": 0}}):
        with pytest.raises(BadSettings):
            config.parse({"focus": wrong})


@pytest.mark.shows("READ-FOCUS")
def test_what_was_said_is_read_from_the_logs_of_claude_code_and_pi(tmp_path: Path) -> None:
    text = [{"type": "text", "text": "look at special_one"}]
    line = {"type": "user", "uuid": "u", "message": {"role": "user", "content": text}}
    claude = tmp_path / "c.jsonl"
    claude.write_text(json.dumps(line))
    assert "special_one" in conversation_of(ClaudeCodeLog(claude)).words
    session = {"type": "session", "version": 3, "id": "s", "cwd": "/w"}
    message = {"type": "message", "message": {"role": "user", "content": text}}
    pi = tmp_path / "p.jsonl"
    pi.write_text(f"{json.dumps(session)}\n{json.dumps(message)}\n")
    assert "special_one" in conversation_of(PiLog(str(pi))).words
    assert conversation_of(PiLog(str(tmp_path / "gone"))).words == set()
    assert conversation_of(None).words == set()
