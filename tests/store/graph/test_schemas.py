"""Schema rules, one row each: which of the links in a value does a schema follow."""

import json
from typing import Any

import pytest

from holdfast.store.errors import QueryError
from holdfast.store.graph import GraphLimits, query_graph
from holdfast.store.graph.schemas import FALSE, TRUE, combine, schema_of
from tests.store.graph.world import World, link, query


def reached(value: Any, schema: Any, path: tuple[str, ...] = ()) -> str:
    """The letters of the documents reached below `of:root`.

    There is a document for every letter, with the value 1; upper-case ones hold
    `{"x": link to x, "y": link to y}` with x and y the lower-case letter and the one after it.
    """
    world = World()
    documents: dict[str, Any] = {f"of:{letter}": {"value": 1} for letter in "abcdefgh"}
    for letter in "ACEG":
        low = letter.lower()
        both = {"x": link(f"of:{low}"), "y": link(f"of:{chr(ord(low) + 1)}")}
        documents[f"of:{letter}"] = {"value": both}
    world.commit({"of:root": {"value": value}, **documents})
    found = query_graph(world.at(), query("of:root", path=path, schema=schema))
    ids = [entity["id"].removeprefix("of:") for entity in found]
    return "".join(entity for entity in ids if entity != "root")


A, B, C = link("of:a"), link("of:b"), link("of:c")
OBJECT = {"a": A, "b": B, "c": C}
DEEP = {"a": {"x": A, "y": B}, "c": C}
ARRAY = [A, B, C]
X = {"type": "object", "properties": {"x": True}}
RECURSIVE = {"$defs": {"n": {"properties": {"a": True, "n": {"$ref": "#/$defs/n"}}}}}

