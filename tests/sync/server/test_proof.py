"""Opening a session with a signature: who, to whom, once, and in time."""

from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from holdfast.ids import SpaceId
from holdfast.store import identity
from holdfast.sync.server.proof import Challenges, invocation_for, signed
from holdfast.sync.wire.messages import CAPABILITIES, Challenge, Flags, OpenTerms
from tests.sync.peers import FLAGS, Json, Peer, World, commit, refused, set_

AUDIENCE = "holdfast://test"
CANONICAL = {**FLAGS, "canonicalHashing": True}


class Key:
    """An identity that can sign."""

    def __init__(self, seed: int) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)
        self.did = identity.did_of(self._key.public_key().public_bytes_raw())

    def sign(self, invocation: Json) -> list[int]:
        return list(self._key.sign(identity.signing_payload(invocation, True)))


SPACE_KEY, GUEST = Key(1), Key(2)
SPACE = SPACE_KEY.did


class Secured(World):
    """A world in which every open is signed."""

    def __init__(self, require_identity: bool = False) -> None:
        self.values = iter(f"value-{n}" for n in range(1, 10_000))
        self.challenges = Challenges(AUDIENCE, b"k" * 32, lambda: next(self.values))
        super().__init__(
            authorize=lambda space, request, proof: signed(
                space, request, proof, True, require_identity
            ),
            capabilities=CAPABILITIES,
            challenges=self.challenges,
            flags=Flags(canonical_hashing=True),
        )
        self.now = 1_700_000_000_000


def greeted(world: World, capabilities: list[str] | None) -> tuple[Peer, OpenTerms | None]:
    peer = Peer(world)
    hello: Json = {"type": "hello", "protocol": "memory/v2", "flags": CANONICAL}
    if capabilities is not None:
        hello["capabilities"] = capabilities
    (answer,) = peer.send(hello)
    assert answer["type"] == "hello.ok", answer
    if "sessionOpen" not in answer:
        return peer, None
    terms = answer["sessionOpen"]
    challenge = Challenge(
        value=terms["challenge"]["value"], expires_at=terms["challenge"]["expiresAt"]
    )
    return peer, OpenTerms(audience=terms["audience"], challenge=challenge)


