"""A tracked graph: growth, refresh, what each may read and what each must keep."""

from typing import Any

import pytest

from holdfast.ids import BranchName, EntityId
from holdfast.store.errors import QueryError
from holdfast.store.graph import GraphChange, GraphLimits, Memo, TrackedGraph, query_graph, roots_of
from holdfast.store.graph.schemas import FALSE, TRUE, schema_of
from tests.store.graph.world import NODES, World, chain, link, query


def ids_of(answer: GraphChange | list[Any]) -> list[str]:
    entities = answer.entities if isinstance(answer, GraphChange) else answer
    return [entity["id"] for entity in entities]


def numbered(first: int, last: int) -> list[str]:
    return sorted(f"of:{n}" for n in range(first, last + 1))


def dirty(*ids: str) -> set[EntityId]:
    return {EntityId(entity) for entity in ids}


def grown(
    world: World, *ids: str, schema: Any = True, limits: GraphLimits | None = None
) -> TrackedGraph:
    graph = TrackedGraph(limits=limits or GraphLimits())
    graph.grow(world.at(), roots_of(query(*ids, schema=schema)))
    return graph


def recursive() -> World:
    """32 documents that name each other at seq 1, and 32 more that nobody names."""
    world = World()
    world.commit({**chain(1, 32), **chain(33, 64)})
    return world


def lengthened(world: World) -> None:
    """Rewrites all 32, the last one naming the first of the others; those are written again too."""
    first = chain(1, 32)
    first["of:32"]["value"]["next"] = link("of:33")
    world.commit({**first, **chain(33, 64)})


# -- rows of the table of trackers ------------------------------------------------------------


@pytest.mark.shows("TRAV-FRONTIER", "TRAV-NARROW")
def test_the_frontier_holds_every_document_with_its_selectors() -> None:
    world = World()
    world.commit({"of:a": {"value": {"l": link("of:b", "x"), "m": link("of:b")},
                           "source": {"/": "s"}},
                  "of:b": {"value": {}}, "of:s": {"value": 1}})  # fmt: skip
    graph = TrackedGraph()
    graph.grow(world.at(), roots_of(query("of:a", path=("l", "0"), schema=False)))
    graph.grow(world.at(), roots_of(query("of:a")))
    assert {entity: set(selectors) for entity, selectors in graph.frontier.items()} == {
        "of:a": {(("value", "l", "0"), FALSE), (("value",), TRUE)},
        "of:b": {(("value", "x", "0"), FALSE), (("value", "x"), TRUE), (("value",), TRUE)},
        "of:s": {((), FALSE)},
    }


@pytest.mark.shows("TRAV-FRONTIER")
def test_growth_stops_at_a_place_that_is_tracked() -> None:
    world = recursive()
    graph = grown(world, "of:1", schema=NODES)
    world.reads.clear()
    node = {**NODES["$defs"]["node"], "$defs": NODES["$defs"]}  # type: ignore[index]
    change = graph.grow(world.at(), roots_of(query("of:7", schema=node)))
    assert ids_of(change) == []
    assert world.reads == {}
    graph.grow(world.at(), roots_of(query("of:1", schema=NODES)))
    assert world.reads == {}


@pytest.mark.shows("TRAV-CYCLE")
@pytest.mark.parametrize(
    "documents",
    [
        {"of:a": link("of:a")},
        {"of:a": link(None)},
        {"of:a": link("of:a", "x")},
        {"of:a": link(None, "x", "y")},
        {"of:a": {"x": link(None, "y"), "y": link(None, "x")}},
        {"of:a": {"x": link("of:b", "x", "y")}, "of:b": {"x": link("of:a", "x", "x")}},
        {"of:a": [link("of:b")], "of:b": [link("of:c")], "of:c": [link("of:a"), link("of:b")]},
        {"of:a": link("of:b", schema=NODES), "of:b": link("of:a", schema={"type": "object"})},
        {"of:a": {"next": link("of:a", schema={"properties": {"next": NODES}})}},
    ],
)
@pytest.mark.parametrize("schema", [True, NODES])
@pytest.mark.parametrize("path", [(), ("x",), ("x", "y", "x")])
def test_links_in_a_circle_end(documents: Any, schema: Any, path: tuple[str, ...]) -> None:
    world = World()
    world.commit({entity: {"value": value} for entity, value in documents.items()})
    found = query_graph(world.at(), query("of:a", schema=schema, path=path))
    assert set(ids_of(found)) <= set(documents)
    assert max(world.reads.values()) == 1


