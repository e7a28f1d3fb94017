"""What an answer has besides its results: warnings, hints, and debug data."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import chain

import msgspec

from holdfast.files.edited_files import Edited
from holdfast.files.policy import SIZE_BYTES_MAX
from holdfast.index.answers import (
    Call,
    FreshnessDecision,
    FreshnessStats,
    Hints,
    NoiseMitigation,
    manage_call,
    read_call,
)
from holdfast.index.code_index import CodeIndex
from holdfast.index.generations.freshness import FreshFiles
from holdfast.index.generations.gate import Open
from holdfast.index.generations.model import Identity
from holdfast.index.search.filters import PathPattern
from holdfast.index.search.limits import LIMIT_MAX
from holdfast.index.search.operators import as_words, only_below
from holdfast.index.search.query_analysis import SPOKEN_MAX
from holdfast.index.search.results import ALIKE_SHOWN, Group, Page
from holdfast.index.search.retrieval import Retrieved
from holdfast.index.search.roles import role_of
from holdfast.index.search.terms import WORD
from holdfast.index.search_answers import Continuation, NextAction, SearchCounts
from holdfast.index.search_debug import ExactDebug, OperatorSummary, RootDebug, SearchDebug
from holdfast.index.shared.team_marker import differ, team_commit
from holdfast.index.tools.refusals import proof_check
from holdfast.index.tools.search_request import SearchRequest
from holdfast.text import counted

NOISE_AMONG, NOISE_SHARE = 5, 0.6
NOT_TEXT_SHOWN = 3
_NOT_TEXT = {
    "binary": "binary or UTF-16",
    "minified": "minified",
    "large": f"above {SIZE_BYTES_MAX // 1024**2} MiB",
}


class SearchedRoot(msgspec.Struct):
    """A root that was searched."""

    gate: Open
    identity: Identity
    overlay: FreshFiles
    recent: bool
    found: Retrieved
    edited: Edited | None = None
    """Files that git reports as being edited; None when git reports nothing."""
    below: Sequence[str] = ()
    """The directories or files to search; "" for all of the root."""
    origin: str | None = None
    """Where the files of the root come from, if it has no checkout."""

    @property
    def root(self) -> str:
        return self.gate.record.root


def warnings_of(
    request: SearchRequest, searched: Sequence[SearchedRoot], groups: Sequence[Group]
) -> list[str]:
    """Warnings as `CODE:sentence`; the codes are stable."""
    warnings: list[str] = []
    query = request.parsed.query
    if request.sample is not None and query.text:
        warnings.append(f"SIMILAR_WORDS_IGNORED:{query.text!r} is ignored; only operators narrow")
    elif len(query.text) > 2 * SPOKEN_MAX and len(WORD.findall(query.text)) > SPOKEN_MAX:
        warnings.append(f"QUERY_LONG:only its first {SPOKEN_MAX} words were looked for")
    if request.as_written:
        warnings.append(
            f"TAKEN_AS_WRITTEN:{query.text!r} has no word to rank by; it is looked for as is"
        )
    for each in searched:
        warnings += _tree_warnings(each)
        warnings += _path_warnings(each, empty=not groups)
        warnings += [f"SEARCH_PASS_FAILED:{failure}" for failure in each.found.failures]
        warnings += _exact_warnings(each)
        if request.cursor is None and (query.patterns or query.must or not groups):
            warnings += _not_text_warning(each)
    if groups:
        return warnings
    if query.must:
        texts = " and ".join(map(repr, query.must))
        warnings.append(
            f"FILTER_MUST_UNSATISFIED:no chunk contains {texts}, of those that the scope and the "
            f"rest of the query leave"
        )
    for pattern in query.paths:
        if not any(_takes_any(pattern, each) for each in searched):
            warnings.append(
                f"PATH_UNMATCHED:path:{pattern} matches no file. Patterns are as in .gitignore: "
                f"path:dir/, path:*.py, path:*{_last_part(pattern)}* for part of a name."
            )
    return warnings


def _exact_warnings(each: SearchedRoot) -> list[str]:
    """What the exact lane could not examine."""
    exact = each.found.exact
    if exact is None:
        return []
    warnings = []
    if exact.cut is not None:
        warnings.append(
            f"EXACT_CUT:not everything in {each.root} was looked at: {exact.cut}. There may be "
            f"more; narrow it with path: or lang:, or ask for a longer literal."
        )
    if exact.unjudged:
        warnings.append(
            f"EXACT_UNJUDGED:the pattern took too long on {', '.join(exact.unjudged)}; whether "
            f"these match is not known. Ask for a pattern with fewer repeats."
        )
    if exact.unread:
        warnings.append(
            f"EXACT_UNREAD:could not read all of {', '.join(exact.unread[:5])}"
            f"{' and others' if len(exact.unread) > 5 else ''}; only what is indexed of it was "
            f"looked at."
        )
    return warnings


def _not_text_warning(each: SearchedRoot) -> list[str]:
    """Files that an exact search did not see, because the index has no text of them."""
    exact = each.found.exact
    if exact is None or not exact.not_text:
        return []
    kinds: dict[str, list[str]] = {}
    for path, kind in sorted(exact.not_text.items(), key=lambda one: (one[1], one[0])):
        kinds.setdefault(_NOT_TEXT.get(kind, kind), []).append(path)
    parts = [
        f"{len(paths)} {kind} ({', '.join(paths[:NOT_TEXT_SHOWN])}"
        f"{', …' if len(paths) > NOT_TEXT_SHOWN else ''})"
        for kind, paths in kinds.items()
    ]
    return [f"NOT_SEARCHED:not searched: {'; '.join(parts)}"]


def _tree_warnings(each: SearchedRoot) -> list[str]:
    """Parts of the current tree that the answer does not cover."""
    overlay = each.overlay
    if overlay.mode == "skipped_missing_path":
        return [f"TREE_MISSING:{each.root} has no files now; this is what was indexed of it"]
    warnings = _team_note(each)
    if overlay.beyond:
        files = "1 changed file" if overlay.beyond == 1 else f"{overlay.beyond} changed files"
        was = "was" if overlay.beyond == 1 else "were"
        warnings.append(
            f"CHANGES_UNREAD:{files} in {each.root} {was} not read for this answer; run a sync "
            f"to index them"
        )
    if overlay.unreadable:
        warnings.append(
            f"TREE_UNREADABLE:{counted(overlay.unreadable, 'part')} of {each.root} cannot be read; "
            f"only what was indexed before is known of them"
        )
    return warnings


def decision_of(index: CodeIndex, each: SearchedRoot) -> FreshnessDecision:
    """How the tree was compared with its index for this answer, and what differed."""
    overlay = each.overlay
    stats = None
    if overlay.changed or overlay.gone or overlay.beyond or overlay.unreadable:
        stats = FreshnessStats(
            overlay.added,
            overlay.modified,
            len(overlay.gone),
            overlay.beyond,
            overlay.unreadable or None,
        )
    return FreshnessDecision(
        "skipped_recent" if each.recent else overlay.mode,
        index.timestamp(overlay.checked_at),
        overlay.threshold_ms,
        each.gate.record.last_updated,
        stats,
    )


def _team_note(each: SearchedRoot) -> list[str]:
    """The commit that the answer is based on, if its generation is the team's."""
    if each.origin is not None:
        return [f"REPOSITORY:{each.origin}"]
    commit = team_commit(each.gate.marker)
    if commit is None:
        return []
    overlay = each.overlay
    files = overlay.added + overlay.modified + len(overlay.gone) + overlay.beyond
    return [f"TEAM_GENERATION:from the team's index of commit {commit[:12]}; {differ(files)}"]


