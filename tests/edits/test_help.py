"""From the calls of an agent to what its model is told, with real files."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.edits import Attempt, help_text, patch_attempts
from holdfast.edits.help import ATTEMPTS_MAX

TEXT = "def one():\n    return 1\n\n\ndef two():\n    return 1\n"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text(TEXT)
    return tmp_path


@pytest.mark.shows("EDIT-HELP")
def test_the_first_of_several_edits_that_fails_is_explained(work: Path) -> None:
    told = help_text([Attempt("a.py", "def one():"), Attempt("a.py", "def too():")], str(work))
    assert told is not None
    assert told.startswith("[holdfast: the old text is not in a.py; nearest is line")
    assert "5\tdef two():" in told


@pytest.mark.shows("EDIT-HELP")
def test_blank_old_texts_and_those_after_many_others_get_no_help(work: Path) -> None:
    assert help_text([Attempt("a.py", " \n")], str(work)) is None
    assert help_text([Attempt("a.py", "")], str(work)) is None
    fine, wrong = Attempt("a.py", "def one():"), Attempt("a.py", "def too():")
    assert help_text([*[fine] * (ATTEMPTS_MAX - 1), wrong], str(work)) is not None
    assert help_text([*[fine] * ATTEMPTS_MAX, wrong], str(work)) is None


@pytest.mark.shows("EDIT-HELP")
def test_a_text_that_may_occur_several_times_is_not_ambiguous(work: Path) -> None:
    once = help_text([Attempt("a.py", "    return 1")], str(work))
    assert once is not None
    assert "occurs 2 times" in once
    many = [Attempt("a.py", "    return 1", every=True), Attempt("a.py", "def one():")]
    assert help_text(many, str(work)) is None


PATCHES = {
    "applies": (" def two():\n-    return 1\n+    return 2", None),
    "applies but for blanks": (" def two():\n-return 1  \n+    return 2", None),
    "stale": (" def two():\n-    return 3\n+    return 2", "line 6 has `1`, the old text has `3`"),
}


@pytest.mark.shows("EDIT-HELP")
@pytest.mark.parametrize("case", PATCHES)
def test_a_hunk_is_explained_if_the_patch_tool_would_not_find_it(case: str, work: Path) -> None:
    body, expected = PATCHES[case]
    patch = f"*** Begin Patch\n*** Update File: a.py\n@@\n{body}\n*** End Patch\n"
    told = help_text(patch_attempts(patch), str(work))
    assert (told is None) if expected is None else (told is not None and expected in told)


@pytest.mark.shows("EDIT-HELP")
def test_secrets_are_neither_opened_nor_shown(work: Path) -> None:
    key = "ghp_" + "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW2xY4"
    (work / ".env").write_text("TOKEN=1\n")
    (work / "link.txt").symlink_to(work / ".env")
    (work / "b.py").write_text(f"def one():\n    token = '{key}'\n")
    assert help_text([Attempt(".env", "TOKEN=2")], str(work)) is None
    assert help_text([Attempt("link.txt", "TOKEN=2")], str(work)) is None
    told = help_text([Attempt("b.py", "def one():\n    token = 'other'\n")], str(work))
    assert told is not None
    assert key not in told
    assert "1\tdef one():" in told


@pytest.mark.shows("EDIT-HELP")
def test_what_is_not_a_text_gets_no_help(work: Path) -> None:
    (work / "binary").write_bytes(b"a\0b")
    (work / "latin").write_bytes(b"caf\xe9")
    for name in ("missing", "binary", "latin", ".", "a.py\0"):
        assert help_text([Attempt(name, "x")], str(work)) is None
