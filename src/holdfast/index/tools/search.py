"""search_code: ranked code with its symbols, or why there is none.

Read-only. Several roots can be searched at once; each passes its own gate, and a refused root does
not affect the others.

    arguments -> SearchRequest -> each root answers or refuses -> one answer
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime

from msgspec.structs import replace

from holdfast.files.edited_files import Edited
from holdfast.index.answers import FreshnessDecision, Hints
from holdfast.index.code_index import CodeIndex
from holdfast.index.errors import BackendUnavailable, DamagedBackend, SourceMoved
from holdfast.index.generations.freshness import FreshFiles, moved
from holdfast.index.generations.gate import Gate, Open
from holdfast.index.generations.model import Reader
from holdfast.index.generations.walk_ahead import WalkAhead
from holdfast.index.search import pages
from holdfast.index.search.filters import files_kept
from holdfast.index.search.fresh_files import chunks_of
from holdfast.index.search.further_places import one_for_each_file
from holdfast.index.search.limits import BUDGET_DEFAULT, Scope
from holdfast.index.search.pages import Cursor
from holdfast.index.search.query_analysis import AnalyzedQuery
from holdfast.index.search.results import (
    Finding,
    Freshness,
    GroupBy,
    Holds,
    Items,
    fold,
    grouped,
)
from holdfast.index.search.retrieval import Retrieved, retrieve
from holdfast.index.search.terms import terms
from holdfast.index.search_answers import (
    Continuation,
    RootAnswer,
    SearchAnswer,
    SearchCounts,
    SearchResult,
    ValueLine,
)
from holdfast.index.tools.refusals import refusal
from holdfast.index.tools.search_advice import (
    SearchedRoot,
    decision_of,
    hints_of,
    next_action,
    warnings_of,
)
from holdfast.index.tools.search_edits import being_edited
from holdfast.index.tools.search_request import (
    ResultMode,
    SearchRequest,
    Target,
    check_arguments,
    request_of,
    targets_of,
)
from holdfast.index.tools.unmatched_words import BY_MEANING_MAX, unmatched_warning, unmatched_words
from holdfast.index.tools.value_questions import asks_for_value

MOVED_MAX = 3
"""How often the tree is checked again because a file changed while it was read."""
VALUES_OF = 5
"""The values of settings are looked up that one of this many results names."""
FRESH_S, AGING_S = 1_800, 86_400
"""Maximum age of a fresh and of an aging index; an older one is stale."""


def search_code(
    index: CodeIndex,
    path: str | Sequence[str],
    query: str,
    *,
    scope: Scope = "runtime",
    result_mode: ResultMode = "grouped",
    group_by: GroupBy = "symbol",
    limit: int | None = None,
    budget: int = BUDGET_DEFAULT,
    cursor: str | None = None,
    debug: bool = False,
    holds: Holds | None = None,
    similar: str | None = None,
    snippet: str | None = None,
) -> SearchAnswer:
    """Search the trees of the paths, below them.

    `limit` is 10 results by default, 50 for a list of lines (`re:`) or files. `budget` limits the
    tokens of the results. `cursor` is the `continuation.cursor` of the previous page. `holds` says
    whether the reader provably has lines of a file (by absolute path): such hits are listed without
    their text. `similar` (`path`, `path:10` or `path:10-20`) or `snippet` asks for similar code;
    the query may then be empty, and its operators narrow the results.
    """
    paths = (path,) if isinstance(path, str) else tuple(path)
    sampled = similar is not None or snippet is not None
    check_arguments(paths, query, scope, result_mode, group_by, limit, budget, sampled)
    targets = targets_of(index, paths)
    request = request_of(
        targets, query, scope, result_mode, group_by, limit, budget, cursor, debug, holds,
        similar, snippet,
    )  # fmt: skip
    edited = index.edited.kept(request.cursor.state) if request.cursor is not None else {}
    outcomes = [(target, _search_root(index, request, target, edited)) for target in targets]
    searched = [outcome for _, outcome in outcomes if isinstance(outcome, SearchedRoot)]
    _each_file_once(searched)
    refused = [(t, gate) for t, gate in outcomes if not isinstance(gate, SearchedRoot)]
    answer = _empty_answer(request)
    if len(targets) > 1:
        roots = [_searched_answer(index, each) for each in searched]
        roots += [_refused_answer(index, target, gate) for target, gate in refused]
        answer = replace(answer, roots=tuple(roots))
    if not searched:
        return _refused(index, answer, *refused[0])
    answer = replace(answer, freshness_decision=decision_of(index, searched[0]))
    state = _state(request, searched)
    if request.cursor is not None and request.cursor.state != state:
        return _changed(request, answer, any(each.found.chance for each in searched))
    return _page(index, request, answer, searched, state)


def _empty_answer(request: SearchRequest) -> SearchAnswer:
    return SearchAnswer(
        status="ok",
        path=request.paths[0],
        paths=request.paths if len(request.paths) > 1 else (),
        query=request.query,
        scope=request.scope,
        group_by=request.group_by,
        result_mode="raw" if request.raw else "grouped",
        limit=request.limit,
        freshness_decision=None,
        warnings=tuple(f"QUERY_OPERATOR:{warning}" for warning in request.parsed.warnings),
        results=(),
    )


# One root.


def _search_root(
    index: CodeIndex,
    request: SearchRequest,
    target: Target,
    first_page: Mapping[str, Edited | None],
) -> SearchedRoot | Gate:
    """The result of searching a root, or the gate that refuses it.

    `first_page` has the files that were being edited when the first page was made, by root.
    """
    gate = index.gate(target.record)
    if not isinstance(gate, Open):
        return gate
    root = gate.record.root
    keep = files_kept(request.retrieval_query, request.scope, target.below)
    edited = first_page[root] if root in first_page else index.edited.of(root)

    def ask(reader: Reader, overlay: FreshFiles) -> Retrieved:
        worked_on = being_edited(edited, overlay.changed, gate.marker)
        found = retrieve(
            request.retrieval_query, root, reader, overlay, index.provider, keep, request.depth,
            request.sample, worked_on,
        )  # fmt: skip
        if request.shows_companions and found.findings:
            found.file = chunks_of(found.findings[0].chunk.path, reader, overlay)
        return found

    origin = index.origin(root)
    try:
        with index.backend.reader(root) as reader:
            found, overlay, recent = _up_to_date(index, gate, reader, ask)
            for _ in range(MOVED_MAX):
                if (current := index.origin(root)) == origin:
                    break
                # Its files were replaced meanwhile: the answer may be that of the commit before.
                index.freshness.doubt(root)
                origin, recent = current, False
                overlay = index.check_freshness(gate.record, reader)
                found = ask(reader, overlay)
            identity = reader.identity
    except BackendUnavailable:
        again = index.gate(index.registry.find(root))
        if isinstance(again, Open):
            raise  # The backend is unavailable; the state of the index is unknown.
        return again
    except DamagedBackend as error:
        return index.damaged(gate.record, error)
    # If a run began meanwhile, the current gate decides.
    now = index.registry.find(root)
    if now is None or not now.searchable:
        return index.gate(now)
    return SearchedRoot(gate, identity, overlay, recent, found, edited, target.below, origin)


def _up_to_date(
    index: CodeIndex,
    gate: Open,
    reader: Reader,
    ask: Callable[[Reader, FreshFiles], Retrieved],
) -> tuple[Retrieved, FreshFiles, bool]:
    """Current results; a recent check of the tree is reused if no hit has changed since."""
    root = gate.record.root
    overlay = index.recent_check(gate.record, reader)
    if overlay is not None:
        with suppress(SourceMoved):
            found = ask(reader, overlay)
            if not moved(root, found.paths, overlay):
                return found, overlay, True
    files = 0 if gate.marker is None else gate.marker.indexed_files
    ahead = index.begin_check(gate.record, reader, files) if overlay is None else None
    if ahead is not None:
        meanwhile, overlay = _ranked_meanwhile(index, gate, reader, ask, ahead)
        if meanwhile is not None:
            return meanwhile, overlay, False
    for _ in range(MOVED_MAX):
        overlay = index.check_freshness(gate.record, reader)
        with suppress(SourceMoved):
            found = ask(reader, overlay)
            if not overlay.by_reports or not moved(root, found.paths, overlay):
                return found, overlay, False
        index.freshness.doubt(root)
    overlay = index.check_freshness(gate.record, reader)
    return ask(reader, overlay), overlay, False


def _ranked_meanwhile(
    index: CodeIndex,
    gate: Open,
    reader: Reader,
    ask: Callable[[Reader, FreshFiles], Retrieved],
    ahead: WalkAhead,
) -> tuple[Retrieved | None, FreshFiles]:
    """Results that were ranked during a walk, and again if something has changed; None if a file
    changed while it was read."""
    found = None
    with ahead:
        with suppress(SourceMoved):
            found = ask(reader, FreshFiles(reader.identity, ahead.manifest, ahead.began))
        overlay = index.check_freshness(gate.record, reader, ahead)
    if found is None or overlay.mode != "skipped_source_unchanged":
        found = None
        with suppress(SourceMoved):
            found = ask(reader, overlay)
    return found, overlay


# One answer from all roots.


def _page(
    index: CodeIndex,
    request: SearchRequest,
    answer: SearchAnswer,
    searched: Sequence[SearchedRoot],
    state: str,
) -> SearchAnswer:
    groups = grouped(_merged(searched), None if request.raw else request.group_by)
    if request.folds:
        groups = fold(groups, request.depth, request.retrieval_query.text)
    question = next((each.found.analyzed for each in searched if each.found.analyzed), None)
    weak = request.lane == "ranked" and all(each.found.weak for each in searched)
    items = Items(
        question, _freshness(index, searched), raw=request.raw, holds=request.holds,
        several_roots=bool(answer.roots), counts_lines=request.counts_lines, debug=request.debug,
        lane=request.lane, leads=request.leads, listed=request.listed, whole_first=not weak,
        cuts_weak=request.one_for_each_file and request.arguments["limit"] is None,
        files={(each.root, each.found.file[0].path): each.found.file
               for each in searched if each.found.file},
    )  # fmt: skip
    unmatched = unmatched_words(question, groups) if request.lane == "ranked" else ()
    if question is not None and len(unmatched) > 1 and len(unmatched) == len(question.words):
        groups = groups[:BY_MEANING_MAX]
    elif weak and request.arguments["limit"] is None:
        # A limit that the caller named is kept.
        groups = groups[:BY_MEANING_MAX]
    elif request.one_for_each_file:
        groups = one_for_each_file(groups)
    start = min(request.cursor.offset, len(groups)) if request.cursor else 0
    page = items.page(groups, start, request.limit, request.budget)
    counts = SearchCounts(
        first=start + 1 if page.items else start,
        last=page.end,
        total=len(groups),
        complete=all(_complete(each.found) and each.overlay.whole for each in searched),
        tokens=page.tokens,
    )
    if request.retrieval_query.patterns or request.retrieval_query.must:
        lines = {
            (f.root, f.chunk.path, m.line)
            for each in searched for f in each.found.findings for m in f.lines
        }  # fmt: skip
        files = {key[:2] for key in lines}
        counts = replace(counts, matched_lines=len(lines), matched_files=len(files))
    continuation = None
    if page.end < len(groups):
        index.edited.keep(state, {each.root: each.edited for each in searched})
        after = pages.encode(Cursor(page.end, request.depth, request.name, state))
        left = len(groups) - page.end
        continuation = Continuation(after, left, request.call(cursor=after))
    return replace(
        answer,
        results=tuple(page.items),
        values=_values(index, request, searched, question, page.items),
        warnings=(
            *unmatched_warning(unmatched, question, groups, weak=weak),
            *answer.warnings,
            *warnings_of(request, searched, groups),
        ),
        counts=counts,
        continuation=continuation,
        recommended_next_action=next_action(groups, page),
        hints=hints_of(request, searched, page, groups, counts, continuation),
    )


def _values(
    index: CodeIndex,
    request: SearchRequest,
    searched: Sequence[SearchedRoot],
    question: AnalyzedQuery | None,
    shown: Sequence[SearchResult],
) -> tuple[ValueLine, ...]:
    """The values of settings that the best results name, if the question is about a value."""
    if not shown or question is None or len(searched) > 1 or not request.shows_companions:
        return ()
    each = searched[0]
    if each.found.weak or not asks_for_value(request.query):
        return ()
    from holdfast.index.tools.value_lines import value_lines

    keep = files_kept(request.retrieval_query, request.scope, each.below)
    try:
        with index.backend.reader(each.root) as reader:
            if reader.identity != each.identity:
                return ()
            return value_lines(shown[:VALUES_OF], question, each.root, reader, each.overlay, keep)
    except (BackendUnavailable, DamagedBackend):
        return ()


def _each_file_once(searched: Sequence[SearchedRoot]) -> None:
    """If one root is inside another, assign its files to the inner one only."""
    for each in searched:
        nearer = [
            os.path.join(other.root, top)
            for other in searched if other.root.startswith(each.root.rstrip("/") + "/")
            for top in other.below
        ]  # fmt: skip
        if nearer:
            each.found.findings = [
                finding
                for finding in each.found.findings
                if not any(_is_below(f"{each.root}/{finding.chunk.path}", top) for top in nearer)
            ]


def _is_below(path: str, top: str) -> bool:
    top = top.rstrip("/")
    return path == top or path.startswith(top + "/")


def _merged(searched: Sequence[SearchedRoot]) -> list[Finding]:
    """The findings of all roots, best first.

    The scores of a root are relative to its own contents. The share of the query's words that a
    finding has is comparable, so it decides between roots.
    """
    if len(searched) == 1:
        return searched[0].found.findings
    ranked = []
    for place, each in enumerate(searched):
        worst = float("inf")
        for number, finding in enumerate(each.found.findings):
            worth = finding.score * (0.2 + 0.8 * _coverage(finding, each.found.analyzed))
            worst = min(worst, worth)  # Keeps the order within a root.
            ranked.append((-worst, number, place, finding))
    ranked.sort(key=lambda entry: entry[:3])
    return [finding for *_, finding in ranked]


def _coverage(finding: Finding, question: AnalyzedQuery | None) -> float:
    """The share of the query's words that a finding has in its path, name or text."""
    if question is None or not question.words:
        return 1.0
    chunk = finding.chunk
    present = set(terms(f"{chunk.path} {chunk.label or ''} {chunk.text}"))
    found = sum(
        word.term in present or not present.isdisjoint(word.others) for word in question.words
    )
    return found / len(question.words)


