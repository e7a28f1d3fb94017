"""Edits of symbols that cannot go stale: rename, replace, insert before and after.

The first call returns a preview: a unified diff over all places, the places in doubt, and a token.
The same call with the token applies it, only if the preview is the same again (so no file has
changed since) and no place is in doubt. Otherwise nothing is written.
"""

from __future__ import annotations

import keyword
import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import lru_cache
from typing import Protocol

from msgspec.structs import replace

from holdfast.errors import UsageError
from holdfast.files import disk
from holdfast.files.secrets import masked
from holdfast.index.calls.linked_program import LinkedProgram
from holdfast.index.calls.program import Thing
from holdfast.index.code_index import CodeIndex
from holdfast.index.facts.model import MODULE
from holdfast.index.generations.gate import Open
from holdfast.index.references.answers import ReferencesAnswer, SymbolEditAnswer, SymbolEditDoubt
from holdfast.index.references.contracts import Contracts
from holdfast.index.references.find import Reference, ReferenceSearch
from holdfast.index.references.implementations import implementations
from holdfast.index.references.rename_risks import (
    TAKEN_OUT,
    Classes,
    check_special,
    elements,
    fixtures,
    in_unparsed,
    is_local,
    looked_up,
    mangled_names,
    starred,
    submodules,
    taken_out,
)
from holdfast.index.references.symbol_edits import (
    CERTAIN,
    Doubt,
    Plan,
    Replacement,
    settle,
)
from holdfast.index.references.target import Target, target_of
from holdfast.index.tools.mention_files import (
    files_with,
    mentions_of,
    read_files,
    unreadable_parts,
)
from holdfast.index.tools.references import references
from holdfast.index.tools.text_edits import Edit, check_encoding, stops_parsing, text_plan
from holdfast.text import counted

_NAME = re.compile(r"[^\W\d][\w$]*[!?]?\Z")


class Files(Protocol):
    """What writes files below a root."""

    def write(self, root: str, before: dict[str, bytes], after: dict[str, bytes]) -> None:
        """Replace the texts of files; writes all or none."""

    def recover(self, root: str) -> str:
        """Complete an edit that was interrupted; what was done about it, "" if there was none."""


def edit_symbol(index: CodeIndex, tree: str, edit: Edit, files: Files) -> SymbolEditAnswer:
    """The preview of an edit, or its application if `edit` has the token of the preview.

    An edit of this tree that was interrupted is completed first, and the answer says so.
    """
    _, record = index.root_of(tree)
    recovered = files.recover(record.root) if record is not None else ""
    answer = _edit(index, tree, edit, files)
    if not recovered:
        return answer
    if answer.status in ("ok", "blocked"):
        return replace(answer, notes=(recovered, *answer.notes))
    return replace(answer, message=f"{recovered}; {answer.message or answer.status}")


def _edit(index: CodeIndex, tree: str, edit: Edit, files: Files) -> SymbolEditAnswer:
    answer = SymbolEditAnswer(
        status="ok", path=tree, symbol=edit.symbol, action=edit.action, applied=False
    )
    where = references(index, tree, edit.symbol, file=edit.file, relation="declaration")
    if where.status != "ok" or len(where.definitions) != 1:
        return _not_one(answer, where)
    if edit.action == "rename" and not _NAME.match(edit.text):
        raise UsageError(f"'{edit.text}' is not a name", "a name has letters, digits and _")
    _, record = index.root_of(tree)
    gate = index.gate(record)
    if not isinstance(gate, Open):
        return replace(answer, status="not_ready", message="the index changed; ask again")
    root = gate.record.root
    plan = _plan(index, gate, root, where.definitions[0].symbol_id, edit)
    answer = replace(
        answer,
        path=root,
        diff=plan.diff(masked),
        token=plan.token,
        files=tuple(plan.paths),
        places=len(plan.replacements),
        doubts=tuple(SymbolEditDoubt(d.path, d.line, d.why, d.text) for d in plan.doubts),
        notes=plan.notes,
    )
    if not edit.token:
        return answer
    if edit.token != plan.token:
        return replace(
            answer,
            status="blocked",
            reason="stale_preview",
            message="a file changed since the preview, or the call is another; nothing was written",
        )
    if plan.doubts:
        return replace(
            answer,
            status="blocked",
            reason="in_doubt",
            message=f"{counted(len(plan.doubts), 'place')} in doubt; nothing was written",
        )
    before = {path: plan.sources[path] for path in plan.paths}
    files.write(root, before, plan.texts_after())
    return replace(answer, applied=True)


