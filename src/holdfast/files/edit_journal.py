"""The journal of an edit of several files: what is replaced, with the texts before and after.

One file, so that it exists as a whole or not at all:

    holdfast-edit-journal 1 <sha256 of everything after this line>
    {"root": …, "part": …, "files": [{"path", "before", "after", "beforeBytes", "afterBytes"}, …]}
    <text before><text after> of each file, in this order

`before` and `after` are the sha256 of the texts. Both are kept, because an interrupted edit may
have to be finished or undone.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from holdfast.errors import HoldfastError

JOURNAL_VERSION = 1
"""1: root, suffix of the files that are being written, and both texts of each file."""

_MAGIC = b"holdfast-edit-journal"
_SUFFIX_MAX = 40


class DamagedJournal(HoldfastError):
    """Raised when a journal is not what was written, or has the format of a newer version."""

    def __init__(self, path: str, why: str) -> None:
        self.path, self.why = path, why
        super().__init__(f"the journal of an interrupted edit, {path}, {why}")
        self.hint = (
            "compare the tree with its version control; then remove the journal with: "
            "holdfast edit recover --forget"
        )


@dataclass(frozen=True, slots=True)
class JournalFile:
    """One file of an edit, relative to its root."""

    path: str
    before: bytes
    after: bytes

    def __post_init__(self) -> None:
        parts = self.path.split("/")
        if "\0" in self.path or not parts or {"", ".", ".."} & set(parts):
            raise ValueError(f"{self.path!r} is not a path below a root")


@dataclass(frozen=True, slots=True)
class Journal:
    """An edit of several files of a root."""

    root: str
    part: str
    """What the names of the files end with that are written beside those of the tree."""
    files: tuple[JournalFile, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(one.path for one in self.files)

    def encode(self) -> bytes:
        rows = [
            {
                "path": one.path,
                "before": digest(one.before),
                "after": digest(one.after),
                "beforeBytes": len(one.before),
                "afterBytes": len(one.after),
            }
            for one in self.files
        ]
        header = json.dumps({"root": self.root, "part": self.part, "files": rows}).encode()
        texts = [text for one in self.files for text in (one.before, one.after)]
        body = b"".join([header, b"\n", *texts])
        return b"%s %d %s\n" % (_MAGIC, JOURNAL_VERSION, digest(body).encode()) + body


def decode(data: bytes, path: str) -> Journal:
    """The journal in a file; raises `DamagedJournal` for anything that `encode` did not write."""
    first, _, body = data.partition(b"\n")
    words = first.split(b" ")
    if len(words) != 3 or words[0] != _MAGIC or not words[1].isdigit():
        raise DamagedJournal(path, "is damaged: it does not begin like a journal")
    version = int(words[1])
    if version != JOURNAL_VERSION:
        why = f"has format {version}; this version of Holdfast reads format {JOURNAL_VERSION}"
        raise DamagedJournal(path, why)
    if digest(body).encode() != words[2]:
        raise DamagedJournal(path, "is damaged: its checksum does not match")
    try:
        return _decoded(body)
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedJournal(path, f"is damaged: {error}") from error


def _decoded(body: bytes) -> Journal:
    line, _, texts = body.partition(b"\n")
    header = json.loads(line)
    root, part, at, files = str(header["root"]), str(header["part"]), 0, []
    if "/" in part or not part or len(part) > _SUFFIX_MAX:
        raise ValueError("its suffix is not part of a name")
    for row in header["files"]:
        middle = at + int(row["beforeBytes"])
        end = middle + int(row["afterBytes"])
        one = JournalFile(str(row["path"]), texts[at:middle], texts[middle:end])
        if (digest(one.before), digest(one.after)) != (row["before"], row["after"]):
            raise ValueError(f"the texts of {one.path} are not those that were written")
        files.append(one)
        at = end
    if at != len(texts):
        raise ValueError("it is longer than its texts")
    return Journal(root, part, tuple(files))


def digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()
