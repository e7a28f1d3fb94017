"""What holds for resolved calls and walks over them, whatever the language."""

from __future__ import annotations

import random
from collections import deque

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.index.calls.graph import CallGraph
from holdfast.index.calls.resolve import (
    GUESS,
    RESOLUTION_VERSION,
    Edge,
    Open,
    Resolution,
    Resolver,
    surface,
)
from holdfast.index.facts.extract import extract
from holdfast.index.facts.model import file_id
from holdfast.index.facts.outline import exact, outline
from tests.index.claims import split
from tests.index.facts import (
    test_go,
    test_java,
    test_javascript,
    test_python,
    test_rust,
    test_typescript,
)
from tests.scale import examples

CASES = [
    [(file.path, "\n".join(file.lines) + "\n") for file in split(case)]
    for module in (test_python, test_javascript, test_typescript, test_go, test_rust, test_java)
    for case in module.CASES.values()
]


@pytest.mark.shows("FACT-RESOLVE-STABLE")
@given(st.sampled_from(CASES), st.integers(0, 2**32))
def test_the_order_of_files_does_not_matter(case: list[tuple[str, str]], seed: int) -> None:
    files = [extract(path, text.encode()) for path, text in case]
    shuffled = random.Random(seed).sample(files, len(files))
    assert Resolver(files).all() == Resolver(shuffled).all()


@pytest.mark.shows("FACT-RESOLVE-STABLE")
@settings(max_examples=examples(200))
@given(st.sampled_from(CASES), st.sampled_from(CASES), st.data())
def test_files_replaced_one_by_one_resolve_like_a_new_program(
    case: list[tuple[str, str]], other: list[tuple[str, str]], data: st.DataObject
) -> None:
    """The twin is a resolver that never saw anything but the last state."""
    state = {path: extract(path, text.encode()) for path, text in case}
    resolver = Resolver(state.values())
    resolver.all()
    for path, text in data.draw(st.permutations(other)):
        if path in state and data.draw(st.booleans()):
            del state[path]
            resolver.remove(path)
        else:
            state[path] = extract(path, text.encode())
            resolver.replace(state[path])
        assert resolver.all() == Resolver(state.values()).all()


@pytest.mark.shows("FACT-SURFACE")
@settings(max_examples=examples(200))
@given(st.sampled_from(CASES), st.data())
def test_while_the_surface_is_the_same_no_other_file_changes(
    case: list[tuple[str, str]], data: st.DataObject
) -> None:
    path, text = data.draw(st.sampled_from(case))
    lines = text.split("\n")
    at = data.draw(st.integers(0, len(lines)))
    edit = data.draw(st.sampled_from([[""], ["    pass"], ["x()"], ["    self.go()"], ["}"]]))
    edited = "\n".join(lines[:at] + edit + lines[at:])
    before = {p: extract(p, t.encode()) for p, t in case}
    after = {**before, path: extract(path, edited.encode())}
    if surface(before[path]) != surface(after[path]):
        return
    old, new = Resolver(before.values()), Resolver(after.values())
    for other in before:
        if other != path:
            assert old.file(other) == new.file(other)


@pytest.mark.shows("FACT-SURFACE")
def test_the_surface_is_blind_to_bodies_and_sees_signatures() -> None:
    one = surface(extract("a.py", b"def f(x):\n    return g(x)\n"))
    assert one == surface(extract("a.py", b"# note\n\ndef f(x):\n    return h(x) + 1\n"))
    assert one != surface(extract("a.py", b"def f(x) -> int:\n    return g(x)\n"))
    assert one != surface(extract("a.py", b"def f(x):\n    return g(x)\ndef g(y): ...\n"))


@pytest.mark.shows("FACT-CONFIDENCE")
def test_every_call_has_one_answer_or_a_reason() -> None:
    for case in CASES:
        files = [extract(path, text.encode()) for path, text in case]
        for facts, resolution in zip(
            sorted(files, key=lambda f: f.path), Resolver(files).all(), strict=True
        ):
            assert len(resolution.edges) + len(resolution.open) == len(facts.calls)
            for edge in resolution.edges:
                assert 0 < edge.confidence <= 1
                assert edge.reason
                if edge.reason == "only method of that name":
                    assert edge.confidence <= GUESS
            for item in resolution.open:
                assert item.detail
                assert item.why != "ambiguous" or len(item.candidates) > 1


