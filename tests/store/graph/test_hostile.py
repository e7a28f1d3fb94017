"""Whatever comes in, the answer is an answer or a QueryError, and it comes."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.ids import EntityId
from holdfast.store.errors import QueryError
from holdfast.store.graph import GraphLimits, TrackedGraph, query_graph, roots_of
from holdfast.store.graph.schemas import PARTS_MAX
from tests.scale import examples, size
from tests.store.graph.strategies import schemas
from tests.store.graph.world import World, link, query

WORDS = st.sampled_from(
    ["/", "link@1", "$alias", "id", "path", "space", "schema", "source", "value", "cell", "of:a",
     "of:b", "data:application/json,{}", "$ref", "$defs", "#/$defs/$defs", "anyOf", "allOf",
     "oneOf", "not", "type", "object", "array", "properties", "items", "prefixItems",
     "additionalProperties", "required", "a", "0", "", "roots", "selector"]
)  # fmt: skip
TEXT = st.text(st.characters(exclude_categories=()), max_size=3)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | WORDS | TEXT
JUNK = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS | TEXT, inner, max_size=4),
    max_leaves=12,
)
LINKS = st.fixed_dictionaries(
    {"/": st.fixed_dictionaries({"link@1": st.dictionaries(WORDS, JUNK, max_size=3) | JUNK})}
)
ROOT = st.fixed_dictionaries(
    {
        "id": WORDS | JUNK,
        "selector": st.fixed_dictionaries({"path": st.just([]) | JUNK, "schema": schemas() | JUNK})
        | JUNK,
    }
)
DOCUMENT = st.dictionaries(WORDS, JUNK | LINKS | st.lists(LINKS, max_size=3), max_size=4)


@pytest.mark.shows("TRAV-HOSTILE")
@given(
    st.dictionaries(st.sampled_from(["of:a", "of:b"]), DOCUMENT, max_size=2),
    st.fixed_dictionaries({"roots": st.lists(ROOT, max_size=3) | JUNK}) | JUNK,
)
@settings(max_examples=examples(300))
def test_junk_is_answered_or_refused(documents: Any, asked: Any) -> None:
    world = World()
    world.commit(documents)
    try:
        roots_of(asked)
    except QueryError:
        with pytest.raises(QueryError):
            query_graph(world.at(), asked)
        return
    query_graph(world.at(), asked)


@pytest.mark.shows("TRAV-HOSTILE")
@given(st.lists(st.dictionaries(st.sampled_from(["of:a", "of:b"]), DOCUMENT), max_size=3))
@settings(max_examples=examples(150))
def test_junk_documents_never_break_a_watch(commits: list[Any]) -> None:
    world = World()
    graph = TrackedGraph()
    graph.grow(world.at(), roots_of(query("of:a", "of:b")))
    for commit in commits:
        world.commit(commit)
        graph.refresh(world.at(), {EntityId(entity) for entity in commit})
        graph.prune()
        assert graph.entities() == query_graph(world.at(), query("of:a", "of:b"))


@pytest.mark.shows("TRAV-HOSTILE")
def test_a_document_nested_a_hundred_thousand_deep_is_walked() -> None:
    value: Any = link("of:b")
    for _ in range(size(100_000, 20_000)):
        value = [value]
    world = World()
    world.commit({"of:a": {"value": value}, "of:b": {"value": 1}})
    for schema in (True, {"$ref": "#/$defs/l", "$defs": {"l": {"items": {"$ref": "#/$defs/l"}}}}):
        found = query_graph(world.at(), query("of:a", schema=schema))
        assert [entity["id"] for entity in found] == ["of:a", "of:b"]


@pytest.mark.shows("TRAV-HOSTILE", "TRAV-CYCLE")
def test_options_that_meet_again_at_every_level_are_walked_once() -> None:
    """Two options per level, each walking the next: a billion ways down thirty levels."""
    value: Any = link("of:b")
    for _ in range(30):
        value = {"a": value}
    world = World()
    world.commit({"of:a": {"value": value}, "of:b": {"value": 1}})
    again = {"properties": {"a": {"$ref": "#/$defs/s"}}}
    schema = {"$ref": "#/$defs/s", "$defs": {"s": {"anyOf": [again, {**again, "required": ["a"]}]}}}
    found = query_graph(world.at(), query("of:a", schema=schema), limits=GraphLimits(steps=1_000))
    assert [entity["id"] for entity in found] == ["of:a", "of:b"]


def _endless(name: str) -> Any:
    """A schema that follows every key for ever, told from others by a property."""
    body = {"additionalProperties": {"$ref": "#/$defs/s"}, "properties": {name: True}}
    return {"$ref": "#/$defs/s", "$defs": {"s": {"type": "object", **body}}}


@pytest.mark.shows("TRAV-HOSTILE", "TRAV-COMBINE")
def test_schemas_that_pile_up_along_links_do_not_run_away() -> None:
    """Every link adds a schema of its own, round and round. Without a cut, the orders in which
    sixty of them can meet at one document are more than anyone can count."""
    world = World()
    count = 60
    for n in range(count):
        targets = {f"k{m}": (n + m) % count for m in (1, 2)}
        value = {k: link(f"of:{t}", schema=_endless(f"p{n}{k}")) for k, t in targets.items()}
        world.commit({f"of:{n}": {"value": value}})
    graph = TrackedGraph(limits=GraphLimits(steps=100_000))
    graph.grow(world.at(), roots_of(query("of:0", schema=_endless("q"))))
    assert len(graph.entities()) == count
    assert max(map(len, graph.frontier.values())) <= 2**PARTS_MAX
