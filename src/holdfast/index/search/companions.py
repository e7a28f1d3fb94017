"""The places that belong to the best result: what it calls in its file, and what calls it there.

The best result often answers half of a question; the other half is in a function that it names, a
few lines away. Showing that function saves the reader a second call. Which names mean which symbol
is not resolved here: a name that the text has and the file defines is taken to be meant, which at
worst shows a place that was not wanted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

import msgspec

from holdfast.index.generations.model import StoredChunk
from holdfast.index.search.preview import (
    Asked,
    Preview,
    asked_in,
    part_of_code,
    terms_in,
    whole_code,
)
from holdfast.index.search.terms import terms_of

SHOWN_MAX = 3
"""How many companions are shown with their text."""
CHARACTERS_MAX = 1_600
"""How much the best result and its companions show together."""
WORTH_MIN, WORTH_LONG = 0.9, 0.4
"""How much a companion must be worth, and how much more beside the longest best result."""
WORTH_NAMED, NAMED_MAX = 0.8, 3
"""How much a place must be worth to be named without its code, and how many are."""
PART_CHARACTERS_MIN, PART_CHARACTERS = 500, 500
"""With at least this much room, the best lines of a longer companion are shown."""
NAME_MIN = 3
"""A shorter name says too little to be taken for a call."""
CALLED, MENTIONED, CALLS, RANKED, NAMED, SHARE, NEW = 0.6, 0.3, 0.25, 0.6, 0.5, 0.6, 0.6
"""How much it counts that the best result calls a place, that it names what cannot be called, that
a place names the best result, that it was found too, that its name has words of the question, how
many of them its text has, and how many that the best result does not have."""
ALIKE = 0.7
"""The share of common terms from which a place repeats what is shown already."""
_ENDS, _CALLED, _OPENED = re.compile(r"(?!\w)"), re.compile(r"\s*[(<{!]"), re.compile(r"\s*\(")
"""What follows a name: the end of a word, what may be a call, and what is one in most languages."""
_BARE_CALLS = frozenset({"ruby", "bash", "elixir", "haskell", "perl", "lua"})
_CALLABLE = frozenset({"function", "method", "constructor"})


class Companion(msgspec.Struct, frozen=True):
    """A place of the best result's file, with its code, or by name alone."""

    span: tuple[int, int]
    symbol_id: str
    label: str
    shown: Preview | None


def companions(
    best: Sequence[StoredChunk],
    file: Sequence[StoredChunk],
    ranked: Mapping[str, int],
    asked: Asked,
    characters_max: int,
) -> list[Companion]:
    """The companions of `best` among the chunks of its file, worthiest first, as far as they fit.

    After them, without their code, callers and callees that do not fit or are worth less: a reader
    of the best result needs their names and lines to go on.

    `ranked` has the symbols of the file that were found too, by their rank in it from 0.
    """
    leader = best[0].label or ""
    name = leader.rpartition(".")[2]
    text = "\n".join(chunk.text for chunk in best)
    called_so = _ENDS if best[0].language in _BARE_CALLS else _CALLED
    own = {chunk.symbol_id for chunk in best}
    symbols: dict[str, list[StoredChunk]] = {}
    within = f"{leader}."
    for chunk in file:
        if chunk.symbol_id is None or chunk.symbol_id in own:
            continue
        if not within.startswith(f"{chunk.label}."):
            symbols.setdefault(chunk.symbol_id, []).append(chunk)
    shown = asked_in(text, asked)
    # A long best result needs company less.
    worth_min = WORTH_MIN + WORTH_LONG * max(0.0, 1 - characters_max / CHARACTERS_MAX)
    linked: dict[str, tuple[float, frozenset[str], str]] = {}
    for symbol, chunks in symbols.items():
        short = (chunks[0].label or "").rpartition(".")[2]
        follows = called_so if chunks[0].kind in _CALLABLE else _ENDS
        called = len(short) >= NAME_MIN and short != name and short.isidentifier()
        called = called and _has_name(text, short, follows)
        body = chunks[0].text if len(chunks) == 1 else "\n".join([chunk.text for chunk in chunks])
        calls = short != name and len(name) >= NAME_MIN and _has_name(body, name, _OPENED)
        if not (called or calls or symbol in ranked):
            continue
        worth = (CALLED if chunks[0].kind in _CALLABLE else MENTIONED) * called + CALLS * calls
        worth += RANKED / (1 + ranked[symbol]) if symbol in ranked else 0.0
        linked[symbol] = worth + NAMED * _named(short, asked), asked_in(body, asked), body
    # Words that none of these places has say nothing about which one is meant.
    known = shown.union(*(here for _, here, _ in linked.values()))
    judged: list[tuple[float, str]] = []
    for symbol, (worth, here, _) in linked.items():
        worth += SHARE * _share(here, known, asked) + NEW * _share(here - shown, known, asked)
        judged.append((-worth, symbol))
    judged.sort()
    found: list[Companion] = []
    seen: list[set[str]] = []
    for negative, symbol in judged:
        if -negative < worth_min:
            break
        seen = seen or [terms_in(text)]
        terms = terms_in(linked[symbol][2])
        if any(len(terms & other) >= ALIKE * len(terms | other) for other in seen):
            continue
        named = symbol in ranked or _named((symbols[symbol][0].label or ""), asked) > 0
        made = _companion(symbols[symbol], asked, characters_max, in_part=named)
        if made is None or made.shown is None or len(made.shown.text) > characters_max:
            continue
        seen.append(terms)
        found.append(made)
        characters_max -= len(made.shown.text)
        if len(found) == SHOWN_MAX:
            break
    with_code = {one.symbol_id for one in found}
    without_code = [
        _named_place(symbols[symbol])
        for negative, symbol in judged
        if -negative >= WORTH_NAMED and symbol not in with_code and symbol not in ranked
    ]
    return [*found, *without_code[:NAMED_MAX]]


