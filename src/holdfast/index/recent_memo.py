"""A function's results for recent words, so that each is computed once or seldom.

Most words of a tree occur often, and most different words occur once. So of a full cache the older
half is forgotten, but for the words that were asked for again: common words stay, and the others
take a limited amount of memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

WORDS_MAX = 40_000


class RecentMemo(dict[str, T]):
    """`memo[word]` is the function's result; a result that is there is found as in any dict."""

    def __init__(self, compute: Callable[[str], T], words_max: int = WORDS_MAX) -> None:
        super().__init__()
        self._compute, self._half = compute, max(1, words_max // 2)
        self._older: dict[str, T] = {}

    def __missing__(self, word: str) -> T:
        found = self._older.get(word)
        if found is None:
            found = self._compute(word)
        if len(self) >= self._half:
            self._older = dict(self)
            self.clear()
        self[word] = found
        return found
