"""Who opens a session: Ed25519 keys named by `did:key`, and the check of their signatures.

A space is named by a public key; its owner holds the private key. To open a session the owner
signs the hash of an invocation that repeats the request. The server checks that the invocation
matches the request, then the signature. Nothing is stored. May refuse an owner whose request was
written differently; never accepts another principal as the owner.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from typing import Final

from holdfast.store.errors import (
    AuthorizationError,
    IdentityUnavailable,
    InvalidIdentity,
    InvalidValue,
)
from holdfast.store.hashing import hash_of, merkle_reference

PROTOCOL: Final = "memory/v2"

_PREFIX: Final = "did:key:z"
_ED25519: Final = b"\xed\x01"
_KEY_SIZE: Final = 32
_SIGNATURE_SIZE: Final = 64
_DIGITS: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_DIGITS_MAX: Final = 64
"""34 bytes need at most 47 base58 digits; longer texts are refused without decoding."""


def did_of(public_key: bytes) -> str:
    """The DID of an Ed25519 public key."""
    assert len(public_key) == _KEY_SIZE, "an Ed25519 public key has 32 bytes"
    return _PREFIX + base58(_ED25519 + public_key)


def public_key_of(did: str) -> bytes:
    """The Ed25519 public key that a DID names, or `InvalidIdentity`."""
    if not did.startswith(_PREFIX):
        raise InvalidIdentity(did, "it does not start with did:key:z")
    digits = did.removeprefix(_PREFIX)
    if len(digits) > _DIGITS_MAX:
        raise InvalidIdentity(did[:80], "it is too long")
    try:
        data = unbase58(digits)
    except ValueError as error:
        raise InvalidIdentity(did, str(error)) from None
    if not data.startswith(_ED25519):
        raise InvalidIdentity(did, "its key is not an Ed25519 key")
    key = data.removeprefix(_ED25519)
    if len(key) != _KEY_SIZE:
        raise InvalidIdentity(did, f"its key has {len(key)} bytes, not {_KEY_SIZE}")
    return key


def base58(data: bytes) -> str:
    """Base58 as Bitcoin spells it: each leading zero byte becomes a leading `1`."""
    number = int.from_bytes(data, "big")
    digits = ""
    while number:
        number, digit = divmod(number, 58)
        digits = _DIGITS[digit] + digits
    zeros = len(data) - len(data.lstrip(b"\x00"))
    return "1" * zeros + digits


def unbase58(text: str) -> bytes:
    """The bytes of a base58 text; ValueError names a character that is not a digit."""
    number = 0
    for character in text:
        digit = _DIGITS.find(character)
        if digit < 0:
            raise ValueError(f"{character!r} is not a base58 digit")
        number = number * 58 + digit
    zeros = len(text) - len(text.lstrip("1"))
    return b"\x00" * zeros + number.to_bytes((number.bit_length() + 7) // 8, "big")


def signing_payload(invocation: object, canonical_hashing: bool) -> bytes:
    """The bytes that an invocation's signature covers: its hash, in the mode agreed on."""
    return hash_of(invocation) if canonical_hashing else merkle_reference(invocation)


def verify_open(
    space: str, session: object, invocation: object, signature: object, canonical_hashing: bool
) -> str:
    """The principal that signed this request to open a session of the space.

    `signature` may be bytes, a list of bytes, or an object with their indexes as names: the ways in
    which peers write a byte array.
    """
    raw = _signature_bytes(signature)
    if not isinstance(invocation, dict) or raw is None:
        raise AuthorizationError(f"{PROTOCOL} session.open requires authorization")
    if not _repeats(invocation, space, session):
        raise AuthorizationError(f"{PROTOCOL} session.open authorization mismatch")
    key = public_key_of(space)
    try:
        payload = signing_payload(invocation, canonical_hashing)
    except InvalidValue:
        # What cannot be hashed cannot have been signed.
        raise AuthorizationError("Invalid signature") from None
    if not is_signed(key, raw, payload):
        raise AuthorizationError("Invalid signature")
    return space


