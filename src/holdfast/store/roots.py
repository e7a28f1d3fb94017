"""Where the database of a space is stored.

A store is a URL, and a space is a subject below it. The subject comes from a peer, so it is checked
before any path is built from it; a valid one cannot leave its directory and is used unchanged. A
store whose path has an extension is a single file: its databases are beside it.

    file:///srv/spaces      /srv/spaces/engine-v3/<subject>.sqlite
    file:///srv/memory.db   /srv/memory.engine-v3/<subject>.sqlite
    memory://anything       no path: the database is in memory

There is no second root: older files are neither read nor moved.
"""

import re
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from holdfast.errors import UsageError
from holdfast.store.errors import UnsafeSubject

ENGINE_ROOT: Final = "engine-v3"

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:").match  # a single letter is a drive
_UNSAFE = re.compile(r"[\x00/\\\ud800-\udfff]").search  # a lone surrogate cannot be encoded


def guard(subject: str) -> None:
    """Refuse a subject that could name a file outside its directory."""
    if subject in ("", ".", "..") or _UNSAFE(subject):
        raise UnsafeSubject(subject)


def resolve_root(store: str | Path, single_file: bool | None = None) -> Path | None:
    """The directory of a store's databases; None for a store in memory.

    `single_file` says which kind of store it is; with None the extension decides.
    """
    path = _path_of(store)
    if path is None:
        return None
    if single_file is None:
        single_file = path.suffix != ""
    if not single_file:
        return path / ENGINE_ROOT
    if not path.name:
        raise UsageError(f"{store} is not a file path", "pass the path of the store's file")
    return path.with_name(f"{path.stem}.{ENGINE_ROOT}")


def resolve(store: str | Path, subject: str, single_file: bool | None = None) -> Path | None:
    """The database file of a space; None for a store in memory."""
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
    """Whether there is a database; an empty file is not one."""
    try:
        return file.is_file() and file.stat().st_size > 0
    except OSError:  # deleted since it was listed
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
        raise UsageError(f"{store} has no path", "use file:///path")
    return Path(path)
