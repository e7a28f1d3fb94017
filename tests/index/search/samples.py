"""Small trees as the search sees them: prepared files, and corpora of them."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import strategies as st

from holdfast.files.snapshot import Entry, Stat
from holdfast.index.building.prepare import Extract, prepare, with_vectors
from holdfast.index.embedding.hashed import DIMENSION, HashedEmbedding
from holdfast.index.generations.model import PreparedFile, SourceFile
from holdfast.index.generations.segments import SegmentBuilder
from holdfast.index.search.corpus import Corpus, Part
from holdfast.index.search.file_table import File
from holdfast.index.search.posting_segment import PostingSegment
from tests.index import double

PROVIDER = HashedEmbedding()


def prepared_segment(file: PreparedFile, dimension: int) -> PostingSegment:
    """The segment of one prepared file."""
    gathering = SegmentBuilder(dimension)
    gathering.add(file)
    return gathering.take()


def prepared(path: str, text: str, extract: Extract = double.extract) -> PreparedFile:
    entry = Entry(Stat(len(text), 1, 1), f"digest of {text}")
    return with_vectors(prepare(SourceFile(path, text.encode(), entry), extract), PROVIDER)


def corpus_of(files: Mapping[str, PreparedFile]) -> Corpus:
    """All files in one segment."""
    gathering = SegmentBuilder(DIMENSION)
    held = [file for _, file in sorted(files.items()) if file.chunks]
    for file in held:
        gathering.add(file)
    named: list[File | None] = [File(i, file.path, file.language) for i, file in enumerate(held)]
    return Corpus([Part(gathering.take(), named)])


def corpus_apart(files: Mapping[str, PreparedFile]) -> Corpus:
    """Each file in a segment of its own, the last path first."""
    return Corpus(
        Part(prepared_segment(file, DIMENSION), [File(i, path, file.language)])
        for i, (path, file) in enumerate(sorted(files.items(), reverse=True))
        if file.chunks
    )


NAMES = ["load", "save", "parse_http", "sendRequest", "total", "HTTPServer", "parser", "parsing"]
names = st.sampled_from(NAMES)
sources = st.lists(
    st.builds(
        lambda kind, n, c, d: f"{kind} {n}(x):\n    # {d} the {c}\n    return {c}(x, {d})\n",
        st.sampled_from(["def", "class"]), names, names, names,
    ),
    max_size=4,
).map("\n".join)  # fmt: skip
paths = st.sampled_from(
    [
        "a.py",
        "shop/cart.py",
        "shop/http_server.py",
        "tests/test_cart.py",
        "docs/load.md",
        "x/total.py",
    ]
)
trees = st.dictionaries(paths, sources, max_size=5)
queries = st.lists(
    st.sampled_from([*NAMES, "http", "request", "server", "pars", "the", "cart", "how does", "x"]),
    min_size=1,
    max_size=4,
).map(" ".join)
