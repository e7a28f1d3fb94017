"""The exact lane: chunks and symbols that match `re:`, `must:`, `exclude:` and `sym:`.

Trigrams select the chunks that can match, and the text decides. A file whose chunks do not cover it
is read from disk. The lane returns every match, or says why it stopped: time and number of hits are
bounded, so that no pattern hangs and no common string floods the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property, partial

import msgspec
from msgspec.structs import replace

from holdfast import system
from holdfast.files import disk
from holdfast.files.secrets import masked
from holdfast.index.facts.naming import names_symbol
from holdfast.index.generations.freshness import FreshFiles
from holdfast.index.generations.model import ChunkId, PreparedFile, Reader, StoredChunk
from holdfast.index.search.operators import Query, alternatives
from holdfast.index.search.regex import (
    AllOf,
    LineMatch,
    LineMatcher,
    Literal,
    TooSlow,
    lines_of,
    matcher,
)
from holdfast.index.search.trigrams import (
    Name,
    Trigrams,
    covered,
    folded,
    names_of,
    possible,
    table_of,
)
from holdfast.index.search.word_chunks import chunks_with

_Candidate = tuple[str, Sequence[ChunkId] | None, Callable[[], Iterator[StoredChunk]]]
BATCH = 256
NOWHERE: ChunkId = (0, 0)
"""The id of a text that is not a stored chunk: lines outside chunks, a symbol within one."""


class Bounds(msgspec.Struct, frozen=True):
    """Limits: seconds of matching in total and for one text, and hits."""

    seconds: float = 3.0
    text_seconds: float = 0.5
    hits: int = 5_000
    unjudged: int = 3
    loading_seconds: float = 20.0
    """How long reading texts from the index may take, besides: a team's may be far away."""
    clock: Callable[[], float] = system.monotonic


class ExactHit(msgspec.Struct, frozen=True):
    """A matching chunk or symbol, and its matching lines by number."""

    chunk: StoredChunk
    lines: tuple[LineMatch, ...]


class ExactFound(msgspec.Struct):
    """All matches by path and line; `cut` says why some may be missing."""

    hits: list[ExactHit] = msgspec.field(default_factory=list)
    chunks: int = 0
    """The number of chunks in the generation."""
    looked: int = 0
    """The number of texts that were examined."""
    cut: str | None = None
    unjudged: list[str] = msgspec.field(default_factory=list)
    """Texts on which the pattern timed out."""
    unread: list[str] = msgspec.field(default_factory=list)
    """Files that could not be read."""
    not_text: dict[str, str] = msgspec.field(default_factory=dict)
    """Files without text in the index, by path, and why: binary, minified or large."""

    @property
    def complete(self) -> bool:
        return self.cut is None and not self.unjudged and not self.unread


def find_exact(
    query: Query,
    root: str,
    reader: Reader,
    fresh_files: FreshFiles,
    keep: Callable[[str], bool],
    bounds: Bounds | None = None,
    words: Collection[str] = (),
    matchers: Sequence[LineMatcher] = (),
) -> ExactFound:
    """The matches of all exact operators of a query, in files that `keep` accepts.

    `words` may be given if every match of the patterns contains one of them, as a whole word: then
    chunks are selected by their postings, which is much faster. `matchers` count like patterns.
    """
    lane = _Lane(query, root, reader, fresh_files, keep, bounds or Bounds(), words, matchers)
    lane.run()
    lane.found.hits.sort(key=lambda hit: (hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line))
    return lane.found


