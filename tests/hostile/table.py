"""The table of campaigns in `docs/security.md`: what was tried, how often, what happened."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.hostile.campaigns import CAMPAIGNS
from tests.hostile.result import Result

PAGE = Path(__file__).resolve().parents[2] / "docs" / "security.md"
START = "<!-- campaigns: python -m tests.hostile --table docs/evidence/campaigns.json -->"
END = "<!-- end of campaigns -->"
HEAD = ["| campaign | what was tried | times | what happened | problems |", "|---|---|---|---|---|"]


def outcomes_of(result: Result) -> str:
    """The outcomes without the kind of file or process before them, most frequent first."""
    short: Counter[str] = Counter()
    for outcome, times in result.outcomes.items():
        short[outcome.rpartition(": ")[2]] += times
    return ", ".join(f"{name} {times:,}" for name, times in short.most_common())


def rows(results: dict[str, Result]) -> list[str]:
    return [
        f"| {each.name} | {each.what} | {results[each.name].tried:,} "
        f"| {outcomes_of(results[each.name])} | {len(results[each.name].problems)} |"
        for each in CAMPAIGNS
        if each.name in results
    ]


def written(text: str, lines: list[str]) -> str:
    """The page with these rows in place of those it has."""
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    return "\n".join([before + START, "", *HEAD, *lines, "", END]) + after


def rewrite(results: dict[str, Result]) -> None:
    """Write the page with the table of these results and no other row."""
    page = written(PAGE.read_text(encoding="utf-8"), rows(results))
    PAGE.write_text(page, encoding="utf-8")


def listed(text: str) -> dict[str, list[str]]:
    """The rows of the page by campaign: the cells after its name."""
    inside = text.partition(START)[2].partition(END)[0]
    found = {}
    for line in inside.splitlines():
        if line.startswith("| ") and line not in HEAD:
            name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            found[name] = cells
    return found
