"""The signals that make a candidate's score: one table, in the order in which they are applied.

A signal is a small function that gives every candidate a value. `SIGNALS` look at a chunk and the
query alone: most add their weight times a value from 0 to 1, which is in units of the best lexical
score; some multiply the sum by a factor. `ADJUSTMENTS` then compare candidates with each other, so
they also take the scores so far. `--debug` shows the values of this table;
`python -m bench.retrieval.tune --ablate` measures what each row is worth.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from holdfast.index.search import file_scores
from holdfast.index.search.centrality import centrality
from holdfast.index.search.chunk_kinds import (
    is_container,
    is_header,
    is_prose,
    is_short,
    promote_functions,
)
from holdfast.index.search.declarations import is_declaring, with_source
from holdfast.index.search.definitions import rows_of_named_files
from holdfast.index.search.fusion import SCALED_OVER, min_max_scaled
from holdfast.index.search.older_copies import may_have_newer, superseded
from holdfast.index.search.posting_segment import KINDS, TEST_KIND
from holdfast.index.search.roles import ROLES, Role, role_number
from holdfast.index.search.variants import originals_first

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.index.search.candidates import Candidates

    Floats = NDArray[np.float64]

MENTIONED_ROLE = 0.75
"""The exponent of a role's factor when the query only mentions the role."""


class Combine(Enum):
    """What a signal's value does to the score."""

    ADD = "adds"
    MULTIPLY = "multiplies"
    RAISE = "raises to"
    """The score becomes the value where that is higher."""
    ADD_SHARE_OF_BEST = "adds a share of the best score"
    REPLACE = "replaces"

    @property
    def neutral(self) -> float:
        """The weight that switches a signal of this kind off."""
        return 0.0 if self in (Combine.ADD, Combine.ADD_SHARE_OF_BEST) else 1.0

    def apply(self, score: Floats, values: Floats, weight: float) -> Floats:
        import numpy as np

        match self:
            case Combine.ADD:
                return score + weight * values
            case Combine.MULTIPLY:
                return score * values
            case Combine.RAISE:
                raised: Floats = np.maximum(score, values)
                return raised
            case Combine.ADD_SHARE_OF_BEST:
                return score + weight * float(score.max()) * values
            case Combine.REPLACE:
                return values


def weight_named(name: str) -> Callable[[Candidates], float]:
    """The weight with this name, for the query's kind."""
    return lambda c: c.weights.of(name, c.analyzed.kind)


class Signal(msgspec.Struct, frozen=True):
    """A row of the table: a value for each candidate by itself."""

    name: str
    combine: Combine
    measure: Callable[[Candidates], Floats]
    weight: Callable[[Candidates], float]


class Adjustment(msgspec.Struct, frozen=True):
    """A row of the table that depends on the scores so far."""

    name: str
    combine: Combine
    measure: Callable[[Candidates, Floats], Floats]
    weight: Callable[[Candidates], float]


class Applied(NamedTuple):
    """A signal that took part in a ranking."""

    name: str
    combine: Combine
    weight: float
    values: Floats


def score(candidates: Candidates) -> tuple[Floats, list[Applied]]:
    """The candidates' scores, and the signals they were made of."""
    import numpy as np

    total: Floats = np.zeros(len(candidates))
    applied = []
    for signal in SIGNALS:
        weight = signal.weight(candidates)
        if weight != signal.combine.neutral:
            values = signal.measure(candidates)
            total = signal.combine.apply(total, values, weight)
            applied.append(Applied(signal.name, signal.combine, weight, values))
    for adjustment in ADJUSTMENTS:
        weight = adjustment.weight(candidates)
        if weight != adjustment.combine.neutral:
            values = adjustment.measure(candidates, total)
            total = adjustment.combine.apply(total, values, weight)
            applied.append(Applied(adjustment.name, adjustment.combine, weight, values))
    return total, applied


# The two lanes.


def lexical(c: Candidates) -> Floats:
    """The BM25F score, scaled over the lane's best candidates."""
    scores = c.lexical.scores
    return min_max_scaled(scores[c.rows], scores[c.lexical_top[:SCALED_OVER]])


def dense(c: Candidates) -> Floats:
    """The similarity of the chunk's vector to the query's, scaled likewise."""
    lane = c.dense
    assert lane is not None
    return min_max_scaled(c.similarities, lane.of(lane.top[:SCALED_OVER]))


