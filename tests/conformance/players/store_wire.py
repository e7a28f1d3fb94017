"""Plays the wire's steps on a server in memory: no sockets, no timer, a clock that stands still."""

import json
from itertools import count
from typing import Any

from holdfast.ids import SpaceId
from holdfast.store.errors import AuthorizationError
from holdfast.store.settings import StoreSettings
from holdfast.store.store import Store, open_store
from holdfast.sync.server.connection import Connection
from holdfast.sync.server.proof import OpenProof
from holdfast.sync.server.server import Server
from holdfast.sync.server.settings import ServerSettings
from holdfast.sync.wire.messages import SessionOpen

Step = dict[str, Any]


class WirePlayer:
    """One server, its connections by name, and what earlier answers said by variable."""

    def __init__(self, status: str, options: Step) -> None:
        unknown = set(options) - {"session_ttl_ms", "authorize"}
        assert not unknown, f"no such option: {unknown}"
        self._settings = StoreSettings.original() if status == "seed" else StoreSettings()
        self._stores: dict[str, Store] = {}
        numbers = count(1)
        more: dict[str, Any] = {}
        if "session_ttl_ms" in options:
            more["session_ttl_ms"] = options["session_ttl_ms"]
        if "authorize" in options:
            assert options["authorize"] == "principal-field", options["authorize"]
            more["authorize"] = _principal_field
        settings = ServerSettings(
            open_space=self._open,
            clock_ms=lambda: 0,
            new_id=lambda: f"session-{next(numbers)}",
            new_token=lambda: f"token-{next(numbers)}",
            **more,
        )
        self.server = Server(settings)
        self._connections: dict[str, Connection] = {}
        self._saved: dict[str, Any] = {}

    def _open(self, space: SpaceId) -> Store:
        if space not in self._stores:
            self._stores[space] = open_store("memory:", space, self._settings)
        return self._stores[space]

    def close(self) -> None:
        for store in self._stores.values():
            store.close()

    def fill(self, value: Any) -> Any:
        """A value with its `${variables}` replaced."""
        if isinstance(value, str):
            for name, saved in self._saved.items():
                if value == f"${{{name}}}":
                    return saved
                value = value.replace(f"${{{name}}}", str(saved))
            return value
        if isinstance(value, dict):
            return {self.fill(name): self.fill(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self.fill(item) for item in value]
        return value

    def step(self, step: Step) -> Any:
        match step["op"]:
            case "connect":
                self._connections[step["conn"]] = self.server.connect()
                return None
            case "send":
                return self._send(step)
            case "send_raw":
                return self._receive(step, _raw(step))
            case "flush":
                self.server.flush()
                return None
            case "drain":
                return self._frames(step)
            case "disconnect":
                self._connections[step["conn"]].disconnected()
                return None
            case "server.branch.create":
                made = self._open(SpaceId(step["space"])).create_branch(
                    step["name"], step.get("parentBranch", ""), step.get("forkSeq")
                )
                return made.to_wire()
            case _:
                raise AssertionError(f"no such step: {step['op']!r}")

    def _send(self, step: Step) -> Any:
        return self._receive(step, json.dumps(self.fill(step["message"])))

    def _receive(self, step: Step, text: str) -> Any:
        self._connections[step["conn"]].receive(text)
        frames = self._frames(step)
        for variable, path in step.get("save", {}).items():
            assert frames, f"nothing was answered to save {variable} from"
            self._saved[variable] = _at(frames[-1], path)
        return frames

    def receive(self, conn: str, text: str) -> None:
        """Give a frame to the server, as it is."""
        self._connections[conn].receive(text)

    def closing(self, conn: str) -> tuple[int, str] | None:
        """With which code and reason the server closes a connection, if it does."""
        return self._connections[conn].closing

    def unread(self, conn: str) -> int:
        """How many characters were sent to a connection and not acknowledged."""
        return self._connections[conn].unread

    def _frames(self, step: Step) -> list[Any]:
        connection = self._connections[step["conn"]]
        frames = connection.take()
        connection.sent(sum(map(len, frames)))
        return [json.loads(frame) for frame in frames]


def _raw(step: Step) -> str:
    for name in ("text", "raw", "data", "payload", "frame", "message"):
        if name in step:
            text = step[name]
            return text if isinstance(text, str) else json.dumps(text)
    raise AssertionError(f"send_raw says what to send: {step}")


def _at(frame: Any, path: str) -> Any:
    for name in path.split("."):
        frame = frame[int(name)] if isinstance(frame, list) else frame[name]
    return frame


def _principal_field(space: SpaceId, request: SessionOpen, proof: OpenProof) -> str | None:
    authorization = request.authorization
    principal = authorization.get("principal") if isinstance(authorization, dict) else None
    if not isinstance(principal, str):
        raise AuthorizationError("memory/v2 session.open requires authorization")
    return principal
