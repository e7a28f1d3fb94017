"""Applying edits: the table of each kind, and a twin that copies everything."""

import copy
import json
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from holdfast.store import patch, pointer
from holdfast.store.errors import PatchError
from tests.scale import examples
from tests.store.test_admission import edits, payloads

CASES: list[tuple[str, Any, list[dict[str, Any]], Any]] = [
    ("replace writes a member", {"a": 1}, [{"op": "replace", "path": "/a", "value": 2}], {"a": 2}),
    (
        "replace makes a member",
        {"a": {}},
        [{"op": "replace", "path": "/a/b", "value": 1}],
        {"a": {"b": 1}},
    ),
    (
        "replace takes the root",
        {"a": 1},
        [{"op": "replace", "path": "", "value": {"b": 2}}],
        {"b": 2},
    ),
    ("add makes objects", {}, [{"op": "add", "path": "/p/n", "value": 1}], {"p": {"n": 1}}),
    ("add makes a list for -", {}, [{"op": "add", "path": "/l/-", "value": 1}], {"l": [1]}),
    ("add makes a list for 0", {}, [{"op": "add", "path": "/l/0", "value": 1}], {"l": [1]}),
    ("add inserts", {"l": [1, 3]}, [{"op": "add", "path": "/l/1", "value": 2}], {"l": [1, 2, 3]}),
    (
        "add at the end by index",
        {"l": [1]},
        [{"op": "add", "path": "/l/1", "value": 2}],
        {"l": [1, 2]},
    ),
    ("remove shifts the tail", {"l": [1, 2, 3]}, [{"op": "remove", "path": "/l/1"}], {"l": [1, 3]}),
    (
        "move resolves after removal",
        {"l": ["a", "b", "c"]},
        [{"op": "move", "from": "/l/0", "path": "/l/2"}],
        {"l": ["b", "c", "a"]},
    ),
    (
        "move onto itself",
        {"a": 1, "b": 2},
        [{"op": "move", "from": "/a", "path": "/a"}],
        {"b": 2, "a": 1},
    ),
    (
        "splice past the end",
        {"l": [1, 2]},
        [{"op": "splice", "path": "/l", "index": 1, "remove": 99, "add": [3]}],
        {"l": [1, 3]},
    ),
    (
        "splice with whole doubles",
        {"l": [1, 2]},
        [{"op": "splice", "path": "/l", "index": 1.0, "remove": 1.0, "add": []}],
        {"l": [1]},
    ),
    (
        "append makes the list",
        {},
        [{"op": "append", "path": "/l", "values": [1, 2]}],
        {"l": [1, 2]},
    ),
    (
        "add-unique by content",
        {"l": [{"i": 1}]},
        [{"op": "add-unique", "path": "/l", "values": [{"i": 1}, 2, 2]}],
        {"l": [{"i": 1}, 2]},
    ),
    (
        "add-unique keeps true and 1 apart",
        {"l": [1]},
        [{"op": "add-unique", "path": "/l", "values": [True]}],
        {"l": [1, True]},
    ),
    (
        "remove-by-value takes all",
        {"l": [1, 2, 1.0]},
        [{"op": "remove-by-value", "path": "/l", "value": 1}],
        {"l": [2]},
    ),
    (
        "remove-by-value of nothing",
        {"a": 1},
        [{"op": "remove-by-value", "path": "/l", "value": 1}],
        {"a": 1},
    ),
    ("increment counts", {"n": 1}, [{"op": "increment", "path": "/n", "by": -3}], {"n": -2}),
    ("increment starts a counter", {}, [{"op": "increment", "path": "/n", "by": 2}], {"n": 2}),
    (
        "escapes",
        {"a/b": {"m~n": 1}},
        [{"op": "replace", "path": "/a~1b/m~0n", "value": 2}],
        {"a/b": {"m~n": 2}},
    ),
    ("the empty name", {"": 1}, [{"op": "replace", "path": "/", "value": 2}], {"": 2}),
]

REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    ({"a": 1}, {"op": "replace", "path": "/b/c", "value": 1}, "missing path /b/c"),
    ({"a": 1}, {"op": "replace", "path": "/a/c", "value": 1}, "path is not traversable at /a/c"),
    ({"l": [1]}, {"op": "replace", "path": "/l/1", "value": 1}, "array index out of bounds: 1"),
    ({"l": [1]}, {"op": "replace", "path": "/l/-", "value": 1}, "invalid array index: -"),
    ({"l": [1]}, {"op": "replace", "path": "/l/01", "value": 1}, "invalid array index: 01"),
    ({"l": [1]}, {"op": "add", "path": "/l/5", "value": 1}, "array index out of bounds: 5"),
    ({"l": [{}]}, {"op": "add", "path": "/l/1/x", "value": 1}, "missing path /l/1/x"),
    ({"l": [1]}, {"op": "remove", "path": "/l/1"}, "array index out of bounds: 1"),
    ({"a": 1}, {"op": "remove", "path": "/b"}, "missing object key at /b"),
    ({"a": 1}, {"op": "remove", "path": ""}, "root remove must be represented as a delete"),
    ({"a": 1}, {"op": "move", "from": "", "path": "/b"}, "cannot move the root value"),
    ({"a": {}}, {"op": "move", "from": "/a", "path": "/a/b/c"}, "its own descendant"),
    (
        {"l": []},
        {"op": "splice", "path": "/l", "index": -1, "remove": 0, "add": []},
        "invalid splice",
    ),
    (
        {"l": []},
        {"op": "splice", "path": "/l", "index": 0, "remove": True, "add": []},
        "invalid splice",
    ),
    (
        {"l": []},
        {"op": "splice", "path": "/l", "index": 0, "remove": 0, "add": "x"},
        "a list of add",
    ),
    ({"l": {}}, {"op": "append", "path": "/l", "values": []}, "append target is not an array"),
    ({"l": 1}, {"op": "remove-by-value", "path": "/l", "value": 1}, "target is not an array"),
    ({"n": "1"}, {"op": "increment", "path": "/n", "by": 1}, "target is not a number"),
    ({"n": True}, {"op": "increment", "path": "/n", "by": 1}, "target is not a number"),
    ({"n": 1}, {"op": "increment", "path": "/n", "by": 10**400}, "finite non-zero amount"),
    ({"n": 2**53 - 1}, {"op": "increment", "path": "/n", "by": 1}, "leaves the range"),
    ({"a": 1}, {"op": "test", "path": "/a"}, "unknown patch operation: test"),
    ({"a": 1}, {"op": "replace", "path": "a", "value": 1}, "invalid JSON pointer: a"),
    ({"a": 1}, {"op": "replace", "path": 7, "value": 1}, "invalid JSON pointer"),
    ({"a": 1}, {"op": "replace", "path": "/a"}, "requires value"),
    ({"a": 1}, "replace", "unknown patch operation"),  # type: ignore[list-item]
]


@pytest.mark.shows("T11", "T12", "T13", "PATCH-KINDS", "PATCH-MERGEABLE")
@pytest.mark.parametrize(("why", "before", "operations", "after"), CASES, ids=[c[0] for c in CASES])
def test_an_edit(why: str, before: Any, operations: list[dict[str, Any]], after: Any) -> None:
    untouched = copy.deepcopy(before)
    result = patch.apply(before, operations)
    assert json.dumps(result, sort_keys=True) == json.dumps(after, sort_keys=True)
    assert before == untouched


@pytest.mark.shows("T14", "T15", "T16", "PATCH-REFUSED")
@pytest.mark.parametrize(("before", "operation", "message"), REFUSED)
def test_an_edit_that_cannot_be_made_says_why(
    before: Any, operation: dict[str, Any], message: str
) -> None:
    untouched = copy.deepcopy(before)
    with pytest.raises(PatchError) as refused:
        patch.apply(before, [operation])
    assert message in str(refused.value)
    assert before == untouched


@pytest.mark.shows("T9", "T10")
def test_pointers_and_paths() -> None:
    assert pointer.parse("/a~1b/m~0n") == ("a/b", "m~n")
    assert pointer.encode(("a/b", "m~n")) == "/a~1b/m~0n"
    assert pointer.parent(()) == ()
    assert pointer.overlap(("a",), ("a", "0"))
    assert not pointer.overlap(("a", "0"), ("a", "1"))


@given(st.lists(st.text(max_size=4), max_size=5))
def test_every_path_survives_its_pointer(tokens: list[str]) -> None:
    assert pointer.parse(pointer.encode(tokens)) == tuple(tokens)


@pytest.mark.shows("PATCH-PURE")
@given(before=payloads, operations=st.lists(edits, max_size=5))
@settings(max_examples=examples(400), deadline=None)
def test_sharing_what_is_unchanged_is_invisible(
    before: Any, operations: list[dict[str, Any]]
) -> None:
    """The twin copies everything before every step; the result and the input must not differ."""
    document = {"value": before}
    untouched = copy.deepcopy(document)

    def step_by_step() -> Any:
        state: Any = copy.deepcopy(document)
        for operation in operations:
            state = patch.apply(copy.deepcopy(state), [copy.deepcopy(operation)])
        return state

    expected, refusal = None, ""
    try:
        expected = step_by_step()
    except PatchError as error:
        refusal = str(error)
    if refusal:
        with pytest.raises(PatchError) as refused:
            patch.apply(document, operations)
        assert str(refused.value) == refusal
    else:
        assert patch.apply(document, operations) == expected
        assert patch.fold(document, [[op] for op in operations]) == expected
    assert document == untouched
