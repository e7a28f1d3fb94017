"""Everything behind `/sync` from its settings: spaces, sessions, the endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from holdfast import __version__, system
from holdfast.credentials import LOOPBACK
from holdfast.ids import SpaceId
from holdfast.store.settings import StoreSettings
from holdfast.store.store import Store, open_store
from holdfast.sync.io.own_loop import OwnLoop
from holdfast.sync.io.websocket import (
    LoopQueue,
    OriginPolicy,
    Receive,
    Scope,
    Send,
    SyncEndpoint,
    close_aside,
)
from holdfast.sync.server.access import AccessMode
from holdfast.sync.server.announce import Listener
from holdfast.sync.server.limits import Limits
from holdfast.sync.server.proof import Challenges, OpenProof, signed
from holdfast.sync.server.server import Server
from holdfast.sync.server.session_registry import NullSessionStore
from holdfast.sync.server.session_rows import SessionFile, SessionRows, SessionTable
from holdfast.sync.server.session_store import SessionStore
from holdfast.sync.server.settings import ServerSettings, allow_anyone
from holdfast.sync.server.space import Space
from holdfast.sync.wire.messages import CAPABILITIES, PROTOCOL_VERSION, Flags, SessionOpen

SPACE_IDLE_MS = 60_000
"""How long a space stays open that no session uses."""


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """How to serve. Who may connect at all is decided before a peer gets here (`holdfast.web`)."""

    store: str
    """A directory, a file, `memory:` or `postgresql://…`."""

    hosts: tuple[str, ...] = LOOPBACK
    origins: tuple[str, ...] = ()
    require_signature: bool = False
    require_identity: bool = False
    """Whether every open must sign a challenge. Peers of the first version are refused then."""

    open_sync: bool = False
    """Whether `/sync` is open to peers without a credential: every user of this machine."""

    access: AccessMode = AccessMode.OFF
    audience: str = "holdfast"
    key: bytes = b""
    """Seals session ids. Empty: a key that is stored and shared together with the sessions."""

    session_ttl_ms: int = 30_000
    limits: Limits = field(default_factory=Limits)
    flags: Flags = field(default_factory=Flags)

    @property
    def on_postgres(self) -> bool:
        return self.store.startswith(("postgresql://", "postgres://"))


class SyncService:
    """Everything behind `/sync`, opened and closed together."""

    def __init__(
        self,
        options: ServeOptions,
        *,
        now_ms: Callable[[], int] = system.now_ms,
        new_token: Callable[[], str] = system.new_token,
        random_bytes: Callable[[int], bytes] = system.random_bytes,
    ) -> None:
        self.options = options
        queue = LoopQueue()
        node = new_token()
        rows = _session_rows(options, node)
        self._store = None if rows is None else SessionStore(rows, options.limits.graph, now_ms)
        flags = options.flags
        settings = StoreSettings(rich_values=flags.unified_json_encoding)

        def open_space(space: SpaceId) -> Store:
            return open_store(options.store, space, settings)

        def open_existing(space: SpaceId) -> Store:
            # A read-only copy never changes, so its watchers would wait for ever.
            return open_store(options.store, space, settings, create=False, copies=False)

        def authorize(space: SpaceId, request: SessionOpen, proof: OpenProof) -> str:
            return signed(space, request, proof, flags.canonical_hashing, options.require_identity)

        key = options.key or bytes.fromhex(
            random_bytes(32).hex() if rows is None else rows.secret(random_bytes(32).hex())
        )
        identity = options.require_signature
        # Closing a space in memory would delete it.
        idle_ms = None if options.store.startswith("memory:") else SPACE_IDLE_MS
        limits = replace(options.limits, space_idle_ms=idle_ms)
        self.server = Server(
            ServerSettings(
                open_space=open_space,
                open_existing=open_existing,
                clock_ms=now_ms,
                new_id=new_token,
                new_token=new_token,
                authorize=authorize if identity else allow_anyone,
                commit=queue.commit,
                act=queue.act,
                close=close_aside,
                flags=flags,
                capabilities=CAPABILITIES if identity else CAPABILITIES - {"identity"},
                session_ttl_ms=options.session_ttl_ms,
                # Send at once when no other message waits; under load, collect for a moment.
                refresh_after_ms=0,
                drain_wait_ms=20,
                limits=limits,
                session_store=self._store or NullSessionStore(),
                access=options.access,
                challenges=Challenges(options.audience, key, new_token) if identity else None,
            )
        )
        policy = OriginPolicy(options.hosts, options.origins)
        announced_as: Callable[[str], str] = str
        if options.on_postgres:
            from holdfast.store.postgres import schema_name as announced_as
        self.endpoint = SyncEndpoint(self.server, queue, policy, self._store, announced_as)
        # A remote database may block the loop, so it gets its own; other pages do not wait.
        self._own_loop = OwnLoop("holdfast-sync") if options.on_postgres else None
        self._listener = (
            Listener(options.store, node, self.endpoint.on_commit, self.endpoint.on_takeover)
            if options.on_postgres
            else None
        )

    async def start(self) -> None:
        if self._own_loop is None:
            await self.endpoint.start()
        else:
            self._own_loop.start()
            await self._own_loop.run(self.endpoint.start())
        if self._listener is not None:
            await asyncio.to_thread(self._listener.start)

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one WebSocket."""
        if self._own_loop is None:
            await self.endpoint(scope, receive, send)
        else:
            await self._own_loop.serve(self.endpoint, scope, receive, send)

    async def space(self, name: SpaceId, create: bool = True) -> Space:
        """A space, opened if needed, for the server's own calls."""
        if self._own_loop is None:
            return self.server.space(name, create)

        async def opened() -> Space:
            return self.server.space(name, create)

        return await self._own_loop.run(opened())

    async def drain(self, wait_s: float) -> None:
        """Refuse new connections, and close each open one once everything on it is answered."""
        if self._own_loop is None:
            await self.endpoint.drain(wait_s)
        else:
            await self._own_loop.run(self.endpoint.drain(wait_s))

    async def stop(self) -> None:
        if self._listener is not None:
            await asyncio.to_thread(self._listener.close)
        if self._own_loop is None:
            await self._close()
        else:
            await self._own_loop.run(self._close())
            self._own_loop.stop()

    async def _close(self) -> None:
        await self.endpoint.stop()
        self.server.close()
        if self._store is not None:
            self._store.close()

    def figures(self) -> dict[str, object]:
        """The figures that `/healthz` adds for a caller with the token."""
        return {
            "version": __version__,
            "protocol": PROTOCOL_VERSION,
            "connections": len(self.server.connections),
            "sessions": len(self.server.registry),
            "spaces": len(self.server.spaces),
        }


def _session_rows(options: ServeOptions, node: str) -> SessionRows | None:
    if options.on_postgres:
        return SessionTable(options.store, node)
    from holdfast.store import roots

    root = roots.resolve_root(options.store)
    return None if root is None else SessionFile(root / "sessions.db")
