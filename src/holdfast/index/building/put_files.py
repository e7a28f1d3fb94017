"""Put changed files into the next generation: read them, prepare them or use the cache, embed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast.files import disk
from holdfast.files.packed_entries import PackedEntries
from holdfast.files.snapshot import RACY_NS, Entry, Snapshot, stamp_of
from holdfast.index.building.build_tools import BuildTools
from holdfast.index.building.cached_file import pack, prepared_key, unpack, vector_key
from holdfast.index.building.parse_budget import ParseBudget
from holdfast.index.building.prepare import embedded_text, gave_up, replace_vectors
from holdfast.index.building.progress import Meter
from holdfast.index.building.workers import Recipe, prepare_all
from holdfast.index.embedding.provider import embed_all
from holdfast.index.errors import DamagedBackend
from holdfast.index.generations.model import PreparedFile, SourceFile, Writer
from holdfast.index.shared.work import batches

KEEP_EVERY_FILES = 64
EMBED_EVERY_CHUNKS = 1024


class PutFiles:
    """Reads the files that may have changed and puts the changed ones into a writer.

    `entries` has every file that was read, changed or not.
    """

    def __init__(
        self,
        root: str,
        before: Snapshot,
        walk: disk.Walk,
        tools: BuildTools,
        writer: Writer,
        meter: Meter,
    ) -> None:
        self._root, self._before, self._walk = root, before, walk
        self._tools, self._writer, self._meter = tools, writer, meter
        self.entries = PackedEntries()
        self.just_written: list[str] = []
        """Files that were written at about the time they were read, so that their times do not
        show whether they were written again."""
        self.unreadable = set(walk.unreadable)
        self.limit_reached = False
        self._chunks = writer.totals().chunks
        self.unparsed: set[str] = set()
        """Files that are kept as plain text, because parsing them was given up."""
        self._budget = ParseBudget()
        self._waiting: list[PreparedFile] = []
        self._unput: set[str] = set()
        """Files that were read and not put yet; a few at a time, unlike those that were put."""
        provider = tools.provider
        self._shared = (
            None
            if tools.shared is None
            else tools.shared.run(root, tools.maker, provider.dimension)
        )

    def put_changed(self, todo: Sequence[str]) -> None:
        """Put the files that may have changed.

        The limit of chunks applies to new files only; files that are indexed are always updated.
        """
        known = self._before.entries.keys()
        indexed = [path for path in todo if path in known]
        new = [path for path in todo if path not in known] if indexed else todo
        total_bytes = sum(self._walk.stats[path].size_bytes for path in todo) or 1
        done = done_bytes = 0
        for paths in (indexed, new):
            for file in self._prepared(paths, total_bytes) if paths else ():
                if paths is new and self._chunks >= self._tools.chunks_max:
                    self.limit_reached = True
                    break
                self._put(file)
                self._unput.discard(file.path)
                done += 1
                done_bytes += file.entry.stat.size_bytes
                self._meter.extracted(done, len(todo), min(1.0, done_bytes / total_bytes))
            self._put_waiting()
            if indexed and paths is indexed and new:
                self._chunks = self._writer.totals().chunks
        if self._shared is not None:
            self._shared.flush()
        if self.limit_reached:
            # Forget files that were read but not put, so that a later sync reads them again.
            for path in self._unput - known:
                self.entries.pop(path, None)

    def _prepared(self, todo: Sequence[str], total_bytes: int) -> Iterator[PreparedFile]:
        """The files to put, from the cache or newly prepared, a few in memory at a time."""
        tools, content = self._tools, self._tools.content
        ready: dict[str, PreparedFile] = {}
        keys: dict[str, bytes] = {}
        any_cached = content.has_prepared()

        def missing() -> Iterator[SourceFile]:
            for path in todo:
                file = self._read(path)
                if file is None:
                    continue
                key = keys[path] = prepared_key(path, file.entry.digest, tools.maker)
                packed = content.prepared(key) if any_cached else None
                cached = unpack(packed, file, tools.provider.dimension) if packed else None
                if cached is not None:
                    ready[path] = cached
                else:
                    yield file

        def not_shared() -> Iterator[SourceFile]:
            """The files that the team has not prepared."""
            assert self._shared is not None
            for files in batches(missing()):
                taken = self._shared.take(files)
                for file in files:
                    if file.path in taken:
                        ready[file.path] = taken[file.path]
                        keys.pop(file.path)
                    else:
                        yield file

        local = tools.provider if tools.provider.local else None
        recipe = Recipe(tools.extract, local)
        wanted = missing() if self._shared is None else not_shared()
        new_ones = prepare_all(wanted, recipe, total_bytes, tools.processes, self._budget)
        fresh: list[tuple[bytes, bytes]] = []
        for prepared in new_ones:
            for path in list(ready):
                yield ready.pop(path)
            key = keys.pop(prepared.path)
            # Not cached, because the parser may only have been slow this time.
            if gave_up(prepared):
                self.unparsed.add(prepared.path)
            else:
                fresh.append((key, pack(prepared, tools.provider.dimension)))
            if len(fresh) >= KEEP_EVERY_FILES:
                content.keep_prepared(fresh)
                fresh.clear()
            yield prepared
        content.keep_prepared(fresh)
        yield from ready.values()

    def _read(self, path: str) -> SourceFile | None:
        """A file that changed; None when it is unchanged, gone or unreadable."""
        read_ns = self._tools.now_ns()
        try:
            source, stat = disk.read_file(self._root, path)
        except FileNotFoundError:
            return None
        except OSError:
            self.unreadable.add(path)
            return None
        listed = self._walk.stats.get(path)
        # Nearly always the same as in the listing: then it is not kept twice.
        entry = Entry(listed if listed == stat else stat, disk.digest(source))
        self.entries[path] = entry
        if stamp_of(stat) >= read_ns - RACY_NS:
            self.just_written.append(path)
        known = self._before.entries.get(path)
        if known is not None and known.digest == entry.digest:
            return None
        self._unput.add(path)
        return SourceFile(path, source, entry)

    def _put(self, file: PreparedFile) -> None:
        self._chunks += len(file.chunks)
        if self._tools.provider.local or not file.chunks or file.vectors:
            self._write(file)
            return
        self._waiting.append(file)
        if sum(len(waiting.chunks) for waiting in self._waiting) >= EMBED_EVERY_CHUNKS:
            self._put_waiting()

    def _write(self, file: PreparedFile) -> None:
        replaced = self._writer.put(file)
        if self._shared is not None and file.path not in self.unparsed:
            self._shared.give(file)
        if file.path in self._before.entries and not replaced:
            # The manifest has the file, but a lookup by path failed: its old text would stay.
            raise DamagedBackend(f"what the index has of {file.path!r} cannot be found in it")

    def _put_waiting(self) -> None:
        """Embed the waiting files with the remote provider, except for cached texts."""
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
            self._write(replace_vectors(file, b"".join(row or b"" for row in rows[start:end])))
            start = end
        self._waiting.clear()
