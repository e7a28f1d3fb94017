"""The adapters by agent. An agent's module is imported at its first event.

Each has `event_of(payload)` and `reply_to(event, outcome)`; see `hook_event.Adapter`.
"""

from __future__ import annotations

from importlib import import_module
from typing import cast

from holdfast.agents.hook_event import (
    Adapter,
    Call,
    EditCall,
    HookEvent,
    Moment,
    Outcome,
    OwnCall,
    PatchCall,
    ReadCall,
    ShellCall,
    ToolUse,
    WriteCall,
)

__all__ = [
    "AGENTS",
    "Adapter",
    "Call",
    "EditCall",
    "HookEvent",
    "Moment",
    "Outcome",
    "OwnCall",
    "PatchCall",
    "ReadCall",
    "ShellCall",
    "ToolUse",
    "WriteCall",
    "adapter_of",
]

AGENTS = {
    "claude-code": "holdfast.agents.claude.hook",
    "codex": "holdfast.agents.codex.hook",
    "gemini": "holdfast.agents.gemini.hook",
    "opencode": "holdfast.agents.opencode.hook",
    "pi": "holdfast.agents.pi.hook",
    "qwen": "holdfast.agents.qwen.hook",
}
"""Agent -> its module."""


def adapter_of(agent: object) -> Adapter | None:
    """The adapter of an agent; None for an unknown agent."""
    name = AGENTS.get(agent) if isinstance(agent, str) else None
    return None if name is None else cast("Adapter", import_module(name))
