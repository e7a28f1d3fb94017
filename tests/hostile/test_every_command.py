"""Every command in a hostile tree: it ends, and nothing of the tree happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile.commands import run_every_command
from tests.hostile.surface import RUNS, leaves
from tests.hostile.tree import make_tree


def test_every_command_has_its_runs() -> None:
    assert sorted(RUNS) == sorted(leaves())


@pytest.mark.long
@pytest.mark.shows("SEC-HOSTILE-COMMANDS")
def test_no_command_runs_hangs_or_gives_away_anything_in_a_hostile_tree(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree", tmp_path / "proof")
    assert tree.missing == [] or tree.missing == ["devices"]
    result = run_every_command(tree, tmp_path)
    result.kept_every_promise()
    assert result.outcomes["answered"] > 20
    assert result.outcomes["refused"] > 20
