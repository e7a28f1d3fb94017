"""The home directory of Holdfast: where every local file is kept.

`HOLDFAST_HOME` is resolved here, once, to an absolute path without symbolic links. So a relative
home means the same directory to a command, to the MCP shim and to the background host it starts.

    spaces/           documents: one SQLite file for each space
    index/            generations of the code index, its registry, its content cache
    sequence/         token segments of trees
    repositories/     files of commits that are indexed without a checkout
    objects/, tmp/    file contents by digest, and files that are being written
    edits/            journals of edits of several files, with their texts, while they are written
    agents/           receipts and backups of edited agent settings
    keys/             signing keys
    run/              sockets, locks, leases, bindings and records that may be deleted at any time
    token             the token of `holdfast serve`
    reading.toml      settings of reads
    settings.toml     other settings: what tools may read outside the workspace

Imports only what Python has loaded at start-up: the MCP shim imports this.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from holdfast import system
from holdfast.errors import UsageError

TYPE_CHECKING = False  # `typing` defines it too, but is slow to import
if TYPE_CHECKING:
    from pathlib import Path

DEFAULT = "~/.holdfast"


class Home:
    """An absolute directory and the paths below it. Making the object creates nothing on disk."""

    __slots__ = ("root",)

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.root = os.path.realpath(path)

    def __fspath__(self) -> str:
        return self.root

    def __str__(self) -> str:
        return self.root

    def __repr__(self) -> str:
        return f"Home({self.root!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Home) and other.root == self.root

    def __hash__(self) -> int:
        return hash(self.root)

    def make(self) -> None:
        """Create the directory, readable by its owner only; raises OSError if it cannot be made."""
        os.makedirs(self.root, mode=0o700, exist_ok=True)
        status = os.stat(self.root)
        if status.st_mode & 0o022 and status.st_uid == os.getuid():
            # Users with write access could replace the token and the settings.
            os.chmod(self.root, status.st_mode & 0o7755)

    def make_run(self) -> str:
        """Create `run/` for its owner only; raises PermissionError if another user owns it."""
        self.make()
        run = self.run_directory
        os.makedirs(run, mode=0o700, exist_ok=True)
        status = os.stat(run)
        if status.st_uid != os.getuid():
            raise PermissionError(f"{run} belongs to another user")
        if status.st_mode & 0o077:
            os.chmod(run, 0o700)
        return run

    def exists(self) -> bool:
        return os.path.isdir(self.root)

    def is_near(self, path: str) -> bool:
        """Whether a path is the home, or inside or above it; creating the home can fail there."""
        path = os.path.abspath(path)
        return f"{path}/".startswith(f"{self.root}/") or f"{self.root}/".startswith(f"{path}/")

    @property
    def path(self) -> Path:
        return self._below()

    def _below(self, *names: str) -> Path:
        from pathlib import Path  # imported here: the shim needs none of these

        return Path(self.root, *names)

    @property
    def run_directory(self) -> str:
        """`run/` as text, for the shim."""
        return os.path.join(self.root, "run")

    @property
    def spaces(self) -> Path:
        return self._below("spaces")

    @property
    def index(self) -> Path:
        return self._below("index")

    @property
    def index_registry(self) -> Path:
        return self._below("index", "registry.json")

    @property
    def index_roots(self) -> Path:
        return self._below("index", "roots")

    @property
    def index_content(self) -> Path:
        return self._below("index", "content.sqlite")

    @property
    def index_shared(self) -> Path:
        """The data that `holdfast serve` shares with a team."""
        return self._below("index", "shared.sqlite")

    @property
    def index_team(self) -> Path:
        """Which roots use a generation of a team, and what was fetched of it."""
        return self._below("index", "team")

    @property
    def repositories(self) -> Path:
        """The text of commits that are indexed without a checkout."""
        return self._below("repositories")

    def is_among_repositories(self, root: str) -> bool:
        """Whether a root is, by its path, the text of such a commit."""
        return os.path.dirname(root) == os.path.realpath(self.repositories)

    @property
    def sequence(self) -> Path:
        return self._below("sequence")

    @property
    def objects(self) -> Path:
        return self._below("objects")

    @property
    def temporary(self) -> Path:
        return self._below("tmp")

    @property
    def edits(self) -> Path:
        """Journals of edits that are being written, or were interrupted."""
        return self._below("edits")

    @property
    def receipts(self) -> Path:
        return self._below("agents", "receipts.json")

    @property
    def backups(self) -> Path:
        return self._below("agents", "backups")

    @property
    def keys(self) -> Path:
        return self._below("keys")

    @property
    def token(self) -> Path:
        return self._below("token")

    @property
    def reading_settings(self) -> Path:
        return self._below("reading.toml")

    @property
    def settings(self) -> Path:
        return self._below("settings.toml")

    @property
    def private(self) -> tuple[str, ...]:
        """Paths that tools never show to an agent: secrets, and the state of other agents."""
        names = ("token", "keys", "run", "spaces", "objects", "agents", "edits")
        return tuple(os.path.join(self.root, name) for name in names)

    @property
    def run(self) -> Path:
        return self._below("run")

    @property
    def leases(self) -> Path:
        return self._below("run", "leases")

    @property
    def bindings(self) -> Path:
        return self._below("run", "bindings")

    @property
    def session_records(self) -> Path:
        """Our records about session files that belong to agents."""
        return self._below("run", "hosts")

    @property
    def collection_marker(self) -> Path:
        """Its modification time is when unused objects were last collected."""
        return self._below("run", "collected")


def home_of(environment: Mapping[str, str]) -> Home:
    """The home that `HOLDFAST_HOME` names, by default `~/.holdfast`."""
    named = environment.get("HOLDFAST_HOME") or DEFAULT
    try:
        home = Home(expand_user(named, environment))
        _check_owner(home.root)
        return home
    except FileNotFoundError:
        raise UsageError(
            f"HOLDFAST_HOME is the relative path {named!r}, and the working directory is gone",
            "set HOLDFAST_HOME to an absolute path",
        ) from None


def _check_owner(root: str, user: int | None = None) -> None:
    """Refuse a home that another user created, because its token and settings are theirs.

    In a directory that all users may write to, such as /tmp, any of them can create it first. Root
    may use the home of a user, as in a container; root's own files are trusted anyway.
    """
    user = os.getuid() if user is None else user
    try:
        owner = os.stat(root).st_uid
    except OSError:
        return  # it does not exist yet, or is unusable anyway
    if user not in (0, owner) and owner != 0:
        raise UsageError(
            f"the home {root} belongs to another user",
            "set HOLDFAST_HOME to a directory of your own",
        )


def expand_user(
    path: str,
    environment: Mapping[str, str],
    expand: Callable[[str], str] = system.expand_user,
) -> str:
    """A path with `~` replaced by the user's home directory."""
    user = environment.get("HOME")
    if user and (path == "~" or path.startswith("~/")):
        return user + path[1:]
    return expand(path)
