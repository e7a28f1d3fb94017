"""`holdfast sequence show`: draw the graph of a few short texts."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from holdfast.app import App
from holdfast.cli.user_files import read_user_file
from holdfast.errors import UsageError
from holdfast.sequence import draw
from holdfast.sequence.canonical import canonical_graph
from holdfast.sequence.errors import UnknownAtom
from holdfast.sequence.graph import Atom, Graph
from holdfast.sequence.response import GraphMatch
from holdfast.sequence.search import find_sequence
from holdfast.sequence.tokens.families import family_of
from holdfast.sequence.tokens.lexer import lex


def configure(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    show = verbs.add_parser(
        "show",
        help="draw the graph of a few short texts",
        description="Draw the graph of a few short texts.",
    )
    show.add_argument("texts", nargs="*", metavar="TEXT", help="a document; each letter is an atom")
    show.add_argument(
        "--file",
        action="append",
        default=[],
        metavar="FILE",
        help="read a document from a file and split it into tokens",
    )
    show.add_argument(
        "--tokens", action="store_true", help="split the texts into tokens instead of letters"
    )
    show.add_argument("--no-unions", action="store_true", help="leave out overlap unions")
    show.add_argument("--query", metavar="TEXT", help="also search for TEXT and print where it is")
    show.add_argument("--svg", metavar="FILE", help="write a drawing to FILE")
    show.add_argument(
        "--max-vertices",
        type=int,
        default=draw.DRAWN_MAX,
        metavar="N",
        help="refuse to draw a graph with more than N vertices",
    )
    show.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace, app: App) -> int:
    documents = [_atoms(text.encode("utf-8", "surrogateescape"), args) for text in args.texts]
    for name in args.file:
        data = read_user_file(name)
        documents.append([t.decode("utf-8", "replace") for t in lex(data, family_of(name)).texts])
    documents = [document for document in documents if document]
    if not documents:
        raise UsageError("no text to draw", "give at least one TEXT or --file FILE")
    graph = canonical_graph(
        documents, unions=not args.no_unions, max_vertices=min(args.max_vertices, draw.DRAWN_MAX)
    )
    answer = draw.ShowAnswer(graph, args.query or "", _search(graph, args))
    if args.svg:
        Path(args.svg).write_text(draw.as_svg(graph), encoding="utf-8")
    print(json.dumps(answer.to_wire()) if args.json else answer.as_text())
    return 0


def _atoms(text: bytes, args: argparse.Namespace) -> list[Atom]:
    if args.tokens:
        return [token.decode("utf-8", "replace") for token in lex(text, family_of("")).texts]
    return list(text.decode("utf-8", "replace"))


def _search(graph: Graph, args: argparse.Namespace) -> GraphMatch | None:
    if not args.query:
        return None
    try:
        return find_sequence(graph, _atoms(args.query.encode("utf-8", "surrogateescape"), args))
    except UnknownAtom as unknown:
        raise UsageError(f"none of the texts contains {unknown.value!r}") from unknown
