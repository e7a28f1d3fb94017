"""Every signal by itself, and the score they make together, against a plain twin."""

from __future__ import annotations

import sys
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings

from holdfast.index.facts.extract import extract
from holdfast.index.search import signals
from holdfast.index.search.candidates import Candidates, gather
from holdfast.index.search.query_analysis import Kind, analyze
from holdfast.index.search.signals import ADJUSTMENTS, SIGNALS, Combine
from holdfast.index.search.weights import WEIGHTS, Weights
from tests.index.search import plain
from tests.index.search.samples import PROVIDER, corpus_apart, corpus_of, prepared, queries, trees

STEPS = "".join(f"        self.step_{number}(goods, {number})\n" for number in range(40))
CART = f"""\
class Cart:
    '''Goods that a customer chose.'''

    def total(self):
        '''The sum of all prices, with tax.'''
{STEPS}
        return sum(prices) + tax(prices)

    def clear(self):
        self.goods = []

    def ship(self):
{STEPS}
"""
TAX = """\
def tax(prices):
    rate = 0.2
    total = sum(prices)
    return total * rate
"""
TEST = """\
def test_total():
    cart = Cart()
    assert cart.total() == 0
    tax(1)
"""
HEADER = """\
/* Reads all rows of a table from the disk. */
int rows_load(struct table *t);
"""
TREE = {
    "shop/cart.py": CART,
    "shop/tax.py": TAX,
    "tests/test_cart.py": TEST,
    "include/rows.h": HEADER,
    "src/rows.c": "int rows_load(struct table *t) { for (;;) { fetch(t); } return t->n; }\n",
}
ROWS = [row.name for row in SIGNALS] + [row.name for row in ADJUSTMENTS]


def candidates(query: str, weights: Weights = WEIGHTS, **more: Any) -> Candidates:
    texts = more.pop("texts", TREE)
    corpus = corpus_of({path: prepared(path, text, extract) for path, text in texts.items()})
    vector = more.pop("vector", PROVIDER.embed_query(query)[0])
    edited = more.pop("edited", frozenset())
    keep = more.pop("keep", lambda path: True)
    return gather(analyze(query), corpus, weights, vector, 1.0, 20, keep, edited)


def by_chunk(c: Candidates, values: Any) -> dict[tuple[str, int], float]:
    """A signal's values by path and first line."""
    return {
        (c.corpus.files[file].path, int(c.corpus.lines[row][0])): float(value)
        for row, file, value in zip(c.rows, c.file_of, values, strict=True)
    }


def by_path(c: Candidates, values: Any) -> dict[str, float]:
    """The highest value of each file."""
    found: dict[str, float] = {}
    for (path, _), value in by_chunk(c, values).items():
        found[path] = max(value, found.get(path, 0.0))
    return found


def test_lexical_is_1_for_the_best_match_and_0_without_a_word() -> None:
    c = candidates("tax rate")
    values = by_path(c, signals.lexical(c))
    assert values["shop/tax.py"] == 1.0
    assert all(0.0 <= value <= 1.0 for value in values.values())


def test_dense_is_1_for_the_most_similar_chunk() -> None:
    c = candidates("tax prices rate total")
    values = by_path(c, signals.dense(c))
    assert max(values, key=lambda path: values[path]) == "shop/tax.py"
    assert values["shop/tax.py"] == 1.0


def test_dense_does_not_take_part_without_a_vector() -> None:
    c = candidates("tax rate", vector=None)
    _, applied = signals.score(c)
    assert not {"dense", "file_meaning"} & {one.name for one in applied}


@pytest.mark.parametrize("measure", [signals.file_words, signals.file_meaning])
def test_file_words_and_file_meaning_are_the_same_for_all_chunks_of_a_file(measure: Any) -> None:
    c = candidates("sum of prices")
    values = by_chunk(c, measure(c))
    of_cart = {value for (path, _), value in values.items() if path == "shop/cart.py"}
    assert len(of_cart) == 1
    assert max(values.values()) == 1.0


