"""Use the team's generation of the checked-out commit, or of the nearest one before it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from holdfast.errors import CodeIndexError
from holdfast.files import disk
from holdfast.files.git import open_repository
from holdfast.files.identity import RepositoryIdentity
from holdfast.index.code_index import CodeIndex
from holdfast.index.generations.changed_files import CHANGED_FILES_MAX
from holdfast.index.generations.record import Options, policy_of
from holdfast.index.shared import generation as shared
from holdfast.index.shared.generation import Manifest
from holdfast.index.shared.team_backend import POINTER_VERSION, Pointer, TeamBackend
from holdfast.index.shared.team_marker import differ
from holdfast.text import counted

COMMITS_MAX = 200
"""How many commits are tried, from the checked-out one back along first parents."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A root now uses a generation of the team."""

    manifest: Manifest
    pointer: Pointer
    behind: int
    """How many commits the generation is behind the checked-out one."""

    def sentence(self) -> str:
        behind = f", {counted(self.behind, 'commit')} before yours" if self.behind else ""
        return (
            f"Using the team's generation of commit {self.manifest.commit[:12]} of "
            f"{self.manifest.repository}{behind}; {differ(self.pointer.differing)}."
        )


@dataclass(frozen=True, slots=True)
class NotTaken:
    """Why a root cannot use a generation of the team."""

    why: str
    failure: CodeIndexError | None = None
    """Why the team could not be reached, if that is the reason."""

    def sentence(self) -> str:
        return f"The team's generation is not used: {self.why}."


def take(
    index: CodeIndex, team: TeamBackend, root: str, identity: RepositoryIdentity
) -> Taken | NotTaken:
    """Make a root use the newest generation of the team in its history.

    Reads every file of the tree once, to compare it; parses, embeds and stores nothing.
    """
    assert index.shared is not None
    commits = _commits(root)
    settings = index.runtime()
    keys = [
        shared.generation_key(identity.key, identity.prefix, commit, settings) for commit in commits
    ]
    try:
        there = index.shared.store.has(keys)
    except CodeIndexError as error:
        hint = f" ({error.hint})" if error.hint else ""
        return NotTaken(f"{index.shared.store.name} cannot be used now: {error}{hint}", error)
    team.cache.back()
    behind = next((number for number, key in enumerate(keys) if key in there), None)
    if behind is None:
        return NotTaken(
            f"{index.shared.store.name} has none of {identity.name} for commit "
            f"{identity.head[:12]} or {counted(len(commits) - 1, 'commit')} before it"
        )
    key = keys[behind]
    manifest = team.manifest(key)
    if manifest is None and team.cache.failure is not None:
        return NotTaken(f"{index.shared.store.name} does not answer now", team.cache.failure)
    if manifest is None or (manifest.commit, manifest.repository) != (
        commits[behind],
        identity.name,
    ):
        return NotTaken(
            f"its manifest of commit {commits[behind][:12]} is damaged (publish the commit again)"
        )
    if not identity.agrees(manifest.first_commit):
        return NotTaken("the histories begin with different commits")
    taken_ns = index.now_ns()
    stats, differing = _compared(root, manifest)
    if differing > CHANGED_FILES_MAX:
        return NotTaken(
            f"{counted(differing, 'file')} differ from commit {manifest.commit[:12]}, and at most "
            f"{CHANGED_FILES_MAX} are ranked from memory"
        )
    try:
        team.fetch(key, manifest)
    except CodeIndexError as error:
        why = f"{error} ({error.hint})" if error.hint else str(error)
        return NotTaken(why, team.cache.failure)
    pointer = Pointer(POINTER_VERSION, root, key, stats, taken_ns, identity.head, differing)
    team.use(pointer)
    return Taken(manifest, pointer, behind)


def _commits(root: str) -> list[str]:
    with open_repository(Path(root)) as repository:
        if repository is None:
            return []
        listed = repository.run("rev-list", "--first-parent", f"-n{COMMITS_MAX}", "HEAD", "--")
    return (listed or b"").decode().split()


def _compared(root: str, manifest: Manifest) -> tuple[dict[str, tuple[int, int, int]], int]:
    """The stats of the files that match a manifest, and how many files differ."""
    snapshot = disk.walk(root, policy_of(Options()))
    digests = {file.path: file.digest for file in manifest.files}
    stats: dict[str, tuple[int, int, int]] = {}
    for path in snapshot.stats.keys() & digests.keys():
        try:
            source, stat = disk.read_file(root, path)
        except OSError:
            continue
        if disk.digest(source) == digests[path]:
            stats[path] = (stat.size_bytes, stat.mtime_ns, stat.ctime_ns)
    return stats, len(snapshot.stats.keys() | digests.keys()) - len(stats)
