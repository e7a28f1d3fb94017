"""Removes every trace of files from the home, and proves that none is left.

Everything that is derived from file contents can be rebuilt, so a purge deletes it generously: the
index of each affected tree, the content cache, what is shared with a team from here, all token
segments, stored texts and our own session logs. Then the whole home is searched for lines of the
purged files. Documents in memory are the user's own and are not touched; if a trace is in one of
them, the answer names its file.

May delete more than requested, which costs a rebuild. Never reports *no trace* without having
searched every file of the home, including compressed data in databases and git objects.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import shutil
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from holdfast.files.regular import read_regular
from holdfast.locks import users_of
from holdfast.text import counted

if TYPE_CHECKING:
    from holdfast.app import App
    from holdfast.home import Home

LINE_BYTES_MIN = 12
"""Shorter lines may occur in any file, so they prove nothing."""
LINES_MAX = 500
FILE_BYTES_MAX = 64 * 1024 * 1024
CHUNK_BYTES = 1024 * 1024
UNFOLDED_BYTES_MAX = 16 * 1024 * 1024
PACK_BYTES_MAX = 1024 * 1024 * 1024
PIECE_BYTES = 4096
_SQLITE, _PACK = b"SQLite format 3\0", b"PACK"
_ZLIB_STREAM = re.compile(rb"x[\x01\x5e\x9c\xda]")
"""The first two bytes of a zlib stream with the usual window, at any level."""

_BOTH = (False, True)

SESSIONS = "sessions"


@dataclass(frozen=True, slots=True)
class PurgeAnswer:
    """The removed files, and those that still have a trace."""

    roots: tuple[str, ...]
    """Trees whose index was cleared."""
    removed: tuple[str, ...]
    """Files and directories of the home, relative to it."""
    lines: int
    """How many lines of the purged files were searched for afterwards."""
    lines_total: int
    """How many different lines these files have; short ones are not searched for."""
    searched: int
    """How many files of the home were searched."""
    traces: tuple[str, ...]
    """Files of the home that still contain one of these lines."""

    def to_wire(self) -> dict[str, Any]:
        return {
            "status": "traces_left" if self.traces else "ok",
            "roots": list(self.roots),
            "removed": list(self.removed),
            "linesSearchedFor": self.lines,
            "lines": self.lines_total,
            "filesSearched": self.searched,
            "traces": list(self.traces),
        }

    def to_text(self) -> str:
        out = [
            f"cleared the whole index of {root}; make it again: holdfast index create {quote(root)}"
            for root in self.roots
        ]
        out += [f"removed {name}" for name in self.removed]
        if self.traces:
            out += [f"a trace is left in {name}" for name in self.traces]
            if any(name.startswith("index/roots/") for name in self.traces):
                out.append(
                    "another indexed tree has the same lines; holdfast purge --all clears it"
                )
        elif self.lines:
            lines = counted(self.lines_total, "line")
            if self.lines < self.lines_total:
                lines = f"{self.lines} of {lines}"
            files = counted(self.searched, "file")
            out.append(f"no trace left: looked for {lines} in {files} of the home")
        else:
            why = "the files do not exist or have only short lines"
            out.append(f"no trace was looked for: {why}; --text takes lines to look for")
        return "\n".join(out)


def purge(app: App, paths: Sequence[Path] | None, texts: Sequence[bytes] = ()) -> PurgeAnswer:
    """Remove stored data of these files and directories, or of all if `paths` is None.

    `texts` are searched for in addition to the lines of the files that still exist.
    """
    everything = dict.fromkeys(lines_of(paths) if paths is not None else ())
    lines = {*texts, *_chosen([line for line in everything if len(line) >= LINE_BYTES_MIN])}
    total = len({*texts, *everything})
    roots = _clear_indexes(app, paths)
    names = [*_derived(app), *(["repositories"] if paths is None else ())]
    removed = [name for name in names if _remove(Path(app.home, name))]
    searched, traces = find(Path(app.home), lines)
    return PurgeAnswer(tuple(roots), tuple(removed), len(lines), total, searched, tuple(traces))


def users_of_sessions(home: Home) -> list[int]:
    """The other processes that have session logs open, such as `holdfast serve`.

    They would go on showing and writing the deleted files. Known on Linux only.
    """
    logs = home.spaces.rglob(f"{SESSIONS}.sqlite-shm") if home.spaces.is_dir() else ()
    return sorted({pid for log in logs for pid in users_of(str(log))})


def lines_of(paths: Iterable[Path]) -> Iterator[bytes]:
    """The lines of these files and of the files below these directories, without blank ones."""
    for path in paths:
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            try:
                data = read_regular(file, FILE_BYTES_MAX)
            except OSError:
                continue
            if data is not None and data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                data = data.decode("utf-16", "replace").encode("utf-8", "replace")
            yield from filter(None, map(bytes.strip, (data or b"").splitlines()))


def _chosen(lines: Sequence[bytes]) -> Iterable[bytes]:
    """At most `LINES_MAX` of these lines, evenly from all files."""
    count = min(len(lines), LINES_MAX)
    return (lines[at * len(lines) // count] for at in range(count))


def _forms(line: bytes) -> set[bytes]:
    """The line as it is, as JSON writes it, and as JSON inside JSON writes it."""
    try:
        forms = {line.decode()}
    except UnicodeDecodeError:
        return {line}
    for _ in range(2):
        forms |= {json.dumps(one, ensure_ascii=ascii)[1:-1] for one in forms for ascii in _BOTH}
    return {form.encode() for form in forms}


def find(home: Path, lines: set[bytes]) -> tuple[int, list[str]]:
    """How many files a home has, and which of them contain one of these lines."""
    searched, traces = 0, []
    lines = {form for line in lines for form in _forms(line)}
    longest = max(map(len, lines), default=0)
    for folder, _, names in os.walk(home):
        for name in sorted(names):
            path = Path(folder, name)
            if path.is_symlink() or not path.is_file():
                continue
            searched += 1
            if lines and _holds(path, lines, longest):
                traces.append(path.relative_to(home).as_posix())
    return searched, sorted(traces)


def _holds(path: Path, lines: set[bytes], longest: int) -> bool:
    with path.open("rb") as file:
        start = file.read(len(_SQLITE))
        file.seek(0)
        tail = b""
        while chunk := file.read(CHUNK_BYTES):
            window = tail + chunk
            if any(line in window for line in lines):
                return True
            tail = window[-longest:]
    if start == _SQLITE:
        values = _values(path)
    elif start.startswith(_PACK) or _ZLIB_STREAM.match(start):
        values = _streams(path)
    else:
        return False
    return any(line in value for value in values for line in lines)


def _values(path: Path) -> Iterator[bytes]:
    """The values that searching the file may miss: compressed, or split between pages."""
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
            database.text_factory = bytes
            ((page_bytes,),) = database.execute("PRAGMA page_size").fetchall()
            named = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
            for (table,) in named.fetchall():
                quoted = table.decode().replace('"', '""')
                for row in database.execute(f'SELECT * FROM "{quoted}"'):  # noqa: S608
                    values = [value for value in row if isinstance(value, bytes)]
                    for value in values:
                        if _ZLIB_STREAM.match(value):
                            yield _unfolded(value)[0]
                    # SQLite never splits a row of less than an eighth of a page.
                    if sum(map(len, values)) + 9 * len(row) >= page_bytes // 8:
                        yield from values
    except sqlite3.DatabaseError:
        return  # damaged, or being replaced: its bytes were searched


def _streams(path: Path) -> Iterator[bytes]:
    """The compressed streams in a pack or an object of git; deltas are not applied."""
    size = min(path.stat().st_size, PACK_BYTES_MAX)
    data, done = read_regular(path, size) or b"", 0
    for start in _ZLIB_STREAM.finditer(data):
        if start.start() >= done:
            unfolded, done = _unfolded(data, start.start())
            yield unfolded


def _unfolded(data: bytes, at: int = 0) -> tuple[bytes, int]:
    """The start of the text that is compressed at `at`, and the offset where reading stopped."""
    decompressing, parts, size = zlib.decompressobj(), [], 0
    try:
        while at < len(data) and not decompressing.eof and size < UNFOLDED_BYTES_MAX:
            # In small pieces, because the unused rest of each is copied.
            piece = data[at : at + PIECE_BYTES]
            parts.append(decompressing.decompress(piece))
            size += len(parts[-1])
            at += len(piece) - len(decompressing.unused_data)
    except zlib.error:
        pass
    return b"".join(parts), at


def _clear_indexes(app: App, paths: Sequence[Path] | None) -> list[str]:
    from holdfast.index.tools.manage import manage_index

    index = app.open_index()
    try:
        roots = [
            root
            for root in sorted(index.registry.records())
            if paths is None or any(_related(Path(root), path) for path in paths)
        ]
        for root in roots:
            manage_index(index, "clear", root)
    finally:
        index.close()
    return roots


def _related(root: Path, path: Path) -> bool:
    """Whether one of two paths is inside the other."""
    resolved = path.resolve()
    return root.is_relative_to(resolved) or resolved.is_relative_to(root)


def _derived(app: App) -> list[str]:
    """The paths in the home of data that is derived from file contents."""
    home = app.home
    whole = [home.sequence, home.objects, home.temporary, home.session_records, home.index_team]
    content = sorted(home.index.glob(f"{home.index_content.name}*"))
    content += sorted(home.index.glob(f"{home.index_shared.name}*"))
    sessions = sorted(home.spaces.rglob(f"{SESSIONS}.sqlite*")) if home.spaces.is_dir() else []
    return [path.relative_to(home.path).as_posix() for path in (*whole, *content, *sessions)]


def _remove(path: Path) -> bool:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif path.exists():
        path.unlink()
    else:
        return False
    return True
