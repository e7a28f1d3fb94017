"""A proof with a deadline: a backend that hangs counts as a probe that could not finish.

One probe per root is under way at a time, so a hung backend costs one thread per root and not one
per call. A caller that comes meanwhile waits for it and then asks for itself: what was asked
before it came may have been answered before the index it asks about was published.

A thread that has answered waits a little for the next probe: to start one takes longer than most
probes do.

An embedded backend (`answers_at_once`) is a file beside the registry, which whoever asks has just
read without a deadline, and reads again for the answer itself. There a thread would guard nothing,
and to wake one takes longer than the probe.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue

from holdfast import system
from holdfast.index.generations.fingerprint import Fingerprint
from holdfast.index.generations.proof import Proof, failed_probe, validate_completion_proof

IDLE_S = 10.0


class _Flight:
    def __init__(self) -> None:
        self.done = threading.Event()
        self.proof: Proof | None = None


class _Hand:
    """A thread that probes, one root after the other, and ends when there is nothing to do."""

    def __init__(self, probe: Callable[[str, _Flight], None], idle: list[_Hand]) -> None:
        self._probe, self._idle = probe, idle
        self.work: SimpleQueue[tuple[str, _Flight] | None] = SimpleQueue()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while True:
            try:
                job = self.work.get(timeout=IDLE_S)
            except Empty:
                try:
                    self._idle.remove(self)
                except ValueError:
                    continue  # Somebody has just taken us, and the work is on its way.
                return
            if job is None:
                return
            root, flight = job
            try:
                self._probe(root, flight)
            finally:
                self._idle.append(self)
                flight.done.set()


class Prober:
    """Asks a backend for proofs, each within a deadline."""

    def __init__(
        self,
        backend: object,
        runtime: Callable[[], Fingerprint],
        timeout_s: float,
        clock: Callable[[], float] = system.monotonic,
    ) -> None:
        self._backend, self._runtime, self._timeout_s = backend, runtime, timeout_s
        self._clock = clock
        self._at_once = bool(getattr(backend, "answers_at_once", False))
        self._lock = threading.Lock()
        self._flights: dict[str, _Flight] = {}
        self._idle: list[_Hand] = []

    def rest(self) -> None:
        """End the threads that wait for work; the next probe starts another."""
        while True:
            try:
                hand = self._idle.pop()
            except IndexError:
                return
            hand.work.put(None)
            hand.thread.join()

    def prove(self, root: str) -> Proof:
        return self.prove_all([root])[0]

    def prove_all(self, roots: Sequence[str]) -> list[Proof]:
        """A proof for each root. The probes run side by side, so one deadline covers them all."""
        if self._at_once:
            return [self._proof(root) for root in roots]
        deadline = self._clock() + self._timeout_s
        # Every probe that can start does, before we wait for any that is under way.
        flights = {root: self._start(root) for root in roots}
        return [self._wait(root, flights[root], deadline) for root in roots]

    def _start(self, root: str) -> _Flight | None:
        """Begin a probe; None if one is under way."""
        with self._lock:
            if root in self._flights:
                return None
            flight = self._flights[root] = _Flight()
        try:
            hand = self._idle.pop()
        except IndexError:
            hand = _Hand(self._run, self._idle)
        hand.work.put((root, flight))
        return flight

    def _run(self, root: str, flight: _Flight) -> None:
        try:
            flight.proof = self._proof(root)
        finally:
            with self._lock:
                del self._flights[root]

    def _proof(self, root: str) -> Proof:
        try:
            return validate_completion_proof(root, self._backend, self._runtime())
        except Exception as error:
            # A probe that broke off did not finish, and the thread that made it has to go on.
            return failed_probe(f"{type(error).__name__}: {error}")

    def _wait(self, root: str, flight: _Flight | None, deadline: float) -> Proof:
        while flight is None:
            with self._lock:
                under_way = self._flights.get(root)
            if under_way is not None and not under_way.done.wait(self._left(deadline)):
                return self._too_late()
            flight = self._start(root)
        if not flight.done.wait(self._left(deadline)):
            return self._too_late()
        return flight.proof or failed_probe("the probe broke off")

    def _too_late(self) -> Proof:
        return failed_probe(f"no answer within {self._timeout_s:g} s")

    def _left(self, deadline: float) -> float:
        return max(0.0, deadline - self._clock())
