"""The parts of a server: spaces, time, ids, authority, access to the disk, and its limits.

Everything that a test or an adapter may want to replace is passed in here; the server itself reads
no clock, makes no ids and opens no files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.errors import StoreError
from holdfast.ids import SpaceId
from holdfast.store.model import Applied, Guard
from holdfast.store.store import Store
from holdfast.sync.server.access import AccessMode
from holdfast.sync.server.limits import Limits
from holdfast.sync.server.proof import Challenges, OpenProof
from holdfast.sync.server.session_registry import NullSessionStore, SessionPersistence
from holdfast.sync.wire.messages import CAPABILITIES, Flags, SessionOpen

OpenSpace = Callable[[SpaceId], Store]

Authorize = Callable[[SpaceId, SessionOpen, OpenProof], str | None]
"""The principal of an open; raises if the open is not allowed."""

OnCommitted = Callable[[Applied | StoreError], None]
Commit = Callable[[Store, str, Mapping[str, Any], OnCommitted, Guard | None], None]
"""Commit and report the result, now or later, but in the order of the calls for one store."""

Action = Callable[[Store], dict[str, Any]]
OnDone = Callable[[dict[str, Any] | StoreError], None]
Act = Callable[[Store, Action, OnDone], None]
"""Do something else that waits for the disk, and report the result, now or later."""


def commit_now(
    store: Store,
    session: str,
    commit: Mapping[str, Any],
    on_committed: OnCommitted,
    guard: Guard | None = None,
) -> None:
    """Commit before returning."""
    try:
        result: Applied | StoreError = store.transact(session, commit, guard)
    except StoreError as refusal:
        result = refusal
    on_committed(result)


def act_now(store: Store, action: Action, on_done: OnDone) -> None:
    """Act before returning."""
    try:
        result: dict[str, Any] | StoreError = action(store)
    except StoreError as refusal:
        result = refusal
    on_done(result)


def allow_anyone(space: SpaceId, request: SessionOpen, proof: OpenProof) -> str | None:
    """No authority: every peer is trusted and has no principal."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """The dependencies and settings of a server."""

    open_space: OpenSpace
    """Opens a space, and creates it if it does not exist."""

    open_existing: OpenSpace | None = None
    """Opens a space that exists, else raises `UnknownSpace`; None: the same as `open_space`."""

    clock_ms: Callable[[], int]
    new_id: Callable[[], str]
    new_token: Callable[[], str]
    authorize: Authorize = allow_anyone
    commit: Commit = commit_now
    act: Act = act_now
    close: Callable[[Store], None] = Store.close
    """Closes the store of a space that is no longer used, now or later."""

    session_store: SessionPersistence = field(default_factory=NullSessionStore)
    challenges: Challenges | None = None
    """Issues challenges for signed opens; None: opens are not signed."""

    access: AccessMode = AccessMode.OFF
    flags: Flags = field(default_factory=Flags)
    capabilities: frozenset[str] = CAPABILITIES - {"identity"}
    limits: Limits = field(default_factory=Limits)
    session_ttl_ms: int = 30_000
    """How long a session is kept without a connection."""

    refresh_after_ms: int = 5
    """How long changes are collected before they are sent."""

    drain_wait_ms: int = 500
    """How long changes wait at most for messages that are still being answered."""

    remove_after_ms: int = 1_000
    """How long a document must be out of reach before its watchers are told to remove it."""