def _not_one(answer: SymbolEditAnswer, where: ReferencesAnswer) -> SymbolEditAnswer:
    if where.status == "ok":
        places = ", ".join(f"{one.file}:{one.span.start_line}" for one in where.definitions)
        message = f"several symbols have that name: {places}; name its file or its id"
        return replace(answer, status="ambiguous", reason="ambiguous_symbol", message=message)
    return replace(
        answer,
        status=where.status,
        reason=where.reason,
        message=where.message,
        hints=where.hints,
        indexing=where.indexing,
    )


def _plan(index: CodeIndex, gate: Open, root: str, identity: str, edit: Edit) -> Plan:
    with index.backend.reader(root) as reader:
        overlay = index.check_freshness(gate.record, reader)
        with index.programs.lock:
            program = index.programs.program(root, reader, overlay)
            thing = program.resolver.program.by_id.get(identity)
            if thing is None:
                raise UsageError("the symbol is gone by now", "ask again")
            facts = program.resolver.program.files[thing.path].facts
            if edit.action != "rename":
                return text_plan(index, root, facts, facts.symbols[thing.at], edit)
            targets, notes = _family(program, identity), list[str]()
            _check_free(program, targets, edit.text)
            classes = Classes(program, targets)
            _check_member(classes, edit.text)
            known = frozenset().union(*(target.names for target in targets))
            family = targets[0].family
            ours = program.resolver.program.in_family(family)
            mangled = mangled_names(program, targets)
        paths, complete = files_with(root, reader, overlay, known | mangled, ours)
        files, unread = read_files(root, sorted(paths | classes.paths | {thing.path}), known)
        new_paths = set[str]()
        if family == "python" and not classes.paths:
            new_paths, _ = files_with(root, reader, overlay, frozenset({edit.text}), ours)
        if unread or not complete or unreadable_parts(overlay):
            notes.append("not every file could be read: there may be more mentions")
        with index.programs.lock:
            program = index.programs.program(root, reader, overlay)
            search = ReferenceSearch(program)
            judged = search.judge_all(targets, files)
            star_paths = starred(program, targets, new_paths | {one.path for one in files})
            local = is_local(program, thing)
            text_places = [] if local else list(looked_up(files, targets[0].name))
            text_places += [] if local else in_unparsed(files, targets[0].name)
            tags = list[tuple[str, int, str]]()
            if family == "js":
                text_places += taken_out(files)
                tags += elements(files, edit.text)
            packages = list(submodules(program, {one.path for one in files}, edit.text))
            by_parameter = list(fixtures(program, targets))
            outside = list(classes.outside((targets[0].name, edit.text)))
            contracts = Contracts(program.resolver.program, targets, classes.owners)
            alike = list(contracts.doubts(targets[0].name, files, judged))
            alike += contracts.undefined(judged)
    sources = {}
    for one in files:
        sources[one.path], _ = disk.read_file(root, one.path)
    old = targets[0].name
    places = {(r.path, r.start): r for r in judged.found if r.name == old}
    undecided = {(r.path, r.start): r for r in judged.undecided}
    _check_read(sources, [*places.values(), *undecided.values()])
    certain, doubtful = _sorted_out(places.values(), edit.text)
    doubtful += [
        (_doubt(one, "the type of the receiver is not known"), _renaming(one, edit.text))
        for at, one in sorted(undecided.items())
        if at not in places
    ]
    doubtful += [
        (_doubt(one, "its class does not have this member"), _renaming(one, edit.text))
        for at, one in sorted({(r.path, r.start): r for r in judged.missing}.items())
        if at not in places and at not in undecided
    ]
    related = (new_paths & set(star_paths)) | classes.paths
    for path in sorted(related - sources.keys()):
        sources[path], _ = disk.read_file(root, path)
    touched = {one.path for one in certain}
    clashes = _clashes(sources, touched | related, edit.text)
    if edit.text.startswith("_") and not old.startswith("_"):
        why = "an import of * does not import names that begin with _"
        clashes += [(_at_line(sources, path, 0, why), None) for path in touched & set(star_paths)]
    for path in sorted(touched & set(packages)):
        why = f"the package has a module named {edit.text}"
        clashes.append((_at_line(sources, path, 0, why), None))
    for path, start, why in text_places:
        if (path, start) not in places and (path, start) not in undecided:
            doubtful.append(_in_text(sources, path, start, why, old, edit.text))
    for path, source in sorted(sources.items()):
        for name in sorted(mangled):
            for match in re.finditer(rb"(?<![\w$])" + re.escape(name.encode()) + rb"\b", source):
                why = f"{name} is the name of a private member"
                clashes.append((_at_line(sources, path, match.start(), why), None))
    for path, start, why in tags:
        if (path, start) in places:
            clashes.append((_at_line(sources, path, start, why), None))
    for path, line, why in alike:
        clashes.append((Doubt(path, line, why, ""), None))
    for path, line in by_parameter:
        why = "pytest gives this fixture to parameters of its name, which are not changed"
        clashes.append((Doubt(path, line, why, ""), None))
    for path, line, base in outside:
        why = f"{base} is not in the tree and may have a member with the old or the new name"
        clashes.append((Doubt(path, line, why, ""), None))
    confirmed, doubts = settle([*doubtful, *clashes], edit.confirmed, edit.left_out)
    plan = Plan(sources, tuple(sorted([*certain, *confirmed])), tuple(sorted(doubts)), tuple(notes))
    check_encoding(plan, edit.text)
    _check_parses(index, plan, edit.text)
    return plan


