"""What a session can be asked besides committing and watching: each verb, and the message it sends.

How a question is sent, and what becomes of it when the connection breaks, the session decides.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

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


class SessionRequests(ABC):
    """The questions of a session. An outcome is the `ok` of the answer."""

    space: SpaceId

    @abstractmethod
    def _request(self, build: Callable[[str], Request]) -> Outcome[Any]: ...

    @abstractmethod
    def id(self) -> str: ...

    @abstractmethod
    def _take_local_seq(self) -> LocalSeq: ...

    def query(self, query: Mapping[str, Any]) -> Outcome[Any]:
        """Read a graph once."""
        return self._request(
            lambda request: GraphQuery(
                request_id=request, space=self.space, session_id=self.id(), query=dict(query)
            )
        )

    def create_branch(
        self, name: str, parent: str = MAIN, fork_seq: int | None = None
    ) -> Outcome[Any]:
        local_seq = self._take_local_seq()
        return self._request(
            lambda request: BranchCreate(
                request_id=request,
                space=self.space,
                session_id=self.id(),
                local_seq=local_seq,
                name=name,
                parent_branch=parent,
                fork_seq=fork_seq,
            )
        )

    def delete_branch(self, name: str) -> Outcome[Any]:
        local_seq = self._take_local_seq()
        return self._request(
            lambda request: BranchDelete(
                request_id=request,
                space=self.space,
                session_id=self.id(),
                local_seq=local_seq,
                name=name,
            )
        )

    def branches(self, include_deleted: bool = False) -> Outcome[Any]:
        return self._request(
            lambda request: BranchList(
                request_id=request,
                space=self.space,
                session_id=self.id(),
                include_deleted=include_deleted,
            )
        )

    def diff_branch(self, branch: str, against: str | None = None) -> Outcome[Any]:
        return self._request(
            lambda request: BranchDiff(
                request_id=request,
                space=self.space,
                session_id=self.id(),
                branch=branch,
                against=against,
            )
        )

    def propose_merge(
        self, source: str, target: str = MAIN, resolutions: Mapping[str, Any] | None = None
    ) -> Outcome[Any]:
        return self._request(
            lambda request: BranchMerge(
                request_id=request,
                space=self.space,
                session_id=self.id(),
                source=source,
                target=target,
                resolutions=None if resolutions is None else dict(resolutions),
            )
        )

    def history(
        self,
        from_seq: int,
        to_seq: int | None = None,
        branch: str | None = None,
        ids: Sequence[str] | None = None,
        limit: int = 256,
    ) -> Outcome[Any]:
        return self._request(
            lambda request: HistoryRead(
                request_id=request,
                space=self.space,
                session_id=self.id(),
                from_seq=from_seq,
                to_seq=to_seq,
                branch=branch,
                ids=None if ids is None else list(ids),
                limit=limit,
            )
        )
