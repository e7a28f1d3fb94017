"""Extract facts from bytes: choose the language, walk the tree, cut the chunks, report problems."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from holdfast.index.facts import chunks, languages
from holdfast.index.facts.model import FileFacts, Problem, Span, Symbol, symbol_id
from holdfast.index.facts.parse import TooHardError
from holdfast.index.facts.protocols import implicit_calls
from holdfast.index.facts.walk import SYMBOLS_MAX, RawFacts, Walk, line_starts

if TYPE_CHECKING:
    from tree_sitter import Node

    from holdfast.index.facts.walk import Language, SymbolDraft

DocumentReader = Callable[[str, bytes, list[int], list[Problem]], RawFacts | None]

PARSED_BYTES_MAX = 4_000_000
"""A larger file is indexed as plain text; hand-written files are never that long."""

TOO_HARD = Problem("too_hard", 1, "parsing took too long")
NOT_PARSED = Problem("too_hard", 1, "not parsed: files like it took too long in this tree")


def extract(path: str, source: bytes, unparsed: Problem | None = None) -> FileFacts:
    """The facts of one file. `path` is relative to the root, with forward slashes.

    Never raises, does no I/O, and returns equal facts for equal arguments. With a reason in
    `unparsed` the file is not parsed: its facts are those of a file whose parsing was given up.
    """
    problems: list[Problem] = []
    starts = line_starts(source)
    if b"\0" in source[:8_192]:
        problems.append(Problem("binary", 1, "the file has a NUL byte near its start"))
        return FileFacts(path, "binary", "", 0, len(source), problems=tuple(problems))
    if not source.isascii():
        try:
            source.decode()
        except UnicodeDecodeError as error:
            line = source.count(b"\n", 0, error.start) + 1
            problems.append(
                Problem("encoding", line, "not UTF-8; invalid bytes are read as \ufffd")
            )
    name = languages.language_of(path, source)
    language = languages.parsed(name)
    found: RawFacts | None = None
    guessed = False
    if len(source) > PARSED_BYTES_MAX:
        detail = f"{len(source)} bytes; at most {PARSED_BYTES_MAX} are parsed"
        problems.append(Problem("too_large", 1, detail))
    elif unparsed is not None:
        problems.append(unparsed)
    elif language:
        found = _walk(language, path, source, starts, problems)
    elif reader := _readers().get(name):
        found = reader(path, source, starts, problems)
    else:
        from holdfast.index.facts.languages import (
            by_lines,  # rarely needed, and slow to import
        )

        found, guessed = by_lines.read(path, source, starts, problems), True
    if found is None:
        found = RawFacts(module=language.module(path, "") if language else "")
    root = found.tree.root_node if found.tree else None
    parsed_root = found.broken.root_node if found.broken else root
    if parsed_root is not None and parsed_root.has_error:
        problems.append(_syntax(parsed_root))
    if found.truncated:
        detail = f"more than {SYMBOLS_MAX} symbols, or nested too deep; the rest are left out"
        problems.append(Problem("too_many", 1, detail))
    for line, detail in found.failed[:10]:
        problems.append(Problem("malformed", line, f"unexpected syntax node, {detail}"))
    return FileFacts(
        path=path,
        language=name,
        module=found.module,
        lines=len(starts) - 1,
        size=len(source),
        symbols=_symbols(path, found.symbols),
        imports=tuple(found.imports),
        calls=tuple(found.calls),
        bindings=tuple(found.bindings),
        inherits=tuple(found.inherits),
        chunks=chunks.partition(source, starts, found.symbols, root),
        problems=tuple(problems),
        guessed=guessed,
    )


def _walk(
    language: Language, path: str, source: bytes, starts: list[int], problems: list[Problem]
) -> RawFacts | None:
    walk = Walk(language, source, starts)
    try:
        walk.run()
    except TooHardError:
        problems.append(TOO_HARD)
        return None
    if unasked := implicit_calls(walk):
        walk.calls = sorted([*walk.calls, *unasked], key=lambda call: call.start)
    walk.module = language.module(path, walk.package)
    return walk


@cache
def _readers() -> dict[str, DocumentReader]:
    from holdfast.index.facts.languages import config, markdown, notebook

    return {"markdown": markdown.read, "notebook": notebook.read, **config.READERS}


def _symbols(path: str, drafts: list[SymbolDraft]) -> tuple[Symbol, ...]:
    seen: dict[tuple[str, str], int] = {}
    made = []
    for draft in drafts:
        key = (draft.qualified, draft.kind)
        ordinal = seen.get(key, 0)
        seen[key] = ordinal + 1
        made.append(
            Symbol(
                symbol_id(path, draft.qualified, draft.kind, ordinal),
                draft.name,
                draft.qualified,
                draft.kind,
                draft.parent,
                ordinal,
                Span(draft.first_line, draft.last_line, draft.start, draft.end),
                draft.signature,
                draft.doc,
                draft.exported,
                draft.defined,
            )
        )
    return tuple(made)


def _syntax(root: Node) -> Problem:
    """The first syntax error of a tree."""
    node = root
    for _ in range(1_000):
        if node.is_error or node.is_missing:
            break
        child = next((c for c in node.children if c.has_error or c.is_missing), None)
        if child is None:
            break
        node = child
    detail = "syntax error; facts nearby may be missing"
    return Problem("syntax", node.start_point[0] + 1, detail)