RULES: list[tuple[str, str, Any, Any, str]] = [
    # accept all, and stop
    ("TRAV-TRUE", "true walks everything", DEEP, True, "abc"),
    ("TRAV-TRUE", "so does an empty object", DEEP, {}, "abc"),
    ("TRAV-TRUE", "and annotations alone", DEEP,
     {"default": 1, "$defs": {}, "ifc": {}, "asCell": True, "asStream": True}, "abc"),
    ("TRAV-TRUE", "links are followed recursively", [link("of:A")], True, "Aab"),
    ("TRAV-FALSE", "false stops", DEEP, False, ""),
    ("TRAV-FALSE", "not true is false", DEEP, {"not": True}, ""),
    ("TRAV-FALSE", "not accept-all is false", DEEP, {"not": {}, "properties": {"a": True}}, ""),
    ("TRAV-FALSE", "another not says nothing", DEEP, {"not": {"type": "string"}}, "abc"),
    ("TRAV-FALSE", "no schema is false", DEEP, None, ""),
    # children of objects
    ("TRAV-CHILD", "a declared property has its schema", DEEP, {"properties": {"a": X}}, "a"),
    ("TRAV-CHILD", "an undeclared one is kept raw", DEEP, {"properties": {"c": True}}, "c"),
    ("TRAV-CHILD", "properties may be empty", DEEP, {"properties": {}}, ""),
    ("TRAV-CHILD", "additionalProperties is for the rest", DEEP,
     {"properties": {"c": False}, "additionalProperties": X}, "a"),
    ("TRAV-CHILD", "additionalProperties alone", DEEP, {"additionalProperties": X}, "ac"),
    ("TRAV-CHILD", "additionalProperties false", DEEP,
     {"properties": {"c": True}, "additionalProperties": False}, "c"),
    ("TRAV-CHILD", "no properties declared is true", DEEP, {"type": "object"}, "abc"),
    # arrays
    ("TRAV-ITEM", "items", [{"x": A, "y": B}], {"items": X}, "a"),
    ("TRAV-ITEM", "prefixItems come first", ARRAY, {"prefixItems": [False], "items": True}, "bc"),
    ("TRAV-ITEM", "prefixItems without items", ARRAY, {"prefixItems": [False, False]}, "c"),
    ("TRAV-ITEM", "neither is true", ARRAY, {"type": "array"}, "abc"),
    ("TRAV-ITEM", "items false", ARRAY, {"items": False}, ""),
    # types
    ("TRAV-TYPE", "the wrong type stops", OBJECT, {"type": "array"}, ""),
    ("TRAV-TYPE", "and the other way round", ARRAY, {"type": "object"}, ""),
    ("TRAV-TYPE", "a scalar type stops at an object", OBJECT, {"type": "string"}, ""),
    ("TRAV-TYPE", "an unheard-of type stops", OBJECT, {"type": "made-up"}, ""),
    ("TRAV-TYPE", "one of several types", OBJECT, {"type": ["null", "object"]}, "abc"),
    ("TRAV-TYPE", "none of several", OBJECT, {"type": ["null", "array"]}, ""),
    ("TRAV-TYPE", "unknown matches and is not walked", OBJECT, {"type": "unknown"}, ""),
    ("TRAV-TYPE", "a target is reached before its type is looked at", [link("of:A")],
     {"items": {"type": "array"}}, "A"),
    ("TRAV-TYPE", "properties say nothing about an array", ARRAY, {"properties": {"a": X}}, "abc"),
    ("TRAV-REQUIRED", "what is reached before a key is missed stays", OBJECT,
     {"required": ["z"]}, "abc"),
    ("TRAV-REQUIRED", "also below an array", [OBJECT, OBJECT],
     {"items": {"required": ["z"]}}, "abc"),
    ("TRAV-REQUIRED", "also as a member of allOf, which stops there", OBJECT,
     {"allOf": [{"required": ["z"], "properties": {"a": True}}, {"properties": {"b": True}}]}, "a"),
    ("TRAV-REQUIRED", "all keys there", OBJECT, {"required": ["a", "b"]}, "abc"),
    ("TRAV-REQUIRED", "a target is reached before its keys are looked at", [link("of:A")],
     {"items": {"required": ["z"]}}, "Aab"),
    ("TRAV-REQUIRED", "required says nothing about an array", ARRAY, {"required": ["z"]}, "abc"),
    # references
    ("TRAV-REF", "$ref into $defs", DEEP,
     {"properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": X}}, "a"),
    ("TRAV-REF", "recursion", {"n": {"n": {"a": A, "b": B}}},
     {"$ref": "#/$defs/n", **RECURSIVE}, "a"),
    ("TRAV-REF", "siblings override the target", DEEP["a"],
     {"$ref": "#/$defs/x", "properties": {"y": True}, "$defs": {"x": X}}, "b"),
    ("TRAV-REF", "a reference to a reference", DEEP["a"],
     {"$ref": "#/$defs/w", "$defs": {"w": {"$ref": "#/$defs/x"}, "x": X}}, "a"),
    ("TRAV-REF", "a reference to true", OBJECT, {"$ref": "#/$defs/t", "$defs": {"t": True}}, "abc"),
    ("TRAV-REF", "a reference to false", OBJECT, {"$ref": "#/$defs/f", "$defs": {"f": False}}, ""),
    ("TRAV-REF", "into a definition", DEEP["a"],
     {"$ref": "#/$defs/x/properties/x", "$defs": {"x": {"properties": {"x": X}}}}, "a"),
    ("TRAV-REF", "into a list in a definition", DEEP["a"],
     {"$ref": "#/$defs/x/anyOf/1", "$defs": {"x": {"anyOf": [False, X]}}}, "a"),
    ("TRAV-REF", "an escaped name", DEEP["a"],
     {"$ref": "#/$defs/~1x~0", "$defs": {"/x~": X}}, "a"),
    ("TRAV-REF", "a cycle is not followed", OBJECT,
     {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, ""),
    ("TRAV-REF", "a name that is not there", OBJECT, {"$ref": "#/$defs/none"}, ""),
    ("TRAV-REF", "anything but #/$defs/", OBJECT, {"$ref": "#"}, ""),
    ("TRAV-REF", "another document", OBJECT, {"$ref": "o.json#/$defs/x", "$defs": {"x": X}}, ""),
    ("TRAV-REF", "the $defs of the root are carried across links", [link("of:A")],
     {"items": {"properties": {"x": {"$ref": "#/$defs/t"}}}, "$defs": {"t": True}}, "Aa"),
    ("TRAV-REF", "into a list past its end", OBJECT,
     {"$ref": "#/$defs/x/anyOf/" + "9" * 5000, "$defs": {"x": {"anyOf": [True]}}}, ""),
    # combinators
    ("TRAV-ANYOF", "every fitting option is walked", OBJECT,
     {"anyOf": [{"properties": {"a": True}}, {"properties": {"b": True}}]}, "ab"),
    ("TRAV-ANYOF", "an option of another type is skipped", OBJECT,
     {"anyOf": [{"type": "array"}, {"properties": {"b": True}}]}, "b"),
    ("TRAV-ANYOF", "an option that asks for a missing key is skipped", OBJECT,
     {"anyOf": [{"required": ["z"]}, {"properties": {"b": True}}]}, "b"),
    ("TRAV-ANYOF", "what stands beside it holds for every option", OBJECT,
     {"properties": {"a": True}, "anyOf": [{"type": "object"}]}, "a"),
    ("TRAV-ANYOF", "an option wins over what stands beside it", OBJECT,
     {"properties": {"a": True}, "anyOf": [{"properties": {"b": True}}]}, "b"),
    ("TRAV-ANYOF", "a referenced option wins too", DEEP["a"],
     {"properties": {"y": True}, "anyOf": [{"$ref": "#/$defs/x"}], "$defs": {"x": X}}, "a"),
    ("TRAV-ANYOF", "an option true is what stands beside it", OBJECT,
     {"properties": {"a": True}, "anyOf": [True]}, "a"),
    ("TRAV-ANYOF", "no options, nothing fits", OBJECT, {"anyOf": []}, ""),
    ("TRAV-ANYOF", "an option that is itself does not loop", OBJECT,
     {"$ref": "#/$defs/s", "$defs": {"s": {"anyOf": [{"$ref": "#/$defs/s"},
                                                    {"properties": {"a": True}}]}}}, "a"),
    ("TRAV-ANYOF", "options are chosen at a link's target", [link("of:A")],
     {"items": {"anyOf": [{"type": "array"}, X]}}, "Aa"),
    ("TRAV-ONEOF", "walked like anyOf", OBJECT,
     {"oneOf": [{"properties": {"a": True}}, {"properties": {"b": True}}]}, "ab"),
    ("TRAV-ALLOF", "every member is walked", OBJECT,
     {"allOf": [{"properties": {"a": True}}, {"properties": {"b": True}}]}, "ab"),
    ("TRAV-ALLOF", "up to the first that does not fit", OBJECT,
     {"allOf": [{"properties": {"a": True}}, {"type": "array"}, {"properties": {"b": True}}]}, "a"),
    ("TRAV-ALLOF", "false does not fit", OBJECT,
     {"allOf": [{"properties": {"a": True}}, False, {"properties": {"b": True}}]}, "a"),
    ("TRAV-ALLOF", "unknown fits", OBJECT,
     {"allOf": [{"type": "unknown"}, {"properties": {"b": True}}]}, "b"),
    ("TRAV-ALLOF", "an anyOf of which nothing fits does not fit", OBJECT,
     {"allOf": [{"anyOf": [{"type": "array"}]}, {"properties": {"b": True}}]}, ""),
    ("TRAV-ALLOF", "no members", OBJECT, {"allOf": []}, ""),
]  # fmt: skip


