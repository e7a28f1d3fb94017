"""Plays `sequence/search.json` and `sequence/build.json`.

A search case gives a graph by hand (atoms, then named patterns; a name that comes twice gains a
second pattern), a query by names, and what the answer must say. A unit case gives an operation of
the search's inner states. A build case gives a kind: insert, insert_error, split, read, canonical
or labels. A field or an operation that is not known here fails the case.
"""

import ast
import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from holdfast.sequence import canonical
from holdfast.sequence.compare import CompareState, MatchResult, ParentState
from holdfast.sequence.cursor import Candidate, Checkpointed, Matched, Mismatched, TokenPath
from holdfast.sequence.errors import EmptyQuery, SingleToken
from holdfast.sequence.graph import Graph, Location, Vertex
from holdfast.sequence.response import EndReason, GraphMatch
from holdfast.sequence.search import (
    Clear,
    SearchState,
    beginning,
    find_ancestor,
    find_parent,
    find_sequence,
)
from tests.sequence.reference import insert, invariants
from tests.sequence.reference.split import cuts
from tests.sequence.reference.trace import TraceCache, trace_end, trace_of, trace_start

Data = dict[str, Any]
Case = tuple[str, Callable[[], None]]

ABOUT = {"name", "file", "since", "verified", "notes", "upstream_status"}


def cases(folder: Path) -> Iterator[Case]:
    """Every entry of every file of the folder."""
    players = {"search": play_search, "build": play_build}
    for path in sorted(folder.glob("*.json")):
        player = players.get(path.stem)
        for number, entry in enumerate(json.loads(path.read_text(encoding="utf-8"))):
            name = f"{path.stem}/{number:03d}-{entry.get('name', 'unnamed')}"
            if player is None:
                yield name, partial(_fail, f"no player for {path.name}")
            else:
                yield name, partial(player, entry)


def _fail(message: str) -> None:
    raise AssertionError(message)


def _known(data: Data, fields: set[str], what: str) -> None:
    unknown = set(data) - fields
    assert not unknown, f"{what} has fields this player does not know: {sorted(unknown)}"


class Named:
    """A graph by hand, with the names its case uses."""

    def __init__(self, case: Data) -> None:
        self.graph = Graph()
        self.ids: dict[str, Vertex] = {}
        for atom in case["atoms"]:
            self.ids[atom] = self.graph.atom(atom)
        for name, children in case["patterns"]:
            run = [self.ids[child] for child in children]
            if name in self.ids:
                self.graph.add_pattern(self.ids[name], run)
            else:
                # Strict: some cases have two vertices of one string on purpose.
                self.ids[name] = self.graph.pattern(run, name=name, strict=True)

    def query(self, names: list[str]) -> list[Vertex]:
        return [self.ids[name] for name in names]

    def name(self, vertex: Vertex) -> str:
        return self.graph.name(vertex)

    def location(self, triple: list[Any]) -> Location:
        return Location(self.ids[triple[0]], triple[1], triple[2])

    def triples(self, path: tuple[Location, ...]) -> list[list[Any]]:
        return [[self.name(at.vertex), at.pattern, at.nth] for at in path]

    def cache(self, cache: TraceCache) -> Data:
        def edges(positions: dict[int, Any]) -> Data:
            return {
                str(position): sorted(
                    [self.name(e.child), e.position, e.pattern, e.nth] for e in es
                )
                for position, es in positions.items()
            }

        return {
            self.name(vertex): {"bu": edges(trace.bottom_up), "td": edges(trace.top_down)}
            for vertex, trace in cache.entries.items()
        }


def _sorted_cache(cache: Data) -> Data:
    return {
        name: {
            way: {position: sorted(edges) for position, edges in trace.get(way, {}).items()}
            for way in ("bu", "td")
        }
        for name, trace in cache.items()
    }


# Search

EXPECTED = {
    "kind", "root", "start", "end", "query_exhausted", "end_reason", "query_end", "atom_position",
    "checkpoint", "cursor", "path", "cache", "second", "asserted_by_test", "notes",
    "checkpoint_end", "position",
}  # fmt: skip

