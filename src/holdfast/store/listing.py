"""List the documents of a branch by id, a page at a time, now or as of a seq.

A branch has its own documents and, below them, those of its parents. The heads of each are sorted
by id, so a listing merges a few ordered runs and holds one page of each: its cost depends on the
documents it returns, not on the history behind them.

A listing far back in a long history is the exception: most heads belong to documents that did not
exist yet. Then the commits up to that seq, which are fewer, tell which documents may exist.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter

from holdfast.ids import BranchName, EntityId, Seq
from holdfast.store import replay
from holdfast.store.branch import ancestry
from holdfast.store.branch_merge import Point
from holdfast.store.model import Branch, State
from holdfast.store.replay import Decode
from holdfast.store.tables import RevisionRow, Tables

PAGE = 500

COMMITS_MAX = 20_000
"""At most this many commits are read to learn which documents existed."""


def page(
    tables: Tables, decode: Decode, point: Point, prefix: str, after: str, limit: int
) -> tuple[list[State], str | None]:
    """Up to `limit` documents with an id above `after`, and the id to continue after, if any."""
    states: list[State] = []
    for looked, (state, id) in enumerate(walk(tables, decode, point, prefix, after), 1):
        if state is not None and state.document is not None:
            states.append(state)
        if len(states) >= limit or looked >= PAGE * 4:
            return states, id
    return states, None


def walk(
    tables: Tables, decode: Decode, point: Point, prefix: str = "", after: str = ""
) -> Iterator[tuple[State | None, str]]:
    """Every document the branch may have at a point, by id; None where it does not exist."""
    lines = ancestry(tables, point.branch)
    few = _ids_by_commits(tables, decode, lines, point.seq)
    if few is not None:
        for id in sorted(few):
            if id > after and id.startswith(prefix):
                yield replay.state_at(tables, decode, point.branch, id, point.seq), id
        return
    runs = [_run(tables, line.name, place, prefix, after) for place, line in enumerate(lines)]
    for id, entries in groupby(heapq.merge(*runs), key=itemgetter(0)):
        _, place, row = next(entries)
        entity = EntityId(id)
        if place == 0 and row.seq <= point.seq:
            # Its newest revision is the one at this point: no need to look for another.
            yield replay.state_of(tables, decode, point.branch, entity, row), id
        else:
            yield replay.state_at(tables, decode, point.branch, entity, point.seq), id


def _run(
    tables: Tables, name: BranchName, place: int, prefix: str, after: str
) -> Iterator[tuple[str, int, RevisionRow]]:
    """The heads of one branch, by id, with the branch's position in the ancestry."""
    size = 64
    while True:
        heads = tables.heads_after(name, EntityId(after), prefix, size)
        for id, row in heads:
            if not id.startswith(prefix):
                return
            yield id, place, row
        if len(heads) < size:
            return
        after, size = heads[-1][0], PAGE


def _ids_by_commits(
    tables: Tables, decode: Decode, lines: list[Branch], seq: Seq
) -> set[EntityId] | None:
    """The documents that commits up to a seq wrote on these branches; None if heads are fewer."""
    if seq >= lines[0].head_seq:
        return None  # the heads are exactly these documents
    if seq > COMMITS_MAX or not tables.heads_exceed(lines[-1].name, max(seq * 2, PAGE)):
        return None
    names = {line.name for line in lines}
    ids: set[EntityId] = set()
    at = Seq(0)
    while at < seq:
        for row in tables.commits(at, min(PAGE, seq - at)):
            at = row.seq
            if row.branch in names:
                operations = decode(row.original).get("operations", ())
                ids.update(EntityId(operation["id"]) for operation in operations)
    return ids


def stream(
    read_page: Callable[[str, int], tuple[list[State], str | None]], after: str, first: int
) -> Iterator[State]:
    """Every document, in pages; `first` is the size of the first. Nothing is held between them."""
    at: str | None = after
    size = first
    while at is not None:
        states, at = read_page(at, size)
        size = PAGE
        yield from states