@pytest.mark.shows("TRAV-CYCLE")
def test_a_path_may_pass_one_link_several_times() -> None:
    world = World()
    world.commit({"of:a": {"value": {"next": link("of:a"), "end": link("of:b")}},
                  "of:b": {"value": 1}})  # fmt: skip
    asked = query("of:a", path=("next", "next", "next", "end"))
    assert ids_of(query_graph(world.at(), asked)) == ["of:a", "of:b"]


@pytest.mark.shows("TRAV-MEMO", "TRAV-DOCUMENTS")
def test_what_a_document_leads_to_is_worked_out_once_per_revision() -> None:
    world = recursive()
    graph = grown(world, "of:1", schema=NODES)
    assert {place.id for place, _ in graph.memo} == set(numbered(1, 32))
    assert {seq for _, seq in graph.memo} == {1}
    assert all(count == 1 for count in world.reads.values())


@pytest.mark.shows("T37", "TRAV-MEMO")
def test_growth_keeps_its_memo_and_tells_of_the_new_root() -> None:
    world = recursive()
    world.commit({"of:hidden": {"value": {"next": link("of:30")}}})
    graph = grown(world, "of:1", schema=NODES)
    memo, before = graph.memo, dict(graph.memo)
    change = graph.grow(world.at(), roots_of(query("of:hidden", schema=NODES)))
    assert graph.memo is memo
    assert before.items() <= memo.items()
    assert ids_of(change) == ["of:hidden"]
    assert change.tracked == {"of:hidden"}


@pytest.mark.shows("T38", "TRAV-DOCUMENTS", "TRAV-SOURCE")
def test_a_shared_chain_of_sources_is_read_once() -> None:
    world = World()
    world.commit({"of:base": {"value": {"label": "base"}},
                  "of:process": {"source": {"/": "base"}},
                  "of:piece": {"source": {"/": "process"}},
                  "of:other": {"source": {"/": "process"}}})  # fmt: skip
    graph = grown(world, "of:piece", schema=False)
    assert world.reads.total() == 3
    graph.grow(world.at(), roots_of(query("of:other", schema=False)))
    assert world.reads.total() == 4


@pytest.mark.shows("T39", "TRAV-MEMO", "TRAV-REFRESH")
def test_a_refresh_leaves_the_growth_memo_alone() -> None:
    world = recursive()
    graph = grown(world, "of:1", schema=NODES)
    memo, before = graph.memo, dict(graph.memo)
    lengthened(world)
    change = graph.refresh(world.at(), dirty(*numbered(1, 32)))
    assert ids_of(change) == numbered(1, 64)
    assert change.tracked == set(numbered(33, 64))
    assert graph.memo is memo
    assert memo == before


@pytest.mark.shows("T40", "TRAV-DOCUMENTS")
def test_what_a_refresh_reads_growth_need_not_read_again() -> None:
    world = recursive()
    graph = grown(world, "of:1", schema=NODES)
    lengthened(world)
    graph.refresh(world.at(), dirty(*numbered(1, 32)))
    world.commit({"of:hidden": {"value": {"next": link("of:40", "others"), "others": []}}})
    world.reads.clear()
    change = graph.grow(world.at(), roots_of(query("of:hidden", schema=True)))
    assert world.reads["of:hidden"] == 1
    assert world.reads.keys() <= {"of:hidden", "of:never"}
    assert ids_of(change) == ["of:hidden"]


