"""References of symbols of packages from the registries, judged by a type checker.

`python -m bench.references [--only PACKAGE…] [--symbols N] [--show N] [--record]` samples symbols
of each package, asks basedpyright (Python) or the TypeScript compiler for their references, and
prints how many of these `references` finds, leaves undecided and misses.

A judge does not name every reference: the TypeScript compiler stops at the `require` of a CommonJS
module, at a class that a call makes and at values without a type. So a certain place that it does
not name is asked for itself. From definition to definition it leads to the symbol ("asked"), to
something else ("other"), or to nothing that the judge knows ("nothing"). Only "other" is an error
by the judge, and "nothing" is counted apart.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote, urlparse

from bench.calls.__main__ import PACKAGES, files_of, judge_folder
from bench.calls.judges import HERE, LanguageServer
from bench.facts import fetch
from bench.timing import Row, save
from holdfast.index.calls.linked_program import LinkedProgram
from holdfast.index.calls.program import Thing
from holdfast.index.calls.resolve import Resolver
from holdfast.index.facts.extract import extract
from holdfast.index.facts.mentions import find_mentions
from holdfast.index.references.find import ReadFile, References, ReferenceSearch
from holdfast.index.references.target import target_of

SEED = 11
SYMBOLS = 60
KINDS = ("class", "interface", "type", "function", "method", "property", "constant", "variable")
CERTAIN = 0.9
STEPS_MAX = 16
Place = tuple[str, int]
"""A path and the byte at which the name starts."""


class Judged(NamedTuple):
    """What a judge says about a symbol."""

    known: set[Place]
    """Its references."""
    leads: Sequence[str]
    """Where each of our places leads: "asked", "other" or "nothing"."""


@dataclass
class Score:
    """What was found of what the judge names."""

    known: int = 0
    found: int = 0
    undecided: int = 0
    extra: int = 0
    followed: int = 0
    """Certain places that are not among the references of the judge, but lead to one."""
    contradicted: int = 0
    unjudged: int = 0
    named: int = 0
    missed: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)

    def line(self, name: str) -> str:
        share = self.found / max(1, self.known)
        return (
            f"{name}: {self.found} of {self.known} references ({share:.1%}), "
            f"{self.undecided} undecided, {len(self.missed)} missed; "
            f"of {self.named} certain ones {self.followed} lead to a reference of the judge, "
            f"{self.contradicted} elsewhere ({self.contradicted / max(1, self.named):.2%}), "
            f"and of {self.unjudged} the judge knows nothing"
        )


@dataclass
class Package:
    """A package in memory."""

    folder: Path
    language: str
    sources: dict[str, bytes]
    program: LinkedProgram

    def symbols(self, count: int) -> list[tuple[str, Place]]:
        """Some symbols: the id, and where the name of its definition is."""
        inner = self.program.resolver.program
        made = []
        found_at = {
            symbol.id: Thing("symbol", path, at)
            for path, view in inner.files.items()
            if view.family
            for at, symbol in enumerate(view.facts.symbols)
        }
        for identity, thing in sorted(found_at.items()):
            symbol = inner.symbol(thing)
            if symbol.kind not in KINDS or symbol.name.startswith("__"):
                continue
            found = find_mentions(thing.path, self.sources[thing.path], [symbol.name]).found
            inside = [
                one.start
                for one in found
                if one.kind in ("definition", "write")
                and symbol.span.start <= one.start < symbol.span.end
            ]
            if inside:
                made.append((identity, (thing.path, inside[0])))
        random.Random(SEED).shuffle(made)
        return made[:count]

    def ours(self, identity: str) -> References:
        target = target_of(self.program, identity, overrides=True)
        assert target is not None
        search = ReferenceSearch(self.program)
        names = search.names(target)
        files = [
            ReadFile(path, source, find_mentions(path, source, names))
            for path, source in self.sources.items()
            if any(name.encode() in source for name in names)
        ]
        return search.judge(target, files)


def typescript(
    package: Package, asked: list[Place], places: list[list[Place]]
) -> Iterator[Judged | None]:
    """What the TypeScript compiler says; offsets become bytes."""
    texts = {path: source.decode("utf-8", "replace") for path, source in package.sources.items()}

    def offset(place: Place) -> list[str | int]:
        return [place[0], len(package.sources[place[0]][: place[1]].decode("utf-8", "replace"))]

    questions = {
        "files": sorted(package.sources),
        "symbols": [offset(place) for place in asked],
        "places": [[offset(place) for place in each] for each in places],
    }
    with tempfile.NamedTemporaryFile("w", suffix=".json") as listed:
        json.dump(questions, listed)
        listed.flush()
        run = subprocess.run(
            ["node", str(HERE / "typescript_references.cjs"), str(judge_folder("typescript")),
             str(package.folder.resolve()), listed.name],
            capture_output=True, text=True, check=True, timeout=1_800,
        )  # fmt: skip
    for line in run.stdout.splitlines():
        found = json.loads(line)
        if found is None:
            yield None
            continue
        known = {
            (path, len(texts[path][:at].encode()))
            for path, at, _ in found["references"]
            if path in texts
        }
        yield Judged(known, found["leads"])


def python(
    package: Package, asked: list[Place], places: list[list[Place]]
) -> Iterator[Judged | None]:
    """What basedpyright says."""
    root, home = package.folder.resolve(), judge_folder("basedpyright").resolve()
    process = subprocess.Popen(
        [sys.executable, str(home / "bin" / "basedpyright-langserver"), "--stdio"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=root,
        env={"PYTHONPATH": str(home), "PATH": "/usr/bin:/bin", "HOME": str(root)},
    )  # fmt: skip
    server = LanguageServer(process)
    folder = {"uri": root.as_uri(), "name": "judged"}
    start: dict[str, object] = {"processId": None, "rootUri": root.as_uri(), "capabilities": {},
             "workspaceFolders": [folder]}  # fmt: skip
    try:
        server.answers({server.send("initialize", start)})
        server.send("initialized", {}, answer=False)
        for path, source in package.sources.items():
            document = {"uri": f"{root.as_uri()}/{quote(path)}", "languageId": "python",
                        "version": 1, "text": source.decode("utf-8", "replace")}  # fmt: skip
            server.send("textDocument/didOpen", {"textDocument": document}, answer=False)
        ask = Questions(package, root, server)
        for symbol, each in zip(asked, places, strict=True):
            known = set(ask.places("references", symbol)) | {symbol}
            yield Judged(known, [ask.leads(place, known) for place in each])
    finally:
        process.kill()
        process.wait()


@dataclass
class Questions:
    """Asks a language server about places of a package."""

    package: Package
    root: Path
    server: LanguageServer
    outside: bool = False
    """Whether the last answer had a place outside of the package."""

    def places(self, method: str, place: Place) -> list[Place]:
        path, at = place
        before = self.package.sources[path][:at].decode("utf-8", "replace")
        line, column = before.count("\n"), len(before) - before.rfind("\n") - 1
        question: dict[str, object] = {
            "textDocument": {"uri": f"{self.root.as_uri()}/{quote(path)}"},
            "position": {"line": line, "character": column},
        }
        if method == "references":
            question["context"] = {"includeDeclaration": True}
        number = self.server.send(f"textDocument/{method}", question)
        found = [
            _place(self.package, self.root, one)
            for one in self.server.answers({number})[number] or ()
        ]
        self.outside = None in found
        return [one for one in found if one is not None]

    def leads(self, place: Place, known: set[Place]) -> str:
        """Where a place leads, from definition to definition."""
        seen: set[Place] = set()
        queue, other = [place], False
        while queue and len(seen) < STEPS_MAX:
            one = queue.pop()
            if one in known:
                return "asked"
            if one in seen:
                continue
            seen.add(one)
            found = self.places("definition", one)
            other = other or self.outside or one in found
            queue += found
        return "other" if other else "nothing"


def _place(package: Package, root: Path, one: dict[str, object]) -> Place | None:
    file = Path(unquote(urlparse(str(one["uri"])).path))
    path = file.relative_to(root).as_posix() if file.is_relative_to(root) else ""
    if path not in package.sources:
        return None
    start = one["range"]["start"]  # type: ignore[index]
    lines = package.sources[path].decode("utf-8", "replace").split("\n")
    before = "\n".join([*lines[: start["line"]], lines[start["line"]][: start["character"]]])
    return path, len(before.encode())


def judged(package: Package, count: int) -> Score:
    score = Score()
    symbols = package.symbols(count)
    answers = [package.ours(identity) for identity, _ in symbols]
    names = [_name(package, identity) for identity, _ in symbols]
    certain = [
        [
            (one.path, one.start)
            for one in answer.found
            if one.confidence >= CERTAIN and one.name == name
        ]
        for answer, name in zip(answers, names, strict=True)
    ]
    judge = python if package.language == "python" else typescript
    judgements = judge(package, [place for _, place in symbols], certain)
    for place, name, found, sure, judgement in zip(
        (place for _, place in symbols), names, answers, certain, judgements, strict=True
    ):
        if not judgement or place not in judgement.known:
            continue  # the judge does not see a symbol there
        whole = re.compile(re.escape(name.encode()) + rb"(?![\w$])")
        known = {(p, at) for p, at in judgement.known if whole.match(package.sources[p], at)}
        ours = {(one.path, one.start) for one in found.found if one.name == name}
        open_ones = {(one.path, one.start) for one in found.undecided}
        score.known += len(known)
        score.found += len(known & ours)
        score.undecided += len((known & open_ones) - ours)
        score.missed += [_shown(package, name, p) for p in known - ours - open_ones]
        score.named += len(sure)
        where = f"{name} of {place[0]}"
        for one, leads in zip(sure, judgement.leads, strict=True):
            if one in known:
                continue
            score.followed += leads == "asked"
            score.contradicted += leads == "other"
            score.unjudged += leads == "nothing"
            if leads != "asked":
                (score.wrong if leads == "other" else score.open).append(
                    _shown(package, where, one)
                )
    return score


def _name(package: Package, identity: str) -> str:
    program = package.program.resolver.program
    return program.symbol(program.by_id[identity]).name


def _shown(package: Package, name: str, place: Place) -> str:
    source, at = package.sources[place[0]], place[1]
    line = source[source.rfind(b"\n", 0, at) + 1 : (source + b"\n").find(b"\n", at)]
    number = source.count(b"\n", 0, at) + 1
    return f"{name}  {place[0]}:{number}  {line.decode('utf-8', 'replace').strip()[:90]}"


GOALS = {"python": 95, "typescript": 90}


def summary(language: str, total: Score, packages: int) -> Iterator[Row]:
    """What is recorded: shares of the judge's references, in percent."""
    value, goal = 100 * total.found / max(1, total.known), GOALS.get(language)
    met = None if goal is None else value >= goal
    note = f"of {total.known:,} in {packages} packages; {total.undecided:,} named as undecided"
    yield Row(f"{language}: found", value, "%", f"≥ {goal}" if goal else "", met, note)
    counts = {
        "certain, and the judge leads elsewhere": total.contradicted,
        "certain, and the judge knows nothing": total.unjudged,
    }
    for what, number in counts.items():
        share = 100 * number / max(1, total.named)
        yield Row(f"{language}: {what}", share, "%", note=f"of {total.named:,}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--symbols", type=int, default=SYMBOLS)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--record", action="store_true", help="save the figures of these packages")
    args = parser.parse_args()
    totals: dict[str, Score] = {}
    counted: Counter[str] = Counter()
    for name, (registry, package, language, inner, _) in PACKAGES.items():
        if args.only and name not in args.only:
            continue
        fetched = fetch(name, {name: (registry, package)})
        if fetched is None:
            continue
        folder = fetched / inner
        sources = {path: (folder / path).read_bytes() for path in files_of(folder, language)}
        program = LinkedProgram(Resolver(extract(p, s) for p, s in sources.items()))
        one = judged(Package(folder, language, sources, program), args.symbols)
        print(one.line(name))
        shown = {"missed": one.missed, "elsewhere": one.wrong, "not judged": one.open}
        for heading, rows in shown.items():
            for row in rows[: args.show]:
                print(f"  {heading}: {row}")
        counted[language] += 1
        total = totals.setdefault(language, Score())
        for each in fields(Score):
            setattr(total, each.name, getattr(total, each.name) + getattr(one, each.name))
    for language, total in totals.items():
        print(total.line(language))
    if args.record or not args.only:
        save(
            "references",
            [r for name, one in totals.items() for r in summary(name, one, counted[name])],
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
