"""What happened in a session, independent of any agent's file format.

An adapter turns a session log into these, oldest first, for the entries the model can still see on
the active path. The trust engine uses nothing else.

    Anchored      a result of ours printed the plain text of these lines
    Printed       a result of the agent's own tool, or of our search, printed these lines
    Patched       the model edited the file itself; what changed where is known exactly
    Replaced      the same, but only the old and new text are known, as the model wrote them
    Pieced        our short form of the agent's own result: some lines printed, the others named
    Forgotten     the file changed in a way that leaves nothing certain about it
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


UNSURE = "\0"
"""Replaces a printed line when it is not certain what text the model saw."""


class Dangling(NamedTuple):
    """An `unchanged` whose base is not in the context any more; an older text may still be there.

    It says that the lines were those of the text with this digest.
    """

    path: str
    scope: Scope
    digest: str


class Printed(NamedTuple):
    """These lines were printed as they are, the first of them under this number."""

    path: str
    first: int
    rows: tuple[str, ...]
    whole: bool = False
    """Whether this was all of the file."""
    excerpt: bool = False
    """Whether our search showed them: the lines are held, but this is not a read."""


class Hunk(NamedTuple):
    """Lines that an edit replaced, numbered as before the edit."""

    first: int
    """0 when the place is not known."""
    old: tuple[str, ...]
    new: tuple[str, ...]


class Patched(NamedTuple):
    """The model's own edit: hunks in order, and the lines that it wrote out in full."""

    path: str
    hunks: tuple[Hunk, ...]
    written: frozenset[str]


class Place(NamedTuple):
    """Where an edit happened: the first line, the lines there before and after."""

    first: int
    old: int
    new: int


class Replaced(NamedTuple):
    """The model's own edit as it wrote it: an old text and the new one.

    Without `places` the edit is where the old text is held, if that is exactly one place.
    """

    path: str
    old: str
    new: str
    every: bool = False
    places: tuple[Place, ...] = ()


FOLDED = 0
"""Used instead of a line number: these lines were neither printed nor held, so prove nothing."""


class Piece(NamedTuple):
    """A run of lines in a short answer: printed, named as held before, or folded."""

    first: int
    lines: int
    before: int | None = None
    """The number under which the first line was held; None if printed, FOLDED if folded."""


class Pieced(NamedTuple):
    """A short answer to the agent's own read of a file that had this digest at the time."""

    path: str
    pieces: tuple[Piece, ...]
    digest: str
    whole: bool = False


class Forgotten(NamedTuple):
    """Nothing is certain about this file any more."""

    path: str


Seen = Printed | Patched | Replaced | Pieced | Forgotten
"""Events about single lines, with or without a stored text."""


class Together(NamedTuple):
    """Several events of one entry about lines, in order."""

    events: tuple[Seen, ...]


Event = Anchored | Derived | Refreshed | Barrier | Hidden | Seen | Together

LINES = "/lines"
"""The suffix of an entry's id when the entry repeats its neighbour's event line by line."""


def summary(event: Seen | Together) -> str:
    """What an event is, in a few words."""
    match event:
        case Together(events):
            return "; ".join(map(summary, events))
        case Printed(path, first, rows, _, excerpt):
            by = "shown by a search" if excerpt else "printed by the agent's own tool"
            return f"read {path} {first}-{first + len(rows) - 1} {by}"
        case Patched(path, hunks):
            count = len(hunks)
            return f"edit {path} in {count} place{'s' if count != 1 else ''}"
        case Replaced(path):
            return f"edit {path}"
        case Pieced(path, pieces):
            printed = sum(piece.lines for piece in pieces if piece.before is None)
            return f"read {path} in short, {printed} of its lines printed"
        case Forgotten(path):
            return f"nothing is certain about {path}"