ASSERTED = {
    "kind", "root", "root_any", "query_exhausted", "start", "end", "pattern", "entry_pos",
    "exit_pos", "end_pos", "start_path", "end_path", "target", "target_pos", "query_start",
    "query_end", "atom_position", "cache", "second", "notes", "root_entry", "root_exit",
    "end_reason", "checkpoint_end", "position",
}  # fmt: skip

METHODS = {"find_ancestor", "find_parent", "find_sequence", "find_consecutive"}


def play_search(case: Data) -> None:
    _known(case, ABOUT | {"atoms", "patterns", "query", "method", "setup", "expect"}, "case")
    if case["method"] == "unit":
        play_unit(case)
        return
    assert case["method"] in METHODS, f"unknown method {case['method']!r}"
    assert "setup" not in case, "only unit cases have a setup"
    expect = case["expect"]
    _known(expect, EXPECTED, "expect")
    assert expect["kind"] == expect.get("asserted_by_test", expect).get("kind", expect["kind"])
    if case.get("since") == "property":
        _check_declared(case)
    # The cases were recorded by a search that clears its queue at the first match of a root.
    play_recorded(case, Clear.ALWAYS)
    if not expect["kind"].startswith("error_") and case["method"] in FINDERS:
        for clear in (Clear.CLOSED, Clear.NEVER):
            _check_kept(case, expect, clear)


FINDERS: dict[str, Callable[..., GraphMatch]] = {
    "find_ancestor": find_ancestor,
    "find_parent": find_parent,
}


def play_recorded(case: Data, clear: Clear) -> None:
    """Play a search case to the letter: path, cursor and trace too."""
    _play_search(case, case["expect"], clear)


def _check_kept(case: Data, expect: Data, clear: Clear) -> None:
    """A kept queue finds as much, in as small a root; which of equal paths it takes is free.

    It may find more in a graph that is not closed, and for `find_parent` in any: clearing relies on
    longer matches lying above the root just found, and `find_parent` never looks there.
    """
    named = Named(case)
    graph, tokens = named.graph, named.query(case["query"])
    answer = FINDERS[case["method"]](graph, tokens, clear=clear)
    query = [atom for token in tokens for atom in graph.spelled(token)]
    matched = graph.spelled(answer.root)[answer.start : answer.end]
    assert matched == tuple(query[: answer.position]), "what is reported agrees"
    recorded = expect["atom_position"] if "atom_position" in expect else expect["position"]
    if answer.position > recorded:
        if case["method"] == "find_ancestor":
            assert not invariants.is_closed(graph), "a closed graph has nothing more to find"
        return
    assert answer.position == recorded
    assert answer.query_exhausted == expect["query_exhausted"]
    if "root_any" not in expect.get("asserted_by_test", {}):
        assert named.name(answer.root) == expect["root"]


def _play_search(case: Data, expect: Data, clear: Clear) -> None:
    named = Named(case)
    graph, names = named.graph, case["query"]

    def search() -> GraphMatch:
        if case["method"] == "find_sequence":
            return find_sequence(graph, [graph.value(named.ids[name]) for name in names])
        find = find_parent if case["method"] == "find_parent" else find_ancestor
        return find(graph, named.query(names), clear=clear)

    if expect["kind"].startswith("error_"):
        _play_refusal(named, expect, search)
        return
    answer = search()
    _check_answer(named, expect, answer)
    _check_asserted(named, expect.get("asserted_by_test", {}), answer, answer.cursor)
    if case["method"] == "find_consecutive":
        following = find_ancestor(graph, answer.cursor, clear=clear)
        _check_answer(named, expect["second"], following)
        asserted = expect.get("asserted_by_test", {}).get("second", {})
        _check_asserted(named, asserted, following, following.cursor)
    else:
        assert "second" not in expect, "only find_consecutive has a second answer"


def _play_refusal(named: Named, expect: Data, search: Callable[[], GraphMatch]) -> None:
    kinds: dict[str, type[Exception]] = {
        "error_single_index": SingleToken,
        "error_empty_query": EmptyQuery,
        "error_empty_patterns": EmptyQuery,
    }
    wanted = kinds.get(expect["kind"])
    assert wanted is not None, f"unknown refusal {expect['kind']!r}"
    with pytest.raises(wanted) as refusal:
        search()
    if isinstance(refusal.value, SingleToken):
        assert named.name(Vertex(refusal.value.vertex)) == expect["root"]
    else:
        assert expect.get("root") is None


