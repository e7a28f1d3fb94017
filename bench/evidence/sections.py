"""Sections of the evidence page that appear as soon as their benchmark is recorded.

`<!-- evidence: sections -->` is one section for each record named here, in this order, with its
chart if it has one. `<!-- evidence: missing -->` names those that have no record yet.
"""

from __future__ import annotations

from bench.evidence.drawings import DRAWINGS, image_name
from bench.evidence.records import Records

SECTIONS = {
    "calls": (
        "Calls against a type checker",
        "Calls of packages from the registries that the judge resolves inside the package.",
    ),
    "references": (
        "References against a type checker",
        "Sampled symbols of packages, and which of the judge's references are found.",
    ),
    "outline": (
        "Outlines against universal-ctags",
        "Definitions that ctags lists and the outline does not have, by language.",
    ),
    "store": ("Store", "The store against the bare driver with the same statements, in one run."),
    "graph": ("Graph queries", "Queries against a bare scan of the same documents for links."),
    "sync": (
        "Sync",
        "The server over real sockets, against a bare WebSocket echo and the store's own rate.",
    ),
    "reading": ("Reading", "Repeated reads in a growing session, against a plain read."),
    "sequence": (
        "Sequence search",
        "Segments and questions at the size of a code base, against plain passes over the bytes.",
    ),
    "clones": ("Clones against jscpd", "Both programs on the same files, by turns, as processes."),
    "facts": ("Extraction", "Facts of a file against a bare parse by the same grammar."),
    "index": ("Index", "Building, syncing and searching, against bare parsing and a bare walk."),
    "index_growth": ("How the index grows", "Costs of one index at growing sizes of its tree."),
    "exact": ("Exact search", "`re:` against a pass through every chunk and every file."),
    "mcp": ("Tools over MCP", "Starts and calls, against an empty server of the same SDK."),
    "hooks": ("Hooks", "What a hook adds to a tool call, beside a process that does nothing."),
    "load": (
        "Beside a hostile agent",
        "Waits of ordinary calls while another agent's calls are hostile, against a control.",
    ),
    "teams": (
        "Teams",
        "A fresh home that takes its index from PostgreSQL, against indexing from nothing.",
    ),
}  # fmt: skip
"""The heading and one sentence of each, by the name of its benchmark."""


def heading(name: str) -> str:
    """What stands above the table of a record: the heading, a sentence, and the chart."""
    title, sentence = SECTIONS[name]
    chart = f"\n\n![{title}](images/{image_name(name)})" if name in DRAWINGS else ""
    return f"## {title}\n\n{sentence}{chart}"


def missing(records: Records) -> str:
    """A sentence about what is not recorded yet."""
    names = [f"`{name}`" for name in SECTIONS if name not in records]
    if not names:
        return "Every benchmark is recorded."
    return (
        f"Not recorded yet: {', '.join(names)}. Their figures are on the pages of each part, with"
        " the day they were measured on. `make evidence` records them too, best on a quiet machine."
    )