class _Lane:
    def __init__(
        self,
        query: Query,
        root: str,
        reader: Reader,
        fresh_files: FreshFiles,
        keep: Callable[[str], bool],
        bounds: Bounds,
        words: Collection[str],
        matchers: Sequence[LineMatcher],
    ) -> None:
        self._query, self._root, self._reader = query, root, reader
        self._overlay, self._keep, self._bounds = fresh_files, keep, bounds
        self._matchers = [*map(matcher, query.patterns), *matchers]
        self._needs = AllOf(tuple(each.needs for each in self._matchers))
        self._symbols = [alternatives(symbol) for symbol in query.symbols]
        self._pieces = [[_longest_piece(one) for one in several] for several in self._symbols]
        self._by_words = chunks_with(words, reader.corpus()) if words else None
        self.found = ExactFound(chunks=reader.corpus().chunks if words else len(self._table))
        self._deadline = bounds.clock() + bounds.seconds
        self._loading_left = bounds.loading_seconds

    @cached_property
    def _table(self) -> Trigrams:
        return table_of(self._reader)

    def run(self) -> None:
        for path, file in sorted(self._overlay.changed.items()):
            if file.problem is None and self._keep(path):
                self._judge_all(self._units_of_changed(path, file))
        waiting: list[ChunkId] = []
        for path, ids, units in self._candidates():
            if not self._keep(path) or self._overlay.replaces(path):
                continue
            if ids is None:
                self._judge_all(units())
            else:
                waiting.extend(ids)
            # No larger than the number of hits that ends the search.
            if len(waiting) >= min(BATCH, self._bounds.hits):
                self._judge_stored(waiting)
                waiting.clear()
            if self.found.cut is not None:
                return
        self._judge_stored(waiting)
        if self._by_words is None:
            self.found.not_text = dict(self._not_text())

    def _not_text(self) -> Iterator[tuple[str, str]]:
        for path, problem in self._table.not_text.items():
            if self._keep(path) and not self._overlay.replaces(path):
                yield path, problem
        for path, file in self._overlay.changed.items():
            if file.problem is not None and self._keep(path):
                yield path, file.problem
        yield from ((path, "large") for path in self._overlay.large if self._keep(path))

    # Which texts to examine.

    def _candidates(self) -> Iterator[_Candidate]:
        """Files by path, with the chunks to examine; None for the units of the whole file."""
        if self._by_words is not None:
            for file in self._by_words:
                units = partial(self._units_of_path, file.path, file.language)
                yield file.path, None if file.whole else file.ids, units
            return
        for place, ids in self._by_trigrams():
            yield self._table.files[place].path, ids, partial(self._units_of_file, place)

    def _by_trigrams(self) -> Iterator[tuple[int, Sequence[ChunkId] | None]]:
        """The same by the positions of files."""
        if self._query.symbols:
            for place in range(len(self._table.files)):
                if place in self._table.unknown or self._names_may_match(place):
                    yield place, None
            return
        import numpy as np

        table = self._table
        mask = table.maybe(self._needs)
        for text in self._query.must:
            maybe = table.maybe(Literal(text))
            named = np.fromiter((text in file.path for file in table.files), dtype=np.bool_)
            if named.any():
                maybe |= np.repeat(named, np.diff(table.starts))
            mask &= maybe
        chosen: dict[int, Sequence[ChunkId] | None] = dict(table.ids(mask))
        for place in table.open:
            chosen[place] = None
        yield from sorted(chosen.items())

    def _names_may_match(self, place: int) -> bool:
        kept = self._table.raw_names(place) or b""
        return all(any(piece in kept for piece in several) for several in self._pieces)

    def _units_of_changed(self, path: str, file: PreparedFile) -> Iterator[StoredChunk]:
        chunks = [
            StoredChunk(
                NOWHERE, path, file.language, c.start_line, c.end_line, c.text, c.symbol_id,
                c.label, c.kind,
            )
            for c in file.chunks
        ]  # fmt: skip
        yield from self._units(
            path, file.language, lambda: chunks, covered(file), lambda: names_of(file.facts)
        )

    def _units_of_file(self, place: int) -> Iterator[StoredChunk]:
        file = self._table.files[place]

        def names() -> list[Name]:
            kept = self._table.names(place)
            if kept is not None:
                return kept
            return names_of(self._reader.facts([file.path]).get(file.path, b""))

        whole = place not in self._table.open_places
        yield from self._units(
            file.path, file.language, lambda: self._reader.chunks_of(file.path), whole, names
        )

    def _units_of_path(self, path: str, language: str) -> Iterator[StoredChunk]:
        """The texts of a file whose chunks do not cover it, for patterns alone."""
        yield from self._units(path, language, lambda: self._reader.chunks_of(path), False, list)

    def _units(
        self,
        path: str,
        language: str,
        chunks: Callable[[], list[StoredChunk]],
        whole: bool,
        names: Callable[[], list[Name]],
    ) -> Iterator[StoredChunk]:
        """The texts of one file to examine: its chunks, or its symbols if the query has `sym:`."""
        if self._query.symbols:
            asked = [
                name
                for name in names()
                if all(
                    any(names_symbol(one, name.qualified, path) for one in several)
                    for several in self._symbols
                )
            ]
            if asked:
                own_chunks = chunks()
                text = "".join(c.text for c in own_chunks) if whole else self._read(path, chunks)
                lines = lines_of(_shown(text))
                # A guessed symbol names its chunk, but has no id for further calls.
                guessed = any(c.label and c.symbol_id is None for c in own_chunks)
                for name in asked:
                    own = _joined(lines[name.first_line - 1 : name.last_line])
                    yield StoredChunk(
                        NOWHERE, path, language, name.first_line, name.last_line, own,
                        None if guessed else name.id, name.qualified, name.kind,
                    )  # fmt: skip
        elif whole:
            yield from chunks()
        else:
            text = self._read(path, chunks)
            if possible(self._needs, folded(text)):
                yield from regions(path, language, _shown(text), chunks())

    def _read(self, path: str, chunks: Callable[[], list[StoredChunk]]) -> str:
        """The text of a file, for lines outside its chunks; its secrets are not masked yet."""
        try:
            source, _ = disk.read_file(self._root, path)
        except OSError:
            self.found.unread.append(path)
            lines: list[str] = []
            for chunk in chunks():
                own = lines_of(chunk.text)
                lines.extend([""] * (chunk.start_line - 1 - len(lines)))
                lines[chunk.start_line - 1 :] = own
            return "\n".join(lines)
        return source.decode("utf-8", "replace")

    # Matching.

    def _judge_stored(self, ids: Sequence[ChunkId]) -> None:
        """Match stored chunks, by their texts first, because most do not match."""
        if self._matchers and ids:
            begun = self._bounds.clock()
            texts = dict(self._reader.texts(ids))
            self._allow(self._bounds.clock() - begun)
            kept = self._narrowed([texts[identity] for identity in ids])
            ids = [ids[place] for place in kept]
        else:
            self.found.looked += len(ids)
        found = self._reader.chunks(ids)
        # By path: file numbers depend on when files were indexed.
        for identity in ids:
            self._judge(found[identity])

    def _allow(self, loading_s: float) -> None:
        """Move the deadline by the time that reading took; it limits patterns, not the store."""
        allowed_s = min(loading_s, self._loading_left)
        self._loading_left -= allowed_s
        self._deadline += allowed_s

    def _judge_all(self, units: Iterable[StoredChunk]) -> None:
        units = list(units)
        for place in self._narrowed([unit.text for unit in units]):
            self._judge(units[place])

    def _narrowed(self, texts: Sequence[str]) -> Sequence[int]:
        """Positions of the texts that can match every pattern."""
        self.found.looked += len(texts)
        kept: Sequence[int] = [
            place
            for place, text in enumerate(texts)
            if possible(self._needs, folded(text))  # with the literals shorter than a trigram
        ]
        clock = self._bounds.clock
        for each in self._matchers:
            until = min(self._deadline, clock() + self._bounds.text_seconds)
            try:
                narrowed = each.narrow([texts[place] for place in kept], until, clock)
            except TooSlow:
                continue  # Then each text is matched alone, and the slow ones are reported.
            kept = [kept[place] for place in narrowed]
        return kept

    def _judge(self, unit: StoredChunk) -> None:
        found, bounds = self.found, self._bounds
        now = bounds.clock()
        if found.cut is not None:
            return
        if now >= self._deadline:
            found.cut = f"the time limit of {bounds.seconds:g} s was reached"
            return
        try:
            lines = self._lines(unit, min(self._deadline, now + bounds.text_seconds))
        except TooSlow:
            found.unjudged.append(f"{unit.path}:{unit.start_line}-{unit.end_line}")
            if len(found.unjudged) >= bounds.unjudged:
                found.cut = "the pattern takes too long on too many texts"
            return
        if lines is None:
            return
        if len(found.hits) >= bounds.hits:
            found.cut = f"the limit of {bounds.hits:,} hits was reached"
            return
        found.hits.append(ExactHit(unit, tuple(lines)))

    def _lines(self, unit: StoredChunk, deadline: float) -> list[LineMatch] | None:
        """The matching lines; None if the unit does not match."""
        if not passes(self._query, unit):
            return None
        lines: dict[int, LineMatch] = {}
        for each in self._matchers:
            matched = each.lines(unit.text, deadline, self._bounds.clock)
            if not matched:
                return None
            for line in matched:
                lines.setdefault(line.line, line)
        if self._query.must:
            for number, text in enumerate(lines_of(unit.text)):
                for wanted in self._query.must:
                    at = text.find(wanted)
                    if at >= 0:
                        lines.setdefault(number, LineMatch(number, at, at + len(wanted)))
        first = unit.start_line
        return [replace(lines[n], line=first + n) for n in sorted(lines)]


