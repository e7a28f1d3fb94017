"""Push watch updates to sessions, and track which documents they depend on.

    track ──a commit marks the session stale──> flush ──> an effect, and the documents it tracks now
                                                  └──> nothing: the client has it already

Changes are collected for a moment, so that commits that come together cost one effect. An effect is
sent before `synced_seq` moves, so nothing is promised that was not sent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping

from holdfast.errors import HoldfastError
from holdfast.ids import BranchName, EntityId, Seq, SpaceId
from holdfast.store.errors import StoreBusy, StoreUnreachable
from holdfast.sync.server.read_cache import ReadCache
from holdfast.sync.server.session_registry import Owner, ServerSession, SessionRegistry
from holdfast.sync.server.settings import ServerSettings
from holdfast.sync.server.space import Space
from holdfast.sync.server.watch_set import is_empty
from holdfast.sync.wire import messages
from holdfast.sync.wire.messages import Effect, Sync

POLL_MS = 5
"""How often to check whether the messages that changes wait for are answered."""

RETRY_MS = 1_000
"""When to try again to read from a database that is unreachable."""


def track(space: Space, session: ServerSession) -> None:
    """Mark the session stale when a document that its watches depend on is written."""
    for branch, ids in session.watch_set.tracked():
        space.track(session, branch, ids)


def untrack(space: Space, session: ServerSession) -> None:
    """Stop tracking; the session's graphs are out of date from here on."""
    for branch, ids in session.watch_set.tracked():
        space.untrack(session, branch, ids)
    session.watch_set.graphs = {}
    session.stale.clear()
    space.stale.pop(session, None)


def catch_up(space: Space, session: ServerSession, integrated: Seq | None) -> Sync | None:
    """What a resumed session's client lacks, if anything; its watches are then live again.

    `integrated` is how far its client says it got; None assumes that everything sent arrived.
    """
    if session.watch_set.is_idle:
        return None
    untrack(space, session)
    sync = session.watch_set.resume(space.views(), session.synced_seq, integrated)
    session.synced_seq = space.seq
    track(space, session)
    return None if is_empty(sync) else sync


