"""Words of a question that no result has; the answer lists them first.

Vectors always find something near, so a question about something that the tree does not have would
get confident results. If a word occurs in the tree, a chunk with it is among the ranked ones, the
more likely the rarer the word is. So a word that none of them has most likely occurs nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.index.search.query_analysis import AnalyzedQuery, Word
from holdfast.index.search.results import Group

BY_MEANING_MAX = 3
"""How many results are shown if none has any word of the question."""
UNMATCHED = "WORDS_UNMATCHED"
ASKING = frozenset({
    "can", "choose", "chooses", "chose", "chosen", "could", "decide", "decided", "decides",
    "decision", "determine", "determined", "determines", "did", "does", "had", "happen",
    "happened", "happens", "happening", "has", "have", "mean", "means", "occur", "occurs",
    "should", "taken", "whether", "will", "would",
})  # fmt: skip
"""Words that ask and name nothing: that no result has them says nothing about the results."""


def unmatched_words(question: AnalyzedQuery | None, groups: Sequence[Group]) -> tuple[str, ...]:
    """The words of a question that no ranked chunk has, as they were written.

    May consider a word present that is only part of a longer one; never returns a word that a
    result has.
    """
    if question is None or not groups:
        return ()
    waiting = {word.text: _beginnings(word) for word in question.words}
    for group in groups:
        for member in group.members:
            chunk = member.chunk
            text = f"{chunk.path} {chunk.label or ''} {chunk.text}".lower().replace("_", "")
            words = [
                word for word, starts in waiting.items() if any(each in text for each in starts)
            ]
            for word in words:
                del waiting[word]
            if not waiting:
                return ()
    return tuple(waiting)


def _beginnings(word: Word) -> list[str]:
    """Prefixes of the words that count as this one: an ending may change the last letter."""
    terms = (word.term, *word.others)
    return [term[:-1] if len(term) > 3 else term for term in terms]


def unmatched_warning(
    words: Sequence[str],
    question: AnalyzedQuery | None,
    groups: Sequence[Group],
    *,
    weak: bool = False,
) -> list[str]:
    """The warning that names these words, as `CODE:sentence`; `weak`: nothing matches well."""
    if question is None or not (words or (weak and groups)):
        return []
    if len(words) < len(question.words):
        poor = "nothing matches the question well; this is the nearest"
        named = ", ".join(word for word in words if word.lower() not in ASKING)
        parts = [f"no result has {named}"] if named else []
        parts += [poor] if weak and groups else []
        return [f"{UNMATCHED}:{'; '.join(parts)}"] if parts else []
    nearest = "; this is the nearest by meaning" if groups else ""
    every = ", ".join(words)
    return [f"{UNMATCHED}:no result has any word of the question ({every}){nearest}"]
