"""A proof with a deadline: a backend that hangs counts as a probe that could not finish.

One probe per root is under way at a time, so a hung backend costs one thread per root and not one
per call. A caller that comes meanwhile waits for it and then asks for itself: what was asked
before it came may have been answered before the index it asks about was published.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from holdfast.index.fingerprint import Fingerprint
from holdfast.index.proof import Proof, failed_probe, validate_completion_proof


class _Flight:
    def __init__(self) -> None:
        self.done = threading.Event()
        self.proof: Proof | None = None


class Prober:
    """Asks a backend for proofs, each within a deadline."""

    def __init__(
        self, backend: object, runtime: Callable[[], Fingerprint], timeout_s: float
    ) -> None:
        self._backend, self._runtime, self._timeout_s = backend, runtime, timeout_s
        self._lock = threading.Lock()
        self._flights: dict[str, _Flight] = {}

    def prove(self, root: str) -> Proof:
        return self.prove_all([root])[0]

    def prove_all(self, roots: Sequence[str]) -> list[Proof]:
        """A proof for each root. The probes run side by side, so one deadline covers them all."""
        deadline = time.monotonic() + self._timeout_s
        # Every probe that can start does, before we wait for any that is under way.
        flights = {root: self._start(root) for root in roots}
        return [self._wait(root, flights[root], deadline) for root in roots]

    def _start(self, root: str) -> _Flight | None:
        """Begin a probe; None if one is under way."""
        with self._lock:
            if root in self._flights:
                return None
            flight = self._flights[root] = _Flight()
        threading.Thread(target=self._run, args=(root, flight), daemon=True).start()
        return flight

    def _run(self, root: str, flight: _Flight) -> None:
        try:
            flight.proof = validate_completion_proof(root, self._backend, self._runtime())
        finally:
            with self._lock:
                del self._flights[root]
            flight.done.set()

    def _wait(self, root: str, flight: _Flight | None, deadline: float) -> Proof:
        while flight is None:
            with self._lock:
                under_way = self._flights.get(root)
            if under_way is not None and not under_way.done.wait(_left(deadline)):
                return self._too_late()
            flight = self._start(root)
        if not flight.done.wait(_left(deadline)):
            return self._too_late()
        return flight.proof or failed_probe("the probe broke off")

    def _too_late(self) -> Proof:
        return failed_probe(f"no answer within {self._timeout_s:g} s")


def _left(deadline: float) -> float:
    return max(0.0, deadline - time.monotonic())
