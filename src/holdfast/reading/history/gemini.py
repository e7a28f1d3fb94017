"""Session files of Gemini CLI and Qwen Code as steps.

Gemini writes a message under an id and writes it again when its tools have answered: the last
version counts, at the position of the first. `$rewindTo` removes a message and everything after it;
`$set.messages` replaces all messages, as a compression does. Older versions write one JSON object
with all messages.

Qwen writes a tree of records whose content has Gemini's form; after a compression record the model
no longer sees what came before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.reading.history.steps import (
    Called,
    Compacted,
    Context,
    Returned,
    Said,
    Step,
    mapping_or_empty,
    mappings,
    text_of,
)

GEMINI, QWEN = "gemini", "qwen"


def gemini_contexts(name: str, lines: Iterable[object]) -> list[Context]:
    """The one conversation of a session file of Gemini CLI."""
    context = Context(name, GEMINI)
    earlier: list[Step] = []
    messages: dict[str, Mapping[str, Any]] = {}
    for raw in lines:
        if not isinstance(raw, Mapping):
            continue
        rewind, update = raw.get("$rewindTo"), raw.get("$set")
        if isinstance(rewind, str):
            names = list(messages)
            names = names[: names.index(rewind)] if rewind in messages else []
            messages = {one: messages[one] for one in names}
        elif isinstance(update, Mapping):
            if isinstance(update.get("messages"), list):
                earlier += [*_gemini_steps(messages.values(), context), Compacted()]
                messages = {str(one.get("id")): one for one in mappings(update["messages"])}
        elif isinstance(raw.get("id"), str):
            messages[raw["id"]] = raw
        else:
            context.subagent = context.subagent or raw.get("kind") == "subagent"
            folders = raw.get("directories")
            if isinstance(folders, list) and folders and isinstance(folders[0], str):
                context.cwd = folders[0]
            messages |= {str(one.get("id")): one for one in mappings(raw.get("messages"))}
    context.steps = [*earlier, *_gemini_steps(messages.values(), context)]
    return [context]


def _gemini_steps(messages: Iterable[Mapping[str, Any]], context: Context) -> list[Step]:
    out: list[Step] = []
    for message in messages:
        role = "user" if message.get("type") == "user" else "assistant"
        text = text_of(message.get("content"))
        if text and message.get("type") in ("user", "gemini"):
            out.append(Said("user" if role == "user" else "assistant", text))
        for tool in mappings(message.get("toolCalls")):
            call, name = str(tool.get("id")), str(tool.get("name"))
            arguments = mapping_or_empty(tool.get("args"))
            out.append(Called(call, name, arguments))
            failed = tool.get("status") != "success"
            shown = _response(tool.get("result"))
            if shown is not None:
                out.append(Returned(call, name, arguments, shown, None, failed, context.cwd))
    return out


def _response(parts: object) -> str | None:
    """The response of a function, from parts in Gemini's form; None when there is none."""
    texts = []
    for part in [parts] if isinstance(parts, Mapping) else mappings(parts):
        inner = part.get("functionResponse")
        response = inner.get("response") if isinstance(inner, Mapping) else None
        if isinstance(response, Mapping):
            output = response.get("output", response.get("error"))
            texts.append(output if isinstance(output, str) else text_of(output))
    return "\n".join(texts) if texts else None


def qwen_contexts(name: str, lines: Iterable[object]) -> list[Context]:
    """The one conversation of a session file of Qwen Code."""
    context = Context(name, QWEN)
    calls: dict[str, Called] = {}
    ids: set[str] = set()
    for raw in lines:
        if not isinstance(raw, Mapping) or raw.get("uuid") in ids:
            continue
        ids.add(str(raw.get("uuid")))
        if isinstance(raw.get("cwd"), str):
            context.cwd = raw["cwd"]
        if raw.get("type") == "system":
            if raw.get("subtype") == "chat_compression":
                context.steps.append(Compacted())
            continue
        message = raw.get("message")
        for part in mappings(message.get("parts") if isinstance(message, Mapping) else None):
            _qwen_part(context, str(raw.get("type")), part, calls)
    return [context]


def _qwen_part(
    context: Context, kind: str, part: Mapping[str, Any], calls: dict[str, Called]
) -> None:
    request, reply = part.get("functionCall"), part.get("functionResponse")
    if isinstance(request, Mapping):
        call = str(request.get("id"))
        step = Called(call, str(request.get("name")), mapping_or_empty(request.get("args")))
        calls[call] = step
        context.steps.append(step)
    elif isinstance(reply, Mapping):
        called, text = calls.pop(str(reply.get("id")), None), _response(part)
        response = reply.get("response")
        failed = isinstance(response, Mapping) and "error" in response
        if called is not None and text is not None:
            context.steps.append(
                Returned(called.id, called.tool, called.arguments, text, None, failed, context.cwd)
            )
    elif isinstance(part.get("text"), str) and not part.get("thought"):
        context.steps.append(Said("user" if kind == "user" else "assistant", part["text"]))
