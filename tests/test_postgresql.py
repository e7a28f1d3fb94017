"""Why PostgreSQL was not reached, in one way for everyone who asks."""

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.errors import HoldfastError
from holdfast.index.generations.postgres.backend import PostgresBackend
from holdfast.index.shared.postgres import PostgresShared
from holdfast.postgresql import explain
from holdfast.store.store import open_store
from holdfast.sync.server.session_rows import SessionTable
from tests.cli.test_memory import Terminal, run
from tests.postgres import PostgresServer

__all__ = ["run"]

ASKING: dict[str, Callable[[str], object]] = {
    "store": lambda url: open_store(url, "did:key:a"),
    "index": lambda url: PostgresBackend(url, 0).reader("/root").__enter__(),
    "shared index": lambda url: PostgresShared(url).ping(),
    "sessions": lambda url: SessionTable(url, "node"),
}


SETTINGS = {
    "store": "HOLDFAST_DATABASE_URL",
    "index": "HOLDFAST_INDEX_URL",
    "shared index": "HOLDFAST_INDEX_URL",
    "sessions": "HOLDFAST_DATABASE_URL",
}
"""The setting that each address is from."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.mark.shows("POSTGRES-REACH")
@pytest.mark.parametrize("who", ASKING)
def test_a_server_that_is_not_there_is_named(who: str) -> None:
    port = free_port()
    with pytest.raises(HoldfastError) as refused:
        ASKING[who](f"postgresql://me:se%20cret@127.0.0.1:{port}/db")
    said = f"cannot reach PostgreSQL: no server is listening at 127.0.0.1:{port}"
    assert str(refused.value) == said
    assert refused.value.hint == f"start the server there, or check {SETTINGS[who]}"


@pytest.mark.shows("POSTGRES-REACH")
@pytest.mark.parametrize("who", ASKING)
def test_what_the_server_says_is_passed_on(who: str, postgres: PostgresServer) -> None:
    with pytest.raises(HoldfastError) as refused:
        ASKING[who](f"{postgres.url}&dbname=nowhere")
    assert str(refused.value) == 'cannot reach PostgreSQL: database "nowhere" does not exist'
    assert refused.value.hint == f"check {SETTINGS[who]}"


SAID = {
    'failed: FATAL:  password authentication failed for user "me"\nmore': "password",
    'invalid URI query parameter: "x" in URI: "postgresql://me:secret@h/x"': "invalid",
    "could not use s/cret or s%2Fcret here": "could not use",
    "": "no answer",
}


@pytest.mark.shows("POSTGRES-REACH")
@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("url", ["postgresql://me:secret@h/x", "postgresql://me:s%2Fcret@h/x"])
def test_no_password_is_ever_repeated(said: str, url: str) -> None:
    reason, hint = explain(said.replace("s/cret", "secret") if "secret" in url else said, url)
    assert not any(word in reason for word in ("secret", "s/cret", "\n"))
    assert "s%2Fcret" not in reason or "secret" in url
    assert SAID[said] in reason
    assert "HOLDFAST_DATABASE_URL" in hint
    assert "secret" not in explain(said, "postgresql://[me:secret")[0]


@pytest.mark.shows("POSTGRES-REACH")
def test_a_sync_server_that_is_not_there_is_named(run: Terminal, tmp_path: Path) -> None:
    port = free_port()
    run("memory", "watch", "note:a", "--url", f"http://localhost:{port}", code=3)
    assert f"cannot reach ws://localhost:{port}/sync: nothing is listening at localhost:{port}" in (
        run.errors
    )
    assert "Errno" not in run.errors


@pytest.mark.shows("POSTGRES-REACH")
def test_a_fork_that_is_not_on_the_default_branch_says_so(run: Terminal) -> None:
    run("memory", "set", "note:a", "1")
    run("memory", "branch", "create", "draft", "--at", "9", code=1)
    assert "forkSeq 9 is not on the default branch" in run.errors
