"""`holdfast doctor`: check the installation and suggest fixes."""

from __future__ import annotations

import argparse

from holdfast.agents.doctor import examine
from holdfast.agents.target import target_of
from holdfast.app import App
from holdfast.cli import output
from holdfast.cli.output import print_json, styled
from holdfast.text import counted


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="answer as JSON")


def run(args: argparse.Namespace, app: App) -> int:
    """0 when nothing is wrong, 1 when something is."""
    findings = []
    for finding in examine(app, target_of(app)):
        findings.append(finding)
        if args.json:
            continue
        mark, colour = {
            "ok": ("ok   ", output.GREEN),
            "note": ("note ", output.YELLOW),
            "wrong": ("WRONG", output.RED),
        }[finding.state]
        print(f"{styled(mark, colour)}  {finding.about:<8}  {finding.message}")
        if finding.fix:
            print(f"                 {styled('fix: ' + finding.fix, output.DIM)}")
    wrong = sum(finding.state == "wrong" for finding in findings)
    if args.json:
        print_json(
            {
                "status": "wrong" if wrong else "ok",
                "findings": [
                    {"about": f.about, "state": f.state, "said": f.message, "fix": f.fix or None}
                    for f in findings
                ],
            }
        )
    else:
        print("nothing is wrong" if not wrong else counted(wrong, "problem"))
    return 1 if wrong else 0
