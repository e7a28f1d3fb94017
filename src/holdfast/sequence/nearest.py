"""Find the place in one text that a snippet was most probably taken from.

A snippet that does not occur word for word is cut into longest matches, as `locate` cuts it: once
from its beginning, and once from the beginning of each of its lines, so that a mistake spoils only
the match it is in. Every occurrence of a match votes for the place where the snippet would begin.
Long and rare matches weigh more. A word that is not in the text votes as the most similar word that
is. The places with the most votes are then compared with the snippet, and the one that shares most
tokens, pairs of tokens and letters wins. A line that both texts have exactly once is an anchor: it
says where the rest of the snippet would be, even if every other line was rewritten.

Words in comments and strings are tokens too, because an edit may quote half a comment. Blanks are
not tokens, so a place that differs only in blanks agrees completely.

May return another place than the one that was meant. Never returns tokens that are not in the text.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from holdfast.sequence.corpus import TokenCorpus
from holdfast.sequence.suffix.backends import SuffixBackend, available
from holdfast.sequence.suffix.query import LiveSegment
from holdfast.sequence.suffix.segment import TokenSegment, build
from holdfast.sequence.suffix.stream import Document, DocumentFacts, stream_of
from holdfast.sequence.tokens.families import BY_NAME
from holdfast.sequence.tokens.lexer import CODE_ONLY, lex

TEXT_BYTES_MAX = 1 << 20
"""In a longer text only the lines around one of the snippet's lines are searched."""

SNIPPET_TOKENS_MAX = 1200
"""Only the beginning of a longer snippet is searched for."""

OCCURRENCES_MAX = 40
"""How many places of one match may vote; more for a short snippet, whose matches are common."""

PLACES_MAX = 6
"""How many places are compared with the snippet; more for a short one."""

WORDS_MAX = 6
"""For how many unknown words a similar one is searched."""

SIMILARITY_MIN = 0.4
RUNNER_UP = 0.7
"""The share of the best score that a second place needs."""

ANCHOR_MIN = 6
"""How many characters an anchor has at least."""

_PLAIN = BY_NAME["plain"]


@dataclass(frozen=True, slots=True)
class Nearest:
    """A place of a text, compared with a snippet. Lines count from 1."""

    first: int
    last: int
    agree: int
    """How many tokens of the snippet the place has, in any order."""
    tokens: int
    """How many tokens were looked for."""
    prefix: int
    """How many tokens agree from the start."""
    ours: bytes | None
    """The first token of the snippet that differs; None if all agree or it has ended."""
    theirs: bytes | None
    """The token that the text has there; None at its end."""
    ours_line: int
    theirs_line: int
    anchored: bool = False
    """Whether the place has a line that both texts have exactly once."""

    @property
    def same_tokens(self) -> bool:
        """Whether only blanks differ."""
        return self.prefix == self.tokens

    def overlaps(self, other: Nearest) -> bool:
        return self.first <= other.last and other.first <= self.last


def nearest(text: bytes, snippet: bytes, places: int = 1) -> list[Nearest]:
    """The places of `text` that share most with the snippet, best first; there may be none.

    A second place follows only if it shares almost as much. Takes time linear in the text, and a
    bounded time in the snippet.
    """
    text, skipped_lines = _bounded(text, snippet)
    lexed = lex(snippet, _PLAIN)
    tokens = lexed.texts[:SNIPPET_TOKENS_MAX]
    segment = _segment(text)
    if not tokens or len(segment) == 0:
        return []
    breaks = [at for at, byte in enumerate(snippet) if byte == 10]
    lines = [bisect_right(breaks, start - 1) for start in lexed.starts[: len(tokens)]]
    rules = _Comparison(text, segment, tokens, snippet)
    votes = _votes(rules.corpus, _with_similar_words(tokens, rules.words), lines)
    scored = []
    for begin, end in (*_places(votes, len(tokens)), *rules.anchored_places()):
        begin = max(0, min(begin, len(segment) - 1))
        end = max(begin + 1, min(end, len(segment)))
        scored.append((rules.score(begin, end), -begin, end))
    scored.sort(reverse=True)
    nearest_places: list[Nearest] = []
    for score, begin, end in scored:
        place = rules.compared(-begin, end, lines, skipped_lines)
        if score >= RUNNER_UP * scored[0][0] and not any(
            place.overlaps(one) for one in nearest_places
        ):
            nearest_places.append(place)
        if len(nearest_places) == places:
            break
    return nearest_places


