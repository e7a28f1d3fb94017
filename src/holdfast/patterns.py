"""Regular expressions that are compiled when they are first used.

A module with twenty of them takes milliseconds to import, and a command uses few.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _LazyPattern:
    """Stands for a pattern, and becomes as fast as one when a method is used again."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._source = text, flags

    def __getattr__(self, name: str) -> Any:
        """Called for what is not an attribute of this object yet."""
        if name.startswith("__"):
            raise AttributeError(name)
        found = self.__dict__[name] = getattr(self._compiled(), name)
        return found

    def _compiled(self) -> re.Pattern[Any]:
        text, flags = self._source
        return re.compile(text, flags)

    def __repr__(self) -> str:
        return repr(self._compiled())


def lazy_pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, but a mistake in the pattern is raised when it is first used."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(text, flags))
