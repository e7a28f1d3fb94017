"""Detect, from paths, files that have a newer copy among the candidates.

An interface is kept in several versions side by side (`apps/v1beta1/types.go`, `apps/v1/types.go`),
and a rewritten program keeps the old file for a while (`parser_old.py`). The copies have the same
words, so only the path tells which of them is current.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from holdfast.patterns import lazy_pattern

_VERSION = lazy_pattern(r"(?:^|/)v(\d{1,4})(?:(alpha|beta|rc)(\d{0,4}))?(?=/)")
_STAGES = {"alpha": 0, "beta": 1, "rc": 2, None: 3}
_OLD = lazy_pattern(
    r"[._-](?:old|orig|bak|backup|legacy|deprecated)(?=\.\w+\Z)"
    r"|(?:(?<=/)|^)(?:old|orig|bak|backup|legacy|deprecated)/",
    re.IGNORECASE,
)
"""Removing this from the path of an old copy gives the path of the current file."""
_OLD_MARKS = ("old", "orig", "bak", "backup", "legacy", "deprecated")
_WORD = lazy_pattern(r"\w+")
ASKS_FOR_OLDER = frozenset({"old", "older", "previous", "legacy", "deprecated", "former"})


class Version(NamedTuple):
    """A version, ordered by age: every final version is newer than any alpha or beta."""

    final: bool
    major: int
    stage: int
    number: int


def version_in(path: str) -> tuple[str, Version] | None:
    """The first folder of a path that is a version: its text and its order."""
    found = _VERSION.search(path)
    if found is None:
        return None
    stage = _STAGES[found[2]]
    version = Version(found[2] is None, int(found[1]), stage, int(found[3] or 0))
    return found[0].removeprefix("/"), version


def superseded(paths: Sequence[str], query: str, others: Sequence[str] | None = None) -> list[bool]:
    """Which paths have a newer copy among the others, unless the query asks for the old one.

    `others` has all paths if `paths` are only those for which `may_have_newer`.
    """
    words = frozenset(_WORD.findall(query.lower()))
    if words & ASKS_FOR_OLDER:
        return [False] * len(paths)
    told = [_copy_of(path) for path in paths]
    newest: dict[str, Version] = {}
    for one in told:
        if one.version is not None:
            newest[one.current] = max(newest.get(one.current, one.version), one.version)
    known = frozenset(paths if others is None else others)

    def has_newer(path: str, one: _Copy) -> bool:
        if one.version is None:
            return one.current != path and one.current in known
        return one.version < newest[one.current] and one.folder not in words

    return [has_newer(*one) for one in zip(paths, told, strict=True)]


def may_have_newer(path: str) -> bool:
    """Whether a path is one of a version or of an old copy; others never have a newer one."""
    one = _copy_of(path)
    return one.version is not None or one.current != path


class _Copy(NamedTuple):
    """What a path tells: the path of the current file, or one with `*` for the version."""

    current: str
    folder: str = ""
    version: Version | None = None


@lru_cache(maxsize=65536)
def _copy_of(path: str) -> _Copy:
    found = version_in(path) if "v" in path else None
    if found is None:
        small = path.lower()
        is_old = any(map(small.__contains__, _OLD_MARKS))
        return _Copy(_OLD.sub("", path) if is_old else path)
    return _Copy(_without(path, found[0]), *found)


def _without(path: str, version: str) -> str:
    """The path with the version replaced by `*`."""
    before, _, after = f"/{path}".partition(f"/{version}/")
    return f"{before}/*/{after}"
