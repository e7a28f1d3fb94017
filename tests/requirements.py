"""Keeps docs/requirements.md and the `shows` marks on tests in agreement.

Run `python -m tests.requirements --write` to refresh the last column.
"""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from tests.architecture import tree_of

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "requirements.md"
NOT_IN_QUICK = pytest.StashKey[set[str] | None]()
"""Requirements that `make quick` does not show although they need no service."""
ROW = re.compile(r"^\| (?P<id>[A-Za-z][\w.:+-]*) \| (?P<rule>.*) \|(?P<shown>[^|]*)\|$")


@cache
def marks() -> dict[str, list[str]]:
    """Requirement id -> the tests that say they show it, as `path::name`."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        where = path.relative_to(ROOT / "tests").as_posix()
        if "mark.shows(" not in path.read_text(encoding="utf-8"):
            continue
        body = tree_of(path).body
        members = [node for one in body if isinstance(one, ast.ClassDef) for node in one.body]
        of_module = [name for node in body for name in _of_module(node, where)]
        for node in [*body, *members]:
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            names = _shown(node.decorator_list, where)
            if node.name.startswith("test_"):
                names = [*of_module, *names]
            for name in names:
                found[name].append(f"{where}::{node.name}")
    return found


def _of_module(node: ast.stmt, where: str) -> list[str]:
    """The ids that `pytestmark = …` gives every test of a module."""
    if not (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"):
        return []
    value = node.value
    return _shown(value.elts if isinstance(value, ast.List | ast.Tuple) else [value], where)


def _shown(marks: Iterable[ast.expr], where: str) -> list[str]:
    """The ids of every `shows` among marks."""
    found = []
    for mark in marks:
        if (
            isinstance(mark, ast.Call)
            and isinstance(mark.func, ast.Attribute)
            and mark.func.attr == "shows"
        ):
            for argument in mark.args:
                assert isinstance(argument, ast.Constant), f"{where}: ids are literals"
                found.append(str(argument.value))
    return found


def rewritten(text: str, shown: dict[str, list[str]]) -> str:
    """The page with its last column as the marks say."""
    lines = []
    for line in text.splitlines():
        row = ROW.match(line)
        if row is not None and row["id"] != "id":
            tests = ", ".join(f"`{test}`" for test in shown.get(row["id"], [])) or "*not yet*"
            line = f"| {row['id']} | {row['rule']} | {tests} |"
        lines.append(line)
    return "\n".join(lines) + "\n"


def listed(text: str) -> list[str]:
    """Every id on the page, in order."""
    rows = (ROW.match(line) for line in text.splitlines())
    return [row["id"] for row in rows if row is not None and row["id"] != "id"]


def main() -> None:
    text = PAGE.read_text(encoding="utf-8")
    if "--write" in sys.argv:
        PAGE.write_text(rewritten(text, marks()), encoding="utf-8")
    else:
        shown = marks()
        missing = [i for i in listed(text) if i not in shown]
        print(f"{len(missing)} requirements not yet shown")
        print("\n".join(missing))


if __name__ == "__main__":
    main()