test_file_meaning_is_the_same_for_all_chunks_of_a_file = (
    test_file_words_and_file_meaning_are_the_same_for_all_chunks_of_a_file
)


def test_central_is_1_for_what_is_called_most() -> None:
    c = candidates("tax of the total")
    assert by_path(c, signals.central(c))["shop/tax.py"] == 1.0


def test_definition_is_certain_for_the_asked_name_and_less_for_another_owner() -> None:
    c = candidates("Cart.total")
    assert by_path(c, signals.definition(c))["shop/cart.py"] == 1.0
    c = candidates("Basket.total")
    assert by_path(c, signals.definition(c))["shop/cart.py"] == 0.4


MEMBER = "    def read(self):\n        return self.rows\n"
LONG = "".join(f"    def step_{number}(self):\n{STEPS}\n" for number in range(3))


def certain(texts: dict[str, str], query: str) -> dict[str, float]:
    """The certainty of the best definition in each file."""
    c = candidates(query, texts=texts)
    return by_path(c, signals.definition(c))


@pytest.mark.shows("SEARCH-SIGNAL-DEFINITION")
def test_the_members_of_a_type_are_its_own_whatever_the_stem_of_its_name() -> None:
    """Owners are stored by their stem: `cach` for `Cache`, `Pager` as it is."""
    for owner in ("Pager", "Cache", "Queue", "Parser"):
        texts = {
            "one.py": f"class {owner}:\n{LONG}{MEMBER}",
            "two.py": f"class Other:\n{LONG}{MEMBER}",
        }
        values = certain(texts, f"{owner}.read")
        assert values["one.py"] == 1.0
        assert values["two.py"] == 0.4


@pytest.mark.shows("SEARCH-SIGNAL-DEFINITION")
def test_a_folder_is_the_owner_of_what_its_files_define() -> None:
    text = "pub struct GoAway {\n    last: u32,\n}\n"
    values = certain({"src/frame/bye.rs": text, "src/proto/bye.rs": text}, "frame::GoAway")
    assert values == {"src/frame/bye.rs": 1.0, "src/proto/bye.rs": 0.4}


@pytest.mark.shows("SEARCH-SIGNAL-DEFINITION")
def test_a_member_is_defined_by_its_body_and_less_by_the_class_in_the_header() -> None:
    texts = {
        "graph.h": "class Graph {\n public:\n  void Start();\n  void Finish();\n};\n",
        "graph.cc": "void Graph::Start() {\n  run();\n}\n",
    }
    values = certain(texts, "Graph::Start")
    assert values == pytest.approx({"graph.cc": 0.95, "graph.h": 0.7})
    assert certain({"graph.h": texts["graph.h"]}, "Graph::Start") == {"graph.h": 1.0}


@pytest.mark.shows("SEARCH-SIGNAL-DEFINITION")
def test_a_class_in_a_namespace_is_defined_by_the_header() -> None:
    texts = {
        "graph.h": "namespace net {\nclass Graph {\n public:\n  Graph();\n};\n}\n",
        "graph.cc": "namespace net {\nGraph::Graph() {\n  run();\n}\n}\n",
    }
    assert certain(texts, "net::Graph")["graph.h"] == 1.0


def test_coverage_is_the_share_of_the_words_in_the_chunk() -> None:
    c = candidates("prices tax rate")
    values = by_path(c, signals.coverage(c))
    assert values["shop/tax.py"] == pytest.approx(1.0)
    assert 0.0 < values["shop/cart.py"] < 1.0


def test_file_coverage_counts_words_in_other_chunks_of_the_file() -> None:
    c = candidates("customer tax")
    chunk, file = by_chunk(c, signals.coverage(c)), by_chunk(c, signals.file_coverage(c))
    total = next(at for at in chunk if at[0] == "shop/cart.py" and chunk[at] < 1.0)
    assert file[total] == pytest.approx(1.0)


def test_stem_is_1_for_a_file_asked_for_by_its_name() -> None:
    c = candidates("shop/tax.py")
    values = by_path(c, signals.stem(c))
    assert values["shop/tax.py"] == 1.0
    assert values.get("src/rows.c", 0.0) == 0.0


