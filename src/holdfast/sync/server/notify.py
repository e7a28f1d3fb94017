"""Telling a session what changed in its watches, and keeping an ear on what it tracks.

    track ──a commit marks it stale──> changes ──> an effect, and what it tracks from now on
                                          └──> nothing: the client has it already

Nothing is promised that was not sent: `synced_seq` moves with what is put into the outbox.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError
from holdfast.ids import BranchName, EntityId, Seq
from holdfast.store.errors import StoreBusy, StoreUnreachable
from holdfast.sync.server.sessions import ServerSession
from holdfast.sync.server.space import Space
from holdfast.sync.server.views import Views
from holdfast.sync.server.watch import is_empty
from holdfast.sync.wire import messages
from holdfast.sync.wire.messages import Effect, Sync

if TYPE_CHECKING:
    from holdfast.sync.server.connection import Connection


def listen(space: Space, session: ServerSession) -> None:
    """Hear of writes to everything the session tracks."""
    for branch, ids in session.watched.tracked():
        space.track(session, branch, ids)


def stop_listening(space: Space, session: ServerSession) -> None:
    """Hear of nothing more; its graphs are out of date from here on."""
    for branch, ids in session.watched.tracked():
        space.untrack(session, branch, ids)
    session.watched.graphs = {}
    session.stale.clear()
    space.stale.pop(session, None)


def catch_up(space: Space, session: ServerSession, integrated: Seq | None) -> Sync | None:
    """What a resumed session's client lacks, if anything; its watches are live again.

    `integrated` is how far its client says it got; None trusts that all that was sent arrived.
    """
    if session.watched.is_idle:
        return None
    stop_listening(space, session)
    sync = session.watched.resume(space.views(), session.synced_seq, integrated)
    session.synced_seq = space.seq
    listen(space, session)
    return None if is_empty(sync) else sync


def send_changes(
    connection: Connection, space: Space, session: ServerSession, views: Views
) -> None:
    """Send what changed for a session since it was last told."""
    stale, session.stale = session.stale, {}
    if not stale:
        return
    since = session.synced_seq
    try:
        # Nothing moves in most rounds, and then nothing is worked out for this session alone.
        written = session.watched.rewritten(stale, views) if views.seq > since else None
        if written is None:
            _send_refreshed(connection, space, session, stale, views)
        elif written:
            session.synced_seq = views.seq
            tail = views.tail(since, written, connection.unified)
            connection.send_frame(session.effect_head + tail)
            connection.server.registry.keep(session)
    except (StoreUnreachable, StoreBusy):
        session.stale = stale
        raise
    except HoldfastError as error:
        # The graph has outgrown its limits. Sending less would look like all of it.
        connection.lose(session, f"watch-failed: {error}")
        connection.server.registry.end(session)


def _send_refreshed(
    connection: Connection,
    space: Space,
    session: ServerSession,
    stale: dict[BranchName, set[EntityId]],
    views: Views,
) -> None:
    since = session.synced_seq
    sync, tracked = session.watched.refresh(stale, views, since)
    for branch, ids in tracked.items():
        space.track(session, branch, ids)
    if not is_empty(sync):
        session.synced_seq = Seq(sync.to_seq)
        texts = [views.text(upsert, connection.unified) for upsert in sync.upserts]
        tail = messages.effect_tail(since, sync.to_seq, texts, sync.removes)
        connection.send_frame(session.effect_head + tail)
        connection.server.registry.keep(session)
    if "removes" in connection.capabilities:
        connection.server.orphaned(session)


def send_removes(connection: Connection, space: Space, session: ServerSession) -> None:
    """Tell a session's client what it need not keep any longer."""
    sync, untracked = session.watched.prune(session.synced_seq, session.synced_seq)
    for branch, ids in untracked.items():
        space.untrack(session, branch, ids)
    if not is_empty(sync):
        connection.send(Effect(space=session.space, session_id=session.id, effect=sync))
