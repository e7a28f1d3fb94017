"""Whether the text of a result in a log is what its metadata claims.

The log has what the model saw. A result that another program shortened, or forged metadata, proves
nothing: a whole file must have its digest, a range must be these lines of the stored text with its
digest, and a diff must be complete and yield lines of the stored text. Without a store, a range
must at least have as many lines as claimed. A marker needs no check: text that was held before is
held whether the marker was seen or not.
"""

from __future__ import annotations

import hashlib
import re

from holdfast.reading.events import Anchored, Derived
from holdfast.reading.scope import Lines
from holdfast.reading.view import Load, stored_rows

_CONTINUES = " to continue.]"
"""How the notice below a run of lines ends, when the file has more lines."""
_HUNK = re.compile(r"@@ -[0-9]+,([0-9]+) \+([0-9]+),([0-9]+) @@\Z")


def is_shown(event: Anchored | Derived, data: bytes, load: Load | None = None) -> bool:
    """Whether this text can be what the event says was shown.

    May reject what was shown, also because the stored text is gone; never accepts a text that was
    cut as the whole.
    """
    if isinstance(event, Derived):
        if event.mode != "diff":
            return True
        after = None if load is None else stored_rows(event.digest, load)
        if load is not None and after is None:
            return False
        return _is_whole_patch(data.decode("utf-8", "surrogatepass"), after)
    if not isinstance(event.scope, Lines):
        return hashlib.sha256(data).hexdigest() == event.digest
    count = event.scope.last - event.scope.first + 1
    rows = data.decode("utf-8", "surrogatepass").split("\n")
    if len(rows) == count + 2 and rows[-1].endswith(_CONTINUES) and not rows[-2]:
        rows = rows[:count]
    if len(rows) != count or load is None:
        return len(rows) == count
    lines = stored_rows(event.digest, load)
    return lines is not None and lines[event.scope.first - 1 : event.scope.last] == rows


def _is_whole_patch(text: str, after: list[str] | None) -> bool:
    """Whether every hunk has the lines that its header states, and `after` has them there.

    Early writers trimmed blank lines off the end. It is unknown whether anything else is missing,
    so such a diff does not count.
    """
    head, *rest = text.split("\n")
    if not head.startswith("[readcache: ") or len(rest) < 3:
        return False
    old = new = at = 0
    for line in rest[2:]:
        if line.startswith("\\"):
            continue
        if old or new:
            old -= line[:1] in (" ", "-")
            new -= line[:1] in (" ", "+")
            if old < 0 or new < 0 or line[:1] not in (" ", "-", "+"):
                return False
            if line[0] != "-":
                if after is not None and after[at - 1 : at] != [line[1:]]:
                    return False
                at += 1
            continue
        hunk = _HUNK.match(line)
        if hunk is None:
            return False
        old, at, new = int(hunk[1]), int(hunk[2]), int(hunk[3])
    return old == new == 0
