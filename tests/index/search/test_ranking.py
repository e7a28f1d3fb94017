"""Places: what comes first, on every backend, from a generation and from changed files."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.files.snapshot import Snapshot
from holdfast.index.building.prepare import extract_facts
from holdfast.index.embedding.hashed import DIMENSION
from holdfast.index.embedding.provider import NOT_FINITE
from holdfast.index.facts.extract import extract
from holdfast.index.generations.freshness import FreshFiles
from holdfast.index.generations.model import Backend, PreparedFile
from holdfast.index.generations.postgres.backend import PostgresBackend
from holdfast.index.generations.sqlite import tables
from holdfast.index.generations.sqlite.backend import SqliteBackend
from holdfast.index.search.match_strength import WEAK
from holdfast.index.search.ranking import Found, find
from holdfast.index.search.weights import SIGNALS, WEIGHTS, Weights
from tests.index.search.samples import PROVIDER, prepared, queries, trees
from tests.postgres import PostgresServer
from tests.scale import examples

ROOT = "/somewhere/repo"
numbers = itertools.count()


def publish(backend: Backend, files: dict[str, PreparedFile], whole: bool = True) -> None:
    with backend.writer(ROOT) as writer:
        if whole:
            writer.start_over()
        for file in files.values():
            writer.put(file)
        writer.publish("{}", 7)


def ask(
    backend: Backend,
    query: str,
    changed: dict[str, PreparedFile] | None = None,
    gone: frozenset[str] = frozenset(),
    weights: Weights = WEIGHTS,
    wanted: int = 20,
    **more: Any,
) -> Found:
    with backend.reader(ROOT) as reader:
        fresh_files = FreshFiles(
            reader.identity, Snapshot({}, 0), 0.0, changed=changed or {}, gone=gone
        )
        keep = more.pop("keep", lambda path: True)
        if "changed_paths" in more:
            more["changed"] = more.pop("changed_paths")
        return find(query, reader, fresh_files, PROVIDER, wanted, keep, weights=weights, **more)


def places(found: Found) -> list[tuple[str, int, float]]:
    return [(hit.chunk.path, hit.chunk.start_line, hit.score) for hit in found.hits]


def paths(found: Found) -> list[str]:
    return [hit.chunk.path for hit in found.hits]


@pytest.fixture
def backend(tmp_path: Path) -> Any:
    made = SqliteBackend(tmp_path / "roots", DIMENSION)
    yield made
    made.close()


def tree(**files: str) -> dict[str, PreparedFile]:
    named = {name.replace("__", "/") + ".py": text for name, text in files.items()}
    return {path: prepared(path, text) for path, text in named.items()}


@pytest.mark.shows("SEARCH-BACKENDS-EQUAL")
@settings(
    max_examples=examples(8),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(generations=st.lists(trees, min_size=1, max_size=3), asked=st.lists(queries, max_size=3))
def test_both_backends_answer_in_the_same_order_with_the_same_scores(
    tmp_path: Path,
    postgres: PostgresServer,
    generations: list[dict[str, str]],
    asked: list[str],
) -> None:
    number = next(numbers)
    embedded = SqliteBackend(tmp_path / f"roots{number}", DIMENSION)
    server = PostgresBackend(postgres.url, DIMENSION, f"ranking {number}")
    for generation in generations:
        files = {path: prepared(path, text) for path, text in generation.items()}
        publish(embedded, files, whole=False)
        # The other order, so that rows lie differently.
        publish(server, dict(reversed(files.items())), whole=False)
    for query in asked:
        one, other = ask(embedded, query), ask(server, query)
        assert places(one) == places(other)
        assert [hit.signals for hit in one.hits] == [hit.signals for hit in other.hits]
        assert [hit.chunk.text for hit in one.hits] == [hit.chunk.text for hit in other.hits]
    embedded.close()
    server.close()


@pytest.mark.shows("SEARCH-OVERLAY-TWIN")
@settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(before=trees, after=trees, query=queries)
def test_changed_files_rank_from_memory_as_they_will_when_synced(
    tmp_path: Path, before: dict[str, str], after: dict[str, str], query: str
) -> None:
    number = next(numbers)
    stale = SqliteBackend(tmp_path / f"stale{number}", DIMENSION)
    synced = SqliteBackend(tmp_path / f"synced{number}", DIMENSION)
    old = {path: prepared(path, text) for path, text in before.items()}
    new = {path: prepared(path, text) for path, text in after.items()}
    publish(stale, old)
    publish(synced, new)
    changed = {path: file for path, file in new.items() if file != old.get(path)}
    gone = frozenset(old.keys() - new.keys())
    assert places(ask(stale, query, changed, gone)) == places(ask(synced, query))
    stale.close()
    synced.close()


@pytest.mark.shows("SEARCH-CORPUS-FOLLOWS")
@settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    generations=st.lists(
        st.tuples(trees, st.sets(st.sampled_from(["a.py", "shop/cart.py"]))), min_size=1, max_size=5
    ),
    query=queries,
)
def test_a_backend_that_stays_open_answers_as_one_that_was_just_opened(
    tmp_path: Path, generations: list[tuple[dict[str, str], set[str]]], query: str
) -> None:
    number = next(numbers)
    stays = SqliteBackend(tmp_path / f"stays{number}", DIMENSION)
    for files, gone in generations:
        with stays.writer(ROOT) as writer:
            for path, text in files.items():
                writer.put(prepared(path, text))
            for path in gone:
                writer.remove(path)
            writer.publish("{}", 7)
        opened = SqliteBackend(tmp_path / f"stays{number}", DIMENSION)
        one, other = ask(stays, query), ask(opened, query)
        assert places(one) == places(other)
        assert [hit.signals for hit in one.hits] == [hit.signals for hit in other.hits]
        opened.close()
    stays.close()


@pytest.mark.shows("SEARCH-CORPUS-FOLLOWS")
def test_a_note_of_another_generation_is_not_followed(backend: Backend, tmp_path: Path) -> None:
    # A writer that leaves no note leaves the last one behind; who was away for both must not go by
    # it.
    publish(backend, tree(a=FUNCTION.format("first", "x")))
    assert paths(ask(backend, "first")) == ["a.py"]
    other = SqliteBackend(tmp_path / "roots", DIMENSION)
    publish(other, tree(b=FUNCTION.format("second", "x")), whole=False)
    (note,) = (tmp_path / "roots").glob("*.sqlite")
    with apsw.Connection(str(note)) as connection:
        connection.set_busy_timeout(60_000)  # the log of the last run may still be folded in
        kept = tables.meta(connection)["changes"]
    publish(other, tree(c=FUNCTION.format("third", "x")), whole=False)
    connection = apsw.Connection(str(note))
    connection.set_busy_timeout(60_000)
    # A transaction that reads first cannot write once the log of the last run is folded in.
    connection.execute("BEGIN IMMEDIATE")
    tables.put_meta(connection, tables.meta(connection) | {"changes": kept})
    connection.execute("COMMIT")
    connection.close()
    assert paths(ask(backend, "third"))[0] == "c.py"
    other.close()


@pytest.mark.shows("SEARCH-FIND-KEEP")
@settings(
    max_examples=examples(20),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(files=trees, query=queries, wanted=st.integers(1, 6))
def test_only_kept_files_are_shown_and_the_best_first(
    tmp_path: Path, files: dict[str, str], query: str, wanted: int
) -> None:
    backend = SqliteBackend(tmp_path / f"kept{next(numbers)}", DIMENSION)
    publish(backend, {path: prepared(path, text) for path, text in files.items()})
    found = ask(backend, query, wanted=wanted, keep=lambda path: "/" in path)
    assert all("/" in path for path in paths(found))
    assert len(found.hits) <= wanted
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True)
    ids = [hit.chunk.id for hit in found.hits]
    assert len(ids) == len(set(ids))
    backend.close()


FUNCTION = "def {}(x):\n    return {}\n"


@pytest.mark.shows("SEARCH-SIGNAL-DEFINITION")
def test_the_definition_comes_before_what_mentions_it_more(backend: Backend) -> None:
    files = tree(
        a=FUNCTION.format("caller", "send_request(send_request(send_request(x)))"),
        b=FUNCTION.format("send_request", "x + 1"),
        c=FUNCTION.format("other", "send_request(x) + send_request(y)"),
    )
    publish(backend, files)
    for query in ("send_request", "sendRequest", "send request", "where is send_request"):
        assert paths(ask(backend, query))[0] == "b.py", query
    signals = ask(backend, "send_request").hits[0].signals
    assert signals["definition"] == 1.0


@pytest.mark.shows("SEARCH-SIGNAL-DEFINITION")
def test_a_qualified_name_asks_for_the_member_of_that_owner(backend: Backend) -> None:
    files = {
        path: prepared(path, text)
        for path, text in {
            "wire.py": "class Wire:\n    def send(self):\n        return 1\n",
            "mail.py": "class Mail:\n    def send(self):\n        return 1\n",
        }.items()
    }
    publish(backend, files)
    assert paths(ask(backend, "Mail.send"))[0] == "mail.py"
    assert paths(ask(backend, "Wire.send"))[0] == "wire.py"


@pytest.mark.shows("SEARCH-INHERITED")
@pytest.mark.parametrize("edited", [False, True])
def test_an_inherited_member_is_found_in_the_base_that_defines_it(
    backend: Backend, edited: bool
) -> None:
    """`Admin.rows` found another class's `rows` first, because `Admin` only inherits it."""
    member = "    def rows(self):\n        return rows\n"
    texts = {
        "aside.py": f"class Aside:\n{member}",
        "middle.py": "class Middle(Base):\n    name = 1\n",
        "root.py": f"class Base:\n{member}",
        "site.py": "class Admin(Middle):\n    name = 2\n",
    }
    files = {path: prepared(path, text, extract) for path, text in texts.items()}
    publish(backend, files)
    found = ask(backend, "Admin.rows", {"middle.py": files["middle.py"]} if edited else None)
    defining = [hit.chunk.path for hit in found.hits if hit.signals["definition"]]
    assert defining.index("root.py") < defining.index("aside.py")
    certain = {hit.chunk.path: hit.signals["definition"] for hit in reversed(found.hits)}
    assert certain["root.py"] > certain["aside.py"]


