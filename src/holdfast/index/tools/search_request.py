"""A search request: its checked arguments, and the roots they name."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec.structs import replace

from holdfast.errors import UsageError
from holdfast.files import disk
from holdfast.index.answers import Call
from holdfast.index.code_index import CodeIndex
from holdfast.index.generations.record import Record
from holdfast.index.search import operators, pages
from holdfast.index.search.limits import (
    BUDGET_DEFAULT,
    BUDGET_MIN,
    LIMIT_DEFAULT,
    LIMIT_MAX,
    SCOPES,
    Scope,
)
from holdfast.index.search.operators import Parsed, Query
from holdfast.index.search.page_levels import WHOLE_FIRST_MAX
from holdfast.index.search.pages import Cursor
from holdfast.index.search.regex import lines_of, wrong_pattern
from holdfast.index.search.results import GroupBy, Holds, Lane
from holdfast.index.search.terms import terms
from holdfast.text import counted, line_range

if TYPE_CHECKING:
    from holdfast.index.search.similar import Sample

ResultMode = Literal["grouped", "raw"]

DEPTH_MIN, DEPTH_FACTOR = 40, 3
DEPTH_MAX = DEPTH_FACTOR * LIMIT_MAX
"""Chunks ranked for all pages: DEPTH_FACTOR per result of a page, at least DEPTH_MIN."""
AS_WRITTEN_BYTES_MIN = 2
"""Shorter texts, such as a single bracket, occur nearly everywhere."""


class Target(msgspec.Struct):
    """A tracked root or an untracked path, with the directories to search below it."""

    requested: str
    record: Record | None
    paths: list[str] = msgspec.field(default_factory=list)
    below: list[str] = msgspec.field(default_factory=list)


class SearchRequest(msgspec.Struct, frozen=True):
    """The checked arguments of a search."""

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
    arguments: dict[str, Any]
    """The arguments of the call; None stands for the default."""

    def call(self, **changes: Any) -> Call:
        """The same search with other arguments."""
        arguments = {**self.arguments, **changes}
        return Call("search_code", {k: v for k, v in arguments.items() if v is not None})

    @property
    def retrieval_query(self) -> Query:
        """The query for retrieval. A query with only filters is searched for as text."""
        query = self.parsed.query
        if self.as_written:
            return replace(query, text="", must=(query.text,))
        if query.text or query.exact or self.sample is not None:
            return query
        return replace(query, text=self.query)

    @property
    def as_written(self) -> bool:
        """Whether the text has no term to rank by, as in `->`; then it is matched literally."""
        query = self.parsed.query
        if query.exact or self.sample is not None:
            return False
        return _has_no_term(query.text)

    @property
    def lane(self) -> Lane:
        if self.sample is not None:
            return "similar"
        return "exact" if self.retrieval_query.exact else "ranked"

    @property
    def listed(self) -> bool:
        """Whether the answer is only a list of matching lines."""
        return bool(self.parsed.query.patterns) and not self.raw and self.sample is None

    @property
    def counts_lines(self) -> bool:
        """Whether only printed lines count in the budget: a list is read as text, and its facts are
        ten times as long. A smaller budget than usual bounds the facts, for a program."""
        return self.listed and self.budget >= BUDGET_DEFAULT

    @property
    def folds(self) -> bool:
        """Whether near-identical results are shown as one. Exact searches show each of them."""
        return not self.raw and self.lane != "exact"

    @property
    def one_for_each_file(self) -> bool:
        """Whether further places of a file are listed with its best one."""
        return self.folds and self.lane == "ranked" and self.group_by == "symbol"

    @property
    def leads(self) -> bool:
        """Whether the best result is shown whole: not if many results or exact ones are wanted."""
        if self.arguments["limit"] is None:
            return self.lane == "ranked" and not self.raw
        return self.limit <= WHOLE_FIRST_MAX

    @property
    def shows_companions(self) -> bool:
        """Whether the best result is shown with the code that belongs to it."""
        return self.one_for_each_file and self.cursor is None and self.leads

    @property
    def depth(self) -> int:
        return self.cursor.depth if self.cursor else max(DEPTH_MIN, DEPTH_FACTOR * self.limit)

    @property
    def name(self) -> str:
        """The digest of all arguments that affect the order; a cursor is valid for one digest."""
        sample = [self.arguments["similar"], self.arguments["snippet"]]
        identity = [list(self.paths), self.query, self.scope, self.raw, self.group_by, sample]
        return pages.digest(identity)


@lru_cache(maxsize=64)
def _has_no_term(text: str) -> bool:
    return len(text.encode("utf-8", "surrogatepass")) >= AS_WRITTEN_BYTES_MIN and not terms(text)


def check_arguments(
    paths: Sequence[str],
    query: str,
    scope: str,
    result_mode: str,
    group_by: str,
    limit: int | None,
    budget: int,
    sampled: bool,
) -> None:
    """Raise `UsageError` for the first invalid argument."""
    if not query.strip() and not sampled:
        raise UsageError("the query is empty", hint="ask for a name, a phrase or a behaviour")
    for name, value, accepted in (
        ("scope", scope, SCOPES),
        ("resultMode", result_mode, ("grouped", "raw")),
        ("groupBy", group_by, ("symbol", "file")),
    ):
        if value not in accepted:
            raise UsageError(f"{name} must be one of {', '.join(accepted)} (got {value!r})")
    if limit is not None and limit < 1:
        raise UsageError(f"limit must be at least 1 (got {limit})")
    if budget < BUDGET_MIN:
        raise UsageError(f"budget must be at least {BUDGET_MIN} tokens (got {budget})")
    if not paths:
        raise UsageError("no path was given", hint="pass the root of a tree, or several")


def request_of(
    targets: Sequence[Target],
    query: str,
    scope: Scope,
    result_mode: ResultMode,
    group_by: GroupBy,
    limit: int | None,
    budget: int,
    cursor: str | None,
    debug: bool,
    holds: Holds | None,
    similar: str | None,
    snippet: str | None,
) -> SearchRequest:
    """The request for these targets; raises `UsageError` for an invalid cursor or sample."""
    paths = tuple(dict.fromkeys(path for target in targets for path in target.paths))
    parsed = operators.parse(query, _refuse_wrong)
    if limit is None:  # Lines and files are short, so a list has more of them.
        is_list = result_mode != "raw" and (parsed.query.patterns or group_by == "file")
        most = LIMIT_MAX if is_list else LIMIT_DEFAULT
    else:
        most = min(limit, LIMIT_MAX)
    request = SearchRequest(
        paths, query, parsed, scope, result_mode == "raw", group_by, most, budget,
        pages.decode(cursor) if cursor else None, debug, holds, _sample(targets, similar, snippet),
        {
            "path": paths[0] if len(paths) == 1 else list(paths),
            "query": query if query.strip() else None,
            "scope": scope if scope != "runtime" else None,
            "resultMode": result_mode if result_mode != "grouped" else None,
            "groupBy": group_by if group_by != "symbol" else None,
            "limit": limit,
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
    return request


def _refuse_wrong(pattern: str) -> None:
    """Raise `UsageError` for an invalid pattern: as text it would be another question."""
    problem = wrong_pattern(pattern)
    if problem is not None:
        raise UsageError(
            f"re:{pattern[:60]} cannot be searched for: {problem}",
            hint="escape what is meant as it is with a backslash, or search for the words",
        )


def targets_of(index: CodeIndex, paths: Sequence[str]) -> list[Target]:
    """The roots of the paths, without duplicates, in the order in which they were named."""
    targets: dict[str, Target] = {}
    for path in paths:
        requested, record = index.root_of(path)
        key = record.root if record is not None else requested
        target = targets.setdefault(key, Target(requested, record))
        target.paths.append(requested)
        target.below.append(requested[len(key) :].strip("/"))
    return list(targets.values())


_LINES = re.compile(r"(?s)(.+?)(?::(\d{1,9})(?:-(\d{1,9}))?)?\Z", re.ASCII)


def _sample(targets: Sequence[Target], similar: str | None, snippet: str | None) -> Sample | None:
    """The text to find similar code to: lines of a file in one of the trees, or a snippet."""
    if similar is None and snippet is None:
        return None
    from holdfast.index.search.similar import CHARACTERS_MAX, Sample

    if similar is not None and snippet is not None:
        raise UsageError("pass either similar or snippet, not both")
    if snippet is not None:
        if not snippet.strip():
            raise UsageError("the snippet is empty")
        return Sample(snippet[:CHARACTERS_MAX])
    named = _LINES.match(similar or "")
    if named is None:
        raise UsageError(f"{similar!r} does not name lines of a file", hint="pass path:10-20")
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
            if last and int(last) < first:
                raise UsageError(
                    f"line range {first}-{last} is reversed", hint=f"use {last}-{first}"
                )
            lines = lines_of(source.decode("utf-8", "replace"))
            end = min(int(last), len(lines)) if last else len(lines)
            if not 1 <= first <= end:
                raise UsageError(
                    f"{path} has no lines {line_range(first, int(last or first))}",
                    hint=f"it has {counted(len(lines), 'line')}",
                )
            text = "".join(f"{line}\n" for line in lines[first - 1 : end])
            return Sample(text[:CHARACTERS_MAX], full, first, end)
    raise UsageError(
        f"there is no file {path} in {', '.join(target.requested for target in targets)}",
        hint="pass a path in one of the trees, or the text as a snippet",
    )
