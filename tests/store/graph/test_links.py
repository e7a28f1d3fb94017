"""Link forms, one row each."""

import base64
import json
from typing import Any

import pytest

from holdfast.store.graph import query_graph
from holdfast.store.graph.links import NOWHERE, DocumentLink, link_in, source_of
from tests.store.graph.world import World, link, query


def _reached(value: Any, schema: Any = True, **documents: Any) -> list[str]:
    """Ids reached from `of:a`, whose value is given; other documents are `of:<keyword>`."""
    world = World()
    others = {f"of:{name}": {"value": other} for name, other in documents.items()}
    world.commit({"of:a": {"value": value}, **others})
    found = query_graph(world.at(), query("of:a", schema=schema), space="did:key:here")
    return [entity["id"] for entity in found]


LINKS: list[tuple[str, Any, DocumentLink | None]] = [
    ("an id and a path", link("of:b", "x"), DocumentLink("of:b", ("x",), "", None, False)),
    ("no path", {"/": {"link@1": {"id": "of:b"}}}, DocumentLink("of:b", (), "", None, False)),
    ("no id", link(None, "x"), DocumentLink("", ("x",), "", None, False)),
    ("a space", link("of:b", space="did:x"), DocumentLink("of:b", (), "did:x", None, False)),
    ("a schema", link("of:b", schema=False), DocumentLink("of:b", (), "", False, False)),
    ("a redirect", link("of:b", overwrite="redirect"), DocumentLink("of:b", (), "", None, True)),
    (
        "a position as a number",
        {"/": {"link@1": {"path": [0]}}},
        DocumentLink("", ("0",), "", None, False),
    ),
    ("keys beside link@1", {"/": {"link@1": {}, "x": 1}}, DocumentLink("", (), "", None, False)),
    ("keys beside /", {"/": {"link@1": {}}, "x": 1}, None),
    ("another tag", {"/": {"link@2": {"id": "of:b"}}}, None),
    ("a short reference", {"/": "b"}, None),
    ("an alias", {"$alias": {"path": ["x"]}}, DocumentLink("", ("x",), "", None, True)),
    ("an alias to a cell", {"$alias": {"path": [], "cell": {"/": "b"}}},
     DocumentLink("of:b", (), "", None, True)),
    ("an alias to a full id", {"$alias": {"path": [], "cell": {"/": "of:b"}}},
     DocumentLink("of:b", (), "", None, True)),
    ("an alias with a schema", {"$alias": {"path": [], "schema": True}},
     DocumentLink("", (), "", True, True)),
    ("an alias without a path", {"$alias": {"cell": {"/": "b"}}}, None),
    ("an alias with keys beside it", {"$alias": {"path": []}, "x": 1}, None),
    ("a body that is no object", {"/": {"link@1": "of:b"}}, NOWHERE),
    ("an id that is no string", {"/": {"link@1": {"id": 7}}}, NOWHERE),
    ("a path that is no list", {"/": {"link@1": {"id": "of:b", "path": "x"}}}, NOWHERE),
    ("a path of objects", {"/": {"link@1": {"id": "of:b", "path": [{}]}}}, NOWHERE),
    ("a position beyond any array", {"/": {"link@1": {"path": [10**5000]}}}, NOWHERE),
    ("a negative position", {"/": {"link@1": {"path": [-1]}}}, NOWHERE),
    ("a path with true in it", {"/": {"link@1": {"id": "of:b", "path": [True]}}}, NOWHERE),
    ("a space that is no string", {"/": {"link@1": {"id": "of:b", "space": 1}}}, NOWHERE),
    ("an alias to a broken cell", {"$alias": {"path": [], "cell": "b"}}, NOWHERE),
    ("an alias with a broken path", {"$alias": {"path": 3}}, NOWHERE),
    ("an empty object", {}, None),
]  # fmt: skip


@pytest.mark.shows("TRAV-LINK-1", "TRAV-LINK-ALIAS")
@pytest.mark.parametrize(("node", "wanted"), [row[1:] for row in LINKS], ids=[r[0] for r in LINKS])
def test_an_object_is_a_link_or_data(node: Any, wanted: DocumentLink | None) -> None:
    assert link_in(node) == wanted
    assert (link_in(node) is NOWHERE) == (wanted is NOWHERE)


