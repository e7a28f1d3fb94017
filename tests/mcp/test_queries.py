"""Tools that only look make nothing, and what they refuse ends with a call that works."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.app import App
from holdfast.mcp.caller import Caller
from holdfast.mcp.host_context import HostContext
from holdfast.mcp.sdk_server import run_tool
from holdfast.mcp.tool import Result, ToolCall
from holdfast.mcp.tools import TOOLS


class Agent:
    """Calls tools without a socket."""

    def __init__(self, home: Path, cwd: Path) -> None:
        self.home, self.context = home, HostContext(App(home))
        self.caller = Caller(cwd=str(cwd), environment={"HOME": str(home.parent)})

    def __call__(self, tool: str, **arguments: Any) -> Result:
        return run_tool(TOOLS[tool], ToolCall(self.context, self.caller, {}), arguments)

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
    made.context.close()


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


REFUSALS: list[tuple[str, dict[str, Any], str]] = [
    ("read", {"path": "crat.py"}, "read"),
    ("read", {"path": "crat.py:1-2"}, "read"),
    ("read", {"path": "nothing-like-it.py"}, "search_code"),
    ("read", {"path": "lib"}, "read"),
    ("read", {"path": "cart.py:9-3"}, "read"),
    ("read", {"path": "cart.py:0"}, "read"),
    ("read", {"path": "cart.py", "offset": 99}, "read"),
    ("search_code", {"query": "alpha path:nowhere/"}, "search_code"),
    ("search_code", {"query": "must:zzz alpha"}, "search_code"),
    ("search_code", {"query": "sym:Nowhere"}, "search_code"),
    ("search_code", {"query": "sym:Nowhere", "scope": "mixed"}, "locate"),
    ("search_code", {"query": "alpha", "cursor": "bad"}, "search_code"),
    ("search_code", {"snippet": "zzz qqq", "scope": "mixed"}, "clones"),
    ("search_code", {"query": "alpha", "path": "/none"}, "list_codebases"),
    ("file_outline", {"file": "crat.py"}, "file_outline"),
    ("file_outline", {"file": "lib"}, "file_outline"),
    ("file_outline", {"file": "zzz.py"}, "search_code"),
    ("file_outline", {"file": "cart.py", "symbolLabelExact": "gamma"}, "file_outline"),
    ("file_outline", {"file": "lib/two.py", "symbolLabelExact": "run"}, "file_outline"),
    ("call_graph", {"symbolRef": {"file": "cart.py", "symbolLabel": "gamma"}}, "file_outline"),
    ("call_graph", {"symbolRef": {"file": "crat.py", "symbolLabel": "x"}}, "file_outline"),
    ("call_graph", {"symbolRef": {"file": "lib/two.py", "symbolLabel": "run"}}, "call_graph"),
    ("call_graph", {"symbolRef": {"file": "cart.py"}}, "file_outline"),
    ("references", {"symbol": "gamma"}, "search_code"),
    ("explore", {"symbol": "gamma"}, "search_code"),
    ("locate", {"snippet": "zzz qqq"}, "search_code"),
    ("locate", {"snippet": "def nowhere"}, "read"),
    ("locate", {"snippet": "def alpha", "path": "/none"}, "list_codebases"),
    ("clones", {"path": "/none"}, "list_codebases"),
    ("manage_index", {"action": "status", "path": "/none"}, "list_codebases"),
    ("manage_index", {"action": "create", "path": "/none"}, "list_codebases"),
    ("memory_get", {"id": "note:none"}, "memory_query"),
    ("memory_get", {"id": "zz"}, "memory_query"),
    ("memory_get", {"id": "note:a", "pointer": "/value/x"}, "memory_get"),
    ("memory_get", {"id": "note:a", "at": 99}, "memory_history"),
    ("memory_query", {"prefix": "zz"}, "memory_query"),
    ("memory_history", {"id": "zz"}, "memory_history"),
    ("memory_branch", {"action": "create"}, "memory_branch"),
    ("memory_branch", {"action": "diff", "name": "none"}, "memory_branch"),
]


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    folder = tmp_path_factory.mktemp("settled")
    (folder / "tree" / "lib").mkdir(parents=True)
    (folder / "tree" / "cart.py").write_text("def alpha():\n    return beta()\n\ndef beta(): ...\n")
    two = "class A:\n    def run(self): ...\nclass B:\n    def run(self): ...\n"
    (folder / "tree" / "lib" / "two.py").write_text(two)
    made = Agent(folder / "home", folder / "tree")
    assert made("manage_index", action="create", path=".", wait=60).facts["status"] == "ok"
    made("memory_commit", operations=[{"op": "set", "id": "note:a", "value": {"n": 1}}])
    yield made
    made.context.close()


@pytest.mark.shows("MCP-REFUSALS-HELP")
@pytest.mark.parametrize(("tool", "arguments", "helps"), REFUSALS)
def test_a_refusal_ends_with_a_call_that_works(
    settled: Agent, tool: str, arguments: dict[str, Any], helps: str
) -> None:
    refused = settled(tool, **arguments)
    assert refused.facts.get("continue", {}).get("tool") == helps, refused.text
    followed = settled.next(refused)
    assert not followed.failed, followed.text
    assert followed.text != refused.text


@pytest.mark.shows("MCP-REFUSALS-HELP")
def test_several_trees_of_which_one_is_not_indexed_say_so(settled: Agent) -> None:
    other = settled.home.parent / "other"
    other.mkdir()
    (settled.home / "settings.toml").write_text(f'[workspace]\nallow = ["{other}"]\n')
    found = settled("search_code", query="alpha", path=[".", str(other)])
    assert "cart.py" in found.text
    assert f"['{other}' is not indexed" in found.text


@pytest.mark.shows("ANSWER-SIMILAR")
def test_code_like_lines_or_a_snippet_can_be_asked_for(settled: Agent) -> None:
    """Only the command line could; and the call for the next page was one that is refused."""
    for asked in ({"similar": "lib/two.py:1-2"}, {"snippet": "class A:\n    def run(self): ..."}):
        found = settled("search_code", limit=1, resultMode="raw", **asked)
        assert found.facts["results"][0]["file"] == "lib/two.py"
    neither = settled("search_code")
    assert neither.failed
    assert "the query is empty" in neither.text


@pytest.mark.shows("ANSWER-SIMILAR", "ANSWER-NEXT")
def test_the_next_page_of_code_like_this_is_a_call_that_works(settled: Agent) -> None:
    sample = "def alpha():\n    return beta()\n\ndef beta(): ..."
    first = settled("search_code", snippet=sample, limit=1)
    assert "query" not in first.facts["continue"]["args"]
    assert settled.next(first).facts["counts"]["from"] == 2


@pytest.mark.shows("ANSWER-SPAN")
def test_matches_are_told_by_line_and_counted(settled: Agent) -> None:
    found = settled("search_code", query=r"re:return\s+beta")
    assert "cart.py:2: return beta()  (alpha)" in found.text.split("\n")
    assert "[1 matching line in 1 file]" in found.text


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search_code", {"query": "alpha", "path": "nowhere"}),
        ("call_graph", {"symbol": "alpha", "file": "nowhere.py"}),
        ("file_outline", {"file": "nowhere.py"}),
        ("read", {"path": "nowhere.py"}),
    ],
)
def test_a_path_that_does_not_exist_is_an_error_and_the_hint_is_short(
    settled: Agent, tool: str, arguments: dict[str, str]
) -> None:
    """search_code and call_graph answered as if all was well; hints had the path of the root."""
    found = settled(tool, **arguments)
    assert found.failed
    assert str(settled.caller.cwd) not in found.text.split("\n")[-1]


def test_a_symbol_that_does_not_exist_is_not_an_error(settled: Agent) -> None:
    found = settled("call_graph", symbol="zzyzx")
    assert not found.failed
    assert found.text.endswith('[find it by words: search_code(query="zzyzx")]')


def test_pi_gets_the_words_that_its_own_read_has(settled: Agent) -> None:
    call = ToolCall(settled.context, settled.caller, {}, {"holdfast/leaf": "0123"})
    refused = run_tool(TOOLS["read"], call, {"path": "crat.py"})
    assert refused.text.startswith("ENOENT: no such file or directory, access")
    assert "\n" not in refused.text


@pytest.mark.shows("SEQ-MCP-SINCE")
def test_clones_since_a_revision_are_those_that_a_change_made(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    block = "".join(f"value_{n} = compute({n}, other={n})\n" for n in range(12))

    def git(*words: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", "-C", str(tree), *identity, *words], check=True)

    git("init", "-q")
    for name in "ab":
        (tree / f"{name}.py").write_text(block)
    git("add", "-A")
    git("commit", "-q", "-m", "one")
    agent = Agent(tmp_path / "home", tree)
    try:
        assert len(agent("clones", min_tokens=20).facts["groups"]) == 1
        assert agent("clones", min_tokens=20, since="HEAD").facts["groups"] == []
        (tree / "c.py").write_text(block)
        (group,) = agent("clones", min_tokens=20, since="HEAD").facts["groups"]
        assert group["count"] == 3
        refused = agent("clones", since="no-such")
        assert refused.failed
        assert "'no-such' is not a revision" in refused.text
        assert agent.next(refused).facts["status"] == "ok"
    finally:
        agent.context.close()


@pytest.mark.shows("SEQ-EXPLAIN")
def test_a_match_is_explained_when_the_caller_asks_for_it(settled: Agent) -> None:
    plain = settled("locate", snippet="def alpha")
    assert "explanation" not in plain.facts
    explained = settled("locate", snippet="def alpha", explain=True)
    (first, *_) = explained.facts["explanation"]["containers"]
    assert first["end"] - first["start"] == explained.facts["matched"] == 2
    assert explained.text.startswith(plain.text.splitlines()[0])
    assert "smallest vertices that contain the match:" in explained.text


@pytest.mark.shows("SEQ-CANCEL")
def test_a_locate_that_was_cancelled_ends_between_parts(settled: Agent) -> None:
    snippet = "alpha ( ) zz return " * 200
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked > 20

    call = ToolCall(settled.context, settled.caller, {}, cancelled=cancelled)
    answer = run_tool(TOOLS["locate"], call, {"snippet": snippet})
    assert answer.failed
    assert answer.text == "the call was cancelled"
    assert asked == 21


@pytest.mark.shows("MCP-REFUSALS-HELP")
def test_the_call_that_helps_is_short_however_long_the_question_was(settled: Agent) -> None:
    found = settled("search_code", query="sym:" + "x" * 50_000)
    assert len(found.text) < 1_000
    assert found.facts["continue"]["tool"] == "search_code"
    refused = settled("read", path="y" * 200 + ".py")
    assert len(refused.text.splitlines()[-1]) < 400


def test_the_tools_speak_of_arguments_and_not_of_options(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    for n in range(12):
        body = "".join(f"value_{k} = compute({k}, other={k})\n" for k in range(20))
        tail = f'def f{n}():\n    """{"long " * 40}\n    {n}"""\n'
        (tree / f"m{n}.py").write_text(f"{body}\n{tail}")
    agent = Agent(tmp_path / "home", tree)
    try:
        clones = agent("clones", min_tokens=10, limit=1).text
        located = agent("locate", snippet="value_0 = compute(", copies=2).text
        differs = agent("locate", snippet="def f3(): pass").text
    finally:
        agent.context.close()
    assert "--" not in clones + located
    assert "(copies=N lists more)" in located
    shown = next(line for line in differs.splitlines() if "the tree has" in line)
    assert shown.endswith("…` at m3.py:23")
    assert len(shown) < 120


@pytest.mark.shows("ISS-INDEX-STABILITY-CREATE-HINT")
def test_a_create_that_repairs_says_why_it_was_needed(
    agent: Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer of a finished create had the note and not the hint with the reason."""
    tree = tmp_path / "tree"
    (tree / "cart.py").write_text("def alpha():\n    return 1\n")
    assert agent("manage_index", action="create", path=str(tree)).facts["status"] == "ok"
    backend = agent.context.index.backend
    read, lost = backend.read_marker, [True]
    monkeypatch.setattr(
        backend, "read_marker", lambda root: None if lost and lost.pop() else read(root)
    )
    answer = agent("manage_index", action="create", path=str(tree))
    assert answer.facts["status"] == "ok"
    assert "treating as not_indexed for create" in answer.text
    assert answer.facts["hints"]["staleLocal"] == {
        "completionProof": "missing_marker_doc",
        "recommendedAction": {
            "tool": "manage_index",
            "args": {"action": "create", "path": str(tree)},
        },
    }


