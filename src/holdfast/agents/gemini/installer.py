"""Sets up Gemini CLI: the MCP server and a hook, both in settings.json."""

from __future__ import annotations

from holdfast.agents.settings_client import SettingsClient

CLIENT = SettingsClient(
    agent="gemini",
    title="Gemini CLI",
    folder=".gemini",
    event="AfterTool",
    matcher="replace",
    next_step="start gemini; /mcp lists holdfast",
).client()
