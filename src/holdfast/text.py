"""Small pieces of text that several packages print."""

from __future__ import annotations

import json
from typing import Any


def counted(number: int, noun: str) -> str:
    """A number with its noun: 1 document, 2 documents."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def short_json(value: Any, width: int = 60) -> str:
    """A value as JSON on one line, cut to a width."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= width else text[: width - 1] + "…"
