"""Which repository a directory belongs to, whatever its path.

A path means something on one machine only. Two clones, two worktrees and a container's checkout are
one repository, and what was made of one serves the others. A repository is known by:

1. a name that the settings give to its directory (`[repositories]` in settings.toml);
2. else its remote (`origin`, or the only one), normalised: `github.com/org/repo`;
3. else its first commit, for a repository that was never pushed.

The first commit is a check as well: two repositories with one name differ in it. A shallow clone
does not have it, and is known by its remote alone. A clone of a directory has that directory's
remote. What is not known is `Unidentified`, with the reason; it is never guessed from a path.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from holdfast.errors import UsageError
from holdfast.files.git import Repository, configuration_of, open_repository
from holdfast.files.git_directory import find_git
from holdfast.files.remotes import NAME_MAX, local_path, main_remote, normalised, remotes_of
from holdfast.files.workspace import settings_table

Source = Literal["setting", "remote", "first commit"]

HOPS_MAX = 4
"""How many clones of clones of a directory are followed to the remote of the first."""


@dataclass(frozen=True, slots=True)
class RepositoryIdentity:
    """A repository, and the part of it that a directory is."""

    name: str
    source: Source
    first_commit: str | None
    """None if it is not here: a shallow clone."""
    head: str
    """The commit that is checked out."""
    prefix: str = ""
    """Where the directory is in the repository: `src/`, or nothing at the top."""
    shallow: bool = False

    @property
    def key(self) -> str:
        """The same for every clone of a repository."""
        return key_of(self.name)

    def agrees(self, first_commit: str | None) -> bool:
        """Whether a repository of this name with that first commit can be the same one."""
        return None in (first_commit, self.first_commit) or first_commit == self.first_commit

    def sentence(self) -> str:
        source = {"setting": "by its setting", "remote": "by its remote"}.get(self.source)
        note = "; a shallow clone, so its first commit is not checked" if self.shallow else ""
        return f"{self.name} ({source or 'by its first commit'}{note})"


@dataclass(frozen=True, slots=True)
class Unidentified:
    """Why a directory is not known as part of a repository, and what would help."""

    why: str
    hint: str = ""

    def sentence(self) -> str:
        return f"{self.why} ({self.hint})" if self.hint else self.why


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was found out about a repository; `decide` makes an identity of it."""

    setting: str | None
    remote: str | None
    first_commit: str | None
    head: str | None
    prefix: str = ""
    shallow: bool = False


def key_of(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def decide(evidence: Evidence) -> RepositoryIdentity | Unidentified:
    """The identity that the evidence proves. Pure."""
    if evidence.head is None:
        return Unidentified("the repository has no commits", "commit something first")
    first = None if evidence.shallow else evidence.first_commit
    by_commit = None if first is None else f"commit:{first}"
    candidates: tuple[tuple[Source, str | None], ...] = (
        ("setting", evidence.setting),
        ("remote", evidence.remote),
        ("first commit", by_commit),
    )
    for source, name in candidates:
        if name is not None:
            return RepositoryIdentity(
                name, source, first, evidence.head, evidence.prefix, evidence.shallow
            )
    if evidence.shallow:
        return Unidentified(
            "a shallow clone without a remote has no name and no first commit",
            "run: git fetch --unshallow, or name it under [repositories] in settings.toml",
        )
    return Unidentified("the first commit of the repository cannot be read", "run: git fsck")


def identify(
    directory: str | Path, names: Mapping[str, str] | None = None
) -> RepositoryIdentity | Unidentified:
    """The repository that a directory belongs to. `names` are the settings, by directory."""
    place = Path(directory)
    with open_repository(place) as repository:
        if repository is None:
            return Unidentified(
                "it is not in a git repository", "a tree without git is indexed by its path"
            )
        return identify_opened(repository, _setting(repository.work_tree, names or {}))


def identify_opened(
    repository: Repository, setting: str | None = None
) -> RepositoryIdentity | Unidentified:
    head = repository.commit("HEAD")
    first = None
    if head is not None and not repository.shallow:
        first = repository.first_commit(head)
    remote = remote_of(repository.common)
    return decide(Evidence(setting, remote, first, head, repository.prefix, repository.shallow))


def remote_of(common: Path) -> str | None:
    """The normalised remote of a git directory; of a clone of a directory, that one's remote."""
    for _ in range(HOPS_MAX):
        text = configuration_of(common)
        address = None if text is None else main_remote(remotes_of(text))
        path = None if address is None else local_path(address)
        if address is None:
            return None
        if path is None:
            return normalised(address)
        origin = Path(os.path.normpath(common.parent / path))
        common = origin / ".git" if (origin / ".git").is_dir() else origin
    return None


@dataclass(frozen=True, slots=True)
class RepositoryPlace:
    """A file as part of a repository: the same in every clone."""

    repository: str
    path: str
    """From the top of the work tree."""
    top: str


def place_of(file: str) -> RepositoryPlace | None:
    """Where a file is in its repository, by its remote; None without one. Starts no git."""
    git = find_git(Path(os.path.dirname(file)))
    remote = None if git is None else remote_of(git.common)
    if git is None or remote is None:
        return None
    top = os.fspath(git.top)
    return RepositoryPlace(remote, os.path.relpath(file, top), top)


def _setting(work_tree: Path, names: Mapping[str, str]) -> str | None:
    """The name of the nearest directory at or above the work tree that the settings name."""
    for place in (work_tree, *work_tree.parents):
        name = names.get(os.fspath(place))
        if name is not None:
            return name
    return None


def repository_names(settings: Path, user_home: str) -> dict[str, str]:
    """`[repositories]` of the settings: directories and the names of their repositories."""
    table = settings_table(settings, "repositories")
    example = '[repositories] "/srv/checkout" = "team/project"'
    names = {}
    for place, name in table.items():
        place = user_home + place[1:] if place == "~" or place.startswith("~/") else place
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise UsageError(f"{settings}: the name of {place!r} must be a text", example)
        if not os.path.isabs(place) or len(name) > NAME_MAX:
            raise UsageError(f"{settings}: {place!r} is not an absolute path", example)
        names[os.path.realpath(place)] = name.strip()
    return names