def _path_warnings(each: SearchedRoot, *, empty: bool) -> list[str]:
    """Requested paths that do not exist or, if nothing was found, are not indexed."""
    warnings = []
    for top in filter(None, each.below):
        path = f"{each.root}/{top}"
        if _missing(each, top):
            warnings.append(f"PATH_MISSING:{path} does not exist")
        elif empty and not any(f == top or f.startswith(top + "/") for f in _files(each)):
            warnings.append(f"PATH_NOT_INDEXED:no file of {path} is in the index")
    return warnings


def _missing(each: SearchedRoot, top: str) -> bool:
    return bool(top) and not os.path.lexists(f"{each.root}/{top}")


def _last_part(pattern: str) -> str:
    return pattern.strip("*/").rsplit("/", 1)[-1].lstrip("*")


def _files(each: SearchedRoot) -> Iterator[str]:
    """The files of a root that can be in the answer."""
    for path in chain(each.overlay.before.entries, each.overlay.changed):
        if path not in each.overlay.gone:
            yield path


def _takes_any(pattern: str, each: SearchedRoot) -> bool:
    wanted = PathPattern(pattern)
    return any(wanted.takes(path) for path in _files(each))


def next_action(groups: Sequence[Group], page: Page) -> NextAction | None:
    """The call that reads the best result of a page."""
    if not page.items:
        return None
    best = groups[page.end - len(page.items)].best
    path = f"{best.root}/{best.chunk.path}"
    call = read_call(path, best.chunk.start_line, best.chunk.end_line)
    return NextAction(call.tool, call.args, "the best result in full")


