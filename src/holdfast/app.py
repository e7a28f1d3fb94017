"""The one place that knows everyone: opens what a command, a tool or a page needs, and closes it.

Where things are kept follows from two settings. `HOLDFAST_HOME` (default `~/.holdfast`) is the
directory for everything local; `HOLDFAST_DATABASE_URL`, if set, moves the store to PostgreSQL.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from holdfast.files.snapshot import Snapshot
    from holdfast.index.code_index import CodeIndex
    from holdfast.reading.reader import Reader
    from holdfast.reading.session_log import SessionLog
    from holdfast.sequence.segment_store import Progress
    from holdfast.sequence.tokens.lexer import LexerOptions
    from holdfast.store.settings import StoreSettings
    from holdfast.store.store import Store
    from holdfast.trees import Tree

COLLECT_EVERY_S = 24 * 3600

DEFAULT_SPACE = "local"
"""The space of a person who never named one."""


def _fresh_name() -> str:
    return secrets.token_hex(4)


@dataclass(frozen=True, slots=True)
class App:
    """What the surfaces are handed: where things are, and where names come from."""

    home: Path
    database_url: str | None = None
    fresh_name: Callable[[], str] = field(default=_fresh_name)
    environment: Mapping[str, str] = field(default_factory=dict)
    """What the user set, for the parts that read settings of their own."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> App:
        """The app as the user configured it."""
        env = os.environ if environment is None else environment
        home = env.get("HOLDFAST_HOME")
        return cls(
            home=Path(home).expanduser() if home else Path.home() / ".holdfast",
            database_url=env.get("HOLDFAST_DATABASE_URL") or None,
            environment=env,
        )

    def make_home(self) -> None:
        """The directory for everything local, its owner's alone.

        Whatever makes a directory below it first would leave it as open as the umask allows.
        """
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)

    @property
    def store_url(self) -> str | Path:
        """Where spaces are kept. Of a home always a path, even if its name looks like a URL."""
        return self.database_url or self.home / "spaces"

    def open_space(
        self,
        space: str = DEFAULT_SPACE,
        settings: StoreSettings | None = None,
        *,
        create: bool = True,
    ) -> Store:
        """Open one space; the caller closes it. `UnknownSpace` rather than make one unasked."""
        from holdfast.store.store import open_store

        if self.database_url is None:
            if create:
                self.make_home()
            with suppress(FileNotFoundError):
                os.listdir(self.home / "spaces")  # what we may not see is not therefore empty
        return open_store(self.store_url, space, settings, create=create)

    def look_into(self, space: str = DEFAULT_SPACE) -> Store:
        """Open one space to read it, and make nothing; raises `UnknownSpace` if there is none.

        The default space is always there: until somebody writes to it, it is an empty one.
        """
        from holdfast.store.errors import UnknownSpace
        from holdfast.store.store import open_store

        try:
            return self.open_space(space, create=False)
        except UnknownSpace:
            if space != DEFAULT_SPACE:
                raise
            return open_store("memory:", space)

    def open_index(self) -> CodeIndex:
        """The code index; what it publishes brings the token segments of the tree along."""
        from holdfast.index.settings import index_of

        index = index_of({**self.environment, "HOLDFAST_HOME": str(self.home)})
        index.published = self._follow
        return index

    def _follow(self, root: str, snapshot: Snapshot) -> None:
        # Imported when something was published: a search needs none of it.
        from holdfast.trees import SegmentUpdater

        SegmentUpdater(self.home / "sequence")(root, snapshot)

    def open_tree(self, path: str | Path, reading: LexerOptions, progress: Progress) -> Tree:
        """A tree for sequence search, from the same look at its files as its index would take."""
        from holdfast.index.code_index import policy_of
        from holdfast.index.generations.registry import Registry
        from holdfast.trees import open_tree

        root = Path(path).resolve()
        with suppress(OSError):
            self.make_home()  # where it cannot be made, keeping the segments says so
        try:
            record = Registry(self.home / "index" / "registry.json").find(str(root))
        except (HoldfastError, OSError):
            record = None  # The index will say what is wrong with its registry; this needs none.
        policy = None if record is None else policy_of(record.options)
        return open_tree(root, self.home / "sequence", reading, progress, time.time_ns, policy)

    def collect_daily(self, reader: Reader, log: SessionLog) -> None:
        """Once a day, let go of stored texts long unused that this session does not stand on."""
        marker = self.home / "run" / "collected"
        try:
            if marker.exists() and time.time() - marker.stat().st_mtime < COLLECT_EVERY_S:
                return
            marker.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            marker.touch()
        except OSError:
            return
        reader.collect([log])

    def session(self, surface: str) -> str:
        """A session id for one use of a surface."""
        return f"{surface}-{self.fresh_name()}"
