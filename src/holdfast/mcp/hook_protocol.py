"""The protocol between a hook inside an agent and the host, over the host's socket.

One line of JSON each way; a connection may carry any number of such pairs.

    to the host     {"holdfast":"hook","v":1,"agent":"codex","payload":{…}}
    to the agent    {…}

`holdfast` is the first member, which distinguishes the line from a greeting. `payload` is what the
agent passed to its hook, unchanged; the host turns it into an event (`agents/hook_event.py`), so
that adapters decide nothing. The hook passes the answer to the agent. An empty object leaves the
agent's own result as it is, and is the answer to every failure: another version, an unknown agent,
an invalid payload, an internal error, or a timeout after `ANSWER_S` seconds. A host without support
for hooks closes the connection, which means the same.

Protocol history
    1   first version
"""

from __future__ import annotations

import json
from collections.abc import Mapping

TYPE_CHECKING = False  # `typing` defines it too, but is slow to import
if TYPE_CHECKING:
    from typing import Any

HOOK_VERSION = 1
PREFIX = b'{"holdfast":"hook"'
HOOK_TOOL = "hook"
"""The tool that receives an event over MCP, for agents whose hooks can call a tool. Not listed,
because it is not for models."""

ANSWER_S = 0.25
"""How long the host may take. The hook waits 0.3 s in total."""

SETTING = "HOLDFAST_HOOK_S"
"""The variable that overrides these times, in seconds, for slow machines and for tests."""


def hook_seconds(environment: Mapping[str, str], default: float) -> float:
    """How long to wait; a value that is not a positive number is ignored."""
    try:
        seconds = float(environment.get(SETTING) or default)
    except ValueError:
        return default
    return seconds if seconds > 0 else default


EMPTY: Mapping[str, Any] = {}


def request_line(agent: str, payload: Mapping[str, Any]) -> bytes:
    """A request, as one line."""
    body = {"holdfast": "hook", "v": HOOK_VERSION, "agent": agent, "payload": payload}
    return json.dumps(body, separators=(",", ":")).encode() + b"\n"


def request_of(line: bytes) -> tuple[str, Mapping[str, Any]] | None:
    """The agent and its payload; None if this host cannot answer the request."""
    try:
        raw = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(raw, dict) or raw.get("v") != HOOK_VERSION:
        return None
    agent, payload = raw.get("agent"), raw.get("payload")
    if not isinstance(agent, str) or not isinstance(payload, dict):
        return None
    return agent, payload


def answer_line(answer: Mapping[str, Any]) -> bytes:
    return json.dumps(answer, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