def _in_text(
    sources: dict[str, bytes], path: str, start: int, why: str, old: str, new: str
) -> tuple[Doubt, Replacement | None]:
    """The doubt about a string, and its change if the whole name is in it."""
    end = start + len(old.encode())
    whole = sources[path][start:end] == old.encode()
    if why == TAKEN_OUT and not re.match(rb"\s*:", sources[path][end : end + 80]):
        new = f"{new}: {old}"  # the variable keeps its name
    replacement = Replacement(path, start, end, new.encode()) if whole else None
    return _at_line(sources, path, start, why), replacement


def _at_line(sources: dict[str, bytes], path: str, start: int, why: str) -> Doubt:
    """The doubt about a position of a text, with the line shown without secrets."""
    shown, starts = _lines_of(sources[path])
    line = bisect_right(starts, start)
    end = shown.find(b"\n", starts[line - 1])
    row = shown[starts[line - 1] : end if end >= 0 else len(shown)]
    return Doubt(path, line, why, row.decode("utf-8", "replace").strip()[:200])


@lru_cache(maxsize=16)
def _lines_of(source: bytes) -> tuple[bytes, list[int]]:
    """The text without secrets, which is as long as before, and where its lines start."""
    return masked(source), [0, *(one.end() for one in re.finditer(rb"\n", source))]


def _check_parses(index: CodeIndex, plan: Plan, name: str) -> None:
    """Check the new name with one file of each extension: it may be a keyword there, or no name."""
    for path in {path.rpartition(".")[2]: path for path in plan.paths}.values():
        if stops_parsing(
            index.extract(path, plan.sources[path]), index.extract(path, plan.after(path))
        ):
            raise UsageError(
                f"with the name {name}, {path} would no longer parse", "choose another name"
            )


def _check_read(sources: dict[str, bytes], places: Iterable[Reference]) -> None:
    """Check that every place still has the name in the text that will be changed."""
    for one in places:
        name = one.name.encode()
        if sources[one.path][one.start : one.start + len(name)] != name:
            raise UsageError(f"{one.path} changed while it was read", "ask again")


