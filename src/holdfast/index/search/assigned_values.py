"""Lines that give a literal value to one of some names.

The same could be said in one pattern, but each set of names would need one of its own, and to
compile it takes longer than to search for it. Here the names are found as strings, and only what
follows a name is matched, by patterns that are the same for all names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from holdfast.index.search.regex import AnyOf, LineMatch, Literal, TooSlow, lines_of, plain

_NUMBER = r"-?\d|[A-Z][A-Z\d]*_[A-Z]"
_LITERAL = rf"(?:{_NUMBER}|[\"'\[]|[Tt]rue\b|[Ff]alse\b|:\w|default[A-Z]|new |[A-Z]\w+\()"
ASSIGNED = rf"[\"']?(?:(?::(?!:) ?[\w<>.\[\]]+)? ?:?= ?|:(?!:) ?| => ?){_LITERAL}"
"""After `name` in: name = 1, name: int = 1, name: 1 or "name": 1; but not in Name::member."""
LISTED = rf"[\"']?, ?(?:{_NUMBER})"
"""After `name` in: ("name", 1) or (:name, 1)."""
PASSED = r"(?:, ?[A-Z_]+)?, ?[\"']?-?\d"
"""After `name` in: option(NAME, TEXT_OF_NAME, "1")."""
_assigned, _listed, _passed = (re.compile(tail).match for tail in (ASSIGNED, LISTED, PASSED))


class AssignedNames:
    """Finds these lines; the names are whole words of letters, digits and underscores."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = sorted(names)
        self.needs = AnyOf(tuple(map(Literal, self._names)))

    def narrow(
        self, texts: Sequence[str], deadline: float, clock: Callable[[], float]
    ) -> list[int]:
        """Positions of the texts that have one of the names."""
        names = self._names
        return [at for at, text in enumerate(texts) if any(name in text for name in names)]

    def lines(self, text: str, deadline: float, clock: Callable[[], float]) -> list[LineMatch]:
        """The lines of a text that match, with the first match of each.

        Raises TooSlow when the deadline passes first.
        """
        found = []
        for number, line in enumerate(lines_of(plain(text))):
            spans = [span for name in self._names if (span := _first(name, line)) is not None]
            if spans:
                found.append(LineMatch(number, *min(spans)))
            if number % 64 == 0 and clock() >= deadline:
                raise TooSlow("values of names")
        return found


def _first(name: str, line: str) -> tuple[int, int] | None:
    """The first place where a line gives a name a value, with the value's beginning."""
    at = line.find(name)
    while at >= 0:
        end = at + len(name)
        before = line[at - 1] if at else ""
        if not _in_word(before) and not _in_word(line[end : end + 1]):
            match = _assigned(line, end)
            if match is None and before in ("'", '"', ":"):
                match = _listed(line, end)
            if match is None and before == "(":
                match = _passed(line, end)
            if match is not None:
                return at, match.end()
        at = line.find(name, at + 1)
    return None


def _in_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"
