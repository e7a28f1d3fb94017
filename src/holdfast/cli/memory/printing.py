"""Print an answer of memory: as JSON, or as its text in colour."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TextIO

from holdfast.cli import output
from holdfast.cli.output import plain, print_json, print_table, styled

if TYPE_CHECKING:
    from holdfast.store.memory.render import Answer, Text
    from holdfast.store.model import State


def print_json_list(items: Iterable[Any]) -> None:
    """Print a JSON list, one item at a time."""
    import json

    opened = False
    for item in items:
        print("," if opened else "[")
        opened = True
        print(json.dumps(item, ensure_ascii=False, indent=2), end="")
    print("\n]" if opened else "[]")


def print_line(state: State) -> None:
    """Print a document on one line."""
    from holdfast.store.memory.render import document_line

    print(plain(document_line(state.id, state.seq, state.document)))


def print_answer(answer: Answer, as_json: bool = False, stream: TextIO | None = None) -> None:
    """Print an answer on standard output, or its text on another stream."""
    if as_json:
        print_json(answer.to_wire())
        return
    from holdfast.store.memory.render import text_of

    print_lines(text_of(answer), stream)


def print_lines(text: Text, stream: TextIO | None = None) -> None:
    """Print a text in colour."""
    from holdfast.store.memory.render import TextLine, Tone

    styles = {
        Tone.ADDED: output.GREEN,
        Tone.REMOVED: output.RED,
        Tone.CHANGED: output.YELLOW,
        Tone.PLAIN: output.PLAIN,
    }
    out = sys.stdout if stream is None else stream
    for part in text:
        if not isinstance(part, TextLine):
            print_table(part.heading, part.rows)
        elif part.tone is Tone.PLAIN:
            print(plain(part.text), file=out)
        else:
            print(styled(plain(part.text), styles[part.tone], out), file=out)
