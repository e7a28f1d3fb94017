"""Outlines held against universal-ctags, by language.

`python -m bench.outline [--language NAME…] [--show N]` fetches packages through pip, npm and apt
(kept under bench/corpora), takes up to 200 files of each language, and prints how many definitions
that ctags lists are missing from our outline. A definition is found when a symbol of that name
starts within three lines of it or holds its line. Needs `ctags` (universal-ctags) on the path.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from bench.facts import CORPORA, fetch, sources
from bench.timing import Row, save
from holdfast.index.facts.extract import extract
from holdfast.index.facts.model import FileFacts

FILES_MAX = 200
PACKAGES = {
    "react-native": ("npm", "react-native@0.74.5"),
    "expo-modules-core": ("npm", "expo-modules-core@2.2.3"),
    "unitask": ("npm", "com.cysharp.unitask@2.2.5"),
    "node-sass": ("npm", "node-sass@9.0.0"),
    "three": ("npm", "three@0.170.0"),
    "rxjs": ("npm", "rxjs@7.8.1"),
    "undici": ("npm", "undici@7.30.2"),
    "mongodb": ("npm", "mongodb@6.17.0"),
    "django": ("pip", "django==5.2"),
    "x-tools": ("apt", "golang-golang-x-tools-dev"),
    "tokio": ("apt", "librust-tokio-dev"),
    "ruby": ("apt", "ruby-activesupport"),
    "symfony": ("apt", "php-symfony-console"),
    "postgresql": ("apt", "postgresql-server-dev-15"),
    "glib": ("apt", "libglib2.0-dev"),
    "usb": ("npm", "usb@2.14.0"),
    "lmdb": ("npm", "lmdb@3.1.5"),
    "gtest": ("apt", "googletest"),
    "lua": ("apt", "lua-penlight"),
    "elixir-lang": ("apt-src", "elixir-lang"),
    "juliacall": ("pip", "juliacall"),
    "pysr": ("pip", "pysr"),
    "pyjulia": ("pip", "julia"),
    "diffeqpy": ("pip", "diffeqpy"),
}
LANGUAGES = {
    "kotlin": ("Kotlin", ("react-native", "expo-modules-core"), (".kt",), "icomT"),
    "cpp": ("C++", ("react-native", "node-sass", "gtest"), (".cpp", ".cc", ".hpp"), "cfgnstu"),
    "csharp": ("C#", ("unitask",), (".cs",), "cgimnpst"),
    "c": ("C", ("usb", "lmdb", "postgresql", "glib"), (".h", ".c"), "fgstu"),
    "python": ("Python", ("django",), (".py",), "cfm"),
    "go": ("Go", ("x-tools",), (".go",), "fsit"),
    "ruby": ("Ruby", ("ruby",), (".rb",), "cfmS"),
    "java": ("Java", ("react-native",), (".java",), "cgim"),
    "rust": ("Rust", ("tokio",), (".rs",), "nsifgtMP"),
    "javascript": ("JavaScript", ("three", "undici"), (".js",), "cfm"),
    "typescript": ("TypeScript", ("rxjs", "mongodb"), (".ts",), "cfgimna"),
    "php": ("PHP", ("symfony",), (".php",), "cfit"),
    "lua": ("Lua", ("lua",), (".lua",), "f"),
    "elixir": ("Elixir", ("elixir-lang",), (".ex", ".exs"), "mfap"),
    "julia": ("Julia", ("juliacall", "pysr", "pyjulia", "diffeqpy"), (".jl",), "fgmnst"),
}
"""The name and the kinds that ctags has for a language, packages, and endings of files."""


class Tag(NamedTuple):
    """A definition that ctags lists."""

    name: str
    line: int
    kind: str


def tags_of(language: str, kinds: str, files: list[Path]) -> dict[str, list[Tag]]:
    """The definitions in files, by path."""
    command = ["ctags", "--output-format=json", "--fields=+nK", f"--language-force={language}",
               f"--kinds-{language}={kinds}", "-f", "-", "-L", "-"]  # fmt: skip
    listed = "\n".join(map(str, files))
    run = subprocess.run(command, input=listed, capture_output=True, text=True, check=True)
    found: dict[str, list[Tag]] = {str(file): [] for file in files}
    for line in run.stdout.splitlines():
        one = json.loads(line)
        if one.get("_type") == "tag" and not one["name"].startswith(("__anon", "<")):
            name = _OPERATOR.sub("operator", one["name"].strip())
            found[one["path"]].append(Tag(name, one["line"], one.get("kind", "")))
    return found


_OPERATOR = re.compile(r"operator\s+(?=\W)")


def doubtful(language: str, lines: list[bytes], tag: Tag) -> bool:
    """Whether a tag is a mistake of ctags: parameters of lambdas in Kotlin, macros in C++, text."""
    if language == "cpp" and re.fullmatch(r"(?:\w+_)?TEST(?:_\w+)?", tag.name):
        return True  # the macro; the test is named by its arguments
    line = lines[tag.line - 1].decode("utf-8", "replace")
    if language == "rust":  # `mod cart;` names a file, which we record as an import
        return tag.kind == "module" and line.rstrip().endswith(";")
    if language in ("javascript", "typescript"):
        return _doubtful_script(line, tag)
    if language == "elixir":  # examples in documentation, and programs in the strings of tests
        before = b"\n".join(lines[: tag.line - 1])
        quoted = (before.count(b'"""') + before.count(b"'''")) % 2 == 1
        return quoted or tag.name == "unquote" or '"def' in line
    if language == "lua":  # `f = function_arg(1, f)` is not a definition
        name = re.escape(re.split(r"[.:]", tag.name)[-1])
        return re.search(rf"function\s+[\w.:]*\b{name}\b|\b{name}\b\s*=\s*function\b", line) is None
    if language != "kotlin":
        return False
    words = r"(?:fun|class|interface|object|typealias)"
    name = re.escape(tag.name.strip("`"))
    return re.search(rf"\b{words}\b[^(={{]*\b{name}\b", line) is None


