"""The agents that can be set up, each in its own folder.

client    tools                                      more
claude    ~/.claude.json, or .mcp.json               hooks in settings.json, a skill
          (claude-plugin: the same as a plugin)
codex     ~/.codex/config.toml                       hooks in hooks.json
cursor    ~/.cursor/mcp.json                         -
gemini    ~/.gemini/settings.json                    a hook there
opencode  ~/.config/opencode/opencode.json(c)        a plugin
pi        ~/.pi/agent/extensions/holdfast.ts         it has no MCP: an extension
qwen      ~/.qwen/settings.json                      a hook there
"""

from __future__ import annotations

from holdfast.agents.claude import installer as claude
from holdfast.agents.claude import plugin as claude_plugin
from holdfast.agents.client import Client
from holdfast.agents.codex import installer as codex
from holdfast.agents.cursor import installer as cursor
from holdfast.agents.gemini import installer as gemini
from holdfast.agents.opencode import installer as opencode
from holdfast.agents.pi import installer as pi
from holdfast.agents.qwen import installer as qwen

CLIENTS: dict[str, Client] = {
    module.CLIENT.name: module.CLIENT
    for module in (claude, claude_plugin, codex, cursor, gemini, opencode, pi, qwen)
}
