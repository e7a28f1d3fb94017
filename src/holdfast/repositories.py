"""Repositories without a checkout: the files of a commit, taken from git objects and indexed.

Outlines, exact search and reads need text, so we write the text files of the commit below the home.
This is not a checkout: git writes nothing, no filter, hook or configuration of the repository is
used, and links and submodules are left out and counted.

A commit is applied completely or not at all: all new contents are read before the first file is
changed. While files change, the tree has no commit, and answers say that it is being updated. One
process at a time changes a tree, from what is stored about it then.

    repositories/NAME-KEY/          the files
    repositories/NAME-KEY.tree      where they are from: source, ref, commit, objects
    repositories/NAME-KEY.git/      what was fetched, for a source that is not on this machine
    repositories/KEY.lock           locked by the process that changes the tree
    repositories/.git               no repository: it ends the search for one around the files
"""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from shlex import quote

import msgspec

from holdfast.errors import HoldfastError, UsageError
from holdfast.files.git import FETCHED, Repository, TreeEntry, fetch, open_named, protocol_of
from holdfast.files.identity import Unidentified, identify_opened, key_of
from holdfast.files.paths import canonical_root
from holdfast.files.remotes import normalised, shown
from holdfast.files.usable_entries import usable_files
from holdfast.home import Home
from holdfast.locks import take_lock
from holdfast.repository_names import readable
from holdfast.text import counted

TREE_VERSION = 1
"""The format of the file about a tree.

1: source, ref, name, root, commit, first commit, objects, skipped.
"""

POINTERS = "contents of LFS files (their pointers are indexed)"
_ONE = {
    "links": "link",
    "submodules": "submodule",
    "large files": "large file",
    "unusable names": "unusable name",
    POINTERS: "content of an LFS file (its pointer is indexed)",
}
"""What is left out, for a count of one."""

LFS = b"version https://git-lfs.github.com/spec/"
POINTER_BYTES_MAX = 1024
"""git-lfs takes no longer file for a pointer."""
NO_REPOSITORY = b"These files are of other repositories, not of one around this directory.\n"
"""The home may be in a repository, whose ignore rules and commits are not those of the files."""

LOCK_S = 60.0
"""How long to wait for another process that changes the same tree."""

_PLAIN = re.compile(r"[^A-Za-z0-9._-]+")


