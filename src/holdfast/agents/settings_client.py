"""Agents that keep servers and hooks in one settings.json: Gemini CLI and its forks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.agents import jsonfile
from holdfast.agents.client import (
    NAME,
    Client,
    InstallTarget,
    found_by,
    put_entry,
    server_entry,
    without_created,
)
from holdfast.agents.hookfile import Entries, ours, with_hooks
from holdfast.agents.plan import Edit, read

HOOK_TIMEOUT_MS = 2000
"""The limit if the client cannot be started; normally it takes at most 0.3 s."""

_SERVER = ("mcpServers", NAME)


@dataclass(frozen=True, slots=True)
class SettingsClient:
    """One such agent: where its settings are, and which event the hook is for."""

    agent: str
    title: str
    folder: str
    event: str
    matcher: str
    next_step: str

    def client(self) -> Client:
        detect = found_by(lambda target: target.home / self.folder, self.agent)
        return Client(
            self.agent, self.title, detect, self._install, self._uninstall, self.next_step
        )

    def _file(self, target: InstallTarget) -> Path:
        return (target.project or target.home) / self.folder / "settings.json"

    def _entries(self, target: InstallTarget) -> Entries:
        call = {
            "type": "command",
            "command": target.hook_command(self.agent),
            "timeout": HOOK_TIMEOUT_MS,
        }
        return {self.event: {"matcher": self.matcher, "hooks": [call]}}

    def _install(self, target: InstallTarget) -> list[Edit]:
        path = self._file(target)
        servers = put_entry(path, _SERVER, server_entry(target), "the tools")
        text = with_hooks(servers.after or "", path, self._entries(target), target)
        return [Edit(path, servers.before, text, "the tools, and a hook: help for failed edits")]

    def _uninstall(self, target: InstallTarget, receipt: Mapping[str, Any]) -> list[Edit]:
        path = self._file(target)
        before = read(path)
        text = before
        if text is not None:
            text = jsonfile.remove_items(text, ("hooks", self.event), ours(target), str(path))
            text = jsonfile.remove(text, _SERVER, str(path))
            text = without_created(path, text, receipt)
        return [Edit(path, before, text, "the tools and a hook")]
