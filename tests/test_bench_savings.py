"""The savings bench plays a trace through the real readers, and never beats what is possible."""

import os
from typing import Any

import pytest

from holdfast.replay import bound
from holdfast.replay.player import play

SIZES = [40] * 200


def trace(kind: str) -> dict[str, Any]:
    """Read 60 lines twice, edit one of them, read again, compact, read again."""
    tool = "R" if kind == "codex" else "r"

    def read(first: int, count: int, runs: list[int]) -> dict[str, Any]:
        return {
            "k": tool,
            "t": 1,
            "f": 0,
            "a": first,
            "n": 60,
            "l": runs,
            "rb": count * 46,
            "ib": 9,
        }

    after = [1, 9, 100, 1, 11, 50]
    edit = {"k": "e", "t": 1, "f": 0, "err": 0, "h": [[10, [10, 1], [100, 1], 1]], "a": 0, "l": []}
    events = [
        {"k": "u", "t": 0, "ib": 20},
        read(1, 60, [1, 60]),
        read(1, 60, [1, 60]),
        edit,
        read(1, 60, after),
        {"k": "c", "t": 2, "pre": 0},
        read(20, 10, [20, 10]),
        read(20, 10, [20, 10]),
    ]
    return {"v": 1, "s": "t", "kind": kind, "sizes": SIZES, "ev": events}


@pytest.mark.shows("READ-SAVINGS-REAL")
@pytest.mark.parametrize("kind", ["claude-code", "claude-code-sub", "codex", "pi"])
def test_a_trace_saves_what_its_context_holds(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    player = play(trace(kind))
    assert player.answers == {"unchanged": 3, "diff": 0, "unseen": 0, "whole": 2}
    most = bound.saved(trace(kind))
    assert 0.9 * most <= sum(player.saved.values()) <= most
