"""file_outline: the symbols of one file, or one symbol exactly.

A read. A file that changed since the generation is outlined from its bytes as they are now, so
spans fit what an editor shows.
"""

from __future__ import annotations

import os
from typing import Literal, NotRequired, TypedDict

from holdfast.errors import UsageError
from holdfast.files import disk
from holdfast.files.paths import canonical_root, relative_key, within
from holdfast.files.policy import SIZE_BYTES_MAX, unfit
from holdfast.index.code_index import CodeIndex
from holdfast.index.errors import BackendUnavailable, OutsideRoot
from holdfast.index.facts import model as facts_of
from holdfast.index.facts.languages import FAMILIES
from holdfast.index.facts.model import FileFacts, Symbol
from holdfast.index.generations.gate import Gate, Open
from holdfast.index.tools import answers
from holdfast.index.tools.answers import Wire, hints
from holdfast.index.tools.refusals import refusal

SYMBOLS_MAX = 500

PROBLEM = "OUTLINE_PROBLEM:"
"""Begins a warning about what was not understood of a file."""


class OutlineAnswer(TypedDict):
    """The envelope of file_outline."""

    status: str
    reason: NotRequired[str]
    path: str
    codebaseRoot: NotRequired[str]
    file: str
    outline: Wire | None
    hasMore: bool
    warnings: NotRequired[list[str]]
    message: NotRequired[str]
    hints: NotRequired[Wire]
    indexing: NotRequired[Wire]


def file_outline(
    index: CodeIndex,
    path: str,
    file: str,
    *,
    start_line: int | None = None,
    end_line: int | None = None,
    limit_symbols: int = SYMBOLS_MAX,
    resolve_mode: Literal["outline", "exact"] = "outline",
    symbol_id: str | None = None,
    symbol_label: str | None = None,
) -> OutlineAnswer:
    """Outline a file, named relative to `path` or to the root, or absolutely inside it."""
    if resolve_mode == "exact" and symbol_id is None and symbol_label is None:
        raise UsageError("exact needs a symbol", hint="pass symbolIdExact or symbolLabelExact")
    if limit_symbols < 1:
        raise UsageError(f"limitSymbols {limit_symbols} asks for nothing")
    requested, record = index.root_of(path)
    key = file_key(record.root if record else requested, requested, file)
    answer: OutlineAnswer = {
        "status": "ok",
        "path": requested,
        "file": key,
        "outline": None,
        "hasMore": False,
    }
    gate = index.gate(record)
    if not isinstance(gate, Open):
        return _refused(index, answer, gate)
    answer["path"] = gate.record.root
    _outline(index, gate, answer, start_line, end_line, limit_symbols,
             None if resolve_mode == "outline" else (symbol_id, symbol_label))  # fmt: skip
    probe = answers.probe_hint(gate)
    if probe is not None:
        answer["hints"] = {**hints(debugProofCheck=probe), **answer.get("hints", {})}
    return answer


def file_key(root: str, requested: str, file: str) -> str:
    """The key of a file in its root; raises when it is not inside."""
    named = file
    if not os.path.isabs(file):
        key = relative_key(file)
        if not key:
            raise OutsideRoot(file, root)
        below = requested[len(root) :].strip("/") if within(root, requested) else ""
        if below and not os.path.lexists(os.path.join(root, key)):
            key = f"{below}/{key}"
        named = os.path.join(root, key)
    # A link on the way may lead out of the tree, or to another place in it.
    folder, name = os.path.split(named)
    absolute = os.path.join(canonical_root(folder), name)
    if not within(root, absolute) or absolute == root:
        raise OutsideRoot(file, root)
    return absolute[len(root) :].strip("/")


def current_facts(index: CodeIndex, root: str, key: str) -> FileFacts | None:
    """What is known of a file as it is on disk now; None when it is not indexed or not there.

    Stored facts serve when they are of the bytes on disk; otherwise the bytes are looked at.
    """
    with index.backend.reader(root) as reader:
        stored = reader.facts([key]).get(key)
        entry = reader.entry(key)
    try:
        source, _ = disk.read_file(root, key)
    except OSError:
        return None
    if len(source) > SIZE_BYTES_MAX or unfit(source) is not None:
        return None
    if stored is not None and entry is not None and entry.digest == disk.digest(source):
        return facts_of.decode(stored)
    return index.extract(key, source)


