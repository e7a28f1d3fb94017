"""What all connections of a host share: the index, the open spaces, the readers.

Everything is opened when it is first asked for, and kept, spaces within bounds: a host lives long.
Tools run in threads, so each thing here is either safe to share or made under the desk's lock.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from holdfast.home import Home
from holdfast.mcp.spaces import Spaces

if TYPE_CHECKING:
    from holdfast.app import App
    from holdfast.index.code_index import CodeIndex
    from holdfast.mcp.binding import Sessions
    from holdfast.reading.reader import Reader
    from holdfast.store.store import Store

READERS_MAX = 64


class Desk:
    """Where the tools find what they need."""

    def __init__(self, app: App) -> None:
        self.app = app
        self._turn = threading.RLock()
        self._index: CodeIndex | None = None
        self._spaces = Spaces(lambda name, make: app.open_space(name, create=make))
        self._readers: OrderedDict[str, Reader] = OrderedDict()
        self._sessions: Sessions | None = None
        self._runs: dict[int, threading.Thread] = {}
        self._starting = threading.local()

    @property
    def home(self) -> Home:
        return self.app.home

    def new_id(self) -> str:
        return self.app.new_id()

    def now_ms(self) -> int:
        return self.app.clock.now_ms()

    # the index

    @property
    def index(self) -> CodeIndex:
        """The code index; its builds run in threads of ours, and trees it built are watched."""
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
        """The build that this thread's last lifecycle action began, if it began one."""
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
        """A space for the time of one call; raises UnknownSpace rather than make one unasked.

        `make` is of a call that writes: it says whether to make a space that is not there. To a
        call that only looks, the default space is always there: until somebody writes to it, it is
        an empty one.
        """
        from holdfast.app import DEFAULT_SPACE
        from holdfast.store.errors import UnknownSpace

        with ExitStack() as borrowed:
            try:
                store = borrowed.enter_context(self._spaces.lend(name))
            except UnknownSpace:
                if make is not None and make():
                    store = borrowed.enter_context(self._spaces.lend(name, make=True))
                elif make is None and name == DEFAULT_SPACE:
                    store = borrowed.enter_context(self.app.inspect_space(name))
                else:
                    raise
            yield store

    # reading

    def reader(self, cwd: str, home: str) -> Reader:
        """The reader of a working directory."""
        with self._turn:
            reader = self._readers.get(cwd)
            if reader is None:
                reader = self._readers[cwd] = self.app.reader(cwd, home)
                while len(self._readers) > READERS_MAX:
                    self._readers.popitem(last=False)
            self._readers.move_to_end(cwd)
            return reader

    @property
    def sessions(self) -> Sessions:
        """Which conversation a call belongs to."""
        with self._turn:
            if self._sessions is None:
                from holdfast.mcp.binding import Sessions

                self._sessions = Sessions(
                    self.home,
                    self._spaces.keep,
                    now_ms=self.now_ms,
                    new_id=self.app.new_id,
                )
            return self._sessions

    def close(self) -> None:
        with self._turn:
            self._spaces.close()
            if self._index is not None and not self.busy:
                self._index.close()


def inside(path: str, root: str) -> str:
    """A path relative to a root it lies in, else as it is."""
    return os.path.relpath(path, root) if path.startswith(root.rstrip("/") + "/") else path
