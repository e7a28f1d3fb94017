"""Where the settings get their values that the code of an answer names.

A question about a default or a limit is half answered by the code that applies it: it says
`RETRY_TIMES`, and the number is in another file. The lines that give these names a literal value
are looked up by one exact search among the chunks that have these names, within a short time;
without them the answer is the same as before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from holdfast import system
from holdfast.index.generations.freshness import FreshFiles
from holdfast.index.generations.model import Reader
from holdfast.index.search.assigned_values import AssignedNames
from holdfast.index.search.exact import Bounds, ExactHit, find_exact
from holdfast.index.search.operators import Query
from holdfast.index.search.query_analysis import AnalyzedQuery
from holdfast.index.search.regex import lines_of
from holdfast.index.search.roles import role_of
from holdfast.index.search.terms import split
from holdfast.index.search_answers import SearchResult, ValueLine

NAMES_MAX, LINES_MAX, LINE_MAX = 6, 4, 120
SECONDS = 0.2
_SETTING = frozenset(
    {"default", "limit", "max", "min", "maximum", "minimum", "size", "timeout", "interval", "delay",
     "threshold", "times", "retries", "retry", "count", "policy", "ttl", "lease", "period", "depth",
     "length", "age", "capacity"}
)  # fmt: skip
"""Parts of names that settings have."""
_NAME = re.compile(r"[^\W\d]\w{3,}")
_CONFIGURED = re.compile(
    r"(?i:\b(?:config|conf|cfg|settings|options|opts))(?:\.|->|\[[\"':])(\w{4,})"
)
"""A name that is read from a configuration is a setting, whatever it is called."""
_CONSTANT = re.compile(r"\b[A-Z][A-Z\d]*_[A-Z\d_]+\b")


def value_lines(
    shown: Sequence[SearchResult],
    question: AnalyzedQuery,
    root: str,
    reader: Reader,
    fresh_files: FreshFiles,
    keep: Callable[[str], bool],
) -> tuple[ValueLine, ...]:
    """Lines of source files, not shown yet, that give a literal value to names that are shown.

    May miss values that are computed, and those that were not found in time.
    """

    def is_source(path: str) -> bool:
        return keep(path) and role_of(path) == "source" and "test" not in path.lower()

    def assigned(names: Collection[str]) -> list[ExactHit]:
        if not names:
            return []
        # Processor time: a busy machine answers the same.
        bounds = Bounds(seconds=SECONDS, text_seconds=SECONDS, hits=50, clock=system.thread_s)
        wanted = AssignedNames(names)
        return find_exact(
            Query(), root, reader, fresh_files, is_source, bounds, names, [wanted]
        ).hits

    names = _names(shown, question)
    hits = assigned(names)
    # A setting whose value is a constant is not answered before the constant is.
    named = {name for hit in hits for text in _texts(hit) for name in _CONSTANT.findall(text)}
    hits += assigned(named.difference(names))
    printed = {(one.file, number) for one in shown for number in _shown_numbers(one)}
    lines: dict[tuple[str, int], ValueLine] = {}
    for hit in hits:
        for match, line in zip(hit.lines, _texts(hit), strict=True):
            place, text = (hit.chunk.path, match.line), line.strip()
            if place not in printed and not text.startswith(("#", "//", "*")):
                cut = text if len(text) <= LINE_MAX else text[: LINE_MAX - 1] + "…"
                lines.setdefault(place, ValueLine(*place, cut))
    order = sorted(lines.values(), key=lambda one: ("default" not in _about(one), one.file))
    return tuple(order[:LINES_MAX])


def _texts(hit: ExactHit) -> list[str]:
    """The matching lines of a hit."""
    texts = lines_of(hit.chunk.text)
    return [texts[match.line - hit.chunk.start_line] for match in hit.lines]


def _about(one: ValueLine) -> str:
    return f"{one.file} {one.text}".lower()


def _shown_numbers(one: SearchResult) -> list[int]:
    spans = [*(one.preview_spans or ()), *(s for f in one.further for s in f.preview_spans or ())]
    return [n for span in spans for n in range(span.start_line, span.end_line + 1)]


def _names(shown: Sequence[SearchResult], question: AnalyzedQuery) -> list[str]:
    """Names in the shown code that look like settings, those with words of the question first."""
    question_terms = {term for word in question.words for term in (word.term, *word.others)}
    texts = [text for one in shown for text in (one.preview, *(f.preview for f in one.further))]
    worth: dict[str, int] = {}
    for text in texts:
        configured = frozenset(_CONFIGURED.findall(text or ""))
        for name in _NAME.findall(text or ""):
            terms = set(split(name))
            parts = {part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}
            common = len(terms & question_terms)
            is_setting = len(parts) > 1 and (name.isupper() or parts & _SETTING)
            if common and (is_setting or name in configured):
                worth[name] = common
    return sorted(worth, key=lambda name: -worth[name])[:NAMES_MAX]