def passes(query: Query, chunk: StoredChunk) -> bool:
    """Whether a chunk has every `must:` and no `exclude:` value in its name, path or text."""
    places = (chunk.text, chunk.label or "", chunk.path)
    return all(any(wanted in place for place in places) for wanted in query.must) and not any(
        unwanted in place for unwanted in query.exclude for place in places
    )


def _longest_piece(symbol: str) -> bytes:
    """Text that the name of every requested symbol contains.

    The part before the last separator may be a module, which is not in a symbol's name.
    """
    last = symbol if "*" in symbol or "?" in symbol else re.split(r"::|[.#/]", symbol)[-1]
    return max(re.split(r"[*?\[\].:#/]+", last), key=len).encode("utf-8", "surrogatepass")


def regions(
    path: str, language: str, text: str, chunks: Sequence[StoredChunk]
) -> Iterator[StoredChunk]:
    """The current text of a file, split at chunk boundaries, with the lines between chunks."""
    lines = lines_of(text)
    at = 1
    for chunk in chunks:
        first, last = max(at, chunk.start_line), min(chunk.end_line, len(lines))
        if first > last:
            continue
        if at < first:
            yield _gap(path, language, lines, at, first - 1)
        own = _joined(lines[first - 1 : last])
        yield chunk._replace(start_line=first, end_line=last, text=own)
        at = last + 1
    if at <= len(lines):
        yield _gap(path, language, lines, at, len(lines))


def _gap(path: str, language: str, lines: Sequence[str], first: int, last: int) -> StoredChunk:
    text = _joined(lines[first - 1 : last])
    return StoredChunk(NOWHERE, path, language, first, last, text, None, None, "module")


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _shown(text: str) -> str:
    """A text without its secrets. Looking for them takes longer than most matching."""
    return masked(text.encode("utf-8", "replace")).decode("utf-8", "replace")
