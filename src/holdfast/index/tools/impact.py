"""impact: symbols that changed since a revision, what depends on them, which tests reach them.

Read-only. Callers are followed two calls up, tests three. Other mentions come from `references`.
Remaining mentions of a removed symbol are listed as broken.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from holdfast.errors import UsageError
from holdfast.files import disk
from holdfast.files.git import Repository, open_repository
from holdfast.files.policy import SIZE_BYTES_MAX, unfit
from holdfast.files.secrets import masked
from holdfast.index.building.parse_budget import ParseBudget
from holdfast.index.calls.linked_program import LinkedProgram
from holdfast.index.calls.program import Thing
from holdfast.index.code_index import CodeIndex
from holdfast.index.facts.languages import OPTIONAL
from holdfast.index.facts.model import FileFacts, Symbol
from holdfast.index.facts.parse import lowered_limits
from holdfast.index.generations.freshness import FreshFiles
from holdfast.index.generations.gate import Gate, Open
from holdfast.index.generations.model import Reader
from holdfast.index.references.answers import ImpactAnswer, ImpactedSymbol, ImpactTest
from holdfast.index.references.changed import Change, changed_symbols
from holdfast.index.references.find import (
    Mentioned,
    ReadFile,
    Reference,
    ReferenceSearch,
)
from holdfast.index.references.target import target_of
from holdfast.index.search.roles import role_of
from holdfast.index.tools.gate_check import read_if_open
from holdfast.index.tools.limits import IMPACT_DEFAULT
from holdfast.index.tools.mention_files import (
    HARD_ALL_S,
    HARD_FIRST_S,
    files_with,
    read_files,
    unreadable_parts,
)
from holdfast.index.tools.references import node_of, place_of
from holdfast.index.tools.refusals import refused

DEPTH = 2
TEST_DEPTH = 3
RETRY = "ask for the impact again"
SHOWN = 8
"""How many callers and references of one symbol are listed."""
WALKED_MAX = 400
TOUCHED_MAX = 500
"""The maximum number of changed symbols that are followed."""
FILES_MAX = 400
"""The maximum number of changed files that are compared."""


@dataclass(frozen=True, slots=True)
class _Touched:
    """A changed symbol, with its file."""

    path: str
    symbol: Symbol
    change: Change


def impact(
    index: CodeIndex, tree: str, since: str = "HEAD", *, limit: int = IMPACT_DEFAULT
) -> ImpactAnswer:
    """What changed in a tree since a git revision, and what depends on it."""
    if limit < 1:
        raise UsageError(f"limit must be at least 1 (got {limit})")
    requested, record = index.root_of(tree)
    answer = ImpactAnswer(status="ok", path=requested, since=since)

    def refuse(gate: Gate) -> ImpactAnswer:
        return refused(answer, gate, index.runtime(), RETRY, answer.path)

    def read(gate: Open) -> ImpactAnswer:
        root = gate.record.root
        with open_repository(Path(root)) as repository, index.backend.reader(root) as reader:
            commit = _commit(repository, root, since)
            assert repository is not None, "a commit was found in it"
            overlay = index.check_freshness(gate.record, reader)
            begun = replace(answer, commit=commit)
            return _impact(index, root, reader, overlay, repository, begun, limit)

    return read_if_open(index, record, refuse, read)


def _commit(repository: Repository | None, root: str, since: str) -> str:
    if repository is None:
        raise UsageError(
            f"{root} is not in a git repository",
            "impact compares the files with a revision of git; calls and references need none",
        )
    commit = repository.commit(since)
    if commit is None and repository.commit("HEAD") is None:
        raise UsageError(
            f"the git repository of {root} has no commits yet",
            "impact compares the files with a revision of git; calls and references need none",
        )
    if commit is None:
        raise UsageError(f"git has no revision {since}", "git log lists the revisions")
    return commit


def _impact(
    index: CodeIndex,
    root: str,
    reader: Reader,
    overlay: FreshFiles,
    repository: Repository,
    answer: ImpactAnswer,
    limit: int,
) -> ImpactAnswer:
    changes = repository.changes_since(answer.commit)
    if changes is None:
        raise UsageError(
            f"git cannot list the changes since {answer.since} at {root}",
            "run git status to see why",
        )
    with index.programs.lock:
        program = index.programs.program(root, reader, overlay)
        inner = program.resolver.program
        known = inner.files.keys()
        differing = {path for path in known if path in changes} | (changes.differing - known)
        others = repository.within_others(sorted(differing - changes.known - changes.differing))
        paths = sorted(differing - others.keys())
        now = {path: inner.files[path].facts for path in paths[:FILES_MAX] if path in known}
        ours = inner.with_content()
    unread = [f"{top} (a repository of its own)" for top in dict.fromkeys(others.values())]
    unread += paths[FILES_MAX:]
    touched: list[_Touched] = []
    budget = ParseBudget(HARD_FIRST_S, HARD_ALL_S)
    for path in paths[:FILES_MAX]:
        old = b""
        if path in changes.known or path in changes.differing:
            old = repository.blob(answer.commit, repository.prefix + path) or b""
        compared = _compared(index, root, path, old, now.get(path), budget)
        if compared is None:
            unread.append(path)
        else:
            touched += compared
    if len(touched) > TOUCHED_MAX:
        unread.append(f"what depends on {len(touched) - TOUCHED_MAX} more changed symbols")
        del touched[TOUCHED_MAX:]
    names = frozenset(one.symbol.name for one in touched)
    files: list[ReadFile] = []
    if names:
        with_names, complete = files_with(root, reader, overlay, names, ours)
        files, left = read_files(root, sorted(with_names), names)
        unread += unreadable_parts(overlay)
        unread += left if complete else [*left, "files that could not be searched in time"]
    with index.programs.lock:
        program = index.programs.program(root, reader, overlay)
        views = program.resolver.program.files
        unread += [
            f"{one.path} ({one.mentions.why})"
            for one in files
            if one.mentions.why and one.path in views and views[one.path].family
        ]
        mentioned = ReferenceSearch(program).table(files)
        besides = _BesidesCalls(mentioned)
        symbols = [_impacted(program, one, mentioned, besides) for one in touched]
        tests = _tests(program, touched)
    symbols.sort(key=_weight)
    return replace(
        answer,
        files=tuple(paths),
        symbols=tuple(symbols[:limit]),
        total=len(symbols),
        tests=tests,
        unread=tuple(unread[:SHOWN]),
        complete=not unread,
    )


def _compared(
    index: CodeIndex,
    root: str,
    path: str,
    old: bytes,
    facts: FileFacts | None,
    budget: ParseBudget,
) -> list[_Touched] | None:
    """The changed symbols of a file; None if a version of it cannot be read or parsed."""
    new = b""
    if facts is not None:
        try:
            new, _ = disk.read_file(root, path)
        except OSError:
            return None
    if max(len(old), len(new)) > SIZE_BYTES_MAX or unfit(old) or unfit(new):
        return None
    old, new = masked(old), masked(new)
    before = _parsed(index, path, old, budget)
    after = _parsed(index, path, new, budget)
    if before is None or after is None:
        return None
    if before.guessed or after.guessed:
        return None if after.language in OPTIONAL else []
    changes = changed_symbols(before, old, after, new)
    return [_Touched(path, one.symbol, one.change) for one in changes]


def _parsed(index: CodeIndex, path: str, source: bytes, budget: ParseBudget) -> FileFacts | None:
    """The facts of a text; None if it is too hard to parse, or if the budget does not allow it."""
    allowance = budget.allowance()
    if not allowance.parses(path, len(source)):
        return None
    with lowered_limits(allowance.share):
        facts = index.extract(path, source)
    if any(problem.code == "too_hard" for problem in facts.problems):
        budget.charge(path, len(source))
        return None
    return facts


class _BesidesCalls(dict[frozenset[Thing], list[Reference]]):
    """The mentions of a target that are not calls, computed once per target.

    A file may define one name thousands of times; then hundreds of changed symbols are one target.
    """

    def __init__(self, mentioned: Mentioned) -> None:
        super().__init__()
        self._mentioned = mentioned

    def __missing__(self, things: frozenset[Thing]) -> list[Reference]:
        mentions = self[things] = [
            place
            for thing in sorted(things)
            for place in self._mentioned.by_thing.get(thing, ())
            if place.kind != "call"
        ]
        return mentions


def _impacted(
    program: LinkedProgram, one: _Touched, mentioned: Mentioned, besides: _BesidesCalls
) -> ImpactedSymbol:
    symbol = one.symbol
    impacted = ImpactedSymbol(
        symbol_label=symbol.qualified,
        kind=symbol.kind,
        file=one.path,
        line=symbol.span.first_line,
        change=one.change,
        symbol_id=symbol.id if one.change != "removed" else None,
    )
    if one.change == "removed":
        broken = mentioned.unresolved.get(symbol.name, [])
        return replace(
            impacted,
            broken=tuple(place_of(program, place) for place in broken[:SHOWN]),
            more_references=max(0, len(broken) - SHOWN),
        )
    target = target_of(program, symbol.id)
    if target is None or one.change == "added":
        return impacted
    walked = program.walk(symbol.id, "callers", DEPTH, WALKED_MAX)
    callers = dict.fromkeys(edge.caller for edge in walked.edges)
    inner = program.resolver.program.by_id
    nodes = [node_of(program, inner[caller]) for caller in callers if caller in inner]
    nodes.sort(key=lambda node: role_of(node.file) == "test")
    others = besides[target.things]
    return replace(
        impacted,
        callers=tuple(nodes[:SHOWN]),
        more_callers=max(0, len(nodes) - SHOWN),
        references=tuple(place_of(program, place) for place in others[:SHOWN]),
        more_references=max(0, len(others) - SHOWN),
    )


def _weight(one: ImpactedSymbol) -> tuple[int, int, str, int]:
    """The sort key: broken mentions first, then by number of dependents; new symbols last."""
    dependents = len(one.callers) + one.more_callers + len(one.references) + one.more_references
    first = {"removed": 0 if one.broken else 2, "changed": 1, "added": 3}[one.change]
    return first, -dependents, one.file, one.line


def _tests(program: LinkedProgram, touched: list[_Touched]) -> tuple[ImpactTest, ...]:
    """The tests that reach changed symbols; those that reach the most come first."""
    reached: dict[str, list[str]] = defaultdict(list)
    for one in touched:
        if one.change == "removed":
            continue
        walked = program.walk(one.symbol.id, "callers", TEST_DEPTH, WALKED_MAX)
        for caller in dict.fromkeys([one.symbol.id, *(edge.caller for edge in walked.edges)]):
            reached[caller].append(one.symbol.qualified)
    tests = []
    for caller, names in reached.items():
        test = test_at(program, caller, tuple(dict.fromkeys(names)))
        if test is not None:
            tests.append(test)
    tests.sort(key=lambda test: (-len(test.reaches), test.file, test.line))
    return tuple(tests[: SHOWN * 4])


def test_at(program: LinkedProgram, caller: str, reaches: tuple[str, ...]) -> ImpactTest | None:
    """A caller as a test; None if it is not in a test file."""
    place = program.place(caller)
    if place is None or role_of(place[0].path) != "test":
        return None
    facts, symbol = place
    label, line = (symbol.qualified, symbol.span.first_line) if symbol else (facts.path, 1)
    return ImpactTest(facts.path, label, line, reaches)
