"""Files and trees that a user names: never waited for, never read without a bound, and whole home
directories only with an explicit yes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.cli import user_files
from holdfast.cli.main import main
from holdfast.errors import UsageError


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    user = tmp_path / "user"
    (user / "project").mkdir(parents=True)
    (user / "project" / "a.py").write_text("def a():\n    return 1\n")
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(user)
    return user


@pytest.mark.shows("SEC-WALKS")
@pytest.mark.parametrize(
    "words",
    [
        ["index", "create"],
        ["index", "reindex"],
        ["locate", "return 1", "--path"],
        ["clones"],
        ["bench", "--rounds", "1"],
    ],
    ids=" ".join,
)
def test_a_whole_home_is_walked_only_after_a_yes(
    home: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for wide in (".", "/", str(home.parent)):
        assert main([*words, wide]) == 2
        said = capsys.readouterr().err
        assert "is a whole home directory or above one" in said
        assert "--yes" in said
    assert main([*words, "project"]) in (0, 1), "a directory in it is walked"


@pytest.mark.shows("SEC-WALKS")
def test_a_yes_counts_from_then_on(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "create", "--yes"]) == 0
    assert main(["clones"]) == 0, "the tree is tracked now"
    assert main(["index", "clear"]) == 0
    assert main(["clones"]) == 2
    settings = home.parent / "home" / "settings.toml"
    settings.write_text(f'[workspace]\nallow = ["{home}"]\n')
    assert main(["clones"]) == 0, "the setting is a yes"
    capsys.readouterr()


def test_a_pipe_of_a_tree_is_not_waited_for_and_one_of_the_shell_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    with pytest.raises(UsageError, match="not a regular file"):
        user_files.read_user_file(str(tmp_path / "pipe.py"))
    reading, writing = os.pipe()
    os.write(writing, b"text")
    os.close(writing)
    try:
        assert user_files.read_user_file(f"/dev/fd/{reading}") == b"text"
    finally:
        os.close(reading)


@pytest.mark.parametrize("name", ["missing", ".", "nul\0"])
def test_what_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError):
        user_files.read_user_file(f"{tmp_path}/{name}")


def test_a_huge_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "huge").touch()
    os.truncate(tmp_path / "huge", 8 << 30)
    with pytest.raises(UsageError, match="larger than 64 MiB"):
        user_files.read_user_file(str(tmp_path / "huge"))


@pytest.mark.shows("SEC-LINK-MENTIONED")
def test_a_read_that_leaves_the_tree_through_a_link_says_so(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home.parent / "outside.txt").write_text("outside\n")
    (home / "in.txt").write_text("inside\n")
    (home / "link.txt").symlink_to(home.parent / "outside.txt")
    (home / "near.txt").symlink_to("in.txt")
    assert main(["read", "link.txt"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("outside")
    assert f"link.txt leads to {home.parent / 'outside.txt'}, outside {home}" in said.err
    assert main(["read", "link.txt:1-1"]) == 0
    assert "leads to" in capsys.readouterr().err
    for plain in ("in.txt", "near.txt", str(home.parent / "outside.txt"), "../outside.txt"):
        assert main(["read", plain]) == 0
        assert capsys.readouterr().err == ""


@pytest.mark.shows("SEC-NO-MODULES-OF-THE-TREE")
def test_the_commands_we_hand_out_import_nothing_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`python -m holdfast`, written into settings of agents, imported `json.py` of a tree."""
    from holdfast.agents import target
    from holdfast.app import App

    monkeypatch.setattr(sys, "argv", ["pytest"])
    monkeypatch.setenv("PATH", "/nonexistent")
    start = target.target_of(App.from_environment({"HOME": str(tmp_path)})).command
    for name in ("json", "argparse", "holdfast"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported from the tree')\n")
    ended = subprocess.run(
        [*start, "--version"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.returncode == 0, ended.stderr
    (tmp_path / "holdfast").write_text("#!/bin/sh\n")
    (tmp_path / "holdfast").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    assert target.target_of(App.from_environment({"HOME": str(tmp_path)})).command == start
