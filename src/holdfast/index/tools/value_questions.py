"""Which questions are about the value of a setting; few are, so what answers them is apart."""

from __future__ import annotations

import re

from holdfast.patterns import lazy_pattern

_ASKS = lazy_pattern(
    r"\b(?:default|limit|max|min|maximum|minimum|size|timeout|interval|delay|threshold|value|"
    r"setting|option|number|count|policy|how (?:many|often|long|much|big))s?\b",
    re.IGNORECASE,
)
"""Questions about a value."""


def asks_for_value(question: str) -> bool:
    return _ASKS.search(question) is not None