@pytest.mark.shows("SEARCH-INHERITED")
def test_a_base_of_one_word_is_not_every_type_that_ends_with_it(backend: Backend) -> None:
    """`Update.load` counted `DateView.load` as inherited, because `View` is a base."""
    body = "".join(f"        self.step({number})\n" for number in range(40))
    member = f"    def load(self):\n{body}\n    def step(self, n):\n{body}\n"
    texts = {
        "date.py": f"class DateView:\n{member}",
        "detail.py": f"class SingleMixin:\n{member}",
        "edit.py": "class Update(View, SingleMixin):\n    name = 2\n",
        "view.py": f"class View:\n{member.replace('load', 'open')}",
    }
    publish(backend, {path: prepared(path, text, extract) for path, text in texts.items()})
    found = ask(backend, "Update.load")
    best = {
        path: max(hit.signals["definition"] for hit in found.hits if hit.chunk.path == path)
        for path in paths(found)
    }
    assert best["detail.py"] > best["date.py"]


@pytest.mark.shows("SEARCH-WEAK-MATCH")
def test_a_query_that_matches_nothing_is_weak_and_a_real_one_is_not(backend: Backend) -> None:
    publish(backend, tree(shop__cart=FUNCTION.format("session", "session(session(x))")))
    assert ask(backend, "plumbus grommet flurbo").strength < WEAK
    assert ask(backend, "session").strength == 1.0
    assert ask(backend, "which session is given").strength >= WEAK


