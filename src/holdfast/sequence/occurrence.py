"""A place where a run of tokens occurs."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.sequence.report import Span
from holdfast.sequence.suffix.segment import SourcePosition, TokenSegment


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One place where a run of tokens occurs."""

    segment: TokenSegment
    position: int
    length: int

    @property
    def path(self) -> str:
        return self.segment.documents[self.segment.document_at(self.position)].path

    @property
    def name(self) -> str:
        """Its path for display: unprintable characters are escaped."""
        path = self.path
        if path.isprintable():
            return path
        return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in path)

    @property
    def first(self) -> SourcePosition:
        """Where its first token begins."""
        return self.segment.place(self.position)

    @property
    def last(self) -> SourcePosition:
        """Where its last token ends."""
        return self.segment.place(self.position + self.length - 1, end=True)

    def span(self) -> Span:
        first, last = self.first, self.last
        return Span(first.path, first.line, first.column, last.line, last.column)

    @property
    def token(self) -> int:
        """The number of its first token in its document, counted from 0."""
        number = self.segment.document_at(self.position)
        return self.position - int(self.segment.firsts[number])

    def texts(self, before: int = 0, after: int = 0) -> list[bytes]:
        """Its tokens, with up to `before` and `after` more on either side in the document."""
        segment, number = self.segment, self.segment.document_at(self.position)
        low = max(int(segment.firsts[number]), self.position - before)
        high = min(int(segment.firsts[number + 1]) - 1, self.position + self.length + after)
        return [segment.word(token) for token in segment.tokens[low:high]]

    @property
    def following(self) -> bytes | None:
        """The token after it; None at the end of its document."""
        return self.segment.text_at(self.position + self.length)
