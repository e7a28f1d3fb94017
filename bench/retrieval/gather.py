"""`python -m bench.retrieval.gather`: generate labelled questions from sources.

From doc comments: the first sentence of a function's documentation is the question, and the
function the answer. The comment is blanked in the indexed copy, and so are those of the other
functions in the file; otherwise only the answer would lack one. Sentences that name the function,
or that occur elsewhere in the tree, are skipped: the first would be a look-up, the second has
unlabelled answers.

From commits: the subject is the question, and the functions whose lines the commit touched, where
they are now, are the answer.

Questions are sampled with a fixed seed and stored with line numbers, so a set does not change when
this program does.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.retrieval.fetch import CACHE, HERE, REPOSITORIES, CannotFetch, Fetcher, Package

WORDS_MIN, WORDS_MAX = 5, 28
LINES_MIN, LINES_MAX = 3, 150
NOT_RUNTIME = re.compile(
    r"(?:^|/)(?:tests?|specs?|examples?|docs?|bench\w*|benchmarks?|vendor|third_party|t)/|"
    r"[._-](?:test|spec)s?\.|(?:^|/)test_|Tests?\.\w+$|_test\.\w+$|\.d\.ts$|/deprecated_",
    re.IGNORECASE,
)
_COMMENT = re.compile(
    r"^\s*(?:///?!?|/\*\*?|\*/?|#(?!\[|!|include|define|if|end|el)|---?(?!-)|--\[\[|\]\])"
)
_BETWEEN = re.compile(r"^\s*(?:@\w|#\[|\[\w.*\]\s*$|template\b|local_unused)")
_DOCUMENTING = {
    ".go": "//", ".rb": "#", ".sh": "#", ".zig": "///", ".rs": "///", ".swift": "///", ".cs": "///",
    ".lua": "---", ".hs": "-- |", ".c": "/*", ".h": "/*",
}  # fmt: skip
"""Start of a doc comment in languages where it is not `/**`."""
_TAGS = re.compile(
    r"\s@(?:param|return|see|throws|since|brief|deprecated|example|template|private|api|internal|"
    r"type|ts)\b.*|\s\\(?:param|return|pre|post)\b.*",
    re.DOTALL,
)
_NO_QUESTION = re.compile(
    r"(?i)see|should not|argh|according to|constructor\b|we |one day|copied|if err|use to|"
    r"swiftlint|disable|deprecated|todo|fixme|note|copyright|same as|like |alias|an? overload|"
    r"the following|this (?:is|function|method) (?:for|only)|[(@]|https?:|end\b"
)
_DEFINITIONS = {
    ".zig": re.compile(r"^(?P<indent>\s*)(?:pub )?(?:inline )?fn (?P<name>\w+)\("),
    ".ex": re.compile(r"^(?P<indent>\s*)(?:def|defp|defmacro|defmacrop) (?P<name>\w+[?!]?)"),
    ".hs": re.compile(r"^(?P<indent>)(?P<name>[a-z]\w*'*)\s*(?:::|$)"),
}


@dataclass(frozen=True)
class Function:
    """A function with a doc comment, and the lines of both."""

    path: str
    name: str
    start: int
    end: int
    doc: tuple[int, int]
    sentence: str


def documented(path: str, source: bytes) -> Iterator[Function]:
    """Every function of a file with a doc comment; `sentence` is the whole comment."""
    text = source.decode("utf-8", "replace")
    lines = text.splitlines()
    suffix = Path(path).suffix
    if suffix == ".py":
        return _python(path, text)
    if suffix in _DEFINITIONS:
        return _by_pattern(path, lines, _DEFINITIONS[suffix])
    return _by_facts(path, source, lines)


def fitting(functions: Iterable[Function]) -> Iterator[Function]:
    """The functions whose documentation can serve as a question."""
    for function in functions:
        long_enough = LINES_MIN <= function.end - function.start + 1 <= LINES_MAX
        sentence = asked(function.sentence, function.name)
        if long_enough and sentence:
            yield replace(function, sentence=sentence)


def _python(path: str, text: str) -> Iterator[Function]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and len(node.body) > 1:
            doc = ast.get_docstring(node)
            if doc:
                first = node.body[0]
                start = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                lines = (first.lineno, first.end_lineno or first.lineno)
                yield Function(path, node.name, start, node.end_lineno or start, lines, doc)


def _by_facts(path: str, source: bytes, lines: list[str]) -> Iterator[Function]:
    from holdfast.index.facts.extract import extract

    for symbol in extract(path, source).symbols:
        if symbol.kind not in ("function", "method", "constructor") or not symbol.defined:
            continue
        start = symbol.span.first_line
        while start < symbol.span.last_line and _COMMENT.match(lines[start - 1]):
            start += 1
        if (doc := _above(lines, start)) is not None and _documents(path, lines[doc[0] - 1]):
            said = "\n".join(lines[doc[0] - 1 : doc[1]])
            yield Function(path, symbol.name, start, symbol.span.last_line, doc, said)


def _by_pattern(path: str, lines: list[str], pattern: re.Pattern[str]) -> Iterator[Function]:
    for number, line in enumerate(lines, 1):
        match = pattern.match(line)
        if match is None:
            continue
        indent = match["indent"]
        end = number
        if path.endswith(".hs"):
            while end < len(lines) and (not lines[end].strip() or lines[end][0].isspace()
                                        or lines[end].startswith(match["name"])):  # fmt: skip
                end += 1
            while not lines[end - 1].strip():
                end -= 1
        else:
            closing = indent + ("}" if path.endswith(".zig") else "end")
            while end < len(lines) and lines[end - 1].rstrip() != closing:
                end += 1
        doc = _elixir_doc(lines, number) if path.endswith(".ex") else _above(lines, number)
        if doc is not None and _documents(path, lines[doc[0] - 1]):
            said = "\n".join(lines[doc[0] - 1 : doc[1]])
            yield Function(path, match["name"], number, end, doc, said)


def _documents(path: str, line: str) -> bool:
    opening = _DOCUMENTING.get(Path(path).suffix)
    known = ("/**", "/*!", "///", "@doc")
    return line.lstrip().startswith((opening, *known) if opening is not None else known)


def _elixir_doc(lines: list[str], number: int) -> tuple[int, int] | None:
    at = number - 1
    while at >= 1 and (
        not lines[at - 1].strip() or lines[at - 1].lstrip().startswith(("@spec", "@since"))
    ):
        at -= 1
    if at < 1 or lines[at - 1].strip() != '"""':
        return None
    first = at - 1
    while first >= 1 and not lines[first - 1].lstrip().startswith("@doc"):
        first -= 1
    return (first, at) if first >= 1 and at - first < 60 else None