@pytest.mark.shows("INDEX-NAMING")
def test_one_name_means_one_symbol_wherever_it_is_used(agent: Agent, tmp_path: Path) -> None:
    """`shop.Cart.total` was found by call_graph, and not by file_outline or by sym:."""
    (tmp_path / "tree" / "shop.py").write_text(
        "class Cart:\n    def total(self):\n        return price()\n\n\ndef price(): ...\n"
    )
    agent("manage_index", action="create", path=".")
    for name in ("total", "Cart.total", "shop.Cart.total"):
        found = agent("search_code", query=f"sym:{name}").facts["results"]
        assert [one["symbolLabel"] for one in found] == ["Cart.total"], name
        outline = agent("file_outline", file="shop.py", symbolLabelExact=name).facts["outline"]
        assert [one["symbolLabel"] for one in outline["symbols"]] == ["Cart.total"], name
        ref = {"file": "shop.py", "symbolLabel": name}
        calls = agent("call_graph", symbolRef=ref, direction="callees")
        assert calls.text == "shop.py:2-3  Cart.total\ncalls:\n  :3  price (6)", name


def test_without_a_limit_as_many_results_come_as_the_description_says(
    agent: Agent, tmp_path: Path
) -> None:
    """The description said five; ten came."""
    for number in range(60):
        (tmp_path / "tree" / f"egg{number}.py").write_text(
            f"def boil_egg_{number}(): return {number}\n"
        )
    agent("manage_index", action="create")
    limit = TOOLS["search_code"].input["properties"]["limit"]["description"]
    asked = agent("search_code", query="how is an egg boiled").facts["results"]
    lines = agent("search_code", query="re:boil_egg").facts["results"]
    assert limit == f"maximum number of results ({len(asked)}; re: and files {len(lines)})"
    more = agent("search_code", query="re:boil_egg", budget=9000).facts["results"]
    assert len(more) == len(lines), "a larger budget never shows less"


