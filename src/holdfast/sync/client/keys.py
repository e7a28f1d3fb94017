"""Opening sessions with a key: the principal and its signature."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import UNSET

from holdfast.errors import UsageError
from holdfast.store import identity
from holdfast.store.errors import IdentityUnavailable
from holdfast.sync.client.client import Authenticate, SignCommit
from holdfast.sync.server.proof import invocation_for
from holdfast.sync.wire.messages import Flags, OpenTerms, SessionDescriptor, to_wire

SEED_SIZE = 32


class SigningKey:
    """An Ed25519 private key, from its 32-byte seed."""

    def __init__(self, seed: bytes) -> None:
        if len(seed) != SEED_SIZE:
            raise UsageError(f"a key has {SEED_SIZE} bytes, not {len(seed)}")
        try:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        except ImportError:
            raise IdentityUnavailable from None
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        self.did = identity.did_of(self._key.public_key().public_bytes_raw())

    def sign(self, payload: bytes) -> bytes:
        return self._key.sign(payload)


def commit_signer(key: SigningKey) -> SignCommit:
    """The function that signs every commit for a server that checks identities."""

    def sign(space: str, session: str, commit: Mapping[str, Any]) -> Mapping[str, Any]:
        return identity.sign_commit(space, session, commit, key.did, key.sign)

    return sign


def signer(
    key: SigningKey, flags: Flags, clock_s: Callable[[], float], first_version: bool = False
) -> Authenticate:
    """The function that signs every session that a client opens, over the server's terms.

    A server that offers no terms gets no signature. It would not be bound to a server or a time, so
    its receiver could use it to open a session elsewhere. `first_version` signs anyway, for a
    server that accepts only that form.
    """

    def authenticate(
        space: str, descriptor: SessionDescriptor, terms: OpenTerms | None
    ) -> tuple[Any, Any] | None:
        if terms is None and not first_version:
            return None
        session = {name: value for name, value in to_wire(descriptor).items() if value is not UNSET}
        invocation = invocation_for(key.did, space, session, terms, int(clock_s()))
        payload = identity.signing_payload(invocation, flags.canonical_hashing)
        return invocation, {"signature": list(key.sign(payload))}

    return authenticate
