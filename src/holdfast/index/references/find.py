"""All references to a symbol in a program, and mentions that could not be decided."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from holdfast.index.calls.confidence import calibrated
from holdfast.index.calls.linked_program import LinkedProgram
from holdfast.index.calls.lookup import Found
from holdfast.index.calls.program import OWNERS, Thing, View
from holdfast.index.calls.signatures import is_static
from holdfast.index.facts.mention_kinds import Kind, Short
from holdfast.index.facts.mentions import Mention, Mentions
from holdfast.index.facts.model import MODULE, Import, Symbol, file_id
from holdfast.index.facts.python_scopes import TOP, UNKNOWN
from holdfast.index.references.implementations import override_family
from holdfast.index.references.meaning import ONLY, ONLY_TYPES, ONLY_VALUES, Meanings, Scopes
from holdfast.index.references.python_names import DEFINED_OR_IMPORTED

OVERRIDE = "override"
"""The reason for mentions of a member that overrides the symbol, or that it overrides."""
LINE_MAX = 200
NAMES_MAX = 50
"""The maximum number of names followed for one symbol: its own and its import aliases."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A place that refers to the symbol; `inside` is the id of the enclosing symbol or file."""

    path: str
    line: int
    kind: Kind
    inside: str
    confidence: float
    reason: str
    text: str
    start: int
    name: str
    short: Short = ""
    """In `{ total }` one word is a key and a variable; which of them is the reference."""


@dataclass(slots=True)
class References:
    """The references by path and line; `undecided` are mentions whose receiver is unknown."""

    found: list[Reference] = field(default_factory=list)
    undecided: list[Reference] = field(default_factory=list)
    unread: dict[str, str] = field(default_factory=dict)
    """Files that were not examined completely, with the reason."""
    missing: list[Reference] = field(default_factory=list)
    """Mentions whose receiver's class does not have the member; a subclass may have it."""


@dataclass(frozen=True, slots=True)
class Target:
    """The requested symbol, with its prototypes, overloads and parts."""

    things: frozenset[Thing]
    called: frozenset[Thing]
    """Calls of these count as references too: the class of a constructor."""
    name: str
    family: str
    names: frozenset[str]
    related: frozenset[Thing] = frozenset()
    """Members that it overrides or that override it, where a language counts them as one."""
    overrides: bool = False
    """Whether members that override each other count as one."""
    asked: Thing | None = None
    apart: frozenset[Thing] = frozenset()
    """Symbols with the same full name that another scope of the file declares."""
    scope: int = UNKNOWN
    """Where the scope starts that declares it; a name of an inner scope is not seen elsewhere."""


def target_of(program: LinkedProgram, identity: str, *, overrides: bool = False) -> Target | None:
    """The target for the id of a symbol; None when the program does not have it.

    With `overrides`, a member in TypeScript or JavaScript includes all members that it overrides
    and that override it, as in the tools of these languages.
    """
    thing = program.resolver.program.by_id.get(identity)
    if thing is None:
        return None
    inner = program.resolver.program
    view = inner.files[thing.path]
    symbol = inner.symbol(thing)
    key = thing.path, view.family, view.full(thing.at), symbol.kind
    same = program.targets.get(key)
    if same is None or thing not in same:
        same = program.targets[key] = frozenset({
            one
            for one in inner.exact(view.family, view.full(thing.at))
            if (one.path == thing.path and _is_merged(inner.symbol(one), symbol, view))
            or _is_one_in_parts(inner.symbol(one), symbol, view)
        } | {thing})  # fmt: skip
    called: set[Thing] = set()
    names = {symbol.name}
    if symbol.kind == "constructor" and symbol.parent != MODULE:
        owner = Thing("symbol", thing.path, symbol.parent)
        called.add(owner)
        names.add(inner.symbol(owner).name)
    related: set[Thing] = set()
    if overrides and view.family == "js" and symbol.kind in ("method", "property", "function"):
        related = override_family(program, thing) - same
    return Target(
        same,
        frozenset(called),
        symbol.name,
        view.family,
        frozenset(names),
        frozenset(related),
        overrides and view.family == "js",
        thing,
    )


def _is_merged(one: Symbol, other: Symbol, view: View) -> bool:
    """Whether symbols with one full name in a file are one; types and values of scripts are two."""
    owner = view.symbol(one.parent).kind if one.parent != MODULE else ""
    if view.family == "js" and owner in OWNERS:
        return is_static(one.signature) == is_static(other.signature)
    if view.family != "js" or owner in OWNERS:
        return True
    kinds = {one.kind, other.kind}
    if "method" in kinds:  # of an object literal in a function
        return one == other
    return not (kinds & ONLY_TYPES and kinds & ONLY_VALUES)


