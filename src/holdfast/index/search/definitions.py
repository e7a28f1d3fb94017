"""Rows that define a name from the query, and rows of files with such a name."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from holdfast.index.search.declarations import DECLARING, DEFINING
from holdfast.index.search.fields import Field
from holdfast.index.search.posting_segment import EXACT, KINDS
from holdfast.index.search.terms import stem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.search.corpus import Corpus
    from holdfast.index.search.query_analysis import AnalyzedQuery, Name, Style

    Floats = NDArray[np.float64]
    Rows = NDArray[np.int64]

_MINOR_KINDS = frozenset(
    {"module", "constant", "variable", "key", "property", "section", "namespace"}
)
"""Kinds of chunks whose names are rarely meant."""
MINOR_KIND = 0.7
_AS_TYPE = {
    "namespace": 1.0,  # the main unit in Elixir and Ruby
    "function": 0.9,  # a constructor in Go and JavaScript
    "constructor": 0.85,
    "method": 0.6,
    "property": 0.5,
    "key": 0.5,
}
"""How certain a chunk of another kind is for a name that is written like a type."""
_AS_MEMBER = 0.95
"""The certainty of a member with an owner in the query, where members are written like types."""
_MEMBERS = [KINDS.index("method"), KINDS.index("property")]
_CLASSES = [KINDS.index(kind) for kind in ("class", "struct", "union")]
_CAPITAL_MEMBERS = (".go", ".cs", *DECLARING, *DEFINING)
"""Languages in which members may be written like types."""
OTHER_OWNER = 0.4
"""How certain a definition is when its owner is not the one in the query."""
INHERITED, FARTHER = 0.9, 0.95
"""The certainty when its owner is a base of the requested one; factor for each further base."""
IN_HEADER = 0.7
"""The certainty of a member in a C or C++ header when a source file has its body."""
HEADS_MAX = 4
"""How many types with one name are read for their bases."""
JOINED_WORDS = 0.8
SINGLE_WORD = 0.35
"""A word of a question in plain language may be a symbol's name, although it rarely is."""
STEM_OF_NAME, STEM_OF_OWNER = 0.6, 0.8


def defined_rows(analyzed: AnalyzedQuery, corpus: Corpus) -> tuple[Rows, Floats]:
    """The distinct rows that define a name from the query, and how certain that is, from 0 to 1."""
    import numpy as np

    rows: list[Rows] = []
    certainties: list[Floats] = []

    def add(term: str, certainty: float, name: Name | None = None) -> None:
        at, packed = corpus.entries(EXACT + term)
        if not len(at):
            return
        at = at[packed >> 5 == Field.NAME]
        certain = np.full(len(at), certainty)
        certain *= _by_kind(name.style if name else "")[corpus.kinds[at]]
        if name and name.owner:
            certain = _of_owner(name, at, certain, corpus)
        rows.append(at)
        certainties.append(certain)

    for name in analyzed.names:
        add(name.name, 1.0, name)
    for joined in analyzed.joins:
        add(joined, JOINED_WORDS)
    if analyzed.kind in ("question", "mixed") and not analyzed.names:
        for word in analyzed.words:
            add(word.text.lower(), SINGLE_WORD)
    if not any(map(len, rows)):
        return np.empty(0, np.int64), np.empty(0)
    at, certain = np.concatenate(rows), np.concatenate(certainties)
    order = np.lexsort((-certain, at))
    at, certain = at[order], certain[order]
    first = np.ones(len(at), dtype=np.bool_)
    np.not_equal(at[1:], at[:-1], out=first[1:])
    return at[first], certain[first]


def _by_owner(name: Name, corpus: Corpus) -> Floats:
    """The certainty of each row by its owner: the requested one, one of its bases, or another."""
    import numpy as np

    certain = np.full(corpus.rows, OTHER_OWNER)
    for distance, base in reversed(list(enumerate(name.bases))):
        certain[_is_member_of(base, corpus)] = INHERITED * FARTHER**distance
    certain[_belongs_to(name.owner, corpus)] = 1.0
    return certain


def _of_owner(name: Name, at: Rows, certain: Floats, corpus: Corpus) -> Floats:
    """The certainty of rows that define a name, given the owner in the query.

    A header has the class with all its members as one chunk, so it seems to define each of them;
    it is less certain if a source file has the member of that owner too.
    """
    import numpy as np

    by_owner = _by_owner(name, corpus)[at]
    own = np.flatnonzero(by_owner > OTHER_OWNER)
    paths = [corpus.files.path(file).lower() for file in corpus.file_of[at[own]].tolist()]
    if name.style == "type":
        like_types = own[[path.endswith(_CAPITAL_MEMBERS) for path in paths]]
        members = like_types[np.isin(corpus.kinds[at[like_types]], _MEMBERS)]
        certain[members] = _AS_MEMBER
    if any(path.endswith(DEFINING) for path in paths):
        in_header = own[[path.endswith(DECLARING) for path in paths]]
        whole = np.isin(corpus.kinds[at[in_header]], _CLASSES)
        whole &= np.isin(at[in_header], rows_named(name.owner, corpus))
        certain[in_header[whole]] *= IN_HEADER
    return certain * by_owner


