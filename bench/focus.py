"""What focused first reads would save: `python -m bench.focus --sessions DIR`.

Transcripts of real sessions are folded by the real rules and judged by what they used later; see
`holdfast.replay.focus_savings`. Printed is what is left of the saving, in % of all tokens read.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.sessions import load
from bench.timing import Row, save
from holdfast.file_focus import outliner
from holdfast.reading.focus import Presets
from holdfast.replay.focus_savings import VIEWS, Tally, play, row_of

NEVER = 10**9
PRESETS = {
    "preset": Presets(),
    "above 300": Presets(300, 300),
    "subagents": Presets(NEVER, 300),
    "main": Presets(800, NEVER),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sessions", type=Path, required=True, help="a folder of transcripts")
    parser.add_argument("--limit", type=int, help="only so many contexts")
    arguments = parser.parse_args()
    contexts = list(load(arguments.sessions))[: arguments.limit]
    outline = outliner()
    rows = []
    for title, presets in PRESETS.items():
        tally = Tally()
        for context in contexts:
            play(context, presets, outline, tally)
        rows.append(row_of(title, tally))
    save("focus", [row for found in rows for row in summary(found)])
    table(rows)


GOALS = {"middle": 14, "pessimistic": 0}


def summary(found: dict[str, Any]) -> Iterator[Row]:
    """What is recorded of a preset; goals are those of the default one."""
    name = found["preset"]
    for view in VIEWS:
        value = 100 * found[view]
        goal = GOALS.get(view) if name == "preset" else None
        met = None if goal is None else value >= goal
        yield Row(f"{name}, {view}", value, "%", "" if goal is None else f"≥ {goal}", met)
    met = found["extra"] <= 1 if name == "preset" else None
    goal_of = "≤ 1" if name == "preset" else ""
    yield Row(f"{name}, extra reads per fold", found["extra"], "", goal_of, met,
              f"{found['folds']} folds of {found['of']} whole first reads")  # fmt: skip


def table(rows: list[dict[str, Any]]) -> None:
    names = ("preset", "folds", "of", "shown %", "edits open %", *VIEWS, "extra reads")
    print("".join(f"{name:>14}" for name in names))
    for row in rows:
        cells = [row["preset"], row["folds"], row["of"]]
        cells += [f"{row[name]:.0%}" for name in ("shown", "editsOpen")]
        cells += [f"{row[view]:.1%}" for view in VIEWS]
        cells.append(f"{row['extra']:.2f}")
        print("".join(f"{cell:>14}" for cell in cells))
    print("net saving in % of all tokens read; extra reads per fold")


if __name__ == "__main__":
    main()
