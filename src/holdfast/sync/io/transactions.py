"""Transactions of the two kinds of space: one that blocks, and one for an event loop.

Both commit when their block ends cleanly, wait for the server's verdict and raise a refusal there;
an exception in the block rolls back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from holdfast.store.pointer import ROOT
from holdfast.sync.client.commits import Landed
from holdfast.sync.client.outcome import Outcome
from holdfast.sync.client.transaction import Transaction
from holdfast.sync.io.link import Link


class LockedTransaction:
    """A transaction whose steps do not overlap with messages from the server."""

    def __init__(self, link: Link, inner: Transaction) -> None:
        self._link, self.inner = link, inner

    def read(self, id: str, path: Sequence[str] = ROOT, **where: Any) -> Any:
        with self._link.lock:
            return self.inner.read(id, path, **where)

    def read_value(self, id: str, path: Sequence[str] = ROOT, **where: Any) -> Any:
        with self._link.lock:
            return self.inner.read_value(id, path, **where)

    def get(self, id: str, path: Sequence[str] = ROOT, default: Any = None, **where: Any) -> Any:
        with self._link.lock:
            return self.inner.get(id, path, default, **where)

    def write(self, id: str, path: Sequence[str], value: Any, **where: Any) -> None:
        with self._link.lock:
            self.inner.write(id, path, value, **where)

    def write_value(self, id: str, path: Sequence[str], value: Any, **where: Any) -> None:
        with self._link.lock:
            self.inner.write_value(id, path, value, **where)

    def delete(self, id: str, **where: Any) -> None:
        with self._link.lock:
            self.inner.delete(id, **where)

    def submit(self) -> Outcome[Landed | None]:
        """Show the commit and send it, without waiting; the outcome is the server's verdict."""
        with self._link.lock:
            return self.inner.commit()

    def abort(self) -> None:
        """Roll back: end without a commit."""
        with self._link.lock:
            self.inner.abort()


class BlockingTransaction(LockedTransaction):
    """For programs without an event loop: `with space.transaction() as tx:`."""

    def __init__(
        self,
        link: Link,
        inner: Transaction,
        wait: Callable[[Outcome[Landed | None], float | None], Landed | None],
        timeout_s: float | None,
    ) -> None:
        super().__init__(link, inner)
        self._wait, self._timeout_s = wait, timeout_s

    def commit(self, timeout_s: float | None = None) -> Landed | None:
        """Commit and wait for the verdict; None if nothing changed. Raises a refusal."""
        return self._wait(self.submit(), self._timeout_s if timeout_s is None else timeout_s)

    def __enter__(self) -> BlockingTransaction:
        return self

    def __exit__(self, kind: object, *exception: object) -> None:
        if kind is not None:
            self.abort()
        elif not self.inner.ended:
            self.commit()


class AsyncTransaction(LockedTransaction):
    """For programs with an event loop: `async with space.transaction() as tx:`."""

    async def commit(self) -> Landed | None:
        """Commit and wait for the verdict; None if nothing changed. Raises a refusal."""
        return await self._link.settled(self.submit())

    async def __aenter__(self) -> AsyncTransaction:
        return self

    async def __aexit__(self, kind: object, *exception: object) -> None:
        if kind is not None:
            self.abort()
        elif not self.inner.ended:
            await self.commit()
