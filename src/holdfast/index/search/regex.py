r"""Patterns of the `re:` operator: Python's syntax, one line at a time, and with a time limit.

A pattern is matched against single lines, as in grep: `^` and `$` are the ends of a line, and a
match never contains a line break. A carriage return before the break is not part of the line.

A pattern yields two things. `needs` says which literals every match must contain, so that the
trigrams of a chunk can rule it out; it may keep a chunk that does not match, and never drops one
that does. The matcher then decides on the text. It has a time limit, because a pattern such as
`(a|aa)+$` takes exponential time; a text that was not decided in time is reported, and never
counted as a miss.
"""

from __future__ import annotations

import re
import threading
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, Protocol

import msgspec

from holdfast.patterns import lazy_pattern

PATTERN_CHARACTERS_MAX = 1_000
REPEATS_MAX = 10_000
"""The limit of a pattern's counted repeats, multiplied where they are nested."""


class Literal(msgspec.Struct, frozen=True):
    """Every match contains this string."""

    text: str


class AllOf(msgspec.Struct, frozen=True):
    """All of these hold; always true if empty."""

    needs: tuple[Need, ...] = ()


class AnyOf(msgspec.Struct, frozen=True):
    """At least one of these holds."""

    needs: tuple[Need, ...]


Need = Literal | AllOf | AnyOf


def wrong_pattern(pattern: str) -> str | None:
    """What is wrong with a pattern; None if it is valid."""
    if len(pattern) > PATTERN_CHARACTERS_MAX:
        return f"the pattern is longer than {PATTERN_CHARACTERS_MAX} characters"
    try:
        tree = _tree(pattern)
        if _repeats(tree) > REPEATS_MAX:
            return f"its counted repeats come to more than {REPEATS_MAX:,}"
        _compiled(pattern)
        if _breaks(needs(pattern)):
            return "it contains a line break, but patterns are matched line by line"
    except re.error as error:
        at = f" at character {error.pos + 1}" if error.pos is not None else ""
        return f"the pattern is invalid ({error.msg}{at})"
    except (RecursionError, OverflowError):
        return "the pattern is nested too deeply"
    except Warning as warning:
        return f"the pattern can be read in two ways ({warning}); escape the bracket"
    return None


_one_reads = threading.Lock()
"""Warning filters are global. If two threads changed them temporarily at the same time, one could
restore the other's change for good.
"""


def _tree(pattern: str) -> Any:
    """The pattern, parsed by the standard library."""
    from re import _parser  # type: ignore[attr-defined]

    with _one_reads, warnings.catch_warnings():
        warnings.simplefilter("error")
        return _parser.parse(pattern, re.MULTILINE)


def _repeats(tree: Any) -> int:
    """How often counted repeats may repeat the innermost part, multiplied over nesting."""
    most = 1
    for op, value in tree:
        name = str(op)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            low, high, sub = value
            count = max(low, high if high < 1 << 20 else 1, 1)
            most = max(most, count * _repeats(sub))
        else:
            for sub in _parts(name, value):
                most = max(most, _repeats(sub))
    return most


def _parts(name: str, value: Any) -> Iterator[Any]:
    match name:
        case "SUBPATTERN":
            yield value[3]
        case "ATOMIC_GROUP":
            yield value
        case "BRANCH":
            yield from value[1]
        case "ASSERT" | "ASSERT_NOT":
            yield value[1]
        case "GROUPREF_EXISTS":
            yield from (part for part in value[1:] if part is not None)
        case _:
            pass


@lru_cache(maxsize=128)
def _compiled(pattern: str) -> Any:
    """The pattern for the `regex` engine, which has timeouts and releases the GIL."""
    import regex

    try:
        return regex.compile(_portable(pattern), regex.MULTILINE | regex.VERSION0)
    except regex.error as error:
        raise re.error(str(error), pattern) from error


_PIECE = lazy_pattern(r"\\N\{[^}]*\}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{|[^\\\[{]+|.", re.DOTALL)
_COUNT = lazy_pattern(r"\{(?:\d+(?:,\d*)?|,\d*)\}")
_BRACKET = lazy_pattern(r"(\\.)|\[", re.DOTALL)


def _portable(pattern: str) -> str:
    """The pattern, escaped so that `regex` reads it as the standard library does.

    There, a brace that is not a count means a fuzzy match, and a bracket in a set a nested set.
    """
    made, at = [], 0
    while at < len(pattern):
        piece = _PIECE.match(pattern, at)
        assert piece is not None
        text = piece[0]
        if text == "{":
            count = _COUNT.match(pattern, at)
            text = count[0].replace("{,", "{0,") if count else "\\{"
            at += len(count[0]) if count else 1
        else:
            at = piece.end()
            if text[0] == "[" and len(text) > 1:
                text = "[" + _BRACKET.sub(lambda found: found[1] or r"\[", text[1:])
        made.append(text)
    return "".join(made)


def needs(pattern: str) -> Need:
    """The literals that every match contains."""
    tree = _tree(pattern)
    return _needs(tree, bool(tree.state.flags & re.IGNORECASE))


