"""How much of a result is shown, by its place on the page and its score.

A level is a number: 0 shows most, higher levels save budget, and the last two are only places.
"""

from __future__ import annotations

from collections.abc import Sequence

PREVIEW_LINES = (12, 7, 4, 1)
PREVIEW_CHARACTERS = (660, 330, 175, 100)
"""Lines and characters of a preview at each level; higher levels save budget."""
LEVEL_OF_PLACE = (0, 0, 1, 1, 1)
"""The level of the first results of a page; later results have the next level."""
WHOLE_FIRST_MAX = 5
"""A page of at most this many results shows the first one whole, and the others briefly. A longer
page that does so has only the places of the results after these."""
WHOLE_CHARACTERS, PART_CHARACTERS = 1_700, 1_100
"""A first result with more characters than this is shown in part, with so many."""
FRAGMENT_CHARACTERS = 600
"""The same for a piece from the middle of a long symbol: a list of cases or fields, mostly."""
BRIEF, ROOMY = 3, 2
"""The levels of the results after a first one that is shown whole: a line, or a few while the page
has shown less than SHORT_CHARACTERS. A short first result, such as a setter, rarely answers alone.
"""
LINE_SHARE, PLACE_SHARE = 0.5, 0.3
"""The share of the first result's score from which a result has a line of code on a page that shows
the first one whole, and from which it has a place there after the first few. On 356 questions
no place after these that was wanted scored less."""
SHORT_CHARACTERS, UNIT_LINES, UNIT_CHARACTERS = 700, 8, 330
"""On such a page, a unit of so few lines and characters is shown whole."""
FURTHER_NAMED = (3, 1, 1, 0)
"""How many further places of the file are listed at each level."""
POINTER = len(PREVIEW_LINES)
BARE = POINTER + 1
"""Levels without a preview: POINTER still has the positions of matches and copies."""
WHOLE = -1
"""The level of a first result that is shown whole, if it is not too long."""


def is_weak(score: float, first: float) -> bool:
    """Whether a result scores so little beside the first one that its place is enough."""
    return score < LINE_SHARE * first


def worth_a_place(scores: Sequence[float]) -> int:
    """How many results a brief page has: those after the first few only while they score well."""
    least = PLACE_SHARE * scores[0] if scores else 0.0
    weak = (n for n, score in enumerate(scores) if n >= WHOLE_FIRST_MAX and score < least)
    return next(weak, len(scores))
