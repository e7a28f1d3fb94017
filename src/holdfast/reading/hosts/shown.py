"""Whether the text of a result in a log is what its metadata claims.

The log has what the model saw. A result that another program shortened, or forged metadata, proves
nothing: a whole file must have its digest, a range must have as many lines as claimed, and a diff
must be complete. A marker needs no check: text that was held before is held whether the marker was
seen or not.
"""

from __future__ import annotations

import hashlib
import re

from holdfast.reading.events import Anchored, Derived
from holdfast.reading.scope import Lines

_CONTINUES = " to continue.]"
"""How the notice below a run of lines ends, when the file goes on."""
_HUNK = re.compile(r"@@ -[0-9]+,([0-9]+) \+[0-9]+,([0-9]+) @@\Z")


def is_shown(event: Anchored | Derived, data: bytes) -> bool:
    """Whether this text can be what the event says was shown.

    Of a range only the number of lines can be checked. May reject what was shown; never takes a
    text that was cut at a line for the whole.
    """
    if isinstance(event, Derived):
        return event.mode != "diff" or _is_whole_patch(data.decode("utf-8", "surrogatepass"))
    if not isinstance(event.scope, Lines):
        return hashlib.sha256(data).hexdigest() == event.digest
    wanted = event.scope.last - event.scope.first + 1
    found = data.count(b"\n") + 1
    return found == wanted or (found == wanted + 2 and data.endswith(_CONTINUES.encode()))


def _is_whole_patch(text: str) -> bool:
    """Whether every hunk has the lines that its head promises.

    Early writers trimmed blank lines off the end. Whether anything else is missing cannot be known,
    so such a diff does not count.
    """
    head, *rest = text.split("\n")
    if not head.startswith("[readcache: ") or len(rest) < 3:
        return False
    old = new = 0
    for line in rest[2:]:
        if line.startswith("\\"):
            continue
        if old or new:
            old -= line[:1] in (" ", "-")
            new -= line[:1] in (" ", "+")
            if old < 0 or new < 0 or line[:1] not in (" ", "-", "+"):
                return False
            continue
        hunk = _HUNK.match(line)
        if hunk is None:
            return False
        old, new = int(hunk[1]), int(hunk[2])
    return old == new == 0
