"""A server in memory, with a clock that moves when told, and peers that speak to it."""

import json
from collections.abc import Callable
from itertools import count
from typing import Any

from holdfast.ids import SpaceId
from holdfast.store.errors import UnknownSpace
from holdfast.store.settings import StoreSettings
from holdfast.store.store import Store, open_store
from holdfast.sync.server.connection import Connection
from holdfast.sync.server.server import Server
from holdfast.sync.server.settings import ServerSettings

SPACE = "did:key:z6Mk-tests"
FLAGS = {
    "richStorableValues": False,
    "unifiedJsonEncoding": False,
    "canonicalHashing": False,
    "modernSchemaHash": False,
}
Json = dict[str, Any]


class World:
    """One server, its stores, its clock."""

    def __init__(self, url: str = "memory:", **options: Any) -> None:
        self.now = 0
        self.stores: dict[str, Store] = {}
        self.opened: list[str] = []
        self._url = url
        self.numbers = count(1)
        self.settings = StoreSettings()
        self.server = self.start(**options)

    def start(self, **options: Any) -> Server:
        """A server over the same spaces; the one before is forgotten, as in a crash."""
        settings = ServerSettings(
            open_space=self.open,
            open_existing=self.open_existing,
            clock_ms=lambda: self.now,
            new_id=lambda: f"session-{next(self.numbers)}",
            new_token=lambda: f"token-{next(self.numbers)}",
            **options,
        )
        self.server = Server(settings)
        return self.server

    def open(self, space: SpaceId) -> Store:
        if space not in self.stores:
            self.stores[space] = open_store(self._url, space, self.settings)
            self.opened.append(space)
        return self.stores[space]

    def open_existing(self, space: SpaceId) -> Store:
        if space not in self.stores:
            raise UnknownSpace(space, list(self.stores))
        return self.stores[space]

    @property
    def store(self) -> Store:
        return self.open(SpaceId(SPACE))

    def close(self) -> None:
        for store in self.stores.values():
            store.close()

    def peer(
        self, session: str | None = None, *, capabilities: list[str] | None = None, **more: Any
    ) -> "Peer":
        """A peer that has said hello and, if it is named, opened its session."""
        peer = Peer(self)
        peer.hello(capabilities)
        if session is not None:
            peer.open(session, **more)
        return peer

    def commit(self, session: str, local_seq: int, *operations: Json, **more: Any) -> int:
        """A commit that reaches the store without passing this server."""
        return self.store.transact(session, commit(local_seq, *operations, **more)).seq


class Peer:
    """A client that checks nothing by itself: what it sends and what it receives is plain JSON."""

    def __init__(self, world: World, on_output: Callable[[], None] = lambda: None) -> None:
        self.world = world
        self.connection: Connection = world.server.connect(on_output)
        self.session = ""
        self.space = SPACE
        self.token = ""
        self._requests = count(1)
        self._local = count(1)

    def send(self, message: Json) -> list[Json]:
        """Send a message; every frame that arrived by the time it was processed."""
        self.connection.receive(json.dumps(message))
        return self.drain()

    def drain(self) -> list[Json]:
        frames = self.connection.take()
        self.connection.sent(sum(map(len, frames)))
        return [json.loads(frame) for frame in frames]

    def ask(self, kind: str, **members: Any) -> Json:
        """Send a command of the session; its response, which only a revocation may follow."""
        frames = self.send(self.command(kind, **members))
        while frames and frames[-1]["type"] == "session/revoked":
            frames.pop()
        assert frames, f"{kind} was not answered"
        assert frames[-1]["type"] == "response", frames
        answer: Json = frames[-1]
        return answer

    def command(self, kind: str, **members: Any) -> Json:
        request = {
            "type": kind,
            "requestId": f"r{next(self._requests)}",
            "space": self.space,
            "sessionId": self.session,
        }
        return {**request, **members}

    def hello(self, capabilities: list[str] | None = None) -> Json:
        message: Json = {"type": "hello", "protocol": "memory/v2", "flags": FLAGS}
        if capabilities is not None:
            message["capabilities"] = capabilities
        answer: Json = self.send(message)[-1]
        return answer

    def open(
        self,
        session: str | None = None,
        token: str | None = None,
        seen: int | None = None,
        space: str = SPACE,
        **more: Any,
    ) -> Json:
        descriptor: Json = {}
        if session is not None:
            descriptor["sessionId"] = session
        if token is not None:
            descriptor["sessionToken"] = token
        if seen is not None:
            descriptor["seenSeq"] = seen
        request = f"r{next(self._requests)}"
        message = {"type": "session.open", "requestId": request, "space": space, **more}
        answer: Json = self.send({**message, "session": descriptor})[-1]
        if "ok" in answer:
            self.space, self.session = space, answer["ok"]["sessionId"]
            self.token = answer["ok"]["sessionToken"]
        return answer

    def transact(self, *operations: Json, local_seq: int | None = None, **more: Any) -> Json:
        number = next(self._local) if local_seq is None else local_seq
        return self.ask("transact", commit=commit(number, *operations, **more))

    def watch_set(self, *watches: Json) -> Json:
        return self.ask("session.watch.set", watches=list(watches))

    def watch_add(self, *watches: Json) -> Json:
        return self.ask("session.watch.add", watches=list(watches))

    def query(self, **query: Any) -> Json:
        return self.ask("graph.query", query=query)

    def effects(self) -> list[Json]:
        """The syncs that have arrived."""
        frames = self.drain()
        assert all(frame["type"] == "session/effect" for frame in frames), frames
        return [frame["effect"] for frame in frames]


def commit(local_seq: int, *operations: Json, **more: Any) -> Json:
    return {
        "localSeq": local_seq,
        "reads": {
            "confirmed": more.pop("confirmed", []),
            "pending": more.pop("pending", []),
        },
        "operations": list(operations),
        **more,
    }


def set_(id: str, value: Any) -> Json:
    return {"op": "set", "id": id, "value": {"value": value}}


def link(id: str) -> Json:
    return {"/": {"link@1": {"id": id, "path": []}}}


def root(id: str, schema: Any = False, path: list[str] | None = None) -> Json:
    return {"id": id, "selector": {"path": path or [], "schema": schema}}


def watch(id: str, *roots: Json, **query: Any) -> Json:
    return {"id": id, "kind": "graph", "query": {"roots": list(roots), **query}}


def upserts(sync: Json) -> list[tuple[str, int]]:
    return [(entry["id"], entry["seq"]) for entry in sync["upserts"]]


def refused(answer: Json) -> tuple[str, str]:
    return answer["error"]["name"], answer["error"]["message"]