class _Comparison:
    """Compares places of a text with a snippet."""

    def __init__(
        self, text: bytes, segment: TokenSegment, tokens: Sequence[bytes], snippet: bytes
    ) -> None:
        self.segment = segment
        self.corpus = TokenCorpus([LiveSegment(segment)])
        self.words = segment.stream().words
        self.query = tokens
        self._tokens = Counter(tokens)
        self._pairs = Counter(pairwise(tokens))
        self._letters = Counter(pairwise(b" ".join(tokens)))
        lines = [line.strip() for line in snippet.strip(b"\n").split(b"\n")]
        self._lines = set(lines) - {b""}
        self._height = len(lines)
        self._rows = [line.strip() for line in text.split(b"\n")]
        self._often = Counter(self._rows)
        self._anchors = _anchors(lines, self._rows, self._often)

    def token(self, at: int) -> bytes | None:
        return self.segment.text_at(at)

    def _run(self, begin: int, end: int) -> list[bytes]:
        end = min(end, len(self.segment))
        return [self.words[token - 1] for token in self.segment.tokens[begin:end]]

    def score(self, begin: int, end: int) -> float:
        """How much a place shares with the snippet; what is rare in the text counts more."""
        there = self._run(begin, end)
        buckets = self.segment.buckets
        score = 0.0
        for word, count in (self._tokens & Counter(there)).items():
            token = self.segment.token(word)
            score += count * (1 + 8 / (buckets[token + 1] - buckets[token]))
        score += 2 * (self._pairs & Counter(pairwise(there))).total()
        letters = Counter(pairwise(b" ".join(there)))
        score += (self._letters & letters).total() / 4
        first, last = self.segment.place(begin).line, self.segment.place(end - 1).line
        for row in set(self._rows[first - 1 : last]) & self._lines:
            score += (2 + len(row) / 4) * (1 + 6 / self._often[row])
        return score

    def anchored_places(self) -> Iterator[tuple[int, int]]:
        """Where the snippet would be by the anchors, as positions of tokens."""
        if self._anchors:
            first, last = self._stretched(self._anchors)
            positions = range(len(self.segment))
            yield (
                bisect_left(positions, first, key=lambda at: self.segment.place(at).line),
                bisect_right(positions, last, key=lambda at: self.segment.place(at).line),
            )

    def _stretched(self, anchors: Mapping[int, int]) -> tuple[int, int]:
        """The lines of the text that the whole snippet would take, by its lines in `anchors`."""
        (first, above), (last, end) = min(anchors.items()), max(anchors.items())
        return max(1, first - above), min(len(self._rows), last + self._height - 1 - end)

    def compared(self, begin: int, end: int, lines: Sequence[int], skipped: int) -> Nearest:
        tokens, segment = self.query, self.segment
        size = len(segment)
        # The place may begin with tokens that are not in the snippet; skip them.
        starts = [at for at in range(begin, min(begin + 400, end)) if self.token(at) == tokens[0]]
        runs = [(_common(tokens, self._run(at, at + len(tokens))), -at) for at in starts[:40]]
        prefix, at = max(runs, default=(0, -begin))
        first, begin = begin, -at
        differs = min(prefix, len(tokens) - 1)
        first_line = segment.place(begin if prefix == len(tokens) else first).line
        last_line = segment.place(end - 1, end=True).line
        anchors = {n: at for n, at in self._anchors.items() if first_line <= n <= last_line}
        if anchors and prefix < len(tokens):
            top, bottom = self._stretched(anchors)
            first_line, last_line = min(first_line, top), max(last_line, bottom)
        return Nearest(
            skipped + first_line,
            skipped + last_line,
            (self._tokens & Counter(self._run(first, end))).total(),
            len(tokens),
            prefix,
            tokens[prefix] if prefix < len(tokens) else None,
            self.token(begin + prefix) if begin + prefix < size else None,
            lines[differs] + 1,
            skipped + segment.place(min(begin + prefix, size - 1)).line,
            bool(anchors),
        )


def _anchors(
    lines: Sequence[bytes], rows: Sequence[bytes], often: Mapping[bytes, int]
) -> dict[int, int]:
    """Lines that both texts have once: the number in the text, and the index in the snippet.

    Only those that agree with most others on where the snippet would begin.
    """
    counts = Counter(lines)
    once = {
        line: at
        for at, line in enumerate(lines)
        if len(line) >= ANCHOR_MIN and counts[line] == often.get(line) == 1
    }
    pairs = [(number, once[row]) for number, row in enumerate(rows, 1) if row in once]
    slack = 3 + len(lines) // 3
    by_begin = sorted(pairs, key=lambda pair: pair[0] - pair[1])
    low, best = 0, range(0)
    for high, (number, at) in enumerate(by_begin):
        while by_begin[low][0] - by_begin[low][1] < number - at - slack:
            low += 1
        if high + 1 - low > len(best):
            best = range(low, high + 1)
    return dict(by_begin[best.start : best.stop])


