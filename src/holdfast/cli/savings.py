"""`holdfast savings`: what your own sessions read, what was saved, and what could be."""

from __future__ import annotations

import argparse
import sys

from holdfast.app import App
from holdfast.cli.output import print_json, print_table
from holdfast.errors import UsageError
from holdfast.replay.find import AGENTS, CLIENTS
from holdfast.replay.report import AgentSavings, SavingsAnswer
from holdfast.text import counted

DAYS = 14
DAY_S = 86_400


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--client", choices=[*CLIENTS, *AGENTS], help="only the sessions of this agent"
    )
    parser.add_argument(
        "--since",
        type=float,
        default=DAYS,
        metavar="DAYS",
        help=f"only sessions of the last DAYS days (default: {DAYS})",
    )
    parser.add_argument(
        "--limit", type=int, default=40, metavar="N", help="at most N sessions, the newest first"
    )
    parser.add_argument("--json", action="store_true", help="answer as JSON")


def run(args: argparse.Namespace, app: App) -> int:
    if args.limit < 1:
        raise UsageError(f"--limit must be at least 1 (got {args.limit})")
    if not 0 < args.since < 100_000:
        raise UsageError(f"--since must be a number of days above 0 (got {args.since:g})")
    agent = CLIENTS.get(args.client, args.client)
    savings = app.own_savings(args.since * DAY_S, agent, args.limit, _progress)
    if args.json:
        print_json(savings.to_wire())
    else:
        _show(savings, args.since)
    return 0


def _progress(done: int, of: int) -> None:
    if sys.stderr.isatty():
        end = "\r" if done + 1 < of else "\r\x1b[K"
        print(f"looking at session {done + 1} of {of}", end=end, file=sys.stderr, flush=True)


def _show(answer: SavingsAnswer, days: float) -> None:
    if not answer.agents:
        print(f"no sessions of agents with reads were found in the last {days:g} days")
        print("--since DAYS looks further back; for a session of `holdfast read`:")
        print("holdfast readcache status --session NAME")
    else:
        head = ["agent", "contexts", "read", "saved", "replay saves", "possible", "by rule"]
        rows = [
            [kind_of(one), str(one.contexts), _count(one.read_tokens), *_cells(one)]
            for one in answer.agents
        ]
        print_table(head, rows)
        print("read: tokens (bytes divided by four); saved: by Holdfast in these sessions;")
        print("replay saves: by the same rules if played again; possible: without losing a line")
        for one in answer.agents:
            print(f"{kind_of(one)}: {focus_text(one)}")
    if answer.left_out:
        print(f"{counted(answer.left_out, 'older session')} left out; --limit N looks at more")
    for line in answer.unreadable:
        print(f"not readable: {line}", file=sys.stderr)


def kind_of(one: AgentSavings) -> str:
    return f"{one.agent} subagents" if one.subagents else one.agent


def _cells(one: AgentSavings) -> list[str]:
    read = one.read_tokens or 1
    rules = sorted({*one.served, *one.replayed})
    by_rule = ", ".join(
        f"{rule} {_share(one.served.get(rule, 0) + one.replayed.get(rule, 0), read)}"
        for rule in rules
    )
    return [
        _share(sum(one.served.values()), read),
        _share(sum(one.replayed.values()), read),
        _share(sum(one.served.values()) + one.bound, read),
        by_rule or "-",
    ]


def focus_text(one: AgentSavings) -> str:
    """One line about what focus saved and could save."""
    focus, read = one.focus, one.read_tokens or 1
    parts = []
    if focus.folds:
        parts.append(
            f"{counted(focus.folds, 'fold')}, {focus.reopened} reopened with "
            f"{counted(focus.extra_reads, 'read')}, "
            f"net {_share(focus.saved_tokens, read)}"
        )
    if focus.possible_folds:
        parts.append(
            f"{counted(focus.possible_folds, 'long first read')} could be folded: "
            f"{_share(focus.optimistic, read)} at best, {_share(focus.middle, read)} probably, "
            f"{_share(focus.pessimistic, read)} at worst"
        )
    return "; ".join([*parts, focus.advice])


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}"


def _count(number: int) -> str:
    return f"{number:,}"
