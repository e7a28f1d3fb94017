"""Say how much of a snippet exists, where, and what differs first on both sides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from holdfast.sequence.corpus import Corpus, CorpusMatch, Occurrence
from holdfast.sequence.errors import EmptyQuery
from holdfast.sequence.tokens.lexer import Lexed

TOKEN_SHOWN = 60
COPIES = 20
"""How many places are listed unless more are asked for."""


@dataclass(frozen=True, slots=True)
class Report:
    """What `locate` says of one snippet."""

    answer: CorpusMatch
    lexed: Lexed
    source: bytes
    copies: tuple[Occurrence, ...]
    parts: tuple[tuple[int, CorpusMatch], ...]
    """The whole snippet cut into longest matches: where each begins in it, and its answer."""

    @property
    def found(self) -> int:
        """How many tokens of the snippet stand in a match of at least two."""
        return sum(part.position for _, part in self.parts if part.position > 1)

    def snippet_place(self, token: int) -> tuple[int, int]:
        """The line and the column of one of the snippet's tokens, counted from 1."""
        offset = self.lexed.starts[token] if token < len(self.lexed.starts) else len(self.source)
        line = self.source.count(b"\n", 0, offset)
        return line + 1, offset - (self.source.rfind(b"\n", 0, offset) + 1) + 1


def locate(
    corpus: Corpus,
    source: bytes,
    lexed: Lexed,
    *,
    copies: int = COPIES,
    check: Callable[[], None] = lambda: None,
) -> Report:
    """Look a snippet up. EmptyQuery when it has no tokens.

    `check` is called between parts, of which a long snippet has many; what it raises ends the look.
    """
    if not lexed.texts:
        raise EmptyQuery
    check()
    answer = corpus.find(lexed.texts)
    parts: list[tuple[int, CorpusMatch]] = []
    at = 0
    for part in corpus.parts(lexed.texts) if not answer.query_exhausted else [answer]:
        check()
        parts.append((at, part))
        at += max(1, part.position)
    some = islice(answer.occurrences(), min(copies, answer.count))
    places = sorted(some, key=lambda place: (place.path, place.token))
    return Report(answer, lexed, source, tuple(places), tuple(parts))


def _text(token: bytes | None) -> str | None:
    return None if token is None else token.decode("utf-8", "replace")


REPORT_VERSION = 1
"""1: matched, copies, difference, container, parts."""


def as_data(report: Report) -> dict[str, Any]:
    """The report as JSON-ready values."""
    answer = report.answer
    root = answer.root
    data: dict[str, Any] = {
        "format": REPORT_VERSION,
        "tokens": len(answer.query),
        "matched": answer.position,
        "exhausted": answer.query_exhausted,
        "kind": answer.kind.value,
        "reason": answer.reason.value,
        "count": answer.count,
        "found": report.found,
        "copies": [place.span() for place in report.copies],
        "difference": None,
        "container": None,
        "parts": [
            {"token": at, "tokens": max(1, part.position), "count": part.count}
            for at, part in report.parts
        ],
    }
    if not answer.query_exhausted:
        line, column = report.snippet_place(answer.position)
        data["difference"] = {
            "snippet": {"token": _text(answer.expected), "line": line, "column": column},
            "tree": [_following(place) for place in report.copies],
        }
    if root is not None and answer.position > 1:
        data["container"] = {
            **root.span(),
            "tokens": answer.root_width,
            "start": answer.start,
            "end": answer.end,
        }
    return data


def _following(place: Occurrence) -> dict[str, Any]:
    after = place.following
    where = place.segment.place(place.position + place.length)
    return {
        "path": place.path,
        "token": _text(after),
        "line": where.line,
        "column": where.column,
    }


def as_text(
    report: Report,
    more: str = " (--copies N lists more)",
    typed: Callable[[str], str] = str,
) -> str:
    """The report for people and agents; `more` says how more places are listed, and `typed` how a
    path of the tree is written where this is read."""
    answer, total = report.answer, len(report.answer.query)
    if answer.position == 0:
        lines = [f"0 of {total} tokens found: {_quoted(answer.expected)} occurs nowhere"]
    elif answer.query_exhausted:
        lines = [f"all {total} tokens found, {_times(answer.count)}"]
    else:
        lines = [
            f"{answer.position} of {total} tokens found from the start, {_times(answer.count)}"
        ]
    for place in report.copies:
        first, last = place.first, place.last
        lines.append(
            f"  {typed(place.name)}:{first.line}:{first.column} to {last.line}:{last.column}"
        )
    if answer.count > len(report.copies):
        lines.append(f"  … and {answer.count - len(report.copies)} more{more}")
    if answer.position and not answer.query_exhausted:
        line, column = report.snippet_place(answer.position)
        lines.append(f"then the snippet has {_quoted(answer.expected)} (line {line}:{column})")
        for follower, places in _grouped(report.copies):
            where = ", ".join(f"{typed(p.name)}:{_line_after(p)}" for p in places[:3])
            more = f" and {len(places) - 3} more" if len(places) > 3 else ""
            lines.append(f"  the tree has {_quoted(follower)} at {where}{more}")
    if answer.root is not None and answer.position > 1 and answer.root_width > answer.position:
        root = answer.root
        what = "document" if answer.count == 1 else "repeated block"
        lines.append(
            f"inside a {what} of {answer.root_width} tokens, "
            f"{typed(root.name)}:{root.first.line}-{root.last.line} ({answer.kind.value})"
        )
    if report.found > answer.position:
        # Only when there is more of it than its beginning.
        lines.append(
            f"of the whole snippet {report.found} of {total} tokens exist in runs of two or more:"
        )
        for at, part in report.parts:
            if part.position > 1:
                line, _ = report.snippet_place(at)
                lines.append(f"  line {line}: {part.position} tokens, {_times(part.count)}")
    return "\n".join(lines)


def _line_after(place: Occurrence) -> int:
    return place.segment.place(place.position + place.length).line


def _grouped(places: Sequence[Occurrence]) -> list[tuple[bytes | None, list[Occurrence]]]:
    groups: dict[bytes | None, list[Occurrence]] = {}
    for place in places:
        groups.setdefault(place.following, []).append(place)
    return list(groups.items())


def _quoted(token: bytes | None) -> str:
    """A token on one line: one that is a long string is known by how it begins."""
    text = _text(token)
    if text is None:
        return "the end of the file"
    short = text.split("\n", 1)[0][:TOKEN_SHOWN]
    return f"`{text}`" if short == text else f"`{short}…`"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
