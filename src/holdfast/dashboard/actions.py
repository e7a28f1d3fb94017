"""The questions that change something; they require a POST."""

from __future__ import annotations

ACTIONS = frozenset({"sync", "memory/note"})
