"""A small tree that can be watched, and a clock."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.files import tree_watch
from tests.files.watching import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """On a file system whose reports count as trustworthy."""
    monkeypatch.setattr(tree_watch, "is_trusted", lambda root: True)
    made = tmp_path / "tree"
    (made / "sub").mkdir(parents=True)
    (made / "a.py").write_text("x = 1\n")
    (made / "sub" / "b.py").write_text("y = 1\n")
    return made
