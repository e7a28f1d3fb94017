"""The part that can repeat has exactly the repeated blocks of the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.sequence import clones, repeat_candidates
from holdfast.sequence.repeat_candidates import repeating_part
from holdfast.sequence.suffix.backends import SuffixBackend
from holdfast.sequence.suffix.segment import TokenSegment, build
from holdfast.sequence.suffix.stream import Document, DocumentFacts, stream_of
from holdfast.sequence.tokens.lexer import CODE_ONLY, LexerOptions

WORDS = (
    "a",
    "b",
    "c",
    "if",
    "a_name_of_many_letters",
    "1",
    "2.5",
    "(",
    "==",
    "'x'",
    "# no\n",
    "\n",
)
TEXTS = st.lists(
    st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join).map(str.encode), max_size=5
)
MINIMUM = st.integers(2, 7)


def documents(texts: list[bytes]) -> list[Document]:
    paths = (f"{number}.{'py' if number % 2 else 'js'}" for number in range(len(texts)))
    return [
        Document(DocumentFacts(path, len(text), 0, ""), text)
        for path, text in zip(paths, texts, strict=True)
    ]


def found(segment: TokenSegment, minimum: int, *, renamed: bool = False) -> list[Any]:
    """The groups in their order, as places in files."""
    searched = clones.renamed(segment) if renamed else segment
    groups = clones.find_groups(searched, minimum=minimum)
    groups = clones.relocated(groups, segment)
    return [
        (
            *(group.length, group.periodic, group.occurrences[0].texts()),
            [place.span() for place in group.occurrences],
        )
        for group in groups
    ]


def check(texts: list[bytes], minimum: int, options: LexerOptions = CODE_ONLY) -> None:
    given = documents(texts)
    whole = build(stream_of(given, options))
    for renamed in (False, True):
        stream, tokens = repeating_part(given, options, minimum, renamed=renamed)
        assert tokens == len(whole.tokens) - len(given)
        part = build(stream, SuffixBackend.VECTOR)
        expected = found(whole, minimum, renamed=renamed)
        assert found(part, minimum, renamed=renamed) == expected


@pytest.mark.shows("SEQ-CLONES-PART")
@example([b"a 1 a 1 a b 1 a"], 2, False)
@given(TEXTS, MINIMUM, st.booleans())
def test_the_blocks_of_the_part_are_the_blocks_of_the_whole(
    texts: list[bytes], minimum: int, comments: bool
) -> None:
    check(texts, minimum, LexerOptions(comments=comments))


@pytest.mark.shows("SEQ-CLONES-PART")
@given(TEXTS, MINIMUM, st.sampled_from([1, 2, 5]))
def test_windows_that_share_a_hash_change_nothing(
    texts: list[bytes], minimum: int, hashes: int
) -> None:
    """Hashes say only which windows differ, so as few as there are values of them do."""
    real = repeat_candidates._windows

    def few(keys: Any, width: int) -> Any:
        return real(keys, width) % np.uint64(hashes) << np.uint64(60)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repeat_candidates, "_windows", few)
        check(texts, minimum)


def test_most_of_a_tree_is_left_out() -> None:
    same = " ".join(f"same_{n}" for n in range(60))
    texts = [
        (" ".join(f"x{number}_{n}" for n in range(500)) + f" {same} end").encode()
        for number in range(3)
    ]
    stream, tokens = repeating_part(documents(texts), CODE_ONLY, 50)
    assert tokens == 3 * 561
    assert len(stream.tokens) == 3 * (61 + 1)
    assert [facts.path for facts in stream.documents] == ["0.js", "1.py", "2.js"]


@pytest.mark.parametrize("texts", [[], [b""], [b"", b""], [b"a"], [b"a b", b""]])
def test_texts_without_a_window_have_no_part(texts: list[bytes]) -> None:
    stream, tokens = repeating_part(documents(texts), CODE_ONLY, 2)
    assert len(stream.tokens) == 0
    assert tokens == sum(len(text.split()) for text in texts)
    assert clones.find_groups(build(stream), minimum=2) == []
