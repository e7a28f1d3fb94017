"""What there is to show, as documents: codebases, sessions, savings, spaces, health.

Each observer looks at ground state with the same verbs that the commands use and says what it saw
as plain values. Nothing here writes, and nothing here is remembered that could not be looked up
again: the session trees are memos over their logs.
"""

from __future__ import annotations

from typing import Any

Values = dict[str, Any]
