"""The requests of a session, apart from commits: from the message to the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.errors import StoreError
from holdfast.ids import MAIN, BranchName, LocalSeq, Seq
from holdfast.store import branch_merge
from holdfast.store.errors import QueryError, StoreUnreachable
from holdfast.store.graph import TrackedGraph, roots_of
from holdfast.store.model import DELETED, CommitKey
from holdfast.store.store import Store
from holdfast.sync.server import notify
from holdfast.sync.server.access import Right
from holdfast.sync.server.context import Peer
from holdfast.sync.server.session_registry import ServerSession
from holdfast.sync.server.settings import Action
from holdfast.sync.server.space import Space
from holdfast.sync.wire import messages
from holdfast.sync.wire.errors import ProtocolError, TooManyWatches
from holdfast.sync.wire.messages import (
    Ack,
    BranchCreate,
    BranchDelete,
    BranchDiff,
    BranchList,
    BranchMerge,
    Command,
    GraphQuery,
    HistoryRead,
    Sync,
    WatchAdd,
    WatchSet,
)


class Commands:
    """The requests of one connection."""

    def __init__(self, connection: Peer) -> None:
        self._connection = connection
        self._server = connection.server

    def run(self, request: Command) -> Any:
        """Execute a request as of the newest seq; the `ok` of the response."""
        session, space = self._admitted(request, Right.READ)
        match request:
            case Ack():
                return self._ack(request, space, session)
            case GraphQuery():
                return self._query(request, space)
            case WatchSet():
                return self._watch_set(request, space, session)
            case WatchAdd():
                return self._watch_add(request, space, session)
            case BranchList():
                self._need("branches", request)
                return self._branches(request, space)
            case BranchDiff():
                self._need("branches", request)
                return _evaluated(lambda: self._diff(request, space))
            case BranchMerge():
                self._need("branches", request)
                return self._merge(request, space)
            case HistoryRead():
                self._need("history", request)
                return _evaluated(lambda: self._history(request, space))
            case _:
                raise AssertionError(f"no such command: {type(request).__name__}")

    def _admitted(self, request: Command, right: Right) -> tuple[ServerSession, Space]:
        """The session of the request and its space, if it has that right now."""
        session = self._connection.session(request.space, request.session_id)
        space = self._server.spaces[session.space]
        # The log first: a commit of another server may have revoked the right or the session.
        space.advance()
        self._connection.session(request.space, request.session_id)
        self._server.access[session.space].require(session.principal, right)
        return session, space

    def _need(self, capability: str, request: Command) -> None:
        if capability not in self._connection.capabilities:
            tag = request.__struct_config__.tag
            raise ProtocolError(
                f"{tag} needs the capability {capability}",
                hint=f'name it in the hello: "capabilities":["{capability}"]',
            )

    # reading

    def _ack(self, request: Ack, space: Space, session: ServerSession) -> Any:
        session.acknowledged(Seq(request.seen_seq))
        return {"serverSeq": space.seq}

    def _query(self, request: GraphQuery, space: Space) -> Any:
        query = request.query
        if query.get("subscribe") is True:
            raise ProtocolError(
                "live graph.query subscriptions were removed; use session.watch.set"
            )
        branch, at = query.get("branch"), query.get("atSeq")
        if branch is not None and not isinstance(branch, str):
            raise QueryError("the branch of a query must be a string")
        if at is not None and (isinstance(at, bool) or not isinstance(at, int)):
            raise QueryError("the atSeq of a query must be a seq")

        def evaluate() -> Any:
            name, limits = BranchName(branch or MAIN), self._server.limits.graph
            view = space.view_at(name, None if at is None else Seq(at))
            graph = TrackedGraph(name, space.name, limits, space.views().memo)
            graph.grow(view, roots_of(query, limits))
            return graph.entities()

        return {"serverSeq": space.seq, "entities": _evaluated(evaluate)}

    # watching

    def _watch_set(self, request: WatchSet, space: Space, session: ServerSession) -> Any:
        self._count(len(request.watches))
        views = space.views()
        before = session.watch_set.tracked()
        sync = _evaluated(
            lambda: session.watch_set.replace(
                request.watches, views, session.seen_seq, session.synced_seq
            )
        )
        for branch, ids in before:
            space.untrack(session, branch, ids)
        session.stale.clear()
        space.stale.pop(session, None)
        notify.track(space, session)
        return self._synced(space, session, sync)

    def _watch_add(self, request: WatchAdd, space: Space, session: ServerSession) -> Any:
        fresh = _evaluated(lambda: session.watch_set.new_watches(request.watches))
        self._count(len(session.watch_set.watches) + len(fresh))
        if "coverage" in self._connection.capabilities:
            # Pending changes must be sent before `toSeq` promises that nothing is missing.
            self._server.notifier.send_changes(self._connection, space, session, space.views())
            # That may have ended the session, if its graph had grown too large.
            self._connection.session(request.space, request.session_id)
        sync, tracked = _evaluated(
            lambda: session.watch_set.add(fresh, space.views(), session.synced_seq)
        )
        for branch, ids in tracked.items():
            space.track(session, branch, ids)
        return self._synced(space, session, sync)

    def _count(self, watches: int) -> None:
        most = self._server.limits.watches_per_session
        if watches > most:
            raise TooManyWatches(most)

    def _synced(self, space: Space, session: ServerSession, sync: Sync) -> Any:
        session.synced_seq = Seq(sync.to_seq)
        self._server.registry.keep(session, urgent=True)
        return {"serverSeq": space.seq, "sync": messages.to_wire(sync)}

    # branches

    def lifecycle(self, request: BranchCreate | BranchDelete) -> Action:
        """The action on the store, if the session may do it."""
        session, space = self._admitted(request, Right.WRITE)
        guard = self._server.access[space.name].guard(session.principal, Right.WRITE)
        self._need("branches", request)
        by = CommitKey(session.id, LocalSeq(request.local_seq))

        def act(store: Store) -> dict[str, Any]:
            if isinstance(request, BranchCreate):
                branch = store.create_branch(
                    request.name, request.parent_branch, request.fork_seq, by, guard
                )
            else:
                branch = store.delete_branch(request.name, by, guard)
            with store.reading() as engine:
                seq = engine.tables.seq_of(by)
            return {"seq": seq, "branch": branch.to_wire()}

        return act

    def _branches(self, request: BranchList, space: Space) -> Any:
        branches = [
            branch.to_wire()
            for branch in space.store.branches()
            if request.include_deleted or branch.status != DELETED
        ]
        return {"serverSeq": space.seq, "branches": branches}

    def _diff(self, request: BranchDiff, space: Space) -> Any:
        with space.store.reading() as engine:
            tables = engine.tables
            after = branch_merge.now(tables, BranchName(request.branch))
            before = (
                branch_merge.fork_point(tables, after.branch)
                if request.against is None
                else branch_merge.now(tables, BranchName(request.against))
            )
            differences = branch_merge.differences(tables, engine.decode, before, after)
        by_kind: dict[str, list[Any]] = {"added": [], "removed": [], "modified": []}
        for difference in differences:
            by_kind[difference.kind].append(difference.id)
        documents = [difference.to_wire() for difference in differences]
        return {"serverSeq": space.seq, **by_kind, "documents": documents}

    def _merge(self, request: BranchMerge, space: Space) -> Any:
        """Propose a merge. The client sends the commit itself, or resolves clashes first."""
        with space.store.reading() as engine:
            proposal = branch_merge.propose(
                engine.tables,
                engine.decode,
                BranchName(request.source),
                BranchName(request.target),
                request.resolutions,
            )
        commit = proposal.to_commit(0)
        del commit["localSeq"]
        return {
            "serverSeq": space.seq,
            "commit": commit,
            "clashes": [clash.to_wire() for clash in proposal.clashes],
        }

    # history

    def _history(self, request: HistoryRead, space: Space) -> Any:
        newest = space.seq
        last = newest if request.to_seq is None else min(Seq(request.to_seq), newest)
        limit = min(max(request.limit, 1), self._server.limits.history_page_max)
        ids = None if request.ids is None else set(request.ids)
        changes: list[Any] = []
        at = Seq(request.from_seq)
        # The limit counts commits read, not found: a search for a rare id must not block others.
        with space.store.reading() as engine:
            for row in engine.tables.commits(at, limit):
                if row.seq > last:
                    break
                at = row.seq
                if request.branch is None or row.branch == request.branch:
                    change = _change(row, engine.decode(row.original), ids)
                    changes += [] if change is None else [change]
        return {"serverSeq": newest, "changes": changes, "atSeq": at, "more": at < last}


def _change(row: Any, original: Any, ids: set[str] | None) -> dict[str, Any] | None:
    """A commit as history shows it; None if it wrote none of the wanted documents."""
    operations = [
        operation
        for operation in original.get("operations", ())
        if ids is None or operation["id"] in ids
    ]
    if not operations and ids is not None:
        return None
    change = {
        "seq": row.seq,
        "branch": row.branch,
        "sessionId": row.session,
        "localSeq": row.local_seq,
        "createdAt": row.created_at,
        "operations": operations,
    }
    details = {name: original[name] for name in ("branchLifecycle", "author") if original.get(name)}
    return {**change, **details}


def _evaluated(evaluate: Callable[[], Any]) -> Any:
    """Evaluate a query; what the store refuses is a QueryError."""
    try:
        return evaluate()
    except (QueryError, StoreUnreachable):
        raise
    except StoreError as error:
        raise QueryError(str(error), hint=error.hint) from None