@pytest.mark.shows(
    "TRAV-TRUE", "TRAV-FALSE", "TRAV-CHILD", "TRAV-ITEM", "TRAV-TYPE", "TRAV-REQUIRED", "TRAV-REF",
    "TRAV-ANYOF", "TRAV-ONEOF", "TRAV-ALLOF",
)  # fmt: skip
@pytest.mark.parametrize("rule", RULES, ids=[f"{rule[0]} {rule[1]}" for rule in RULES])
def test_a_schema_follows(rule: tuple[str, str, Any, Any, str]) -> None:
    _, _, value, schema, letters = rule
    assert reached(value, schema) == letters


Y = {"type": "object", "properties": {"y": True}}
COMBINED: list[tuple[str, Any, Any, str]] = [
    ("parent true leaves the word to the link", True, X, "a"),
    ("link true leaves it to the parent", X, True, "a"),
    ("parent false stops, and the link is not even followed", False, X, "-"),
    ("link false under true stops at the target", True, False, ""),
    ("link false under an object: the parent wins", X, False, "a"),
    ("both objects, the same property", {"properties": {"x": True, "y": False}}, X, "a"),
    ("both objects: a property the other does not declare is combined with false", X, Y, ""),
    ("unless it has a schema of its own, which wins", {"properties": {"x": {"type": "string"}}},
     {"properties": {"y": True}}, "a"),
    ("the other's additionalProperties stand in", X,
     {"properties": {}, "additionalProperties": True}, "a"),
    ("and an object without properties is true", {"type": "object"}, X, "a"),
    ("and the other way round", X, {"type": "object"}, "a"),
    ("required is what both require", {**X, "required": ["z"]}, {**X, "required": ["x"]}, "a"),
    ("required by both does not stop", {**X, "required": ["z"]}, {**X, "required": ["z"]}, "a"),
    ("required by one does not stop either", X, {**X, "required": ["z"]}, "a"),
    ("required by one decides among options", {"anyOf": [X, Y]}, {**X, "required": ["z"]}, ""),
    ("different kinds: the parent wins", X, {"type": "array"}, "a"),
    ("different kinds, the other way round", {"type": "array"}, X, ""),
    ("a title is not true: the parent wins", {"title": "t"}, X, "ab"),
    ("a link's anyOf under an object: the parent wins", X, {"anyOf": [Y]}, "a"),
    ("a parent's anyOf: each option is combined", {"anyOf": [True, Y]}, X, "a"),
    ("references are followed on both sides",
     {"$ref": "#/$defs/n", "$defs": {"n": X}},
     {"$ref": "#/$defs/n", "$defs": {"n": {"properties": {"x": True}}}}, "a"),
    ("equal names in two $defs are two things",
     {"$ref": "#/$defs/n", "$defs": {"n": {"additionalProperties": True}}},
     {"$ref": "#/$defs/n", "$defs": {"n": X}}, "a"),
    ("a malformed link schema says nothing", X, {"properties": 7}, "a"),
    ("nor does one that is no schema", True, "nonsense", "ab"),
]  # fmt: skip


