"""A memo keeps the words that are asked for, and a limited number of others."""

from __future__ import annotations

from holdfast.index.recent_memo import RecentMemo


def _memo(computed: list[str]) -> RecentMemo[int]:
    def compute(word: str) -> int:
        computed.append(word)
        return len(word)

    return RecentMemo(compute, 100)


def test_each_word_is_computed_once_while_there_is_room() -> None:
    computed: list[str] = []
    memo = _memo(computed)
    assert [memo[word] for word in ("one", "three", "one")] == [3, 5, 3]
    assert computed == ["one", "three"]


def test_a_full_memo_forgets_only_words_that_were_not_asked_for_again() -> None:
    computed: list[str] = []
    memo = _memo(computed)
    for number in range(10_000):
        assert memo["common"] == len("common")
        assert memo[f"rare{number}"] == len(f"rare{number}")
        assert len(memo) + len(memo._older) <= 100
    assert computed.count("common") == 1
    assert len(computed) == 10_001
