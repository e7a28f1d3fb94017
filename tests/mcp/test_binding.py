"""Which conversation is this: proven, or not used."""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from holdfast.app import App
from holdfast.home import Home
from holdfast.mcp.binding import (
    LEAF,
    THREAD_ID,
    TOOL_USE_ID,
    Bound,
    Sessions,
    Unbound,
    pending_call,
)
from holdfast.mcp.caller import Ancestor, Caller, caller_of
from holdfast.mcp.host_context import HostContext
from holdfast.mcp.rendezvous import process
from holdfast.mcp.sdk_server import run_tool
from holdfast.mcp.tool import Result, ToolCall
from holdfast.mcp.tools import TOOLS
from holdfast.reading.hosts import bindings
from holdfast.reading.hosts.bindings import Binding
from tests.mcp.agents import ERAS, WAIT_S, Machine, call, facts_of, make_tree, text_of
from tests.mcp.conversations import Claude, Codex


def found(
    home: Path, caller: Caller, meta: Mapping[str, Any] | None = None, **arguments: Any
) -> Bound | Unbound:
    app = App(home)
    sessions = Sessions(app.home, lambda name, kind: app.open_session(name, kind=kind), wait_s=0.0)
    with sessions.of(caller, meta or {}, "read", arguments) as session:
        return session


@pytest.fixture
def user(tmp_path: Path) -> Path:
    return tmp_path / "user"


def claude_of(user: Path, cwd: str = "/code") -> Claude:
    return Claude(user / ".claude" / "projects" / cwd.replace("/", "-"))


AGENT = Ancestor(4321, 99, "claude")


@pytest.mark.shows("MCP-BIND-UNKNOWN")
def test_without_a_sign_nothing_is_bound(tmp_path: Path, user: Path) -> None:
    claude_of(user).asks("read", {})
    for caller in (
        Caller("/code", {"HOME": str(user)}),
        Caller("/code", {"HOME": str(user)}, (AGENT,)),
        Caller(None, {}, transport="HTTP"),
    ):
        session = found(tmp_path, caller)
        assert isinstance(session, Unbound)
        assert session.why


@pytest.mark.shows("MCP-BIND-CALL")
def test_the_transcript_that_holds_the_pending_call_is_the_conversation(
    tmp_path: Path, user: Path
) -> None:
    """Two sessions of one project run side by side; only one of them made this call."""
    one, other = claude_of(user), claude_of(user)
    call = one.asks("read", {"path": "a"})
    other.asks("read", {"path": "a"})
    session = found(tmp_path, Caller("/code", {"HOME": str(user)}, (AGENT,)), {TOOL_USE_ID: call})
    assert isinstance(session, Bound)
    assert (session.session, session.call) == (one.session, call)
    stranger = found(tmp_path, Caller("/code", {"HOME": str(user)}), {TOOL_USE_ID: "toolu_none"})
    assert isinstance(stranger, Unbound)
    assert "not in any known transcript" in stranger.why


@pytest.mark.shows("MCP-BIND-ENV")
def test_an_inherited_session_id_is_only_a_place_to_look(tmp_path: Path, user: Path) -> None:
    """A shell inside another agent's session hands its variable down to all it starts."""
    mine, inherited = claude_of(user, "/mine"), claude_of(user, "/elsewhere")
    environment = {"HOME": str(user), "CLAUDE_CODE_SESSION_ID": inherited.session}
    call = mine.asks("read", {})
    inherited.asks("read", {})
    session = found(tmp_path, Caller("/mine", environment), {TOOL_USE_ID: call})
    assert isinstance(session, Bound)
    assert session.session == mine.session
    away = found(tmp_path, Caller("/nowhere", environment), {TOOL_USE_ID: call})
    assert isinstance(away, Unbound)


