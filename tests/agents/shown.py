"""What a request shows the model, in the same few items for every API, in order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.agents.model import Recorded


@dataclass(frozen=True)
class Said:
    """A text of the user, the assistant or the agent itself."""

    role: str
    text: str


@dataclass(frozen=True)
class Used:
    """A tool call of the model."""

    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Result:
    """What the model was shown as the result of a call."""

    id: str
    text: str


Item = Said | Used | Result


def shown(request: Recorded) -> list[Item]:
    """Everything but the system prompt and the list of tools."""
    body = request.body
    if request.api == "anthropic":
        return list(_anthropic(body.get("messages", [])))
    if request.api in ("responses", "compact"):
        return list(_responses(body.get("input", [])))
    if request.api == "chat":
        return list(_chat(body.get("messages", [])))
    return list(_gemini(body.get("contents", [])))


def results(request: Recorded) -> list[str]:
    """The texts of all tool results."""
    return [item.text for item in shown(request) if isinstance(item, Result)]


def texts(request: Recorded) -> str:
    """Everything that the request shows, as one text."""
    return "\n".join(
        json.dumps(item.arguments) if isinstance(item, Used) else item.text
        for item in shown(request)
    )


def _anthropic(messages: list[Any]) -> Iterator[Item]:
    for message in messages:
        content = message["content"]
        blocks: list[Any] = (
            [{"type": "text", "text": content}] if isinstance(content, str) else content
        )
        for block in blocks:
            if block["type"] == "text":
                yield Said(message["role"], block["text"])
            elif block["type"] == "tool_use":
                yield Used(block["id"], block["name"], block["input"])
            elif block["type"] == "tool_result":
                yield Result(block["tool_use_id"], _joined(block.get("content")))


def _responses(items: list[Any]) -> Iterator[Item]:
    for item in items:
        kind = item.get("type", "message")
        if kind == "message":
            yield Said(item["role"], _joined(item["content"]))
        elif kind == "function_call":
            yield Used(item["call_id"], item["name"], _object(item["arguments"]))
        elif kind == "custom_tool_call":
            yield Used(item["call_id"], item["name"], {"input": item["input"]})
        elif kind.endswith("_call_output"):
            yield Result(item["call_id"], _joined(item["output"]))


def _chat(messages: list[Any]) -> Iterator[Item]:
    for message in messages:
        if message["role"] == "tool":
            yield Result(message["tool_call_id"], _joined(message["content"]))
        elif message["role"] != "system":
            if message.get("content"):
                yield Said(message["role"], _joined(message["content"]))
            for use in message.get("tool_calls") or []:
                function = use["function"]
                yield Used(use["id"], function["name"], _object(function["arguments"]))


def _gemini(contents: list[Any]) -> Iterator[Item]:
    for content in contents:
        for part in content.get("parts", []):
            if "text" in part:
                yield Said(content.get("role", "user"), part["text"])
            elif "functionCall" in part:
                use = part["functionCall"]
                yield Used(str(use.get("id", use["name"])), use["name"], use.get("args", {}))
            elif "functionResponse" in part:
                answer = part["functionResponse"]
                response = answer.get("response", {})
                text = response.get("output", response.get("error"))
                yield Result(
                    str(answer.get("id", answer["name"])),
                    text if isinstance(text, str) else json.dumps(response),
                )


def _joined(content: Any) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return json.dumps(content)
    return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {"input": text}
    return found if isinstance(found, dict) else {"input": found}
