"""The questions of the dashboard, each answered by the verb that a command calls.

Only tracked trees, existing spaces and files that a session has read can be asked about: the page
cannot be used to read the rest of the disk.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import structs

from holdfast.app import App
from holdfast.dashboard.answers import (
    CodebaseFacts,
    DocumentList,
    DocumentTitle,
    Done,
    HealthAnswer,
    HealthFinding,
    HeldLines,
    LanguageFiles,
    LinkState,
    LinkStates,
    LocatedSnippet,
    LogEntries,
    NamedPlace,
    NamedPlaces,
    SessionEntry,
    SessionTree,
)
from holdfast.errors import UsageError
from holdfast.index.code_index import CodeIndex
from holdfast.observed.sessions import ObservedSession, SessionObserver
from holdfast.reading import scope as scopes
from holdfast.reading.events import Anchored, Barrier, Derived, Hidden, Refreshed, Together
from holdfast.reading.scope import Lines
from holdfast.reading.tree import NO_ENTRY, Doubt

if TYPE_CHECKING:
    from holdfast.dashboard.pages import Question
    from holdfast.index.answers import (
        CallGraphAnswer,
        OutlineAnswer,
        ReadAnswer,
        SearchAnswer,
        SearchResult,
    )
    from holdfast.index.references.answers import ReferencesAnswer
    from holdfast.observed.logs import FileTimes, TimedLog
    from holdfast.reading.context import ContextMap
    from holdfast.reading.reader import Reader
    from holdfast.reading.tree import Tree
    from holdfast.replay.report import SavingsAnswer
    from holdfast.sequence.report import ClonesReport
    from holdfast.store.store import Store

Members = Mapping[str, str]
T = TypeVar("T", bound=str)

EVERY_TREE = "*"
NAMES_MAX = 12
DOCUMENTS_MAX = 1_000
DAYS_MAX = 3_650
CLONES_MAX = 60
LINES_MAX = 4_000
ENTRIES_MAX = 500
"""Of a long session the newest entries are shown."""


class Questions:
    """Everything the page can ask; each method takes the parameters of a request."""

    def __init__(
        self,
        app: App,
        index: CodeIndex,
        reader: Reader,
        sessions: SessionObserver,
        space: Callable[[str], Store],
    ) -> None:
        """`space` opens a space that exists, or raises."""
        self._app, self._index, self._reader = app, index, reader
        self._sessions, self._space = sessions, space
        self._turn = threading.Lock()

    def table(self) -> dict[str, Question]:
        """Path below /api/ -> what answers there."""
        return {
            "search": self.search,
            "outline": self.outline,
            "calls": self.calls,
            "references": self.references,
            "file": self.file,
            "codebase": self.codebase,
            "names": self.names,
            "locate": self.locate,
            "clones": self.clones,
            "session": self.session,
            "context": self.context,
            "context/lines": self.context_lines,
            "memory/documents": self.documents,
            "memory/log": self.log,
            "memory/drift": self.drift,
            "doctor": self.doctor,
            "savings": self.savings,
            "sync": self.sync,
            "memory/note": self.note,
        }

    # code

    def search(self, asked: Members) -> SearchAnswer:
        from holdfast.index.search.results import GROUPINGS
        from holdfast.index.search.scopes import SCOPES
        from holdfast.index.tools.search import search_code

        several = asked.get("root") == EVERY_TREE
        root = "" if several else self._root(asked)
        answer = search_code(
            self._index,
            list(self._index.registry.records()) if several else root,
            _need(asked, "query"),
            scope=_one_of(asked, "scope", SCOPES),
            group_by=_one_of(asked, "by", GROUPINGS),
            limit=_number(asked, "limit", 10),
        )
        if asked.get("name"):
            results = self._with_context(answer.results, root, asked)
            return structs.replace(answer, results=results)
        return answer

    def _with_context(
        self, results: Iterable[SearchResult], root: str, asked: Members
    ) -> tuple[SearchResult, ...]:
        """The results, each with whether the session provably has its lines as they are now."""
        with self._turn:
            host = self._followed(asked).host
            return tuple(
                structs.replace(
                    result,
                    in_context=self._reader.holds(
                        os.path.join(result.codebase_path or root, result.file),
                        Lines(result.span.start_line, result.span.end_line),
                        host,
                    ),
                )
                for result in results
            )

    def outline(self, asked: Members) -> OutlineAnswer:
        from holdfast.index.tools.outline import file_outline

        return file_outline(self._index, self._root(asked), _need(asked, "file"))

    def calls(self, asked: Members) -> CallGraphAnswer:
        from holdfast.index.tools.calls import DIRECTIONS, call_graph, symbol_ref

        return call_graph(
            self._index,
            self._root(asked),
            symbol_ref(_need(asked, "file"), _need(asked, "symbol")),
            direction=_one_of(asked, "direction", DIRECTIONS),
            depth=_number(asked, "depth", 1),
            limit=_number(asked, "limit", 24),
        )

    def references(self, asked: Members) -> ReferencesAnswer:
        from holdfast.index.tools.references import RELATIONS, references

        return references(
            self._index,
            self._root(asked),
            _need(asked, "symbol"),
            file=asked.get("file", ""),
            relation=_one_of(asked, "relation", RELATIONS),
            limit=_number(asked, "limit", 60),
        )

    def file(self, asked: Members) -> ReadAnswer:
        """Lines of a file of a tracked tree; files with sensitive names are not shown."""
        from holdfast.index.tools.outline import file_key
        from holdfast.index.tools.read import read_file

        root = self._root(asked)
        key = file_key(root, root, _need(asked, "file"))
        whole = os.path.realpath(os.path.join(root, key))
        sensitive = self._reader.settings.sensitive
        if sensitive.covers(whole) or sensitive.covers(key):
            raise UsageError(f"{key} has a sensitive name and is not shown", "open it in an editor")
        if not whole.startswith(root.rstrip("/") + "/"):
            raise UsageError(f"{key} leads out of its tree")
        first = max(1, _number(asked, "start", 1))
        last = _number(asked, "end", first + 400)
        return read_file(
            self._index, os.path.join(root, key), start_line=first, end_line=max(first, last)
        )

    def locate(self, asked: Members) -> LocatedSnippet:
        from holdfast.sequence.tokens.lexer import CODE_ONLY
        from holdfast.trees import locate_snippet, no_progress

        source = _need(asked, "snippet").encode("utf-8", "surrogatepass")
        tree = self._app.open_tree(self._root(asked), CODE_ONLY, no_progress)
        return LocatedSnippet(locate_snippet(tree, source))

    def clones(self, asked: Members) -> ClonesReport:
        from holdfast.sequence.clones_request import MINIMUM, ClonesRequest
        from holdfast.trees import no_progress

        request = ClonesRequest(
            minimum=max(2, _number(asked, "minimum", MINIMUM)),
            limit=max(1, _number(asked, "limit", CLONES_MAX)),
            renamed=asked.get("renamed") == "1",
        )
        return self._app.find_clones(self._root(asked), request, no_progress)

    def codebase(self, asked: Members) -> CodebaseFacts:
        """The languages of a tree, and how much disk its index and segments take."""
        from collections import Counter
        from pathlib import Path

        from holdfast.files import disk
        from holdfast.files.policy import language_of
        from holdfast.index.generations.leases import root_key
        from holdfast.sequence.segment_store import SegmentStore

        root, home = self._root(asked), self._app.home
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

    def names(self, asked: Members) -> NamedPlaces:
        """Files and symbols whose name has the typed words, in every tree that is ready."""
        from holdfast.index.tools.search import search_code

        typed = _need(asked, "query")
        words = typed.lower().split()
        found: dict[tuple[str, str, str | None], NamedPlace] = {}
        for root in self._index.registry.records():
            answer = search_code(self._index, root, typed, scope="mixed", limit=20)
            for one in answer.results if answer.status == "ok" else ():
                label = one.symbol_label
                if label is not None and all(word in label.lower() for word in words):
                    found[root, one.file, one.symbol_id] = NamedPlace(
                        root=root, file=one.file, symbol_id=one.symbol_id, symbol_label=label
                    )
                if all(word in one.file.lower() for word in words):
                    found.setdefault((root, one.file, None), NamedPlace(root=root, file=one.file))
        return NamedPlaces(tuple(found.values())[:NAMES_MAX])

    def sync(self, asked: Members) -> Done:
        """Index the files of a tree that changed since; an action of the page."""
        from holdfast.index.tools.manage import manage_index

        answer = manage_index(self._index, "sync", self._root(asked))
        if answer.status != "ok":
            raise UsageError(answer.message or answer.status)
        return Done(message=answer.message or "The index is up to date.")

    def _root(self, asked: Members) -> str:
        """The tracked tree that was named; the only one if there is only one."""
        roots = list(self._index.registry.records())
        named = asked.get("root")
        if named is None and len(roots) == 1:
            return roots[0]
        if named is None and roots:
            raise UsageError(f"{len(roots)} trees are tracked", "pass the root of one")
        if named not in roots:
            problem = "no tree is tracked" if named is None else f"{named} is not a tracked tree"
            raise UsageError(problem, "run: holdfast index create PATH")
        return named

    # sessions

    def session(self, asked: Members) -> SessionTree:
        """The tree of a session: every entry, its parent, and what it did."""
        with self._turn:
            limit = _number(asked, "limit", ENTRIES_MAX)
            return self._session_tree(self._followed(asked), min(limit, ENTRIES_MAX))

    def _session_tree(self, observed: ObservedSession, limit: int) -> SessionTree:
        evidence = observed.host.evidence()
        tree, log = observed.tree, observed.log
        leaf = NO_ENTRY if isinstance(evidence, Doubt) else tree.number(evidence.leaf)
        active = set(tree.path(leaf))
        entries = tuple(
            _entry(tree, log, number, depth, active=number in active, leaf=number == leaf)
            for number, depth in tree.in_reading_order()[-limit:]
        )
        doubt = evidence.why if isinstance(evidence, Doubt) else None
        return SessionTree(entries, len(tree), doubt)

    def context(self, asked: Members) -> ContextMap:
        """What the agent has in context, and what the latest compaction removed."""
        with self._turn:
            return self._reader.context(self._followed(asked).host)

    def context_lines(self, asked: Members) -> HeldLines:
        """A file that the session has or had, line by line, and what changed since."""
        from holdfast.dashboard.lines import line_rows

        path = _need(asked, "path")
        with self._turn:
            found = self._reader.context(self._followed(asked).host)
        named = [file for file in (*found.held, *found.lost) if file.path == path]
        if not named:
            raise UsageError(f"the session has not read {path}")
        return line_rows(named[0], self._reader.objects.load, LINES_MAX)

    def _followed(self, asked: Members) -> ObservedSession:
        name = _need(asked, "name")
        if name not in self._sessions.all_names():
            raise UsageError(
                f"there is no session {name}", "holdfast read --session NAME makes one"
            )
        return self._sessions.follow(name)

    # memory

    def documents(self, asked: Members) -> DocumentList:
        """The documents of a branch, now or as of a seq."""
        store, branch = self._space(asked.get("space") or "local"), asked.get("branch", "")
        at = _number(asked, "at", 0) or None
        found = [s for s in store.documents(branch, at) if s.id.startswith(asked.get("prefix", ""))]
        shown = found[:DOCUMENTS_MAX]
        titles = (DocumentTitle(s.id, s.seq, s.branch, _title(s.document)) for s in shown)
        return DocumentList(len(found), tuple(titles))

    def note(self, asked: Members) -> Done:
        """Write a note, new or again, perhaps about code of a tracked tree."""
        from holdfast.ids import LocalSeq, SessionId
        from holdfast.notes.code import LinkedCode
        from holdfast.notes.note import commit_note, note_value, unlinked
        from holdfast.store.model import CommitKey

        roots = list(self._index.registry.records())
        places = [place.strip() for place in asked.get("code", "").split(",") if place.strip()]
        root = asked.get("root") or _having(roots, places)
        if root is not None and root not in roots:
            raise UsageError(f"{root} is not a tracked tree")
        if places and root is None:
            raise UsageError(f"no tracked tree has {places[0]}", "pass a path from the root of one")
        code = LinkedCode(root, lambda: self._app.workspace([], lambda: roots))
        tags = [tag.lstrip("#") for tag in asked.get("tags", "").replace(",", " ").split()]
        value = note_value(_need(asked, "text").strip(), code.with_digests(unlinked(places)), tags)
        app = self._app
        noted = commit_note(
            self._space(asked.get("space") or "local"),
            CommitKey(SessionId(app.writer_id("dashboard")), LocalSeq(1)),
            value,
            asked.get("id", ""),
            asked.get("branch", ""),
            app.author("dashboard"),
            app.new_id,
        )
        return Done(message=f"Noted as {noted.id}.", id=noted.id, seq=noted.applied.seq)

    def log(self, asked: Members) -> LogEntries:
        store = self._space(asked.get("space") or "local")
        limit = min(500, _number(asked, "limit", 200))
        return LogEntries(store.log(asked.get("id") or None, asked.get("branch"), None, limit))

    def drift(self, asked: Members) -> LinkStates:
        """Every link to code in the documents of a branch, and whether the code is as it was."""
        from holdfast import links

        store = self._space(asked.get("space") or "local")
        roots = list(self._index.registry.records())
        readers = {root: links.reader_below(root) for root in roots}

        def read(path: str, root: str | None) -> bytes | None:
            for name in (root,) if root in readers else () if root else roots:
                source = readers[name](path, root)
                if source is not None:
                    return source
            return None

        found = []
        only = asked.get("id")
        for state in store.documents(asked.get("branch", "")):
            if only and state.id != only:
                continue
            for path, link in links.links_in(state.document):
                judged = links.judge(link, read)
                found.append(
                    LinkState(
                        id=state.id,
                        at="/" + "/".join(path),
                        state=judged.state,
                        why=judged.why,
                        lines=judged.lines,
                        now=judged.sha256,
                        **link.to_wire()["code"],
                    )
                )
        return LinkStates(tuple(found))

    # savings

    def savings(self, asked: Members) -> SavingsAnswer:
        """What the user's own sessions of the last days read, saved and could have saved."""
        try:
            days = float(asked.get("days", "14"))
        except ValueError:
            days = 0.0
        if not 0 < days <= DAYS_MAX:
            raise UsageError(f"days must be a number above 0 (got {asked.get('days')})")
        return self._app.own_savings(days * 86_400)

    # health

    def doctor(self, asked: Members) -> HealthAnswer:
        """Every check of the doctor, with the fix for what is wrong."""
        from holdfast.agents.doctor import examine
        from holdfast.agents.target import target_of

        found = tuple(
            HealthFinding(one.about, one.state, one.said, one.fix or None)
            for one in examine(self._app, target_of(self._app))
        )
        wrong = any(one.state == "wrong" for one in found)
        return HealthAnswer("wrong" if wrong else "ok", found)


