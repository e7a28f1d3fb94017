"""call_graph: what a symbol calls and what calls it, up to three calls away.

Read-only. Callers are leads to verify: a call through a value of unknown type is not seen.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from msgspec.structs import replace

from holdfast.errors import UsageError
from holdfast.index.answers import (
    CallEdge,
    CallGraphAnswer,
    CallNode,
    CallNote,
    CallSite,
    FreshnessDecision,
    Hints,
    Span,
    SymbolRef,
)
from holdfast.index.calls.linked_program import LinkedProgram
from holdfast.index.calls.resolve import Edge, OpenCall
from holdfast.index.code_index import CodeIndex
from holdfast.index.facts.model import FileFacts, file_id
from holdfast.index.facts.naming import symbols_named
from holdfast.index.generations.freshness import FreshFiles, moved
from holdfast.index.generations.gate import Gate, Open
from holdfast.index.generations.model import Reader
from holdfast.index.tools.gate_check import read_if_open
from holdfast.index.tools.limits import CALLS_DEFAULT
from holdfast.index.tools.outline import file_key, has_calls, no_outline
from holdfast.index.tools.refusals import proof_check, refusal, refused
from holdfast.index.tools.source_lines import SourceLines

Direction = Literal["callers", "callees", "both"]
DIRECTIONS: tuple[Direction, ...] = ("both", "callers", "callees")
"""The default first."""
DEPTH_MAX = 3
NOTES_MAX = 200

EDGES_TRUNCATED = "CALL_GRAPH_EDGES_TRUNCATED"
CALLERS_PARTIAL = "CALL_GRAPH_CALLERS_PARTIAL"
NOTES_TRUNCATED = "CALL_GRAPH_NOTES_TRUNCATED"


def symbol_ref(file: str, symbol: str) -> SymbolRef:
    """A reference to a symbol by id or by name, depending on `symbol`."""
    is_id = symbol.startswith("sym_")
    return SymbolRef(file, symbol if is_id else None, None if is_id else symbol)


def call_graph(
    index: CodeIndex,
    path: str,
    symbol_ref: SymbolRef,
    *,
    direction: Direction | Literal["bidirectional"] = "both",
    depth: int = 1,
    limit: int = CALLS_DEFAULT,
) -> CallGraphAnswer:
    """Follow calls from a symbol."""
    (answer,) = call_graphs(
        index, path, [symbol_ref], direction=direction, depth=depth, limit=limit
    )
    return answer


def call_graphs(
    index: CodeIndex,
    path: str,
    symbol_refs: Sequence[SymbolRef],
    *,
    direction: Direction | Literal["bidirectional"] = "both",
    depth: int = 1,
    limit: int = CALLS_DEFAULT,
) -> list[CallGraphAnswer]:
    """Follow calls from each symbol, in one state of the tree."""
    if not all(ref.file and (ref.symbol_id or ref.symbol_label) for ref in symbol_refs):
        raise UsageError(
            "the symbol is not named (invalid_symbol_ref)",
            hint="pass symbolRef with file and symbolId, as search_code and file_outline give it",
        )
    if not 1 <= depth <= DEPTH_MAX:
        raise UsageError(f"depth must be 1 to {DEPTH_MAX} (got {depth})")
    if limit < 1:
        raise UsageError(f"limit must be at least 1 (got {limit})")
    requested, record = index.root_of(path)
    answers = [
        CallGraphAnswer(
            status="ok",
            supported=False,
            path=requested,
            symbol_ref=ref,
            direction="both" if direction == "bidirectional" else direction,
            depth=depth,
            limit=limit,
            nodes=(),
            edges=(),
            notes=(),
        )
        for ref in symbol_refs
    ]

    def read(gate: Open) -> list[CallGraphAnswer]:
        with index.backend.reader(gate.record.root) as reader:
            graphs = _follow(index, gate, reader, requested, answers)
        hints = Hints(debug_proof_check=proof_check(gate)).or_none()
        return [replace(graph, hints=hints) for graph in graphs]

    def refuse(gate: Gate) -> list[CallGraphAnswer]:
        return [_refused(index, answer, gate) for answer in answers]

    return read_if_open(index, record, refuse, read)


def _follow(
    index: CodeIndex, gate: Open, reader: Reader, requested: str, answers: list[CallGraphAnswer]
) -> list[CallGraphAnswer]:
    """The current graphs; a recent check of the tree is reused if no file of them changed."""
    root = gate.record.root
    keys = [file_key(root, requested, answer.symbol_ref.file) for answer in answers]

    def graphs(fresh: FreshFiles) -> list[CallGraphAnswer]:
        return [
            _graph(index, root, reader, key, answer, fresh)
            for key, answer in zip(keys, answers, strict=True)
        ]

    recent = index.recent_check(gate.record, reader)
    if recent is not None:
        recent_graphs = graphs(recent)
        if not moved(root, {*keys, *(f for g in recent_graphs for f in _files(g))}, recent):
            return recent_graphs
    return graphs(index.check_freshness(gate.record, reader))


def _files(answer: CallGraphAnswer) -> set[str]:
    return {node.file for node in answer.nodes} | {edge.site.file for edge in answer.edges}


def _graph(
    index: CodeIndex,
    root: str,
    reader: Reader,
    key: str,
    answer: CallGraphAnswer,
    overlay: FreshFiles,
) -> CallGraphAnswer:
    with index.programs.lock:
        program = index.programs.program(root, reader, overlay)
        facts = program.facts(key)
        if facts is None and not os.path.isfile(os.path.join(root, key)):
            return replace(
                answer,
                status="not_found",
                reason="missing_symbol",
                message=f"there is no file '{key}'",
            )
        if facts is None or not has_calls(facts):
            return replace(
                answer,
                status="unsupported",
                reason="unsupported_language",
                message=_no_calls(key, facts),
            )
        named = _named(facts, answer.symbol_ref)
        if len(named) != 1:
            return replace(
                answer,
                status="ambiguous" if named else "not_found",
                reason="ambiguous_symbol" if named else "missing_symbol",
                message="several symbols have that name; pass a symbolId"
                if named
                else f"'{key}' has no symbol named "
                f"'{answer.symbol_ref.symbol_label or answer.symbol_ref.symbol_id}'; "
                "ask file_outline for its symbols",
                nodes=_nodes(program, named),
            )
        walked = program.walk(named[0], answer.direction, answer.depth, answer.limit)
        ids = [named[0], *(i for e in walked.edges for i in (e.caller, e.callee))]
        nodes = _nodes(program, dict.fromkeys(ids))
    notes = sorted(
        map(_note, walked.open), key=lambda n: (n.file, n.why, n.symbol_id, n.start_line)
    )
    cut = (
        (EDGES_TRUNCATED, walked.more),
        (NOTES_TRUNCATED, len(notes) > NOTES_MAX),
        (CALLERS_PARTIAL, walked.partial),
    )
    return replace(
        answer,
        supported=True,
        symbol_ids=(named[0],),
        nodes=nodes,
        edges=tuple(_edges(root, walked.edges)),
        notes=tuple(notes[:NOTES_MAX]),
        notes_truncated=len(notes) > NOTES_MAX,
        total_note_count=len(notes),
        returned_note_count=len(notes[:NOTES_MAX]),
        warnings=tuple(code for code, happened in cut if happened),
    )


def _no_calls(key: str, facts: FileFacts | None) -> str:
    if facts is None:
        return f"'{key}' has no known symbols"
    if facts.guessed:
        return no_outline(facts)
    return f"'{key}' has no calls: {facts.language} has an outline and no call graph"


def _named(facts: FileFacts, ref: SymbolRef) -> list[str]:
    """The ids that a reference may refer to; one when it is exact."""
    if ref.symbol_id is not None:
        known = {file_id(facts.path), *(symbol.id for symbol in facts.symbols)}
        return [ref.symbol_id] if ref.symbol_id in known else []
    named = symbols_named(facts, ref.symbol_label or "")
    if len({symbol.qualified for symbol in named}) == 1:
        # Among overloads, take the one with a body; two bodies are two functions.
        named = [symbol for symbol in named if symbol.defined] or named
    return [symbol.id for symbol in named]


def _nodes(program: LinkedProgram, ids: Iterable[str]) -> tuple[CallNode, ...]:
    return tuple(_node(program, identity) for identity in ids)


def _node(program: LinkedProgram, identity: str) -> CallNode:
    place = program.place(identity)
    assert place is not None, "an edge leads to a symbol of the program"
    facts, symbol = place
    if symbol is None:
        label, kind, span = facts.module or facts.path, "module", Span(1, facts.lines)
    else:
        label, kind = symbol.qualified, symbol.kind
        span = Span(symbol.span.first_line, symbol.span.last_line)
    return CallNode(identity, label, kind, facts.path, facts.language, span)


def _edges(root: str, edges: Iterable[Edge]) -> Iterator[CallEdge]:
    """The calls, each with the line it is written in."""
    source = SourceLines(root)
    for edge in edges:
        site = CallSite(edge.path, edge.line, source.line(edge.path, edge.line))
        yield CallEdge(edge.caller, edge.callee, edge.kind, site, edge.confidence, edge.reason)


def _note(one: OpenCall) -> CallNote:
    return CallNote(
        "unresolved_edge",
        one.why,
        one.path,
        one.line,
        one.caller,
        one.text,
        one.detail,
        one.candidates,
    )


def _refused(index: CodeIndex, answer: CallGraphAnswer, gate: Gate) -> CallGraphAnswer:
    retry = "retry the call graph"
    why = refusal(gate, answer.path, index.runtime(), retry)
    return replace(
        refused(answer, gate, index.runtime(), retry, answer.path),
        codebase_root=why.root if why.indexing is not None else None,
        codebase_path=why.root if why.compatibility is not None else None,
        freshness_decision=FreshnessDecision(why.freshness) if why.freshness else None,
        compatibility=why.compatibility,
    )
