"""The agents that can be set up, and what each of them needs.

    client    tools                                      besides
    claude    ~/.claude.json, or .mcp.json               hooks in settings.json, a skill
    codex     ~/.codex/config.toml                       -
    cursor    ~/.cursor/mcp.json                         -
    opencode  ~/.config/opencode/opencode.json(c)        -
    pi        ~/.pi/agent/extensions/holdfast.ts         it has no MCP: an extension

Pure but for reading the files: a plan is a list of edits, and `plan.apply` does them. Only keys and
files of ours are written; everything else in a file stays as it is, to the byte.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from holdfast.agents import jsonfile, tomlfile
from holdfast.agents.errors import BadSettingsFile
from holdfast.agents.plan import Edit, read

NAME = "holdfast"
JSON = (".json", ".jsonc")
HOOK_TIMEOUT_S = 5
HOOKS: dict[str, str | None] = {
    "SessionStart": None,
    "PreCompact": None,
    "PostToolUse": "mcp__holdfast__.*",
}
"""Event -> which tools; None for events that are not about tools."""

_SETTING = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


@dataclass(frozen=True, slots=True)
class Place:
    """Where things are on this machine, and how we are started there."""

    home: Path
    project: Path | None
    """Set when the project is to be set up and not the user."""
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    before: tuple[str, ...] = ()
    """How we were started when this was set up the last time."""

    def folder(self, variable: str, default: str) -> Path:
        named = self.environment.get(variable)
        return Path(named) if named else self.home / default


@dataclass(frozen=True, slots=True)
class Client:
    """One agent."""

    name: str
    title: str
    detect: Callable[[Place], bool]
    install: Callable[[Place], list[Edit]]
    uninstall: Callable[[Place, Mapping[str, Any]], list[Edit]]
    next_step: str

    def receipt(
        self, edits: list[Edit], before: Mapping[str, Any], place: Place, folders: list[Path]
    ) -> dict[str, Any]:
        """What to remember: files and folders that were not there, keys that had to be made."""
        made = dict(before.get("made", {}))
        for edit in edits:
            if edit.before is None and edit.after is not None:
                made[str(edit.path)] = "file"
            elif edit.needed and str(edit.path) not in made:
                if edit.path.suffix in JSON and jsonfile.blank(edit.before or ""):
                    made[str(edit.path)] = {"blank": edit.before}
                else:
                    made[str(edit.path)] = [list(path) for path in _new_containers(edit)]
        all_folders = {*before.get("folders", ()), *map(str, folders)}
        return {"made": made, "folders": sorted(all_folders), "command": list(place.command)}


def _new_containers(edit: Edit) -> list[tuple[str, ...]]:
    """Objects and lists that an edit of a JSON file had to make for our key."""
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


def _json_put(path: Path, key: tuple[str, ...], value: Any, what: str) -> Edit:
    before = read(path)
    text = before or ""
    entry = jsonfile.loads(text, str(path))
    for name in key:
        entry = entry.get(name) if isinstance(entry, dict) else None
    kept = _added(entry)
    return Edit(path, before, jsonfile.put(text, key, {**kept, **value}, str(path)), what)


def _added(entry: Any) -> dict[str, Any]:
    """What a user may have put beside what we write in an entry of ours, such as `env`."""
    if not isinstance(entry, dict) or "command" not in entry:
        return {}  # of another kind, such as a server at an address: nothing of it fits
    return {name: value for name, value in entry.items() if name not in ("url", "headers")}


def _json_out(path: Path, key: tuple[str, ...], receipt: Mapping[str, Any], what: str) -> Edit:
    before = read(path)
    after = before if before is None else jsonfile.remove(before, key, str(path))
    return Edit(path, before, _without_made(path, after, receipt), what)


def _without_made(path: Path, text: str | None, receipt: Mapping[str, Any]) -> str | None:
    """The text without containers that we made and that are empty now; None when it was ours."""
    made = receipt.get("made", {}).get(str(path))
    if text is None or made is None:
        return text
    if made == "file" or isinstance(made, Mapping):
        gone = None if made == "file" else str(made.get("blank", ""))
        return gone if _empty(jsonfile.loads(text, str(path))) else text
    for key in sorted((tuple(map(str, one)) for one in made), key=len, reverse=True):
        node = jsonfile.find(jsonfile.scan(text, str(path)), key)
        if node is not None and _empty(jsonfile.value_of(text, node)):
            text = jsonfile.remove(text, key, str(path))
    return text


def _empty(value: Any) -> bool:
    """Whether a value holds nothing but empty containers."""
    if isinstance(value, dict):
        return all(_empty(one) for one in value.values())
    return isinstance(value, list) and not value


def _stdio(place: Place) -> dict[str, Any]:
    return {"command": place.command[0], "args": [*place.command[1:], "mcp"]}


# Claude Code


def _claude_files(place: Place) -> tuple[Path, Path, Path]:
    if place.project is not None:
        folder = place.project / ".claude"
        return place.project / ".mcp.json", folder / "settings.json", folder
    folder = place.folder("CLAUDE_CONFIG_DIR", ".claude")
    inside = place.environment.get("CLAUDE_CONFIG_DIR")
    servers = folder / ".claude.json" if inside else place.home / ".claude.json"
    return servers, folder / "settings.json", folder


def _hook_command(command: tuple[str, ...]) -> str:
    return shlex.join([*command, "hook"])


def _ours(place: Place) -> Callable[[object], bool]:
    """Tells a hook entry that we wrote from one of the user's."""
    written = {_hook_command(command) for command in (place.command, place.before) if command}

    def is_ours(entry: object) -> bool:
        if not isinstance(entry, dict) or not isinstance(entry.get("hooks"), list):
            return False
        hooks = [hook for hook in entry["hooks"] if isinstance(hook, dict)]
        commands = [str(hook.get("command", "")) for hook in hooks]
        return bool(commands) and all(one in written or starts_hook(one) for one in commands)

    return is_ours


