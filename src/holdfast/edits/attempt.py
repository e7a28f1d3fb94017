"""What an agent tried to change: the path and the old text, from the call as the model wrote it.

Every agent has its own names for the same two things, and some send several edits in one call or a
whole patch. A call of unknown shape gives no attempts, so its agent gets no help.

| agent | tool | path | old text |
|---|---|---|---|
| Claude Code | Edit, MultiEdit | file_path | old_string, edits[].old_string |
| OpenCode | edit | filePath | oldString |
| pi | edit | path | oldText, edits[].oldText |
| Gemini, Qwen | replace, edit | file_path | old_string |
| Codex | apply_patch | in the patch | the lines with a blank or a minus |
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from holdfast.edits.patch import hunks

ATTEMPTS_MAX = 50

_PATHS = ("file_path", "filePath", "path", "absolute_path")
_OLD = ("old_string", "oldString", "oldText", "old_text", "old_str")
_ALL = ("replace_all", "replaceAll", "allow_multiple")
_PATCHES = ("input", "patch", "patchText", "command")


class Failure(StrEnum):
    """Why an edit failed, according to the agent's error message."""

    NOT_FOUND = "not found"
    NOT_UNIQUE = "not unique"
    PATCH = "patch does not apply"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One old text that should be replaced in one file."""

    path: str
    old: str
    every: bool = False
    """Whether it may occur several times."""
    by_lines: bool = False
    """Whether it is looked for line by line, with any blanks around a line, as a patch is."""


_NOT_UNIQUE = re.compile(
    r"(?:found|are|has) (?:multiple|several|\d+) (?:matches|occurrences)|multiple (?:matches|times)"
    r"|not unique|must be unique|expected 1 occurrence|found multiple",
    re.IGNORECASE,
)
_NOT_FOUND = re.compile(
    r"(?:string to replace|old_?string|old_?text|exact text|text|string)\b[^\n]{0,80}\bnot (?:be )?"
    r"(?:found|find)|could not find (?:the |an )?(?:old|exact|string|edits?\[)|0 occurrences found"
    r"|no (?:exact )?match(?:es)? (?:found )?(?:for|in)",
    re.IGNORECASE,
)
_PATCH = re.compile(
    r"apply_patch verification failed|failed to find expected lines|failed to find context"
    r"|invalid context|patch (?:does not apply|failed)",
    re.IGNORECASE,
)


def failure_of(error: str) -> Failure | None:
    """Which failure the message of an agent reports; None if it is another one.

    Only messages of the agent itself count: it reports a missing text only after it has opened the
    file, so the model may see that file. A refused permission is not such a failure.
    """
    head = error[:2000]
    if _PATCH.search(head):
        return Failure.PATCH
    if _NOT_UNIQUE.search(head):
        return Failure.NOT_UNIQUE
    return Failure.NOT_FOUND if _NOT_FOUND.search(head) else None


def attempts(call: Mapping[str, Any]) -> tuple[Attempt, ...]:
    """The old texts of a call, in order; none if its shape is unknown."""
    found = []
    for attempt in _attempts(call):
        if attempt.old.strip():
            found.append(attempt)
        if len(found) == ATTEMPTS_MAX:
            break
    return tuple(found)


def _attempts(call: Mapping[str, Any]) -> Iterator[Attempt]:
    path = _text(call, _PATHS)
    if path is None:
        patch = _text(call, _PATCHES)
        if patch is not None:
            yield from patch_attempts(patch)
        return
    every = any(call.get(name) is True for name in _ALL)
    old = _text(call, _OLD)
    if old is not None:
        yield Attempt(path, old, every)
    edits = call.get("edits")
    if isinstance(edits, list):
        for one in edits:
            old = _text(one, _OLD) if isinstance(one, Mapping) else None
            if old is not None:
                yield Attempt(path, old, any(one.get(name) is True for name in _ALL))


def _text(call: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    for name in names:
        value = call.get(name)
        if isinstance(value, str):
            return value
    return None


def patch_attempts(patch: str) -> Iterator[Attempt]:
    """The old text of each hunk of an `apply_patch` envelope or of a unified diff."""
    for path, old in hunks(patch):
        yield Attempt(path, old, every=True, by_lines=True)
