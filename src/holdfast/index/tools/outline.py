"""file_outline: the symbols of one file, or exactly one of them.

Read-only. A file that changed since it was indexed is outlined from its current bytes, so that
spans match what an editor shows.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Literal

import msgspec
from msgspec.structs import replace

from holdfast.errors import UsageError
from holdfast.extras import install_command
from holdfast.files import disk
from holdfast.files.paths import canonical_root, relative_key, within
from holdfast.files.policy import SIZE_BYTES_MAX, unfit
from holdfast.files.secrets import masked
from holdfast.index.answers import (
    CallGraphHint,
    Hints,
    Outline,
    OutlineAnswer,
    OutlineSymbol,
    Span,
    SymbolRef,
)
from holdfast.index.code_index import CodeIndex
from holdfast.index.errors import BackendUnavailable, DamagedBackend, OutsideRoot
from holdfast.index.facts import languages
from holdfast.index.facts import model as facts_of
from holdfast.index.facts.languages import FAMILIES
from holdfast.index.facts.model import FileFacts, Symbol
from holdfast.index.facts.naming import symbols_named
from holdfast.index.generations.gate import Gate, Open
from holdfast.index.tools.refusals import proof_check, refusal, refused

SYMBOLS_MAX = 500
PROBLEMS_MAX = 5

PROBLEM = "OUTLINE_PROBLEM:"
"""The prefix of a warning about a part of a file that could not be parsed."""
GUESSED = "OUTLINE_GUESSED:"
"""The prefix of the warning that an outline was made without a grammar."""


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
    """Outline a file: a path relative to `path` or to the root, or an absolute path inside it."""
    if resolve_mode == "exact" and symbol_id is None and symbol_label is None:
        raise UsageError("exact needs a symbol", hint="pass symbolIdExact or symbolLabelExact")
    if limit_symbols < 1:
        raise UsageError(f"limitSymbols must be at least 1 (got {limit_symbols})")
    requested, record = index.root_of(path)
    key = file_key(record.root if record else requested, requested, file)
    empty = OutlineAnswer(status="ok", path=requested, file=key, outline=None, has_more=False)
    gate = index.gate(record)
    if not isinstance(gate, Open):
        return _refused(index, empty, gate)
    root = gate.record.root
    answer = replace(empty, path=root, hints=Hints(debug_proof_check=proof_check(gate)).or_none())
    if not os.path.isfile(os.path.join(root, key)):
        return replace(answer, status="not_found", message=f"there is no file '{key}' in '{root}'")
    try:
        facts = current_facts(index, root, key)
    except BackendUnavailable:
        again = index.gate(index.registry.find(root))
        if isinstance(again, Open):
            raise
        return _refused(index, replace(empty, path=root), again)
    except DamagedBackend as error:
        return _refused(index, replace(empty, path=root), index.damaged(gate.record, error))
    if facts is None:
        message = f"'{key}' is not text that can be outlined"
        return replace(answer, status="unsupported", message=message)
    if facts.guessed and not (resolve_mode == "outline" and is_guessable(facts)):
        return replace(
            answer,
            status="unsupported",
            reason="unsupported_language",
            message=no_outline(facts),
        )
    # Before any symbol is reported missing: it may be in a part that could not be parsed.
    problems = tuple(
        f"{PROBLEM}{problem.code} line {problem.line}: {problem.detail}"
        for problem in facts.problems[:PROBLEMS_MAX]
    )
    guess = (f"{GUESSED}no_grammar {guessed_outline(facts)}",) if facts.guessed else ()
    answer = replace(answer, warnings=guess + problems)
    symbols = list(facts.symbols)
    if resolve_mode == "exact":
        if symbol_label is not None:
            symbols = symbols_named(facts, symbol_label)
        symbols = [s for s in symbols if symbol_id is None or s.id == symbol_id]
        if not symbols:
            wanted = symbol_label if symbol_label is not None else symbol_id
            message = f"'{key}' has no symbol named '{wanted}'"
            return replace(answer, status="not_found", message=message)
        answer = replace(answer, status="ok" if len(symbols) == 1 else "ambiguous")
    first, last = start_line or 1, end_line or facts.lines + 1
    shown = [s for s in symbols if s.span.first_line <= last and s.span.last_line >= first]
    shown.sort(key=lambda s: (s.span.first_line, s.span.last_line, s.qualified, s.id))
    return replace(
        answer,
        has_more=len(shown) > limit_symbols,
        outline=Outline(tuple(_symbol(facts, symbol) for symbol in shown[:limit_symbols])),
    )


def file_key(root: str, requested: str, file: str) -> str:
    """The key of a file in its root; raises OutsideRoot if it is not inside."""
    named = file
    if not os.path.isabs(file):
        key = relative_key(file)
        if not key:
            raise OutsideRoot(file, root)
        below = requested[len(root) :].strip("/") if within(root, requested) else ""
        if below and not os.path.lexists(os.path.join(root, key)):
            key = f"{below}/{key}"
        named = os.path.join(root, key)
    # A symbolic link on the way may lead out of the tree, or elsewhere in it.
    folder, name = os.path.split(named)
    absolute = os.path.join(canonical_root(folder), name)
    if not within(root, absolute) or absolute == root:
        raise OutsideRoot(file, root)
    return absolute[len(root) :].strip("/")


def current_facts(index: CodeIndex, root: str, key: str) -> FileFacts | None:
    """The outline facts of a file as it is on disk; None if it is missing or not text.

    Stored facts are used if they belong to the bytes on disk; otherwise the file is parsed.
    """
    stored = entry = None
    with index.backend.reader(root) as reader, suppress(DamagedBackend):
        # Damaged facts are extracted again from the file.
        entry = reader.entry(key)
        stored = reader.facts([key]).get(key)
    try:
        source, _ = disk.read_file(root, key)
    except OSError:
        return None
    if len(source) > SIZE_BYTES_MAX or unfit(source) is not None:
        return None
    if stored is not None and entry is not None and entry.digest == disk.digest(source):
        with suppress(msgspec.DecodeError):
            return facts_of.decode_outline(stored)
    return index.extract(key, masked(source))


def has_calls(facts: FileFacts) -> bool:
    """Whether calls are extracted for the file's language; documents and settings have none."""
    return not facts.guessed and facts.language in FAMILIES


