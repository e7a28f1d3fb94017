"""Virtual time, and connections that deliver late, twice, or not at all.

A connection keeps its order, as TCP does. What it may do: take its time, hand a frame over twice in
a row (a retransmission that slipped through), and break, losing whatever was on its way.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from random import Random


class Time:
    """Virtual milliseconds and what is to happen when."""

    def __init__(self) -> None:
        self.now = 0.0
        self._queue: list[tuple[float, int, Callable[[], None]]] = []
        self._serial = 0

    def after(self, delay_ms: float, act: Callable[[], None]) -> None:
        self._serial += 1
        heapq.heappush(self._queue, (self.now + delay_ms, self._serial, act))

    def run_next(self) -> bool:
        """Let the next thing happen; False if nothing is to come."""
        if not self._queue:
            return False
        when, _, act = heapq.heappop(self._queue)
        self.now = max(self.now, when)
        act()
        return True

    @property
    def next_at(self) -> float | None:
        return self._queue[0][0] if self._queue else None


class Wire:
    """One connection: frames up and frames down, each in order."""

    def __init__(
        self,
        time: Time,
        random: Random,
        delay_ms: float,
        duplicates: float,
        up: Callable[[str], None],
        down: Callable[[str], None],
        broken: Callable[[int | None], None],
    ) -> None:
        self._time, self._random = time, random
        self._delay_ms, self._duplicates = delay_ms, duplicates
        self._arrive = {"up": up, "down": down}
        self._last = {"up": time.now, "down": time.now}
        self._broken = broken
        self.alive = True

    def send(self, direction: str, frame: str) -> None:
        if not self.alive:
            return
        at = self._time.now + self._random.expovariate(1 / self._delay_ms)
        at = self._last[direction] = max(at, self._last[direction])
        times = 2 if self._random.random() < self._duplicates else 1

        def deliver() -> None:
            for _ in range(times):
                if self.alive:
                    self._arrive[direction](frame)

        self._time.after(at - self._time.now, deliver)

    def cut(self, code: int | None = None) -> None:
        """Everything on its way is lost, and both ends notice; `code` is the server's."""
        if self.alive:
            self.alive = False
            self._broken(code)
