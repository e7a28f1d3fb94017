"""`holdfast references`: who mentions a symbol, who implements it, where it is declared."""

from __future__ import annotations

import argparse

from holdfast.app import App
from holdfast.cli.output import print_json
from holdfast.cli.symbol_command import add_symbol, named_place, refused
from holdfast.cli.terminal import exit_code, terminal
from holdfast.index.facts.mentions import KINDS
from holdfast.index.tools.references import LIMIT_DEFAULT, references
from holdfast.index.tools.render_references import references_text


def configure(parser: argparse.ArgumentParser) -> None:
    add_symbol(parser)
    parser.add_argument(
        "--kind",
        action="append",
        choices=KINDS,
        default=[],
        help="only references of this kind; may be repeated",
    )
    parser.add_argument(
        "--implementations",
        action="store_true",
        help="what implements or overrides it: subclasses of a class, overrides of a method",
    )
    parser.add_argument(
        "--declaration", action="store_true", help="only where it is declared and defined"
    )
    parser.add_argument(
        "--limit",
        type=int,
        default=LIMIT_DEFAULT,
        metavar="N",
        help=f"maximum number of references (default: {LIMIT_DEFAULT})",
    )
    parser.add_argument("--json", action="store_true", help="answer as JSON")


def run(args: argparse.Namespace, app: App) -> int:
    tree, file = named_place(args, "references")
    index = app.open_index()
    try:
        answer = references(
            index,
            tree,
            args.symbol,
            file=file,
            relation="implementations"
            if args.implementations
            else "declaration"
            if args.declaration
            else "references",
            kinds=args.kind,
            limit=args.limit,
        )
    finally:
        index.close()
    if args.json:
        print_json(answer.to_wire())
        return exit_code(answer.status)
    if answer.status != "ok":
        raise refused(answer)
    print(references_text(answer, terminal(), more=f"--limit {answer.total}"))
    return exit_code(answer.status)
