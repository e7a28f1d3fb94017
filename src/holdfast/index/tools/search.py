"""search_code: ranked code with its owners, or why there is none.

A read: it writes nothing, whatever it finds. Several roots may be asked at once; each passes its
own gate, and one that refuses does not keep the others from answering.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from holdfast.errors import UsageError
from holdfast.files import disk
from holdfast.files.edited_files import Edited
from holdfast.index.code_index import CodeIndex
from holdfast.index.errors import BackendUnavailable
from holdfast.index.generations.freshness import FreshFiles, moved
from holdfast.index.generations.gate import Gate, Open
from holdfast.index.generations.model import Reader
from holdfast.index.generations.record import Record
from holdfast.index.search import operators, pages
from holdfast.index.search.filters import files_kept
from holdfast.index.search.pages import Cursor
from holdfast.index.search.query_analysis import AnalyzedQuery
from holdfast.index.search.regex import lines_of, wrong_pattern
from holdfast.index.search.results import Finding, GroupBy, Holds, Items, fold, grouped
from holdfast.index.search.retrieval import Retrieved, retrieve
from holdfast.index.search.scopes import SCOPES, Scope
from holdfast.index.search.terms import terms
from holdfast.index.tools import answers
from holdfast.index.tools.answers import Wire, hints, search_call
from holdfast.index.tools.refusals import refusal
from holdfast.index.tools.search_answer import (
    DEPTH_MAX,
    DEPTH_MIN,
    LIMIT_DEFAULT,
    LIMIT_MAX,
    Answered,
    Request,
    SearchAnswer,
    advise,
    warnings_of,
)

if TYPE_CHECKING:
    from holdfast.index.search.similar import Sample

BUDGET_DEFAULT, BUDGET_MIN = 8_000, 100


@dataclass(slots=True)
class Target:
    """A root, or nothing tracked, with the directories below it that were asked about."""

    requested: str
    record: Record | None
    paths: list[str] = field(default_factory=list)
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
    similar: str | None = None,
    snippet: str | None = None,
) -> SearchAnswer:
    """Search the trees that govern the paths, below them.

    `budget` bounds the tokens of the results. `cursor` is the `continuation.cursor` of the page
    before. `holds` tells which lines of a file (by absolute path) the reader provably holds: hits
    there are pointed at and not repeated. `similar` (`path`, `path:10` or `path:10-20`) or
    `snippet` asks for code like that; the query may be empty then, and its operators narrow.
    """
    if not query.strip() and similar is None and snippet is None:
        raise UsageError("the query is empty", hint="ask for a name, a phrase or a behaviour")
    if scope not in SCOPES:
        raise UsageError(f"there is no scope {scope!r}", hint=f"one of: {', '.join(SCOPES)}")
    if result_mode not in ("grouped", "raw"):
        raise UsageError(f"there is no result mode {result_mode!r}", hint="one of: grouped, raw")
    if group_by not in ("symbol", "file"):
        raise UsageError(f"results are not grouped by {group_by!r}", hint="one of: symbol, file")
    if limit < 1:
        raise UsageError(f"limit {limit} asks for nothing")
    if budget < BUDGET_MIN:
        raise UsageError(f"a budget of {budget} tokens has no room for a result")
    paths = (path,) if isinstance(path, str) else tuple(path)
    if not paths:
        raise UsageError("no path was given", hint="pass the root of a tree, or several")
    targets = _targets(index, paths)
    requested = tuple(dict.fromkeys(path for target in targets for path in target.paths))
    sample = _sample(targets, similar, snippet)
    request = Request(
        requested, query, operators.parse(query, wrong_pattern), scope, result_mode == "raw",
        group_by, min(limit, LIMIT_MAX), budget, pages.decode(cursor) if cursor else None, debug,
        holds, sample,
        {
            "path": requested[0] if len(requested) == 1 else list(requested),
            "query": query if query.strip() else None,
            "scope": scope if scope != "runtime" else None,
            "resultMode": result_mode if result_mode != "grouped" else None,
            "groupBy": group_by if group_by != "symbol" else None,
            "limit": limit if limit != LIMIT_DEFAULT else None,
            "budget": budget if budget != BUDGET_DEFAULT else None,
            "similar": similar,
            "snippet": snippet,
        },
    )  # fmt: skip
    if request.cursor is not None and not DEPTH_MIN <= request.cursor.depth <= DEPTH_MAX:
        raise pages.no_cursor()
    if request.cursor is not None and request.cursor.question != request.name:
        raise UsageError(
            "the cursor belongs to another question",
            hint="repeat the arguments of the first page, or leave the cursor out",
        )
    base = _base(request)
    answered: list[Answered] = []
    refused: list[tuple[Target, Gate]] = []
    began = index.edited.kept(request.cursor.state) if request.cursor is not None else {}
    for target in targets:
        outcome = _ask(index, request, target, began)
        if isinstance(outcome, Answered):
            answered.append(outcome)
        else:
            refused.append((target, outcome))
    _each_file_once(answered)
    if len(targets) > 1:
        base["roots"] = [_root_facts(index, each) for each in answered]
        base["roots"] += [_refusal_facts(index, target, gate) for target, gate in refused]
    if not answered:
        base["path"] = refused[0][0].requested
        return _refused(index, base, refused[0][1])
    base["freshnessDecision"] = _decision(index, answered[0])
    edited = {each.root: each.edited for each in answered}
    state = pages.state_of(
        ((each.root, each.identity, each.overlay) for each in answered),
        edited,
        {each.root: each.found.chance for each in answered},
    )
    if sample is not None and sample.path:
        state = pages.digest([state, sample.text])
    if request.cursor is not None and request.cursor.state != state:
        return _changed(request, base, any(each.found.chance for each in answered))
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
        requested, record = index.root_of(path)
        key = record.root if record is not None else requested
        target = found.setdefault(key, Target(requested, record))
        target.paths.append(requested)
        target.below.append(requested[len(key) :].strip("/"))
    return list(found.values())


_PLACE = re.compile(r"(?s)(.+?)(?::(\d{1,9})(?:-(\d{1,9}))?)?\Z", re.ASCII)


def _sample(targets: Sequence[Target], similar: str | None, snippet: str | None) -> Sample | None:
    """The text to look for the like of: lines of a file in one of the trees, or a snippet."""
    if similar is None and snippet is None:
        return None
    from holdfast.index.search.similar import CHARACTERS_MAX, Sample

    if similar is not None and snippet is not None:
        raise UsageError("either lines of a file or a snippet can be the sample, not both")
    if snippet is not None:
        if not snippet.strip():
            raise UsageError("the snippet is empty")
        return Sample(snippet[:CHARACTERS_MAX])
    if similar is None:
        return None
    named = _PLACE.match(similar)
    if named is None:
        raise UsageError(f"{similar!r} names no lines", hint="pass path:10-20")
    path, first = named[1], int(named[2] or 1)
    last = named[3] or named[2]
    for target in targets:
        root = target.record.root if target.record is not None else target.requested
        for top in (*target.paths, root):
            full = os.path.normpath(os.path.join(top, path))
            if not full.startswith(root.rstrip("/") + "/"):
                continue
            try:
                source, _ = disk.read_file(root, full[len(root.rstrip("/")) + 1 :])
            except OSError:
                continue
            lines = lines_of(source.decode("utf-8", "replace"))
            end = min(int(last), len(lines)) if last else len(lines)
            if not 1 <= first <= end:
                raise UsageError(
                    f"lines {first}-{last or len(lines)} name no line of {path}",
                    hint=f"it has {len(lines)}",
                )
            text = "".join(f"{line}\n" for line in lines[first - 1 : end])
            return Sample(text[:CHARACTERS_MAX], full, first, end)
    raise UsageError(
        f"there is no file {path} in {', '.join(target.requested for target in targets)}",
        hint="pass a path in one of the trees, or the text as a snippet",
    )


# Asking.


def _ask(
    index: CodeIndex, request: Request, target: Target, began: Mapping[str, Edited | None]
) -> Answered | Gate:
    """What a root answers, or the gate that keeps it from answering.

    `began` has the files that were worked on when the first page was made.
    """
    gate = index.gate(target.record)
    if not isinstance(gate, Open):
        return gate
    root = gate.record.root
    keep = files_kept(request.asked, request.scope, target.below)
    edited = began[root] if root in began else index.edited.of(root)

    def ask(reader: Reader, overlay: FreshFiles) -> Retrieved:
        # What changed since the index was made is worked on, and git may not have told yet.
        worked_on = frozenset() if edited is None else edited.union(overlay.changed)
        return retrieve(
            request.asked, root, reader, overlay, index.provider, keep, request.depth,
            request.sample, worked_on,
        )  # fmt: skip

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
    return Answered(gate, identity, overlay, recent, found, edited, target.below)


def _fresh(
    index: CodeIndex,
    gate: Open,
    reader: Reader,
    ask: Callable[[Reader, FreshFiles], Retrieved],
) -> tuple[Retrieved, FreshFiles, bool]:
    """What is found now; the last look serves if it is recent and none of the hits moved."""
    root = gate.record.root
    overlay = index.freshness.recent(root, reader.identity)
    if overlay is not None:
        found = ask(reader, overlay)
        if not moved(root, found.paths, overlay):
            return found, overlay, True
    overlay = index.check_freshness(gate.record, reader)
    return ask(reader, overlay), overlay, False


# Answering.


def _answer(
    index: CodeIndex,
    request: Request,
    base: SearchAnswer,
    answered: Sequence[Answered],
    state: str,
) -> SearchAnswer:
    groups = grouped(_merged(answered), None if request.raw else request.group_by)
    if request.folds:
        groups = fold(groups, request.depth)
    question = next((each.found.analyzed for each in answered if each.found.analyzed), None)
    items = Items(
        question, _Freshness(index, answered), raw=request.raw, holds=request.holds,
        several_roots=len(answered) > 1 or "roots" in base, debug=request.debug, lane=request.lane,
    )  # fmt: skip
    start = min(request.cursor.offset, len(groups)) if request.cursor else 0
    page = items.page(groups, start, request.limit, request.budget)
    base["results"] = page.items
    warnings = [*base.get("warnings", []), *warnings_of(request, answered, groups)]
    if warnings:
        base["warnings"] = warnings
    complete = all(_complete(each.found) and each.overlay.whole for each in answered)
    base["counts"] = {
        "from": start + 1 if page.items else start,
        "to": page.end,
        "total": len(groups),
        "complete": complete,
        "tokens": page.tokens,
    }
    if request.asked.patterns or request.asked.must:
        lines = {
            (f.root, f.chunk.path, m.line)
            for each in answered for f in each.found.findings for m in f.lines
        }  # fmt: skip
        base["counts"]["matchedLines"] = len(lines)
        base["counts"]["matchedFiles"] = len({key[:2] for key in lines})
    if page.end < len(groups):
        index.edited.keep(state, {each.root: each.edited for each in answered})
        after = pages.encode(Cursor(page.end, request.depth, request.name, state))
        base["continuation"] = {
            "cursor": after,
            "remaining": len(groups) - page.end,
            "call": search_call(request.given, cursor=after),
        }
    advise(base, request, answered, page, groups)
    return base


def _each_file_once(answered: Sequence[Answered]) -> None:
    """Leave a file of a root within another to the nearest, where both were asked about it."""
    for each in answered:
        nearer = [
            os.path.join(other.root, top)
            for other in answered if other.root.startswith(each.root.rstrip("/") + "/")
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
            worth = finding.score * (0.2 + 0.8 * _held(finding, each.found.analyzed))
            worst = min(worst, worth)  # The order within a root stays as it is.
            ranked.append((-worst, number, place, finding))
    ranked.sort(key=lambda entry: entry[:3])
    return [finding for *_, finding in ranked]


def _held(finding: Finding, question: AnalyzedQuery | None) -> float:
    """The share of the asked words that a finding holds, in its path, its name or its text."""
    if question is None or not question.words:
        return 1.0
    chunk = finding.chunk
    held = set(terms(f"{chunk.path} {chunk.label or ''} {chunk.text}"))
    found = sum(word.term in held or not held.isdisjoint(word.others) for word in question.words)
    return found / len(question.words)


def _complete(found: Retrieved) -> bool:
    return not found.more and (found.exact is None or found.exact.complete)


def _changed(request: Request, base: SearchAnswer, by_chance: bool) -> SearchAnswer:
    """The answer to a cursor whose ranking is no more."""
    base["status"], base["reason"] = "blocked", "index_changed"
    base["message"] = (
        "This search ran out of time or lost a lane and found other results than for the first page"
        if by_chance
        else "The files or the index changed since the first page"
    )
    base["message"] += (
        ", so there is no next page of that ranking. Ask again from the start: the same call "
        "without the cursor."
    )
    base["hints"] = hints(restart=search_call(request.given))
    return base


# What roots say of themselves.


def _decision(index: CodeIndex, each: Answered) -> Wire:
    overlay = each.overlay
    decision: Wire = {
        "mode": "skipped_recent" if each.recent else overlay.mode,
        "checkedAt": index.timestamp(overlay.checked_at),
        "thresholdMs": overlay.threshold_ms,
        "lastSyncAt": each.gate.record.last_updated,
    }
    if overlay.changed or overlay.gone or overlay.beyond or overlay.unreadable:
        decision["stats"] = {
            "added": overlay.added,
            "modified": overlay.modified,
            "removed": len(overlay.gone),
            "unread": overlay.beyond,
            **({"unreadable": overlay.unreadable} if overlay.unreadable else {}),
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
