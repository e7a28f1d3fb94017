"""`install --focus`: turns focused first reads on for one agent, in the settings of reading.

It adds a separate table to `reading.toml`, so that uninstalling removes exactly that.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.agents import tomlfile
from holdfast.agents.plan import Edit, read
from holdfast.errors import UsageError
from holdfast.reading.focus import MAIN_LINES, SUBAGENT_LINES

AGENTS = {
    "claude": "claude-code",
    "claude-plugin": "claude-code",
    "opencode": "opencode",
    "pi": "pi",
}
"""Clients whose own reads can be answered in focus, and the agent's name in the settings."""
WHAT = "focused first reads: whole first reads of long files are folded"


def turn_on(client: str, path: Path) -> Edit:
    """The edit of `reading.toml` for one client."""
    if client not in AGENTS:
        raise UsageError(
            f"--focus is not possible for {client}: its own reads cannot be answered in focus",
            f"it is possible for {', '.join(AGENTS)}; `holdfast read --focus` works everywhere",
        )
    before = read(path)
    text = before or ""
    focus = tomlfile.loads(text, str(path)).get("focus")
    if focus is True or (isinstance(focus, dict) and focus.get(AGENTS[client])):
        return Edit(path, before, before, WHAT)
    values = {"main_lines": MAIN_LINES, "subagent_lines": SUBAGENT_LINES}
    if focus is False:
        raise UsageError(
            f"{path} says focus = false", "remove that line, then install with --focus again"
        )
    after = tomlfile.put_table(text, ("focus", AGENTS[client]), values, str(path))
    return Edit(path, before, after, WHAT)


def turn_off(client: str, path: Path, receipt: Mapping[str, Any]) -> Edit | None:
    """The edit that removes our table; None when we did not add one."""
    if receipt.get("focus") is not True:
        return None
    before = read(path)
    if before is None:
        return None
    after: str | None = tomlfile.remove_table(before, ("focus", AGENTS[client]), str(path))
    if after is not None and not after.strip() and receipt.get("made", {}).get(str(path)) == "file":
        after = None
    return Edit(path, before, after, WHAT)
