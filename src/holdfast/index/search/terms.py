"""The terms of a text, in an index and in a query.

`parseHTTPHeaders` is searched for as "parse http headers", as "parsing headers" and as
"parse_http_headers". So an identifier yields the stems of its parts and one compact term without
case and underscores (`parsehttpheaders`), which is the same in every naming style. The stemmer has
a few conservative rules and no dictionary, so terms are the same on every machine.
"""

from __future__ import annotations

import re

from holdfast.index.recent_memo import RecentMemo

WORD_CHARACTERS_MAX = 64
DIGITS_MAX = 6
"""Longer runs of digits are hashes and ids, whose parts are not searched for."""

WORD = re.compile(r"\w+")
_PARTS = re.compile(r"[A-Z]+(?![^\W\dA-Z_])|[A-Z]?[^\W\dA-Z_]+|[A-Z]|\d+")
_VOWEL = re.compile(r"[aeiouy]")


def stem(word: str) -> str:
    """A lower-case word without its ending."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    word = _singular(word)
    if word in _WHOLE:
        return word
    for ending, rest_min, put in _BY_LAST.get(word[-1], ()):
        if word.endswith(ending):
            rest = word[: -len(ending)]
            if len(rest) >= rest_min and _VOWEL.search(rest):
                word = rest + put
                if ending in _DOUBLES and word[-1] == word[-2] and word[-1] not in "lsz":
                    word = word[:-1]
            break
    if len(word) > 3 and word[-1] == "e":
        return word[:-1]
    if len(word) > 3 and word[-1] == "y" and word[-2] not in "aeiou":
        return word[:-1] + "i"
    return word


_ENDINGS = (
    ("ization", 3, "iz"),
    ("isation", 3, "iz"),
    ("ation", 3, "at"),
    ("ment", 4, ""),
    ("able", 4, ""),
    ("ible", 4, ""),
    ("ing", 3, ""),
    ("ion", 4, ""),
    ("ed", 3, ""),
    ("er", 4, ""),
    ("or", 4, ""),
)
_BY_LAST = {
    last: tuple(rule for rule in _ENDINGS if rule[0][-1] == last)
    for last in {ending[-1] for ending, _, _ in _ENDINGS}
}
_WHOLE = frozenset(
    WORD.findall(
        """
    render header number buffer filter letter pointer register order folder border center power
    consider deliver discover recover trigger cluster master monitor vector factor color cursor
    tensor sensor author mirror anchor float integer character parameter counter footer offer
    member corner finger remember transfer prefer refer infer paper matter pattern modifier
    identifier error string nothing something everything during variable table available
    document element comment argument segment moment version session option position action
    section region million portion station mission motion mention passion question dimension
    extension permission function
    """
    )
)
"""Words that only seem to have an ending."""

_DOUBLES = frozenset({"ing", "ed", "er"})


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-2]
    if word.endswith(("sses", "xes", "ches", "shes", "zzes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def parts(word: str) -> list[str]:
    """The parts of an identifier, in lower case: `HTTPServer2` has http, server and 2."""
    return [part.lower() for part in _PARTS.findall(word)]


def compact(word: str) -> str:
    """An identifier without underscores and case."""
    return word.replace("_", "").lower()


def split(word: str) -> tuple[str, ...]:
    """The terms of one word: the stems of its parts, and the compact word if there are several."""
    if len(word) > WORD_CHARACTERS_MAX:
        return ()
    if word.islower() and word.isascii() and word.isalpha():
        return (_stems[word],)  # most words are one part
    found = _PARTS.findall(word)
    if not found:
        return ()
    stems = [
        _stems[part]
        for part in map(str.lower, found)
        if len(part) <= DIGITS_MAX or not part.isdecimal()
    ]
    if len(found) > 1:
        stems.append(compact(word))
    return tuple(stems)


_stems = RecentMemo(stem)
"""By part: a part is in many words."""
_memo = RecentMemo(split)


terms_of = _memo.__getitem__
"""The same as `split`, cached."""


def terms(text: str) -> list[str]:
    """The terms of a text, in order."""
    found: list[str] = []
    for word in WORD.findall(text):
        found += _memo[word]
    return found


def words(text: str) -> list[str]:
    """The words of a text, unstemmed: identifiers, each followed by its parts if it has several.

    The hashed embedding is computed from these, so changing them changes its vectors.
    """
    found: list[str] = []
    for word in WORD.findall(text):
        whole = word.strip("_").lower()
        if whole and len(word) <= WORD_CHARACTERS_MAX:
            found.append(whole)
            split_up = parts(word)
            if split_up != [whole]:
                found += split_up
    return found