@pytest.mark.shows("TRAV-COMBINE")
@pytest.mark.parametrize("rule", COMBINED, ids=[rule[0] for rule in COMBINED])
def test_a_links_schema_narrows(rule: tuple[str, Any, Any, str]) -> None:
    _, parent, said, letters = rule
    wanted = letters if letters == "-" else "A" + letters
    assert reached([link("of:A", schema=said)], {"items": parent}) == wanted.removeprefix("-")


@pytest.mark.shows("TRAV-COMBINE")
def test_two_array_schemas_combine_their_items() -> None:
    world = World()
    world.commit(
        {
            "of:root": {"value": link("of:list", schema={"type": "array", "items": X})},
            "of:list": {"value": [{"x": A, "y": B}]},
            "of:a": {"value": 1},
            "of:b": {"value": 1},
        }
    )
    parent = {"type": "array", "items": {"properties": {"x": True, "y": True}}}
    found = query_graph(world.at(), query("of:root", schema=parent))
    assert [entity["id"] for entity in found] == ["of:a", "of:list", "of:root"]


@pytest.mark.shows("TRAV-COMBINE", "TRAV-INTERN")
def test_combining_again_with_the_same_schema_changes_nothing() -> None:
    parent, said = schema_of({"properties": {"a": X}}), schema_of({"properties": {"b": X}})
    once = combine(parent, said)
    assert combine(once, said) is once
    assert combine(once, parent) is once
    assert combine(TRUE, said) is said
    assert combine(parent, TRUE) is parent
    assert combine(TRUE, TRUE) is TRUE
    assert combine(FALSE, said) is FALSE
    assert combine(TRUE, FALSE) is FALSE
    assert combine(parent, FALSE) is parent


