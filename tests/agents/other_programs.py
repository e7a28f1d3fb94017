"""OpenCode, pi, Gemini CLI and Qwen Code from npm: one prompt each, not interactive."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests import nodejs
from tests.agents.model import Turn, say, scripted_model
from tests.agents.programs import Place, package_file
from tests.agents.shown import results

TEXT = "".join(f"def price_{n}():\n    return {n}\n\n\n" for n in range(30))
UNCHANGED = "unchanged, as you have them; same call again prints all]"

OFFLINE = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}


@contextmanager
def installed(folder: Path, client: str) -> Iterator[Place]:
    """A place with a file `a.py`, a scripted model, and Holdfast installed for one agent."""
    (folder / "work").mkdir()
    with scripted_model(folder / "work") as model:
        place = Place(folder, model, model.script(client)).make()
        (place.work / "a.py").write_text(TEXT)
        place.holdfast_command("install", "--client", client)
        yield place
        place.holdfast_command("mcp", "--stop")


def played(
    program: Callable[..., str], place: Place, *turns: Turn, options: tuple[str, ...] = ()
) -> list[str]:
    """Play turns in one run; returns all results as the last request shows them."""
    place.script.play(*turns, say())
    program(place, "go on", *options)
    assert [one.missing for one in place.script.played() if one.missing] == []
    return results(place.script.played()[-1])


Command = tuple[list[str], dict[str, str]]


def opencode(place: Place, prompt: str, *options: str) -> str:
    """OpenCode; `options` such as `--continue` come before the prompt."""
    return place.run(*opencode_command(place, prompt, *options))


def opencode_command(place: Place, prompt: str, *options: str) -> Command:
    """How OpenCode is started, and what it needs in its environment."""
    folder = place.home / ".config" / "opencode"
    # Beside plugins it installs the types that they may be written with, from the network, and
    # waits for that at every start in a new home. Ours needs none.
    (folder / "node_modules").mkdir(parents=True, exist_ok=True)
    kept = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
    (folder / "package-lock.json").write_text(json.dumps(kept))
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "local",
        "options": {"baseURL": f"{place.model.url}/v1", "apiKey": place.script.key},
        "models": {"scripted": {"limit": {"context": 100_000, "output": 4_000}}},
    }
    content = {
        "autoupdate": False,
        "share": "disabled",
        "model": "local/scripted",
        "small_model": "local/scripted",
        "enabled_providers": ["local"],
        "provider": {"local": provider},
        "permission": {"*": "allow"},
        "compaction": {"prune": "OPENCODE_PRUNE" in place.environment},
    }
    program = package_file(f"opencode-{_platform()}", "bin/opencode")
    return (
        [program, "run", *options, prompt],
        {**OFFLINE, "OPENCODE_CONFIG_CONTENT": json.dumps(content)},
    )


@contextmanager
def opencode_server(place: Place) -> Iterator[str]:
    """OpenCode as a server that goes on between prompts; its address."""
    command, environment = opencode_command(place, "")
    with place.started([command[0], "serve", "--port", "0"], environment) as process:
        assert process.stdout is not None
        for line in process.stdout:
            found = re.search(rb"http://[0-9.]+:[0-9]+", line)
            if found is not None:
                yield found[0].decode()
                return
        raise AssertionError((place.root / "program.log").read_text())


def pi(place: Place, prompt: str, *options: str) -> str:
    """pi; `options` such as `--continue` come before the prompt."""
    return place.run(*pi_command(place, prompt, *options))


def pi_command(place: Place, prompt: str, *options: str) -> Command:
    """How pi is started; the key of its model is in a file."""
    agent = place.home / ".pi" / "agent"
    agent.mkdir(parents=True, exist_ok=True)
    provider = {
        "baseUrl": f"{place.model.url}/v1",
        "api": "openai-completions",
        "apiKey": place.script.key,
        "models": [{"id": "scripted", "contextWindow": 100_000, "maxTokens": 4_000}],
    }
    (agent / "models.json").write_text(json.dumps({"providers": {"local": provider}}))
    command = nodejs.program("@mariozechner/pi-coding-agent", "dist/cli.js")
    return (
        [*command, "--model", "local/scripted", *options, "-p", prompt],
        {"PI_OFFLINE": "1", "PI_TELEMETRY": "0"},
    )


def gemini(place: Place, prompt: str, *options: str) -> str:
    """Gemini CLI."""
    auth = {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}
    _set(place.home / ".gemini" / "settings.json", auth)
    program = package_file("@google/gemini-cli", "bundle/gemini.js")
    return place.run(
        [nodejs.node(), program, "--yolo", "-m", "gemini-2.5-pro", *options, "-p", prompt],
        {
            "GEMINI_API_KEY": place.script.key,
            "GOOGLE_GEMINI_BASE_URL": place.model.url,
            "GEMINI_CLI_DISABLE_AUTOUPDATE": "1",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
    )


def qwen(place: Place, prompt: str, *options: str) -> str:
    """Qwen Code."""
    program = package_file("@qwen-code/qwen-code", "cli.js")
    model = ("--auth-type", "openai", "-m", "scripted")
    return place.run(
        [nodejs.node(), program, "--yolo", *model, *options, "-p", prompt],
        {"OPENAI_API_KEY": place.script.key, "OPENAI_BASE_URL": f"{place.model.url}/v1"},
    )


def reads_found(place: Place, agent: str) -> int:
    """How many reads `holdfast savings` finds where this agent keeps its sessions."""
    return sum(one["reads"] for one in savings_found(place, agent))


def savings_found(place: Place, agent: str) -> list[dict[str, Any]]:
    """What `holdfast savings` says of this agent's sessions."""
    found = json.loads(place.holdfast_command("savings", "--json", "--client", agent))
    return list(found["agents"])


def _set(path: Path, security: dict[str, Any]) -> None:
    """What it needs to run without a terminal, beside what is in its settings."""
    path.parent.mkdir(exist_ok=True)
    given = json.loads(path.read_text()) if path.exists() else {}
    added = {"security": security, "privacy": {"usageStatisticsEnabled": False}}
    path.write_text(json.dumps({**given, **added}, indent=2))


def _platform() -> str:
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)
    return f"{os.uname().sysname.lower()}-{machine}"
