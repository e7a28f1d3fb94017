"""A client core and the real server core, joined in memory; frames can be held, lost, counted."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from holdfast.sync.client.actions import Dial, HangUp, Send, Wake
from holdfast.sync.client.client import RECONNECT, RESEND, TURN, Client
from holdfast.sync.client.outbox import Outbox
from holdfast.sync.client.replica import Notification
from holdfast.sync.client.space_session import SpaceSession
from holdfast.sync.server.connection import Connection
from holdfast.sync.wire import messages
from holdfast.sync.wire.messages import CAPABILITIES, Message, WatchSpec
from tests.sync.peers import SPACE, World

OURS = CAPABILITIES - {"identity"}


class Duet:
    """One client of a world. It dials and is answered at once, unless told otherwise."""

    def __init__(
        self,
        world: World,
        session: str | None = None,
        capabilities: frozenset[str] = OURS,
        outbox: Outbox | None = None,
        start: bool = True,
        lazy: bool = False,
        chance: float = 0.0,
        ask_again: bool = False,
    ) -> None:
        self.world = world
        self.client = Client(lambda: chance, capabilities=capabilities, ask_again=ask_again)
        self.session: SpaceSession = self.client.mount(SPACE, session, outbox, lazy)
        self.connection: Connection | None = None
        self.online = True
        self.hold_answers: Callable[[dict[str, Any]], bool] = lambda _: False
        self.held: list[str] = []
        self.sent: list[Message] = []
        self.dials: int = 0
        self.waits: list[float] = []
        self.resend_waits: list[float] = []
        self.told: list[Notification] = []
        self._turns = 0
        self.session.replica.subscribe(self.told.append)
        if start:
            self.client.start()
            self.run()

    # time and frames

    def run(self, turns: bool = True) -> None:
        """Until nothing is left to do. Without `turns`, what waits for the turn's end waits."""
        while True:
            moved = self._act()
            moved |= self._hear()
            if turns and self._turns:
                self._turns = 0
                self.client.timer(TURN)
                moved = True
            if not moved:
                return

    def _act(self) -> bool:
        actions = self.client.take()
        for action in actions:
            match action:
                case Send(message):
                    self.sent.append(message)
                    frame = self.client.frame(message)
                    if self.connection is not None and frame is not None:
                        self.connection.receive(frame)
                case Wake(name, delay_ms):
                    if name == RECONNECT:
                        self.waits.append(delay_ms)
                    elif name == RESEND:
                        self.resend_waits.append(delay_ms)
                    else:
                        self._turns += 1
                case Dial():
                    self.dials += 1
                    if self.online:
                        self.connection = self.world.server.connect()
                        self.client.transport_up()
                    else:
                        self.client.transport_down("offline")
                case HangUp():
                    self._drop()
        return bool(actions)

    def _hear(self) -> bool:
        if self.connection is None:
            return False
        frames = self.connection.take()
        for frame in frames:
            self.connection.sent(len(frame))
            if self.held or self.hold_answers(_plain(frame)):
                self.held.append(frame)
            elif self.connection is not None:
                self.client.receive(messages.parse_answer(frame))
        return bool(frames)

    def release(self) -> None:
        """Hear what was held."""
        frames, self.held = self.held, []
        self.hold_answers = lambda _: False
        for frame in frames:
            self.client.receive(messages.parse_answer(frame))
        self.run()

    def refresh(self) -> None:
        """Let the server send what changed; hear it."""
        self.world.server.flush()
        self.run()

    def _drop(self) -> None:
        if self.connection is not None:
            self.connection.disconnected()
            self.connection = None
        self.held = []

    def disconnect(self) -> None:
        """The connection breaks; what was on its way is lost."""
        self._drop()
        self.client.transport_down("broken")
        self.run()

    def reconnect(self) -> None:
        """The wait before dialling again is over."""
        self.client.timer(RECONNECT)
        self.run()

    def resend(self) -> None:
        """The wait before commits are sent again is over."""
        self.world.now += int(max(self.resend_waits, default=0)) + 1
        self.resend_waits.clear()
        self.client.timer(RESEND)
        self.run()

    # counting

    def count(self, kind: str) -> int:
        return Counter(m.__struct_config__.tag for m in self.sent)[kind]

    @property
    def landing(self) -> list[int]:
        """The localSeqs sent, in order."""
        return list(self.session.sent)

    @property
    def kinds(self) -> list[str]:
        return [note.kind for note in self.told]

    def visible(self, id: str, branch: str = "") -> Any:
        return self.session.replica.visible(id, branch)


def _plain(frame: str) -> dict[str, Any]:
    import json

    plain: dict[str, Any] = json.loads(frame)
    return plain


def watch(*ids: str, name: str | None = None, schema: Any = False, branch: str = "") -> WatchSpec:
    roots = [{"id": id, "selector": {"path": [], "schema": schema}} for id in ids]
    query: dict[str, Any] = {"roots": roots}
    if branch:
        query["branch"] = branch
    return WatchSpec(id=name or "+".join(ids), kind="graph", query=query)


def put(id: str, value: Any) -> dict[str, Any]:
    return {"op": "set", "id": id, "value": {"value": value}}


def is_verdict(frame: dict[str, Any]) -> bool:
    """Whether a frame answers a commit."""
    ok = frame.get("ok")
    return frame["type"] == "response" and isinstance(ok, dict) and "revisions" in ok
