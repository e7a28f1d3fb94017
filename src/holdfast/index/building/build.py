"""Making the next generation of a root: all of it, or what changed since the last.

Nothing is visible before `publish`, and whatever is raised on the way undoes it all. A file that
cannot be read keeps what was known of it; an embedding that fails fails the run.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from holdfast import system
from holdfast.errors import CodeIndexError
from holdfast.files import disk
from holdfast.files.policy import Policy
from holdfast.files.snapshot import (
    Changes,
    Entry,
    Snapshot,
    compare,
    compressed,
    covered,
    moved,
)
from holdfast.index.building.content_cache import (
    ContentStore,
    pack,
    prepared_key,
    unpack,
    vector_key,
)
from holdfast.index.building.prepare import Extract, embedded_text, replace_vectors
from holdfast.index.building.progress import Meter, Report
from holdfast.index.building.workers import Recipe, prepare_all
from holdfast.index.embedding.provider import EmbeddingProvider, embed_all
from holdfast.index.errors import DamagedBackend, RootMissing
from holdfast.index.generations import marker as markers
from holdfast.index.generations.fingerprint import Fingerprint
from holdfast.index.generations.fingerprint import from_wire as fingerprint_from_wire
from holdfast.index.generations.model import (
    Backend,
    Identity,
    PreparedFile,
    SourceFile,
    Totals,
    Writer,
)

CHUNKS_MAX = 450_000
KEEP_EVERY_FILES = 64
EMBED_EVERY_CHUNKS = 1024


@dataclass(frozen=True, slots=True)
class Tools:
    """What a build works with."""

    backend: Backend
    provider: EmbeddingProvider
    extract: Extract
    content: ContentStore
    fingerprint: Fingerprint
    now_ns: Callable[[], int]
    today: Callable[[], str]
    processes: int | None = None
    chunks_max: int = CHUNKS_MAX
    monotonic: Callable[[], float] = system.monotonic

    @property
    def maker(self) -> str:
        """Names what the preparations depend on besides the file."""
        provider = self.provider
        extractor = f"{self.extract.__module__}.{getattr(self.extract, '__qualname__', '')}"
        return f"{extractor}/{provider.name}/{provider.model}/{provider.dimension}"


@dataclass(frozen=True, slots=True)
class Built:
    """What a run came to."""

    totals: Totals
    changes: Changes
    index_status: str
    skipped: Counter[str] = field(default_factory=Counter)
    unreadable: frozenset[str] = frozenset()
    published: bool = True
    identity: Identity = (0, "")
    snapshot: Snapshot = field(default_factory=lambda: Snapshot({}, 0))
    """The manifest of the generation that serves now."""


class EmptyTree(RootMissing):
    """Raised when a tree that had files shows none: more likely unmounted than deleted."""

    def __init__(self, root: str, files: int) -> None:
        super().__init__(root, f"it shows no files, and its index has {files}")
        self.hint = "if the files are really gone, run: holdfast index clear"


def build(
    root: str,
    run_id: str,
    policy: Policy,
    tools: Tools,
    *,
    whole: bool,
    report: Report = lambda progress: None,
    known: tuple[Identity, Snapshot] | None = None,
) -> Built:
    """Make and publish the next generation. `whole` starts over; otherwise only changes count.

    What lies in parts of the tree that cannot be read now is kept either way. `known` is the
    manifest of a generation seen before; it spares reading it if it still serves.
    """
    try:
        return _build(root, run_id, policy, tools, whole, report, known, keeps=True)
    except DamagedBackend:
        if not whole:
            raise
        return _build(root, run_id, policy, tools, whole, report, known, keeps=False)


def _build(
    root: str,
    run_id: str,
    policy: Policy,
    tools: Tools,
    whole: bool,
    report: Report,
    known: tuple[Identity, Snapshot] | None,
    keeps: bool,
) -> Built:
    meter = Meter(report, tools.monotonic)
    meter.scanning()
    taken_ns = tools.now_ns()
    try:
        found = disk.walk(root, policy)
    except disk.TreeMissing as error:
        raise RootMissing(root, str(error)) from error
    if "" in found.unreadable:
        # Nothing is known of the tree now, and an index of nothing must not take its place.
        raise RootMissing(root, "it cannot be read")
    identity: Identity = (0, "")
    before, totals = Snapshot({}, 0), Totals(0, 0)
    if not whole:
        with tools.backend.reader(root) as reader:
            identity = reader.identity
            before = known[1] if known and known[0] == identity else reader.snapshot()
            totals = reader.totals()
        if not found.stats and not found.unreadable:
            _refuse_empty_tree(root, len(before.entries))
    todo, gone = moved(before, found.stats)
    unreadable = compressed(found.unreadable)
    if not whole and not todo and not _deleted(before, gone, unreadable):
        return Built(
            totals, Changes(), markers.COMPLETED, found.skipped, published=False,
            unreadable=unreadable, identity=identity, snapshot=before,
        )  # fmt: skip
    kept: dict[str, Entry] = {}
    alike = whole and keeps and bool(unreadable) and _made_alike(root, tools)
    with tools.backend.writer(root) as writer:
        if whole and keeps and not found.stats and not found.unreadable:
            _refuse_empty_tree(root, writer.totals().files)
        if alike:
            kept = _empty(writer, unreadable)
        elif whole:
            writer.start_over()
        elif writer.follows != identity:
            before = writer.snapshot()  # Somebody published since we looked.
            todo, gone = moved(before, found.stats)
        run = _Run(root, before, found, tools, writer, meter)
        run.put_changed(todo)
        unreadable = compressed(run.unreadable)
        # Only what moved is compared: the rest is as it was.
        changes = compare(
            _part(before, [*todo, *gone]), Snapshot(run.entries, taken_ns, unreadable)
        )
        for path in changes.removed:
            writer.remove(path)
        for path in changes.touched:
            writer.restat(path, run.entries[path])
        totals = writer.totals()
        meter.publishing(totals.files)
        status = markers.LIMIT_REACHED if run.limit_reached else markers.COMPLETED
        identity = writer.publish(
            markers.encode(
                markers.Marker(
                    root,
                    tools.fingerprint,
                    totals.files,
                    totals.chunks,
                    tools.today(),
                    run_id,
                    writer.generation,
                    status,
                )
            ),
            taken_ns,
        )
    meter.finished(totals.files)
    entries = {**before.entries, **kept, **run.entries}
    for path in changes.removed:
        entries.pop(path, None)
    return Built(
        totals,
        changes,
        status,
        found.skipped,
        unreadable,
        identity=identity,
        snapshot=Snapshot(entries, taken_ns, unreadable),
    )


def _refuse_empty_tree(root: str, indexed_files: int) -> None:
    """Raise when a tree without files would replace an index of some."""
    if indexed_files:
        raise EmptyTree(root, indexed_files)


def _made_alike(root: str, tools: Tools) -> bool:
    """Whether the generation that is there was made with the settings in force."""
    try:
        wire = json.loads(str(tools.backend.read_marker(root)))
    except (CodeIndexError, ValueError):
        return False
    made = wire.get("fingerprint") if isinstance(wire, dict) else None
    return fingerprint_from_wire(made) == tools.fingerprint


def _empty(writer: Writer, unreadable: frozenset[str]) -> dict[str, Entry]:
    """Take out all but what cannot be read now, and return that: it is not known to be gone."""
    entries = writer.snapshot().entries
    kept = {path: entry for path, entry in entries.items() if covered(path, unreadable)}
    for path in entries.keys() - kept.keys():
        writer.remove(path)
    return kept


def _part(snapshot: Snapshot, keys: Iterable[str]) -> Snapshot:
    entries = snapshot.entries
    return Snapshot({key: entries[key] for key in keys if key in entries}, snapshot.taken_ns)


def _deleted(before: Snapshot, gone: set[str], unreadable: frozenset[str]) -> bool:
    """Whether something that a listing lacks is really gone, and not just out of sight."""
    if not gone:
        return False
    after = Snapshot({}, before.taken_ns, unreadable)
    return bool(compare(_part(before, gone), after).removed)


class _Run:
    """One pass over the changed files, into a writer."""

    def __init__(
        self,
        root: str,
        before: Snapshot,
        found: disk.Walk,
        tools: Tools,
        writer: Writer,
        meter: Meter,
    ) -> None:
        self._root, self._before, self._found = root, before, found
        self._tools, self._writer, self._meter = tools, writer, meter
        self.entries: dict[str, Entry] = {}
        self.unreadable = set(found.unreadable)
        self.limit_reached = False
        self._chunks = writer.totals().chunks
        self._waiting: list[PreparedFile] = []
        self._done: set[str] = set()

    def put_changed(self, todo: Sequence[str]) -> None:
        """Put the files that may have changed; `entries` says what was found of them.

        What is indexed is brought up to date whatever the limit says; only new files meet it.
        """
        known = self._before.entries.keys()
        indexed = [path for path in todo if path in known]
        new = [path for path in todo if path not in known] if indexed else todo
        total_bytes = sum(self._found.stats[path].size_bytes for path in todo) or 1
        done = done_bytes = 0
        for paths in (indexed, new):
            for file in self._prepared(paths, total_bytes) if paths else ():
                if paths is new and self._chunks >= self._tools.chunks_max:
                    self.limit_reached = True
                    break
                self._put(file)
                self._done.add(file.path)
                done += 1
                done_bytes += file.entry.stat.size_bytes
                self._meter.extracted(done, len(todo), min(1.0, done_bytes / total_bytes))
            self._put_waiting()
            if indexed and paths is indexed and new:
                self._chunks = self._writer.totals().chunks
        if self.limit_reached:
            # Some were read and not put: nothing is known of them.
            kept = self._done | known
            self.entries = {path: entry for path, entry in self.entries.items() if path in kept}

    def _prepared(self, todo: Sequence[str], total_bytes: int) -> Iterator[PreparedFile]:
        """The files to put, from what is kept or made new, in runs short enough to hold."""
        tools, content = self._tools, self._tools.content
        ready: dict[str, PreparedFile] = {}
        keys: dict[str, bytes] = {}
        any_kept = content.has_prepared()

        def missing() -> Iterator[SourceFile]:
            for path in todo:
                job = self._read(path)
                if job is None:
                    continue
                key = keys[path] = prepared_key(path, job.entry.digest, tools.maker)
                packed = content.prepared(key) if any_kept else None
                kept = unpack(packed, job, tools.provider.dimension) if packed else None
                if kept is not None:
                    ready[path] = kept
                else:
                    yield job

        local = tools.provider if tools.provider.local else None
        made = prepare_all(missing(), Recipe(tools.extract, local), total_bytes, tools.processes)
        from holdfast.index.facts.extract import TOO_HARD

        hard = TOO_HARD.code.encode()
        fresh: list[tuple[bytes, bytes]] = []
        for file in made:
            for path in list(ready):
                yield ready.pop(path)
            key = keys.pop(file.path)
            # What was too hard may have had a bad moment: the next run tries it again.
            if hard not in file.facts:
                fresh.append((key, pack(file)))
            if len(fresh) >= KEEP_EVERY_FILES:
                content.keep_prepared(fresh)
                fresh.clear()
            yield file
        content.keep_prepared(fresh)
        yield from ready.values()

    def _read(self, path: str) -> SourceFile | None:
        """A file that changed; None when it is as it was, gone, or unreadable."""
        try:
            source, stat = disk.read_file(self._root, path)
        except FileNotFoundError:
            return None
        except OSError:
            self.unreadable.add(path)
            return None
        entry = Entry(stat, disk.digest(source))
        self.entries[path] = entry
        known = self._before.entries.get(path)
        if known is not None and known.digest == entry.digest:
            return None
        return SourceFile(path, source, entry)

    def _put(self, file: PreparedFile) -> None:
        self._chunks += len(file.chunks)
        if self._tools.provider.local or not file.chunks:
            self._writer.put(file)
            return
        self._waiting.append(file)
        if sum(len(waiting.chunks) for waiting in self._waiting) >= EMBED_EVERY_CHUNKS:
            self._put_waiting()

    def _put_waiting(self) -> None:
        """Embed what a remote provider has to embed, as few texts as possible."""
        import numpy as np

        if not self._waiting:
            return
        provider, content = self._tools.provider, self._tools.content
        texts = [embedded_text(file.path, chunk) for file in self._waiting for chunk in file.chunks]
        keys = [vector_key(text, self._tools.maker) for text in texts]
        rows: list[bytes | None] = content.vectors(keys, provider.dimension)
        wanted = [i for i, row in enumerate(rows) if row is None]
        if wanted:
            vectors = embed_all(provider, [texts[i] for i in wanted])
            for i, vector in zip(wanted, vectors, strict=True):
                rows[i] = np.asarray(vector, dtype=np.float32).tobytes()
            content.keep_vectors((keys[i], rows[i] or b"") for i in wanted)
        start = 0
        for file in self._waiting:
            end = start + len(file.chunks)
            self._writer.put(replace_vectors(file, b"".join(row or b"" for row in rows[start:end])))
            start = end
        self._waiting.clear()
