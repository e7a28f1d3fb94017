"""The official client drives every tool, over both transports and in both eras of the wire."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.shared.exceptions import MCPError

from holdfast.mcp.tools import TOOLS
from tests.mcp.agents import ERAS, WAIT_S, Machine, Web, call, facts_of, text_of
from tests.scale import size

DESIGNED = {
    "read", "readcache_refresh", "readcache_status", "context", "recover", "search_code",
    "file_outline",
    "call_graph", "references", "explore", "impact", "edit_symbol", "manage_index",
    "list_codebases", "locate", "clones", "memory_note", "memory_get",
    "memory_commit", "memory_query", "memory_history", "memory_branch",
}  # fmt: skip

WAYS = [f"{transport}-{era}" for transport in ("stdio", "http") for era in ERAS]
WAYS = WAYS[:: size(1, 3)]  # In `make quick` both transports and both eras once.


@asynccontextmanager
async def agent(way: str, shared: Machine, web: Web) -> AsyncIterator[Client]:
    transport, _, era = way.partition("-")
    async with asyncio.timeout(WAIT_S * 2):
        if transport == "stdio":
            async with shared.agent(era) as client:
                yield client
        else:
            async with web.agent(era) as client:
                yield client


@pytest.mark.shows("MCP-TOOLS", "MCP-SCHEMA", "MCP-ERAS", "MCP-HTTP", "READ-T-INDEX")
@pytest.mark.parametrize("way", WAYS)
def test_every_tool_answers_as_it_declares(way: str, shared: Machine, web: Web) -> None:
    asyncio.run(_every_tool(way, shared, web))


async def _every_tool(way: str, shared: Machine, web: Web) -> None:
    tree = str(shared.tree)
    space = f"space-{way}"
    called = set()
    async with agent(way, shared, web) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == DESIGNED

        async def ask(
            tool: str, status: str = "ok", failed: bool = False, **a: Any
        ) -> dict[str, Any]:
            result = await call(client, tool, **a)
            facts = facts_of(result)
            assert (facts["status"], result.is_error) == (status, failed), text_of(result)
            called.add(tool)
            return facts

        # the index, refusals first
        await ask("manage_index", action="clear", path=tree, status="not_indexed") if way == WAYS[
            0
        ] else await ask("manage_index", action="clear", path=tree)
        refused = await ask("search_code", "not_indexed", query="total", path=tree)
        assert refused["hints"]["create"]["args"] == {"action": "create", "path": tree}
        assert refused["continue"] == refused["hints"]["create"]
        await ask("file_outline", "not_indexed", file=f"{tree}/shop/cart.py")
        await ask(
            "call_graph",
            "not_indexed",
            symbolRef={"file": f"{tree}/shop/cart.py", "symbolLabel": "Cart.total"},
        )
        made = await ask("manage_index", action="create", path=tree, wait=60)
        assert made["started"]["status"] == "ok"
        await ask("manage_index", "blocked", action="create", path=tree)
        await ask("manage_index", action="sync", path=tree)
        listed = await ask("list_codebases")
        assert [one["path"] for one in listed["codebases"]] == [tree]
        found = await ask("search_code", query="sum up prices", path=tree)
        assert found["results"][0]["file"] == "shop/cart.py"
        assert "in_context" not in found["results"][0]
        await ask("search_code", query="total", path=tree, resultMode="raw", limit=1)
        outline = await ask("file_outline", file=f"{tree}/shop/cart.py")
        assert "Cart.total" in {one["symbolLabel"] for one in outline["outline"]["symbols"]}
        short = await ask("file_outline", file=f"{tree}/shop/cart.py", limitSymbols=1)
        assert short["hasMore"]
        assert short["continue"]["tool"] == "file_outline"
        await ask("file_outline", "not_found", failed=True, file=f"{tree}/shop/none.py")
        reference = next(
            one["callGraphHint"]["symbolRef"]
            for one in outline["outline"]["symbols"]
            if one["symbolLabel"] == "Cart.total"
        )
        graph = await ask("call_graph", symbolRef=reference, path=tree, direction="callers")
        mentions = await ask("references", symbol="Cart.total", path=tree)
        assert mentions["total"] == len(mentions["references"]) > 0
        explored = await ask("explore", symbol="Cart.total", path=tree)
        assert explored["found"][0]["symbol"]["symbolLabel"] == "Cart.total"
        assert explored == await ask("explore", symbol="shop/cart.py:Cart.total", path=tree)
        by_file = await ask(
            "call_graph", symbol="shop/cart.py:Cart.total", path=tree, direction="callers"
        )
        assert by_file["edges"] == graph["edges"]
        await ask("impact", "error", failed=True, path=tree)
        preview = await ask(
            "edit_symbol", action="rename", symbol="Cart.total", text="sum_up", path=tree
        )
        assert (preview["applied"], len(preview["token"])) == (False, 16)
        assert [edge["site"]["file"] for edge in graph["edges"]] == ["shop/cart.py"]

        # reading
        read = await ask("read", path=f"{tree}/shop/tax.py")
        assert read["content"] == (shared.tree / "shop/tax.py").read_text()
        part = await ask("read", path=f"{tree}/shop/cart.py", limit=2)
        assert part["continue"]["args"] == {"path": f"{tree}/shop/cart.py", "offset": 3}
        await ask("read", "error", failed=True, path=f"{tree}/none")
        await ask("readcache_refresh", path=f"{tree}/shop/tax.py")
        status = await ask("readcache_status")
        assert status["bound"] is False
        assert status["why"]
        assert (await ask("context"))["held"] == []
        assert "no conversation is bound" in (await ask("recover"))["content"]

        # sequences
        whole = await ask("locate", snippet="return amount*1.19", path=tree)
        assert whole["whole"] is True
        part = await ask("locate", "partial", snippet="return amount * 1.16", path=tree)
        assert part["difference"]["snippet"]["token"] == "1.16"
        assert part["continue"]["tool"] == "read"
        await ask("clones", path=tree)

        # memory
        first = await ask(
            "memory_commit",
            space=space,
            reads=[{"id": "note:plan", "seq": 0}],
            operations=[
                {
                    "op": "set",
                    "id": "note:plan",
                    "value": {
                        "title": "taxes",
                        "see": {
                            "code": {"path": "shop/tax.py", "symbol": "with_tax", "root": tree}
                        },
                    },
                }
            ],
        )
        again = await ask(
            "memory_commit",
            "conflict",
            space=space,
            reads=[{"id": "note:plan", "seq": 0}],
            operations=[{"op": "set", "id": "note:plan", "value": {}}],
        )
        assert again["continue"]["args"]["id"] == "note:plan"
        got = await ask("memory_get", id="note:plan", space=space)
        assert got["seq"] == first["seq"]
        assert got["links"][0]["state"] == "current"
        await ask("memory_get", "not_found", id="note:none", space=space)
        asked = await ask("memory_query", prefix="note:", contains="TAXES", space=space)
        assert [one["id"] for one in asked["documents"]] == ["note:plan"]
        await ask("memory_query", ids=["note:plan"], links=True, space=space)
        await ask("memory_note", text="about taxes", code=[f"{tree}/shop/tax.py"], space=space)
        await ask("memory_branch", action="create", name="draft", space=space)
        patch = {"op": "replace", "path": "/value/title", "value": "VAT"}
        await ask(
            "memory_commit",
            space=space,
            branch="draft",
            operations=[{"op": "patch", "id": "note:plan", "patches": [patch]}],
        )
        differs = await ask("memory_branch", action="diff", name="draft", space=space)
        assert [one["id"] for one in differs["differences"]] == ["note:plan"]
        await ask(
            "memory_commit",
            space=space,
            operations=[
                {"op": "patch", "id": "note:plan", "patches": [{**patch, "value": "duties"}]}
            ],
        )
        clash = await ask("memory_branch", "conflict", action="merge", name="draft", space=space)
        assert clash["conflicts"][0]["id"] == "note:plan"
        settled = await ask("memory_branch", **clash["continue"]["args"])
        assert settled["merged"] == 1
        assert (await ask("memory_get", id="note:plan", pointer="/value/title", space=space))[
            "document"
        ] == "VAT"
        history = await ask("memory_history", space=space, limit=1)
        assert history["continue"]["args"]["before"] == history["entries"][0]["seq"]
        await ask("memory_branch", action="delete", name="draft", space=space)
        await ask("memory_branch", action="list", space=space)
    assert called == DESIGNED


@pytest.mark.shows("MCP-CONTINUE")
def test_the_call_that_continues_an_answer_of_memory_helps(machine: Machine) -> None:
    def write(id: str, value: Any) -> dict[str, Any]:
        return {"op": "set", "id": id, "value": value}

    async def story(client: Client) -> None:
        async def ask(tool: str, **a: Any) -> dict[str, Any]:
            result = await call(client, tool, **a)
            facts = facts_of(result)
            if "continue" in facts:
                assert text_of(result).rstrip("]").endswith(")"), text_of(result)
            return facts

        two = {"t": 1, "u": 1}
        await ask("memory_commit", operations=[write("note:a", two), write("note:b", 1)])
        await ask("memory_commit", operations=[write("note:b", 2)])
        reads = [{"id": "note:a", "seq": 1}, {"id": "note:b", "seq": 1}]
        stale = await ask("memory_commit", operations=[write("note:c", 1)], reads=reads)
        assert stale["continue"]["args"]["id"] == "note:b"  # the one that was written since

        nowhere = {"op": "replace", "path": "/value/x/y", "value": 1}
        patch = {"op": "patch", "id": "note:a", "patches": [nowhere]}
        missing = await ask("memory_commit", operations=[patch])
        assert missing["status"] == "error"
        assert missing["continue"]["args"]["id"] == "note:a"

        unknown = await ask("memory_branch", action="diff", name="nope")
        listed = await ask("memory_branch", **unknown["continue"]["args"])
        assert [one["name"] for one in listed["branches"]] == [""]

        await ask("memory_commit", operations=[write("note:big", ["x" * 100] * 1000)])
        cut = await ask("memory_get", id="note:big")
        part = await ask("memory_get", **cut["continue"]["args"])
        assert part["document"] == "x" * 100

        await ask("memory_branch", action="create", name="draft")
        mine = {"t": "mine", "u": "mine"}
        theirs = {"t": "theirs", "u": "theirs"}
        both = [write("note:a", mine), write("note:b", "mine")]
        await ask("memory_commit", branch="draft", operations=both)
        await ask("memory_commit", operations=[write("note:a", theirs), write("note:b", "theirs")])
        merge: dict[str, Any] = {"action": "merge", "name": "draft"}
        tried = await ask("memory_branch", **merge, dry_run=True)
        assert tried["continue"]["args"]["dry_run"] is True
        some = {"note:a": {"/value/t": "target"}}
        clash = await ask("memory_branch", **merge, resolutions=some)
        assert len(clash["conflicts"]) == 2
        settled = await ask("memory_branch", **clash["continue"]["args"])
        assert settled["status"] == "ok", settled
        kept = await ask("memory_get", id="note:a")
        assert kept["document"] == {"value": {"t": "theirs", "u": "mine"}}

    machine.talk(story)


@pytest.mark.shows("MCP-ANNOTATIONS")
def test_a_tool_says_what_it_does_to_the_world() -> None:
    writes = {name for name, tool in TOOLS.items() if not tool.read_only}
    assert writes == {
        "readcache_refresh",
        "manage_index",
        "edit_symbol",
        "memory_note",
        "memory_commit",
        "memory_branch",
    }
    assert {name for name, tool in TOOLS.items() if tool.destructive} == writes - {
        "readcache_refresh"
    }
    for tool in TOOLS.values():
        assert tool.destructive <= (not tool.read_only)
        Draft202012Validator.check_schema(tool.input)
        Draft202012Validator.check_schema(tool.output)
        assert tool.output["required"] == ["status"]
        assert len(tool.description) > 40


@pytest.mark.shows("MCP-MALFORMED")
@pytest.mark.parametrize("way", WAYS)
def test_a_malformed_call_is_told_every_fault_and_harms_nothing(
    way: str, shared: Machine, web: Web
) -> None:
    async def story() -> None:
        async with agent(way, shared, web) as client:
            for tool, arguments, fault in (
                ("read", {}, "path is missing"),
                ("read", {"path": 3}, "path must be a string"),
                ("read", {"path": "/x", "limit": "many"}, "limit must be a number"),
                ("read", {"path": "/x", "colour": 1}, "there is no 'colour'"),
                ("search_code", {"query": "", "limit": 0}, "limit must be at least 1"),
                ("search_code", {"query": "", "limit": 0}, "query must not be empty"),
                ("manage_index", {"action": "destroy", "path": "/x"}, "must be one of"),
                ("memory_commit", {"operations": []}, "operations must not be empty"),
                ("memory_commit", {"operations": [{"op": "set"}]}, "id of operations[0]"),
                ("memory_commit", {"operations": [{"op": "set", "id": "a"}]}, "sets nothing"),
                ("call_graph", {"symbolRef": {"file": "/x"}}, "not named"),
                ("memory_get", {"id": "a", "space": "../x"}, "identifier"),
                ("memory_branch", {"action": "diff", "name": "nowhere"}, "nowhere"),
            ):
                result = await call(client, tool, **arguments)
                assert result.is_error, (tool, arguments)
                assert fault in text_of(result).lower() or fault in text_of(result)
            with pytest.raises(MCPError, match="no tool 'rm'"):
                await client.call_tool("rm", {})
            with pytest.raises(MCPError, match="there is no resource"):
                await client.read_resource("holdfast://elsewhere/x")
            with pytest.raises(MCPError, match="branch is missing"):
                await client.get_prompt("review_branch", {})
            assert not (await call(client, "list_codebases")).is_error

    asyncio.run(story())


@pytest.mark.shows("MCP-RESOURCES")
@pytest.mark.parametrize("way", WAYS)
def test_codebases_and_spaces_can_be_attached(way: str, shared: Machine, web: Web) -> None:
    async def story() -> None:
        async with agent(way, shared, web) as client:
            await call(client, "manage_index", action="create", path=str(shared.tree), wait=60)
            operation = {"op": "set", "id": "note:a", "value": "hello"}
            await call(client, "memory_commit", operations=[operation])
            listed = {one.uri for one in (await client.list_resources()).resources}
            assert f"holdfast://codebase{shared.tree}" in listed
            assert "holdfast://space/local" in listed
            templates = (await client.list_resource_templates()).resource_templates
            assert len(templates) == 3
            for uri, part in (
                (f"holdfast://codebase{shared.tree}", "fully indexed"),
                ("holdfast://space/local", "note:a"),
                ("holdfast://space/local/note:a", "hello"),
            ):
                content = (await client.read_resource(uri)).contents[0]
                assert part in getattr(content, "text", "")
            with pytest.raises(MCPError, match="no space nowhere"):
                await client.read_resource("holdfast://space/nowhere")

    asyncio.run(story())


@pytest.mark.shows("MCP-PROMPTS")
@pytest.mark.parametrize("way", WAYS)
def test_prompts_come_filled_with_what_is_true_now(way: str, shared: Machine, web: Web) -> None:
    async def story() -> None:
        async with agent(way, shared, web) as client:
            names = {one.name for one in (await client.list_prompts()).prompts}
            assert names == {"recover", "review_branch"}
            space = f"prompts-{way}"
            operation = {"op": "set", "id": "note:a", "value": "old"}
            await call(client, "memory_commit", operations=[operation], space=space)
            await call(client, "memory_branch", action="create", name="b", space=space)
            await call(
                client,
                "memory_commit",
                space=space,
                branch="b",
                operations=[{**operation, "value": "new words"}],
            )
            review = await client.get_prompt("review_branch", {"branch": "b", "space": space})
            assert "new words" in getattr(review.messages[0].content, "text", "")
            recover = await client.get_prompt("recover", {"task": "fix the tax"})
            text = getattr(recover.messages[0].content, "text", "")
            assert "fix the tax" in text
            assert "[context]" in text

    asyncio.run(story())


@pytest.mark.shows("MCP-PROGRESS")
@pytest.mark.parametrize("way", WAYS)
def test_a_build_tells_how_far_it_is(way: str, shared: Machine, web: Web) -> None:
    async def story() -> None:
        reports: list[tuple[float, str | None]] = []

        async def progress(progress: float, total: float | None, message: str | None) -> None:
            assert total == 100.0
            reports.append((progress, message))

        async with agent(way, shared, web) as client:
            arguments = {"action": "create", "path": str(shared.tree), "force": True, "wait": 60}
            result = await client.call_tool("manage_index", arguments, progress_callback=progress)
            assert facts_of(result)["status"] == "ok"
        assert reports
        assert [done for done, _ in reports] == sorted(done for done, _ in reports)
        assert all(message for _, message in reports)

    asyncio.run(story())


@pytest.mark.shows("MCP-HTTP-DOOR")
def test_the_tools_over_http_want_the_token_and_our_own_name(shared: Machine, web: Web) -> None:
    import httpx2

    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    accept = {"accept": "application/json, text/event-stream"}
    good = {**accept, "authorization": f"Bearer {web.token}"}
    assert httpx2.post(web.url, json=body, headers=accept).status_code == 401
    wrong = {**accept, "authorization": "Bearer wrong"}
    assert httpx2.post(web.url, json=body, headers=wrong).status_code == 401
    evil = {**good, "origin": "https://evil.example"}
    assert httpx2.post(web.url, json=body, headers=evil).status_code == 403
    rebound = {**good, "host": "evil.example"}
    assert httpx2.post(web.url, json=body, headers=rebound).status_code == 403
    assert httpx2.post(web.url, json=body, headers=good).status_code not in (401, 403)
    assert (shared.home / "token").stat().st_mode & 0o077 == 0


def test_paths_over_http_are_absolute(web: Web) -> None:
    async def story() -> None:
        async with web.agent() as client:
            result = await call(client, "read", path="shop/tax.py")
            assert result.is_error
            assert "absolute" in text_of(result)

    asyncio.run(story())


def test_paths_over_stdio_are_those_of_the_agent(shared: Machine, tmp_path: Path) -> None:
    async def story(client: Client) -> None:
        assert "1.19" in text_of(await call(client, "read", path="shop/tax.py"))
        assert "1.19" in text_of(await call(client, "read", path="shop/tax.py:2-2"))

    shared.talk(story)
