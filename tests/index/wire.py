"""The verbs of the index as a program sees them: their answers in the JSON form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec

from holdfast.answers import Part
from holdfast.index.answers import CallGraphAnswer, SymbolRef
from holdfast.index.code_index import CodeIndex
from holdfast.index.tools import calls, codebases, manage, outline, read, search

P = ParamSpec("P")


def _wired(verb: Callable[P, Part]) -> Callable[P, dict[str, Any]]:
    return lambda *args, **kwargs: verb(*args, **kwargs).to_wire()


def _call_graph(
    index: CodeIndex, path: str, symbol_ref: dict[str, str], **options: Any
) -> CallGraphAnswer:
    ref = SymbolRef(
        symbol_ref.get("file", ""), symbol_ref.get("symbolId"), symbol_ref.get("symbolLabel")
    )
    return calls.call_graph(index, path, ref, **options)


search_code = _wired(search.search_code)
file_outline = _wired(outline.file_outline)
call_graph = _wired(_call_graph)
read_file = _wired(read.read_file)
manage_index = _wired(manage.manage_index)
list_codebases = _wired(codebases.list_codebases)