def test_a_status_is_for_readers_and_its_facts_are_for_programs(agent: Agent) -> None:
    """It printed fingerprints, which only a program compares."""
    agent("manage_index", action="create")
    status = agent("manage_index", action="status")
    assert "ready for search" in status.text
    assert "fingerprint" not in status.text.lower()
    assert "ingerprint" in status.facts["humanText"]


@pytest.mark.shows("MCP-CALLS-BY-NAME")
def test_a_name_alone_is_answered_for_every_symbol_that_has_it(
    agent: Agent, tmp_path: Path
) -> None:
    """`call_graph` demanded a file, and a name that two symbols share was refused."""
    tree = tmp_path / "tree"
    (tree / "shop.py").write_text(
        "class Cart:\n    def total(self):\n        return price()\n\n\ndef price(): ...\n"
    )
    (tree / "bill.py").write_text(
        "class Bill:\n    def total(self):\n        return tax()\n\n\ndef tax(): ...\n"
    )
    agent("manage_index", action="create")
    both = agent("call_graph", symbol="total", direction="callees")
    assert "shop.py:2-3  Cart.total\ncalls:\n  :3  price (6)" in both.text
    assert "bill.py:2-3  Bill.total\ncalls:\n  :3  tax (6)" in both.text
    assert "2 symbols named total" in both.text
    one = agent("call_graph", symbol="Cart.total", direction="callees")
    assert "Bill" not in one.text
    places = agent("file_outline", symbol="total").text
    assert "shop.py:2-3  Cart.total" in places
    assert "bill.py:2-3  Bill.total" in places
    for tool in ("call_graph", "file_outline"):
        mistyped = agent(tool, symbol="totel_price")
        assert mistyped.facts["status"] == "not_found"
        assert "similar names: " in mistyped.text
        assert mistyped.facts["continue"]["tool"] == "search_code"