def _needs(tree: Any, ignore_case: bool) -> Need:
    found: list[Need] = []
    run: list[str] = []

    def end_run() -> None:
        if run:
            found.append(Literal("".join(run)))
            run.clear()

    def walk(tree: Any, ignore_case: bool) -> None:
        for op, value in tree:
            name = str(op)
            letter = _letter(name, value, ignore_case)
            if letter is not None:
                run.append(letter)
                continue
            match name:
                case "AT":
                    continue  # Has no width, so the literals around it are adjacent.
                case "SUBPATTERN":
                    _, add, drop, sub = value
                    walk(
                        sub, (ignore_case or bool(add & re.IGNORECASE)) and not drop & re.IGNORECASE
                    )
                    continue
                case "ATOMIC_GROUP":
                    walk(value, ignore_case)
                    continue
                case _:
                    pass
            end_run()
            match name:
                case "BRANCH":
                    found.append(AnyOf(tuple(_needs(part, ignore_case) for part in value[1])))
                case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT" if value[0] > 0:
                    found.append(_needs(value[2], ignore_case))
                case _:
                    pass  # Optional, or any character.

    walk(tree, ignore_case)
    end_run()
    return found[0] if len(found) == 1 else AllOf(tuple(found))


def _breaks(need: Need) -> bool:
    """Whether every match would contain a line break."""
    match need:
        case Literal(text):
            return "\n" in text
        case AllOf(needs):
            return any(map(_breaks, needs))
        case AnyOf(needs):
            return all(map(_breaks, needs))


def _letter(name: str, value: Any, ignore_case: bool) -> str | None:
    """The only character a node matches, ignoring case; None if there are several."""
    if name == "LITERAL":
        letter = chr(value)
        return None if ignore_case and not letter.isascii() else letter
    if name == "IN" and all(str(op) == "LITERAL" for op, _ in value):
        letters = {chr(code) for _, code in value}
        folded = {letter.lower() if letter.isascii() else letter for letter in letters}
        if len(folded) == 1:
            return _letter("LITERAL", ord(folded.pop()), ignore_case)
    return None


_WITHIN_LINES = frozenset(
    {"LITERAL", "NOT_LITERAL", "ANY", "IN", "BRANCH", "MAX_REPEAT", "MIN_REPEAT", "SUBPATTERN",
     "AT", "GROUPREF"}
)  # fmt: skip


def _sees_only_its_line(tree: Any) -> bool:
    """Whether a match in a single line is also a match in the whole text.

    False for lookarounds, for the ends of the text, and for possessive repeats: they may behave
    differently when the line is part of a text.
    """
    for op, value in tree:
        name = str(op)
        if name not in _WITHIN_LINES:
            return False
        if name == "AT" and str(value) in ("AT_BEGINNING_STRING", "AT_END_STRING"):
            return False
        if name == "SUBPATTERN" and value[2] & re.MULTILINE:
            return False  # Inside, `^` and `$` are the ends of the text.
        subs = [value[2]] if name.endswith("REPEAT") else list(_parts(name, value))
        if not all(_sees_only_its_line(sub) for sub in subs):
            return False
    return True


class LineMatch(msgspec.Struct, frozen=True):
    """A matching line: its number in the text, from 0, and the columns `[start, end)`."""

    line: int
    start: int
    end: int


class TooSlow(Exception):
    """Raised when a text could not be matched within its time limit."""


class LineMatcher(Protocol):
    """Decides which lines of a text match."""

    @property
    def needs(self) -> Need: ...

    def lines(self, text: str, deadline: float, clock: Callable[[], float]) -> list[LineMatch]: ...

    def narrow(
        self, texts: Sequence[str], deadline: float, clock: Callable[[], float]
    ) -> list[int]: ...


class Matcher(msgspec.Struct, frozen=True):
    """A compiled pattern."""

    pattern: str
    needs: Need
    _search: Callable[..., Any]
    _whole_first: bool

    def lines(self, text: str, deadline: float, clock: Callable[[], float]) -> list[LineMatch]:
        """The lines of a text that match, with the first match of each.

        Raises TooSlow when the deadline passes first.
        """
        lines = lines_of(plain(text))
        found = []
        for number in self._places(lines, deadline, clock):
            span = self._find(lines[number], deadline, clock)
            if span is not None:
                found.append(LineMatch(number, *span))
        return found

    def narrow(
        self, texts: Sequence[str], deadline: float, clock: Callable[[], float]
    ) -> list[int]:
        """Positions of the texts that can match. One search over all is many times faster.

        Raises TooSlow when the deadline passes first.
        """
        return self._places([plain(text) for text in texts], deadline, clock)

    def _places(
        self, texts: Sequence[str], deadline: float, clock: Callable[[], float]
    ) -> list[int]:
        if not self._whole_first:
            return list(range(len(texts)))
        joined = "\n".join(texts)
        starts = [0, *accumulate(len(text) + 1 for text in texts)]
        found: list[int] = []
        at = 0
        while at < len(texts):
            span = self._find(joined, deadline, clock, starts[at])
            if span is None:
                break
            at = min(bisect_right(starts, span[0]), len(texts))
            found.append(at - 1)
        return found

    def _find(
        self, text: str, deadline: float, clock: Callable[[], float], at: int = 0
    ) -> tuple[int, int] | None:
        left = deadline - clock()
        if left <= 0:
            raise TooSlow(self.pattern)
        try:
            match = self._search(text, at, timeout=left, concurrent=True)
        except TimeoutError as error:
            raise TooSlow(self.pattern) from error
        return None if match is None else match.span()


def plain(text: str) -> str:
    """A text without carriage returns before a line break or at its end.

    A last line that is only a carriage return stays a line: an empty one.
    """
    if "\r" not in text:
        return text
    text = text.replace("\r\n", "\n")
    return text[:-1] + "\n" if text.endswith("\n\r") else text.removesuffix("\r")


def lines_of(text: str) -> list[str]:
    """The lines of a text; a trailing line break does not add an empty line."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


@lru_cache(maxsize=128)
def matcher(pattern: str) -> Matcher:
    """Compile a pattern that `wrong_pattern` accepted."""
    tree = _tree(pattern)
    return Matcher(pattern, needs(pattern), _compiled(pattern).search, _sees_only_its_line(tree))
