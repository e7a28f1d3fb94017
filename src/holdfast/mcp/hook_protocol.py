"""What a hook inside an agent and the host say to each other, over the host's socket.

One line of JSON each way; a connection may carry any number of such pairs.

    to the host     {"holdfast":"hook","v":1,"agent":"codex","payload":{…}}
    to the agent    {…}

`holdfast` is the first member, which tells the line from a greeting. `payload` is what the agent
gave its hook, unchanged; the host turns it into an event (`agents/hook_event.py`), so that no
adapter decides anything. The answer is what the hook gives the agent. An empty object leaves the
agent's own result as it is, and is the answer to everything that goes wrong: another version, an
unknown agent, a payload that is not understood, an error of ours, and more than `ANSWER_S` seconds.
A host that does not know hooks closes the connection, which means the same.

Protocol history
    1   first version
"""

from __future__ import annotations

import json
from collections.abc import Mapping

TYPE_CHECKING = False  # typing has the same, but takes long to import
if TYPE_CHECKING:
    from typing import Any

HOOK_VERSION = 1
PREFIX = b'{"holdfast":"hook"'
HOOK_TOOL = "hook"
"""The tool that takes an event over MCP, for agents whose hooks may call a tool. Not listed: it is
not for models."""

ANSWER_S = 0.25
"""How long the host may take. The other side waits 0.3 s in all."""

SETTING = "HOLDFAST_HOOK_S"
"""Another time for all sides, in seconds, for a machine that is slow or under test."""


def hook_seconds(environment: Mapping[str, str], default: float) -> float:
    """How long to wait; a value that is not a positive number is ignored."""
    try:
        seconds = float(environment.get(SETTING) or default)
    except ValueError:
        return default
    return seconds if seconds > 0 else default


EMPTY: Mapping[str, Any] = {}
LINE_BYTES_MAX = 16 << 20


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
