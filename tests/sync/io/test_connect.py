"""`holdfast.connect` against a real server on a real socket, with and without an event loop."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET, to_builtins

import holdfast
from holdfast.errors import UsageError
from holdfast.ids import Seq
from holdfast.store import identity
from holdfast.store.delta import MISSING
from holdfast.store.store import open_store
from holdfast.sync.client.actions import Send
from holdfast.sync.client.errors import CommitRefused, RequestRefused, SessionClosed
from holdfast.sync.client.keys import SigningKey
from holdfast.sync.client.outbox import SqliteOutbox
from holdfast.sync.io.aio import AsyncSpace
from holdfast.sync.io.connect import websocket_url, websocket_urls
from holdfast.sync.io.transactions import AsyncTransaction, LockedTransaction
from holdfast.sync.wire.errors import Unreachable
from holdfast.sync.wire.messages import Flags, HelloOk, SessionOpen
from tests.sync.live import TOKEN, LiveServer, serving

SPACE = "did:key:z6Mk-connect"
SEED = bytes(range(32))
SOON_S = 20


@pytest.fixture(autouse=True)
def _the_token_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_TOKEN", TOKEN)


def increment(tx: LockedTransaction) -> None:
    tx.write_value("of:counter", ["n"], tx.get("of:counter", ["n"], 0) + 1)


@pytest.mark.shows("R122", "R123")
@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("http://localhost:7433", "ws://localhost:7433/sync"),
        ("https://memory.example/", "wss://memory.example/sync"),
        ("ws://localhost:7433/sync", "ws://localhost:7433/sync"),
        ("wss://memory.example/other?x=1", "wss://memory.example/other?x=1"),
    ],
)
def test_a_web_address_becomes_that_of_its_websocket(url: str, wanted: str) -> None:
    assert websocket_url(url) == wanted


def test_several_servers_are_named_in_one_text_or_several() -> None:
    wanted = ("ws://a:1/sync", "wss://b/other?x=1,2")
    assert websocket_urls("http://a:1, wss://b/other?x=1,2,http://a:1") == wanted
    assert websocket_urls(["http://a:1", "wss://b/other?x=1,2"]) == wanted
    with pytest.raises(UsageError, match="no server URL"):
        websocket_urls([])


def test_a_server_that_is_away_is_passed_over(tmp_path: Path) -> None:
    away = "http://127.0.0.1:9"
    with serving(str(tmp_path)) as server:
        for urls in ([away, server.url], [server.url, away], [away, away, server.url]):
            with holdfast.connect(urls, SPACE, patient=False) as space:
                space.put("of:a", {"value": 1})
    with (
        pytest.raises(Unreachable, match=r"127.0.0.1:9.*127.0.0.1:7/"),
        holdfast.connect([away, "http://127.0.0.1:7"], SPACE, patient=False),
    ):
        pass


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="is not a server URL"):
        websocket_url("localhost:7433")


def test_without_a_loop_a_document_is_written_read_and_queried(tmp_path: Path) -> None:
    with serving(str(tmp_path)) as server, holdfast.connect(server.url, SPACE) as space:
        landed = space.put("of:a", {"value": {"n": 1}}, timeout_s=SOON_S)
        assert landed.seq == 1
        assert space.read("of:a") == {"value": {"n": 1}}
        query = {"roots": [{"id": "of:a", "selector": {"path": []}}]}
        assert space.query(query, timeout_s=SOON_S)["entities"][0]["document"] == {
            "value": {"n": 1}
        }


@pytest.mark.shows("MEM-AUTHOR-SYNC")
def test_a_client_states_who_writes(tmp_path: Path) -> None:
    """Commits of clients had no author but a random session."""
    with serving(str(tmp_path)) as server:
        with holdfast.connect(server.url, SPACE, author="ada") as space:
            space.put("of:a", {"value": 1}, timeout_s=SOON_S)
        with holdfast.connect(server.url, SPACE) as space:
            space.put("of:b", {"value": 1}, timeout_s=SOON_S)
    with open_store(str(tmp_path), SPACE) as store:
        authors = {state.id: store.author_of(state) for state in store.stream("", None, "of:")}
    assert {id: str(author or "") for id, author in authors.items()} == {"of:a": "ada", "of:b": ""}


@pytest.mark.shows("W5", "W6", "T87")
def test_a_fresh_client_sees_what_another_wrote_and_what_it_writes_next(tmp_path: Path) -> None:
    with serving(str(tmp_path)) as server, holdfast.connect(server.url, SPACE) as writer:
        writer.put("of:a", {"value": 1}, timeout_s=SOON_S)
        with holdfast.connect(server.url, SPACE) as reader:
            assert reader.sync("of:a", timeout_s=SOON_S) == {"value": 1}
            changes = reader.syncs()
            writer.put("of:a", {"value": 2}, timeout_s=SOON_S)
            assert next(iter(changes)).upserts[0].seq == 2
            assert reader.read("of:a") == {"value": 2}


@pytest.mark.shows("R51", "R23")
def test_two_clients_count_together_and_lose_nothing(tmp_path: Path) -> None:
    async def count(space: AsyncSpace) -> None:
        await space.sync("of:counter")
        for _ in range(10):
            await space.update(increment, timeout_s=SOON_S)

    async def both(url: str) -> object:
        async with holdfast.connect(url, SPACE) as one, holdfast.connect(url, SPACE) as two:
            await asyncio.wait_for(asyncio.gather(count(one), count(two)), SOON_S)
            query = {"roots": [{"id": "of:counter", "selector": {"path": []}}]}
            return (await one.query(query))["entities"][0]["document"]

    with serving(str(tmp_path)) as server:
        assert asyncio.run(both(server.url)) == {"value": {"n": 20}}


@pytest.mark.shows("W14", "T75", "SYNC-RECONNECT")
def test_a_server_restart_is_survived(tmp_path: Path) -> None:
    first = LiveServer(str(tmp_path))
    port = first.port
    with holdfast.connect(first.url, SPACE) as space:
        space.put("of:a", {"value": 1}, timeout_s=SOON_S)
        space.sync("of:a", timeout_s=SOON_S)
        changes = space.syncs()
        first.stop()
        with space.transaction() as tx:  # while nobody is there
            tx.write_value("of:a", [], 2)
            verdict = tx.submit()
        assert space.read("of:a") == {"value": 2}
        assert not verdict.settled
        second = LiveServer(str(tmp_path), port=port)
        try:
            space.synced(timeout_s=SOON_S)
            landed = verdict.result()
            assert landed is not None
            assert landed.seq == 2
            with holdfast.connect(second.url, SPACE) as other:
                other.put("of:a", {"value": 3}, timeout_s=SOON_S)
            while space.read("of:a") != {"value": 3}:
                assert next(iter(changes)) is not None
        finally:
            second.stop()


@pytest.mark.shows("SYNC-OUTBOX")
def test_commits_survive_the_process_that_made_them(tmp_path: Path) -> None:
    outbox = tmp_path / "outbox.db"
    first = LiveServer(str(tmp_path / "store"))
    port = first.port
    space = holdfast.connect(first.url, SPACE, outbox=outbox).open_blocking()
    space.put("of:a", {"value": 1}, timeout_s=SOON_S)
    first.stop()
    with space.transaction() as tx:
        tx.write_value("of:a", [], 2)
        verdict = tx.submit()
    space.close()
    with pytest.raises(SessionClosed):
        verdict.result()
    second = LiveServer(str(tmp_path / "store"), port=port)
    try:
        with holdfast.connect(second.url, SPACE, outbox=outbox) as again:
            again.synced(timeout_s=SOON_S)
            assert again.sync("of:a", timeout_s=SOON_S) == {"value": 2}
    finally:
        second.stop()
    kept = SqliteOutbox(outbox, SPACE)
    assert kept.commits() == []
    kept.close()


@pytest.mark.shows("W4", "W7", "W8")
def test_a_signed_session_opens_and_an_unsigned_one_does_not(tmp_path: Path) -> None:
    with serving(str(tmp_path), require_signature=True, key=b"k" * 32) as server:
        with holdfast.connect(server.url, key=SEED) as space:
            assert space.put("of:a", {"value": 1}, timeout_s=SOON_S).seq == 1
        with pytest.raises(RequestRefused, match="requires authorization") as refused:
            holdfast.connect(server.url, SigningKey(SEED).did).open_blocking()
        assert refused.value.name == "AuthorizationError"


@pytest.mark.shows("SYNC-SIGNED-COMMITS")
def test_with_a_key_every_commit_is_signed_also_after_a_restart(tmp_path: Path) -> None:
    outbox = tmp_path / "outbox.db"
    guarded: dict[str, Any] = {"require_signature": True, "key": b"k" * 32}
    did = SigningKey(SEED).did
    first = LiveServer(str(tmp_path), **guarded)
    port = first.port
    try:
        before = holdfast.connect(first.url, key=SEED, outbox=outbox).open_blocking()
        before.put("of:a", {"value": 1}, timeout_s=SOON_S)
        first.stop()
        with pytest.raises(TimeoutError):
            before.put("of:a", {"value": 2}, timeout_s=0.01)
        before.close(0.1)
    finally:
        first.stop()
    with (
        serving(str(tmp_path), port=port, **guarded) as server,
        holdfast.connect(server.url, key=SEED, outbox=outbox) as space,
    ):
        space.synced(timeout_s=SOON_S)
        assert space.put("of:b", {"value": 3}, timeout_s=SOON_S).seq == 3
    with open_store(str(tmp_path), did) as store:
        report = store.verify()
        assert (report.sound, report.signed) == (True, 3)
        with store.reading() as engine:
            for row in engine.tables.commits(Seq(0), 10):
                message: Any = engine.decode(row.original)
                assert identity.commit_signature_problem(row.session, message, did, did) == ""


@pytest.mark.shows("SYNC-IDENTITY-NO-DOWNGRADE")
@pytest.mark.parametrize("first_version", [False, True])
def test_a_server_without_a_challenge_gets_a_signature_only_if_it_is_asked_for(
    first_version: bool,
) -> None:
    """Any server could leave out the challenge, and use the signature at another server."""
    pending = holdfast.connect("http://localhost:1", key=SEED, first_version=first_version)
    client = pending._client()
    client.mount(pending.space)
    client.start()
    client.transport_up()
    client.receive(HelloOk(protocol="memory/v2", flags=to_builtins(Flags()), capabilities=[]))
    opens = [
        action.message
        for action in client.take()
        if isinstance(action, Send) and isinstance(action.message, SessionOpen)
    ]
    assert [message.invocation is not UNSET for message in opens] == [first_version]
    assert [message.authorization is not UNSET for message in opens] == [first_version]


def test_a_signed_session_comes_back_after_a_lost_connection(tmp_path: Path) -> None:
    first = LiveServer(str(tmp_path), require_signature=True, key=b"k" * 32)
    port = first.port
    with holdfast.connect(first.url, key=SEED) as space:
        space.put("of:a", {"value": 1}, timeout_s=SOON_S)
        first.stop()
        second = LiveServer(str(tmp_path), port=port, require_signature=True, key=b"k" * 32)
        try:
            assert space.put("of:a", {"value": 2}, timeout_s=SOON_S).seq == 2
        finally:
            second.stop()


@pytest.mark.shows("SYNC-TRANSACTION-BLOCK")
def test_a_blocking_transaction_commits_on_a_clean_exit_and_rolls_back_on_an_exception(
    tmp_path: Path,
) -> None:
    with serving(str(tmp_path)) as server, holdfast.connect(server.url, SPACE) as space:
        with space.transaction(timeout_s=SOON_S) as tx:
            tx.write("of:a", [], {"value": 1})
        assert space.pending == 0, "the verdict was awaited"
        tx = space.transaction()
        tx.write("of:a", [], {"value": 2})
        with pytest.raises(ZeroDivisionError), tx:
            tx.write_value("of:a", [], 1 / 0)
        assert space.read("of:a") == {"value": 1}
        tx = space.transaction()
        tx.write_value("of:a", [], 3)
        landed = tx.commit(timeout_s=SOON_S)
        assert landed is not None
        assert landed.seq == 2
        with holdfast.connect(server.url, SPACE) as other:
            other.put("of:b", {"value": 1}, timeout_s=SOON_S)
        tx = space.transaction(timeout_s=SOON_S)
        assert tx.read("of:b") is MISSING
        with pytest.raises(CommitRefused, match="stale confirmed read"), tx:
            tx.write("of:b", [], {"value": 9})


@pytest.mark.shows("SYNC-TRANSACTION-BLOCK")
def test_an_asyncio_transaction_commits_on_a_clean_exit_and_rolls_back_on_an_exception(
    tmp_path: Path,
) -> None:
    async def raising(tx: AsyncTransaction) -> None:
        async with tx:
            tx.write_value("of:a", [], 1 / 0)

    async def stale(space: AsyncSpace) -> None:
        async with space.transaction() as tx:
            assert tx.read("of:b") is MISSING
            tx.write("of:b", [], {"value": 9})

    async def story(url: str) -> None:
        async with holdfast.connect(url, SPACE) as space:
            async with space.transaction() as tx:
                tx.write("of:a", [], {"value": 1})
            assert space.pending == 0, "the verdict was awaited"
            tx = space.transaction()
            tx.write("of:a", [], {"value": 2})
            with pytest.raises(ZeroDivisionError):
                await raising(tx)
            assert space.read("of:a") == {"value": 1}
            tx = space.transaction()
            tx.write_value("of:a", [], 3)
            landed = await tx.commit()
            assert landed is not None
            assert landed.seq == 2
            async with holdfast.connect(url, SPACE) as other:
                await other.put("of:b", {"value": 1})
            with pytest.raises(CommitRefused, match="stale confirmed read"):
                await stale(space)

    with serving(str(tmp_path)) as server:
        asyncio.run(story(server.url))


def test_a_refusal_is_raised_to_whoever_waits(tmp_path: Path) -> None:
    with serving(str(tmp_path)) as server, holdfast.connect(server.url, SPACE) as space:
        with holdfast.connect(server.url, SPACE) as other:
            other.put("of:a", {"value": 1}, timeout_s=SOON_S)
        with space.transaction() as tx:
            assert tx.read("of:a") is MISSING
            tx.write("of:a", [], {"value": 9})
            with pytest.raises(CommitRefused, match="stale confirmed read") as refused:
                space.commit(tx, timeout_s=SOON_S)
        assert refused.value.is_conflict
        assert refused.value.conflicts


def test_branches_are_made_compared_and_merged(tmp_path: Path) -> None:
    with serving(str(tmp_path)) as server, holdfast.connect(server.url, SPACE) as space:
        space.put("of:a", {"value": 1}, timeout_s=SOON_S)
        space.create_branch("draft")
        space.put("of:a", {"value": 2}, branch="draft", timeout_s=SOON_S)
        assert space.diff("draft")["modified"] == ["of:a"]
        assert space.merge("draft") is not None
        assert space.read("of:a") == {"value": 2}
        assert space.merge("draft") is None
        assert [change["seq"] for change in space.history(0, limit=2)] == [1, 2, 3, 4]
        assert {branch["name"] for branch in space.branches()["branches"]} == {"", "draft"}