def _check_answer(named: Named, expect: Data, answer: GraphMatch) -> None:
    _known(expect, EXPECTED, "expect")
    assert answer.kind.value == expect["kind"]
    assert named.name(answer.root) == expect["root"]
    found = {
        "start": answer.start,
        "end": answer.end,
        "query_exhausted": answer.query_exhausted,
        "end_reason": answer.reason.value,
        "query_end": answer.query_end,
        "checkpoint_end": answer.query_end,
        "atom_position": answer.position,
        "position": answer.position,
    }
    for field, value in found.items():
        if field in expect:
            assert value == expect[field], field
    if "checkpoint" in expect:
        _check_cursor(expect["checkpoint"], answer.checkpoint)
    if "cursor" in expect:
        _check_cursor(expect["cursor"], answer.cursor)
    if "path" in expect:
        _check_path(named, expect["path"], answer)
    if "cache" in expect:
        assert named.cache(trace_of(answer)) == _sorted_cache(expect["cache"])


def _check_cursor(expect: Data, cursor: Matched | Candidate) -> None:
    found = {
        "state": type(cursor).__name__,
        "index": cursor.place.index,
        "end_path_len": len(cursor.place.path),
        "atom_position": cursor.position,
        "position": cursor.position,
    }
    _known(expect, set(found), "cursor")
    assert {field: found[field] for field in expect} == expect


def _path_facts(named: Named, answer: GraphMatch) -> Data:
    path = answer.path
    assert path is not None, "the answer has no path"
    return {
        "pattern": path.pattern,
        "start_path": named.triples(path.start_path),
        "end_path": named.triples(path.end_path),
        "root_entry": path.root_entry,
        "root_exit": path.root_exit,
        "entry_pos": path.entry_pos,
        "exit_pos": path.exit_pos,
        "end_pos": path.end_pos,
        "target": named.name(path.target),
        # The cases give the target at the position of the root's exit child, however deep the
        # target lies. Where it begins itself is `leaf_pos`, which the tests of search.py check.
        "target_pos": path.exit_pos,
    }


def _check_path(named: Named, expect: Data, answer: GraphMatch) -> None:
    found = _path_facts(named, answer)
    _known(expect, set(found), "path")
    assert {field: found[field] for field in expect} == expect


def _check_asserted(
    named: Named, expect: Data, answer: GraphMatch, cursor: Matched | Candidate
) -> None:
    """What the original test of the case asserts: start and end are child indexes there."""
    _known(expect, ASSERTED, "asserted_by_test")
    found: Data = {
        "kind": answer.kind.value,
        "query_exhausted": answer.query_exhausted,
        "query_start": 0,
        "query_end": cursor.place.index,
        "checkpoint_end": answer.checkpoint.place.index,
        "atom_position": answer.position,
        "position": answer.position,
        "end_reason": answer.reason.value,
    }
    if answer.path is not None:
        found |= _path_facts(named, answer)
        found["start"], found["end"] = found["root_entry"], found["root_exit"]
    for field, value in expect.items():
        if field in ("notes", "second"):
            continue
        if field == "root":
            assert value is None or named.name(answer.root) == value
        elif field == "root_any":
            assert named.name(answer.root) in value
        elif field == "cache":
            mine = named.cache(trace_of(answer))
            theirs = _sorted_cache(value)
            assert {name: mine.get(name) for name in theirs} == theirs
        else:
            assert found[field] == value, field


DECLARED = re.compile(r"texts=(?P<texts>\[.*\]); longest prefix of the query that occurs = (\d+)")


def _check_declared(case: Data) -> None:
    """A generated case names its corpus: the canonical graph of it must answer the same."""
    declared = DECLARED.match(case["expect"].get("notes", ""))
    if declared is None:
        return
    texts = ast.literal_eval(declared["texts"])
    graph = canonical.canonical_graph(texts)
    named = Named(case)
    spelled = "".join(str(a) for v in named.query(case["query"]) for a in named.graph.spelled(v))
    longest = max(n for n in range(len(spelled) + 1) if any(spelled[:n] in t for t in texts))
    assert longest == int(declared[2])
    answer = find_sequence(graph, spelled)
    assert answer.position == longest
    assert "".join(map(str, graph.spelled(answer.root))) == "".join(
        map(str, named.graph.spelled(named.ids[case["expect"]["root"]]))
    )
    assert answer.kind.value == case["expect"]["kind"]


