"""Installing into real files of every client, and out of them again."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from holdfast.agents import jsonfile, plan
from holdfast.agents.claude import plugin
from holdfast.agents.claude.installer import hook_entries
from holdfast.agents.client import InstallTarget
from holdfast.agents.clients import CLIENTS
from holdfast.agents.codex.installer import EVENTS
from holdfast.agents.errors import BadSettingsFile, Changed
from holdfast.cli.main import main
from holdfast.reading.config import load
from holdfast.reading.focus import Presets

CLAUDE = """{
  "numStartups": 7,
  "mcpServers": {
    "other": { "command": "x" }
  },
  "projects": {}
}
"""
SETTINGS = """{
  // my own
  "model": "opus",
  "hooks": {
    "PostToolUse": [
      { "matcher": "Edit", "hooks": [{ "type": "command", "command": "fmt" }] }
    ]
  }
}
"""
CODEX = 'model = "x"  # mine\n\n[mcp_servers.other]\ncommand = "y"\n'
GEMINI = """{
  // mine
  "mcpServers": {"other": {"command": "x"}},
  "hooks": {
    "AfterTool": [
      {"matcher": "*", "hooks": [{"type": "command", "command": "audit", "timeout": 100}]}
    ]
  }
}
"""
OPENCODE = '{\n  "$schema": "https://opencode.ai/config.json", // keep\n}\n'

TARGET = InstallTarget(Path("/home/me"), None, ("holdfast",))

FILES = {
    ".claude.json": CLAUDE,
    ".claude/settings.json": SETTINGS,
    ".codex/config.toml": CODEX,
    ".cursor/mcp.json": '{"mcpServers":{}}',
    ".config/opencode/opencode.jsonc": OPENCODE,
    ".gemini/settings.json": GEMINI,
    ".qwen/settings.json": "{}",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("HOLDFAST_HOME", str(home / ".holdfast"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "PI_CODING_AGENT_DIR"):
        monkeypatch.delenv(variable, raising=False)
    return home


def fill(home: Path) -> None:
    for name, text in FILES.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (home / ".pi" / "agent").mkdir(parents=True)


def tree(home: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and ".holdfast" not in path.parts
    }


def run(*argv: str) -> int:
    return main([*argv, "--command", "/opt/bin/holdfast"])


@pytest.mark.shows("AGENT-INSTALL", "AGENT-UNINSTALL")
def test_every_client_is_set_up_and_left_as_it_was(home: Path) -> None:
    fill(home)
    before = tree(home)
    assert run("install", "--client", "all") == 0
    written = tree(home)
    claude = json.loads(written[".claude.json"])
    assert claude["mcpServers"]["holdfast"] == {
        "type": "stdio", "command": "/opt/bin/holdfast", "args": ["mcp"],
    }  # fmt: skip
    assert claude["mcpServers"]["other"] == {"command": "x"}
    codex = tomllib.loads(written[".codex/config.toml"].decode())
    assert codex["mcp_servers"]["holdfast"]["args"] == ["mcp"]
    cursor = json.loads(written[".cursor/mcp.json"])
    assert cursor["mcpServers"]["holdfast"]["command"] == "/opt/bin/holdfast"
    assert b'"command": [\n        "/opt/bin/holdfast",\n        "mcp"' in written[
        ".config/opencode/opencode.jsonc"
    ]  # fmt: skip
    assert b'const COMMAND: string[] = ["/opt/bin/holdfast"];' in written[
        ".pi/agent/extensions/holdfast.ts"
    ]  # fmt: skip
    plugin = written[".config/opencode/plugins/holdfast.js"].decode()
    assert "function askHost(" in plugin
    assert "ask_host" not in plugin
    assert f'const HOME = "{home}/.holdfast"' not in plugin
    gemini = jsonfile.loads(written[".gemini/settings.json"].decode())
    assert [entry["matcher"] for entry in gemini["hooks"]["AfterTool"]] == ["*", "replace"]
    qwen = json.loads(written[".qwen/settings.json"])
    assert qwen["mcpServers"]["holdfast"]["args"] == ["mcp"]
    assert qwen["hooks"]["PostToolUseFailure"][0]["matcher"] == "edit"
    assert b"which tool when" in written[".claude/skills/holdfast/SKILL.md"]
    assert run("uninstall", "--client", "all") == 0
    after = tree(home)
    assert after.keys() == before.keys()
    for name, data in before.items():
        assert after[name] == data, name


@pytest.mark.shows("AGENT-INSTALL")
def test_hooks_stand_beside_those_of_the_user(home: Path) -> None:
    fill(home)
    run("install", "--client", "claude")
    settings = (home / ".claude/settings.json").read_text()
    assert "// my own" in settings
    hooks = jsonfile.loads(settings)["hooks"]
    assert set(hooks) == {"PostToolUse", "PostToolBatch", "SessionStart"}
    assert [entry["matcher"] for entry in hooks["PostToolUse"]] == [
        "Edit",
        "Read|Bash|Edit|Write",
    ]
    called = hooks["SessionStart"][0]["hooks"][0]
    assert (called["type"], called["server"], called["tool"]) == ("mcp_tool", "holdfast", "hook")


@pytest.mark.shows("AGENT-INSTALL")
def test_hooks_of_an_earlier_version_give_way(home: Path) -> None:
    fill(home)
    path = home / ".claude/settings.json"
    entry = '{ "hooks": [{ "type": "command", "command": "/opt/bin/holdfast hook" }] }'
    path.write_text(f'{{"hooks": {{"PreCompact": [{entry}], "SessionStart": [{entry}]}}}}')
    run("install", "--client", "claude")
    hooks = json.loads(path.read_text())["hooks"]
    assert hooks["PreCompact"] == []
    assert [one["hooks"][0]["type"] for one in hooks["SessionStart"]] == ["mcp_tool"]


@pytest.mark.shows("AGENT-INSTALL", "AGENT-UNINSTALL")
def test_codex_gets_hooks_beside_those_of_the_user(home: Path) -> None:
    """Whether they may run is the user's word, which is asked for by Codex and not written."""
    fill(home)
    path = home / ".codex" / "hooks.json"
    path.write_text('{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x"}]}]}}')
    before = tree(home)
    assert main(["install", "--client", "codex"]) == 0
    hooks = json.loads(path.read_text())["hooks"]
    assert [one["hooks"][0]["command"] == "x" for one in hooks["PreToolUse"]] == [True, False]
    command = hooks["PostToolUse"][0]["hooks"][0]["command"]
    assert re.search(r"hook_client\.p[ly] .*codex|hook --agent codex$", command)
    assert "trusted_hash" not in (home / ".codex" / "config.toml").read_text()
    assert main(["install", "--client", "codex"]) == 0
    assert len(json.loads(path.read_text())["hooks"]["PreToolUse"]) == 2
    assert main(["uninstall", "--client", "codex"]) == 0
    assert tree(home) == before


