"""Remove old history and keep what it led to: `holdfast memory gc --before SEQ|DATE`.

The texts of old commits and their revisions go. What stays:

- every document as of the oldest seq that can still be read, on every branch, as a whole document;
- every document as of the points that later reads and merges go back to: where a branch was forked,
  and what a merge merged;
- of every commit its row: seq, session, time, what it wrote to which documents, and the digest of
  its text. So seqs stay gap-free, a commit sent again is recognised, and the hash chain can still
  be checked from the first commit on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Any

import msgspec

from holdfast.ids import BranchName, Seq
from holdfast.store import checks, patch, replay
from holdfast.store.errors import OutOfRange
from holdfast.store.model import Branch, lifecycle_of
from holdfast.store.tables import SQUASHED, CommitRow, Row, Tables, checked_revision

_PAGE = 500


@dataclass(frozen=True, slots=True)
class Squashed:
    """How much was removed, and the oldest seq that can be read."""

    oldest_seq: Seq
    """The oldest seq that can be read."""

    commits: int
    """Commits whose text was removed."""

    revisions: int
    """Revisions that were removed."""

    def to_wire(self) -> dict[str, int]:
        return {
            "oldestSeq": self.oldest_seq,
            "commitsRemoved": self.commits,
            "revisionsRemoved": self.revisions,
        }


def seq_before(tables: Tables, before: int | str) -> Seq:
    """The newest seq below a seq, or before a time; 0 if there is none."""
    newest = tables.newest_seq()
    if isinstance(before, int):
        if not 0 <= before <= newest + 1:
            raise OutOfRange("", before, 0, newest + 1)
        return Seq(max(before - 1, 0))
    first = tables.first_commit_since(before)
    return newest if first is None else Seq(first - 1)


def squash(
    tables: Tables, encode: Callable[[Any], str], decode: Callable[[str], Any], base: Seq
) -> Squashed:
    """Remove history up to `base`; the caller's transaction must then rebuild derived state."""
    branches = {branch.name: branch for branch in tables.branches()}
    points = _points(tables, branches.values(), base)
    dropped = 0
    for (name, id), group in groupby(tables.all_revisions(), key=itemgetter(0, 1)):
        rows = [row for row in group if row[2] <= base]
        if rows:
            seqs = {_newest(rows, point) for point in points[name]}
            dropped += _thin(tables, encode, decode, branches[name], id, rows, seqs)
    commits = _remove_texts(tables, decode, base)
    for branch in branches.values():
        oldest = max(branch.oldest_seq, min(base, branch.head_seq))
        tables.put_branch(replace(branch, oldest_seq=oldest))
    return Squashed(max(base, *(b.oldest_seq for b in branches.values())), commits, dropped)


def _points(tables: Tables, branches: Iterable[Branch], base: Seq) -> dict[BranchName, set[Seq]]:
    """The seqs up to `base` at which each branch may still be read."""
    points: dict[BranchName, set[Seq]] = defaultdict(lambda: {base})
    for branch in branches:
        if branch.parent is not None and branch.fork_seq is not None:
            points[branch.parent].add(min(branch.fork_seq, base))
    for seq, target, merged in tables.merges():
        source, source_seq = msgspec.json.decode(merged)
        points[target].add(min(seq, base))
        points[BranchName(source)].add(min(source_seq, base))
    return points


def _newest(rows: list[Row], point: Seq) -> int:
    """The index of the newest revision at or before a point; -1 if there is none."""
    return max((place for place, row in enumerate(rows) if row[2] <= point), default=-1)


def _thin(
    tables: Tables,
    encode: Callable[[Any], str],
    decode: Callable[[str], Any],
    branch: Branch,
    id: str,
    rows: list[Row],
    seqs: set[int],
) -> int:
    """Keep some revisions of a document, as whole documents; returns how many were removed."""
    name = branch.name
    document: Any = None
    if rows[0][4] == "patch":
        below = replay.inherited(tables, decode, branch, id, rows[0][2])  # type: ignore[arg-type]
        document = None if below is None else below.document
    whole: list[tuple[Any, ...]] = []
    for place, row in enumerate(rows):
        seq, op_index, op, data = checked_revision(name, id, row[2:])
        if op == "patch":
            document = patch.apply_to_document(document, decode(data or "[]"))
        else:
            document = None if data is None else decode(data)
        if place in seqs:
            text = encode(document) if op == "patch" else data
            whole.append((name, id, seq, op_index, "delete" if op == "delete" else "set", text))
    # In this order: the same keys are written again.
    tables.drop_revisions(row[:4] for row in rows)
    tables.add_revisions(whole)
    return len(rows) - len(whole)


def _remove_texts(tables: Tables, decode: Callable[[str], Any], base: Seq) -> int:
    removed, after = 0, Seq(0)
    while page := [row for row in tables.commits(after, _PAGE) if row.seq <= base]:
        texts = [(row.seq, text) for row in page if (text := _left_of(row, decode)) is not None]
        tables.put_texts(texts)
        removed, after = removed + len(texts), page[-1].seq
    return removed


def _left_of(row: CommitRow, decode: Callable[[str], Any]) -> str | None:
    """The text that replaces the text of a commit; None if it is not replaced."""
    if row.squashed:
        return None
    message = decode(row.original)
    if lifecycle_of(message) is not None:
        return None
    operations = [{"op": one["op"], "id": one["id"]} for one in message["operations"]]
    rest = msgspec.json.encode(operations).decode()
    return f'{SQUASHED}{checks.text_digest(row.original).hex()}","operations":{rest}}}'
