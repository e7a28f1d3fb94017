"""`python -m tests.hostile [--minutes N] [--out FILE] [--seed N] [--list] [NAME …]`: run campaigns.

    python -m tests.hostile                            each once, as long as in CI
    python -m tests.hostile --minutes 60 --out FILE    up to an hour of each, in turns
    python -m tests.hostile --minutes 60 --together --out FILE fuzz    an hour of one kind in all
    python -m tests.hostile --minutes 60 --out FILE --resume    go on with a run that was ended
    python -m tests.hostile --join FILE FILE --out FILE         results of several runs as one
    python -m tests.hostile --table FILE               the table of docs/security.md from FILE

With --minutes every campaign runs batches with fresh seeds until its batches took so long or it
tried as much as a soak does; one process runs at a time. With --together the campaigns that are
named share the minutes, however much they tried, and a name is a kind of campaigns: fuzz, crash,
simulation or property. FILE is written after every batch, so a
run may be ended at any time. It is JSON:

    {"format": 2, "commit": …, "machine": …, "seed": …, "minutes": …, "campaigns": [
      {"name": …, "kind": …, "what": …, "tests": a test file, "tried": how often,
       "outcomes": {outcome: how often}, "problems": [what should not have happened],
       "seeds": [one for each batch], "seconds": …, "processor_seconds": …}]}

Exit code 1 if there was a problem.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.timing import machine
from tests.hostile import run, table
from tests.hostile.campaigns import CAMPAIGNS, KINDS
from tests.hostile.run import Record


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile")
    parser.add_argument("names", nargs="*", help="some campaigns only")
    parser.add_argument("--minutes", type=float, help="how long each campaign runs at most")
    parser.add_argument(
        "--together", action="store_true", help="the campaigns share the minutes, with no other end"
    )
    parser.add_argument("--out", type=Path, help="write the results to this file, as JSON")
    parser.add_argument("--seed", type=int, default=15)
    parser.add_argument("--resume", action="store_true", help="go on with the run in --out")
    parser.add_argument(
        "--join", type=Path, nargs="+", metavar="FILE", help="join results in --out, run nothing"
    )
    parser.add_argument("--list", action="store_true", help="name the campaigns")
    parser.add_argument(
        "--table",
        type=Path,
        metavar="FILE",
        help="write docs/security.md from results, run nothing",
    )
    args = parser.parse_args()
    if args.list:
        print("\n".join(f"{each.name}: {each.what}" for each in CAMPAIGNS))
        return 0
    if args.join:
        if args.out is None:
            parser.error("--join needs --out")
        text = run.joined([path.read_text(encoding="utf-8") for path in args.join])
        args.out.write_text(text, encoding="utf-8")
        return 0
    if args.table:
        table.rewrite(run.results_of(args.table.read_text(encoding="utf-8")))
        return 0
    kinds = KINDS if args.together else {}
    names = {name for given in args.names for name in kinds.get(given, [given])}
    if args.together and args.minutes is None:
        parser.error("--together needs --minutes")
    unknown = names - {each.name for each in CAMPAIGNS}
    if unknown:
        parser.error(f"no campaign is called {', '.join(sorted(unknown))}; --list names them")
    if args.resume and (args.out is None or args.minutes is None):
        parser.error("--resume needs --out and --minutes")
    chosen = [each for each in CAMPAIGNS if not names or each.name in names]
    about = {
        "commit": _commit(), "machine": machine(), "seed": args.seed, "minutes": args.minutes,
    }  # fmt: skip

    def after(record: Record, records: Sequence[Record]) -> None:
        if args.out:
            run.written(args.out, about, records)
        found = record.result
        print(f"{record.campaign.name}: {found.tried:,} tried, {len(found.problems)} problems "
              f"in {record.seconds:.0f} s", flush=True)  # fmt: skip

    # So that folders and disks of the batch are removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    limit_s = None if args.minutes is None else args.minutes * 60
    records = [Record(each) for each in chosen]
    if args.resume:
        text = args.out.read_text(encoding="utf-8")
        records = run.resumed(text, chosen)
        about["commit"] = f"{json.loads(text)['commit']} {about['commit']}"
    if args.together and limit_s is not None:
        run.run_together(records, args.seed, limit_s, after)
    else:
        run.run_in_turns(records, args.seed, limit_s, after)
    for problem in (each for record in records for each in record.result.problems):
        print(problem, file=sys.stderr)
    print("\n".join([*table.HEAD, *table.rows({r.campaign.name: r.result for r in records})]))
    return 1 if any(record.result.problems for record in records) else 0


def _commit() -> str:
    words = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


if __name__ == "__main__":
    raise SystemExit(main())
