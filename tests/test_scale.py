"""What `make quick` leaves out of two lists is still tried by `make test`."""

from itertools import product

import pytest

from tests.scale import by_turns


@pytest.mark.parametrize(("first", "second"), [("abcd", "xy"), ("ab", "xyz"), ("a", "x")])
def test_every_pair_is_tried_and_in_quick_every_value(first: str, second: str) -> None:
    pairs = by_turns(first, second)
    assert [pair.values for pair in pairs] == list(product(first, second))
    quick = [pair.values for pair in pairs if not pair.marks]
    assert len(quick) == max(len(first), len(second))
    assert {a for a, _ in quick} == set(first)
    assert {b for _, b in quick} == set(second)
