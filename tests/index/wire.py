"""The verbs of the index as a program sees them: their answers in the JSON form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec

from holdfast.index.tools import calls, listing, manage, outline, read, search

P = ParamSpec("P")


def _wired(verb: Callable[P, Any]) -> Callable[P, dict[str, Any]]:
    def run(*args: P.args, **kwargs: P.kwargs) -> dict[str, Any]:
        answer: dict[str, Any] = verb(*args, **kwargs)
        return answer

    return run


search_code = _wired(search.search_code)
file_outline = _wired(outline.file_outline)
call_graph = _wired(calls.call_graph)
read_file = _wired(read.read_file)
manage_index = _wired(manage.manage_index)
list_codebases = _wired(listing.list_codebases)
