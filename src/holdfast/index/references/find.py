"""All references to a symbol in a program, and mentions that could not be decided."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from operator import itemgetter

from holdfast.index.calls.confidence import calibrated
from holdfast.index.calls.linked_program import LinkedProgram
from holdfast.index.calls.lookup import Found
from holdfast.index.calls.program import Thing, View
from holdfast.index.facts.mention_kinds import Kind, Short
from holdfast.index.facts.mentions import Mention, Mentions
from holdfast.index.facts.model import MODULE, Import, file_id
from holdfast.index.facts.python_scopes import TOP, UNKNOWN
from holdfast.index.references.implementations import override_family
from holdfast.index.references.meaning import ONLY, Meanings, Scopes
from holdfast.index.references.python_names import DEFINED_OR_IMPORTED
from holdfast.index.references.target import Target, TargetGroup

OVERRIDE = "override"
"""The reason for mentions of a member that overrides the symbol, or that it overrides."""
UNSURE = 0.6
"""The most that is said of a mention in a part of a file that could not be parsed."""
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
        return self.judge_all([target], files)

    def judge_all(self, targets: Iterable[Target], files: Iterable[ReadFile]) -> References:
        """The mentions in these files that refer to one of the targets; each is resolved once.

        A mention of several targets is found once, as one of the last of them.
        """
        views = self._program.resolver.program.files
        files = list(files)
        groups: dict[str, TargetGroup] = {}
        declared: dict[tuple[str, str], dict[Thing, int]] = {}
        for target in targets:
            target = self._with_declared(target, files)
            target = self._in_one_scope(target, files, declared)
            groups.setdefault(target.family, TargetGroup()).add(target)
        answer, found = References(), list[tuple[int, Reference]]()
        for file in files:
            view = views.get(file.path)
            if view is None or (group := groups.get(view.family)) is None:
                continue
            if file.mentions.why:
                answer.unread[file.path] = file.mentions.why
            self._judge(group, view, file, answer, found)
        found.sort(key=itemgetter(0))
        answer.found = [reference for _, reference in found]
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

    def _declared(
        self, group: TargetGroup, view: View, scopes: Scopes, mention: Mention
    ) -> frozenset[int]:
        """The targets that the type of `cart` in `cart.total = () => 1` declares."""
        written = mention.receiver and not mention.keyed
        if view.family != "js" or not written or mention.name not in group.names:
            return frozenset()
        before = mention.start - len(mention.receiver.encode()) - 2
        scope = scopes.at(max(0, before))  # the function itself begins at the receiver
        return frozenset(
            at
            for thing in self._meanings.of_receiver(view, scope, mention)
            for at in group.by_thing.get(thing, ())
            if thing in group.targets[at].things and mention.name == group.targets[at].name
        )

    def _in_one_scope(
        self, target: Target, files: list[ReadFile], known: dict[tuple[str, str], dict[Thing, int]]
    ) -> Target:
        """The target without symbols of the same name that other functions of its file declare.

        The locals of a function without a name have the same full name as symbols of the file.
        `known` has the scopes of the names that were asked for before.
        """
        if target.family != "js" or target.asked is None:
            return target
        key = target.asked.path, target.name
        scopes = known.get(key)
        if scopes is None:
            scopes = known[key] = self._scopes_of(*key, files)
        own = scopes.get(target.asked)
        if own is None:
            return target
        apart = {thing for thing in target.things if scopes.get(thing, own) != own}
        return replace(target, apart=frozenset(apart), scope=own)

    def _scopes_of(self, path: str, name: str, files: list[ReadFile]) -> dict[Thing, int]:
        """The scopes that declare the symbols of a name in a file."""
        scopes: dict[Thing, int] = {}
        view = self._program.resolver.program.files.get(path)
        for file in files if view is not None else ():
            if view is None or file.path != path:
                continue
            for one in file.mentions.found:
                if one.name == name and one.holder >= 0:
                    at = self._meanings.named_at(view, one)
                    if at != MODULE:
                        scopes.setdefault(Thing("symbol", path, at), one.scope)
        return scopes

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
                            _known(mention, _sure(view, candidate)),
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
        group: TargetGroup,
        view: View,
        file: ReadFile,
        answer: References,
        found: list[tuple[int, Reference]],
    ) -> None:
        scopes, source = Scopes(view), file.source
        missing: list[tuple[frozenset[Thing], Reference]] = []
        assigned = set[Thing]()
        for mention in file.mentions.found:
            scope = scopes.at(mention.start)
            meaning = self._meanings.of(view, scope, mention)
            lost = mention.unsure and meaning.what == "other"
            if meaning.what == "undecided" or lost:
                if mention.name in group.names:
                    answer.undecided.append(_reference(view, scope, mention, source, 0.0, ""))
                continue
            if meaning.what == "missing":
                owners = frozenset(one.thing for one in meaning.found)
                if mention.kind == "write":
                    assigned |= owners
                if mention.name in group.names:
                    missing.append((owners, _reference(view, scope, mention, source, 0.0, "")))
                continue
            at, hits = self._hits(group, view, scopes, mention, meaning.found)
            if hits:
                target = group.targets[at]
                best = max(hits, key=lambda candidate: candidate.confidence)
                both = mention.kind == "import" and target.family == "js"  # a type and a value
                share = 1.0 if mention.keyed or both else _share(meaning.found, hits)
                reason = OVERRIDE if best.thing in target.related else best.reason
                sure = _known(mention, _sure(view, best) * share)
                found.append((at, _reference(view, scope, mention, source, sure, reason)))
        answer.missing += [one for owners, one in missing if not owners & assigned]

    def _hits(
        self,
        group: TargetGroup,
        view: View,
        scopes: Scopes,
        mention: Mention,
        candidates: tuple[Found, ...],
    ) -> tuple[int, list[Found]]:
        """The last target that a mention means, and the candidates that say so."""
        near, declared = group.near(candidates, mention.kind), frozenset[int]()
        if mention.kind == "write":
            declared = self._declared(group, view, scopes, mention)
            near = sorted(declared.union(near), reverse=True)
        for at in near:
            target = group.targets[at]
            hits = [
                candidate
                for candidate in candidates
                if (
                    candidate.thing in target.things
                    and _is_meant(target, view, mention, candidate.thing)
                )
                or candidate.thing in target.related
                or (mention.kind == "call" and candidate.thing in target.called)
            ]
            if not hits and at in declared:
                hits = list(candidates[:1])
            if hits:
                return at, hits
        return -1, []


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


def _known(mention: Mention, confidence: float) -> float:
    return min(confidence, UNSURE) if mention.unsure else confidence


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