def _above(lines: list[str], number: int) -> tuple[int, int] | None:
    """The comment that ends above, skipping attributes and annotations."""
    last = number - 1
    while last >= 1 and _BETWEEN.match(lines[last - 1]):
        last -= 1
    if last < 1 or not _COMMENT.match(lines[last - 1]):
        return None
    first = last
    if lines[last - 1].rstrip().endswith("*/"):
        while first >= 1 and "/*" not in lines[first - 1]:
            first -= 1
        if first < 1 or not lines[first - 1].lstrip().startswith("/*"):
            return None
    else:
        while first > 1 and _COMMENT.match(lines[first - 2]) and "*/" not in lines[first - 2]:
            first -= 1
    return first, last


def asked(doc: str, name: str) -> str:
    """The first sentence of a comment as a question, or "" if it is unsuitable."""
    rows = []
    for row in doc.replace('@doc """', "").splitlines():
        row = re.sub(r"^\s*(?:/\*+!?|\*+/?|///?!?|--\[\[|--+ ?\|?|#+|\"\"\")\s?", "", row)
        rows.append(re.sub(r"\*+/\s*$", "", row).strip())
    text = "\n".join(rows).strip()
    text = re.split(r"\n\s*\n|\n\s*[-*@:\\]|\n=|\n#", text)[0]
    text = _TAGS.sub("", " " + " ".join(text.split())).strip()
    text = re.sub(r"\{@(?:link|code|linkplain|inheritDoc)\s*([^}]*)\}", r"\1", text)
    text = re.sub(r"<[^>]{1,40}>|:\w+:(?=`)|[`*]|\\(?:brief|ref|c)\b|@(?:brief|c|p)\b", " ", text)
    text = " ".join(text.split())
    text = re.split(r"(?<=[a-z0-9)\"'])[.](?:\s|$)|:\s*$|;\s", text)[0].strip(" .:-")
    words = text.split()
    verb = name.isalpha() and name.islower()  # also a word of the language, as in "Parse the …"
    if words and not verb and words[0].rstrip("(),").lower() == name.lower():
        words = words[1:]
    text = " ".join(words)
    if not WORDS_MIN <= len(words) <= WORDS_MAX or not text.isascii():
        return ""
    if (
        len(name) >= 4
        and not verb
        and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)
    ):
        return ""
    if _NO_QUESTION.match(text):
        return ""
    if re.search(r"[{}=;|\\]|->|https?:|Copyright|param\b", text):
        return ""
    return text