@pytest.mark.shows("T40", "TRAV-DOCUMENTS")
def test_growth_onto_what_a_refresh_brought_in_reads_only_the_new_root() -> None:
    world = recursive()
    graph = grown(world, "of:1", schema=NODES)
    lengthened(world)
    graph.refresh(world.at(), dirty(*numbered(1, 32)))
    world.commit({"of:hidden": {"value": {"next": link("of:64")}}})
    world.reads.clear()
    graph.grow(world.at(), roots_of(query("of:hidden", schema=NODES)))
    assert world.reads == {"of:hidden": 1}


@pytest.mark.shows("T41", "TRAV-QUERY")
def test_a_query_at_a_seq_sees_the_graph_of_that_seq() -> None:
    world = recursive()
    lengthened(world)
    asked = query("of:1", schema=NODES)
    then, now = query_graph(world.at(seq=1), asked), query_graph(world.at(), asked)
    assert ids_of(then) == numbered(1, 32)
    assert {entity["seq"] for entity in then} == {1}
    assert ids_of(now) == numbered(1, 64)
    assert {entity["seq"] for entity in now} == {2}


@pytest.mark.shows("T42", "F9", "TRAV-QUERY")
def test_a_query_on_a_branch_at_a_seq_before_it_wrote_sees_what_it_inherited() -> None:
    world = World()
    world.commit({"of:r": {"value": "base"}})
    world.fork("feature")
    world.commit({"of:r": {"value": "ours"}}, branch="feature")
    asked = {**query("of:r", schema=False), "branch": "feature", "atSeq": 1}
    assert query_graph(world.at("feature", 1), asked) == [
        {"branch": "feature", "id": "of:r", "seq": 1, "document": {"value": "base"}}
    ]


# -- refresh -----------------------------------------------------------------------------------


@pytest.mark.shows("TRAV-REFRESH")
def test_a_write_to_a_document_that_is_not_tracked_reads_nothing() -> None:
    world = recursive()
    graph = grown(world, "of:1", schema=NODES)
    world.reads.clear()
    assert graph.refresh(world.at(), dirty("of:40")) == GraphChange([], frozenset())
    assert world.reads == {}


@pytest.mark.shows("TRAV-REFRESH")
def test_a_write_to_one_document_reads_that_document() -> None:
    world = recursive()
    graph = grown(world, "of:1", schema=NODES)
    world.reads.clear()
    world.commit({"of:5": chain(1, 32, label="new")["of:5"]})
    assert ids_of(graph.refresh(world.at(), dirty("of:5", "of:40"))) == ["of:5"]
    assert world.reads == {"of:5": 1}


@pytest.mark.shows("TRAV-REFRESH")
def test_a_write_on_another_branch_visits_and_tells_nothing() -> None:
    world = World()
    world.commit({"of:a": {"value": [link("of:b")]}, "of:b": {"value": 1}})
    world.fork("feature")
    graph = TrackedGraph(BranchName("feature"))
    graph.grow(world.at("feature"), roots_of(query("of:a")))
    world.commit({"of:b": {"value": 2}})
    assert ids_of(graph.refresh(world.at("feature"), dirty("of:b"))) == []


@pytest.mark.shows("TRAV-REFRESH", "TRAV-PRUNE", "INV-28")
def test_a_link_that_moves_on_keeps_the_old_target_until_it_is_pruned() -> None:
    world = World()
    world.commit({"of:a": {"value": link("of:b")}, "of:b": {"value": link("of:d")},
                  "of:c": {"value": 1}, "of:d": {"value": 1}})  # fmt: skip
    graph = grown(world, "of:a")
    world.commit({"of:a": {"value": link("of:c")}})
    assert ids_of(graph.refresh(world.at(), dirty("of:a"))) == ["of:a", "of:c"]
    assert ids_of(graph.entities()) == ["of:a", "of:b", "of:c", "of:d"]
    assert graph.reachable() == {"of:a", "of:c"}
    world.commit({"of:b": {"value": "still told"}})
    assert ids_of(graph.refresh(world.at(), dirty("of:b"))) == ["of:b"]
    pruned = graph.prune()
    assert pruned.removed == ["of:b", "of:d"]
    assert pruned.untracked == {"of:b", "of:d"}
    assert ids_of(graph.entities()) == ["of:a", "of:c"]
    assert graph.prune().removed == []
    world.commit({"of:a": {"value": link("of:b")}})
    assert ids_of(graph.refresh(world.at(), dirty("of:a"))) == ["of:a", "of:b"]


