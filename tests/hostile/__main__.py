"""`python -m tests.hostile [--write] [--seed N] [NAME …]`: run the campaigns and show the table.

With --write the table goes into docs/security.md; rows of campaigns that were not run stay.
"""

from __future__ import annotations

import argparse
import sys

from tests.hostile import table
from tests.hostile.campaigns import CAMPAIGNS, run
from tests.hostile.result import Result


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile")
    parser.add_argument("names", nargs="*", help="some campaigns only")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--seed", type=int, default=15)
    args = parser.parse_args()
    results: dict[str, Result] = {}
    for campaign in CAMPAIGNS:
        if args.names and campaign.name not in args.names:
            continue
        result = results[campaign.name] = run(campaign, args.seed)
        print(
            f"{campaign.name}: {result.tried:,} tried, {len(result.problems)} problems", flush=True
        )
        for problem in result.problems:
            print(f"  {problem}", file=sys.stderr)
    made = {line.split("|")[1].strip(): line for line in table.rows(results)}
    if args.write:
        text = table.PAGE.read_text(encoding="utf-8")
        kept = {
            name: f"| {name} | {' | '.join(cells)} |" for name, cells in table.listed(text).items()
        }
        lines = [(kept | made)[each.name] for each in CAMPAIGNS if each.name in kept | made]
        table.PAGE.write_text(table.written(text, lines), encoding="utf-8")
    print("\n".join([*table.HEAD, *made.values()]))
    return 1 if any(result.problems for result in results.values()) else 0


if __name__ == "__main__":
    raise SystemExit(main())
