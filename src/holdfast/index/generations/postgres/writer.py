"""Writing and publishing the next generation on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast import system
from holdfast.files.snapshot import Entry, Snapshot
from holdfast.index.errors import BackendUnavailable, DamagedBackend
from holdfast.index.generations import change_log
from holdfast.index.generations.change_log import Change
from holdfast.index.generations.checksums import blob_check, row_check
from holdfast.index.generations.link_writer import LinkWriter
from holdfast.index.generations.model import Identity, PreparedFile, Totals
from holdfast.index.generations.postgres import tables
from holdfast.index.generations.postgres.links import PostgresLinks
from holdfast.index.generations.segments import (
    ROWS_MAX,
    SegmentBuilder,
    SegmentUse,
    digest,
    to_merge,
)
from holdfast.index.search import posting_segment as segment_format
from holdfast.index.search.segment_merge import merge

if TYPE_CHECKING:
    import psycopg

    from holdfast.index.search.posting_segment import PostingSegment


def _clean(text: str) -> str:
    """Text without NUL, which PostgreSQL cannot store."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}") if "\0" in text else text


def _root(connection: psycopg.Connection[Any], path: str) -> tuple[int, tables.RootRow]:
    """The row of a root; reset if it is damaged, so that the index is rebuilt."""
    try:
        row = tables.root_row(connection, path)
    except DamagedBackend:
        connection.execute("DELETE FROM root WHERE path = $1", (path,))
        connection.execute("INSERT INTO root (path) VALUES ($1)", (path,))
        row = tables.root_row(connection, path)
    assert row is not None
    return row


