"""Copies by tokens, and which questions are of one package."""

from __future__ import annotations

import pytest

from bench.retrieval.clones import RUN, are_copies
from bench.retrieval.labels import Query, Target
from bench.retrieval.learn import Case, package_of

WORDS = [f"w{i}".encode() for i in range(2 * RUN)]


@pytest.mark.parametrize(
    ("one", "other", "copies"),
    [
        (WORDS, WORDS, True),
        (WORDS[:RUN], WORDS, True),
        (WORDS, [b"x", *WORDS, b"y"], True),
        (WORDS[:3], WORDS[:3], True),
        (WORDS[:3], WORDS[3:6], False),
        (WORDS, WORDS[::-1], False),
        (WORDS, [*WORDS[:RUN], *(b"x" for _ in range(RUN))], False),
        ([], WORDS, False),
    ],
)
def test_copies_share_nearly_all_of_the_shorter_one_in_runs(
    one: list[bytes], other: list[bytes], copies: bool
) -> None:
    assert are_copies(one, other) is copies
    assert are_copies(other, one) is copies


def test_a_copy_without_comments_is_the_same_package() -> None:
    import numpy as np

    none = np.empty(0, np.int64)
    for repository in ("shop", "shop-undocumented"):
        query = Query("q", repository, "text", (Target("a.py"),))
        assert package_of(Case(query, "question", {}, none, none, [])) == "shop"