def opening(
    world: World,
    key: Key,
    terms: OpenTerms | None,
    session: Json | None = None,
    changed: Json | None = None,
    signer: Key | None = None,
) -> Json:
    descriptor = session or {}
    invocation = invocation_for(key.did, SPACE, dict(descriptor), terms, world.now // 1000)
    invocation |= changed or {}
    return {
        "type": "session.open",
        "requestId": "o",
        "space": SPACE,
        "session": descriptor,
        "invocation": invocation,
        "authorization": {"signature": (signer or key).sign(invocation)},
    }


@pytest.mark.shows("SYNC-IDENTITY", "W4", "W7")
def test_a_signed_open_names_its_signer() -> None:
    world = Secured()
    peer, terms = greeted(world, ["identity"])
    assert terms is not None
    assert terms.audience == AUDIENCE
    (answer,) = peer.send(opening(world, GUEST, terms))
    assert answer["ok"]["serverSeq"] == 0
    (session,) = peer.connection.sessions.values()
    assert session.principal == GUEST.did
    world.close()


@pytest.mark.shows("SYNC-EXISTING")
def test_somebody_unknown_neither_makes_a_space_nor_learns_of_one() -> None:
    """The space used to be made before anybody looked at the signature."""
    world = Secured()
    world.open(SpaceId("did:key:others"))
    peer, terms = greeted(world, ["identity", "conflicts"])
    (answer,) = peer.send(opening(world, GUEST, terms, signer=SPACE_KEY))
    assert refused(answer)[0] == "AuthorizationError"
    assert world.opened == ["did:key:others"]
    peer, terms = greeted(world, ["identity", "conflicts", "existing"])
    (answer,) = peer.send(opening(world, GUEST, terms))
    assert refused(answer) == ("UnknownSpaceError", f"there is no space {SPACE}")
    assert "others" not in str(answer)
    assert world.opened == ["did:key:others"]
    world.close()


@pytest.mark.shows("SYNC-IDENTITY-SEED", "W9")
def test_a_peer_of_the_first_version_signs_with_the_spaces_key_and_keeps_its_id() -> None:
    world = Secured()
    peer, terms = greeted(world, None)
    assert terms is None
    (answer,) = peer.send(opening(world, SPACE_KEY, None, {"sessionId": "mine", "seenSeq": 0}))
    assert answer["ok"]["sessionId"] == "mine"
    (refusal,) = greeted(world, None)[0].send(opening(world, GUEST, None))
    assert refused(refusal)[0] == "AuthorizationError"
    world.close()


@pytest.mark.shows("W8", "SYNC-IDENTITY")
@pytest.mark.parametrize("capabilities", [None, ["identity"]])
def test_an_unsigned_open_is_refused(capabilities: list[str] | None) -> None:
    world = Secured()
    peer, _ = greeted(world, capabilities)
    message = {"type": "session.open", "requestId": "o", "space": SPACE, "session": {}}
    (answer,) = peer.send(message)
    assert refused(answer) == (
        "AuthorizationError",
        "memory/v2 session.open requires authorization",
    )
    world.close()


@pytest.mark.parametrize(
    "changed",
    [
        {"aud": "holdfast://elsewhere"},
        {"challenge": "value-0"},
        {"sub": "did:key:other"},
        {"cmd": "session.close"},
        {"iat": 1_600_000_000, "exp": 1_600_000_060},
        {"iat": 1_700_009_000, "exp": 1_700_009_060},
        {"exp": 1_700_900_000},
        {"exp": "soon"},
        {"args": {"protocol": "memory/v2", "session": {"sessionToken": "another"}}},
    ],
)
@pytest.mark.shows("SYNC-IDENTITY-BOUND")
def test_a_signature_is_good_for_one_request_only(changed: Json) -> None:
    world = Secured()
    peer, terms = greeted(world, ["identity"])
    (answer,) = peer.send(opening(world, GUEST, terms, changed=changed))
    assert refused(answer)[0] == "AuthorizationError"
    assert not peer.connection.sessions
    world.close()


@pytest.mark.shows("SYNC-IDENTITY-BOUND")
def test_a_signature_by_someone_else_is_refused() -> None:
    world = Secured()
    peer, terms = greeted(world, ["identity"])
    (answer,) = peer.send(opening(world, GUEST, terms, signer=SPACE_KEY))
    assert refused(answer) == ("AuthorizationError", "Invalid signature")
    world.close()


@pytest.mark.shows("SYNC-IDENTITY-ONCE")
def test_a_challenge_is_used_once_and_on_its_own_connection() -> None:
    world = Secured()
    peer, terms = greeted(world, ["identity"])
    message = opening(world, GUEST, terms)
    (first,) = peer.send(message)
    assert "ok" in first
    (again,) = peer.send(message)
    assert refused(again)[0] == "AuthorizationError"
    thief, _ = greeted(world, ["identity"])
    (stolen,) = thief.send(message)
    assert refused(stolen)[0] == "AuthorizationError"
    world.close()


@pytest.mark.parametrize("kept", [("aud",), ("challenge",), ("exp",), ("aud", "challenge", "exp")])
@pytest.mark.shows("SYNC-IDENTITY-ONCE")
def test_a_bound_open_cannot_be_replayed_on_a_first_version_connection(
    kept: tuple[str, ...],
) -> None:
    """A connection that did not name `identity` ignored audience, challenge and expiry, so an
    open of the owner that had been recorded elsewhere was accepted again."""
    world = Secured()
    _, terms = greeted(world, ["identity"])
    session = {"sessionId": "mine", "seenSeq": 0}
    bound = opening(world, SPACE_KEY, terms, session)["invocation"]
    changed = {name: bound[name] for name in kept}
    message = opening(world, SPACE_KEY, None, session, changed)
    replaying, no_terms = greeted(world, None)
    assert no_terms is None
    (answer,) = replaying.send(message)
    assert refused(answer) == (
        "AuthorizationError",
        "memory/v2 session.open is bound to a challenge, which needs the identity capability",
    )
    assert not replaying.connection.sessions
    world.close()


@pytest.mark.shows("SYNC-IDENTITY-REQUIRED")
def test_a_server_may_require_identity() -> None:
    world = Secured(require_identity=True)
    peer, _ = greeted(world, None)
    (answer,) = peer.send(opening(world, SPACE_KEY, None, {"sessionId": "mine", "seenSeq": 0}))
    assert refused(answer) == (
        "AuthorizationError",
        "memory/v2 session.open needs the identity capability on this server",
    )
    peer, terms = greeted(world, ["identity"])
    (answer,) = peer.send(opening(world, SPACE_KEY, terms))
    assert "ok" in answer
    world.close()


@pytest.mark.shows("SYNC-SIGNED-COMMITS")
def test_a_commit_is_signed_by_the_principal_of_its_session_or_not_at_all() -> None:
    world = Secured()
    peer, terms = greeted(world, ["identity"])
    (answer,) = peer.send(opening(world, SPACE_KEY, terms))
    peer.session, peer.space = answer["ok"]["sessionId"], SPACE

    def signed_by(
        key: Key, n: int, session: str | None = None, space: str = SPACE, **changed: Any
    ) -> Json:
        plain = commit(n, set_("a", n))
        sign = key._key.sign
        made = identity.sign_commit(space, session or peer.session, plain, key.did, sign)
        return peer.ask("transact", commit={**made, **changed})

    assert signed_by(SPACE_KEY, 1)["ok"]["seq"] == 1
    assert signed_by(SPACE_KEY, 1)["ok"]["seq"] == 1, "sent again it is the same"
    for answer in (
        signed_by(GUEST, 2),
        signed_by(SPACE_KEY, 2, session="another"),
        signed_by(SPACE_KEY, 2, space=GUEST.did),
        signed_by(SPACE_KEY, 2, localSeq=3),
        signed_by(SPACE_KEY, 2, signature="nonsense"),
        signed_by(SPACE_KEY, 2, signature={"iss": SPACE, "sub": SPACE, "sig": "AA"}),
    ):
        name, message = refused(answer)
        assert name == "AuthorizationError"
        assert message.startswith("the signature of the commit ")
    assert peer.transact(set_("a", 2), local_seq=2)["ok"]["seq"] == 2
    world.close()


@pytest.mark.shows("SYNC-IDENTITY-ONCE")
def test_a_challenge_expires() -> None:
    world = Secured()
    peer, terms = greeted(world, ["identity"])
    world.now += 300_000
    (answer,) = peer.send(opening(world, GUEST, terms))
    assert refused(answer)[1] == "memory/v2 session.open challenge is no longer valid"
    world.close()


@pytest.mark.shows("SYNC-IDENTITY-SESSION-ID")
def test_session_ids_are_made_here_and_belong_to_their_principal() -> None:
    world = Secured()
    peer, terms = greeted(world, ["identity"])
    (made_up,) = peer.send(opening(world, GUEST, terms, {"sessionId": "guessed"}))
    id = made_up["ok"]["sessionId"]
    assert id != "guessed"
    other, other_terms = greeted(world, ["identity"])
    (answer,) = other.send(opening(world, SPACE_KEY, other_terms, {"sessionId": id}))
    assert answer["ok"]["sessionId"] != id
    # After the session was forgotten its owner gets the id again: commits are known by it.
    peer.connection.disconnected()
    world.now += 60_000
    back, back_terms = greeted(world, ["identity"])
    (resumed,) = back.send(opening(world, GUEST, back_terms, {"sessionId": id}))
    assert resumed["ok"]["sessionId"] == id
    assert "resumed" not in resumed["ok"]
    world.close()


def test_no_more_challenges_are_kept_than_allowed() -> None:
    numbers = iter(range(1_000))
    challenges = Challenges("a", b"k", lambda: f"v{next(numbers)}", most=10)
    issued: list[Any] = [challenges.issue(0).challenge.value for _ in range(11)]
    assert not challenges.use(issued[0], 1)
    assert challenges.use(issued[10], 1)
    challenges.sweep(10**9)
    assert not challenges.use(issued[5], 1)
