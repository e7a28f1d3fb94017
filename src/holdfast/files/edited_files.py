"""Files with uncommitted changes, as git reports them.

Running git takes longer than a search may. So a search uses the last answer, and if that is old,
git runs in the background for the next search. Without git, without a commit, or with too many
changes to be useful, there is no answer.

The later pages of a ranking use the same files as its first page.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from holdfast import system

REFRESH_S = 5.0
"""An answer of git is used for this long."""
TIMEOUT_S = 2.0
EDITED_MAX = 200
"""More files than this come from a merge or a formatter, and are not a useful signal."""
KEPT_MAX = 64
"""How many rankings with several pages are remembered."""

Edited = frozenset[str]


def edited_files(root: str) -> Edited | None:
    """The files below a root that differ from the last commit, or are new and not ignored."""
    from holdfast.files.git import open_repository

    with open_repository(Path(root)) as repository:
        if repository is None or repository.commit("HEAD") is None:
            return None
        listed = repository.status(timeout_s=TIMEOUT_S)
        below = len(os.fsencode(repository.prefix))
    if listed is None:
        return None
    names = [entry[_STATUS + below :] for entry in listed.split(b"\0") if entry]
    if len(names) > EDITED_MAX:
        return None
    return frozenset(name.decode("utf-8", "surrogateescape") for name in names)


_STATUS = len("MM ")
"""In the output of git each path follows two letters of status."""


def in_background(job: Callable[[], None]) -> None:
    threading.Thread(target=job, name="holdfast-edited", daemon=True).start()


@dataclass(slots=True)
class _Last:
    files: Edited | None
    asked_at: float


class EditedFiles:
    """The last answer of git for each root."""

    def __init__(
        self,
        ask: Callable[[str], Edited | None] = edited_files,
        start: Callable[[Callable[[], None]], None] = in_background,
        clock: Callable[[], float] = system.monotonic,
    ) -> None:
        self._ask, self._start, self._clock = ask, start, clock
        self._lock = threading.Lock()
        self._last: dict[str, _Last] = {}
        self._asking: set[str] = set()
        self._answers: OrderedDict[str, Mapping[str, Edited | None]] = OrderedDict()

    def of(self, root: str) -> Edited | None:
        """The last answer, without waiting; None if there is none yet."""
        with self._lock:
            last = self._last.get(root)
            old = last is None or self._clock() - last.asked_at >= REFRESH_S
            if old and root not in self._asking:
                self._asking.add(root)
            else:
                old = False
        if old:
            try:
                self._start(lambda: self._refresh(root))
            except RuntimeError:  # no thread could be started
                with self._lock:
                    self._asking.discard(root)
        return last.files if last is not None else None

    def _refresh(self, root: str) -> None:
        files: Edited | None = None
        asked_at = self._clock()
        try:
            files = self._ask(root)
        finally:
            with self._lock:
                self._last[root] = _Last(files, asked_at)
                self._asking.discard(root)

    def keep(self, state: str, edited: Mapping[str, Edited | None]) -> None:
        """Remember the files that a ranking used, by the state in its cursors."""
        with self._lock:
            self._answers[state] = edited
            self._answers.move_to_end(state)
            while len(self._answers) > KEPT_MAX:
                self._answers.popitem(last=False)

    def kept(self, state: str) -> Mapping[str, Edited | None]:
        """The files that a ranking used; None if they are not remembered."""
        with self._lock:
            return self._answers.get(state, {})
