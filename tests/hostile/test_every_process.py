"""Every process that we start is in the table of `docs/security.md`, killed and stopped."""

from __future__ import annotations

import ast
import re

import pytest

from tests.architecture import modules, nodes_of
from tests.hostile import table
from tests.hostile.campaigns import CAMPAIGNS

STARTED = {
    "holdfast.index.building.worker_pool": "worker of a build",
    "holdfast.index.facts.extractor": "parsing process",
    "holdfast.index.facts.trial_parse": "trial process",
    "holdfast.index.generations.walk_ahead": "walk of a tree",
    "holdfast.mcp.host_connection": "background host",
    "holdfast.files.git_process": "git",
}
"""Modules that start a process, and its row. `test_one_git.py` finds every way to start one."""
BY_OTHERS = {"a command, a hook", "shim", "web server: dashboard, sync, MCP over HTTP"}


def starts_helper(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("start", "Popen")
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id in ("processes", "subprocess")
    )


def rows() -> dict[str, list[str]]:
    text = table.PAGE.read_text(encoding="utf-8")
    part = text.partition("| process | started by | killed | stopped |\n")[2].partition("\n\n")[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines()]
    return {name: rest for name, *rest in cells[1:]}


@pytest.mark.shows("SEC-KILLED", "SEC-STOPPED")
def test_every_process_has_a_row() -> None:
    candidates = {
        name: path
        for name, path in modules().items()
        if re.search(r"\.(?:start|Popen)\(", path.read_text(encoding="utf-8"))
    }
    starting = {
        name for name, path in candidates.items() if any(map(starts_helper, nodes_of(path)))
    }
    assert starting == set(STARTED)
    assert set(rows()) == set(STARTED.values()) | BY_OTHERS


@pytest.mark.shows("SEC-KILLED", "SEC-STOPPED")
def test_every_row_names_what_kills_and_what_stops_it() -> None:
    root, campaigns = table.PAGE.parents[1], {each.name for each in CAMPAIGNS}
    for name, (_by, killed, stopped) in rows().items():
        for cell, what in ((killed, "KILL|_exit|killed|ends_its"), (stopped, "STOP|stopped")):
            named = re.findall(r"`([^`]+)`", cell)
            assert named, f"{name}: no test"
            for each in named:
                if each not in campaigns:
                    assert re.search(what, (root / each).read_text("utf-8")), f"{name}: {each}"
