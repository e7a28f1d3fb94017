"""The refresh command's own argument form: `<path> [start-end]`, typed by a person."""

from __future__ import annotations

import re

from holdfast.reading import javascript
from holdfast.reading.errors import BadRange
from holdfast.reading.paths import Exists, Place, Request, accessible

USAGE = "Usage: /readcache-refresh <path> [start-end]"

_RANGE = re.compile(r"^(.*?)\s+([0-9]+)(?:-([0-9]+))?$", re.DOTALL)


def parse_refresh(text: str, place: Place, exists: Exists = accessible) -> Request:
    """The request a person typed. A file that is really called `v 2` wins over a range."""
    text = javascript.trim(text)
    if not text:
        raise BadRange(USAGE)
    match = _RANGE.match(text)
    if match is None or place.resolve(_unquoted(text), exists)[1]:
        return Request(_unquoted(text))
    path, first_text, last_text = _unquoted(javascript.trim(match[1])), match[2], match[3]
    if not path:
        raise BadRange(USAGE)
    if last_text is None:
        first = _positive(first_text)
        if first is None:
            raise BadRange(
                f'Invalid line number "{first_text}". Line numbers must be positive integers.'
            )
        return Request(path, offset=first)
    first, last = _positive(first_text), _positive(last_text)
    token = f"{first_text}-{last_text}"
    if first is None or last is None:
        raise BadRange(f'Invalid range token "{token}". Line numbers must be positive integers.')
    if last < first:
        raise BadRange(
            f'Invalid range "{token}": end line must be greater than or equal to start line.'
        )
    return Request(path, offset=first, limit=last - first + 1)


def _positive(digits: str) -> int | None:
    return int(digits) if len(digits) <= 15 and int(digits) >= 1 else None


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return text
