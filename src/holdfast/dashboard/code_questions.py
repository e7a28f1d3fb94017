"""The questions about code, limited to tracked trees."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import structs

from holdfast.app import App
from holdfast.dashboard.answers import (
    CodebaseFacts,
    Done,
    LanguageFiles,
    LocatedSnippet,
    NamedPlace,
    NamedPlaces,
)
from holdfast.dashboard.parameters import Members, need, number, one_of
from holdfast.dashboard.session_questions import SessionQuestions
from holdfast.errors import UsageError
from holdfast.index.code_index import CodeIndex
from holdfast.reading.scope import Lines

if TYPE_CHECKING:
    from holdfast.index.answers import CallGraphAnswer, OutlineAnswer, ReadAnswer
    from holdfast.index.references.answers import ReferencesAnswer
    from holdfast.index.search_answers import SearchAnswer, SearchResult
    from holdfast.sequence.report import ClonesReport

EVERY_TREE = "*"
NAMES_MAX = 12
CLONES_MAX = 60


class CodeQuestions:
    """Search, outlines, calls, references, files, snippets and repeated code."""

    def __init__(self, app: App, index: CodeIndex, sessions: SessionQuestions) -> None:
        self._app, self._index, self._sessions = app, index, sessions

    def search(self, params: Members) -> SearchAnswer:
        from holdfast.index.search.limits import SCOPES
        from holdfast.index.search.results import GROUPINGS
        from holdfast.index.tools.search import search_code

        several = params.get("root") == EVERY_TREE
        root = "" if several else self._root(params)
        answer = search_code(
            self._index,
            list(self._index.registry.records()) if several else root,
            need(params, "query"),
            scope=one_of(params, "scope", SCOPES),
            group_by=one_of(params, "by", GROUPINGS),
            limit=number(params, "limit", 10),
        )
        if params.get("name"):
            results = self._with_context(answer.results, root, params)
            return structs.replace(answer, results=results)
        return answer

    def _with_context(
        self, results: Iterable[SearchResult], root: str, params: Members
    ) -> tuple[SearchResult, ...]:
        """The results, each marked whether the session provably has its current lines."""
        rows = list(results)
        places = [
            (
                os.path.join(result.codebase_path or root, result.file),
                Lines(result.span.start_line, result.span.end_line),
            )
            for result in rows
        ]
        in_context = self._sessions.holds(params, places)
        return tuple(
            structs.replace(result, in_context=holds)
            for result, holds in zip(rows, in_context, strict=True)
        )

    def outline(self, params: Members) -> OutlineAnswer:
        from holdfast.index.tools.outline import file_outline

        return file_outline(self._index, self._root(params), need(params, "file"))

    def calls(self, params: Members) -> CallGraphAnswer:
        from holdfast.index.tools.calls import DIRECTIONS, call_graph, symbol_ref

        return call_graph(
            self._index,
            self._root(params),
            symbol_ref(need(params, "file"), need(params, "symbol")),
            direction=one_of(params, "direction", DIRECTIONS),
            depth=number(params, "depth", 1),
            limit=number(params, "limit", 24),
        )

    def references(self, params: Members) -> ReferencesAnswer:
        from holdfast.index.tools.references import RELATIONS, references

        return references(
            self._index,
            self._root(params),
            need(params, "symbol"),
            file=params.get("file", ""),
            relation=one_of(params, "relation", RELATIONS),
            limit=number(params, "limit", 60),
        )

    def file(self, params: Members) -> ReadAnswer:
        """Lines of a file of a tracked tree; files with sensitive names are not shown."""
        from holdfast.index.tools.outline import file_key
        from holdfast.index.tools.read import read_file

        root = self._root(params)
        key = file_key(root, root, need(params, "file"))
        whole = os.path.realpath(os.path.join(root, key))
        sensitive = self._sessions.reader.settings.sensitive
        if sensitive.covers(whole) or sensitive.covers(key):
            raise UsageError(f"{key} has a sensitive name and is not shown", "open it in an editor")
        if not whole.startswith(root.rstrip("/") + "/"):
            raise UsageError(f"{key} leads out of its tree")
        first = max(1, number(params, "start", 1))
        last = number(params, "end", first + 400)
        return read_file(
            self._index, os.path.join(root, key), start_line=first, end_line=max(first, last)
        )

    def locate(self, params: Members) -> LocatedSnippet:
        from holdfast.sequence.tokens.lexer import CODE_ONLY
        from holdfast.trees import locate_snippet, no_progress

        source = need(params, "snippet").encode("utf-8", "surrogatepass")
        tree = self._app.open_tree(self._root(params), CODE_ONLY, no_progress)
        return LocatedSnippet(locate_snippet(tree, source))

    def clones(self, params: Members) -> ClonesReport:
        from holdfast.sequence.clones_request import MINIMUM, ClonesRequest
        from holdfast.trees import no_progress

        request = ClonesRequest(
            minimum=max(2, number(params, "minimum", MINIMUM)),
            limit=max(1, number(params, "limit", CLONES_MAX)),
            renamed=params.get("renamed") == "1",
        )
        return self._app.find_clones(self._root(params), request, no_progress)

    def codebase(self, params: Members) -> CodebaseFacts:
        """The languages of a tree, and how much disk its index and segments take."""
        from collections import Counter
        from pathlib import Path

        from holdfast.files import disk
        from holdfast.files.policy import language_of
        from holdfast.index.generations.leases import root_key
        from holdfast.sequence.segment_store import SegmentStore

        root, home = self._root(params), self._app.home
        stats = disk.walk(root).stats
        counts = Counter(language_of(path) for path in stats)
        database = home.index_roots / f"{root_key(root)}.sqlite"
        files = [*database.parent.glob(f"{database.name}*")]
        files += database.parent.glob(f"{database.stem}.segments/*")
        index = [each.stat().st_size for each in files]
        segments = SegmentStore.directory_of(home.sequence, Path(root))
        return CodebaseFacts(
            languages=tuple(LanguageFiles(*each) for each in counts.most_common()),
            source_bytes=sum(stat.size_bytes for stat in stats.values()),
            index_bytes=sum(index) if index else None,
            segments_bytes=_size_of(segments),
        )

    def names(self, params: Members) -> NamedPlaces:
        """Files and symbols whose name contains the typed words, in every tree that is ready."""
        from holdfast.index.tools.search import search_code

        typed = need(params, "query")
        words = typed.lower().split()
        places: dict[tuple[str, str, str | None], NamedPlace] = {}
        for root in self._index.registry.records():
            answer = search_code(self._index, root, typed, scope="mixed", limit=20)
            for one in answer.results if answer.status == "ok" else ():
                for place in one.places:
                    label = place.symbol_label
                    if label is not None and all(word in label.lower() for word in words):
                        places[root, one.file, place.symbol_id] = NamedPlace(
                            root=root, file=one.file, symbol_id=place.symbol_id, symbol_label=label
                        )
                if all(word in one.file.lower() for word in words):
                    places.setdefault((root, one.file, None), NamedPlace(root=root, file=one.file))
        return NamedPlaces(tuple(places.values())[:NAMES_MAX])

    def sync(self, params: Members) -> Done:
        """Index the changed files of a tree; an action of the page."""
        from holdfast.index.tools.manage import manage_index

        answer = manage_index(self._index, "sync", self._root(params))
        if answer.status != "ok":
            raise UsageError(answer.message or answer.status)
        return Done(message=answer.message or "The index is up to date.")

    def _root(self, params: Members) -> str:
        """The tracked tree that was named; the only one if there is only one."""
        roots = list(self._index.registry.records())
        root = params.get("root")
        if root is None and len(roots) == 1:
            return roots[0]
        if root is None and roots:
            raise UsageError(f"{len(roots)} trees are tracked", "pass the root of one")
        if root not in roots:
            problem = "no tree is tracked" if root is None else f"{root} is not a tracked tree"
            raise UsageError(problem, "run: holdfast index create PATH")
        return root


def _size_of(folder: str | os.PathLike[str]) -> int:
    """The total size of the files in a folder; 0 if it does not exist."""
    try:
        with os.scandir(folder) as entries:
            return sum(each.stat().st_size for each in entries if each.is_file())
    except OSError:
        return 0
