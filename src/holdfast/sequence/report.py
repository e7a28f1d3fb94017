"""Groups of clones as text, as JSON and as SARIF."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from holdfast.sequence.clones import Group
from holdfast.sequence.corpus import Occurrence

CLONES_VERSION = 1
"""1: summary and groups with their places."""

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def covered(groups: Sequence[Group]) -> int:
    """How many tokens stand in some place of some group."""
    spans = sorted(
        (id(place.segment), place.position, place.position + place.length)
        for group in groups
        for place in group.occurrences
    )
    total, reach, owner = 0, 0, None
    for segment, first, last in spans:
        if segment != owner:
            owner, reach = segment, 0
        total += max(0, last - max(first, reach))
        reach = max(reach, last)
    return total


def as_data(groups: Sequence[Group], tokens: int, documents: int, total: int) -> dict[str, Any]:
    """Groups as JSON-ready values; `total` is how many there are, listed or not."""
    return {
        "format": CLONES_VERSION,
        "summary": {
            "documents": documents,
            "tokens": tokens,
            "groups": total,
            "listed": len(groups),
            "coveredTokens": covered(groups),
        },
        "groups": [
            {
                "tokens": group.length,
                "count": len(group.occurrences),
                "duplicatedTokens": group.duplicated,
                "periodic": group.periodic,
                "places": [place.span() for place in group.occurrences],
            }
            for group in groups
        ],
    }


class Words(NamedTuple):
    """How the rest is seen: by a command's options, or in a tool's facts."""

    places: str
    groups: str


COMMAND = Words(" (--json lists them)", " (--limit 0 lists all)")
TOOL = Words(" (groups has them)", "")


def as_text(
    groups: Sequence[Group],
    tokens: int,
    documents: int,
    total: int,
    places: int = 8,
    words: Words = COMMAND,
    typed: Callable[[str], str] = str,
) -> str:
    """Groups for people: the most duplication first, at most so many `places` of each.

    `typed` says how a path of the tree is written where this is read.
    """
    if not groups:
        return f"no repeated block in {tokens} tokens of {documents} files"
    lines = []
    for group in groups:
        first, last = group.occurrences[0].first, group.occurrences[0].last
        height = last.line - first.line + 1
        note = ", repeating itself" if group.periodic else ""
        lines.append(f"{group.length} tokens ({height} lines) {len(group.occurrences)} times{note}")
        listed = group.occurrences[:places]
        lines += [f"  {typed(o.path)}:{o.first.line}-{o.last.line}" for o in listed]
        if len(listed) < len(group.occurrences):
            lines.append(
                f"  … and {len(group.occurrences) - len(listed)} more places{words.places}"
            )
    share = 100 * covered(groups) / max(1, tokens)
    more = words.groups if len(groups) < total else ""
    lines.append(
        f"{total} {'group' if total == 1 else 'groups'} in {tokens} tokens of {documents} files; "
        f"the {len(groups)} listed cover {share:.1f} %{more}"
    )
    return "\n".join(lines)


def _location(place: Occurrence, number: int | None = None) -> dict[str, Any]:
    first, last = place.first, place.last
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(place.path), "uriBaseId": "TREE"},
            # Whole lines: SARIF counts columns in characters, which we would have to guess.
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


def as_sarif(groups: Sequence[Group], version: str, root: str) -> dict[str, Any]:
    """Groups as a SARIF 2.1.0 log: one result per group, its copies as related locations."""
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
                                "shortDescription": {"text": "A block of tokens stands twice."},
                                "defaultConfiguration": {"level": "note"},
                            }
                        ],
                    }
                },
                "originalUriBaseIds": {"TREE": {"uri": f"file://{_uri(root.rstrip('/'))}/"}},
                "results": [
                    {
                        "ruleId": "repeated-block",
                        "level": "note",
                        "message": {
                            "text": f"{group.length} tokens stand "
                            f"{len(group.occurrences)} times in this tree."
                        },
                        "locations": [_location(group.occurrences[0])],
                        "relatedLocations": [
                            _location(place, number)
                            for number, place in enumerate(group.occurrences[1:], 1)
                        ],
                    }
                    for group in groups
                ],
            }
        ],
    }