def _sorted_out(
    places: Iterable[Reference], name: str
) -> tuple[list[Replacement], list[tuple[Doubt, Replacement | None]]]:
    certain, doubtful = [], list[tuple[Doubt, Replacement | None]]()
    for one in places:
        replacement = _renaming(one, name)
        if one.confidence >= CERTAIN:
            certain.append(replacement)
        else:
            doubtful.append((_doubt(one, f"{one.confidence:.2f} {one.reason}"), replacement))
    return certain, doubtful


def _renaming(one: Reference, name: str) -> Replacement:
    text = name
    if one.short:  # `{ total }`: only one of the key and the variable gets the new name
        text = f"{name}: {one.name}" if one.short == "key" else f"{one.name}: {name}"
    return Replacement(one.path, one.start, one.start + len(one.name.encode()), text.encode())


def _doubt(one: Reference, why: str) -> Doubt:
    return Doubt(one.path, one.line, why, one.text)


def _clashes(
    sources: dict[str, bytes], touched: set[str], name: str
) -> list[tuple[Doubt, Replacement | None]]:
    """Places where the code of a file that would get the new name uses it already."""
    pattern = re.compile(rb"(?<![\w$])" + re.escape(name.encode()) + rb"(?![\w$])")
    clashes: list[tuple[Doubt, Replacement | None]] = []
    for path in sorted(touched):
        match = pattern.search(sources[path])
        if match:
            shown, start = masked(sources[path]), match.start()
            mentions = mentions_of(path, shown, [name])
            if not mentions.why:  # otherwise the name is taken wherever it stands
                if not mentions.found:
                    continue  # in a comment or a string
                start = min(one.start for one in mentions.found)
            line = sources[path].count(b"\n", 0, start) + 1
            text = shown.split(b"\n")[line - 1].decode("utf-8", "replace").strip()
            clashes.append((Doubt(path, line, f"{name} is used here already", text[:200]), None))
    return clashes


def _family(program: LinkedProgram, identity: str) -> list[Target]:
    """The symbol with the methods that override it and those that it overrides."""
    inner, names = program.resolver.program, program.resolver.names
    queue, seen = [identity], dict.fromkeys([identity])
    while queue:
        at = queue.pop()
        thing = inner.by_id[at]
        symbol = inner.symbol(thing)
        if symbol.parent == MODULE or symbol.kind not in ("method", "property"):
            continue
        related = list(implementations(program, at))
        owner = Thing("symbol", thing.path, symbol.parent)
        above: dict[Thing, None] = {}
        level = names.bases(owner)
        while level:
            above |= dict.fromkeys(level)
            over = (one for base in level for one in names.bases(base))
            level = list(dict.fromkeys(one for one in over if one not in above))
        for base in above:
            other = inner.files[base.path]
            related += inner.exact(other.family, f"{other.full(base.at)}.{symbol.name}")
        for one in related:
            id = inner.symbol(one).id
            if id not in seen:
                seen[id] = None
                queue.append(id)
    return [target for one in seen if (target := target_of(program, one)) is not None]


def _check_free(program: LinkedProgram, targets: list[Target], name: str) -> None:
    inner = program.resolver.program
    for target in targets:
        for thing in target.things:
            view = inner.files[thing.path]
            if view.family == "python" and keyword.iskeyword(name):
                raise UsageError(f"{name} is a keyword of Python")
            check_special(view, view.symbol(thing.at), name)
            owner, _, _ = view.full(thing.at).rpartition(".")
            taken = inner.exact(view.family, f"{owner}.{name}" if owner else name)
            if taken:
                place = f"{taken[0].path}:{inner.symbol(taken[0]).span.first_line}"
                raise UsageError(f"{name} exists already at {place}", "choose another name")


def _check_member(classes: Classes, name: str) -> None:
    """Refuse a name that a base class, a subclass or a class beside it has for a member."""
    taken = classes.member(name)
    if taken is not None:
        raise UsageError(f"{name} exists already at {taken[0]}:{taken[1]}", "choose another name")
