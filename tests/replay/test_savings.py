"""`holdfast savings`: a user's own sessions, found, played again and added up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.cli.main import main
from holdfast.file_focus import outliner
from holdfast.home import Home
from holdfast.reading.events import FOLDED, Piece, Pieced
from holdfast.reading.focus import Presets, Unit
from holdfast.reading.history.readers import contexts_at
from holdfast.reading.history.steps import Called, Returned
from holdfast.reading.hosts.detect import sidecar_path
from holdfast.reading.hosts.sidecar import Sidecar
from holdfast.replay import bound, player
from holdfast.replay.find import session_files
from holdfast.replay.focus_savings import Tally, mentioned_lines, play, unique_rows
from holdfast.replay.own_sessions import own_savings
from holdfast.replay.trace import trace_of
from tests.replay.home import LONG, write_session


@pytest.mark.shows("SAVINGS-OWN")
def test_a_session_as_a_trace_saves_what_its_context_holds(tmp_path: Path) -> None:
    (context,) = contexts_at(write_session(tmp_path))
    trace = trace_of(context)
    played = player.play(trace)
    reads = [event for event in trace["ev"] if event["k"] == "r"]
    assert played.read_bytes == sum(event["rb"] for event in reads)
    assert played.answers["unchanged"] == 2
    assert played.answers["whole"] == 1
    possible = bound.saved(trace)
    assert 0.9 * possible <= sum(played.saved.values()) <= possible


@pytest.mark.shows("SAVINGS-OWN")
def test_what_was_saved_by_which_rule_and_what_was_possible(tmp_path: Path) -> None:
    path = write_session(tmp_path)
    home = Home(tmp_path / "hf")
    files = session_files(str(tmp_path), {}, 0.0)
    assert [(one.agent, one.path) for one in files] == [("claude-code", path)]
    assert session_files(str(tmp_path), {}, 0.0, "codex") == []
    found = own_savings(files, home, outliner())
    (one,) = found.agents
    assert (one.agent, one.contexts, one.reads) == ("claude-code", 1, 3)
    assert set(one.replayed) == {"unchanged"}
    assert one.served == {}
    assert one.replayed["unchanged"] <= one.bound <= one.read_tokens
    assert own_savings(files, home, outliner(), limit=0).left_out == 1


@pytest.mark.shows("SAVINGS-OWN", "READ-FOCUS")
def test_short_answers_and_reopened_folds_of_the_session_itself_are_counted(tmp_path: Path) -> None:
    """The first read was folded, and two later reads brought folded lines back."""
    path = write_session(tmp_path)
    home = Home(tmp_path / "hf")
    raw = [json.loads(line) for line in path.read_text().splitlines()]
    short = "[holdfast: 1080 lines, 2 of them shown and the rest folded; …]"
    results = [one for one in raw if one.get("toolUseResult")]
    block = results[0]["message"]["content"][0]
    block["content"], results[0]["toolUseResult"] = f"     1\t{short}", {}
    path.write_text("\n".join(map(json.dumps, raw)))
    side = Sidecar(sidecar_path(home, "claude-code", str(path)))
    event = Pieced("/w/f0.txt", (Piece(1, 2), Piece(3, len(LONG) - 2, FOLDED)), "d", True)
    side.record_short(block["tool_use_id"], event, short, "focused", 9_000)
    (one,) = own_savings(session_files(str(tmp_path), {}, 0.0), home, outliner()).agents
    assert one.served == {"focused": 2250}
    assert (one.focus.folds, one.focus.reopened, one.focus.extra_reads) == (1, 1, 1)
    assert one.focus.saved_tokens < 0, "the file came whole again"
    assert one.focus.advice.startswith("too few")


@pytest.mark.shows("FOCUS-BENCH")
def test_a_fold_that_is_used_later_costs_what_the_view_says(tmp_path: Path) -> None:
    (context,) = contexts_at(write_session(tmp_path, [*LONG, "x = 1"]))
    for at, step in enumerate(context.steps):
        if isinstance(step, Called | Returned):
            given = {**step.arguments, "file_path": "/w/f0.py"}
            context.steps[at] = step._replace(arguments=given)
    tally = Tally()
    play(context, Presets(800, 300), outliner(), tally)
    (fold,) = tally.folds
    assert fold.reread, "the second whole read of the session prints everything"
    assert fold.net("optimistic") == fold.net("pessimistic") == fold.saved - fold.size
    tally = Tally()
    play(context, Presets(2_000, 300), outliner(), tally)
    assert tally.folds == [], "shorter files of the main conversation are left whole"


@pytest.mark.shows("SAVINGS-OWN")
def test_the_command_says_it_and_its_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "hf"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert main(["savings"]) == 0
    assert "no sessions of agents with reads were found" in capsys.readouterr().out
    write_session(tmp_path)
    assert main(["savings", "--client", "claude"]) == 0
    shown = capsys.readouterr().out
    assert "claude-code" in shown
    assert "unchanged" in shown
    assert main(["savings", "--json", "--since", "2"]) == 0
    wire: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert wire["agents"][0]["replayed"]["unchanged"] > 0
    assert wire["sessions"] == 1
    assert main(["savings", "--limit", "0"]) == 2
    assert "--limit must be at least 1 (got 0)" in capsys.readouterr().err
    database = tmp_path / ".local" / "share" / "opencode" / "opencode.db"
    database.parent.mkdir(parents=True)
    database.write_bytes(b"not a database " * 100)
    assert main(["savings"]) == 0
    assert "not readable: " in capsys.readouterr().err


def test_a_text_uses_the_lines_that_it_quotes_and_the_head_of_what_it_names() -> None:
    rows = [
        "def total(cart):",
        "    return sum(prices of the cart)",
        "    short",
        "x" * 30,
        "x" * 30,
    ]
    places = unique_rows(rows)
    assert places == {"return sum(prices of the cart)": 2}
    names = {"total": [Unit(5, 20, "total", "def total", 7)]}
    assert mentioned_lines("look:\n  return sum(prices of the cart)", places, names) == {2}
    assert mentioned_lines("does total round?", places, names) == {7, 8, 9}
    assert mentioned_lines("x" * 30, places, names) == set()
