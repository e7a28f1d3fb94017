"""What agents are told costs little, goes on to the end, and is right about what was asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import UsageError
from holdfast.mcp import prompts
from holdfast.mcp.tool import ToolCall
from holdfast.mcp.tools import TOOLS
from tests.mcp.test_queries import Agent

NESTED = "class A:\n    def f(self): ...\n    def g(self): ...\nclass B:\n    def f(self): ...\n"
ONE_LINE = "function a(){} function b(){} function c(){}\nfunction d(){}\n"
BLOCK = "".join(f"value_{n} = compute({n}, other={n})\n" for n in range(30))


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    folder = tmp_path_factory.mktemp("answers")
    (folder / "tree" / "lib" / "deep").mkdir(parents=True)
    (folder / "tree" / "lib" / "deep" / "nested.py").write_text(NESTED)
    (folder / "tree" / "one.js").write_text(ONE_LINE)
    for name in ("x", "y"):
        other = BLOCK.replace("compute", "others").replace("value", "another")
        (folder / "tree" / f"{name}.py").write_text(BLOCK)
        (folder / "tree" / f"{name}2.py").write_text(other)
    made = Agent(folder / "home", folder / "tree")
    assert made("manage_index", action="create", path=".", wait=60).facts["status"] == "ok"
    for n in range(4):
        made("memory_commit", operations=[{"op": "set", "id": f"note:{n}", "value": n}])
    large = {"op": "set", "id": "note:large", "value": ["x" * 100] * 1000}
    made("memory_commit", operations=[large])
    yield made
    made.context.close()


WHOLE: list[tuple[str, dict[str, Any], str]] = [
    ("memory_query", {}, "limit"),
    ("memory_history", {}, "limit"),
    ("memory_get", {"id": "note:1"}, "at"),
    ("search_code", {"query": "function"}, "limit"),
    ("file_outline", {"file": "one.js"}, "limitSymbols"),
    ("clones", {"min_tokens": 20}, "limit"),
    ("call_graph", {"symbolRef": {"file": "one.js", "symbolLabel": "a"}}, "depth"),
    ("locate", {"snippet": "function a"}, "copies"),
]


@pytest.mark.shows("MCP-CHECK")
@pytest.mark.parametrize(("tool", "arguments", "name"), WHOLE)
def test_a_whole_number_is_one_however_it_is_written(
    agent: Agent, tool: str, arguments: dict[str, Any], name: str
) -> None:
    """JSON has one kind of number, and 2.0 fits an integer's schema; five tools broke on it."""
    whole = agent(tool, **arguments, **{name: 2})
    assert not whole.failed, whole.text
    again = agent(tool, **arguments, **{name: 2.0})
    assert again.text == whole.text


@pytest.mark.shows("MCP-CHECK")
def test_a_whole_number_inside_is_one_too(agent: Agent) -> None:
    stale = [{"id": "note:1", "seq": 1.0}]
    refused = agent("memory_commit", operations=[{"op": "delete", "id": "x"}], reads=stale)
    assert refused.facts["status"] == "conflict", refused.text


@pytest.mark.shows("MCP-CONTINUE")
@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize(
    ("below", "file"), [("", "lib/deep/nested.py"), ("lib", "deep/nested.py"), ("", "one.js")]
)
def test_an_outline_that_is_continued_shows_every_symbol_once(
    agent: Agent, below: str, file: str, limit: int
) -> None:
    """Symbols of one line were passed by, a class was shown on every page and could be the only
    one for ever, and from a folder of the tree the next page was of a file that is not there."""
    assert agent.caller.cwd is not None
    here = Agent(agent.home, Path(agent.caller.cwd) / below)
    try:
        every = here("file_outline", file=file).facts["outline"]["symbols"]
        page = here("file_outline", file=file, limitSymbols=limit)
        seen = list(page.facts["outline"]["symbols"])
        for _ in every:
            if "continue" not in page.facts:
                break
            page = here.next(page)
            seen += page.facts["outline"]["symbols"]
        assert "continue" not in page.facts
        assert seen == every
    finally:
        here.context.close()


CONTINUED: list[tuple[str, dict[str, Any]]] = [
    ("memory_query", {"limit": 1}),
    ("memory_query", {"ids": ["note:1", "note:2"], "limit": 1}),
    ("memory_query", {"prefix": "zz"}),
    ("memory_query", {"space": "locall"}),
    ("memory_history", {"limit": 1}),
    ("memory_get", {"id": "note:large"}),
    ("memory_get", {"id": "note:none"}),
    ("memory_get", {"id": "note:1", "pointer": "/value/x"}),
    ("memory_get", {"id": "note:1", "at": 99}),
    ("memory_branch", {"action": "diff", "name": "none"}),
    ("file_outline", {"file": "one.js", "limitSymbols": 1}),
    ("clones", {"min_tokens": 20, "limit": 1}),
    ("search_code", {"query": "function", "limit": 1}),
]


