"""Signed opens: who opens a session, proven for this server and this connection.

A recorded signature could be replayed. So each connection gets a challenge in its hello.ok; an open
repeats it, names this server as its audience, says when it was signed and when it expires, and
covers the session's token. A challenge is valid for one open. Session ids are created here and
bound to the principal: an id from another server or principal is not used.

May refuse an honest client (a clock more than two minutes off, a challenge used twice); never
accepts a signature for more than the open that it was made for.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from msgspec import UNSET

from holdfast.ids import SpaceId
from holdfast.store import identity
from holdfast.store.errors import AuthorizationError
from holdfast.sync.wire.messages import PROTOCOL, Challenge, OpenTerms, SessionOpen, to_wire

SKEW_S: Final = 120
"""How many seconds a client's clock may be off."""


class Challenges:
    """Challenges that were issued and not yet used."""

    def __init__(
        self,
        audience: str,
        key: bytes,
        new_value: Callable[[], str],
        ttl_ms: int = 300_000,
        most: int = 100_000,
    ) -> None:
        self.audience = audience
        self._key, self._new_value, self._ttl_ms, self._most = key, new_value, ttl_ms, most
        self._expires: dict[str, int] = {}

    def issue(self, now_ms: int) -> OpenTerms:
        """Terms for one open."""
        if len(self._expires) >= self._most:
            self._expires.pop(next(iter(self._expires)))
        value = self._new_value()
        self._expires[value] = now_ms + self._ttl_ms
        expires = (now_ms + self._ttl_ms) // 1000
        return OpenTerms(
            audience=self.audience, challenge=Challenge(value=value, expires_at=expires)
        )

    def use(self, value: str, now_ms: int) -> bool:
        """Whether a challenge is valid; this uses it up."""
        expires = self._expires.pop(value, None)
        return expires is not None and now_ms < expires

    def drop(self, value: str) -> None:
        self._expires.pop(value, None)

    def sweep(self, now_ms: int) -> None:
        for value in [value for value, expires in self._expires.items() if expires <= now_ms]:
            del self._expires[value]

    def session_id(self, id: str | None, space: SpaceId, principal: str | None) -> str:
        """The requested id, if it was created here for this principal; else a new one."""
        if id is not None and self._created_here(id, space, principal):
            return id
        nonce = self._new_value()
        return f"{nonce}.{self._seal(nonce, space, principal)}"

    def _created_here(self, id: str, space: SpaceId, principal: str | None) -> bool:
        nonce, _, seal = id.rpartition(".")
        return bool(nonce) and hmac.compare_digest(
            seal.encode(), self._seal(nonce, space, principal).encode()
        )

    def _seal(self, nonce: str, space: SpaceId, principal: str | None) -> str:
        bound = "\0".join((nonce, space, principal or "")).encode()
        seal = hmac.new(self._key, bound, hashlib.sha256).digest()
        return base64.urlsafe_b64encode(seal[:18]).decode()


@dataclass(frozen=True, slots=True)
class OpenProof:
    """The challenge of the connection that an open came on; None if it has none."""

    challenges: Challenges | None
    challenge: str | None
    now_ms: int


BOUND: Final = ("aud", "challenge", "exp")
"""Members of an invocation that limit it to one open. Only a connection with terms checks them."""


def signed(
    space: SpaceId,
    request: SessionOpen,
    proof: OpenProof,
    canonical_hashing: bool = False,
    require_identity: bool = False,
) -> str:
    """The principal who signed this open, or `AuthorizationError`.

    A connection that received terms must have signed them. One that did not is a peer of the
    protocol's first version, whose opens are signed by the space's own key. It cannot present an
    invocation that is bound to a challenge: that is a copy of an open on another connection.
    """
    signature = (
        request.authorization.get("signature") if isinstance(request.authorization, dict) else None
    )
    invocation = request.invocation if isinstance(request.invocation, dict) else None
    if proof.challenges is None or proof.challenge is None:
        if require_identity:
            raise AuthorizationError(
                f"{PROTOCOL} session.open needs the identity capability on this server"
            )
        if invocation is not None and any(name in invocation for name in BOUND):
            raise AuthorizationError(
                f"{PROTOCOL} session.open is bound to a challenge, "
                "which needs the identity capability"
            )
        return identity.verify_open(
            space, to_wire(request.session), invocation, signature, canonical_hashing
        )
    if invocation is None or signature is None:
        raise AuthorizationError(f"{PROTOCOL} session.open requires authorization")
    issuer = invocation.get("iss")
    if not isinstance(issuer, str) or not _repeats(invocation, space, request, proof):
        raise AuthorizationError(f"{PROTOCOL} session.open authorization mismatch")
    if not _timely(invocation, proof.now_ms // 1000):
        raise AuthorizationError(f"{PROTOCOL} session.open authorization expired")
    if not identity.is_signed_by(issuer, invocation, signature, canonical_hashing):
        raise AuthorizationError("Invalid signature")
    if not proof.challenges.use(proof.challenge, proof.now_ms):
        raise AuthorizationError(f"{PROTOCOL} session.open challenge is no longer valid")
    return issuer


def invocation_for(
    issuer: str,
    space: str,
    session: dict[str, Any],
    terms: OpenTerms | None,
    now_s: int,
    lasts_s: int = 60,
) -> dict[str, Any]:
    """The invocation that a client signs to open a session."""
    invocation: dict[str, Any] = {
        "iss": issuer,
        "cmd": "session.open",
        "sub": space,
        "args": {"protocol": PROTOCOL, "session": session},
    }
    if terms is not None:
        invocation |= {
            "aud": terms.audience,
            "challenge": terms.challenge.value,
            "iat": now_s,
            "exp": now_s + lasts_s,
        }
    return invocation


def _repeats(
    invocation: dict[str, Any], space: SpaceId, request: SessionOpen, proof: OpenProof
) -> bool:
    """Whether the invocation is for this open, this server and this connection."""
    assert proof.challenges is not None
    args = invocation.get("args")
    if not isinstance(args, dict) or not isinstance(args.get("session"), dict):
        return False
    session = request.session
    fields = {
        "sessionId": session.session_id,
        "seenSeq": session.seen_seq,
        "sessionToken": session.session_token,
    }
    return (
        invocation.get("sub") == space
        and invocation.get("cmd") == "session.open"
        and invocation.get("aud") == proof.challenges.audience
        and invocation.get("challenge") == proof.challenge
        and args.get("protocol") == PROTOCOL
        and all(args["session"].get(name, UNSET) == value for name, value in fields.items())
    )


def _timely(invocation: dict[str, Any], now_s: int) -> bool:
    issued, expires = invocation.get("iat"), invocation.get("exp")
    return (
        type(issued) is int
        and type(expires) is int
        and issued <= now_s + SKEW_S
        and now_s - SKEW_S < expires
        and expires - issued <= 3600
    )