@pytest.mark.shows("TRAV-REFRESH")
def test_growth_after_a_prune_is_not_misled_by_what_it_knew() -> None:
    world = World()
    world.commit({"of:a": {"value": link("of:b")}, "of:b": {"value": [link("of:c")]},
                  "of:c": {"value": 1}})  # fmt: skip
    graph = grown(world, "of:a")
    world.commit({"of:a": {"value": 1}})
    graph.refresh(world.at(), dirty("of:a"))
    graph.prune()
    world.commit({"of:b": {"value": []}})
    graph.refresh(world.at(), dirty("of:b"))
    graph.grow(world.at(), roots_of(query("of:b")))
    assert ids_of(graph.entities()) == ["of:a", "of:b"]


@pytest.mark.shows("TRAV-DANGLING")
def test_the_creation_of_a_dangling_target_is_noticed() -> None:
    world = World()
    world.commit({"of:a": {"value": [link("of:late", "x"), link("of:late")]}})
    graph = grown(world, "of:a")
    assert graph.dangling == {"of:late"}
    assert graph.tracks(EntityId("of:late"))
    assert ids_of(graph.entities()) == ["of:a"]
    world.commit({"of:late": {"value": {"x": link("of:later")}}})
    change = graph.refresh(world.at(), dirty("of:late"))
    assert ids_of(change) == ["of:late"]
    assert change.tracked == {"of:later"}
    assert graph.dangling == {"of:later"}


@pytest.mark.shows("TRAV-DANGLING", "TRAV-MISSING")
def test_a_target_that_is_deleted_and_comes_back_is_told_both_times() -> None:
    world = World()
    world.commit({"of:a": {"value": [link("of:b")]}, "of:b": {"value": [link("of:c")]},
                  "of:c": {"value": 1}})  # fmt: skip
    graph = grown(world, "of:a")
    world.commit({"of:b": None})
    assert graph.refresh(world.at(), dirty("of:b")).entities == [
        {"branch": "", "id": "of:b", "seq": 2, "document": None}
    ]
    assert graph.reachable() == {"of:a"}
    assert graph.prune().removed == ["of:b", "of:c"]
    assert graph.tracks(EntityId("of:b")), "the link still names it"
    world.commit({"of:b": {"value": [link("of:c")]}})
    assert ids_of(graph.refresh(world.at(), dirty("of:b"))) == ["of:b", "of:c"]


@pytest.mark.shows("TRAV-MISSING")
def test_a_missing_root_is_reported_and_followed_once_it_is_there() -> None:
    world = World()
    graph = grown(world, "of:a", schema=True)
    nothing = {"branch": "", "id": "of:a", "seq": 0, "document": None}
    assert graph.entities() == [nothing]
    assert graph.dangling == frozenset()
    world.commit({"of:a": {"value": link("of:b")}, "of:b": {"value": 1}})
    assert ids_of(graph.refresh(world.at(), dirty("of:a", "of:b"))) == ["of:a", "of:b"]
    world.commit({"of:a": None})
    assert graph.refresh(world.at(), dirty("of:a")).entities == [{**nothing, "seq": 2}]


@pytest.mark.shows("TRAV-MISSING")
def test_a_dangling_target_that_becomes_a_root_is_reported_without_a_read() -> None:
    world = World()
    world.commit({"of:a": {"value": link("of:b")}})
    graph = grown(world, "of:a")
    world.reads.clear()
    change = graph.grow(world.at(), roots_of(query("of:b")))
    assert change.entities == [{"branch": "", "id": "of:b", "seq": 0, "document": None}]
    assert world.reads == {}


