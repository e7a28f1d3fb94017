"""The long-lived processes killed or stopped: the host of agents, its shims and workers, servers.

Calls of others end, the next one is served, and what is stopped holds up no other process.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import subprocess
import threading
from pathlib import Path

import holdfast
from holdfast.app import DEFAULT_SPACE
from holdfast.errors import HoldfastError
from holdfast.sync.wire.errors import Unreachable
from tests.hostile.agent import Agent, NoAnswer
from tests.hostile.faults import WAIT_S, FaultWorld, check_sound, children, printed_within
from tests.hostile.result import Result

HOST_FAULTS = (
    "host killed", "shim killed", "host stopped", "workers killed", "workers stopped",
    "shim stopped",
)  # fmt: skip
POOLED = 500
"""How often the text of a file is repeated so that worker processes prepare the tree."""


def hosts(count: int, seed: int, folder: Path) -> Result:
    """Kill or stop the host, a shim or the workers of a build while an agent calls.

    The call ends, and the next one works.
    """
    draw, result, world = random.Random(seed), Result(), FaultWorld(folder, POOLED)
    try:
        for number in range(count):
            world.write_tree(number)
            _host_fault(HOST_FAULTS[number % len(HOST_FAULTS)], draw, result, world)
    finally:
        pid = world.host_pid()
        if pid is not None:
            os.kill(pid, signal.SIGCONT)
        world.close()
    return result


BUILDS = 3
"""How many builds may end before their workers are seen."""


def _host_fault(what: str, draw: random.Random, result: Result, world: FaultWorld) -> None:
    agent = Agent(world.tree, world.environment)
    force = {"action": "create", "path": ".", "force": True, "wait": 60}
    pending = agent.start("tools/call", {"name": "manage_index", "arguments": force})
    pid = world.host_pid()
    assert pid is not None
    if what.startswith("workers"):
        # A build may end between two looks; one after the other is a fault.
        for _ in range(BUILDS):
            if _has_workers(pid):
                break
            agent.answer(pending, WAIT_S)
            pending = agent.start("tools/call", {"name": "manage_index", "arguments": force})
        else:
            result.problem(f"{what}: the build has no workers")
    select.select([], [], [], draw.random() * 0.3)
    how = signal.SIGKILL if what.endswith("killed") else signal.SIGSTOP
    for victim in _victims(what, pid, agent):
        try:
            os.kill(victim, how)
        except ProcessLookupError:
            continue
    if what == "shim stopped":
        _is_answered(f"beside a {what}", result, world)
        os.kill(agent.process.pid, signal.SIGCONT)
    try:
        agent.answer(pending, WAIT_S)
        result.count(f"{what}: the call ended with an answer")
    except (NoAnswer, OSError):
        if what != "shim killed":
            result.problem(f"{what}: the call did not end")
        result.count(f"{what}: the agent's connection ended")
    agent.close()
    _is_answered(f"after {what}", result, world)


def _has_workers(host: int) -> bool:
    for _ in range(int(WAIT_S / 0.01)):
        if children(host):
            return True
        select.select([], [], [], 0.01)
    return False


def _victims(what: str, host: int, agent: Agent) -> list[int]:
    named = {"host": [host], "shim": [agent.process.pid]}
    return named.get(what.split()[0]) or children(host)


def _is_answered(what: str, result: Result, world: FaultWorld) -> None:
    agent = Agent(world.tree, world.environment)
    try:
        read = agent.call("read", {"path": "part_1.py", "limit": 2})
        if "function_1" not in json.dumps(read):
            result.problem(f"{what}: a read: {json.dumps(read)[:300]}")
    except NoAnswer as error:
        result.problem(f"{what}: another agent: {error}")
    agent.close()


SERVER_FAULTS = ("killed while starting", "killed in a commit", "stopped in a commit")


def servers(count: int, seed: int, folder: Path) -> Result:
    """Kill `holdfast serve` or stop it: the home works on, and nothing acknowledged is lost."""
    draw, result, world = random.Random(seed), Result(), FaultWorld(folder)
    acknowledged = 0
    for number in range(count):
        what = SERVER_FAULTS[number % len(SERVER_FAULTS)]
        with world.start("serve", "--port", "0", "--json") as server:
            if what == "killed while starting":
                printed = printed_within(server, 0.2 + draw.random() * 2)
            else:
                acknowledged += _while_it_commits(what, server, number, draw, result, world)
                printed = b""
            server.kill()
            printed += server.communicate()[0]
        result.count(what)
        if b"Traceback" in printed:
            result.problem(f"serve {what}: {printed[-500:]!r}")
    with world.start("serve", "--port", "0") as server:
        assert server.stdout is not None
        if b"listening" not in server.stdout.readline():
            result.problem("serve does not start after it was killed")
        server.terminate()
        server.communicate()
    check_sound(world, result, f"servers, seed {seed}", acknowledged)
    return result


def _while_it_commits(
    what: str, server: subprocess.Popen[bytes], number: int, draw: random.Random, result: Result,
    world: FaultWorld,
) -> int:  # fmt: skip
    """How many commits were acknowledged by a server that this happened to."""
    assert server.stdout is not None
    url = json.loads(server.stdout.readline())["url"]
    token = (world.home / "token").read_text(encoding="utf-8").strip()
    writer = _Writer(url, token, number, draw.randrange(1, 12))
    writer.start()
    if not writer.reached.wait(WAIT_S):
        result.problem(f"serve {what}: no commit landed before")
    if what.startswith("killed"):
        server.kill()
        writer.ended.set()
        writer.join(WAIT_S)
        return writer.acknowledged
    server.send_signal(signal.SIGSTOP)
    _beside_a_stopped_server(number, url, token, result, world)
    # One answer may have been on its way.
    writer.goal = writer.acknowledged + 2
    server.send_signal(signal.SIGCONT)
    if not writer.further.wait(WAIT_S):
        result.problem("serve went on and answered no commit")
    writer.ended.set()
    writer.join(WAIT_S)
    return writer.acknowledged


def _beside_a_stopped_server(
    number: int, url: str, token: str, result: Result, world: FaultWorld
) -> None:
    code, text = world.run("memory", "list")
    if code != 0:
        result.problem(f"beside a stopped server: memory list: {code} {text[-300:]}")
    code, text = world.run("memory", "set", f"note:beside-{number}", "1")
    # It may have been stopped in its transaction; then the space is locked, and the error says so.
    if code != 0 and (code != 1 or "another process" not in text):
        result.problem(f"beside a stopped server: memory set: {code} {text[-300:]}")
    try:
        with holdfast.connect(url, DEFAULT_SPACE, token=token, timeout_s=1.0):
            result.problem("a stopped server was connected to")
    except Unreachable:
        pass
    with world.start("serve", "--port", "0") as other:
        assert other.stdout is not None
        if b"listening" not in other.stdout.readline():
            result.problem("beside a stopped server: another one does not start")
        other.terminate()
        other.communicate()


class _Writer(threading.Thread):
    """A client that commits one document after the other, and counts the answers."""

    def __init__(self, url: str, token: str, number: int, before: int) -> None:
        """`reached` is set after so many answers `before`, `further` after `goal`."""
        super().__init__(daemon=True)
        self._url, self._token, self._number, self._before = url, token, number, before
        self.acknowledged, self.goal = 0, 1_000_000
        self.reached, self.further, self.ended = (threading.Event() for _ in range(3))

    def run(self) -> None:
        try:
            with holdfast.connect(self._url, DEFAULT_SPACE, token=self._token) as space:
                while not self.ended.is_set():
                    name = f"note:{self._number}-{self.acknowledged}"
                    space.put(name, {"n": self.acknowledged}, timeout_s=WAIT_S * 2)
                    self.acknowledged += 1
                    if self.acknowledged >= self._before:
                        self.reached.set()
                    if self.acknowledged >= self.goal:
                        self.further.set()
        except (HoldfastError, TimeoutError):
            return
