"""The writes of one connection that are not answered yet, answered in the order they came.

Several commits of one connection may wait for the disk together and share one write. Their results
may come in any order; the answers are sent in order. Nothing else overlaps with them.

| result | answer |
|---|---|
| committed | its seq |
| a conflict | the refusal, after fresh state was sent, so that the client can try again on it |
| another refusal | the refusal |
| the database failed | none: whether it landed is unknown, and the client sends it again |
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from holdfast.errors import HoldfastError, StoreError
from holdfast.ids import SpaceId
from holdfast.store import identity
from holdfast.store.errors import (
    AuthorizationError,
    ConflictError,
    StoreBusy,
    StoreUnreachable,
)
from holdfast.store.model import Applied
from holdfast.sync.server.access import AccessMode
from holdfast.sync.server.context import Peer
from holdfast.sync.server.session_registry import ServerSession
from holdfast.sync.server.settings import Action
from holdfast.sync.server.space import Space, keys_of
from holdfast.sync.wire import messages
from holdfast.sync.wire.close_codes import BROKEN, TRY_AGAIN
from holdfast.sync.wire.messages import BranchCreate, BranchDelete, Request, Transact

Lifecycle = BranchCreate | BranchDelete


class Write:
    """A write that waits for its result, or for the writes before it."""

    __slots__ = ("_pending", "request", "result", "space")

    def __init__(
        self, pending: PendingWrites, request: Transact | Lifecycle, space: Space | None
    ) -> None:
        self._pending, self.request, self.space = pending, request, space
        self.result: Applied | dict[str, Any] | HoldfastError | None = None

    def committed(self, result: Applied | StoreError) -> None:
        """Take the commit's outcome. Answer its author first, who may then lose the session."""
        self.complete(result)
        if type(result) is Applied:
            space = self.space
            assert space is not None, "what landed has a space"
            space.committed(result.seq, result.branch, result.ids)
            if space.stale:
                self._pending.server.notifier.schedule()

    def done(self, result: dict[str, Any] | StoreError) -> None:
        """Take the outcome of a write that is not a commit."""
        if not isinstance(result, StoreError):
            assert self.space is not None, "what was done has a space"
            self.space.advance()
        self.complete(result)

    def complete(self, result: Applied | dict[str, Any] | HoldfastError) -> None:
        """Take the result of any write, even of one that was refused before it started."""
        self.result = result
        self._pending.answer_in_order()


def _check_signature(space: SpaceId, session: ServerSession, commit: dict[str, Any]) -> None:
    """Refuse a commit whose signature does not hold, or is not by the principal of its session."""
    problem = identity.commit_signature_problem(session.id, commit, space, session.principal)
    if problem:
        raise AuthorizationError(f"the signature of the commit {problem}")


class PendingWrites:
    """The writes of one connection that are not answered yet."""

    def __init__(self, connection: Peer) -> None:
        self._connection = connection
        self.server = connection.server
        self.writes: deque[Write] = deque()

    def may_overlap(self, request: Request | HoldfastError) -> bool:
        """Whether a message may start while these writes are not answered yet."""
        ahead = self.writes[0].request
        return (
            type(request) is Transact and type(ahead) is Transact and request.space == ahead.space
        )

    def refuse(self, request: Transact, refusal: HoldfastError) -> None:
        """Refuse a commit in its turn."""
        write = Write(self, request, None)
        self.writes.append(write)
        write.complete(refusal)

    def commit(self, request: Transact) -> None:
        """Start a commit."""
        space = self.server.spaces.get(SpaceId(request.space))
        write = Write(self, request, space)
        self.writes.append(write)
        try:
            session = self._connection.session(request.space, request.session_id)
            assert space is not None, "an open session has an open space"
            if "signature" in request.commit:
                _check_signature(space.name, session, request.commit)
            access, guard = self.server.access[space.name], None
            if access.mode is not AccessMode.OFF:
                # The log first: a commit of another server may have revoked the right.
                space.advance()
                session = self._connection.session(request.space, request.session_id)
                guard = access.require_commit(session.principal, request.commit)
            self.server.settings.commit(
                space.store, session.id, request.commit, write.committed, guard
            )
        except HoldfastError as refusal:
            write.complete(refusal)

    def act(self, request: Lifecycle, prepare: Callable[[], Action]) -> None:
        """Start another write; `prepare` returns what to do, or refuses it."""
        space = self.server.spaces.get(SpaceId(request.space))
        write = Write(self, request, space)
        self.writes.append(write)
        try:
            action = prepare()
            assert space is not None, "an open session has an open space"
            self.server.settings.act(space.store, action, write.done)
        except HoldfastError as refusal:
            write.complete(refusal)

    def answer_in_order(self) -> None:
        """Answer as many writes as can be answered in order."""
        writes = self.writes
        while writes and writes[0].result is not None:
            self._answer(writes.popleft())
        if not writes:
            self._connection.resume()

    def _answer(self, write: Write) -> None:
        result, request_id = write.result, write.request.request_id
        connection = self._connection
        if type(result) is Applied:
            frame = messages.landed_frame(request_id, result.to_wire(), connection.unified)
            connection.send_frame(frame)
        elif isinstance(result, dict):
            connection.ok(request_id, result)
        elif isinstance(result, StoreUnreachable) or type(result) is StoreError:
            connection.close(BROKEN, "the database failed")
        elif not isinstance(result, ConflictError) or self._send_fresh(write):
            assert isinstance(result, HoldfastError)
            connection.refuse(request_id, result)

    def _send_fresh(self, write: Write) -> bool:
        """Send the current state of what a refused commit depended on; False if unreadable."""
        space = write.space
        assert space is not None
        assert isinstance(write.request, Transact)
        try:
            space.advance()
            space.mark(keys_of(write.request.commit))
            self.server.notifier.flush_space(space)
        except (StoreUnreachable, StoreBusy):
            # The refusal is sent only after the fresh state. Other sessions are updated later.
            self.server.notifier.schedule()
            self._connection.close(TRY_AGAIN, "the database is unreachable")
            return False
        return True
