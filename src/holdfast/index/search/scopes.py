"""What kind of file a path names: code that runs, tests, documents, or something generated."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

Scope = Literal["runtime", "mixed", "docs"]
SCOPES: tuple[Scope, ...] = ("runtime", "mixed", "docs")

_DOCUMENT = re.compile(
    r"(?:^|/)(?:docs?|documentation|guides?)/|\.(?:md|mdx|markdown|rst|adoc|txt|org)\Z",
    re.IGNORECASE,
)
_GENERATED = re.compile(
    # By their usual, lower-case names: `Build/` is as likely to be written by hand.
    r"(?:^|/)(?:dist|build|coverage|\.next|generated)/|\.min\.(?:js|css)\Z"
)


@lru_cache(maxsize=65536)
def in_scope(path: str, scope: Scope) -> bool:
    """Whether a scope takes a file in: runtime leaves documents out, docs takes nothing else."""
    match scope:
        case "mixed":
            return True
        case "docs":
            return _DOCUMENT.search(path) is not None
        case "runtime":
            return _DOCUMENT.search(path) is None and _GENERATED.search(path) is None
