"""A purge removes every trace of a file from the home, and says so only after looking."""

from __future__ import annotations

import io
import json
import random
import sqlite3
import subprocess
import sys
import tracemalloc
import zlib
from pathlib import Path

import pytest

from holdfast.cli.main import main
from holdfast.home import Home
from holdfast.purge import CHUNK_BYTES, find

NOTE = "the launch word is marmalade-seventeen\n"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    root = tmp_path / "tree"
    root.mkdir()
    (root / "plan.md").write_text(f"# Plan\n\n{NOTE}")
    (root / "code.py").write_text("def launch_sequence():\n    return 17\n")
    monkeypatch.chdir(root)
    assert main(["index", "create"]) == 0
    assert main(["locate", "def launch_sequence"]) == 0
    assert main(["read", "plan.md", "--session", "s"]) == 0
    return root


def kept(home: Path) -> bool:
    return bool(find(home, {NOTE.strip().encode()})[1])


@pytest.mark.shows("SEC-PURGE")
def test_no_trace_of_a_purged_file_is_left(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After deleting a file and clearing its index, its text was still in cache and segments."""
    home = tmp_path / "home"
    assert kept(home)
    capsys.readouterr()
    assert main(["purge", "plan.md"]) == 0
    out = capsys.readouterr().out
    assert "no trace left" in out
    assert f"cleared the whole index of {tree}; make it again: holdfast index create" in out
    assert not kept(home)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux reports who has a file open")
def test_nothing_is_purged_while_another_process_has_the_sessions_open(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`serve` kept showing the deleted sessions, and never saw those that were begun later."""
    home = tmp_path / "home"
    program = (
        "from holdfast.app import App; import os\n"
        "app = App.from_environment(os.environ); space = app.open_space('sessions')\n"
        "space.scan('a', 'z'); print('open', flush=True); input()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as other:  # fmt: skip
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        capsys.readouterr()
        assert main(["purge", "plan.md"]) == 2
        error = capsys.readouterr().err
        assert f"process {other.pid} would keep what is purged" in error
        assert "end it, then run purge again" in error
        assert kept(home)
        other.communicate("\n")
    assert main(["purge", "plan.md"]) == 0
    assert not kept(home)


def test_a_trace_in_the_index_of_another_tree_is_explained(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was only a path in the home, with a number for a name."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "plan.md").write_text((tree / "plan.md").read_text())
    assert main(["index", "create", str(other)]) == 0
    capsys.readouterr()
    assert main(["purge", "plan.md"]) == 1
    assert "another indexed tree has the same lines" in capsys.readouterr().out


@pytest.mark.shows("SEC-PURGE")
def test_a_deleted_file_is_purged_by_its_text(
    tree: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tree / "plan.md").unlink()
    capsys.readouterr()
    stdin = io.TextIOWrapper(io.BytesIO(NOTE.encode()))
    monkeypatch.setattr("sys.stdin", stdin)
    assert main(["purge", "plan.md", "--text", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["status"], answer["traces"], answer["linesSearchedFor"]) == ("ok", [], 1)
    assert answer["roots"] == [str(tree)]
    assert not kept(tmp_path / "home")


@pytest.mark.shows("SEC-PURGE")
def test_a_trace_in_memory_is_named_and_left(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["memory", "set", "note:x", json.dumps(NOTE.strip())]) == 0
    capsys.readouterr()
    assert main(["purge", "plan.md", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["status"] == "traces_left"
    assert all("spaces/" in trace and "local" in trace for trace in answer["traces"])
    assert main(["memory", "get", "note:x"]) == 0


@pytest.mark.shows("SEC-PURGE")
def test_everything_can_be_purged(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["purge", "--all"]) == 0
    assert not kept(tmp_path / "home")
    assert main(["index", "create"]) == 0
    assert main(["search", "launch word"]) == 0


@pytest.mark.parametrize("arguments", [[], ["x", "--all"]])
def test_purge_needs_a_path_or_all(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    assert main(["purge", *arguments]) == 2


def test_a_purge_without_a_home_creates_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    assert main(["purge", "--all"]) == 0
    assert not (tmp_path / "home").exists()


def test_a_line_across_two_chunks_is_found(tmp_path: Path) -> None:
    line = NOTE.strip().encode()
    (tmp_path / "file").write_bytes(b"x" * (CHUNK_BYTES - 5) + line + b"y" * 100)
    assert find(tmp_path, {line}) == (1, ["file"])


@pytest.mark.shows("SEC-PURGE")
def test_every_kind_of_store_is_purged_or_named(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The text is planted raw in a file of each directory of the home."""
    home = Home(tmp_path / "home")
    derived = [
        Path(home.sequence) / "x" / "a.segment",
        Path(home.objects) / "ab" / "cd",
        Path(home.session_records) / "pi" / "s.jsonl",
        Path(home.temporary) / "half-written",
        Path(home.index_content).with_name(Path(home.index_content).name + "-wal"),
    ]
    mine = [Path(home.keys) / "note.txt", Path(home.path) / "other" / "file"]
    for path in (*derived, *mine):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(NOTE)
    capsys.readouterr()
    assert main(["purge", "plan.md", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert not any(path.exists() for path in derived)
    named = sorted(path.relative_to(home.path).as_posix() for path in mine)
    assert answer["traces"] == named, "what is not derived is named and left"


@pytest.mark.shows("SEC-PURGE")
def test_a_compressed_trace_is_found(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Texts of an index are compressed: of a file that another tree has too, it said *no trace*."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "copy.md").write_text((tree / "plan.md").read_text())
    assert main(["index", "create", str(other)]) == 0
    capsys.readouterr()
    assert main(["purge", "plan.md", "--json"]) == 1
    (trace,) = json.loads(capsys.readouterr().out)["traces"]
    assert trace.startswith("index/roots/")
    assert main(["purge", str(other)]) == 0


@pytest.mark.shows("SEC-PURGE")
def test_a_trace_in_objects_of_git_is_found(tmp_path: Path) -> None:
    line, home = NOTE.strip().encode(), tmp_path / "home"
    (home / "objects").mkdir(parents=True)
    stored = zlib.compress(b"x" * 9_000 + line + b"\n" + random.Random(1).randbytes(50_000))
    (home / "objects" / "loose").write_bytes(stored)
    pack = b"PACK" + b"x\x9c is not a stream" + zlib.compress(b"x\x9c" * 4_000) + stored
    (home / "objects" / "some.pack").write_bytes(pack)
    (home / "objects" / "other.pack").write_bytes(pack[: -len(stored)])
    assert find(home, {line}) == (3, ["objects/loose", "objects/some.pack"])


@pytest.mark.shows("SEC-PURGE")
def test_a_compressed_bomb_is_searched_in_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.purge.UNFOLDED_BYTES_MAX", 100_000)
    (tmp_path / "loose").write_bytes(zlib.compress(bytes(20_000_000)))
    tracemalloc.start()
    try:
        assert find(tmp_path, {b"a line that is not there"}) == (1, [])
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.shows("SEC-PURGE")
def test_what_is_shared_with_a_team_is_purged(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It stayed, compressed, so that the search did not see it either."""
    home = Home(tmp_path / "home")
    for path in (Path(home.index_shared), Path(home.index_team) / "rows"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(zlib.compress(NOTE.encode()))
    capsys.readouterr()
    assert main(["purge", "plan.md"]) == 0
    assert not Path(home.index_shared).exists()
    assert not Path(home.index_team).exists()


@pytest.mark.shows("SEC-PURGE")
@pytest.mark.parametrize(
    "line",
    ['api_word = "marmalade-seventeen"', "word\tmarmalade-seventeen", r"C:\marmalade\seventeen"],
)
def test_a_trace_is_found_as_json_writes_it(
    line: str, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Memory is kept as JSON: of a line with quotes in a note, it said *no trace*."""
    (tree / "plan.md").write_text(f"{line}\n")
    assert main(["memory", "note", f"remember {line}, it is needed"]) == 0
    capsys.readouterr()
    assert main(["purge", "plan.md"]) == 1
    assert "a trace is left in spaces/" in capsys.readouterr().out


@pytest.mark.parametrize("ascii_only", [False, True])
def test_a_trace_in_json_inside_json_is_found(ascii_only: bool, tmp_path: Path) -> None:
    line = 'straße = "marmalade\\seventeen"'
    inner = json.dumps({"text": line}, ensure_ascii=ascii_only)
    (tmp_path / "file").write_text(json.dumps([inner], ensure_ascii=ascii_only))
    assert find(tmp_path, {line.encode()}) == (1, ["file"])


def test_a_line_across_two_pages_of_a_database_is_found(tmp_path: Path) -> None:
    """A long value is split between pages, which need not follow each other."""
    line = "only line " + "marmalade-seventeen " * 400
    database = sqlite3.connect(tmp_path / "some.sqlite")
    database.execute("CREATE TABLE t (a TEXT)")
    database.execute("INSERT INTO t VALUES (?)", (line.strip() + "y" * 9_000,))
    database.commit()
    database.close()
    assert line.strip().encode() not in (tmp_path / "some.sqlite").read_bytes()
    assert find(tmp_path, {line.strip().encode()}) == (1, ["some.sqlite"])


def test_an_answer_counts_the_lines_that_were_not_searched_for(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It searched for the first 500 lines of a tree, and said *no trace left* without more."""
    (tree / "plan.md").write_text("".join(f"this is line number {n}\n" for n in range(600)))
    (tree / "code.py").write_text("pin = 1\nthe_other_line = 2\n")
    capsys.readouterr()
    assert main(["purge", "plan.md"]) == 0
    assert "no trace left: looked for 500 of 600 lines in " in capsys.readouterr().out
    assert main(["purge", "code.py"]) == 0
    assert "no trace left: looked for 1 of 2 lines in " in capsys.readouterr().out
    assert main(["purge", "plan.md", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["linesSearchedFor"], answer["lines"]) == (500, 600)


def test_the_lines_searched_for_are_taken_from_all_files(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in "abc":
        text = "".join(f"this is line {n} of the file {name}\n" for n in range(1_000))
        (tree / f"{name}.md").write_text(text)
    last = "\n".join(f"this is line {n} of the file c" for n in range(1_000))
    assert main(["memory", "note", last]) == 0
    assert main(["purge", "."]) == 1


def test_a_file_in_utf16_is_searched_for_as_text(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "plan.md").write_text(NOTE, encoding="utf-16")
    assert main(["memory", "note", NOTE.strip()]) == 0
    assert main(["purge", "plan.md"]) == 1
