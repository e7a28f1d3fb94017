"""A graph that is kept up to date: the documents a set of roots reaches, and their dependencies.

    grow(load, roots)      add roots; stops at places already tracked, keeps its memo
    refresh(load, dirty)   documents were written; visits their places again, with its own memo
    stands, restate        the same for a document whose links did not change, computed once
    prune()                drop what the roots no longer reach

| kept | what it is | for how long |
|---|---|---|
| frontier | document -> its selectors -> the places each leads to | as long as the graph |
| memo | what places lead to, by revision | as long as the graph; grows only when the graph does |
| documents | what was loaded, missing ones included | until written |

A missing target of a link is tracked like any other place but not reported. Its creation is then a
write to a tracked document.

`refresh` keeps too much rather than too little: a reported document stays until `prune`.
`reachable` is exact and reads nothing, because each place remembers what it leads to. When `grow`
or `refresh` raises, nothing changes; the ids passed to that `refresh` must be passed again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from holdfast.ids import MAIN, BranchName, EntityId, Seq
from holdfast.store.graph.links import INLINE
from holdfast.store.graph.selectors import (
    DEFAULT_LIMITS,
    GraphLimits,
    GraphPlace,
    Selector,
    roots_of,
)
from holdfast.store.graph.walk import Documents, Load, Loaded, Memo, Traversal, exists


class GraphEntity(TypedDict):
    """A document in an answer, in wire form; `document` is null when it does not exist."""

    branch: BranchName
    id: EntityId
    seq: Seq
    document: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class GraphChange:
    """The result of `grow` or `refresh`."""

    entities: list[GraphEntity]
    """Documents that are new in the graph or at another revision than before, sorted by id."""
    tracked: frozenset[EntityId]
    """Ids whose writes matter from now on and did not before."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """The result of `prune`."""

    removed: list[EntityId]
    """Documents that were reported and are no longer reached, sorted."""
    untracked: frozenset[EntityId]
    """Ids whose writes no longer matter. A removed id is one of them, unless a link still names it
    and it is gone because it was deleted."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A document that was written, shared by all graphs of its branch that track it."""

    entity: GraphEntity
    loaded: Loaded
    leads: dict[Selector, tuple[GraphPlace, ...]]
    """The places it leads to now, by selector, as far as known."""


Frontier = dict[EntityId, dict[Selector, tuple[GraphPlace, ...]]]
"""Document -> the selectors it is tracked under -> the places each leads to."""