@pytest.mark.shows("TRAV-REFRESH")
def test_a_write_met_before_word_of_it_came_is_taken_whole() -> None:
    """A refresh for one document that runs into a second, newer one visits all its places."""
    world = World()
    world.commit({"of:a": {"value": {"l": link("of:b", "x")}}, "of:b": {"value": {}},
                  "of:c": {"value": 1}, "of:d": {"value": 1}})  # fmt: skip
    graph = grown(world, "of:a")
    world.commit({"of:b": {"value": {"x": link("of:c"), "y": link("of:d")}}})
    world.commit({"of:a": {"value": {"l": link("of:b", "y")}}})
    change = graph.refresh(world.at(), dirty("of:a"))
    assert ids_of(change) == ["of:a", "of:b", "of:c", "of:d"]
    assert ids_of(graph.refresh(world.at(), dirty("of:b"))) == []
    assert graph.reachable() == {"of:a", "of:b", "of:d"}


@pytest.mark.shows("TRAV-MEMO", "TRAV-PRUNE")
def test_a_prune_forgets_what_it_knew_of_places_that_are_gone() -> None:
    world = recursive()
    graph = grown(world, "of:1", schema=NODES)
    memo = graph.memo
    world.commit({"of:3": {"value": {"name": "the end now"}}})
    graph.refresh(world.at(), dirty("of:3"))
    graph.prune()
    assert graph.memo is memo
    assert {(place.id, seq) for place, seq in memo} == {("of:1", 1), ("of:2", 1), ("of:32", 1)}


@pytest.mark.shows("TRAV-MEMO")
def test_graphs_that_share_a_memo_walk_a_document_once() -> None:
    world = recursive()
    memo: Memo = {}
    roots = roots_of(query("of:1", schema=NODES))
    first, few_steps = TrackedGraph(memo=memo), GraphLimits(steps=32)
    first.grow(world.at(), roots)
    with pytest.raises(QueryError):
        TrackedGraph(limits=few_steps).grow(world.at(), roots)
    second = TrackedGraph(limits=few_steps, memo=memo)
    second.grow(world.at(), roots)
    assert second.entities() == first.entities()

    lengthened(world)
    this_round: Memo = {}
    written = dirty(*numbered(1, 32))
    first.refresh(world.at(), written, this_round)
    second.limits = GraphLimits(steps=64)
    second.refresh(world.at(), written, this_round)
    assert second.entities() == first.entities()
    assert len(second.entities()) == 64
    known = dict(memo)
    world.commit({"of:1": {"value": {}}})
    second.refresh(world.at(), dirty("of:1"))
    second.prune()
    assert memo == known, "a shared memo is not one graph's to prune"


# -- limits ------------------------------------------------------------------------------------


@pytest.mark.shows("TRAV-LIMITS")
@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (GraphLimits(depth=30), "more than 30 links deep at of:32"),
        (GraphLimits(entities=31), "more than 31 documents"),
        (GraphLimits(steps=50), "more than 50 steps"),
    ],
)
def test_a_graph_beyond_a_limit_is_refused_and_one_at_it_is_not(
    limits: GraphLimits, message: str
) -> None:
    world = World()
    world.commit(_line(32))
    with pytest.raises(QueryError, match=message) as refused:
        query_graph(world.at(), query("of:1"), limits=limits)
    assert refused.value.hint
    enough = GraphLimits(depth=31, entities=32, steps=100)
    assert len(query_graph(world.at(), query("of:1"), limits=enough)) == 32


def _line(count: int) -> dict[str, Any]:
    return {f"of:{n}": {"value": {"n": link(f"of:{n + 1}")} if n < count else 1}
            for n in range(1, count + 1)}  # fmt: skip


@pytest.mark.shows("TRAV-LIMITS")
def test_depth_is_the_shortest_way_from_any_root() -> None:
    world = World()
    world.commit(_line(20))
    far_and_near = query("of:1", "of:10")
    assert len(query_graph(world.at(), far_and_near, limits=GraphLimits(depth=10))) == 20
    with pytest.raises(QueryError):
        query_graph(world.at(), far_and_near, limits=GraphLimits(depth=9))


