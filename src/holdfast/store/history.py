"""The commit log of a space, a branch or a document, newest first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from holdfast.ids import MAIN, BranchName, EntityId, Seq
from holdfast.store import replay
from holdfast.store.author import Author, author_in
from holdfast.store.checks import GENESIS_CHAIN
from holdfast.store.model import lifecycle_of, name_problem
from holdfast.store.tables import CommitRow, Tables, is_linked

_MOST = 2**62
_PAGE = 200


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One commit: when it landed, its session, and what it did to which documents."""

    seq: Seq
    branch: BranchName
    session: str
    local_seq: int
    created_at: str
    kind: str
    operations: tuple[tuple[str, str], ...]
    author: Author | None = None
    """As the writer said; None for a commit that does not name one."""

    def to_wire(self) -> dict[str, Any]:
        return {
            "seq": self.seq,
            "branch": self.branch,
            "sessionId": self.session,
            "localSeq": self.local_seq,
            "createdAt": self.created_at,
            "kind": self.kind,
            "operations": [{"op": op, "id": id} for op, id in self.operations],
            **({"author": self.author.to_wire()} if self.author else {}),
        }


def log(
    tables: Tables,
    decode: Callable[[str], Any],
    id: str | None,
    branch: str | None,
    before: int | None,
    limit: int,
) -> list[LogEntry]:
    """Commits below `before`, newest first; of one branch, or of one document on a branch."""
    # Clamped to what both engines can store; there are never more commits.
    at = Seq(_MOST if before is None else max(0, min(before, _MOST)))
    limit = max(0, min(limit, _MOST))
    if branch is not None:
        replay.required_branch(tables, BranchName(branch))
    if id is not None:
        on = MAIN if branch is None else BranchName(branch)
        if name_problem(id):
            return []
        seqs = tables.seqs_of(on, EntityId(id), at, limit)
        rows = [row for seq in seqs if (row := tables.commit_at(seq)) is not None]
        return [_entry(row, decode) for row in rows]
    entries: list[LogEntry] = []
    while len(entries) < limit:
        page = tables.commits_before(at, _PAGE)
        entries += [_entry(row, decode) for row in page if branch is None or row.branch == branch]
        if len(page) < _PAGE:
            break
        at = page[-1].seq
    return entries[:limit]


def broken_link(tables: Tables) -> int | None:
    """The seq of the first commit that does not match its hash; None if the chain holds."""
    link, at = GENESIS_CHAIN, 0
    while page := tables.commits_unchecked(Seq(at), _PAGE):
        for row in page:
            at += 1
            if row.seq != at or not is_linked(row, link):
                return at
            link = row.chain
    return None


def _entry(row: CommitRow, decode: Callable[[str], Any]) -> LogEntry:
    message = decode(row.original)
    lifecycle = lifecycle_of(message)
    if lifecycle is not None:
        kind, operations = f"branch {lifecycle['op']}", []
    else:
        merged = message.get("merge")
        is_merge = isinstance(merged, dict) and isinstance(merged.get("sourceBranch"), str)
        kind = f"merge {merged['sourceBranch']}" if is_merge else "commit"
        kind = "squashed" if row.squashed else kind
        operations = [(op["op"], op["id"]) for op in message["operations"]]
    return LogEntry(
        row.seq,
        row.branch,
        row.session,
        row.local_seq,
        row.created_at,
        kind,
        tuple(operations),
        author_in(message),
    )
