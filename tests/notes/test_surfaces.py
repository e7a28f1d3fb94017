"""Memory as people and agents use it: what is nearly right is refused or warned about."""

import os
import pwd
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.cli.test_memory import Terminal, run
from tests.mcp.agents import call, facts_of, machine_in, text_of

__all__ = ["run"]

CART = "class Cart:\n    def total(self):\n        return 1\n\n\ndef pay():\n    pass\n"


@pytest.fixture
def cart(run: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_AUTHOR", "ada")
    file = tmp_path / "cart.py"
    file.write_text(CART)
    return file


@pytest.mark.shows("NOTES-NOTE", "STORE-AUTHOR")
def test_a_note_is_one_command_and_is_found_again(run: Terminal, cart: Path) -> None:
    said = run("memory", "note", "leaves out shipping", "--code", "cart.py:Cart.total")
    assert said == "noted as note:leaves-out-shipping at seq 1\n"
    shown = run("memory", "find", "shipping cost")
    assert "note:leaves-out-shipping  (seq 1, ada via cli)" in shown
    assert "[current: cart.py Cart.total]" in shown
    cart.write_text(CART.replace("return 1", "return 2"))
    assert "[drifted: cart.py Cart.total]" in run("memory", "find", "--code", "cart.py:total")
    assert "ada via cli" in run("memory", "log")
    assert run.json("memory", "log")[0]["author"] == {"user": "ada", "agent": "cli"}


@pytest.mark.shows("MEM-NEAR-MISS")
def test_near_misses_are_refused_or_warned_about(run: Terminal, cart: Path) -> None:
    run("memory", "note", "x", "--code", "cart.py:totl", code=2)
    assert "did you mean Cart.total?" in run.errors
    run("memory", "find", "x", code=0)
    assert run.json("memory", "list") == []  # nothing was written, not even a space
    run("memory", "set", "note:a", "hello")
    assert run.json("memory", "get", "note:a")["document"] == {"value": "hello"}
    run("memory", "set", "note:b", "{hello", code=2)
    run("memory", "set", "note:b", '{"text": "see", "code": {"path": "cart.py", "symbol": "pay"}}')
    link = run.json("memory", "get", "note:b")["document"]["value"]["code"]
    assert len(link["sha256"]) == 64
    run("memory", "patch", "note:b", '{"op": "replace", "path": "/text", "value": 1}', code=1)
    assert "/text is outside the value of note:b; did you mean /value/text?" in run.errors
    run("memory", "patch", "note:new", '{"op": "add", "path": "/text", "value": 1}', code=1)
    assert "/text is outside the value of note:new; did you mean /value/text?" in run.errors
    run("memory", "patch", "note:b", '{"op": "replace", "path": "/value/text", "value": "ok"}')
    run("memory", "get", "note:b", "/text", code=1)
    assert "did you mean /value/text?" in run.errors
    run("memory", "set", "note:c", '{"code": {"file": "cart.py"}}')
    assert 'a link is {"code": {"path": "cart.py"}}' in run.errors
    run("memory", "set", "note:d", '{"value": 1}')
    assert "its content is at /value/value" in run.errors
    # A whole document may have members of its own, and they may be patched.
    run("memory", "set", "note:e", '{"value": 1, "text": 2}', "--document")
    run("memory", "patch", "note:e", '{"op": "replace", "path": "/text", "value": 3}')


@pytest.mark.shows("MEM-REVIEW", "MEM-MERGE-CLOSES")
def test_a_branch_is_reviewed_beside_its_code_and_closed_by_its_merge(
    run: Terminal, cart: Path
) -> None:
    run("memory", "set", "note:plan", '"first"')
    run("memory", "branch", "create", "draft")
    run("memory", "note", "does nothing yet", "--code", "cart.py:pay", "--branch", "draft")
    run("memory", "set", "note:plan", '"second"', "--branch", "draft")
    shown = run("memory", "review", "draft")
    assert "draft changes 2 documents" in shown
    assert "current: cart.py pay:6-7, the code is as it was\n      def pay():" in shown
    assert '/value: "first" → "second"' in shown
    changes = run.json("memory", "review", "draft")["changes"]
    assert changes[0]["code"][0]["text"] == ["def pay():", "    pass"]
    merged = run("memory", "merge", "draft")
    assert merged.strip().endswith("2 documents changed; draft is closed")
    assert "merged" in run("memory", "branch", "list").splitlines()[-1]
    run("memory", "set", "note:late", "1", "--branch", "draft", code=1)
    # A review went on to propose the merge that had been made.
    shown = run("memory", "review", "draft")
    assert "draft was merged and is closed" in shown
    assert "merge it" not in shown
    assert "merge draft" in run("memory", "log")
    assert run.json("memory", "verify")["sound"] is True


@pytest.mark.shows("MEM-MERGE-CLOSES")
def test_only_a_merge_into_its_parent_closes_a_branch(run: Terminal) -> None:
    run("memory", "set", "note:a", "1")
    run("memory", "branch", "create", "one")
    run("memory", "branch", "create", "two")
    run("memory", "set", "note:b", "1", "--branch", "one")
    assert run.json("memory", "merge", "one", "--into", "two")["closed"] is False
    assert run.json("memory", "merge", "one", "--keep")["closed"] is False
    run("memory", "set", "note:c", "1", "--branch", "one")
    assert run.json("memory", "merge", "one")["closed"] is True


@pytest.mark.shows("MCP-NOTES", "STORE-AUTHOR", "MEM-NEAR-MISS")
def test_agents_note_find_and_review_through_tools(tmp_path: Path) -> None:
    async def story(agent: Client) -> None:
        async def ask(tool: str, **arguments: Any) -> str:
            return text_of(await call(agent, tool, **arguments))

        said = await ask("memory_note", text="leaves out shipping", code=["cart.py:Cart.total"])
        assert said.startswith("noted as note:leaves-out-shipping at seq 1")
        shown = await ask("memory_query", text="shipping cost")
        assert "[current: cart.py Cart.total]" in shown
        assert 'memory_get(id="note:leaves-out-shipping")' in shown
        assert "no document with author nobody-else" in await ask(
            "memory_query", author="nobody-else"
        )
        history = await call(agent, "memory_history")
        author = facts_of(history)["entries"][0]["author"]
        assert set(author) >= {"agent", "session"}
        wrong = await ask(
            "memory_commit",
            operations=[
                {
                    "op": "patch",
                    "id": "note:leaves-out-shipping",
                    "patches": [{"op": "replace", "path": "/text", "value": "x"}],
                }
            ],
        )
        assert "did you mean /value/text?" in wrong
        beside = {"text": "t", "code": {"path": "cart.py", "symbol": "pay"}}
        await ask("memory_branch", action="create", name="draft")
        await ask(
            "memory_commit",
            operations=[{"op": "set", "id": "note:pay", "value": beside}],
            branch="draft",
        )
        review = await ask("memory_branch", action="review", name="draft")
        assert "current: cart.py pay:6-7" in review
        assert 'memory_branch(action="merge", name="draft")' in review
        assert "draft is closed" in await ask("memory_branch", action="merge", name="draft")

    with machine_in(tmp_path, forks_host=True) as machine:
        (machine.tree / "cart.py").write_text(CART)
        machine.talk(story)


@pytest.mark.shows("NOTES-NEAR")
def test_commands_name_the_notes_about_the_code_they_show(
    run: Terminal, cart: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Agents' tools named them, `holdfast read`, `search` and `outline` did not."""
    run("index", "create")
    assert "[note" not in run("search", "Cart.total") + run("outline", "cart.py")
    run("memory", "note", "leaves out shipping", "--code", "cart.py:Cart.total")
    line = '[note: note:leaves-out-shipping "leaves out shipping": holdfast memory get note:leaves'
    assert run("search", "Cart.total").startswith(line)
    assert run("outline", "cart.py").startswith(line)
    assert run("outline", "cart.py", "--symbol", "Cart.total").startswith(line)
    assert "[note" not in run("outline", "cart.py", "--symbol", "pay")
    for place in ("cart.py", "cart.py:1-3", "cart.py:2", "cart.py:Cart.total", "cart.py:pay,2"):
        assert "[note" not in run("read", place)
        assert run.errors.startswith(line), place
    for words in (["cart.py:6-7"], ["cart.py:pay"], ["cart.py", "--offset", "6"]):
        run("read", *words)
        assert run.errors == "", words
    run("read", "cart.py:1-3", "--plain")
    assert run.errors == ""
    cart.write_text(CART.replace("return 1", "return 2"))
    assert '"leaves out shipping" (drifted)' in run("search", "Cart.total")
    monkeypatch.setenv("HOLDFAST_NOTES", "off")
    assert "[note" not in run("search", "Cart.total")
    run("read", "cart.py")
    assert run.errors == ""


@pytest.mark.shows("STORE-AUTHOR")
def test_a_log_names_the_user_and_the_conversation(
    run: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without USER, as in a container, it said `cli`."""
    for name in ("HOLDFAST_AUTHOR", "USER", "LOGNAME", "CLAUDE_CODE_SESSION_ID"):
        monkeypatch.delenv(name, raising=False)
    login = pwd.getpwuid(os.getuid()).pw_name
    run("memory", "set", "note:a", "1")
    assert f"  {login} via cli  " in run("memory", "log")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "0b5c7d1e-2222-4444-8888-000000000000")
    run("memory", "set", "note:a", "2")
    assert f"  {login} via claude-code 0b5c7d1e  " in run("memory", "log")
