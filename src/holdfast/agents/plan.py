"""What an installation writes, as data: it can be shown, applied, and undone later.

An edit keeps the original text; a file that changed since is not written. Files are backed up, then
replaced atomically with the same mode. A receipt records what was added, so that uninstalling
removes exactly that.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast import system
from holdfast.agents.errors import Changed
from holdfast.files.regular import open_regular

RECEIPT_VERSION = 2
"""1: per client and scope, the files made and the places added to files.
2: also the folders made, the command that was written, and the white space of files that were
   blank. Receipts of version 1 are read."""


NAME_BYTES_MAX = 200
"""How much of a path is in the name of its backup."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One file before and after; None if the file does not exist."""

    path: Path
    before: str | None
    after: str | None
    what: str

    @property
    def needed(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        """The edit as a unified diff."""
        old = [] if self.before is None else self.before.splitlines(keepends=True)
        new = [] if self.after is None else self.after.splitlines(keepends=True)
        name = str(self.path)
        lines = difflib.unified_diff(
            old, new, name if old else "/dev/null", name if new else "/dev/null", n=2
        )
        return "".join(line if line.endswith("\n") else line + "\n" for line in lines)


def read(path: Path) -> str | None:
    """The exact text of a file; None if it does not exist."""
    try:
        with open(open_regular(path), "rb") as file:
            return file.read().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None


@dataclass(frozen=True, slots=True)
class Done:
    """What was done: the backups, and the folders that were created."""

    backups: list[Path]
    folders: list[Path]


def apply(
    edits: Iterable[Edit],
    backups: Path,
    now: float,
    ours: Iterable[str] = (),
    new_id: Callable[[], str] = system.new_id,
) -> Done:
    """Write the edits; `ours` are folders that we created, removed if they are empty.

    All files are compared with the plan before the first is written.
    """
    changes = [edit for edit in edits if edit.needed]
    for edit in changes:
        if read(edit.path) != edit.before:
            raise Changed(str(edit.path))
    copies, folders = [], []
    for edit in changes:
        if edit.before is not None:
            copies.append(_back_up(edit, backups, now, new_id()))
        folders += _write(edit)
    for folder in sorted(ours, key=len, reverse=True):
        with contextlib.suppress(OSError):
            Path(folder).rmdir()
    return Done(copies, folders)


def _back_up(edit: Edit, backups: Path, now: float, id: str) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
    # File names are limited in length; the end of a path says more than its beginning.
    whole = os.fsencode(edit.path).strip(b"/").replace(b"/", b"%")
    name = whole[-NAME_BYTES_MAX:].decode("utf-8", "ignore")
    target = backups / f"{stamp}-{id}-{name}"
    backups.mkdir(mode=0o700, parents=True, exist_ok=True)
    assert edit.before is not None
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(edit.before.encode("utf-8", "surrogateescape"))
    return target


def _write(edit: Edit) -> list[Path]:
    """Write one file; returns the folders that had to be created."""
    # A settings file is often a link into a dotfiles repository: write its target.
    path = Path(os.path.realpath(edit.path))
    if edit.after is None:
        path.unlink(missing_ok=True)
        return []
    folders = [folder for folder in path.parents if not folder.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    part = path.with_name(f".{path.name}.{os.getpid()}.holdfast")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as out:
            out.write(edit.after.encode("utf-8", "surrogateescape"))
            out.flush()
            os.fsync(out.fileno())
        part.chmod(mode)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return folders


@dataclass(frozen=True, slots=True)
class Receipts:
    """The receipts of all installations, in one file."""

    path: Path

    def load(self) -> dict[str, Any]:
        try:
            records = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        if not isinstance(records, dict) or records.get("v") not in range(1, RECEIPT_VERSION + 1):
            return {}
        entries = records.get("receipts")
        return entries if isinstance(entries, dict) else {}

    def get(self, key: str) -> dict[str, Any]:
        record = self.load().get(key)
        return record if isinstance(record, dict) else {}

    def put(self, key: str, receipt: dict[str, Any] | None) -> None:
        """Store a receipt, or delete it."""
        entries = self.load()
        if receipt is None:
            entries.pop(key, None)
        else:
            entries[key] = receipt
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        part.write_text(json.dumps({"v": RECEIPT_VERSION, "receipts": entries}, indent=2))
        part.replace(self.path)
