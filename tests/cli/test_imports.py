"""Modules of the working directory are never imported, whatever PYTHONPATH says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SHADOWED = ("argparse", "json", "sqlite3", "numpy", "apsw", "msgspec", "shutil", "tempfile")


@pytest.mark.shows("SEC-NO-WORKING-DIRECTORY-IMPORTS")
@pytest.mark.parametrize(
    "entries",
    [
        ".",
        *(
            pytest.param(entries, marks=pytest.mark.long)
            for entries in (None, f".{os.pathsep}/nowhere", "sub/..")
        ),
    ],
)
def test_a_repository_is_never_imported_from(tmp_path: Path, entries: str | None) -> None:
    """A relative entry of the user's PYTHONPATH made every command import from the repository."""
    tree, proof = tmp_path / "tree", tmp_path / "proof"
    (tree / "sub").mkdir(parents=True)
    for name in SHADOWED:
        text = f"open({str(proof)!r}, 'a').write({name!r})\nraise ImportError({name!r})\n"
        (tree / f"{name}.py").write_text(text)
    (tree / "shop.py").write_text("def total():\n    return 1\n")
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("HOLDFAST", "PYTHONPATH"))}
    environment = {**kept, "HOLDFAST_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    if entries is not None:
        environment["PYTHONPATH"] = entries
    for arguments in (["index", "create", "."], ["search", "total"], ["mcp", "--stop"]):
        ran = subprocess.run(
            [sys.executable, "-m", "holdfast", *arguments],
            cwd=tree, env=environment, capture_output=True, text=True, timeout=60,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert "Traceback" not in ran.stderr, ran.stderr
    assert not proof.exists(), proof.read_text()


@pytest.mark.parametrize("command", ["search", "calls", "references", "explore", "impact"])
def test_the_help_of_a_question_imports_nothing_that_answers_it(command: str) -> None:
    """`holdfast search --help` imported the whole index first."""
    listed = (
        "import argparse, sys\n"
        f"from holdfast.cli import {command}\n"
        f"{command}.configure(argparse.ArgumentParser())\n"
        "print(*sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", listed], capture_output=True, text=True, check=True)
    heavy = {"holdfast.index.code_index", f"holdfast.index.tools.{command}", "msgspec", "numpy"}
    assert not heavy & set(ran.stdout.split())


@pytest.mark.long
def test_a_search_imports_nothing_about_repositories(tmp_path: Path) -> None:
    """Each search imported the whole module to learn that its tree is an ordinary directory."""
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "shop.py").write_text("def total():\n    return 1\n")
    kept = {n: v for n, v in os.environ.items() if not n.startswith("HOLDFAST")}
    environment = {**kept, "HOLDFAST_HOME": str(tmp_path / "home"), "HOLDFAST_CLI_HOST": "0"}
    listed = (
        "import sys\n"
        "from holdfast.cli.main import main\n"
        "code = main(sys.argv[1:])\n"
        "print(*sys.modules, file=sys.stderr)\n"
        "sys.exit(code)"
    )

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", listed, *arguments],
            cwd=tree, env=environment, capture_output=True, text=True, check=True, timeout=60,
        )  # fmt: skip

    run("index", "create", ".")
    ran = run("search", "total")
    assert "shop.py:1-2" in ran.stdout
    assert not {"holdfast.repositories", "holdfast.files.git"} & set(ran.stderr.split())


def test_arguments_are_parsed_without_shutil() -> None:
    """argparse imports it, and with it three compressors, to get the width of the terminal."""
    listed = (
        "import sys\n"
        "from holdfast.cli import search\n"
        "from holdfast.cli.parsing import Parser\n"
        "parser = Parser(prog='holdfast search')\n"
        "search.configure(parser)\n"
        "assert parser.parse_args(['--limit', '3', 'total']).limit == 3\n"
        "print(*sys.modules)\n"
        "assert 'usage: holdfast search' in parser.format_help()"
    )
    ran = subprocess.run([sys.executable, "-c", listed], capture_output=True, text=True, check=True)
    assert not {"shutil", "bz2", "lzma"} & set(ran.stdout.split())
