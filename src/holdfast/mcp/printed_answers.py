"""Which lines of files our recent answers printed, by the text of the answer.

Some agents show a plugin every request, but call our tools without naming the conversation. A
request that contains exactly the text of an answer proves what that answer printed, whichever call
it was. Two answers with the same text may be about different trees: such a text proves nothing.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence

from holdfast.reading.events import Printed
from holdfast.reading.hosts.sidecar import text_digest

ANSWERS_MAX = 256


class PrintedAnswers:
    """The lines of the most recent answers; one that was dropped proves nothing."""

    def __init__(self) -> None:
        self._lines: OrderedDict[str, tuple[Printed, ...]] = OrderedDict()
        self._turn = threading.Lock()

    def note(self, text: str, lines: Sequence[Printed]) -> None:
        """Remember which lines an answer with this text printed as they are."""
        digest = text_digest(text)
        with self._turn:
            before = self._lines.get(digest, tuple(lines))
            self._lines[digest] = before if before == tuple(lines) else ()
            self._lines.move_to_end(digest)
            while len(self._lines) > ANSWERS_MAX:
                self._lines.popitem(last=False)

    def lines(self, digest: str) -> tuple[Printed, ...]:
        """The lines that an answer with this digest printed; empty when that is not certain."""
        with self._turn:
            return self._lines.get(digest, ())


def excerpts(lines: Iterable[tuple[str, int, str]]) -> list[Printed]:
    """Lines of files (path, number, text) that an answer prints as they are, in runs."""
    texts: dict[str, dict[int, str]] = {}
    for path, number, text in lines:
        texts.setdefault(path, {})[number] = text
    runs: list[Printed] = []
    for path, rows in texts.items():
        for number in sorted(rows):
            last = runs[-1] if runs else None
            if last is not None and (last.path, last.first + len(last.rows)) == (path, number):
                runs[-1] = last._replace(rows=(*last.rows, rows[number]))
            else:
                runs.append(Printed(path, number, (rows[number],), excerpt=True))
    return runs
