"""Settings files are edited at one place; the twin is the json module and the bytes around."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agents import jsonfile
from holdfast.agents.errors import BadSettingsFile

SERVER = {"command": "holdfast", "args": ["mcp"]}
PATH = ("mcpServers", "holdfast")

TEXTS = [
    "{}",
    "{ }",
    "{\n}",
    "{\n}\n",
    '{"a": 1}',
    '{"a": 1, "mcpServers": {}}',
    '{\n  "a": 1\n}\n',
    '{\n\t"a": [1, 2],\n\t"mcpServers": {\n\t\t"other": {"command": "x"}\n\t}\n}\n',
    '{\n    "mcpServers": {\n    },\n    "z": null\n}',
    '// mine\n{\n  // keep this\n  "a": 1, // and this\n  /* all */ "b": [\n  ],\n}\n',
    '{\r\n  "a": "ü \\u00fc // no comment"\r\n}\r\n',
    '{ "mcpServers": { "other": { "command": "x" } } }',
    '{\n  "a": 1,\n  "b": 2 // about b\n}\n',
    '{\n  "mcpServers": {\n    "x": {} /* mine, all mine */\n  }\n}\n',
    '{\r\n  "a": 1 // CRLF\r\n}\r\n',
    '{\r\n  "mcpServers": {}\r\n}\r\n',
    '{\n  "mcpServers": {\n    // none yet\n  }\n}\n',
]


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_put_can_be_taken_out_to_the_byte(text: str) -> None:
    before = jsonfile.loads(text)
    put = jsonfile.put(text, PATH, SERVER)
    after = jsonfile.loads(put)
    assert after["mcpServers"]["holdfast"] == SERVER
    del after["mcpServers"]["holdfast"]
    if "mcpServers" not in before:
        assert after.pop("mcpServers") == {}
    assert after == before
    made = PATH if "mcpServers" in before else PATH[:1]
    # White space in an empty object is not kept.
    kept = re.sub(r"\{\s*\}", "{}", text)
    assert re.sub(r"\{\s*\}", "{}", jsonfile.remove(put, made)) == kept
    if kept == text:
        assert jsonfile.remove(put, made) == text


@pytest.mark.parametrize("text", TEXTS)
def test_putting_twice_is_putting_once(text: str) -> None:
    once = jsonfile.put(text, PATH, SERVER)
    assert jsonfile.put(once, PATH, SERVER) == once


def test_nothing_at_all_becomes_a_file() -> None:
    assert json.loads(jsonfile.put("", PATH, SERVER)) == {"mcpServers": {"holdfast": SERVER}}


def test_an_insertion_looks_like_its_neighbours() -> None:
    text = '{\n    "mcpServers": {\n        "other": {"command": "x"}\n    }\n}\n'
    assert jsonfile.put(text, PATH, {"command": "y"}) == (
        '{\n    "mcpServers": {\n        "other": {"command": "x"},\n'
        '        "holdfast": {\n            "command": "y"\n        }\n    }\n}\n'
    )


def test_comments_and_order_stay() -> None:
    text = '{\n  // first\n  "b": 1,\n  "a": 2 // last\n}\n'
    put = jsonfile.put(text, ("mcp", "holdfast"), True)
    assert put.startswith('{\n  // first\n  "b": 1,\n  "a": 2, // last\n  "mcp"')
    assert jsonfile.loads(put) == {"b": 1, "a": 2, "mcp": {"holdfast": True}}


def ours(item: Any) -> bool:
    return isinstance(item, dict) and item.get("command") == "holdfast hook"


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{\n  "hooks": {\n    "SessionStart": []\n  }\n}\n',
        '{\n "hooks": {\n  "SessionStart": [\n   {\n    "command": "x"\n   }\n  ]\n }\n}\n',
        '{"hooks": {"SessionStart": [{"command": "x"}, {"command": "y"}]}}',
    ],
)
def test_an_item_is_appended_and_taken_out_again(text: str) -> None:
    path = ("hooks", "SessionStart")
    item = {"command": "holdfast hook"}
    put = jsonfile.append(text, path, item)
    assert jsonfile.loads(put)["hooks"]["SessionStart"][-1] == item
    left = jsonfile.remove_items(put, path, ours)
    if jsonfile.loads(text):
        assert left == text
    else:
        assert jsonfile.loads(left) == {"hooks": {"SessionStart": []}}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[1]", "the file must be an object"),
        ('{"mcpServers": 3}', "mcpServers must be an object"),
        ('{"a": }', "line 1"),
        ('{\n"a": 1\n"b": 2}', "line 3: a comma or } is expected"),
        ('{"a": "b', "a string does not end"),
        ("{} x", "something stands after the end"),
        ("/* x", "a comment does not end"),
        ("[" * 300, "nested too deeply"),
    ],
)
def test_a_file_that_cannot_be_understood_is_not_touched(text: str, what: str) -> None:
    with pytest.raises(BadSettingsFile, match=what.replace("[", r"\[")):
        jsonfile.put(text, PATH, SERVER, "settings.json")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(st.sampled_from("abc"), values, max_size=3),
    st.sampled_from([None, 1, 2, "\t"]),
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=3).map(tuple),
    values,
)
def test_put_and_remove_do_what_dictionaries_do(
    document: dict[str, Any], indent: int | str | None, path: tuple[str, ...], value: Any
) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    twin = json.loads(text)
    place = twin
    for key in path[:-1]:
        place = place.setdefault(key, {}) if isinstance(place, dict) else None
    if not isinstance(place, dict):
        with pytest.raises(BadSettingsFile):
            jsonfile.put(text, path, value)
        return
    place[path[-1]] = value
    put = jsonfile.put(text, path, value)
    assert json.loads(put) == twin
    del place[path[-1]]
    assert json.loads(jsonfile.remove(put, path)) == twin


@given(values)
def test_scanning_reads_what_json_reads(value: Any) -> None:
    text = json.dumps(value)
    if value != "":
        assert jsonfile.loads(text) == value


def test_lines_end_as_they_do_in_the_file() -> None:
    put = jsonfile.put('{\r\n  "a": 1\r\n}\r\n', PATH, SERVER)
    assert put.count("\n") == put.count("\r\n")


def test_lines_end_as_they_do_in_the_file_also_where_something_was_replaced() -> None:
    """An entry of ours that was replaced got bare newlines in a file of carriage returns."""
    older = jsonfile.put('{\r\n  "a": 1\r\n}\r\n', PATH, {"command": "older", "args": []})
    newer = jsonfile.put(older, PATH, SERVER)
    assert jsonfile.loads(newer) == {"a": 1, **jsonfile.loads(jsonfile.put("", PATH, SERVER))}
    assert newer.count("\n") == newer.count("\r\n")
