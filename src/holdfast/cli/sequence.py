"""`holdfast sequence show`: draw the graph of a few short texts."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from holdfast.app import App
from holdfast.errors import UsageError
from holdfast.sequence import draw
from holdfast.sequence.canonical import canonical_graph
from holdfast.sequence.errors import UnknownAtom
from holdfast.sequence.graph import Atom, Graph
from holdfast.sequence.response import Response
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
    show.add_argument("texts", nargs="*", metavar="TEXT", help="documents, one letter an atom")
    show.add_argument("--file", action="append", default=[], help="a document from a file, lexed")
    show.add_argument(
        "--tokens", action="store_true", help="cut the texts into tokens, not letters"
    )
    show.add_argument("--no-unions", action="store_true", help="leave overlap unions out")
    show.add_argument("--query", metavar="TEXT", help="also search for this and say where it lies")
    show.add_argument("--svg", metavar="FILE", help="write a drawing to a file")
    show.add_argument(
        "--max-vertices",
        type=int,
        default=draw.DRAWN_MAX,
        metavar="N",
        help="refuse to draw more than so many",
    )
    show.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace, app: App) -> int:
    documents = [_atoms(text.encode("utf-8", "surrogateescape"), "", args) for text in args.texts]
    for name in args.file:
        try:
            data = Path(name).read_bytes()
        except OSError as error:
            raise UsageError(f"{name} cannot be read: {error.strerror}") from error
        documents.append([t.decode("utf-8", "replace") for t in lex(data, family_of(name)).texts])
    documents = [document for document in documents if document]
    if not documents:
        raise UsageError("there is nothing to draw", "give a text, or --file")
    graph = canonical_graph(
        documents, unions=not args.no_unions, max_vertices=min(args.max_vertices, draw.DRAWN_MAX)
    )
    answer = _search(graph, args) if args.query else None
    if args.svg:
        Path(args.svg).write_text(draw.as_svg(graph), encoding="utf-8")
    if args.json:
        print(json.dumps(_data(graph, answer)))
        return 0
    print(draw.as_text(graph))
    if answer is not None:
        lies = f"{draw.label(graph, answer.root)} [{answer.start}, {answer.end})"
        whole = "all of it" if answer.query_exhausted else f"{answer.position} atoms of it"
        print(f"query {args.query!r}: {whole}, {answer.kind.value} in {lies}")
    return 0


def _atoms(text: bytes, name: str, args: argparse.Namespace) -> list[Atom]:
    if args.tokens:
        return [token.decode("utf-8", "replace") for token in lex(text, family_of(name)).texts]
    return list(text.decode("utf-8", "replace"))


def _search(graph: Graph, args: argparse.Namespace) -> Response:
    query = _atoms(args.query.encode("utf-8", "surrogateescape"), "", args)
    try:
        return find_sequence(graph, query)
    except UnknownAtom as unknown:
        raise UsageError(f"no text has {unknown.value!r}") from unknown


def _data(graph: Graph, answer: Response | None) -> dict[str, Any]:
    vertices = [
        {
            "id": vertex,
            "label": draw.label(graph, vertex),
            "width": graph.width(vertex),
            "patterns": [list(pattern) for pattern in graph.patterns(vertex)],
        }
        for vertex in graph.vertices()
    ]
    data: dict[str, Any] = {"format": 1, "closed": graph.closed, "vertices": vertices}
    if answer is not None:
        data["answer"] = {
            "kind": answer.kind.value,
            "reason": answer.reason.value,
            "root": answer.root,
            "start": answer.start,
            "end": answer.end,
            "position": answer.position,
            "exhausted": answer.query_exhausted,
        }
    return data
