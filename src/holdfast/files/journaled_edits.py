"""Writes several files of a tree: all of them, or none, even if the process is killed.

A rename can replace one file at a time only. So before the first one is replaced, the texts of all
files, before and after, are kept in a journal in the home; it is removed after the last one. A
process that finds a journal without an owner completes the edit (`edit_recovery` decides how). The
owner holds a lock, which the kernel releases when the process ends, however it ends.

An edit of one file needs no journal: one rename is all or nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from holdfast.errors import HoldfastError, UsageError
from holdfast.files.edit_journal import DamagedJournal, Journal, JournalFile
from holdfast.files.edit_recovery import (
    Ask,
    Choice,
    Finish,
    Interrupted,
    State,
    States,
    choose,
    named,
    outcome,
    state_of,
)
from holdfast.files.journal_store import WAIT_S, JournalStore, reason
from holdfast.files.tree_writer import Step, TreeWriter, silent
from holdfast.home import Home


class UnsettledEdit(HoldfastError):
    """Raised when an interrupted edit needs its owner's decision before another one may write."""

    def __init__(self, interrupted: Interrupted, more: str = "") -> None:
        super().__init__(f"{interrupted}; {more}" if more else str(interrupted))
        self.interrupted, self.hint = interrupted, interrupted.hint


def edits_of(home: Home) -> JournaledEdits:
    """The edits whose journals are kept in a home."""
    return JournaledEdits(home.edits)