def starts_hook(command: str) -> bool:
    """Whether a command is `holdfast hook`, whoever wrote it and wherever that program is."""
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    if words[:1] == ["env"]:
        words = [word for word in words[1:] if not _SETTING.match(word)]
    match words:
        case [program, "hook"]:
            return Path(program).name == NAME
        case [_, "-m", module, "hook"]:
            return module == NAME
        case _:
            return False


def _hook_entry(place: Place, tools: str | None) -> dict[str, Any]:
    start = _hook_command(place.command)
    command = {"type": "command", "command": start, "timeout": HOOK_TIMEOUT_S}
    return {**({} if tools is None else {"matcher": tools}), "hooks": [command]}


def _claude_hooks(place: Place, path: Path) -> Edit:
    before = read(path)
    text, is_ours = before or "", _ours(place)
    for event, tools in HOOKS.items():
        wanted = _hook_entry(place, tools)
        entries = _entries(text, event, path)
        if wanted in entries and sum(map(is_ours, entries)) == 1:
            continue
        text = jsonfile.remove_items(text, ("hooks", event), is_ours, str(path))
        text = jsonfile.append(text, ("hooks", event), wanted, str(path))
    return Edit(path, before, text, "hooks: which conversation this is, and its compactions")


def _entries(text: str, event: str, path: Path) -> list[Any]:
    if jsonfile.blank(text):
        return []
    node = jsonfile.find(jsonfile.scan(text, str(path)), ("hooks", event))
    found = None if node is None else jsonfile.value_of(text, node)
    if node is not None and not isinstance(found, list):
        raise BadSettingsFile(str(path), f"hooks.{event} is no list")
    return found or []


def _claude_install(place: Place) -> list[Edit]:
    servers, settings, folder = _claude_files(place)
    skill = folder / "skills" / NAME / "SKILL.md"
    return [
        _json_put(servers, ("mcpServers", NAME), {"type": "stdio", **_stdio(place)}, "the tools"),
        _claude_hooks(place, settings),
        Edit(skill, read(skill), guidance("skill.md"), "when to use which tool"),
    ]


def _claude_uninstall(place: Place, receipt: Mapping[str, Any]) -> list[Edit]:
    servers, settings, folder = _claude_files(place)
    before = read(settings)
    text = before
    if text is not None:
        for event in HOOKS:
            text = jsonfile.remove_items(text, ("hooks", event), _ours(place), str(settings))
        text = _without_made(settings, text, receipt)
    skill = folder / "skills" / NAME / "SKILL.md"
    return [
        _json_out(servers, ("mcpServers", NAME), receipt, "the tools"),
        Edit(settings, before, text, "hooks"),
        Edit(skill, read(skill), None, "when to use which tool"),
    ]


# Codex


def _codex_file(place: Place) -> Path:
    if place.project is not None:
        return place.project / ".codex" / "config.toml"
    return place.folder("CODEX_HOME", ".codex") / "config.toml"