def _bounded(text: bytes, snippet: bytes) -> tuple[bytes, int]:
    """The text if it is small enough, else lines around a line of the snippet; and lines before."""
    if len(text) <= TEXT_BYTES_MAX:
        return text, 0
    stripped = sorted({line.strip() for line in snippet.split(b"\n")}, key=len, reverse=True)
    offset = next((at for line in stripped[:8] if (at := text.find(line)) >= 0), 0)
    start = text.rfind(b"\n", 0, max(0, offset - TEXT_BYTES_MAX // 2)) + 1
    return text[start : start + TEXT_BYTES_MAX], text.count(b"\n", 0, start)


def _segment(text: bytes) -> TokenSegment:
    facts = DocumentFacts("text.txt", len(text), 0, "")
    # The pure backend is slow on repetitive text, however short, so it is the last choice.
    return build(stream_of([Document(facts, text)], CODE_ONLY), _backend())


def _backend() -> SuffixBackend:
    usable = available()
    return SuffixBackend.VECTOR if SuffixBackend.VECTOR in usable else SuffixBackend.PURE


def _with_similar_words(tokens: Sequence[bytes], words: Sequence[bytes]) -> list[bytes]:
    """The tokens, with words that do not occur replaced by the most similar one that does."""
    text_words = set(words)
    unknown = [word for word in dict.fromkeys(tokens) if word not in text_words and len(word) > 2]
    similar: dict[bytes, bytes] = {}
    candidates = [(word, _trigrams(word)) for word in words if len(word) > 2] if unknown else []
    for word in unknown[:WORDS_MAX]:
        pieces = _trigrams(word)
        best = SIMILARITY_MIN
        for other, others in candidates:
            ratio = 2 * len(pieces & others) / (len(pieces) + len(others))
            if ratio > best:
                best, similar[word] = ratio, other
    return [similar.get(word, word) for word in tokens]


def _trigrams(word: bytes) -> set[bytes]:
    padded = b"\0" + word.lower()[:60] + b"\0"
    return {padded[at : at + 3] for at in range(len(padded) - 2)}


@dataclass(frozen=True, slots=True)
class _Vote:
    """A match of the snippet: where it is in both texts, and its weight."""

    at: int
    position: int
    weight: float

    @property
    def begin(self) -> int:
        """Where the snippet would begin in the text."""
        return self.position - self.at


def _votes(corpus: TokenCorpus, tokens: Sequence[bytes], lines: Sequence[int]) -> list[_Vote]:
    cuts = [0, *(at for at in range(1, len(tokens)) if lines[at] != lines[at - 1]), len(tokens)]
    votes: set[_Vote] = set()
    most = max(OCCURRENCES_MAX, min(400, 6000 // len(tokens)))
    for first, last in ((0, len(tokens)), *pairwise(cuts)):
        at = first
        for part in corpus.parts(tokens[first:last]):
            length = part.position
            if length > 1 or part.count <= most:
                weight = length * length / max(1, part.count)
                for place in islice(part.occurrences(), most):
                    votes.add(_Vote(at, place.position, weight))
            at += max(1, length)
    return sorted(votes, key=lambda vote: (vote.begin, vote.at, vote.position))


def _places(votes: list[_Vote], length: int) -> Iterator[tuple[int, int]]:
    """The places with the most votes: where they begin and end."""
    slack = min(8 + length // 3, 2 + length // 2)
    for _ in range(max(PLACES_MAX, min(40, 1000 // length))):
        if not votes:
            return
        best, low, total, chosen = 0.0, 0, 0.0, (0, 1)
        for high, vote in enumerate(votes):
            total += vote.weight
            while votes[low].begin < vote.begin - slack:
                total -= votes[low].weight
                low += 1
            if total > best:
                best, chosen = total, (low, high + 1)
        group = votes[chosen[0] : chosen[1]]
        votes = votes[: chosen[0]] + votes[chosen[1] :]
        # A weak vote may be for any place nearby, so only strong ones decide the borders.
        enough = min(best / 50, max(vote.weight for vote in group))
        strong = [vote for vote in group if vote.weight >= enough]
        first = min(strong, key=lambda vote: (vote.at, -vote.weight))
        last = max(strong, key=lambda vote: (vote.at, vote.weight))
        begin = min(
            vote.begin for vote in [first, *strong] if vote is first or vote.weight >= best / 10
        )
        yield begin, max(last.begin + length, first.begin + 1)


def _common(one: Sequence[bytes], two: Sequence[bytes]) -> int:
    for number, (a, b) in enumerate(zip(one, two, strict=False)):
        if a != b:
            return number
    return min(len(one), len(two))
