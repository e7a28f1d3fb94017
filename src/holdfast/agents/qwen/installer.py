"""Sets up Qwen Code: the MCP server and a hook, both in settings.json."""

from __future__ import annotations

from holdfast.agents.settings_client import SettingsClient

CLIENT = SettingsClient(
    agent="qwen",
    title="Qwen Code",
    folder=".qwen",
    event="PostToolUseFailure",
    matcher="edit",
    next_step="start qwen; /mcp lists holdfast",
).client()
