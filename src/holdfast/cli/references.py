"""`holdfast references`: where a symbol is mentioned, implemented and declared."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from holdfast.cli.symbol_command import add_limit, add_symbol, named_place, print_answer
from holdfast.index.facts.mention_kinds import KINDS
from holdfast.index.tools.limits import REFERENCES_DEFAULT

# What asks and prints is imported by `run`: a help text needs none of it.
if TYPE_CHECKING:
    from holdfast.app import App
    from holdfast.index.tools.references import Relation


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
    add_limit(parser, REFERENCES_DEFAULT, "references")


def run(args: argparse.Namespace, app: App) -> int:
    from holdfast.index.tools.references import references
    from holdfast.index.tools.render_references import references_text

    tree, file = named_place(args, "references")
    return print_answer(
        args,
        app,
        lambda index: references(
            index,
            tree,
            args.symbol,
            file=file,
            relation=_relation(args),
            kinds=args.kind,
            limit=args.limit,
        ),
        lambda answer, on: references_text(answer, on, more=f"--limit {answer.total}"),
    )


def _relation(args: argparse.Namespace) -> Relation:
    if args.implementations:
        return "implementations"
    return "declaration" if args.declaration else "references"
