"""Scopes of a search: runtime code, documents, or both, by path."""

from __future__ import annotations

import re
from functools import lru_cache

from holdfast.files.policy import SOURCE_FOLDERS
from holdfast.index.search.limits import Scope
from holdfast.patterns import lazy_pattern

_DOCUMENT = lazy_pattern(r"\.(?:md|mdx|markdown|rst|adoc|txt|org)\Z", re.IGNORECASE)
_AMONG_DOCUMENTS = lazy_pattern(r"(?:^|/)(?:docs?|documentation|guides?)/", re.IGNORECASE)
_CODE = lazy_pattern(
    r"\.(?:py|pyi|js|jsx|mjs|cjs|ts|tsx|mts|cts|go|rs|java|c|h|cc|cpp|cxx|hpp|cs|rb|php|kt|kts|swift"
    r"|scala|lua|ex|exs|hs|zig|ml|dart|jl|m|mm|erl|clj|fs|pl|pm|sh|bash)\Z",
    re.IGNORECASE,
)
"""Code in a documentation folder is still code: samples, or a package called `docs`."""
_GENERATED = lazy_pattern(
    # Lower case only: `Build/` is often written by hand.
    r"(?:^|/)(?:\.next|generated)/|\.min\.(?:js|css)\Z"
    # Below a source folder such names are part of the program.
    rf"|^(?!(?:.*/)?(?:{'|'.join(sorted(SOURCE_FOLDERS))})/)(?:.*/)?(?:dist/"
    # Build products; other code there is only ranked lower, by its role.
    r"|(?:build|coverage)/.*\.(?:[cm]?js|html?|css|json|xml|txt|lcov|map)\Z)"
)
_GENERATED_MARKS = (".next/", "generated/", ".min.", "dist/", "build/", "coverage/")
"""A path that has none of these is not generated."""


@lru_cache(maxsize=65536)
def in_scope(path: str, scope: Scope) -> bool:
    """Whether a file is in a scope: runtime excludes documents, docs has only documents."""
    match scope:
        case "mixed":
            return True
        case "docs":
            return _is_document(path)
        case "runtime":
            return not (_is_document(path) or _is_generated(path))


def _is_generated(path: str) -> bool:
    return any(map(path.__contains__, _GENERATED_MARKS)) and bool(_GENERATED.search(path))


def _is_document(path: str) -> bool:
    if _DOCUMENT.search(path) is not None:
        return True
    if _CODE.search(path) is not None:  # as most files; so this comes first
        return False
    return _AMONG_DOCUMENTS.search(path) is not None