@pytest.mark.shows("MCP-BIND-HOOK")
def test_a_hooks_binding_leads_to_a_transcript_anywhere(tmp_path: Path, user: Path) -> None:
    claude = Claude(tmp_path / "odd place")
    call = claude.asks("read", {})
    kept = Binding("claude-code", claude.session, str(claude.path), "/code",
                   (AGENT.pid, AGENT.start), "SessionStart", 5)  # fmt: skip
    assert bindings.write(Home(tmp_path), kept) is not None
    assert bindings.read_all(Home(tmp_path)) == [kept]
    below = Caller("/x", {"HOME": str(user)}, (Ancestor(9, 9, "sh"), AGENT))
    session = found(tmp_path, below, {TOOL_USE_ID: call})
    assert isinstance(session, Bound)
    assert "hook" in session.how
    again = Ancestor(AGENT.pid, AGENT.start + 1, "claude")  # another process with its number
    other = found(tmp_path, Caller("/x", {"HOME": str(user)}, (again,)), {TOOL_USE_ID: call})
    assert isinstance(other, Unbound)
    over_http = found(tmp_path, Caller(None, {}, transport="HTTP"), {TOOL_USE_ID: call})
    assert isinstance(over_http, Bound)


@pytest.mark.shows("MCP-BIND-FILE")
def test_the_form_of_a_binding_is_fixed_by_its_version(tmp_path: Path) -> None:
    """Change the form, and this fails: then give it a new version and its line of history."""
    kept = Binding("claude-code", "s-1", "/t.jsonl", "/code", (1, 2), "SessionStart", 3)
    path = bindings.write(Home(tmp_path), kept)
    assert path is not None
    assert json.loads(path.read_text()) == {
        "format": "holdfast-binding", "v": 1, "host": "claude-code", "session": "s-1",
        "transcript": "/t.jsonl", "cwd": "/code", "agent": {"pid": 1, "start": 2},
        "event": "SessionStart", "at": 3,
    }  # fmt: skip
    assert path.stat().st_mode & 0o077 == 0
    assert bindings.FORMAT_VERSION == 1
    assert bindings.write(Home(tmp_path), Binding("x", "../up", "", "", None, "", 0)) is None
    for wrong in ({"v": 2}, {"at": "now"}, {"agent": {"pid": 1}}, {"session": 3}):
        assert bindings.parse({**kept.to_wire(), **wrong}) is None
    for text in ("", "{", "[]", "nonsense"):
        path.write_text(text)
        assert bindings.read_all(Home(tmp_path)) == []


@pytest.mark.shows("MCP-BIND-CODEX")
def test_codex_names_its_thread_and_the_rollout_names_the_call(tmp_path: Path, user: Path) -> None:
    home = user / ".codex"
    codex, other = Codex(home), Codex(home)
    item = {"type": "function_call", "name": "mcp__holdfast__read", "call_id": "c1",
            "arguments": '{"path": "a"}'}  # fmt: skip
    codex.item("response_item", item)
    caller = Caller("/code", {"HOME": str(user)})
    session = found(tmp_path, caller, {THREAD_ID: codex.thread}, path="a")
    assert isinstance(session, Bound)
    assert (session.kind, session.session, session.call) == ("codex", codex.thread, "c1")
    assert pending_call(str(codex.path), "read", {"path": "b"}) is None
    codex.item("response_item", {**item, "call_id": "c2"})
    assert pending_call(str(codex.path), "read", {"path": "a"}) is None, (
        "two: which one is not known"
    )
    codex.item("response_item", {"type": "function_call_output", "call_id": "c1", "output": "x"})
    assert pending_call(str(codex.path), "read", {"path": "a"}) == "c2"
    for thread in ("none", "../x", "*"):
        assert isinstance(found(tmp_path, caller, {THREAD_ID: thread}), Unbound)
    assert other.thread != codex.thread


@contextmanager
def holding(*paths: Path) -> Iterator[Ancestor]:
    """A process called codex that holds these files open."""
    program = "import sys; held = [open(p) for p in sys.argv[1:]]; print('.', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program, *map(str, paths)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as agent:  # fmt: skip
        assert agent.stdout is not None
        agent.stdout.readline()
        facts = process(agent.pid)
        assert facts is not None
        yield Ancestor(agent.pid, int(str(facts["start"])), "codex")
        agent.communicate("\n", timeout=WAIT_S)


