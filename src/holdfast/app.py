"""The composition root: opens what a command, a tool or a page needs.

Every process entry point calls `App.from_environment()` once and passes the app down. Surfaces get
readers, stores, the index and the clock from it; they construct none of them.

Three settings decide where data is kept. `HOLDFAST_HOME` (default `~/.holdfast`) is the directory
for everything local; `HOLDFAST_DATABASE_URL`, if set, moves documents to PostgreSQL;
`HOLDFAST_INDEX_URL` names where a team shares its work on code.

Imports almost nothing until something is opened, because the MCP shim starts from here too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from holdfast import system
from holdfast.errors import HoldfastError
from holdfast.home import Home, expand_user, home_of

TYPE_CHECKING = False  # `typing` defines it too, but is slow to import
if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.files.boundary import Machine
    from holdfast.files.identity import RepositoryIdentity, Unidentified
    from holdfast.files.listing import TreeListing
    from holdfast.files.policy import Policy
    from holdfast.files.snapshot import Snapshot
    from holdfast.files.workspace import Workspace
    from holdfast.index.code_index import CodeIndex
    from holdfast.index.shared.store import SharedStore
    from holdfast.index.tools.manage.request import Action
    from holdfast.reading.native import Focuser
    from holdfast.reading.reader import Reader
    from holdfast.reading.session_log import SessionLog
    from holdfast.replay.report import SavingsAnswer
    from holdfast.repositories import GitTree, Repositories
    from holdfast.sequence.clones_request import ClonesRequest
    from holdfast.sequence.report import ClonesReport
    from holdfast.sequence.segment_store import Progress
    from holdfast.sequence.tokens.lexer import LexerOptions
    from holdfast.store.author import Author
    from holdfast.store.settings import StoreSettings
    from holdfast.store.store import Store
    from holdfast.trees import SourceTree

COLLECT_EVERY_S = 24 * 3600

DEFAULT_SPACE = "local"
"""The space that is used when none is named."""


def process_environment() -> Mapping[str, str]:
    """The environment of this process, prepared; each entry point calls this first."""
    system.prepare_process()
    return system.environment()


class App:
    """Where data is kept, the clock, ids and the environment; opens everything else."""

    def __init__(
        self,
        home: str | os.PathLike[str],
        database_url: str | None = None,
        *,
        environment: Mapping[str, str] | None = None,
        clock: system.Clock = system.CLOCK,
        new_id: Callable[[], str] = system.new_id,
        new_token: Callable[[], str] = system.new_token,
        new_secret: Callable[[], str] = system.new_secret,
        random_bytes: Callable[[int], bytes] = system.random_bytes,
    ) -> None:
        self._settings_reported = False
        self.home = Home(home)
        self.database_url = database_url
        self.environment: Mapping[str, str] = {} if environment is None else environment
        """The environment, for the parts that read their own settings."""
        self.clock, self.new_id = clock, new_id
        self.new_token, self.new_secret, self.random_bytes = new_token, new_secret, random_bytes
        self._machines: dict[str, Machine] = {}
        self._repositories: Repositories | None = None
        self._indexed_commits: dict[str, str | None] = {}  # of repositories, by this process

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> App:
        """The app as the user configured it."""
        env = system.environment() if environment is None else environment
        return cls(home_of(env), env.get("HOLDFAST_DATABASE_URL") or None, environment=env)

    def with_home(self, home: str | os.PathLike[str]) -> App:
        """The same app on another home, without a database."""
        unset = {
            "HOLDFAST_HOME": os.fspath(home),
            **dict.fromkeys(("HOLDFAST_DATABASE_URL", "HOLDFAST_INDEX_URL"), ""),
        }
        environment = {**self.environment, **unset}
        return App(home, None, environment=environment, clock=self.clock, new_id=self.new_id)

    @property
    def user_home(self) -> str:
        """The home directory of the user, where agents keep their settings."""
        return expand_user("~", self.environment)

    def writer_id(self, surface: str) -> str:
        """A session id for the commits of one use of a surface."""
        return f"{surface}-{self.new_id()}"

    def author(self, agent: str, session: str = "") -> Author:
        """The author of what this user writes through a program; HOLDFAST_AUTHOR names the user."""
        from holdfast.store.author import Author

        names = (self.environment.get(name, "") for name in ("HOLDFAST_AUTHOR", "USER", "LOGNAME"))
        return Author(next(filter(None, names), "") or system.login_name(), agent, session)

    # documents

    @property
    def store_url(self) -> str | Path:
        """The database URL, or the directory of spaces: a `Path`, as it may look like a URL."""
        return self.database_url or self.home.spaces

    def open_space(
        self,
        space: str = DEFAULT_SPACE,
        settings: StoreSettings | None = None,
        *,
        create: bool = True,
    ) -> Store:
        """Open one space; the caller closes it. Raises `UnknownSpace` if it may not create one."""
        from holdfast.store.store import open_store

        if self.database_url is None:
            if create:
                self.home.make()
            with suppress(FileNotFoundError):
                os.listdir(self.home.spaces)  # an unreadable directory is not an empty one
        return open_store(self.store_url, space, settings, create=create)

    def inspect_space(self, space: str = DEFAULT_SPACE) -> Store:
        """Open one space to read it, creating nothing; raises `UnknownSpace` if it does not exist.

        The default space always exists: before the first write it is empty.
        """
        from holdfast.store.errors import UnknownSpace
        from holdfast.store.store import open_store

        try:
            return self.open_space(space, create=False)
        except UnknownSpace:
            if space != DEFAULT_SPACE:
                raise
            return open_store("memory:", space)

    # code

    def open_index(self) -> CodeIndex:
        """The code index. Publishing a generation also updates the token segments of its tree."""
        from holdfast.index.settings import index_of

        index = index_of(self.home, self.environment)
        index.now = self.clock.utc_now
        index.published = self._update_segments
        index.identify = self.identify
        index.origin = self._origin
        return index

    def identify(self, directory: str) -> RepositoryIdentity | Unidentified:
        """The repository that a directory belongs to; the settings may name it."""
        from holdfast.files.identity import identify, repository_names

        return identify(directory, repository_names(self.home.settings, self.user_home))

    def repositories(self) -> Repositories:
        """The repositories that are indexed without a checkout."""
        from holdfast.repositories import Repositories

        if self._repositories is None:
            self._repositories = Repositories(self.home)
        return self._repositories

    def sync_repositories(self) -> list[str]:
        """Update every repository without a checkout, and its index; returns the error messages."""
        from holdfast.index.code_index import run_here
        from holdfast.index.tools.manage import manage_index

        failures: list[str] = []
        if not (trees := self.repositories().known()):
            return []
        with self.borrow_index() as index:
            index.start = run_here
            for tree in trees:
                try:
                    now = self.repositories().update(tree)
                    tracked = index.registry.find(tree.root)
                    if tracked is not None and now.commit == self._indexed_commits.get(tree.root):
                        continue
                    # A process may have ended after it had brought in the files.
                    action: Action = "create" if tracked is None else "sync"
                    answer = manage_index(index, action, tree.root)
                    if answer.status == "ok":
                        self._indexed_commits[tree.root] = now.commit
                    else:
                        failures.append(f"{tree.name}: {answer.message or answer.human_text}")
                except (HoldfastError, OSError) as error:
                    failures.append(f"{tree.name}: {error}")
        return failures

    def open_shared_rows(self) -> SharedStore:
        """The rows `holdfast serve` shares with the team: on PostgreSQL if set, else in the
        home."""
        from holdfast.index.settings import is_postgresql, shared_bytes_max

        limit = shared_bytes_max(self.environment)
        url = self.environment.get("HOLDFAST_INDEX_URL", "")
        if is_postgresql(url):
            from holdfast.index.shared.postgres import PostgresShared

            return PostgresShared(url, bytes_max=limit)
        from holdfast.index.shared.store import SqliteShared

        return SqliteShared(self.home.index_shared, limit)

    def _origin(self, root: str) -> str | None:
        tree = self.repositories().at(root) if self.home.is_among_repositories(root) else None
        return None if tree is None else tree.sentence()

    @contextmanager
    def borrow_index(self) -> Iterator[CodeIndex]:
        """The code index for the duration of one question."""
        from holdfast.files.edited_files import EditedFiles

        index = self.open_index()
        # Ranking uses what git reported earlier; a command would end before git reports.
        index.edited = EditedFiles(start=lambda job: None)
        try:
            yield index
        finally:
            index.close()

    def _update_segments(self, root: str, snapshot: Snapshot) -> None:
        # Imported only after a generation was published: a search does not need it.
        from holdfast.trees import SegmentUpdater

        SegmentUpdater(self.home.sequence)(root, snapshot)

    def open_tree(self, path: str | Path, options: LexerOptions, progress: Progress) -> SourceTree:
        """A tree for sequence search, made of the same files as its index."""
        from holdfast.trees import opened

        root, listing = self._listed(path)
        return opened(root, listing, self.home.sequence, options, progress)

    def find_clones(
        self, path: str | Path, request: ClonesRequest, progress: Progress
    ) -> ClonesReport:
        """The repeated blocks of a tree; a kept answer is used if no file has changed since."""
        from holdfast.repeats.answer_cache import KeptClones
        from holdfast.sequence.segment_paths import segments_directory

        root, listing = self._listed(path)
        directory = segments_directory(self.home.sequence, root, request.options)
        cache = KeptClones(directory, root, request)
        if (answer := cache.current(listing)) is None:
            from holdfast.repeats import find

            answer, files = find.find_clones(root, listing, request, progress)
            cache.keep(files, listing.taken_ns, answer)
        return answer

    def _listed(self, path: str | Path) -> tuple[Path, TreeListing]:
        """The files of a tree, by the settings of its index if it has one."""
        from pathlib import Path

        root = Path(path).resolve()
        with suppress(OSError):
            self.home.make()  # if this fails, storing the segments reports it
        policy = None
        if os.path.exists(self.home.index_registry):
            from holdfast.index.generations.registry import policy_at

            # A broken registry is ignored here; index commands report it.
            with suppress(HoldfastError, OSError):
                policy = policy_at(self.home.index_registry, str(root))
        return root, self.list_tree(root, policy)

    def list_tree(self, root: Path, policy: Policy | None) -> TreeListing:
        """The files of a tree now."""
        from holdfast.files.listing import list_tree

        return list_tree(root, self.clock.now_ns, policy)

    # the workspace boundary

    def workspace(
        self,
        directories: Sequence[str],
        tracked: Callable[[], Iterable[str]],
        *,
        user_home: str | None = None,
        declared: Callable[[], Iterable[str]] = tuple,
    ) -> Workspace:
        """What a client may read: its working directories, the settings, tracked trees, its roots.

        `declared` is called last, because it may ask the client.
        """
        from holdfast.files.workspace import Workspace, allowed_directories, roots_at

        home, user = self.home, user_home or self.user_home
        return Workspace(
            lambda: self._machine(user),
            (
                lambda: roots_at(directories, "working directory"),
                lambda: roots_at(allowed_directories(home.settings, user), "setting"),
                lambda: roots_at(tracked(), "tracked tree"),
                lambda: roots_at(declared(), "declared root"),
            ),
        )

    def readable_repositories(self, principal: str | None) -> list[GitTree]:
        """The repositories without a checkout that a principal may read, by `[access]` of the
        settings; None is the owner."""
        if principal is None:
            return self.repositories().known()
        from holdfast.files.workspace import settings_table
        from holdfast.sync.server.access import may_read

        lists = settings_table(self.home.settings, "access")
        return self.repositories().readable(lists, lambda acl, name: may_read(acl, principal, name))

    def repository_workspace(self, principal: str) -> Workspace:
        """The files that a principal with a pass may read: those of its repositories."""
        from holdfast.files.workspace import Workspace, roots_at

        roots = [tree.root for tree in self.readable_repositories(principal)]
        user = self.user_home
        return Workspace(lambda: self._machine(user), (lambda: roots_at(roots, "repository"),))

    def _machine(self, user_home: str) -> Machine:
        from holdfast.files.workspace import machine_of

        machine = self._machines.get(user_home)
        if machine is None:
            machine = machine_of(user_home, self.home.private, str(self.home.settings))
            self._machines[user_home] = machine
        return machine

    def is_too_wide(self, path: str) -> bool:
        """Whether a tree is `/`, a home directory or above one, and the user has not agreed to it.

        The user agrees by naming the tree in the settings or by creating its index.
        """
        from holdfast.files.workspace import allowed_directories, real_path

        real = real_path(path)
        is_wide, user = self._machine(self.user_home).is_wide(real), self.user_home
        if not is_wide or real in map(real_path, allowed_directories(self.home.settings, user)):
            return False
        from holdfast.index.generations.registry import Registry

        try:
            return Registry(self.home.index_registry).find(real) is None
        except (HoldfastError, OSError):
            return True

    # reading

    def reader(self, cwd: str, user_home: str | None = None) -> Reader:
        """A reader of files as seen from a working directory."""
        from holdfast.reading import config
        from holdfast.reading.errors import BadSettings
        from holdfast.reading.objects import Objects
        from holdfast.reading.paths import Place
        from holdfast.reading.reader import Reader, Settings

        try:
            settings = config.load(self.home.reading_settings)
        except BadSettings as error:
            # A mistake in the file must not fail every read. Sensitive names are unknown then, so
            # nothing is kept.
            settings = Settings(trouble=str(error))
            if not self._settings_reported:
                self._settings_reported = True
                import logging

                logging.getLogger(__name__).warning("reads are plain and not kept: %s", error)
        return Reader(
            Place(cwd, user_home or self.user_home),
            Objects(self.home),
            now_ms=self.clock.now_ms,
            monotonic=self.clock.monotonic,
            settings=settings,
        )

    def open_session(
        self,
        session: str,
        *,
        kind: str | None = None,
        call: str | None = None,
        newest_leaf: bool = False,
        create: bool = True,
        open_space: Callable[[str], Store] | None = None,
    ) -> SessionLog:
        """Our own session of this name, or the session in an agent's file.

        A new name starts a session, unless `create` is false: then `NoSuchSession` is raised.
        `open_space` opens its space, for a caller that keeps spaces open.
        """
        from holdfast.reading.hosts import detect

        if not detect.is_name(session):
            from holdfast.reading.objects import Objects

            return detect.open_host(
                session,
                self.home,
                now_ms=self.clock.now_ms,
                new_id=self.new_id,
                kind=kind,
                call=call,
                newest_leaf=newest_leaf,
                load=Objects(self.home).load,
            )
        from holdfast import sessions
        from holdfast.reading.hosts.native import NativeSession
        from holdfast.store.errors import UnknownSpace

        name = detect.checked_name(session)
        if create:
            log = sessions.open_log(open_space or self.open_space, name, self.new_id)
        else:
            try:
                store = self.inspect_space(sessions.SPACE)
            except UnknownSpace:
                raise sessions.no_such_session(name) from None
            log = sessions.begun_log(store, name, self.writer_id("log"))
        return NativeSession(log, now_ms=self.clock.now_ms, new_id=self.new_id)

    def focuser(
        self,
        reader: Reader,
        log: SessionLog | None,
        agent: str = "*",
        index: Callable[[], CodeIndex] | None = None,
    ) -> Focuser:
        """The function that folds a whole first read by our own `read`, if the caller requested it.

        The text of the conversation is known only if the session is a file of Claude Code or pi.
        """
        from holdfast.file_focus import focuser, outliner
        from holdfast.reading.focus import SUBAGENT_LINES, Presets
        from holdfast.reading.history.conversation import conversation_of

        presets = reader.settings.focus_of(agent) or Presets(SUBAGENT_LINES, SUBAGENT_LINES)
        return focuser(presets, conversation_of(log).signals, outliner(index))

    def own_savings(
        self,
        seconds: float,
        agent: str | None = None,
        limit: int = 40,
        progress: Callable[[int, int], None] = lambda done, of: None,
    ) -> SavingsAnswer:
        """What the user's sessions of the last `seconds` read, saved and could have saved."""
        from datetime import UTC, datetime

        from holdfast.file_focus import outliner
        from holdfast.replay.find import session_files
        from holdfast.replay.own_sessions import own_savings

        since_s = self.clock.now_s() - seconds
        files = session_files(self.user_home, self.environment, since_s, agent)
        since = datetime.fromtimestamp(since_s, UTC).isoformat(timespec="seconds")
        return own_savings(
            files,
            self.home,
            outliner(),
            since=since,
            since_s=since_s,
            limit=limit,
            progress=progress,
        )

    def collect_daily(self, reader: Reader, log: SessionLog) -> None:
        """Once a day, delete stored texts that are long unused and not part of this session."""
        marker = self.home.collection_marker
        try:
            if marker.exists() and self.clock.now_s() - marker.stat().st_mtime < COLLECT_EVERY_S:
                return
            marker.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            marker.touch()
        except OSError:
            return
        reader.collect([log])