def _doubtful_script(line: str, tag: Tag) -> bool:
    """Names that ctags makes up, objects that it calls classes, and constructor signatures."""
    name = re.escape(tag.name)
    if (
        tag.name.startswith("AnonymousFunction")
        or tag.name in ("new", "constructor")
        or len(line) > 2_000
    ):
        return True
    made = rf"(?:class|function\s*\*?)\s+{name}\b|\b{name}\b['\"]?\s*[=:]\s*(?:class|function)"
    return tag.kind == "class" and re.search(made, line) is None


def missed(facts: FileFacts, tags: list[Tag]) -> list[Tag]:
    """The definitions that the outline does not have."""
    by_name: dict[str, list[tuple[int, int]]] = {}
    for symbol in facts.symbols:
        spans = (symbol.span.first_line, symbol.span.last_line)
        whole = _OPERATOR.sub("operator", symbol.name)
        for name in {symbol.name, whole, *symbol.name.split("."), symbol.name.lstrip("~#")}:
            by_name.setdefault(name, []).append(spans)
    gone = []
    for tag in tags:
        name = tag.name.rpartition(".")[2].rpartition(":")[2].strip("~`'\"#")
        places = by_name.get(name, []) + by_name.get(tag.name, [])
        if not any(first - 3 <= tag.line <= last + 1 for first, last in places):
            gone.append(tag)
    return gone


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--language", nargs="*", default=[])
    parser.add_argument("--show", type=int, default=0)
    args = parser.parse_args()
    if shutil.which("ctags") is None:
        print("bench.outline: skipped, ctags (universal-ctags) is not installed", file=sys.stderr)
        return 0
    rows: list[Row] = []
    print("| language | files | definitions | missed | share | files with a syntax error |")
    print("|---|---|---|---|---|---|")
    for name, (ctags, packages, suffixes, kinds) in LANGUAGES.items():
        if args.language and name not in args.language:
            continue
        files = [
            (fetched / path, data)
            for package in packages
            if (fetched := fetch(package, PACKAGES)) is not None
            for path, data in sources(fetched, suffixes, FILES_MAX)
        ]
        files = files[:: max(1, len(files) // FILES_MAX)][:FILES_MAX]
        tags = tags_of(ctags, kinds, [path for path, _ in files])
        gone: list[tuple[Path, Tag]] = []
        broken = total = 0
        for path, data in files:
            facts = extract(path.relative_to(CORPORA).as_posix(), data)
            broken += any(p.code in ("syntax", "too_hard") for p in facts.problems)
            lines = data.split(b"\n")
            sure = [tag for tag in tags[str(path)] if not doubtful(name, lines, tag)]
            total += len(sure)
            gone += [(path, tag) for tag in missed(facts, sure)]
        if total:
            value = 100 * len(gone) / total
            note = f"{len(gone)} of {total:,} definitions in {len(files)} files"
            rows.append(Row(f"{name}: missed", value, "%", "≤ 1", value <= 1, note))
        share = f"{100 * len(gone) / total:.2f} %" if total else "-"
        print(f"| {name} | {len(files)} | {total} | {len(gone)} | {share} | {broken} |", flush=True)
        for path, tag in gone[:: max(1, len(gone) // max(1, args.show))][: args.show]:
            print(f"    {path.relative_to(CORPORA)}:{tag.line} {tag.kind} {tag.name}")
    if not args.language:
        save("outline", rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