@pytest.mark.shows("MCP-BIND-ANCESTRY")
def test_an_ancestor_that_holds_one_rollout_open_is_certain_and_two_are_not(
    tmp_path: Path, user: Path
) -> None:
    codex, other = Codex(user / ".codex"), Codex(user / ".codex")
    codex.asks("read", {"path": "a"})
    home = {"HOME": str(user)}
    for paths, certain in (((codex.path,), True), ((codex.path, other.path), False), ((), False)):
        with holding(*paths) as agent:
            bound = found(tmp_path, Caller("/code", home, (agent,)), path="a")
            assert isinstance(bound, Bound) is certain
            reused = Caller("/", home, (replace(agent, start=agent.start - 1),))
            assert isinstance(found(tmp_path, reused, path="a"), Unbound)


@pytest.mark.shows("MCP-BIND-ANCESTRY", "READ-PROMISE")
def test_an_agent_that_codex_started_is_not_codex(tmp_path: Path, user: Path) -> None:
    """Every MCP client below a codex process was taken for Codex itself: an agent started in its
    shell was told *unchanged* at its first read of a file that only Codex had seen."""
    codex = Codex(user / ".codex")
    call = codex.asks("read", {"path": "a"})
    home = {"HOME": str(user)}
    shell, launcher = Ancestor(8, 8, "bash"), Ancestor(9, 9, "uvx")
    with holding(codex.path) as agent:
        for above in ((agent,), (shell, agent), (launcher, shell, agent)):
            bound = found(tmp_path, Caller("/code", home, above), path="a")
            assert isinstance(bound, Bound)
            assert bound.call == call
        mine = Caller("/code", home, (agent,), client="codex-mcp-client")
        assert isinstance(found(tmp_path, mine, path="a"), Bound)

        for name in ("pi", "opencode", "node", "python3"):
            above = (Ancestor(9, 9, name), shell, agent)
            assert isinstance(found(tmp_path, Caller("/code", home, above), path="a"), Unbound)
        other = Caller("/code", home, (agent,), client="opencode")
        assert isinstance(found(tmp_path, other, path="a"), Unbound), "it says that it is another"
        for sign in ({LEAF: "abc"}, {LEAF: 3}, {TOOL_USE_ID: None}):
            session = found(tmp_path, Caller("/code", home, (agent,)), sign, path="a")
            assert isinstance(session, Unbound), f"Codex never sends {sign}"
        session = found(tmp_path, Caller("/code", home, (agent,)), path="b")
        assert isinstance(session, Unbound), "Codex did not make this call"
        codex.is_answered(call, "text")
        assert isinstance(found(tmp_path, Caller("/code", home, (agent,)), path="a"), Unbound)


def test_a_greeting_in_a_wrong_form_is_not_believed() -> None:
    caller = caller_of(
        {"cwd": 3, "environment": ["x"], "ancestors": [1, {"pid": "1"}], "session": ""}, "u"
    )
    assert caller == Caller(name="mcp-u", _turn=caller._turn)


# over the wire


