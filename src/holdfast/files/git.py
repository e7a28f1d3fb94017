"""Asking git about a repository that may be hostile.

git runs programs that a repository's own configuration names: file system monitors, filters, diff
programs, hooks, credential helpers, transports. Switching them off one by one is a race against the
next release. So git never sees that configuration. For each question it gets a git directory of our
own making, with an empty configuration and links to the objects, refs and index of the repository.
Names of filters in `.gitattributes` then lead nowhere, and submodules are not entered.

A repository is found by its `.git` entry only, never by a directory that looks like a bare one.
Nothing is written into the repository, nothing is fetched, and every question has a deadline.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from holdfast.files import git_process
from holdfast.files.git_directory import (
    common_of,
    find_git,
    git_at,
    has_own_objects,
    real,
    small_file,
)
from holdfast.files.remotes import shown

TIMEOUT_S = 20.0
"""The default deadline of one question."""

FETCH_S = 600.0
"""The deadline of fetching from a server, and of reading many objects."""

FETCHED = "refs/holdfast/fetched"
"""What was fetched last, in our own repository."""

_SSH = "ssh -oBatchMode=yes -oStrictHostKeyChecking=yes"

SHARED_INDEXES_MAX = 100
"""Parts of an index that are shown to git. git itself keeps a few."""

_NEUTRAL = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.untrackedCache=false",
    "core.pager=cat",
    "protocol.allow=never",
    "submodule.recurse=false",
)
"""Said again on the command line, in case a later git reads settings from another place."""

_ENVIRONMENT = {
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
    "PATH": "/usr/bin:/bin",
}


@dataclass(frozen=True, slots=True)
class Changes:
    """Files of a directory since a commit, by their paths relative to it."""

    differing: frozenset[str]
    """They were changed, added or deleted."""
    known: frozenset[str]
    """They are in the index of git."""

    def __contains__(self, path: str) -> bool:
        """Whether a file differs from the commit, or is new."""
        return path in self.differing or path not in self.known


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """Something in a commit: a file, a link (mode 120000) or a submodule (160000)."""

    path: str
    mode: str
    name: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository as of one moment, seen from one directory of its work tree."""

    directory: Path
    """The directory that questions are about."""
    work_tree: Path
    prefix: str
    """Where the directory is in the work tree: `src/`, or nothing at the top."""
    git_directory: Path
    """Ours, with no configuration of the repository's in it."""
    index: Path
    program: str
    common: Path
    """The repository's own git directory, which its work trees share; never shown to git."""

    @property
    def shallow(self) -> bool:
        """Whether the history was cut off when the repository was cloned."""
        return bool(small_file(self.common / "shallow", cut=True))

    @property
    def partial(self) -> bool:
        """Whether objects were left out when the repository was cloned (`--filter`)."""
        return any((self.common / "objects" / "pack").glob("*.promisor"))

    def run(self, *arguments: str, timeout_s: float = TIMEOUT_S) -> bytes | None:
        """What a git command prints, or None if it fails or takes too long."""
        command = [self.program, *_neutral(), "-C", os.fspath(self.directory), *arguments]
        return git_process.output(command, self._environment(), timeout_s)

    def _environment(self) -> dict[str, str]:
        return {
            **_ENVIRONMENT,
            "GIT_DIR": os.fspath(self.git_directory),
            "GIT_WORK_TREE": os.fspath(self.work_tree),
            "GIT_INDEX_FILE": os.fspath(self.index),
            "HOME": os.fspath(self.git_directory),
        }

    def status(self, timeout_s: float = TIMEOUT_S) -> bytes | None:
        """`git status --porcelain -z` of the directory; paths are relative to the work tree."""
        return self.run(
            "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all",
            "--ignore-submodules=all", "--", ".", timeout_s=timeout_s,
        )  # fmt: skip

    def commit(self, revision: str) -> str | None:
        """The name of the commit that a revision names."""
        if revision.startswith("-"):
            return None
        name = self.run("rev-parse", "--verify", "--quiet", revision + "^{commit}")
        return None if name is None else name.decode().strip()

    def is_branch_and_tag(self, name: str) -> bool:
        """Whether a short name is that of a branch and of a tag, which are of different commits."""
        listed = self.run(
            "for-each-ref", "--format=%(refname) %(objectname) %(*objectname)",
            f"refs/heads/{name}", f"refs/tags/{name}",
        )  # fmt: skip
        commits = {}
        for line in (listed or b"").decode("utf-8", "surrogateescape").splitlines():
            ref, *names = line.split()
            # It lists what is below a name too, and an annotated tag with its commit.
            if ref in (f"refs/heads/{name}", f"refs/tags/{name}"):
                commits[ref] = names[-1]
        return len(set(commits.values())) > 1

    def first_commit(self, commit: str) -> str | None:
        """The commit that the history of a commit began with, by first parents."""
        output = self.run("rev-list", "--max-parents=0", "--first-parent", commit, "--")
        return None if output is None else output.decode().strip() or None

    def files_of(self, commit: str) -> Iterator[TreeEntry] | None:
        """Everything in a commit, by path; None if it cannot be listed."""
        listed = self.run("ls-tree", "-r", "-z", "-l", "--full-tree", commit)
        return None if listed is None else _entries(listed)

    def blobs(self, names: Iterable[str], timeout_s: float = FETCH_S) -> Iterator[bytes | None]:
        """The contents of objects in order; None for one that is not there. Ends early on failure.

        One git for all of them, which reads the names from a file.
        """
        with tempfile.NamedTemporaryFile(dir=self.git_directory) as requests:
            requests.write("".join(f"{name}\n" for name in names).encode())
            requests.flush()
            command = [self.program, *_neutral(), "cat-file", "--batch", "--buffer"]
            yield from git_process.batch(command, self._environment(), requests.name, timeout_s)

    def changes_since(self, commit: str) -> Changes | None:
        """Which files of the directory differ from a commit, and which git knows at all.

        Files that git does not know are not listed: git would read ignore rules to find them, and
        waits for a pipe of that name.
        """
        staged = self.run(
            "diff-index", "--cached", "--name-only", "--no-renames", "--no-ext-diff", "--relative",
            "-z", "--ignore-submodules=all", commit, "--", ".",
        )  # fmt: skip
        if staged is None:
            return None  # the next question would wait for the same pipe
        # A file that was only touched is compared by content here; `diff-index` alone would not.
        edited = self.run(
            "status", "--porcelain", "-z", "--no-renames", "--untracked-files=no",
            "--ignore-submodules=all", "--", ".",
        )  # fmt: skip
        if edited is None:
            return None
        cached = self.run("ls-files", "-z", "--cached")
        if cached is None:
            return None
        here = (line[3:] for line in edited.split(b"\0") if line[1:2] not in (b"", b" "))
        paths = {os.fsdecode(path).removeprefix(self.prefix) for path in here}
        return Changes(_names(staged) | paths, _names(cached))

    def unchecked(self) -> frozenset[str] | None:
        """The files that git was told not to compare: `--assume-unchanged`, `--skip-worktree`."""
        listed = self.run("ls-files", "-z", "-v", "--cached")
        if listed is None:
            return None
        # The first letter is in lower case for the one, and S for the other.
        marked = (line[2:] for line in listed.split(b"\0") if not b"A" <= line[:1] <= b"R")
        return frozenset(os.fsdecode(path) for path in marked if path)

    def within_others(self, paths: Iterable[str]) -> dict[str, str]:
        """Which files of the directory are in a repository of their own, and its top: `lib/`.

        Those of submodules, of work trees inside this one and of clones. To git they are not files
        of the repository around them; without this they would all be new.
        """
        tops: dict[str, str] = {"": ""}
        repositories: dict[str, str] = {}
        for path in paths:
            top = self._other_top(path.rpartition("/")[0], tops)
            if top:
                repositories[path] = top
        return repositories

    def _other_top(self, folder: str, tops: dict[str, str]) -> str:
        if folder not in tops:
            above = self._other_top(folder.rpartition("/")[0], tops)
            own = os.path.lexists(self.directory / folder / ".git")
            tops[folder] = above or (f"{folder}/" if own else "")
        return tops[folder]

    def blob(self, commit: str, path: str) -> bytes | None:
        """The content of a file, by its path in the work tree, as it was in a commit."""
        return self.run("cat-file", "blob", f"{commit}:{path}")


