"""Parses the places of `holdfast read`: `path:10-20`, `path:Cart.total`, `path:3-5,Cart,40`.

Pure: functions that say which files exist and which symbols they have are passed in.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache

from holdfast.cli.failures import CommandRefused
from holdfast.text import line_range

_RANGE = re.compile(r"[0-9]+(?:-[0-9]+)?\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class NamedLines:
    """A symbol of a file and its lines."""

    name: str
    first: int
    last: int
    defined: bool = True
    """False for a declaration without a body, such as a prototype."""
    signature: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """A file as it was typed, or lines of it; `symbol` is the name they were found by, if any."""

    path: str
    first: int | None = None
    last: int | None = None
    symbol: str = ""

    @property
    def named(self) -> str:
        """The place as it would be typed."""
        if self.first is None:
            return self.path
        return f"{self.path}:{line_range(self.first, self.last or self.first)}"


Symbols = Callable[[str], Sequence[NamedLines]]


def places_of(
    typed: str, is_file: Callable[[str], bool], symbols: Symbols
) -> tuple[list[Place], CommandRefused | None]:
    """The places that an argument names, and the refusal of symbols that the file does not have.

    A plain range, or a missing file, is returned as typed for the reader to handle.
    """
    path, colon, rest = typed.rpartition(":")
    if is_file(typed) or not colon or not rest or not is_file(path):
        return [Place(typed)], None
    places: list[Place] = []
    missing: list[str] = []
    symbols_of = cache(symbols)  # the file is parsed once, and only if a symbol is named
    for part in rest.split(","):
        if _RANGE.match(part):
            first, _, last = part.partition("-")
            places.append(Place(path, int(first), int(last or first)))
            continue
        matches = symbols_named(part, symbols_of(path))
        if not matches:
            missing.append(part)
        places += [Place(path, one.first, one.last, one.name) for one in matches]
    return places, _no_symbols(path, missing, symbols_of(path)) if missing else None


def symbols_named(name: str, symbols: Sequence[NamedLines]) -> list[NamedLines]:
    """The symbols of this qualified name, or else those whose name ends with it.

    Without prototypes of what the file defines: declarations with the parameters of a definition.
    """
    exact = [one for one in symbols if one.name == name]
    matches = exact or [one for one in symbols if one.name.endswith(f".{name}")]
    defined = {(one.name, _parameters(one)) for one in matches if one.defined}
    return [one for one in matches if one.defined or (one.name, _parameters(one)) not in defined]


def _parameters(symbol: NamedLines) -> str:
    """The parameters as the signature spells them, without white space."""
    return "".join(symbol.signature.partition("(")[2].rpartition(")")[0].split())


def _no_symbols(path: str, missing: Sequence[str], symbols: Sequence[NamedLines]) -> CommandRefused:
    lasts = {one.name.rpartition(".")[2]: one.name for one in symbols}
    near = [
        each for name in missing for each in get_close_matches(name.rpartition(".")[2], lasts, 3)
    ]
    names = " or ".join(lasts[one] for one in dict.fromkeys(near))
    message = f"{path} has no symbol {' and no symbol '.join(missing)}"
    listing = f"holdfast outline {shlex.quote(path)} lists its symbols"
    return CommandRefused("NoSuchSymbol", message, f"did you mean {names}?" if near else listing)
