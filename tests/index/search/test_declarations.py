"""Which row has the body of a function that a header declares."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.index.embedding.hashed import DIMENSION
from holdfast.index.facts.extract import extract
from holdfast.index.generations.sqlite.backend import SqliteBackend
from holdfast.index.search.corpus import Corpus
from holdfast.index.search.declarations import definition_rows, with_source
from holdfast.index.search.weights import WEIGHTS
from tests.index.search import plain
from tests.index.search.samples import corpus_apart, corpus_of, prepared
from tests.index.search.test_ranking import ask, paths, publish
from tests.scale import examples

HEADER = """\
/* Reads all rows of a table from the disk into memory. */
int rows_load(struct table *table);
/* How many there are. */
int rows_count(struct table *table);
static inline int rows_any(struct table *table) { int many = table->count; return many > 0; }
"""
SOURCE = """\
#include "rows.h"
int rows_load(struct table *t) { for (int i = 0; i < t->n; i++) { fetch(t, i); } return t->n; }
int rows_any(struct table *t) { int many = t->count + spare(t); return many > 0; }
"""


def told(corpus: Corpus) -> dict[tuple[str, int], tuple[str, int]]:
    """Declarations and bodies, by path and first line."""
    found = {}
    for row, body in enumerate(definition_rows(corpus).tolist()):
        if body >= 0:
            at, to = (
                (corpus.files[corpus.file_of[r]].path, int(corpus.lines[r][0])) for r in (row, body)
            )
            found[at] = to
    return found


def corpus(**files: str) -> Corpus:
    named = {name.replace("__", "/").replace("_", "."): text for name, text in files.items()}
    return corpus_of({path: prepared(path, text, extract) for path, text in named.items()})


@pytest.mark.shows("SEARCH-SIGNAL-DECLARED")
def test_a_declaration_has_its_body_in_the_file_called_like_its_own() -> None:
    made = corpus(include__rows_h=HEADER, src__rows_c=SOURCE, src__other_c=SOURCE)
    assert told(made) == {("include/rows.h", 1): ("src/rows.c", 2)}


@pytest.mark.shows("SEARCH-SIGNAL-DECLARED")
def test_a_declaration_has_its_body_in_the_only_file_that_has_one() -> None:
    assert told(corpus(api_h=HEADER, src__rows_c=SOURCE)) == {("api.h", 1): ("src/rows.c", 2)}
    assert told(corpus(api_h=HEADER, a_c=SOURCE, b_c=SOURCE)) == {}
    assert told(corpus(api_h=HEADER)) == {}
    assert told(corpus(a_c=SOURCE)) == {}


@pytest.mark.shows("SEARCH-SIGNAL-DECLARED")
def test_the_body_comes_before_the_header_that_is_asked_for(tmp_path: Path) -> None:
    backend = SqliteBackend(tmp_path / "roots", DIMENSION)
    files = {"rows.h": HEADER, "src/rows.c": SOURCE, "src/zoo.c": "int zoo(void) { return 7; }\n"}
    publish(backend, {path: prepared(path, text, extract) for path, text in files.items()})
    query = "read all rows of a table from the disk"
    assert paths(ask(backend, query, weights=WEIGHTS.without("declared")))[0] == "rows.h"
    found = ask(backend, query)
    assert paths(found)[:2] == ["src/rows.c", "rows.h"]
    assert found.hits[1].signals["declared"] == WEIGHTS.declared
    assert found.hits[0].signals["declared"] == 1.0
    backend.close()


NAMES = st.sampled_from(["load", "save", "rows_of", "open_all"])
FUNCTIONS = st.lists(
    st.builds(
        lambda name, doc, body: f"/* {doc} */\nint {name}(int a){body}\n",
        NAMES,
        st.sampled_from(["Reads it.", "Writes all of it, slowly."]),
        st.sampled_from([";", " { int b = a; return b + more(a); }"]),
    ),
    max_size=4,
).map("\n".join)
PATHS = st.sampled_from(["a.h", "include/b.hpp", "src/a.c", "src/b.cpp", "c.cc", "x.py"])


@pytest.mark.shows("SEARCH-SIGNAL-DECLARED")
@settings(max_examples=examples(80), deadline=None)
@given(st.dictionaries(PATHS, FUNCTIONS, max_size=5))
def test_bodies_are_those_of_the_twin_however_files_are_kept(files: dict[str, str]) -> None:
    made = {path: prepared(path, text, extract) for path, text in files.items()}
    together, apart = corpus_of(made), corpus_apart(made)
    assert definition_rows(together).tolist() == plain.bodies(together)
    assert definition_rows(apart).tolist() == plain.bodies(apart)
    assert told(together) == told(apart)


@pytest.mark.shows("SEARCH-SIGNAL-HEADER")
def test_a_private_header_belongs_to_its_source_file_too() -> None:
    paths = ["src/loader_p.h", "src/loader.cpp", "src/loader.h", "src/other_p.h", "src/map.h"]
    assert with_source(paths) == [True, False, True, False, False]
