"""A session file of pi as steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from holdfast.reading.history.steps import (
    Called,
    Compacted,
    Context,
    Returned,
    Said,
    mapping_or_empty,
    mappings,
    text_of,
)

AGENT = "pi"


def contexts(name: str, lines: Iterable[object]) -> list[Context]:
    """The one conversation of a session file."""
    context = Context(name, AGENT)
    calls: dict[str, Called] = {}
    for raw in lines:
        if not isinstance(raw, Mapping):
            continue
        if raw.get("type") == "session" and isinstance(raw.get("cwd"), str):
            context.cwd = raw["cwd"]
        elif raw.get("type") == "compaction":
            context.steps.append(Compacted())
        elif raw.get("type") == "message" and isinstance(raw.get("message"), Mapping):
            _message(context, raw["message"], calls)
    return [context]


def _message(context: Context, message: Mapping[str, object], calls: dict[str, Called]) -> None:
    role, content = message.get("role"), message.get("content")
    if role == "toolResult":
        request = calls.pop(str(message.get("toolCallId")), None)
        if request is not None:
            context.steps.append(
                Returned(
                    request.id,
                    request.tool,
                    request.arguments,
                    text_of(content),
                    message.get("details"),
                    message.get("isError") is True,
                    context.cwd,
                )
            )
        return
    if isinstance(content, str):
        context.steps.append(Said("user" if role == "user" else "assistant", content))
    for block in mappings(content):
        call = block.get("id")
        if block.get("type") == "toolCall" and isinstance(call, str):
            arguments = mapping_or_empty(block.get("arguments"))
            calls[call] = Called(call, str(block.get("name")), arguments)
            context.steps.append(calls[call])
        elif block.get("type") == "text":
            context.steps.append(Said("user" if role == "user" else "assistant", text_of(block)))
