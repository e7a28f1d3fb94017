"""The answer of `clones`: groups of repeated blocks, as text, as JSON and as SARIF."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from holdfast.sequence.report import ClonesReport, Span

PLACES_SHOWN = 8
"""How many places of a group the text lists."""

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


class Hints(NamedTuple):
    """How a surface says that there is more: the option of a command, or the field of a tool."""

    places: str
    groups: str
    folded: str


COMMAND = Hints(" (--json lists them)", " (--limit 0 lists all)", " (--all lists them)")
TOOL = Hints(" (listed in groups)", "", "")


def as_text(
    answer: ClonesReport, hints: Hints = COMMAND, format_path: Callable[[str], str] = str
) -> str:
    """The answer for people and agents, the same on every surface.

    `format_path` turns a path relative to the tree into the one to show.
    """
    whole = answer.summary
    files = f"{whole.documents:,} {'file' if whole.documents == 1 else 'files'}"
    if not answer.groups:
        return f"no repeated block in {whole.tokens:,} tokens of {files}"
    lines = []
    for group in answer.groups:
        height = group.places[0].end_line - group.places[0].line + 1
        note = ", repeating itself" if group.periodic else ""
        lines.append(
            f"{group.tokens} tokens ({height} {'line' if height == 1 else 'lines'}) "
            f"{group.count} times{note}"
        )
        if group.first_line:
            lines.append(f"  | {group.first_line}")
        listed = group.places[:PLACES_SHOWN]
        lines += [f"  {format_path(_shown(o.path))}:{o.line}-{o.end_line}" for o in listed]
        if len(listed) < group.count:
            rest = group.count - len(listed)
            lines.append(f"  … and {rest} more {'place' if rest == 1 else 'places'}{hints.places}")
    share = 100 * whole.repeated_tokens / max(1, whole.tokens)
    listed_share = 100 * whole.covered_tokens / max(1, whole.tokens)
    more = hints.groups if whole.listed < whole.groups else ""
    listed_part = ""
    if whole.listed < whole.groups:
        listed_part = f"; the {whole.listed} listed cover {listed_share:.1f} %{more}"
    folded = f"; {whole.folded} overlapping left out{hints.folded}" if whole.folded else ""
    cover = "group covers" if whole.groups == 1 else "groups cover"
    lines.append(
        f"{whole.groups} {cover} {share:.1f} % of "
        f"{whole.tokens:,} tokens in {files}{listed_part}{folded}"
    )
    return "\n".join(lines)


def _shown(path: str) -> str:
    """A path for display: unprintable characters are escaped."""
    if path.isprintable():
        return path
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in path)


def _location(place: Span, number: int | None = None) -> dict[str, Any]:
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(place.path), "uriBaseId": "TREE"},
            # Whole lines: SARIF counts columns in characters, and segments know only bytes.
            "region": {"startLine": place.line, "endLine": place.end_line},
        }
    }
    if number is not None:
        location["id"] = number
        location["message"] = {"text": f"copy {number}"}
    return location


def _uri(path: str) -> str:
    from urllib.parse import quote

    return quote(path, errors="surrogateescape")


def as_sarif(answer: ClonesReport, version: str) -> dict[str, Any]:
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
                            "text": f"{group.tokens} tokens occur {group.count} times in this tree."
                        },
                        "locations": [_location(group.places[0])],
                        "relatedLocations": [
                            _location(place, number)
                            for number, place in enumerate(group.places[1:], 1)
                        ],
                    }
                    for group in answer.groups
                ],
            }
        ],
    }