# Unit operations


def play_unit(case: Data) -> None:
    op = case["setup"]["op"]
    play = UNITS.get(op)
    if play is None:
        for prefix, candidate in UNIT_PREFIXES.items():
            if op.startswith(prefix):
                play = candidate
                break
    assert play is not None, f"unknown operation {op!r}"
    play(Named(case), case["setup"], case["expect"])


def _state_names(cursor: Any) -> str:
    return type(cursor).__name__


def _compare_state(named: Named, setup: Data, *, matched: bool) -> CompareState:
    cursor = Matched if matched else Candidate
    query_place = TokenPath(tuple(named.query(setup["query"])), setup["query_end"])
    checkpoint = Matched(query_place, setup["query_position"])
    root = Location(named.ids[setup["index_root"][0]], setup["index_root"][1], setup["index_start"])
    tokens = named.graph.patterns(root.vertex)[root.pattern]
    query = Checkpointed(cursor(query_place, setup["query_position"]), checkpoint)
    index = cursor(TokenPath(tokens, setup["index_end"]), setup["index_position"])
    return CompareState(ParentState(root, (), setup["index_position"], query), index, query)


def _advance_compare_state(named: Named, setup: Data, expect: Data) -> None:
    _known(
        setup,
        {"op", "query", "query_start", "query_end", "query_position"}
        | {"index_root", "index_start", "index_end", "index_position"},
        "setup",
    )
    _known(
        expect,
        {"result", "checkpoint_position", "query_position", "index_position", "mode", "notes"},
        "expect",
    )
    before = _compare_state(named, setup, matched="<Matched" in setup["op"])
    after = before.advance_index(named.graph)
    assert (after is not None) == (expect["result"] == "ok")
    state = after or before
    found = {
        "checkpoint_position": state.query.checkpoint.position,
        "query_position": state.query.current.position,
        "index_position": state.index.position,
    }
    for field, value in found.items():
        if field in expect:
            assert value == expect[field], field
    if expect.get("mode") == "unchanged":
        assert type(state.index) is type(before.index)
        assert type(state.query.current) is type(before.query.current)


def _advance_parent_state(named: Named, setup: Data, expect: Data) -> None:
    _known(
        setup,
        {"op", "root", "entry", "prev_pos", "root_pos", "query", "query_end", "query_position"}
        | {"query_start"},
        "setup",
    )
    _known(
        expect,
        {"result", "root", "index_root", "query_position", "index_position"}
        | {"checkpoint_position", "returns", "notes"},
        "expect",
    )
    place = TokenPath(tuple(named.query(setup["query"])), setup["query_end"])
    position = setup["query_position"]
    query = Checkpointed(Candidate(place, position), Matched(place, position))
    at = Location(named.ids[setup["root"][0]], setup["root"][1], setup["entry"])
    parent = ParentState(at, (), setup["root_pos"], query)
    state = parent.advance(named.graph)
    if expect["result"] == "err":
        assert state is None
        # A parent state is a value: the caller still holds it, cursor and all.
        assert parent == ParentState(at, (), setup["root_pos"], query)
        assert parent.query.current.position == expect.get("query_position", position)
        return
    assert expect["result"] == "ok"
    assert state is not None
    for field in ("root", "index_root"):
        if field in expect:
            assert named.name(state.root) == expect[field]
    found = {
        "query_position": state.query.current.position,
        "index_position": state.index.position,
        "checkpoint_position": state.query.checkpoint.position,
    }
    for field, value in found.items():
        if field in expect:
            assert value == expect[field], field


def _mark_match(named: Named, setup: Data, expect: Data) -> None:
    _known(setup, {"op", "query", "cases", "notes"}, "setup")
    _known(expect, {"after", "notes"}, "expect")
    tokens = tuple(named.query(setup["query"]))
    assert len(setup["cases"]) == len(expect["after"])
    for case, after in zip(setup["cases"], expect["after"], strict=True):
        candidate = Candidate(TokenPath(tokens, case["index"]), case["position"])
        assert named.name(candidate.place.leaf(named.graph)) == case["token"]
        matched = candidate.mark_match(named.graph)
        assert _state_names(matched) == after["state"]
        assert matched.position == after["position"]
        # The index cursor moves by the same width from wherever it stands.
        index = Candidate(TokenPath(tokens, case["index"]), 7).mark_match(named.graph)
        assert index.position - 7 == after["position"] - case["position"]


