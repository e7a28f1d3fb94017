"""The wheel in empty environments, used as a new user would."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from release.pythons import find_python

VERSIONS = ("3.11", "3.12", "3.13")
INHERITED = (
    "PATH",
    "LANG",
    "SSL_CERT_FILE",
    "PIP_",
    "UV_",
    "HTTP",
    "http",
)  # how to reach a registry
SIZE_BYTES_MAX = 120_000_000
"""Without bytecode: pip compiles some 27 MB more, uv does not."""
PYTHON_TRIAL = """
import holdfast
with holdfast.open_space("notes.sqlite") as space:
    space.put("note:a", {"text": "hello"})
    assert space.get("note:a") == {"text": "hello"}
"""


class Failed(Exception):
    """A step of the trial did not do what a user expects."""


def run(dist: Path, versions: list[str] | tuple[str, ...], *, with_uv: bool) -> int:
    """0 if the wheel installs and works with every version."""
    wheel = next(dist.glob("*.whl"), None)
    if wheel is None:
        print("no wheel in dist/; run `python -m release build` first", file=sys.stderr)
        return 2
    try:
        for version in versions:
            _with_pip(wheel, version)
        if with_uv:
            _with_uv(wheel)
    except Failed as failed:
        print(failed, file=sys.stderr)
        return 1
    return 0


def _with_pip(wheel: Path, version: str) -> None:
    python = find_python(version, os.environ)
    if python is None:
        name = f"HOLDFAST_PYTHON{version.replace('.', '')}"
        raise Failed(f"no Python {version} on this machine; set {name} to one")
    with tempfile.TemporaryDirectory(prefix="holdfast smoke ") as place:
        at = Path(place)
        environment = _empty_environment(at)
        _call([str(python), "-m", "venv", str(at / "venv")], at, environment)
        binaries = at / "venv" / "bin"
        _call([str(binaries / "pip"), "install", "-q", str(wheel)], at, environment)
        size = _installed_bytes(at / "venv", leave_out=("pip", "setuptools", "pkg_resources"))
        _call([str(binaries / "python"), "-c", PYTHON_TRIAL], at, environment)
        use([str(binaries / "holdfast")], at, environment)
        print(f"Python {version}: installed by pip ({size / 1e6:.0f} MB without bytecode) and used")
        if size > SIZE_BYTES_MAX:
            raise Failed(f"the base install takes {size / 1e6:.0f} MB")


def _with_uv(wheel: Path) -> None:
    uv = str(Path(sys.executable).parent / "uv")
    with tempfile.TemporaryDirectory(prefix="holdfast smoke ") as place:
        at = Path(place)
        environment = _empty_environment(at) | {
            "UV_TOOL_DIR": str(at / "tools"),
            "UV_TOOL_BIN_DIR": str(at / "bin"),
            "UV_CACHE_DIR": str(at / "cache"),
        }
        python = ["--python", sys.executable]
        _call([uv, "tool", "install", "-q", *python, str(wheel)], at, environment)
        use([str(at / "bin" / "holdfast")], at, environment)
        print("installed by `uv tool install` and used")
        once = [uv, "tool", "run", "-q", *python, "--from", str(wheel), "holdfast", "--version"]
        _call(once, at, environment)
        print("run by `uvx`")


def use(holdfast: list[str], at: Path, environment: dict[str, str]) -> None:
    """Index, search, read twice, remember, and ask the doctor; each must say what it should."""
    tree = at / "shop"
    tree.mkdir()
    (tree / "pay.py").write_text("def charge(card):\n    return card.limit\n" * 9)
    wanted = {
        ("--version",): "holdfast ",
        ("index", "create"): "1 file",
        ("search", "charge a card"): "pay.py",
        ("outline", "pay.py"): "charge",
        ("read", "pay.py", "--session", "demo"): "def charge",
        ("read", "pay.py", "--session", "demo", "--limit", "18"): "unchanged",
        ("memory", "set", "note:plan", '"ship"'): "committed at seq 1",
        ("memory", "get", "note:plan"): "ship",
        ("doctor",): "",
    }
    for words, expected in wanted.items():
        printed = _call([*holdfast, *words], tree, environment)
        if expected not in printed:
            raise Failed(f"holdfast {' '.join(words)}: expected {expected!r}, got {printed!r}")


def _empty_environment(at: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name.startswith(INHERITED)}
    return kept | {"HOME": str(at / "home"), "HOLDFAST_HOME": str(at / "holdfast home")}


def _call(command: list[str], at: Path, environment: dict[str, str]) -> str:
    ran = subprocess.run(
        command, cwd=at, env=environment, capture_output=True, text=True, timeout=600
    )
    if ran.returncode != 0:
        raise Failed(f"{' '.join(command)}\nexit code {ran.returncode}\n{ran.stdout}{ran.stderr}")
    return ran.stdout + ran.stderr


def _installed_bytes(venv: Path, *, leave_out: tuple[str, ...]) -> int:
    packages = next(venv.glob("lib/python*/site-packages"))
    files = (path for path in packages.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return sum(
        path.stat().st_size
        for path in files
        if not path.relative_to(packages).parts[0].startswith(leave_out)
    )
