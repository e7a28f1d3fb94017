"""What all clients share: where an agent keeps its settings, and how our entry is edited.

A client is an agent that can be set up. Its folder has the installer, the hook or extension that
runs inside the agent, and the texts that are copied to it. Installers only read files: they return
a list of edits, which `plan.apply` writes. Only our own keys and files are written; every other
byte of a file stays as it is.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from holdfast.agents import jsonfile
from holdfast.agents.plan import Edit, read

NAME = "holdfast"
JSON = (".json", ".jsonc")


@dataclass(frozen=True, slots=True)
class InstallTarget:
    """Where the settings are, and the command by which an agent starts Holdfast."""

    home: Path
    project: Path | None
    """Set for `--scope project`; otherwise the user's own settings are edited."""
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    before: tuple[str, ...] = ()
    """The command that the previous installation wrote."""
    quick: tuple[str, ...] = ()
    """The small client for hooks, if it belongs to the same installation: `client AGENT [HOME]`."""
    quick_home: tuple[str, ...] = ()
    tools: str = ""
    """The toolsets that the agent lists; empty for the default ones."""

    @property
    def server_words(self) -> list[str]:
        """The arguments that start the MCP server."""
        return ["mcp", *(["--tools", self.tools] if self.tools else [])]

    def hook_command(self, agent: str) -> str:
        """The command that an agent's hook runs."""
        if self.quick:
            return shlex.join([*self.quick, agent, *self.quick_home])
        return shlex.join([*self.command, "hook", "--agent", agent])

    def folder(self, variable: str, default: str) -> Path:
        value = self.environment.get(variable)
        return Path(value) if value else self.home / default


@dataclass(frozen=True, slots=True)
class Client:
    """An agent that can be set up."""

    name: str
    title: str
    detect: Callable[[InstallTarget], bool]
    install: Callable[[InstallTarget], list[Edit]]
    uninstall: Callable[[InstallTarget, Mapping[str, Any]], list[Edit]]
    next_step: str
    next_step_in_project: str = ""
    """The next step for `--scope project`, if it differs."""

    def receipt(
        self,
        edits: list[Edit],
        before: Mapping[str, Any],
        target: InstallTarget,
        folders: list[Path],
    ) -> dict[str, Any]:
        """What uninstalling needs: the files, folders and containers that were created."""
        created = dict(before.get("made", {}))
        for edit in edits:
            if edit.before is None and edit.after is not None:
                created[str(edit.path)] = "file"
            elif edit.needed and str(edit.path) not in created:
                if edit.path.suffix in JSON and jsonfile.blank(edit.before or ""):
                    created[str(edit.path)] = {"blank": edit.before}
                else:
                    created[str(edit.path)] = [list(path) for path in _created_containers(edit)]
        all_folders = {*before.get("folders", ()), *map(str, folders)}
        return {"made": created, "folders": sorted(all_folders), "command": list(target.command)}


def _created_containers(edit: Edit) -> list[tuple[str, ...]]:
    """Paths of the objects and lists that an edit of a JSON file creates for our key."""
    if edit.before is None or edit.after is None or edit.path.suffix not in JSON:
        return []
    before, after = (jsonfile.loads(text, str(edit.path)) for text in (edit.before, edit.after))
    out: list[tuple[str, ...]] = []

    def compare(old: Any, new: Any, path: tuple[str, ...]) -> None:
        if not isinstance(new, dict):
            return
        for key, value in new.items():
            if not isinstance(old, dict) or key not in old:
                if key != NAME and isinstance(value, dict | list):
                    out.append((*path, key))
            else:
                compare(old[key], value, (*path, key))

    compare(before, after, ())
    return out


def put_entry(path: Path, key: tuple[str, ...], value: Any, what: str) -> Edit:
    before = read(path)
    text = before or ""
    entry = jsonfile.loads(text, str(path))
    for name in key:
        entry = entry.get(name) if isinstance(entry, dict) else None
    additions = user_additions(entry)
    return Edit(path, before, jsonfile.put(text, key, {**additions, **value}, str(path)), what)


def user_additions(entry: Any) -> dict[str, Any]:
    """What the user added to our entry, such as `env`."""
    if not isinstance(entry, dict) or "command" not in entry:
        return {}  # another kind of entry, such as a server by URL: its fields do not apply
    return {name: value for name, value in entry.items() if name not in ("url", "headers")}


def remove_entry(path: Path, key: tuple[str, ...], receipt: Mapping[str, Any], what: str) -> Edit:
    before = read(path)
    after = before if before is None else jsonfile.remove(before, key, str(path))
    return Edit(path, before, without_created(path, after, receipt), what)


def without_created(path: Path, text: str | None, receipt: Mapping[str, Any]) -> str | None:
    """The text without empty containers that we created; None if we created the file."""
    created = receipt.get("made", {}).get(str(path))
    if text is None or created is None:
        return text
    if created == "file" or isinstance(created, Mapping):
        gone = None if created == "file" else str(created.get("blank", ""))
        return gone if _is_empty(jsonfile.loads(text, str(path))) else text
    for key in sorted((tuple(map(str, one)) for one in created), key=len, reverse=True):
        node = jsonfile.find(jsonfile.scan(text, str(path)), key)
        if node is not None and _is_empty(jsonfile.value_of(text, node)):
            text = jsonfile.remove(text, key, str(path))
    return text


def _is_empty(value: Any) -> bool:
    """Whether a value contains only empty containers."""
    if isinstance(value, dict):
        return all(_is_empty(one) for one in value.values())
    return isinstance(value, list) and not value


def server_entry(target: InstallTarget) -> dict[str, Any]:
    return {"command": target.command[0], "args": [*target.command[1:], *target.server_words]}


def bundled(package: str, name: str) -> str:
    """A text file that is shipped in the folder of a client."""
    return (resources.files(f"holdfast.agents.{package}") / name).read_text(encoding="utf-8")


def found_by(
    folder: Callable[[InstallTarget], Path], *commands: str
) -> Callable[[InstallTarget], bool]:
    """Detect an agent by one of its commands, or by its settings folder."""

    def detect(target: InstallTarget) -> bool:
        path = target.environment.get("PATH")
        has_command = any(shutil.which(command, path=path) for command in commands)
        return has_command or folder(target).exists()

    return detect
