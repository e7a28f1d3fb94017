"""The watches of a session, and the client's copy of what they reach.

A session has watches; each is a graph of documents on a branch. What all of them reach together is
the watch union, and a document in two watches is sent once. The client's copy of the union is
mirrored here entry by entry, by revision and never by payload; what is sent is the difference.

| change | sent | removed |
|---|---|---|
| `replace` | the whole union again | what left it |
| `add` | what is new or at another revision | nothing |
| `refresh` after writes | what is new or at another revision | nothing: what is orphaned stays |
| `prune` | nothing | orphans, if the client understands that |
| `resume` | what is new, at another revision, or not yet integrated | what left the union |

A refused change leaves everything as it was.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.ids import GENESIS, MAIN, BranchName, EntityId, Seq
from holdfast.store import codec
from holdfast.store.errors import InvalidValue, QueryError
from holdfast.store.graph import (
    DEFAULT_LIMITS,
    GraphChange,
    GraphEntity,
    GraphLimits,
    TrackedGraph,
    roots_of,
)
from holdfast.sync.server.read_cache import DocumentKey, KnownDocument, ReadCache, Written, upsert
from holdfast.sync.wire.errors import ProtocolError
from holdfast.sync.wire.messages import Remove, Sync, WatchSpec


def branch_of(watch: WatchSpec) -> BranchName:
    """The branch a watch is on."""
    branch = watch.query.get("branch")
    if branch is None:
        return MAIN
    if not isinstance(branch, str):
        raise QueryError("the branch of a query must be a string")
    return BranchName(branch)


def definition(watch: WatchSpec) -> str:
    """A text that two watches share exactly when they request the same thing."""
    query = watch.query
    roots = query.get("roots")
    listed = roots if isinstance(roots, list) else [roots]
    try:
        return codec.canonical(
            [
                watch.kind,
                query.get("branch") or MAIN,
                query.get("atSeq"),
                query.get("excludeSent"),
                sorted(codec.canonical(_root(root)) for root in listed),
            ]
        )
    except InvalidValue as error:
        raise QueryError(f"the watch {watch.id} cannot be compared: {error}") from None


def _root(root: Any) -> Any:
    if not isinstance(root, Mapping):
        return root
    selector = root.get("selector")
    if not isinstance(selector, Mapping):
        return [root.get("id"), selector]
    return [root.get("id"), selector.get("path", []), selector.get("schema", False)]


class WatchSet:
    """A session's watches, the graphs they reach, and the client's copy of them."""

    def __init__(self, space: str = "", limits: GraphLimits = DEFAULT_LIMITS) -> None:
        self._space, self._limits = space, limits
        self.watches: dict[str, WatchSpec] = {}
        self.texts: dict[str, str] = {}
        """The watches as stored text, by id; filled by the session store."""
        self.graphs: dict[BranchName, TrackedGraph] = {}
        self.known: dict[DocumentKey, KnownDocument] = {}
        self.removed: dict[DocumentKey, Seq] = {}
        """The removed documents, each with the seq after which the client must know it."""

    def tracked(self) -> list[tuple[BranchName, Iterable[EntityId]]]:
        """Every document whose writes matter, by branch."""
        return [(branch, graph.frontier.keys()) for branch, graph in self.graphs.items()]

    @property
    def is_idle(self) -> bool:
        """Whether nothing is watched and the client has nothing, as far as we know."""
        return not (self.watches or self.known or self.removed)

    # changing the watches

    def replace(
        self, watches: Iterable[WatchSpec], views: ReadCache, since: Seq, synced: Seq
    ) -> Sync:
        """Watch this and nothing else. `synced` is how far the last sync went."""
        by_id: dict[str, WatchSpec] = {}
        for watch in watches:
            other = by_id.setdefault(watch.id, watch)
            if other is not watch and definition(other) != definition(watch):
                raise ProtocolError(f"session.watch.set names the watch id {watch.id} twice")
        graphs = self._evaluated(by_id.values(), views)
        self.watches, self.graphs, self.texts = by_id, graphs, {}
        union = self._union(graphs)
        removes = sorted(key for key in self.known if key not in union)
        return self._sync(since, views.seq, synced, union.values(), removes)

    def new_watches(self, watches: Iterable[WatchSpec]) -> list[WatchSpec]:
        """Those that are new; ProtocolError if an id is already used with another definition."""
        fresh: dict[str, WatchSpec] = {}
        for watch in watches:
            existing = self.watches.get(watch.id) or fresh.get(watch.id)
            if existing is None:
                fresh[watch.id] = watch
            elif definition(existing) != definition(watch):
                raise ProtocolError(
                    "session.watch.add may not replace an existing watch id; use session.watch.set"
                )
        return list(fresh.values())

    def add(
        self, fresh: list[WatchSpec], views: ReadCache, since: Seq
    ) -> tuple[Sync, dict[BranchName, frozenset[EntityId]]]:
        """Watch these too; returns the sync and the documents that are newly tracked."""
        by_branch: dict[BranchName, list[WatchSpec]] = {}
        for watch in fresh:
            by_branch.setdefault(branch_of(watch), []).append(watch)
        changes: dict[BranchName, GraphChange] = {}
        grown: dict[BranchName, TrackedGraph] = {}
        for branch, watches in by_branch.items():
            graph = self.graphs.get(branch)
            if graph is None:
                graph = TrackedGraph(branch, self._space, self._limits)
            elif len(by_branch) > 1:
                # Growing one graph is atomic; growing several is not, so copies are grown.
                graph = _copied(graph)
            roots = [root for watch in watches for root in roots_of(watch.query, self._limits)]
            changes[branch] = graph.grow(views(branch), roots)
            grown[branch] = graph
        self.graphs.update(grown)
        self.watches.update({watch.id: watch for watch in fresh})
        entities = [entity for change in changes.values() for entity in change.entities]
        sync = self._sync(since, views.seq, since, self._changed(entities), ())
        return sync, {branch: change.tracked for branch, change in changes.items()}

    # after writes

    def rewritten(
        self, stale: Mapping[BranchName, set[EntityId]], views: ReadCache
    ) -> list[Written] | None:
        """Apply writes that did not change the links of their documents, as most do not.

        Returns the documents that the client has at another revision, sorted; None if only a
        `refresh` can tell.
        """
        graphs: list[tuple[TrackedGraph, Written]] = []
        for branch, ids in stale.items():
            graph = self.graphs.get(branch)
            if graph is None:
                continue
            for id in ids:
                if graph.tracks(id):
                    written = views.written(branch, id)
                    if written is None or not graph.stands(written.rewrite):
                        return None
                    graphs.append((graph, written))
        changed = []
        for graph, written in graphs:
            graph.restate(written.rewrite)
            known = self.known.get(written.key)
            if known is None or known.seq != written.known.seq or known.deleted:
                self.known[written.key] = written.known
                self.removed.pop(written.key, None)
                changed.append(written)
        if len(changed) > 1:
            changed.sort(key=_by_key)
        return changed

    def refresh(
        self, stale: Mapping[BranchName, set[EntityId]], views: ReadCache, since: Seq
    ) -> tuple[Sync, dict[BranchName, frozenset[EntityId]]]:
        """Evaluate the watches again where documents were written."""
        entities: list[GraphEntity] = []
        tracked: dict[BranchName, frozenset[EntityId]] = {}
        for branch, ids in stale.items():
            graph = self.graphs.get(branch)
            if graph is not None:
                change = graph.refresh(views(branch), ids, views.memo)
                entities += change.entities
                tracked[branch] = change.tracked
                for id in ids:
                    written = views.written(branch, id) if graph.tracks(id) else None
                    if written is not None:
                        # The next session whose graph has these places can reuse the result.
                        written.rewrite.leads.update(graph.frontier[id])
        return self._sync(since, views.seq, since, self._changed(entities), ()), tracked

    def has_orphans(self) -> bool:
        """Whether the client has documents that no watch reaches any more."""
        return any(len(graph.reachable()) < graph.size for graph in self.graphs.values())

    def prune(self, since: Seq, at: Seq) -> tuple[Sync, dict[BranchName, frozenset[EntityId]]]:
        """Remove orphans; the sync, and the documents that are no longer tracked."""
        untracked: dict[BranchName, frozenset[EntityId]] = {}
        removes: list[DocumentKey] = []
        for branch, graph in self.graphs.items():
            pruned = graph.prune()
            untracked[branch] = pruned.untracked
            removes += [(branch, id) for id in pruned.removed if (branch, id) in self.known]
        return self._sync(since, at, since, (), sorted(removes)), untracked

    def resume(self, views: ReadCache, since: Seq, integrated: Seq | None) -> Sync:
        """The client is back: returns what it lacks.

        `integrated` is how far it says it got; None assumes that it received everything that was
        sent.
        """
        graphs = self._evaluated(self.watches.values(), views)
        self.graphs = graphs
        union = self._union(graphs)
        removes = {key for key in self.known if key not in union}
        if integrated is not None:
            removes |= {
                key for key, at in self.removed.items() if at >= integrated and key not in union
            }
            for key, known in list(self.known.items()):
                if known.proven > integrated:
                    del self.known[key]
        changed = self._changed(union.values())
        return self._sync(since, views.seq, since, changed, sorted(removes))

    def doubt(self) -> None:
        """What was sent may not have arrived, and the client cannot report it: send all of it
        again.

        Which documents the client has is kept, so that it can be told what to remove.
        """
        unknown = KnownDocument(Seq(-1), False, GENESIS)
        self.known = dict.fromkeys(self.known, unknown)

    def integrated(self, seq: Seq) -> None:
        """The client has integrated everything up to `seq`."""
        # Orphans are removed without a commit, so at a seq that was acknowledged before: only a
        # later one says that the removal arrived. Removing twice does no harm.
        for key in [key for key, at in self.removed.items() if at < seq]:
            del self.removed[key]

    # the parts

    def _evaluated(
        self, watches: Iterable[WatchSpec], views: ReadCache
    ) -> dict[BranchName, TrackedGraph]:
        roots: dict[BranchName, list[Any]] = {}
        for watch in watches:
            watch_roots = roots_of(watch.query, self._limits)
            roots.setdefault(branch_of(watch), []).extend(watch_roots)
        graphs = {}
        for branch, places in roots.items():
            graph = graphs[branch] = TrackedGraph(branch, self._space, self._limits)
            graph.grow(views(branch), places)
        return graphs

    @staticmethod
    def _union(graphs: Mapping[BranchName, TrackedGraph]) -> dict[DocumentKey, GraphEntity]:
        return {
            (branch, entity["id"]): entity
            for branch, graph in graphs.items()
            for entity in graph.entities()
        }

    def _changed(self, entities: Iterable[GraphEntity]) -> list[GraphEntity]:
        """Those that the client has at another revision, or not at all."""
        changed = []
        for entity in entities:
            known = self.known.get((entity["branch"], entity["id"]))
            if known is None or (known.seq, known.deleted) != (
                entity["seq"],
                entity["document"] is None,
            ):
                changed.append(entity)
        return changed

    def _sync(
        self,
        since: Seq,
        at: Seq,
        synced: Seq,
        entities: Iterable[GraphEntity],
        removes: Iterable[DocumentKey],
    ) -> Sync:
        # A client that integrated up to `at` has this sync, unless an earlier sync had the same
        # `toSeq`. Then only an acknowledgement beyond `at` proves that this one arrived too.
        proven = at if at > synced else Seq(at + 1)
        removes = list(removes)
        for key in removes:
            self.known.pop(key, None)
            self.removed[key] = proven
        upserts = []
        for entity in sorted(entities, key=_by_place):
            key = (entity["branch"], entity["id"])
            deleted = entity["document"] is None
            self.known[key] = KnownDocument(entity["seq"], deleted, proven)
            self.removed.pop(key, None)
            upserts.append(upsert(entity))
        return Sync(
            from_seq=since,
            to_seq=at,
            upserts=upserts,
            removes=[Remove(branch=branch, id=id) for branch, id in removes],
        )


def _by_place(entity: GraphEntity) -> DocumentKey:
    return (entity["branch"], entity["id"])


def _by_key(written: Written) -> DocumentKey:
    return written.key


def is_empty(sync: Sync) -> bool:
    return not sync.upserts and not sync.removes


def _copied(graph: TrackedGraph) -> TrackedGraph:
    """A graph that can be grown without touching the original."""
    twin = copy.copy(graph)
    twin.roots = dict(graph.roots)
    twin.frontier = {id: dict(selectors) for id, selectors in graph.frontier.items()}
    twin.memo = dict(graph.memo)
    twin.documents = dict(graph.documents)
    twin._root_ids = set(graph._root_ids)
    twin._entities = dict(graph._entities)
    return twin
