"""Every tool over MCP, asked about a hostile tree and with hostile arguments."""

from __future__ import annotations

import json
import os
import random
import signal
from pathlib import Path
from typing import Any

from holdfast.home import home_of
from holdfast.mcp.control import running
from holdfast.mcp.rendezvous import rendezvous_of
from holdfast.mcp.tools import TOOLS
from tests.hostile.agent import Agent, NoAnswer
from tests.hostile.commands import environment, judge_home
from tests.hostile.result import Result
from tests.hostile.surface import SHOWING_TOOLS, TOOL_PATHS, strange_calls
from tests.hostile.tree import HostileTree


def stop_host(settings: dict[str, str]) -> None:
    """End the background host of this home, if one runs."""
    found = running(rendezvous_of(home_of(settings), settings))
    if found is not None:
        os.kill(int(found["pid"]), signal.SIGKILL)


def call_every_tool(
    tree: HostileTree, folder: Path, *, every: int = 1, limit: int | None = None, seed: int = 0
) -> Result:
    """Ask each tool about each odd path, then with strange arguments; of these one in `every`.

    With a limit only so many calls of all are made, drawn by the seed.
    """
    result = Result()
    (folder / "user").mkdir(exist_ok=True)
    settings = environment(folder, tree)
    agent = Agent(tree.root, settings)
    try:
        listed = agent.request("tools/list", {})["result"]["tools"]
        names = {tool["name"] for tool in listed}
        assert names == set(TOOLS) == set(TOOL_PATHS), names ^ set(TOOL_PATHS)
        made = agent.call("manage_index", {"action": "create", "path": ".", "wait": 90})
        _judge(result, "manage_index create", "manage_index", made, tree)
        calls: list[tuple[str, dict[str, Any]]] = []
        number = 0
        for tool in listed:
            name, about = tool["name"], TOOL_PATHS[tool["name"]]
            odd = [about(path) for path in tree.odd] if about is not None else [{}]
            base = about("shop/part_1.py") if about is not None else {}
            calls += [(name, arguments) for arguments in odd]
            for arguments in strange_calls(tool["inputSchema"], base):
                number += 1
                if number % every == 0:
                    calls.append((name, arguments))
        if limit is not None and limit < len(calls):
            calls = random.Random(seed).sample(calls, limit)
        for name, arguments in calls:
            _call(result, agent, name, arguments, tree)
    except NoAnswer as error:
        result.problem(str(error))
    finally:
        agent.close()
        stop_host(settings)
    judge_home(result, tree, folder / "home")
    for canary in tree.executed():
        result.problem(f"a tool ran a program of the tree: {canary}")
    return result


def _call(
    result: Result, agent: Agent, name: str, arguments: dict[str, Any], tree: HostileTree
) -> None:
    said = f"{name} {json.dumps(arguments)[:200]}"
    try:
        answer = agent.call(name, arguments)
    except NoAnswer as error:
        result.count("no answer")
        result.problem(f"{said}: {error}")
        raise
    _judge(result, said, name, answer, tree)


def _judge(result: Result, said: str, name: str, answer: dict[str, Any], tree: HostileTree) -> None:
    text = json.dumps(answer)
    if "error" in answer:
        result.count("refused by the protocol")
        if answer["error"]["code"] not in (-32602, -32600):
            result.problem(f"{said}: {text[:400]}")
        return
    result.count("refused" if answer["result"].get("isError") else "answered")
    if "internal error" in text or "Traceback" in text:
        result.problem(f"{said}: {text[:400]}")
    if name not in SHOWING_TOOLS:
        shown = [path for path, secret in tree.secrets.items() if secret in text]
        if shown:
            result.problem(f"{said} shows the secret of {shown}")
    if "root:x:0" in text or "HOLDFAST_HOME=" in text:
        result.problem(f"{said} left the workspace: {text[:300]}")
