"""The arrows inside the package: adapters and engine do not know each other."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast.reading

PACKAGE = Path(holdfast.reading.__file__).parent
ENGINE = {
    "answer",
    "reader",
    "diff",
    "myers",
    "wide_myers",
    "objects",
    "disk",
    "savings",
    "recent",
    "status",
    "config",
}


def imported(path: Path) -> set[str]:
    """Every module of ours that a file imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return {name for name in found if name.startswith("holdfast.")}


@pytest.mark.shows("READ-HOST-APART")
def test_adapters_know_nothing_of_the_engine() -> None:
    for path in (PACKAGE / "hosts").glob("*.py"):
        known = {name.split(".")[2] for name in imported(path) if name.count(".") >= 2}
        assert not known & ENGINE, f"{path.name} imports {known & ENGINE}"


@pytest.mark.shows("READ-HOST-APART")
def test_the_engine_knows_no_adapter() -> None:
    for path in PACKAGE.glob("*.py"):
        assert not any(".hosts" in name for name in imported(path)), path.name


@pytest.mark.shows("READ-LAYERS")
def test_reading_imports_only_what_it_may() -> None:
    allowed = (
        "holdfast.answers",
        "holdfast.reading",
        "holdfast.errors",
        "holdfast.ids",
        "holdfast.text",
        "holdfast.files",
        "holdfast.home",
        "holdfast.system",
    )
    for path in PACKAGE.rglob("*.py"):
        strangers = {name for name in imported(path) if not name.startswith(allowed)}
        assert strangers == set(), path.name


@pytest.mark.shows("READ-LIGHT")
def test_the_read_command_imports_nothing_heavy() -> None:
    program = (
        "import sys; from holdfast.cli import read, readcache, session; heavy = "
        "('numpy', 'asyncio', 'apsw', 'PIL', 'psycopg', 'msgspec'); "
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
