"""Search against brute force, whatever the order, and continued to the end of the query."""

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.sequence import canonical
from holdfast.sequence.cursor import Candidate, Matched
from holdfast.sequence.errors import EmptyQuery, SingleToken, UnknownAtom
from holdfast.sequence.graph import Graph, Vertex
from holdfast.sequence.response import EndReason, GraphMatch, Kind
from holdfast.sequence.search import (
    Clear,
    find_ancestor,
    find_parent,
    find_sequence,
)
from tests.sequence import brute
from tests.sequence.graphs import Env, env1

letters = st.sampled_from("abc")
texts = st.text(letters, min_size=1, max_size=14)
corpora = st.lists(texts, min_size=1, max_size=4)
queries = st.text(letters, min_size=2, max_size=8)


def known_part(graph: Graph, query: str) -> str:
    """The query up to the first letter that no document has."""
    known = graph.atoms()
    return next((query[:n] for n, letter in enumerate(query) if letter not in known), query)


def ask(graph: Graph, query: str, clear: Clear = Clear.CLOSED) -> GraphMatch | None:
    run = known_part(graph, query)
    return find_sequence(graph, run, clear=clear) if len(run) > 1 else None


@pytest.mark.shows("SEQ-DECLARATIVE", "SEQ-CLEAR-CLOSED")
@given(corpora, queries)
def test_a_closed_graph_answers_as_looking_at_every_substring_does(
    documents: list[str], query: str
) -> None:
    graph = canonical.canonical_graph(documents)
    answer = ask(graph, query)
    if answer is None:
        return
    longest = brute.longest_prefix(query, documents)
    assert answer.position == longest
    matched = tuple(query[:longest])
    root = graph.spelled(answer.root)
    assert root[answer.start : answer.end] == matched
    assert root in brute.smallest_vertices(matched, graph)
    if answer.kind is not Kind.NOT_FOUND:
        assert answer.kind in brute.kinds(matched, root)
    assert answer.query_exhausted == (longest == len(known_part(graph, query)))
    kept = ask(graph, query, Clear.NEVER)
    assert kept is not None
    assert (kept.root, kept.kind, kept.position) == (answer.root, answer.kind, answer.position)


@pytest.mark.shows("SEQ-CLEAR-OPEN")
@given(corpora, queries)
def test_without_unions_nothing_is_lost_because_the_queue_is_kept(
    documents: list[str], query: str
) -> None:
    graph = canonical.canonical_graph(documents, unions=False)
    assert not graph.closed
    answer = ask(graph, query)
    if answer is not None:
        assert answer.position == brute.longest_prefix(query, documents)


@pytest.mark.shows("SEQ-ORDER")
@given(corpora, queries, st.randoms(use_true_random=False))
def test_the_order_of_the_documents_leaves_no_trace(
    documents: list[str], query: str, random: object
) -> None:
    graph = canonical.canonical_graph(documents)
    shuffled = canonical.canonical_graph(documents[::-1])
    assert [graph.patterns(v) for v in graph.vertices()] == [
        shuffled.patterns(v) for v in shuffled.vertices()
    ]


@pytest.mark.shows("SEQ-ORDER-PATTERNS")
@given(corpora, queries, st.randoms(use_true_random=False))
def test_the_order_of_insertion_changes_no_root_kind_or_position(
    documents: list[str], query: str, random: object
) -> None:
    graph = canonical.canonical_graph(documents)
    answer = ask(graph, query)
    if answer is None:
        return
    other = Graph(closed=True)
    for value in sorted(graph.atoms(), key=repr, reverse=True):
        other.atom(value)
    by_width = sorted(graph.vertices(), key=lambda v: (graph.width(v), -v))
    for vertex in by_width:
        for pattern in reversed(graph.patterns(vertex)):
            children = [other.find(graph.spelled(child)) for child in pattern]
            other.pattern([child for child in children if child is not None])
    again = ask(other, query)
    assert again is not None
    assert other.spelled(again.root) == graph.spelled(answer.root)
    assert (again.position, again.reason) == (answer.position, answer.reason)
    assert again.kind in brute.kinds(tuple(query[: again.position]), other.spelled(again.root)) | {
        Kind.NOT_FOUND
    }


def find_all(graph: Graph, query: Sequence[Vertex]) -> Iterator[GraphMatch | Vertex]:
    """Split the whole query into matches, each continued from the cursor of the previous one.

    A single token left over at the end is yielded as its vertex.
    """
    cursor: Sequence[Vertex] | Matched | Candidate = query
    while True:
        try:
            answer = find_ancestor(graph, cursor)
        except SingleToken as single:
            if isinstance(cursor, Matched) and cursor.advance(graph) is None:
                return
            yield Vertex(single.vertex)
            return
        yield answer
        if answer.query_exhausted:
            return
        cursor = answer.cursor


@pytest.mark.shows("SEQ-CONTINUE")
@given(corpora, queries)
def test_continuing_from_each_cursor_respells_the_query(documents: list[str], query: str) -> None:
    graph = canonical.canonical_graph([*documents, "abc"])
    tokens = graph.sequence(query)
    spelled = ""
    position = 0
    for part in find_all(graph, tokens):
        if isinstance(part, GraphMatch):
            string = graph.spelled(part.root)[part.start : part.end]
            assert part.position > position, "positions strictly increase"
            position = part.position
        else:
            string = graph.spelled(part)
        spelled += "".join(map(str, string))
    assert spelled == query


