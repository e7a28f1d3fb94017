"""A search as it was asked for, and what is said beside its results: warnings, hints, debugging."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NotRequired, TypedDict

from holdfast.files.edited_files import Edited
from holdfast.index.generations.freshness import FreshFiles
from holdfast.index.generations.gate import Open
from holdfast.index.generations.model import Identity
from holdfast.index.search import pages
from holdfast.index.search.filters import PathPattern
from holdfast.index.search.operators import Parsed, Query, as_words, only_below
from holdfast.index.search.pages import Cursor
from holdfast.index.search.query_analysis import SPOKEN_MAX
from holdfast.index.search.results import ALIKE_SHOWN, Group, GroupBy, Holds, Lane, Page
from holdfast.index.search.retrieval import Retrieved
from holdfast.index.search.roles import role_of
from holdfast.index.search.scopes import Scope
from holdfast.index.search.terms import WORD, terms
from holdfast.index.tools import answers
from holdfast.index.tools.answers import Wire, hints, manage_call, read_call, search_call

if TYPE_CHECKING:
    from holdfast.index.search.similar import Sample

LIMIT_DEFAULT, LIMIT_MAX = 10, 50
DEPTH_MIN, DEPTH_FACTOR = 40, 3
DEPTH_MAX = DEPTH_FACTOR * LIMIT_MAX
"""How many chunks are ranked for all pages: so many, or so many for each result of a page."""
NOISE_AMONG, NOISE_SHARE = 5, 0.6
AS_WRITTEN_BYTES_MIN = 2
"""A lone bracket is nearly everywhere."""


class SearchAnswer(TypedDict):
    """The envelope of search_code."""

    status: str
    reason: NotRequired[str]
    path: str
    paths: NotRequired[list[str]]
    codebasePath: NotRequired[str]
    query: str
    scope: str
    groupBy: str
    resultMode: str
    limit: int
    freshnessDecision: Wire | None
    warnings: NotRequired[list[str]]
    message: NotRequired[str]
    hints: NotRequired[Wire]
    compatibility: NotRequired[Wire]
    indexing: NotRequired[Wire]
    roots: NotRequired[list[Wire]]
    counts: NotRequired[Wire]
    continuation: NotRequired[Wire]
    recommendedNextAction: NotRequired[Wire]
    results: list[Wire]


@dataclass(frozen=True, slots=True)
class Request:
    """A search as it was asked for."""

    paths: tuple[str, ...]
    query: str
    parsed: Parsed
    scope: Scope
    raw: bool
    group_by: GroupBy
    limit: int
    budget: int
    cursor: Cursor | None
    debug: bool
    holds: Holds | None
    sample: Sample | None
    given: Wire
    """The arguments, for calls that ask again."""

    @property
    def asked(self) -> Query:
        """The query to retrieve by: with nothing left beside filters, all of it is text."""
        query = self.parsed.query
        if self.as_written:
            return replace(query, text="", must=(query.text,))
        if query.text or query.exact or self.sample is not None:
            return query
        return replace(query, text=self.query)

    @property
    def as_written(self) -> bool:
        """Whether the text has no word that counts: signs, or an identifier of no usual length.

        Then there is nothing to rank by, and it is looked for as it stands.
        """
        query = self.parsed.query
        if query.exact or self.sample is not None:
            return False
        return _has_no_term(query.text)

    @property
    def lane(self) -> Lane:
        if self.sample is not None:
            return "similar"
        return "exact" if self.asked.exact else "ranked"

    @property
    def folds(self) -> bool:
        """Whether results that are alike are shown as one: not where every one is asked for."""
        return not self.raw and self.lane != "exact"

    @property
    def depth(self) -> int:
        return self.cursor.depth if self.cursor else max(DEPTH_MIN, DEPTH_FACTOR * self.limit)

    @property
    def name(self) -> str:
        """What a cursor belongs to: everything that was asked and decides the order."""
        like = [self.given["similar"], self.given["snippet"]]
        asked = [list(self.paths), self.query, self.scope, self.raw, self.group_by, like]
        return pages.digest(asked)


@lru_cache(maxsize=64)
def _has_no_term(text: str) -> bool:
    return len(text.encode("utf-8", "surrogatepass")) >= AS_WRITTEN_BYTES_MIN and not terms(text)


@dataclass(slots=True)
class Answered:
    """A root that answered."""

    gate: Open
    identity: Identity
    overlay: FreshFiles
    recent: bool
    found: Retrieved
    edited: Edited | None = None
    """Files that git says somebody works on; None when git says nothing."""
    below: Sequence[str] = ()
    """The directories, or files, that were asked about; "" for all of the root."""

    @property
    def root(self) -> str:
        return self.gate.record.root


def warnings_of(
    request: Request, answered: Sequence[Answered], groups: Sequence[Group]
) -> list[str]:
    said: list[str] = []
    query = request.parsed.query
    if request.sample is not None and query.text:
        said.append(f"SIMILAR_WORDS_IGNORED:{query.text!r} plays no part; only operators narrow")
    elif len(query.text) > 2 * SPOKEN_MAX and len(WORD.findall(query.text)) > SPOKEN_MAX:
        said.append(f"QUERY_LONG:only its first {SPOKEN_MAX} words were looked for")
    if request.as_written:
        said.append(
            f"TAKEN_AS_WRITTEN:{query.text!r} has no word to rank by; it is looked for as is"
        )
    for each in answered:
        said += _out_of_sight(each)
        said += _nothing_below(each, empty=not groups)
        said += [f"SEARCH_PASS_FAILED:{failure}" for failure in each.found.failures]
        exact = each.found.exact
        if exact is None:
            continue
        if exact.cut is not None:
            said.append(
                f"EXACT_CUT:not everything in {each.root} was looked at: {exact.cut}. There may be "
                f"more; narrow it with path: or lang:, or ask for a longer literal."
            )
        if exact.unjudged:
            said.append(
                f"EXACT_UNJUDGED:the pattern took too long on {', '.join(exact.unjudged)}; whether "
                f"these match is not known. Ask for a pattern with fewer repeats."
            )
        if exact.unread:
            said.append(
                f"EXACT_UNREAD:could not read all of {', '.join(exact.unread[:5])}"
                f"{' and others' if len(exact.unread) > 5 else ''}; only what is indexed of it was "
                f"looked at."
            )
    if groups:
        return said
    if query.must:
        held = " and ".join(map(repr, query.must))
        said.append(
            f"FILTER_MUST_UNSATISFIED:no chunk holds {held}, of those that the scope and the rest "
            f"of the query leave"
        )
    for pattern in query.paths:
        if not any(_takes_any(pattern, each) for each in answered):
            said.append(
                f"PATH_UNMATCHED:path:{pattern} matches no file. Patterns are as in .gitignore: "
                f"path:dir/, path:*.py, path:*{_last_part(pattern)}* for part of a name."
            )
    return said


def _out_of_sight(each: Answered) -> list[str]:
    """What of a tree this answer does not know as it is now."""
    overlay = each.overlay
    if overlay.mode == "skipped_missing_path":
        return [f"TREE_MISSING:{each.root} shows no files now; this is what was indexed of it"]
    said = []
    if overlay.beyond:
        said.append(
            f"CHANGES_UNREAD:{overlay.beyond} changed files in {each.root} were not read for this "
            f"answer; a sync takes them in"
        )
    if overlay.unreadable:
        said.append(
            f"TREE_UNREADABLE:{overlay.unreadable} parts of {each.root} cannot be read; of these, "
            f"only what was indexed before is known"
        )
    return said


def _nothing_below(each: Answered, *, empty: bool) -> list[str]:
    """What was asked about and is not there, or, where nothing was found, not in the index."""
    said = []
    for top in filter(None, each.below):
        path = f"{each.root}/{top}"
        if _missing(each, top):
            said.append(f"PATH_MISSING:{path} does not exist")
        elif empty and not any(f == top or f.startswith(top + "/") for f in _files(each)):
            said.append(f"PATH_NOT_INDEXED:no file of {path} is in the index")
    return said


def _missing(each: Answered, top: str) -> bool:
    return bool(top) and not os.path.lexists(f"{each.root}/{top}")


def _last_part(pattern: str) -> str:
    return pattern.strip("*/").rsplit("/", 1)[-1].lstrip("*")


def _files(each: Answered) -> Iterator[str]:
    """The files of a root that can be in the answer."""
    for path in (*each.overlay.before.entries, *each.overlay.changed):
        if path not in each.overlay.gone:
            yield path


def _takes_any(pattern: str, each: Answered) -> bool:
    wanted = PathPattern(pattern)
    return any(wanted.takes(path) for path in _files(each))


def advise(
    base: SearchAnswer,
    request: Request,
    answered: Sequence[Answered],
    page: Page,
    groups: Sequence[Group],
) -> None:
    """What to do next: the call that goes on, widens, or narrows."""
    steps: list[object] = []
    query, given = request.parsed.query, request.given
    if not groups:
        gone = [each for each in answered if any(_missing(each, top) for top in each.below)]
        steps += [search_call(given, path=each.root) for each in gone]
        if query.filtered and query.text:
            steps.append(search_call(given, query=as_words(query.text)))
        if request.scope != "mixed":
            steps.append(search_call(given, scope="mixed"))
    elif page.items:
        best = groups[page.end - len(page.items)].best
        path = f"{best.root}/{best.chunk.path}"
        base["recommendedNextAction"] = {
            **read_call(path, best.chunk.start_line, best.chunk.end_line),
            "reason": "the best result in full",
        }
    last_page = page.end >= len(groups)
    if last_page and groups and not base["counts"]["complete"] and request.lane == "ranked":
        wider = min(LIMIT_MAX, request.limit * 2)
        if wider > request.limit:
            steps.append(search_call(given, limit=wider))
    if "continuation" in base:
        steps.append(base["continuation"]["call"])
    if any(
        len(group.alike) > ALIKE_SHOWN for group in groups[page.end - len(page.items) : page.end]
    ):
        steps.append(search_call(given, resultMode="raw"))
    made = hints(
        debugProofCheck=answers.probe_hint(answered[0].gate),
        sync=next((manage_call("sync", a.root) for a in answered if a.overlay.beyond), None),
        nextSteps=steps or None,
        noiseMitigation=_noise(request, groups),
        debugSearch=_debug(request, answered, groups, page) if request.debug else None,
    )
    if made:
        base["hints"] = made


def _noise(request: Request, groups: Sequence[Group]) -> Wire | None:
    """A hint when most of the first results are not code that runs."""
    top = [role_of(group.best.chunk.path) for group in groups[:NOISE_AMONG]]
    ratios = {
        name: round(top.count(name) / len(top), 2)
        for name in ("test", "document", "generated", "vendored", "example") if name in top
    }  # fmt: skip
    if request.scope == "docs" or len(top) < NOISE_AMONG or sum(ratios.values()) < NOISE_SHARE:
        return None
    if request.parsed.query.paths:
        return None
    worst = max(ratios, key=lambda name: ratios[name])
    path = next(g.best.chunk.path for g in groups if role_of(g.best.chunk.path) == worst)
    folder = path.rpartition("/")[0]
    without = f"-{only_below(folder)} {request.query}" if folder else None
    return {
        "reason": "top_results_noise_dominant",
        "topK": NOISE_AMONG,
        "ratios": ratios,
        "recommendedScope": "runtime",
        "nextStep": search_call(
            request.given, **({"query": without} if without else {"scope": "runtime"})
        ),
    }


def _debug(
    request: Request, answered: Sequence[Answered], groups: Sequence[Group], page: Page
) -> Wire:
    query = request.parsed.query
    return {
        "depth": request.depth,
        "operatorSummary": {"text": query.text, "operators": [list(v) for v in query.values()]},
        "roots": [
            {
                "path": each.root,
                "generation": list(each.identity),
                "questionKind": each.found.analyzed.kind if each.found.analyzed else None,
                "words": [word.term for word in each.found.analyzed.words]
                if each.found.analyzed
                else [],
                "candidates": each.found.candidates,
                "findings": len(each.found.findings),
                "filterSummary": each.found.removed,
                "exact": None
                if each.found.exact is None
                else {
                    "chunks": each.found.exact.chunks,
                    "looked": each.found.exact.looked,
                    "hits": len(each.found.exact.hits),
                    "cut": each.found.exact.cut,
                },
            }
            for each in answered
        ],
        "groups": len(groups),
        "folded": sum(len(group.alike) for group in groups),
        "shortened": page.shortened,
        "inContext": sum("in_context" in item for item in page.items),
    }
