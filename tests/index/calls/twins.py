"""What a program answers, to compare one that is stored with one that is in memory."""

from __future__ import annotations

from holdfast.index.calls.linked_program import LinkedProgram
from holdfast.index.calls.program import Program
from holdfast.index.facts.languages import FAMILIES
from holdfast.index.facts.model import FileFacts, file_id
from holdfast.index.references.find import ReferenceSearch
from holdfast.index.references.implementations import implementations
from holdfast.index.references.target import target_of

MOST = 9


def graph(program: LinkedProgram, files: list[FileFacts]) -> dict[str, object]:
    """The calls of every symbol both ways, and what references are looked for by."""
    found: dict[str, object] = {}
    for facts in files:
        found[facts.path] = program.outgoing(file_id(facts.path))
        for symbol in facts.symbols if FAMILIES.get(facts.language) else ():
            target = target_of(program, symbol.id, overrides=True)
            assert target is not None
            found[symbol.id] = (
                program.place(symbol.id),
                program.outgoing(symbol.id),
                program.incoming(symbol.id),
                symbol.id in program.partial,
                target,
                sorted(ReferenceSearch(program).names(target)),
                implementations(program, symbol.id),
            )
    return found


def _named(program: Program, family: str, name: str) -> list[str]:
    """The files with a symbol of this name; stored terms may name more, as hashes collide."""
    views = [program.files[path] for path in program.naming(family, name)]
    has = [view for view in views if any(one.name == name for one in view.facts.symbols)]
    return [view.path for view in has if view.family == family]


def tables(program: Program, files: list[FileFacts]) -> dict[object, object]:
    """What every table has of every name."""
    found: dict[object, object] = {
        "paths": sorted(program.files),
        "content": program.with_content(),
    }
    found["modules"] = {name: set(folders) for name, folders in program.modules.items()}
    found["folders"] = {name: set(paths) for name, paths in program.folders.items()}
    found["above"] = {name: count for name, count in program.above.items() if count}
    found["suffixes"] = {name: set(paths) for name, paths in program.suffixes.items() if paths}
    for family in sorted(set(FAMILIES.values())):
        found[family] = program.in_family(family)
    for facts in files:
        family = FAMILIES.get(facts.language, "")
        found["file", facts.path] = program.path_of(file_id(facts.path))
        packages = {facts.module, *(s.qualified for s in facts.symbols if s.kind == "namespace")}
        for name in packages | {"no.such"}:
            found["package", family, name] = (family, name) in program.packages
        for symbol in facts.symbols if family else ():
            name, owner = symbol.name, symbol.qualified.rpartition(".")[0].rpartition(".")[2]
            found[family, name, owner] = (
                program.methods(family, name, MOST), program.macros(name),
                program.only(family, name), program.has_inner(family, name),
                _named(program, family, name), list(program.passing(family, name)),
                program.apart(family, owner, name), program.bases_apart(family, name),
                program.below(family, name, MOST),
            )  # fmt: skip
            full = f"{facts.module}.{symbol.qualified}" if facts.module else symbol.qualified
            found["full", family, full] = program.exact(family, full)
            found["id", symbol.id] = program.by_id.get(symbol.id)
    return found
