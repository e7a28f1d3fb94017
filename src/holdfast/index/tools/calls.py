"""call_graph: what a symbol calls and what calls it, to depth three.

A read. Inbound links are leads to verify: a call through a value of unknown type is not seen.
"""

from __future__ import annotations

import os
from typing import Literal, NotRequired, TypedDict

from holdfast.errors import UsageError
from holdfast.index.calls.linked_program import LinkedProgram
from holdfast.index.calls.resolve import Edge, OpenCall
from holdfast.index.code_index import CodeIndex
from holdfast.index.errors import BackendUnavailable
from holdfast.index.facts.model import FileFacts, file_id
from holdfast.index.generations.freshness import FreshFiles, moved
from holdfast.index.generations.gate import Gate, Open
from holdfast.index.generations.model import Reader
from holdfast.index.tools import answers
from holdfast.index.tools.answers import Wire, hints
from holdfast.index.tools.outline import file_key, has_calls, no_facts
from holdfast.index.tools.refusals import refusal

Direction = Literal["callers", "callees", "both"]
DEPTH_MAX = 3
LIMIT_DEFAULT = 20
NOTES_MAX = 200


class SymbolRef(TypedDict):
    """Names a symbol: its file and id, or its file and label."""

    file: str
    symbolId: NotRequired[str]
    symbolLabel: NotRequired[str | None]


class GraphAnswer(TypedDict):
    """The envelope of call_graph."""

    status: str
    supported: bool
    reason: NotRequired[str]
    path: str
    codebaseRoot: NotRequired[str]
    codebasePath: NotRequired[str]
    symbolRef: SymbolRef
    direction: str
    depth: int
    limit: int
    nodes: list[Wire]
    edges: list[Wire]
    notes: list[Wire]
    warnings: NotRequired[list[str]]
    notesTruncated: NotRequired[bool]
    totalNoteCount: NotRequired[int]
    returnedNoteCount: NotRequired[int]
    message: NotRequired[str]
    hints: NotRequired[Wire]
    freshnessDecision: NotRequired[Wire]
    compatibility: NotRequired[Wire]
    indexing: NotRequired[Wire]


def call_graph(
    index: CodeIndex,
    path: str,
    symbol_ref: SymbolRef,
    *,
    direction: Direction | Literal["bidirectional"] = "both",
    depth: int = 1,
    limit: int = LIMIT_DEFAULT,
) -> GraphAnswer:
    """Walk calls from a symbol."""
    if not symbol_ref.get("file") or not (
        symbol_ref.get("symbolId") or symbol_ref.get("symbolLabel")
    ):
        raise UsageError(
            "the symbol is not named (invalid_symbol_ref)",
            hint="pass symbolRef with file and symbolId, as search_code and file_outline give it",
        )
    if direction == "bidirectional":
        direction = "both"
    if not 1 <= depth <= DEPTH_MAX:
        raise UsageError(
            f"a depth of {depth} calls is not walked", hint=f"pass a depth of 1 to {DEPTH_MAX}"
        )
    if limit < 1:
        raise UsageError(f"a limit of {limit} asks for nothing", hint="pass a limit of 1 or more")
    requested, record = index.root_of(path)
    answer: GraphAnswer = {
        "status": "ok",
        "supported": False,
        "path": requested,
        "symbolRef": symbol_ref,
        "direction": direction,
        "depth": depth,
        "limit": limit,
        "nodes": [],
        "edges": [],
        "notes": [],
    }
    gate = index.gate(record)
    if not isinstance(gate, Open):
        return _refused(index, answer, gate)
    root = gate.record.root
    key = file_key(root, requested, symbol_ref["file"])
    try:
        with index.backend.reader(root) as reader:
            _walk(index, gate, reader, key, answer)
    except BackendUnavailable:
        again = index.gate(index.registry.find(root))
        if isinstance(again, Open):
            raise
        return _refused(index, answer, again)
    made = hints(debugProofCheck=answers.probe_hint(gate))
    if made:
        answer["hints"] = {**made, **answer.get("hints", {})}
    return answer


def leading_out(count: int) -> str:
    """How many calls are followed no further, in words."""
    one = "1 call leads out of the tree or is not known"
    return one if count == 1 else f"{count} calls lead out of the tree or are not known"


def _walk(index: CodeIndex, gate: Open, reader: Reader, key: str, answer: GraphAnswer) -> None:
    """Fill the answer; the last look serves if it is recent and no file of the answer moved."""
    root = gate.record.root
    recent = index.freshness.recent(root, reader.identity)
    if recent is not None:
        tried: GraphAnswer = {**answer}
        _fill(index, root, reader, key, tried, recent)
        if not moved(root, {key, *_files(tried)}, recent):
            answer.update(tried)
            return
    overlay = index.check_freshness(gate.record, reader)
    _fill(index, root, reader, key, answer, overlay)


def _files(answer: GraphAnswer) -> set[str]:
    sites = (edge["site"] for edge in answer["edges"])
    places = (*answer["nodes"], *(site for site in sites if isinstance(site, dict)))
    return {str(place["file"]) for place in places}


