"""Lines that give names a value, judged by the one pattern that says the same."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from holdfast.index.search.assigned_values import ASSIGNED, LISTED, PASSED, AssignedNames
from holdfast.index.search.regex import matcher

NAMES = ("RETRY_MAX", "size", "sizes", "max_size")
_pieces = st.sampled_from(
    [*NAMES, "x", "_", "1", "-1", "9", '"', "'", ":", "::", "=", ":=", " => ", ", ", ",", "(", ")",
     " ", "[", "True", "false", "new ", "Path(", "int", "defaultSize", "OTHER_NAME", "é", "\n",
     "\r\n"]
)  # fmt: skip
texts = st.lists(_pieces, max_size=40).map("".join)


def by_pattern(names: list[str], text: str) -> list[int]:
    some = "|".join(map(re.escape, sorted(names)))
    pattern = rf"\b(?:{some})\b{ASSIGNED}|[\"':](?:{some}){LISTED}|\((?:{some}){PASSED}"
    return [match.line for match in matcher(pattern).lines(text, 1e9, float)]


def lines(names: list[str], text: str) -> list[int]:
    return [match.line for match in AssignedNames(names).lines(text, 1e9, float)]


@given(st.lists(st.sampled_from(NAMES), min_size=1, unique=True), texts)
def test_the_lines_are_those_of_one_pattern_over_all_names(names: list[str], text: str) -> None:
    found = lines(names, text)
    assert found == by_pattern(names, text)
    if found:
        assert AssignedNames(names).narrow(["", text], 1e9, float) == [1]


def test_values_in_each_way_of_writing_them() -> None:
    text = """size = 1
size: int = 2
"size": 3
("size", 4)
option(size, TEXT_OF_SIZE, "5")
size => 6
"""
    assert lines(["size"], text) == [0, 1, 2, 3, 4, 5]
    assert lines(["size"], "sizes = 1\nmax_size = 1\nsize::member\nsize = other\n") == []
