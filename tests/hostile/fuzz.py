"""Feeds mutated input to every parser, from a printed seed."""

from __future__ import annotations

import random
import signal
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from tests.hostile.mutate import mutated
from tests.hostile.parsers import Parser, parsers
from tests.hostile.result import Result

INPUTS = 200_000
"""Of all parsers together, in an ordinary run."""

DEADLINE_S = 20.0
"""Processor time for one input; every one is shorter than a few kilobytes."""


class TooLong(BaseException):
    """Raised when one input takes too much processor time."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def share(parser: Parser, total: int = INPUTS) -> int:
    """How many of all inputs this parser gets."""
    return round(total * parser.weight / sum(each.weight for each in parsers())) + 1


def fuzz(parser: Parser, count: int, seed: int, folder: Path) -> Result:
    """Feed `count` inputs to one parser."""
    result = Result()
    draw = random.Random(zlib.crc32(parser.name.encode()) ^ seed)
    for seed_input in parser.seeds:
        result.count(f"valid {parser.outcome(seed_input, folder)}")
    for number in range(count):
        data = mutated(parser.seeds, draw)
        try:
            with deadline(DEADLINE_S):
                result.count(parser.outcome(data, folder))
        except TooLong:
            result.problem(f"{parser.name}: input {number} of seed {seed} takes too long: {data!r}")
        except Exception as error:
            result.count("failed")
            result.problem(
                f"{parser.name}: input {number} of seed {seed}: {type(error).__name__}: {error}"[
                    :200
                ]
                + f" for {data[:300]!r}"
            )
    return result


def fuzz_all(total: int, seed: int, folder: Path) -> Result:
    """Every parser with its share."""
    whole = Result()
    for parser in parsers():
        one = fuzz(parser, share(parser, total), seed, folder)
        whole.outcomes.update(one.outcomes)
        whole.problems += one.problems
    return whole
