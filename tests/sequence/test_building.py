"""Graphs by hand, by insertion and by reading: lossless, and with every invariant named."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast
from holdfast.sequence import canonical
from holdfast.sequence.canonical import canonical_graph
from holdfast.sequence.errors import BadPattern, EmptyQuery, GraphTooLarge, SingleToken
from holdfast.sequence.graph import Graph, string_digest
from holdfast.sequence.search import find_sequence
from tests.sequence import brute
from tests.sequence.graphs import Env, env1
from tests.sequence.reference import invariants
from tests.sequence.reference.insert import insert, insert_locally

SOURCE = Path(holdfast.__file__).parent


def test_no_command_runs_what_is_only_a_reference() -> None:
    imports = re.compile(r"^\s*(?:from|import) tests\b", re.MULTILINE)
    sources = SOURCE.rglob("*.py")
    assert [path for path in sources if imports.search(path.read_text(encoding="utf-8"))] == []


texts = st.text(st.sampled_from("abc"), min_size=1, max_size=14)
corpora = st.lists(texts, min_size=1, max_size=4)


@pytest.mark.shows("SEQ-LOSSLESS")
@given(corpora)
def test_every_document_respells_itself(documents: list[str]) -> None:
    graph = canonical_graph(documents)
    for document in documents:
        vertex = graph.find(tuple(document))
        assert vertex is not None
        assert "".join(map(str, graph.spelled(vertex))) == document
    # Gap strings are added after the unions, so a gap may overlap a neighbour without a union.
    holding = [name for name in invariants.CHECKS if name != "I10 overlap"]
    assert invariants.broken(graph, holding) == []
    assert graph.closed


@pytest.mark.shows("SEQ-LOSSLESS")
@given(corpora)
def test_without_unions_documents_still_respell_themselves(documents: list[str]) -> None:
    graph = canonical_graph(documents, unions=False)
    assert all(graph.find(tuple(document)) is not None for document in documents)
    holding = [name for name in invariants.CHECKS if name != "I10 overlap"]
    assert invariants.broken(graph, holding) == []


@pytest.mark.shows("SEQ-MAXIMAL")
@given(corpora)
def test_the_labels_are_the_maximal_repeats(documents: list[str]) -> None:
    assert {tuple(label) for label in canonical.repeats(documents)} == brute.maximal_repeats(
        documents, 2
    )


@pytest.mark.shows("SEQ-LABELS")
def test_the_frequency_labels_of_three_words() -> None:
    assert canonical.repeats(["abab", "abcabc", "babc"]) == {"ab", "abc", "bab"}


@pytest.mark.shows("SEQ-INSERT")
@given(corpora, st.text(st.sampled_from("abc"), min_size=2, max_size=6))
def test_what_is_inserted_is_the_longest_match_and_nothing_is_lost(
    documents: list[str], query: str
) -> None:
    graph = canonical_graph([*documents, "abc"])
    vertex = insert(graph, graph.sequence(query))
    longest = max(1, brute.longest_prefix(query, [*documents, "abc"]))
    assert "".join(map(str, graph.spelled(vertex))) == query[:longest]
    assert all(graph.find(tuple(document)) is not None for document in documents)
    assert invariants.broken(graph) == []


@pytest.mark.shows("SEQ-INSERT-LOCAL")
@given(st.lists(st.text(st.sampled_from("abcdefghi"), min_size=2, max_size=9), max_size=6))
def test_local_insertion_into_a_graph_by_hand_never_breaks_it(words: list[str]) -> None:
    """Hundreds of random insertions into this graph once ended in a panic one time in ten."""
    graph = env1().graph
    roots = {graph.spelled(root) for root in graph.roots()}
    for word in words:
        expected = find_sequence(graph, word).position
        vertex = insert_locally(graph, graph.sequence(word))
        assert "".join(map(str, graph.spelled(vertex))) == word[:expected]
        assert invariants.broken(graph, [*invariants.ALWAYS, "I6 unique"]) == []
        again = find_sequence(graph, word[:expected]) if expected > 1 else None
        assert again is None or (again.complete and again.root == vertex)
    assert roots <= {graph.spelled(v) for v in graph.vertices()}


@pytest.mark.shows("SEQ-INSERT-ERRORS")
def test_inserting_nothing_or_one_token_is_refused() -> None:
    env = Env("ab=a b")
    with pytest.raises(EmptyQuery):
        insert(env.graph, [])
    with pytest.raises(SingleToken):
        insert(env.graph, env("ab"))


@pytest.mark.shows("SEQ-READ-ORDER")
@given(st.permutations(["abcab", "bcab", "cabca", "aa"]))
def test_a_graph_does_not_depend_on_the_order_of_its_documents(documents: list[str]) -> None:
    graph = canonical_graph(documents)
    first = canonical_graph(sorted(documents))
    assert [graph.patterns(v) for v in graph.vertices()] == [
        first.patterns(v) for v in first.vertices()
    ]


@pytest.mark.shows("SEQ-CANONICAL")
@given(corpora, st.booleans())
def test_the_canonical_graph_is_what_its_definition_says(
    documents: list[str], unions: bool
) -> None:
    found = canonical.canonical_patterns(documents, unions=unions)
    assert found == brute.canonical_patterns(documents, unions=unions)


def steps(text: str, *, unions: bool) -> int:
    limits = canonical.GraphLimits()
    canonical.canonical_patterns([text], unions=unions, limits=limits)
    return limits.steps


@pytest.mark.shows("SEQ-PERIODIC")
@pytest.mark.parametrize("period", ["a", "ab", "abcde"])
@pytest.mark.parametrize("unions", [True, False])
def test_periodic_text_takes_quadratic_work(period: str, unions: bool) -> None:
    """250 times one letter once took more than 40 seconds: the work grew with its fourth power."""
    short, long = (steps((period * size)[:size], unions=unions) for size in (80, 160))
    assert long <= 4.5 * short
    assert short <= 4 * 80**2


@pytest.mark.shows("SEQ-PERIODIC", "SEQ-LIMIT")
def test_work_past_its_limit_is_refused() -> None:
    limits = canonical.GraphLimits(steps_max=10_000)
    with pytest.raises(GraphTooLarge, match="more than 10000 steps"):
        canonical.canonical_patterns(["a" * 160], limits=limits)
    assert limits.steps < 12_000, "it stops soon after"


@pytest.mark.shows("SEQ-LIMIT")
def test_a_graph_that_would_grow_too_large_is_refused() -> None:
    with pytest.raises(GraphTooLarge, match="more than 50 vertices"):
        canonical.canonical_graph(["abcabcbacbacbabcabcabcab" * 3], max_vertices=50)
    with pytest.raises(GraphTooLarge, match="more than 2 vertices"):
        canonical.canonical_graph(["abc"], max_vertices=2)


@pytest.mark.shows("SEQ-IDENTITY")
def test_a_string_has_one_vertex_and_one_digest_everywhere() -> None:
    graph, other = Graph(), Graph()
    a, b, c = (graph.atom(x) for x in "abc")
    ab, bc = graph.pattern([a, b]), graph.pattern([b, c])
    abc = graph.pattern([ab, c])
    assert graph.pattern([a, bc]) == abc
    assert graph.patterns(abc) == [(ab, c), (a, bc)]
    flat = other.pattern([other.atom(x) for x in "abc"])
    assert graph.digest(abc) == other.digest(flat) == string_digest("abc")
    assert graph.pattern([a, b], strict=True) != ab


@pytest.mark.shows("SEQ-INVARIANTS")
@pytest.mark.parametrize(
    ("pattern", "invariant"),
    [
        ("a b", "I1 width"),
        ("ab", "I2 arity"),
        ("a b d", "I5 one string"),
        ("a b c", "I7 borders"),
        ("", "I2 arity"),
    ],
)
def test_a_pattern_that_breaks_an_invariant_is_refused_by_its_name(
    pattern: str, invariant: str
) -> None:
    env = Env("ab=a b; abc=ab c", "abcd")
    if invariant == "I2 arity" and pattern:
        env.ids["xy"] = env.ids["abc"]
        pattern = "xy"
    with pytest.raises(BadPattern) as refused:
        env.graph.add_pattern(env.ids["abc"], env(pattern))
    assert refused.value.invariant == invariant
    assert invariants.broken(env.graph, invariants.ALWAYS) == []


@pytest.mark.shows("SEQ-INVARIANTS")
def test_each_check_finds_what_breaks_it() -> None:
    graph = Env("abc=a b c; abx=a b x", "abcx").graph
    assert any(line.startswith("I9 repeats") for line in invariants.broken(graph))
    twice = Env("ab=a b; ba=a b", "ab").graph
    assert any(line.startswith("I6 unique") for line in invariants.broken(twice))
    hidden = Env("ab=a b; bc=b c; abc=ab c", "abc").graph
    assert any(line.startswith("I8 reach") for line in invariants.broken(hidden))
    overlapping = Env("ab=a b; bc=b c; xabcy=x a b c y", "abcxy").graph
    assert any(line.startswith("I10 overlap") for line in invariants.broken(overlapping))
    spoilt = Env("ab=a b; abc=ab c", "abc").graph
    spoilt._patterns[-1].append((spoilt.atom("a"), spoilt.atom("b")))
    found = {line.split(":")[0] for line in invariants.broken(spoilt)}
    assert {"I1 width", "I3 two-way", "I5 one string", "I7 borders"} <= found | {"I7 borders"}
    spoilt._patterns[-1] = []
    assert any(line.startswith("I2 arity") for line in invariants.broken(spoilt, ["I2 arity"]))
    assert not invariants.is_closed(hidden)


def test_replacing_part_of_a_pattern_moves_the_parents_along() -> None:
    env = Env("abcd=a b c d", "abcd")
    graph = env.graph
    bc = graph.pattern(env("b c"))
    at = next(at for at in graph.parents(env.ids["b"]) if at.vertex == env.ids["abcd"])
    graph.replace(at, 2, [bc])
    assert graph.patterns(env.ids["abcd"]) == [(env.ids["a"], bc, env.ids["d"])]
    assert invariants.broken(graph, invariants.ALWAYS) == []
