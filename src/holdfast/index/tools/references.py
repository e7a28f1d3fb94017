"""references: where a symbol is mentioned, implemented and declared.

Read-only. The index finds the files that may mention the symbol; each is read from disk, and every
mention in it is resolved by scopes, imports and types. Mentions that cannot be resolved are
counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from msgspec.structs import replace

from holdfast.errors import UsageError
from holdfast.index.answers import CallNode, Hints, Span
from holdfast.index.calls.linked_program import LinkedProgram
from holdfast.index.calls.program import OWNERS, Thing
from holdfast.index.code_index import CodeIndex
from holdfast.index.facts.languages import FAMILIES
from holdfast.index.facts.mention_kinds import KINDS, Kind
from holdfast.index.facts.model import MODULE
from holdfast.index.facts.naming import symbols_named
from holdfast.index.generations.freshness import FreshFiles, moved
from holdfast.index.generations.gate import Gate, Open
from holdfast.index.generations.model import Reader
from holdfast.index.references.answers import KindCount, ReferencePlace, ReferencesAnswer
from holdfast.index.references.find import (
    ReadFile,
    Reference,
    References,
    ReferenceSearch,
)
from holdfast.index.references.implementations import implementations
from holdfast.index.references.target import target_of
from holdfast.index.search.roles import role_of
from holdfast.index.tools.find_symbol import symbols_called
from holdfast.index.tools.gate_check import read_if_open
from holdfast.index.tools.limits import REFERENCES_DEFAULT
from holdfast.index.tools.mention_files import files_with, read_files, unreadable_parts
from holdfast.index.tools.outline import file_key, no_outline
from holdfast.index.tools.refusals import proof_check, refused
from holdfast.text import counted

Relation = Literal["references", "implementations", "declaration"]
RELATIONS: tuple[Relation, ...] = ("references", "implementations", "declaration")
RETRY = "ask for the references again"
ANSWERED = 5
"""How many symbols with one name are answered."""
UNDECIDED_SHOWN = 10
UNREAD_SHOWN = 20


def references(
    index: CodeIndex,
    tree: str,
    symbol: str,
    *,
    file: str = "",
    relation: Relation = "references",
    kinds: Iterable[str] = (),
    limit: int = REFERENCES_DEFAULT,
) -> ReferencesAnswer:
    """The references to a symbol, given by name, qualified name or id."""
    wanted = frozenset(kinds)
    unknown = sorted(wanted - set(KINDS))
    if unknown:
        raise UsageError(f"a kind is one of {', '.join(KINDS)} (got {', '.join(unknown)})")
    if limit < 1:
        raise UsageError(f"limit must be at least 1 (got {limit})")
    requested, record = index.root_of(tree)
    answer = ReferencesAnswer(status="ok", path=requested, symbol=symbol, relation=relation)

    def refuse(gate: Gate) -> ReferencesAnswer:
        return refused(answer, gate, index.runtime(), RETRY, answer.path)

    def read(gate: Open) -> ReferencesAnswer:
        root = gate.record.root
        with index.backend.reader(root) as reader:
            # Always a new check: a file added since the last one may mention the symbol too.
            overlay = index.check_freshness(gate.record, reader)
            result, files = answered(index, root, reader, overlay, answer, file, wanted, limit)
            if moved(root, files, overlay):
                overlay = index.check_freshness(gate.record, reader)
                result, _ = answered(index, root, reader, overlay, answer, file, wanted, limit)
        return replace(result, hints=result.hints or _proof(gate))

    return read_if_open(index, record, refuse, read)


def _proof(gate: Open) -> Hints | None:
    return Hints(debug_proof_check=proof_check(gate)).or_none()


def answered(
    index: CodeIndex,
    root: str,
    reader: Reader,
    overlay: FreshFiles,
    answer: ReferencesAnswer,
    file: str,
    kinds: frozenset[str],
    limit: int,
) -> tuple[ReferencesAnswer, set[str]]:
    """The answer as of a check of the tree, and the files that it depends on."""
    key = file_key(root, answer.path, file) if file else ""
    with index.programs.lock:
        program = index.programs.program(root, reader, overlay)
        ids = _ids(index, program, answer, key)
        if isinstance(ids, ReferencesAnswer):
            return ids, {key} if key else set()
        nodes = tuple(node_of(program, program.resolver.program.by_id[one]) for one in ids)
        answer = replace(answer, definitions=nodes)
        places = {node.file for node in nodes}
        if answer.relation == "declaration":
            return answer, places
        if answer.relation == "implementations":
            below = dict.fromkeys(one for i in ids for one in implementations(program, i))
            nodes_below = tuple(node_of(program, one) for one in list(below)[:limit])
            cut = (f"REFERENCES_MORE:{counted(len(below) - limit, 'more')}",)
            return replace(
                answer,
                implementations=nodes_below,
                total=len(below),
                warnings=cut if len(below) > limit else (),
            ), places | {node.file for node in nodes_below}
        targets = [
            target for one in ids if (target := target_of(program, one, overrides=True)) is not None
        ]
        search = ReferenceSearch(program)
        names = [search.names(target) for target in targets]
        inner = program.resolver.program
        members = {family: inner.in_family(family) for family in {t.family for t in targets}}
    gathered: list[list[ReadFile]] = []
    seen: set[str] = set(places)
    left_out = unreadable_parts(overlay)
    for target, known in zip(targets, names, strict=True):
        ours = members[target.family]
        candidates, complete = files_with(root, reader, overlay, known, ours)
        if not complete:
            left_out.append("files that could not be searched in time")
        read, unread = read_files(root, sorted({*candidates, *places} & ours), known)
        left_out += unread
        gathered.append(read)
        seen |= {one.path for one in read}
    with index.programs.lock:
        program = index.programs.program(root, reader, overlay)
        search = ReferenceSearch(program)
        judged = [search.judge(t, files) for t, files in zip(targets, gathered, strict=True)]
        return _merged_answer(program, answer, judged, left_out, kinds, limit), seen


def _ids(
    index: CodeIndex, program: LinkedProgram, answer: ReferencesAnswer, key: str
) -> list[str] | ReferencesAnswer:
    """The ids of the requested symbols, or the answer why there are none."""
    inner, name = program.resolver.program, answer.symbol
    if name in inner.by_id:
        return [name]
    if key:
        facts = program.facts(key)
        named = symbols_named(facts, name) if facts is not None else []
        ids = [symbol.id for symbol in named if symbol.id in inner.by_id]
        if ids:
            return ids[:ANSWERED]
        if facts is not None and facts.guessed:
            return replace(
                answer,
                status="unsupported",
                reason="unsupported_language",
                message=no_outline(facts),
            )
        return replace(
            answer,
            status="not_found",
            reason="missing_symbol",
            message=f"'{key}' has no symbol named '{name}'; ask file_outline for its symbols",
        )
    named_so = _named_exactly(program, name)
    named_so = named_so or _inherited(program, name)
    if named_so:
        return named_so[:ANSWERED]
    symbols = symbols_called(index, answer.path, name)
    if symbols.refused is not None:
        refused = symbols.refused
        return replace(
            answer, status=refused.status, reason=refused.reason, message=refused.message
        )
    ids = [
        one.symbol_id for one in symbols.symbols if one.symbol_id and one.symbol_id in inner.by_id
    ]
    known = [one for one in ids if one]
    if known:
        return known[:ANSWERED]
    similar = f"; similar names: {', '.join(symbols.similar)}" if symbols.similar else ""
    return replace(
        answer,
        status="not_found",
        reason="missing_symbol",
        message=f"no symbol in the tree is named {name}{similar}",
    )


def _inherited(program: LinkedProgram, name: str) -> list[str]:
    """What `Cart.total` is, if a base class of Cart defines it."""
    owner, _, last = name.rpartition(".")
    inner, ids = program.resolver.program, dict[str, None]()
    for one in _named_exactly(program, owner) if owner else ():
        thing = inner.by_id[one]
        if inner.symbol(thing).kind not in OWNERS:
            continue
        for each in program.resolver.names.member(thing, last):
            if each.thing.kind == "symbol":
                ids[inner.symbol(each.thing).id] = None
    return list(ids)


def _named_exactly(program: LinkedProgram, name: str) -> list[str]:
    """The symbols with this name or qualified name, those of tests last."""
    inner = program.resolver.program
    last = name.rpartition(".")[2]
    families = sorted(set(FAMILIES.values()))
    whole = [thing for family in families for thing in inner.exact(family, name)]
    # A full name need not end with the symbol's own name.
    whole = [t for t in whole if inner.symbol(t).name == last]
    whole.sort(key=lambda t: (role_of(t.path) == "test", t.path, t.at))
    if whole:
        return [inner.symbol(thing).id for thing in whole]
    paths = {path for family in families for path in inner.naming(family, last)}
    ids: list[str] = []
    for path in sorted(paths, key=lambda p: (role_of(p) == "test", p)):
        view = inner.files[path]
        ids += [
            view.symbol(index).id
            for index in view.by_name.get(last, ())
            if view.full(index).endswith(f".{name}")
        ]
        if len(ids) >= ANSWERED:
            break
    return ids


def _merged_answer(
    program: LinkedProgram,
    answer: ReferencesAnswer,
    parts: list[References],
    left_out: list[str],
    kinds: frozenset[str],
    limit: int,
) -> ReferencesAnswer:
    places: dict[tuple[str, int], Reference] = {}
    undecided: dict[tuple[str, int], Reference] = {}
    unread = dict.fromkeys(left_out)
    for one in parts:
        for place in one.found:
            known = places.get((place.path, place.start))
            if known is None or known.confidence < place.confidence:
                places[place.path, place.start] = place
        undecided |= {(place.path, place.start): place for place in one.undecided}
        unread |= dict.fromkeys(f"{path} ({why})" for path, why in one.unread.items())
    counts = Counter(place.kind for place in places.values())
    shown = [place for place in places.values() if not kinds or place.kind in kinds]
    order: dict[Kind, int] = {kind: at for at, kind in enumerate(KINDS)}
    shown.sort(key=lambda place: (order[place.kind], place.path, place.start))
    wanted = [place for place in shown if place.kind != "definition" or "definition" in kinds]
    more = len(wanted) - limit
    cut = (f"REFERENCES_MORE:{more} more",) if more > 0 else ()
    return replace(
        answer,
        references=tuple(place_of(program, place) for place in wanted[:limit]),
        counts=tuple(KindCount(kind, counts[kind]) for kind in KINDS if counts[kind]),
        total=len(wanted),
        undecided=len(undecided),
        undecided_places=tuple(
            place_of(program, undecided[at]) for at in sorted(undecided)[:UNDECIDED_SHOWN]
        ),
        unread=tuple(list(unread)[:UNREAD_SHOWN]),
        complete=not unread,
        warnings=cut,
    )


def place_of(program: LinkedProgram, one: Reference) -> ReferencePlace:
    place = program.place(one.inside)
    label = one.path
    if place is not None:
        facts, symbol = place
        label = symbol.qualified if symbol is not None else facts.module or facts.path
    return ReferencePlace(
        one.path, one.line, one.kind, one.confidence, one.reason, one.text, one.inside, label
    )


def node_of(program: LinkedProgram, thing: Thing) -> CallNode:
    view = program.resolver.program.files[thing.path]
    assert thing.at != MODULE, "a file has no references"
    symbol = view.symbol(thing.at)
    span = Span(symbol.span.first_line, symbol.span.last_line)
    return CallNode(symbol.id, symbol.qualified, symbol.kind, view.path, view.facts.language, span)
