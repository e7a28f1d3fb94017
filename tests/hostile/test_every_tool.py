"""Every tool over MCP in a hostile tree, and with arguments of every wrong kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.mcp.tools import TOOLS
from tests.hostile.surface import TOOL_PATHS
from tests.hostile.tools import call_every_tool
from tests.hostile.tree import make_tree
from tests.scale import SOAKING


def test_every_tool_has_its_calls() -> None:
    assert sorted(TOOL_PATHS) == sorted(TOOLS)


@pytest.mark.long
@pytest.mark.shows("SEC-HOSTILE-TOOLS")
def test_no_tool_runs_hangs_or_gives_away_anything_in_a_hostile_tree(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree", tmp_path / "proof")
    result = call_every_tool(tree, tmp_path, every=1 if SOAKING else 3)
    result.kept_every_promise()
    assert result.outcomes["answered"] > 100
    assert result.outcomes["refused"] > 100
