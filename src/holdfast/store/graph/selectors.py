"""Selectors (parts of documents), and parsing of queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from holdfast.ids import MAIN, BranchName, EntityId, Seq
from holdfast.store.errors import QueryError
from holdfast.store.graph.links import DocumentLink, tokens
from holdfast.store.graph.schemas import FALSE, Schema, combine, schema_of

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GraphLimits:
    """How far one traversal may go before it is refused.

    Passing a limit raises QueryError; an answer is never shortened, because it would look complete.
    """

    depth: int = 1_000
    """Links between a root and a place. Applies to growth; a refresh goes as deep as needed."""
    entities: int = 10_000
    """Documents looked up, including missing ones."""
    steps: int = 2_000_000
    """Objects and arrays walked and schemas opened, over all documents."""
    path: int = 100
    """Keys in a path. A link whose path would become longer is not followed."""


DEFAULT_LIMITS = GraphLimits()


class Selector(NamedTuple):
    """A path from a document's root, and the schema for the value there."""

    path: Path
    schema: Schema


class GraphPlace(NamedTuple):
    """A selector in a document: the unit that a traversal visits once."""

    id: EntityId
    selector: Selector


SOURCE = Selector((), FALSE)
"""The selector of a document's source: the document itself, without its links."""


def place_of(entity: str, value_path: Path, schema: Schema) -> GraphPlace:
    """The place at a path that is relative to the document's value."""
    return GraphPlace(EntityId(entity), Selector(("value", *value_path), schema))


def roots_of(query: object, limits: GraphLimits = DEFAULT_LIMITS) -> tuple[GraphPlace, ...]:
    """The roots of a query in wire form; a malformed query raises QueryError."""
    if not isinstance(query, Mapping):
        raise QueryError("a query must be an object")
    roots = query.get("roots")
    if not isinstance(roots, list | tuple):
        raise QueryError("a query needs a list of roots")
    if not isinstance(query.get("branch", ""), str | None):
        raise QueryError("the branch of a query must be a string")
    return tuple(_root(index, root, limits) for index, root in enumerate(roots))


def point_of(query: object) -> tuple[BranchName, Seq | None]:
    """The branch and the seq of a query in wire form; no seq means now."""
    if not isinstance(query, Mapping):
        raise QueryError("a query must be an object")
    branch, at = query.get("branch"), query.get("atSeq")
    if branch is not None and not isinstance(branch, str):
        raise QueryError("the branch of a query must be a string")
    if at is not None and (isinstance(at, bool) or not isinstance(at, int) or at < 0):
        raise QueryError("the atSeq of a query must be a whole number")
    return BranchName(branch or MAIN), None if at is None else Seq(at)


def _root(index: int, root: Any, limits: GraphLimits) -> GraphPlace:
    entity = root.get("id") if isinstance(root, Mapping) else None
    if not isinstance(entity, str) or not entity:
        raise QueryError(f"root {index} needs the id of a document")
    selector = root.get("selector", {})
    if not isinstance(selector, Mapping):
        raise QueryError(f"the selector of root {index} ({entity}) must be an object")
    path = tokens(selector.get("path", ()))
    if path is None:
        raise QueryError(f"the path of root {index} ({entity}) must be a list of keys")
    if len(path) >= limits.path:
        raise QueryError(
            f"the path of root {index} ({entity}) is longer than {limits.path - 1} keys"
        )
    schema = selector.get("schema")
    return place_of(entity, path, FALSE if schema is None else schema_of(schema))


def narrowed(link: DocumentLink, schema: Schema) -> Schema:
    """The schema for the target of `link`, which was found under `schema`.

    A malformed schema in a link comes from the document's author, not from the reader, so it is
    ignored and does not fail the reader's query.
    """
    if link.schema is None:
        return schema
    try:
        return combine(schema, schema_of(link.schema))
    except QueryError:
        return schema
