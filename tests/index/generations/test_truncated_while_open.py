"""A segment that is truncated while a process has it mapped does not end the process.

Reading behind the end of a mapped file raises SIGBUS, which no program survives. A host that
several agents depend on must not end because someone shortened a file of its home.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scale import first_in_quick

ASK = """
import os, sys
from pathlib import Path
from holdfast.index.code_index import open_index, run_here
from holdfast.index.tools.manage import manage_index
from holdfast.index.tools.search import search_code

home, root = sys.argv[1:]
index = open_index(home)
index.start = run_here
manage_index(index, "create", root)
def ask():
    answer = search_code(index, root, "reticulate splines")
    print(answer.status, len(answer.results), flush=True)
ask()
for path in Path(home).rglob("*.segment"):
    os.truncate(path, int(os.environ["KEPT"]))
ask()
manage_index(index, "reindex", root)
ask()
index.close()
"""


@pytest.mark.long
@pytest.mark.shows("INDEX-SEGMENT-FILES")
@pytest.mark.parametrize("kept", first_in_quick(["0", "4096"]))
def test_a_search_after_a_segment_was_truncated_is_refused_and_mended(
    tmp_path: Path, kept: str
) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    for number in range(200):
        (root / f"m{number}.py").write_text(
            f"def reticulate_{number}(splines):\n    return splines * {number}\n"
        )
    ended = subprocess.run(
        [sys.executable, "-c", ASK, str(tmp_path / "home"), str(root)],
        capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "KEPT": kept},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-2000:]
    before, refused, after = ended.stdout.splitlines()
    assert before.startswith("ok ")
    assert not refused.startswith("ok ")
    assert after == before
