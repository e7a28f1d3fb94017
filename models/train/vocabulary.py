"""The vocabulary: whole words that many packages use, and pieces to spell the rest."""

from __future__ import annotations

import string
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable

from holdfast.index.embedding.pieces import PART_CHARACTERS_MAX, WORD, parts
from models.train.pairs import Pair

CONTINUATIONS = 2_500
PIECE_CHARACTERS_MAX = 6
QUESTION_WEIGHT = 3
"""A word of a question counts as this many in code: questions are short, and are what is asked."""


def learn(pairs: Iterable[Pair], size: int, packages_min: int = 3) -> list[str]:
    """At most `size` entries, the most frequent words first, then what spells the rest."""
    counts: Counter[str] = Counter()
    users: dict[str, set[int]] = defaultdict(set)
    memo: dict[str, list[str]] = {}

    def of(text: str) -> set[str]:
        found: set[str] = set()
        for word in set(WORD.findall(text)):
            split = memo.get(word)
            if split is None:
                split = memo[word] = parts(word)
            found.update(split)
        return found

    for pair in pairs:
        asked = of(f"{pair.question} {pair.rest}")
        told = of(f"{pair.path} {pair.symbol} {pair.code}")
        package = zlib.crc32(pair.package.encode())
        for word in asked | told:
            counts[word] += QUESTION_WEIGHT * (word in asked) + (word in told)
            if len(users[word]) < packages_min:
                users[word].add(package)
    plain = [
        word
        for word, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        if len(users[word]) >= packages_min
        and len(word) <= PART_CHARACTERS_MAX
        and (not word.isdigit() or len(word) <= 4)
    ]
    letters = list(string.ascii_lowercase)
    spelled = [f"##{letter}" for letter in letters]
    room = size - len(spelled) - CONTINUATIONS
    words = list(dict.fromkeys([*plain[: room - len(letters)], *letters]))
    known = set(words)
    inner: Counter[str] = Counter()
    for word, n in counts.items():
        if word in known or not word.isascii() or not word.isalpha() or len(word) > 24:
            continue
        for start in range(1, len(word)):
            for end in range(start + 2, min(len(word), start + PIECE_CHARACTERS_MAX) + 1):
                inner[word[start:end]] += n
    best = sorted(inner.items(), key=lambda item: (-item[1] * (len(item[0]) - 1), item[0]))
    return words + spelled + [f"##{text}" for text, _ in best[:CONTINUATIONS]]