@pytest.mark.shows("MCP-CONTINUE")
@pytest.mark.parametrize(("tool", "arguments"), CONTINUED)
def test_a_call_that_goes_on_says_nothing_that_is_usual(
    agent: Agent, tool: str, arguments: dict[str, Any]
) -> None:
    """Every page of documents was followed by eight arguments, six of them as they are anyway."""
    answer = agent(tool, **arguments)
    call = answer.facts["continue"]
    known = {**TOOLS[call["tool"]].input["properties"], **TOOLS[call["tool"]].unlisted}
    usual = [name for name, value in call["args"].items() if known[name].get("default") == value]
    assert usual == []
    agent.next(answer)


@pytest.mark.shows("MCP-READS-MAKE-NOTHING")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("memory_commit", {"operations": [{"op": "patch", "id": "a"}]}),
        ("memory_commit", {"operations": [{"op": "set", "id": "a"}]}),
        (
            "memory_commit",
            {
                "operations": [{"op": "set", "id": "a", "value": 1}],
                "reads": [{"id": "a", "seq": 7}],
            },
        ),
        (
            "memory_commit",
            {"operations": [{"op": "set", "id": "a", "value": 1}], "branch": "draft"},
        ),
        ("memory_branch", {"action": "create"}),
    ],
)
def test_a_call_that_is_wrong_in_itself_makes_no_space(
    agent: Agent, tool: str, arguments: dict[str, Any]
) -> None:
    """A refused commit to a mistyped space left an empty space of that name."""
    assert agent(tool, **arguments, space="new-one").failed
    assert not list(agent.home.rglob("new-one*"))


@pytest.mark.shows("MCP-CHECK")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("manage_index", {"action": "clear", "path": ""}), ("file_outline", {"file": ""})],
)
def test_a_path_that_was_left_out_is_not_the_working_directory(
    agent: Agent, tool: str, arguments: dict[str, Any]
) -> None:
    """`clear` with an empty path forgot the index of the directory the agent stood in."""
    refused = agent(tool, **arguments)
    assert refused.failed
    assert "must not be empty" in refused.text


@pytest.mark.shows("MCP-PROMPTS")
def test_a_branch_that_is_not_there_is_not_reviewed(agent: Agent) -> None:
    """The prompt asked for a review of what it had just been told is not there."""
    call = ToolCall(agent.context, agent.caller, {"branch": "none"})
    with pytest.raises(UsageError, match="unknown branch: none"):
        prompts.review(call)


def test_one_call_is_one_call(agent: Agent) -> None:
    (Path(agent.caller.cwd or "") / "out.py").write_text("def out():\n    return elsewhere()\n")
    answer = agent("call_graph", symbolRef={"file": "out.py", "symbolLabel": "out"})
    assert "[1 call leads out of the tree or could not be resolved]" in answer.text


@pytest.mark.shows("MCP-CONTINUE")
@pytest.mark.parametrize("where", ["", "lib", "..", None])
def test_what_an_answer_names_can_be_asked_for_as_it_stands(
    agent: Agent, where: str | None
) -> None:
    """Files are named from the root of their tree: an agent that stood anywhere else was told that
    there is no such file, or that its tree is not indexed, when it used what it was given."""
    tree = Path(agent.caller.cwd or "")
    here = Agent(agent.home, tree)
    here.caller.cwd = None if where is None else str((tree / where).resolve())
    try:
        found = here("search_code", query="sym:A.f", path=str(tree))
        assert (f"[files are from {tree}]" in found.text) is (where != "")
        first = found.facts["results"][0]
        graph = here("call_graph", symbolRef=first["callGraphHint"]["symbolRef"])
        assert graph.facts["status"] == "ok", graph.text
        outline = here("file_outline", file=str(tree / first["file"]))
        symbol = outline.facts["outline"]["symbols"][-1]
        graph = here("call_graph", symbolRef=symbol["callGraphHint"]["symbolRef"])
        assert graph.facts["status"] == "ok", graph.text
        assert (f"[files are from {tree}]" in graph.text) is (where != "")
    finally:
        here.context.close()


@pytest.mark.shows("MCP-REFUSALS-HELP")
def test_a_file_named_from_its_tree_is_found_from_a_folder_of_it(agent: Agent) -> None:
    tree = Path(agent.caller.cwd or "")
    here = Agent(agent.home, tree / "lib")
    try:
        name = "lib/deep/nested.py"
        assert here("file_outline", file=name).facts["status"] == "ok"
        reference = {"file": name, "symbolLabel": "A"}
        assert here("call_graph", symbolRef=reference).facts["status"] == "ok"
        refused = here("read", path=name)
        assert refused.facts["continue"]["args"] == {"path": str(tree / name)}
        assert here.next(refused).facts["status"] == "ok"
    finally:
        here.context.close()