def _mark_both(named: Named, setup: Data, expect: Data) -> None:
    _known(setup, {"op", "query", "start", "notes"}, "setup")
    _known(expect, {"mark_match", "mark_mismatch", "notes"}, "expect")
    tokens, start = tuple(named.query(setup["query"])), setup["start"]
    before = Checkpointed(
        Candidate(TokenPath(tokens, start["index"]), start["position"]),
        Matched(TokenPath(tokens, start["index"] - 1), start["checkpoint_position"]),
    )
    for state, wanted in (
        (before.mark_match(named.graph), expect["mark_match"]),
        (before.mark_mismatch(), expect["mark_mismatch"]),
    ):
        found = {
            "checkpoint_position": state.checkpoint.position,
            "checkpoint_state": _state_names(state.checkpoint),
            "current_state": _state_names(state.current),
            "current_position": state.current.position,
        }
        _known(wanted, set(found), "mark")
        assert {field: found[field] for field in wanted} == wanted
    assert isinstance(before.mark_mismatch().current, Mismatched)


def _advance_query(named: Named, setup: Data, expect: Data) -> None:
    _known(expect, {"result", "position", "index", "notes"}, "expect")
    start = setup["start"]
    assert start.get("state", "Matched") == "Matched"
    place = TokenPath(tuple(named.query(setup["query"])), start["index"])
    matched = Matched(place, start["position"])
    following = Checkpointed(matched, matched).advance(named.graph)
    if expect["result"] == "Exhausted":
        assert following is None
        assert matched.position == expect["position"]
        assert matched.place.index == expect["index"]
    else:
        assert following is not None
        assert following.current.position == expect["position"]
        assert following.current.place.index == expect["index"]


def _search_steps(
    named: Named, query: list[str], clear: Clear = Clear.CLOSED
) -> tuple[GraphMatch, list[MatchResult]]:
    state = SearchState(named.graph, beginning(named.query(query)), clear=clear)
    results = list(state.results())
    return state.response(), results


def _whole_search(named: Named, setup: Data, expect: Data) -> None:
    _known(setup, {"op", "query", "trace", "notes", "modes"}, "setup")
    _known(
        expect,
        {"child_exhausted_roots", "checkpoint_positions", "candidate_positions", "final_root"}
        | {"final_position", "exhausted", "clear_queue", "exhaustive", "notes"},
        "expect",
    )
    modes = {"clear_queue": Clear.ALWAYS, "exhaustive": Clear.NEVER}
    for mode in setup.get("modes", []):
        answer, _ = _search_steps(named, setup["query"], modes[mode])
        wanted = expect[mode]
        _known(wanted, {"position", "root", "kind", "notes"}, mode)
        assert answer.position == wanted["position"]
        assert named.name(answer.root) == wanted["root"]
        assert answer.kind.value == wanted["kind"]
    answer, results = _search_steps(named, setup["query"])
    ended = [r for r in results if r.reason is EndReason.CHILD_EXHAUSTED]
    if "child_exhausted_roots" in expect:
        assert [named.name(r.root) for r in ended] == expect["child_exhausted_roots"]
    if "checkpoint_positions" in expect:
        assert [r.position for r in ended] == expect["checkpoint_positions"]
    if "candidate_positions" in expect:
        positions = [r.candidate.position for r in ended if r.candidate is not None]
        assert positions == expect["candidate_positions"]
    if "final_root" in expect:
        assert named.name(answer.root) == expect["final_root"]
    if "final_position" in expect:
        assert answer.position == expect["final_position"]
    if "exhausted" in expect:
        assert answer.query_exhausted == expect["exhausted"]


