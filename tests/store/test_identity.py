"""Who may open a session."""

import copy
import sys
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from holdfast.store.errors import AuthorizationError, IdentityUnavailable, ProtocolError
from holdfast.store.identity import (
    base58,
    did_of,
    public_key_of,
    signing_payload,
    unbase58,
    verify_open,
)

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
SPACE = "did:key:z6MkehRgf7yJbgaGfYsdoAsKdBPE3dj2CYhowQdcjqSJgvVd"
SESSION = {"sessionId": "session:1", "seenSeq": 3}
REQUIRES = r"^memory/v2 session\.open requires authorization$"
MISMATCH = r"^memory/v2 session\.open authorization mismatch$"
INVALID = r"^Invalid signature$"


def invocation(**changed: object) -> dict[str, object]:
    return {
        "iss": SPACE,
        "cmd": "session.open",
        "sub": SPACE,
        "args": {"protocol": "memory/v2", "session": dict(SESSION)},
    } | changed


def sign(invocation: object, canonical: bool = True) -> bytes:
    return KEY.sign(signing_payload(invocation, canonical))


def opened(
    asked: Any = None,
    *,
    space: str = SPACE,
    session: object = SESSION,
    signature: object = None,
    canonical: bool = True,
) -> str:
    """Open as the owner of SPACE would, but for what the test changes."""
    asked = invocation() if asked is None else asked
    signature = sign(asked, canonical) if signature is None else signature
    return verify_open(space, session, asked, signature, canonical)


@pytest.mark.shows("AUTH-DID")
def test_a_did_is_a_public_key_read_and_written() -> None:
    key = KEY.public_key().public_bytes_raw()
    assert did_of(key) == SPACE
    assert public_key_of(SPACE) == key


@pytest.mark.shows("AUTH-DID")
@given(st.binary(min_size=32, max_size=32))
def test_every_key_has_its_did(key: bytes) -> None:
    assert did_of(key).startswith("did:key:z6Mk")
    assert public_key_of(did_of(key)) == key


@pytest.mark.shows("AUTH-DID")
@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"\x00", "1"),
        (b"\x00\x00\x01", "112"),
        (b"Hello World!", "2NEpo7TZRRrLZSi2U"),
        (bytes.fromhex("0000287fb4cd"), "11233QC4"),
    ],
)
def test_base58(data: bytes, text: str) -> None:
    assert base58(data) == text
    assert unbase58(text) == data


@given(st.binary(max_size=40))
def test_base58_reads_what_it_writes(data: bytes) -> None:
    assert unbase58(base58(data)) == data


