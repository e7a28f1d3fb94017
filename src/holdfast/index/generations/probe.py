"""Proofs with a deadline: a backend that hangs counts as a probe that could not finish.

Only one probe per root runs at a time, so a hung backend costs one thread per root, not one per
call. A second caller waits for the running probe and then starts its own: the running one may have
read the marker before the index that the caller asks about was published.

A thread waits a little for the next probe before it ends, because starting a thread takes longer
than most probes.

An embedded backend (`answers_at_once`) is probed in the calling thread. Its file lies beside the
registry, which the caller has just read without a deadline, so a thread would not protect anything.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue

from holdfast import system
from holdfast.index.generations.fingerprint import Fingerprint
from holdfast.index.generations.proof import Proof, failed_probe, validate_completion_proof

IDLE_S = 10.0


class _Probe:
    def __init__(self) -> None:
        self.done = threading.Event()
        self.proof: Proof | None = None


class _ProbeThread:
    """A thread that runs probes one after the other, and ends after being idle."""

    def __init__(self, probe: Callable[[str, _Probe], None], idle: list[_ProbeThread]) -> None:
        self._probe, self._idle = probe, idle
        self.work: SimpleQueue[tuple[str, _Probe] | None] = SimpleQueue()
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
                    continue  # Another thread has just taken this one and will send work.
                return
            if job is None:
                return
            root, probe = job
            try:
                self._probe(root, probe)
            finally:
                self._idle.append(self)
                probe.done.set()


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
        self._running: dict[str, _Probe] = {}
        self._idle: list[_ProbeThread] = []

    def rest(self) -> None:
        """End the idle threads; the next probe starts a new one."""
        while True:
            try:
                worker = self._idle.pop()
            except IndexError:
                return
            worker.work.put(None)
            worker.thread.join()

    def prove(self, root: str) -> Proof:
        return self.prove_all([root])[0]

    def prove_all(self, roots: Sequence[str]) -> list[Proof]:
        """A proof for each root. The probes run concurrently, so one deadline covers them all."""
        if self._at_once:
            return [self._proof(root) for root in roots]
        deadline = self._clock() + self._timeout_s
        # Start every probe that can start before waiting for any.
        probes = {root: self._start(root) for root in roots}
        return [self._wait(root, probes[root], deadline) for root in roots]

    def _start(self, root: str) -> _Probe | None:
        """Start a probe; None if one is running."""
        with self._lock:
            if root in self._running:
                return None
            probe = self._running[root] = _Probe()
        try:
            worker = self._idle.pop()
        except IndexError:
            worker = _ProbeThread(self._run, self._idle)
        worker.work.put((root, probe))
        return probe

    def _run(self, root: str, probe: _Probe) -> None:
        try:
            probe.proof = self._proof(root)
        finally:
            with self._lock:
                del self._running[root]

    def _proof(self, root: str) -> Proof:
        try:
            return validate_completion_proof(root, self._backend, self._runtime())
        except Exception as error:
            # An exception means that the probe did not finish; the thread continues.
            return failed_probe(f"{type(error).__name__}: {error}")

    def _wait(self, root: str, probe: _Probe | None, deadline: float) -> Proof:
        while probe is None:
            with self._lock:
                under_way = self._running.get(root)
            if under_way is not None and not under_way.done.wait(self._left(deadline)):
                return self._too_late()
            probe = self._start(root)
        if not probe.done.wait(self._left(deadline)):
            return self._too_late()
        return probe.proof or failed_probe("the probe was aborted")

    def _too_late(self) -> Proof:
        return failed_probe(f"no answer within {self._timeout_s:g} s")

    def _left(self, deadline: float) -> float:
        return max(0.0, deadline - self._clock())
