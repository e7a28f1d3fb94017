"""Which entries of a commit can be files of a directory of ours. Pure.

Git stores trees that no checkout can write: names that are too long for a file system, a file and a
folder of one name, paths that leave the tree. Writing such a commit would fail halfway, and a user
who may push could so take a repository out of the index. These are left out and counted.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator

from holdfast.files.git import TreeEntry
from holdfast.files.paths import nameable
from holdfast.files.policy import SIZE_BYTES_MAX

NAME_BYTES_MAX = 255
"""No file system in use has longer names."""


def usable_files(
    listed: Iterable[TreeEntry], path_room: int, skipped: Counter[str]
) -> Iterator[TreeEntry]:
    """The files that can be written, with paths of at most `path_room` bytes; others are counted.

    Of entries that cannot be there together, the first one counts.
    """
    files: set[str] = set()
    folders: set[str] = set()
    for one in listed:
        if one.mode == "160000":
            skipped["submodules"] += 1
        elif one.mode == "120000":
            skipped["links"] += 1
        elif one.size_bytes > SIZE_BYTES_MAX:
            skipped["large files"] += 1
        elif not _usable(one.path, path_room) or not _place(one.path, files, folders):
            skipped["unusable names"] += 1
        else:
            yield one


def _usable(path: str, path_room: int) -> bool:
    if not nameable(path) or len(os.fsencode(path)) > path_room:
        return False
    return not any(
        part in ("", ".", "..") or part.lower() == ".git" or len(os.fsencode(part)) > NAME_BYTES_MAX
        for part in path.split("/")
    )


def _place(path: str, files: set[str], folders: set[str]) -> bool:
    """Add a file to those that are there; False if another file or a folder is in its way."""
    above = []
    folder = path.rpartition("/")[0]
    while folder and folder not in folders:
        above.append(folder)
        folder = folder.rpartition("/")[0]
    if path in files or path in folders or not files.isdisjoint(above):
        return False
    files.add(path)
    folders.update(above)
    return True
