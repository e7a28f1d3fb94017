"""Processes that are killed, stopped or have no room, at any moment: the next one works.

Each victim is a command of ours, ended or stopped after a drawn share of the time that it took
undisturbed. Afterwards the same home is used as a user would.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from holdfast.home import home_of
from holdfast.mcp.control import running
from holdfast.mcp.rendezvous import rendezvous_of
from tests.hostile.commands import program
from tests.hostile.result import Result

WAIT_S = 120.0


class FaultWorld:
    """A tree, a home, and the commands that are run on them."""

    def __init__(self, folder: Path, repeats: int = 5) -> None:
        """A file repeats its text so often: a larger tree is prepared by worker processes."""
        self.tree, self.home = folder / "tree", folder / "home"
        self.tree.mkdir(parents=True)
        self._repeats = repeats
        self.write_tree(0)
        kept = {n: v for n, v in os.environ.items() if not n.startswith("HOLDFAST")}
        self.environment = {
            **kept, "HOLDFAST_HOME": str(self.home), "HOME": str(folder / "user"),
            "HOLDFAST_MCP_ANSWER_S": "5", "PYTHONUNBUFFERED": "1",
        }  # fmt: skip
        (folder / "user").mkdir()

    def write_tree(self, edition: int) -> None:
        """The same functions in files that no cache knows yet."""
        for number in range(40):
            body = f"def function_{number}():\n    return {number}\n" * self._repeats
            (self.tree / f"part_{number}.py").write_text(f"{body}EDITION = {edition}\n")

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*program(), *words], cwd=self.tree, env=self.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def run(self, *words: str) -> tuple[int, str]:
        """A command to its end; code -1 if it has none."""
        with self.start(*words) as started:
            try:
                text, _ = started.communicate(timeout=WAIT_S)
            except subprocess.TimeoutExpired:
                started.kill()
                return -1, f"{words} did not end"
        return started.returncode, text.decode("utf-8", "replace")

    def host_pid(self) -> int | None:
        found = running(rendezvous_of(home_of(self.environment), self.environment))
        return None if found is None else int(found["pid"])

    def close(self) -> None:
        pid = self.host_pid()
        if pid is not None:
            os.kill(pid, signal.SIGKILL)


def check_sound(world: FaultWorld, result: Result, what: str, expected: int) -> None:
    """Acknowledged commits are there, and every verb works."""
    code, text = world.run("memory", "verify")
    if code != 0 or "sound" not in text:
        result.problem(f"after {what}: memory verify: {code} {text[-300:]}")
    code, text = world.run("memory", "list", "--json")
    listed = text.count("note:") if code == 0 else -1
    if listed < expected:
        result.problem(f"after {what}: {listed} of {expected} acknowledged documents")
    code, text = world.run("index", "create", ".")
    if code != 0 and "already" not in text:
        result.problem(f"after {what}: index create: {code} {text[-300:]}")
    code, text = world.run("search", "function_7")
    if code != 0 or "part_7" not in text:
        result.problem(f"after {what}: search: {code} {text[-300:]}")
    if "Traceback" in text:
        result.problem(f"after {what}: {text[-600:]}")


def printed_within(started: subprocess.Popen[bytes], seconds: float) -> bytes:
    """What a process printed within so many seconds."""
    printed, end = b"", time.monotonic() + seconds
    assert started.stdout is not None
    while (left := end - time.monotonic()) > 0:
        if not select.select([started.stdout], [], [], left)[0]:
            break
        piece = os.read(started.stdout.fileno(), 1 << 16)
        if not piece:
            break
        printed += piece
    return printed


VICTIMS: dict[str, Callable[[int], list[str]]] = {
    "writer": lambda n: ["memory", "set", f"note:{n}", json.dumps("x" * 2_000)],
    "index build": lambda n: ["index", "create", "--force"],
    "reader": lambda n: ["read", f"part_{n % 40}.py", "--session", "s"],
    "locate": lambda n: ["locate", "return 7"],
}


def kill(count: int, seed: int, folder: Path, how: int = signal.SIGKILL) -> Result:
    """Kill commands at drawn moments; with SIGSTOP, use the home beside them and let them go on."""
    draw, result, world = random.Random(seed), Result(), FaultWorld(folder)
    acknowledged, took = 0, {}
    for name, words in VICTIMS.items():
        began = time.monotonic()
        code, text = world.run(*words(10_000))
        took[name] = time.monotonic() - began
        acknowledged += name == "writer" and code == 0
        assert code == 0, (name, text)
    for number in range(count):
        name = sorted(VICTIMS)[number % len(VICTIMS)]
        with world.start(*VICTIMS[name](number)) as victim:
            printed = printed_within(victim, took[name] * draw.random())
            _signal_all(victim.pid, how)
            if how == signal.SIGSTOP:
                code, text = world.run("memory", "list")
                result.count(f"{name} stopped: {'answered' if code == 0 else 'refused'} beside it")
                if code not in (0, 1) or "Traceback" in text:
                    result.problem(f"beside a stopped {name}: {code} {text[-300:]}")
                _signal_all(victim.pid, signal.SIGCONT)
            try:
                rest, _ = victim.communicate(timeout=WAIT_S)
            except subprocess.TimeoutExpired:
                victim.kill()
                rest = b""
                result.problem(f"{name} did not go on after it was stopped")
            printed += rest
        if b"Traceback" in printed:
            result.problem(f"{name}: {printed[-500:]!r}")
        if how == signal.SIGKILL:
            result.count(f"{name}: {'killed' if victim.returncode < 0 else 'ended before'}")
        acknowledged += name == "writer" and b"committed" in printed
        if number % len(VICTIMS) == len(VICTIMS) - 1:
            check_sound(world, result, f"{name} {number}, seed {seed}", acknowledged)
    world.close()
    return result


def _signal_all(pid: int, how: int) -> None:
    """Send a signal to a process and to those that it started."""
    for each in (*children(pid), pid):
        try:
            os.kill(each, how)
        except ProcessLookupError:
            continue


def children(pid: int) -> list[int]:
    """The processes that a process started, from whichever of its threads."""
    found = []
    for each in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += [int(word) for word in each.read_text().split()]
    return found


@contextmanager
def small_disk(folder: Path, size_kib: int) -> Iterator[bool]:
    """A disk of its own at a folder, if this machine allows it."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size_kib}k", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=True)


