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
from contextlib import contextmanager
from pathlib import Path

from holdfast.home import home_of
from holdfast.mcp.control import running
from holdfast.mcp.rendezvous import rendezvous_of
from tests.hostile.agent import Agent, NoAnswer
from tests.hostile.commands import program
from tests.hostile.result import Result

WAIT_S = 120.0


class FaultWorld:
    """A tree, a home, and the commands that are run on them."""

    def __init__(self, folder: Path) -> None:
        self.tree, self.home = folder / "tree", folder / "home"
        self.tree.mkdir(parents=True)
        for number in range(40):
            body = f"def function_{number}():\n    return {number}\n" * 5
            (self.tree / f"part_{number}.py").write_text(body)
        kept = {n: v for n, v in os.environ.items() if not n.startswith("HOLDFAST")}
        self.environment = {
            **kept, "HOLDFAST_HOME": str(self.home), "HOME": str(folder / "user"),
            "HOLDFAST_MCP_ANSWER_S": "5", "PYTHONUNBUFFERED": "1",
        }  # fmt: skip
        (folder / "user").mkdir()

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


def _is_sound(world: FaultWorld, result: Result, what: str, expected: int) -> None:
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


def _after(started: subprocess.Popen[bytes], seconds: float) -> bytes:
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
            printed = _after(victim, took[name] * draw.random())
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
            _is_sound(world, result, f"{name} {number}, seed {seed}", acknowledged)
    world.close()
    return result


def _signal_all(pid: int, how: int) -> None:
    """Send a signal to a process and to those that it started."""
    for each in (*_children(pid), pid):
        try:
            os.kill(each, how)
        except ProcessLookupError:
            continue


def _children(pid: int) -> list[int]:
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [int(word) for word in text.split()]


def hosts(count: int, seed: int, folder: Path) -> Result:
    """Kill or stop the host and kill the shim while an agent calls: the call ends, the next works.

    Also kills the workers of a build that the host runs, and the server.
    """
    draw, result, world = random.Random(seed), Result(), FaultWorld(folder)
    try:
        for number in range(count):
            what = ("host killed", "shim killed", "host stopped", "workers killed")[number % 4]
            agent = Agent(world.tree, world.environment)
            agent.call("manage_index", {"action": "create", "path": ".", "wait": 60})
            force = {"action": "create", "path": ".", "force": True, "wait": 60}
            pending = agent.start("tools/call", {"name": "manage_index", "arguments": force})
            pid = world.host_pid()
            assert pid is not None
            select.select([], [], [], draw.random() * 0.3)
            if what == "host killed":
                os.kill(pid, signal.SIGKILL)
            elif what == "host stopped":
                os.kill(pid, signal.SIGSTOP)
            elif what == "shim killed":
                agent.process.kill()
            else:
                for child in _children(pid):
                    os.kill(child, signal.SIGKILL)
            try:
                agent.answer(pending, WAIT_S)
                result.count(f"{what}: the call ended with an answer")
            except (NoAnswer, OSError):
                if what != "shim killed":
                    result.problem(f"{what}: the call did not end")
                result.count(f"{what}: the agent's connection ended")
            agent.close()
            again = Agent(world.tree, world.environment)
            try:
                read = again.call("read", {"path": "part_1.py"})
                if "function_1" not in json.dumps(read):
                    result.problem(f"{what}: the next read: {json.dumps(read)[:300]}")
            except NoAnswer as error:
                result.problem(f"{what}: the next agent: {error}")
            again.close()
    finally:
        pid = world.host_pid()
        if pid is not None:
            os.kill(pid, signal.SIGCONT)
        world.close()
    return result


def servers(count: int, seed: int, folder: Path) -> Result:
    """Kill `holdfast serve` at drawn moments; each time it starts again on the same home."""
    draw, result, world = random.Random(seed), Result(), FaultWorld(folder)
    for _number in range(count):
        with world.start("serve", "--port", "0") as server:
            printed = _after(server, 0.2 + draw.random() * 2)
            server.kill()
            server.communicate()
        result.count("served" if b"listening" in printed else "killed while starting")
        if b"Traceback" in printed:
            result.problem(f"serve: {printed[-500:]!r}")
    with world.start("serve", "--port", "0") as server:
        assert server.stdout is not None
        if b"listening" not in server.stdout.readline():
            result.problem("serve does not start after it was killed")
        server.terminate()
        server.communicate()
    return result


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
