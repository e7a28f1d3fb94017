"""explore: one symbol with its source, callers, callees, references, implementations and tests.

Read-only. One answer instead of an outline, a read, two call graphs and a search. It combines the
answers of the other tools and adds nothing to them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from msgspec.structs import replace

from holdfast.files import disk
from holdfast.files.secrets import masked
from holdfast.index.answers import CallNode, Span
from holdfast.index.calls.linked_program import LinkedProgram
from holdfast.index.calls.program import OWNERS, Thing
from holdfast.index.calls.resolve import Edge
from holdfast.index.code_index import CodeIndex
from holdfast.index.facts.model import FileFacts
from holdfast.index.generations.freshness import FreshFiles, moved
from holdfast.index.generations.gate import Gate, Open
from holdfast.index.generations.model import Reader
from holdfast.index.references.answers import (
    CallEdgeLine,
    ExploreAnswer,
    ExploredSymbol,
    ImpactTest,
    ReferencesAnswer,
)
from holdfast.index.search.roles import role_of
from holdfast.index.tools.gate_check import read_if_open
from holdfast.index.tools.impact import test_at
from holdfast.index.tools.references import Relation, answered, node_of
from holdfast.index.tools.refusals import refused
from holdfast.index.tools.source_lines import SourceLines

RETRY = "explore it again"
ANSWERED = 2
"""How many symbols with one name are explored; the others are listed."""
WHOLE_LINES = 60
HEAD_LINES = 16
CALLS_MAX = 40
TEST_DEPTH = 3
TESTS_MAX = 10
IMPLEMENTATIONS_MAX = 20
MENTIONS_MAX = 40


def explore(index: CodeIndex, tree: str, symbol: str, *, file: str = "") -> ExploreAnswer:
    """Everything about the symbols with this name, from one check of the tree."""
    requested, record = index.root_of(tree)
    answer = ExploreAnswer(status="ok", path=requested, symbol=symbol)

    def refuse(gate: Gate) -> ExploreAnswer:
        return refused(answer, gate, index.runtime(), RETRY, answer.path)

    def read(gate: Open) -> ExploreAnswer:
        root = gate.record.root
        with index.backend.reader(root) as reader:
            look = Look(index, root, reader, index.check_freshness(gate.record, reader), file)
            explored, files = _explore(look, answer)
            if moved(root, files, look.overlay):
                fresh = index.check_freshness(gate.record, reader)
                explored, _ = _explore(dataclasses.replace(look, overlay=fresh), answer)
            return explored

    return read_if_open(index, record, refuse, read)


@dataclasses.dataclass(frozen=True)
class Look:
    """A tree as of one check, so that every part of an answer is about the same files."""

    index: CodeIndex
    root: str
    reader: Reader
    overlay: FreshFiles
    file: str

    def ask(
        self, tree: str, symbol: str, relation: Relation, limit: int
    ) -> tuple[ReferencesAnswer, set[str]]:
        answer = ReferencesAnswer(status="ok", path=tree, symbol=symbol, relation=relation)
        file = self.file if relation == "declaration" else ""
        return answered(
            self.index, self.root, self.reader, self.overlay, answer, file, frozenset(), limit
        )


def _explore(look: Look, answer: ExploreAnswer) -> tuple[ExploreAnswer, set[str]]:
    where, files = look.ask(answer.path, answer.symbol, "declaration", ANSWERED)
    if where.status != "ok":
        return replace(
            answer,
            status=where.status,
            reason=where.reason,
            message=where.message,
            hints=where.hints,
            indexing=where.indexing,
        ), files
    chosen = _in_order(where.definitions)
    symbols = []
    for node in chosen[:ANSWERED]:
        mentions, seen = look.ask(answer.path, node.symbol_id, "references", MENTIONS_MAX)
        below, others = look.ask(
            answer.path, node.symbol_id, "implementations", IMPLEMENTATIONS_MAX
        )
        files |= seen | others
        symbol = _around(look, node)
        if symbol is not None and mentions.status == "ok" and below.status == "ok":
            symbols.append(_joined(symbol, mentions, below))
    return replace(answer, found=tuple(symbols), others=tuple(chosen[ANSWERED:])), files


def _in_order(nodes: Sequence[CallNode]) -> list[CallNode]:
    """Tests last, and before them the shorter ones of a name in a file: declared overloads."""
    lines: dict[tuple[str, str], int] = {}
    for node in nodes:
        key = node.file, node.symbol_label
        lines[key] = max(lines.get(key, 0), _length(node))
    return sorted(
        nodes,
        key=lambda node: (
            role_of(node.file) == "test",
            _length(node) < lines[node.file, node.symbol_label],
        ),
    )


def _length(node: CallNode) -> int:
    return node.span.end_line - node.span.start_line


def _joined(
    symbol: ExploredSymbol, mentions: ReferencesAnswer, below: ReferencesAnswer
) -> ExploredSymbol:
    return replace(
        symbol,
        references=tuple(one for one in mentions.references if one.kind != "call"),
        counts=mentions.counts,
        undecided=mentions.undecided,
        implementations=below.implementations,
        complete=mentions.complete,
    )


def _around(look: Look, node: CallNode) -> ExploredSymbol | None:
    """The source and the calls of a symbol; None if it no longer exists."""
    programs = look.index.programs
    with programs.lock:
        program = programs.program(look.root, look.reader, look.overlay)
        thing = program.resolver.program.by_id.get(node.symbol_id)
        return _with_calls(program, look.root, thing) if thing is not None else None


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
        callers=_lines(program, callers, "caller", SourceLines(root)),
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
    """The lines of a symbol, or only its head if it is long, and whether lines were left out."""
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


def _lines(
    program: LinkedProgram, edges: list[Edge], end: str, source: SourceLines | None = None
) -> tuple[CallEdgeLine, ...]:
    """The other ends of some calls, tests last; with the line of each call from `source`."""
    lines: dict[tuple[str, str, int], CallEdgeLine] = {}
    for edge in edges:
        identity = edge.caller if end == "caller" else edge.callee
        place = program.place(identity)
        if place is None:
            continue
        facts, symbol = place
        inner = program.resolver.program.by_id.get(identity)
        node = (
            node_of(program, inner)
            if inner is not None and symbol is not None
            else CallNode(identity, facts.module or facts.path, "module", facts.path,
                          facts.language, Span(1, facts.lines))
        )  # fmt: skip
        lines.setdefault(
            (identity, edge.path, edge.line),
            CallEdgeLine(node, edge.path, edge.line, edge.confidence, edge.reason),
        )
    order = sorted(lines.values(), key=lambda one: (role_of(one.file) == "test", -one.confidence))
    if source is None:
        return tuple(order[:CALLS_MAX])
    return tuple(
        replace(one, text=None if role_of(one.file) == "test" else source.line(one.file, one.line))
        for one in order[:CALLS_MAX]
    )


def _tests(program: LinkedProgram, identity: str) -> tuple[ImpactTest, ...]:
    walked = program.walk(identity, "callers", TEST_DEPTH, 400)
    tests = []
    for caller in dict.fromkeys(edge.caller for edge in walked.edges):
        test = test_at(program, caller, ())
        if test is not None:
            tests.append(test)
    return tuple(tests[:TESTS_MAX])
