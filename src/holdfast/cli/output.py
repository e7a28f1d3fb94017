"""Output of commands: tables, JSON, colours, and progress on a terminal."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

from holdfast import system
from holdfast.cli.console import check_interrupted, columns
from holdfast.cli.streams import discard

LAST_MIN, COLUMN_MIN = 10, 12
"""The minimum width of a table's last column, and of a column that is shortened for it."""

BOLD, DIM, RED, GREEN, YELLOW, PLAIN = "1", "2", "31", "32", "33", "0"


def styled(text: str, style: str, stream: TextIO | None = None) -> str:
    """The text in a style, if the stream is a terminal."""
    out = sys.stdout if stream is None else stream
    return text if not out.isatty() else f"\033[{style}m{text}\033[{PLAIN}m"


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    print(json.dumps(value, ensure_ascii=False, indent=2))


def plain(text: str) -> str:
    """Text on one line: ids may contain control characters, which are escaped."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def print_table(heading: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print rows under a heading, cut to the width of the terminal."""
    cells = [[plain(str(cell)) for cell in row] for row in rows]
    room = columns() or 10_000
    for place, line in enumerate(fitted([list(heading), *cells], room)):
        print(styled(line, DIM) if place == 0 else line)


def fitted(rows: Sequence[Sequence[str]], room: int) -> list[str]:
    """Rows as lines of a table. The last column gets the remaining width. If that is too little,
    the widest other column is shortened in its middle: the end of a path matters most."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    others = widths[:-1]
    if others:
        room_left = room - sum(others) - 2 * len(others)
        widest = others.index(max(others))
        missing = max(0, min(widths[-1], LAST_MIN) - room_left)
        widths[widest] = max(min(widths[widest], COLUMN_MIN), widths[widest] - missing)
    lines = []
    for row in rows:
        cells = [_cut(cell, width) for cell, width in zip(row, widths, strict=True)]
        line = "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))
        line = line.rstrip()
        lines.append(line if len(line) <= room else line[: room - 1] + "…")
    return lines


def _cut(cell: str, width: int) -> str:
    if len(cell) <= width:
        return cell
    end = (width - 1) * 2 // 5
    return f"{cell[: width - 1 - end]}…{cell[len(cell) - end :]}"


class ProgressBar:
    """A progress bar with rate and remaining time, shown on a terminal only."""

    def __init__(self, what: str, clock: Callable[[], float] = system.monotonic) -> None:
        self._what, self._clock = what, clock
        self._start = self._shown = clock()
        self._on = sys.stderr.isatty()

    def __call__(self, done: int, total: int) -> None:
        now = self._clock()
        if not self._on or (done < total and now - self._shown < 0.1):
            return
        self._shown = now
        share = done / total if total else 1.0
        elapsed = max(now - self._start, 1e-6)
        seconds = elapsed / share - elapsed if share else 0.0
        bar = "█" * round(share * 24) + "░" * (24 - round(share * 24))
        rate = f"{done / elapsed:,.0f}/s"
        print(
            f"\r{self._what} {bar} {done:,}/{total:,} {rate} {seconds:.0f} s left\033[K",
            end="",
            file=sys.stderr,
            flush=True,
        )

    def close(self) -> None:
        if self._on:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


@contextmanager
def ignore_broken_pipe() -> Iterator[None]:
    """Continue the work if the reader of the output has closed the pipe (`| head`)."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        discard(sys.stdout)


@contextmanager
def ended_at_once() -> Iterator[None]:
    """Let Ctrl-C kill the process, for compiled steps that take many seconds.

    Python would handle it only after the step. Only for work that may be killed at any point.
    """
    try:
        before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    except ValueError:  # not the main thread; only that one gets Ctrl-C
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def steps_on_terminal() -> Callable[[str, int, int], None]:
    """A function that shows a step and its percentage on standard error, if that is a terminal.

    In the host it also ends the work if the command's process has ended.
    """
    if not sys.stderr.isatty():
        return lambda _step, _done, _total: check_interrupted()

    def show(step: str, done: int, total: int) -> None:
        check_interrupted()
        share = 100 * done // total if total else 100
        print(f"\r\x1b[K{step} {share} %", end="" if share < 100 else "\r\x1b[K", file=sys.stderr)
        sys.stderr.flush()

    return show
