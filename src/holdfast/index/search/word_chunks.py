"""The chunks that contain one of some words, by the postings of a corpus.

For patterns of which every match contains one of these words: the postings name their chunks in far
less time than the trigrams of all chunks take to read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from holdfast.index.search.fields import Field
from holdfast.index.search.file_scores import rows_of_files
from holdfast.index.search.terms import split

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.generations.model import ChunkId
    from holdfast.index.search.corpus import Corpus


class FileChunks(NamedTuple):
    """The chunks of a file that have one of the words.

    `whole` is set if one of its lines is split over several chunks; then its text must be read.
    """

    path: str
    language: str
    ids: list[ChunkId]
    whole: bool


def chunks_with(words: Iterable[str], corpus: Corpus) -> list[FileChunks] | None:
    """The chunks with one of the words, by path; None if one is too long to have postings.

    May name a chunk that has other words with the same stem. Of a word that is split over two
    chunks, in a line of thousands of characters, it names neither.
    """
    import numpy as np

    rows = []
    for word in words:
        terms = split(word)
        if not terms:
            return None
        # The compact word if it has several parts, else its stem.
        at, packed = corpus.entries(terms[-1])
        rows.append(at[packed >> 5 == Field.BODY])
    found = np.unique(np.concatenate(rows)).astype(np.int64) if rows else np.empty(0, np.int64)
    ids: dict[int, list[ChunkId]] = {}
    for file, ordinal in zip(
        corpus.file_of[found].tolist(), corpus.ordinals[found].tolist(), strict=True
    ):
        ids.setdefault(file, []).append((corpus.files.number(file), ordinal))
    split_files = _with_split_lines(np.array(list(ids), dtype=np.int64), corpus)
    named = [
        FileChunks(corpus.files[file].path, corpus.files[file].language, own, file in split_files)
        for file, own in ids.items()
    ]
    return sorted(named, key=lambda file: file.path)


def _with_split_lines(files: NDArray[np.int64], corpus: Corpus) -> set[int]:
    """The files of which a chunk begins in the last line of the chunk before it."""
    import numpy as np

    rows, places = rows_of_files(corpus, files)
    lines = corpus.lines[rows]
    meet = (places[1:] == places[:-1]) & (lines[1:, 0] <= lines[:-1, 1])
    return set(files[places[1:][np.flatnonzero(meet)]].tolist())