class TrackedGraph:
    """The documents that roots reach on one branch. Pass writes to `refresh` before growing."""

    def __init__(
        self,
        branch: BranchName = MAIN,
        space: str = "",
        limits: GraphLimits = DEFAULT_LIMITS,
        memo: Memo | None = None,
    ) -> None:
        """All graphs of a space whose `load` reads stored revisions may share one `memo`: a second
        graph over the same documents then walks nothing. Its owner may clear it at any time.
        """
        self.branch, self.space, self.limits = branch, space, limits
        self.roots: dict[GraphPlace, None] = {}
        self.frontier: Frontier = {}
        self.memo: Memo = {} if memo is None else memo
        self._shares_memo = memo is not None
        self.documents: dict[EntityId, Loaded | None] = {}
        self._root_ids: set[EntityId] = set()
        self._entities: dict[EntityId, GraphEntity] = {}

    def entities(self) -> list[GraphEntity]:
        """Every document of the graph, sorted by id."""
        return [self._entities[entity] for entity in sorted(self._entities)]

    @property
    def size(self) -> int:
        """How many documents it has."""
        return len(self._entities)

    def tracks(self, entity: EntityId) -> bool:
        """Whether a write to this document can change the graph."""
        return entity in self.frontier

    @property
    def dangling(self) -> frozenset[EntityId]:
        """Missing documents that a link points to."""
        return frozenset(
            entity
            for entity, loaded in self.documents.items()
            if not exists(loaded) and entity not in self._root_ids
        )

    def grow(self, load: Load, roots: Iterable[GraphPlace]) -> GraphChange:
        """Add roots."""
        roots = dict.fromkeys(roots)
        documents = Documents(load, self.documents)
        traversal = self._traversal(documents, self.memo, frozenset())
        traversal.run(roots, self.limits.depth)
        self.roots.update(roots)
        self._root_ids.update(root.id for root in roots)
        self.memo.update(traversal.new_memo)
        return self._take(traversal, documents, {root.id for root in roots})

    def refresh(
        self, load: Load, dirty: Collection[EntityId], memo: Memo | None = None
    ) -> GraphChange:
        """Visit again every place in the documents that were written.

        Pass a new `memo` for each round of refreshes, shared by its graphs.
        """
        stale = {entity for entity in dirty if entity in self.frontier}
        if not stale:
            return GraphChange([], frozenset())
        memo = {} if memo is None else memo
        documents = Documents(load, {})
        unmoved = self._unmoved(documents, stale, memo)
        if unmoved is not None:
            return unmoved
        traversal = self._traversal(documents, memo, stale)
        written = stale.copy()
        while written:
            starts = [
                GraphPlace(entity, selector)
                for entity in written
                for selector in self.frontier[entity]
            ]
            traversal.run(starts, None)
            # Other documents may have been written as well: `load` reads the newest state, and the
            # notification of that write may still be on its way.
            written = {
                entity
                for entity, loaded in documents.read.items()
                if entity not in stale
                and entity in self.frontier
                and _revision(loaded) != _revision(self.documents.get(entity))
            }
            stale |= written
        memo.update(traversal.new_memo)
        return self._take(traversal, documents, ())

    def stands(self, rewrite: Rewrite) -> bool:
        """Whether a written document still exists and leads to the same places.

        May return false for one that does, if that is not known yet.
        """
        id = rewrite.entity["id"]
        before = self._entities.get(id)
        if before is None or before["document"] is None:
            return False
        return self.frontier[id].items() <= rewrite.leads.items()

    def restate(self, rewrite: Rewrite) -> None:
        """Update a written document that `stands`, as `refresh` would."""
        id = rewrite.entity["id"]
        self.documents[id] = rewrite.loaded
        self._entities[id] = rewrite.entity

    def _unmoved(
        self, documents: Documents, stale: Collection[EntityId], memo: Memo
    ) -> GraphChange | None:
        """The change, if according to the memo these documents lead to the same places.

        Then a traversal would visit nothing else. None means unknown.
        """
        for entity in stale:
            loaded = documents.get(entity)
            gone = loaded is None or loaded.document is None
            for selector, led_to in self.frontier[entity].items():
                seq = Seq(0) if loaded is None else loaded.seq
                if led_to != (() if gone else memo.get((GraphPlace(entity, selector), seq))):
                    return None
        read = documents.read
        self.documents.update(read)
        changed = [entity for entity in sorted(read) if self._report(entity, read[entity])]
        return GraphChange([self._entities[entity] for entity in changed], frozenset())

    def _traversal(
        self, documents: Documents, memo: Memo, stale: Collection[EntityId]
    ) -> Traversal:
        def is_known(place: GraphPlace) -> bool:
            return place.id not in stale and place.selector in self.frontier.get(place.id, ())

        return Traversal(documents, is_known, memo, self.space, self.limits, self.frontier)

    def _take(
        self, traversal: Traversal, documents: Documents, touched: Collection[EntityId]
    ) -> GraphChange:
        """Add the result of a traversal to the graph."""
        tracked = set()
        for place, to in traversal.steps.items():
            selectors = self.frontier.get(place.id)
            if selectors is None:
                tracked.add(place.id)
                selectors = self.frontier[place.id] = {}
            selectors[place.selector] = to
        self.documents.update(documents.read)
        changed = [
            entity
            for entity in sorted({*documents.read, *touched})
            if self._report(entity, self.documents[entity])
        ]
        return GraphChange([self._entities[entity] for entity in changed], frozenset(tracked))

    def _report(self, entity: EntityId, loaded: Loaded | None) -> bool:
        """Update a document in the answer; True if that changed the answer."""
        before = self._entities.get(entity)
        reported = exists(loaded) or entity in self._root_ids or before is not None
        if not reported or entity.startswith(INLINE):
            return False
        seq, document = (Seq(0), None) if loaded is None else loaded
        if before is not None and (before["seq"], before["document"] is None) == (
            seq,
            document is None,
        ):
            return False
        self._entities[entity] = GraphEntity(
            branch=self.branch, id=entity, seq=seq, document=document
        )
        return True

    def reachable(self) -> frozenset[EntityId]:
        """What a query of the same roots reports, as of the last refresh."""
        return frozenset(
            place.id
            for place in self._reached()
            if not place.id.startswith(INLINE)
            and (place.id in self._root_ids or exists(self.documents[place.id]))
        )

    def _reached(self) -> set[GraphPlace]:
        """Every place that the roots lead to."""
        reached: set[GraphPlace] = set()
        ahead = list(self.roots)
        while ahead:
            place = ahead.pop()
            if place not in reached:
                reached.add(place)
                ahead.extend(self.frontier[place.id][place.selector])
        return reached

    def prune(self) -> Pruned:
        """Drop every place that the roots no longer reach."""
        frontier: Frontier = {}
        for entity, selector in self._reached():
            frontier.setdefault(entity, {})[selector] = self.frontier[entity][selector]
        reachable = self.reachable()
        removed = sorted(entity for entity in self._entities if entity not in reachable)
        untracked = frozenset(self.frontier.keys() - frontier.keys())
        self.frontier = frontier
        for entity in untracked:
            del self.documents[entity]
        for entity in removed:
            del self._entities[entity]
        if not self._shares_memo:
            for key in [key for key in self.memo if not self._current(*key)]:
                del self.memo[key]
        return Pruned(removed, untracked)

    def _current(self, place: GraphPlace, seq: Seq) -> bool:
        loaded = self.documents.get(place.id)
        return (
            loaded is not None and loaded.seq == seq and place.selector in self.frontier[place.id]
        )


def _revision(loaded: Loaded | None) -> tuple[int, bool]:
    return (0, True) if loaded is None else (loaded.seq, loaded.document is None)


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The documents a query reached, and the newest seq of the space when it ran."""

    newest_seq: Seq
    entities: tuple[GraphEntity, ...]

    def to_wire(self) -> dict[str, Any]:
        return {"serverSeq": self.newest_seq, "entities": list(self.entities)}


def query_graph(
    load: Load, query: Mapping[str, Any], *, space: str = "", limits: GraphLimits = DEFAULT_LIMITS
) -> list[GraphEntity]:
    """Every document that `query` (in wire form) reaches, whole, sorted by id.

    `load` is bound to the query's branch and seq. A missing root is reported with a null document;
    a missing target of a link is not reported. `space` is the name of this space, for links that
    contain it.
    """
    roots = roots_of(query, limits)
    graph = TrackedGraph(BranchName(query.get("branch") or MAIN), space, limits)
    graph.grow(load, roots)
    return graph.entities()
