"""What holds for resolved calls and walks over them, whatever the language."""

from __future__ import annotations

import random
from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.index.calls.linked_program import LinkedProgram
from holdfast.index.calls.resolve import GUESS, Resolver
from holdfast.index.facts.extract import extract
from holdfast.index.facts.model import file_id
from tests.index.claims import resolved, split
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


def everything(resolver: Resolver) -> dict[str, object]:
    return {path: resolved(resolver, path) for path in resolver.program.files}


@pytest.mark.shows("FACT-RESOLVE-STABLE")
@given(st.sampled_from(CASES), st.integers(0, 2**32))
def test_the_order_of_files_does_not_matter(case: list[tuple[str, str]], seed: int) -> None:
    files = [extract(path, text.encode()) for path, text in case]
    shuffled = random.Random(seed).sample(files, len(files))
    assert everything(Resolver(files)) == everything(Resolver(shuffled))


@pytest.mark.shows("FACT-RESOLVE-STABLE")
@settings(max_examples=examples(200))
@given(st.sampled_from(CASES), st.sampled_from(CASES), st.data())
def test_files_replaced_one_by_one_resolve_like_a_new_program(
    case: list[tuple[str, str]], other: list[tuple[str, str]], data: st.DataObject
) -> None:
    """The twin is a resolver that never saw anything but the last state."""
    state = {path: extract(path, text.encode()) for path, text in case}
    resolver = Resolver(state.values())
    everything(resolver)
    for path, text in data.draw(st.permutations(other)):
        if path in state and data.draw(st.booleans()):
            del state[path]
            resolver.remove(path)
        else:
            state[path] = extract(path, text.encode())
            resolver.replace(state[path])
        assert everything(resolver) == everything(Resolver(state.values()))


@pytest.mark.shows("FACT-SURFACE")
@settings(max_examples=examples(200))
@given(st.sampled_from(CASES), st.data())
def test_a_line_more_in_a_file_changes_the_calls_of_no_other_file(
    case: list[tuple[str, str]], data: st.DataObject
) -> None:
    path, text = data.draw(st.sampled_from(case))
    lines = text.split("\n")
    at = data.draw(st.integers(0, len(lines)))
    edited = "\n".join([*lines[:at], "", *lines[at:]])
    before = {p: extract(p, t.encode()) for p, t in case}
    after = {**before, path: extract(path, edited.encode())}
    old, new = Resolver(before.values()), Resolver(after.values())
    for other in before:
        if other != path:
            assert resolved(old, other) == resolved(new, other)


@pytest.mark.shows("FACT-SURFACE")
def test_another_body_changes_the_calls_of_no_other_file() -> None:
    user = extract("b.py", b"from a import f\nf(1).go()\n")
    bodies = [b"    return g(x)\n", b"    # note\n\n    return h(x) + 1\n"]
    found = [
        resolved(Resolver([extract("a.py", b"def f(x):\n" + body), user]), "b.py")
        for body in bodies
    ]
    assert found[0] == found[1]


@pytest.mark.shows("FACT-CONFIDENCE")
def test_every_call_has_answers_or_a_reason() -> None:
    for case in CASES:
        files = [extract(path, text.encode()) for path, text in case]
        resolver = Resolver(files)
        for facts in files:
            view = resolver.program.files[facts.path]
            edges, left = resolved(resolver, facts.path)
            written = [call for call in facts.calls if call.kind != "implicit"]
            assert len(edges) + len(left) >= len(written)
            assert len(left) <= len(written)
            assert all(resolver.calls(view, call) for call in written)
            for edge in edges:
                assert 0 < edge.confidence <= 1
                assert edge.reason
                if edge.reason == "only method of that name":
                    assert edge.confidence <= GUESS
            for item in left:
                assert item.detail
                assert item.why != "ambiguous" or len(item.candidates) > 1


NAMES = "abcdefg"


def _program(pairs: list[tuple[str, str]]) -> tuple[LinkedProgram, dict[str, str]]:
    """A file of functions a to g with these calls, and the id of each function."""
    bodies: dict[str, list[str]] = {name: [f"def {name}():"] for name in NAMES}
    for caller, callee in pairs:
        bodies[caller].append(f"    {callee}()")
    text = "\n".join("\n".join([*body, "    pass"]) for body in bodies.values())
    facts = extract("x.py", text.encode())
    return LinkedProgram(Resolver([facts])), {s.name: s.id for s in facts.symbols}


@pytest.mark.shows("FACT-TRAVERSAL")
@given(
    st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=30),
    st.sampled_from(NAMES),
    st.integers(1, 3),
)
def test_a_walk_finds_what_a_plain_search_finds(
    pairs: list[tuple[str, str]], start: str, depth: int
) -> None:
    program, ids = _program(pairs)
    names = {identity: name for name, identity in ids.items()}

    def plain(forward: bool) -> list[tuple[str, str]]:
        found, queue, seen = [], deque([(start, 0)]), {start}
        while queue:
            at, steps = queue.popleft()
            if steps == depth:
                continue
            for a, b in pairs:
                here, there = (a, b) if forward else (b, a)
                if here == at:
                    found.append((a, b))
                    if there not in seen:
                        seen.add(there)
                        queue.append((there, steps + 1))
        return sorted(found)

    def walked(direction: str) -> list[tuple[str, str]]:
        found = program.walk(ids[start], direction, depth, 1_000)
        assert not found.more
        assert len({(e.caller, e.line) for e in found.edges}) == len(found.edges)
        return sorted((names[e.caller], names[e.callee]) for e in found.edges)

    assert walked("callees") == plain(True)
    assert walked("callers") == plain(False)
    assert set(walked("both")) == {*plain(True), *plain(False)}


@pytest.mark.shows("FACT-TRAVERSAL")
def test_a_limit_says_that_it_left_something_out() -> None:
    program, ids = _program([("a", "b"), ("a", "c"), ("a", "d")])
    found = program.walk(ids["a"], "callees", 1, 2)
    assert [e.callee for e in found.edges] == [ids["b"], ids["c"]]
    assert found.more


@pytest.mark.shows("FACT-TRAVERSAL")
def test_calls_at_the_top_of_a_file_belong_to_the_file() -> None:
    facts = extract("a.py", b"def f(): ...\nf()\n")
    program = LinkedProgram(Resolver([facts]))
    found = program.walk(facts.symbols[0].id, "callers", 1, 20)
    assert [e.caller for e in found.edges] == [file_id("a.py")]
    assert program.place(file_id("a.py")) == (facts, None)