def full_disks(count: int, seed: int, folder: Path) -> Result:
    """A disk that fills up at drawn moments: every command names it, and works with room again."""
    draw, result = random.Random(seed), Result()
    for number in range(count):
        disk = folder / f"disk{number}"
        with small_disk(disk, 4_096) as mounted:
            if not mounted:
                result.count("not possible here: mounting a small disk needs root")
                return result
            world = FaultWorld(disk)
            world.run("memory", "set", "note:first", "1")
            left = draw.choice((0, 4, 40, 200)) * 1024
            free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
            filler = disk / "filler"
            filler.write_bytes(bytes(max(0, free - left)))
            commands = [["memory", "set", "note:x", '"' + "x" * 9_000 + '"'], ["index", "create"],
                        ["read", "part_1.py", "--session", "s"], ["locate", "return 7"],
                        ["keys", "new", "k"], ["doctor"]]  # fmt: skip
            for words in commands:
                code, text = world.run(*words)
                result.count("answered" if code == 0 else "refused")
                if code not in (0, 1, 2) or "Traceback" in text:
                    result.problem(f"full disk, {left} bytes left, seed {seed}: {words}: {text}")
            filler.unlink()
            for words in (["memory", "get", "note:first"], ["memory", "set", "note:y", "2"],
                          ["index", "create"], ["search", "function_7"]):  # fmt: skip
                code, text = world.run(*words)
                if code != 0 and "already" not in text:
                    result.problem(f"with room again ({left} left before): {words}: {text[-400:]}")
    return result