def _complete(retrieved: Retrieved) -> bool:
    return not retrieved.more and (retrieved.exact is None or retrieved.exact.complete)


def _state(request: SearchRequest, searched: Sequence[SearchedRoot]) -> str:
    """The digest of everything that the ranking depends on; a cursor is valid only for the same."""
    state = pages.state_of(
        ((each.root, each.identity, each.overlay) for each in searched),
        {each.root: each.edited for each in searched},
        {each.root: each.found.chance for each in searched},
    )
    sample = request.sample
    return pages.digest([state, sample.text]) if sample is not None and sample.path else state


def _freshness(
    index: CodeIndex, searched: Sequence[SearchedRoot]
) -> Callable[[str, str], Freshness]:
    """When each file was indexed; a file that changed since then is always fresh."""
    overlays = {each.root: each.overlay for each in searched}
    stored: dict[str, Freshness] = {}
    for each in searched:
        marker, record = each.gate.marker, each.gate.record
        at = marker.completed_at if marker is not None else record.last_updated
        try:
            age_s = (index.now() - datetime.fromisoformat(at)).total_seconds()
            bucket = "fresh" if age_s <= FRESH_S else "aging" if age_s <= AGING_S else "stale"
        except (ValueError, TypeError):
            bucket = "unknown"
        stored[each.root] = (at, bucket)

    def of(root: str, path: str) -> Freshness:
        return (None, "fresh") if path in overlays[root].changed else stored[root]

    return of


