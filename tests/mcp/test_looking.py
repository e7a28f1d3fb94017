"""Tools that only look make nothing, and what they refuse ends with a call that works."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.app import App
from holdfast.mcp.caller import Caller
from holdfast.mcp.desk import Desk
from holdfast.mcp.serving import carry_out
from holdfast.mcp.tool import Call, Result
from holdfast.mcp.tools import TOOLS


class Agent:
    """Calls tools without a socket."""

    def __init__(self, home: Path, cwd: Path) -> None:
        self.home, self.desk = home, Desk(App(home))
        self.caller = Caller(cwd=str(cwd), environment={"HOME": str(home.parent)})

    def __call__(self, tool: str, **arguments: Any) -> Result:
        return carry_out(TOOLS[tool], Call(self.desk, self.caller, {}), arguments)

    def next(self, result: Result) -> Result:
        """What the answer says to call next; it must stand in the text too."""
        call = result.facts["continue"]
        assert f"{call['tool']}(" in result.text.splitlines()[-1], result.text
        return self(call["tool"], **call["args"])


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    (tmp_path / "tree").mkdir()
    made = Agent(tmp_path / "home", tmp_path / "tree")
    yield made
    made.desk.close()


LOOKS: list[tuple[str, dict[str, Any]]] = [
    ("memory_get", {"id": "note:a"}),
    ("memory_query", {"prefix": "note:"}),
    ("memory_history", {}),
    ("memory_branch", {"action": "list"}),
    ("memory_branch", {"action": "diff", "name": "draft"}),
    ("memory_branch", {"action": "merge", "name": "draft"}),
    ("memory_branch", {"action": "delete", "name": "draft"}),
]


@pytest.mark.shows("MCP-READS-MAKE-NOTHING")
@pytest.mark.parametrize(("tool", "arguments"), LOOKS)
def test_a_mistyped_space_is_refused_with_the_call_that_was_meant(
    agent: Agent, tool: str, arguments: dict[str, Any]
) -> None:
    write = [{"op": "set", "id": "note:a", "value": 1}]
    assert agent("memory_commit", operations=write, space="team").facts["status"] == "ok"
    agent("memory_branch", action="create", name="draft", space="team")
    before = sorted(path.name for path in agent.home.rglob("*.sqlite"))
    refused = agent(tool, **arguments, space="taem")
    assert refused.failed
    assert refused.text.startswith("there is no space taem\n[did you mean: ")
    assert sorted(path.name for path in agent.home.rglob("*.sqlite")) == before
    assert agent.next(refused).facts["status"] == "ok"
    other = agent(tool, **arguments, space="quite-another")
    assert other.text.startswith("there is no space quite-another; there are: team\n")
    assert [one["id"] for one in agent.next(other).facts["documents"]] == ["note:a"]


@pytest.mark.shows("MCP-READS-MAKE-NOTHING")
@pytest.mark.parametrize(("tool", "arguments"), LOOKS)
def test_the_default_space_is_empty_until_it_is_written(
    agent: Agent, tool: str, arguments: dict[str, Any]
) -> None:
    looked = agent(tool, **arguments)
    assert looked.facts["status"] in ("ok", "not_found", "error")
    assert not agent.home.exists()
    agent("memory_commit", operations=[{"op": "set", "id": "note:a", "value": 1}])
    assert agent("memory_get", id="note:a").facts["document"] == {"value": 1}


@pytest.mark.shows("MCP-READS-MAKE-NOTHING")
def test_where_there_are_no_spaces_yet_the_refusal_says_what_makes_one(agent: Agent) -> None:
    refused = agent("memory_get", id="note:a", space="team")
    assert refused.text.startswith("there is no space team; memory_commit makes one\n")
    assert agent.next(refused).facts["status"] == "ok"
    assert not agent.home.exists()
