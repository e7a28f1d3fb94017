"""A result that is known later: the answer to a request, the outcome of a commit.

The client core has no event loop, so it has no futures of one. An outcome is what it hands out
instead; an adapter turns it into an awaitable.
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
        made = cls()
        made.resolve(result)
        return made

    @classmethod
    def failed(cls, error: Exception) -> Outcome[Result]:
        made = cls()
        made.reject(error)
        return made

    def resolve(self, result: Result) -> None:
        if not self.settled:
            self._result = result
            self._settle()

    def reject(self, error: Exception) -> None:
        if not self.settled:
            self.error = error
            self._settle()

    def result(self) -> Result:
        """The result; raises the error if that is what it came to."""
        assert self.settled, "not known yet"
        if self.error is not None:
            raise self.error
        return self._result  # type: ignore[return-value]

    def then(self, listener: Callable[[Outcome[Result]], None]) -> None:
        """Call `listener` once this is settled; at once if it is."""
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
    """Known once all of them are, whatever they came to."""
    known: Outcome[None] = Outcome()
    left = len(outcomes)
    if not left:
        known.resolve(None)

    def one_less(_: Outcome[Any]) -> None:
        nonlocal left
        left -= 1
        if not left:
            known.resolve(None)

    for outcome in outcomes:
        outcome.then(one_less)
    return known
