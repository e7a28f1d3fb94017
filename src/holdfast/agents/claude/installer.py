"""Sets up Claude Code: the MCP server, the hooks in settings.json, and a skill."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from holdfast.agents import jsonfile
from holdfast.agents.client import (
    NAME,
    Client,
    InstallTarget,
    bundled,
    found_by,
    put_entry,
    remove_entry,
    server_entry,
    without_created,
)
from holdfast.agents.errors import BadSettingsFile
from holdfast.agents.plan import Edit, read

HOOK_TIMEOUT_S = 5
HOOKS: dict[str, str | None] = {
    "SessionStart": None,
    "PreCompact": None,
    "PostToolUse": "mcp__holdfast__.*",
}
"""Event -> which tools; None for events that are not about tools."""

_SETTING = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


def _files(target: InstallTarget) -> tuple[Path, Path, Path]:
    if target.project is not None:
        folder = target.project / ".claude"
        return target.project / ".mcp.json", folder / "settings.json", folder
    folder = target.folder("CLAUDE_CONFIG_DIR", ".claude")
    inside = target.environment.get("CLAUDE_CONFIG_DIR")
    servers = folder / ".claude.json" if inside else target.home / ".claude.json"
    return servers, folder / "settings.json", folder


def _hook_command(command: tuple[str, ...]) -> str:
    return shlex.join([*command, "hook"])


def _ours(target: InstallTarget) -> Callable[[object], bool]:
    """A test for hook entries that Holdfast wrote, as opposed to the user's own."""
    written = {_hook_command(command) for command in (target.command, target.before) if command}

    def is_ours(entry: object) -> bool:
        if not isinstance(entry, dict) or not isinstance(entry.get("hooks"), list):
            return False
        hooks = [hook for hook in entry["hooks"] if isinstance(hook, dict)]
        commands = [str(hook.get("command", "")) for hook in hooks]
        return bool(commands) and all(one in written or starts_hook(one) for one in commands)

    return is_ours


def starts_hook(command: str) -> bool:
    """Whether a command runs `holdfast hook`, from any path."""
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    if words[:1] == ["env"]:
        words = [word for word in words[1:] if not _SETTING.match(word)]
    match words:
        case [program, "hook"]:
            return Path(program).name == NAME
        case [_, "-m", module, "hook"] | [_, "-P", "-m", module, "hook"]:
            return module == NAME
        case _:
            return False


def _hook_entry(target: InstallTarget, tools: str | None) -> dict[str, Any]:
    start = _hook_command(target.command)
    command = {"type": "command", "command": start, "timeout": HOOK_TIMEOUT_S}
    return {**({} if tools is None else {"matcher": tools}), "hooks": [command]}


def _hooks(target: InstallTarget, path: Path) -> Edit:
    before = read(path)
    text, is_ours = before or "", _ours(target)
    for event, tools in HOOKS.items():
        wanted = _hook_entry(target, tools)
        entries = _entries(text, event, path)
        if wanted in entries and sum(map(is_ours, entries)) == 1:
            continue
        text = jsonfile.remove_items(text, ("hooks", event), is_ours, str(path))
        text = jsonfile.append(text, ("hooks", event), wanted, str(path))
    return Edit(path, before, text, "hooks: report the conversation and its compactions")


def _entries(text: str, event: str, path: Path) -> list[Any]:
    if jsonfile.blank(text):
        return []
    node = jsonfile.find(jsonfile.scan(text, str(path)), ("hooks", event))
    found = None if node is None else jsonfile.value_of(text, node)
    if node is not None and not isinstance(found, list):
        raise BadSettingsFile(str(path), f"hooks.{event} must be a list")
    return found or []


def _install(target: InstallTarget) -> list[Edit]:
    servers, settings, folder = _files(target)
    skill = folder / "skills" / NAME / "SKILL.md"
    server = {"type": "stdio", **server_entry(target)}
    return [
        put_entry(servers, ("mcpServers", NAME), server, "the tools"),
        _hooks(target, settings),
        Edit(skill, read(skill), bundled("claude", "skill.md"), "when to use which tool"),
    ]


def _uninstall(target: InstallTarget, receipt: Mapping[str, Any]) -> list[Edit]:
    servers, settings, folder = _files(target)
    before = read(settings)
    text = before
    if text is not None:
        for event in HOOKS:
            text = jsonfile.remove_items(text, ("hooks", event), _ours(target), str(settings))
        text = without_created(settings, text, receipt)
    skill = folder / "skills" / NAME / "SKILL.md"
    return [
        remove_entry(servers, ("mcpServers", NAME), receipt, "the tools"),
        Edit(settings, before, text, "hooks"),
        Edit(skill, read(skill), None, "when to use which tool"),
    ]


CLIENT = Client(
    "claude",
    "Claude Code",
    found_by(lambda target: target.folder("CLAUDE_CONFIG_DIR", ".claude"), "claude"),
    _install,
    _uninstall,
    "start claude; /mcp lists holdfast",
)