def _has_name(text: str, name: str, follows: re.Pattern[str]) -> bool:
    """Whether a text has a name as a whole word, and after it what follows.

    Found by looking for the name: a pattern of all names takes longer, and so does compiling one
    for each name.
    """
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        begins = at == 0 or _in_word(text[at - 1]) != _in_word(name[0])
        if begins and follows.match(text, end):
            return True
        at = text.find(name, end)
    return False


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def lines_of_chunks(chunks: Sequence[StoredChunk]) -> tuple[int, int]:
    """The first and the last line of chunks, without trailing blank lines."""
    first = min([chunk.start_line for chunk in chunks])
    last = max(chunks, key=lambda chunk: chunk.end_line) if len(chunks) > 1 else chunks[0]
    text = last.text.removesuffix("\n")
    blank = text.count("\n", len(text.rstrip()))
    return first, max(last.start_line, last.end_line - blank)


def _named_place(chunks: Sequence[StoredChunk]) -> Companion:
    first = min(chunks, key=lambda chunk: chunk.start_line)
    return Companion(lines_of_chunks(chunks), first.symbol_id or "", first.label or "", None)


def _companion(
    chunks: Sequence[StoredChunk], asked: Asked, characters_max: int, *, in_part: bool
) -> Companion | None:
    """A symbol with all its code, or its best lines; None if its chunks are not all of it."""
    chunks = sorted(chunks, key=lambda chunk: chunk.start_line)
    if any(after.start_line != before.end_line + 1 for before, after in pairwise(chunks)):
        return None
    first = chunks[0]
    text = "".join(chunk.text.removesuffix("\n") + "\n" for chunk in chunks)
    shown = whole_code(text, first.start_line, asked, first.language)
    last = first.start_line + text.rstrip().count("\n")
    if in_part and len(shown.text) > characters_max >= PART_CHARACTERS_MIN:
        shown = part_of_code(
            text, first.start_line, asked, first.language, first.label, PART_CHARACTERS
        )
    assert first.symbol_id is not None
    return Companion((first.start_line, last), first.symbol_id, first.label or "", shown)


def _share(present: frozenset[str], known: frozenset[str], asked: Asked) -> float:
    """The share of the known words of the question that are present."""
    worth = {term: worth for term, worth in asked.worth.items() if term in known}
    total = sum(worth.values())
    return sum(worth[term] for term in worth if term in present) / total if total else 0.0


def _named(name: str, asked: Asked) -> float:
    """The share of the words of a name that the question has."""
    parts = list(terms_of(name))
    return sum(part in asked.terms for part in parts) / len(parts) if parts else 0.0