@pytest.mark.shows("AGENT-PLUGIN")
def test_the_plugin_has_the_same_hooks_and_names_its_own_server(home: Path) -> None:
    assert run("install", "--client", "claude-plugin") == 0
    written = tree(home)
    inside = ".claude/holdfast-plugin/holdfast"
    hooks = json.loads(written[f"{inside}/hooks/hooks.json"])["hooks"]
    assert hooks == {event: [one] for event, one in hook_entries(plugin.SERVER).items()}
    assert json.loads(written[f"{inside}/.mcp.json"])["mcpServers"]["holdfast"]["args"] == ["mcp"]
    assert run("uninstall", "--client", "claude-plugin") == 0
    assert tree(home) == {}


FOREIGN = {
    ".codex/hooks.json": '{"hooks": {\r\n\t"PostToolUse": [{"matcher": "Bash", "hooks": '
    '[{"type": "command", "command": "perl mine.pl PYTHON codex"}]}]\r\n}}',
    ".claude/skills/mine/SKILL.md": "mine\n",
    ".claude/holdfast-plugin/notes.txt": "not of the plugin\n",
    ".config/opencode/plugins/mine.js": "export const Mine = async () => ({})\n",
    ".pi/agent/extensions/mine.ts": "export default () => {}\n",
    ".qwen/settings.json": '{"hooks":{"PostToolUseFailure":[{"matcher":"edit","hooks":[{"type":'
    '"command","command":"python -I mine.py qwen"}]}],},}',
    ".cursor/mcp.json": '{\n\t"mcpServers": {\n\t\t// mine\n\t\t"other": {"url": "x"},\n\t},\n}',
}


