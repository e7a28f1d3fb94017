"""Two explorers that gather output until every fact of a question has been shown.

Neither looks at the facts except to know when to stop. Each starts from what it is asked, follows
its own output from the best place to the worst, and reads code as its tools print it. Lines that
have only comments, brackets or nothing need not be shown.

    ours       one search with the question's words, three results; then those that are not whole
               yet, two in one read, then the others; then the further places that the results
               name, by their lines in one read: those whose name has a word of the question, or
               all if none has; then the same for the symbols that have a pattern in their name,
               and at last for ten results of the question
    ripgrep    the patterns one after the other; definitions among the matches first, each read
               with `sed` from 5 lines before to 45 after, if it is not on the screen yet
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.cli.line_display import code_lines
from holdfast.files.policy import language_of
from holdfast.text import is_only_brackets, only_closes

Run = Callable[[Sequence[str]], str]
BEFORE, AFTER, READS_MAX = 5, 45, 12
FIRST, THEN, LAST = 3, 5, 10
"""How many results our explorer asks for: with the question, with symbols, then once more."""
FURTHER = 6
"""How many of the further places that they name it reads, in one call."""
WORD_MIN = 4
"""How long a word of the question is that names are compared with."""


@dataclass(frozen=True)
class Question:
    """What is asked, words to search for, and the lines that must be seen."""

    ask: str
    patterns: tuple[str, ...]
    facts: tuple[tuple[str, int, int], ...]


@dataclass
class Explorer:
    """Counts what was printed, and knows which lines were."""

    tree: Path
    question: Question
    calls: int = 0
    printed: int = 0
    seen: set[tuple[str, int]] = field(default_factory=set)

    def show(self, text: str) -> str:
        self.calls += 1
        self.printed += len(text.encode())
        return text

    @property
    def done(self) -> bool:
        return all(self._is_shown(*fact) for fact in self.question.facts)

    def _is_shown(self, file: str, first: int, last: int) -> bool:
        return all((file, n) in self.seen for n in self.told(file) if first <= n <= last)

    def told(self, file: str) -> frozenset[int]:
        """The numbers of lines that say something: not comments, nor brackets alone."""
        source = (self.tree / file).read_bytes()
        lines = source.decode("utf-8", "replace").split("\n")
        language = language_of(file)
        return frozenset(
            n
            for n in code_lines(file, source)
            if not is_only_brackets(lines[n - 1]) and not only_closes(lines[n - 1], language)
        )

    def is_seen(self, file: str, line: int) -> bool:
        return (file, line) in self.seen


_RESULT = re.compile(r"^([^\s:\[]*):(\d+)(?:-(\d+))?(?:  (.*))?$")
_FURTHER = re.compile(r"^  also (.+)$")
_NAMED = re.compile(r"(?:lines? )?(\d+)(?:-(\d+))?(?: (\S+))?$")
_ALIKE = re.compile(r"^  \[\d+ more like it: (.+)\]$")
_PLACE = re.compile(r"([^\s:]+):(\d+)(?:-(\d+))?$")
_LINE = re.compile(r"^(\d+)(?: .*)?$")
_MATCH = re.compile(r"^([^\s:]+):(\d+):(.*)$")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

Place = tuple[str, int, int]
"""A file, and the first and last line."""


@dataclass
class Ours(Explorer):
    """Explores with `holdfast search` and `holdfast read`."""

    further: list[tuple[Place, str]] = field(default_factory=list)
    """Places that results name besides their best one, with the name of the symbol.

    A copy has the name of the result that it is like.
    """

    def run(self, holdfast: Run) -> bool:
        ask, symbols = self.question.ask, self._symbols()
        for query, limit in ((ask, FIRST), (symbols, THEN), (ask, LAST)):
            found = self._places(self.show(holdfast(["search", query, "--limit", str(limit)])))
            start = 0
            for count in (2, limit):
                if self.done:
                    return True
                self._read(holdfast, found[start : start + count])
                start += count
            if not self.done:
                new = [one for one in self.further if not self._whole(*one[0])]
                wanted = [one for one in new if self._asked(one[1])] or new
                self._read(holdfast, [place for place, _ in wanted[:FURTHER]])
            if self.done:
                return True
            self.further.clear()
        return False

    def _symbols(self) -> str:
        """A search for symbols that have a pattern in their name."""
        words = [pattern.removeprefix("class ") for pattern in self.question.patterns]
        return "sym:" + "|".join(f"*{word}*".replace(" ", "*") for word in words)

    def _asked(self, name: str) -> bool:
        """Whether a part of a name is a word of the question, or a beginning of one."""
        asked = [w.lower() for w in _WORD.findall(self.question.ask) if len(w) >= WORD_MIN]
        parts = [w.lower() for w in _WORD.findall(name) if len(w) >= WORD_MIN]
        return any(a.startswith(p) or p.startswith(a) for a in asked for p in parts)

    def _read(self, holdfast: Run, places: Sequence[Place]) -> None:
        names = [f"{file}:{a}-{b}" for file, a, b in places if not self._whole(file, a, b)]
        if names:
            self._places(self.show(holdfast(["read", "-n", "--no-comments", *names])), names)

    def _whole(self, file: str, first: int, last: int) -> bool:
        return all(self.is_seen(file, n) for n in self.told(file) if first <= n <= last)

    def _places(self, text: str, names: Sequence[str] = ()) -> list[Place]:
        """The places in an output; the lines under them count as seen."""
        found: list[Place] = []
        file = names[0].rpartition(":")[0] if len(names) == 1 else ""
        symbol = ""
        for line in text.split("\n"):
            if result := _RESULT.match(line):
                file, symbol = result[1] or file, result[4] or ""
                found.append((file, int(result[2]), int(result[3] or result[2])))
            elif shown := _LINE.match(line):
                self.seen.add((file, int(shown[1])))
            elif also := _FURTHER.match(line):
                for named in map(_NAMED.match, also[1].split(", ")):
                    if named is not None:
                        first = int(named[1])
                        place = (file, first, int(named[2] or first))
                        self.further.append((place, named[3] or ""))
            elif alike := _ALIKE.match(line):
                for copy in map(_PLACE.match, alike[1].split(", ")):
                    if copy is not None:
                        at = (copy[1], int(copy[2]), int(copy[3] or copy[2]))
                        self.further.append((at, symbol))
        return found


class Ripgrep(Explorer):
    """Explores with a search by pattern, and `sed`."""

    def run(self, program: Sequence[str]) -> bool:
        for pattern in self.question.patterns:
            done = subprocess.run(
                [*program, pattern, "."], cwd=self.tree, capture_output=True, text=True, check=False
            )
            matches = []
            for line in self.show(done.stdout).split("\n"):
                if found := _MATCH.match(line):
                    file = found[1].removeprefix("./")
                    self.seen.add((file, int(found[2])))
                    matches.append((file, int(found[2]), found[3]))
            matches.sort(key=lambda match: not re.match(r"\s*(async )?(def|class) ", match[2]))
            reads = 0
            for file, line_number, _ in matches:
                if self.done or reads >= READS_MAX:
                    break
                window = range(max(1, line_number - BEFORE), line_number + AFTER)
                if self.is_seen(file, line_number + 1) and self.is_seen(file, line_number - 1):
                    continue
                reads += 1
                self._sed(file, window)
            if self.done:
                return True
        # What was cut off by a window: on from its end.
        for file, first, last in self.question.facts:
            if not self._is_shown(file, first, last) and self.is_seen(file, first):
                self._sed(file, range(first, last + 1))
        return self.done

    def _sed(self, file: str, window: range) -> None:
        words = ["sed", "-n", f"{window.start},{window.stop - 1}p", file]
        self.show(subprocess.run(words, cwd=self.tree, capture_output=True, text=True).stdout)
        self.seen |= {(file, number) for number in window}