@pytest.mark.shows("MCP-BIND-TRUST")
@pytest.mark.parametrize("structured", [False, True], ids=["text", "structured"])
def test_claude_code_is_sent_only_what_its_transcript_does_not_show(
    machine: Machine, structured: bool
) -> None:
    claude = Claude(
        Path(machine.environment["HOME"]) / ".claude" / "projects" / _munged(machine.tree),
        structured=structured,
    )
    cart = machine.tree / "shop" / "cart.py"
    rest = "".join(f"\n\ndef price_{n}(amount):\n    return amount * {n}\n" for n in range(60))
    cart.write_text(cart.read_text() + rest)

    async def story(client: Client) -> None:
        first = await claude.uses(client, "read", path="shop/cart.py")
        assert text_of(first) == cart.read_text()
        second = facts_of(await claude.uses(client, "read", path="shop/cart.py"))
        assert second["mode"] == "unchanged"
        cart.write_text(cart.read_text().replace("sum(", "round("))
        third = facts_of(await claude.uses(client, "read", path="shop/cart.py"))
        assert third["mode"] == "diff"
        assert "+        return round(" in third["content"]
        status = facts_of(await claude.uses(client, "readcache_status"))
        assert (status["bound"], status["host"], status["proves"]) == (True, "claude-code", True)
        assert status["saved"]["tokens"] > 0
        assert "holds the call" in status["how"]
        # Without the call's id the leaf is a guess, and a guess proves nothing.
        plain = facts_of(await call(client, "read", path="shop/cart.py"))
        assert plain["content"] == cart.read_text()
        taken = await claude.uses(client, "readcache_refresh", path="shop/cart.py")
        assert "invalidated" in text_of(taken)
        fresh = facts_of(await claude.uses(client, "read", path="shop/cart.py"))
        assert fresh["content"] == cart.read_text()
        claude.compacts()
        lost = facts_of(await claude.uses(client, "context"))
        assert [file["path"] for file in lost["lost"]] == [str(cart)]
        after = facts_of(await claude.uses(client, "read", path="shop/cart.py"))
        assert after["content"] == cart.read_text(), "a compaction takes back all trust"

    machine.talk(story)


def _munged(folder: Path) -> str:
    return "".join(c if c.isalnum() else "-" for c in str(folder))


@pytest.mark.shows("MCP-BIND-TRUST")
def test_an_answer_that_the_agent_shortened_proves_nothing(machine: Machine) -> None:
    claude = Claude(
        Path(machine.environment["HOME"]) / ".claude" / "projects" / _munged(machine.tree)
    )

    async def story(client: Client) -> None:
        id = claude.asks("read", {"path": "shop/tax.py"})
        await call(client, "read", meta={TOOL_USE_ID: id}, path="shop/tax.py")
        claude.is_answered(id, "[cut because it was too long]")
        again = facts_of(await claude.uses(client, "read", path="shop/tax.py"))
        assert again["mode"] == "full"

    machine.talk(story)


@pytest.mark.shows("READ-X-39")
def test_what_was_pruned_behind_the_logs_back_is_sent_again_when_asked_for(
    machine: Machine,
) -> None:
    """An extension that takes text out of a request leaves no trace in the log: nobody can know.

    So there is a way for the model to say that it does not see a text: for one call, and for good.
    """
    claude = Claude(
        Path(machine.environment["HOME"]) / ".claude" / "projects" / _munged(machine.tree)
    )
    tax = (machine.tree / "shop" / "tax.py").read_text()

    async def story(client: Client) -> None:
        await claude.uses(client, "read", path="shop/tax.py")
        again = facts_of(await claude.uses(client, "read", path="shop/tax.py"))
        assert again["mode"] == "unchanged", "the log shows the text, pruned or not"
        plain = await claude.uses(client, "read", path="shop/tax.py", bypass_cache=True)
        assert text_of(plain) == tax
        await claude.uses(client, "readcache_refresh", path="shop/tax.py")
        fresh = await claude.uses(client, "read", path="shop/tax.py")
        assert text_of(fresh) == tax

    machine.talk(story)


@pytest.mark.shows("MCP-BIND-TRUST")
def test_codex_is_sent_only_what_its_rollout_does_not_show(machine: Machine) -> None:
    codex = Codex(Path(machine.environment["HOME"]) / ".codex")

    async def story(client: Client) -> None:
        assert facts_of(await codex.uses(client, "read", path="shop/tax.py"))["mode"] == "full"
        assert facts_of(await codex.uses(client, "read", path="shop/tax.py"))["mode"] == "unchanged"
        codex.item("compacted", {"message": "summary"})
        assert facts_of(await codex.uses(client, "read", path="shop/tax.py"))["mode"] == "full"

    machine.talk(story)