def dense_weight(c: Candidates) -> float:
    return 0.0 if c.dense is None else c.dense.weight


def file_meaning_weight(c: Candidates) -> float:
    return dense_weight(c) * c.weights.file_meaning


# The file as one text.


def file_words(c: Candidates) -> Floats:
    """BM25 of the file as one text."""
    files, place = c.file_runs
    return file_scores.file_bm25(c.words, c.corpus, files)[place]


def file_meaning(c: Candidates) -> Floats:
    """The root mean square similarity of the file's chunks."""
    files, place = c.file_runs
    near = file_scores.file_similarity(c.file_similarities, c.file_rows[1], len(files))
    return near[place]


# Names and words.


def central(c: Candidates) -> Floats:
    """How often the names that the chunk defines are called."""
    import numpy as np

    return c.corpus.derived(centrality)[c.rows].astype(np.float64)


def definition(c: Candidates) -> Floats:
    """How certain it is that the chunk defines a name from the query."""
    return c.spread(*c.definitions)


def coverage(c: Candidates) -> Floats:
    """The share of the query's words that occur in the chunk."""
    return c.coverage.chunk


def file_coverage(c: Candidates) -> Floats:
    """The share of the query's words that occur in the chunk's file."""
    return c.coverage.file


def stem(c: Candidates) -> Floats:
    """The share that occurs in the file's name; 1 for a file that the query names."""
    import numpy as np

    words = c.coverage.stem * (0.5 + 0.5 * c.coverage.of_stem)
    values: Floats = np.maximum(words, c.spread(*rows_of_named_files(c.analyzed, c.corpus)))
    return values


def changed(c: Candidates) -> Floats:
    """1 in files that are being edited."""
    return c.per_file([float(path in c.edited) for path in c.paths])


# Factors of the score.


def role(c: Candidates) -> Floats:
    """The factor of the file's role, and of tests inside source files."""
    import numpy as np

    def factor(role: Role) -> float:
        left = c.weights.roles.of(role)
        if role in c.analyzed.wants:
            return 1.0
        return left**MENTIONED_ROLE if role in c.analyzed.mentions else left

    factors = np.array([factor(role) for role in ROLES])
    values: Floats = factors.take(c.by_path(role_number)).take(c.file_runs[1])
    tests = c.kinds == KINDS.index(TEST_KIND)
    values[tests] = np.minimum(values[tests], factor("test"))
    return values


def older(c: Candidates) -> Floats:
    """A factor for files with a newer copy among the candidates, unless the query asks for it."""
    import numpy as np

    told = np.flatnonzero(c.by_path(may_have_newer)).tolist()
    if not told:
        return np.ones(len(c))
    has_newer = np.zeros(len(c.paths), dtype=np.bool_)
    has_newer[told] = superseded([c.paths[file] for file in told], c.analyzed.text, c.paths)
    return np.where(has_newer.take(c.file_runs[1]), c.weights.older, 1.0)


def header(c: Candidates) -> Floats:
    """A factor for headers whose source file is a candidate too."""
    import numpy as np

    if not c.by_path(is_declaring).any():
        return np.ones(len(c))
    return np.where(c.per_file(with_source(c.paths)), c.weights.header, 1.0)


def head(c: Candidates) -> Floats:
    """A factor for the head of a class or other container, whose members are separate chunks."""
    import numpy as np

    return np.where(is_container(c.kinds), c.weights.head, 1.0)


def brief(c: Candidates) -> Floats:
    """A factor for functions of a few lines, and for equally short parts of headers."""
    import numpy as np

    in_header = c.by_path(is_header).take(c.file_runs[1]) > 0
    return np.where(is_short(c.kinds, c.corpus.lines[c.rows], in_header), c.weights.brief, 1.0)


def prose(c: Candidates) -> Floats:
    """A factor for parts of a file that are mostly doc comment, such as members of interfaces."""
    import numpy as np

    return np.where(is_prose(c.kinds, c.corpus.lengths[c.rows]), c.weights.prose, 1.0)


def unless_symbol(weight: Callable[[Candidates], float]) -> Callable[[Candidates], float]:
    """No factor if the query asks for a symbol, which may be a class or a short function."""
    return lambda c: 1.0 if c.analyzed.kind == "symbol" else weight(c)


