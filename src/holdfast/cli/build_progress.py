"""Shows the progress of a build: one rewritten line on a terminal, occasional lines elsewhere.

The remaining time that is shown never rises: an estimate that gets worse keeps its last value.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from typing import TextIO

from holdfast.index.building.progress import Progress

TERMINAL_S, LINES_S = 0.1, 5.0
"""How often progress is shown on a terminal, and in a pipe or a file."""


class BuildProgress:
    """Shows the progress of a build on a stream; `close` leaves no unfinished line behind."""

    def __init__(
        self, stream: TextIO, clock: Callable[[], float], *, shown: bool, is_terminal: bool
    ) -> None:
        self._stream, self._clock = stream, clock
        self._shown, self._is_terminal = shown, is_terminal
        # In a pipe, short work gets no progress line.
        self._last = 0.0 if is_terminal else clock()
        self._width = 0
        self._left_s: float | None = None

    def __call__(self, progress: Progress) -> None:
        if not self._shown:
            return
        now = self._clock()
        every = TERMINAL_S if self._is_terminal else LINES_S
        if now - self._last < every and (progress.pct < 100 or not self._is_terminal):
            return
        self._last = now
        progress = self._steady(progress)
        if not self._is_terminal:
            print(progress, file=self._stream, flush=True)
            return
        filled = int(progress.pct / 5)
        # A line that wraps cannot be rewritten.
        room = shutil.get_terminal_size().columns - 1
        line = f"[{'=' * filled}{' ' * (20 - filled)}] {progress}"[:room]
        print(f"\r{line:<{self._width}}", end="", file=self._stream, flush=True)
        self._width = len(line)

    def _steady(self, progress: Progress) -> Progress:
        if progress.eta_s is None:
            return progress
        self._left_s = progress.eta_s if self._left_s is None else min(self._left_s, progress.eta_s)
        return replace(progress, eta_s=self._left_s)

    def close(self) -> None:
        if self._shown and self._width:
            print(f"\r{'':<{self._width}}\r", end="", file=self._stream, flush=True)
            self._width = 0


def progress_to(stream: TextIO, clock: Callable[[], float], *, shown: bool) -> BuildProgress:
    """Progress on a stream, in the form that fits it."""
    return BuildProgress(stream, clock, shown=shown, is_terminal=stream.isatty())