# Roots and refusals.


def _changed(request: SearchRequest, answer: SearchAnswer, by_chance: bool) -> SearchAnswer:
    """The answer to a cursor whose ranking no longer exists."""
    why = (
        "This search ran out of time or lost a lane and found other results than for the first page"
        if by_chance
        else "The files or the index changed since the first page"
    )
    return replace(
        answer,
        status="blocked",
        reason="index_changed",
        message=f"{why}, so there is no next page of that ranking. Ask again from the start: the "
        "same call without the cursor.",
        hints=Hints(restart=request.call()),
    )


def _searched_answer(index: CodeIndex, each: SearchedRoot) -> RootAnswer:
    return RootAnswer(
        path=each.root,
        status="ok",
        findings=len(each.found.findings),
        freshness_decision=decision_of(index, each),
    )


def _refused_answer(index: CodeIndex, target: Target, gate: Gate) -> RootAnswer:
    refused = refusal(gate, target.requested, index.runtime(), "retry the search")
    return RootAnswer(
        path=target.requested,
        status=refused.status,
        reason=refused.reason,
        message=refused.message,
        hints=refused.hints,
    )


def _refused(index: CodeIndex, answer: SearchAnswer, target: Target, gate: Gate) -> SearchAnswer:
    refused = refusal(gate, target.requested, index.runtime(), "retry the search")
    return replace(
        answer,
        path=target.requested,
        status=refused.status,
        reason=refused.reason,
        codebase_path=refused.root,
        freshness_decision=FreshnessDecision(refused.freshness) if refused.freshness else None,
        message=refused.message,
        hints=refused.hints,
        compatibility=refused.compatibility,
        indexing=refused.indexing,
    )
