"""What a conversation pointed at before a read: mentioned names and line numbers.

Collected from the steps of a conversation, and queried for one file at a time. Bounded: only the
newest texts are kept, and a text is scanned in one pass.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator, Sequence

from holdfast.reading.focus import WORD, Signals, wants_all
from holdfast.reading.history.reads import (
    SEARCH_TOOLS,
    SHELL_TOOLS,
    Change,
    changes,
    path_of,
)
from holdfast.reading.history.steps import Called, Returned, Said, Step, strings

TEXT_BYTES_MAX = 200_000
"""How much of one text is scanned."""
KEPT_BYTES_MAX = 1_500_000
"""How much text of results is kept; the oldest are dropped first."""
LINES_MAX = 400
PATH_MAX = 300
_NUMBERED_HIT = re.compile(r"^(\d+)[:-]", re.MULTILINE)
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_FILE = re.compile(r"^\+\+\+ (?:b/)?([^\t\n]+)", re.MULTILINE)
_FAILED = re.compile(r"(?:--- FAIL: |FAILED |FAIL: )(\S{1,200})")


class Conversation:
    """What was said so far in one context, for finding signals."""

    def __init__(self) -> None:
        self.words: set[str] = set()
        self._results: deque[Returned] = deque()
        self._kept_bytes = 0
        self._edits: dict[str, list[Change]] = {}
        self._review = False
        self._first = True

    def take(self, step: Step) -> None:
        """Add one step."""
        match step:
            case Said(role, text):
                if role == "user":
                    if self._first:
                        self._review = wants_all(text)
                    self._first = False
                self._say(text)
            case Called(_, _, arguments):
                for text in strings(arguments):
                    self._say(text)
            case Returned():
                for change in changes(step):
                    self._edits.setdefault(change.path, []).append(change)
                if step.tool in SEARCH_TOOLS or step.tool in SHELL_TOOLS:
                    self._keep(step)
            case _:
                pass

    def _say(self, text: str) -> None:
        self.words.update(WORD.findall(text[:TEXT_BYTES_MAX]))

    def _keep(self, step: Returned) -> None:
        self._results.append(step)
        self._kept_bytes += len(step.text)
        while self._kept_bytes > KEPT_BYTES_MAX and len(self._results) > 1:
            self._kept_bytes -= len(self._results.popleft().text)
        for name in _FAILED.findall(step.text[:TEXT_BYTES_MAX]):
            self.words.update(WORD.findall(name))

    def signals(self, path: str, rows: Sequence[str]) -> Signals:
        """What points at lines or units of this file."""
        lines: set[int] = set()
        for step in self._results:
            lines.update(named_lines(step, path))
        text = "\n".join(rows)
        for change in self._edits.get(path, ()):
            lines.update(_places(text, change))
        inside = frozenset(n for n in lines if 1 <= n <= len(rows))
        return Signals(frozenset(self.words), inside, self._review)


def named_lines(step: Returned, path: str) -> Iterator[int]:
    """The lines of a file that the result of a search, a test or a diff names."""
    base = os.path.basename(path)
    text = step.text[:TEXT_BYTES_MAX]
    if step.tool in SEARCH_TOOLS and path_of(step.arguments, step.cwd) == path:
        for count, hit in enumerate(_NUMBERED_HIT.finditer(text)):
            if count < LINES_MAX:
                yield int(hit[1])
    if base not in text:
        return
    for count, hit in enumerate(re.finditer(rf"{re.escape(base)}[:(](\d{{1,7}})", text)):
        if count >= LINES_MAX:
            break
        folder = _folder_before(text, hit.start())
        if path.endswith(f"/{(folder + base).lstrip('./')}"):
            yield int(hit[1])
    for match in _FILE.finditer(text):
        if not path.endswith(f"/{match[1].strip()}"):
            continue
        end = _FILE.search(text, match.end())
        for hunk in _HUNK.finditer(text, match.end(), end.start() if end else len(text)):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            # Without the three lines of context on each side, which did not change.
            yield from range(first + 3, max(first + 4, first + min(count, LINES_MAX) - 3))


def _folder_before(text: str, end: int) -> str:
    """The part of a path in front of a file's name."""
    start = end
    while start > max(0, end - PATH_MAX) and (
        text[start - 1].isalnum() or text[start - 1] in "_./@+-"
    ):
        start -= 1
    return text[start:end]


def _places(text: str, change: Change) -> Iterator[int]:
    if change.old is None or not change.new.strip():
        return
    at = text.find(change.new)
    if at >= 0:
        first = text.count("\n", 0, at) + 1
        yield from range(first, first + min(LINES_MAX, change.new.count("\n") + 1))
