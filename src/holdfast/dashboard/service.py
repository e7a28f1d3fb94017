"""The state behind the dashboard, opened and closed together: the live space and the questions.

One thread observes the state: when the registry, a session, a space or a tracked tree changes, and
at regular intervals. It commits changes to the live space, and tells the server which spaces have
commits that the server did not make itself, so that their watchers are notified too.
"""

from __future__ import annotations

import os
import platform
import shutil
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast import __version__, live, sessions
from holdfast.app import DEFAULT_SPACE, App
from holdfast.dashboard.lazy_start import live_space_of
from holdfast.dashboard.pages import Question
from holdfast.dashboard.questions import Questions
from holdfast.errors import HoldfastError, UsageError
from holdfast.files.watcher import Watcher
from holdfast.ids import SpaceId
from holdfast.observed import Values
from holdfast.observed.codebases import CodebaseObserver
from holdfast.observed.sessions import SessionObserver
from holdfast.store import roots
from holdfast.store.errors import UnknownSpace
from holdfast.store.store import Store, open_store
from holdfast.text import counted

if TYPE_CHECKING:
    from holdfast.sync.io.endpoint import SyncService


WATCHED_ROOTS_MAX = 32
LOW_DISK_BYTES = 1 << 30


def _ignore(space: str) -> None:
    """The default of `on_change`: no server serves the spaces, so there is nothing to notify."""


