"""Where the database of a space lies.

A store is a URL, a space is a subject below it. The subject comes from a peer, so it is guarded
before any path is built from it; it is then used as it stands, since nothing in it can leave its
directory. A store whose path has an extension is a single file: its databases lie beside it.

    file:///srv/spaces      /srv/spaces/engine-v3/<subject>.sqlite
    file:///srv/memory.db   /srv/memory.engine-v3/<subject>.sqlite
    memory://anything       no path: the database lives in memory

There is one root and no other: older files are neither read nor moved.
"""

import re
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from holdfast.errors import UsageError
from holdfast.store.errors import UnsafeSubject

ENGINE_ROOT: Final = "engine-v3"

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:").match  # one letter is a drive
_UNSAFE = re.compile(r"[\x00/\\\ud800-\udfff]").search  # half a character has no bytes


def guard(subject: str) -> None:
    """Refuse a subject that could name anything but a file in its own directory."""
    if subject in ("", ".", "..") or _UNSAFE(subject):
        raise UnsafeSubject(subject)


def resolve_root(store: str | Path, single_file: bool | None = None) -> Path | None:
    """The directory of a store's databases; None for a store that is not on disk.

    `single_file` says which kind of store it is; None lets the extension decide.
    """
    path = _path_of(store)
    if path is None:
        return None
    if single_file is None:
        single_file = path.suffix != ""
    if not single_file:
        return path / ENGINE_ROOT
    if not path.name:
        raise UsageError(f"{store} names no file", "name the single file of the store")
    return path.with_name(f"{path.stem}.{ENGINE_ROOT}")


def resolve(store: str | Path, subject: str, single_file: bool | None = None) -> Path | None:
    """The database file of a space; None for a store that is not on disk."""
    guard(subject)
    root = resolve_root(store, single_file)
    return None if root is None else root / f"{subject}.sqlite"


def spaces(store: str | Path) -> list[str]:
    """Every space of a store on disk, by name."""
    root = resolve_root(store)
    if root is None or not root.is_dir():
        return []
    files = root.glob("*.sqlite")
    return sorted(file.name.removesuffix(".sqlite") for file in files if is_made(file))


def is_made(file: Path) -> bool:
    """Whether there is a database: an empty file is one that was never made."""
    try:
        return file.is_file() and file.stat().st_size > 0
    except OSError:  # gone since it was listed
        return False


def _path_of(store: str | Path) -> Path | None:
    if isinstance(store, Path):
        return store
    if not _SCHEME(store):
        return Path(store)
    url = urlsplit(store)
    if url.scheme.lower() != "file":
        return None
    if url.netloc not in ("", "localhost"):
        raise UsageError(f"{store} is on another machine", "use file:///path")
    path = unquote(url.path)
    if "\x00" in path or not path:
        raise UsageError(f"{store} names no path", "use file:///path")
    return Path(path)
