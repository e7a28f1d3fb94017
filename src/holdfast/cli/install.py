"""`holdfast install` and `holdfast uninstall`: set up agents to use Holdfast, or undo it."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from holdfast.agents import focus_setting
from holdfast.agents.client import Client, InstallTarget
from holdfast.agents.clients import CLIENTS
from holdfast.agents.plan import Edit, Receipts, apply
from holdfast.agents.target import target_of
from holdfast.app import App
from holdfast.cli import output
from holdfast.cli.output import ignore_broken_pipe, print_json, styled
from holdfast.errors import HoldfastError, UsageError
from holdfast.extras import install_command
from holdfast.mcp.toolsets import parse


def configure(parser: argparse.ArgumentParser, *, install: bool = True) -> None:
    parser.add_argument(
        "--client",
        choices=[*CLIENTS, "all"],
        default="all",
        help="which agent; all (the default): every agent that is found",
    )
    parser.add_argument(
        "--scope",
        choices=("user", "project"),
        default="user",
        help="user: all your projects; project: files in the working directory",
    )
    done = "written" if install else "changed and removed"
    parser.add_argument("--dry-run", action="store_true", help=f"show what would be {done}")
    parser.add_argument(
        "--command",
        dest="start",
        metavar="PROGRAM",
        help="how the agent starts Holdfast (default: this program)",
    )
    if install:
        parser.add_argument(
            "--tools",
            metavar="SETS",
            help="toolsets to list: search, read, memory or all (default: search,read,memory)",
        )
        parser.add_argument(
            "--focus",
            action="store_true",
            help="also shorten first reads of long files; `holdfast savings` shows what that saves",
        )
    parser.add_argument("--json", action="store_true", help="answer as JSON")


def run(args: argparse.Namespace, app: App) -> int:
    return _run(args, app, install=True)


def run_uninstall(args: argparse.Namespace, app: App) -> int:
    return _run(args, app, install=False)


def _run(args: argparse.Namespace, app: App, *, install: bool) -> int:
    target = target_of(app, args.scope, args.start)
    if install and args.tools is not None:
        parse(args.tools)  # raises for an unknown toolset
        target = replace(target, tools=args.tools)
    receipts = Receipts(app.home.receipts)
    clients = _clients(args, target, receipts, install=install)
    if not clients and not args.json:
        print("no agent was found, and there is nothing to uninstall")
    facts = []
    for client in clients:
        try:
            facts.append(_one(client, target, receipts, app, args, install=install))
        except (HoldfastError, OSError) as error:
            if len(clients) == 1:
                raise
            hint = getattr(error, "hint", "")
            facts.append({"client": client.name, "status": "failed", "error": f"{error}"})
            if not args.json:
                print(f"{client.title}: {error}", file=sys.stderr)
                if hint:
                    print(f"hint: {hint}", file=sys.stderr)
    if install and args.start is None and find_spec("mcp") is None:
        print(
            "note: the package mcp is not installed, so agents cannot use the tools yet\n"
            f"hint: run: {install_command('agents')}",
            file=sys.stderr,
        )
    if args.json:
        print_json({"dryRun": args.dry_run, "scope": args.scope, "clients": facts})
    return 1 if any(fact["status"] == "failed" for fact in facts) else 0


def _clients(
    args: argparse.Namespace, target: InstallTarget, receipts: Receipts, *, install: bool
) -> list[Client]:
    if args.client != "all":
        return [CLIENTS[args.client]]
    # What was installed can be removed even if the agent itself is gone.
    receipt_keys = set() if install else set(receipts.load())
    clients = [
        client
        for client in CLIENTS.values()
        if client.detect(target) or _key(client, target) in receipt_keys
    ]
    if not clients and install:
        raise UsageError(
            "no agent was found",
            f"name one: --client {'|'.join(CLIENTS)}",
        )
    return clients


def _key(client: Client, target: InstallTarget) -> str:
    """The key of a receipt."""
    return client.name if target.project is None else f"{client.name}@{target.project}"


def _one(
    client: Client,
    target: InstallTarget,
    receipts: Receipts,
    app: App,
    args: argparse.Namespace,
    *,
    install: bool,
) -> dict[str, Any]:
    key = _key(client, target)
    receipt = receipts.get(key)
    target = replace(target, before=tuple(map(str, receipt.get("command", ()))))
    edits = client.install(target) if install else client.uninstall(target, receipt)
    focuses = False
    if install and args.focus and (args.client != "all" or client.name in focus_setting.AGENTS):
        edit = focus_setting.turn_on(client.name, app.home.reading_settings)
        focuses = edit.needed
        edits.append(edit)
    elif not install:
        gone = focus_setting.turn_off(client.name, app.home.reading_settings, receipt)
        edits += [] if gone is None else [gone]
    changes = [edit for edit in edits if edit.needed]
    backups: list[Path] = []
    if not args.dry_run:
        app.home.make()
        ours = () if install else [str(one) for one in receipt.get("folders", ())]
        done = apply(edits, app.home.backups, app.clock.now_s(), ours, app.new_id)
        backups = done.backups
        if install and changes:
            kept_receipt = client.receipt(edits, receipt, target, done.folders)
            if focuses or receipt.get("focus"):
                kept_receipt["focus"] = True
            receipts.put(key, kept_receipt)
        elif not install:
            receipts.put(key, None)
    if not args.json:
        with ignore_broken_pipe():
            next_step = client.next_step
            if target.project is not None and client.next_step_in_project:
                next_step = client.next_step_in_project
            _show(client.title, changes, backups, args.dry_run, next_step if install else None)
    return {
        "client": client.name,
        "status": "unchanged" if not changes else "planned" if args.dry_run else "written",
        "files": [
            {"path": str(edit.path), "what": edit.what, "needed": edit.needed, "diff": edit.diff()}
            for edit in edits
        ],
        "backups": [str(path) for path in backups],
    }


def _show(
    title: str, changes: list[Edit], untouched: list[Path], dry_run: bool, next_step: str | None
) -> None:
    """Print what was done, or would be; `next_step` is None for an uninstallation."""
    name = styled(title, output.BOLD)
    if not changes:
        print(f"{name}: {'already set up' if next_step else 'not set up'}")
        return
    write_verbs = ("would write", "wrote") if next_step else ("would change", "changed")
    print(f"{name}:")
    for edit in changes:
        verbs = ("would remove", "removed") if edit.after is None else write_verbs
        print(f"  {verbs[not dry_run]} {edit.path}")
        taken_out = "took out: " if not next_step and edit.after is not None else ""
        print(f"    {taken_out}{edit.what}")
        if dry_run:
            for line in edit.diff().splitlines():
                colour = {"+": output.GREEN, "-": output.RED}.get(line[:1], output.DIM)
                print("    " + styled(line, colour))
    for path in untouched:
        print(f"  backup: {path}")
    if next_step and not dry_run:
        print(f"  next: {next_step}")
