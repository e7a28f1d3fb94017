"""Sets up Claude Code: the MCP server, the hooks in settings.json, and a skill."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.agents.claude.hook import AGENT, FIELDS
from holdfast.agents.client import (
    NAME,
    Client,
    InstallTarget,
    bundled,
    found_by,
    put_entry,
    remove_entry,
    server_entry,
)
from holdfast.agents.hookfile import HOOK_TOOL, put_hooks, remove_hooks
from holdfast.agents.plan import Edit, read

HOOK_TIMEOUT_S = 1
"""The limit for a shim that hangs; normally it answers within 0.3 s."""

FORMER = ("PreCompact",)
"""Events that earlier versions used."""

_SETTINGS = "the hooks: shorter reads, help for failed edits, what a compaction took"


def hook_entries(server: str) -> dict[str, dict[str, Any]]:
    """Event -> our entry, which calls a tool of our server instead of starting a process."""
    call = {
        "type": "mcp_tool",
        "server": server,
        "tool": HOOK_TOOL,
        "timeout": HOOK_TIMEOUT_S,
        "input": {"agent": AGENT, **{name: f"${{{name}}}" for name in FIELDS}},
    }
    return {
        "PostToolUse": {"matcher": "Read|Bash|Edit|Write", "hooks": [call]},
        "PostToolBatch": {"hooks": [call]},
        "SessionStart": {"matcher": "compact", "hooks": [call]},
    }


EVENTS = (*hook_entries(NAME), *FORMER)


def _files(target: InstallTarget) -> tuple[Path, Path, Path]:
    if target.project is not None:
        folder = target.project / ".claude"
        return target.project / ".mcp.json", folder / "settings.json", folder
    folder = target.folder("CLAUDE_CONFIG_DIR", ".claude")
    inside = target.environment.get("CLAUDE_CONFIG_DIR")
    servers = folder / ".claude.json" if inside else target.home / ".claude.json"
    return servers, folder / "settings.json", folder


def _install(target: InstallTarget) -> list[Edit]:
    servers, settings, folder = _files(target)
    skill = folder / "skills" / NAME / "SKILL.md"
    server = {"type": "stdio", **server_entry(target)}
    return [
        put_entry(servers, ("mcpServers", NAME), server, "the tools"),
        put_hooks(settings, hook_entries(NAME), target, _SETTINGS, FORMER),
        Edit(skill, read(skill), bundled("claude", "skill.md"), "when to use which tool"),
    ]


def _uninstall(target: InstallTarget, receipt: Mapping[str, Any]) -> list[Edit]:
    servers, settings, folder = _files(target)
    skill = folder / "skills" / NAME / "SKILL.md"
    return [
        remove_entry(servers, ("mcpServers", NAME), receipt, "the tools"),
        remove_hooks(settings, EVENTS, target, receipt),
        Edit(skill, read(skill), None, "when to use which tool"),
    ]


CLIENT = Client(
    "claude",
    "Claude Code",
    found_by(lambda target: target.folder("CLAUDE_CONFIG_DIR", ".claude"), "claude"),
    _install,
    _uninstall,
    "start claude; /mcp lists holdfast",
    "start claude in this directory and approve the server holdfast when it asks; /mcp lists it",
)
