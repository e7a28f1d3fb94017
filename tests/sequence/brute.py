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