def test_changed_is_1_in_edited_files_and_off_without_any() -> None:
    c = candidates("tax", edited=frozenset({"shop/tax.py"}))
    values = by_path(c, signals.changed(c))
    assert values.pop("shop/tax.py") == 1.0
    assert set(values.values()) == {0.0}
    assert "changed" not in {one.name for one in signals.score(candidates("tax"))[1]}


def test_role_is_the_factor_of_the_files_role_unless_asked_for() -> None:
    c = candidates("cart total")
    assert by_path(c, signals.role(c))["tests/test_cart.py"] == WEIGHTS.roles.test
    assert by_path(c, signals.role(c))["shop/cart.py"] == 1.0
    c = candidates("tests of the cart total")
    assert by_path(c, signals.role(c))["tests/test_cart.py"] == 1.0


def test_older_is_a_factor_for_files_with_a_newer_copy() -> None:
    c = candidates("tax of the cart")
    assert set(signals.older(c).tolist()) == {1.0}
    newer = {"shop/tax.py": "shop/v1/cart.py", "shop/cart.py": "shop/v2/cart.py"}
    paths = c.__dict__["paths"] = [newer.get(path, path) for path in c.paths]
    c.__dict__["by_path"] = lambda function: np.array([function(path) for path in paths])
    values = by_path(c, signals.older(c))
    assert values["shop/tax.py"] == WEIGHTS.older
    assert values["shop/cart.py"] == 1.0


def test_head_is_a_factor_for_the_head_of_a_class() -> None:
    c = candidates("goods that a customer chose, tax")
    values = by_chunk(c, signals.head(c))
    assert values["shop/cart.py", 1] == WEIGHTS.head
    assert by_path(c, signals.head(c))["shop/tax.py"] == 1.0


def test_brief_is_a_factor_for_short_functions() -> None:
    c = candidates("clear the cart goods, tax of prices")
    values = by_chunk(c, signals.brief(c))
    assert WEIGHTS.brief in {value for (path, _), value in values.items() if "cart" in path}
    assert values["shop/tax.py", 1] == 1.0


@pytest.mark.shows("SEARCH-SIGNAL-HEADER")
def test_header_is_a_factor_where_the_source_file_is_a_candidate_too() -> None:
    c = candidates("load rows of a table")
    values = by_path(c, signals.header(c))
    assert values["include/rows.h"] == WEIGHTS.header
    assert values["src/rows.c"] == 1.0
    alone = candidates("load rows of a table", keep=lambda path: path != "src/rows.c")
    assert set(signals.header(alone).tolist()) == {1.0}


@pytest.mark.shows("SEARCH-SIGNAL-PROSE")
def test_prose_is_a_factor_for_what_is_mostly_doc_comment() -> None:
    c = candidates("read all rows of a table from the disk")
    values = by_path(c, signals.prose(c))
    assert values["include/rows.h"] == WEIGHTS.prose
    assert values["src/rows.c"] == 1.0


@pytest.mark.parametrize("name", ["head", "brief", "prose"])
def test_no_factor_for_heads_and_short_functions_where_a_symbol_is_asked_for(name: str) -> None:
    assert name not in {one.name for one in signals.score(candidates("Cart"))[1]}
    assert name in {one.name for one in signals.score(candidates("how are goods chosen"))[1]}


def test_body_has_the_score_of_the_declaration() -> None:
    c = candidates("read all rows of a table from the disk")
    score = np.arange(1.0, len(c) + 1)
    values = by_chunk(c, signals.body(c, score))
    assert values["src/rows.c", 1] == by_chunk(c, score)["include/rows.h", 1]
    assert sum(values.values()) == values["src/rows.c", 1]


def test_declared_is_a_factor_for_the_declaration() -> None:
    c = candidates("read all rows of a table from the disk")
    values = by_chunk(c, signals.declared(c, np.ones(len(c))))
    assert values["include/rows.h", 1] == WEIGHTS.declared
    assert values["src/rows.c", 1] == 1.0


