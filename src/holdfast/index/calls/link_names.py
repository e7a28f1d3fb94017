"""Names of one file that links start from: its packages, and the calls that pass something."""

from __future__ import annotations

from holdfast.index.facts.model import FileFacts


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
