"""The real agents, from npm at pinned versions, each with an empty environment and its own home."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests import nodejs
from tests.agents.model import Model, Script

TIMEOUT_S = 120.0
HOLDFAST = str(Path(sys.executable).parent / "holdfast")


def package_file(package: str, path: str) -> str:
    """A file of an installed package."""
    assert nodejs.installed(), "programs from npm are missing: run make .node/installed"
    file = nodejs.TARGET / "node_modules" / package / path
    assert file.exists(), f"{package} has no {path}"
    return str(file)


@dataclass
class Place:
    """A throw-away home, a working tree and a home of Holdfast."""

    root: Path
    model: Model
    script: Script
    environment: dict[str, str] = field(default_factory=dict)
    """Set besides what every program gets."""

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def holdfast(self) -> Path:
        return self.root / "holdfast"

    def make(self) -> Place:
        for folder in (self.home, self.work, self.holdfast, self.root / "tmp"):
            folder.mkdir(exist_ok=True, parents=True)
        return self

    def base(self) -> dict[str, str]:
        """Nothing of the environment that the tests run in."""
        path = f"{nodejs.wheel() / 'bin'}{os.pathsep}/usr/local/bin:/usr/bin:/bin"
        return {
            "PATH": path,
            "HOME": str(self.home),
            "TMPDIR": str(self.root / "tmp"),
            "HOLDFAST_HOME": str(self.holdfast),
            "HOLDFAST_HOOK_S": "10",  # tests assert no times
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            **self.environment,
        }

    def holdfast_command(self, *arguments: str) -> str:
        """Run `holdfast` as the user of this home."""
        done = subprocess.run(
            [HOLDFAST, *arguments],
            cwd=self.work,
            env=self.base(),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @contextmanager
    def warm_host(self) -> Iterator[None]:
        """A background host that runs already, as it does for every agent but the first."""
        with subprocess.Popen(
            [HOLDFAST, "mcp"],
            cwd=self.work,
            env=self.base(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as shim:
            assert shim.stdin is not None
            assert shim.stdout is not None
            shim.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
            shim.stdin.flush()
            assert b'"id":1' in shim.stdout.readline()
            try:
                yield
            finally:
                shim.stdin.close()
                shim.wait(20)
                self.holdfast_command("mcp", "--stop")

    def run(self, command: list[str], environment: Mapping[str, str]) -> str:
        """Run a program to its end; everything that it started ends with it."""
        with (self.root / "program.log").open("ab") as log:
            process = subprocess.Popen(
                command,
                cwd=self.work,
                env={**self.base(), **environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
            try:
                out, _ = process.communicate(timeout=TIMEOUT_S)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                raise
        return out.decode("utf-8", "replace")


def claude(place: Place, prompt: str, *options: str) -> str:
    """Claude Code, one prompt, not interactive."""
    settings = place.home / ".claude.json"
    if not settings.exists():
        settings.write_text(json.dumps({"hasCompletedOnboarding": True}))
    program = package_file(f"@anthropic-ai/claude-code-{_platform()}", "claude")
    return place.run(
        [program, "-p", prompt, "--permission-mode", "bypassPermissions", *options],
        {
            "ANTHROPIC_BASE_URL": place.model.url,
            "ANTHROPIC_API_KEY": place.script.key,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "IS_SANDBOX": "1",
        },
    )


def codex(place: Place, prompt: str, *options: str, model: str = "gpt-5.5") -> str:
    """Codex, one prompt, not interactive. `options` come before the prompt.

    `gpt-5.5` calls tools one by one; a newer model runs scripts that call them.
    """
    folder = place.home / ".codex"
    folder.mkdir(exist_ok=True)
    program = package_file("@openai/codex", "bin/codex.js")
    provider = (
        f'model_providers.local={{name="local",base_url="{place.model.url}/v1",'
        'wire_api="responses",env_key="LOCAL_KEY",requires_openai_auth=false}'
    )
    return place.run(
        [
            *(nodejs.node(), program, "exec", "--skip-git-repo-check"),
            *("-c", provider, "-c", 'model_provider="local"', "-m", model),
            *("--dangerously-bypass-approvals-and-sandbox",),
            *options,
            *((prompt,) if prompt else ()),
        ],
        {"LOCAL_KEY": place.script.key},
    )


def _platform() -> str:
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)
    return f"{sys.platform}-{machine}"
