"""What happened in a session, independent of any agent's file format.

An adapter turns a session log into these, oldest first, for the entries the model can still see on
the active path. The trust engine uses nothing else.

    Anchored      a result printed the plain text of these lines
    Derived       a result that only makes sense on top of text the model already had
    Refreshed     the model's copy was declared insufficient
    Barrier       a compaction: what came before may be gone
    Hidden        entries that are still in the log but no longer in the model's context
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from holdfast.reading.scope import Scope


class Anchored(NamedTuple):
    """Lines `scope` of a file with this digest were printed in full."""

    path: str
    scope: Scope
    digest: str


class Derived(NamedTuple):
    """An `unchanged`, `unchanged_range` or `diff` answer that is based on `base`."""

    mode: str
    path: str
    scope: Scope
    base: str
    digest: str


class Refreshed(NamedTuple):
    """The model's copy of this scope no longer counts."""

    path: str
    scope: Scope


class Barrier(NamedTuple):
    """Trust from before this point is void."""


class Hidden(NamedTuple):
    """These entries were taken out of the context, or rewritten there."""

    targets: Collection[str]


Event = Anchored | Derived | Refreshed | Barrier | Hidden
