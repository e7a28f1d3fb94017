"""`holdfast serve` from the outside: its options, and a guarded server over real sockets."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from holdfast.app import App
from holdfast.cli.main import main
from holdfast.store import identity
from holdfast.sync.server.proof import invocation_for
from holdfast.sync.wire.messages import Challenge, OpenTerms
from holdfast.system import now_ms
from tests.sync.peers import set_
from tests.sync.processes import CLIENTS, Client, Served, home_of
from tests.web.http_agent import HttpAgent


class Key:
    """An identity that can sign opens."""

    def __init__(self, seed: int) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)
        self.did = identity.did_of(self._key.public_key().public_bytes_raw())

    def enter(self, url: str, space: str, session: str, token: str = "") -> Client:
        """A client whose open is signed over what the server's hello asks for."""
        client = Client(url, capabilities=["identity", "conflicts"], space=space)
        terms = client.hello["sessionOpen"]
        challenge = Challenge(
            value=terms["challenge"]["value"], expires_at=terms["challenge"]["expiresAt"]
        )
        wanted: dict[str, Any] = {"sessionId": session}
        if token:
            wanted["sessionToken"] = token
        invocation = invocation_for(
            self.did,
            space,
            wanted,
            OpenTerms(audience=terms["audience"], challenge=challenge),
            now_ms() // 1000,
        )
        signature = self._key.sign(identity.signing_payload(invocation, False))
        answer = client.ask(
            "session.open",
            session=wanted,
            invocation=invocation,
            authorization={"signature": list(signature)},
        )
        client.refusal = answer.get("error")
        if "ok" in answer:
            client.session = answer["ok"]["sessionId"]
            client.token = answer["ok"]["sessionToken"]
        return client


@pytest.mark.shows("SYNC-IDENTITY", "SYNC-ACL-COMMANDS", "W4", "W8")
def test_a_guarded_server_knows_who_is_asking_and_what_they_may(tmp_path: Path) -> None:
    owner, guest, stranger = Key(1), Key(2), Key(3)
    space = owner.did
    served = Served(home_of(tmp_path), "--require-signature", "--acl", "enforce")
    try:
        first = owner.enter(served.url, space, "any")
        acl = {owner.did: "OWNER", guest.did: "READ"}
        granted = {"op": "set", "id": f"of:{space}", "value": {"value": acl}}
        assert first.transact(1, granted)["ok"]["seq"] == 1
        assert first.transact(2, set_("a", 1))["ok"]["seq"] == 2
        reader = guest.enter(served.url, space, "any")
        assert reader.ask("graph.query", query={"roots": []})["ok"]["serverSeq"] == 2
        refused = reader.transact(1, set_("a", 2))["error"]
        assert refused["name"] == "AuthorizationError"
        assert f"of:{space}" in refused["hint"]
        outside = stranger.enter(served.url, space, "any")
        assert outside.refusal is not None
        assert outside.refusal["name"] == "AuthorizationError"
        unsigned = Client(served.url, space=space)
        assert unsigned.open("any")["error"]["name"] == "AuthorizationError"
    finally:
        while CLIENTS:
            CLIENTS.pop().close()
        served.stop()


@pytest.mark.shows("SYNC-IDENTITY-REQUIRED", "SYNC-IDENTITY-BOUND")
def test_the_default_audience_names_the_real_port_and_identity_may_be_required(
    tmp_path: Path,
) -> None:
    """With `--port 0` every server called itself port 0, so an open for one fitted another."""
    key = Key(1)
    served = Served(home_of(tmp_path), "--require-identity")
    try:
        client = key.enter(served.url, key.did, "any")
        port = urlsplit(served.url).port
        assert client.hello["sessionOpen"]["audience"] == f"holdfast://127.0.0.1:{port}"
        assert client.refusal is None
        first_version = Client(served.url, space=key.did)
        refusal = first_version.open("any")["error"]
        assert refusal["message"].endswith("needs the identity capability on this server")
    finally:
        while CLIENTS:
            CLIENTS.pop().close()
        served.stop()


@pytest.mark.shows("SYNC-SERVE")
def test_an_address_of_another_machine_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["serve", "--host", "192.0.2.1", "--port", "0", "--store", "memory:"]
    assert main([*arguments, "--require-signature"]) == 3
    assert "cannot listen on 192.0.2.1" in capsys.readouterr().err


@pytest.mark.shows("SYNC-IDENTITY-SESSION-ID", "SYNC-KEPT")
def test_a_session_id_is_good_after_a_restart(tmp_path: Path) -> None:
    key = Key(1)
    ids: list[str] = []
    token = ""
    for _ in range(2):
        served = Served(home_of(tmp_path), "--require-signature", "--audience", "us")
        if ids:
            refusal = key.enter(served.url, key.did, ids[0]).refusal
            assert refusal is not None
            assert refusal["name"] == "SessionRevokedError", "its token is still good"
        client = key.enter(served.url, key.did, ids[0] if ids else "made up", token)
        assert client.refusal is None
        token = client.token
        ids.append(client.session)
        assert client.transact(1, set_("a", 1))["ok"]["seq"] == 1
        client.close()
        served.stop()
    assert ids[0] == ids[1] != "made up"
    CLIENTS.clear()


@pytest.mark.shows("SYNC-SERVE")
def test_an_access_list_without_signatures_is_a_usage_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["serve", "--acl", "enforce"]) == 2
    assert "--require-signature" in capsys.readouterr().err


@pytest.mark.shows("SYNC-SERVE")
def test_a_short_key_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = tmp_path / "key"
    key.write_bytes(b"short")
    assert main(["serve", "--key-file", str(key), "--store", "memory:"]) == 2
    assert "32 random bytes" in capsys.readouterr().err


@pytest.mark.shows("SYNC-SERVE-STORE")
def test_memory_over_mcp_is_in_the_store_that_sync_serves(tmp_path: Path) -> None:
    """`--store` moved only /sync; notes of agents went where HOLDFAST_DATABASE_URL pointed."""
    served = Served(str(tmp_path / "team"), home=str(tmp_path / "home"))
    try:
        place = served.url.replace("ws://", "http://").removesuffix("/sync")
        agent = HttpAgent([place], served.token)
        agent.start()
        said = agent.call("memory_note", {"text": "the till rounds once"})
        agent.close()
        assert not said.get("isError"), said
    finally:
        served.stop()
    with App(tmp_path / "home", str(tmp_path / "team")).open_space() as store:
        assert [state.id for state in store.documents()] == ["note:the-till-rounds-once"]
    with App(tmp_path / "home").open_space() as store:
        assert not store.documents()