@pytest.mark.shows("SEARCH-SIGNAL-STEM")
def test_a_path_asks_for_the_file(backend: Backend) -> None:
    files = tree(
        shop__session=FUNCTION.format("one", "x"),
        shop__cart=FUNCTION.format("session", "session(session(x))"),
    )
    publish(backend, files)
    assert paths(ask(backend, "shop/session.py"))[0] == "shop/session.py"


@pytest.mark.shows("SEARCH-SIGNAL-ROLES")
def test_tests_come_after_code_unless_they_are_asked_for(backend: Backend) -> None:
    files = tree(
        tests__test_cart=FUNCTION.format("test_cart_total", "cart_total(cart_total(x))"),
        shop__cart=FUNCTION.format("cart_total", "x"),
    )
    publish(backend, files)
    assert paths(ask(backend, "cart total"))[0] == "shop/cart.py"
    held = ask(backend, "cart total").hits[-1]
    assert held.signals["role"] == WEIGHTS.roles.test
    spoken_of = ask(backend, "the cart total is used by a test at night")
    assert WEIGHTS.roles.test < spoken_of.hits[-1].signals["role"] < 1.0
    asked = ask(backend, "tests of the cart total")
    assert all(hit.signals["role"] == 1.0 for hit in asked.hits)


@pytest.mark.shows("SEARCH-SIGNAL-TESTS-INSIDE")
def test_a_test_among_code_comes_after_it_unless_asked_for(backend: Backend) -> None:
    text = (
        "pub fn cart_total(x: u32) -> u32 { x }\n\n#[test]\n"
        "fn cart_total_of_carts() { let cart_total = cart_total(cart_total(1)); }\n"
    )
    publish(backend, {"shop/cart.rs": prepared("shop/cart.rs", text, extract_facts)})
    first, second = ask(backend, "cart total of carts").hits
    assert first.chunk.start_line == 1
    assert second.signals["role"] == WEIGHTS.roles.test
    asked = ask(backend, "tests of the cart total")
    assert all(hit.signals["role"] == 1.0 for hit in asked.hits)


