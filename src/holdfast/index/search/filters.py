"""Which files a query is restricted to, by scope, directory, language and path."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from holdfast.files.ignore import Rules
from holdfast.files.policy import language_of
from holdfast.index.search.limits import SCOPES, Scope
from holdfast.index.search.operators import Query
from holdfast.index.search.scopes import in_scope

_WIDER = {"typescript": ("typescript", "tsx"), "c": ("c", "cpp"), "cpp": ("cpp", "c")}
"""Languages that share file extensions, so that a path does not distinguish them."""


def language_fits(languages: Sequence[str], language: str) -> bool:
    """Whether a chunk's language is one of the requested ones."""
    return (
        not languages or language in languages or (language == "tsx" and "typescript" in languages)
    )


class PathPattern:
    """A gitignore pattern: matches a path, or everything below a directory."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._rules = Rules([pattern])

    def takes(self, path: str) -> bool:
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            above = "/".join(parts[:depth])
            if self._rules.verdict(above, parts[depth - 1], depth < len(parts)):
                return True
        return False


_BY_SCOPE: dict[Scope, Callable[[str], bool]] = {
    scope: partial(in_scope, scope=scope) for scope in SCOPES
}
"""One function object per scope, so that its verdicts can be cached."""


def files_kept(query: Query, scope: Scope, below: Sequence[str]) -> Callable[[str], bool]:
    """Whether a file can be in the answer; `below` names directories, "" for all of the tree."""
    wanted = [PathPattern(pattern) for pattern in query.paths]
    unwanted = [PathPattern(pattern) for pattern in query.not_paths]
    languages = {name for asked in query.langs for name in _WIDER.get(asked, (asked,))}
    known: dict[str, bool] = {}
    if not (wanted or unwanted or languages) and "" in below:
        return _BY_SCOPE[scope]

    def decide(path: str) -> bool:
        return (
            any(not top or path == top or path.startswith(top + "/") for top in below)
            and in_scope(path, scope)
            # If the name does not tell the language, the content decides later.
            and (not languages or language_of(path) in (*languages, "text"))
            and (not wanted or any(pattern.takes(path) for pattern in wanted))
            and not any(pattern.takes(path) for pattern in unwanted)
        )

    def keep(path: str) -> bool:
        found = known.get(path)
        if found is None:
            found = known[path] = decide(path)
        return found

    return keep
