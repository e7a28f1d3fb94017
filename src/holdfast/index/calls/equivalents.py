"""Which symbols of a file a call of one of them also reaches."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from holdfast.index.facts.languages import FAMILIES
from holdfast.index.facts.model import FileFacts, Symbol

_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Equivalents:
    """Ids by qualified name, where definitions with one name are one function; constructors by
    class.

    Built once per file: a file may define one name thousands of times, and one question may ask
    about hundreds of them.
    """

    by_name: dict[str, frozenset[str]]
    constructors: dict[str, frozenset[str]]

    @classmethod
    def of(cls, facts: FileFacts) -> Equivalents:
        names: dict[str, set[str]] = defaultdict(set)
        made: dict[str, set[str]] = defaultdict(set)
        one_function = FAMILIES.get(facts.language) in ("python", "js")
        for each in facts.symbols:
            if one_function:
                names[each.qualified].add(each.id)
            if each.kind == "constructor" and each.parent >= 0:
                made[facts.symbols[each.parent].id].add(each.id)
        return cls(
            {name: frozenset(ids) for name, ids in names.items()},
            {owner: frozenset(ids) for owner, ids in made.items()},
        )

    def same(self, symbol: Symbol) -> frozenset[str]:
        """The ids of the symbol and of all symbols that a call of it also reaches."""
        found = self.by_name.get(symbol.qualified, _NONE)
        constructors = self.constructors.get(symbol.id, _NONE)
        if constructors:
            found |= constructors
        return found if symbol.id in found else found | {symbol.id}
