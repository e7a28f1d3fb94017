"""explore: one symbol with its source, callers, callees, references, implementations and tests.

Read-only. One answer instead of an outline, a read, two call graphs and a search. It is put
together from what the other verbs answer, so it says nothing that they would not.
"""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.files import disk
from holdfast.files.secrets import masked
from holdfast.index.answers import CallNode, Span
from holdfast.index.calls.linked_program import LinkedProgram
from holdfast.index.calls.program import OWNERS, Thing
from holdfast.index.calls.resolve import Edge
from holdfast.index.code_index import CodeIndex
from holdfast.index.errors import BackendUnavailable, DamagedBackend
from holdfast.index.facts.model import FileFacts
from holdfast.index.generations.gate import Open
from holdfast.index.references.answers import (
    CallEdgeLine,
    ExploreAnswer,
    ExploredSymbol,
    ImpactTest,
    ReferencesAnswer,
)
from holdfast.index.search.roles import role_of
from holdfast.index.tools.impact import test_at
from holdfast.index.tools.references import Relation, node_of, references

ANSWERED = 2
"""How many symbols of one name are explored; the rest are named."""
WHOLE_LINES = 40
HEAD_LINES = 16
CALLS_MAX = 40
TEST_DEPTH = 3
TESTS_MAX = 10
IMPLEMENTATIONS_MAX = 20
MENTIONS_MAX = 40


def explore(index: CodeIndex, tree: str, symbol: str, *, file: str = "") -> ExploreAnswer:
    """Everything about the symbols that a name means."""
    where = references(index, tree, symbol, file=file, relation="declaration")
    answer = ExploreAnswer(status=where.status, path=where.path, symbol=symbol)
    if where.status != "ok":
        return replace(
            answer,
            reason=where.reason,
            message=where.message,
            hints=where.hints,
            indexing=where.indexing,
        )
    chosen = sorted(where.definitions, key=lambda node: role_of(node.file) == "test")
    found = [_explored(index, tree, node) for node in chosen[:ANSWERED]]
    return replace(
        answer,
        found=tuple(one for one in found if one is not None),
        others=tuple(chosen[ANSWERED:]),
    )


def _explored(index: CodeIndex, tree: str, node: CallNode) -> ExploredSymbol | None:
    def about(relation: Relation, limit: int) -> ReferencesAnswer:
        return references(index, tree, node.symbol_id, relation=relation, limit=limit)

    mentions = about("references", MENTIONS_MAX)
    below = about("implementations", IMPLEMENTATIONS_MAX)
    if mentions.status != "ok" or below.status != "ok":
        return None
    made = _around(index, tree, node)
    if made is None:
        return None
    return replace(
        made,
        references=tuple(one for one in mentions.references if one.kind != "call"),
        counts=mentions.counts,
        undecided=mentions.undecided,
        implementations=below.implementations,
        complete=mentions.complete,
    )


def _around(index: CodeIndex, tree: str, node: CallNode) -> ExploredSymbol | None:
    """The source and the calls of a symbol; None if it is gone by now."""
    _, record = index.root_of(tree)
    gate = index.gate(record)
    if not isinstance(gate, Open):
        return None
    root = gate.record.root
    try:
        with index.backend.reader(root) as reader:
            overlay = index.check_freshness(gate.record, reader)
            with index.programs.lock:
                program = index.programs.program(root, reader, overlay)
                thing = program.resolver.program.by_id.get(node.symbol_id)
                if thing is None:
                    return None
                return _with_calls(program, root, thing)
    except (BackendUnavailable, DamagedBackend):
        return None


def _with_calls(program: LinkedProgram, root: str, thing: Thing) -> ExploredSymbol:
    view = program.resolver.program.files[thing.path]
    symbol = view.symbol(thing.at)
    callees, unknown = program.outgoing(symbol.id)
    callers = program.incoming(symbol.id)
    if symbol.kind in OWNERS:
        # Calling a class reaches its constructor.
        for index, inner in enumerate(view.facts.symbols):
            if inner.parent == thing.at and inner.kind == "constructor":
                callers += program.incoming(view.symbol(index).id)
    text, folded = _source(root, view.facts, thing.at)
    return ExploredSymbol(
        symbol=node_of(program, thing),
        signature=symbol.signature,
        doc=symbol.doc,
        text=text,
        folded=folded,
        members=_members(program, view.facts, thing) if symbol.kind in OWNERS else (),
        callers=_lines(program, callers, "caller"),
        callees=_lines(program, callees, "callee"),
        unresolved_calls=len(unknown),
        tests=_tests(program, symbol.id),
    )


def _members(program: LinkedProgram, facts: FileFacts, thing: Thing) -> tuple[CallNode, ...]:
    return tuple(
        node_of(program, Thing("symbol", facts.path, index))
        for index, symbol in enumerate(facts.symbols)
        if symbol.parent == thing.at
    )


def _source(root: str, facts: FileFacts, at: int) -> tuple[str, bool]:
    """The lines of a symbol, its head only if they are many; of a class its head."""
    symbol = facts.symbols[at]
    try:
        source, _ = disk.read_file(root, facts.path)
    except OSError:
        return "", True
    lines = masked(source).decode("utf-8", "replace").split("\n")
    first, last = symbol.span.first_line, symbol.span.last_line
    body = lines[first - 1 : last]
    if len(body) <= WHOLE_LINES:
        return "\n".join(body), False
    inner = [one.span.first_line for one in facts.symbols if one.parent == at]
    head = min([HEAD_LINES, *(line - first for line in inner if line > first)])
    return "\n".join(body[: max(1, head)]), True


def _lines(program: LinkedProgram, edges: list[Edge], end: str) -> tuple[CallEdgeLine, ...]:
    made: dict[tuple[str, str, int], CallEdgeLine] = {}
    for edge in edges:
        identity = edge.caller if end == "caller" else edge.callee
        found = program.place(identity)
        if found is None:
            continue
        facts, symbol = found
        inner = program.resolver.program.by_id.get(identity)
        node = (
            node_of(program, inner)
            if inner is not None and symbol is not None
            else CallNode(identity, facts.module or facts.path, "module", facts.path,
                          facts.language, Span(1, facts.lines))
        )  # fmt: skip
        made.setdefault(
            (identity, edge.path, edge.line),
            CallEdgeLine(node, edge.path, edge.line, edge.confidence, edge.reason),
        )
    order = sorted(made.values(), key=lambda one: (role_of(one.file) == "test", -one.confidence))
    return tuple(order[:CALLS_MAX])


def _tests(program: LinkedProgram, identity: str) -> tuple[ImpactTest, ...]:
    walked = program.walk(identity, "callers", TEST_DEPTH, 400)
    tests = []
    for caller in dict.fromkeys(edge.caller for edge in walked.edges):
        test = test_at(program, caller, ())
        if test is not None:
            tests.append(test)
    return tuple(tests[:TESTS_MAX])
