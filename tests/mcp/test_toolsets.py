"""Which tools are listed, what the list costs, and how many facts go with an answer."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.app import App
from holdfast.errors import UsageError
from holdfast.mcp.caller import Ancestor, Caller
from holdfast.mcp.host_context import HostContext
from holdfast.mcp.sdk_server import run_tool
from holdfast.mcp.structured import RATIO_MAX, content, lean_facts, mode_of, size
from holdfast.mcp.tool import ToolCall
from holdfast.mcp.tools import TOOLS
from holdfast.mcp.toolsets import DEFAULT, NEEDS_CONVERSATION, TOOLSETS, listed, parse
from tests.mcp.agents import call, machine_in, text_of

LIST_TOKENS_MAX = 4_000


def test_a_tool_is_in_at_most_one_toolset_and_exists() -> None:
    named = [tool for tools in TOOLSETS.values() for tool in tools]
    assert len(named) == len(set(named))
    assert set(named) <= set(TOOLS)


def test_a_mistyped_toolset_is_refused_with_the_ones_there_are() -> None:
    with pytest.raises(UsageError, match="search, read, memory, all") as refused:
        parse("serch")
    assert "serch" in str(refused.value)


def test_a_setting_chooses_the_tools_and_keeps_their_order() -> None:
    chosen = listed(TOOLS, "memory,search", has_conversation=True)
    assert set(chosen) == {*TOOLSETS["memory"], *TOOLSETS["search"]}
    assert chosen == [name for name in TOOLS if name in chosen]
    assert listed(TOOLS, "all", has_conversation=True) == list(TOOLS)


@pytest.mark.shows("MCP-UNBOUND-TOOLS")
def test_tools_that_need_a_conversation_are_not_listed_without_one() -> None:
    assert not NEEDS_CONVERSATION & set(listed(TOOLS, "", has_conversation=False))
    assert set(listed(TOOLS, "all", has_conversation=True)) >= NEEDS_CONVERSATION
    assert "recover" in listed(TOOLS, "", has_conversation=True)


def test_a_conversation_is_possible_for_agents_whose_logs_are_read() -> None:
    assert not Caller().may_have_conversation("some-editor")
    assert Caller().may_have_conversation("claude-code")
    assert Caller(session="work").may_have_conversation("some-editor")
    assert Caller(ancestors=(Ancestor(2, 1, "codex"),)).may_have_conversation("")


def test_clients_that_show_facts_instead_of_text_get_no_facts() -> None:
    assert mode_of("claude-code", "", verbose=False) == "none"
    assert mode_of("codex-mcp-client", "", verbose=False) == "none"
    assert mode_of("claude-code", "", verbose=True) == "full"
    assert mode_of("some-editor", "", verbose=False) == "lean"
    assert mode_of("some-editor", "full", verbose=False) == "full"
    assert mode_of("some-editor", "none", verbose=False) == "none"


@pytest.mark.shows("MCP-LEAN-FACTS")
@given(st.dictionaries(st.text(max_size=9), st.text() | st.integers(), max_size=6), st.text())
def test_lean_facts_never_cost_more_than_their_share_of_the_text(
    facts: dict[str, Any], text: str
) -> None:
    sent = content("memory_get", facts, text, "lean")
    if sent is not None:
        assert size(sent) <= RATIO_MAX * len(text.encode("utf-8", "replace"))


def test_lean_facts_of_a_failure_are_all_of_its_facts() -> None:
    facts = {"status": "error", "message": "no", "hint": "do that"}
    assert lean_facts("search_code", facts) == facts


@pytest.mark.shows("MCP-LIST-TOKENS", "MCP-LEAN-FACTS")
def test_the_default_list_is_cheap_and_answers_carry_lean_facts(tmp_path: Path) -> None:
    settings = {"HOLDFAST_MCP_STRUCTURED": "", "HOLDFAST_MCP_TOOLS": ""}

    async def story() -> None:
        async with machine.agent(name="claude-code") as claude:
            tools = (await claude.list_tools()).tools
            spent = json.dumps(
                [one.model_dump(by_alias=True, exclude_none=True) for one in tools],
                separators=(",", ":"),
            )
            assert {one.name for one in tools} == {t for s in DEFAULT for t in TOOLSETS[s]}
            assert len(spent.encode()) / 4 <= LIST_TOKENS_MAX
            made = await claude.call_tool("manage_index", {"action": "create", "path": "."})
            assert made.structured_content is None
            assert "ready" in text_of(made)
        async with machine.agent(name="some-editor") as other:
            assert NEEDS_CONVERSATION.isdisjoint(t.name for t in (await other.list_tools()).tools)
            found = await other.call_tool("search_code", {"query": "sum up prices"})
            lean = found.structured_content
            assert lean is not None
            assert "Cart" in {one["symbol"] for one in lean["results"]}
            assert any(one["file"] == "shop/cart.py" for one in lean["results"])
            assert size(lean) <= RATIO_MAX * len(text_of(found).encode())
            whole = await other.call_tool(
                "search_code", {"query": "sum up prices", "verbose": True}
            )
            assert whole.structured_content is not None
            assert whole.structured_content["freshnessDecision"]
        async with machine.agent("legacy", "--tools", "memory") as memory:
            names = {one.name for one in (await memory.list_tools()).tools}
            assert names == set(TOOLSETS["memory"])
            # A tool that is not listed can still be called.
            assert (await memory.call_tool("list_codebases", {})).is_error is False

    with machine_in(tmp_path, forks_host=True, **settings) as machine:
        asyncio.run(story())


def test_full_facts_are_declared_and_fit_their_schemas(tmp_path: Path) -> None:
    async def story() -> None:
        async with machine.agent() as client:
            assert all(one.output_schema for one in (await client.list_tools()).tools)
            await call(client, "list_codebases")

    with machine_in(tmp_path, forks_host=True) as machine:
        asyncio.run(story())


@pytest.mark.shows("MCP-MISSING-PATH")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search_code", {"query": "x", "path": "nowhere"}),
        ("file_outline", {"file": "nowhere.py"}),
        ("call_graph", {"symbol": "x", "path": "nowhere"}),
        ("manage_index", {"action": "status", "path": "nowhere"}),
        ("locate", {"snippet": "x", "path": "nowhere"}),
        ("clones", {"path": "nowhere"}),
        ("read", {"path": "nowhere.py"}),
    ],
)
def test_a_path_that_does_not_exist_is_an_error(
    tmp_path: Path, tool: str, arguments: dict[str, object]
) -> None:
    (tmp_path / "tree").mkdir()
    context = HostContext(App(tmp_path / "home"))
    try:
        call = ToolCall(context, Caller(cwd=str(tmp_path / "tree")), {})
        assert run_tool(TOOLS[tool], call, arguments).failed
    finally:
        context.close()
