"""A whole task over real MCP: two agents, a compaction between, and nothing claimed without proof.

The agents are scripted, all else is real: the shim, the host, the SDK, the index, the store, and
the transcripts, which are kept as Claude Code keeps its own.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult

from tests.mcp.agents import WAIT_S, Machine, call, facts_of, machine_in, text_of
from tests.mcp.conversations import Claude

LEDGER = (
    "from shop.tax import with_tax\n"
    "\n"
    "\n"
    "class Ledger:\n"
    '    """Bookings, newest last."""\n'
    "\n"
    "    def __init__(self):\n"
    "        self.bookings = []\n"
    "\n"
    "    def book(self, amount):\n"
    "        self.bookings.append(with_tax(amount))\n"
    "\n"
    "    def balance(self):\n"
    "        return sum(self.bookings)\n"
) + "".join(
    f"\n\ndef report_{n}(ledger):\n    return f'report {n}: {{ledger.balance()}}'\n"
    for n in range(40)
)


def hooked(machine: Machine, claude: Claude) -> None:
    """What Claude Code does at the start of a session: it runs our hook as a child of its own."""
    heard = {
        "session_id": claude.session,
        "transcript_path": str(claude.path),
        "cwd": str(machine.tree),
        "hook_event_name": "SessionStart",
        "source": "startup",
    }
    subprocess.run(
        [sys.executable, "-m", "holdfast.cli.main", "hook"],
        input=json.dumps(heard),
        env=machine.environment,
        text=True,
        check=True,
        timeout=WAIT_S,
    )


@pytest.mark.shows("MCP-STORY")
def test_a_task_from_the_first_search_to_the_second_agent(tmp_path: Path) -> None:
    with machine_in(tmp_path, forks_host=True) as machine:
        (machine.tree / "shop" / "ledger.py").write_text(LEDGER)
        asyncio.run(first_agent(machine, Claude(tmp_path / "transcripts")))
        asyncio.run(second_agent(machine, Claude(tmp_path / "transcripts")))


async def first_agent(machine: Machine, claude: Claude) -> None:
    tree, ledger = str(machine.tree), machine.tree / "shop" / "ledger.py"
    hooked(machine, claude)
    claude.said("Bookings are rounded wrongly. Find out why and fix it.")
    async with asyncio.timeout(WAIT_S * 3), machine.agent("2026-07-28", name="claude-code") as mcp:
        # index, after the refusal that says how
        refused = facts_of(await claude.uses(mcp, "search_code", query="book an amount"))
        assert refused["status"] == "not_indexed"
        create = refused["hints"]["create"]
        made = facts_of(await claude.uses(mcp, create["tool"], **create["args"], wait=60))
        assert made["status"] == "ok"

        # search and read
        hit = facts_of(await claude.uses(mcp, "search_code", query="book an amount"))["results"][0]
        assert hit["file"] == "shop/ledger.py"
        assert "in_context" not in hit
        graph = facts_of(
            await claude.uses(
                mcp, "call_graph", path=tree, direction="callers",
                symbolRef={"file": "shop/tax.py", "symbolLabel": "with_tax"},
            )
        )  # fmt: skip
        assert {edge["site"]["file"] for edge in graph["edges"]} == {"shop/ledger.py"}
        whole = facts_of(await claude.uses(mcp, "read", path="shop/ledger.py"))
        assert (whole["mode"], whole["content"]) == ("full", LEDGER)
        again = facts_of(await claude.uses(mcp, "search_code", query="book an amount"))
        assert again["results"][0]["in_context"] is True

        # an edit that does not match, and where it should
        missed = await claude.uses(
            mcp, "locate", path=tree, snippet="self.bookings.append(with_tax(sum))"
        )
        assert facts_of(missed)["status"] == "partial"
        assert facts_of(missed)["difference"]["snippet"]["token"] == "sum"
        assert "ledger.py" in text_of(missed)

        # edit, and read again: only the difference comes
        ledger.write_text(LEDGER.replace("with_tax(amount))", "round(with_tax(amount), 2))"))
        changed = facts_of(await claude.uses(mcp, "read", path="shop/ledger.py"))
        assert changed["mode"] == "diff"
        assert "round(with_tax(amount), 2)" in changed["content"]
        assert len(changed["content"]) < len(LEDGER) / 2
        same = facts_of(await claude.uses(mcp, "read", path="shop/ledger.py"))
        assert same["mode"] == "unchanged"

        # the context is compacted; what was held is gone and is not claimed
        claude.compacts()
        lost = await claude.uses(mcp, "context")
        assert facts_of(lost)["held"] == []
        gone = [file["path"] for file in facts_of(lost)["lost"]]
        assert str(ledger) in gone
        shown = {str(machine.tree / "shop" / name) for name in ("cart.py", "ledger.py", "tax.py")}
        assert set(gone) <= shown  # lines that the search printed were held too
        assert 'read(path="shop/ledger.py"' in text_of(lost)
        call_again = facts_of(lost)["continue"]
        fresh = facts_of(await claude.uses(mcp, call_again["tool"], **call_again["args"]))
        assert fresh["content"] == ledger.read_text()

        # a host that dies takes nothing with it that was acknowledged
        noted = facts_of(
            await claude.uses(
                mcp, "memory_commit",
                operations=[{"op": "set", "id": "note:rounding", "value": {
                    "text": "bookings are rounded to cents when they are booked",
                    "see": {"code": {"path": "shop/ledger.py", "symbol": "Ledger.book"}},
                    "open": ["report in cents"]}}],
                reads=[{"id": "note:rounding", "seq": 0}],
            )
        )  # fmt: skip
        assert noted["status"] == "ok"
        host = machine.host
        assert host is not None
        os.kill(host, signal.SIGKILL)
        kept = facts_of(await _once_more(claude, mcp, "memory_get", id="note:rounding"))
        assert kept["seq"] == noted["seq"]
        assert kept["links"][0]["state"] == "current"
        held = facts_of(await claude.uses(mcp, "read", path="shop/ledger.py"))
        assert held["mode"] == "unchanged", "what is held is in the transcript, not in the host"


async def _once_more(claude: Claude, mcp: Client, tool: str, **arguments: Any) -> CallToolResult:
    """A call, made again if the host was lost under it, as an agent would."""
    try:
        return await claude.uses(mcp, tool, **arguments)
    except MCPError as lost:
        if "host ended" not in str(lost):
            raise
        return await claude.uses(mcp, tool, **arguments)


async def second_agent(machine: Machine, claude: Claude) -> None:
    """Another day, another conversation: it starts from what the first one left."""
    ledger = machine.tree / "shop" / "ledger.py"
    ledger.write_text(ledger.read_text().replace("round(", "floor("))
    hooked(machine, claude)
    async with asyncio.timeout(WAIT_S * 2), machine.agent("legacy", name="other-agent") as mcp:
        found = facts_of(await claude.uses(mcp, "memory_query", contains="rounded"))
        assert [one["id"] for one in found["documents"]] == ["note:rounding"]
        note = await claude.uses(mcp, "memory_get", id="note:rounding")
        assert facts_of(note)["links"][0]["state"] == "drifted"
        assert "link drifted: shop/ledger.py Ledger.book" in text_of(note)
        own = facts_of(await claude.uses(mcp, "read", path="shop/ledger.py"))
        assert own["mode"] == "full", "it never saw what the first one read"
        await claude.uses(mcp, "memory_branch", action="create", name="second")
        patch = {"op": "replace", "path": "/value/text", "value": "bookings are cut, not rounded"}
        await claude.uses(
            mcp, "memory_commit", branch="second",
            operations=[{"op": "patch", "id": "note:rounding", "patches": [patch]}],
        )  # fmt: skip
        review = await mcp.get_prompt("review_branch", {"branch": "second"})
        assert "bookings are cut" in getattr(review.messages[0].content, "text", "")
        merged = facts_of(await claude.uses(mcp, "memory_branch", action="merge", name="second"))
        assert merged["merged"] == 1
        history = facts_of(await call(mcp, "memory_history", id="note:rounding"))["entries"]
        writers = {entry["sessionId"].rpartition("-")[0] for entry in history}
        assert writers == {"claude-code", "other-agent"}
