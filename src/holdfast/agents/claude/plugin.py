"""Claude Code as a plugin: the same tools, hooks, skill and commands in one folder.

For users who manage Claude Code by plugins, or try Holdfast for one session. The folder is also a
marketplace that lists the plugin, so both of these work offline:

    claude --plugin-dir FOLDER/holdfast
    claude plugin marketplace add FOLDER && claude plugin install holdfast@holdfast
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast import __version__
from holdfast.agents.claude.installer import hook_entries
from holdfast.agents.client import NAME, Client, InstallTarget, bundled, server_entry
from holdfast.agents.plan import Edit, read

SERVER = f"plugin:{NAME}:{NAME}"
"""How a hook names the MCP server of its own plugin."""

COMMANDS = {
    "recover": "After a compaction: bring back the lines you used.\n---\n"
    "Call the tool `recover` of holdfast with tokens=4000, then go on.\n",
    "context": "Which files and lines are in context, and what changed since.\n---\n"
    "Call the tool `context` of holdfast and say in a few words what it lists.\n",
}
"""Name -> description and text of a command."""


def folder_of(target: InstallTarget) -> Path:
    if target.project is not None:
        return target.project / ".claude" / f"{NAME}-plugin"
    return target.folder("CLAUDE_CONFIG_DIR", ".claude") / f"{NAME}-plugin"


def files(target: InstallTarget) -> dict[str, str]:
    """Every file of the marketplace by its name."""
    about = "Shorter reads, help for failed edits, code search and memory, each with proof."
    entry = {"name": NAME, "source": f"./{NAME}", "description": about}
    plugin = {
        "name": NAME,
        "version": __version__,
        "description": about,
        "author": {"name": "Holdfast"},
    }
    hooks = {
        "description": about,
        "hooks": {event: [entry] for event, entry in hook_entries(SERVER).items()},
    }
    out = {
        ".claude-plugin/marketplace.json": _json(
            {"name": NAME, "owner": {"name": "Holdfast"}, "plugins": [entry]}
        ),
        f"{NAME}/.claude-plugin/plugin.json": _json(plugin),
        f"{NAME}/.mcp.json": _json({"mcpServers": {NAME: server_entry(target)}}),
        f"{NAME}/hooks/hooks.json": _json(hooks),
        f"{NAME}/skills/{NAME}/SKILL.md": bundled("claude", "skill.md"),
    }
    for name, text in COMMANDS.items():
        about, _, body = text.partition("\n---\n")
        out[f"{NAME}/commands/{name}.md"] = f"---\ndescription: {about}\n---\n{body}"
    return out


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _install(target: InstallTarget) -> list[Edit]:
    folder = folder_of(target)
    return [
        Edit(folder / name, read(folder / name), text, "the plugin")
        for name, text in files(target).items()
    ]


def _uninstall(target: InstallTarget, receipt: Mapping[str, Any]) -> list[Edit]:
    folder = folder_of(target)
    return [Edit(folder / name, read(folder / name), None, "the plugin") for name in files(target)]


CLIENT = Client(
    "claude-plugin",
    "Claude Code plugin",
    lambda target: False,
    _install,
    _uninstall,
    f"claude plugin marketplace add ~/.claude/{NAME}-plugin, then "
    f"claude plugin install {NAME}@{NAME}",
)
