"""Find documents by words and meaning, as the code index finds code.

Words are compared by their stems, weighted by how rare they are among the documents, and counted
with BM25; meaning is the cosine of the static embedding. Both come from the index. A document that
shares no word with the question is found only if its meaning is close: a search may miss a document
that says the same in other words; when it finds nothing, the answer mentions this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.links import CodeLink, Judged, links_in
from holdfast.notes.note import first_words, tags_of, text_in
from holdfast.text import counted

if TYPE_CHECKING:
    from holdfast.index.embedding.provider import EmbeddingProvider
    from holdfast.store.author import Author
    from holdfast.store.model import State
    from holdfast.store.store import Store

EMBEDDED_MAX = 2_000
"""With more documents, only those with the best words are compared by meaning."""
TEXT_MAX = 8_000
SATURATION, LENGTH_SHARE = 1.2, 0.6
MEANING_SHARE = 0.4
CLOSE = 0.3
"""The cosine from which a document is found without a common word."""
WIDTH = 200


@dataclass(frozen=True, slots=True)
class FoundNote:
    """A document that a search found, with its links as they are now."""

    state: State
    score: float
    author: Author | None
    links: tuple[tuple[str, Judged], ...]

    def to_wire(self) -> dict[str, Any]:
        return {
            "id": self.state.id,
            "seq": self.state.seq,
            "document": self.state.document,
            "score": round(self.score, 3),
            **({"author": self.author.to_wire()} if self.author else {}),
            "links": [
                {"at": at, **judged.link.to_wire()["code"], "state": judged.state}
                for at, judged in self.links
            ],
        }


@dataclass(frozen=True, slots=True)
class FoundNotes:
    """The best documents, best first; `total` counts all that match."""

    query: str
    notes: tuple[FoundNote, ...]
    total: int
    searched: int
    filters: str = ""
    """The filters in words; only documents that pass them were searched."""

    def to_wire(self) -> dict[str, Any]:
        return {
            "query": self.query,
            "total": self.total,
            "searched": self.searched,
            "notes": [note.to_wire() for note in self.notes],
        }

    def lines(self) -> list[str]:
        """The text of the answer."""
        if not self.notes:
            having = f" with {self.filters}" if self.filters else ""
            if having and not self.searched:
                return [f"no document{having}"]
            return [f"nothing found in {counted(self.searched, 'document')}{having}"]
        lines = []
        for note in self.notes:
            by = f", {note.author}" if note.author else ""
            tags = "".join(f" #{tag}" for tag in tags_of(note.state.document))
            lines.append(f"{note.state.id}  (seq {note.state.seq}{by}){tags}")
            lines.append(f"  {first_words(note.state.document, WIDTH)}")
            for _, judged in note.links:
                what = " ".join(filter(None, (judged.link.path, judged.link.symbol)))
                lines.append(f"  [{judged.state}: {what}]")
        return lines


@dataclass(frozen=True, slots=True)
class Filters:
    """Which documents are searched; empty members do not restrict."""

    author: str = ""
    tag: str = ""
    path: str = ""
    symbol: str = ""
    prefix: str = ""

    def __str__(self) -> str:
        code = f"{self.path}:{self.symbol}" if self.symbol else self.path
        named = {"author": self.author, "tag": self.tag.lstrip("#"), "code": code}
        named["prefix"] = self.prefix
        return ", ".join(f"{name} {value}" for name, value in named.items() if value)

    def admits(self, document: Any) -> bool:
        if self.tag and self.tag.lstrip("#").casefold() not in map(str.casefold, tags_of(document)):
            return False
        if not self.path:
            return True
        return any(self._is_about(link) for _, link in links_in(document))

    def _is_about(self, link: CodeLink) -> bool:
        at, path = link.path.strip("/"), self.path.strip("/")
        if at != path and not at.endswith("/" + path) and not path.endswith("/" + at):
            return False
        if not self.symbol:
            return True
        from holdfast.index.facts.naming import names_symbol

        return link.symbol is not None and (
            names_symbol(self.symbol, link.symbol) or names_symbol(link.symbol, self.symbol)
        )


def find(
    store: Store,
    query: str,
    judge: Callable[[CodeLink], Judged],
    embedding: Callable[[], EmbeddingProvider],
    filters: Filters | None = None,
    branch: str = "",
    at: int | None = None,
    limit: int = 10,
) -> FoundNotes:
    """The documents that match a text best; without a text, the newest first."""
    criteria = filters or Filters()
    states = [s for s in store.stream(branch, at, criteria.prefix) if criteria.admits(s.document)]
    if criteria.author:
        states = [s for s in states if _by(store, s, criteria.author)]
    if query.strip():
        texts = [f"{s.id.replace(':', ' ')} {text_in(s.document)}"[:TEXT_MAX] for s in states]
        ranked = rank(query, texts, embedding)
    else:
        newest = sorted(range(len(states)), key=lambda row: -states[row].seq)
        ranked = [(row, 0.0) for row in newest]
    notes = [
        FoundNote(
            states[row],
            score,
            store.author_of(states[row]),
            tuple(("/" + "/".join(p), judge(link)) for p, link in links_in(states[row].document)),
        )
        for row, score in ranked[:limit]
    ]
    return FoundNotes(query, tuple(notes), len(ranked), len(states), str(criteria))


def _by(store: Store, state: State, author: str) -> bool:
    writer = store.author_of(state)
    return writer is not None and writer.matches(author)


def rank(
    query: str, texts: Sequence[str], embedding: Callable[[], EmbeddingProvider]
) -> list[tuple[int, float]]:
    """The texts that match, best first, each with a score from 0 to 1."""
    if not texts:
        return []
    words = word_scores(query, texts)
    best = max(words)
    rows = sorted(range(len(texts)), key=lambda row: (-words[row], row))[:EMBEDDED_MAX]
    provider = embedding()
    vectors = _vectors(provider, [texts[row] for row in rows])
    cosines = (vectors @ provider.embed_query(query)[0]).tolist()
    scores = []
    for row, cosine in zip(rows, cosines, strict=True):
        if words[row] > 0 or cosine >= CLOSE:
            share = words[row] / best if best > 0 else 0.0
            score = (1 - MEANING_SHARE) * share + MEANING_SHARE * max(0.0, cosine)
            scores.append((row, score))
    return sorted(scores, key=lambda one: (-one[1], one[0]))


def _vectors(provider: EmbeddingProvider, texts: Sequence[str]) -> Any:
    """The vectors of texts; those that this process has embedded before are not embedded again."""
    import numpy as np

    vectors = _embedded.setdefault((provider.name, provider.model, provider.dimension), {})
    new = [text for text in dict.fromkeys(texts) if text not in vectors]
    if len(vectors) + len(new) > 4 * EMBEDDED_MAX:
        vectors.clear()
        new = list(dict.fromkeys(texts))
    if new:
        # The fields of the model are a path, a symbol and a text.
        vectors.update(zip(new, provider.embed([f"\n\n{text}" for text in new]), strict=True))
    return np.stack([vectors[text] for text in texts])


_embedded: dict[tuple[str, str, int], dict[str, Any]] = {}
"""The vectors of notes by model, as long as the process runs: a host answers many questions."""


def word_scores(query: str, texts: Sequence[str]) -> list[float]:
    """BM25 of each text; 0 where none of the words occurs."""
    from holdfast.index.search.lexical import idf
    from holdfast.index.search.terms import terms

    counts = [Counter(terms(text)) for text in texts]
    lengths = [max(1, count.total()) for count in counts]
    usual = sum(lengths) / len(lengths)
    scores = [0.0] * len(texts)
    for term in dict.fromkeys(terms(query)):
        containing = [row for row, count in enumerate(counts) if term in count]
        weight = idf(len(texts), len(containing))
        for row in containing:
            norm = 1 - LENGTH_SHARE + LENGTH_SHARE * lengths[row] / usual
            often = counts[row][term]
            scores[row] += weight * often / (often + SATURATION * norm)
    return scores
