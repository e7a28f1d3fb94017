"""What an agent tried to change: the path and the old text.

The hook of each agent reads them from its calls; the old text of a patch is its lines with a blank
or a minus.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from holdfast.edits.patch import hunks


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


def patch_attempts(patch: str) -> Iterator[Attempt]:
    """The old text of each hunk of an `apply_patch` envelope or of a unified diff."""
    for path, old in hunks(patch):
        yield Attempt(path, old, every=True, by_lines=True)
