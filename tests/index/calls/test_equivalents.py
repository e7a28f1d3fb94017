"""Which symbols are one to a caller, judged by looking at every pair."""

from __future__ import annotations

import random

import pytest

from holdfast.index.calls.equivalents import Equivalents
from holdfast.index.facts.extract import extract
from holdfast.index.facts.languages import FAMILIES
from holdfast.index.facts.model import FileFacts, Symbol
from tests.scale import seeds


def naive(facts: FileFacts, symbol: Symbol) -> set[str]:
    same = {symbol.id}
    one_function = FAMILIES.get(facts.language) in ("python", "js")
    for each in facts.symbols:
        owner = facts.symbols[each.parent] if each.parent >= 0 else None
        made = each.kind == "constructor" and owner is not None and owner.id == symbol.id
        if made or (one_function and each.qualified == symbol.qualified):
            same.add(each.id)
    return same


@pytest.mark.parametrize("seed", seeds(20))
@pytest.mark.parametrize(
    ("ending", "method"), [("py", "def {}(self): pass"), ("java", "{}() {{}}")]
)
def test_definitions_of_one_name_and_constructors_are_found_as_by_looking_at_all(
    seed: int, ending: str, method: str
) -> None:
    choose = random.Random(seed)
    lines = []
    for _ in range(choose.randint(1, 12)):
        name = choose.choice("AB")
        made = choose.choice(["__init__" if ending == "py" else name, "m"])
        if ending == "py":
            lines += [f"class {name}:", "    " + method.format(made), f"def {name.lower()}(): pass"]
        else:
            lines += [f"class {name} {{ {method.format(made)} }}"]
    facts = extract(f"a.{ending}", "\n".join(lines).encode() + b"\n")
    equivalents = Equivalents.of(facts)
    assert facts.symbols
    for symbol in facts.symbols:
        assert equivalents.same(symbol) == naive(facts, symbol), f"seed {seed}, {symbol.qualified}"
