"""Which questions of the page change something: they are answered only to a POST."""

from __future__ import annotations

ACTIONS = frozenset({"sync", "memory/note"})