@pytest.mark.shows("TRAV-LIMITS")
def test_missing_documents_count_as_looked_up() -> None:
    world = World()
    world.commit({"of:a": {"value": [link(f"of:none{n}") for n in range(20)]}})
    with pytest.raises(QueryError, match="more than 20 documents"):
        query_graph(world.at(), query("of:a"), limits=GraphLimits(entities=20))


@pytest.mark.shows("TRAV-LIMITS", "TRAV-ROLLBACK")
def test_growth_counts_what_is_there_already_and_a_refused_one_leaves_it() -> None:
    world = World()
    world.commit({**_line(20), "of:z": {"value": 1}})
    graph = grown(world, "of:1", limits=GraphLimits(entities=20))
    before = graph.entities()
    with pytest.raises(QueryError):
        graph.grow(world.at(), roots_of(query("of:z")))
    assert graph.entities() == before
    assert not graph.tracks(EntityId("of:z"))
    assert len(graph.roots) == 1


@pytest.mark.shows("TRAV-LIMITS")
def test_a_refresh_goes_as_deep_as_it_must() -> None:
    """Depth is counted from roots. Counting from a written document would judge by chance."""
    world = World()
    world.commit(_line(20))
    graph = grown(world, "of:1", limits=GraphLimits(depth=19))
    world.commit({"of:20": {"value": link("of:21")}, "of:21": {"value": 1}})
    assert ids_of(graph.refresh(world.at(), dirty("of:20", "of:21"))) == ["of:20", "of:21"]


@pytest.mark.shows("TRAV-LIMITS", "TRAV-CYCLE")
def test_a_link_whose_path_grows_for_ever_is_dropped_not_refused() -> None:
    world = World()
    world.commit({"of:a": {"value": link("of:a", "x")}})
    graph = grown(world, "of:a")
    assert ids_of(graph.entities()) == ["of:a"]
    assert len(graph.frontier[EntityId("of:a")]) <= GraphLimits().path


@pytest.mark.shows("TRAV-HOSTILE")
@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (None, "a query must be an object"),
        ({}, "a query needs a list of roots"),
        ({"roots": {}}, "a query needs a list of roots"),
        ({"roots": [7]}, "root 0 needs the id of a document"),
        ({"roots": [{"id": ""}]}, "root 0 needs the id of a document"),
        ({"roots": [{"id": "of:a", "selector": []}]}, r"the selector of root 0 \(of:a\)"),
        ({"roots": [{"id": "of:a", "selector": {"path": "x"}}]}, r"the path of root 0 \(of:a\)"),
        ({"roots": [{"id": "of:a", "selector": {"path": ["x"] * 100}}]}, "longer than 99 keys"),
        ({"roots": [], "branch": 7}, "the branch of a query must be a string"),
    ],
)
def test_a_malformed_query_is_refused(asked: Any, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        query_graph(World().at(), asked)


@pytest.mark.shows("TRAV-QUERY")
def test_a_selector_may_be_left_out() -> None:
    world = World()
    world.commit({"of:a": {"value": [link("of:b")]}, "of:b": {"value": 1}})
    assert ids_of(query_graph(world.at(), {"roots": [{"id": "of:a"}]})) == ["of:a"]
    assert query_graph(world.at(), {"roots": []}) == []


@pytest.mark.shows("TRAV-QUERY")
def test_roots_are_equal_when_their_schemas_are_whatever_the_order_of_members() -> None:
    one = roots_of(query("of:a", schema={"type": "object", "properties": {"x": {}, "y": True}}))
    other = roots_of(query("of:a", schema={"properties": {"y": True, "x": {}}, "type": "object"}))
    assert one == other
    assert {one: 1}[other] == 1
    assert one[0].selector.schema == schema_of(
        {"type": "object", "properties": {"x": True, "y": True}}
    )
