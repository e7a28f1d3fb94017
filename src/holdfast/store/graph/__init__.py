"""Which documents a set of roots reaches: one traversal for queries, watches and clients.

It reads documents through a callback and does no I/O itself, so server and client reach the same
documents by running the same code.
"""

from holdfast.store.graph.selectors import (
    DEFAULT_LIMITS,
    GraphLimits,
    GraphPlace,
    Selector,
    point_of,
    roots_of,
)
from holdfast.store.graph.tracked_graph import (
    GraphChange,
    GraphEntity,
    Pruned,
    QueryResult,
    Rewrite,
    TrackedGraph,
    query_graph,
)
from holdfast.store.graph.walk import Load, Loaded, Memo

__all__ = [
    "DEFAULT_LIMITS",
    "GraphChange",
    "GraphEntity",
    "GraphLimits",
    "GraphPlace",
    "Load",
    "Loaded",
    "Memo",
    "Pruned",
    "QueryResult",
    "Rewrite",
    "Selector",
    "TrackedGraph",
    "point_of",
    "query_graph",
    "roots_of",
]
