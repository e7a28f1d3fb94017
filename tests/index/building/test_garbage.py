"""Workers collect no garbage while they parse, so a file must leave no cycles behind."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from holdfast.files.snapshot import Entry, Stat
from holdfast.index.building.prepare import extract_facts, prepare_many
from holdfast.index.facts.parse import READ_BYTES, limited, parser_of
from holdfast.index.generations.model import SourceFile
from tests.index.samples import sources
from tests.scale import size

SOURCES = sources()


@pytest.mark.shows("INDEX-MEMORY-WORKERS")
@pytest.mark.parametrize("suffix", SOURCES)
def test_a_prepared_file_leaves_no_cycles(suffix: str) -> None:
    files = [
        SourceFile(f"src/a{i}.{suffix}", text.encode(), Entry(Stat(len(text), 0, 0), str(i)))
        for i, text in enumerate(SOURCES[suffix])
    ]
    prepare_many(files[:1], extract_facts, stored=True)  # what is made once for a language
    gc.collect()
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        prepare_many(files, extract_facts, stored=True)
        assert gc.collect() == 0
    finally:
        if was_enabled:
            gc.enable()


@pytest.mark.long
@pytest.mark.shows("INDEX-MEMORY-WORKERS")
def test_a_parser_keeps_no_text_it_has_read() -> None:
    parser = parser_of(("tree_sitter_python", "language"))
    texts = [b"x = %d\n" % i * READ_BYTES for i in range(size(20, 5))]
    limited(parser, texts[0])
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for text in texts:
            limited(parser, text)
        kept = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert kept < READ_BYTES * len(texts)
