"""The page about graphs says what the code does."""

import subprocess
import sys
from pathlib import Path

from holdfast.store.graph import DEFAULT_LIMITS

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "graph.md").read_text(encoding="utf-8")


def test_the_example_prints_what_the_page_shows() -> None:
    example = [sys.executable, str(ROOT / "examples" / "graph.py")]
    printed = subprocess.run(example, capture_output=True, text=True, check=True, timeout=60).stdout
    assert f"```\n{printed}```" in PAGE


def test_the_page_names_the_limits() -> None:
    for name in ("depth", "entities", "steps", "path"):
        assert f"| `{name}` | {getattr(DEFAULT_LIMITS, name):,} |" in PAGE
