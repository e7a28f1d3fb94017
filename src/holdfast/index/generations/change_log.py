"""A log of which files recent generations changed, so that a reader can update what it has open.

Each change names the generation it starts from and the one it leads to, by identity. A reader uses
the log only if it has an unbroken chain of changes from the generation it knows to the current one;
otherwise it reads everything. A writer that does not log breaks the chain, which is safe.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from holdfast.index.generations.model import Identity

FILES_MAX = 1_000
"""Larger changes are not logged: reading all files is as quick."""
NOTES_MAX = 8
"""How many changes are kept. Syncs without changes are logged too, so readers often lag."""


class Change(msgspec.Struct, frozen=True):
    """The difference between two generations: the numbers of removed and of added files."""

    before: Identity
    after: Identity
    removed: frozenset[int]
    added: frozenset[int]

    def then(self, next: Change) -> Change:
        """Both changes as one. The number of a removed file may be reused."""
        return Change(
            self.before,
            next.after,
            self.removed | (next.removed - self.added),
            (self.added - next.removed) | next.added,
        )

    @property
    def files(self) -> int:
        return len(self.removed) + len(self.added)


def noted(notes: Iterable[Change], change: Change) -> list[Change]:
    """The log with one more change, cut to the limits and to changes that lead to it."""
    if change.files > FILES_MAX:
        return []
    changes = [change]
    files = change.files
    for note in reversed(list(notes)):
        files += note.files
        if note.after != changes[0].before or len(changes) == NOTES_MAX or files > FILES_MAX:
            break
        changes.insert(0, note)
    return changes


def leading(notes: Iterable[Change], before: Identity, after: Identity) -> Change | None:
    """The change from one generation to another; None if the log has no chain between them."""
    whole: Change | None = None
    for note in notes:
        if whole is not None and note.before == whole.after:
            whole = whole.then(note)
        else:
            whole = note if note.before == before else None
    return whole if whole is not None and whole.after == after else None


def encode(notes: Sequence[Change]) -> str:
    return json.dumps([[n.before, n.after, sorted(n.removed), sorted(n.added)] for n in notes])


def decode(text: object) -> list[Change]:
    """The inverse of `encode`; an empty log for anything that is not text."""
    if not isinstance(text, str):
        return []
    return [
        Change((old, old_run), (new, new_run), frozenset(removed), frozenset(added))
        for (old, old_run), (new, new_run), removed, added in json.loads(text)
    ]