@pytest.mark.shows("SEARCH-SIGNAL-REPEAT")
def test_a_second_chunk_of_a_file_gives_way_to_another_file(backend: Backend) -> None:
    many = "\n".join(FUNCTION.format(f"load_{name}", "load(x)") for name in "abcd")
    files = tree(a=many, b=FUNCTION.format("load_other", "load(x)"))
    publish(backend, files)
    spread = replaced(WEIGHTS, repeat=0.5)
    assert set(paths(ask(backend, "load", weights=spread))[:2]) == {"a.py", "b.py"}


@pytest.mark.shows("SEARCH-SIGNAL-CENTRAL")
def test_what_is_called_more_is_more_central(backend: Backend) -> None:
    calls = {f"call{i}": FUNCTION.format(f"caller_{i}", "read_rows(x)") for i in range(5)}
    files = tree(
        one=FUNCTION.format("read_rows", "x"), two=FUNCTION.format("read_cols", "x"), **calls
    )
    publish(backend, files)
    signals = {hit.chunk.path: hit.signals for hit in ask(backend, "read").hits}
    assert signals["one.py"]["central"] == 1.0
    assert signals["two.py"]["central"] == 0.0


@pytest.mark.shows("SEARCH-SIGNAL-CHANGED")
def test_files_somebody_works_on_come_first_among_equals(backend: Backend) -> None:
    files = tree(a=FUNCTION.format("load", "x"), b=FUNCTION.format("load", "x"))
    publish(backend, files)
    assert paths(ask(backend, "load"))[0] == "a.py"
    assert paths(ask(backend, "load", changed_paths=("b.py",)))[0] == "b.py"


@pytest.mark.shows("SEARCH-DENSE-FAILS")
def test_a_dense_lane_that_fails_is_named_and_the_rest_answers(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(backend, tree(a=FUNCTION.format("load", "x")))

    def refuse(text: str) -> Any:
        raise OSError("no route")

    monkeypatch.setattr(PROVIDER, "embed_query", refuse)
    found = ask(backend, "load")
    assert found.failures == ["dense no route"]
    assert paths(found) == ["a.py"]


@pytest.mark.shows("SEARCH-FINITE")
@pytest.mark.parametrize("number", [math.nan, math.inf, 1e38])
def test_a_query_vector_that_is_not_finite_fails_the_dense_lane_alone(
    backend: Backend, monkeypatch: pytest.MonkeyPatch, number: float
) -> None:
    publish(backend, tree(a=FUNCTION.format("load", "x"), b=FUNCTION.format("load", "y")))
    vector = np.full((1, DIMENSION), number, dtype=np.float32)
    monkeypatch.setattr(PROVIDER, "embed_query", lambda text: vector)
    found = ask(backend, "load")
    assert found.failures == [f"dense embedding with hashed failed: {NOT_FINITE}"]
    assert paths(found) == ["a.py", "b.py"]


@pytest.mark.shows("SEARCH-WEIGHTS-WITHOUT")
@pytest.mark.parametrize("signal", SIGNALS)
def test_every_signal_can_be_left_out_alone(backend: Backend, signal: str) -> None:
    publish(
        backend, tree(a=FUNCTION.format("load", "save(x)"), tests__b=FUNCTION.format("load", "x"))
    )
    less = WEIGHTS.without(signal)
    assert less != WEIGHTS or signal == "changed"
    assert paths(ask(backend, "load a file", weights=less))


def test_a_signal_that_is_none_is_named() -> None:
    with pytest.raises(ValueError, match="unknown signal 'luck'"):
        WEIGHTS.without("luck")


@pytest.mark.shows("SEARCH-FIND-EMPTY")
def test_an_empty_tree_has_no_answer(backend: Backend) -> None:
    publish(backend, {})
    assert ask(backend, "load").hits == []
    assert ask(backend, "load", tree(a=FUNCTION.format("load", "x"))).hits


def replaced(weights: Weights, **changes: Any) -> Weights:
    from msgspec.structs import replace

    return replace(weights, **changes)
