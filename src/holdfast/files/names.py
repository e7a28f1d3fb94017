"""Which names of a directory belong to a tree, and why others are left out."""

from __future__ import annotations

import os
import stat as modes
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from holdfast.files.ignore import RuleStack
from holdfast.files.policy import (
    ALWAYS_EXCLUDED,
    NAMES,
    SCRIPT_FOLDERS,
    SNIFF_BYTES,
    STEMS,
    is_script,
)


class Decided(NamedTuple):
    """The names of a directory that were decided on before, under the same rules."""

    files: AbstractSet[str] = frozenset()
    folders: AbstractSet[str] = frozenset()
    others: Mapping[str, str] = {}


NOTHING_DECIDED = Decided()

FILE, DIRECTORY, LINK = "file", "directory", "symlink"


def kind_of(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return LINK
    return DIRECTORY if entry.is_dir(follow_symlinks=False) else FILE


def reason_left_out(
    name: str,
    path: str,
    kind: str,
    decided: Decided,
    extensions: frozenset[str],
    rules: RuleStack,
) -> str | None:
    """Why a name in a directory is left out; None when it is kept.

    "kind" of a name without an extension means that its content has to decide.
    """
    if kind == FILE and name in decided.others:
        return decided.others[name]
    if not name.isascii() and not _utf8(name):
        return "unnameable"
    if kind == LINK:
        return "symlink"
    if kind == FILE:
        return None if name in decided.files else _left_out(name, path, extensions, rules)
    if name not in decided.folders and (
        name in ALWAYS_EXCLUDED or rules.excludes(path, name, True)
    ):
        return "ignored"
    return "unnameable" if "\\" in name else None


def _left_out(name: str, path: str, extensions: frozenset[str], rules: RuleStack) -> str | None:
    """Why a file is left out by its name alone; None when it is not."""
    dot = name.rfind(".")
    if dot <= 0 or (name[dot:] not in extensions and name[dot:].lower() not in extensions):
        lowered = name.lower()
        if lowered not in NAMES and lowered.split(".", 1)[0] not in STEMS:
            return "kind"
    if "\\" in name:
        return "unnameable"
    if rules.is_secret(path, name):
        return "secret"
    return "ignored" if rules.excludes(path, name, False) else None


def is_script_here(place: str, path: str, status: os.stat_result, rules: RuleStack) -> bool:
    """Whether a file without an extension is a script. It is read only if it is executable or in a
    folder of scripts."""
    above, _, name = path.rpartition("/")
    if not status.st_mode & 0o111 and above.rpartition("/")[2] not in SCRIPT_FOLDERS:
        return False
    if not modes.S_ISREG(status.st_mode) or "\\" in name or rules.is_secret(path, name):
        return False
    return not rules.excludes(path, name, False) and is_script(_head(place))


def _head(path: str) -> bytes:
    """The first bytes of a file; empty when it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(descriptor, SNIFF_BYTES)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _utf8(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
