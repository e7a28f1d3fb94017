"""What all connections of a host share: the index, open spaces, readers and sessions.

Each is opened at its first use and kept; the number of open spaces and readers is bounded, because
a host runs for days. Tools run in threads, so each is either thread-safe or created under a lock.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from holdfast.home import Home
from holdfast.mcp.printed_answers import PrintedAnswers, excerpts
from holdfast.mcp.space_pool import SpacePool

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.app import App
    from holdfast.files.workspace import Workspace
    from holdfast.index.code_index import CodeIndex
    from holdfast.mcp.binding import Sessions
    from holdfast.mcp.caller import Caller
    from holdfast.mcp.hook_service import HookService
    from holdfast.notes.near_code import NotesByFile
    from holdfast.reading.reader import Reader
    from holdfast.store.store import Store

READERS_MAX = 64


def _stamp(path: Path) -> tuple[int, int] | None:
    """A value that changes when a settings file does."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


class HostContext:
    """The shared state of a host; tools get what they need from it."""

    def __init__(self, app: App) -> None:
        self.app = app
        self._turn = threading.RLock()
        self._index: CodeIndex | None = None
        self._spaces = SpacePool(lambda name, make: app.open_space(name, create=make))
        self._readers: OrderedDict[str, Reader] = OrderedDict()
        self._settings: tuple[int, int] | None = None
        self._sessions: Sessions | None = None
        self._hooks: HookService | None = None
        self._notes: dict[str, NotesByFile] = {}
        self._runs: dict[int, threading.Thread] = {}
        self._starting = threading.local()
        self.shown = PrintedAnswers()

    def note_printed(self, text: str, lines: Iterable[tuple[str, int, str]]) -> None:
        """Remember which lines of files (path, number, text) an answer printed unchanged."""
        self.shown.note(text, excerpts(lines))

    @property
    def home(self) -> Home:
        return self.app.home

    def new_id(self) -> str:
        return self.app.new_id()

    # the index

    @property
    def index(self) -> CodeIndex:
        """The code index. Builds run in threads of this process, and indexed trees are watched."""
        with self._turn:
            if self._index is None:
                self._index = self.app.open_index()
                self._index.start = self._start
                self._index.watches = True
            return self._index

    def _start(self, job: Callable[[], None]) -> None:
        def work() -> None:
            try:
                job()
            finally:
                with self._turn:
                    self._runs.pop(threading.get_ident(), None)

        run = threading.Thread(target=work, name="holdfast index", daemon=True)
        with self._turn:
            run.start()
            assert run.ident is not None
            self._runs[run.ident] = run
        self._starting.run = run

    def started_here(self) -> threading.Thread | None:
        """The build that the last index action of this thread started, if it started one."""
        run: threading.Thread | None = getattr(self._starting, "run", None)
        self._starting.run = None
        return run

    @property
    def busy(self) -> bool:
        """Whether a build runs."""
        with self._turn:
            return any(run.is_alive() for run in self._runs.values())

    # memory

    @contextmanager
    def space(self, name: str, *, make: Callable[[], bool] | None = None) -> Iterator[Store]:
        """A space for the duration of one call; raises UnknownSpace if it does not exist.

        A call that writes passes `make`, which decides whether to create a missing space. For a
        call that only reads, the default space always exists: before the first write it is empty.
        """
        from holdfast.app import DEFAULT_SPACE
        from holdfast.store.errors import UnknownSpace

        with ExitStack() as stack:
            try:
                store = stack.enter_context(self._spaces.borrow(name))
            except UnknownSpace:
                if make is not None and make():
                    store = stack.enter_context(self._spaces.borrow(name, make=True))
                elif make is None and name == DEFAULT_SPACE:
                    store = stack.enter_context(self.app.inspect_space(name))
                else:
                    raise
            yield store

    def keep_space(self, name: str) -> Store:
        """A space that stays open."""
        return self._spaces.keep(name)

    def notes(self, space: str) -> NotesByFile:
        """The notes of a space, by the files that they are about; a missing space has none."""
        from holdfast.notes.near_code import NotesByFile

        with self._turn:
            if space not in self._notes:
                if len(self._notes) >= READERS_MAX:
                    self._notes.clear()
                self._notes[space] = NotesByFile(lambda: self._spaces.borrow(space))
            return self._notes[space]

    # files

    def workspace(self, caller: Caller, declared: Callable[[], Iterable[str]]) -> Workspace:
        """What a client may read."""
        if caller.principal is not None:
            return self.app.repository_workspace(caller.principal)

        def tracked() -> Iterable[str]:
            return self.index.registry.records()

        return self.app.workspace(
            caller.directories, tracked, user_home=caller.home, declared=declared
        )

    def reader(self, cwd: str, home: str) -> Reader:
        """The reader of a working directory, with the settings as they are now."""
        with self._turn:
            settings = _stamp(self.home.reading_settings)
            if settings != self._settings:
                self._settings = settings
                self._readers.clear()
            reader = self._readers.get(cwd)
            if reader is None:
                reader = self._readers[cwd] = self.app.reader(cwd, home)
                while len(self._readers) > READERS_MAX:
                    self._readers.popitem(last=False)
            self._readers.move_to_end(cwd)
            return reader

    @property
    def sessions(self) -> Sessions:
        """Finds the conversation that a call belongs to."""
        with self._turn:
            if self._sessions is None:
                from holdfast.mcp.binding import Sessions

                app, keep = self.app, self._spaces.keep
                self._sessions = Sessions(
                    self.home,
                    lambda name, kind: app.open_session(name, kind=kind, open_space=keep),
                    monotonic=app.clock.monotonic,
                    now_s=app.clock.now_s,
                )
            return self._sessions

    @property
    def hooks(self) -> HookService:
        """The service that answers the hooks of agents."""
        with self._turn:
            if self._hooks is None:
                from holdfast.mcp.hook_decision import HookDecision
                from holdfast.mcp.hook_protocol import ANSWER_S, hook_seconds
                from holdfast.mcp.hook_service import HookService

                answer_s = hook_seconds(self.app.environment, ANSWER_S)
                self._hooks = HookService(HookDecision(self).decide, answer_s)
            return self._hooks

    def prepare_hooks(self) -> None:
        """Import what hooks need in advance: a hook has too little time for it."""
        import holdfast.reading.hosts.claude_code
        import holdfast.reading.hosts.codex  # noqa: F401
        from holdfast.edits import explain

        _ = self.hooks, self.sessions
        explain("one two\nthree\n", "one four", "example")  # the first call imports numpy
        if self.app.reader("/").settings.focus:
            from holdfast.file_focus import outliner

            outliner(lambda: self.index)("example.py", b"x = 1\n")  # starts the parsing process

    def close(self) -> None:
        with self._turn:
            if self._hooks is not None:
                self._hooks.close()
            self._spaces.close()
            if self._index is not None and not self.busy:
                self._index.close()
