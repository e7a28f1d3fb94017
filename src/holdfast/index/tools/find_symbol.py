"""Find the symbols with a name in a tree, or similar names if there are none."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from difflib import SequenceMatcher

from holdfast.index.code_index import CodeIndex
from holdfast.index.embedding.pieces import parts, words_of
from holdfast.index.search.limits import LIMIT_MAX
from holdfast.index.search.roles import role_of
from holdfast.index.search_answers import SearchAnswer, SearchResult
from holdfast.index.tools.search import search_code
from holdfast.index.tools.unmatched_words import UNMATCHED

LISTED = 10
"""How many symbols are listed."""
SIMILAR = 5
ENDS = 3
"""How many first or last letters of a misspelled name are taken to be right, at most half."""
WORD_MIN = 3
"""The shortest word that makes two names similar."""
ALIKE_MIN = 0.6
"""The share of letters in common from which two names are spelled alike."""


@dataclass(frozen=True, slots=True)
class NamedSymbols:
    """The symbols that a name can refer to, tests last."""

    symbols: tuple[SearchResult, ...]
    complete: bool
    """Whether all symbols of the tree were checked."""
    similar: tuple[str, ...] = ()
    """Similar names, if no symbol has this one."""
    refused: SearchAnswer | None = None
    """Why the tree cannot be searched."""


def symbols_called(index: CodeIndex, tree: str, name: str) -> NamedSymbols:
    """The symbols with this name in the tree that a directory belongs to.

    An exact name wins over the end of a qualified one.
    """
    _, record = index.root_of(tree)
    tree = tree if record is None else record.root
    quoted = '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
    answer = search_code(index, tree, f"sym:{quoted}", scope="mixed", limit=LISTED + 1)
    if answer.status != "ok":
        return NamedSymbols((), False, refused=answer)
    symbols = [result for result in answer.results if result.symbol_label]
    if any(warning.startswith("QUERY_OPERATOR:") for warning in answer.warnings):
        symbols = []  # The name is not valid, and the results are only similar to it.
    counts = answer.counts
    complete = counts is not None and counts.complete and counts.last == counts.total
    # `sym:total` finds `Cart.total` too.
    whole = [result for result in symbols if result.symbol_label == name]
    rest = [result for result in symbols if result not in whole]
    named = (whole or symbols) if complete else [*whole, *rest]
    named.sort(key=lambda result: role_of(result.file) == "test")
    similar = () if named else _similar(index, tree, name)
    return NamedSymbols(tuple(named), complete, similar)


def _similar(index: CodeIndex, tree: str, name: str) -> tuple[str, ...]:
    """Names of symbols that are spelled like this one, then others with a word of it.

    The tree was checked when the name was looked up. It is not walked again for each search.
    """
    index = copy.copy(index)
    index.reuses_last = True
    last = name.rpartition(".")[2]
    length = max(1, min(ENDS, len(last) // 2))
    ends = (f"{last[:length]}*", f"*{last[-length:]}") if last.isidentifier() else ()
    labels: list[str] = []
    found: list[str] = []
    for query in (name, *(f"sym:{end}" for end in ends)):
        answer = search_code(index, tree, query, scope="mixed", limit=LIMIT_MAX)
        if any(warning.startswith(f"{UNMATCHED}:") for warning in answer.warnings):
            continue  # What has none of its words is not similar to a name.
        labels += [p.symbol_label or "" for one in answer.results for p in one.places]
        if query == name:
            found = list(filter(None, labels))
    names = list(dict.fromkeys(filter(None, labels)))
    alike = {label: _alike(name, label) for label in names}
    near = [label for label in names if alike[label] >= ALIKE_MIN]
    near.sort(key=lambda label: -alike[label])
    # The same first letters are not enough, nor that the code of a symbol mentions the name.
    words = _words(name)
    shared = [label for label in found if words & _words(label)]
    return tuple(dict.fromkeys([*near, *shared]))[:SIMILAR]


def _words(name: str) -> set[str]:
    """The words that a name is made of, in lower case."""
    found = (part for word in words_of(name) for part in parts(word))
    return {part for part in found if len(part) >= WORD_MIN}


def _alike(name: str, label: str) -> float:
    """How much a name and a label are spelled alike: as a whole, or their last parts."""
    pairs = ((name, label), (name.rpartition(".")[2], label.rpartition(".")[2]))
    return max(SequenceMatcher(None, a.lower(), b.lower()).ratio() for a, b in pairs)
