"""The answer of `clones`: groups of repeated blocks, as text, as JSON and as SARIF."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from holdfast.sequence.clones import CloneGroup
from holdfast.sequence.corpus import Occurrence
from holdfast.sequence.report import CLONES_VERSION, ClonesReport, ClonesSummary, GroupReport

PLACES_SHOWN = 8
"""How many places of a group the text lists."""

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


@dataclass(frozen=True, slots=True)
class ClonesAnswer:
    """The repeated blocks of a tree."""

    root: str
    """The root of the tree; paths are relative to it."""
    groups: tuple[CloneGroup, ...]
    """The listed groups, the most duplication first."""
    total: int
    """How many groups there are, listed or not."""
    tokens: int
    documents: int
    not_searched: str | None = None
    repeated: int = 0
    """How many tokens are part of a group, listed or not."""
    folded: int = 0
    """How many groups were left out because they overlap with others."""
    first_lines: tuple[str, ...] = ()
    """The first line of each listed group, as it is in its file."""

    def first_line(self, number: int) -> str:
        return self.first_lines[number] if number < len(self.first_lines) else ""

    @property
    def covered(self) -> int:
        """How many tokens are part of a listed group."""
        spans = sorted(
            (id(place.segment), place.position, place.position + place.length)
            for group in self.groups
            for place in group.occurrences
        )
        total, reach, owner = 0, 0, None
        for segment, first, last in spans:
            if segment != owner:
                owner, reach = segment, 0
            total += max(0, last - max(first, reach))
            reach = max(reach, last)
        return total

    def to_wire(self) -> dict[str, Any]:
        return self.report().to_wire()

    def report(self) -> ClonesReport:
        listed = len(self.groups)
        return ClonesReport(
            root=self.root,
            format=CLONES_VERSION,
            summary=ClonesSummary(
                self.documents,
                self.tokens,
                self.total,
                listed,
                self.covered,
                max(self.repeated, self.covered),
                self.folded,
            ),
            groups=tuple(
                [_group(group, self.first_line(n)) for n, group in enumerate(self.groups)]
            ),
            not_searched=self.not_searched,
        )


def _group(group: CloneGroup, first_line: str) -> GroupReport:
    places = tuple([place.span() for place in group.occurrences])
    return GroupReport(
        group.length,
        len(places),
        group.duplicated,
        group.periodic,
        places,
        group.saved,
        first_line,
    )


class Hints(NamedTuple):
    """How a surface says that there is more: the option of a command, or the field of a tool."""

    places: str
    groups: str
    folded: str


COMMAND = Hints(" (--json lists them)", " (--limit 0 lists all)", " (--all lists them)")
TOOL = Hints(" (listed in groups)", "", "")


def as_text(
    answer: ClonesAnswer, hints: Hints = COMMAND, format_path: Callable[[str], str] = str
) -> str:
    """The answer for people and agents, the same on every surface.

    `format_path` turns a path relative to the tree into the one to show.
    """
    files = f"{answer.documents} {'file' if answer.documents == 1 else 'files'}"
    if not answer.groups:
        return f"no repeated block in {answer.tokens} tokens of {files}"
    lines = []
    for number, group in enumerate(answer.groups):
        first, last = group.occurrences[0].first, group.occurrences[0].last
        height = last.line - first.line + 1
        note = ", repeating itself" if group.periodic else ""
        lines.append(
            f"{group.length} tokens ({height} {'line' if height == 1 else 'lines'}) "
            f"{len(group.occurrences)} times{note}"
        )
        if answer.first_line(number):
            lines.append(f"  | {answer.first_line(number)}")
        listed = group.occurrences[:PLACES_SHOWN]
        lines += [f"  {format_path(o.name)}:{o.first.line}-{o.last.line}" for o in listed]
        if len(listed) < len(group.occurrences):
            left = len(group.occurrences) - len(listed)
            lines.append(f"  … and {left} more {'place' if left == 1 else 'places'}{hints.places}")
    share = 100 * max(answer.repeated, answer.covered) / max(1, answer.tokens)
    listed_share = 100 * answer.covered / max(1, answer.tokens)
    more = hints.groups if len(answer.groups) < answer.total else ""
    listed_part = ""
    if len(answer.groups) < answer.total:
        listed_part = f"; the {len(answer.groups)} listed cover {listed_share:.1f} %{more}"
    folded = f"; {answer.folded} overlapping left out{hints.folded}" if answer.folded else ""
    cover = "group covers" if answer.total == 1 else "groups cover"
    lines.append(
        f"{answer.total} {cover} {share:.1f} % of "
        f"{answer.tokens} tokens in {files}{listed_part}{folded}"
    )
    return "\n".join(lines)


def _location(place: Occurrence, number: int | None = None) -> dict[str, Any]:
    first, last = place.first, place.last
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(place.path), "uriBaseId": "TREE"},
            # Whole lines: SARIF counts columns in characters, and segments know only bytes.
            "region": {"startLine": first.line, "endLine": last.line},
        }
    }
    if number is not None:
        location["id"] = number
        location["message"] = {"text": f"copy {number}"}
    return location


def _uri(path: str) -> str:
    from urllib.parse import quote

    return quote(path, errors="surrogateescape")


def as_sarif(answer: ClonesAnswer, version: str) -> dict[str, Any]:
    """The groups as a SARIF 2.1.0 log: one result per group, its copies as related locations."""
    return {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "holdfast clones",
                        "version": version,
                        "rules": [
                            {
                                "id": "repeated-block",
                                "shortDescription": {
                                    "text": "A block of tokens occurs more than once."
                                },
                                "defaultConfiguration": {"level": "note"},
                            }
                        ],
                    }
                },
                "originalUriBaseIds": {"TREE": {"uri": f"file://{_uri(answer.root.rstrip('/'))}/"}},
                "results": [
                    {
                        "ruleId": "repeated-block",
                        "level": "note",
                        "message": {
                            "text": f"{group.length} tokens occur "
                            f"{len(group.occurrences)} times in this tree."
                        },
                        "locations": [_location(group.occurrences[0])],
                        "relatedLocations": [
                            _location(place, number)
                            for number, place in enumerate(group.occurrences[1:], 1)
                        ],
                    }
                    for group in answer.groups
                ],
            }
        ],
    }
