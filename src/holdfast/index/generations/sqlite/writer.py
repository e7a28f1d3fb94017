"""Writing and publishing the next generation on SQLite."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import apsw

from holdfast import system
from holdfast.files.snapshot import Entry, Snapshot
from holdfast.index.errors import DamagedBackend
from holdfast.index.free_memory import give_back
from holdfast.index.generations import change_log
from holdfast.index.generations.change_log import Change
from holdfast.index.generations.checksums import blob_check, row_check
from holdfast.index.generations.link_writer import LinkWriter
from holdfast.index.generations.model import Identity, PreparedFile, Totals
from holdfast.index.generations.packing import packed
from holdfast.index.generations.segment_files import SegmentFiles
from holdfast.index.generations.segments import ROWS_MAX, SegmentBuilder, SegmentUse, to_merge
from holdfast.index.generations.sqlite import file_lists, tables
from holdfast.index.generations.sqlite.chunks import put_chunks, remove_chunks
from holdfast.index.generations.sqlite.links import SqliteLinks
from holdfast.index.search.segment_merge import merge

if TYPE_CHECKING:
    from holdfast.index.search.posting_segment import PostingSegment


_LIVING = (
    "SELECT segment, sum(chunk_count) FROM file NOT INDEXED WHERE segment IS NOT NULL "
    "GROUP BY segment"
)


class SqliteWriter:
    """The next generation, in a write transaction."""

    def __init__(
        self,
        connection: apsw.Connection,
        root: str,
        dimension: int,
        files: SegmentFiles,
        anew: Callable[[], apsw.Connection],
        new_id: Callable[[], str] = system.new_long_id,
    ) -> None:
        self._connection, self._root, self._dimension = connection, root, dimension
        self._files, self._anew, self._new_id = files, anew, new_id
        known = tables.meta(connection)
        self._before = _names(connection)
        self.generation = int(known.get("generation") or 0) + 1
        self.published = False
        self.follows: Identity = (self.generation - 1, str(known.get("run") or ""))
        self._noted = change_log.decode(known.get("changes"))
        self._put_anew: set[int] | None = None
        """The hashes of the paths that were added since the tables were emptied; no other rows
        exist. None before that."""
        self._load_counters()

    def _load_counters(self) -> None:
        self._totals: Totals | None = None
        """What the tables have, unless a file was put or removed since it was counted."""
        self._removed: set[int] = set()
        self._dropped: set[int] = set()
        """New files that were removed again."""
        self._followable = True
        self._altered: set[int] = set()
        """The files whose rows were changed in place."""
        (file,) = tables.row(self._connection, "SELECT coalesce(max(id), 0) FROM file")
        (segment,) = tables.row(self._connection, "SELECT coalesce(max(id), 0) FROM segment")
        self._next_file, self._next_segment = int(file) + 1, int(segment) + 1
        self._first_new = self._next_file
        self._gathering = SegmentBuilder(self._dimension)
        self._links = LinkWriter(SqliteLinks(self._connection, self._files), self.follows[1])

    @property
    def started_over(self) -> bool:
        return self._put_anew is not None

    def end(self) -> apsw.Connection:
        """Roll back what was not published; the caller then owns the connection."""
        connection = self._connection
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except BaseException:
            connection.close()
            raise
        return connection

    def snapshot(self) -> Snapshot:
        return file_lists.snapshot(self._connection)

    def totals(self) -> Totals:
        if self._totals is None:
            self._totals = tables.totals(self._connection)
        return self._totals

    def start_over(self) -> None:
        try:
            tables.drop_tables(self._connection)
            # All tables but meta, which has the number of the generation.
            self._connection.execute(tables.TABLES.split(";\n", 1)[1])
            self._connection.execute(tables.TRIGRAM)
            self._connection.execute(tables.LINK)
            self._connection.execute(tables.LISTINGS)
            self._connection.execute(tables.FILE_LIST)
        except tables.DAMAGED:
            self._connection.close()
            self._connection = self._anew()
        self._put_anew = set()
        self._load_counters()
        self._followable = False

    def put(self, file: PreparedFile) -> bool:
        replaced = False
        self._totals = None
        hashed = hash(file.path)
        if self._put_anew is None or hashed in self._put_anew:
            replaced = self.remove(file.path)
        else:
            self._put_anew.add(hashed)
        run, stat = self._connection.execute, file.entry.stat
        number = self._next_file
        self._next_file += 1
        slot = self._gathering.add(file) if file.chunks else None
        path = file.path
        stated = (
            number, path, file.entry.digest, stat.size_bytes, stat.mtime_ns, stat.ctime_ns
        )  # fmt: skip
        placed = (
            number, path, file.language, file.problem, len(file.chunks),
            None if slot is None else self._next_segment, slot,
        )  # fmt: skip
        run(
            "INSERT INTO file VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (*stated, *placed[2:], row_check(stated), row_check(placed)),
        )
        self._links.add(file)
        facts = file.packed_facts or packed(file.facts)
        run("INSERT INTO facts VALUES (?,?,?)", (number, facts, blob_check(path, facts)))
        names = packed(file.names)
        run(
            "INSERT INTO trigram VALUES (?,?,?,?)",
            (number, file.signatures, names, blob_check(path, file.signatures, names)),
        )
        if not file.chunks:
            return replaced
        put_chunks(self._connection, number, file.chunks)
        if self._gathering.rows >= ROWS_MAX:
            self._put_segment()
            give_back()
        return replaced

    def _put_segment(self) -> None:
        if self._gathering.rows:
            self._insert_segment(self._gathering.take())

    def _insert_segment(self, segment: PostingSegment) -> int:
        number = self._next_segment
        self._next_segment += 1
        tables.put_segment(self._connection, number, self._files.write(segment))
        return number

    def _merge_segments(self) -> None:
        """Merge segments that are small or mostly dead."""
        stored = tables.rows(self._connection, "SELECT id, rows FROM segment")
        # Counted without checking every row: a sync of one file must not depend on the others.
        living = dict(tables.rows(self._connection, _LIVING))
        if not living.keys() <= {number for number, _ in stored}:
            raise DamagedBackend("a segment of the index is missing")
        standings = [SegmentUse(number, rows, living.get(number, 0)) for number, rows in stored]
        many = self._connection.executemany
        for group in to_merge(standings):
            parts = []
            moved: list[tuple[Any, ...]] = []
            for old in group:
                (stored_as,) = tables.stored_segments(self._connection, old).values()
                segment = self._files.open(stored_as, self._dimension)
                renamed: list[int | None] = [None] * (int(segment.slots.max(initial=0)) + 1)
                for file in self._files_in(old):
                    renamed[file[6]] = len(moved)
                    moved.append(file)
                parts.append((segment, renamed))
            if moved:
                self._followable = False
                self._altered.update(file[0] for file in moved)
                new = self._insert_segment(merge(parts, self._dimension))
                many(
                    "UPDATE file SET segment = ?, slot = ?, place_check = ? WHERE id = ?",
                    [
                        (new, slot, row_check((*file[:5], new, slot)), file[0])
                        for slot, file in enumerate(moved)
                    ],
                )
            many("DELETE FROM segment WHERE id = ?", [(old,) for old in group])

    def _files_in(self, segment: int) -> list[tuple[Any, ...]]:
        """The rows of the files in a segment, by `tables.PLACE`."""
        files = []
        query = f"SELECT {tables.PLACED} FROM file NOT INDEXED WHERE segment = ?"
        for *values, check in self._connection.execute(query, (segment,)):
            if check != row_check(tuple(values)):
                raise tables.damaged_file(values[1])
            files.append(tuple(values))
        return files

    def _added(self) -> set[int]:
        """The new files."""
        return set(range(self._first_new, self._next_file)) - self._dropped

    def remove(self, path: str) -> bool:
        row = tables.row(self._connection, "SELECT id FROM file WHERE path = ?", (path,))
        if row is None:
            return False
        (number,) = row
        self._totals = None
        if number >= self._first_new:
            self._dropped.add(number)
        else:
            self._removed.add(number)
        remove_chunks(self._connection, number)
        run = self._connection.execute
        run("DELETE FROM facts WHERE file_id=?", (number,))
        run("DELETE FROM trigram WHERE file_id=?", (number,))
        run("DELETE FROM file WHERE id=?", (number,))
        return True

    def restat(self, path: str, entry: Entry) -> None:
        number = tables.row(
            self._connection, "SELECT id FROM file WHERE path=? AND digest=?", (path, entry.digest)
        )
        if number is None:
            raise tables.damaged_file(path)
        self._altered.add(number[0])
        times = (entry.stat.size_bytes, entry.stat.mtime_ns, entry.stat.ctime_ns)
        check = row_check((number[0], path, entry.digest, *times))
        self._connection.execute(
            "UPDATE file SET size_bytes=?, mtime_ns=?, ctime_ns=?, stat_check=? WHERE id=?",
            (*times, check, number[0]),
        )

    def put_listings(self, data: bytes | None) -> None:
        tables.put_listings(self._connection, data)

    def _notes(self, identity: Identity) -> str | None:
        """The change log for readers of an earlier generation; None if they must read
        everything.
        """
        if not self._followable:
            return None
        change = Change(self.follows, identity, frozenset(self._removed), frozenset(self._added()))
        return change_log.encode(change_log.noted(self._noted, change))

    def publish(self, marker: str, taken_ns: int) -> Identity:
        self._put_segment()
        self._merge_segments()
        identity = (self.generation, self._new_id())
        totals = self.totals()
        listed = file_lists.used(self._connection, self.follows[1])
        changed = self._added() | self._removed | self._altered
        file_lists.put(self._connection, identity[1], listed, changed)
        self._links.publish(identity[1], totals.files, self.generation)
        tables.put_meta(
            self._connection,
            {
                "root": self._root,
                "generation": self.generation,
                "taken_ns": taken_ns,
                "run": identity[1],
                "marker": marker,
                "changes": self._notes(identity),
                "files": totals.files,
                "chunks": totals.chunks,
            },
        )
        self._files.add_tables(tables.stored_segments(self._connection).values(), self._dimension)
        named = self._before | _names(self._connection)
        self._connection.execute("COMMIT")
        self.published = True
        self._files.keep_only(named)
        return identity


def _names(connection: apsw.Connection) -> set[str]:
    """The digests of the segments that the tables name."""
    names = "SELECT digest FROM segment UNION SELECT digest FROM link"
    return {name for (name,) in tables.rows(connection, names)}