def hints_of(
    request: SearchRequest,
    searched: Sequence[SearchedRoot],
    page: Page,
    groups: Sequence[Group],
    counts: SearchCounts,
    continuation: Continuation | None,
) -> Hints | None:
    """The next calls to make: to continue, widen or narrow the search."""
    steps: list[Call] = []
    query = request.parsed.query
    if not groups:
        gone = [each for each in searched if any(_missing(each, top) for top in each.below)]
        steps += [request.call(path=each.root) for each in gone]
        if query.filtered and query.text:
            steps.append(request.call(query=as_words(query.text)))
        if request.scope != "mixed":
            steps.append(request.call(scope="mixed"))
    last_page = page.end >= len(groups)
    if last_page and groups and not counts.complete and request.lane == "ranked":
        wider = min(LIMIT_MAX, request.limit * 2)
        if wider > request.limit:
            steps.append(request.call(limit=wider))
    if continuation is not None:
        steps.append(continuation.call)
    shown = groups[page.end - len(page.items) : page.end]
    if any(len(group.alike) > ALIKE_SHOWN for group in shown):
        steps.append(request.call(resultMode="raw"))
    return Hints(
        debug_proof_check=proof_check(searched[0].gate),
        sync=next((manage_call("sync", s.root) for s in searched if s.overlay.beyond), None),
        next_steps=tuple(steps),
        noise_mitigation=_noise(request, groups),
        debug_search=_debug(request, searched, groups, page) if request.debug else None,
    ).or_none()


def _noise(request: SearchRequest, groups: Sequence[Group]) -> NoiseMitigation | None:
    """A hint if most of the first results are tests, documents or similar."""
    top = [role_of(group.best.chunk.path) for group in groups[:NOISE_AMONG]]
    ratios: dict[str, float] = {
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
    step = (
        request.call(query=f"-{only_below(folder)} {request.query}")
        if folder
        else request.call(scope="runtime")
    )
    return NoiseMitigation("top_results_noise_dominant", NOISE_AMONG, ratios, "runtime", step)


def _debug(
    request: SearchRequest, searched: Sequence[SearchedRoot], groups: Sequence[Group], page: Page
) -> SearchDebug:
    query = request.parsed.query
    return SearchDebug(
        request.depth,
        OperatorSummary(query.text, tuple(query.values())),
        tuple(map(_root_debug, searched)),
        len(groups),
        sum(len(group.alike) for group in groups),
        page.shortened,
        sum(bool(item.in_context) for item in page.items),
    )


def _root_debug(each: SearchedRoot) -> RootDebug:
    question, exact = each.found.analyzed, each.found.exact
    return RootDebug(
        each.root,
        each.identity,
        question.kind if question else None,
        tuple(word.term for word in question.words) if question else (),
        each.found.candidates,
        len(each.found.findings),
        each.found.removed,
        None
        if exact is None
        else ExactDebug(exact.chunks, exact.looked, len(exact.hits), exact.cut),
    )