def _having(roots: Sequence[str], places: Sequence[str]) -> str | None:
    """The tree that has the file of the first place."""
    from holdfast.notes.note import code_place

    for root in roots if places else ():
        if os.path.isfile(os.path.join(root, code_place(places[0])[0])):
            return root
    return None


def _size_of(folder: str | os.PathLike[str]) -> int:
    """The bytes of the files in a folder; 0 if it is not there."""
    try:
        with os.scandir(folder) as entries:
            return sum(each.stat().st_size for each in entries if each.is_file())
    except OSError:
        return 0


def _entry(
    tree: Tree, log: TimedLog | FileTimes, number: int, depth: int, *, active: bool, leaf: bool
) -> SessionEntry:
    ledger, served, id = tree.ledger(number), tree.served.get(number), tree.ids[number]
    entry = SessionEntry(
        id=id,
        parent=tree.ids[tree.parents[number]] if tree.parents[number] >= 0 else None,
        kind=tree.kinds[number],
        depth=depth,
        holds=sum(len(ledger.scopes(path)) for path in ledger.paths()),
        sent_tokens=None if served is None else -(-served.served_bytes // 4),
        plain_tokens=None if served is None else -(-served.size_bytes // 4),
        at=log.at.get(id),
        said=(log.texts.get(id) or "")[:400] or None,
        active=active,
        leaf=leaf,
    )
    match tree.event(number):
        case Anchored(path, scope, _):
            return structs.replace(entry, path=path, scope=scopes.key(scope), mode="full")
        case Derived(mode, path, scope, _, _):
            return structs.replace(entry, path=path, scope=scopes.key(scope), mode=mode)
        case Refreshed(path, scope):
            return structs.replace(entry, path=path, scope=scopes.key(scope), mode="refresh")
        case Barrier():
            return structs.replace(entry, barrier=True)
        case Hidden(targets):
            return structs.replace(entry, hides=tuple(sorted(targets)))
        case None:
            return entry
        case Together(events):
            return structs.replace(entry, path=events[0].path, mode="several")
        case seen:
            return structs.replace(entry, path=seen.path, mode=type(seen).__name__.lower())


def _title(document: Any) -> str:
    value = (document or {}).get("value")
    if isinstance(value, Mapping):
        for name in ("title", "name", "summary", "text"):
            if isinstance(value.get(name), str):
                return str(value[name])[:160]
        return ", ".join(str(name) for name in value)[:160]
    return (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))[:160]


def _one_of(asked: Members, name: str, accepted: Sequence[T]) -> T:
    """The value of a member; the first accepted one when it is missing."""
    value = asked.get(name) or accepted[0]
    for one in accepted:
        if one == value:
            return one
    raise UsageError(f"{name} must be one of {', '.join(map(str, accepted))} (got {value!r})")


def _need(asked: Members, name: str) -> str:
    value = asked.get(name, "")
    if not value.strip():
        raise UsageError(f"{name} is missing")
    return value


def _number(asked: Members, name: str, otherwise: int) -> int:
    text = asked.get(name, "")
    if not text:
        return otherwise
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise UsageError(f"{name} is not a number: {text!r}")
    return int(text)
