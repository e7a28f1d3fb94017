"""Sets up Cursor: the MCP server in mcp.json."""

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
    server_entry,
)
from holdfast.agents.plan import Edit


def _file(target: InstallTarget) -> Path:
    return (target.project or target.home) / ".cursor" / "mcp.json"


def _install(target: InstallTarget) -> list[Edit]:
    key = ("mcpServers", NAME)
    return [put_entry(_file(target), key, server_entry(target), "the tools")]


def _uninstall(target: InstallTarget, receipt: Mapping[str, Any]) -> list[Edit]:
    return [remove_entry(_file(target), ("mcpServers", NAME), receipt, "the tools")]


CLIENT = Client(
    "cursor",
    "Cursor",
    found_by(lambda target: target.home / ".cursor", "cursor", "cursor-agent"),
    _install,
    _uninstall,
    "restart Cursor; Settings, MCP lists holdfast",
)