@pytest.mark.shows("AUTH-BAD-DID")
@pytest.mark.parametrize(
    "did",
    [
        "",
        "did:web:example.com",
        "did:key:",
        "did:key:z",
        "did:key:z6Mkother",
        "did:key:z0OIl",
        "did:key:z6MkehRgf7yJbgaGfYsdoAsKdBPE3dj2CYhowQdcjqSJgvV",
        "did:key:z" + base58(b"\xed\x01" + bytes(33)),
        "did:key:z" + base58(b"\xe7\x01" + bytes(33)),
        "did:key:z" + "2" * 100_000,
        "did:key:zé",
        SPACE + "\n",
    ],
    ids=lambda did: did[:40],
)
def test_an_unreadable_did_is_a_protocol_error(did: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        public_key_of(did)
    assert caught.value.name == "ProtocolError"
    assert caught.value.hint
    with pytest.raises(ProtocolError):
        opened(invocation(iss=did, sub=did), space=did)


@pytest.mark.shows("AUTH-SIGNATURE")
@pytest.mark.parametrize("canonical", [True, False])
def test_the_owner_of_a_space_may_open_it(canonical: bool) -> None:
    assert opened(canonical=canonical) == SPACE


@pytest.mark.shows("AUTH-SIGNATURE")
def test_a_session_without_members_may_be_opened() -> None:
    asked = invocation(args={"protocol": "memory/v2", "session": {}})
    assert opened(asked, session={}) == SPACE


@pytest.mark.shows("AUTH-REQUIRES")
@pytest.mark.parametrize("absent", [None, "text", 5, ["a"]], ids=repr)
def test_without_an_invocation_authorization_is_required(absent: object) -> None:
    with pytest.raises(AuthorizationError, match=REQUIRES):
        verify_open(SPACE, SESSION, absent, bytes(64), canonical_hashing=True)


@pytest.mark.shows("AUTH-REQUIRES", "AUTH-FORMS")
@pytest.mark.parametrize(
    "signature",
    [
        None,
        "00" * 64,
        5,
        {},
        {"1": 0},
        {"0": 0, "2": 0},
        {"0": 256},
        {"00": 0},
        [256],
        [-1],
        [1.5],
        [True],
        ["0"],
    ],
    ids=repr,
)
def test_without_a_readable_signature_authorization_is_required(signature: object) -> None:
    with pytest.raises(AuthorizationError, match=REQUIRES):
        verify_open(SPACE, SESSION, invocation(), signature, canonical_hashing=True)


@pytest.mark.shows("AUTH-FORMS")
def test_a_signature_may_be_written_in_three_ways() -> None:
    raw = sign(invocation())
    backwards = {str(at): raw[at] for at in reversed(range(len(raw)))}
    for signature in (raw, list(raw), backwards):
        assert opened(signature=signature) == SPACE


OTHER = did_of(bytes(range(32)))


@pytest.mark.shows("AUTH-MISMATCH")
@pytest.mark.parametrize(
    "changed",
    [
        {"iss": OTHER},
        {"iss": None},
        {"sub": OTHER},
        {"cmd": "transact"},
        {"args": None},
        {"args": {"protocol": "memory", "session": SESSION}},
        {"args": {"session": SESSION}},
        {"args": {"protocol": "memory/v2"}},
        {"args": {"protocol": "memory/v2", "session": []}},
        {"args": {"protocol": "memory/v2", "session": {"sessionId": "session:1"}}},
        {"args": {"protocol": "memory/v2", "session": {"seenSeq": 3}}},
        {"args": {"protocol": "memory/v2", "session": SESSION | {"sessionId": "session:2"}}},
        {"args": {"protocol": "memory/v2", "session": SESSION | {"seenSeq": 4}}},
        {"args": {"protocol": "memory/v2", "session": SESSION | {"seenSeq": "3"}}},
    ],
    ids=str,
)
def test_an_invocation_that_does_not_repeat_the_request_is_refused(
    changed: dict[str, object],
) -> None:
    with pytest.raises(AuthorizationError, match=MISMATCH):
        opened(invocation(**changed))


@pytest.mark.shows("AUTH-MISMATCH")
@pytest.mark.parametrize(
    "session", [{}, {"sessionId": "session:1"}, SESSION | {"seenSeq": 0}, None], ids=repr
)
def test_a_request_for_another_session_is_refused(session: object) -> None:
    with pytest.raises(AuthorizationError, match=MISMATCH):
        opened(session=session)


@pytest.mark.shows("AUTH-MISMATCH")
def test_true_is_not_the_seq_one() -> None:
    asked = invocation(args={"protocol": "memory/v2", "session": {"seenSeq": True}})
    with pytest.raises(AuthorizationError, match=MISMATCH):
        opened(asked, session={"seenSeq": 1})


@pytest.mark.shows("AUTH-MISMATCH")
def test_a_mismatch_is_told_before_the_did_is_read() -> None:
    with pytest.raises(AuthorizationError, match=MISMATCH):
        opened(space="did:key:z6Mkother")


@pytest.mark.shows("AUTH-TOKEN")
def test_the_session_token_is_not_compared() -> None:
    assert opened(session=SESSION | {"sessionToken": "rotated"}) == SPACE


@pytest.mark.shows("AUTH-SIGNATURE")
@given(st.integers(0, 64 * 8 - 1), st.booleans())
def test_a_signature_with_one_bit_changed_is_invalid(bit: int, canonical: bool) -> None:
    raw = bytearray(sign(invocation(), canonical))
    raw[bit // 8] ^= 1 << bit % 8
    with pytest.raises(AuthorizationError, match=INVALID):
        opened(signature=bytes(raw), canonical=canonical)


@pytest.mark.shows("AUTH-SIGNATURE")
@pytest.mark.parametrize("size", [0, 1, 63, 65])
def test_a_signature_of_another_size_is_invalid(size: int) -> None:
    with pytest.raises(AuthorizationError, match=INVALID):
        opened(signature=(sign(invocation()) + b"\x00")[:size])


@pytest.mark.shows("AUTH-SIGNATURE")
def test_a_signature_covers_every_member_and_one_mode() -> None:
    raw = sign(invocation())
    with pytest.raises(AuthorizationError, match=INVALID):
        opened(invocation(extra=1), signature=raw)
    with pytest.raises(AuthorizationError, match=INVALID):
        opened(signature=raw, canonical=False)


@pytest.mark.shows("AUTH-SIGNATURE")
def test_another_key_cannot_sign_for_a_space() -> None:
    stranger = Ed25519PrivateKey.from_private_bytes(bytes(32))
    with pytest.raises(AuthorizationError, match=INVALID) as caught:
        opened(signature=stranger.sign(signing_payload(invocation(), True)))
    assert caught.value.name == "AuthorizationError"


@pytest.mark.shows("AUTH-SIGNATURE")
def test_an_invocation_that_has_no_hash_cannot_have_been_signed() -> None:
    with pytest.raises(AuthorizationError, match=INVALID):
        opened(invocation(extra=float("nan")), signature=bytes(64))


def test_checking_changes_nothing() -> None:
    asked = invocation()
    before = copy.deepcopy(asked)
    opened(asked)
    assert asked == before


@pytest.mark.shows("AUTH-OPTIONAL")
def test_without_the_package_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = sign(invocation())
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    with pytest.raises(IdentityUnavailable) as caught:
        opened(signature=raw)
    assert "holdfast[identity]" in caught.value.hint
    assert "cryptography" in str(caught.value)