def _trace(named: Named, setup: Data, expect: Data) -> None:
    fields = {"op", "root", "root_entry", "start_path", "entry_pos", "start"}
    _known(setup, fields | {"root_exit", "end_path", "exit_pos"}, "setup")
    cache = TraceCache(named.ids[setup["start"]])
    root = Location(named.ids[setup["root"][0]], setup["root"][1], 0)
    if setup["op"] in ("trace_postfix", "trace_range"):
        path = [named.location(at) for at in setup["start_path"]]
        entry = root._replace(nth=setup["root_entry"])
        trace_start(cache, named.graph, entry, path, setup["entry_pos"])
    if setup["op"] in ("trace_prefix", "trace_range"):
        path = [named.location(at) for at in setup["end_path"]]
        leaving = root._replace(nth=setup["root_exit"])
        trace_end(cache, named.graph, leaving, path, setup["exit_pos"])
    _known(expect, {"cache", "notes"}, "expect")
    assert named.cache(cache) == _sorted_cache(expect["cache"])


def _move(named: Named, setup: Data, expect: Data) -> None:
    """Step along the children of the only pattern; at an edge: Break, and nothing moves."""
    _known(setup, {"op", "start", "steps", "vertex", "pattern", "direction"}, "setup")
    _known(expect, {"indices", "results", "notes"}, "expect")
    vertex = named.ids[setup["vertex"]] if "vertex" in setup else Vertex(len(named.graph) - 1)
    tokens = named.graph.patterns(vertex)[setup.get("pattern", 0)]
    default = "left" if "left" in setup["op"] else setup.get("direction", "right")
    steps = setup["steps"] if isinstance(setup["steps"], list) else [default] * setup["steps"]
    place, indices, results = TokenPath(tokens, setup["start"]), list[Any](), list[str]()
    for step in steps:
        assert step in ("left", "right"), f"unknown step {step!r}"
        moved = place.next(named.graph) if step == "right" else place.previous(named.graph)
        results.append("Break" if moved is None else "Continue")
        indices.append("Break" if moved is None else moved.index)
        place = moved or place
    if "indices" in expect:
        assert indices == expect["indices"]
    if "results" in expect:
        assert results == expect["results"]


def _pattern_strings(named: Named, setup: Data, expect: Data) -> None:
    _known(setup, {"op", "vertex"}, "setup")
    _known(expect, {"set", "list", "notes"}, "expect")
    patterns = named.graph.patterns(named.ids[setup["vertex"]])
    found = [[named.name(child) for child in pattern] for pattern in patterns]
    if "set" in expect:
        assert sorted(found) == sorted(expect["set"])
    if "list" in expect:
        assert found == expect["list"]


def _export(named: Named, setup: Data, expect: Data) -> None:
    _known(setup, {"op"}, "setup")
    _known(expect, {"nodes", "edges", "notes"}, "expect")
    graph = named.graph
    pairs = {(v, c) for v in graph.vertices() for p in graph.patterns(v) for c in p}
    assert len(graph) == expect["nodes"]
    assert len(pairs) == expect["edges"]


Unit = Callable[[Named, Data, Data], None]

UNITS: dict[str, Unit] = {
    "mark_match": _mark_match,
    "Checkpointed.mark_match / mark_mismatch": _mark_both,
    "find_ancestor": _whole_search,
    "trace_prefix": _trace,
    "trace_postfix": _trace,
    "trace_range": _trace,
    "pattern_strings": _pattern_strings,
    "export graph": _export,
}

UNIT_PREFIXES: dict[str, Unit] = {
    "CompareState<": _advance_compare_state,
    "ParentCompareState.": _advance_parent_state,
    "advance_query_cursor": _advance_query,
    "move ": _move,
    "advance range path": _move,
}


# Building


def play_build(case: Data) -> None:
    play = KINDS.get(case["kind"])
    assert play is not None, f"unknown kind {case['kind']!r}"
    play(case)


def _strings(graph: Graph) -> dict[str, list[list[str]]]:
    """Every composite by its string, each with its patterns, both as strings."""

    def text(vertex: Vertex) -> str:
        return "".join(map(str, graph.spelled(vertex)))

    return {
        text(v): sorted([text(c) for c in p] for p in graph.patterns(v))
        for v in graph.vertices()
        if not graph.is_atom(v)
    }


def _sorted_patterns(patterns: dict[str, list[list[str]]]) -> dict[str, list[list[str]]]:
    return {name: sorted(value) for name, value in patterns.items()}


