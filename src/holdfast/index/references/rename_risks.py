"""Why a rename may change what a program does, although every mention gets the new name.

A program can look a name up by its text (`getattr(cart, "total")`), or a class outside the tree can
call a method by its name. Such places cannot be decided, so they are doubts. Names that
the language itself calls (`__len__`) are refused.
"""

from __future__ import annotations

import abc
import builtins
import enum
import re
import typing
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from holdfast.errors import UsageError
from holdfast.index.calls import modules
from holdfast.index.calls.linked_program import LinkedProgram
from holdfast.index.calls.program import OWNERS, Program, Thing, View
from holdfast.index.facts.model import MODULE, Symbol
from holdfast.index.references.find import ReadFile
from holdfast.index.references.implementations import subclasses
from holdfast.index.references.target import Target

_SPECIAL = {
    "python": re.compile(r"__\w+__\Z"),
    "php": re.compile(r"__\w+\Z"),
    "js": re.compile(r"(?:constructor|then|toJSON|toString|valueOf)\Z"),
    "ruby": re.compile(r"(?:initialize|inspect|method_missing|respond_to_missing\?|to_s)\Z"),
    "jvm": re.compile(r"(?:clone|equals|finalize|hashCode|main|toString)\Z"),
    "csharp": re.compile(r"(?:Equals|GetHashCode|Main|ToString)\Z"),
    "go": re.compile(r"(?:Error|String|init|main)\Z"),
    "rust": re.compile(r"main\Z"),
    "c": re.compile(r"main\Z"),
}
"""Names that the language, or its base class of all classes, calls."""
_OF_MEMBERS = frozenset({"js", "ruby"})
"""Families where only members have such names."""
_OF_MODULES = frozenset({"init", "main"})
"""Names that only functions of a whole Go package have."""
_LOOKUP = re.compile(
    rb"\b(?:getattr|setattr|hasattr|delattr|methodcaller|attrgetter|globals|locals|vars|patch"
    rb"|__all__|__dict__|__getattr__|__getattribute__|import_module|Reflect|send|public_send|method_missing"
    rb"|call_user_func)\b|\]\("
)
"""What files have that look names up by their text; `](` calls an element."""
_RUN = re.compile(rb"(?<![.\w])(?:eval|exec|compile|timeit|Function)\s*\(")
"""What runs the text of a string."""
_FORMATS = re.compile(rb"\.format(?:_map)?\(|\bTemplate\(|%\s*(?:globals|locals|vars)\(")
_FIELD = re.compile(rb"(?:\{|\$\{?|%\(|\{[\w.]*\.)\Z")
"""How a name of a format begins: `{total`, `$total`, `%(total`, `{cart.total`."""
_PLAIN_BASES: dict[str, type] = {
    "ABC": abc.ABC,
    "Enum": enum.Enum,
    "Generic": typing.Generic,
    "IntEnum": enum.IntEnum,
    "Protocol": typing.Protocol,
}
"""Bases of the standard library that are known by themselves."""
_ENUM_HOOKS = frozenset(
    {"name", "value", "_missing_", "_generate_next_value_", "_ignore_", "_order_"}
)
_RESERVED = frozenset({
    "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default",
    "delete", "do", "else", "enum", "export", "extends", "false", "finally", "for", "function",
    "if", "implements", "import", "in", "instanceof", "interface", "let", "new", "null",
    "package", "private", "protected", "public", "return", "static", "super", "switch", "this",
    "throw", "true", "try", "typeof", "var", "void", "while", "with", "yield",
})  # fmt: skip
"""Words of scripts that the grammar takes for names in some places; members may have them."""
TAKEN_OUT = "taken out of an object of unknown type"
_FIXTURE = re.compile(r"(?:^|\.)fixture(?:$|[.(])")
_WITH_ELEMENTS = (".js", ".jsx", ".tsx")
CLASSES_MAX = 2_000
FIELD_MAX = 80
PARTS_MAX = 100
"""Strings of a file with a part of a name: they cannot be changed, so some say it all."""


def check_special(view: View, symbol: Symbol, name: str) -> None:
    """Refuse names that the language calls or changes by itself."""
    if symbol.kind == "constructor":
        raise UsageError(
            f"{symbol.name} is a constructor: its name is fixed", "rename the class instead"
        )
    special = _SPECIAL.get(view.family)
    is_member = symbol.parent != MODULE and view.symbol(symbol.parent).kind in OWNERS
    if view.family == "js" and not is_member and name in _RESERVED:
        why = f"with the name {name}, a reserved word, {view.path} would no longer parse"
        raise UsageError(why, "choose another name")
    if view.family in _OF_MEMBERS and not is_member:
        special = None
    for one in (symbol.name, name):
        if view.family == "go" and is_member == (one in _OF_MODULES):
            continue
        if special and special.match(one):
            raise UsageError(f"{one} has a special meaning in {view.facts.language}")
    if view.family != "python" or not is_member:
        return
    if _is_mangled(name) != _is_mangled(symbol.name):
        raise UsageError(
            "a name that begins with __ is visible in its class only",
            f"choose a name that {'begins' if _is_mangled(symbol.name) else 'does not begin'} "
            "with two underscores",
        )


