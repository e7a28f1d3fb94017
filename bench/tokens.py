"""What the tools cost a conversation, in tokens of four bytes: `python -m bench tokens`.

The list of each toolset, and for every tool a usual call on a real package: its text, its
structured content as sent by default, and all its facts. The machine's speed does not matter.
"""

from __future__ import annotations

import argparse as long_module
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import hypothesis

from bench.arguments import takes_none
from bench.timing import Row, report
from holdfast.app import App
from holdfast.mcp.caller import Caller
from holdfast.mcp.host_context import HostContext
from holdfast.mcp.sdk_server import listing, run_tool
from holdfast.mcp.structured import RATIO_MAX, content, size
from holdfast.mcp.tool import Result, ToolCall
from holdfast.mcp.tools import TOOLS
from holdfast.mcp.toolsets import TOOLSETS

LIST_MAX, SEARCH_MAX, OUTLINE_MAX = 4_000, 1_200, 1_500

NOTE = {"op": "set", "id": "note:shrinking", "value": {"text": "shrinking is in shrinker.py"}}
SNIPPET = (
    "def parse_args(self, args=None, namespace=None):\n    args, argv = self.parse_known_args("
)

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("manage_index", {"action": "status"}),
    ("list_codebases", {}),
    ("search_code", {"query": "how are failing examples shrunk", "limit": 10}),
    ("search_code", {"query": "ArgumentParser.parse_args", "limit": 10}),
    ("search_code", {"query": "where are failing examples kept by default"}),
    ("search_code", {"query": 're:"def .*database"'}),
    ("file_outline", {"file": "argparse.py"}),
    ("call_graph", {"symbol": "ArgumentParser.parse_known_args"}),
    ("locate", {"snippet": SNIPPET}),
    ("clones", {}),
    ("read", {"path": "argparse.py", "offset": 100, "limit": 50}),
    ("memory_commit", {"operations": [NOTE]}),
    ("memory_get", {"id": "note:shrinking"}),
    ("memory_query", {}),
    ("memory_history", {}),
    ("memory_branch", {"action": "list"}),
]


def measure(folder: Path) -> list[Row]:
    """One row for each toolset and each call."""
    rows = []
    for name, tools in {**TOOLSETS, "all": tuple(TOOLS)}.items():
        rows.append(Row(f"list of {name}", _list(tools), "tokens"))
    default = _list(tuple(tool for tools in TOOLSETS.values() for tool in tools))
    rows.append(Row("list by default", default, "tokens", f"{LIST_MAX:,}", default <= LIST_MAX))
    for (tool, arguments), result in zip(CALLS, _answers(folder), strict=True):
        assert not result.failed, result.text
        rows += _rows(tool, arguments, result)
    return rows


def _list(tools: tuple[str, ...]) -> float:
    text = json.dumps([listing(TOOLS[name]) for name in tools], separators=(",", ":"))
    return len(text.encode()) / 4


def _rows(tool: str, arguments: dict[str, Any], result: Result) -> list[Row]:
    asked = next((str(value)[:34] for value in arguments.values()), "")
    goal = {"search_code": SEARCH_MAX, "file_outline": OUTLINE_MAX}.get(tool)
    text = len(result.text.encode()) / 4
    lean = content(tool, result.facts, result.text, "lean")
    sent = 0.0 if lean is None else size(lean) / 4
    allowed = sent <= RATIO_MAX * text
    full = f"all facts: {size(result.facts) / 4:,.0f}"
    met = None if goal is None else text <= goal
    return [
        Row(f"{tool} {asked}", text, "tokens", f"{goal:,}" if goal else "", met, "text"),
        Row("  structured", sent, "tokens", f"{RATIO_MAX} x the text", allowed, full),
    ]


def _answers(folder: Path) -> list[Result]:
    tree = folder / "tree"
    package = Path(hypothesis.__file__).parent
    ignored = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(package, tree / "hypothesis", ignore=ignored)
    shutil.copy(long_module.__file__, tree / "argparse.py")
    context = HostContext(App(folder / "home"))
    caller = Caller(cwd=str(tree))

    def ask(tool: str, arguments: dict[str, Any]) -> Result:
        return run_tool(TOOLS[tool], ToolCall(context, caller, {}), arguments)

    try:
        ask("manage_index", {"action": "create", "wait": 600})
        return [ask(tool, arguments) for tool, arguments in CALLS]
    finally:
        context.close()


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        return report("tokens", measure(Path(folder)))


if __name__ == "__main__":
    takes_none("tokens", __doc__)
    sys.exit(main())