class DashboardService:
    """Keeps the live space current, and answers the questions of the pages."""

    def __init__(
        self,
        app: App,
        *,
        store: str | None = None,
        open_space: Callable[[str], Store] | None = None,
        on_change: Callable[[str], None] = _ignore,
        opened: Callable[[], Iterable[str]] = tuple,
        watch_trees: bool = True,
    ) -> None:
        """`store` is where the spaces are, by default the app's own; `open_space` opens one there
        and keeps it open; `on_change` is called, from any thread, with the name of a space that has
        a new commit; `opened` returns the spaces that a server has open, if they are not in a
        directory.
        """
        self._app, self._on_change, self._opened = app, on_change, opened
        self._store_url: str | Path = app.store_url if store is None else store
        self._open_space = open_space
        self.live_space = live_space_of(app, str(self._store_url))
        self._watch_trees = watch_trees
        self._spaces: dict[str, Store] = {}
        self._empty: Store | None = None
        self._opening = threading.Lock()
        self._seqs: dict[str, int] = {}
        self._watchers: dict[str, Watcher] = {}
        self._index = app.open_index()
        self._codebases = CodebaseObserver(self._index)
        self._sessions: SessionObserver | None = None
        self._logs: Store | None = None
        self._reader = app.reader(str(app.home), str(app.home))
        self._publisher: live.Publisher | None = None
        self._questions: Mapping[str, Question] | None = None
        self._notices = live.RefreshLoop(self._directories, self._is_watched, self._look)
        self._looking = threading.Lock()

    @classmethod
    def beside(cls, app: App, service: SyncService) -> DashboardService:
        """The dashboard of a sync server; it shows the server's spaces."""
        options = service.options
        in_memory = options.store.startswith("memory:")
        return cls(
            app,
            store=options.store,
            # A space in memory can only be reached through the server.
            open_space=_spaces_of(service) if in_memory else None,
            # PostgreSQL notifies every server of every commit.
            on_change=_ignore if options.on_postgres else service.endpoint.on_commit,
            opened=lambda: list(service.server.spaces),
        )

    # life

    def start(self) -> None:
        self._notices.start()

    def stop(self) -> None:
        self._notices.stop()
        for watcher in self._watchers.values():
            watcher.stop()
        self._watchers.clear()
        with self._opening:
            for store in (self._logs, self._empty):
                if store is not None:
                    store.close()
            if self._open_space is None:
                for store in self._spaces.values():
                    store.close()
            self._spaces.clear()
        self._index.close()

    def questions(self) -> Mapping[str, Question]:
        """The questions, by path below /api/."""
        if self._questions is None:
            # A separate observer, because questions and `look` run in different threads.
            book = SessionObserver(self._session_logs(), self._app.clock.now_ms, self._app.home)
            questions = Questions(self._app, self._index, self._reader, book, self._existing)
            self._questions = questions.table()
        return self._questions

    # looking

    def look(self) -> int | None:
        """Observe everything and commit what changed; returns the seq, or None if nothing did."""
        with self._looking:
            if self._publisher is None:
                store = self._open(self.live_space, make=True)
                self._publisher = live.Publisher(store, self._app.writer_id("live"))
            seq = self._publisher.publish(self._documents())
            if seq is not None:
                self._on_change(self.live_space)
            self._watch_roots()
            return seq

    def _look(self, changed: frozenset[str]) -> None:
        for root in self._watchers:
            if root in changed:
                self._codebases.stale(root)
        if not changed:
            for root in self._codebases.roots():
                self._codebases.stale(root)
        self.look()

    def _documents(self) -> live.Documents:
        problems: list[Values] = []
        try:
            codebases = self._codebases.observe()
        except HoldfastError as error:
            codebases = {}
            problems.append(live.problem("Registry of trees", error))
        observed: dict[str, Values] = {}
        hours: list[Values] = []
        try:
            observed, hours = self._session_book().observe()
        except (HoldfastError, OSError) as error:
            problems.append(live.problem("Sessions", error))
        spaces: dict[str, Values] = {}
        for name in self._names():
            try:
                spaces[name] = _space_values(name, self._open(name))
            except (HoldfastError, OSError) as error:
                problems.append(live.problem(f"Space {name}", error))
        for name, values in spaces.items():
            if self._seqs.get(name) != values["seq"]:
                self._seqs[name] = values["seq"]
                self._on_change(name)
        health = self._health(problems, codebases, observed, spaces)
        return live.documents_of(
            codebases=codebases, sessions=observed, spaces=spaces, hours=hours, health=health
        )

    def _health(
        self,
        problems: list[Values],
        codebases: Mapping[str, Values],
        observed: Mapping[str, Values],
        spaces: Mapping[str, Values],
    ) -> Values:
        unreadable = any(problem["name"] == "Registry of trees" for problem in problems)
        checks: list[Values] = [
            *problems,
            *([] if unreadable else [_registry_check(codebases)]),
            _sessions_check(observed),
            _check("Memory", "ok", f"{counted(len(spaces), 'space')} can be read"),
            self._disk_check(),
            self._embedding_check(),
        ]
        order = ("ok", "info", "warn", "bad")
        worst = max((order.index(check["state"]) for check in checks), default=0)
        return {
            "state": "ok" if worst <= 1 else order[worst],
            "version": __version__,
            "python": platform.python_version(),
            "home": str(self._app.home),
            "store": "PostgreSQL" if self._on_postgres else "SQLite",
            "checks": checks,
        }

    def _disk_check(self) -> Values:
        try:
            free = shutil.disk_usage(self._app.home).free
        except OSError as error:
            return live.problem("Disk", error)
        if free < LOW_DISK_BYTES:
            text = f"less than {free // (1 << 20) + 1} MiB are free"
            return _check("Disk", "warn", text, "free some space; commits fail on a full disk")
        # Rounded, so that the document does not change with every small write.
        return _check("Disk", "ok", f"more than {free // (10 << 30) * 10 or 1} GiB are free")

    def _embedding_check(self) -> Values:
        provider = self._index.provider
        if provider.name == "hashed":
            return _check(
                "Embedding",
                "info",
                "the built-in fallback: finds words and parts of words, not meaning",
                "HOLDFAST_EMBEDDING chooses a model",
            )
        return _check("Embedding", "ok", f"{provider.name} {provider.model}")

    # spaces

    @property
    def _on_postgres(self) -> bool:
        return str(self._store_url).startswith(("postgresql://", "postgres://"))

    def _names(self) -> list[str]:
        """The spaces to show, without the live space and the session logs."""
        root = roots.resolve_root(self._store_url)
        names = {DEFAULT_SPACE, *self._spaces, *self._opened()}
        if root is not None and root.is_dir():
            names |= set(roots.spaces(self._store_url))
        names -= {self.live_space, sessions.SPACE}
        return sorted(n for n in names if not (self._on_postgres and live.is_live(n)))

    def _open(self, name: str, *, make: bool = False) -> Store:
        """A space, which stays open. Only with `make` is a missing space created.

        The default space always exists: before its first commit it is empty.
        """
        with self._opening:
            store = self._spaces.get(name)
            if store is not None:
                return store
            if not self._on_postgres:
                self._app.home.make()
            try:
                open_space = self._open_space
                store = (
                    open_store(self._store_url, name, create=make)
                    if open_space is None
                    else open_space(name)
                )
            except UnknownSpace:
                if name != DEFAULT_SPACE:
                    raise
                if self._empty is None:
                    self._empty = open_store("memory:", name)
                return self._empty
            self._spaces[name] = store
            return store

    def _existing(self, name: str) -> Store:
        if name not in self._names():
            raise UsageError(f"there is no space {name}", "holdfast memory set --space makes one")
        return self._open(name)

    def _session_logs(self) -> Store:
        """The store of session logs: always the app's, even if the served spaces are elsewhere."""
        if str(self._store_url) == str(self._app.store_url):
            return self._open(sessions.SPACE, make=True)
        with self._opening:
            if self._logs is None:
                self._logs = self._app.open_space(sessions.SPACE)
            return self._logs

    def _session_book(self) -> SessionObserver:
        if self._sessions is None:
            self._sessions = SessionObserver(
                self._session_logs(), self._app.clock.now_ms, self._app.home
            )
        return self._sessions

    # noticing

    def _directories(self) -> list[Path]:
        directories = [self._app.home.index, self._app.home.run]
        root = roots.resolve_root(self._store_url)
        if root is not None:
            directories.append(root)
        for directory in directories:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        return directories

    def _is_watched(self, path: Path) -> bool:
        """Whether a changed file can affect what is shown; files that we write ourselves do not."""
        if path.name == "registry.json" or path.parent.name == "bindings":
            return True
        if path.parent.parent.name == "hosts" and path.suffix == ".jsonl":
            return True  # our records of an agent's session
        return (
            ".sqlite" in path.name
            and path.parent.name.endswith(roots.ENGINE_ROOT)
            and (path.name.partition(".sqlite")[0] != self.live_space)
        )

    def _watch_roots(self) -> None:
        """Watch the trees that are tracked now."""
        if not self._watch_trees:
            return
        roots = self._codebases.roots()[:WATCHED_ROOTS_MAX]
        for root in set(self._watchers) - set(roots):
            self._watchers.pop(root).stop()
        for root in roots:
            if root not in self._watchers and os.path.isdir(root):
                watcher = Watcher(root, lambda _, root=root: self._notices.touched(root))  # type: ignore[misc]
                self._watchers[root] = watcher
                watcher.start()


