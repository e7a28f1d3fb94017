"""Names and arguments found by a fast search are those that a plain one finds."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.index.facts.function_arguments import _split
from holdfast.index.facts.protocols import _places


def plain_places(source: bytes, names: list[str]) -> list[tuple[int, int]]:
    words = rb"(?<![\w.])(?:(?:self|this)\.)?(%s)\b" % "|".join(names).encode()
    return [found.span(1) for found in re.finditer(words, source)]


def plain_split(text: str) -> list[str]:
    parts, depth, start, quote = [], 0, 0, ""
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'`":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and not depth:
            parts.append(text[start:at].strip())
            start = at + 1
    parts.append(text[start:].strip())
    return parts


PIECES = ["self", "this", ".", "a", "ab", "b", "é", "éa", " ", "_", "1", "\n"]
NAMES = ["a", "ab", "b", "self", "this", "a1", "éa"]


@given(
    st.lists(st.sampled_from(PIECES), max_size=14).map("".join),
    st.lists(st.sampled_from(NAMES), min_size=1, unique=True).map(sorted),
)
def test_names_are_found_where_a_plain_pattern_finds_them(text: str, names: list[str]) -> None:
    assert _places(text.encode(), names) == plain_places(text.encode(), names)


@given(st.text(alphabet="ab,. ()[]{}\"'`", max_size=20))
def test_arguments_are_split_as_character_by_character(text: str) -> None:
    assert _split(text) == plain_split(text)


@pytest.mark.parametrize("text", ["", "a", "a, b", "f(a, b), c", "'a, b', c"])
def test_common_arguments_are_split_the_same(text: str) -> None:
    assert _split(text) == plain_split(text)
