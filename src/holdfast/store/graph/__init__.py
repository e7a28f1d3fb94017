"""One traversal for queries, watches and clients: which documents do some roots reach.

It reads documents through a function that it is given and does no I/O of its own, so both ends of
a session reach the same documents by running the same code.
"""

from holdfast.store.graph.selectors import (
    DEFAULT_LIMITS,
    Limits,
    Place,
    Selector,
    point_of,
    roots_of,
)
from holdfast.store.graph.tracked import (
    Change,
    Entity,
    Pruned,
    QueryResult,
    Rewrite,
    TrackedGraph,
    query_graph,
)
from holdfast.store.graph.walk import Load, Loaded, Memo

__all__ = [
    "DEFAULT_LIMITS",
    "Change",
    "Entity",
    "Limits",
    "Load",
    "Loaded",
    "Memo",
    "Place",
    "Pruned",
    "QueryResult",
    "Rewrite",
    "Selector",
    "TrackedGraph",
    "point_of",
    "query_graph",
    "roots_of",
]