def _fill(
    index: CodeIndex, root: str, reader: Reader, key: str, answer: GraphAnswer, overlay: FreshFiles
) -> None:
    with index.programs.lock:
        program = index.programs.program(root, reader, overlay)
        facts = program.facts(key)
        if facts is None:
            exists = os.path.isfile(os.path.join(root, key))
            answer["status"] = "unsupported" if exists else "not_found"
            answer["reason"] = "unsupported_language" if exists else "missing_symbol"
            answer["message"] = (
                f"'{key}' has no symbols that are known" if exists else f"there is no file '{key}'"
            )
            return
        if not has_calls(facts):
            answer["status"], answer["reason"] = "unsupported", "unsupported_language"
            answer["message"] = (
                no_facts(facts)
                if facts.guessed
                else f"'{key}' has no calls: {facts.language} has an outline and no call graph"
            )
            return
        named = _named(facts, answer["symbolRef"])
        if len(named) != 1:
            answer["status"] = "ambiguous" if named else "not_found"
            answer["reason"] = "ambiguous_symbol" if named else "missing_symbol"
            answer["message"] = (
                "several symbols are called that; pass a symbolId"
                if named
                else f"no symbol of '{key}' is called that; ask file_outline for its symbols"
            )
            answer["nodes"] = [_node(program, identity) for identity in named]
            return
        answer["supported"] = True
        walked = program.walk(named[0], answer["direction"], answer["depth"], answer["limit"])
        ids = dict.fromkeys([named[0], *(i for e in walked.edges for i in (e.caller, e.callee))])
        answer["nodes"] = [_node(program, identity) for identity in ids]
    answer["edges"] = [_edge(edge) for edge in walked.edges]
    notes = sorted((_note(one) for one in walked.open), key=_note_order)
    answer["notes"] = notes[:NOTES_MAX]
    answer["notesTruncated"] = len(notes) > NOTES_MAX
    answer["totalNoteCount"], answer["returnedNoteCount"] = len(notes), len(answer["notes"])
    warnings = []
    if walked.more:
        warnings.append("CALL_GRAPH_EDGES_TRUNCATED")
    if len(notes) > NOTES_MAX:
        warnings.append("CALL_GRAPH_NOTES_TRUNCATED")
    if warnings:
        answer["warnings"] = warnings


def _named(facts: FileFacts, ref: SymbolRef) -> list[str]:
    """The ids a reference can stand for; one when it is exact."""
    wanted, label = ref.get("symbolId"), ref.get("symbolLabel")
    if wanted is not None:
        known = {file_id(facts.path), *(symbol.id for symbol in facts.symbols)}
        return [wanted] if wanted in known else []
    full = [s.id for s in facts.symbols if label in (s.qualified, f"{facts.module}.{s.qualified}")]
    return full or [symbol.id for symbol in facts.symbols if symbol.name == label]


def _node(program: LinkedProgram, identity: str) -> Wire:
    found = program.place(identity)
    assert found is not None, "an edge leads to a symbol of the program"
    facts, symbol = found
    if symbol is None:
        span: Wire = {"startLine": 1, "endLine": facts.lines}
        label, kind = facts.module or facts.path, "module"
    else:
        span = {"startLine": symbol.span.first_line, "endLine": symbol.span.last_line}
        label, kind = symbol.qualified, symbol.kind
    return {
        "symbolId": identity,
        "symbolLabel": label,
        "kind": kind,
        "file": facts.path,
        "language": facts.language,
        "span": span,
    }


def _edge(edge: Edge) -> Wire:
    return {
        "srcSymbolId": edge.caller,
        "dstSymbolId": edge.callee,
        "kind": edge.kind,
        "site": {"file": edge.path, "startLine": edge.line},
        "confidence": edge.confidence,
        "reason": edge.reason,
    }


def _note(one: OpenCall) -> Wire:
    return {
        "type": "unresolved_edge",
        "why": one.why,
        "file": one.path,
        "startLine": one.line,
        "symbolId": one.caller,
        "call": one.text,
        "detail": one.detail,
        "candidates": list(one.candidates),
    }


def _note_order(note: Wire) -> tuple[str, str, str, int]:
    line = note["startLine"]
    assert isinstance(line, int)
    return str(note["file"]), str(note["why"]), str(note["symbolId"]), line


def _refused(index: CodeIndex, answer: GraphAnswer, gate: Gate) -> GraphAnswer:
    refused = refusal(gate, answer["path"], index.runtime(), "retry the call graph")
    answer["status"], answer["reason"] = refused.status, refused.reason
    answer["message"], answer["hints"] = refused.message, refused.hints
    if refused.freshness is not None:
        answer["freshnessDecision"] = {"mode": refused.freshness}
    if "indexing" in refused.extras:
        answer["codebaseRoot"] = refused.root or ""
        answer["indexing"] = answers.part(refused.extras, "indexing")
    if "compatibility" in refused.extras:
        answer["codebasePath"] = refused.root or ""
        answer["compatibility"] = answers.part(refused.extras, "compatibility")
    return answer
