"""The verbs of memory. Each takes an open store and values, and returns a typed answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.store import patch, pointer
from holdfast.store.author import Author
from holdfast.store.errors import BranchError, MisplacedPatch
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
from holdfast.store.model import ACTIVE, Applied, CommitKey, Document
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
        within = patch.has(state.document, ("value", *path))
        return MissingPart(id, at_pointer, f"/value{at_pointer}" if within else None)
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
        documents = [FoundDocument(state.id, state.seq, state.document) for state in listed]
    else:
        roots = [{"id": id, "selector": {"path": [], "schema": links}} for id in ids]
        query: dict[str, Any] = {"roots": roots, "branch": branch}
        if at is not None:
            query["atSeq"] = at
        reached = store.query(query).entities
        documents = [FoundDocument(one["id"], one["seq"], one.get("document")) for one in reached]
    fragment = contains.casefold()
    if fragment:
        documents = [
            one
            for one in documents
            if fragment in json.dumps(one.document, ensure_ascii=False).casefold()
        ]
    if after:
        documents = [one for one in documents if one.id > after]
    return FoundDocuments(store.newest_seq(), tuple(documents[:limit]), len(documents))


def commit(
    store: Store,
    by: CommitKey,
    operations: Sequence[Mapping[str, Any]],
    reads: Sequence[tuple[str, int]] = (),
    branch: str = "",
    author: Author | None = None,
) -> Applied:
    """Write documents in one commit; each read is a document and the seq it was seen at.

    Raises `MisplacedPatch` if a patch would add a member beside the value of a document.
    """
    check_patches(store, operations, branch)
    confirmed = [{"id": id, "path": [], "seq": seq} for id, seq in reads]
    message = {
        "localSeq": by.local_seq,
        "branch": branch,
        "reads": {"confirmed": confirmed, "pending": []},
        "operations": list(operations),
        **({"author": author.to_wire()} if author else {}),
    }
    return store.transact(by.session, message)


KNOWN_MEMBERS = ("value", "source")
"""The members of a document that the protocol names."""


def check_patches(store: Store, operations: Sequence[Mapping[str, Any]], branch: str) -> None:
    """Raise `MisplacedPatch` for a patch that creates a member beside `value`.

    The protocol allows it, but a writer of `/text` nearly always means `/value/text`.
    """
    documents: dict[str, Document | None] = {}
    for operation in operations:
        id, op = operation.get("id"), operation.get("op")
        if not isinstance(id, str):
            continue
        if op != "patch":
            documents[id] = operation.get("value") if op == "set" else None
            continue
        if id not in documents:
            documents[id] = store.read(id, branch)
        # A patch may create a document; its members are judged as those of an empty one.
        document = {} if documents[id] is None else documents[id]
        if not isinstance(document, Mapping) or (document and "value" not in document):
            continue
        for one in operation.get("patches") or ():
            for name in ("path", "from"):
                at = one.get(name) if isinstance(one, Mapping) else None
                first = at.split("/")[1] if isinstance(at, str) and at.startswith("/") else ""
                if first and first not in document and first not in KNOWN_MEMBERS:
                    raise MisplacedPatch(id, str(at))


def history(
    store: Store,
    id: str | None = None,
    branch: str | None = None,
    before: int | None = None,
    limit: int = 20,
) -> History:
    """The newest commits of the space, of a branch, or of one document."""
    # One more than requested, to know whether there are older ones.
    entries = store.log(id, branch, before, limit + 1)
    return History(id, tuple(entries[:limit]), len(entries) > limit)


def branches(store: Store) -> Branches:
    merged_up_to = store.merges()
    rows = tuple(store.branches())
    merged = {
        branch.name
        for branch in rows
        if branch.status != ACTIVE and merged_up_to.get(branch.name, -1) >= branch.head_seq
    }
    return Branches(rows, frozenset(merged))


def create_branch(
    store: Store,
    by: CommitKey,
    name: str,
    parent: str = "",
    at: int | None = None,
    author: Author | None = None,
) -> BranchCreated:
    return BranchCreated(store.create_branch(name, parent, at, by, author=author))


def delete_branch(
    store: Store, by: CommitKey, name: str, author: Author | None = None
) -> BranchDeleted:
    return BranchDeleted(store.delete_branch(name, by, author=author))


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
    author: Author | None = None,
    close_by: CommitKey | None = None,
) -> Merged | MergePreview | MergeConflicts:
    """Merge a branch in one commit. `take` resolves what `resolutions` leaves open.

    With `close_by`, the key of a second commit, a branch that was merged into the one it was
    forked from is closed, unless it was written meanwhile.
    """
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
    applied = store.merge(by, source, target, resolved, author)
    closed = False
    if applied is not None and close_by is not None:
        closed = _close(store, close_by, source, target, proposal.source.seq, author)
    return Merged(source, target, applied, closed)


def _close(
    store: Store, by: CommitKey, name: str, into: str, merged_up_to: int, author: Author | None
) -> bool:
    """Close a branch that was merged into its parent; false if it stays open."""
    branch = store.branch(name)
    if branch is None or branch.parent != into:
        return False
    try:
        store.delete_branch(name, by, author=author, merged_up_to=merged_up_to)
    except BranchError:
        return False  # it was written after the merge
    return True
