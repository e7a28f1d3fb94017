"""`memory watch`, `memory acl` and `keys`, against a real server process."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from holdfast.cli.memory import sync_commands
from tests.cli.test_memory import Terminal, run
from tests.fork_server import Forked

__all__ = ["run"]


@pytest.fixture
def url(run: Terminal, tmp_path: Path) -> Iterator[str]:
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    words = ("serve", "--port", "0", "--json")
    server = Forked("holdfast.cli.main", *words, env=environment, cwd=Path.cwd())
    try:
        yield str(json.loads(server.stdout.readline())["url"])
    finally:
        server.terminate()
        server.wait()
        server.close()


@pytest.mark.shows("SYNC-CLI-WATCH")
def test_a_server_that_is_not_there_is_said_so_at_once(
    run: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It used to be dialled again and again for ten seconds; now nothing waits for the time."""
    monkeypatch.setattr(sync_commands, "CONNECT_S", 3_600)
    run("memory", "watch", "note:a", "--url", "http://127.0.0.1:9", code=3)
    assert "cannot reach ws://127.0.0.1:9/sync" in run.errors
    assert "holdfast serve" in run.errors


@pytest.mark.shows("SYNC-CLI-WATCH", "SYNC-HOST")
def test_a_server_that_turns_us_away_is_said_so_at_once(
    run: Terminal, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sync_commands, "CONNECT_S", 3_600)
    run("memory", "watch", "note:a", "--url", url.replace("/sync", "/elsewhere"), code=3)
    assert "HTTP 403" in run.errors


@pytest.mark.shows("SYNC-CLI-WATCH")
def test_a_watch_prints_what_is_there_and_then_every_change(run: Terminal, url: str) -> None:
    program = [sys.executable, "-m", "holdfast.cli.main", "memory", "watch", "note:a", "note:b"]
    program += ["--url", url, "--json", "--count", "3"]
    watcher = subprocess.Popen(program, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    assert watcher.stdout is not None
    first = [json.loads(watcher.stdout.readline()) for _ in range(2)]
    assert [(line["id"], line["seq"], line["document"]) for line in first] == [
        ("note:a", 0, None),
        ("note:b", 0, None),
    ]
    with holdfast.connect(url, "local") as space:
        space.put("note:a", {"value": 1})
        assert json.loads(watcher.stdout.readline())["document"] == {"value": 1}
        space.put("note:b", {"value": 2})
        assert json.loads(watcher.stdout.readline())["document"] == {"value": 2}
    assert watcher.wait(20) == 0
    watcher.stdout.close()


@pytest.mark.shows("SYNC-CLI-WATCH-SPACE")
def test_a_watch_makes_no_space_unless_told_to(run: Terminal, url: str, tmp_path: Path) -> None:
    """A slip of the pen used to make a space of that name, and to wait there for ever."""
    run("memory", "set", "note:a", "1", "--space", "garden")
    run("memory", "watch", "note:a", "--url", url, "--space", "gardn", code=1)
    assert "there is no space gardn" in run.errors
    assert "there are: garden" in run.errors
    assert "--create" in run.errors
    answer = run.json("memory", "watch", "note:a", "--url", url, "--space", "gardn", code=1)
    assert "garden" in answer["hint"]
    assert len(list((tmp_path / "home").rglob("*gard*.sqlite"))) == 1
    words = ("memory", "watch", "note:a", "--url", url, "--count", "1", "--space")
    assert run.json(*words, "garden")["document"] == {"value": 1}
    assert run.json(*words, "gardn", "--create")["seq"] == 0
    assert len(list((tmp_path / "home").rglob("*gard*.sqlite"))) == 2
    assert run.json(*words, "gardn")["seq"] == 0, "now it is there"


@pytest.mark.shows("SYNC-CLI-ACL")
def test_the_access_list_keeps_an_owner(run: Terminal) -> None:
    assert "belongs to its own key" in run("memory", "acl", "show")
    run("memory", "acl", "set", "*", "READ", code=2)
    assert "at least one owner" in run.errors
    run("memory", "acl", "set", "did:key:z6MkA", "OWNER")
    run("memory", "acl", "set", "*", "READ")
    assert run.json("memory", "acl", "show") == {"*": "READ", "did:key:z6MkA": "OWNER"}
    run("memory", "acl", "remove", "did:key:z6MkA", code=2)
    run("memory", "acl", "remove", "*")
    assert run.json("memory", "acl", "show") == {"did:key:z6MkA": "OWNER"}


@pytest.mark.shows("SYNC-CLI-KEYS")
def test_a_key_is_the_owners_alone_and_never_printed(run: Terminal, tmp_path: Path) -> None:
    did = run("keys", "new", "work").strip()
    assert did.startswith("did:key:z6Mk")
    path = tmp_path / "home" / "keys" / "work.key"
    assert path.stat().st_mode & 0o777 == 0o600
    seed = path.read_bytes()
    shown = run("keys", "show")
    assert did in shown
    assert seed.hex() not in shown + run.errors
    run("keys", "new", "work", code=2)
    assert path.read_bytes() == seed, "a key is never overwritten"
    assert run.json("keys", "show", "work") == [{"name": "work", "did": did}]
    run("keys", "show", "missing", code=2)
    assert "there is no key 'missing'" in run.errors
    run("keys", "new", "../evil", code=2)