def _is_one_in_parts(one: Symbol, other: Symbol, view: View) -> bool:
    """Whether symbols with one full name in two files are one: a prototype, a part of a class."""
    return view.family in ("c", "csharp", "ruby", "swift", "go") and one.kind == other.kind


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file with its mentions."""

    path: str
    source: bytes
    mentions: Mentions


@dataclass(slots=True)
class Mentioned:
    """Mentions by the symbol they refer to, or by name if they refer to none."""

    by_thing: dict[Thing, list[Reference]] = field(default_factory=lambda: defaultdict(list))
    unresolved: dict[str, list[Reference]] = field(default_factory=lambda: defaultdict(list))


class ReferenceSearch:
    """Finds the references to a symbol among the mentions of its names."""

    def __init__(self, program: LinkedProgram) -> None:
        self._program = program
        self._meanings = Meanings(program.resolver.names)

    def names(self, target: Target) -> frozenset[str]:
        """The names of the target, and its import aliases in other files."""
        program, names = self._program.resolver.program, set(target.names)
        stems = {thing.path.rpartition("/")[2].partition(".")[0] for thing in target.things}
        for view in program.importing_default(target.family, stems):
            for item in view.facts.imports:
                if item.name == "default" and self._is_default(target, view, item, stems):
                    names.add(item.alias)
        queue = sorted(names)
        while queue and len(names) < NAMES_MAX:
            name = queue.pop()
            if name == "default":  # ambiguous; handled above
                continue
            new = {
                item.alias
                for view in program.renaming(target.family, name)
                for item in view.facts.imports
                if item.name == name and item.alias not in ("", name)
            } - names
            names |= new
            queue += sorted(new)
        return frozenset(names)

    def _is_default(self, target: Target, view: View, item: Import, stems: Collection[str]) -> bool:
        """Whether a default import binds the target; only imports from the target's files count."""
        last = item.module.rpartition("/")[2].partition(".")[0]
        if not item.alias or (last not in stems and "index" not in stems):
            return False
        return any(f.thing in target.things for f in self._meanings.imported(view, item))

    def judge(self, target: Target, files: Iterable[ReadFile]) -> References:
        """The mentions in these files that refer to the target."""
        answer = References()
        views = self._program.resolver.program.files
        files = list(files)
        target = self._in_one_scope(self._with_declared(target, files), files)
        for file in files:
            view = views.get(file.path)
            if view is None or view.family != target.family:
                continue
            if file.mentions.why:
                answer.unread[file.path] = file.mentions.why
            self._judge(target, view, file.source, file.mentions.found, answer)
        return answer

    def _with_declared(self, target: Target, files: list[ReadFile]) -> Target:
        """The target, and the member of a type that its object literal has to have.

        In TypeScript the function `code` of `const rule: Rule = { code() {} }` is the member `code`
        of `Rule`, and that of `rule.code = () => {}` is, too; both are one for the tools of the
        language, where overrides count.
        """
        if not target.overrides:
            return target
        views, more = self._program.resolver.program.files, set[Thing]()
        paths = {thing.path for thing in target.things}
        for file in files:
            view = views.get(file.path)
            if file.path not in paths or view is None:
                continue
            scopes = Scopes(view)
            for mention in file.mentions.found:
                written = mention.kind == "write" and mention.receiver
                if not (mention.keyed or written) or mention.name != target.name:
                    continue
                scope = scopes.at(mention.start)
                meanings = self._meanings.of(view, scope, mention).found
                if any(candidate.thing in target.things for candidate in meanings):
                    more.update(candidate.thing for candidate in meanings)
                    if written and not mention.keyed:
                        before = mention.start - len(mention.receiver.encode()) - 2
                        outer = scopes.at(max(0, before))  # the function itself begins there
                        more.update(self._meanings.of_receiver(view, outer, mention))
        related = {one for thing in more for one in override_family(self._program, thing)}
        return replace(target, related=(target.related | more | related) - target.things)

    def _declares(self, target: Target, view: View, scopes: Scopes, mention: Mention) -> bool:
        """Whether the type of `cart` in `cart.total = () => 1` declares the target."""
        written = mention.kind == "write" and mention.receiver and not mention.keyed
        if target.family != "js" or not written or mention.name != target.name:
            return False
        before = mention.start - len(mention.receiver.encode()) - 2
        scope = scopes.at(max(0, before))  # the function itself begins at the receiver
        return not target.things.isdisjoint(self._meanings.of_receiver(view, scope, mention))

    def _in_one_scope(self, target: Target, files: list[ReadFile]) -> Target:
        """The target without symbols of the same name that other functions of its file declare.

        The locals of a function without a name have the same full name as symbols of the file.
        """
        if target.family != "js" or target.asked is None:
            return target
        scopes: dict[Thing, int] = {}
        for file in files:
            view = self._program.resolver.program.files.get(file.path)
            if view is None or file.path != target.asked.path:
                continue
            for one in file.mentions.found:
                if one.name == target.name and one.holder >= 0:
                    at = self._meanings.named_at(view, one)
                    if at != MODULE:
                        scopes.setdefault(Thing("symbol", file.path, at), one.scope)
        own = scopes.get(target.asked)
        if own is None:
            return target
        apart = {thing for thing in target.things if scopes.get(thing, own) != own}
        return replace(target, apart=frozenset(apart), scope=own)

    def table(self, files: Iterable[ReadFile]) -> Mentioned:
        """Every mention in these files, by what it refers to; each is resolved once."""
        mentioned = Mentioned()
        views = self._program.resolver.program.files
        for file in files:
            view = views.get(file.path)
            if view is None:
                continue
            scopes = Scopes(view)
            for mention in file.mentions.found:
                if mention.kind == "definition":
                    continue
                scope = scopes.at(mention.start)
                meaning = self._meanings.of(view, scope, mention)
                for candidate in meaning.found[:1]:
                    mentioned.by_thing[candidate.thing].append(
                        _reference(
                            view,
                            scope,
                            mention,
                            file.source,
                            _sure(view, candidate),
                            candidate.reason,
                        )
                    )
                if meaning.what != "symbols" and not mention.local:
                    mentioned.unresolved[mention.name].append(
                        _reference(view, scope, mention, file.source, 0.0, "unresolved")
                    )
        return mentioned

    def _judge(
        self,
        target: Target,
        view: View,
        source: bytes,
        mentions: tuple[Mention, ...],
        answer: References,
    ) -> None:
        scopes = Scopes(view)
        missing: list[tuple[frozenset[Thing], Reference]] = []
        assigned = set[Thing]()
        for mention in mentions:
            scope = scopes.at(mention.start)
            meaning = self._meanings.of(view, scope, mention)
            if meaning.what == "undecided":
                if mention.name == target.name:
                    answer.undecided.append(_reference(view, scope, mention, source, 0.0, ""))
                continue
            if meaning.what == "missing":
                owners = frozenset(one.thing for one in meaning.found)
                if mention.kind == "write":
                    assigned |= owners
                if mention.name == target.name:
                    missing.append((owners, _reference(view, scope, mention, source, 0.0, "")))
                continue
            hits = [
                candidate
                for candidate in meaning.found
                if (
                    candidate.thing in target.things
                    and _is_meant(target, view, mention, candidate.thing)
                )
                or candidate.thing in target.related
                or (mention.kind == "call" and candidate.thing in target.called)
            ]
            if not hits and self._declares(target, view, scopes, mention):
                hits = list(meaning.found[:1])
            if hits:
                best = max(hits, key=lambda candidate: candidate.confidence)
                both = mention.kind == "import" and target.family == "js"  # a type and a value
                share = 1.0 if mention.keyed or both else _share(meaning.found, hits)
                reason = OVERRIDE if best.thing in target.related else best.reason
                answer.found.append(
                    _reference(view, scope, mention, source, _sure(view, best) * share, reason)
                )
        answer.missing += [one for owners, one in missing if not owners & assigned]


