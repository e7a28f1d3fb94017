"""What one place leads to, and the traversal from a set of roots.

`leads_to` reads one document and returns the places its links point to. A traversal is the closure
of `leads_to` over some roots, breadth first, visiting each place once. The result for a place
depends only on its own document, so the closure depends only on the documents and the roots: not on
the order of roots, earlier visits or the content of caches.

Breadth first also defines depth: the fewest links between a place and any root.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple

from holdfast.ids import EntityId, Seq
from holdfast.store.errors import QueryError
from holdfast.store.graph.links import (
    INLINE,
    NOWHERE,
    DocumentLink,
    inline_document,
    is_index,
    link_in,
    source_of,
)
from holdfast.store.graph.schemas import FALSE, TRUE, Schema, Spend, alternatives
from holdfast.store.graph.selectors import SOURCE, GraphLimits, GraphPlace, Path, narrowed, place_of


class Loaded(NamedTuple):
    """A document as of one branch and seq; `document` is None when that revision deleted it."""

    seq: Seq
    document: Mapping[str, Any] | None


Load = Callable[[EntityId], Loaded | None]
"""Reads documents as of one branch and seq; None where there never was one."""


def exists(loaded: Loaded | None) -> bool:
    return loaded is not None and loaded.document is not None


class Documents:
    """The documents of a traversal, each read once: from those given, then with `load`."""

    def __init__(self, load: Load, preloaded: Mapping[EntityId, Loaded | None]) -> None:
        self._load, self._preloaded = load, preloaded
        self.read: dict[EntityId, Loaded | None] = {}

    def get(self, entity: EntityId) -> Loaded | None:
        if entity in self.read:
            return self.read[entity]
        if entity in self._preloaded:
            return self._preloaded[entity]
        if entity.startswith(INLINE):
            document = inline_document(entity)
            loaded = None if document is None else Loaded(Seq(0), document)
        else:
            loaded = self._load(entity)
        self.read[entity] = loaded
        return loaded


Memo = dict[tuple[GraphPlace, Seq], tuple[GraphPlace, ...]]
"""The targets of places, by place and revision; entries may become unused but never wrong."""


class Traversal:
    """The closure of `leads_to`. Its result is in `steps`; the graph is not changed yet."""

    def __init__(
        self,
        documents: Documents,
        is_known: Callable[[GraphPlace], bool],
        memo: Mapping[tuple[GraphPlace, Seq], tuple[GraphPlace, ...]],
        space: str,
        limits: GraphLimits,
        tracked: Collection[EntityId] = (),
    ) -> None:
        self._documents, self._is_known, self._memo = documents, is_known, memo
        self._space, self._limits = space, limits
        self._tracked, self._met = tracked, set[EntityId]()
        self._steps_left = limits.steps
        self.steps: dict[GraphPlace, tuple[GraphPlace, ...]] = {}
        self.new_memo: Memo = {}

    def run(self, starts: Iterable[GraphPlace], depth_max: int | None) -> None:
        """Visit everything reachable from `starts`, at most `depth_max` links away."""
        level, depth = list(starts), 0
        while level:
            following: list[GraphPlace] = []
            for place in level:
                if place in self.steps or self._is_known(place):
                    continue
                if depth_max is not None and depth > depth_max:
                    raise QueryError(
                        f"the graph is more than {depth_max} links deep at {place.id}",
                        hint="narrow the schema, or raise the depth limit",
                    )
                to = self.steps[place] = self._visit(place)
                following.extend(to)
            level, depth = following, depth + 1

    def _visit(self, place: GraphPlace) -> tuple[GraphPlace, ...]:
        self._spend()
        if place.id not in self._met and place.id not in self._tracked:
            self._met.add(place.id)
            self._check_entities()
        loaded = self._documents.get(place.id)
        if loaded is None or loaded.document is None:
            return ()
        key = (place, loaded.seq)
        to = self._memo.get(key)
        if to is None:
            to = leads_to(place, loaded.document, self._space, self._limits.path, self._spend)
            self.new_memo[key] = to
        return to

    def _check_entities(self) -> None:
        if len(self._tracked) + len(self._met) > self._limits.entities:
            raise QueryError(
                f"the graph has more than {self._limits.entities} documents",
                hint="narrow the schema, or raise the entity limit",
            )

    def _spend(self) -> None:
        self._steps_left -= 1
        if self._steps_left < 0:
            raise QueryError(
                f"the query takes more than {self._limits.steps} steps",
                hint="narrow the schema, or raise the step limit",
            )


def leads_to(
    place: GraphPlace, document: Mapping[str, Any], space: str, path_max: int, spend: Spend
) -> tuple[GraphPlace, ...]:
    """The places that `document` links to under the selector of `place`, and its source."""
    places: dict[GraphPlace, None] = {}

    def follow(link: DocumentLink, beyond: Path, schema: Schema) -> None:
        if link is NOWHERE or (link.space and link.space != space):
            return
        path = (*link.path, *beyond)
        if len(path) < path_max:
            places[place_of(link.id or place.id, path, schema)] = None

    path, schema = place.selector
    node: Any = document
    for depth, token in enumerate(path):
        if isinstance(node, dict):
            link = link_in(node) if depth else None
            if link is not None:
                # The schema applies at the end of the path, so the link's own schema is ignored.
                follow(link, path[depth:], schema)
                node = None
                break
            node = node.get(token)
        elif isinstance(node, list):
            node = node[int(token)] if is_index(token, len(node)) else None
        else:
            node = None
            break
    if schema is not FALSE:
        for link, at in _links_below(node, schema, spend):
            follow(link, (), narrowed(link, at))
    source = source_of(document)
    if source is not None:
        places[GraphPlace(source, SOURCE)] = None
    return tuple(places)


def _links_below(root: Any, schema: Schema, spend: Spend) -> list[tuple[DocumentLink, Schema]]:
    """Every link at or below `root` that `schema` follows, with the schema at its place.

    `walked` prevents walking a node twice under one schema, as the options of an anyOf would. Nodes
    are compared by identity; their document keeps them alive while this runs.
    """
    links: list[tuple[DocumentLink, Schema]] = []
    walked: set[tuple[int, Schema]] = set()
    stack: list[tuple[Any, Schema]] = [(root, schema)]
    while stack:
        node, schema = stack.pop()
        if isinstance(node, dict):
            link = link_in(node)
            if link is not None:
                links.append((link, schema))
                continue
        elif not isinstance(node, list):
            continue
        visit = (id(node), schema)
        if visit in walked:
            continue
        walked.add(visit)
        spend()
        if schema is TRUE:
            children = node.values() if isinstance(node, dict) else node
            stack.extend((child, TRUE) for child in children if isinstance(child, dict | list))
            continue
        for shape in alternatives(schema, node, spend):
            if isinstance(node, dict):
                keys: Iterable[str] = node
                if shape.default is FALSE and len(shape.properties) < len(node):
                    keys = [key for key in shape.properties if key in node]
                pairs = [(node[key], shape.child(key)) for key in keys]
            else:
                pairs = [(child, shape.item(index)) for index, child in enumerate(node)]
            stack.extend(pair for pair in pairs if pair[1] is not FALSE)
    return links
