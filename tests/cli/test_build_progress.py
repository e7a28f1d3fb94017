"""Progress of a build, on a terminal and in a pipe."""

from __future__ import annotations

import io
import re

import pytest

from holdfast.cli.build_progress import LINES_S, BuildProgress
from holdfast.index.building.progress import Progress


class Watch:
    """A clock that a test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def shown(is_terminal: bool, *steps: tuple[float, Progress]) -> str:
    stream, watch = io.StringIO(), Watch()
    bar = BuildProgress(stream, watch, shown=True, is_terminal=is_terminal)
    for seconds, progress in steps:
        watch.now += seconds
        bar(progress)
    bar.close()
    return stream.getvalue()


@pytest.mark.shows("CLI-PROGRESS")
def test_the_time_that_is_left_never_rises() -> None:
    text = shown(
        True, *((1, Progress("extracting", n, 10, n * 10, 1, eta)) for n, eta in ((1, 9), (2, 30)))
    )
    assert re.findall(r"(\d+) s left", text) == ["9", "9"]


@pytest.mark.shows("CLI-PROGRESS")
def test_a_line_on_a_terminal_is_removed_at_the_end() -> None:
    text = shown(True, (1, Progress("extracting", 1, 10, 10.0)))
    assert text.endswith("\r")
    assert text.split("\r")[-2].strip() == ""


@pytest.mark.shows("CLI-PROGRESS")
def test_in_a_pipe_there_is_a_whole_line_now_and_then() -> None:
    step = Progress("extracting", 1, 10, 10.0)
    assert shown(False, (1, step), (1, step)) == ""
    text = shown(False, (LINES_S, step), (1, step), (LINES_S, step))
    assert text.splitlines() == [str(step), str(step)]
    assert "\r" not in text
