"""The charts of the evidence page: which record each one shows, and how."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bench.evidence import charts
from bench.evidence.records import Record, Records

Draw = Callable[[Record], str]


def savings(record: Record) -> str:
    ending = ": saved"
    kinds = [row.what.removesuffix(ending) for row in record.rows if row.what.endswith(ending)]
    values = {row.what: row.value or 0.0 for row in record.rows}
    series = {part: [values[f"{kind}: {part}"] for kind in kinds] for part in ("saved", "possible")}
    return charts.bars("Read tokens saved on real sessions", "% of read tokens", kinds, series)


def retrieval(record: Record) -> str:
    found: dict[str, dict[str, float]] = {}
    for row in record.rows:
        name, _, system = row.what.partition(", ")
        found.setdefault(name, {})[system] = row.value or 0.0
    systems = list(dict.fromkeys(system for one in found.values() for system in one))
    series = {system: [one.get(system, 0.0) for one in found.values()] for system in systems}
    return charts.bars("Search quality by question set", "NDCG@10 by path", list(found), series)


def growth(across: str, leave: tuple[str, ...] = ()) -> Draw:
    """Costs against sizes; `leave` names rows that are not times."""

    def draw(record: Record) -> str:
        series = {
            f"{row.what.removesuffix(': exponent')} ({row.value:.2f})": row.points
            for row in record.rows
            if len(row.points) > 1 and not row.what.startswith(leave)
        }
        return charts.lines("Costs against sizes, with exponents", across, "ms", series)

    return draw


def shares(title: str, ending: str) -> Draw:
    """A bar for each row of this ending."""

    def draw(record: Record) -> str:
        rows = [row for row in record.rows if row.what.endswith(ending)]
        names = [row.what.removesuffix(ending) for row in rows]
        values = [row.value or 0.0 for row in rows]
        return charts.bars(title, "%", names, {ending.strip(": "): values})

    return draw


SIZES = ("disk", "build memory", "search memory", "calls memory")
DRAWINGS: dict[str, Draw] = {
    "savings": savings,
    "retrieval": retrieval,
    "calls": shares("Calls found, of the judge's", ": found"),
    "outline": shares("Definitions missed against ctags", ": missed"),
    "growth": growth("documents and commits"),
    "index_growth": growth("chunks", SIZES),
}


def image_name(name: str) -> str:
    """The file name of a record's chart."""
    return f"evidence-{name.replace('_', '-')}.svg"


def images(records: Records) -> Iterator[tuple[str, str]]:
    """The file name and the text of every chart that has a record."""
    for name, draw in DRAWINGS.items():
        if name in records:
            yield image_name(name), draw(records[name])