@contextmanager
def open_repository(directory: Path) -> Iterator[Repository | None]:
    """The repository around a directory; None without one, or without a git to ask."""
    program = shutil.which("git")
    git = find_git(directory)
    if program is None or not os.path.isabs(program) or git is None:
        yield None
        return
    index = git.own / "index"
    if os.path.lexists(index) and not _is_file(index):
        yield None  # git would wait for a pipe
        return
    with tempfile.TemporaryDirectory(
        prefix="holdfast-git-", ignore_cleanup_errors=True
    ) as temporary:
        try:
            _link(git.own, git.common, Path(temporary))
            below = real(directory).relative_to(git.top).as_posix()
        except (OSError, ValueError):
            yield None
            return
        prefix = "" if below == "." else below + "/"
        yield Repository(directory, git.top, prefix, Path(temporary), index, program, git.common)


@contextmanager
def open_named(place: Path) -> Iterator[Repository | None]:
    """The repository that the user named by its path: a work tree, or a bare repository.

    Only its objects and refs are used. None if there is none, or no git to ask.
    """
    program = shutil.which("git")
    own = git_at(place) if (place / ".git").exists() else real(place)
    common = None if own is None else common_of(own)
    is_git = own is not None and _is_file(own / "HEAD")
    if program is None or own is None or common is None or not is_git:
        yield None
        return
    if not (common / "objects").is_dir() or not has_own_objects(common):
        yield None
        return
    with tempfile.TemporaryDirectory(
        prefix="holdfast-git-", ignore_cleanup_errors=True
    ) as temporary:
        directory, empty = Path(temporary, "git"), Path(temporary, "empty")
        directory.mkdir()
        empty.mkdir()
        _link(own, common, directory)
        yield Repository(empty, empty, "", directory, directory / "index", program, common)