# Candidates compared with each other.


def body(c: Candidates, score: Floats) -> Floats:
    """For a function's body, the score of its declaration in a header; else 0."""
    import numpy as np

    declarations, bodies = c.declarations
    values = np.zeros(len(c))
    np.maximum.at(values, bodies, score[declarations])
    return values


def declared(c: Candidates, score: Floats) -> Floats:
    """A factor for declarations whose body is a candidate too."""
    import numpy as np

    values = np.ones(len(c))
    values[c.declarations[0]] = c.weights.declared
    return values


def coherence(c: Candidates, score: Floats) -> Floats:
    """For the best chunk of each file, the root of the sum of its chunks' squared scores, up to 1.

    A plain sum is proportional to a file's length, so that a long file with many weak chunks would
    get most of it. Squares count what matches well, and the root favours no length.
    """
    import numpy as np

    files = c.file_runs[1]
    sums = np.bincount(files, weights=np.square(np.maximum(score, 0.0)))
    best = np.full(len(sums), -np.inf)
    np.maximum.at(best, files, score)
    top = np.flatnonzero(score >= best[files])
    # Of equal chunks the first of the file.
    leaders = np.full(len(sums), len(score), dtype=np.int64)
    np.minimum.at(leaders, files[top], top)
    values = np.zeros(len(score))
    most = float(sums.max(initial=0.0))
    if most > 0:
        values[leaders] = np.sqrt(sums[files[leaders]] / most)
    return values


def leader(c: Candidates, score: Floats) -> Floats:
    """The scores after a function has been promoted over the head of its file or class."""
    return promote_functions(score, c.file_runs[1], c.kinds, c.ties, c.weights.leader)


def variant(c: Candidates, score: Floats) -> Floats:
    """The scores after a file has been put before its variant with a longer name."""
    return originals_first(score, c.file_runs[1], c.paths, c.analyzed, c.weights.variant)


SIGNALS: tuple[Signal, ...] = (
    Signal("lexical", Combine.ADD, lexical, weight_named("lexical")),
    Signal("dense", Combine.ADD, dense, dense_weight),
    Signal("file_words", Combine.ADD, file_words, weight_named("file_words")),
    Signal("central", Combine.ADD, central, weight_named("central")),
    Signal("file_meaning", Combine.ADD, file_meaning, file_meaning_weight),
    Signal("definition", Combine.ADD, definition, weight_named("definition")),
    Signal("coverage", Combine.ADD, coverage, weight_named("coverage")),
    Signal("stem", Combine.ADD, stem, weight_named("stem")),
    Signal("file_coverage", Combine.ADD, file_coverage, weight_named("file_coverage")),
    Signal("changed", Combine.ADD, changed, lambda c: c.weights.changed if c.edited else 0.0),
    Signal("role", Combine.MULTIPLY, role, lambda c: c.weights.roles.lowest),
    Signal("older", Combine.MULTIPLY, older, weight_named("older")),
    Signal("header", Combine.MULTIPLY, header, weight_named("header")),
    Signal("head", Combine.MULTIPLY, head, unless_symbol(weight_named("head"))),
    Signal("brief", Combine.MULTIPLY, brief, unless_symbol(weight_named("brief"))),
    Signal("prose", Combine.MULTIPLY, prose, unless_symbol(weight_named("prose"))),
)
ADJUSTMENTS: tuple[Adjustment, ...] = (
    Adjustment("body", Combine.RAISE, body, weight_named("declared")),
    Adjustment("declared", Combine.MULTIPLY, declared, weight_named("declared")),
    Adjustment("coherence", Combine.ADD_SHARE_OF_BEST, coherence, weight_named("coherence")),
    Adjustment("leader", Combine.REPLACE, leader, unless_symbol(weight_named("leader"))),
    Adjustment("variant", Combine.REPLACE, variant, weight_named("variant")),
)
UNUSED_VALUES: dict[str, float] = {
    **{row.name: float(row.combine is Combine.MULTIPLY) for row in SIGNALS},
    **{row.name: float(row.combine is Combine.MULTIPLY) for row in ADJUSTMENTS},
}
"""Every signal with the value that is reported when it is not used in a ranking."""
