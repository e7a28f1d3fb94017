"""`hello` and `session.open`: agree on terms, authorize, and send what the client missed."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType

from holdfast.errors import HoldfastError
from holdfast.ids import Seq, SessionId, SpaceId
from holdfast.store import codec
from holdfast.store.errors import UnknownSpace
from holdfast.sync.server import notify
from holdfast.sync.server.access import Right
from holdfast.sync.server.context import Peer
from holdfast.sync.server.proof import OpenProof
from holdfast.sync.server.session_registry import ServerSession
from holdfast.sync.server.space import Space
from holdfast.sync.server.watch_set import WatchSet
from holdfast.sync.wire import messages
from holdfast.sync.wire.errors import (
    ProtocolError,
    TooManySessions,
    TooManySpaces,
    UnsupportedProtocol,
)
from holdfast.sync.wire.messages import EXISTING, PROTOCOL, Flags, Hello, HelloOk, SessionOpen


def greet(connection: Peer, hello: Hello) -> HelloOk:
    """Answer a hello; the connection is then ready."""
    server = connection.server
    if connection.ready:
        raise ProtocolError("hello may only be sent once")
    _check_terms(hello, server.settings.flags)
    connection.ready = True
    capabilities = hello.capabilities
    if isinstance(capabilities, list):
        connection.capabilities = (server.settings.capabilities | {EXISTING}) & set(capabilities)
    terms: messages.OpenTerms | UnsetType = UNSET
    if server.challenges is not None and "identity" in connection.capabilities:
        terms = server.challenges.issue(server.clock_ms())
        connection.challenge = terms.challenge.value
    return HelloOk(
        protocol=PROTOCOL,
        flags=messages.to_wire(server.settings.flags),
        capabilities=sorted(connection.capabilities) if isinstance(capabilities, list) else UNSET,
        session_open=terms,
    )


def _check_terms(hello: Hello, ours: Flags) -> None:
    if hello.protocol != PROTOCOL:
        raise UnsupportedProtocol(hello.protocol)
    flags = messages.to_wire(ours)
    if any(hello.flags.get(name) is not value for name, value in flags.items()):
        theirs = {name: hello.flags.get(name) for name in flags}
        raise ProtocolError(
            f"memory/v2 flag mismatch: client={codec.encode(theirs, False)} "
            f"server={codec.encode(flags, False)}"
        )


def _space(connection: Peer, name: SpaceId, principal: str | None) -> Space:
    server = connection.server
    if name not in server.spaces:
        most = server.limits.spaces_per_principal
        if len(server.registry.spaces(principal) - {name}) >= most:
            raise TooManySpaces(most, principal or "a client")
    try:
        return server.space(name, create=EXISTING not in connection.capabilities)
    except UnknownSpace as error:
        if server.challenges is not None:
            # Where opens are signed, the names of other spaces are not revealed.
            error.hint = "check its name; the first write creates it"
        raise


def open_session(connection: Peer, request: SessionOpen) -> dict[str, Any]:
    """Open or resume a session on a connection; the `ok` of the response."""
    server, proposal = connection.server, request.session
    name = SpaceId(request.space)
    # Authorize first: others must not learn which spaces exist, nor create one.
    proof = OpenProof(server.challenges, connection.challenge, server.clock_ms())
    principal = server.settings.authorize(name, request, proof)
    space = _space(connection, name, principal)
    space.advance()
    server.access[name].require(principal, Right.READ)
    id = proposal.session_id if isinstance(proposal.session_id, str) else None
    token = proposal.session_token if isinstance(proposal.session_token, str) else None
    seen_seq = Seq(proposal.seen_seq) if isinstance(proposal.seen_seq, int) else None
    if "identity" in connection.capabilities and server.challenges is not None:
        id = server.challenges.session_id(id, name, principal)
    most = server.limits.sessions_per_connection
    if len(connection.sessions) >= most and (name, SessionId(id or "")) not in connection.sessions:
        raise TooManySessions(most)
    most = server.limits.sessions_per_principal
    if server.registry.count(principal) >= most and not server.registry.has(name, id):
        raise TooManySessions(most, principal or "this server")
    opened = server.registry.open(
        name, id, token, principal, connection, server.clock_ms(), seen_seq
    )
    session = opened.session
    if opened.former_owner is not None:
        opened.former_owner.lose(session, "taken-over")
    connection.sessions[session.key] = session
    ok: dict[str, Any] = {
        "sessionId": session.id,
        "sessionToken": opened.token,
        "serverSeq": space.seq,
    }
    if opened.resumed:
        ok |= _resumed(connection, space, session, seen_seq)
    if seen_seq is not None:
        session.acknowledged(seen_seq)
    server.registry.keep(session)
    return ok


def _resumed(
    connection: Peer, space: Space, session: ServerSession, seen_seq: Seq | None
) -> dict[str, Any]:
    """What the answer to a resumed session adds; nothing if its watches can no longer be read."""
    # The first version sends what changed since the server last sent something, so what was lost on
    # the way stays lost. A peer that reports how far it got receives everything since.
    integrated = seen_seq if "coverage" in connection.capabilities else None
    try:
        sync = notify.catch_up(space, session, integrated)
    except HoldfastError:
        # A session without watches counts as fresh: its client installs them again and learns which
        # of them fails, and why.
        session.watch_set = WatchSet(space.name, connection.server.limits.graph)
        return {}
    return {"resumed": True} if sync is None else {"resumed": True, "sync": messages.to_wire(sync)}
