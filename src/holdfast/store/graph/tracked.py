"""A graph that is kept up to date: what a set of roots reaches, and what would change that.

    grow(load, roots)      more roots; stops at what is tracked already, keeps its memo
    refresh(load, dirty)   documents were written; visits their places anew, with a memo of its own
    stands, restate        the same for a document that leads where it led before, worked out once
    prune()                lets go of what the roots no longer reach

| kept | what it is | for how long |
|---|---|---|
| frontier | document -> its selectors -> what each leads to | as long as the graph |
| memo | what places lead to, by revision | as long as the graph; grows only when the graph does |
| documents | what was loaded, missing ones included | until written |

A link's target that does not exist is tracked like any other place and is merely not reported. Its
creation is then a write to a tracked document, and is noticed like one.

`refresh` errs towards more: a document once reported stays until `prune`. `reachable` tells exactly
what the roots reach now, without reading anything, because each place remembers what it leads to.
Nothing changes when `grow` or `refresh` raises; the ids given to that `refresh` are still owed.
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
    """A document in an answer, as it goes on the wire; `document` is null when there is none."""

    branch: BranchName
    id: EntityId
    seq: Seq
    document: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class GraphChange:
    """What a `grow` or a `refresh` did."""

    entities: list[GraphEntity]
    """Documents that are new in the graph or at another revision than before, sorted by id."""
    tracked: frozenset[EntityId]
    """Ids whose writes matter from now on and did not before."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """What a `prune` let go of."""

    removed: list[EntityId]
    """Documents that were reported and are no longer reached, sorted."""
    untracked: frozenset[EntityId]
    """Ids whose writes no longer matter. A removed id is one of them, unless a link still names it
    and it is gone because it was deleted."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A document that was written, for every graph of its branch that tracks it."""

    entity: GraphEntity
    loaded: Loaded
    leads: dict[Selector, tuple[GraphPlace, ...]]
    """Where it leads now, by selector, as far as some graph has found out."""


Frontier = dict[EntityId, dict[Selector, tuple[GraphPlace, ...]]]
"""Document -> the selectors it is tracked under -> the places each leads to."""


class TrackedGraph:
    """What some roots reach on one branch. Give every write to `refresh` before growing again."""

    def __init__(
        self,
        branch: BranchName = MAIN,
        space: str = "",
        limits: GraphLimits = DEFAULT_LIMITS,
        memo: Memo | None = None,
    ) -> None:
        """A `memo` given here may serve all graphs of a space whose `load` reads stored revisions:
        the second graph over the same documents walks nothing. Its owner may clear it at any time.
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
        """Documents that some link names and that do not exist."""
        return frozenset(
            entity
            for entity, loaded in self.documents.items()
            if not exists(loaded) and entity not in self._root_ids
        )

    def grow(self, load: Load, roots: Iterable[GraphPlace]) -> GraphChange:
        """Reach from more roots."""
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
        """Visit anew every place in the documents that were written.

        A `memo` given here is for one round of refreshes: new for each round, shared by its graphs.
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
            # A document met on the way may turn out to have been written as well: `load` reads
            # as of now, and the word of that write may still be on its way to us.
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
        """Whether a written document exists as before and leads where it led before.

        May say no of one that does, while nobody has found out yet.
        """
        id = rewrite.entity["id"]
        before = self._entities.get(id)
        if before is None or before["document"] is None:
            return False
        return self.frontier[id].items() <= rewrite.leads.items()

    def restate(self, rewrite: Rewrite) -> None:
        """Take a written document that `stands`, as `refresh` would."""
        id = rewrite.entity["id"]
        self.documents[id] = rewrite.loaded
        self._entities[id] = rewrite.entity

    def _unmoved(
        self, documents: Documents, stale: Collection[EntityId], memo: Memo
    ) -> GraphChange | None:
        """The change, if the memo says that these documents lead where they led before.

        Then a traversal would step on nothing but them. None says nothing.
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
        def known(place: GraphPlace) -> bool:
            return place.id not in stale and place.selector in self.frontier.get(place.id, ())

        return Traversal(documents, known, memo, self.space, self.limits, self.frontier)

    def _take(
        self, traversal: Traversal, documents: Documents, touched: Collection[EntityId]
    ) -> GraphChange:
        """Make what a traversal found part of the graph."""
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
        """Put a document into the answer as it is now; True when that changed the answer."""
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
        """Forget every place that the roots do not lead to any more."""
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
    """Every document that `query`, as it came off the wire, reaches; whole, sorted by id.

    `load` is bound to the query's branch and seq. A missing root is reported with a null document,
    a missing target of a link is not. `space` is this space's name, for links that spell it out.
    """
    roots = roots_of(query, limits)
    graph = TrackedGraph(BranchName(query.get("branch") or MAIN), space, limits)
    graph.grow(load, roots)
    return graph.entities()
