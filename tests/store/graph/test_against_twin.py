"""The traversal agrees with a plain one, however it is asked and whatever it remembers."""

import copy
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.ids import GENESIS, MAIN, EntityId
from holdfast.store.errors import QueryError
from holdfast.store.graph import (
    GraphEntity,
    GraphLimits,
    Loaded,
    TrackedGraph,
    query_graph,
    roots_of,
)
from tests.scale import examples
from tests.store.graph import strategies, twin
from tests.store.graph.world import World

LIMITS = GraphLimits(path=8)


def _world(documents: dict[str, Any]) -> World:
    world = World()
    world.commit(documents)
    return world


def _twin(world: World, query: Any) -> list[GraphEntity]:
    found = twin.reached(world.find, query, "here", LIMITS.path)
    return [_entity(entity, loaded) for entity, loaded in found.items()]


def _entity(entity: str, loaded: Loaded | None) -> GraphEntity:
    seq, document = loaded or (GENESIS, None)
    return GraphEntity(branch=MAIN, id=EntityId(entity), seq=seq, document=document)


def _ask(world: World, query: Any) -> list[GraphEntity]:
    return query_graph(world.at(), query, space="here", limits=LIMITS)


def _graph() -> TrackedGraph:
    return TrackedGraph(space="here", limits=LIMITS)


@pytest.mark.shows("TRAV-ALGORITHM", "TRAV-SHARED")
@given(strategies.worlds, strategies.queries)
@settings(max_examples=examples(300))
def test_a_query_reaches_what_the_plain_traversal_reaches(documents: Any, query: Any) -> None:
    world = _world(documents)
    assert _ask(world, query) == _twin(world, query)


@pytest.mark.shows("INV-37", "TRAV-MEMO")
@given(strategies.worlds, strategies.queries, st.randoms(use_true_random=False))
@settings(max_examples=examples(100))
def test_order_repetition_and_growth_change_no_answer(
    documents: Any, query: Any, chance: random.Random
) -> None:
    world = _world(documents)
    before = copy.deepcopy(world.writes)
    whole = _ask(world, query)
    shuffled = [*query["roots"], query["roots"][0]]
    chance.shuffle(shuffled)
    assert _ask(world, {"roots": shuffled}) == whole, "the order of roots"
    assert _ask(world, query) == whole, "warm schemas"
    graph = _graph()
    memo, size = graph.memo, 0
    reported: dict[str, GraphEntity] = {}
    for root in shuffled:
        change = graph.grow(world.at(), roots_of({"roots": [root]}, LIMITS))
        reported |= {entity["id"]: entity for entity in change.entities}
        assert graph.memo is memo
        assert len(memo) >= size
        size = len(memo)
    assert graph.entities() == whole, "growth, one root at a time"
    assert [reported[entity] for entity in sorted(reported)] == whole, "every change is told"
    assert graph.reachable() == {entity["id"] for entity in whole}
    assert world.writes == before, "documents are never touched"


writes = st.lists(strategies.worlds.filter(bool), max_size=4)


@pytest.mark.shows("INV-38", "INV-28", "TRAV-REFRESH", "TRAV-DANGLING", "TRAV-PRUNE")
@given(strategies.worlds, strategies.queries, writes, st.booleans())
@settings(max_examples=examples(150))
def test_a_refreshed_graph_holds_what_a_fresh_query_finds(
    documents: Any, query: Any, commits: list[Any], pruning: bool
) -> None:
    world = _world(documents)
    graph = _graph()
    graph.grow(world.at(), roots_of(query, LIMITS))
    sent = {entity["id"]: entity for entity in graph.entities()}
    for commit in commits:
        world.commit(commit)
        memo = dict(graph.memo)
        change = graph.refresh(world.at(), {EntityId(entity) for entity in commit})
        assert graph.memo == memo, "a refresh leaves the growth memo alone"
        sent |= {entity["id"]: entity for entity in change.entities}
        assert [sent[entity] for entity in sorted(sent)] == graph.entities(), "changes add up"
        fresh = _ask(world, query)
        assert graph.reachable() == {entity["id"] for entity in fresh}
        held = {entity["id"]: entity for entity in graph.entities()}
        assert all(held[entity["id"]] == entity for entity in fresh)
        for entity, shown in held.items():
            assert shown == _entity(entity, world.find(entity)), "nothing held is out of date"
        if pruning:
            gone = graph.prune()
            deleted = {entity for entity in gone.removed if world.find(entity) is not None}
            assert set(gone.removed) <= gone.untracked | deleted
            assert not any(map(graph.tracks, gone.untracked))
            assert graph.entities() == fresh
            anew = _graph()
            anew.grow(world.at(), roots_of(query, LIMITS))
            assert graph.frontier == anew.frontier, "as if it had never held anything else"
            assert graph.documents == anew.documents
            sent = {entity["id"]: entity for entity in fresh}


@pytest.mark.shows("TRAV-REFRESH")
@given(strategies.worlds, strategies.queries, writes)
@settings(max_examples=examples(100))
def test_growth_after_refreshes_is_a_query_of_all_roots(
    documents: Any, query: Any, commits: list[Any]
) -> None:
    world = _world(documents)
    graph = _graph()
    roots = roots_of(query, LIMITS)
    graph.grow(world.at(), roots[:1])
    for commit in commits:
        world.commit(commit)
        graph.refresh(world.at(), {EntityId(entity) for entity in commit})
    graph.grow(world.at(), roots[1:])
    assert graph.reachable() == {entity["id"] for entity in _ask(world, query)}
    graph.prune()
    assert graph.entities() == _ask(world, query)


def _state(graph: TrackedGraph) -> Any:
    return copy.copy(
        (
            dict(graph.roots),
            {entity: dict(selectors) for entity, selectors in graph.frontier.items()},
            dict(graph.memo),
            dict(graph.documents),
            graph.entities(),
            graph.reachable(),
        )
    )


@pytest.mark.shows("TRAV-ROLLBACK")
@given(strategies.worlds, strategies.queries, strategies.worlds, st.integers(0, 3), st.booleans())
@settings(max_examples=examples(100))
def test_a_failed_growth_or_refresh_changes_nothing(
    documents: Any, query: Any, commit: Any, reads: int, growing: bool
) -> None:
    world = _world(documents)
    graph = _graph()
    roots = roots_of(query, LIMITS)
    graph.grow(world.at(), roots[:1])
    world.commit(commit)
    before, left = _state(graph), reads

    def failing(entity: EntityId) -> Loaded | None:
        nonlocal left
        left -= 1
        if left < 0:
            raise QueryError("the store is away")
        return world.find(entity)

    try:
        if growing:
            graph.grow(failing, roots[1:])
        else:
            graph.refresh(failing, {EntityId(entity) for entity in commit})
    except QueryError:
        assert _state(graph) == before