@pytest.mark.shows("AGENT-INSTALL", "AGENT-UNINSTALL")
@pytest.mark.parametrize("command", [(), ("--command", "/opt/bin/holdfast")], ids=["own", "other"])
@pytest.mark.parametrize("client", CLIENTS)
def test_each_client_alone_leaves_foreign_settings_to_the_byte(
    home: Path, client: str, command: tuple[str, ...]
) -> None:
    """With the small client for hooks of this installation, and with a program elsewhere."""
    fill(home)
    for name, text in FOREIGN.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(text.encode())
    before = tree(home)
    assert main(["install", "--client", client, *command]) == 0
    written = tree(home)
    assert written != before
    assert before.keys() <= written.keys()
    assert main(["uninstall", "--client", client, *command]) == 0
    assert tree(home) == before


@pytest.mark.shows("AGENT-IDEMPOTENT")
@pytest.mark.parametrize("client", CLIENTS)
def test_installing_twice_is_installing_once(
    home: Path, client: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run("install", "--client", client)
    once = tree(home)
    capsys.readouterr()
    assert run("install", "--client", client) == 0
    assert "already set up" in capsys.readouterr().out
    assert tree(home) == once
    assert run("uninstall", "--client", client) == 0
    assert tree(home) == {}, "files that were not there are not there again"


@pytest.mark.shows("AGENT-FOCUS")
def test_focus_is_a_table_of_its_own_and_goes_with_the_client(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = home / ".holdfast" / "reading.toml"
    assert run("install", "--client", "claude") == 0
    assert not path.exists(), "off by default"
    assert run("install", "--client", "claude", "--focus") == 0
    assert load(path).focus_of("claude-code") == Presets(800, 300)
    assert load(path).focus_of("opencode") is None
    assert run("install", "--client", "opencode", "--focus") == 0
    assert run("uninstall", "--client", "claude") == 0
    assert load(path).focus_of("claude-code") is None
    assert load(path).focus_of("opencode") is not None
    assert run("uninstall", "--client", "opencode") == 0
    assert not path.exists() or path.read_text() == ""
    path.write_text("union = true  # mine\n")
    assert run("install", "--client", "pi", "--focus") == 0
    assert run("uninstall", "--client", "pi") == 0
    assert path.read_text() == "union = true  # mine\n"
    capsys.readouterr()
    assert run("install", "--client", "codex", "--focus") == 2
    assert "--focus is not possible for codex" in capsys.readouterr().err


@pytest.mark.shows("AGENT-DRY-RUN")
def test_a_dry_run_shows_and_writes_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(home)
    before = tree(home)
    assert run("install", "--client", "codex", "--dry-run") == 0
    out = capsys.readouterr().out
    assert "would write" in out
    assert "+[mcp_servers.holdfast]" in out
    assert tree(home) == before
    assert run("install", "--client", "codex", "--dry-run", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["clients"][0]["status"] == "planned"


@pytest.mark.shows("AGENT-BACKUP")
def test_what_was_there_is_kept_aside(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(home)
    run("install", "--client", "codex", "--json")
    (kept,) = json.loads(capsys.readouterr().out)["clients"][0]["backups"]
    assert Path(kept).read_text() == CODEX
    assert Path(kept).stat().st_mode & 0o777 == 0o600


def test_a_project_gets_files_of_its_own(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    for client in CLIENTS:
        assert run("install", "--client", client, "--scope", "project") == 0
    made = set(tree(project))
    assert made == {
        ".mcp.json", ".claude/settings.json", ".claude/skills/holdfast/SKILL.md",
        ".codex/config.toml", ".codex/hooks.json", ".cursor/mcp.json", "opencode.json",
        ".pi/extensions/holdfast.ts", ".opencode/plugins/holdfast.js",
        ".gemini/settings.json", ".qwen/settings.json",
        *(f".claude/holdfast-plugin/{name}" for name in plugin.files(TARGET)),
    }  # fmt: skip
    assert tree(home) == {}
    for client in CLIENTS:
        assert run("uninstall", "--client", client, "--scope", "project") == 0
    assert tree(project) == {}


def test_an_update_of_the_program_replaces_what_was_written(home: Path) -> None:
    fill(home)
    run("install", "--client", "claude")
    assert main(["install", "--client", "claude", "--command", "/new/holdfast"]) == 0
    text = (home / ".claude/settings.json").read_text()
    assert text.count('"mcp_tool"') == len(hook_entries("holdfast"))
    assert "/opt/bin" not in (home / ".claude.json").read_text()
    run("uninstall", "--client", "claude")
    assert (home / ".claude/settings.json").read_text() == SETTINGS


def test_changes_made_since_stay(home: Path) -> None:
    run("install", "--client", "cursor")
    path = home / ".cursor/mcp.json"
    value: dict[str, Any] = json.loads(path.read_text())
    value["mcpServers"]["mine"] = {"command": "z"}
    path.write_text(json.dumps(value))
    run("uninstall", "--client", "cursor")
    assert json.loads(path.read_text()) == {"mcpServers": {"mine": {"command": "z"}}}


@pytest.mark.shows("AGENT-INSTALL")
def test_what_a_user_added_to_our_entry_stays(home: Path) -> None:
    cursor, codex = home / ".cursor/mcp.json", home / ".codex/config.toml"
    for path in (cursor, codex):
        path.parent.mkdir(parents=True, exist_ok=True)
    mine = {"command": "old", "args": [], "env": {"HOLDFAST_HOME": "/data"}, "timeout": 1.5}
    cursor.write_text(json.dumps({"mcpServers": {"holdfast": mine}}))
    codex.write_text(
        '[mcp_servers.holdfast]\ncommand = "old"\nstartup_timeout_sec = 20.5\n\n'
        '[mcp_servers.holdfast.env]\nHOLDFAST_HOME = "/data"\n'
    )
    for _ in range(2):
        assert run("install", "--client", "cursor") == 0
        assert run("install", "--client", "codex") == 0
    ours = {"command": "/opt/bin/holdfast", "args": ["mcp"]}
    entry = json.loads(cursor.read_text())["mcpServers"]["holdfast"]
    assert entry == {**mine, **ours}
    table = tomllib.loads(codex.read_text())["mcp_servers"]["holdfast"]
    assert table == {**ours, "startup_timeout_sec": 20.5, "env": {"HOLDFAST_HOME": "/data"}}


@pytest.mark.shows("AGENT-INSTALL")
def test_a_server_at_an_address_gives_way_whole(home: Path) -> None:
    path = home / ".cursor/mcp.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('{"mcpServers": {"holdfast": {"url": "http://127.0.0.1:1/mcp"}}}')
    assert run("install", "--client", "cursor") == 0
    assert "url" not in json.loads(path.read_text())["mcpServers"]["holdfast"]


@pytest.mark.shows("AGENT-BROKEN-FILE")
def test_a_broken_file_is_said_and_left_alone(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(home)
    (home / ".cursor/mcp.json").write_text('{"mcpServers": ')
    assert run("install", "--client", "cursor") == 1
    err = capsys.readouterr().err
    assert "mcp.json cannot be edited: line 1: a value is missing" in err
    assert "hint:" in err
    assert (home / ".cursor/mcp.json").read_text() == '{"mcpServers": '
    assert run("install", "--client", "all") == 1, "the others are set up all the same"
    assert "holdfast" in (home / ".codex/config.toml").read_text()


def test_a_link_into_a_repository_of_dotfiles_stays_a_link(home: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text(CODEX)
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").symlink_to(real)
    run("install", "--client", "codex")
    assert (home / ".codex/config.toml").is_symlink()
    assert "holdfast" in real.read_text()


def test_a_file_that_changed_in_the_meantime_is_left_alone(home: Path, tmp_path: Path) -> None:
    place = InstallTarget(home, None, ("holdfast",), os.environ)
    edits = CLIENTS["codex"].install(place)
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").write_text("mine = 1\n")
    with pytest.raises(Changed):
        plan.apply(edits, tmp_path / "backups", 0.0)
    assert (home / ".codex/config.toml").read_text() == "mine = 1\n"


def test_hooks_of_a_shape_we_do_not_know_are_left_alone(home: Path) -> None:
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").write_text('{"hooks": {"SessionStart": "x"}}')
    with pytest.raises(BadSettingsFile, match="must be a list"):
        CLIENTS["claude"].install(InstallTarget(home, None, ("holdfast",), os.environ))


def test_no_agent_found_is_said(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("install") == 2
    assert "no agent was found" in capsys.readouterr().err


def test_an_agent_uses_the_home_that_was_set_when_it_was_installed(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without this an agent that is started elsewhere would fill another home."""
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "other"))
    assert run("install", "--client", "cursor") == 0
    entry = json.loads((home / ".cursor/mcp.json").read_text())["mcpServers"]["holdfast"]
    assert entry == {
        "command": "env",
        "args": [f"HOLDFAST_HOME={tmp_path / 'other'}", "/opt/bin/holdfast", "mcp"],
    }


def test_an_installation_that_nobody_reads_is_done_all_the_same(tmp_path: Path) -> None:
    """`holdfast install | head -1` set up one agent and called the others broken."""
    for folder in (".codex", ".cursor", ".pi/agent"):
        (tmp_path / folder).mkdir(parents=True)
    reading, writing = os.pipe()
    os.close(reading)
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "holdfast", "install"],
            env=environment, stdout=writing, stderr=subprocess.PIPE, timeout=60, check=False,
        )  # fmt: skip
    finally:
        os.close(writing)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert "holdfast" in (tmp_path / ".codex" / "config.toml").read_text()
    assert "holdfast" in (tmp_path / ".cursor" / "mcp.json").read_text()
    assert (tmp_path / ".pi" / "agent" / "extensions" / "holdfast.ts").is_file()


@pytest.mark.shows("AGENT-IDEMPOTENT", "AGENT-UNINSTALL")
def test_a_program_of_any_name_is_known_again(home: Path) -> None:
    """With `--command /opt/run` every installation added the hooks once more, and an uninstall
    left them all."""
    fill(home)
    before = tree(home)
    for _ in range(2):
        assert main(["install", "--client", "codex", "--command", "/opt/run"]) == 0
    hooks = (home / ".codex/hooks.json").read_text()
    assert hooks.count("/opt/run hook --agent codex") == len(EVENTS)
    assert main(["install", "--client", "codex", "--command", "/opt/other"]) == 0
    assert "/opt/run" not in (home / ".codex/hooks.json").read_text()
    assert main(["uninstall", "--client", "codex"]) == 0
    assert tree(home) == before


@pytest.mark.shows("AGENT-INSTALL", "AGENT-UNINSTALL")
@pytest.mark.parametrize(
    "command",
    [
        "/home/me/holdfast-project/notify hook",
        "my-holdfast-tool hook",
        "git -C holdfast hook",
        "holdfast memory set a hook",
        "'unbalanced holdfast hook",
    ],
)
def test_a_hook_of_the_user_that_looks_like_ours_stays(home: Path, command: str) -> None:
    """Whatever ended in ` hook` and had our name in it was taken for ours, and removed."""
    path = home / ".claude/settings.json"
    path.parent.mkdir()
    theirs = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": command}]}]}}
    path.write_text(json.dumps(theirs))
    assert run("install", "--client", "claude") == 0
    assert run("uninstall", "--client", "claude") == 0
    assert json.loads(path.read_text()) == theirs


def folders(home: Path) -> set[str]:
    found = {str(path.relative_to(home)) for path in home.rglob("*") if path.is_dir()}
    return {name for name in found if not name.startswith(".holdfast")}


@pytest.mark.shows("AGENT-UNINSTALL")
@pytest.mark.parametrize("client", CLIENTS)
def test_folders_are_there_again_that_were_there_and_no_others(home: Path, client: str) -> None:
    """An uninstall removed an empty `~/.codex` of the user and left our `~/.claude/skills`."""
    for there in (False, True):
        if there:
            fill(home)
            for name in FILES:
                (home / name).unlink()
        before = folders(home)
        assert run("install", "--client", client) == 0
        assert run("uninstall", "--client", client) == 0
        assert folders(home) == before


@pytest.mark.shows("AGENT-UNINSTALL")
@pytest.mark.parametrize("blank", ["", "  \n", "\ufeff", "\ufeff\r\n"])
def test_a_file_with_nothing_in_it_has_nothing_in_it_again(home: Path, blank: str) -> None:
    for name in (".claude.json", ".claude/settings.json", ".cursor/mcp.json"):
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_bytes(blank.encode())
    before = tree(home)
    for client in ("claude", "cursor"):
        for _ in range(2):
            assert run("install", "--client", client) == 0
        assert run("uninstall", "--client", client) == 0
    assert tree(home) == before


@pytest.mark.shows("AGENT-UNINSTALL")
def test_receipts_of_the_version_before_are_good(home: Path) -> None:
    run("install", "--client", "cursor")
    path = home / ".holdfast" / "agents" / "receipts.json"
    receipts = json.loads(path.read_text())
    assert receipts["v"] == plan.RECEIPT_VERSION == 2
    made = {client: {"made": one["made"]} for client, one in receipts["receipts"].items()}
    path.write_text(json.dumps({"v": 1, "receipts": made}))
    assert run("uninstall", "--client", "cursor") == 0
    assert tree(home) == {}


@pytest.mark.shows("AGENT-UNINSTALL")
def test_an_uninstall_says_that_there_was_nothing_to_do(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without any agent it ended without a word."""
    assert main(["uninstall"]) == 0
    assert "nothing to uninstall" in capsys.readouterr().out


@pytest.mark.shows("AGENT-UNINSTALL")
def test_the_words_say_what_was_put_in_and_what_was_taken_out(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Uninstalling said "wrote ~/.claude.json, the tools"; in a project nobody was told to approve
    the server."""
    (home / ".claude.json").write_text('{"mcpServers": {"other": {"command": "x"}}}')
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    run("install", "--client", "claude")
    told = capsys.readouterr().out
    assert "wrote" in told
    assert "approve" not in told
    run("install", "--client", "claude", "--scope", "project")
    assert "next: start claude in this directory and approve" in capsys.readouterr().out
    run("uninstall", "--client", "claude", "--dry-run")
    told = capsys.readouterr().out
    assert f"would change {home}/.claude.json\n    took out: the tools" in told
    run("uninstall", "--client", "claude")
    told = capsys.readouterr().out
    assert f"changed {home}/.claude.json\n    took out: the tools" in told
    assert "wrote" not in told


@pytest.mark.shows("AGENT-UNINSTALL")
def test_an_agent_that_has_gone_is_uninstalled_by_its_receipt(home: Path) -> None:
    """`~/.claude.json` kept our entry when the folder `~/.claude` was no longer there."""
    run("install", "--client", "claude")
    for name in (".claude/skills/holdfast/SKILL.md", ".claude/settings.json"):
        (home / name).unlink()
    for name in (".claude/skills/holdfast", ".claude/skills", ".claude"):
        (home / name).rmdir()
    assert "holdfast" in (home / ".claude.json").read_text()
    assert main(["uninstall"]) == 0
    assert tree(home) == {}


@pytest.mark.shows("AGENT-BACKUP")
def test_a_file_in_a_deep_folder_is_kept_aside_too(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The copy was named after the whole path, which may be longer than a name can be."""
    deep = tmp_path / ("ü" * 100) / ("b" * 200)
    (deep / ".cursor").mkdir(parents=True)
    (deep / ".cursor" / "mcp.json").write_text("{}")
    monkeypatch.chdir(deep)
    assert run("install", "--client", "cursor", "--scope", "project") == 0
    (kept,) = (home / ".holdfast" / "agents" / "backups").iterdir()
    assert kept.name.endswith("%.cursor%mcp.json")
    assert kept.read_text() == "{}"


@pytest.mark.shows("INSTALL-TOOLS")
def test_toolsets_are_chosen_at_install(home: Path) -> None:
    assert main(["install", "--client", "claude", "--tools", "search,memory"]) == 0
    written = "".join(p.read_text() for p in home.rglob("*.json") if "backup" not in p.name)
    assert '"--tools"' in written
    assert '"search,memory"' in written
    assert main(["install", "--client", "claude", "--tools", "serch"]) == 2
