"""impact: the symbols that changed since a revision, who depends on them, which tests reach them.

Read-only. Callers are followed two calls up, tests three. Other mentions come from
`references`. What a removed symbol leaves behind is listed as broken.
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
from holdfast.index.calls.linked_program import LinkedProgram
from holdfast.index.code_index import CodeIndex
from holdfast.index.errors import BackendUnavailable, DamagedBackend
from holdfast.index.facts.model import FileFacts, Symbol
from holdfast.index.generations.freshness import FreshFiles
from holdfast.index.generations.gate import Gate, Open
from holdfast.index.generations.model import Reader
from holdfast.index.references.answers import ImpactAnswer, ImpactedSymbol, ImpactTest
from holdfast.index.references.changed import Change, changed_symbols
from holdfast.index.references.find import ReadFile, ReferenceSearch, target_of
from holdfast.index.search.roles import role_of
from holdfast.index.tools.mention_files import files_with, read_files
from holdfast.index.tools.references import node_of, place_of
from holdfast.index.tools.refusals import refusal

DEPTH = 2
TEST_DEPTH = 3
LIMIT_DEFAULT = 20
SHOWN = 8
"""How many callers and references of one symbol are listed."""
WALKED_MAX = 400
FILES_MAX = 400
"""So many changed files are compared."""


@dataclass(frozen=True, slots=True)
class _Touched:
    """A changed symbol, with its file."""

    path: str
    symbol: Symbol
    change: Change


def impact(
    index: CodeIndex, tree: str, since: str = "HEAD", *, limit: int = LIMIT_DEFAULT
) -> ImpactAnswer:
    """What changed in a tree since a git revision, and what depends on it."""
    if limit < 1:
        raise UsageError(f"limit must be at least 1 (got {limit})")
    requested, record = index.root_of(tree)
    answer = ImpactAnswer(status="ok", path=requested, since=since)
    gate = index.gate(record)
    if not isinstance(gate, Open):
        return _refused(index, answer, gate)
    root = gate.record.root
    try:
        with open_repository(Path(root)) as repository, index.backend.reader(root) as reader:
            commit = _commit(repository, root, since)
            assert repository is not None, "a commit was found in it"
            overlay = index.check_freshness(gate.record, reader)
            answer = replace(answer, commit=commit)
            return _impact(index, root, reader, overlay, repository, answer, limit)
    except BackendUnavailable:
        again = index.gate(index.registry.find(root))
        if isinstance(again, Open):
            raise
        return _refused(index, answer, again)
    except DamagedBackend as error:
        return _refused(index, answer, index.damaged(gate.record, error))


def _commit(repository: Repository | None, root: str, since: str) -> str:
    if repository is None:
        raise UsageError(
            f"{root} is in no git repository", "impact compares with a revision of one"
        )
    commit = repository.commit(since)
    if commit is None:
        raise UsageError(f"git knows no revision {since}", "git log lists those there are")
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
        now = {path: view.facts for path, view in program.resolver.program.files.items()}
    paths = sorted({path for path in now if path in changes} | (changes.differing - now.keys()))
    unread = paths[FILES_MAX:]
    touched: list[_Touched] = []
    for path in paths[:FILES_MAX]:
        found = _compared(index, root, repository, answer.commit, path, now.get(path))
        if found is None:
            unread.append(path)
        else:
            touched += found
    names = frozenset(one.symbol.name for one in touched)
    ours = {path for path, facts in now.items() if facts.symbols or facts.imports or facts.calls}
    files: list[ReadFile] = []
    if names:
        with_names, complete = files_with(root, reader, overlay, names, ours)
        files, left = read_files(root, sorted(with_names), names)
        unread += left if complete else [*left, "files that could not be searched in time"]
    with index.programs.lock:
        program = index.programs.program(root, reader, overlay)
        symbols = [_impacted(program, one, files) for one in touched]
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
    repository: Repository,
    commit: str,
    path: str,
    facts: FileFacts | None,
) -> list[_Touched] | None:
    """The changed symbols of a file; None if a version of it cannot be read."""
    old = repository.blob(commit, repository.prefix + path) or b""
    new = b""
    if facts is not None:
        try:
            new, _ = disk.read_file(root, path)
        except OSError:
            return None
    if max(len(old), len(new)) > SIZE_BYTES_MAX or unfit(old) or unfit(new):
        return None
    old, new = masked(old), masked(new)
    before, after = index.extract(path, old), index.extract(path, new)
    if before.guessed or after.guessed:
        return []
    found = changed_symbols(before, old, after, new)
    return [_Touched(path, one.symbol, one.change) for one in found]


def _impacted(program: LinkedProgram, one: _Touched, files: list[ReadFile]) -> ImpactedSymbol:
    symbol = one.symbol
    made = ImpactedSymbol(
        symbol_label=symbol.qualified,
        kind=symbol.kind,
        file=one.path,
        line=symbol.span.first_line,
        change=one.change,
        symbol_id=symbol.id if one.change != "removed" else None,
    )
    search = ReferenceSearch(program)
    if one.change == "removed":
        broken = search.unresolved(symbol.name, files)
        return replace(
            made,
            broken=tuple(place_of(program, place) for place in broken[:SHOWN]),
            more_references=max(0, len(broken) - SHOWN),
        )
    target = target_of(program, symbol.id)
    if target is None or one.change == "added":
        return made
    walked = program.walk(symbol.id, "callers", DEPTH, WALKED_MAX)
    callers = dict.fromkeys(edge.caller for edge in walked.edges)
    inner = program.resolver.program.by_id
    nodes = [node_of(program, inner[caller]) for caller in callers if caller in inner]
    nodes.sort(key=lambda node: role_of(node.file) == "test")
    found = search.judge(target, files).found
    others = [place for place in found if place.kind not in ("definition", "call")]
    return replace(
        made,
        callers=tuple(nodes[:SHOWN]),
        more_callers=max(0, len(nodes) - SHOWN),
        references=tuple(place_of(program, place) for place in others[:SHOWN]),
        more_references=max(0, len(others) - SHOWN),
    )


def _weight(one: ImpactedSymbol) -> tuple[int, int, str, int]:
    """What breaks first, then what most depends on; new symbols last."""
    dependents = len(one.callers) + one.more_callers + len(one.references) + one.more_references
    first = {"removed": 0 if one.broken else 2, "changed": 1, "added": 3}[one.change]
    return first, -dependents, one.file, one.line


def _tests(program: LinkedProgram, touched: list[_Touched]) -> tuple[ImpactTest, ...]:
    """The tests that reach changed symbols, those that reach most first."""
    reached: dict[str, list[str]] = defaultdict(list)
    for one in touched:
        if one.change == "removed":
            continue
        walked = program.walk(one.symbol.id, "callers", TEST_DEPTH, WALKED_MAX)
        for caller in dict.fromkeys([one.symbol.id, *(edge.caller for edge in walked.edges)]):
            reached[caller].append(one.symbol.qualified)
    tests = []
    for caller, names in reached.items():
        found = program.place(caller)
        if found is None or role_of(found[0].path) != "test":
            continue
        facts, symbol = found
        label, line = (symbol.qualified, symbol.span.first_line) if symbol else (facts.path, 1)
        tests.append(ImpactTest(facts.path, label, line, tuple(dict.fromkeys(names))))
    tests.sort(key=lambda test: (-len(test.reaches), test.file, test.line))
    return tuple(tests[: SHOWN * 4])


def _refused(index: CodeIndex, answer: ImpactAnswer, gate: Gate) -> ImpactAnswer:
    refused = refusal(gate, answer.path, index.runtime(), "ask for the impact again")
    return replace(
        answer,
        status=refused.status,
        reason=refused.reason,
        message=refused.message,
        hints=refused.hints,
        indexing=refused.indexing,
    )
