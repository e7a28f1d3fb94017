"""The inspector from npm drives every tool over both transports: a client that is not ours."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.mcp.agents import Machine, Web
from tests.mcp.inspector import arguments, inspect
from tests.mcp.test_tools import DESIGNED

pytestmark = pytest.mark.service("node")


@pytest.mark.shows("MCP-INSPECTOR")
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_inspector_drives_every_tool(transport: str, shared: Machine, web: Web) -> None:
    tree, space = str(shared.tree), f"inspected-{transport}"
    if transport == "stdio":
        target = shared.command()
    else:
        target = [web.url, "--transport", "http", "--header", f"Authorization: Bearer {web.token}"]

    def ask(method: str, *options: str) -> dict[str, Any]:
        return inspect(target, method, shared.environment, shared.tree, *options)

    tools = {tool["name"]: tool for tool in ask("tools/list")["tools"]}
    assert set(tools) == DESIGNED
    note = [{"op": "set", "id": "note:a", "value": "hello"}]
    reference = {"file": f"{tree}/shop/cart.py", "symbolLabel": "Cart.total"}
    edit = {"action": "rename", "symbol": "Cart.total", "text": "sum_up"}
    cases: list[tuple[str, str, dict[str, Any]]] = [
        ("manage_index", "ok", {"action": "create", "path": tree, "force": True, "wait": 60}),
        ("memory_commit", "ok", {"operations": note, "space": space}),
        ("list_codebases", "ok", {}),
        ("search_code", "ok", {"query": "checkout", "path": tree}),
        ("file_outline", "ok", {"file": f"{tree}/shop/cart.py"}),
        ("call_graph", "ok", {"symbolRef": reference}),
        ("references", "ok", {"symbol": "Cart.total", "path": tree}),
        ("explore", "ok", {"symbol": "Cart.total", "path": tree}),
        ("edit_symbol", "ok", {**edit, "path": tree}),
        ("read", "ok", {"path": f"{tree}/shop/tax.py"}),
        ("readcache_refresh", "ok", {"path": f"{tree}/shop/tax.py"}),
        ("readcache_status", "ok", {}),
        ("context", "ok", {}),
        ("recover", "ok", {}),
        ("locate", "ok", {"snippet": "return amount * 1.19", "path": tree}),
        ("clones", "ok", {"path": tree}),
        ("memory_note", "ok", {"text": "a note", "space": space}),
        ("memory_get", "ok", {"id": "note:a", "space": space}),
        ("memory_query", "ok", {"prefix": "note:", "space": space}),
        ("memory_history", "ok", {"space": space}),
        ("memory_branch", "ok", {"action": "list", "space": space}),
        ("memory_get", "not_found", {"id": "note:none", "space": space}),
    ]

    def check(case: tuple[str, str, dict[str, Any]]) -> str:
        name, status, given = case
        answer = ask("tools/call", "--tool-name", name, *arguments(**given))
        assert answer["isError"] is False, answer
        assert answer["structuredContent"]["status"] == status
        Draft202012Validator(tools[name]["outputSchema"]).validate(answer["structuredContent"])
        return name

    called = {check(case) for case in cases[:2]}
    with ThreadPoolExecutor(4) as together:
        called |= set(together.map(check, cases[2:]))
    assert called == DESIGNED - {"impact"}  # which needs a repository
    prompts = {prompt["name"] for prompt in ask("prompts/list")["prompts"]}
    assert prompts == {"recover", "review_branch"}
    uris = {one["uri"] for one in ask("resources/list")["resources"]}
    assert f"holdfast://codebase{tree}" in uris