def is_signed_by(did: str, invocation: object, signature: object, canonical_hashing: bool) -> bool:
    """Whether the key of a DID signed this invocation; `InvalidIdentity` if the DID has none."""
    key, raw = public_key_of(did), _signature_bytes(signature)
    if raw is None:
        return False
    try:
        payload = signing_payload(invocation, canonical_hashing)
    except InvalidValue:
        return False
    return is_signed(key, raw, payload)


def sign_commit(
    space: str, session: str, commit: Mapping[str, object], did: str, sign: Callable[[bytes], bytes]
) -> dict[str, object]:
    """The commit with a `signature` member by the key of a DID, for this session of this space.

    The signature is stored with the commit, exported and imported with it, and checked by
    `verify`. It covers the commit without that member, so it must be signed last.
    """
    signature = {"iss": did, "sub": space}
    payload = _commit_payload(session, {**commit, "signature": signature})
    raw = urlsafe_b64encode(sign(payload)).decode().rstrip("=")
    return {**commit, "signature": {**signature, "sig": raw}}


def commit_signature_problem(
    session: str, commit: Mapping[str, object], space: str | None = None, did: str | None = None
) -> str:
    """Why a commit's signature does not hold; empty if it does.

    With `space` and `did` it must also be for that space, and by that key.
    """
    signature = commit.get("signature")
    if not isinstance(signature, dict) or not all(
        isinstance(signature.get(name), str) for name in ("iss", "sub", "sig")
    ):
        return "is not {iss, sub, sig}"
    if space is not None and signature["sub"] != space:
        return f"is for the space {signature['sub']}"
    if did is not None and signature["iss"] != did:
        return f"is by {signature['iss']}"
    try:
        key = public_key_of(signature["iss"])
        text = signature["sig"]
        raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        payload = _commit_payload(session, commit)
    except (InvalidIdentity, InvalidValue, ValueError) as error:
        return f"cannot be read: {error}"
    return "" if is_signed(key, raw, payload) else f"was not made by {signature['iss']}"


def _commit_payload(session: str, commit: Mapping[str, object]) -> bytes:
    """The bytes that a commit's signature covers."""
    signature = commit["signature"]
    assert isinstance(signature, dict), "the caller has checked it"
    invocation = {
        "cmd": "transact",
        "iss": signature["iss"],
        "sub": signature["sub"],
        "args": {
            "protocol": PROTOCOL,
            "sessionId": session,
            "commit": {name: value for name, value in commit.items() if name != "signature"},
        },
    }
    return hash_of(invocation)


def _repeats(invocation: dict[str, object], space: str, session: object) -> bool:
    """Whether the invocation requests exactly this session of this space."""
    args = invocation.get("args")
    return (
        invocation.get("iss") == space
        and invocation.get("sub") == space
        and invocation.get("cmd") == "session.open"
        and isinstance(args, dict)
        and args.get("protocol") == PROTOCOL
        and isinstance(args.get("session"), dict)
        and _descriptor(args["session"]) == _descriptor(session)
    )


def _descriptor(session: object) -> tuple[str | None, int | float | None]:
    """The signed part of a session; a member of the wrong type counts as absent."""
    members = session if isinstance(session, dict) else {}
    name, seen_seq = members.get("sessionId"), members.get("seenSeq")
    return (
        name if isinstance(name, str) else None,
        seen_seq if isinstance(seen_seq, int | float) and not isinstance(seen_seq, bool) else None,
    )


def _signature_bytes(signature: object) -> bytes | None:
    if isinstance(signature, bytes):
        return signature
    if isinstance(signature, dict):
        names = [str(index) for index in range(len(signature))]
        if not names or signature.keys() != set(names):
            return None
        signature = [signature[name] for name in names]
    if not isinstance(signature, list):
        return None
    if not all(type(item) is int and 0 <= item <= 255 for item in signature):
        return None
    return bytes(signature)


def is_signed(key: bytes, signature: bytes, payload: bytes) -> bool:
    """Whether a payload was signed by the holder of an Ed25519 key."""
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        raise IdentityUnavailable from None
    if len(signature) != _SIGNATURE_SIZE:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, payload)
    except (InvalidSignature, ValueError):
        return False
    return True
