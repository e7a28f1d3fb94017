"""Answers that were given and are not in the session's log yet, by log, path and text.

Several calls run in one turn, and their results are written only after they are returned. An answer
that names lines as held must not overlook one that has just shown other text for them.
"""

from __future__ import annotations

from collections import OrderedDict

from holdfast.reading.trust import Ledger

FILES_MAX = 4_096

Key = tuple[str, str]
"""The log, and the path of the file."""


class UnloggedAnswers:
    """Counts answers until the log has them."""

    def __init__(self) -> None:
        self._files: OrderedDict[Key, dict[str, tuple[int, int]]] = OrderedDict()
        """For each text: how many answers from it the log had, and how many were given since."""

    def with_other_text(self, key: Key, digest: str, ledger: Ledger) -> bool:
        """Whether an answer from a text with another digest is not in the log yet."""
        texts = self._files.get(key)
        if texts is None:
            return False
        for text, (before, since) in list(texts.items()):
            # Fewer than before: a compaction or rewind, so the turn of those answers is over.
            if not before <= ledger.answers(key[1], text) < before + since:
                del texts[text]
        return any(text != digest for text in texts)

    def add(self, key: Key, digest: str, ledger: Ledger) -> None:
        """Note an answer that is about to be returned."""
        texts = self._files.setdefault(key, {})
        before, since = texts.get(digest) or (ledger.answers(key[1], digest), 0)
        texts[digest] = before, since + 1
        while len(self._files) > FILES_MAX:
            self._files.popitem(last=False)
