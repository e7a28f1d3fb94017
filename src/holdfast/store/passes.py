"""A pass: a short text, signed by a key, that says who asks a server over HTTP, and until when.

    hfp1.DID.UNTIL.SIGNATURE        the signature covers the server's audience too

It contains no secret, but its holder can act as the owner of the key until it expires. It is valid
for one server: the one that was started with this audience.
"""

from __future__ import annotations

import base64
import binascii

from holdfast.errors import UsageError
from holdfast.extras import install_command
from holdfast.store.errors import InvalidIdentity
from holdfast.store.identity import did_of, is_signed, public_key_of

PASS_VERSION = "hfp1"  # noqa: S105
"""The format: hfp1: did, milliseconds since the epoch, Ed25519 signature in base64url."""
PASS_MAX = 400


def _payload(audience: str, did: str, until_ms: int) -> bytes:
    return f"holdfast pass {PASS_VERSION}\n{audience}\n{did}\n{until_ms}".encode()


def make_pass(seed: bytes, audience: str, until_ms: int) -> str:
    """A pass of a key for one server."""
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError:
        raise UsageError(
            "keys need the cryptography package", install_command("identity")
        ) from None
    key = Ed25519PrivateKey.from_private_bytes(seed)
    did = did_of(key.public_key().public_bytes_raw())
    signature = base64.urlsafe_b64encode(key.sign(_payload(audience, did, until_ms))).decode()
    return f"{PASS_VERSION}.{did}.{until_ms}.{signature.rstrip('=')}"


def principal_of(presented: str, audience: str, now_ms: int) -> tuple[str, int] | None:
    """The identity that signed a pass, and until when it is valid; None if it is not."""
    parts = presented.split(".")
    if len(presented) > PASS_MAX or len(parts) != 4 or parts[0] != PASS_VERSION:
        return None
    _, did, until, encoded = parts
    if not until.isascii() or not until.isdigit() or len(until) > 15 or int(until) <= now_ms:
        return None
    try:
        signature = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))
        key = public_key_of(did)
    except (binascii.Error, ValueError, InvalidIdentity):
        return None
    signed = is_signed(key, signature, _payload(audience, did, int(until)))
    return (did, int(until)) if signed else None
