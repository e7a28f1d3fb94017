"""The code index of one home, which every tool uses.

It has the registry, the backend and the current settings, and evaluates the gate. It makes no
decisions of its own and starts nothing by itself.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast import system
from holdfast.errors import CodeIndexError
from holdfast.files import disk
from holdfast.files.edited_files import EditedFiles
from holdfast.files.paths import canonical_root
from holdfast.files.policy import SIZE_BYTES_MAX, unfit
from holdfast.files.secrets import masked
from holdfast.files.snapshot import Snapshot
from holdfast.files.watcher import Watcher
from holdfast.home import Home
from holdfast.index.building.content_cache import BYTES_MAX, ContentCache
from holdfast.index.embedding.provider import EmbeddingProvider
from holdfast.index.errors import BackendUnavailable, DamagedBackend, NewerFormat
from holdfast.index.facts import model as facts
from holdfast.index.generations.fingerprint import SCHEMA_VERSION, Fingerprint
from holdfast.index.generations.freshness import FreshFiles, FreshnessChecks
from holdfast.index.generations.gate import (
    Building,
    Gate,
    Incompatible,
    Open,
    TooNew,
    Unproven,
    effective_record,
    pass_gate,
)
from holdfast.index.generations.leases import Leases
from holdfast.index.generations.model import (
    Backend,
    Identity,
    PreparedFile,
    Reader,
    SourceFile,
)
from holdfast.index.generations.probe import Prober
from holdfast.index.generations.proof import Proof, Reason, newer_format
from holdfast.index.generations.record import Record, policy_of
from holdfast.index.generations.registry import Registry
from holdfast.index.generations.walk_ahead import WalkAhead

if TYPE_CHECKING:
    # Not needed by a search, and slow to import.
    from holdfast.files.identity import RepositoryIdentity, Unidentified
    from holdfast.index.building.build_tools import BuildTools
    from holdfast.index.building.parse_budget import ParseBudget
    from holdfast.index.building.prepare import Extract
    from holdfast.index.generations.programs import ProgramCache
    from holdfast.index.shared.team_backend import TeamBackend
    from holdfast.index.shared.work import SharedIndex

CHANGED_FIRST_S, CHANGED_ALL_S = 2.0, 6.0
"""The parse budget for changed files; small, because a caller waits for the answer."""
RETRY_AFTER_MS = 2_000
STALE_INDEXING_S = 120.0


_making = threading.Lock()


def run_here(job: Callable[[], None]) -> None:
    """Run a build before the action returns; for commands, which wait for it anyway."""
    job()


def run_in_thread(job: Callable[[], None]) -> None:
    """Run a build in a thread; for a host that serves other calls meanwhile."""
    threading.Thread(target=job, name="holdfast index", daemon=True).start()


def extract(path: str, source: bytes) -> facts.FileFacts:
    """The facts of a file, by a parser that is imported when the first file needs it."""
    from holdfast.index.building.prepare import extract_facts

    return extract_facts(path, source)


def identified(root: str) -> RepositoryIdentity | Unidentified:
    """The repository of a root, as git and the settings tell."""
    from holdfast.files.identity import identify

    return identify(root)


@dataclass(slots=True)
class CodeIndex:
    """Everything a tool needs. The clock, the ids and the way builds are started are passed in."""

    registry: Registry
    backend: Backend
    provider: EmbeddingProvider
    leases: Leases
    content: ContentCache
    extract: Extract = extract
    now: Callable[[], datetime] = system.utc_now
    new_id: Callable[[], str] = system.new_long_id
    start: Callable[[Callable[[], None]], None] = run_in_thread
    processes: int | None = None
    memory_bytes_max: int | None = None
    """The memory limit of a build, all its processes together; None for the default."""
    chunks_max: int | None = None
    """How many chunks a tree may have; None for the default."""
    schema_version: str = SCHEMA_VERSION
    watches: bool = False
    """Whether the kernel reports changes of trees, for a process that stays."""
    reuses_recent: bool = True
    """Whether a check may be reused for a short time although nothing proves that it holds."""
    reuses_last: bool = False
    """Whether the last check is reused at any age, for what adds to an answer made with it."""
    published: Callable[[str, Snapshot], None] = lambda root, snapshot: None
    """Called with the root and the manifest after a generation was published or confirmed."""
    shared: SharedIndex | None = None
    """The team's shared index; None without HOLDFAST_INDEX_URL."""
    team: TeamBackend | None = None
    """The backend, if roots may use generations of the team."""
    identify: Callable[[str], RepositoryIdentity | Unidentified] = identified
    """Finds the repository that a root belongs to."""
    origin: Callable[[str], str | None] = lambda root: None
    """Where the files of a root come from, if it is not a directory of the user."""
    prober: Prober = field(init=False)
    freshness: FreshnessChecks = field(init=False)
    _programs: ProgramCache | None = None
    watchers: dict[str, Watcher] = field(default_factory=dict)
    edited: EditedFiles = field(default_factory=EditedFiles)
    _damage: dict[str, tuple[object, str]] = field(default_factory=dict)
    """By root: the stamp of the data when a read found damage, and the damage."""
    _sound: dict[str, object] = field(default_factory=dict)
    """By root: the stamp of the data when it was read completely without finding damage."""
    _spotted: dict[str, object] = field(default_factory=dict)
    """By root: the stamp of the data when a spot check found no damage."""
    _expected: tuple[str, Identity, WalkAhead] | None = None
    """A check that has begun for the next question: of this root and generation."""

    def __post_init__(self) -> None:
        self._use(self.backend)

    def join_team(self, directory: Path, shared: SharedIndex | None) -> None:
        """Let roots use generations of the team; fetched rows are kept in `directory`."""
        from holdfast.index.shared.cached_rows import CachedRows
        from holdfast.index.shared.rows import Seal
        from holdfast.index.shared.store import SqliteShared
        from holdfast.index.shared.team_backend import TeamBackend

        copy = SqliteShared(directory / "rows.sqlite")
        remote, seal = (None, Seal()) if shared is None else (shared.store, shared.seal)
        self.shared = shared
        self.team = TeamBackend(
            self.backend, directory, CachedRows(copy, remote, seal, directory=directory),
            self.runtime, self.provider.dimension, lambda: self.extract,
        )  # fmt: skip
        self._use(self.team)

    def _use(self, backend: Backend) -> None:
        self.backend = backend
        timeout_s = getattr(self.backend, "probe_timeout_s", 2.0)
        self.prober = Prober(self.backend, self.runtime, timeout_s)
        self.freshness = FreshnessChecks(lambda: self.now().timestamp())

    def runtime(self) -> Fingerprint:
        """The fingerprint of the current settings."""
        return Fingerprint(
            self.provider.name,
            self.provider.model,
            self.provider.dimension,
            self.backend.provider,
            f"{self.schema_version}.f{facts.FACTS_VERSION}",
        )

    def prove(self, root: str) -> Proof:
        return self.prober.prove(root)

    def root_of(self, path: str) -> tuple[str, Record | None]:
        """The canonical form of a path, and the record of the nearest tracked root above it."""
        requested = canonical_root(path)
        return requested, effective_record(requested, self.registry.records().values())

    def gate(self, record: Record | None) -> Gate:
        gate = pass_gate(record, self.runtime(), lambda: self.prove(record.root if record else ""))
        return self.with_details(gate)

    def with_details(self, gate: Gate) -> Gate:
        """The gate, refined by what the registry and the marker do not show.

        A build may be abandoned, a read may have found damage, and an index that was made with
        other settings may be of a newer version.
        """
        match gate:
            case Building():
                from holdfast.index.building.lifecycle import abandoned

                return replace(gate, abandoned=abandoned(self, gate.record) is not None)
            case Incompatible(record):
                try:
                    self.backend.check_format(record.root)
                except NewerFormat as error:
                    return TooNew(record, newer_format(error).detail)
                except (CodeIndexError, OSError):
                    return gate
            case Open(record):
                known = self._damage.get(record.root)
                if known is not None and known[0] == self.backend.stamp(record.root):
                    return Unproven(record, Reason.DAMAGED, known[1])
            case _:
                pass
        return gate

    def spot_checked_gate(self, record: Record | None) -> Gate:
        """The gate after reading a few rows of every table, for tools that report a state."""
        return self.spot_checked(self.gate(record))

    def spot_checked(self, gate: Gate) -> Gate:
        return self._checked(gate, self.backend.spot_check, self._spotted)

    def verified_gate(self, record: Record | None) -> Gate:
        """The gate after reading all stored data, for tools that check or repair the index."""
        return self.verified(self.gate(record))

    def verified(self, gate: Gate) -> Gate:
        return self._checked(gate, self.backend.verify, self._sound)

    def _checked(self, gate: Gate, check: Callable[[str], None], sound: dict[str, object]) -> Gate:
        """The gate after a check; the check is not repeated while the data is unchanged."""
        if not isinstance(gate, Open) or gate.marker is None:
            return gate
        root = gate.record.root
        stamp = self.backend.stamp(root)
        if stamp is not None and stamp in (self._sound.get(root), sound.get(root)):
            return gate
        try:
            check(root)
        except DamagedBackend as error:
            return self.damaged(gate.record, error)
        except BackendUnavailable as error:
            return replace(gate, marker=None, probe_failure=str(error))
        sound[root] = stamp
        return gate

    def damaged(self, record: Record, error: DamagedBackend) -> Unproven:
        """The gate of a root whose data is damaged; kept until the data changes."""
        self._damage[record.root] = (self.backend.stamp(record.root), str(error))
        return Unproven(record, Reason.DAMAGED, str(error))

    def recent_check(self, record: Record, reader: Reader) -> FreshFiles | None:
        """The last check of a root, if it may still be used."""
        if self.reuses_last:
            return self.freshness.last(record.root, reader.identity)
        policy = policy_of(record.options)
        proved = not self.reuses_recent
        return self.freshness.recent(record.root, reader.identity, policy, proved)

    def expect_question(self, path: str) -> None:
        """Begin the first check of the tree that the next question is about, if it is large.

        A command calls this before it imports the code that ranks, which takes as long as much of
        the walk. Says nothing about the index: the question itself is answered or refused as ever.
        """
        if self.watches:
            return
        with suppress(CodeIndexError, OSError):
            gate = self.gate(self.root_of(path)[1])
            if isinstance(gate, Open) and gate.marker is not None:
                root, files = gate.record.root, gate.marker.indexed_files
                with self.backend.reader(root) as reader:
                    ahead = self.begin_check(gate.record, reader, files)
                    self._expected = None if ahead is None else (root, reader.identity, ahead)

    def begin_check(self, record: Record, reader: Reader, files: int) -> WalkAhead | None:
        """Begin the first check of a large tree in a process of its own, if that is faster."""
        if self.watches:
            return None
        if self._expected is not None:
            root, identity, ahead = self._expected
            self._expected = None
            if (root, identity) == (record.root, reader.identity):
                return ahead
            ahead.end()
        return self.freshness.begin(record.root, reader, policy_of(record.options), files)

    def check_freshness(
        self, record: Record, reader: Reader, ahead: WalkAhead | None = None
    ) -> FreshFiles:
        """The files of a root that differ from its generation now."""
        policy = policy_of(record.options)
        budget: ParseBudget | None = None

        def prepared(file: SourceFile) -> PreparedFile:
            nonlocal budget
            if budget is None:
                from holdfast.index.building.parse_budget import ParseBudget

                budget = ParseBudget(CHANGED_FIRST_S, CHANGED_ALL_S)
            return self._prepare(file, budget)

        return self.freshness.check(record.root, reader, policy, prepared, self.watches, ahead)

    def _prepare(self, file: SourceFile, budget: ParseBudget) -> PreparedFile:
        """A changed file; with vectors only if they need no request."""
        from holdfast.index.building.prepare import (
            gave_up,
            prepare,
            with_vectors,
            without_parser,
        )
        from holdfast.index.facts.parse import lowered_limits

        allowance = budget.allowance()
        if allowance.parses(file.path, len(file.source)):
            with lowered_limits(allowance.share):
                prepared = prepare(file, self.extract)
        else:
            prepared = without_parser(file, tried=False)
        if gave_up(prepared):
            budget.charge(file.path, len(file.source))
        return with_vectors(prepared, self.provider) if self.provider.local else prepared

    def facts_on_disk(self, root: str, key: str) -> facts.FileFacts | None:
        """The facts of a file as it is on disk; None if it is missing or not text."""
        try:
            source, _ = disk.read_file(root, key)
        except OSError:
            return None
        if len(source) > SIZE_BYTES_MAX or unfit(source) is not None:
            return None
        return self.extract(key, masked(source))

    def timestamp(self, at: float | None = None) -> str:
        """A time in the format of answers: now, or the given seconds since the epoch."""
        moment = self.now() if at is None else datetime.fromtimestamp(at, UTC)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def now_ns(self) -> int:
        return int(self.now().timestamp() * 1_000_000) * 1_000

    @property
    def programs(self) -> ProgramCache:
        """The linked programs of recently used roots."""
        from holdfast.index.generations.programs import ProgramCache

        with _making:
            if self._programs is None:
                self._programs = ProgramCache(self.facts_on_disk)
            return self._programs

    def tools(self) -> BuildTools:
        """The dependencies of a build."""
        from holdfast.index.building.build_tools import CHUNKS_MAX, BuildTools
        from holdfast.index.building.memory_budget import processes_within

        # A build forks its workers only if there is no other thread.
        self.prober.rest()
        return BuildTools(
            self.backend,
            self.provider,
            self.extract,
            self.content,
            self.runtime(),
            self.now_ns,
            self.timestamp,
            self.processes or processes_within(self.memory_bytes_max),
            chunks_max=self.chunks_max or CHUNKS_MAX,
            shared=self.shared,
        )

    def close(self) -> None:
        if self._expected is not None:
            self._expected[2].end()
            self._expected = None
        for watcher in self.watchers.values():
            watcher.stop()
        self.watchers.clear()
        self.freshness.close()
        self.prober.rest()
        self.content.close()
        self.backend.close()
        if self.shared is not None:
            self.shared.close()


def open_index(
    home: str | os.PathLike[str],
    provider: EmbeddingProvider | None = None,
    backend: Backend | None = None,
    cache_bytes_max: int | None = None,
) -> CodeIndex:
    """The code index of a home directory, with the embedded backend unless one is given.

    The cache of prepared files is limited to `cache_bytes_max`; by default, cache and indexes
    together are limited to 2.5 times the source.
    """
    home = Home(home)
    if provider is None:
        from holdfast.index.embedding.static import StaticEmbedding

        provider = StaticEmbedding()
    indexes = home.index_roots if backend is None and cache_bytes_max is None else None
    if backend is None:
        from holdfast.index.generations.sqlite.backend import SqliteBackend

        backend = SqliteBackend(home.index_roots, provider.dimension)
    return CodeIndex(
        Registry(home.index_registry),
        backend,
        provider,
        Leases(home.leases),
        ContentCache(
            home.index_content, BYTES_MAX if cache_bytes_max is None else cache_bytes_max, indexes
        ),
    )
