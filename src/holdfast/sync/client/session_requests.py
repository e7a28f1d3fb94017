"""The requests of a session other than commits and watches, and the message that each sends.

The session decides how a request is sent, and what happens to it when the connection breaks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from holdfast.ids import MAIN, LocalSeq, SpaceId
from holdfast.sync.client.outcome import Outcome
from holdfast.sync.wire.messages import (
    BranchCreate,
    BranchDelete,
    BranchDiff,
    BranchList,
    BranchMerge,
    GraphQuery,
    HistoryRead,
    Request,
)

NEEDED: Final[Mapping[Callable[..., Request], str]] = {
    BranchCreate: "branches",
    BranchDelete: "branches",
    BranchList: "branches",
    BranchDiff: "branches",
    BranchMerge: "branches",
    HistoryRead: "history",
}
"""The capability that a kind of request needs."""

WRITES: Final[frozenset[Callable[..., Request]]] = frozenset({BranchCreate, BranchDelete})
"""Requests that are not sent again automatically: the first one may have been carried out."""


class SessionRequests(ABC):
    """The requests of a session. An outcome is the `ok` of the answer."""

    space: SpaceId

    @abstractmethod
    def _request(
        self, build: Callable[[str], Request], needs: str | None = None, reads: bool = True
    ) -> Outcome[Any]: ...

    @abstractmethod
    def id(self) -> str: ...

    @abstractmethod
    def _take_local_seq(self) -> LocalSeq: ...

    def _send(self, kind: Callable[..., Request], **members: Any) -> Outcome[Any]:
        # The session may get its id only when the request is sent.
        return self._request(
            lambda request: kind(
                request_id=request, space=self.space, session_id=self.id(), **members
            ),
            NEEDED.get(kind),
            reads=kind not in WRITES,
        )

    def query(self, query: Mapping[str, Any]) -> Outcome[Any]:
        """Read a graph once."""
        return self._send(GraphQuery, query=dict(query))

    def create_branch(
        self, name: str, parent: str = MAIN, fork_seq: int | None = None
    ) -> Outcome[Any]:
        return self._send(
            BranchCreate,
            local_seq=self._take_local_seq(),
            name=name,
            parent_branch=parent,
            fork_seq=fork_seq,
        )

    def delete_branch(self, name: str) -> Outcome[Any]:
        return self._send(BranchDelete, local_seq=self._take_local_seq(), name=name)

    def branches(self, include_deleted: bool = False) -> Outcome[Any]:
        return self._send(BranchList, include_deleted=include_deleted)

    def diff_branch(self, branch: str, against: str | None = None) -> Outcome[Any]:
        return self._send(BranchDiff, branch=branch, against=against)

    def propose_merge(
        self, source: str, target: str = MAIN, resolutions: Mapping[str, Any] | None = None
    ) -> Outcome[Any]:
        settled = None if resolutions is None else dict(resolutions)
        return self._send(BranchMerge, source=source, target=target, resolutions=settled)

    def history(
        self,
        from_seq: int,
        to_seq: int | None = None,
        branch: str | None = None,
        ids: Sequence[str] | None = None,
        limit: int = 256,
    ) -> Outcome[Any]:
        return self._send(
            HistoryRead,
            from_seq=from_seq,
            to_seq=to_seq,
            branch=branch,
            ids=None if ids is None else list(ids),
            limit=limit,
        )
