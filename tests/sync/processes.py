"""`holdfast serve` as a process, and a blocking client for it."""

import json
import os
import tempfile
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from websockets.sync.client import ClientConnection, connect

from tests.fork_server import Forked
from tests.sync.peers import FLAGS, SPACE, Json, commit

WAIT_S = 30.0
"""How long a test waits for something that comes at once on an idle machine."""


CLIENTS: "list[Client]" = []
"""Every client of the running test, to be closed after it."""


TOKENS: dict[int | None, str] = {}
"""The token of each server that was started, by its port."""


def bearer(url: str) -> dict[str, str]:
    """The header that opens a server of this process."""
    token = TOKENS.get(urlsplit(url).port)
    return {} if token is None else {"Authorization": f"Bearer {token}"}


class Served:
    """A server process. It says where it listens, and can be killed."""

    def __init__(
        self,
        store: str,
        *options: str,
        home: str | None = None,
        cwd: Path | None = None,
        **settings: str,
    ) -> None:
        # Its token must not be the one of whoever runs the tests.
        self._home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        env = {**os.environ, "PYTHONUNBUFFERED": "1", "HOLDFAST_HOME": home or self._home.name}
        env |= settings
        words = ("serve", "--port", "0", "--json", "--store", store, *options)
        self.process = Forked("holdfast.cli.main", *words, env=env, cwd=cwd or Path.cwd())
        self._errors: list[str] = []
        self._reading = threading.Thread(target=self._read_errors, daemon=True)
        self._reading.start()
        line = self.process.stdout.readline()
        assert line, f"the server did not start: {''.join(self._errors)}"
        self.url: str = json.loads(line)["url"]
        self.token = Path(env["HOLDFAST_HOME"], "token").read_text(encoding="utf-8").strip()
        TOKENS[urlsplit(self.url).port] = self.token

    def _read_errors(self) -> None:
        for line in self.process.stderr:
            self._errors.append(line)

    def errors(self) -> str:
        """What it wrote to standard error, once it has ended."""
        return "".join(self._errors)

    def kill(self) -> None:
        """As a crash would: nothing is finished, nobody is told."""
        self.process.kill()
        self._ended()

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        self._ended()

    def _ended(self) -> None:
        self.process.wait(WAIT_S)
        self._reading.join(WAIT_S)
        self.process.close()
        self._home.cleanup()


class Client:
    """One connection with one session."""

    def __init__(
        self,
        url: str,
        session: str | None = None,
        capabilities: list[str] | None = None,
        space: str = SPACE,
        **more: Any,
    ) -> None:
        self.space, self.session, self.token = space, "", ""
        self._open = ExitStack()
        self.socket: ClientConnection = self._open.enter_context(
            connect(url, compression=None, open_timeout=WAIT_S, additional_headers=bearer(url))
        )
        CLIENTS.append(self)
        self.effects: list[Json] = []
        self.refusal: Json | None = None
        hello: Json = {"type": "hello", "protocol": "memory/v2", "flags": FLAGS}
        if capabilities is not None:
            hello["capabilities"] = capabilities
        self.send(hello)
        self.hello = self.receive()
        if session is not None:
            self.open(session, **more)

    def send(self, message: Json) -> None:
        self.socket.send(json.dumps(message))

    def receive(self) -> Json:
        frame: Json = json.loads(self.socket.recv(timeout=WAIT_S))
        return frame

    def ask(self, kind: str, **members: Any) -> Json:
        """The response; effects that arrive before it are kept."""
        self.send(
            {
                "type": kind,
                "requestId": "r",
                "space": self.space,
                "sessionId": self.session,
                **members,
            }
        )
        while True:
            frame = self.receive()
            if frame["type"] == "response":
                return frame
            self.effects.append(frame)

    def open(self, session: str, token: str | None = None, seen: int | None = None) -> Json:
        descriptor: Json = {"sessionId": session}
        if token is not None:
            descriptor["sessionToken"] = token
        if seen is not None:
            descriptor["seenSeq"] = seen
        answer = self.ask("session.open", session=descriptor)
        if "ok" in answer:
            self.session = answer["ok"]["sessionId"]
            self.token = answer["ok"]["sessionToken"]
        return answer

    def transact(self, local_seq: int, *operations: Json, **more: Any) -> Json:
        return self.ask("transact", commit=commit(local_seq, *operations, **more))

    def effect(self) -> Json:
        """The next sync."""
        while not self.effects:
            frame = self.receive()
            assert frame["type"] == "session/effect", frame
            self.effects.append(frame)
        sync: Json = self.effects.pop(0)["effect"]
        return sync

    def close(self) -> None:
        self._open.close()


def home_of(path: Path) -> str:
    return str(path / "spaces")