@pytest.mark.shows("MCP-BIND-CODEX")
def test_codex_a_call_is_ours_whatever_it_leaves_empty(tmp_path: Path) -> None:
    """A call that asked for the plain text, or said null for what it left out, was not recognised
    as the pending one, so that its answer was never noted."""
    rollout = tmp_path / "r.jsonl"
    given = {"path": "a.py", "offset": None, "bypass_cache": True}
    payload = {"type": "function_call", "name": "holdfast__read", "call_id": "c1"}
    line = {"type": "response_item", "payload": {**payload, "arguments": json.dumps(given)}}
    rollout.write_text(json.dumps(line) + "\n")
    assert pending_call(str(rollout), "read", {"path": "a.py", "bypass_cache": True}) == "c1"
    assert pending_call(str(rollout), "read", {"path": "a.py"}) is None


@pytest.mark.shows("MCP-BIND-OPTION")
@pytest.mark.parametrize("era", ERAS)
def test_a_named_session_of_our_own_holds_what_was_sent(machine: Machine, era: str) -> None:
    async def story() -> None:
        async with asyncio.timeout(WAIT_S):
            async with machine.agent(era, "--session", "mine") as client:
                assert facts_of(await call(client, "read", path="shop/tax.py"))["mode"] == "full"
                again = facts_of(await call(client, "read", path="shop/tax.py"))
                assert again["mode"] == "unchanged"
            async with machine.agent("2026-07-28", "--session", "mine") as client:
                later = facts_of(await call(client, "read", path="shop/tax.py"))
                assert later["mode"] == "unchanged", "the session outlives the connection"
                status = facts_of(await call(client, "readcache_status"))
                assert status["how"] == "named by --session"
            async with machine.agent(
                "legacy", "--session", str(machine.tree / "no.jsonl")
            ) as client:
                status = facts_of(await call(client, "readcache_status"))
                assert status["bound"] is False
                assert "no.jsonl" in status["why"]

    asyncio.run(story())


@pytest.mark.shows("MCP-BIND-OPTION", "READ-PROMISE")
def test_an_answer_that_never_left_does_not_count(tmp_path: Path) -> None:
    """The reader remembered what it had answered at once. When the connection broke before the
    answer was sent, or the call was called off, the next read was *unchanged*."""
    context = HostContext(App(tmp_path / "home"))
    caller = Caller(cwd=str(make_tree(tmp_path / "tree")), session="mine")
    sent: list[Callable[[], None]] = []

    def read() -> object:
        one = ToolCall(context, caller, {}, after_sent=sent.append)
        return run_tool(TOOLS["read"], one, {"path": "shop/tax.py"}).facts["mode"]

    assert [read(), read()] == ["full", "full"]
    sent[-1]()
    assert read() == "unchanged"
    context.close()


@pytest.mark.shows("READ-CONTINUES")
def test_a_repeat_of_a_cut_file_names_the_call_that_continues(tmp_path: Path) -> None:
    context = HostContext(App(tmp_path / "home"))
    caller = Caller(cwd=str(make_tree(tmp_path / "tree")), session="mine")
    (tmp_path / "tree" / "long.txt").write_text("".join(f"line {n}\n" for n in range(3000)))

    def read(**more: object) -> Result:
        one = ToolCall(context, caller, {}, after_sent=lambda done: done())
        return run_tool(TOOLS["read"], one, {"path": "long.txt", **more})

    first, again = read(), read()
    assert again.text.split("\n") == [
        "[readcache: unchanged in lines 1-2000 of 3001]",
        '[continue: read(path="long.txt", offset=2001)]',
    ]
    assert again.facts["continue"] == first.facts["continue"]
    rest = read(**again.facts["continue"]["args"])
    assert rest.text.startswith("line 2000\n")
    assert "continue" not in read(limit=20).facts, "what was asked for is all there"
    uncounted = ToolCall(context, caller, {"holdfast/dialect": "uncounted"})
    (tmp_path / "tree" / "edge.txt").write_text("x\n" * 2000)
    assert "to continue" in read(path="edge.txt").text
    assert "to continue" not in run_tool(TOOLS["read"], uncounted, {"path": "edge.txt"}).text
    context.close()


