"""The verbs of memory. Each takes an open store and values, and returns a typed answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.store import patch, pointer
from holdfast.store.memory.answers import (
    BranchCreated,
    BranchDeleted,
    BranchDiff,
    Branches,
    DocumentList,
    DocumentPart,
    FoundDocument,
    FoundDocuments,
    History,
    MergeConflicts,
    Merged,
    MergePreview,
    MissingDocument,
    MissingPart,
)
from holdfast.store.model import Applied, CommitKey
from holdfast.store.store import Store


def get(
    store: Store, id: str, at_pointer: str = "", branch: str = "", at: int | None = None
) -> DocumentPart | MissingDocument | MissingPart:
    """A document or a part of it, now or as of a seq."""
    state = store.state(id, branch, at)
    if state is None or state.document is None:
        return MissingDocument(id, at)
    path = pointer.parse(at_pointer)
    if not patch.has(state.document, path):
        return MissingPart(id, at_pointer)
    return DocumentPart(state, at_pointer, patch.get(state.document, path))


def list_documents(
    store: Store,
    prefix: str = "",
    branch: str = "",
    at: int | None = None,
    after: str = "",
    limit: int | None = None,
) -> DocumentList:
    """The documents whose id starts with `prefix` and follows `after`, now or as of a seq."""
    if limit is None:
        return DocumentList(tuple(store.stream(branch, at, prefix, after)))
    states, more = store.page(branch, at, prefix, after, limit)
    return DocumentList(tuple(states), more)


def find(
    store: Store,
    *,
    prefix: str = "",
    ids: Sequence[str] | None = None,
    links: bool = False,
    contains: str = "",
    branch: str = "",
    at: int | None = None,
    after: str = "",
    limit: int = 50,
) -> FoundDocuments:
    """Documents by prefix, or by `ids` with everything they link to; only those with a text."""
    if ids is None:
        listed = list_documents(store, prefix, branch, at).states
        found = [FoundDocument(state.id, state.seq, state.document) for state in listed]
    else:
        roots = [{"id": id, "selector": {"path": [], "schema": links}} for id in ids]
        query: dict[str, Any] = {"roots": roots, "branch": branch}
        if at is not None:
            query["atSeq"] = at
        reached = store.query(query).entities
        found = [FoundDocument(one["id"], one["seq"], one.get("document")) for one in reached]
    wanted = contains.casefold()
    if wanted:
        found = [
            one
            for one in found
            if wanted in json.dumps(one.document, ensure_ascii=False).casefold()
        ]
    if after:
        found = [one for one in found if one.id > after]
    return FoundDocuments(store.newest_seq(), tuple(found[:limit]), len(found))


def commit(
    store: Store,
    by: CommitKey,
    operations: Sequence[Mapping[str, Any]],
    reads: Sequence[tuple[str, int]] = (),
    branch: str = "",
) -> Applied:
    """Write documents in one commit; each read is a document and the seq it was seen at."""
    confirmed = [{"id": id, "path": [], "seq": seq} for id, seq in reads]
    message = {
        "localSeq": by.local_seq,
        "branch": branch,
        "reads": {"confirmed": confirmed, "pending": []},
        "operations": list(operations),
    }
    return store.transact(by.session, message)


def history(
    store: Store,
    id: str | None = None,
    branch: str | None = None,
    before: int | None = None,
    limit: int = 20,
) -> History:
    """The newest commits of the space, of a branch, or of one document."""
    # One more than requested, to know whether there are older ones.
    found = store.log(id, branch, before, limit + 1)
    return History(id, tuple(found[:limit]), len(found) > limit)


def branches(store: Store) -> Branches:
    return Branches(tuple(store.branches()))


def create_branch(
    store: Store, by: CommitKey, name: str, parent: str = "", at: int | None = None
) -> BranchCreated:
    return BranchCreated(store.create_branch(name, parent, at, by))


def delete_branch(store: Store, by: CommitKey, name: str) -> BranchDeleted:
    return BranchDeleted(store.delete_branch(name, by))


def diff(store: Store, branch: str, against: str | None = None) -> BranchDiff:
    """How a branch differs from its fork point, or from another branch."""
    return BranchDiff(tuple(store.diff(branch, against)))


def merge(
    store: Store,
    by: CommitKey,
    source: str,
    target: str = "",
    resolutions: Mapping[str, Any] | None = None,
    take: str | None = None,
    dry_run: bool = False,
) -> Merged | MergePreview | MergeConflicts:
    """Merge a branch in one commit. `take` resolves what `resolutions` leaves open."""
    if not dry_run:
        replayed = store.replayed_merge(by, source, target)
        if replayed is not None:
            return Merged(source, target, replayed)
    resolved = resolutions or {}
    proposal = store.propose_merge(source, target, resolved)
    if proposal.clashes and take is not None:
        resolved = {**{clash.id: take for clash in proposal.clashes}, **resolved}
        proposal = store.propose_merge(source, target, resolved)
    operations = tuple(proposal.operations)
    if proposal.clashes:
        return MergeConflicts(source, target, tuple(proposal.clashes), operations)
    if dry_run:
        return MergePreview(operations)
    return Merged(source, target, store.merge(by, source, target, resolved))