def fetch(mirror: Path, address: str, ref: str, timeout_s: float = FETCH_S) -> str | None:
    """Fetch one ref of a server into our own bare repository; returns what went wrong.

    No history, no tags, no submodules; no credentials are asked for, and none are looked up.
    """
    program = shutil.which("git")
    scheme = protocol_of(address)
    if program is None or scheme is None or ref.startswith("-"):
        return "git is missing" if program is None else f"{address!r} is not an address to fetch"
    environment = {**_ENVIRONMENT, "HOME": os.fspath(mirror), "GIT_SSH_COMMAND": _SSH}
    settings = [*_neutral(), "-c", f"protocol.{scheme}.allow=always", "-c", "gc.auto=0"]
    if not mirror.is_dir():
        start = [program, *settings, "init", "-q", "--bare", "--template=", os.fspath(mirror)]
        if git_process.output(start, environment, TIMEOUT_S) is None:
            return f"cannot make {mirror}"
    command = [
        program, *settings, "-C", os.fspath(mirror), "fetch", "-q", "--depth=1", "--no-tags",
        "--no-recurse-submodules", "--no-write-fetch-head", "--force", "--", address,
        f"+{ref}:{FETCHED}",
    ]  # fmt: skip
    if git_process.output(command, environment, timeout_s) is not None:
        return None
    why = "the server is unreachable, asks for credentials, or has no such ref"
    return f"{ref} of {shown(address)} cannot be fetched: {why}"


def protocol_of(address: str) -> str | None:
    """How git reaches an address: https, http, ssh or git; None for a path and anything else."""
    scheme, separator, _ = address.partition("://")
    if separator:
        return scheme if scheme in ("https", "http", "ssh", "git") else None
    host, colon, path = address.partition(":")
    is_short = colon and path and not path.startswith(":") and "/" not in host
    return "ssh" if is_short and not address.startswith(("-", "/", ".")) else None


def _neutral() -> list[str]:
    return [part for setting in _NEUTRAL for part in ("-c", setting)]


def _entries(listed: bytes) -> Iterator[TreeEntry]:
    for line in listed.split(b"\0"):
        head, tab, path = line.partition(b"\t")
        fields = head.split()
        if tab and len(fields) == 4:
            size = int(fields[3]) if fields[3].isdigit() else 0
            yield TreeEntry(os.fsdecode(path), fields[0].decode(), fields[2].decode(), size)


def _names(listed: bytes) -> frozenset[str]:
    return frozenset(os.fsdecode(path) for path in listed.split(b"\0") if path)


def configuration_of(common: Path) -> str | None:
    """The text of a repository's configuration, for our own reading; git is never shown it."""
    text = small_file(common / "config")
    return None if text is None else text.decode("utf-8", "replace")


def _link(own: Path, common: Path, repository: Path) -> None:
    """Make a git directory with an empty configuration over the contents of another."""
    head = small_file(own / "HEAD") or b""
    (repository / "HEAD").write_bytes(head)
    (repository / "info").mkdir()
    (repository / "info" / "exclude").write_bytes(small_file(common / "info" / "exclude") or b"")
    (repository / "objects").symlink_to(common / "objects")
    (repository / "refs").symlink_to(common / "refs")
    for name in ("packed-refs", "shallow"):
        if _is_file(common / name):
            (repository / name).symlink_to(common / name)
    for shared in islice(_shared_indexes(own), SHARED_INDEXES_MAX):
        (repository / shared.name).symlink_to(shared)
    (repository / "config").write_text(_configuration(common, head))


def _shared_indexes(own: Path) -> Iterator[Path]:
    """The files that an index in parts may name; git removes those that none does after a time."""
    with os.scandir(own) as entries:
        for entry in islice(entries, 100 * SHARED_INDEXES_MAX):
            if entry.name.startswith("sharedindex.") and entry.is_file(follow_symlinks=False):
                yield Path(entry.path)


def _configuration(common: Path, head: bytes) -> str:
    """What git must know to read the objects: the length of their names, and nothing else."""
    name = head.strip()
    if name.startswith(b"ref:"):
        place = os.fsdecode(name.removeprefix(b"ref:").strip())
        name = (small_file(common / place) or _packed(common)).strip()
    if len(name) != len(hashlib.sha256().hexdigest()):
        return "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
    return (
        "[core]\n\trepositoryformatversion = 1\n\tbare = false\n"
        "[extensions]\n\tobjectFormat = sha256\n"
    )


def _packed(common: Path) -> bytes:
    """The name of some object in the packed refs: all are of one length."""
    lines = (small_file(common / "packed-refs", cut=True) or b"").split(b"\n")
    return next((line.split(b" ")[0] for line in lines if not line.startswith(b"#")), b"")


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False