def test_coherence_is_the_root_of_a_files_share_of_the_scores_for_its_best_chunk() -> None:
    c = candidates("total of the cart")
    values = by_path(c, signals.coherence(c, np.ones(len(c))))
    chunks: dict[str, int] = {}
    for path, _ in by_chunk(c, c.rows):
        chunks[path] = chunks.get(path, 0) + 1
    most = max(chunks.values())
    assert values == pytest.approx({path: (count / most) ** 0.5 for path, count in chunks.items()})


def test_leader_is_off_for_a_symbol_so_a_class_stays_before_its_constructor() -> None:
    row = next(row for row in ADJUSTMENTS if row.name == "leader")
    assert row.weight(candidates("Cart")) == 1.0
    assert row.weight(candidates("total of the cart")) == WEIGHTS.leader


def test_definition_of_a_name_written_like_a_type_is_the_type() -> None:
    values = by_chunk(c := candidates("Cart"), signals.definition(c))
    assert values["shop/cart.py", 1] == 1.0
    assert analyze("Cart").names[0].style == "type"
    assert analyze("cart").names[0].style == analyze("CART").names[0].style == ""


def test_leader_keeps_the_scores_of_a_file() -> None:
    c = candidates("goods that a customer chose, total")
    score = np.linspace(1.0, 0.8, len(c))
    found = signals.leader(c, score)
    assert sorted(found) == sorted(score)
    assert by_path(c, found) == by_path(c, score)


def test_variant_puts_the_file_of_the_shorter_name_first() -> None:
    c = candidates("customer tax")
    score = np.array([1.0 if c.paths[i] == "shop/cart.py" else 0.9 for i in c.file_runs[1]])
    assert signals.variant(c, score).tolist() == score.tolist()
    c.__dict__["paths"] = ["shop/old_tax.py" if "cart" in path else path for path in c.paths]
    found = by_path(c, signals.variant(c, score))
    assert found["shop/tax.py"] == 1.0


@pytest.mark.shows("SEARCH-SIGNAL-TABLE")
@pytest.mark.parametrize("name", ROWS)
def test_every_signal_of_the_table_has_a_test_and_a_sentence(name: str) -> None:
    assert any(test.startswith(f"test_{name}_") for test in vars(sys.modules[__name__]))
    assert getattr(signals, name).__doc__


@pytest.mark.shows("SEARCH-SIGNAL-TABLE")
def test_how_values_combine_with_a_score() -> None:
    score, values = np.array([1.0, 2.0]), np.array([0.5, 3.0])
    assert Combine.ADD.apply(score, values, 2.0).tolist() == [2.0, 8.0]
    assert Combine.MULTIPLY.apply(score, values, 2.0).tolist() == [0.5, 6.0]
    assert Combine.RAISE.apply(score, values, 2.0).tolist() == [1.0, 3.0]
    assert Combine.ADD_SHARE_OF_BEST.apply(score, values, 0.5).tolist() == [1.5, 5.0]
    assert Combine.REPLACE.apply(score, values, 2.0).tolist() == [0.5, 3.0]


@pytest.mark.shows("SEARCH-SIGNAL-TABLE")
@settings(deadline=None)
@given(trees, queries)
def test_the_score_is_that_of_the_twin(files: dict[str, str], query: str) -> None:
    made = {path: prepared(path, text, extract) for path, text in files.items()}
    for corpus in (corpus_of(made), corpus_apart(made)):
        if not corpus.chunks:
            continue
        vector = PROVIDER.embed_query(query)[0]
        c = gather(
            analyze(query), corpus, WEIGHTS, vector, 0.7, 9, lambda path: True, frozenset({"a.py"})
        )
        if not len(c):
            continue
        score, applied = signals.score(c)
        assert score.tolist() == pytest.approx(plain.score(c, applied))


def test_every_kind_of_query_has_a_weight_for_every_signal() -> None:
    for name in set(ROWS) - {"role", "body"}:
        assert all(WEIGHTS.of(name, kind) >= 0.0 for kind in get_args(Kind))
