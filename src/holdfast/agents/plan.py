"""What an installation will write, as data: shown first, then done, and undone later.

An edit knows the bytes it was made for; a file that is no longer that is left alone. Files are
replaced in one step, keep their mode, and are copied aside before. What was added is remembered in
a receipt, so that it can be taken out again and nothing else.
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

RECEIPT_VERSION = 2
"""1: per client and scope, the files made and the places added to files.
2: besides, the folders made, the program that was written, and what a file held that had nothing
   in it. Receipts of version 1 are read."""


NAME_BYTES_MAX = 200
"""How much of a path is in the name of its copy."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One file before and after; None is a file that is not there."""

    path: Path
    before: str | None
    after: str | None
    what: str

    @property
    def needed(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        """The edit as people read it."""
        old = [] if self.before is None else self.before.splitlines(keepends=True)
        new = [] if self.after is None else self.after.splitlines(keepends=True)
        name = str(self.path)
        lines = difflib.unified_diff(
            old, new, name if old else "/dev/null", name if new else "/dev/null", n=2
        )
        return "".join(line if line.endswith("\n") else line + "\n" for line in lines)


def read(path: Path) -> str | None:
    """The text of a file, to the byte; None when there is none."""
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None


@dataclass(frozen=True, slots=True)
class Done:
    """What was done: where the files as they were are kept, and which folders were made."""

    kept: list[Path]
    folders: list[Path]


def apply(
    edits: Iterable[Edit],
    backups: Path,
    now: float,
    ours: Iterable[str] = (),
    new_id: Callable[[], str] = system.new_id,
) -> Done:
    """Write what the edits say; `ours` are folders of ours, which go when they are empty.

    All files are compared before the first is written.
    """
    needed = [edit for edit in edits if edit.needed]
    for edit in needed:
        if read(edit.path) != edit.before:
            raise Changed(str(edit.path))
    kept, made = [], []
    for edit in needed:
        if edit.before is not None:
            kept.append(_back_up(edit, backups, now, new_id()))
        made += _write(edit)
    for folder in sorted(ours, key=len, reverse=True):
        with contextlib.suppress(OSError):
            Path(folder).rmdir()
    return Done(kept, made)


def _back_up(edit: Edit, backups: Path, now: float, id: str) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
    # The end of a path tells more than its beginning, and a name may have some 200 bytes only.
    whole = os.fsencode(edit.path).strip(b"/").replace(b"/", b"%")
    name = whole[-NAME_BYTES_MAX:].decode("utf-8", "ignore")
    target = backups / f"{stamp}-{id}-{name}"
    backups.mkdir(mode=0o700, parents=True, exist_ok=True)
    assert edit.before is not None
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(edit.before.encode("utf-8", "surrogateescape"))
    return target


def _write(edit: Edit) -> list[Path]:
    """Write one file; which folders that took."""
    # A settings file is often a link into a repository of dotfiles: write what it leads to.
    path = Path(os.path.realpath(edit.path))
    if edit.after is None:
        path.unlink(missing_ok=True)
        return []
    made = [folder for folder in path.parents if not folder.exists()]
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
    return made


@dataclass(frozen=True, slots=True)
class Receipts:
    """What was added where, in one small file."""

    path: Path

    def load(self) -> dict[str, Any]:
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        if not isinstance(found, dict) or found.get("v") not in range(1, RECEIPT_VERSION + 1):
            return {}
        entries = found.get("receipts")
        return entries if isinstance(entries, dict) else {}

    def get(self, key: str) -> dict[str, Any]:
        found = self.load().get(key)
        return found if isinstance(found, dict) else {}

    def put(self, key: str, receipt: dict[str, Any] | None) -> None:
        """Remember a receipt, or forget it."""
        entries = self.load()
        if receipt is None:
            entries.pop(key, None)
        else:
            entries[key] = receipt
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        part.write_text(json.dumps({"v": RECEIPT_VERSION, "receipts": entries}, indent=2))
        part.replace(self.path)
