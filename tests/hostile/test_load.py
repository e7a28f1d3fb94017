"""Ordinary calls beside hostile ones on one host, by the order of answers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.hostile.agent import Agent
from tests.hostile.tools import stop_host
from tests.hostile.tree import make_tree

SLOW = 12
"""More than the machine has cores, and each as slow as a search may be."""


@pytest.mark.long
@pytest.mark.shows("SEC-NO-DELAY")
def test_ordinary_calls_are_answered_while_hostile_ones_run(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree", tmp_path / "proof")
    own = tmp_path / "own"
    own.mkdir()
    (own / "notes.py").write_text("def note():\n    return 1\n")
    (tmp_path / "user").mkdir()
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("HOLDFAST", "PYTHONPATH"))}
    settings = {**kept, "HOLDFAST_HOME": str(tmp_path / "home"), "HOME": str(tmp_path / "user")}
    ordinary, hostile = Agent(own, settings), Agent(tree.root, settings)
    try:
        hostile.call("manage_index", {"action": "create", "path": ".", "wait": 90})
        ordinary.call("read", {"path": "notes.py"})
        asked = [
            hostile.start(
                "tools/call",
                {"name": "search_code", "arguments": {"query": f"re:(a|aa)+{n}$ needle"}},
            )
            for n in range(SLOW)
        ]
        for _ in range(5):
            answer = ordinary.call("read", {"path": "notes.py"})
            assert not answer["result"].get("isError")
        assert hostile.received() < SLOW, "ordinary calls waited for every hostile one"
        for id in asked:
            assert "result" in hostile.answer(id)
    finally:
        ordinary.close()
        hostile.close()
        stop_host(settings)
