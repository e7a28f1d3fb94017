"""The history of a space: its log, its hash chain, exports and imports."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING

from holdfast.ids import Seq
from holdfast.store.verbs.space import Space

if TYPE_CHECKING:
    from holdfast.store.history import LogEntry


class HistoryVerbs(Space):
    """Commits as they landed."""

    def newest_seq(self) -> Seq:
        """The seq of the newest commit of the space."""
        with self._reader:
            return self.engine.tables.newest_seq()

    def log(
        self,
        id: str | None = None,
        branch: str | None = None,
        before: int | None = None,
        limit: int = 50,
    ) -> list[LogEntry]:
        """Commits, newest first: of the space, of a branch, or of one document on a branch."""
        from holdfast.store.history import log

        with self._reader:
            return log(self.engine.tables, self.engine.decode, id, branch, before, limit)

    def chain(self) -> tuple[Seq, str]:
        """The newest seq, and the hash that covers the whole history up to it."""
        with self._reader:
            seq, link = self.engine.tables.newest_link()
            return seq, bytes(link).hex()

    def broken_link(self) -> int | None:
        """The seq of the first commit that does not match its hash in the chain; None if all do."""
        from holdfast.store.history import broken_link

        with self._reader, self.engine.reading.maintenance(), self._at_one_moment():
            return broken_link(self.engine.tables)

    def export(self, space: str | None = None) -> Generator[str, None, None]:
        """Every line of an export, all as of one moment, however slowly they are consumed.

        It uses its own connection. A database in memory has only one, so there the lines are
        collected first, and other readers do not wait for the consumer.
        """
        from holdfast.store.tables import Tables
        from holdfast.store.transfer import lines

        name, settings = self.space if space is None else space, self.engine.settings
        if self._open_reader is None:
            with self._at_one_moment():
                collected = list(lines(self.engine.tables, name, settings))
            yield from collected
            return
        self.newest_seq()  # raises if the store is closed
        own = self._open_reader()
        try:
            with own.maintenance():
                own.begin_reading()
                try:
                    yield from lines(Tables(own), name, settings)
                finally:
                    own.rollback()
        finally:
            own.close()

    def import_lines(self, lines: Iterable[str]) -> int:
        """Fill this empty space from an export, all or nothing; returns the number of commits."""
        return self._exclusively(lambda: self.engine.import_lines(lines), long=True)
