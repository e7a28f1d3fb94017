"""One module runs git, and few start any program: checked in the source."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.architecture import modules, nodes_of

MAY_START = {
    "holdfast.files.git_process": {"subprocess"},
    "holdfast.index.processes": {"os.fork", "os.posix_spawn"},  # our own workers
    "holdfast.mcp.host_connection": {"subprocess"},  # our own host
}
"""Modules that start programs, and with what."""

STARTING = {
    "os": {"system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp", "startfile"}
    | {f"{verb}{kind}" for verb in ("exec", "spawn") for kind in ("l", "le", "lp", "lpe")}
    | {f"{verb}{kind}" for verb in ("exec", "spawn") for kind in ("v", "ve", "vp", "vpe")},
    "asyncio": {"create_subprocess_exec", "create_subprocess_shell"},
    "anyio": {"open_process", "run_process"},
    "pty": {"fork", "spawn"},
}
MODULES = {"subprocess", "pexpect", "sh", "git", "pygit2", "dulwich", "concurrent.futures.process"}


def starts(path: Path) -> set[str]:
    """What a module uses to start programs."""
    found = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name in MODULES}
            found |= {a.name for a in node.names if a.name == "multiprocessing"}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
            if node.module in MODULES or node.module in ("multiprocessing", "pty"):
                found.add(node.module)
            taken = STARTING.get(node.module, set())
            found |= {f"{node.module}.{a.name}" for a in node.names if a.name in taken}
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.attr in STARTING.get(node.value.id, set())
        ):
            found.add(f"{node.value.id}.{node.attr}")
    return found


@pytest.mark.shows("SEC-ONE-GIT")
def test_only_these_modules_start_programs() -> None:
    found = {name: starts(path) for name, path in modules().items()}
    assert {name: used for name, used in found.items() if used} == MAY_START


@pytest.mark.shows("SEC-ONE-GIT")
def test_only_one_module_names_git_as_a_program() -> None:
    named = {
        name
        for name, path in modules().items()
        for node in nodes_of(path)
        if isinstance(node, ast.Call)
        and any(isinstance(a, ast.Constant) and a.value == "git" for a in node.args)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("which", "run", "Popen", "check_output")
    }
    assert named == {"holdfast.files.git"}


@pytest.mark.parametrize(
    "source",
    [
        "import subprocess",
        "def f():\n    from subprocess import run",
        "import os\nos.system('x')",
        "from os import execv",
        "import asyncio\nasync def f():\n    await asyncio.create_subprocess_exec('x')",
        "import multiprocessing",
    ],
)
def test_the_check_finds_what_it_looks_for(tmp_path: Path, source: str) -> None:
    (tmp_path / "module.py").write_text(source)
    assert starts(tmp_path / "module.py")