@given(corpora, queries, st.data())
def test_a_query_of_wide_tokens_says_the_same_as_its_atoms(
    documents: list[str], query: str, data: st.DataObject
) -> None:
    graph = canonical.canonical_graph([*documents, "abc"])
    wide: list[Vertex] = []
    at = 0
    while at < len(query):
        ends = [
            n for n in range(at + 1, len(query) + 1) if graph.find(tuple(query[at:n])) is not None
        ]
        end = data.draw(st.sampled_from(ends))
        vertex = graph.find(tuple(query[at:end]))
        assert vertex is not None
        wide.append(vertex)
        at = end
    if len(wide) < 2:
        return
    answer = find_ancestor(graph, wide)
    longest = brute.longest_prefix(query, [*documents, "abc"])
    assert answer.position == longest or answer.position == graph.width(wide[0]) > longest


@pytest.mark.shows("SEQ-CONSECUTIVE")
def test_a_continued_search_counts_from_the_start_of_the_query() -> None:
    """The position once stopped at 5, because the last token was matched as a root."""
    env = env1()
    first = find_ancestor(env.graph, env("g h i a b c"))
    assert (env.graph.name(first.root), first.cursor.place.index, first.cursor.position) == (
        "ghi",
        3,
        3,
    )
    second = find_ancestor(env.graph, first.cursor)
    assert (env.graph.name(second.root), second.cursor.place.index, second.position) == (
        "abc",
        5,
        6,
    )


@pytest.mark.shows("SEQ-ERRORS")
def test_queries_that_need_no_search_are_refused_by_name() -> None:
    env = env1()
    with pytest.raises(EmptyQuery):
        find_ancestor(env.graph, [])
    with pytest.raises(SingleToken) as single:
        find_ancestor(env.graph, env("bc"))
    assert single.value.vertex == env.ids["bc"]
    with pytest.raises(SingleToken):
        find_sequence(env.graph, "a")
    with pytest.raises(UnknownAtom):
        find_sequence(env.graph, "az")


@pytest.mark.shows("SEQ-NOT-FOUND")
def test_nothing_found_is_the_first_token_itself() -> None:
    env = Env("ab=a b; bc=b c", "abcz")
    answer = find_ancestor(env.graph, env("z z"))
    assert (answer.kind, answer.reason, answer.position) == (
        Kind.NOT_FOUND,
        EndReason.NO_MATCH,
        1,
    )
    assert answer.root == env.ids["z"]


@pytest.mark.shows("SEQ-D1")
def test_the_start_path_keeps_every_step_between_leaf_and_root() -> None:
    """Stripping it from the root's end lost the step through C."""
    env = Env("B=p x; C=B q; R=r C s", "BCRpqrsx")
    graph = Graph()
    ids = {name: graph.atom(name) for name in "pxqrs"}
    ids["B"] = graph.pattern([ids["p"], ids["x"]], name="B")
    ids["C"] = graph.pattern([ids["B"], ids["q"]], name="C")
    ids["R"] = graph.pattern([ids["r"], ids["C"], ids["s"]], name="R")
    answer = find_ancestor(graph, [ids[n] for n in "xqs"])
    assert answer.path is not None
    assert answer.kind is Kind.POSTFIX
    assert [(at.vertex, at.nth) for at in answer.path.start_path] == [(ids["B"], 1), (ids["C"], 0)]
    assert env.graph


@pytest.mark.shows("SEQ-D2")
def test_the_target_begins_where_it_lies_and_not_where_its_exit_child_does() -> None:
    env = Env("bc=b c; abc=a bc; xabcd=x abc d", "abcdx")
    answer = find_ancestor(env.graph, env("x a b"))
    assert answer.path is not None
    assert (answer.path.exit_pos, answer.path.leaf_pos, answer.path.end_pos) == (1, 2, 3)


@pytest.mark.shows("SEQ-D4")
def test_what_env1_hides_behind_one_of_two_offsets_is_reported_as_far_as_it_is_reachable() -> None:
    env = env1()
    answer = find_ancestor(env.graph, env("a b a b a b c d e f g h i"))
    matched = env.graph.spelled(answer.root)[answer.start : answer.end]
    assert matched == tuple("abababcdefghi")[: answer.position]


@pytest.mark.shows("SEQ-D5")
def test_many_equal_ways_up_are_walked_once() -> None:
    """Each level doubles the ways up; without merging them this would not end."""
    graph = Graph()
    below = graph.pattern([graph.atom("a"), graph.atom("b")])
    for level in range(40):
        one = graph.atom(f"x{level}")
        two = graph.atom(f"y{level}")
        left, right = graph.pattern([one, below]), graph.pattern([two, below])
        below = graph.pattern([left, right])
    answer = find_ancestor(graph, graph.sequence(["a", "b"]))
    assert answer.query_exhausted


@pytest.mark.shows("SEQ-PARENT")
def test_find_parent_stays_with_direct_parents() -> None:
    env = Env("ab=a b; abc=ab c; abcd=abc d")
    answer = find_parent(env.graph, env("a b c d"))
    assert (env.graph.name(answer.root), answer.position) == ("ab", 2)
    assert not answer.query_exhausted


@pytest.mark.shows("SEQ-TWO-FLAGS")
@pytest.mark.parametrize(
    ("query", "exhausted", "complete"),
    [("a b c", True, True), ("a b", True, False), ("a b c c", False, True), ("b y", False, False)],
)
def test_exhausted_and_complete_are_independent(
    query: str, exhausted: bool, complete: bool
) -> None:
    env = Env("abc=a b c; xbyz=x b a z", "abcxyz")
    if query == "b y":
        env = Env("xabz=x a b z", "abxyz")
        answer = find_ancestor(env.graph, env("a b y"))
    else:
        answer = find_ancestor(env.graph, env(query))
    assert (answer.query_exhausted, answer.complete) == (exhausted, complete)