@pytest.mark.shows("MCP-READ-SYMBOL")
def test_a_symbol_after_the_path_reads_its_lines(agent: Agent, tmp_path: Path) -> None:
    """Every other tool takes file:symbol, so a model tries it here too; it was refused."""
    text = "class Cart:\n    def total(self):\n        return 1\n\n\ndef total():\n    return 2\n"
    (tmp_path / "tree" / "cart.py").write_text(text)
    before = agent("read", path="cart.py:Cart.total")
    assert before.failed
    assert "is not indexed" in before.text
    agent("manage_index", action="create")
    found = agent("read", path="cart.py:Cart.total")
    assert not found.failed
    assert found.text.startswith("    def total(self):\n        return 1\n\n[")
    assert found.text == agent("read", path="cart.py:2-3").text
    missing = agent("read", path="cart.py:Cart.sum")
    assert missing.failed
    assert "Cart.sum" in missing.text
    assert not agent("read", path="cart.py:2").failed


@pytest.mark.shows("MCP-READ-SYMBOL")
def test_a_symbol_that_is_there_twice_is_named_with_its_lines(agent: Agent, tmp_path: Path) -> None:
    text = "def pay():\n    return 1\n\n\ndef pay():\n    return 2\n"
    (tmp_path / "tree" / "pay.py").write_text(text)
    agent("manage_index", action="create")
    twice = agent("read", path="pay.py:pay")
    assert twice.failed
    assert "pay.py has 2 symbols pay: lines 1-2, 5-6" in twice.text
    odd = tmp_path / "tree" / "a:b"
    odd.write_text("its name has a colon\n")
    assert agent("read", path="a:b").text.startswith("its name has a colon")


@pytest.mark.shows("MCP-NAMES")
@pytest.mark.parametrize("typed", ["get_crt", "CertStore.gt_cert", "Store.get_cret", "gte_cert"])
def test_a_misspelled_name_is_answered_with_the_one_that_is_spelled_like_it(
    agent: Agent, tmp_path: Path, typed: str
) -> None:
    """The names were in the order of a search by words, the right one fourth of five."""
    others = "".join(f"def measure_{word}():\n    pass\n\n\n" for word in ("a", "certs", "store"))
    text = f"{others}class CertStore:\n    def get_cert(self):\n        pass\n"
    (tmp_path / "tree" / "certs.py").write_text(text)
    agent("manage_index", action="create")
    for tool in ("call_graph", "references", "explore", "file_outline"):
        found = agent(tool, symbol=typed)
        assert "similar names: CertStore.get_cert" in found.text, (tool, found.text)