def _is_mangled(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__")


def mangled_names(program: LinkedProgram, targets: Iterable[Target]) -> frozenset[str]:
    """What Python calls the private members: `_Cart__total`. They change with the class, too."""
    names = set[str]()
    for target in targets:
        for thing in target.things:
            view = program.resolver.program.files[thing.path]
            if view.family != "python":
                continue
            symbol = view.symbol(thing.at)
            if _is_mangled(symbol.name) and symbol.parent != MODULE:
                names.add(f"_{view.symbol(symbol.parent).name.lstrip('_')}{symbol.name}")
            if symbol.kind in OWNERS:
                names |= {
                    f"_{symbol.name.lstrip('_')}{one.name}"
                    for one in view.facts.symbols
                    if one.parent == thing.at and _is_mangled(one.name)
                }
    return frozenset(names)


class Classes:
    """The classes whose members share their names with those of the targets."""

    def __init__(self, program: LinkedProgram, targets: Iterable[Target]) -> None:
        self._inner, self._names = program.resolver.program, program.resolver.names
        self._found: dict[Thing, None] = {}
        owners = {
            owner
            for target in targets
            for thing in target.things
            if (owner := _owner(self._inner, thing)) is not None
        }
        for owner in sorted(owners):
            for one in (owner, *subclasses(program, owner)):
                self._add_with_bases(one)

    def _add_with_bases(self, thing: Thing) -> None:
        queue = [thing]
        while queue and len(self._found) < CLASSES_MAX:
            one = queue.pop()
            if one not in self._found:
                self._found[one] = None
                queue += self._names.bases(one)

    @property
    def owners(self) -> Iterable[Thing]:
        return self._found

    @property
    def paths(self) -> set[str]:
        return {thing.path for thing in self._found}

    def member(self, name: str) -> tuple[str, int] | None:
        """Where one of the classes has this member: its path and line."""
        for owner in self._found:
            view = self._inner.files[owner.path]
            for one in self._inner.exact(view.family, f"{view.full(owner.at)}.{name}"):
                return one.path, self._inner.symbol(one).span.first_line
            for binding in view.bindings.get((owner.at, name), ()):
                return owner.path, binding.line
        return None

    def outside(self, names: tuple[str, str]) -> Iterator[tuple[str, int, str]]:
        """Bases outside the tree that may have a member of these names: path, line, base."""
        for owner in self._found:
            view = self._inner.files[owner.path]
            written = view.bases_of(owner.at)
            if len(self._names.bases(owner)) >= len(written):
                continue
            for base in written:
                if not _has_none(view, base, names):
                    line = view.symbol(owner.at).span.first_line
                    yield owner.path, line, base
                    break


def _has_none(view: View, base: str, names: tuple[str, str]) -> bool:
    """Whether a base certainly has no member of these names."""
    if view.family != "python":
        return False
    owner, _, last = re.split(r"[\[(]", base)[0].rpartition(".")
    known = getattr(builtins, last, None)
    if isinstance(known, type) and owner in ("", "builtins") and last not in view.aliases:
        return not any(hasattr(known, name) for name in names)
    plain = _PLAIN_BASES.get(last)
    if plain is None or not _is_from(view, owner or last, plain.__module__):
        return False
    return not any(hasattr(plain, name) or name in _ENUM_HOOKS for name in names)


def _is_from(view: View, name: str, module: str) -> bool:
    """Whether a name of a file is this module of the standard library, or from it."""
    return any(item.module == module for item in view.aliases.get(name.partition(".")[0], ()))


def _owner(program: Program, thing: Thing) -> Thing | None:
    symbol = program.symbol(thing)
    if symbol.parent == MODULE or _is_mangled(symbol.name) or symbol.name.startswith("#"):
        return None
    owner = Thing("symbol", thing.path, symbol.parent)
    return owner if program.symbol(owner).kind in OWNERS else None


def is_local(program: LinkedProgram, thing: Thing) -> bool:
    """Whether a symbol is local to a function, so that nothing can look it up by its text."""
    inner = program.resolver.program
    symbol = inner.symbol(thing)
    if symbol.parent == MODULE:
        return False
    return inner.symbol(Thing("symbol", thing.path, symbol.parent)).kind not in OWNERS


def looked_up(files: Iterable[ReadFile], name: str) -> Iterator[tuple[str, int, str]]:
    """Strings that may be this name looked up by its text: path, position, reason.

    A path such as `shop.cart.total` always counts. The name alone, or the beginning or the end of
    it, counts if a file that was read looks names up by their text.
    """
    files = list(files)
    dynamic = {file.path for file in files if _LOOKUP.search(file.source)}
    parts = _parts(name)
    for file in files:
        keys = set(file.mentions.keys)
        for start in file.mentions.quoted:
            alone = start not in keys and file.source[start - 1 : start] in (b"'", b'"', b"`")
            if dynamic or not alone:
                yield file.path, start, "a string with this name"
        for start in _spoken(file, dynamic=file.path in dynamic):
            yield file.path, start, "a string with this name"
        if parts is not None and file.path in dynamic:
            for match in islice(parts.finditer(file.source), PARTS_MAX):
                yield file.path, match.start(), "a string with a part of this name"


def _spoken(file: ReadFile, *, dynamic: bool) -> Iterator[int]:
    """Words of longer strings that are looked up: the string is run, or is a format."""
    source = file.source
    if _RUN.search(source):
        yield from file.mentions.spoken
    elif _FORMATS.search(source):
        for start in file.mentions.spoken:
            field = _FIELD.search(source, max(0, start - FIELD_MAX), start)
            if field and (dynamic or field.group().endswith(b".")):
                yield start


def in_unparsed(files: Iterable[ReadFile], name: str) -> Iterator[tuple[str, int, str]]:
    """Where the name stands in files whose mentions are not all known: path, position, reason."""
    pattern = re.compile(rb"(?<![\w$])" + re.escape(name.encode()) + rb"(?![\w$])")
    for file in files:
        if not file.mentions.why:
            continue
        quoted = set(file.mentions.quoted)
        for match in pattern.finditer(file.source):
            if match.start() not in quoted:
                yield file.path, match.start(), f"the file was not parsed: {file.mentions.why}"


def elements(files: Iterable[ReadFile], name: str) -> Iterator[tuple[str, int, str]]:
    """JSX elements that would become elements of the platform: `<Label />` as `<label />`."""
    for file in files if name[:1].islower() else ():
        for one in file.mentions.found:
            tag = re.search(rb"</?\Z", file.source[max(0, one.start - 2) : one.start])
            if tag and one.kind != "annotation" and file.path.endswith(_WITH_ELEMENTS):
                yield file.path, one.start, "an element that begins with a small letter is HTML"


def taken_out(files: Iterable[ReadFile]) -> Iterator[tuple[str, int, str]]:
    """Where JavaScript takes the name out of an object: `const { total } = cart`."""
    for file in files:
        for start in file.mentions.taken:
            yield file.path, start, TAKEN_OUT


def _parts(name: str) -> re.Pattern[bytes] | None:
    """What matches `'visit_' +`, `f'visit_{`, `'visit_%s'` and `+ '_total'` in a text."""
    cuts = [at for at in range(2, len(name)) if name[at - 1] == "_" or name[at].isupper()]
    starts = "|".join(re.escape(name[:at]) for at in cuts if name[:at].strip("_"))
    ends = "|".join(re.escape(name[at - (name[at - 1] == "_") :]) for at in cuts)
    if not starts:
        return None
    text = (
        rf"""['"`](?:{starts})(?=[{{%$]|['"`]\s{{0,20}}(?:[+%,]|\.format|\.concat))"""
        rf"""|(?:(?<=[+}}]['"`])|(?<=\+ ['"`])|(?<=\}}))(?:{ends})(?=['"`])"""
    )
    return re.compile(text.encode())


def fixtures(program: LinkedProgram, targets: Iterable[Target]) -> Iterator[tuple[str, int]]:
    """Those of the targets that pytest gives to every parameter with their name: path, line."""
    inner = program.resolver.program
    for target in targets:
        for thing in sorted(target.things):
            view, symbol = inner.files[thing.path], inner.symbol(thing)
            made = view.decorators(symbol) if view.family == "python" else ()
            # `@fixture`, `@pytest.fixture`, `@pytest_asyncio.fixture(scope="module")`
            if any(_FIXTURE.search(f"{one.receiver}.{one.name}") for one in made):
                yield thing.path, symbol.span.first_line


def submodules(program: LinkedProgram, paths: Iterable[str], name: str) -> Iterator[str]:
    """Those `__init__.py` beside a module of this name, which is a member of the package, too."""
    inner = program.resolver.program
    for path in sorted(paths):
        view = inner.files.get(path)
        if view is not None and path.rpartition("/")[2] == "__init__.py":
            there = modules.find(inner, view, f".{name}")
            if there.kind == "file" and there.path != path:
                yield path


def starred(program: LinkedProgram, targets: Iterable[Target], paths: Iterable[str]) -> list[str]:
    """Those of these files that import everything of a file of the targets."""
    inner, paths = program.resolver.program, list(paths)
    homes = {
        thing.path
        for target in targets
        for thing in target.things
        if inner.symbol(thing).parent == MODULE
    }
    importing: dict[str, set[str]] = {}
    queue = sorted(paths) if homes else []
    seen = set(queue)
    while queue:
        path = queue.pop()
        view = inner.files.get(path)
        if view is None or view.family != "python":
            continue
        for there in {modules.find(inner, view, item.module).path for item in view.wildcards}:
            importing.setdefault(there, set()).add(path)
            if there not in seen:
                seen.add(there)
                queue.append(there)
    found = set[str]()
    for home in homes:
        found |= _reaching(home, importing) - {home}
    return sorted(found & set(paths))


def _reaching(goal: str, importing: Mapping[str, set[str]]) -> set[str]:
    """The files that import a file, directly or through others."""
    queue, reaching = [goal], set[str]()
    while queue:
        new = importing.get(queue.pop(), set()) - reaching
        reaching |= new
        queue += new
    return reaching