def _codex_install(place: Place) -> list[Edit]:
    path = _codex_file(place)
    before = read(path)
    servers = tomlfile.loads(before or "", str(path)).get("mcp_servers")
    kept = _added(servers.get(NAME)) if isinstance(servers, dict) else {}
    wanted = {**kept, **_stdio(place)}
    after = tomlfile.put_table(before or "", ("mcp_servers", NAME), wanted, str(path))
    return [Edit(path, before, after, "the tools")]


def _codex_uninstall(place: Place, receipt: Mapping[str, Any]) -> list[Edit]:
    path = _codex_file(place)
    before = read(path)
    after = before
    if before is not None:
        after = tomlfile.remove_table(before, ("mcp_servers", NAME), str(path))
        if not after.strip() and receipt.get("made", {}).get(str(path)) == "file":
            after = None
    return [Edit(path, before, after, "the tools")]


# Cursor


def _cursor_file(place: Place) -> Path:
    return (place.project or place.home) / ".cursor" / "mcp.json"


def _cursor_install(place: Place) -> list[Edit]:
    key = ("mcpServers", NAME)
    return [_json_put(_cursor_file(place), key, _stdio(place), "the tools")]


def _cursor_uninstall(place: Place, receipt: Mapping[str, Any]) -> list[Edit]:
    return [_json_out(_cursor_file(place), ("mcpServers", NAME), receipt, "the tools")]


# OpenCode


def _opencode_folder(place: Place) -> Path:
    return place.folder("XDG_CONFIG_HOME", ".config") / "opencode"


def _opencode_file(place: Place) -> Path:
    folder = place.project or _opencode_folder(place)
    commented = folder / "opencode.jsonc"
    return commented if commented.exists() else folder / "opencode.json"


def _opencode_install(place: Place) -> list[Edit]:
    value = {"type": "local", "command": [*place.command, "mcp"], "enabled": True}
    return [_json_put(_opencode_file(place), ("mcp", NAME), value, "the tools")]


def _opencode_uninstall(place: Place, receipt: Mapping[str, Any]) -> list[Edit]:
    return [_json_out(_opencode_file(place), ("mcp", NAME), receipt, "the tools")]


# pi


def _pi_file(place: Place) -> Path:
    folder = place.project / ".pi" if place.project is not None else None
    folder = folder or place.folder("PI_CODING_AGENT_DIR", ".pi/agent")
    return folder / "extensions" / f"{NAME}.ts"


def _pi_install(place: Place) -> list[Edit]:
    import json

    path = _pi_file(place)
    text = guidance("pi.ts").replace('["holdfast"]', json.dumps(list(place.command)))
    return [Edit(path, read(path), text, "an extension: read, and two commands")]


def _pi_uninstall(place: Place, receipt: Mapping[str, Any]) -> list[Edit]:
    path = _pi_file(place)
    return [Edit(path, read(path), None, "an extension")]


def guidance(name: str) -> str:
    """A text that is shipped with the package."""
    return (resources.files("holdfast.agents") / "data" / name).read_text(encoding="utf-8")


def _there(*commands: str) -> Callable[[Callable[[Place], Path]], Callable[[Place], bool]]:
    def of(folder: Callable[[Place], Path]) -> Callable[[Place], bool]:
        def detect(place: Place) -> bool:
            path = place.environment.get("PATH")
            found = any(shutil.which(command, path=path) for command in commands)
            return found or folder(place).exists()

        return detect

    return of


CLIENTS: dict[str, Client] = {
    client.name: client
    for client in (
        Client(
            "claude",
            "Claude Code",
            _there("claude")(lambda place: place.folder("CLAUDE_CONFIG_DIR", ".claude")),
            _claude_install,
            _claude_uninstall,
            "start claude; /mcp lists holdfast",
        ),
        Client(
            "codex",
            "Codex",
            _there("codex")(lambda place: place.folder("CODEX_HOME", ".codex")),
            _codex_install,
            _codex_uninstall,
            "start codex; /mcp lists holdfast",
        ),
        Client(
            "cursor",
            "Cursor",
            _there("cursor", "cursor-agent")(lambda place: place.home / ".cursor"),
            _cursor_install,
            _cursor_uninstall,
            "restart Cursor; Settings, MCP lists holdfast",
        ),
        Client(
            "opencode",
            "OpenCode",
            _there("opencode")(_opencode_folder),
            _opencode_install,
            _opencode_uninstall,
            "opencode mcp list shows holdfast",
        ),
        Client(
            "pi",
            "pi",
            _there("pi")(lambda place: place.folder("PI_CODING_AGENT_DIR", ".pi/agent")),
            _pi_install,
            _pi_uninstall,
            "start pi, or /reload; /readcache-status answers",
        ),
    )
}
