"""What a walk finds different from a manifest, in this process or in a forked one.

The first answer of a process needs a walk of the tree and a ranking, which need nothing of each
other. So the walk runs in a forked process while this one ranks as if nothing had changed. The
answer is given only if the walk confirms that; otherwise the question is asked again with what
changed. The walk begins after the question, as it does without a process of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING

import msgspec

from holdfast.files import disk
from holdfast.files.listing_store import use_listings
from holdfast.files.moved import moved
from holdfast.files.snapshot import Snapshot, Stat
from holdfast.files.watched_tree import Look, WatchedTree

if TYPE_CHECKING:
    from holdfast.files.policy import Policy

FILES_MIN = 2_000
"""A smaller tree is walked in less time than a process takes to start."""
_LENGTH_BYTES = 8

Manifest = Callable[[], Snapshot]
"""Makes the manifest of a generation from what was read of it, without the backend."""


class Seen(msgspec.Struct, array_like=True):
    """What a walk found different from a manifest."""

    exists: bool
    """False if the tree is missing, or looks empty as an unmounted one does."""
    maybe_changed: dict[str, Stat] = {}
    """Files that may have changed, in order."""
    absent: list[str] = []
    unreadable: list[str] = []
    mounts: int = 0
    large: list[str] = []
    """Files that are not indexed because of their size."""


def looked_at(
    root: str, policy: Policy, tree: WatchedTree | None = None, version: int | None = None
) -> Look | None:
    """The files of a tree now; None if it is missing.

    `version` is the number of the last look at a watched tree: one that found the same did not
    suffice, so all of it is walked.
    """
    try:
        looked = Look(disk.walk(root, policy)) if tree is None else tree.look(policy)
        if tree is not None and looked.version == version:
            looked = tree.look(policy, whole=True)
    except disk.TreeMissing:
        return None
    return looked


def compared(look: Look | None, before: Snapshot, confirmed_ns: int) -> Seen:
    """What was found of a tree, compared with a manifest whose files were confirmed later."""
    if look is None or (look.found.shows_nothing and before.entries):
        return Seen(False)
    found = look.found
    trusted = Snapshot(before.entries, max(before.taken_ns, confirmed_ns))
    todo, absent = moved(trusted, found.stats)
    changed = {path: found.stats[path] for path in todo}
    return Seen(
        True, changed, list(absent), list(found.unreadable), found.skipped["mount"], found.large
    )


class WalkAhead:
    """A walk in a process of its own, which is ended with the context."""

    def __init__(
        self,
        root: str,
        policy: Policy,
        manifest: Manifest,
        listings: bytes | None,
        began: tuple[float, int],
    ) -> None:
        """Start the process; raises OSError if none can be started. `began` is now, by the clock
        of checks and in nanoseconds."""
        from holdfast.index import processes

        self.manifest = manifest
        self.began, self.looked_ns = began

        def serve() -> None:
            use_listings(root, policy, lambda: listings)
            data = msgspec.msgpack.encode(compared(looked_at(root, policy), manifest(), 0))
            _write(1, len(data).to_bytes(_LENGTH_BYTES, "little") + data)

        nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        reading, writing = os.pipe()
        self._pipe = reading
        try:
            self.process = processes.start(serve, nothing, writing)
        except BaseException:
            os.close(reading)
            raise
        finally:
            os.close(nothing)
            os.close(writing)

    def result(self) -> Seen | None:
        """What the walk found; None if the process failed, so that nothing is known."""
        from holdfast.index.frozen_process import Watch

        process = Watch(self.process.pid)
        with suppress(OSError, msgspec.DecodeError, msgspec.ValidationError):
            size = int.from_bytes(process.read(self._pipe, _LENGTH_BYTES), "little")
            return msgspec.msgpack.decode(process.read(self._pipe, size), type=Seen)
        return None

    def __enter__(self) -> WalkAhead:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    def end(self) -> None:
        os.close(self._pipe)
        self.process.end()


def _write(pipe: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(pipe, left) :]


def pays(files: int) -> bool:
    """Whether a process of its own is safe now and ends a walk of so many files sooner."""
    from holdfast.index.processes import may_fork

    return files >= FILES_MIN and may_fork() and (os.cpu_count() or 1) > 1
