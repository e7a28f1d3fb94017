"""Sets up OpenCode: the MCP server in opencode.json or opencode.jsonc, and a plugin."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.agents.client import (
    NAME,
    Client,
    InstallTarget,
    found_by,
    put_entry,
    remove_entry,
)
from holdfast.agents.plan import Edit, read
from holdfast.agents.scripts import with_host


def _folder(target: InstallTarget) -> Path:
    return target.folder("XDG_CONFIG_HOME", ".config") / "opencode"


def _file(target: InstallTarget) -> Path:
    folder = target.project or _folder(target)
    commented = folder / "opencode.jsonc"
    return commented if commented.exists() else folder / "opencode.json"


def _plugin(target: InstallTarget) -> Path:
    folder = target.project / ".opencode" if target.project is not None else _folder(target)
    return folder / "plugins" / f"{NAME}.js"


def _install(target: InstallTarget) -> list[Edit]:
    value = {"type": "local", "command": [*target.command, *target.server_words], "enabled": True}
    plugin = _plugin(target)
    return [
        put_entry(_file(target), ("mcp", NAME), value, "the tools"),
        Edit(
            plugin,
            read(plugin),
            with_host(target, "opencode", "plugin.js"),
            "a plugin: short answers to repeated reads, help for failed edits",
        ),
    ]


def _uninstall(target: InstallTarget, receipt: Mapping[str, Any]) -> list[Edit]:
    plugin = _plugin(target)
    return [
        remove_entry(_file(target), ("mcp", NAME), receipt, "the tools"),
        Edit(plugin, read(plugin), None, "a plugin"),
    ]


CLIENT = Client(
    "opencode",
    "OpenCode",
    found_by(_folder, "opencode"),
    _install,
    _uninstall,
    "opencode mcp list shows holdfast",
)
