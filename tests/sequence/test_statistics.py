"""Matching statistics against looking every token up, and at sizes where that would never end."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.sequence.corpus import TokenCorpus
from holdfast.sequence.suffix.backends import SuffixBackend
from holdfast.sequence.suffix.query import LiveSegment
from tests.scale import size
from tests.sequence import brute
from tests.sequence.reference.statistics import RangeMinima, matching_statistics
from tests.sequence.test_segments import segment_of

letters = st.sampled_from("ab")
texts = st.lists(st.lists(letters, max_size=30), min_size=1, max_size=4)


@pytest.mark.shows("SEQ-STATISTICS")
@given(st.lists(texts, min_size=1, max_size=3), st.lists(st.sampled_from("abc"), max_size=40),
       st.data())  # fmt: skip
def test_the_walk_is_the_longest_match_from_every_token(
    parts: list[list[list[str]]], query: list[str], data: st.DataObject
) -> None:
    """Several segments, some documents of each deleted."""
    lives, alive = [], []
    for part in parts:
        live = LiveSegment(segment_of(part))
        for number, text in enumerate(part):
            if data.draw(st.booleans(), label=f"delete {number}"):
                live.delete(number)
            else:
                alive.append(text)
        lives.append(live)
    assert matching_statistics(TokenCorpus(lives), [word.encode() for word in query]) == [
        brute.longest_prefix(query[at:], alive) for at in range(len(query))
    ]


@pytest.mark.shows("SEQ-STATISTICS")
@given(st.lists(st.integers(0, 5), min_size=1, max_size=300), st.integers(0, 6), st.data())
def test_the_next_low_on_both_sides_is_found(
    values: list[int], bound: int, data: st.DataObject
) -> None:
    lows, place = RangeMinima(values), data.draw(st.integers(0, len(values) - 1))
    below = [at for at, value in enumerate(values) if value < bound]
    assert lows.last_below(bound, place) == max((at for at in below if at <= place), default=-1)
    assert lows.first_below(bound, place) == min(
        (at for at in below if at >= place), default=len(values)
    )
    assert lows.first_below(bound, len(values)) == len(values)


@pytest.mark.shows("SEQ-STATISTICS")
def test_lows_of_many_levels() -> None:
    values = [9] * 300_000
    values[17], values[299_000] = 1, 2
    lows = RangeMinima(values)
    assert lows.last_below(2, 299_999) == 17
    assert lows.last_below(3, 299_999) == 299_000
    assert lows.last_below(1, 299_999) == -1
    assert lows.first_below(2, 18) == 300_000
    assert lows.first_below(3, 18) == 299_000


@pytest.mark.shows("SEQ-STATISTICS", "SEQ-HOSTILE-LARGE")
def test_one_token_a_hundred_thousand_times_asked_with_itself() -> None:
    """The square of it would be ten thousand million comparisons."""
    count = size(100_000, 20_000)
    corpus = TokenCorpus([LiveSegment(segment_of([["a"] * count], SuffixBackend.VECTOR))])
    assert matching_statistics(corpus, [b"a"] * (count + 5)) == [
        min(count, count + 5 - at) for at in range(count + 5)
    ]


@pytest.mark.long
@pytest.mark.shows("SEQ-STATISTICS", "SEQ-HOSTILE-LARGE")
def test_a_copy_with_a_fault_now_and_then() -> None:
    """Shared prefixes longer than sixteen bits can say, and a match that ends and begins again."""
    random.seed(7)
    period = [random.choice("abcdefgh") for _ in range(71_000)]
    corpus = TokenCorpus([LiveSegment(segment_of([period, [*period, "z"]], SuffixBackend.VECTOR))])
    query = list(period)
    faults = [20_000, 20_001, 45_000]
    for at in faults:
        query[at] = "y"
    found = matching_statistics(corpus, [word.encode() for word in query])
    ends = [*faults, len(query)]
    for at in (0, 1, 19_990, 20_000, 20_001, 20_002, 30_000, 44_990, 45_001, 70_000):
        expected = min(end for end in ends if end >= at) - at
        assert found[at] >= expected
        assert (
            found[at] == corpus.find([word.encode() for word in query[at : at + 60_000]]).position
        )