@pytest.mark.shows("TRAV-INTERN")
def test_schemas_are_equal_when_they_steer_equally() -> None:
    one = schema_of(
        {"type": "object", "properties": {"x": True, "y": {"title": "why", "items": {}}}}
    )
    other = schema_of({"properties": {"y": {"items": True}, "x": {}}, "type": ["object"]})
    assert one == other
    assert hash(one) == hash(other)
    assert one != schema_of({"properties": {"x": True}})


NARROWED: list[tuple[str, Any, tuple[str, ...], Any, str]] = [
    ("a path goes down first", DEEP, ("a",), True, "ab"),
    ("and then the schema applies", DEEP, ("a",), X, "a"),
    ("a path to nothing", DEEP, ("nope", "x"), True, ""),
    ("a path into a scalar", {"a": 1}, ("a", "x"), True, ""),
    ("a path into an array", [DEEP["a"], C], ("0",), X, "a"),
    ("a position past the end", ARRAY, ("3",), True, ""),
    ("a position with a leading zero", ARRAY, ("00",), True, ""),
    ("a position that is no number", ARRAY, ("x",), True, ""),
    ("a negative position", ARRAY, ("-1",), True, ""),
    ("a digit of another script", ARRAY, ("\u0663",), True, ""),
    ("a path across a link goes on in the target", {"l": link("of:A")}, ("l", "x"), True, "Aa"),
    ("also when nothing is walked at its end", {"l": link("of:A")}, ("l", "x"), False, "A"),
    ("a path up to a link follows it under the schema", {"l": link("of:A")}, ("l",), X, "Aa"),
    ("but not under false", {"l": link("of:A")}, ("l",), False, ""),
    ("a link's path goes before the rest", {"l": link(None, "m"), "m": DEEP}, ("l", "a"), X, "a"),
    ("a link met on the way down has no say about the end",
     {"l": link("of:A", schema=False)}, ("l", "x"), True, "Aa"),
    ("two links on the way", {"l": link(None, "m"), "m": {"n": link("of:A")}},
     ("l", "n", "y"), True, "Ab"),
    ("a link below the path gets the schema of its place", {"p": {"l": link("of:A")}},
     ("p",), {"properties": {"l": X}}, "Aa"),
]  # fmt: skip


@pytest.mark.shows("TRAV-NARROW")
@pytest.mark.parametrize("rule", NARROWED, ids=[rule[0] for rule in NARROWED])
def test_a_path_narrows(rule: tuple[str, Any, tuple[str, ...], Any, str]) -> None:
    _, value, path, schema, letters = rule
    assert reached(value, schema, path) == letters


HOSTILE: list[tuple[str, Any, str]] = [
    ("a number", 5, "must be an object or a boolean, not a number"),
    ("a list", [], "must be an object or a boolean, not a list"),
    ("a string", "object", "must be an object or a boolean, not a string"),
    ("properties", {"properties": []}, "/properties must be an object of schemas, not a list"),
    ("a property", {"properties": {"a": None}}, "/properties/a must be an object or a boolean"),
    ("items", {"items": [True]}, "/items must be an object or a boolean, not a list"),
    ("anyOf", {"anyOf": {}}, "/anyOf must be a list of schemas, not an object"),
    ("an option", {"anyOf": [True, 3]}, "/anyOf/1 must be"),
    ("a type", {"type": 7}, "/type must be a list of strings, not a number"),
    ("types", {"type": ["object", 7]}, "/type must be a list of strings"),
    ("required", {"required": "x"}, "/required must be a list of strings, not a string"),
    ("$ref", {"$ref": {}}, "/$ref must be a string, not an object"),
    ("$defs", {"$defs": True}, "/$defs must be an object of schemas, not a boolean"),
    ("a definition nobody uses", {"$defs": {"x": 1}}, "/$defs/x must be"),
    ("not", {"not": 1}, "/not must be"),
]