class Notifier:
    """Sends the sessions of all spaces what changed in their watches."""

    def __init__(
        self,
        settings: ServerSettings,
        registry: SessionRegistry,
        spaces: Mapping[SpaceId, Space],
    ) -> None:
        self._settings, self._registry, self._spaces = settings, registry, spaces
        self._clock_ms = settings.clock_ms
        self.busy: set[Owner] = set()
        """The connections with messages that are not answered yet."""
        self._due_ms: int | None = None
        self._last_flush_ms = 0
        self._with_orphans: dict[ServerSession, None] = {}
        self.on_stale: Callable[[], None] = lambda: None
        """Called when something must be sent in `refresh_after_ms`; the adapter arms a timer."""

    def schedule(self) -> None:
        """Have `refresh` called if a session is stale."""
        if self._due_ms is not None:
            return
        for space in self._spaces.values():
            if space.stale:
                self._due_ms = self._clock_ms() + self._settings.refresh_after_ms
                self.on_stale()
                return

    def refresh(self) -> int | None:
        """Send what is due; returns when to call again in ms, or None: when `on_stale` is."""
        now = self._clock_ms()
        if self._due_ms is not None:
            wait_ms = self._wait_ms(self._due_ms, now)
            if wait_ms:
                return wait_ms
            try:
                self.flush()
            except (StoreUnreachable, StoreBusy):
                self._due_ms = now + RETRY_MS
                return RETRY_MS
        return self._remove_orphans(now)

    def _wait_ms(self, due_ms: int, now: int) -> int:
        """How long to go on collecting changes; 0: send them now."""
        if now < due_ms:
            return due_ms - now
        until = due_ms + max(self._settings.drain_wait_ms, 2 * self._last_flush_ms)
        if now < until and self.busy:
            # More commits are being answered; one sync for all of them is cheaper.
            return min(until - now, POLL_MS)
        return 0

    def flush(self) -> None:
        """Send everything that changed, now."""
        started = self._clock_ms()
        self._due_ms = None
        for space in list(self._spaces.values()):
            self.flush_space(space)
        self._last_flush_ms = self._clock_ms() - started

    def flush_space(self, space: Space) -> None:
        """Send everything that changed in one space, now."""
        while space.stale:
            stale, space.stale = list(space.stale), {}
            views = space.views()
            remaining = deque(sorted(stale, key=_order))
            try:
                while remaining:
                    owner = remaining[0].owner
                    # A closing connection would drop the effect, but it would count as sent.
                    if owner is not None and owner.closing is None:
                        self.send_changes(owner, space, remaining[0], views)
                    remaining.popleft()
            except (StoreUnreachable, StoreBusy):
                # Nothing is lost: these sessions are still stale.
                space.stale = {**dict.fromkeys(remaining), **space.stale}
                raise

    def send_changes(
        self, owner: Owner, space: Space, session: ServerSession, views: ReadCache
    ) -> None:
        """Send what changed for a session since its last sync."""
        stale, session.stale = session.stale, {}
        if not stale:
            return
        since = session.synced_seq
        try:
            # Most writes change no links; then nothing is computed for this session alone.
            written = session.watch_set.rewritten(stale, views) if views.seq > since else None
            if written is None:
                self._send_refreshed(owner, space, session, stale, views)
            elif written:
                session.synced_seq = views.seq
                tail = views.tail(since, written, owner.unified)
                owner.send_frame(session.effect_head + tail)
                self._registry.keep(session)
        except (StoreUnreachable, StoreBusy):
            session.stale = stale
            raise
        except HoldfastError as error:
            # The graph exceeds its limits. A part of it would look like all of it.
            owner.lose(session, f"watch-failed: {error}")
            self._registry.end(session)

    def _send_refreshed(
        self,
        owner: Owner,
        space: Space,
        session: ServerSession,
        stale: dict[BranchName, set[EntityId]],
        views: ReadCache,
    ) -> None:
        since = session.synced_seq
        sync, tracked = session.watch_set.refresh(stale, views, since)
        for branch, ids in tracked.items():
            space.track(session, branch, ids)
        if not is_empty(sync):
            session.synced_seq = Seq(sync.to_seq)
            texts = [views.text(upsert, owner.unified) for upsert in sync.upserts]
            tail = messages.effect_tail(since, sync.to_seq, texts, sync.removes)
            owner.send_frame(session.effect_head + tail)
            self._registry.keep(session)
        if "removes" in owner.capabilities:
            self._note_orphans(session)

    # documents that no watch reaches any more

    def _note_orphans(self, session: ServerSession) -> None:
        if not session.watch_set.has_orphans():
            session.orphaned_at = None
            self._with_orphans.pop(session, None)
        elif session.orphaned_at is None:
            session.orphaned_at = self._clock_ms()
            self._with_orphans[session] = None

    def _remove_orphans(self, now: int) -> int | None:
        """Remove what has been out of reach long enough; returns when to check again, in ms."""
        for session in list(self._with_orphans):
            owner, orphaned_at = session.owner, session.orphaned_at
            if owner is not None and orphaned_at is not None:
                wait_ms = orphaned_at + self._settings.remove_after_ms - now
                if wait_ms > 0:
                    return wait_ms
            session.orphaned_at = None
            del self._with_orphans[session]
            if owner is not None and orphaned_at is not None:
                self._send_removes(owner, self._spaces[session.space], session)
        return None

    def _send_removes(self, owner: Owner, space: Space, session: ServerSession) -> None:
        sync, untracked = session.watch_set.prune(session.synced_seq, session.synced_seq)
        for branch, ids in untracked.items():
            space.untrack(session, branch, ids)
        if not is_empty(sync):
            owner.send(Effect(space=session.space, session_id=session.id, effect=sync))


def _order(session: ServerSession) -> tuple[int, int]:
    return (0 if session.owner is None else session.owner.serial, session.serial)
