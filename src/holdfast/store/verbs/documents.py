"""Reading documents: one, a page, all of them, or those that a query reaches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from holdfast.ids import MAIN, BranchName, EntityId, Seq
from holdfast.store import replay
from holdfast.store.errors import QueryError
from holdfast.store.model import Document, State, text_problem
from holdfast.store.verbs.space import Space

# Methods that few commands need import their modules themselves: start-up must stay fast.
if TYPE_CHECKING:
    from holdfast.store.author import Author
    from holdfast.store.graph import GraphLimits, QueryResult


class DocumentVerbs(Space):
    """Documents now, and as of any seq."""

    def read(self, id: str, branch: str = MAIN, seq: int | None = None) -> Document | None:
        """The document now, or as of `seq`; None if it does not exist there."""
        if seq is None:
            with self._reader:
                return self.engine.document(EntityId(id), BranchName(branch))
        state = self.state(id, branch, seq)
        return None if state is None else state.document

    def state(self, id: str, branch: str = MAIN, seq: int | None = None) -> State | None:
        """The newest revision of a document at that point, and the document it left."""
        at = None if seq is None else Seq(seq)
        with self._reader:
            return self.engine.state(EntityId(id), BranchName(branch), at)

    def documents(self, branch: str = MAIN, seq: int | None = None) -> list[State]:
        """Every document that exists on a branch, now or as of `seq`, by id."""
        return list(self.stream(branch, seq))

    def stream(
        self, branch: str = MAIN, seq: int | None = None, prefix: str = "", after: str = ""
    ) -> Iterator[State]:
        """The same one by one, all as of one moment, however slowly they are consumed.

        Only ids that start with `prefix` and follow `after`. Other readers do not wait.
        """
        from holdfast.store.listing import PAGE

        return self._stream(branch, seq, prefix, after, PAGE)

    def _stream(
        self, branch: str, seq: int | None, prefix: str, after: str, first: int
    ) -> Iterator[State]:
        from holdfast.store import listing

        with self._reader:
            point = self._point(branch, seq)

        def read_page(at: str, limit: int) -> tuple[list[State], str | None]:
            with self._reader:
                tables, decode = self.engine.tables, self.engine.decode
                return listing.page(tables, decode, point, prefix, at, limit)

        return listing.stream(read_page, after, first)

    def page(
        self,
        branch: str = MAIN,
        seq: int | None = None,
        prefix: str = "",
        after: str = "",
        limit: int = 100,
    ) -> tuple[list[State], bool]:
        """Up to `limit` documents after an id, by id, and whether there are more."""
        from itertools import islice

        states = list(islice(self._stream(branch, seq, prefix, after, limit + 1), limit + 1))
        return states[:limit], len(states) > limit

    def scan(self, first: str, last: str, limit: int = 1_000_000) -> list[State]:
        """The documents of the default branch with ids from `first` up to `last`, by id.

        Deleted ones are left out.
        """
        for bound in (first, last):
            problem = text_problem(bound)
            if problem:
                raise QueryError(f"a scan cannot start or end at {bound!r}: it {problem}")
        with self._reader:
            rows = self.engine.tables.heads_between(MAIN, EntityId(first), EntityId(last), limit)
            states = (self.engine.state_of(MAIN, id, row) for id, row in rows)
            return [state for state in states if state.document is not None]

    def query(self, query: Mapping[str, Any], limits: GraphLimits | None = None) -> QueryResult:
        """Every document that a graph query reaches, all as of one moment.

        Honours `branch` and `atSeq`; `serverSeq` is the newest seq even then.
        """
        from holdfast.store.graph import (
            DEFAULT_LIMITS,
            Loaded,
            QueryResult,
            point_of,
            query_graph,
        )

        branch, at = point_of(query)
        with self._at_one_moment():
            engine = self.engine
            on = replay.required_branch(engine.tables, branch)
            if at is not None:
                replay.check_range(on, at)

            def load(id: EntityId) -> Loaded | None:
                state = engine.state(id, branch, at)
                return None if state is None else Loaded(state.seq, state.document)

            entities = query_graph(load, query, space=self.space, limits=limits or DEFAULT_LIMITS)
            return QueryResult(engine.tables.newest_seq(), tuple(entities))

    def author_of(self, state: State) -> Author | None:
        """The author of a document's current state; for a merged one, its author on the branch."""
        from holdfast.store.author import author_in

        tables, decode, seq = self.engine.tables, self.engine.decode, state.seq
        with self._reader:
            while (row := tables.commit_at(seq)) is not None:
                if row.merged is None:
                    return author_in(decode(row.original))
                source, upto = decode(row.merged)
                below = tables.seqs_of(BranchName(source), state.id, Seq(upto + 1), 1)
                if not below:
                    return author_in(decode(row.original))
                seq = below[0]
            return None
