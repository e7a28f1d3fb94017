"""The writes of one connection that are on their way to the disk, answered in the order they came.

Several commits of one connection may be on their way together, so that they share the trip. Their
fates may be told in any order; the answers leave in order. Nothing else overlaps with them.

| told | answered |
|---|---|
| it landed | where |
| a conflict | after what is fresh was sent, so that the client can try again on it |
| another refusal | the refusal |
| the database failed | not at all: whether it landed is unknown, and the client sends it again |
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError, StoreError
from holdfast.ids import SpaceId
from holdfast.store.errors import ConflictError, StoreBusy, StoreUnreachable
from holdfast.store.model import Applied, Guard
from holdfast.store.store import Store
from holdfast.sync.server.access import AccessMode
from holdfast.sync.server.space import Space, keys_of
from holdfast.sync.wire import messages
from holdfast.sync.wire.close_codes import BROKEN, TRY_AGAIN
from holdfast.sync.wire.messages import BranchCreate, BranchDelete, Request, Transact

if TYPE_CHECKING:
    from holdfast.sync.server.connection import Connection

Lifecycle = BranchCreate | BranchDelete

Told = Callable[[Applied | StoreError], None]
Commit = Callable[[Store, str, Mapping[str, Any], Told, Guard | None], None]
"""Land a commit and tell its fate, now or later, but in the order of the calls for one store."""

Act = Callable[
    [Store, Callable[[Store], dict[str, Any]], Callable[[dict[str, Any] | StoreError], None]], None
]
"""Do something else that waits for the disk, and tell what came of it, now or later."""


class Write:
    """A write on its way to the disk, and its fate once it is told."""

    __slots__ = ("_landing", "answer", "request", "space")

    def __init__(
        self, landing: Landing, request: Transact | Lifecycle, space: Space | None
    ) -> None:
        self._landing, self.request, self.space = landing, request, space
        self.answer: Applied | dict[str, Any] | HoldfastError | None = None

    def landed(self, answer: Applied | StoreError) -> None:
        """The fate of a commit. Who made it is told first: it may cost them their session."""
        self.told(answer)
        if type(answer) is Applied:
            space = self.space
            assert space is not None, "what landed has a space"
            space.committed(answer.seq, answer.branch, answer.ids)
            if space.stale:
                self._landing.server.touched()

    def acted(self, answer: dict[str, Any] | StoreError) -> None:
        """The fate of a write that is no commit."""
        if not isinstance(answer, StoreError):
            assert self.space is not None, "what was done has a space"
            self.space.advance()
        self.told(answer)

    def told(self, answer: Applied | dict[str, Any] | HoldfastError) -> None:
        """The fate of any write, refused before it started or not."""
        self.answer = answer
        self._landing.answer_in_order()


class Landing:
    """The writes of one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.server = connection.server
        self.writes: deque[Write] = deque()

    def leaves_room_for(self, request: Request | HoldfastError) -> bool:
        """Whether a message may start while those that are landing are not answered yet."""
        ahead = self.writes[0].request
        return (
            type(request) is Transact and type(ahead) is Transact and request.space == ahead.space
        )

    def refuse(self, request: Transact, refusal: HoldfastError) -> None:
        """Refuse a commit in its turn."""
        write = Write(self, request, None)
        self.writes.append(write)
        write.told(refusal)

    def commit(self, request: Transact) -> None:
        """Send a commit on its way."""
        space = self.server.spaces.get(SpaceId(request.space))
        write = Write(self, request, space)
        self.writes.append(write)
        try:
            session = self._connection.session(request.space, request.session_id)
            assert space is not None, "an open session has an open space"
            access, guard = self.server.access[space.name], None
            if access.mode is not AccessMode.OFF:
                # The log first: what was written elsewhere may have taken the right away.
                space.advance()
                session = self._connection.session(request.space, request.session_id)
                guard = access.require_commit(session.principal, request.commit)
            self.server.commit(space.store, session.id, request.commit, write.landed, guard)
        except HoldfastError as refusal:
            write.told(refusal)

    def act(self, request: Lifecycle, prepare: Callable[[], Callable[[Store], Any]]) -> None:
        """Send another write on its way; `prepare` says what to do, or refuses it."""
        space = self.server.spaces.get(SpaceId(request.space))
        write = Write(self, request, space)
        self.writes.append(write)
        try:
            act = prepare()
            assert space is not None, "an open session has an open space"
            self.server.act(space.store, act, write.acted)
        except HoldfastError as refusal:
            write.told(refusal)

    def answer_in_order(self) -> None:
        """Answer as many writes as can be answered in order."""
        writes = self.writes
        while writes and writes[0].answer is not None:
            self._answer(writes.popleft())
        if not writes:
            self._connection.go_on()

    def _answer(self, write: Write) -> None:
        answer, request_id = write.answer, write.request.request_id
        connection = self._connection
        if type(answer) is Applied:
            frame = messages.landed_frame(request_id, answer.to_wire(), connection.unified)
            connection.send_frame(frame)
        elif isinstance(answer, dict):
            connection.ok(request_id, answer)
        elif isinstance(answer, StoreUnreachable) or type(answer) is StoreError:
            connection.close(BROKEN, "the database failed")
        elif not isinstance(answer, ConflictError) or self._send_fresh(write):
            assert isinstance(answer, HoldfastError)
            connection.refuse(request_id, answer)

    def _send_fresh(self, write: Write) -> bool:
        """Send what a refused commit stood on, as it is now; False if that cannot be read."""
        space = write.space
        assert space is not None
        assert isinstance(write.request, Transact)
        try:
            space.advance()
            space.mark(keys_of(write.request.commit))
            self.server.flush_space(space)
        except (StoreUnreachable, StoreBusy):
            # Fresh state comes before the refusal, or neither comes. The others are owed it still.
            self.server.touched()
            self._connection.close(TRY_AGAIN, "the database is away")
            return False
        return True
