"""A result that is known later: the answer to a request, the outcome of a commit.

The client core has no event loop, so it cannot return futures. It returns outcomes instead, and an
adapter turns them into awaitables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


class Outcome(Generic[Result]):
    """A result or an error, settled once. A listener added later is called at once."""

    __slots__ = ("_listeners", "_result", "error", "settled")

    def __init__(self) -> None:
        self.settled = False
        self.error: Exception | None = None
        self._result: Result | None = None
        self._listeners: list[Callable[[Outcome[Result]], None]] = []

    @classmethod
    def of(cls, result: Result) -> Outcome[Result]:
        outcome = cls()
        outcome.resolve(result)
        return outcome

    @classmethod
    def failed(cls, error: Exception) -> Outcome[Result]:
        outcome = cls()
        outcome.reject(error)
        return outcome

    def resolve(self, result: Result) -> None:
        if not self.settled:
            self._result = result
            self._settle()

    def reject(self, error: Exception) -> None:
        if not self.settled:
            self.error = error
            self._settle()

    def result(self) -> Result:
        """The result; raises the error if it failed."""
        assert self.settled, "not known yet"
        if self.error is not None:
            raise self.error
        return self._result  # type: ignore[return-value]

    def then(self, listener: Callable[[Outcome[Result]], None]) -> None:
        """Call `listener` once this is settled, or now if it is already."""
        if self.settled:
            listener(self)
        else:
            self._listeners.append(listener)

    def _settle(self) -> None:
        self.settled = True
        listeners, self._listeners = self._listeners, []
        for listener in listeners:
            listener(self)


def all_known(outcomes: Sequence[Outcome[Any]]) -> Outcome[None]:
    """Settled once all of them are, whether they succeeded or failed."""
    all_resolved: Outcome[None] = Outcome()
    pending = len(outcomes)
    if not pending:
        all_resolved.resolve(None)

    def one_less(_: Outcome[Any]) -> None:
        nonlocal pending
        pending -= 1
        if not pending:
            all_resolved.resolve(None)

    for outcome in outcomes:
        outcome.then(one_less)
    return all_resolved
