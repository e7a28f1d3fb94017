"""The simpler twin: what a search must say, by looking at every substring."""

from collections.abc import Sequence

from holdfast.sequence.graph import Graph
from holdfast.sequence.response import Kind


def longest_prefix(query: Sequence[object], documents: Sequence[Sequence[object]]) -> int:
    """How many leading tokens of the query occur side by side in some document."""
    return max(
        (length for length in range(len(query) + 1) if occurrences(query[:length], documents)),
        default=0,
    )


def occurrences(
    wanted: Sequence[object], documents: Sequence[Sequence[object]]
) -> list[tuple[int, int]]:
    """Every place of `wanted` as (document, offset)."""
    run = tuple(wanted)
    return [
        (number, at)
        for number, document in enumerate(documents)
        for at in range(len(document) - len(run) + 1)
        if tuple(document[at : at + len(run)]) == run
    ]


def maximal_repeats(documents: Sequence[Sequence[object]], minimum: int) -> set[tuple[object, ...]]:
    """Every string with two occurrences or more and different neighbours on both sides."""
    found = set()
    for document in documents:
        for first in range(len(document)):
            for last in range(first + minimum, len(document) + 1):
                run = tuple(document[first:last])
                if run not in found and is_maximal(run, documents):
                    found.add(run)
    return found


def is_maximal(run: tuple[object, ...], documents: Sequence[Sequence[object]]) -> bool:
    places = occurrences(run, documents)
    if len(places) < 2:
        return False
    lefts: set[object] = set()
    rights: set[object] = set()
    for number, at in places:
        document, end = documents[number], at + len(run)
        lefts.add(("token", document[at - 1]) if at else ("edge", number, at))
        rights.add(("token", document[end]) if end < len(document) else ("edge", number, at))
    return len(lefts) > 1 and len(rights) > 1


def smallest_root(
    matched: tuple[object, ...], documents: Sequence[Sequence[object]]
) -> tuple[object, ...]:
    """The smallest maximal repeat or document that contains every way to extend `matched`."""
    candidates = [
        run
        for run in maximal_repeats(documents, 1) | {tuple(document) for document in documents}
        if occurrences(matched, [run])
    ]
    return min(candidates, key=len)


def smallest_vertices(matched: tuple[object, ...], graph: Graph) -> list[tuple[object, ...]]:
    """The narrowest vertices whose string contains `matched`."""
    strings = [graph.spelled(v) for v in graph.vertices()]
    around = [string for string in strings if occurrences(matched, [string])]
    width = min(map(len, around))
    return [string for string in around if len(string) == width]


def kinds(matched: tuple[object, ...], root: tuple[object, ...]) -> set[Kind]:
    """Every way the match lies in the root."""
    return {
        Kind.of(at_start=at == 0, at_end=at + len(matched) == len(root))
        for _, at in occurrences(matched, [root])
    }


def canonical_patterns(documents: Sequence[str], *, unions: bool) -> dict[str, list[list[str]]]:
    """Every label of the canonical graph with its patterns, word by word as it is defined."""
    found = maximal_repeats(documents, 2)
    labels = {"".join(map(str, run)) for run in found} | {d for d in documents if len(d) > 1}
    while unions and not (new := _unions(labels)) <= labels:
        labels |= new
    while True:
        patterns = {label: decomposed(label, labels) for label in labels}
        parts = {part for runs in patterns.values() for run in runs for part in run}
        needed = {part for part in parts if len(part) > 1}
        if needed <= labels:
            return patterns
        labels |= needed


def _unions(labels: set[str]) -> set[str]:
    """The union of every two labels that overlap in a third."""
    found = set()
    for host in labels:
        spans = [(at, at + len(x)) for x in labels for _, at in occurrences(x, [host])]
        for first, last in spans:
            found |= {host[first:end] for start, end in spans if first < start < last < end}
    return found


def decomposed(label: str, labels: set[str]) -> list[list[str]]:
    """The longest other label at every offset, none inside another, in as few lines as possible."""
    kept: list[tuple[int, int]] = []
    for first in range(len(label)):
        ends = [n for n in range(first + 2, len(label) + 1) if label[first:n] in labels]
        ends = [end for end in ends if end - first < len(label)]
        if ends and (not kept or ends[-1] > kept[-1][1]):
            kept.append((first, ends[-1]))
    lines: list[list[tuple[int, int]]] = []
    for interval in kept:
        fitting = next((line for line in lines if line[-1][1] <= interval[0]), None)
        if fitting is None:
            lines.append([interval])
        else:
            fitting.append(interval)
    patterns, taken = [], set[int]()
    for line in lines:
        pattern: list[str] = []
        borders, at = set[int](), 0
        for first, last in [*line, (len(label), len(label))]:
            gap = label[at:first]
            if gap and at in taken:
                borders.discard(at)
                pattern[-1] += gap
            elif len(gap) > 1 and (len(lines) > 1 or gap in labels):
                pattern.append(gap)
            else:
                pattern += gap
                borders |= set(range(at, first))
            borders |= {first, last}
            if last > first:
                pattern.append(label[first:last])
            at = last
        patterns.append(pattern)
        taken |= borders - {0, len(label)}
    return patterns or [list(label)]