def is_guessable(facts: FileFacts) -> bool:
    """Whether a guessed outline is shown: only where a grammar could replace it."""
    return facts.language in languages.OPTIONAL and bool(facts.symbols)


def guessed_outline(facts: FileFacts) -> str:
    """How an outline without a grammar was made, and how to get the real one."""
    return (
        f"guessed from single lines, without the grammar of {facts.language}: "
        f"definitions may be missing or wrong, and their ends are estimates; for the real outline"
        f" {_with_grammar(facts)}"
    )


def _with_grammar(facts: FileFacts) -> str:
    again = "run: holdfast index reindex"
    if languages.lacks_grammar(facts.language):
        return f"run: {install_command('languages')}, then {again}"
    return again


def no_outline(facts: FileFacts) -> str:
    """The message for a file whose language has no parser, or had none when it was indexed."""
    if facts.language in languages.OPTIONAL:
        made = f"'{facts.path}' was indexed without the grammar of {facts.language}"
        return f"{made}; {_with_grammar(facts)}"
    what = f"files in {facts.language}" if facts.language != "text" else "plain text"
    return f"'{facts.path}' has no outline: {what} can be searched and read, not outlined"


def _symbol(facts: FileFacts, symbol: Symbol) -> OutlineSymbol:
    return OutlineSymbol(
        symbol.id,
        symbol.qualified,
        symbol.name,
        symbol.kind,
        Span(symbol.span.first_line, symbol.span.last_line),
        symbol.exported,
        CallGraphHint(True, SymbolRef(facts.path, symbol.id, symbol.qualified))
        if has_calls(facts)
        else CallGraphHint(False, reason="unsupported_language"),
        signature=symbol.signature or None,
        doc=symbol.doc or None,
        parent_id=facts.symbols[symbol.parent].id if symbol.parent >= 0 else None,
    )


def _refused(index: CodeIndex, answer: OutlineAnswer, gate: Gate) -> OutlineAnswer:
    retry = "retry the file outline"
    why = refusal(gate, answer.path, index.runtime(), retry)
    reindex = why.root is not None and why.status == "requires_reindex"
    return replace(
        refused(answer, gate, index.runtime(), retry, answer.path),
        path=why.root if reindex else answer.path,
        codebase_root=None if reindex else why.root,
    )
