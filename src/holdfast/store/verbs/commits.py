"""Writing commits, one at a time or queued."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from holdfast.errors import StoreError
from holdfast.ids import LocalSeq, SessionId
from holdfast.store.model import Applied, Commit, CommitKey, Guard
from holdfast.store.verbs.space import Space


class CommitVerbs(Space):
    """How a session writes."""

    def transact(
        self, session: str, commit: Mapping[str, Any], guard: Guard | None = None
    ) -> Applied:
        """Commit (in wire form) and return when it is durable; raises if it is refused."""
        engine, by = self.engine, SessionId(session)
        parsed = engine.parse(by, commit)
        if commit.get("merge") is not None:
            self._check_merge(by, commit, parsed)
        # Checked before queueing unless another thread reads: writers do not wait for readers.
        if parsed.confirmed and self._reader.acquire(blocking=False):
            try:
                refusal = engine.refused_at_sight(by, parsed)
                if refusal is None:
                    engine.look_up_writes(parsed)
            finally:
                self._reader.release()
            if refusal is not None:
                raise refusal
        answer = self._group.do(engine.prepare(by, commit, parsed, guard))
        if isinstance(answer, StoreError):
            raise answer
        return answer

    def submit(
        self,
        session: str,
        commit: Mapping[str, Any],
        tell: Callable[[Applied | StoreError], None],
        guard: Guard | None = None,
    ) -> None:
        """Queue a commit; `tell` is called from another thread once its outcome is durable.

        A failure of the database itself is passed as a `StoreError` too.
        """
        by = SessionId(session)
        # Encoded before this returns: the caller may change its message afterwards.
        parsed = self.engine.parse(by, commit)
        if commit.get("merge") is not None:
            self._check_merge(by, commit, parsed)
        if parsed.confirmed and self._reader.acquire(blocking=False):
            try:
                self.engine.look_up_writes(parsed)
            finally:
                self._reader.release()
        request = self.engine.prepare(by, commit, parsed, guard)

        def tell_outcome(outcome: Applied | StoreError | BaseException) -> None:
            if isinstance(outcome, BaseException) and not isinstance(outcome, StoreError):
                outcome = StoreError(f"the database failed: {outcome}")
            tell(outcome)

        self._group.submit(request, tell_outcome)

    def _check_merge(self, by: SessionId, commit: Mapping[str, Any], parsed: Commit) -> None:
        """Refuse a commit that says it merges what it does not.

        Before the writer: a branch up to a seq does not change any more, and what the commit read
        is checked when it lands.
        """
        from holdfast.store import branch_merge

        with self._reader:
            tables, decode = self.engine.tables, self.engine.decode
            if tables.seq_of(CommitKey(by, parsed.local_seq)) is None:
                branch_merge.check_claim(tables, decode, parsed, commit["merge"])

    def next_local_seq(self, session: str) -> LocalSeq:
        """The first localSeq that a session has not used for an accepted commit."""
        with self._reader:
            return self.engine.next_local_seq(SessionId(session))
