"""call_graph: what a symbol calls and what calls it, to depth three.

A read. Inbound links are leads to verify: a call through a value of unknown type is not seen.
"""

from __future__ import annotations

import os
from collections import deque
from typing import Literal, NotRequired, TypedDict

from holdfast.errors import UsageError
from holdfast.index import answers
from holdfast.index import facts as facts_of
from holdfast.index.answers import Wire, hints
from holdfast.index.code_index import CodeIndex, policy_of
from holdfast.index.errors import BackendUnavailable
from holdfast.index.facts import MODULE, FileFacts, file_id
from holdfast.index.gate import Gate, Open
from holdfast.index.generation import Reader
from holdfast.index.links import Library, Link, Place, Unresolved, incoming, outgoing
from holdfast.index.refusals import refusal
from holdfast.index.tools.outline import file_key

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
    depth, limit = max(1, min(depth, DEPTH_MAX)), max(1, limit)
    requested, record = index.governing(path)
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


def _walk(index: CodeIndex, gate: Open, reader: Reader, key: str, answer: GraphAnswer) -> None:
    root = gate.record.root
    library = _library(index, gate, reader)
    facts = library.facts(key)
    if facts is None:
        exists = os.path.isfile(os.path.join(root, key))
        answer["status"] = "unsupported" if exists else "not_found"
        answer["reason"] = "unsupported_language" if exists else "missing_symbol"
        answer["message"] = (
            f"'{key}' has no symbols that are known" if exists else f"there is no file '{key}'"
        )
        return
    start = _place(facts, answer["symbolRef"])
    if isinstance(start, list):
        answer["status"] = "ambiguous" if start else "not_found"
        answer["reason"] = "ambiguous_symbol" if start else "missing_symbol"
        answer["message"] = (
            "several symbols are called that; pass a symbolId"
            if start
            else f"no symbol of '{key}' is called that; ask file_outline for its symbols"
        )
        answer["nodes"] = [_node(library, place) for place in start]
        return
    answer["supported"] = True
    links, unresolved = _breadth_first(library, start, answer)
    places = dict.fromkeys([start, *(p for link in links for p in (link.source, link.target))])
    answer["nodes"] = [_node(library, place) for place in places]
    answer["edges"] = [_edge(library, link) for link in links]
    notes = sorted(
        (_note(library, one) for one in unresolved),
        key=lambda n: (str(n["file"]), str(n["type"]), str(n["symbolId"]), str(n["startLine"])),
    )
    answer["notes"] = notes[:NOTES_MAX]
    answer["notesTruncated"] = len(notes) > NOTES_MAX
    answer["totalNoteCount"], answer["returnedNoteCount"] = len(notes), len(answer["notes"])
    if len(notes) > NOTES_MAX:
        answer["warnings"] = ["CALL_GRAPH_NOTES_TRUNCATED"]


def _library(index: CodeIndex, gate: Open, reader: Reader) -> Library:
    """The stored facts, with those of files that changed since laid over them."""
    root = gate.record.root
    overlay = index.freshness.recent(root, reader.identity) or index.freshness.look(
        root,
        reader,
        policy_of(gate.record.options),
        index.extract,
        index.provider if index.provider.local else None,
    )
    fresh = {path: facts_of.decode(file.facts) for path, file in overlay.changed.items()}
    return Library(reader, fresh, overlay.gone)


def _place(facts: FileFacts, ref: SymbolRef) -> Place | list[Place]:
    """The symbol a reference names; else all it could name."""
    wanted, label = ref.get("symbolId"), ref.get("symbolLabel")
    if wanted is not None:
        if wanted == file_id(facts.path):
            return Place(facts.path, MODULE)
        found = [i for i, symbol in enumerate(facts.symbols) if symbol.id == wanted]
    else:
        found = [i for i, symbol in enumerate(facts.symbols) if symbol.qualified == label]
        found = found or [i for i, symbol in enumerate(facts.symbols) if symbol.name == label]
    places = [Place(facts.path, i) for i in found]
    return places[0] if len(places) == 1 else places


def _breadth_first(
    library: Library, start: Place, answer: GraphAnswer
) -> tuple[list[Link], list[Unresolved]]:
    direction, limit = answer["direction"], answer["limit"]
    links: dict[tuple[Place, Place, str, int], Link] = {}
    unresolved: list[Unresolved] = []
    for way in ("callees", "callers"):
        if direction not in (way, "both"):
            continue
        seen = {start}
        queue = deque([(start, 0)])
        while queue:
            place, far = queue.popleft()
            if far >= answer["depth"]:
                continue
            if way == "callees":
                found, missing = outgoing(library, place)
                unresolved += missing
            else:
                found = incoming(library, place)
            for link in found:
                if len(links) >= limit:
                    answer["warnings"] = ["CALL_GRAPH_EDGES_TRUNCATED"]
                    return list(links.values()), unresolved
                links[link.source, link.target, link.site_path, link.site_line] = link
                after = link.target if way == "callees" else link.source
                if after not in seen:
                    seen.add(after)
                    queue.append((after, far + 1))
    return list(links.values()), unresolved


def _node(library: Library, place: Place) -> Wire:
    facts, symbol = library.facts(place.path), library.symbol(place)
    assert facts is not None
    if symbol is None:
        span: Wire = {"startLine": 1, "endLine": facts.lines}
        label, kind = facts.module or place.path, "module"
    else:
        span = {"startLine": symbol.span.first_line, "endLine": symbol.span.last_line}
        label, kind = symbol.qualified, symbol.kind
    return {
        "symbolId": library.identity(place),
        "symbolLabel": label,
        "kind": kind,
        "file": place.path,
        "language": facts.language,
        "span": span,
    }


def _edge(library: Library, link: Link) -> Wire:
    return {
        "srcSymbolId": library.identity(link.source),
        "dstSymbolId": library.identity(link.target),
        "kind": link.kind,
        "site": {"file": link.site_path, "startLine": link.site_line},
        "confidence": round(link.confidence, 3),
        "reason": link.reason,
        "ambiguous": link.ambiguous,
    }


def _note(library: Library, one: Unresolved) -> Wire:
    return {
        "type": "unresolved_edge",
        "file": one.source.path,
        "startLine": one.line,
        "symbolId": library.identity(one.source),
        "detail": f"a call of {one.name} leads out of the tree, or to something not known",
    }


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
