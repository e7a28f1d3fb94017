"""Agents that keep a log as the real ones do, so that what they hold can be proven."""

import json
import uuid
from pathlib import Path
from typing import Any

from mcp import Client
from mcp_types import CallToolResult

from holdfast.mcp.binding import TOOL_USE_ID
from tests.mcp.agents import call, facts_of, text_of


class Claude:
    """Claude Code's transcript: each call is written before it is made, each result after."""

    def __init__(
        self, folder: Path, session: str | None = None, *, structured: bool = False
    ) -> None:
        self.session = session or str(uuid.uuid4())
        self.path = folder / f"{self.session}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._last: str | None = None
        self._structured = structured
        """Newer versions show the model the structured content, as JSON."""

    def line(self, kind: str, parent: str | None = "", **fields: Any) -> str:
        id = str(uuid.uuid4())
        above = self._last if parent == "" else parent
        raw = {"uuid": id, "parentUuid": above, "sessionId": self.session, "type": kind,
               "isSidechain": False, **fields}  # fmt: skip
        with self.path.open("a") as out:
            out.write(json.dumps(raw) + "\n")
        self._last = id
        return id

    def said(self, text: str) -> None:
        self.line("user", message={"role": "user", "content": text})

    def asks(self, tool: str, arguments: dict[str, Any]) -> str:
        """Write a call down; its id."""
        id = f"toolu_{uuid.uuid4().hex}"
        block = {"type": "tool_use", "id": id, "name": f"mcp__holdfast__{tool}", "input": arguments}
        self.line("assistant", message={"id": f"msg_{id}", "role": "assistant", "content": [block]})
        return id

    def is_answered(self, id: str, text: str) -> None:
        block = {
            "type": "tool_result",
            "tool_use_id": id,
            "content": [{"type": "text", "text": text}],
        }
        self.line("user", message={"role": "user", "content": [block]}, toolUseResult=text)

    def compacts(self) -> None:
        before = self._last
        self.line(
            "system",
            None,
            subtype="compact_boundary",
            logicalParentUuid=before,
            content="Conversation compacted",
            compactMetadata={"trigger": "auto"},
        )
        self.said("This session is being continued from a previous conversation.")

    async def uses(self, client: Client, tool: str, **arguments: Any) -> CallToolResult:
        """Call a tool as Claude Code does, with its transcript around it."""
        id = self.asks(tool, arguments)
        result = await call(client, tool, meta={TOOL_USE_ID: id}, **arguments)
        shown = json.dumps(facts_of(result)) if self._structured else text_of(result)
        self.is_answered(id, shown)
        return result


class Codex:
    """Codex's rollout: a straight line of items."""

    def __init__(self, home: Path, thread: str | None = None) -> None:
        self.thread = thread or str(uuid.uuid4())
        folder = home / "sessions" / "2026" / "11" / "16"
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"rollout-2026-11-16T01-02-03-{self.thread}.jsonl"
        self.item("session_meta", {"id": self.thread, "cwd": "/"})

    def item(self, kind: str, payload: dict[str, Any]) -> None:
        raw = {"timestamp": "2026-11-16T01:02:03Z", "type": kind, "payload": payload}
        with self.path.open("a") as out:
            out.write(json.dumps(raw) + "\n")

    def asks(self, tool: str, arguments: dict[str, Any]) -> str:
        """Write a call down; its id."""
        id = f"call_{uuid.uuid4().hex[:12]}"
        self.item("response_item", {"type": "function_call", "name": f"mcp__holdfast__{tool}",
                                    "arguments": json.dumps(arguments), "call_id": id})  # fmt: skip
        return id

    def is_answered(self, id: str, text: str) -> None:
        self.item("response_item",
                  {"type": "function_call_output", "call_id": id, "output": text})  # fmt: skip

    async def uses(self, client: Client, tool: str, **arguments: Any) -> CallToolResult:
        id = self.asks(tool, arguments)
        result = await call(client, tool, meta={"threadId": self.thread}, **arguments)
        self.is_answered(id, json.dumps(facts_of(result)))
        return result