def inherited_names(analyzed: AnalyzedQuery, corpus: Corpus) -> list[Name]:
    """Requested names whose owner does not define them itself, though other types do."""
    found = []
    for name in analyzed.names:
        if not name.owner:
            continue
        rows = rows_named(name.name, corpus)
        if len(rows) and not _is_member_of(name.owner, corpus)[rows].any():
            found.append(name)
    return found


def rows_named(name: str, corpus: Corpus) -> Rows:
    """The rows that define exactly this name."""
    rows, packed = corpus.entries(EXACT + name)
    defining: Rows = rows[packed >> 5 == Field.NAME]
    return defining


def rows_of_type(name: str, corpus: Corpus) -> Rows:
    """The first rows that define a name, in the order of the tree."""
    import numpy as np

    rows = rows_named(name, corpus)
    rows = rows[corpus.alive[rows]]
    first: Rows = rows[np.argsort(corpus.ties[rows], kind="stable")][:HEADS_MAX]
    return first


def _is_member_of(owner: str, corpus: Corpus) -> NDArray[np.bool_]:
    """For every row, whether it is in a type with this name; a short type is one row.

    An owner's name is stored as a term, and `view` is also a term of `ListView`. So members are
    only searched for in the files that define the type.
    """
    import numpy as np

    inside = np.zeros(corpus.rows, dtype=np.bool_)
    defining = rows_named(owner, corpus)
    inside[defining] = True
    files = np.zeros(len(corpus.files) + 1, dtype=np.bool_)
    files[corpus.file_of[defining]] = True
    rows = _rows_with(owner, (Field.OWNER,), corpus)
    inside[rows[files[corpus.file_of[rows]]]] = True
    return inside


def _belongs_to(owner: str, corpus: Corpus) -> NDArray[np.bool_]:
    """For every row, whether its symbol, its owner, its file or its folder has this name.

    A folder is the package or module of its files: `frame::Head` is in `frame/head.rs`.
    """
    import numpy as np

    named = np.zeros(corpus.rows, dtype=np.bool_)
    rows, packed = corpus.entries(EXACT + owner)
    field = packed >> 5
    named[rows[(field == Field.NAME) | (field == Field.STEM)]] = True
    named[_rows_with(owner, (Field.OWNER, Field.DIRECTORY), corpus)] = True
    return named


def _rows_with(name: str, fields: tuple[Field, ...], corpus: Corpus) -> Rows:
    """The rows with a name in one of these fields, which store stems and compact names."""
    import numpy as np

    found = []
    for term in dict.fromkeys((name, stem(name))):
        rows, packed = corpus.entries(term)
        found.append(rows[np.isin(packed >> 5, fields)])
    return np.concatenate(found)


@cache
def _by_kind(style: Style) -> Floats:
    """How certain a definition of each kind is, by the kind's stored number.

    A name written like a type means the type, so its constructor and members with the same name are
    less certain.
    """
    import numpy as np

    certainty = np.ones(256)
    known = _AS_TYPE if style == "type" else {}
    for number, kind in enumerate(KINDS):
        certainty[number] = known.get(kind, MINOR_KIND if kind in _MINOR_KINDS else 1.0)
    return certainty


def rows_of_named_files(analyzed: AnalyzedQuery, corpus: Corpus) -> tuple[Rows, Floats]:
    """Rows of files that the query names, as a path or as a symbol, and the certainty of each."""
    import numpy as np

    asked = dict.fromkeys(analyzed.stems, 1.0)
    for name in analyzed.names:
        asked.setdefault(name.name, STEM_OF_NAME)
        if name.owner:
            asked.setdefault(name.owner, STEM_OF_OWNER)
    for joined in analyzed.joins:
        asked.setdefault(joined, JOINED_WORDS)
    rows, certainties = [], []
    for term, certainty in asked.items():
        at, packed = corpus.entries(EXACT + term)
        if len(at):
            at = at[packed >> 5 == Field.STEM]
            rows.append(at)
            certainties.append(np.full(len(at), certainty))
    if not rows:
        return np.empty(0, np.int64), np.empty(0)
    return np.concatenate(rows), np.concatenate(certainties)
