"""References of symbols of packages from the registries, judged by a type checker.

`python -m bench.references [--only PACKAGE…] [--symbols N] [--show N] [--record]` samples symbols
of each package, asks basedpyright (Python) or the TypeScript compiler for their references, and
prints how many of these `references` finds, leaves undecided and misses, and how many it names that
the judge does not.
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
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
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
from holdfast.index.references.find import ReadFile, References, ReferenceSearch, target_of

SEED = 11
SYMBOLS = 60
KINDS = ("class", "interface", "type", "function", "method", "property", "constant", "variable")
CERTAIN = 0.9
Place = tuple[str, int]
"""A path and the byte at which the name starts."""


@dataclass
class Score:
    """What was found of what the judge names."""

    known: int = 0
    found: int = 0
    undecided: int = 0
    extra: int = 0
    certain_extra: int = 0
    named: int = 0
    missed: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def line(self, name: str) -> str:
        share = self.found / max(1, self.known)
        right = 1 - self.certain_extra / max(1, self.named)
        return (
            f"{name}: {self.found} of {self.known} references ({share:.1%}), "
            f"{self.undecided} undecided, {len(self.missed)} missed; "
            f"{self.certain_extra} of {self.named} certain ones are not the judge's ({right:.1%})"
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


def typescript(package: Package, asked: list[Place]) -> Iterator[set[Place] | None]:
    """The references by the TypeScript compiler; offsets become bytes."""
    texts = {path: source.decode("utf-8", "replace") for path, source in package.sources.items()}
    symbols = [
        [path, len(package.sources[path][:start].decode("utf-8", "replace"))]
        for path, start in asked
    ]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as listed:
        json.dump({"files": sorted(package.sources), "symbols": symbols}, listed)
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
        yield {(path, len(texts[path][:at].encode())) for path, at, size in found if path in texts}


def python(package: Package, asked: list[Place]) -> Iterator[set[Place] | None]:
    """The references by basedpyright."""
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
        for path, at in asked:
            before = package.sources[path][:at].decode("utf-8", "replace")
            line, column = before.count("\n"), len(before) - before.rfind("\n") - 1
            number = server.send(
                "textDocument/references",
                {"textDocument": {"uri": f"{root.as_uri()}/{quote(path)}"},
                 "position": {"line": line, "character": column},
                 "context": {"includeDeclaration": True}},
            )  # fmt: skip
            yield {
                place
                for one in server.answers({number})[number] or ()
                if (place := _place(package, root, one)) is not None
            }
    finally:
        process.kill()
        process.wait()


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
    judge = python if package.language == "python" else typescript
    answers = judge(package, [place for _, place in symbols])
    for (identity, place), known in zip(symbols, answers, strict=True):
        if not known or place not in known:
            continue  # the judge does not see a symbol there
        name = package.program.resolver.program.symbol(
            package.program.resolver.program.by_id[identity]
        ).name.encode()
        whole = re.compile(re.escape(name) + rb"(?![\w$])")
        known = {(p, at) for p, at in known if whole.match(package.sources[p], at)}
        found = package.ours(identity)
        ours = {(one.path, one.start): one for one in found.found if one.name.encode() == name}
        open_ones = {(one.path, one.start) for one in found.undecided}
        certain = {at for at, one in ours.items() if one.confidence >= CERTAIN}
        score.known += len(known)
        score.found += len(known & ours.keys())
        score.undecided += len((known & open_ones) - ours.keys())
        score.named += len(certain)
        score.certain_extra += len(certain - known)
        score.extra += len(ours.keys() - known)
        label = name.decode()
        score.missed += [_shown(package, label, p) for p in known - ours.keys() - open_ones]
        score.wrong += [_shown(package, label, p) for p in certain - known]
    return score


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
    wrong = 100 * total.certain_extra / max(1, total.named)
    yield Row(f"{language}: certain and not the judge's", wrong, "%", note=f"of {total.named:,}")


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
        for heading, rows in (("missed", one.missed), ("not the judge's", one.wrong)):
            for row in rows[: args.show]:
                print(f"  {heading}: {row}")
        counted[language] += 1
        total = totals.setdefault(language, Score())
        for member in ("known", "found", "undecided", "certain_extra", "named", "missed"):
            setattr(total, member, getattr(total, member) + getattr(one, member))
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
