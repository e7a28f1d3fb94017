"""Progress of a build: phase, file counts, rate and time left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """One report. `total` is 0 while it is unknown."""

    phase: str
    done: int
    total: int
    pct: float
    rate_per_s: float = 0.0
    eta_s: float | None = None

    def __str__(self) -> str:
        count = f"{self.done}/{self.total} files" if self.total else f"{self.done} files"
        rate = f", {self.rate_per_s:.0f}/s" if self.rate_per_s else ""
        left = f", {self.eta_s:.0f} s left" if self.eta_s is not None else ""
        return f"{self.phase} {self.pct:.1f}% ({count}{rate}{left})"


Report = Callable[[Progress], None]


class Meter:
    """Turns counts into reports, given a clock in seconds."""

    def __init__(self, report: Report, clock: Callable[[], float]) -> None:
        self._report, self._clock = report, clock
        self._started = clock()

    def scanning(self) -> None:
        self._started = self._clock()
        self._report(Progress("scanning", 0, 0, 0.0))

    def extracted(self, done: int, total: int, share: float) -> None:
        """Report extraction progress; `share` is the fraction of bytes done, 0 to 1."""
        elapsed = self._clock() - self._started
        rate = done / elapsed if elapsed > 0 else 0.0
        eta = elapsed * (1 - share) / share if share > 0.01 else None
        self._report(Progress("extracting", done, total, 5 + 90 * share, rate, eta))

    def publishing(self, total: int) -> None:
        self._report(Progress("publishing", total, total, 95.0))

    def finished(self, total: int) -> None:
        self._report(Progress("publishing", total, total, 100.0))
