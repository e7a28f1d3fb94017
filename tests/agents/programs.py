"""The real agents, from npm at pinned versions, each with an empty environment and its own home."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests import nodejs
from tests.agents.model import Model, Script

TIMEOUT_S = 300.0
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
    user: str = "home"
    """Whose home it is: some agents keep the key of their model there."""

    @property
    def home(self) -> Path:
        return self.root / self.user

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
        with self.started(command, environment) as process:
            out, _ = process.communicate(timeout=TIMEOUT_S)
        return out.decode("utf-8", "replace")

    @contextmanager
    def started(
        self, command: list[str], environment: Mapping[str, str]
    ) -> Iterator[subprocess.Popen[bytes]]:
        """A program with pipes; whatever is left of it is killed in the end."""
        with (self.root / "program.log").open("ab") as log:
            process = subprocess.Popen(
                command,
                cwd=self.work,
                env={**self.base(), **environment},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
            late = threading.Timer(TIMEOUT_S, os.killpg, (process.pid, signal.SIGKILL))
            late.start()
            try:
                yield process
            finally:
                late.cancel()
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                for pipe in (process.stdin, process.stdout):
                    if pipe is not None:
                        pipe.close()


def claude(place: Place, prompt: str, *options: str) -> str:
    """Claude Code, one prompt, not interactive."""
    return place.run(*claude_command(place, prompt, *options))


def claude_prompts(place: Place, prompts: Sequence[str], *options: str) -> None:
    """Claude Code with one prompt after the other, each once the one before is answered."""
    stream = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
    command, environment = claude_command(place, None, *stream, *options)
    with place.started(command, environment) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for prompt in prompts:
            message = {"role": "user", "content": prompt}
            process.stdin.write(json.dumps({"type": "user", "message": message}).encode() + b"\n")
            process.stdin.flush()
            for line in process.stdout:
                if json.loads(line).get("type") == "result":
                    break
        process.stdin.close()
        process.wait(TIMEOUT_S)


def claude_command(
    place: Place, prompt: str | None, *options: str
) -> tuple[list[str], dict[str, str]]:
    """How Claude Code is started, and what it needs in its environment."""
    settings = place.home / ".claude.json"
    if not settings.exists():
        settings.write_text(json.dumps({"hasCompletedOnboarding": True}))
    program = package_file(f"@anthropic-ai/claude-code-{_platform()}", "claude")
    asked = () if prompt is None else (prompt,)
    return (
        [program, "-p", *asked, "--permission-mode", "bypassPermissions", *options],
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
    return place.run(*codex_command(place, prompt, *options, model=model))


def codex_command(
    place: Place, prompt: str, *options: str, model: str = "gpt-5.5"
) -> tuple[list[str], dict[str, str]]:
    """How Codex is started, and what it needs in its environment."""
    folder = place.home / ".codex"
    folder.mkdir(exist_ok=True)
    program = package_file("@openai/codex", "bin/codex.js")
    provider = (
        f'model_providers.local={{name="local",base_url="{place.model.url}/v1",'
        'wire_api="responses",env_key="LOCAL_KEY",requires_openai_auth=false}'
    )
    return (
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
