"""Notes of what generations changed, so that a reader of an earlier one need not read all anew.

A note names the generation it leads from and the one it leads to, by identity. A reader follows
notes only if they lead, each from the last one's end, from what it knows to what is there; a writer
that takes none leaves the last ones behind, which then lead nowhere, and all is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.index.generations.model import Identity

FILES_MAX = 1_000
"""More than this is not noted: reading all files is as quick then."""
NOTES_MAX = 8
"""A sync without changes has a note too, so a reader is often some behind."""


@dataclass(frozen=True, slots=True)
class Change:
    """What made a generation of an earlier one: the numbers of files that went, and that came."""

    before: Identity
    after: Identity
    removed: frozenset[int]
    added: frozenset[int]

    def then(self, next: Change) -> Change:
        """Both, one after the other. A number may be given again once its file is gone."""
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
    """The notes with one more; those that do not lead to it, or are too many, are left out."""
    if change.files > FILES_MAX:
        return []
    kept = [change]
    files = change.files
    for note in reversed(list(notes)):
        files += note.files
        if note.after != kept[0].before or len(kept) == NOTES_MAX or files > FILES_MAX:
            break
        kept.insert(0, note)
    return kept


def leading(notes: Iterable[Change], before: Identity, after: Identity) -> Change | None:
    """The change from one generation to another as the notes tell it; None if they do not."""
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
    """The inverse of `encode`; of anything that is no text, no notes."""
    if not isinstance(text, str):
        return []
    return [
        Change((old, old_run), (new, new_run), frozenset(removed), frozenset(added))
        for (old, old_run), (new, new_run), removed, added in json.loads(text)
    ]