@pytest.mark.shows("TRAV-HOSTILE")
@pytest.mark.parametrize(
    ("schema", "message"), [r[1:] for r in HOSTILE], ids=[r[0] for r in HOSTILE]
)
def test_a_malformed_schema_is_refused_by_place(schema: Any, message: str) -> None:
    with pytest.raises(QueryError, match="selector schema at") as refused:
        reached(DEEP, schema)
    assert message in str(refused.value)
    assert refused.value.name == "QueryError"


def _nested(depth: int, keyword: str) -> Any:
    schema: Any = True
    for _ in range(depth):
        schema = {"properties": {"a": schema}} if keyword == "properties" else {keyword: schema}
        if keyword == "anyOf":
            schema = {"anyOf": [schema["anyOf"]]}
    return schema


@pytest.mark.shows("TRAV-HOSTILE")
@pytest.mark.parametrize("keyword", ["properties", "items", "anyOf", "not"])
@pytest.mark.parametrize("depth", [300, 100_000])
def test_a_schema_that_nests_too_deep_is_refused(keyword: str, depth: int) -> None:
    with pytest.raises(QueryError, match="nests more than"):
        schema_of(_nested(depth, keyword))


@pytest.mark.shows("TRAV-HOSTILE")
def test_a_schema_that_holds_itself_is_refused() -> None:
    schema: dict[str, Any] = {"properties": {}}
    schema["properties"]["a"] = schema
    with pytest.raises(QueryError, match="nests more than"):
        schema_of(schema)


@pytest.mark.shows("TRAV-HOSTILE")
def test_a_schema_with_too_many_parts_is_refused() -> None:
    with pytest.raises(QueryError, match="subschemas"):
        schema_of({"properties": {str(n): True for n in range(30_000)}})


@pytest.mark.shows("TRAV-HOSTILE", "TRAV-LIMITS")
def test_a_schema_that_doubles_at_every_reference_runs_out_of_steps() -> None:
    names = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}
    schema = {"$ref": "#/$defs/d0", "$defs": {**names, "d40": {"type": "object"}}}
    world = World()
    world.commit({"of:a": {"value": {}}})
    with pytest.raises(QueryError, match="takes more than 5000 steps"):
        query_graph(world.at(), query("of:a", schema=schema), limits=GraphLimits(steps=5_000))


@pytest.mark.shows("TRAV-HOSTILE")
def test_a_long_chain_of_combinators_at_one_place_is_refused() -> None:
    names = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}]} for n in range(5_000)}
    schema = {"$ref": "#/$defs/d0", "$defs": {**names, "d5000": True}}
    with pytest.raises(QueryError, match="combinators at one place"):
        reached({}, schema)


@pytest.mark.shows("TRAV-HOSTILE")
def test_half_a_surrogate_pair_is_a_key_like_any_other() -> None:
    half = json.loads('"\\ud800"')
    value = {half: {"x": A}, "other": B}
    schema = {"properties": {half: {"$ref": f"#/$defs/{half}"}}, "$defs": {half: X}}
    assert reached(value, schema) == "a"
    assert schema_of(schema) == schema_of(dict(reversed(schema.items())))


@pytest.mark.shows("TRAV-HOSTILE", "TRAV-REF")
def test_a_long_chain_of_references_is_followed() -> None:
    names = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(5_000)}
    schema = {"$ref": "#/$defs/d0", "$defs": {**names, "d5000": True}}
    assert reached(OBJECT, schema) == "abc"
