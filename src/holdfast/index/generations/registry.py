"""The registry of roots: one small JSON file, read whole and replaced whole.

Every call reads the file; nothing is cached between calls. A change takes the lock, reads the file,
decides, and renames a new file into place. So two processes cannot overwrite each other's roots,
and a reader sees the file before or after a change, never a part of it. Reading writes nothing: it
takes no lock, migrates nothing and moves no file.

A registry that cannot be read is an error, never an empty list of roots. An entry that cannot be
read is listed as failed and kept unchanged.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from zlib import crc32

from holdfast.files.paths import canonical_root
from holdfast.files.policy import Policy
from holdfast.index.errors import HOME_HINT, RegistryDamaged
from holdfast.index.generations.record import (
    IndexFailed,
    Record,
    policy_of,
    record_from_wire,
    record_to_wire,
)
from holdfast.locks import take_lock

LOCK_S = 30.0
"""How long to wait for the lock. A process holds it while it writes one small file."""
REGISTRY_FORMAT = 3
"""The file's version. An older file is read, and rewritten in this version by the next change.

- 1: {"formatVersion", "codebases": {root: record}}.
- 2: a record lists what its last run could not read or name.
- 3: "check", the CRC-32 of the codebases; a record lists the files kept as plain text.
"""

Change = Callable[[Record | None], Record | None]


class Registry:
    """The tracked roots and their states, on disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._parsed: tuple[bytes | None, dict[str, Record]] = (None, {})

    def records(self) -> dict[str, Record]:
        """Every tracked root, by path. Writes nothing."""
        text = self._bytes()
        if text is None:
            return {}
        known, records = self._parsed
        if text != known:
            wires = self._wires(text)
            records = {root: _parse(root, wire) for root, wire in sorted(wires.items())}
            # Parse again only when the bytes change.
            self._parsed = text, records
        return dict(records)

    def find(self, root: str) -> Record | None:
        return self.records().get(root)

    def change(self, root: str, decide: Change) -> Record | None:
        """Replace one root's record by the result of `decide`; None removes it.

        `decide` is called with the current record while the lock is held. If it returns the record
        unchanged, the file is not written.
        """
        assert root == canonical_root(root), "the registry is keyed by canonical roots"
        with self._locked():
            codebases = self._read()
            before = _parse(root, codebases[root]) if root in codebases else None
            after = decide(before)
            if after != before:
                if after is None:
                    codebases.pop(root, None)
                else:
                    codebases[root] = record_to_wire(after)
                self._write(codebases)
            return after

    def set_aside(self) -> Path | None:
        """Rename an unreadable registry, so that a repair can start; None if it is readable."""
        with self._locked():
            try:
                self._read()
            except RegistryDamaged as error:
                if not error.mendable:
                    raise
                number = 1
                while (aside := self._path.with_suffix(f".damaged-{number}.json")).exists():
                    number += 1
                self._path.rename(aside)
                return aside
        return None

    def _read(self) -> dict[str, object]:
        text = self._bytes()
        return {} if text is None else self._wires(text)

    def _bytes(self) -> bytes | None:
        """The contents of the file; None when it does not exist."""
        try:
            with open(self._path, "rb", buffering=0) as file:
                return file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            # Permissions or I/O: a repair would not help.
            raise RegistryDamaged(str(self._path), str(error), HOME_HINT) from error

    def _wires(self, text: bytes) -> dict[str, object]:
        try:
            wire = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise RegistryDamaged(str(self._path), f"not JSON ({error})") from error
        if not isinstance(wire, dict) or not isinstance(wire.get("codebases"), dict):
            raise RegistryDamaged(str(self._path), "not a registry")
        version = wire.get("formatVersion")
        if isinstance(version, int) and version > REGISTRY_FORMAT:
            raise RegistryDamaged(
                str(self._path),
                f"format {version} is newer than {REGISTRY_FORMAT}",
                "update holdfast: a newer version wrote this file",
            )
        if version not in range(1, REGISTRY_FORMAT + 1):
            raise RegistryDamaged(str(self._path), f"format {version!r} is not {REGISTRY_FORMAT}")
        codebases = dict(wire["codebases"])
        # For any version: the version may be damaged too.
        if (version == REGISTRY_FORMAT or "check" in wire) and wire.get("check") != _check(
            codebases
        ):
            raise RegistryDamaged(str(self._path), "its checksum differs")
        return codebases

    def _write(self, codebases: dict[str, object]) -> None:
        codebases = dict(sorted(codebases.items()))
        text = json.dumps(
            {
                "formatVersion": REGISTRY_FORMAT,
                "check": _check(codebases),
                "codebases": codebases,
            },
            indent=1,
        )
        # Writers hold the lock, so a fixed name is safe; it may overwrite a dead writer's file.
        aside = self._path.with_name(f"{self._path.name}.new")
        with open(os.open(aside, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
            file.write(text.encode("utf-8", "surrogateescape"))
            file.flush()
            os.fsync(file.fileno())
        aside.replace(self._path)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(
            self._path.with_suffix(".lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600
        )
        try:
            take_lock(lock, str(self._path), LOCK_S)
            yield
        finally:
            os.close(lock)


def policy_at(path: Path, root: str) -> Policy | None:
    """Which files belong to the index of a root, by the registry at `path`; None without one."""
    record = Registry(path).find(root)
    return None if record is None else policy_of(record.options)


def _check(codebases: dict[str, object]) -> int:
    """The checksum of the records, independent of spacing and order."""
    return crc32(json.dumps(codebases, sort_keys=True).encode("ascii"))


def _parse(root: str, wire: object) -> Record:
    try:
        return record_from_wire(root, wire)
    except ValueError as error:
        return Record(root, IndexFailed(f"the registry entry is damaged: {error}"), "")