class RepositoryError(HoldfastError):
    """Raised when a repository, a ref or an object does not exist; the existing index stays."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class GitTree(msgspec.Struct, kw_only=True):
    """A repository without a checkout."""

    version: int = TREE_VERSION
    source: str
    ref: str
    name: str
    root: str
    commit: str | None = None
    """The commit that the files are from; None while they change."""
    first_commit: str | None = None
    objects: dict[str, str] = {}
    """The git object of each file that was written."""
    skipped: dict[str, int] = {}

    def sentence(self) -> str:
        at = "is being updated" if self.commit is None else f"commit {self.commit[:12]}"
        omissions = ", ".join(
            f"{number:,} {_ONE.get(what, what) if number == 1 else what}"
            for what, number in sorted(self.skipped.items())
        )
        return f"{self.name} ({self.ref}): {at}{f'; left out: {omissions}' if omissions else ''}"


class _Listed(msgspec.Struct, kw_only=True):
    """A tree without its objects, of which there may be many."""

    version: int
    source: str
    ref: str
    name: str
    root: str
    commit: str | None = None
    first_commit: str | None = None
    skipped: dict[str, int] = {}

    def tree(self) -> GitTree:
        return GitTree(
            version=self.version, source=self.source, ref=self.ref, name=self.name, root=self.root,
            commit=self.commit, first_commit=self.first_commit, skipped=self.skipped,
        )  # fmt: skip


_decode = msgspec.json.Decoder(GitTree).decode
_decode_listed = msgspec.json.Decoder(_Listed).decode


class Repositories:
    """The repositories of a home that are indexed without a checkout."""

    def __init__(self, home: Home) -> None:
        self._home, self._directory = home, home.repositories
        self._listed: dict[str, tuple[tuple[int, int, int], GitTree | None]] = {}
        """What was read about each tree, with the state of its file at that time."""
        self.unclear: frozenset[str] = frozenset()
        """The names of trees whose files could not be read when they were listed."""

    def known(self) -> list[GitTree]:
        """Every tree, without its objects: a server with many asks this for every name."""
        try:
            names = sorted(name for name in os.listdir(self._directory) if name.endswith(".tree"))
        except FileNotFoundError:
            return []
        for name in self._listed.keys() - set(names):
            self._listed.pop(name, None)
        listed = {name: self._list(name) for name in names}
        # A file that has gone meanwhile is not a repository any more.
        self.unclear = frozenset(
            name.rpartition("-")[0]
            for name, tree in listed.items()
            if tree is None and os.path.lexists(self._directory / name)
        )
        return [tree for tree in listed.values() if tree is not None]

    def readable(
        self, lists: Mapping[str, object], may_read: Callable[[object, str], bool]
    ) -> list[GitTree]:
        """The trees that access lists open; see `readable`."""
        return readable(self.known(), lists, may_read, self.unclear)

    def _list(self, name: str) -> GitTree | None:
        """A tree without its objects; its file is read when it has changed."""
        try:
            found = os.stat(self._directory / name)
        except OSError:
            return None
        state = (found.st_ino, found.st_size, found.st_mtime_ns)
        known = self._listed.get(name)
        if known is None or known[0] != state:
            try:
                listed = _decode_listed((self._directory / name).read_bytes())
                tree = listed.tree() if listed.version == TREE_VERSION else None
            except OSError:
                return None  # perhaps only now
            except (msgspec.DecodeError, ValueError):
                tree = None
            known = self._listed[name] = (state, tree)
        return known[1]

    def _read(self, name: str) -> GitTree | None:
        try:
            tree = _decode((self._directory / name).read_bytes())
        except (OSError, msgspec.DecodeError, ValueError):
            return None
        return tree if tree.version == TREE_VERSION else None

    def at(self, root: str) -> GitTree | None:
        """The repository whose files are at a root, without its objects."""
        if not self._home.is_among_repositories(root):
            return None
        return self._list(f"{os.path.basename(root)}.tree")

    def find(self, source: str, ref: str) -> GitTree | None:
        """The repository that was added from a source and a ref, without its objects."""
        key = _tree_key(source, ref)
        return next((tree for tree in self.known() if tree.root.endswith(f"-{key}")), None)

    def add(self, source: str, ref: str = "HEAD") -> GitTree:
        """Write the files of a ref; for a known source and ref, update them."""
        if not ref or ref.startswith("-") or not ref.isprintable() or " " in ref:
            raise UsageError(f"{ref!r} is not a ref", "use a branch, a tag or HEAD")
        place, key = _place(source), _tree_key(source, ref)
        with self._locked(key):
            listed = self.find(source, ref)
            before = None if listed is None else self._read(_file_of(listed))
            return self._add(place, ref, key) if before is None else self._update(before)

    def _add(self, place: str, ref: str, key: str) -> GitTree:
        mirror = self._directory / f"fetching-{key}.git"
        with _opened(place, ref, mirror) as (repository, revision):
            commit = _commit(repository, revision, place, ref)
            identity = identify_opened(repository)
            name = normalised(place)
            if name is None and not isinstance(identity, Unidentified):
                name = identity.name if identity.source == "remote" else None
            name = name or Path(place).name.removesuffix(".git")
            first = None if repository.shallow else repository.first_commit(commit)
            flat = _PLAIN.sub("_", name).strip("._")[:80] or "repository"
            root = os.path.join(os.path.realpath(self._directory), f"{flat}-{key}")
            tree = GitTree(source=place, ref=ref, name=name, root=root, first_commit=first)
            os.makedirs(root, mode=0o700, exist_ok=True)
            tree = self._bring(tree, repository, commit)
        if mirror.exists():
            mirror.rename(f"{root}.git")
        return tree

    def update(self, tree: GitTree) -> GitTree:
        """Update the files to the current commit of the ref.

        Raises RepositoryError, and changes nothing, if the ref or the repository is gone.
        """
        with self._locked(_key_of_root(tree.root)):
            # Another process may have changed the files since the caller read about them.
            current = self._read(_file_of(tree))
            if current is None:
                raise RepositoryError(
                    f"{tree.name} ({tree.ref}) was removed meanwhile",
                    f"to have it again: holdfast index create {_options(tree)}",
                )
            return self._update(current)

    def _update(self, tree: GitTree) -> GitTree:
        with _opened(tree.source, tree.ref, Path(f"{tree.root}.git")) as (repository, revision):
            commit = _commit(repository, revision, tree.source, tree.ref, tree.commit)
            if commit == tree.commit:
                return tree
            first = None if repository.shallow else repository.first_commit(commit)
            if None not in (first, tree.first_commit) and first != tree.first_commit:
                raise RepositoryError(
                    f"{shown(tree.source)} begins with another commit now: another repository, "
                    f"or a rewritten history",
                    f"if that is right: holdfast index clear {_options(tree)}, then create it",
                )
            return self._bring(tree, repository, commit)

    def forget(self, tree: GitTree) -> None:
        """Remove the files and what was fetched."""
        with self._locked(_key_of_root(tree.root)):
            Path(f"{tree.root}.tree").unlink(missing_ok=True)
            shutil.rmtree(tree.root, ignore_errors=True)
            shutil.rmtree(f"{tree.root}.git", ignore_errors=True)

    @contextmanager
    def _locked(self, key: str) -> Iterator[None]:
        """One process at a time changes a tree; raises LockHeld if another does so for long."""
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        boundary = self._directory / ".git"
        if not boundary.exists():
            boundary.write_bytes(NO_REPOSITORY)
        path = self._directory / f"{key}.lock"
        with open(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600), "rb") as lock:
            take_lock(lock.fileno(), str(path), LOCK_S)
            yield

    def _bring(self, tree: GitTree, repository: Repository, commit: str) -> GitTree:
        listed = repository.files_of(commit)
        if listed is None:
            raise RepositoryError(f"commit {commit[:12]} of {shown(tree.source)} cannot be read")
        skipped: Counter[str] = Counter()
        entries = list(usable_files(listed, _path_room(tree.root), skipped))
        objects = {one.path: one.name for one in entries}
        changed = [path for path in sorted(objects) if tree.objects.get(path) != objects[path]]
        gone = sorted(tree.objects.keys() - objects.keys())
        staging = Path(f"{tree.root}.new")
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir(mode=0o700)
        try:
            # All contents are read first, so that a missing object changes nothing.
            lfs = _write(repository, [objects[path] for path in changed], staging)
            lfs += _pointers(tree, entries)
            if lfs:
                skipped[POINTERS] = lfs
            # If this is interrupted, these files may be of either commit, or not there.
            unsure = {**tree.objects, **dict.fromkeys([*changed, *gone], "")}
            self._save(msgspec.structs.replace(tree, commit=None, objects=unsure))
            _replace(Path(tree.root), gone, changed, staging)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
        done = msgspec.structs.replace(
            tree, commit=commit, objects=objects, skipped=dict(sorted(skipped.items()))
        )
        self._save(done)
        return done

    def _save(self, tree: GitTree) -> None:
        path = Path(f"{tree.root}.tree")
        aside = path.with_suffix(".saving")
        aside.write_bytes(msgspec.json.encode(tree))
        aside.replace(path)


def _place(source: str) -> str:
    return source if protocol_of(source) is not None else canonical_root(_path(source))


def _tree_key(source: str, ref: str) -> str:
    return key_of(f"{_place(source)}\0{ref}")[:8]


def git_options(source: str, ref: str) -> str:
    """How a command names a ref of a repository."""
    return f"--git {quote(shown(source))}{'' if ref == 'HEAD' else f' --ref {quote(ref)}'}"


def _options(tree: GitTree) -> str:
    return git_options(tree.source, tree.ref)


def _file_of(tree: GitTree) -> str:
    return f"{os.path.basename(tree.root)}.tree"


def _key_of_root(root: str) -> str:
    return root.rpartition("-")[2]


def _path(source: str) -> str:
    if source.startswith("file://"):
        return source.removeprefix("file://")
    if "://" in source or "::" in source:
        raise UsageError(f"{source!r} cannot be fetched", "use https, ssh, git or a path")
    return source


@contextmanager
def _opened(source: str, ref: str, mirror: Path) -> Iterator[tuple[Repository, str]]:
    """The repository, fetched first if it is remote, and the revision that the ref names."""
    place, revision = Path(source), ref
    if protocol_of(source) is not None:
        failure = fetch(mirror, source, ref)
        if failure is not None:
            raise RepositoryError(failure, "check the address, the ref and the network")
        place, revision = mirror, FETCHED
    with open_named(place) as repository:
        if repository is None:
            raise RepositoryError(
                f"{shown(source)} is not a git repository",
                "name a work tree, a bare repository or a URL",
            )
        yield repository, revision


def _commit(
    repository: Repository, revision: str, source: str, ref: str, before: str | None = None
) -> str:
    place, stays = shown(source), f"; the index of commit {before[:12]} stays" if before else ""
    if revision not in ("HEAD", FETCHED) and repository.is_branch_and_tag(revision):
        # git would take the tag, and with a new tag the index would stop following the branch.
        raise RepositoryError(
            f"{place} has a branch and a tag {ref}, of different commits{stays}",
            f"name one: --ref {quote(f'refs/heads/{ref}')} or --ref {quote(f'refs/tags/{ref}')}",
        )
    commit = repository.commit(revision)
    if commit is not None:
        return commit
    if ref == "HEAD":
        raise RepositoryError(f"{place} has no commits", "commit something first, or name --ref")
    raise RepositoryError(f"{place} has no ref {ref}{stays}", "name another with --ref")


def _path_room(root: str) -> int:
    """How long a path below a directory can be here."""
    return os.pathconf("/", "PC_PATH_MAX") - len(os.fsencode(root)) - len("/\0")


def _write(repository: Repository, names: list[str], staging: Path) -> int:
    """Write objects as numbered files; returns how many are LFS pointers."""
    lfs = done = 0
    for content in repository.blobs(names):
        if content is None:
            break
        (staging / str(done)).write_bytes(content)
        lfs += content.startswith(LFS)
        done += 1
    if done != len(names) and repository.partial:
        raise RepositoryError(
            f"the repository does not have {counted(len(names) - done, 'object')} of the commit: "
            f"it is a partial clone (--filter), and nothing is fetched for it",
            "name the address that it was cloned from, or run in it: git fetch --refetch",
        )
    if done != len(names):
        raise RepositoryError(
            f"{counted(len(names) - done, 'object')} of the commit cannot be read: the ref was "
            f"moved and its objects removed, or the repository is damaged",
            "try again; nothing was changed",
        )
    return lfs


def _pointers(tree: GitTree, entries: list[TreeEntry]) -> int:
    """How many files that stay as they are hold LFS pointers."""
    found = 0
    for one in entries:
        if one.size_bytes < POINTER_BYTES_MAX and tree.objects.get(one.path) == one.name:
            with suppress(OSError):
                found += (Path(tree.root) / one.path).read_bytes().startswith(LFS)
    return found


def _replace(root: Path, gone: list[str], changed: list[str], staging: Path) -> None:
    """Remove files and write new ones; completes what an interrupted update began."""
    for path in gone:
        # A directory may be where the file was, or a file where its directory was.
        if not (root / path).is_dir():
            with suppress(FileNotFoundError, NotADirectoryError):
                (root / path).unlink()
        _remove_empty(root, (root / path).parent)
    for number, path in enumerate(changed):
        target = root / path
        if target.is_dir():
            shutil.rmtree(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        (staging / str(number)).replace(target)


def _remove_empty(root: Path, folder: Path) -> None:
    while folder != root:
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent
