"""Names of one file that links start from: its packages, and the calls that pass something."""

from __future__ import annotations

from collections import Counter

from holdfast.index.facts.model import MODULE, SAME_SCOPE, FileFacts

RECORD_MAX = 24
"""A data class with more fields than this is left alone."""


def packages_of(facts: FileFacts, family: str) -> list[str]:
    """The dotted packages and namespaces of a file, with their parents."""
    found: set[str] = set()
    names = [facts.module] if family not in ("python", "js", "lua", "bash") else []
    names += [facts.label(i) for i, s in enumerate(facts.symbols) if s.kind == "namespace"]
    for name in names:
        parts = name.split(".")
        found.update(".".join(parts[: n + 1]) for n in range(len(parts)) if parts[n])
    return sorted(found)


def passing_of(facts: FileFacts) -> list[tuple[str, int]]:
    """The calls with passed values: by the called name, and by the name it is an alias of."""
    passing = [(call.name, number) for number, call in enumerate(facts.calls) if call.passed]
    if not passing:
        return []
    aliases: dict[str, str] = {}
    for binding in facts.bindings:
        if binding.value and binding.value[-1].isidentifier():
            aliases[binding.name] = binding.value.rpartition(".")[2]
    for item in facts.imports:
        if item.name and item.alias != item.name:
            aliases[item.alias] = item.name
    more = [(aliases[name], number) for name, number in passing if name in aliases]
    return passing + more


def record_fields(facts: FileFacts) -> dict[int, list[str]]:
    """The annotated fields of data classes in their order: the constructor takes them.

    Left out are classes with bases, whose fields come first, and those that write a constructor;
    what follows a `field(…)`, which may not be taken; and classes with more than `RECORD_MAX`
    fields: each field looks at every call of the class.
    """
    records = {
        (call.caller, call.passed[0].partition("=")[2])
        for call in facts.calls
        if call.kind == "decorator" and call.passed
        and "dataclass" in (call.name, call.receiver.removesuffix("()").rpartition(".")[2])
    }  # fmt: skip
    if not records:
        return {}
    own = {s.parent for s in facts.symbols if s.name == "__init__"}
    heirs = {each.child for each in facts.inherits}
    names = Counter(s.qualified for s in facts.symbols)
    table: dict[int, list[str]] = {}
    closed: set[int] = set()
    for each in facts.bindings:
        at = each.scope
        if not each.field or not each.type or each.inside != SAME_SCOPE or at == MODULE:
            continue
        symbol = facts.symbols[at]
        if (symbol.parent, symbol.name) not in records or at in own or at in closed:
            continue
        if symbol.qualified in heirs or names[symbol.qualified] > 1 or "ClassVar" in each.type:
            continue
        if each.value.partition("(")[0].rpartition(".")[2] == "field":
            closed.add(at)
            continue
        table.setdefault(at, []).append(each.name)
    return {at: fields for at, fields in table.items() if len(fields) <= RECORD_MAX}