def _text(graph: Graph, vertex: Vertex) -> str:
    return "".join(map(str, graph.spelled(vertex)))


INSERTED = {
    "tokens", "unique_strings", "widths", "patterns", "parents_count", "min_width", "ok",
    "no_new_vertices", "observed_upstream_final", "canonical", "notes",
}  # fmt: skip


def _play_insert(case: Data) -> None:
    _known(case, ABOUT | {"kind", "atoms", "patterns", "queries", "expect"}, "case")
    _known(case["expect"], INSERTED, "expect")
    _play_local_insert(case)
    _play_canonical_insert(case)


def _play_local_insert(case: Data) -> None:
    """The case's own expectations, from the graph as it is given."""
    named, expect = Named(case), case["expect"]
    graph, before = named.graph, len(named.graph)
    found = []
    for number, query in enumerate(case["queries"]):
        tokens = named.query(query)
        vertex = insert.insert_locally(graph, tokens, clear=Clear.ALWAYS)
        found.append(_text(graph, vertex))
        matched = graph.spelled(vertex)
        spelled = tuple(atom for token in tokens for atom in graph.spelled(token))
        assert spelled[: len(matched)] == matched, "the vertex is a prefix of the query"
        assert invariants.broken(graph, invariants.ALWAYS) == []
        observed = expect.get("observed_upstream_final")
        if observed is not None:
            assert found[-1] == observed[number]["token"]
            assert _strings(graph) == _sorted_patterns(observed[number]["vertices"])
        if len(matched) > 1 and len(tokens) > 1:
            atoms = graph.sequence(matched)
            assert find_ancestor(graph, atoms).root == vertex, "what was inserted is found"
    if "tokens" in expect:
        assert found == expect["tokens"]
    if "widths" in expect:
        assert [len(token) for token in found] == expect["widths"]
    if "min_width" in expect:
        assert all(len(token) >= expect["min_width"] for token in found)
    if expect.get("no_new_vertices"):
        assert len(graph) == before
    if expect.get("unique_strings"):
        assert invariants.broken(graph, ["I6 unique"]) == []
    strings = _strings(graph)
    for name, patterns in expect.get("patterns", {}).items():
        assert strings[name] == sorted(patterns)
    for name, count in expect.get("parents_count", {}).items():
        vertex_of = graph.find(tuple(name))
        assert vertex_of is not None
        assert len({at.vertex for at in graph.parents(vertex_of)}) == count


def _play_canonical_insert(case: Data) -> None:
    """The canonical expectation, from the graph closed under overlap."""
    expect = case["expect"].get("canonical")
    if expect is None:
        return
    _known(expect, {"tokens", "vertices", "agrees_with_test", "notes"}, "canonical")
    named = Named(case)
    found = []
    for query in case["queries"]:
        vertex = insert.insert(named.graph, named.query(query))
        found.append(_text(named.graph, vertex))
        assert invariants.broken(named.graph, invariants.ALWAYS) == []
    assert found == expect["tokens"]
    assert _strings(named.graph) == _sorted_patterns(expect["vertices"])


def _play_insert_error(case: Data) -> None:
    _known(case, ABOUT | {"kind", "expect"}, "case")
    what, _, error = case["expect"].partition(" -> ")
    graph = Graph()
    a, b = graph.atom("a"), graph.atom("b")
    root = graph.pattern([a, b, a])
    attempts: dict[str, Callable[[], object]] = {
        "end bound 0": lambda: insert.insert_matched(graph, root, TraceCache(root), 0, 0),
        "trace cache without an entry for the root": lambda: insert.insert_matched(
            graph, root, TraceCache(a), 0, 2
        ),
        "empty query": lambda: (
            find_ancestor(graph, []) if "search" in case["name"] else insert.insert(graph, [])
        ),
        "single-token query": lambda: insert.insert(graph, [root]),
    }
    errors: dict[str, type[Exception]] = {
        "InvalidEndBound": insert.InvalidEndBound,
        "MissingCacheEntry": insert.MissingCacheEntry,
        "EmptyPatterns": EmptyQuery,
        "SingleIndex": SingleToken,
    }
    assert what in attempts, f"unknown attempt {what!r}"
    assert error in errors, f"unknown error {error!r}"
    with pytest.raises(errors[error]):
        attempts[what]()


