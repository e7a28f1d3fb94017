"""Nothing we put in the place of an agent's own result is untrue of the request that carries it."""

import os
from pathlib import Path

import pytest

from holdfast.replay.texts import Change
from tests.reading.opencode import OpenCodeSession
from tests.reading.requests import Session
from tests.reading.told import Message, Untrue, known, rebuilt
from tests.scale import FIRST_SEED, QUICK, size

SOAK = bool(os.environ.get("HOLDFAST_SOAK"))
STEPS = 100
SESSIONS = 10_000 if SOAK else size(200, 5)
"""20,000 steps for every kind of agent; a million under soak."""
PARTS = size(10, 5)
KINDS: dict[str, type[Session]] = {
    **dict.fromkeys(("claude-code", "claude-code-sub", "codex", "pi"), Session),
    "opencode": OpenCodeSession,
}


@pytest.mark.shows("READ-PROMISE", "READ-REQUEST-TWIN", "READ-FOCUS-TRUST")
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.property
def test_every_short_answer_is_true_of_its_request(
    kind: str, part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    shorts = folds = 0
    for seed in range(FIRST_SEED + part, FIRST_SEED + SESSIONS, PARTS):
        folder = tmp_path / str(seed)
        folder.mkdir()
        session = KINDS[kind](kind, seed, folder)
        for step in range(STEPS):
            try:
                session.step()
            except Untrue as error:
                raise AssertionError(f"{kind} seed {seed} step {step}: {error}") from error
        shorts += session.shorts
        folds += session.folds
    if QUICK:
        return  # too few sessions to reach everything
    assert folds > SESSIONS // PARTS // 10 or kind == "codex", "the simulation reaches folds"
    assert shorts > SESSIONS // PARTS, "the simulation reaches short answers"


def test_the_twin_sees_a_change_and_back_and_a_dangling_marker() -> None:
    rows = ("one", "two", "three")
    whole = Message(0, "shown", 1, rows, whole=True)
    changed = Message(0, "shown", 2, ("TWO",))
    unchanged = "[holdfast: lines 1-3 unchanged, as you have them; …]"
    assert rebuilt(known([whole], 0), unchanged) == list(rows)
    assert rebuilt(known([whole, changed], 0), unchanged) != list(rows)
    edit = Message(0, "edited", hunks=(Change(2, ["two"], ["mine"]),))
    assert rebuilt(known([whole, edit], 0), unchanged) != list(rows)
    with pytest.raises(Untrue):
        rebuilt(known([Message(0, "short", 1, whole=True, text=unchanged)], 0), unchanged)
    with pytest.raises(Untrue):
        rebuilt(known([whole], 1), unchanged)
