"""Codex as a server that a client drives: what its own window does by hand, a test does here."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import Popen
from typing import Any

from tests.agents.programs import Place, codex_command

WAIT_S = 100


class CodexServer:
    """JSON-RPC over the standard streams of `codex app-server`."""

    def __init__(self, process: Popen[bytes], place: Place) -> None:
        self._process, self._place = process, place
        self._heard: queue.Queue[dict[str, Any]] = queue.Queue()
        self._number = 0
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(b"{"):
                self._heard.put(json.loads(line))

    def _send(self, **message: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _until(self, **fields: Any) -> dict[str, Any]:
        while True:
            message = self._heard.get(timeout=WAIT_S)
            if all(message.get(name) == value for name, value in fields.items()):
                return message

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method; returns its result."""
        self._number += 1
        self._send(id=self._number, method=method, params=params)
        reply = self._until(id=self._number)
        assert "error" not in reply, reply
        return dict(reply["result"])

    def start(self) -> str:
        """Greet, trust the hooks as a user does who is asked, and begin a conversation."""
        self.ask("initialize", clientInfo={"name": "tests", "title": "tests", "version": "1"})
        self._send(method="initialized")
        self._trust()
        started = self.ask("thread/start", cwd=str(self._place.work), **_FREE)
        return str(started["thread"]["id"])

    def _trust(self) -> None:
        found = self.ask("hooks/list", cwds=[str(self._place.work)])["data"][0]["hooks"]
        assert found, "holdfast install wrote hooks"
        with (self._place.home / ".codex" / "config.toml").open("a") as settings:
            for hook in found:
                settings.write(f"\n[hooks.state.{json.dumps(hook['key'])}]\n")
                settings.write(f"trusted_hash = {json.dumps(hook['currentHash'])}\n")

    def turn(self, thread: str, text: str) -> str:
        """Say something and wait for the end of the turn; returns the turn's id."""
        said = [{"type": "text", "text": text}]
        turn = self.ask("turn/start", threadId=thread, input=said)["turn"]["id"]
        self._until(method="turn/completed")
        return str(turn)

    def compact(self, thread: str) -> None:
        self.ask("thread/compact/start", threadId=thread)
        self._until(method="turn/completed")

    def fork(self, thread: str) -> str:
        return str(self.ask("thread/fork", threadId=thread, **_FREE)["thread"]["id"])

    def rewind(self, thread: str, turn: str) -> None:
        """Take a turn, and all after it, out of the conversation."""
        self.ask("thread/revert", threadId=thread, beforeTurnId=turn)


_FREE = {"approvalPolicy": "never", "sandbox": "danger-full-access", "model": "gpt-5.5"}


@contextmanager
def codex_server(place: Place) -> Iterator[CodexServer]:
    """A server, with the options that `codex exec` gets."""
    command, environment = codex_command(place, "")
    at = command.index("exec")
    options = command[at + 1 : command.index("--dangerously-bypass-approvals-and-sandbox")]
    options.remove("--skip-git-repo-check")
    server = [*command[:at], *options, "app-server"]
    with place.started(server, environment) as process:
        yield CodexServer(process, place)