def _play_split(case: Data) -> None:
    fields = {"kind", "atoms", "patterns", "root", "offset", "range", "mode", "query", "expect"}
    _known(case, ABOUT | fields, "case")
    _known(case["expect"], {"leaves", "splits", "notes"}, "expect")
    named = Named(case)
    graph, root = named.graph, named.ids[case["root"]]
    width = graph.width(root)
    assert case["mode"] in ("prefix", "postfix", "infix"), f"unknown mode {case['mode']!r}"
    if case["mode"] == "prefix":
        first, last = 0, case["offset"]
    elif case["mode"] == "postfix":
        first, last = case["offset"], width
    else:
        first, last = case["range"]
    found = cuts(graph, root, first, last)
    assert {
        named.name(vertex): {
            str(offset): {str(pattern): list(cut) for pattern, cut in places.items()}
            for offset, places in offsets.items()
        }
        for vertex, offsets in found.splits.items()
    } == case["expect"]["splits"]
    if "leaves" in case["expect"]:
        leaves = sorted([named.name(vertex), offset] for vertex, offset in found.leaves)
        assert leaves == sorted(case["expect"]["leaves"])
    if case.get("query"):
        answer = find_ancestor(graph, named.query(case["query"]))
        assert (named.name(answer.root), answer.start, answer.end) == (case["root"], first, last)


READ = {
    "patterns", "canonical", "canonical_agrees", "canonical_is_subset", "frequency_labels", "notes",
}  # fmt: skip


def _play_read(case: Data) -> None:
    _known(case, ABOUT | {"kind", "texts", "expect"}, "case")
    expect = case["expect"]
    _known(expect, READ, "expect")
    graph = canonical.canonical_graph(case["texts"])
    strings = _strings(graph)
    _check_lossless(graph, case["texts"])
    _check_labels(case)
    if "canonical" in expect:
        assert strings == _sorted_patterns(expect["canonical"])
    for name, patterns in expect.get("patterns", {}).items():
        if expect["canonical_agrees"]:
            assert strings[name] == sorted(patterns)
        elif expect.get("canonical_is_subset"):
            # The expectation also lists cuts between smaller vertices, which contradicts the
            # reference; ours are among them.
            assert all(pattern in patterns for pattern in strings.get(name, []))
    if expect.get("canonical_agrees") and "canonical" not in expect:
        assert set(strings) == set(expect["patterns"])


def _check_lossless(graph: Graph, texts: list[str]) -> None:
    for text in texts:
        vertex = graph.find(tuple(text))
        assert vertex is not None, f"{text!r} is not a vertex"
        assert _text(graph, vertex) == text
    assert invariants.broken(graph, invariants.ALWAYS) == []


def _play_canonical(case: Data) -> None:
    _known(case, ABOUT | {"kind", "texts", "expect"}, "case")
    expect = case["expect"]
    _known(expect, {"canonical", "frequency_labels", "notes"}, "expect")
    graph = canonical.canonical_graph(case["texts"])
    if "canonical" in expect:
        assert _strings(graph) == _sorted_patterns(expect["canonical"])
    _check_labels(case)
    _check_lossless(graph, case["texts"])


def _play_labels(case: Data) -> None:
    """The maximal repeats of a corpus: its labels before any closure."""
    _known(case, ABOUT | {"kind", "texts", "expect"}, "case")
    expect = case["expect"]
    if isinstance(expect, dict):
        _known(expect, {"labels", "frequency_labels", "notes"}, "expect")
        expect = expect["labels"] if "labels" in expect else expect["frequency_labels"]
    assert sorted(canonical.repeats(case["texts"])) == sorted(expect)


def _check_labels(case: Data) -> None:
    wanted = case["expect"].get("frequency_labels")
    if wanted is not None:
        assert sorted(canonical.repeats(case["texts"])) == sorted(wanted)


KINDS: dict[str, Callable[[Data], None]] = {
    "insert": _play_insert,
    "insert_error": _play_insert_error,
    "split": _play_split,
    "read": _play_read,
    "canonical": _play_canonical,
    "labels": _play_labels,
    "frequency_labels": _play_labels,
}