@pytest.mark.shows("MCP-BIND-OPTION")
def test_a_note_waits_for_whoever_uses_the_session(tmp_path: Path) -> None:
    """It was written beside other calls of the same session: two threads took in one entry, which
    then stood twice in the tree and ended all trust."""
    context = HostContext(App(tmp_path / "home"))
    caller = Caller(cwd=str(make_tree(tmp_path / "tree")), session="mine")
    sent: list[Callable[[], None]] = []
    one = ToolCall(context, caller, {}, after_sent=sent.append)
    run_tool(TOOLS["read"], one, {"path": "shop/tax.py"})
    noting = threading.Thread(target=sent[0])
    with context.sessions.of(caller, {}, "read", {}) as session:
        assert isinstance(session, Bound)
        noting.start()
        noting.join(0.2)
        assert noting.is_alive()
    noting.join(WAIT_S)
    assert run_tool(TOOLS["read"], one, {"path": "shop/tax.py"}).facts["mode"] == "unchanged"
    context.close()


@pytest.mark.shows("MCP-READ-PAGES")
def test_a_page_fits_what_the_agent_shows_its_model(machine: Machine) -> None:
    """Claude Code put pages of 50 KiB into a file and showed 2 KB; Codex cut them in the middle."""
    (machine.tree / "long.txt").write_text("".join(f"{n:04d} {'x' * 40}\n" for n in range(1800)))

    async def page(name: str) -> tuple[int, str]:
        async with asyncio.timeout(WAIT_S), machine.agent(name=name) as client:
            first = await call(client, "read", path="long.txt")
            offset = facts_of(first)["continue"]["args"]["offset"]
            second = text_of(await call(client, "read", path="long.txt", offset=offset))
            assert second.startswith(f"{offset - 1:04d} "), "pages go on where they ended"
            return len(text_of(first).encode()), text_of(first)

    for name in ("claude-code", "codex-mcp-client"):
        size, text = asyncio.run(page(name))
        assert 40_000 < size < 44_900
        assert "43.0KB limit" in text
    size, _ = asyncio.run(page("another"))
    assert 50_000 < size < 52_000


@pytest.mark.shows("MCP-SEARCH-HELD")
def test_a_hit_whose_lines_are_held_comes_without_its_text(machine: Machine) -> None:
    async def story(client: Client) -> None:
        await call(client, "manage_index", action="create", path=".", wait=60)
        before = facts_of(await call(client, "search_code", query="sum up prices"))["results"][0]
        assert "in_context" not in before
        assert "preview" in before
        await call(client, "read", path=before["file"])
        await call(client, "readcache_status")
        result = await call(client, "search_code", query="sum up prices")
        after = facts_of(result)["results"][0]
        assert (after["file"], after["in_context"]) == (before["file"], True)
        assert "preview" not in after
        assert "already in your context" in text_of(result)
        (machine.tree / "shop" / "cart.py").write_text("def total():\n    return 'sum up prices'\n")
        changed = facts_of(await call(client, "search_code", query="sum up prices"))["results"][0]
        assert "in_context" not in changed, "what was held is no longer what is there"

    machine.talk(story, "legacy", "--session", "searcher")


def test_the_shim_tells_no_secrets_of_its_environment() -> None:
    from holdfast.mcp.rendezvous import greeting

    given = {"CLAUDE_CODE_OAUTH_TOKEN": "x", "CODEX_API_KEY": "y", "OPENAI_API_KEY": "z",
             "CODEX_HOME": "/c", "CLAUDE_CODE_SESSION_ID": "s", "PATH": "/bin"}  # fmt: skip
    told = greeting("1", given, None, None)
    assert told["environment"] == {"CODEX_HOME": "/c", "CLAUDE_CODE_SESSION_ID": "s"}
