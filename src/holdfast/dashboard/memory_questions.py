"""The questions about memory, limited to existing spaces."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.app import App
from holdfast.dashboard.answers import (
    DocumentList,
    DocumentTitle,
    Done,
    LinkState,
    LinkStates,
    LogEntries,
)
from holdfast.dashboard.parameters import Members, need, number
from holdfast.errors import UsageError
from holdfast.index.code_index import CodeIndex

if TYPE_CHECKING:
    from holdfast.store.store import Store

DOCUMENTS_MAX = 1_000


class MemoryQuestions:
    """Documents, notes, history, and links to code."""

    def __init__(self, app: App, index: CodeIndex, space: Callable[[str], Store]) -> None:
        """`space` opens an existing space, or raises."""
        self._app, self._index, self._space = app, index, space

    def documents(self, params: Members) -> DocumentList:
        """The documents of a branch, now or as of a seq."""
        store, branch = self._space(params.get("space") or "local"), params.get("branch", "")
        at = number(params, "at", 0) or None
        documents = [
            s for s in store.documents(branch, at) if s.id.startswith(params.get("prefix", ""))
        ]
        listed = documents[:DOCUMENTS_MAX]
        titles = (DocumentTitle(s.id, s.seq, s.branch, _title(s.document)) for s in listed)
        return DocumentList(len(documents), tuple(titles))

    def note(self, params: Members) -> Done:
        """Write a new note or update one, optionally about code of a tracked tree."""
        from holdfast.ids import LocalSeq, SessionId
        from holdfast.notes.code import LinkedCode
        from holdfast.notes.note import commit_note, note_value, unlinked
        from holdfast.store.model import CommitKey

        roots = list(self._index.registry.records())
        places = [place.strip() for place in params.get("code", "").split(",") if place.strip()]
        root = params.get("root") or _having(roots, places)
        if root is not None and root not in roots:
            raise UsageError(f"{root} is not a tracked tree")
        if places and root is None:
            raise UsageError(f"no tracked tree has {places[0]}", "pass a path from the root of one")
        code = LinkedCode(root, lambda: self._app.workspace([], lambda: roots))
        tags = [tag.lstrip("#") for tag in params.get("tags", "").replace(",", " ").split()]
        value = note_value(need(params, "text").strip(), code.with_digests(unlinked(places)), tags)
        app = self._app
        noted = commit_note(
            self._space(params.get("space") or "local"),
            CommitKey(SessionId(app.writer_id("dashboard")), LocalSeq(1)),
            value,
            params.get("id", ""),
            params.get("branch", ""),
            app.author("dashboard"),
            app.new_id,
        )
        return Done(message=f"Noted as {noted.id}.", id=noted.id, seq=noted.applied.seq)

    def log(self, params: Members) -> LogEntries:
        store = self._space(params.get("space") or "local")
        limit = min(500, number(params, "limit", 200))
        return LogEntries(store.log(params.get("id") or None, params.get("branch"), None, limit))

    def drift(self, params: Members) -> LinkStates:
        """Every link to code in the documents of a branch, and whether the code has changed."""
        from holdfast import links

        store = self._space(params.get("space") or "local")
        roots = list(self._index.registry.records())
        readers = {root: links.reader_below(root) for root in roots}

        def read(path: str, root: str | None) -> bytes | None:
            for name in (root,) if root in readers else () if root else roots:
                source = readers[name](path, root)
                if source is not None:
                    return source
            return None

        states = []
        only = params.get("id")
        for state in store.documents(params.get("branch", "")):
            if only and state.id != only:
                continue
            for path, link in links.links_in(state.document):
                judged = links.judge(link, read)
                states.append(
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
        return LinkStates(tuple(states))


def _having(roots: Sequence[str], places: Sequence[str]) -> str | None:
    """The tree that contains the file of the first place."""
    from holdfast.notes.note import code_place

    for root in roots if places else ():
        if os.path.isfile(os.path.join(root, code_place(places[0])[0])):
            return root
    return None


def _title(document: Any) -> str:
    value = (document or {}).get("value")
    if isinstance(value, Mapping):
        for name in ("title", "name", "summary", "text"):
            if isinstance(value.get(name), str):
                return str(value[name])[:160]
        return ", ".join(str(name) for name in value)[:160]
    return (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))[:160]
