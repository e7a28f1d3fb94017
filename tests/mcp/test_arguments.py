"""Arguments are checked by a few words of our own; the judge of JSON Schema is their twin."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from holdfast.mcp.tool import BadArguments, faults_of, snake_case
from holdfast.mcp.tools import TOOLS
from holdfast.mcp.tools.search import paths_of

LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 60), st.floats(-2, 60, allow_nan=False),
    st.sampled_from(["", "a", "set", "create", "runtime", "source", "callers", "x" * 90]),
)  # fmt: skip
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["op", "id", "value", "file", "seq", "z"]), inner),
    ),
    max_leaves=6,
)


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    name = draw(st.sampled_from(sorted(TOOLS)))
    known = [*TOOLS[name].input["properties"], "unknown"]
    arguments = draw(st.dictionaries(st.sampled_from(known), VALUES, max_size=4))
    for required in TOOLS[name].input["required"]:
        if draw(st.booleans()):
            arguments.setdefault(required, draw(VALUES))
    return name, arguments


@pytest.mark.shows("MCP-CHECK")
@given(calls())
def test_our_check_and_the_judge_of_json_schema_agree(made: tuple[str, dict[str, Any]]) -> None:
    name, arguments = made
    tool = TOOLS[name]
    judged = Draft202012Validator(tool.input).is_valid(arguments)
    assert (faults_of(arguments, tool.input, "") == []) is judged


def test_null_is_the_same_as_absent_and_defaults_are_filled_in() -> None:
    search = TOOLS["search_code"]
    checked = search.checked({"query": "x", "limit": None})
    assert "limit" not in checked  # it depends on the query
    assert checked["path"] == "."
    with pytest.raises(BadArguments) as wrong:
        search.checked({"query": "", "limit": 99, "scope": "all", "extra": 1})
    assert len(wrong.value.faults) == 4
    assert "query must not be empty" in str(wrong.value)


@pytest.mark.shows("MCP-CHECK")
def test_a_wrong_call_is_told_how_to_call() -> None:
    with pytest.raises(BadArguments) as wrong:
        TOOLS["call_graph"].checked({"line": 3, "name": "f"})
    assert str(wrong.value).count("known:") == 1
    assert "'line', 'name'" in str(wrong.value)
    assert (
        "call_graph(symbol?: string, file?: string, path?: string, "
        "direction?: 'callers'|'callees'|'both', " in wrong.value.hint
    )


@pytest.mark.shows("MCP-ARGUMENT-NAMES")
def test_old_spellings_of_arguments_are_accepted() -> None:
    search = TOOLS["search_code"].checked({"query": "a", "groupBy": "file", "resultMode": "raw"})
    assert (search["group_by"], search["result_mode"]) == ("file", "raw")
    outline = TOOLS["file_outline"].checked({"file": "a", "symbolLabelExact": "f"})
    assert outline["symbol_label_exact"] == "f"
    calls = TOOLS["call_graph"].checked({"symbolRef": {"file": "a.py", "symbolId": "sym_1"}})
    assert calls["symbol_ref"] == {"file": "a.py", "symbolId": "sym_1"}


@pytest.mark.shows("MCP-ARGUMENT-NAMES")
def test_listed_arguments_are_in_snake_case() -> None:
    names = {name for tool in TOOLS.values() for name in tool.input["properties"]}
    assert {name for name in names if name != snake_case(name)} == set()


@pytest.mark.long
@pytest.mark.shows("MCP-BENCH")
def test_the_tools_can_be_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bench import mcp, timing

    monkeypatch.setattr(timing, "OUT", tmp_path / "out")
    timing.report("mcp", mcp.measure(tmp_path / "home", rounds=1, calls=3))
    assert "overhead per call" in (tmp_path / "out" / "mcp.json").read_text()


def test_a_path_is_a_text_or_several_and_nothing_else() -> None:
    search = TOOLS["search_code"]
    assert search.checked({"query": "x", "path": ["a", "b"]})["path"] == ["a", "b"]
    for wrong in (3, ["a", 3]):
        with pytest.raises(BadArguments) as refused:
            search.checked({"query": "x", "path": wrong})
        assert "path" in str(refused.value)
        assert "path?: string" in refused.value.hint
    with pytest.raises(BadArguments, match="path must be a string or an array"):
        search.checked({"query": "x", "path": 3})


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src", ["src"]),
        (["a", "b"], ["a", "b"]),
        ('["a", "b"]', ["a", "b"]),
        ("[a]", ["[a]"]),
        ("[1]", ["[1]"]),
        ("[]", ["[]"]),
        ("[" * 100_000, ["[" * 100_000]),
    ],
)
def test_several_trees_may_be_sent_as_text(path: str | list[str], expected: list[str]) -> None:
    """The schema lists one type, and some clients send nothing that does not fit it."""
    assert paths_of(path) == expected


def test_every_argument_has_one_type() -> None:
    """Gemini prints a warning about each union, every time, and about `anyOf` too."""
    for tool in TOOLS.values():
        for name, schema in tool.input["properties"].items():
            assert isinstance(schema.get("type"), str), f"{tool.name}({name})"