def _spaces_of(service: SyncService) -> Callable[[str], Store]:
    return lambda name: service.server.space(SpaceId(name)).store


def _registry_check(codebases: Mapping[str, Values]) -> Values:
    wrong = [c["name"] for c in codebases.values() if c["state"] not in ("ready", "indexing")]
    if wrong:
        return _check(
            "Trees",
            "warn",
            f"{counted(len(wrong), 'tree')} cannot be searched: {', '.join(sorted(wrong)[:5])}",
            "the page Codebases says why, and what to do",
        )
    return _check("Trees", "ok", f"{counted(len(codebases), 'tree')} tracked")


def _sessions_check(observed: Mapping[str, Values]) -> Values:
    doubted = [name for name, values in observed.items() if values["doubt"]]
    if doubted:
        return _check(
            "Sessions",
            "warn",
            f"{counted(len(doubted), 'session')} cannot be verified now: {', '.join(doubted[:5])}",
            "reads there are answered in full",
        )
    return _check("Sessions", "ok", f"{counted(len(observed), 'session')}")


def _check(name: str, state: str, text: str, hint: str | None = None) -> Values:
    return {"name": name, "state": state, "text": text, "hint": hint}


def _space_values(name: str, store: Store) -> Values:
    return {
        "name": name,
        "seq": int(store.newest_seq()),
        "branches": [branch.to_wire() for branch in store.branches()],
    }
