"""What real sessions would save: `python -m bench.savings --traces FILE --sessions DIR`.

Traces and transcripts of real sessions are played through the real readers
(`holdfast.replay.player`): the log grows event by event in the agent's own format, every native
read is put to the real decision, and what the model would have got goes into the log. Printed per
kind of session: what was read, what was saved by which rule, and the bound, which a replay with
full knowledge of every line reaches (`holdfast.replay.bound`).

Tokens are bytes divided by four.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bench import sessions, traces
from bench.timing import Row, save
from holdfast.replay import bound
from holdfast.replay.player import KINDS, play
from holdfast.replay.trace import trace_of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--traces", type=Path, help="a file of traces, .jsonl or .jsonl.gz")
    parser.add_argument("--sessions", type=Path, help="a folder of agents' session files")
    parser.add_argument("--kind", help="only this kind of session")
    arguments = parser.parse_args()
    if arguments.traces is None and arguments.sessions is None:
        parser.error("needs --traces FILE or --sessions DIR")
    out: dict[str, Any] = {}
    if arguments.traces is not None:
        out["contexts"] = rows_of(traces.load(arguments.traces), arguments.kind)
        table(out["contexts"])
    if arguments.sessions is not None:
        found = map(trace_of, sessions.load(arguments.sessions))
        out["sessions"] = rows_of(found, arguments.kind)
        print("sessions:")
        table(out["sessions"])
    save("savings", [row for part, found in out.items() for row in summary(part, found)])


def rows_of(found: Iterable[Mapping[str, Any]], only: str | None) -> list[dict[str, Any]]:
    rows = []
    for trace in found:
        if only is not None and trace["kind"] != only:
            continue
        player = play(trace)
        rows.append(
            {
                "name": trace["s"],
                "kind": trace["kind"],
                "read": player.read_bytes,
                "answers": player.answers,
                "saved": player.saved,
                "bound": bound.saved(trace),
            }
        )
    return rows


def shares(rows: list[dict[str, Any]]) -> Iterator[tuple[str, int, int, list[float], float]]:
    """For each kind: its contexts, bytes read, the share that each rule saves, and the bound."""
    for kind in dict.fromkeys(row["kind"] for row in rows):
        ours = [row for row in rows if row["kind"] == kind]
        read = sum(row["read"] for row in ours) or 1
        by_rule = [sum(row["saved"][name] for row in ours) / read for name in KINDS]
        yield kind, len(ours), read, by_rule, sum(row["bound"] for row in ours) / read


def summary(part: str, rows: list[dict[str, Any]]) -> Iterator[Row]:
    """What is recorded: shares of the tokens read, in percent."""
    for kind, count, read, by_rule, limit in shares(rows):
        saved, goal = 100 * sum(by_rule), 90 * limit
        note = ", ".join(f"{n} {100 * s:.1f}" for n, s in zip(KINDS, by_rule, strict=True))
        yield Row(f"{part}, {kind}: saved", saved, "%", f"≥ {goal:.1f}", saved >= goal, note)
        yield Row(f"{part}, {kind}: possible", 100 * limit, "%")
        yield Row(f"{part}, {kind}: read", read / 4, "tokens", note=f"{count} {part}")


def table(rows: list[dict[str, Any]]) -> None:
    names = ("kind", "contexts", "read tokens", *KINDS, "saved %", "bound %", "of bound")
    print("".join(f"{name:>17}" for name in names))
    for kind, count, read, by_rule, limit in shares(rows):
        cells = [kind, str(count), str(read // 4), *(f"{share:.1%}" for share in by_rule)]
        saved = sum(by_rule)
        cells += [f"{saved:.1%}", f"{limit:.1%}", f"{saved / limit:.0%}" if limit else "-"]
        print("".join(f"{cell:>17}" for cell in cells))
    print("tokens: bytes divided by four; saved: share of what was read")


if __name__ == "__main__":
    main()
