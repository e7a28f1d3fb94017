"""Sets up Codex: the MCP server in config.toml."""

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
from holdfast.agents.plan import Edit, read


def _file(target: InstallTarget) -> Path:
    if target.project is not None:
        return target.project / ".codex" / "config.toml"
    return target.folder("CODEX_HOME", ".codex") / "config.toml"


def _install(target: InstallTarget) -> list[Edit]:
    path = _file(target)
    before = read(path)
    servers = tomlfile.loads(before or "", str(path)).get("mcp_servers")
    kept = user_additions(servers.get(NAME)) if isinstance(servers, dict) else {}
    wanted = {**kept, **server_entry(target)}
    after = tomlfile.put_table(before or "", ("mcp_servers", NAME), wanted, str(path))
    return [Edit(path, before, after, "the tools")]


def _uninstall(target: InstallTarget, receipt: Mapping[str, Any]) -> list[Edit]:
    path = _file(target)
    before = read(path)
    after = before
    if before is not None:
        after = tomlfile.remove_table(before, ("mcp_servers", NAME), str(path))
        if not after.strip() and receipt.get("made", {}).get(str(path)) == "file":
            after = None
    return [Edit(path, before, after, "the tools")]


CLIENT = Client(
    "codex",
    "Codex",
    found_by(lambda target: target.folder("CODEX_HOME", ".codex"), "codex"),
    _install,
    _uninstall,
    "start codex; /mcp lists holdfast",
)
