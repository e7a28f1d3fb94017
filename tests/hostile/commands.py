"""Every command in a hostile tree, on a terminal of its own, as the program that users start."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from dataclasses import dataclass
from pathlib import Path

from tests.hostile.result import Result
from tests.hostile.surface import RUNS, SERVES, SHOWS, leaves
from tests.hostile.tree import HostileTree

DEADLINE_S = 120.0
"""For one command, on a busy machine. A command that waits for a pipe never ends."""

MEMORY_BYTES = 6 << 30
"""Below the size of the sparse files: who reads one whole, fails."""

_OURS = re.compile(rb"\x1b\[(?:0|1|2|31|32|33)m|\x1b\[K")
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended, and all that reached its terminal; no code when it did not end."""

    code: int | None
    screen: bytes


def program() -> list[str]:
    """The installed command. `python -m` would import modules of the working directory."""
    script = Path(sysconfig.get_path("scripts")) / "holdfast"
    if script.is_file():
        return [str(script)]
    found = shutil.which("holdfast")
    return [found] if found else [sys.executable, "-P", "-m", "holdfast"]


def environment(folder: Path, tree: HostileTree) -> dict[str, str]:
    """Of a user who has the tree's programs on the path, and who set nothing else."""
    return {
        "HOLDFAST_HOME": str(folder / "home"),
        "HOME": str(folder / "user"),
        "PATH": f"{os.environ['PATH']}:{tree.root}/bin:.",
        "LANG": "C.UTF-8",
        "TERM": "xterm",
        "HOLDFAST_MCP_IDLE_S": "30",
        "GIT_EXTERNAL_DIFF": tree.repository.payload("environment"),
        "PAGER": tree.repository.payload("pager"),
        "EDITOR": tree.repository.payload("editor"),
    }


def on_terminal(
    words: list[str],
    cwd: Path,
    environment: dict[str, str],
    given: bytes | None = None,
    deadline_s: float = DEADLINE_S,
) -> Ended:
    """Run a command on a terminal. A server is stopped once it speaks."""
    ours, theirs = pty.openpty()
    limit = f'ulimit -v {MEMORY_BYTES >> 10}; exec "$@"'
    started = subprocess.Popen(
        ["/bin/sh", "-c", limit, "sh", *program(), *words],
        cwd=cwd, env=environment, stdout=theirs, stderr=theirs,
        stdin=subprocess.PIPE if given is not None else subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    if started.stdin is not None:
        with contextlib.suppress(BrokenPipeError):
            started.stdin.write(given or b"")
            started.stdin.close()
    screen, end = b"", time.monotonic() + deadline_s
    while (left := end - time.monotonic()) > 0:
        if not select.select([ours], [], [], left)[0]:
            break
        try:
            read = os.read(ours, 1 << 16)
        except OSError:  # every process that had the terminal has ended
            break
        screen += read
        if words[:1] == [SERVES] and b"agents " in screen:
            started.send_signal(signal.SIGTERM)
    try:
        code: int | None = started.wait(max(1.0, end - time.monotonic()))
        if words[:1] == [SERVES] and code == -signal.SIGTERM:
            code = 0  # it closed down, and then ended by the signal that asked for it
    except subprocess.TimeoutExpired:
        code = None
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()
    os.close(ours)
    return Ended(code, screen)


def run_every_command(tree: HostileTree, folder: Path) -> Result:
    """Run each command as RUNS says; `folder` gets the home."""
    result = Result()
    assert set(RUNS) == set(leaves()), set(RUNS) ^ set(leaves())
    (folder / "user").mkdir(exist_ok=True)
    settings = environment(folder, tree)
    for leaf, runs in RUNS.items():
        for arguments in runs:
            given = _hook_input(tree) if leaf == "hook" else None
            ended = on_terminal([*leaf.split(), *arguments], tree.root, settings, given)
            said = f"holdfast {leaf} {arguments}"[:300]
            result.count(_outcome(ended))
            _judge(result, said, ended)
            if leaf not in SHOWS:
                text = ended.screen.replace(b"\r\n", b"")
                shown = [n for n, secret in tree.secrets.items() if secret.encode() in text]
                if shown:
                    result.problem(f"{said} shows the secret of {shown}")
            for canary in tree.executed():
                result.problem(f"{said} ran a program of the tree: {canary}")
                (tree.proof / canary).unlink()
    judge_home(result, tree, folder / "home")
    return result


def _hook_input(tree: HostileTree) -> bytes:
    asked = {
        "hook_event_name": "PostToolUse", "session_id": "../../x", "cwd": str(tree.root),
        "transcript_path": str(tree.root / "pipe.py"), "tool_name": "Read",
        "tool_input": {"file_path": str(tree.root / "zero.py")},
    }  # fmt: skip
    return json.dumps(asked).encode()


def _outcome(ended: Ended) -> str:
    return {0: "answered", 1: "refused", 2: "refused", 3: "refused", None: "no end"}.get(
        ended.code, "other"
    )


def _judge(result: Result, said: str, ended: Ended) -> None:
    text = ended.screen.decode("utf-8", "replace")
    if ended.code not in (0, 1, 2, 3):
        result.problem(f"{said} ended with {ended.code}: {text[-300:]!r}")
    if "Traceback" in text or "internal error" in text:
        result.problem(f"{said}: {text[-600:]!r}")
    # Progress lines start and end with a carriage return; the terminal adds one to each line.
    left = _OURS.sub(b"", ended.screen).replace(b"\r", b"")
    if (found := _CONTROL.search(left)) is not None:
        around = left[max(0, found.start() - 60) : found.end() + 60]
        result.problem(f"{said} sent a control sequence to the terminal: {around!r}")


def judge_home(result: Result, tree: HostileTree, home: Path) -> None:
    for path in home.rglob("*"):
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            kept = [name for name, secret in tree.secrets.items() if secret.encode() in data]
            if kept:
                result.problem(f"{path.relative_to(home)} keeps the secret of {kept}")
            if path.suffix == ".log" and b"Traceback" in data:
                result.problem(f"{path.name}: {data.decode(errors='replace')[-1500:]}")
