"""Sets up Codex: the MCP server in config.toml, and hooks in hooks.json.

Codex runs hooks only after the user has trusted them; it asks for that when it starts. We never
write that consent.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.agents import tomlfile
from holdfast.agents.client import (
    NAME,
    Client,
    InstallTarget,
    found_by,
    server_entry,
    user_additions,
)
from holdfast.agents.codex.hook import AGENT
from holdfast.agents.hookfile import put_hooks, remove_hooks
from holdfast.agents.plan import Edit, read


def _file(target: InstallTarget) -> Path:
    if target.project is not None:
        return target.project / ".codex" / "config.toml"
    return target.folder("CODEX_HOME", ".codex") / "config.toml"


HOOK_TIMEOUT_S = 2
"""The limit if the client cannot be started; normally it takes at most 0.3 s."""


def hook_entries(target: InstallTarget) -> dict[str, dict[str, Any]]:
    """Event -> our entry."""
    command = target.hook_command(AGENT)
    call = {"type": "command", "command": command, "timeout": HOOK_TIMEOUT_S}
    return {
        "PreToolUse": {"matcher": "apply_patch", "hooks": [call]},
        "PostToolUse": {"matcher": "Bash|apply_patch", "hooks": [call]},
        "SessionStart": {"matcher": "compact", "hooks": [call]},
    }


EVENTS = ("PreToolUse", "PostToolUse", "SessionStart")


def _install(target: InstallTarget) -> list[Edit]:
    path = _file(target)
    before = read(path)
    servers = tomlfile.loads(before or "", str(path)).get("mcp_servers")
    additions = user_additions(servers.get(NAME)) if isinstance(servers, dict) else {}
    table = {**additions, **server_entry(target)}
    after = tomlfile.put_table(before or "", ("mcp_servers", NAME), table, str(path))
    what = "the hooks: shorter reads, help for failed patches (Codex asks you to trust them)"
    hooks = put_hooks(path.with_name("hooks.json"), hook_entries(target), target, what)
    return [Edit(path, before, after, "the tools"), hooks]


def _uninstall(target: InstallTarget, receipt: Mapping[str, Any]) -> list[Edit]:
    path = _file(target)
    before = read(path)
    after = before
    if before is not None:
        after = tomlfile.remove_table(before, ("mcp_servers", NAME), str(path))
        if not after.strip() and receipt.get("made", {}).get(str(path)) == "file":
            after = None
    hooks = remove_hooks(path.with_name("hooks.json"), EVENTS, target, receipt)
    return [Edit(path, before, after, "the tools"), hooks]


CLIENT = Client(
    "codex",
    "Codex",
    found_by(lambda target: target.folder("CODEX_HOME", ".codex"), "codex"),
    _install,
    _uninstall,
    "start codex and trust the hooks of holdfast when it asks; /mcp lists holdfast",
)
