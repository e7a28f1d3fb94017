"""The names of an expression without parsing it are those that the parser finds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.index.calls.steps import _is_flat, _names, names

word = st.sampled_from(["a", "b1", "_c", "größe"])
link = st.sampled_from(["", "", "()"])
behind = st.lists(st.sampled_from(["()", "[*]", "[]", "['k']", "[0]", "[a]"]), max_size=3)
leaf = st.builds(
    lambda heads, last, rest: "".join(f"{h}{call}." for h, call in heads) + last + "".join(rest),
    st.lists(st.tuples(word, link), max_size=3), word, behind,
)  # fmt: skip
either = st.lists(leaf, min_size=1, max_size=3).map("|".join)
flat = st.one_of(
    either,
    st.lists(either, min_size=1, max_size=40).map(lambda parts: f"[{','.join(parts)}]"),
    st.lists(st.tuples(word, either), min_size=1, max_size=4).map(
        lambda pairs: "{" + ",".join(f"{key}:{value}" for key, value in pairs) + "}"
    ),
)
anything = st.text(alphabet="ab.()[]{}<>|,:?*'^0 ", max_size=24)


@given(flat)
def test_flat_expressions_have_the_names_that_the_parser_finds(text: str) -> None:
    assert _is_flat(text)
    if text.count(",") + text.count("|") < 30:
        assert sorted(names(text)) == sorted(_names(text))


@given(anything)
def test_any_text_has_the_names_that_the_parser_finds(text: str) -> None:
    assert sorted(names(text)) == sorted(_names(text))


@pytest.mark.parametrize("part", ["a.", "a()", "a[*]", "[a,", "{a:", "a|", "('", "a()."])
def test_the_pattern_takes_linear_time(part: str) -> None:
    """The expressions of facts have at most 400 characters, so this is far more than there is."""
    assert not _is_flat(part * 20_000 + "!")