def from_docs(tree: Path, most: int, per_file: int, choose: random.Random) -> list[Function]:
    """Up to `most` functions of a tree, sampled evenly over its files."""
    texts: dict[str, str] = {}
    found: dict[str, list[Function]] = {}
    for path in sorted(p for p in tree.rglob("*") if p.is_file()):
        name = path.relative_to(tree).as_posix()
        data = path.read_bytes()
        if b"\0" in data[:8192] or len(data) > 600_000:
            continue
        texts[name] = _plain(data.decode("utf-8", "replace"))
        if not NOT_RUNTIME.search(name):
            found[name] = list(fitting(documented(name, data)))
    everything = "\n".join(texts.values())
    order = [name for name in found if found[name]]
    choose.shuffle(order)
    picked: list[Function] = []
    for turn in range(per_file):
        for name in order:
            choose.shuffle(found[name])
            while found[name] and len(picked) < most:
                one = found[name].pop()
                taken = [p for p in picked if p.path == name]
                apart = all(one.end < p.doc[0] or p.end < one.doc[0] for p in taken)
                if apart and everything.count(_plain(one.sentence)) == 1 and len(taken) == turn:
                    picked.append(one)
                    break
    return picked


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^a-z0-9]+", " ", text.lower()).split())


ABOUT_OTHERS = re.compile(
    r"(?i)\b(?:tests?|bench\w*|figures|fuzzed|twins|threads|true|tables)\b|parser$"
)
"""Subjects of commits that are not about the functions they touch."""


def from_commits(sources: Path, commit: str, tree: Path, most: int) -> list[dict[str, Any]]:
    """Subjects of commits whose touched functions still exist."""
    log = _git(sources, "log", "--no-merges", "--format=%H%x09%s", commit, "--", "src")
    found: list[dict[str, Any]] = []
    for row in log.splitlines():
        identity, _, subject = row.partition("\t")
        package, _, effect = subject.partition(": ")
        if (
            ABOUT_OTHERS.search(effect)
            or len(effect.split()) < WORDS_MIN
            or package in ("docs", "tests", "bench")
        ):
            continue
        touched: dict[str, set[str]] = {}
        for path, first, last in _hunks(sources, identity):
            text = _git(sources, "show", f"{identity}:{path}")
            for name, start, end in _functions(text):
                if start <= last and first <= end:
                    touched.setdefault(path, set()).add(name)
        if not 1 <= sum(map(len, touched.values())) <= 4:
            continue
        targets = []
        for path, names in sorted(touched.items()):
            if not (tree / path).is_file():
                continue
            for name, start, end in _functions((tree / path).read_text()):
                if name in names:
                    targets.append({"path": path, "lines": [start, end]})
        if targets:
            found.append({"query": effect, "relevant": targets})
        if len(found) >= most:
            break
    return found


def _git(sources: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-C", str(sources), *words], check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def _hunks(sources: Path, identity: str) -> Iterator[tuple[str, int, int]]:
    path = ""
    for line in _git(sources, "show", "--format=", "-U0", identity, "--", "src").splitlines():
        if line.startswith("+++ "):
            path = line[6:] if line.startswith("+++ b/") else ""
        elif path.endswith(".py") and (at := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line)):
            first, count = int(at[1]), int(at[2] or 1)
            if count:
                yield path, first, first + count - 1


def _functions(text: str) -> Iterator[tuple[str, int, int]]:
    """Innermost named functions with dotted names."""

    def visit(node: ast.AST, owner: str) -> Iterator[tuple[str, int, int]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                yield from visit(child, f"{owner}{child.name}.")
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                start = min([child.lineno, *(d.lineno for d in child.decorator_list)])
                yield f"{owner}{child.name}", start, child.end_lineno or start

    try:
        yield from visit(ast.parse(text), "")
    except SyntaxError:
        return


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval.gather", description=__doc__)
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--most", type=int, default=9, help="doc comments for each repository")
    parser.add_argument("--out", type=Path, default=HERE / "sets" / "gathered.json")
    args = parser.parse_args(argv)
    fetcher = Fetcher(args.cache.resolve())
    drawn: dict[str, Any] = {}
    for entry in json.loads(REPOSITORIES.read_text())["repositories"]:
        package = Package.of(entry["package"])
        try:
            tree = fetcher.tree(package)
        except CannotFetch as error:
            print(f"{entry['id']}: {error}")
            continue
        if package.kind == "git":
            drawn[entry["id"]] = {
                "change": from_commits(fetcher.sources, package.version, tree, 40)
            }
        else:
            choose = random.Random(entry["id"])
            functions = from_docs(tree, args.most, 3, choose)
            drawn[entry["id"]] = {
                "documentation": [
                    {"query": f.sentence, "relevant": [{"path": f.path, "lines": [f.start, f.end]}]}
                    for f in functions
                ],
                "blanked": {
                    path: sorted({f.doc for f in documented(path, (tree / path).read_bytes())})
                    for path in sorted({f.path for f in functions})
                },
            }
        print(entry["id"], {kind: len(rows) for kind, rows in drawn[entry["id"]].items()})
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(drawn, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
