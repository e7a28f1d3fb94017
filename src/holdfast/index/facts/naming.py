"""Which symbol a name refers to: one rule for search, outline, call graph and links."""

from __future__ import annotations

import fnmatch
import os
import re

from holdfast.index.facts.model import FileFacts, Symbol

_SEPARATOR = re.compile(r"::|#|/")
_INDEX_FILE = re.compile(r"/(__init__|index|mod)\Z")


def names_symbol(name_end: str, qualified: str, path: str = "") -> bool:
    """Whether `name_end` is the end of a symbol's full name; `*` and `?` match any characters.

    The full name is the path of the file or folder followed by the qualified name, so that `total`,
    `Cart.total` and `shop.Cart.total` all name `Cart.total` in `src/shop.py`.
    """
    name, wanted = (_SEPARATOR.sub(".", text) for text in (qualified, name_end))
    if any(letter in wanted for letter in "*?"):
        ends = [name]
        while "." in ends[-1]:
            ends.append(ends[-1].split(".", 1)[1])
        return any(fnmatch.fnmatchcase(end, wanted.replace("[", "[[]")) for end in ends)
    if f".{name}".endswith(f".{wanted}"):
        return True
    stem = os.path.splitext(path)[0]
    modules = {_INDEX_FILE.sub("", stem), os.path.dirname(path)} - {""}
    return any(f".{_SEPARATOR.sub('.', m)}.{name}".endswith(f".{wanted}") for m in modules)


def symbols_named(facts: FileFacts, name: str) -> list[Symbol]:
    """The symbols of a file that a name can refer to. An exact name wins over the end of one."""
    whole = [
        symbol
        for index, symbol in enumerate(facts.symbols)
        if name in (symbol.qualified, facts.label(index))
    ]
    return whole or [s for s in facts.symbols if names_symbol(name, s.qualified, facts.path)]
