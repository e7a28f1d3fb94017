"""Files and questions over HTTP, without a browser: headers, doors, what may be asked."""

import asyncio
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from holdfast.app import App
from holdfast.dashboard.pages import POLICY, Pages
from holdfast.dashboard.service import DashboardService
from holdfast.errors import UsageError
from holdfast.home import Home
from holdfast.live import BOARD, SPACE
from holdfast.reading.hosts import bindings
from holdfast.reading.hosts.bindings import Binding
from holdfast.store.store import open_store
from holdfast.sync.io.endpoint import ServeOptions, SyncService
from holdfast.sync.io.websocket import OriginPolicy
from holdfast.web.compose import site
from tests.dashboard.demo import Demo, fill
from tests.postgres import PostgresServer
from tests.web.test_site import BEARER, TOKEN, Answer, asked

ASSETS = resources.files("holdfast.dashboard") / "assets"


def ask(app: Any, path: str, method: str = "GET", body: bytes = b"", /, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return asyncio.run(asked(app, method, path, named, body))


@dataclass(frozen=True)
class Echo:
    asked: Mapping[str, str]

    def to_wire(self) -> dict[str, Any]:
        return dict(self.asked)


@pytest.fixture
def pages() -> Pages:
    def fails(asked: Mapping[str, str]) -> Echo:
        raise ZeroDivisionError

    return Pages(lambda: {"echo": Echo, "fails": fails})


@pytest.mark.shows("DASH-CSP")
def test_the_page_allows_nothing_but_itself(pages: Pages) -> None:
    policy = ask(pages, "/").headers["content-security-policy"]
    assert policy == POLICY
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == "'self'"
    assert "unsafe" not in policy
    assert "http" not in policy
    assert rules["frame-ancestors"] == rules["base-uri"] == "'none'"


@pytest.mark.shows("DASH-CSP", "DASH-SHIPPED")
def test_nothing_is_inline_and_nothing_comes_from_elsewhere() -> None:
    page = (ASSETS / "index.html").read_text(encoding="utf-8")
    assert re.findall(r"<script(?![^>]*\bsrc=)", page) == []
    assert re.findall(r"<style|\sstyle=|\son\w+=", page) == []
    for file in ASSETS.iterdir():
        text = file.read_text(encoding="utf-8")
        found = set(re.findall(r"https?://[^\s\"'`)]+", text))
        assert found <= {"http://www.w3.org/2000/svg"}, file.name
        if file.name.endswith(".js"):
            assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", text)
            for module in re.findall(r'from "([^"]+)"', text):
                assert (ASSETS / module.removeprefix("./")).is_file(), f"{file.name}: {module}"


def test_no_module_takes_what_it_does_not_use() -> None:
    for file in ASSETS.iterdir():
        text = file.read_text(encoding="utf-8")
        for taken in re.finditer(r"import \{([^}]*)\} from", text):
            rest = text.replace(taken[0], "")
            unused = [
                n
                for n in re.split(r",\s*", taken[1].strip())
                if not re.search(rf"\b{n.split()[-1]}\b", rest)
            ]
            assert unused == [], file.name


@pytest.mark.shows("DASH-SHIPPED")
def test_every_file_is_served_once_and_then_only_when_it_changed(pages: Pages) -> None:
    for file in ASSETS.iterdir():
        path = "/" if file.name == "index.html" else f"/assets/{file.name}"
        found = ask(pages, path)
        assert found.status == 200
        assert found.body == file.read_bytes()
        assert ask(pages, path, if_none_match=found.headers["etag"]).status == 304
        assert ask(pages, path, "HEAD").body == b""
    assert ask(pages, "/assets/app.js").headers["content-type"].startswith("text/javascript")
    for path in ("/assets/../pages.py", "/assets/", "/nowhere", "/assets/%2e%2e/pages.py"):
        assert ask(pages, path).status == 404
    assert ask(pages, "/", "POST").status == 405


@pytest.mark.shows("DASH-ASK")
def test_a_question_is_asked_by_address_or_by_body(pages: Pages) -> None:
    assert ask(pages, "/api/echo?a=1&b=").json == {"a": "1", "b": ""}
    assert ask(pages, "/api/echo", "POST", b'{"a": "x"}').json == {"a": "x"}
    for body in (b"", b"[]", b"{", b"1" * (1 << 21), b"[" * 100_000):
        assert ask(pages, "/api/echo", "POST", body).status == 400
    assert ask(pages, "/api/echo", "DELETE").status == 400
    assert ask(pages, "/api/nothing").status == 404


@pytest.mark.shows("DASH-ASK")
def test_a_failure_here_is_not_told_in_detail(
    pages: Pages, caplog: pytest.LogCaptureFixture
) -> None:
    found = ask(pages, "/api/fails")
    assert found.status == 500
    assert "ZeroDivision" not in found.body.decode()
    assert "ZeroDivision" in caplog.text


@pytest.mark.shows("DASH-DOORS")
def test_a_page_of_another_site_may_not_ask(pages: Pages) -> None:
    assert ask(pages, "/api/echo", sec_fetch_site="same-origin").status == 200
    for place in ("cross-site", "same-site"):
        assert ask(pages, "/api/echo", sec_fetch_site=place).status == 403


# behind the door of the server


@pytest.fixture
def demo(tmp_path: Path) -> Demo:
    return fill(tmp_path / "home", tmp_path, days=1)


@pytest.fixture
def service(demo: Demo) -> Iterator[DashboardService]:
    made = DashboardService(App(demo.home), watch_trees=False)
    yield made
    made.stop()


@pytest.mark.shows("DASH-DOORS")
def test_a_browser_without_the_token_is_told_where_it_is(tmp_path: Path) -> None:
    """It named a command that fails while the server runs."""
    sync = SyncService(ServeOptions(store="memory:"))
    home = tmp_path / "home"
    refused = ask(site(App(home), sync, OriginPolicy(), TOKEN), "/", accept="text/html")
    assert refused.status == 401
    text = refused.body.decode()
    assert "/?token=TOKEN" in text
    assert "~/.holdfast/token" in text
    assert str(home) not in text
    assert TOKEN not in text


@pytest.mark.shows("DASH-DOORS")
def test_without_the_token_there_is_no_page_and_no_answer(tmp_path: Path) -> None:
    sync = SyncService(ServeOptions(store="memory:"))
    whole = site(App(tmp_path / "home"), sync, OriginPolicy(), TOKEN)
    for path in ("/", "/assets/app.js", "/api/search?query=x", "/api/memory/documents"):
        assert ask(whole, path).status == 401
        assert (
            ask(whole, path, host="evil.example", authorization=BEARER["authorization"]).status
            == 403
        )
        assert (
            ask(
                whole, path, origin="https://evil.example", authorization=BEARER["authorization"]
            ).status
            == 403
        )
    assert ask(whole, "/assets/app.js", authorization=BEARER["authorization"]).status == 200
    sync.server.close()


@pytest.mark.shows("DASH-QUESTIONS")
def test_only_what_is_tracked_can_be_asked_about(service: DashboardService, demo: Demo) -> None:
    pages = Pages(service.questions)
    root = str(demo.project)
    (demo.project / ".env").write_text("TOKEN=secret\n")
    (demo.project / "app" / "way-out.py").symlink_to("/etc/hostname")
    good = ask(pages, f"/api/file?root={root}&file=app/money.py&start=8&end=10").json
    assert good["content"].startswith("def round_money")
    refused = [
        f"file?root={root}&file=../home/token",
        f"file?root={root}&file=/etc/passwd",
        f"file?root={root}&file=.env",
        f"file?root={root}&file=app/way-out.py",
        "file?root=/etc&file=passwd",
        "search?root=/&query=x",
        "locate?root=/etc&snippet=root",
        "clones?root=/etc",
        f"search?root={root}",
        f"search?root={root}&query=x&limit=many",
        "session?name=nobody",
        "context?name=nobody",
        "context/lines?name=refactor-pricing&path=/etc/passwd",
        "memory/documents?space=nowhere",
        "memory/documents?space=sessions",
        "memory/documents?branch=nowhere",
    ]
    for question in refused:
        found = ask(pages, f"/api/{question}")
        assert found.status == 400, question
        assert found.json["error"]
        assert b"secret" not in found.body
    assert not (demo.home / "spaces" / "engine-v3" / "nowhere.sqlite").exists()


@pytest.mark.shows("DASH-QUESTIONS")
def test_each_question_answers_what_the_command_answers(
    service: DashboardService,
    demo: Demo,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from holdfast.cli.main import main

    monkeypatch.setenv("HOLDFAST_HOME", str(demo.home))
    pages, root = Pages(service.questions), str(demo.project)

    def said(*words: str) -> Any:
        capsys.readouterr()
        main([*words, "--json"])
        return json.loads(capsys.readouterr().out)

    found = ask(pages, f"/api/search?root={root}&query=round+prices").json
    command = said("search", "round", "prices", "--path", root, "--limit", "10")
    assert [r["groupId"] for r in found["results"]] == [r["groupId"] for r in command["results"]]
    assert (
        ask(pages, f"/api/outline?root={root}&file=app/cart.py").json["outline"]
        == said("outline", "app/cart.py", "--path", root)["outline"]
    )
    calls = ask(pages, f"/api/calls?root={root}&file=app/cart.py&symbol=Cart.total&limit=20").json
    assert calls["edges"] == said("calls", "app/cart.py", "Cart.total", "--path", root)["edges"]
    mentions = ask(pages, f"/api/references?root={root}&symbol=Cart.total&limit=60").json
    assert mentions["references"] == said("references", "Cart.total", "--path", root)["references"]
    clones = ask(pages, f"/api/clones?root={root}&minimum=25").json
    assert clones == said("clones", root, "--min-tokens", "25")
    located = ask(pages, f"/api/locate?root={root}&snippet=item.price+*+amount").json
    told = said("locate", "item.price * amount", "--path", root)
    assert {**told, "text": located["text"]} == located
    context = ask(pages, "/api/context?name=refactor-pricing").json
    assert context == said("context", "--session", "refactor-pricing")
    tree = ask(pages, "/api/session?name=refactor-pricing").json["entries"]
    shown = said("session", "show", "--session", "refactor-pricing")["entries"]
    assert [(e["id"], e["parent"], e["depth"], e["leaf"], e["holds"]) for e in tree] == [
        (e["id"], e["parent"], e["depth"], e["leaf"], e["scopes"]) for e in shown
    ]
    doctor, examined = ask(pages, "/api/doctor").json["findings"], said("doctor")["findings"]
    assert [(f["about"], f["state"]) for f in doctor] == [
        (f["about"], f["state"]) for f in examined
    ]
    listed = ask(pages, "/api/memory/documents").json["documents"]
    assert [d["id"] for d in listed] == [d["id"] for d in said("memory", "list")]


@pytest.mark.shows("DASH-QUESTIONS", "LIVE-AGENTS")
def test_an_agents_own_session_can_be_asked_about(service: DashboardService, demo: Demo) -> None:
    transcript = demo.home.parent / "c0ffee.jsonl"
    line = {
        "type": "user",
        "uuid": "u1",
        "parentUuid": None,
        "sessionId": "c0ffee",
        "timestamp": "2026-11-15T10:00:00.000Z",
        "message": {"role": "user", "content": "hello"},
    }
    transcript.write_text(json.dumps(line) + "\n")
    bound = Binding("claude-code", "c0ffee", str(transcript), "/srv/shop", None, "Start", 1)
    bindings.write(Home(demo.home), bound)
    pages = Pages(service.questions)
    # The agent may have cleared results since: a second entry says so.
    entry, *_ = ask(pages, "/api/session?name=claude-code.c0ffee").json["entries"]
    assert entry["id"] == "u1"
    assert entry["at"] == 1794736800000
    context = ask(pages, "/api/context?name=claude-code.c0ffee").json
    assert context["held"] == []


@pytest.mark.shows("LIVE-CHANGES", "LIVE-SPACES")
def test_a_look_says_what_changed_and_who_should_hear(demo: Demo) -> None:
    heard: list[str] = []
    service = DashboardService(App(demo.home), on_change=heard.append, watch_trees=False)
    try:
        assert service.look() == 1
        assert set(heard) == {"local", SPACE}
        heard.clear()
        assert service.look() is None
        assert heard == []
        with App(demo.home).open_space() as store:
            store.transact(
                "s", {"localSeq": 1, "operations": [{"op": "set", "id": "x", "value": {}}]}
            )
        assert service.look() == 2
        assert heard == ["local", SPACE]
    finally:
        service.stop()


@pytest.mark.shows("LIVE-SPACES", "LIVE-SESSIONS")
def test_sessions_are_those_of_the_home_wherever_the_spaces_are(demo: Demo, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    service = DashboardService(App(demo.home), store=str(elsewhere), watch_trees=False)
    service.look()
    service.stop()
    with open_store(elsewhere, SPACE) as store:
        board = (store.read(BOARD) or {})["value"]
        assert sorted(board["sessions"]) == ["audit-stock", "refactor-pricing"]
        assert (store.read("live:space/local") or {})["value"]["seq"] == 0


@pytest.mark.shows("LIVE-SPACES")
def test_the_live_space_may_be_on_postgres(tmp_path: Path, postgres: PostgresServer) -> None:
    app = App(tmp_path / "home", database_url=postgres.url)
    other = DashboardService(App(tmp_path / "other", database_url=postgres.url), watch_trees=False)
    assert other.look() is not None
    with app.open_space() as store:
        note = {"op": "set", "id": "note:a", "value": {"value": 1}}
        newest = store.transact(app.writer_id("test"), {"localSeq": 1, "operations": [note]}).seq
    service = DashboardService(app, watch_trees=False)
    assert service.look() is not None
    assert service.look() is None
    other.look()
    assert service.look() is None, "what another machine says is said elsewhere"
    service.stop()
    other.stop()
    assert service.live_space != other.live_space
    with app.open_space(service.live_space) as live:
        space = (live.read("live:space/local") or {})["value"]
        assert space["seq"] == newest
        assert BOARD in {state.id for state in live.documents()}
        assert (live.read("live:health") or {})["value"]["store"] == "PostgreSQL"


@pytest.mark.shows("LIVE-HEALTH")
def test_an_unreadable_registry_is_said_and_not_taken_for_an_empty_one(demo: Demo) -> None:
    (demo.home / "index" / "registry.json").write_text("{")
    service = DashboardService(App(demo.home), watch_trees=False)
    service.look()
    service.stop()
    with open_store(demo.home / "spaces", SPACE) as store:
        health = (store.read("live:health") or {})["value"]
    assert health["state"] == "bad"
    (wrong,) = [check for check in health["checks"] if check["state"] == "bad"]
    assert wrong["name"] == "Registry of trees"
    assert "repair" in wrong["hint"]


@pytest.mark.shows("LIVE-CHANGES")
def test_two_servers_of_one_home_agree(demo: Demo) -> None:
    one = DashboardService(App(demo.home), watch_trees=False)
    other = DashboardService(App(demo.home), watch_trees=False)
    assert one.look() == 1
    assert other.look() is None
    assert one.look() is None
    one.stop()
    other.stop()


@pytest.mark.shows("LIVE-CHANGES")
def test_deleting_the_live_space_loses_nothing(demo: Demo) -> None:
    def published() -> dict[str, Any]:
        service = DashboardService(App(demo.home), watch_trees=False)
        service.look()
        service.stop()
        with open_store(demo.home / "spaces", SPACE) as store:
            return {s.id: s.document for s in store.documents()}

    before = published()
    for file in (demo.home / "spaces" / "engine-v3").glob(f"{SPACE}.sqlite*"):
        os.unlink(file)
    assert published() == before
    assert BOARD in before


@pytest.mark.shows("DASH-SLEEPS")
def test_a_server_without_visitors_pays_nothing(tmp_path: Path) -> None:
    sync = SyncService(ServeOptions(store=str(tmp_path / "spaces")))
    home = tmp_path / "home"
    from holdfast.dashboard import asgi

    pages = asgi(App(home), sync)
    assert ask(pages, "/assets/app.js").status == 200
    assert not home.exists()
    assert not list((tmp_path / "spaces").rglob(f"{SPACE}*"))
    sync.server.close()


@pytest.mark.shows("DASH-LOOKING")
def test_looking_at_memory_makes_no_space(tmp_path: Path) -> None:
    """The page made the default space, and any other that the address named."""
    service = DashboardService(App(tmp_path / "home"), watch_trees=False)
    try:
        service.look()
        asked = service.questions()
        assert asked["memory/documents"]({}).to_wire()["documents"] == []
        with pytest.raises(UsageError, match="there is no space tpyo"):
            asked["memory/documents"]({"space": "tpyo"})
        names = sorted(path.stem for path in (tmp_path / "home" / "spaces").rglob("*.sqlite"))
        assert names == [SPACE, "sessions"]
        with App(tmp_path / "home").open_space() as store:
            write = {"op": "set", "id": "note:a", "value": {"value": 1}}
            store.transact("me", {"localSeq": 1, "operations": [write]})
        listed = asked["memory/documents"]({}).to_wire()["documents"]
        assert [one["id"] for one in listed] == ["note:a"]
    finally:
        service.stop()


@pytest.mark.shows("DASH-QUESTIONS")
@pytest.mark.parametrize(
    ("value", "title"),
    [(None, "null"), (True, "true"), ([1, "a"], '[1, "a"]'), ("text", "text"), ({"n": 1}, "n")],
)
def test_a_document_without_a_title_is_called_by_its_value(value: Any, title: str) -> None:
    """A value of null was called None, a list was written as Python writes it."""
    from holdfast.dashboard.memory_questions import _title

    assert _title({"value": value}) == title
