"""Keeps docs/requirements.md and the `shows` marks on tests in agreement.

Run `python -m tests.requirements --write` to refresh the last column.
"""

import ast
import re
import sys
from collections import defaultdict
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
        for node in [*body, *members]:
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            for decorator in node.decorator_list:
                if (
                    isinstance(decorator, ast.Call)
                    and isinstance(decorator.func, ast.Attribute)
                    and decorator.func.attr == "shows"
                ):
                    for argument in decorator.args:
                        assert isinstance(argument, ast.Constant), f"{where}: ids are literals"
                        found[str(argument.value)].append(f"{where}::{node.name}")
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