class JournaledEdits:
    """The edits of all roots: their journals and locks, in one directory of the home."""

    def __init__(self, directory: Path, step: Step = silent, wait_s: float = WAIT_S) -> None:
        self._store, self._step = JournalStore(directory, step, wait_s), step

    def write(self, root: str, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> None:
        """Replace the texts of files that still have the text `before`; otherwise write nothing."""
        changes = [JournalFile(p, before[p], after[p]) for p in after if after[p] != before[p]]
        journal = Journal(root, f".holdfast-{os.getpid()}", tuple(changes))
        writer = self._writer(journal)
        several = len(changes) > 1
        with self._store.locked(root, needed=several):
            self._check_settled(root, journal)
            _check_unchanged(writer, before)
            if several:
                self._store.keep(journal)
            replaced = list[JournalFile]()
            try:
                for one in changes:
                    writer.stage(one.path, one.after)
                _check_unchanged(writer, before)
                for one in changes:
                    _check_unchanged(writer, {one.path: one.before})
                    replaced.append(one)
                    writer.replace(one.path)
                writer.sync(journal.paths)
            except BaseException as error:
                self._take_back(writer, journal, replaced, error)
                raise
            if several:
                with suppress(OSError):  # a journal that is left is recognised as written
                    self._store.remove(root)

    def recover(self, root: str) -> str:
        """Complete an interrupted edit of a root; what was done about it, "" if there was none.

        Where only the user can decide, nothing is written and the answer names the files.
        """
        if not self._store.has(root):
            return ""
        try:
            with self._store.locked(root):
                return self._recover(root)
        except HoldfastError as error:
            return f"{error}; {error.hint}"

    def settle(self, root: str, choice: Choice) -> str:
        """Finish or undo an interrupted edit; files that were changed since stay as they are."""
        with self._store.locked(root):
            journal = self._store.load(root)
            if journal is None:
                return ""
            if not os.path.isdir(root):  # moved, or on a disk that is not mounted
                raise UsageError(
                    f"{root} is not there; nothing was written, and the journal is kept",
                    "if the tree was moved, move it back and try again; "
                    "--forget removes the journal",
                )
            writer = self._writer(journal)
            found = self._inspect(journal)
            paths = choose(found.states, choice)
            if paths is None:
                raise UsageError(
                    f"not every file can be read: {found}",
                    "make them readable and try again; --forget leaves every file as it is",
                )
            self._write(writer, journal, paths, undo=choice == "undo")
            self._end(writer, journal, found.states)
        wrote = f"wrote {named(paths)}" if paths else "there was nothing to write"
        kept = [f"{p} {s.value}" for p, s in found.states.items() if s in _KEPT]
        left = f"; left as it is: {', '.join(kept)}" if kept else ""
        return f"{'finished' if choice == 'finish' else 'undone'}: {wrote}{left}"

    def forget(self, root: str) -> str:
        """Remove the journal of an interrupted edit, damaged or not; every file stays as it is."""
        with self._store.locked(root):
            with suppress(DamagedJournal):
                journal = self._store.load(root)
                if journal is None:
                    return ""
                self._writer(journal).discard(journal.paths)
            self._store.remove(root)
        return "forgotten: every file stays as it is"

    def interrupted(self) -> list[Interrupted | DamagedJournal]:
        """All edits that were interrupted, without changing anything."""
        return [
            self._inspect(one) if isinstance(one, Journal) else one
            for one in self._store.ownerless()
        ]

    def states_of(self, root: str) -> States:
        """Every file of an interrupted edit and what it is now, without changing anything."""
        with self._store.locked(root):
            journal = self._store.load(root)
            return self._inspect(journal).states if journal is not None else {}

    def root_of(self, path: str) -> str | None:
        """The root at or above a canonical path that has a journal."""
        while not self._store.has(path):
            path, below = os.path.dirname(path), path
            if path == below:
                return None
        return path

    # what holds the lock

    def _check_settled(self, root: str, journal: Journal) -> None:
        """Complete an interrupted edit first; raises if it must be settled before this one."""
        try:
            self._recover(root)
        except DamagedJournal:
            if len(journal.files) > 1:
                raise
        except UnsettledEdit:
            pending = self._store.load(root)
            if len(journal.files) > 1 or (pending and set(pending.paths) & set(journal.paths)):
                raise

    def _recover(self, root: str) -> str:
        journal = self._store.load(root)
        if journal is None:
            return ""
        found = self._inspect(journal)
        plan, writer = found.plan, self._writer(journal)
        if isinstance(plan, Ask):
            raise UnsettledEdit(found)
        try:
            if isinstance(plan, Finish):
                self._write(writer, journal, plan.paths, undo=False)
            self._end(writer, journal, found.states)
        except (OSError, UsageError) as error:
            failed = f"finishing it failed: {reason(error)}"
            raise UnsettledEdit(self._inspect(journal), failed) from error
        return outcome(found)

    def _write(
        self, writer: TreeWriter, journal: Journal, paths: tuple[str, ...], *, undo: bool
    ) -> None:
        """Write some files of a journal; all are staged before the first one is replaced."""
        wanted = frozenset(paths)
        chosen = [one for one in journal.files if one.path in wanted]
        try:
            for one in chosen:
                writer.stage(one.path, one.before if undo else one.after)
            for one in chosen:
                if _state(writer, one) is not (State.AFTER if undo else State.BEFORE):
                    raise UsageError(f"{one.path} changed meanwhile", "try again")
                writer.replace(one.path)
            writer.sync(paths)
        finally:
            writer.discard(paths)

    def _take_back(
        self,
        writer: TreeWriter,
        journal: Journal,
        replaced: list[JournalFile],
        error: BaseException,
    ) -> None:
        """Give every file that was replaced its old text again, after an error."""
        written = tuple(one.path for one in replaced if _state(writer, one) is State.AFTER)
        failed = ""
        try:
            self._write(writer, journal, written, undo=True)
        except (OSError, HoldfastError) as second:
            failed = f"taking it back failed: {reason(second)}"
        writer.discard(journal.paths)
        if len(journal.files) < 2:
            return
        if failed or any(_state(writer, one) is not State.BEFORE for one in replaced):
            raise UnsettledEdit(self._inspect(journal), failed) from error
        self._store.remove(journal.root)

    def _end(self, writer: TreeWriter, journal: Journal, states: States) -> None:
        writer.discard(journal.paths)
        writer.sync(path for path, state in states.items() if state in _KNOWN)
        self._store.remove(journal.root)

    def _inspect(self, journal: Journal) -> Interrupted:
        writer = self._writer(journal)
        return Interrupted(journal.root, {one.path: _state(writer, one) for one in journal.files})

    def _writer(self, journal: Journal) -> TreeWriter:
        return TreeWriter(journal.root, journal.part, self._step)


_KNOWN, _KEPT = (State.BEFORE, State.AFTER), (State.CHANGED, State.MISSING)


def _state(writer: TreeWriter, one: JournalFile) -> State:
    try:
        return state_of(writer.read(one.path), one.before, one.after)
    except FileNotFoundError:
        return State.MISSING
    except OSError:
        return State.UNREADABLE


def _check_unchanged(writer: TreeWriter, before: Mapping[str, bytes]) -> None:
    for path, text in before.items():
        try:
            same = writer.read(path) == text
        except OSError:
            same = False
        if not same:
            raise UsageError(f"{path} changed; nothing was written", "ask for a new preview")
