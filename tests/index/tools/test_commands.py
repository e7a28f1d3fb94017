"""The commands: text for people, JSON for programs, and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.cli.console import relative
from holdfast.cli.main import main
from holdfast.index.errors import BackendUnavailable
from holdfast.index.generations.sqlite.backend import SqliteBackend
from holdfast.index.generations.sqlite.writer import SqliteWriter


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    root = tmp_path.resolve() / "repo"
    root.mkdir()
    (root / "shop.py").write_text(
        "def total(cart):\n    return sum(cart)\n\ndef pay(cart):\n    return total(cart)\n"
    )
    return root


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    code = main([str(word) for word in words])
    return code, capsys.readouterr().out


def run_json(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, Any]:
    code, out = run(capsys, *words, "--json")
    return code, json.loads(out)


@pytest.mark.shows("INDEX-CLI")
def test_from_nothing_to_an_answer(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "index", "status", tree)
    assert code == 1
    assert "is not indexed" in out
    code, out = run(capsys, "search", "--path", tree, "total")
    assert (code, "is not indexed" in out) == (1, True)
    code, out = run(capsys, "index", "create", tree)
    assert (code, "ready for search" in out) == (0, True)
    code, out = run(capsys, "index", "create", tree)
    assert (code, "already indexed" in out) == (1, True)
    code, out = run(capsys, "search", "--path", tree, "pay", "for", "cart")
    assert (code, "shop.py:" in out) == (0, True)
    code, out = run(capsys, "outline", tree / "shop.py")
    assert (code, " total(cart)" in out) == (0, True)
    code, out = run(capsys, "calls", tree / "shop.py", "total")
    assert out.splitlines() == [
        f"{relative(str(tree / 'shop.py'))}:1-2  total",
        "called by:",
        "  :5  pay (4-5)  return total(cart)",
        "[1 call leads out of the tree or could not be resolved]",
    ]
    (tree / "new.py").write_text("def refund():\n    pass\n")
    code, out = run(capsys, "search", "--path", tree, "refund")
    assert "1 new, 0 changed, 0 removed files" in out
    code, out = run(capsys, "index", "sync", tree)
    assert (code, "+1 -0 ~0" in out) == (0, True)
    code, out = run(capsys, "index", "list")
    assert (code, str(tree) in out) == (0, True)
    code, out = run(capsys, "index", "clear", tree)
    assert code == 0
    assert run(capsys, "index", "sync", tree)[0] == 1


@pytest.mark.shows("INDEX-CLI")
def test_json_carries_the_envelope(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, answer = run_json(capsys, "index", "create", tree)
    assert (code, answer["status"], answer["started"]["status"]) == (0, "ok", "ok")
    code, answer = run_json(capsys, "search", "--path", tree, "total")
    assert answer["results"][0]["symbolLabel"] == "total"
    code, answer = run_json(capsys, "calls", tree / "shop.py", "nobody")
    assert (code, answer["status"]) == (1, "not_found")
    code, answer = run_json(capsys, "outline", tree / "gone.py")
    assert (code, answer["status"]) == (1, "not_found")
    code, answer = run_json(capsys, "index", "list")
    assert answer["total"] == 1


@pytest.mark.shows("INDEX-CLI", "ISS-INDEX-STABILITY-A10")
def test_repair_sets_a_damaged_registry_aside_and_brings_roots_back(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "index", "create", tree)
    code, out = run(capsys, "index", "repair")
    assert (code, out) == (0, "Nothing needed repair.\n")
    registry = tmp_path / "home" / "index" / "registry.json"
    registry.write_text("{")
    code = main(["index", "list"])
    captured = capsys.readouterr()
    assert code == 1
    assert "cannot be read" in captured.err
    assert "holdfast index repair" in captured.err
    code, out = run(capsys, "index", "repair")
    assert "Restored" in out
    assert run(capsys, "search", "--path", tree, "total")[0] == 0


@pytest.mark.shows("INDEX-CLI")
@pytest.mark.parametrize(
    ("option", "said"),
    [
        (["--depth", "9"], "depth must be 1 to 3 (got 9)"),
        (["--depth", "0"], "depth must be 1 to 3 (got 0)"),
        (["--limit", "0"], "limit must be at least 1 (got 0)"),
    ],
)
def test_a_walk_that_cannot_be_made_is_refused_not_shortened(
    tree: Path, capsys: pytest.CaptureFixture[str], option: list[str], said: str
) -> None:
    run(capsys, "index", "create", tree)
    assert main(["calls", str(tree / "shop.py"), "total", *option]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.shows("INDEX-CLI")
@pytest.mark.parametrize("words", [["search", " "], ["outline", "a.py", "--path", ".", "--x"]])
def test_usage_is_two(tree: Path, words: list[str]) -> None:
    try:
        code = main(words)
    except SystemExit as error:
        code = int(error.code or 0)
    assert code == 2


@pytest.mark.shows("INDEX-CLI", "INDEX-PREVIOUS-SERVES")
def test_a_rebuild_that_failed_is_not_a_success_although_the_old_index_serves(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command ended with 0 and *fully indexed*; the failure was a line of text at the end."""
    assert run(capsys, "index", "create", tree)[0] == 0

    def full(writer: SqliteWriter, marker: str, taken_ns: int) -> None:
        raise BackendUnavailable("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(SqliteWriter, "publish", full)
        code, out = run(capsys, "index", "reindex", tree)
        assert (code, "The last run failed (the disk is full)" in out) == (1, True)
        code, answer = run_json(capsys, "index", "reindex", tree)
        assert code == 1
        assert [said["code"] for said in answer["warnings"]] == ["LAST_RUN_FAILED"]
    assert run(capsys, "index", "status", tree)[0] == 0
    assert run(capsys, "index", "reindex", tree)[0] == 0
    assert "warnings" not in run_json(capsys, "index", "status", tree)[1]


@pytest.mark.shows("INDEX-CLI")
def test_a_repair_without_its_backend_does_not_say_that_nothing_needed_it(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the server away and the registry lost it said *Nothing needed repair*."""
    run(capsys, "index", "create", tree)

    def away(backend: SqliteBackend) -> list[str]:
        raise BackendUnavailable("cannot reach it")

    monkeypatch.setattr(SqliteBackend, "roots", away)
    code, out = run(capsys, "index", "repair")
    assert (code, "Nothing needed repair" in out, "cannot reach it" in out) == (1, False, True)
    code, answer = run_json(capsys, "index", "repair")
    assert (code, answer["status"]) == (1, "error")


@pytest.mark.parametrize("command", ["calls", "explore", "references"])
def test_a_symbol_may_be_named_with_its_file(
    tree: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: str,
) -> None:
    """`read shop.py:total` was understood, and `calls shop.py:total` was an unknown name."""
    (tree / "other.py").write_text("def total(cart):\n    return 0\n")
    run(capsys, "index", "create", tree)
    monkeypatch.chdir(tree)
    code, out = run(capsys, command, "shop.py:total")
    assert code == 0
    assert "pay" in out or "shop.py:5" in out
    assert (code, out) == run(capsys, command, "shop.py", "total")