def _outline(
    index: CodeIndex,
    gate: Open,
    answer: OutlineAnswer,
    start_line: int | None,
    end_line: int | None,
    limit: int,
    exact: tuple[str | None, str | None] | None,
) -> None:
    root, key = gate.record.root, answer["file"]
    if not os.path.isfile(os.path.join(root, key)):
        answer["status"] = "not_found"
        answer["message"] = f"there is no file '{key}' in '{root}'"
        return
    try:
        facts = current_facts(index, root, key)
    except BackendUnavailable:
        again = index.gate(index.registry.find(root))
        if isinstance(again, Open):
            raise
        answer.update(_refused(index, answer, again))
        return
    if facts is not None and facts.guessed:
        answer["status"], answer["reason"] = "unsupported", "unsupported_language"
        answer["message"] = no_facts(facts)
        return
    if facts is None:
        answer["status"] = "unsupported"
        answer["message"] = f"'{key}' is not text that can be outlined"
        return
    if facts.problems:
        # Said before anything is said to be missing: it may stand where nothing was understood.
        answer["warnings"] = [
            f"{PROBLEM}{problem.code} line {problem.line}: {problem.detail}"
            for problem in facts.problems[:5]
        ]
    if not facts.symbols and exact is None:
        answer["outline"] = {"symbols": []}
        return
    symbols = sorted(
        facts.symbols, key=lambda s: (s.span.first_line, s.span.last_line, s.qualified, s.id)
    )
    if exact is not None:
        wanted_id, wanted_label = exact
        symbols = [
            symbol
            for symbol in symbols
            if (wanted_id is None or symbol.id == wanted_id)
            and (wanted_label is None or wanted_label in (symbol.qualified, symbol.name))
        ]
        answer["status"] = {0: "not_found", 1: "ok"}.get(len(symbols), "ambiguous")
        if not symbols:
            answer["message"] = f"no symbol of '{key}' is called that"
            return
    first, last = start_line or 1, end_line or facts.lines + 1
    symbols = [s for s in symbols if s.span.first_line <= last and s.span.last_line >= first]
    answer["hasMore"] = len(symbols) > limit
    answer["outline"] = {"symbols": [symbol_wire(facts, s) for s in symbols[:limit]]}


def has_calls(facts: FileFacts) -> bool:
    """Whether calls are known in the language of a file; documents and settings have none."""
    return not facts.guessed and facts.language in FAMILIES


def no_facts(facts: FileFacts) -> str:
    """What to say of a file whose language is searched and not understood."""
    what = f"files in {facts.language}" if facts.language != "text" else "plain text"
    return f"'{facts.path}' has no outline: {what} can be searched and read, not outlined"


def symbol_wire(facts: FileFacts, symbol: Symbol) -> Wire:
    wire: Wire = {
        "symbolId": symbol.id,
        "symbolLabel": symbol.qualified,
        "name": symbol.name,
        "kind": symbol.kind,
        "span": {"startLine": symbol.span.first_line, "endLine": symbol.span.last_line},
        "exported": symbol.exported,
        "callGraphHint": {
            "supported": True,
            "symbolRef": {
                "file": facts.path,
                "symbolId": symbol.id,
                "symbolLabel": symbol.qualified,
            },
        }
        if has_calls(facts)
        else {"supported": False, "reason": "unsupported_language"},
    }
    if symbol.signature:
        wire["signature"] = symbol.signature
    if symbol.doc:
        wire["doc"] = symbol.doc
    if symbol.parent >= 0:
        wire["parentId"] = facts.symbols[symbol.parent].id
    return wire


def _refused(index: CodeIndex, answer: OutlineAnswer, gate: Gate) -> OutlineAnswer:
    refused = refusal(gate, answer["path"], index.runtime(), "retry the file outline")
    answer["status"], answer["reason"] = refused.status, refused.reason
    answer["message"], answer["hints"] = refused.message, refused.hints
    if refused.root is not None and refused.status == "requires_reindex":
        answer["path"] = refused.root
    elif refused.root is not None:
        answer["codebaseRoot"] = refused.root
    if "indexing" in refused.extras:
        answer["indexing"] = answers.part(refused.extras, "indexing")
    return answer