def _graph(edges: list[tuple[str, str]]) -> CallGraph:
    made = tuple(Edge(a, b, "x.py", n + 1, "call", 1.0, "test") for n, (a, b) in enumerate(edges))
    return CallGraph([], [Resolution("x.py", made)])


@pytest.mark.shows("FACT-TRAVERSAL")
@given(
    st.lists(st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefg")), max_size=30),
    st.sampled_from("abcdefg"),
    st.integers(1, 3),
)
def test_a_walk_finds_what_a_plain_search_finds(
    pairs: list[tuple[str, str]], start: str, depth: int
) -> None:
    def plain(forward: bool) -> set[tuple[str, str, int]]:
        found, queue, seen = set(), deque([(start, 0)]), {start}
        while queue:
            at, steps = queue.popleft()
            if steps == depth:
                continue
            for line, (a, b) in enumerate(pairs, 1):
                here, there = (a, b) if forward else (b, a)
                if here == at:
                    found.add((a, b, line))
                    if there not in seen:
                        seen.add(there)
                        queue.append((there, steps + 1))
        return found

    def walked(direction: str) -> set[tuple[str, str, int]]:
        around = _graph(pairs).around(start, direction, depth, limit=1_000)  # type: ignore[arg-type]
        assert around.more == 0
        return {(e.caller, e.callee, e.line) for e in around.edges}

    assert walked("callees") == plain(True)
    assert walked("callers") == plain(False)
    assert walked("both") == plain(True) | plain(False)


@pytest.mark.shows("FACT-TRAVERSAL")
def test_a_limit_says_how_much_it_left_out() -> None:
    around = _graph([("a", "b"), ("a", "c"), ("a", "d")]).around("a", "callees", 1, limit=2)
    assert [e.callee for e in around.edges] == ["b", "c"]
    assert around.more == 1


@pytest.mark.shows("FACT-TRAVERSAL")
def test_calls_at_the_top_of_a_file_belong_to_the_file() -> None:
    files = [extract("a.py", b"def f(): ...\nf()\n")]
    graph = CallGraph(files, Resolver(files).all())
    around = graph.around(files[0].symbols[0].id, "callers", 1)
    assert {n.id for n in around.nodes} == {file_id("a.py"), files[0].symbols[0].id}
    assert [e.caller for e in around.edges] == [file_id("a.py")]


@pytest.mark.shows("FACT-OUTLINE")
def test_an_outline_is_the_symbols_in_order() -> None:
    facts = extract("a.py", b"def a(): ...\n\n\nclass B:\n    def c(self): ...\n\ndef d(): ...\n")
    assert [s.qualified for s in outline(facts).symbols] == ["a", "B", "B.c", "d"]
    assert [s.qualified for s in outline(facts, 5, 6).symbols] == ["B", "B.c"]
    assert outline(facts, limit=1).more
    assert not outline(facts, limit=4).more


@pytest.mark.shows("FACT-OUTLINE")
def test_an_exact_lookup_finds_none_one_or_all() -> None:
    facts = extract("shop.py", b"class A:\n    def f(self): ...\nclass B:\n    def f(self): ...\n")
    assert [s.qualified for s in exact(facts, label="A.f")] == ["A.f"]
    assert [s.qualified for s in exact(facts, label="shop.B.f")] == ["B.f"]
    assert [s.qualified for s in exact(facts, label="f")] == ["A.f", "B.f"]
    assert exact(facts, label="g") == ()
    assert exact(facts, id=facts.symbols[1].id) == (facts.symbols[1],)


@pytest.mark.shows("FACT-FORMAT")
def test_the_format_of_resolutions_does_not_change_without_a_new_version() -> None:
    shapes = {
        s.__name__: [f.name for f in msgspec.structs.fields(s)] for s in (Edge, Open, Resolution)
    }
    assert RESOLUTION_VERSION == 1
    assert shapes == {
        "Edge": ["caller", "callee", "path", "line", "kind", "confidence", "reason"],
        "Open": ["caller", "path", "line", "text", "why", "detail", "candidates"],
        "Resolution": ["path", "edges", "open"],
    }


@pytest.mark.shows("FACT-FORMAT")
def test_resolutions_encode_and_come_back() -> None:
    files = [extract("a.py", b"def f(): ...\nf()\nx.y()\n")]
    made = Resolver(files).file("a.py")
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(made), type=Resolution) == made
