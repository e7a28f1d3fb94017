"""An edit that was interrupted: what `status` and `doctor` say, and how it is settled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.cli.main import main
from holdfast.files.journaled_edits import JournaledEdits

BEFORE = {"a.py": b"old a\n", "b.py": b"old b\n"}
AFTER = {"a.py": b"new a\n", "b.py": b"new b\n"}


class Killed(BaseException):
    """The process ended."""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree with an edit whose process ended after the first of two files."""
    root = tmp_path / "tree"
    (root / "inner").mkdir(parents=True)
    for name, text in BEFORE.items():
        (root / name).write_bytes(text)
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOLDFAST_DATABASE_URL", "")
    monkeypatch.chdir(root / "inner")
    replaced = 0

    def step(name: str, path: str) -> None:
        nonlocal replaced
        replaced += name == "replace"
        if replaced > 1:
            raise Killed

    with pytest.raises(Killed):
        JournaledEdits(tmp_path / "home" / "edits", step).write(str(root), BEFORE, AFTER)
    return root


def texts(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in root.iterdir() if path.is_file()}


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    capsys.readouterr()
    code = main(list(words))
    out, err = capsys.readouterr()
    return code, out + err


def run_json(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    return json.loads(run(capsys, *words, "--json")[1])


@pytest.mark.shows("EDIT-INTERRUPTED")
def test_status_and_doctor_name_an_interrupted_edit_and_change_nothing(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    between = texts(tree)
    command = f"holdfast edit recover --path {tree}"
    [edit] = run_json(capsys, "status")["interruptedEdits"]
    assert edit["message"] == (
        f"an edit of 2 files in {tree} was interrupted; not written: b.py; written: a.py"
    )
    assert edit["hint"].endswith(command)
    assert edit["message"] in run(capsys, "status")[1]
    findings = run_json(capsys, "doctor")["findings"]
    [found] = [one for one in findings if one["about"] == "edits"]
    assert (found["state"], found["said"], found["fix"]) == ("wrong", edit["message"], edit["hint"])
    assert texts(tree) == between
    assert run(capsys, "edit", "recover") == (
        0,
        f"an edit of 2 files in {tree} was interrupted; it is finished now: wrote b.py\n",
    )
    assert texts(tree) == AFTER
    assert "interruptedEdits" not in run_json(capsys, "status")
    assert run(capsys, "edit", "recover")[1].startswith("no edit was interrupted in")


@pytest.mark.shows("EDIT-INTERRUPTED")
@pytest.mark.parametrize(
    ("how", "after"),
    [
        ("--finish", {"a.py": b"mine\n", "b.py": b"new b\n"}),
        ("--undo", {"a.py": b"mine\n", "b.py": b"old b\n"}),
        ("--forget", {"a.py": b"mine\n", "b.py": b"old b\n"}),
    ],
)
def test_an_edit_that_needs_a_decision_is_settled_by_an_option(
    how: str, after: dict[str, bytes], tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "a.py").write_bytes(b"mine\n")
    code, out = run(capsys, "edit", "recover")
    assert code == 1
    assert "not written: b.py; changed since: a.py; finish or undo it: holdfast edit recover" in out
    assert run_json(capsys, "edit", "recover")["error"] == "interrupted_edit"
    assert run_json(capsys, "edit", "recover", "--path", str(tree), how)["status"] == "ok"
    assert texts(tree) == after
    assert "interruptedEdits" not in run_json(capsys, "status")


@pytest.mark.shows("EDIT-INTERRUPTED")
def test_every_file_of_an_interrupted_edit_is_listed(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "a.py").write_bytes(b"mine\n")
    listed = run(capsys, "edit", "recover", "--list")
    assert listed == (0, "changed since  a.py\nnot written    b.py\n")
    files = run_json(capsys, "edit", "recover", "--list")["files"]
    assert files == {"a.py": "changed since", "b.py": "not written"}
    assert "interruptedEdits" in run_json(capsys, "status")


@pytest.mark.shows("EDIT-INTERRUPTED")
def test_an_interrupted_edit_can_be_undone_although_it_could_be_finished(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "edit", "recover", "--undo") == (0, "undone: wrote a.py\n")
    assert texts(tree) == BEFORE
