"""Help for a failed edit: reads the file that the call names, and explains the difference.

Help is given only for a file that the agent has just opened itself (see `attempt.failure_of`). A
file that is secret by its name is left alone, and secrets in the lines shown are masked.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from itertools import islice

from holdfast.edits.attempt import Attempt
from holdfast.edits.explain import explain
from holdfast.edits.patch import has_lines
from holdfast.files.regular import read_regular
from holdfast.files.secrets import masked, secret_name

TEXT_BYTES_MAX = 8 << 20
ATTEMPTS_MAX = 50
"""More attempts of one call are not tried: each of them searches a whole file."""

ReadText = Callable[[str], str | None]


def read_text(path: str) -> str | None:
    """The text of a file; None if it is secret, too large, not a regular file or not text."""
    try:
        if secret_name(path) or secret_name(os.path.realpath(path)):
            return None
        data = read_regular(path, TEXT_BYTES_MAX + 1, follow_links=True)
    except (OSError, ValueError):
        return None
    if data is None or len(data) > TEXT_BYTES_MAX or b"\0" in data:
        return None
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        return None


def help_text(tried: Iterable[Attempt], cwd: str, read: ReadText = read_text) -> str | None:
    """What to tell the model; None if nothing is known to be wrong with these attempts."""
    texts: dict[str, str | None] = {}
    succeeding: list[tuple[Attempt, str, str]] = []
    with_text = (attempt for attempt in tried if attempt.old.strip())
    for attempt in islice(with_text, ATTEMPTS_MAX):
        if ".." in attempt.path.split("/"):
            continue  # after a symbolic link, `..` leads to another directory than the text says
        path = os.path.normpath(os.path.join(cwd, attempt.path))
        if path not in texts:
            texts[path] = read(path)
        text = texts[path]
        if text is None:
            continue
        name = path.removeprefix(cwd.rstrip("/") + "/")
        if fails(attempt, text):
            return _answer(attempt, text, name)
        succeeding.append((attempt, text, name))
    if len(succeeding) == 1 and not succeeding[0][0].by_lines:
        # The edit failed before and would succeed now: the file changed in between.
        return _answer(*succeeding[0])
    return None


def fails(attempt: Attempt, text: str) -> bool:
    """Whether an attempt cannot succeed on this text."""
    if attempt.by_lines:
        return not has_lines(text, attempt.old)
    count = text.count(attempt.old)
    return count == 0 or (count > 1 and not attempt.every)


def _answer(attempt: Attempt, text: str, name: str) -> str:
    explanation = explain(text, attempt.old, name).to_text()
    return masked(explanation.encode("utf-8", "replace")).decode("utf-8", "replace")
