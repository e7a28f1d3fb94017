"""Our hooks in a settings file, next to the user's hooks.

Claude Code, Codex, Gemini and Qwen share one layout:

    {"hooks": {"<Event>": [{"matcher": "…", "hooks": [{…}, …]}, …]}}

An entry is ours when every hook in it calls Holdfast: a command that starts `holdfast hook` or the
small client, or a tool of our server. The user's entries keep their bytes and their order.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from holdfast.agents import jsonfile
from holdfast.agents.client import NAME, InstallTarget, without_created
from holdfast.agents.errors import BadSettingsFile
from holdfast.agents.plan import Edit, read

CLIENT_FILES = ("hook_client.py", "hook_client.pl")
HOOK_TOOL = "hook"

_SETTING = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")

Entries = Mapping[str, Mapping[str, Any]]
"""Event -> our entry."""


def put_hooks(
    path: Path, entries: Entries, target: InstallTarget, what: str, former: tuple[str, ...] = ()
) -> Edit:
    """The settings file with our entry in each event; `former` are events we no longer use."""
    before = read(path)
    text, is_ours = before or "", ours(target)
    for event in former:
        if event not in entries and not jsonfile.blank(text):
            text = jsonfile.remove_items(text, ("hooks", event), is_ours, str(path))
    return Edit(path, before, with_hooks(text, path, entries, target), what)


def with_hooks(text: str, path: Path, entries: Entries, target: InstallTarget) -> str:
    """The text of a settings file with our entry in each event."""
    is_ours = ours(target)
    for event, entry in entries.items():
        present = _entries(text, event, path)
        if entry in present and sum(map(is_ours, present)) == 1:
            continue
        text = jsonfile.remove_items(text, ("hooks", event), is_ours, str(path))
        text = jsonfile.append(text, ("hooks", event), dict(entry), str(path))
    return text


def remove_hooks(
    path: Path, events: tuple[str, ...], target: InstallTarget, receipt: Mapping[str, Any]
) -> Edit:
    """The settings file without our entries."""
    before = read(path)
    text = before
    if text is not None:
        for event in events:
            text = jsonfile.remove_items(text, ("hooks", event), ours(target), str(path))
        text = without_created(path, text, receipt)
    return Edit(path, before, text, "hooks")


def ours(target: InstallTarget) -> Callable[[object], bool]:
    """A test for entries that Holdfast wrote, as opposed to the user's own."""
    programs = [command for command in (target.command, target.before) if command]
    commands = {shlex.join([*command, "hook"]) for command in programs}

    def is_ours(entry: object) -> bool:
        if not isinstance(entry, dict) or not isinstance(entry.get("hooks"), list):
            return False
        hooks = [hook for hook in entry["hooks"] if isinstance(hook, dict)]
        return bool(hooks) and all(_calls_us(hook, commands) for hook in hooks)

    return is_ours


def _calls_us(hook: Mapping[str, Any], commands: set[str]) -> bool:
    if hook.get("type") == "mcp_tool":
        return hook.get("server") == NAME and hook.get("tool") == HOOK_TOOL
    command = str(hook.get("command", ""))
    return any(command == one or command.startswith(f"{one} ") for one in commands) or starts_hook(
        command
    )


def starts_hook(command: str) -> bool:
    """Whether a command runs `holdfast hook` or the small client, from any path."""
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    if words[:1] == ["env"]:
        words = [word for word in words[1:] if not _SETTING.match(word)]
    match words:
        case [program, "hook"] | [program, "hook", "--agent", _]:
            return Path(program).name == NAME
        case [_, "-m", module, "hook"] | [_, "-P", "-m", module, "hook"]:
            return module == NAME
        case [_, "-P", "-m", module, "hook", "--agent", _]:
            return module == NAME
        case [_, "-I", "-S", script, _, *_]:
            return Path(script).name == CLIENT_FILES[0]
        case [_, script, _, _, *_]:
            return Path(script).name == CLIENT_FILES[1]
        case _:
            return False


def _entries(text: str, event: str, path: Path) -> list[Any]:
    if jsonfile.blank(text):
        return []
    node = jsonfile.find(jsonfile.scan(text, str(path)), ("hooks", event))
    value = None if node is None else jsonfile.value_of(text, node)
    if node is not None and not isinstance(value, list):
        raise BadSettingsFile(str(path), f"hooks.{event} must be a list")
    return value or []
