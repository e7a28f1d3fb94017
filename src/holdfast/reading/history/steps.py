"""A conversation as a list of steps, the same for every agent.

For looking back: what was read, what it would have cost, which names were mentioned before. Nothing
here is used for trust: the logs in `hosts` decide that at the pending call. So a reader of history
takes what it understands and skips the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple


class Said(NamedTuple):
    """A text of the user or of the model."""

    role: Literal["user", "assistant"]
    text: str
    at_s: float = -1.0


class Called(NamedTuple):
    """The model called a tool."""

    id: str
    tool: str
    arguments: Mapping[str, Any]
    at_s: float = -1.0


class Returned(NamedTuple):
    """The result of a call, as the model was shown it."""

    id: str
    tool: str
    arguments: Mapping[str, Any]
    text: str
    detail: Any = None
    """What the agent's log stores with the text."""
    failed: bool = False
    cwd: str = ""
    at_s: float = -1.0


class Compacted(NamedTuple):
    """The conversation was summarised: the model no longer sees anything before."""

    at_s: float = -1.0


class Blanked(NamedTuple):
    """The results of these calls were taken out of the context."""

    calls: tuple[str, ...]
    at_s: float = -1.0


Step = Said | Called | Returned | Compacted | Blanked


@dataclass
class Context:
    """One context: a conversation, or one of its subagents."""

    name: str
    agent: str
    """claude-code, codex, pi, opencode, gemini or qwen."""
    subagent: bool = False
    cwd: str = ""
    steps: list[Step] = field(default_factory=list)

    @property
    def kind(self) -> str:
        return f"{self.agent}-sub" if self.subagent else self.agent


def text_of(content: object) -> str:
    """All text of a message or a result, from any kind of block."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return text_of(content.get("text"))
    if isinstance(content, list):
        return "\n".join(filter(None, map(text_of, content)))
    return ""


def mapping_or_empty(value: object) -> Mapping[str, Any]:
    """The arguments of a call; a log may have something else in their place."""
    return value if isinstance(value, Mapping) else {}


def mappings(value: object) -> Iterator[Mapping[str, Any]]:
    """The objects in a list; nothing when it is not a list."""
    for one in value if isinstance(value, list) else ():
        if isinstance(one, Mapping):
            yield one


def strings(value: object, depth: int = 6) -> Iterator[str]:
    """Every text in the arguments of a call."""
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, Mapping):
        for one in value.values():
            yield from strings(one, depth - 1)
    elif depth and isinstance(value, list):
        for one in value:
            yield from strings(one, depth - 1)