class PostgresWriter:
    """The next generation, in a transaction of its own."""

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        root: str,
        dimension: int,
        new_id: Callable[[], str] = system.new_long_id,
    ) -> None:
        self._connection, self._dimension, self._new_id = connection, dimension, new_id
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 1))", (root,))
        connection.execute("INSERT INTO root (path) VALUES ($1) ON CONFLICT DO NOTHING", (root,))
        self._root, self._root_row = _root(connection, root)
        self.generation = self._root_row.generation + 1
        self.follows: Identity = (self._root_row.generation, self._root_row.run)
        self._removed: set[int] = set()
        self._added: set[int] = set()
        self._followable = True
        self._gathering = SegmentBuilder(dimension)
        self._gathered_as: int | None = None
        self._links = self._new_links()

    def _new_links(self) -> LinkWriter:
        return LinkWriter(PostgresLinks(self._connection, self._root), self.follows[1])

    def snapshot(self) -> Snapshot:
        return tables.snapshot(self._connection, self._root, self._root_row)

    def totals(self) -> Totals:
        return tables.totals(self._connection, self._root)

    def start_over(self) -> None:
        for table in ("file", "segment", "link"):
            self._connection.execute(f"DELETE FROM {table} WHERE root_id = $1", (self._root,))
        self._gathering, self._gathered_as = SegmentBuilder(self._dimension), None
        self._links = self._new_links()
        self._followable = False

    def put(self, file: PreparedFile) -> bool:
        replaced = self.remove(file.path)
        run, stat = self._connection.execute, file.entry.stat
        slot = self._gathering.add(file) if file.chunks else None
        if slot is not None and self._gathered_as is None:
            self._gathered_as = self._new_number()
        path = file.path
        stated = (path, file.entry.digest, stat.size_bytes, stat.mtime_ns, stat.ctime_ns)
        placed = (
            path, file.language, file.problem, len(file.chunks),
            None if slot is None else self._gathered_as, slot,
        )  # fmt: skip
        row = run(
            "INSERT INTO file (root_id, path, digest, size_bytes, mtime_ns, ctime_ns, language, "
            "problem, chunk_count, segment_id, slot, facts, stat_check, place_check, facts_check) "
            "VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15) RETURNING id",
            (self._root, *stated, *placed[1:], file.facts, row_check(stated), row_check(placed),
             blob_check(path, file.facts)),
        ).fetchone()  # fmt: skip
        assert row is not None
        self._added.add(row[0])
        self._links.add(file)
        check = blob_check(path, file.signatures, file.names)
        run(
            "INSERT INTO trigram VALUES ($1,$2,$3,$4,$5)",
            (self._root, row[0], file.signatures, file.names, check),
        )
        chunks = [
            (ordinal, c.start_line, c.end_line, c.symbol_id,
             None if c.label is None else _clean(c.label), c.kind, _clean(c.text))
            for ordinal, c in enumerate(file.chunks)
        ]  # fmt: skip
        self._copy(
            "chunk (root_id, file_id, ordinal, start_line, end_line, symbol_id, label, kind, text, "
            "chunk_check)",
            [(self._root, row[0], *chunk, row_check((path, *chunk))) for chunk in chunks],
        )
        if self._gathering.rows >= ROWS_MAX:
            self._put_segment()
        return replaced

    def _new_number(self) -> int:
        row = self._connection.execute("SELECT nextval('segment_id')").fetchone()
        assert row is not None
        return int(row[0])

    def _put_segment(self) -> None:
        if self._gathered_as is not None:
            self._insert_segment(self._gathered_as, self._gathering.take())
            self._gathered_as = None

    def _insert_segment(self, number: int, segment: PostingSegment) -> None:
        postings, vectors = segment_format.pack(segment), segment_format.pack_vectors(segment)
        self._connection.execute(
            "INSERT INTO segment VALUES ($1,$2,$3,$4,$5,$6)",
            (number, self._root, digest(postings, vectors), segment.rows, postings, vectors),
        )

    def _merge_segments(self) -> None:
        """Merge segments that are small or mostly dead."""
        rows = self._connection.execute(
            "SELECT id, rows, (SELECT coalesce(sum(chunk_count), 0)::bigint FROM file "
            "WHERE file.root_id = segment.root_id AND segment_id = segment.id) "
            "FROM segment WHERE root_id = $1",
            (self._root,),
        )
        for group in to_merge([SegmentUse(*row) for row in rows]):
            parts, moves = [], []
            slots = 0
            for old in group:
                segment = tables.segment(self._connection, self._root, old, self._dimension)
                renamed: list[int | None] = [None] * (int(segment.slots.max(initial=0)) + 1)
                for file in self._connection.execute(
                    f"SELECT id, {tables.PLACE}, place_check FROM file "
                    "WHERE segment_id = $1 AND root_id = $2",
                    (old, self._root),
                ):
                    if file[-1] != row_check(file[1:-1]):
                        raise tables.damaged_file(file[1])
                    renamed[file[6]] = slots
                    moves.append((file, slots))
                    slots += 1
                parts.append((segment, renamed))
            if moves:
                self._followable = False
                new = self._new_number()
                self._insert_segment(new, merge(parts, self._dimension))
                self._connection.execute(
                    "UPDATE file SET segment_id = $1, slot = place, place_check = checked "
                    "FROM unnest($2::bigint[], $3::bigint[], $4::bigint[]) "
                    "AS moved (number, place, checked) WHERE id = number AND root_id = $5",
                    (
                        new,
                        [file[0] for file, _ in moves],
                        [slot for _, slot in moves],
                        [row_check((*file[1:5], new, slot)) for file, slot in moves],
                        self._root,
                    ),
                )
            gone = "DELETE FROM segment WHERE id = ANY($1) AND root_id = $2"
            self._connection.execute(gone, (group, self._root))

    def _copy(self, into: str, rows: list[tuple[Any, ...]]) -> None:
        if not rows:
            return
        with self._connection.cursor() as cursor, cursor.copy(f"COPY {into} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)

    def remove(self, path: str) -> bool:
        gone = self._connection.execute(
            "DELETE FROM file WHERE root_id = $1 AND path = $2 RETURNING id", (self._root, path)
        ).fetchone()
        if gone is None:
            return False
        if gone[0] in self._added:
            self._added.remove(gone[0])
        else:
            self._removed.add(gone[0])
        return True

    def restat(self, path: str, entry: Entry) -> None:
        times = (entry.stat.size_bytes, entry.stat.mtime_ns, entry.stat.ctime_ns)
        self._connection.execute(
            "UPDATE file SET size_bytes=$3, mtime_ns=$4, ctime_ns=$5, stat_check=$7 "
            "WHERE root_id=$1 AND path=$2 AND digest=$6",
            (self._root, path, *times, entry.digest, row_check((path, entry.digest, *times))),
        )

    def put_listings(self, data: bytes | None) -> None:
        pass  # They describe one machine's checkout.

    def publish(self, marker: str, taken_ns: int) -> Identity:
        self._put_segment()
        self._merge_segments()
        identity = (self.generation, self._new_id())
        totals = self.totals()
        self._links.publish(identity[1], totals.files, self.generation)
        now = tables.RootRow(
            self._root_row.path, *(self.generation, taken_ns, identity[1]),
            marker, totals.files, totals.chunks,
        )  # fmt: skip
        done = self._connection.execute(
            "UPDATE root SET generation=$2, taken_ns=$3, run=$4, marker=$5, files=$6, chunks=$7, "
            "root_check=$8 WHERE id=$1",
            (self._root, *now[1:], row_check(tuple(now))),
        )
        if done.rowcount != 1:
            raise BackendUnavailable("another host cleared the index while it was being written")
        self._note(identity)
        self._commit()
        return identity

    def _note(self, identity: Identity) -> None:
        """Log what changed, for readers of an earlier generation."""
        if not self._followable:
            self._connection.execute("DELETE FROM change WHERE root_id = $1", (self._root,))
            return
        change = Change(self.follows, identity, frozenset(self._removed), frozenset(self._added))
        text = change_log.encode(
            change_log.noted(tables.notes(self._connection, self._root), change)
        )
        self._connection.execute(
            "INSERT INTO change VALUES ($1, $2, $3) ON CONFLICT (root_id) "
            "DO UPDATE SET notes = excluded.notes, notes_check = excluded.notes_check",
            (self._root, text, row_check((text,))),
        )

    def _commit(self) -> None:
        import psycopg

        try:
            self._connection.execute("COMMIT")
        except psycopg.OperationalError as error:
            raise BackendUnavailable(
                "PostgreSQL went away at the last step, so the run may have been published",
                hint="try again",
            ) from error