def _is_meant(target: Target, view: View, mention: Mention, thing: Thing) -> bool:
    """Whether a mention means the target and not a symbol of the same name in another scope."""
    if target.scope == UNKNOWN:
        return True
    if mention.holder >= 0 and not mention.receiver and view.path == thing.path:
        return mention.scope == target.scope
    return target.scope == TOP or not target.apart


def _share(candidates: tuple[Found, ...], hits: list[Found]) -> float:
    """The share of one meaning among several; a name that is also imported has both."""
    plain = [one for one in candidates if one.reason != DEFINED_OR_IMPORTED]
    others = [one for one in plain if one not in hits]
    return 1 / len(plain) if others and len(others) < len(plain) else 1.0


def _sure(view: View, candidate: Found) -> float:
    """The measured confidence of a reason; a guess keeps its own."""
    if candidate.reason == ONLY:
        return candidate.confidence
    return calibrated(view.family, candidate.reason, candidate.confidence)


def _reference(
    view: View, scope: int, mention: Mention, source: bytes, confidence: float, reason: str
) -> Reference:
    begin = source.rfind(b"\n", 0, mention.start) + 1
    end = source.find(b"\n", mention.start)
    line = source[begin : end if end >= 0 else len(source)].decode("utf-8", "replace").strip()
    inside = view.symbol(scope).id if scope != MODULE else file_id(view.path)
    return Reference(
        view.path,
        mention.line,
        mention.kind,
        inside,
        round(confidence, 3),
        reason,
        line[:LINE_MAX],
        mention.start,
        mention.name,
        mention.short,
    )
