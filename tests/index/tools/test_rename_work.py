"""The work of a rename: it grows with the places, not with the places times the overrides."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest

from holdfast.index.calls import modules
from holdfast.index.calls.linked_program import LinkedProgram
from holdfast.index.calls.program import Program, Thing, View
from holdfast.index.calls.resolve import Resolver
from holdfast.index.facts.extract import extract
from holdfast.index.facts.mentions import find_mentions
from holdfast.index.references.find import ReadFile, Reference, ReferenceSearch
from holdfast.index.references.meaning import Meanings
from holdfast.index.references.rename_risks import starred
from holdfast.index.references.symbol_edits import Plan, Replacement
from holdfast.index.references.target import Target, target_of


def linked(sources: dict[str, str]) -> LinkedProgram:
    return LinkedProgram(Resolver(extract(path, text.encode()) for path, text in sources.items()))


def targets_called(program: LinkedProgram, name: str, *, overrides: bool = False) -> list[Target]:
    """Every symbol of a name, as a target."""
    found = [
        target_of(program, symbol.id, overrides=overrides)
        for view in program.resolver.program.files.values()
        for symbol in view.facts.symbols
        if symbol.name == name
    ]
    return [target for target in found if target is not None]


def read(sources: dict[str, str], names: Iterable[str]) -> list[ReadFile]:
    return [
        ReadFile(path, text.encode(), find_mentions(path, text.encode(), names))
        for path, text in sources.items()
    ]


def overrides_of(count: int) -> dict[str, str]:
    """A class, and as many subclasses in ten files; each of them overrides its method."""
    files = {"base.py": "class Base:\n    def run(self):\n        return 0\n"}
    for at in range(10):
        classes = "".join(
            f"class C{at}_{one}(Base):\n    def run(self):\n        return super().run()\n\n\n"
            for one in range(count // 10)
        )
        files[f"m{at}.py"] = f"from base import Base\n\n\n{classes}"
    return files


@pytest.mark.shows("EDIT-LINEAR")
def test_a_mention_is_resolved_once_for_all_overrides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of 1,000 overrides resolved all mentions again: a rename took 24 s."""
    resolved = 0
    real = Meanings.of

    def counted(self: Meanings, view: View, scope: int, mention: object) -> object:
        nonlocal resolved
        resolved += 1
        return real(self, view, scope, mention)  # type: ignore[arg-type]

    monkeypatch.setattr(Meanings, "of", counted)
    work = dict[int, int]()
    for count in (20, 80):
        sources = overrides_of(count)
        program = linked(sources)
        targets = targets_called(program, "run")
        assert len(targets) == count + 1
        files = read(sources, {"run"})
        mentions = sum(len(file.mentions.found) for file in files)
        resolved = 0
        answer = ReferenceSearch(program).judge_all(targets, files)
        assert len(answer.found) == 2 * count + 1
        assert resolved == mentions
        work[count] = resolved
    assert work[80] <= 4 * work[20]


def random_sources(rng: random.Random) -> dict[str, str]:
    """Classes that override each other's `run` in Python and TypeScript, and calls of it."""
    python, script = [], []
    for at in range(rng.randrange(2, 7)):
        base = f"C{rng.randrange(at)}" if at and rng.random() < 0.7 else ""
        under, extends = (f"({base})", f" extends {base}") if base else ("", "")
        python.append(f"class C{at}{under}:\n    def run(self):\n        self.run()\n")
        static = "static " if rng.random() < 0.2 else ""
        script.append(f"class C{at}{extends} {{ {static}run() {{ this.run(); }} }}\n")
    for at in range(rng.randrange(6)):
        one = f"C{rng.randrange(len(python))}"
        python.append(f"def f{at}(a: {one}, b):\n    a.run()\n    b.run()\n    run = 1\n")
        script.append(f"function f{at}(a: {one}, b) {{ a.run(); a.run = () => 1; b.run(); }}\n")
        if rng.random() < 0.3:
            script.append("const free = { run() { return 1; } };\nfree.run();\n")
            python.append("def run():\n    run()\n")
    return {"a.py": "".join(python), "a.ts": "".join(script)}


@pytest.mark.shows("EDIT-LINEAR")
@pytest.mark.parametrize("overrides", [False, True])
def test_judging_all_targets_at_once_finds_what_judging_each_finds(overrides: bool) -> None:
    """The twin judges each target alone; of two that mean a place the last one counts."""
    rng, places = random.Random(3), 0
    for turn in range(60):
        sources = random_sources(rng)
        program = linked(sources)
        targets = targets_called(program, "run", overrides=overrides)
        rng.shuffle(targets)
        files = read(sources, {"run"})
        search = ReferenceSearch(program)
        alone = [search.judge(target, files) for target in targets]
        together = search.judge_all(targets, files)

        def by_place(found: Iterable[Reference]) -> dict[tuple[str, int], Reference]:
            return {(one.path, one.start): one for one in found}

        for kind in ("found", "undecided", "missing"):
            each = [one for answer in alone for one in getattr(answer, kind)]
            assert by_place(getattr(together, kind)) == by_place(each), f"seed 3, turn {turn}"
        places += len(together.found)
    assert places > 500


def reaches(edges: dict[str, list[str]], start: str) -> set[str]:
    """The twin: every file that can be reached from one, by a walk of its own."""
    queue, seen = [start], {start}
    while queue:
        for there in edges[queue.pop()]:
            if there not in seen:
                seen.add(there)
                queue.append(there)
    return seen - {start}


@pytest.mark.shows("EDIT-LINEAR")
def test_files_that_import_everything_are_found_as_by_a_walk_from_each() -> None:
    rng = random.Random(5)
    found = 0
    for _ in range(40):
        names = [f"m{at}" for at in range(rng.randrange(2, 9))]
        edges = {name: rng.sample(names, rng.randrange(min(3, len(names)))) for name in names}
        sources = {
            f"{name}.py": "".join(f"from {other} import *\n" for other in edges[name])
            + ("def run(): ...\n" if rng.random() < 0.4 else "")
            for name in names
        }
        program = linked(sources)
        targets = targets_called(program, "run")
        homes = {thing.path[:-3] for target in targets for thing in target.things}
        asked = [f"{name}.py" for name in names if rng.random() < 0.8]
        expected = [path for path in sorted(asked) if homes & reaches(edges, path[:-3])]
        assert starred(program, targets, asked) == expected
        found += len(expected)
    assert found > 30


@pytest.mark.shows("EDIT-LINEAR")
def test_a_chain_of_imports_of_everything_is_walked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up = 0
    real = modules.find

    def counted(program: Program, view: View, module: str) -> Thing:
        nonlocal looked_up
        looked_up += 1
        return real(program, view, module)

    sources = {f"m{at}.py": f"from m{at - 1} import *\n" for at in range(1, 60)}
    program = linked({"m0.py": "def run(): ...\n", **sources})
    targets = targets_called(program, "run")
    monkeypatch.setattr(modules, "find", counted)
    assert starred(program, targets, sources) == sorted(sources)
    assert looked_up <= 60


def test_the_texts_of_a_plan_are_those_of_each_file() -> None:
    sources = {"a": b"one two", "b": b"one", "c": b"three"}
    edits = (
        Replacement("b", 0, 3, b"1"),
        Replacement("a", 4, 7, b"2"),
        Replacement("a", 0, 3, b""),
    )
    plan = Plan(sources, edits)
    assert plan.texts_after() == {"a": b" 2", "b": b"1"}
    assert plan.texts_after() == {path: plan.after(path) for path in plan.paths}
