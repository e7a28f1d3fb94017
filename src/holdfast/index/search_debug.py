"""How the results of a search were found, for `debug`."""

from __future__ import annotations

from holdfast.answers import Part


class OperatorSummary(Part, frozen=True):
    """A query after its operators were taken out."""

    text: str
    operators: tuple[tuple[str, str], ...]


class ExactDebug(Part, frozen=True):
    """How much the exact lane looked at."""

    chunks: int
    looked: int
    hits: int
    cut: str | None


class RootDebug(Part, frozen=True):
    """How the results of one root were found."""

    path: str
    generation: tuple[int, str]
    question_kind: str | None
    words: tuple[str, ...]
    candidates: int
    findings: int
    filter_summary: dict[str, int]
    exact: ExactDebug | None


class SearchDebug(Part, frozen=True):
    """How results were found."""

    depth: int
    operator_summary: OperatorSummary
    roots: tuple[RootDebug, ...]
    groups: int
    folded: int
    shortened: int
    in_context: int
