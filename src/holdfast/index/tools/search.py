"""search_code: ranked code with its owners, or why there is none.

A read: it writes nothing, whatever it finds. Several roots may be asked at once; each passes its
own gate, and one that refuses does not keep the others from answering.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, NotRequired, TypedDict

from holdfast.errors import UsageError
from holdfast.index import answers
from holdfast.index.answers import Wire, hints, manage_call, read_call, search_call
from holdfast.index.code_index import CodeIndex, policy_of
from holdfast.index.errors import BackendUnavailable
from holdfast.index.freshness import Overlay, moved
from holdfast.index.gate import Gate, Open
from holdfast.index.generation import Identity, Reader
from holdfast.index.record import Record
from holdfast.index.refusals import refusal
from holdfast.index.search import operators, pages
from holdfast.index.search.filters import PathPattern, files_kept
from holdfast.index.search.operators import Parsed, Query
from holdfast.index.search.pages import Cursor
from holdfast.index.search.regex import wrong_pattern
from holdfast.index.search.results import Finding, Group, GroupBy, Holds, Items, Page, fold, grouped
from holdfast.index.search.retrieval import Retrieved, retrieve
from holdfast.index.search.roles import role_of
from holdfast.index.search.scopes import SCOPES, Scope
from holdfast.index.search.terms import terms
from holdfast.index.search.understand import Question

LIMIT_DEFAULT, LIMIT_MAX = 10, 50
BUDGET_DEFAULT, BUDGET_MIN = 8_000, 100
DEPTH_MIN, DEPTH_FACTOR = 60, 3
"""How many chunks are ranked for all pages: so many, or so many for each result of a page."""
NOISE_AMONG, NOISE_SHARE = 5, 0.6


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
    given: Wire
    """The arguments, for calls that ask again."""

    @property
    def asked(self) -> Query:
        """The query to retrieve by: with nothing left beside filters, all of it is text."""
        query = self.parsed.query
        return query if query.text or query.exact else replace(query, text=self.query)

    @property
    def depth(self) -> int:
        return self.cursor.depth if self.cursor else max(DEPTH_MIN, DEPTH_FACTOR * self.limit)

    @property
    def name(self) -> str:
        """What a cursor belongs to: everything that decides the order."""
        return pages.digest([*self.paths, self.query, self.scope, self.raw, self.group_by])


@dataclass(slots=True)
class Answered:
    """A root that answered."""

    gate: Open
    identity: Identity
    overlay: Overlay
    recent: bool
    found: Retrieved

    @property
    def root(self) -> str:
        return self.gate.record.root


@dataclass(slots=True)
class Target:
    """A root, or nothing tracked, with the directories below it that were asked about."""

    requested: str
    record: Record | None
    below: list[str] = field(default_factory=list)


def search_code(
    index: CodeIndex,
    path: str | Sequence[str],
    query: str,
    *,
    scope: Scope = "runtime",
    result_mode: Literal["grouped", "raw"] = "grouped",
    group_by: GroupBy = "symbol",
    limit: int = LIMIT_DEFAULT,
    budget: int = BUDGET_DEFAULT,
    cursor: str | None = None,
    debug: bool = False,
    holds: Holds | None = None,
) -> SearchAnswer:
    """Search the trees that govern the paths, below them.

    `budget` bounds the tokens of the results. `cursor` is the `continuation.cursor` of the page
    before. `holds` tells which lines of a file (by absolute path) the reader provably holds: hits
    there are pointed at and not repeated.
    """
    if not query.strip():
        raise UsageError("the query is empty", hint="ask for a name, a phrase or a behaviour")
    if scope not in SCOPES:
        raise UsageError(f"there is no scope {scope!r}", hint=f"one of: {', '.join(SCOPES)}")
    if limit < 1:
        raise UsageError(f"limit {limit} asks for nothing")
    if budget < BUDGET_MIN:
        raise UsageError(f"a budget of {budget} tokens has no room for a result")
    paths = (path,) if isinstance(path, str) else tuple(path)
    if not paths:
        raise UsageError("no path was given", hint="pass the root of a tree, or several")
    targets = _targets(index, paths)
    requested = tuple(dict.fromkeys(target.requested for target in targets))
    request = Request(
        requested, query, operators.parse(query, wrong_pattern), scope, result_mode == "raw",
        group_by, min(limit, LIMIT_MAX), budget, pages.decode(cursor) if cursor else None, debug,
        holds,
        {
            "path": requested[0] if len(requested) == 1 else list(requested),
            "query": query,
            "scope": scope if scope != "runtime" else None,
            "resultMode": result_mode if result_mode != "grouped" else None,
            "groupBy": group_by if group_by != "symbol" else None,
            "limit": limit if limit != LIMIT_DEFAULT else None,
            "budget": budget if budget != BUDGET_DEFAULT else None,
        },
    )  # fmt: skip
    if request.cursor is not None and request.cursor.question != request.name:
        raise UsageError(
            "the cursor belongs to another question",
            hint="repeat the arguments of the first page, or leave the cursor out",
        )
    base = _base(request)
    answered: list[Answered] = []
    refused: list[tuple[Target, Gate]] = []
    for target in targets:
        outcome = _ask(index, request, target)
        if isinstance(outcome, Answered):
            answered.append(outcome)
        else:
            refused.append((target, outcome))
    if len(targets) > 1:
        base["roots"] = [_root_facts(index, each) for each in answered]
        base["roots"] += [_refusal_facts(index, target, gate) for target, gate in refused]
    if not answered:
        base["path"] = refused[0][0].requested
        return _refused(index, base, refused[0][1])
    base["freshnessDecision"] = _decision(index, answered[0])
    state = pages.state_of((each.root, each.identity, each.overlay) for each in answered)
    if request.cursor is not None and request.cursor.state != state:
        return _changed(request, base)
    return _answer(index, request, base, answered, state)


def _base(request: Request) -> SearchAnswer:
    base: SearchAnswer = {
        "status": "ok",
        "path": request.paths[0],
        "query": request.query,
        "scope": request.scope,
        "groupBy": request.group_by,
        "resultMode": "raw" if request.raw else "grouped",
        "limit": request.limit,
        "freshnessDecision": None,
        "results": [],
    }
    if len(request.paths) > 1:
        base["paths"] = list(request.paths)
    if request.parsed.warnings:
        base["warnings"] = [f"QUERY_OPERATOR:{warning}" for warning in request.parsed.warnings]
    return base


def _targets(index: CodeIndex, paths: Sequence[str]) -> list[Target]:
    """The roots that were asked about, each once, in the order they were named."""
    found: dict[str, Target] = {}
    for path in paths:
        requested, record = index.governing(path)
        key = record.root if record is not None else requested
        target = found.setdefault(key, Target(requested, record))
        target.below.append(requested[len(key) :].strip("/"))
    return list(found.values())


# Asking.


def _ask(index: CodeIndex, request: Request, target: Target) -> Answered | Gate:
    """What a root answers, or the gate that keeps it from answering."""
    gate = index.gate(target.record)
    if not isinstance(gate, Open):
        return gate
    root = gate.record.root
    keep = files_kept(request.asked, request.scope, target.below)

    def ask(reader: Reader, overlay: Overlay) -> Retrieved:
        return retrieve(request.asked, root, reader, overlay, index.provider, keep, request.depth)

    try:
        with index.backend.reader(root) as reader:
            found, overlay, recent = _fresh(index, gate, reader, ask)
            identity = reader.identity
    except BackendUnavailable:
        again = index.gate(index.registry.find(root))
        if isinstance(again, Open):
            raise  # The backend is away; that says nothing about the index.
        return again
    # A run may have begun meanwhile; then its answer is the one that holds.
    now = index.registry.find(root)
    if now is None or not now.searchable:
        return index.gate(now)
    return Answered(gate, identity, overlay, recent, found)


def _fresh(
    index: CodeIndex,
    gate: Open,
    reader: Reader,
    ask: Callable[[Reader, Overlay], Retrieved],
) -> tuple[Retrieved, Overlay, bool]:
    """What is found now; the last look serves if it is recent and none of the hits moved."""
    root = gate.record.root
    overlay = index.freshness.recent(root, reader.identity)
    if overlay is not None:
        found = ask(reader, overlay)
        if not moved(root, found.paths, overlay):
            return found, overlay, True
    provider = index.provider if index.provider.local else None
    overlay = index.freshness.look(
        root, reader, policy_of(gate.record.options), index.extract, provider
    )
    return ask(reader, overlay), overlay, False


# Answering.


def _answer(
    index: CodeIndex,
    request: Request,
    base: SearchAnswer,
    answered: Sequence[Answered],
    state: str,
) -> SearchAnswer:
    groups = fold(grouped(_merged(answered), None if request.raw else request.group_by))
    question = next((each.found.question for each in answered if each.found.question), None)
    items = Items(
        question, _Freshness(index, answered), raw=request.raw, holds=request.holds,
        several_roots=len(answered) > 1 or "roots" in base, debug=request.debug,
    )  # fmt: skip
    start = request.cursor.offset if request.cursor else 0
    page = items.page(groups, start, request.limit, request.budget)
    base["results"] = page.items
    warnings = [*base.get("warnings", []), *_warnings(request, answered, groups)]
    if warnings:
        base["warnings"] = warnings
    complete = all(_complete(each.found) for each in answered)
    base["counts"] = {
        "from": start + 1 if page.items else start,
        "to": page.end,
        "total": len(groups),
        "complete": complete,
        "tokens": page.tokens,
    }
    if any(each.found.exact for each in answered):
        lines = {
            (f.root, f.chunk.path, m.line)
            for each in answered for f in each.found.findings for m in f.lines
        }  # fmt: skip
        base["counts"]["matchedLines"] = len(lines)
        base["counts"]["matchedFiles"] = len({key[:2] for key in lines})
    if page.end < len(groups):
        after = pages.encode(Cursor(page.end, request.depth, request.name, state))
        base["continuation"] = {
            "cursor": after,
            "remaining": len(groups) - page.end,
            "call": search_call(request.given, cursor=after),
        }
    _advise(base, request, answered, page, groups)
    return base


def _merged(answered: Sequence[Answered]) -> list[Finding]:
    """The findings of all roots, best first.

    A root's scores are relative to what it has. Which of the asked words a hit holds is not, so
    that decides between roots.
    """
    if len(answered) == 1:
        return answered[0].found.findings
    ranked = []
    for place, each in enumerate(answered):
        worst = float("inf")
        for number, finding in enumerate(each.found.findings):
            worth = finding.score * (0.2 + 0.8 * _held(finding, each.found.question))
            worst = min(worst, worth)  # The order within a root stays as it is.
            ranked.append((-worst, number, place, finding))
    ranked.sort(key=lambda entry: entry[:3])
    return [finding for *_, finding in ranked]


def _held(finding: Finding, question: Question | None) -> float:
    """The share of the asked words that a finding holds, in its path, its name or its text."""
    if question is None or not question.words:
        return 1.0
    chunk = finding.chunk
    held = set(terms(f"{chunk.path} {chunk.label or ''} {chunk.text}"))
    found = sum(word.term in held or not held.isdisjoint(word.others) for word in question.words)
    return found / len(question.words)


def _complete(found: Retrieved) -> bool:
    return found.exact.complete if found.exact is not None else not found.more


def _warnings(request: Request, answered: Sequence[Answered], groups: Sequence[Group]) -> list[str]:
    said: list[str] = []
    query = request.parsed.query
    for each in answered:
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
        said.append("FILTER_MUST_UNSATISFIED:no chunk holds " + " and ".join(map(repr, query.must)))
    for pattern in query.paths:
        if not any(_takes_any(pattern, each) for each in answered):
            said.append(
                f"PATH_UNMATCHED:path:{pattern} matches no file. Patterns are as in .gitignore: "
                f"path:dir/, path:*.py, path:*{pattern.strip('*/')}* for part of a name."
            )
    return said


def _takes_any(pattern: str, each: Answered) -> bool:
    wanted = PathPattern(pattern)
    paths = [*each.overlay.before.entries, *each.overlay.changed]
    return any(wanted.takes(path) for path in paths if path not in each.overlay.gone)


def _advise(
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
        if query.filtered and query.text:
            steps.append(search_call(given, query=query.text))
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
    if last_page and groups and not base["counts"]["complete"] and not query.exact:
        wider = min(LIMIT_MAX, request.limit * 2)
        if wider > request.limit:
            steps.append(search_call(given, limit=wider))
    if "continuation" in base:
        steps.append(base["continuation"]["call"])
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
    without = f"-path:{path.rsplit('/', 1)[0]}/ {request.query}" if "/" in path else None
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
                "questionKind": each.found.question.kind if each.found.question else None,
                "words": [word.term for word in each.found.question.words]
                if each.found.question
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


def _changed(request: Request, base: SearchAnswer) -> SearchAnswer:
    """The answer to a cursor whose ranking is no more."""
    base["status"], base["reason"] = "blocked", "index_changed"
    base["message"] = (
        "The files or the index changed since the first page, so there is no next page of that "
        "ranking. Ask again from the start: the same call without the cursor."
    )
    base["hints"] = hints(restart=search_call(request.given))
    return base


# What roots say of themselves.


def _decision(index: CodeIndex, each: Answered) -> Wire:
    overlay = each.overlay
    decision: Wire = {
        "mode": "skipped_recent" if each.recent else overlay.mode,
        "checkedAt": index.timestamp(),
        "thresholdMs": overlay.threshold_ms,
        "lastSyncAt": each.gate.record.last_updated,
    }
    if overlay.changed or overlay.gone or overlay.beyond:
        decision["stats"] = {
            "added": overlay.added,
            "modified": overlay.modified,
            "removed": len(overlay.gone),
            "unread": overlay.beyond,
        }
    return decision


def _root_facts(index: CodeIndex, each: Answered) -> Wire:
    return {
        "path": each.root,
        "status": "ok",
        "findings": len(each.found.findings),
        "freshnessDecision": _decision(index, each),
    }


def _refusal_facts(index: CodeIndex, target: Target, gate: Gate) -> Wire:
    said = refusal(gate, target.requested, index.runtime(), "retry the search")
    return {
        "path": target.requested,
        "status": said.status,
        "reason": said.reason,
        "message": said.message,
        "hints": said.hints,
    }


def _refused(index: CodeIndex, base: SearchAnswer, gate: Gate) -> SearchAnswer:
    refused = refusal(gate, base["path"], index.runtime(), "retry the search")
    base["status"], base["reason"] = refused.status, refused.reason
    base["message"], base["hints"] = refused.message, refused.hints
    base["freshnessDecision"] = {"mode": refused.freshness} if refused.freshness else None
    if refused.root is not None:
        base["codebasePath"] = refused.root
    if "indexing" in refused.extras:
        base["indexing"] = answers.part(refused.extras, "indexing")
    if "compatibility" in refused.extras:
        base["compatibility"] = answers.part(refused.extras, "compatibility")
    return base


class _Freshness:
    """How old what is known of a file is."""

    def __init__(self, index: CodeIndex, answered: Sequence[Answered]) -> None:
        self._overlays = {each.root: each.overlay for each in answered}
        self._stored: dict[str, Wire] = {}
        for each in answered:
            marker, record = each.gate.marker, each.gate.record
            at = marker.completed_at if marker is not None else record.last_updated
            try:
                age_s = (index.now() - datetime.fromisoformat(at)).total_seconds()
                bucket = "fresh" if age_s <= 1800 else "aging" if age_s <= 86400 else "stale"
            except (ValueError, TypeError):
                bucket = "unknown"
            self._stored[each.root] = {"indexedAt": at, "stalenessBucket": bucket}

    def __call__(self, root: str, path: str) -> Wire:
        if path in self._overlays[root].changed:
            return {"indexedAt": None, "stalenessBucket": "fresh"}
        return self._stored[root]
