"""A Claude Code transcript as steps: the conversation, and the subagents in it.

Older versions write what a subagent does into the main transcript, as progress of the call that
started it; newer ones into a separate file. Lines are taken in the order of the file: where a
conversation was rewound, both branches count, because the model read both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from holdfast.reading.history.steps import (
    Blanked,
    Called,
    Compacted,
    Context,
    Returned,
    Said,
    mapping_or_empty,
    mappings,
    text_of,
)

AGENT = "claude-code"


def contexts(name: str, lines: Iterable[object], *, subagent: bool = False) -> list[Context]:
    """The conversation and its subagents, in the order in which they begin."""
    reader = _Reader(Context(name, AGENT, subagent))
    for raw in lines:
        if isinstance(raw, Mapping):
            reader.take(raw)
    return [reader.main, *reader.subagents.values()]


class _Reader:
    def __init__(self, main: Context) -> None:
        self.main = main
        self.subagents: dict[str, Context] = {}
        self._calls: dict[tuple[str, str], Called] = {}
        self._uuids: set[str] = set()

    def take(self, raw: Mapping[str, Any]) -> None:
        uuid = raw.get("uuid")
        # A later compaction appends old lines again with their own ids.
        if isinstance(uuid, str):
            if uuid in self._uuids:
                return
            self._uuids.add(uuid)
        data = raw.get("data")
        if raw.get("type") == "progress" and isinstance(data, Mapping):
            inner, agent = data.get("message"), data.get("agentId")
            if isinstance(inner, Mapping) and isinstance(agent, str):
                self._message(self._subagent(agent), {**inner, "cwd": raw.get("cwd")})
            return
        if raw.get("isSidechain") is True and not self.main.subagent:
            self._message(self._subagent(str(raw.get("agentId"))), raw)
            return
        self._message(self.main, raw)

    def _subagent(self, agent: str) -> Context:
        if agent not in self.subagents:
            name = f"{self.main.name}.{len(self.subagents)}"
            self.subagents[agent] = Context(name, AGENT, subagent=True, cwd=self.main.cwd)
        return self.subagents[agent]

    def _message(self, context: Context, raw: Mapping[str, Any]) -> None:
        cwd, at = raw.get("cwd"), _seconds(raw.get("timestamp"))
        if isinstance(cwd, str):
            context.cwd = cwd
        match raw.get("subtype"):
            case "compact_boundary":
                context.steps.append(Compacted(at))
                return
            case "microcompact_boundary":
                details = raw.get("microcompactMetadata")
                ids = details.get("compactedToolIds") if isinstance(details, Mapping) else None
                texts = filter(_is_text, ids if isinstance(ids, list) else [])
                context.steps.append(Blanked(tuple(texts), at))
                return
            case _:
                pass
        message = raw.get("message")
        if not isinstance(message, Mapping) or raw.get("type") not in ("user", "assistant"):
            return
        content = message.get("content")
        if raw.get("type") == "assistant":
            self._assistant(context, content, at)
        else:
            self._user(context, content, raw, at)

    def _assistant(self, context: Context, content: object, at: float) -> None:
        if isinstance(content, str):
            context.steps.append(Said("assistant", content, at))
        for block in mappings(content):
            call = block.get("id")
            if block.get("type") == "tool_use" and isinstance(call, str):
                step = Called(
                    call, str(block.get("name")), mapping_or_empty(block.get("input")), at
                )
                if (context.name, call) not in self._calls:
                    self._calls[context.name, call] = step
                    context.steps.append(step)
            elif block.get("type") == "text":
                context.steps.append(Said("assistant", text_of(block), at))

    def _user(self, context: Context, content: object, raw: Mapping[str, Any], at: float) -> None:
        results = [b for b in mappings(content) if b.get("type") == "tool_result"]
        if not results:
            text = text_of(content)
            if text:
                context.steps.append(Said("user", text, at))
            return
        detail = raw.get("toolUseResult") if len(results) == 1 else None
        self._report(detail, results, at)
        for block in results:
            call = self._calls.pop((context.name, str(block.get("tool_use_id"))), None)
            if call is not None:
                context.steps.append(
                    Returned(
                        call.id,
                        call.tool,
                        call.arguments,
                        text_of(block.get("content")),
                        detail,
                        block.get("is_error") is True,
                        context.cwd,
                        at,
                    )
                )

    def _report(self, detail: object, results: list[Mapping[str, Any]], at: float) -> None:
        """Add a subagent's final message, which its own lines may lack."""
        agent = detail.get("agentId") if isinstance(detail, Mapping) else None
        context = self.subagents.get(agent) if isinstance(agent, str) else None
        if context is not None:
            context.steps.append(Said("assistant", text_of(results[0].get("content")), at))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _seconds(text: object) -> float:
    try:
        return datetime.fromisoformat(text).timestamp() if isinstance(text, str) else -1.0
    except (ValueError, OverflowError):
        return -1.0
