"""The current state of a home, as documents that clients can watch.

The dashboard could have its own event stream. But sync already sends every change once and survives
a lost connection. So the current state is written as documents in a separate space, and the
dashboard, `holdfast memory watch` and other programs watch that space.

    space   holdfast                 (see `space_of` for databases that several machines share)
    live:board             links to all below
    live:codebase/<key>    a tracked tree: state, proof, progress, freshness, and why
    live:session/<name>    a session: entries, compactions, what it holds and has saved
    live:savings           tokens sent and saved, by the hour
    live:space/<name>      a space: newest seq, branches
    live:health            what is wrong, and what to do about it

All of it is derived and can be deleted; the next update writes it again. Only changed documents are
committed, and no document contains the time of an update. Format 1.

May be late, and may show a state that has just ended. Never shows a state that did not exist.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError
from holdfast.home import Home

if TYPE_CHECKING:
    from holdfast.store.store import Store

SPACE = "holdfast"
BOARD = "live:board"
FORMAT = 1
"""The documents' version, in the board.

1: board, codebase, session, savings, space, health.
"""

LOOK_EVERY_S = 30.0
"""Notifications of changed files can be lost, so the state is also updated this often."""

SETTLE_MS = 80

THREADS = ("holdfast-notices", "holdfast-live")
"""The threads of a `RefreshLoop`: one is notified of changed files, the other looks."""

log = logging.getLogger("holdfast.live")

Documents = dict[str, dict[str, Any]]


def space_of(home: Home, database_url: str | None, namespace: str) -> str:
    """The live space of a home.

    The state belongs to one home: its trees, its sessions. A database that several machines share
    has one live space for each of them, so that they do not delete each other's documents.
    """
    if database_url is None:
        return SPACE
    digest = hashlib.sha256(f"{namespace}\n{home}".encode("utf-8", "surrogatepass")).hexdigest()
    named = "".join(c if c.isalnum() or c in "._" else "-" for c in namespace)[:60]
    return f"{SPACE}-{named}-{digest[:8]}"


def is_live(space: str) -> bool:
    """Whether a space contains live documents, of this home or of another."""
    return space == SPACE or space.startswith(f"{SPACE}-")


def link(id: str) -> dict[str, Any]:
    """A link to a document of the same space, in the form of the protocol."""
    return {"/": {"link@1": {"id": id}}}


def documents_of(
    *,
    codebases: Mapping[str, Any],
    sessions: Mapping[str, Any],
    spaces: Mapping[str, Any],
    hours: Iterable[Any],
    health: Any,
) -> Documents:
    """The observed state as documents by id; the board links to all of them."""
    documents: Documents = {}
    board: dict[str, Any] = {"format": FORMAT}
    for kind, members in (("codebase", codebases), ("session", sessions), ("space", spaces)):
        ids = {name: f"live:{kind}/{name}" for name in sorted(members)}
        board[f"{kind}s"] = {name: link(id) for name, id in ids.items()}
        documents |= {id: {"value": members[name]} for name, id in ids.items()}
    documents["live:savings"] = {"value": {"hours": list(hours)}}
    documents["live:health"] = {"value": health}
    board["savings"], board["health"] = link("live:savings"), link("live:health")
    documents[BOARD] = {"value": board}
    return documents


def operations(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The operations that turn one set of documents into another."""
    written: list[dict[str, Any]] = [
        {"op": "set", "id": id, "value": document}
        for id, document in sorted(after.items())
        if before.get(id) != document
    ]
    return written + [{"op": "delete", "id": id} for id in sorted(before) if id not in after]


def storable(value: Any) -> Any:
    """The value with bytes that are not text (in file names) replaced by `?`."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {storable(name): storable(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [storable(member) for member in value]
    return value


class Publisher:
    """Writes documents into the space, changed ones only."""

    def __init__(self, store: Store, session: str) -> None:
        self._store, self._session = store, session
        self._local_seq = int(store.next_local_seq(session))

    def published(self) -> Documents:
        """The documents in the space now."""
        return {s.id: dict(s.document or {}) for s in self._store.scan("live:", "live;")}

    def publish(self, documents: Documents) -> int | None:
        """Commit the differences as one commit; returns its seq, or None if there are none."""
        changed = operations(self.published(), storable(documents))
        if not changed:
            return None
        commit = {"localSeq": self._local_seq, "operations": changed}
        self._local_seq += 1
        return int(self._store.transact(self._session, commit).seq)


class RefreshLoop:
    """Calls `look` when files below some directories change, and at regular intervals.

    `look` is called from one thread, never twice at once; `touched` may be called from any thread.
    """

    def __init__(
        self,
        directories: Callable[[], Iterable[Path]],
        is_watched: Callable[[Path], bool],
        look: Callable[[frozenset[str]], None],
        every_s: float = LOOK_EVERY_S,
    ) -> None:
        self._directories, self._is_watched, self._look = directories, is_watched, look
        self._every_s = every_s
        self._stop, self._wake = threading.Event(), threading.Event()
        self._changed: set[str] = set()
        self._lock = threading.Lock()
        self.ready = threading.Event()
        self._threads = [
            threading.Thread(target=target, name=name, daemon=True)
            for name, target in zip(THREADS, (self._watch, self._run), strict=True)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._wake.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(timeout=5)

    def touched(self, *paths: str) -> None:
        """Report a change that is not visible in our files."""
        with self._lock:
            self._changed.update(paths)
        self._wake.set()

    def _run(self) -> None:
        while not self._stop.is_set():
            with self._lock:
                changed, self._changed = frozenset(self._changed), set()
            self._wake.clear()
            try:
                self._look(changed)
            except Exception:
                # The server continues; the next update may succeed.
                log.exception("the live documents could not be updated")
            self._wake.wait(self._every_s)

    def _watch(self) -> None:
        from watchfiles import watch

        try:
            for batch in watch(
                *self._directories(),
                watch_filter=lambda _, path: self._is_watched(Path(path)),
                debounce=SETTLE_MS * 4,
                step=SETTLE_MS,
                stop_event=self._stop,
                rust_timeout=200,
                yield_on_timeout=True,
                recursive=True,
            ):
                self.ready.set()
                if batch:
                    self.touched(*(path for _, path in batch))
        except (OSError, RuntimeError) as error:
            log.warning("file changes are noticed late: %s", error)
        finally:
            self.ready.set()


def problem(title: str, error: BaseException) -> dict[str, Any]:
    """A failed check, as the health document shows it."""
    hint = error.hint if isinstance(error, HoldfastError) else ""
    return {"name": title, "state": "bad", "text": str(error), "hint": hint or None}
