"""Help for edits that failed: the text that is really there, and what differs.

`explain` decides, from values alone; `help_text` reads the file. `patch_attempts` and `failure_of`
understand patches and the errors of every agent.
"""

from __future__ import annotations

from holdfast.edits.attempt import Attempt, Failure, failure_of, patch_attempts
from holdfast.edits.explain import EditHelp, explain
from holdfast.edits.help import fails, help_text

__all__ = [
    "Attempt",
    "EditHelp",
    "Failure",
    "explain",
    "fails",
    "failure_of",
    "help_text",
    "patch_attempts",
]