@pytest.mark.shows("TRAV-LINK-1")
def test_a_link_without_an_id_stays_in_its_document() -> None:
    assert _reached({"x": link(None, "y"), "y": {"z": link("of:b")}}, {
        "properties": {"x": True}
    }, b=1) == ["of:a", "of:b"]  # fmt: skip


@pytest.mark.shows("TRAV-LINK-1")
def test_a_redirect_is_followed_like_any_link() -> None:
    assert _reached([link("of:b", overwrite="redirect")], b=1) == ["of:a", "of:b"]


@pytest.mark.shows("TRAV-LINK-ALIAS")
def test_an_alias_is_followed() -> None:
    alias = {"$alias": {"path": ["x"], "cell": {"/": "b"}}}
    assert _reached([alias], b={"x": link("of:c"), "y": link("of:d")}, c=1, d=1) == [
        "of:a",
        "of:b",
        "of:c",
    ]


@pytest.mark.shows("TRAV-LINK-SPACE")
def test_a_link_into_another_space_is_not_followed_but_one_that_names_this_space_is() -> None:
    there, here = link("of:b", space="did:key:there"), link("of:c", space="did:key:here")
    assert _reached([there, here], b=1, c=1) == ["of:a", "of:c"]


@pytest.mark.shows("TRAV-LINK-1")
def test_a_broken_link_leads_nowhere_and_hides_what_is_inside() -> None:
    assert _reached({"/": {"link@1": {"id": 7, "path": [link("of:b")]}}}, b=1) == ["of:a"]


@pytest.mark.shows("TRAV-SOURCE")
@pytest.mark.parametrize(
    ("document", "source"),
    [
        ({"source": {"/": "b"}}, "of:b"),
        ({"source": {"/": "b", "x": 1}}, None),
        ({"source": "b"}, None),
        ({"source": {"/": 1}}, None),
        ({}, None),
    ],
)
def test_a_source_is_a_short_link_at_the_root(document: Any, source: str | None) -> None:
    assert source_of(document) == source


@pytest.mark.shows("TRAV-SOURCE")
def test_sources_of_linked_documents_are_followed_round_a_cycle_and_nothing_in_them() -> None:
    world = World()
    world.commit(
        {
            "of:a": {"value": link("of:b")},
            "of:b": {"value": 1, "source": {"/": "c"}},
            "of:c": {"value": link("of:hidden"), "source": {"/": "d"}},
            "of:d": {"source": {"/": "b"}},
            "of:hidden": {"value": 1},
        }
    )
    found = query_graph(world.at(), query("of:a"))
    assert [entity["id"] for entity in found] == ["of:a", "of:b", "of:c", "of:d"]


def _inline(document: Any, *, encoded: bool = False) -> str:
    text = json.dumps(document)
    if encoded:
        return "data:application/json;base64," + base64.b64encode(text.encode()).decode()
    return "data:application/json;charset=utf-8," + text.replace("%", "%25").replace('"', "%22")


@pytest.mark.shows("TRAV-LINK-DATA")
@pytest.mark.parametrize("encoded", [False, True])
def test_a_data_id_is_a_document_of_its_own_that_is_never_reported(encoded: bool) -> None:
    inline = _inline({"value": {"x": link("of:b")}}, encoded=encoded)
    assert _reached([link(inline)], b=1) == ["of:a", "of:b"]
    assert _reached([link(inline, "y")], b=1) == ["of:a"]


@pytest.mark.shows("TRAV-LINK-DATA")
@pytest.mark.parametrize(
    "entity",
    ["data:", "data:text/plain,x", "data:application/json,{", "data:application/json,[1]",
     "data:application/json;base64,!!!", "data:application/json,%ff",
     "data:application/json," + "[" * 5000, "data:application/json,\ud800"],
)  # fmt: skip
def test_a_data_id_that_spells_no_document_leads_nowhere(entity: str) -> None:
    assert _reached([link(entity)]) == ["of:a"]


@pytest.mark.shows("TRAV-LINK-DATA")
def test_a_data_id_is_not_read_from_the_store() -> None:
    world = World()
    world.commit({"of:b": {"value": 1}})
    inline = _inline({"value": link("of:b")})
    assert [entity["id"] for entity in query_graph(world.at(), query(inline))] == ["of:b"]
    assert world.reads == {"of:b": 1}
