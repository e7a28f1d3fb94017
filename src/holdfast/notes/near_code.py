"""The notes that are about some lines of code, as one line for the answer that shows the code.

Agents do not look for notes about code that they are about to read. So a read, a search and an
outline name the notes that link to what they show. The line is short, because every answer pays for
it. A failure here never fails the answer: without a store, or with a broken one, there is no line.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError
from holdfast.files.identity import RepositoryPlace, place_of
from holdfast.links import CodeLink, Judged, links_in
from holdfast.notes.note import first_words

if TYPE_CHECKING:
    from holdfast.store.store import Store

SETTING = "HOLDFAST_NOTES"
"""`off` for no notes in answers; else the space whose notes are shown."""
OFF = "off"

BYTES_MAX = 240
"""60 tokens of 4 bytes."""
WORDS_WIDTH = 72
DOCUMENTS_MAX = 20_000
"""In a larger space only this many documents are read, by id."""
JUDGED_MAX = 512

Lines = tuple[int, int]
Shown = Mapping[str, Sequence[Lines] | None]
"""Real paths of files, with the lines that an answer shows; None for all of them."""


@dataclass(frozen=True, slots=True)
class LinkedNote:
    """A document and one of its links to a file."""

    id: str
    seq: int
    words: str
    link: CodeLink


@dataclass(frozen=True, slots=True)
class NearNote:
    """A note about code that an answer shows, and what became of the code since."""

    note: LinkedNote
    state: str

    def __str__(self) -> str:
        mark = f" ({self.state})" if self.state in ("drifted", "missing") else ""
        return f'{self.note.id} "{self.note.words}"{mark}'


class NotesByFile:
    """Which documents of a space link to which file; read again when the space has changed."""

    def __init__(self, open_space: Callable[[], AbstractContextManager[Store]]) -> None:
        self._open_space = open_space
        self._turn = threading.Lock()
        self._seq = -1
        self._by_path: dict[str, list[LinkedNote]] = {}
        self._places: dict[str, RepositoryPlace | None] = {}
        """Directories of files and where they are in their repository."""
        self._judged: dict[tuple[CodeLink, str, int, int], Judged] = {}

    def near(
        self, shown: Shown, judge: Callable[[CodeLink], Judged], cwd: str | None = None
    ) -> list[NearNote]:
        """The notes about what an answer shows, those whose code has changed first."""
        if not shown:
            return []
        try:
            with self._turn:
                table = self._table()
                notes = {}
                for path, lines in shown.items():
                    for note in (*_named(table, path, cwd), *self._of_clones(table, path)):
                        judged = self._judge(note.link, path, judge)
                        if note.id not in notes and _concerns(judged, lines):
                            notes[note.id] = NearNote(note, judged.state)
        except (HoldfastError, OSError, ValueError):
            return []  # an answer about code must not fail because of a note
        order = {"drifted": 0, "missing": 1}
        return sorted(notes.values(), key=lambda one: (order.get(one.state, 2), -one.note.seq))

    def _of_clones(self, table: Mapping[str, list[LinkedNote]], path: str) -> Iterable[LinkedNote]:
        """The notes about the same file in another clone or worktree, as links to this one."""
        here = self._place(os.path.realpath(path))
        if here is None:
            return
        for at, notes in table.items():
            if not at.endswith(f"/{here.path}"):
                continue
            there = self._place(at)
            if there is None or there.top == here.top:
                continue
            if (there.repository, there.path) == (here.repository, here.path):
                for note in notes:
                    link = replace(note.link, path=here.path, root=here.top)
                    yield replace(note, link=link)

    def _place(self, file: str) -> RepositoryPlace | None:
        folder, name = os.path.split(file)
        if folder not in self._places:
            if len(self._places) >= JUDGED_MAX:
                self._places.clear()
            self._places[folder] = place_of(file)
        place = self._places[folder]
        if place is None:
            return None
        return replace(place, path=os.path.join(os.path.dirname(place.path), name))

    def _table(self) -> dict[str, list[LinkedNote]]:
        with self._open_space() as store:
            newest = store.newest_seq()
            if newest != self._seq:
                self._by_path = _by_path(store)
                self._places.clear()
                self._seq = newest
        return self._by_path

    def _judge(self, link: CodeLink, path: str, judge: Callable[[CodeLink], Judged]) -> Judged:
        """The state of a link; the same while its file has the same size and time."""
        at = os.stat(path)
        key = (link, path, at.st_mtime_ns, at.st_size)
        judged = self._judged.get(key)
        if judged is None:
            if len(self._judged) >= JUDGED_MAX:
                self._judged.clear()
            judged = self._judged[key] = judge(link)
        return judged


def _by_path(store: Store) -> dict[str, list[LinkedNote]]:
    notes: dict[str, list[LinkedNote]] = {}
    for number, state in enumerate(store.stream()):
        if number >= DOCUMENTS_MAX:
            break
        for _, link in links_in(state.document):
            at = link.path if link.root is None else os.path.join(link.root, link.path)
            at = os.path.realpath(at) if os.path.isabs(at) else os.path.normpath(at)
            words = "".join(c for c in first_words(state.document, WORDS_WIDTH) if c.isprintable())
            notes.setdefault(at, []).append(LinkedNote(state.id, state.seq, words, link))
    return notes


def _named(
    table: Mapping[str, list[LinkedNote]], path: str, cwd: str | None
) -> Iterable[LinkedNote]:
    real = os.path.realpath(path)
    yield from table.get(real, ())
    if cwd is not None:
        yield from table.get(os.path.relpath(real, os.path.realpath(cwd)), ())


def _concerns(judged: Judged, lines: Sequence[Lines] | None) -> bool:
    """Whether a link leads to some of the lines; a symbol that is gone may have been anywhere."""
    if lines is None or judged.link.symbol is None or judged.lines is None:
        return True
    first, last = judged.lines
    return any(first <= end and start <= last for start, end in lines)


def note_line(notes: Sequence[NearNote], more: Callable[[NearNote], str]) -> str:
    """Notes in one line of at most 60 tokens; `more` is the call that shows one, or all."""
    if not notes:
        return ""
    head = "note" if len(notes) == 1 else "notes"
    ending = f": {more(notes[0])}]"
    texts: list[str] = []
    for at, one in enumerate(notes):
        others = len(notes) - at - 1
        rest = f"; {others} more" if others else ""
        line = f"[{head}: {'; '.join([*texts, str(one)])}{rest}{ending}"
        if len(line.encode()) > BYTES_MAX:
            break
        texts.append(str(one))
    others = len(notes) - len(texts)
    if not texts:
        # The text of the first note does not fit; its id is enough to look it up.
        line = f"[{head}: {notes[0].note.id}{f'; {others - 1} more' if others > 1 else ''}]"
        return line if len(line.encode()) <= BYTES_MAX else f"[{len(notes)} notes about this code]"
    return f"[{head}: {'; '.join(texts)}{f'; {others} more' if others else ''}{ending}"
