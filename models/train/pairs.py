"""Training pairs of (query, code), made with the index's own extraction.

The code is what the index embeds of a chunk: path, symbol, text, without the doc comment that
becomes the query. There are three kinds:

- `doc`: the first sentence of a doc comment, and the code (the rest of the comment is kept apart);
- `name`: the words of a symbol's name, and its code with that name blanked out;
- `head`: a heading of a document with its first sentence, and the section's text.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from models.train.fetch import RARE, Package, asked_for

PER_PACKAGE_MAX = 1_000
PER_PACKAGE_MAX_RARE = 12_000
BYTES_MAX = 1_000_000
BYTES_MAX_RARE = 12_000_000
"""Bytes of source read per package, files in the order of a hash: many packages are better than
much of one."""
NAMES_SHARE = 0.6
"""The maximum number of `name` pairs for each `doc` pair of a package."""
FILE_KINDS = frozenset({"file", "stem", "type"})
"""Kinds of pairs that are about a whole file or type; see `file_pairs`."""
WHOLES_SHARE = 0.3
"""The same for each kind of pair about a whole file or type."""
CODE_CHARACTERS_MAX = 2_400


class Pair(msgspec.Struct, frozen=True, array_like=True):
    """A query and the code that answers it."""

    kind: str
    language: str
    package: str
    path: str
    symbol: str
    question: str
    rest: str
    code: str
    file: str = ""
    """The path of its file if `path` has only a part of it."""


_TAGS = re.compile(
    r"<(?:see|paramref|typeparamref)\s+\w+=\"(?:\w:)?([^\"]*)\"\s*/>|"
    r"</?(?:summary|para|p|see|c|code|remarks|b|i|em|strong|tt|ul|li|br|a|pre)\b[^>]*>",
    re.IGNORECASE,
)
_INLINE = re.compile(r"\{@\w+\s+([^}]*)\}|:\w+:`~?([^`]*)`|\[`?([^\]`]*)`?\]\([^)]*\)|`+([^`]*)`+")
_END = re.compile(
    r"^\s*(?:[@\\](?:param|return|throws|see|since|example|type|template|memberof|module|class|"
    r"function|method|name|private|internal|version|author|deprecated|arg|tparam|treturn|link|api)"
    r"|:(?:param|return|rtype|type|raises)|(?:Args|Arguments|Parameters|Returns?|Raises|Yields|"
    r"Examples?|Notes?|Attributes|References|See Also)\s*:?\s*$|#+ |- (?:Parameters?|Returns|"
    r"Throws)|<(?:param|returns|exception|example)|>>>|```|\.\. )",
    re.MULTILINE | re.IGNORECASE,
)
_JUNK = re.compile(
    r"copyright|licen[sc]e|todo|fixme|generated|eslint|@ts-|noqa|inheritdoc|^\W*$|auto-?generated|"
    r"^(?:see|internal|deprecated|constructor|getter|setter)\b.{0,12}$|={5,}|-{5,}|\*{5,}",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(.{12,}?[.!?])(?:\s+(?=[A-Z`\"'(])|$)", re.DOTALL)


def cleaned(doc: str) -> tuple[str, str]:
    """A doc comment as (first sentence, rest of the prose); ("", "") if it has none."""
    text = _TAGS.sub(lambda m: f" {m[1] or ''} ", doc)
    text = re.sub(r"^\s*@(?:description|desc|brief|fileoverview|summary)\s+|\\brief\s+", "", text)
    text = _INLINE.sub(lambda m: next((g for g in m.groups() if g is not None), ""), text)
    end = _END.search(text)
    prose = text[: end.start()] if end else text
    prose = re.sub(r"\s+", " ", prose).strip(" *-|/!#<;")
    found = _SENTENCE.match(prose)
    first = (found[1] if found else prose)[:300].strip()
    letters = sum(c.isascii() and (c.isalpha() or c == " ") for c in first)
    if len(first.split()) < 3 or letters < 0.75 * len(first) or _JUNK.search(first):
        return "", ""
    return first, prose[len(first) :].strip()[:600]


def split_name(name: str) -> list[str]:
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)


_SAYS_SOMETHING = re.compile(rb"/\*|\"\"\"|'''|//|--|#")


def pairs_of(package: Package) -> list[Pair]:
    """The pairs of one package, no two with the same question or the same code."""
    docs: list[Pair] = []
    names: list[Pair] = []
    wholes: dict[str, list[Pair]] = {kind: [] for kind in sorted(FILE_KINDS)}
    size = 0
    rare = package.group in RARE or package.name == "ziglang"
    limit = PER_PACKAGE_MAX_RARE if rare else PER_PACKAGE_MAX
    for path, source in sorted(package.files, key=lambda f: hashlib.sha256(f[0].encode()).digest()):
        if len(docs) > 1.3 * limit or size > (BYTES_MAX_RARE if rare else BYTES_MAX):
            break
        size += len(source)
        if not _SAYS_SOMETHING.search(source):
            continue
        try:
            found = list(_file_pairs(package.name, path, source))
        except (RecursionError, IndexError):
            continue
        for pair in found:
            wholes.get(pair.kind, names if pair.kind == "name" else docs).append(pair)
    docs = _thinned(_distinct(docs), limit)
    names = _thinned(_distinct(names), max(30, int(NAMES_SHARE * len(docs))))
    most = max(30, int(WHOLES_SHARE * len(docs)))
    about = [pair for kind in wholes.values() for pair in _thinned(_distinct(kind), most)]
    return docs + names + about


def _distinct(pairs: list[Pair]) -> list[Pair]:
    questions: set[str] = set()
    codes: set[str] = set()
    kept = []
    for pair in pairs:
        question = re.sub(r"\W+", " ", pair.question).lower()
        code = re.sub(r"\W+", " ", pair.code)
        if question in questions or code in codes:
            continue
        questions.add(question)
        codes.add(code)
        kept.append(pair)
    return kept


def _thinned(pairs: list[Pair], limit: int) -> list[Pair]:
    if len(pairs) <= limit:
        return pairs
    keyed = sorted(pairs, key=lambda p: hashlib.sha256(f"{p.path}{p.question}".encode()).digest())
    return keyed[:limit]


_FUNCTIONS = frozenset({"function", "method", "constructor", "class", "interface", "trait",
                        "struct", "enum", "object", "macro", "type", "property", "union",
                        "namespace"})  # fmt: skip


def _file_pairs(package: str, path: str, source: bytes) -> Iterator[Pair]:
    suffix = path.rpartition(".")[2].lower()
    if suffix in _BY_PATTERN:
        yield from _by_pattern(package, path, source.decode("utf-8", "replace"), suffix)
        return
    from holdfast.index.facts.extract import extract

    facts = extract(path, source)
    if facts.language == "text":
        return
    from models.train.file_pairs import file_pairs

    yield from file_pairs(package, path, source, facts)
    for symbol in facts.symbols:
        text = source[symbol.span.start : symbol.span.end].decode("utf-8", "replace")
        if symbol.kind == "section":
            yield from _section(package, path, symbol.name, text)
            continue
        if symbol.kind not in _FUNCTIONS:
            continue
        if facts.language == "python" and symbol.doc:
            text = without_docstring(text)
        if len(text) < 40:
            continue
        code = text[:CODE_CHARACTERS_MAX]
        if symbol.doc:
            first, rest = cleaned(symbol.doc)
            if first:
                yield Pair(
                    "doc", facts.language, package, path, symbol.qualified, first, rest, code
                )
                continue
        if symbol.defined and len(text) > 120 and symbol.kind in ("function", "method"):
            words = split_name(symbol.name)
            if len(words) >= 2 and not symbol.name.startswith("__"):
                blank = re.sub(rf"\b{re.escape(symbol.name)}\b", "", code)
                outer = symbol.qualified.rpartition(".")[0]
                yield Pair("name", facts.language, package, path, outer,
                           " ".join(words).lower(), "", blank)  # fmt: skip


def _section(package: str, path: str, name: str, text: str) -> Iterator[Pair]:
    body = text.split("\n", 1)[1] if "\n" in text else ""
    if len(body) > 200 and 2 <= len(name.split()) <= 12 and name.isascii():  # noqa: SIM102
        if not re.search(r"licen|contribut|install|changelog|v?\d+\.\d+|breaking|thanks|sponsor|"
                         r"fix|author|credit", name, re.IGNORECASE):  # fmt: skip
            yield Pair("head", "markdown", package, path, "", name, "", body[:CODE_CHARACTERS_MAX])


_DOCSTRING = re.compile(
    r"""^[ \t]*[rRuUbB]{0,2}(\"\"\"|\'\'\'|"|').*?(?<!\\)\1[ \t]*\n?""", re.DOTALL | re.MULTILINE
)


def without_docstring(text: str) -> str:
    """A Python definition without the string that opens its body."""
    header = re.search(r":[ \t]*(?:#[^\n]*)?\n", text)
    while header is not None:
        found = _DOCSTRING.match(text, header.end())
        if found:
            return text[: found.start()] + text[found.end() :]
        header = re.search(r":[ \t]*(?:#[^\n]*)?\n", text[header.end() :]) and _next_header(
            text, header.end()
        )
    return text


def _next_header(text: str, start: int) -> re.Match[str] | None:
    return re.compile(r":[ \t]*(?:#[^\n]*)?\n").search(text, start)


_BY_PATTERN = {
    "hs": re.compile(
        r"(?m)^((?:-- \|.*\n)(?:--.*\n)*)"
        r"((?:(?!--)\S.*\n(?:[ \t]+\S.*\n|[ \t]*\n(?=[ \t]))*){1,8})"
    ),
    "zig": re.compile(
        r"(?m)^[ \t]*((?:///.*\n[ \t]*)+)"
        r"((?:pub |export |inline )*(?:fn|const) .*\n(?:.*\n){0,40}?)(?=[ \t]*\n|\Z)"
    ),
    "ex": re.compile(
        r'(?m)^[ \t]*@doc (?:~S)?"""\n((?:.*\n)*?)[ \t]*"""\n'
        r"((?:.*\n){1,40}?)(?=[ \t]*@doc|[ \t]*\n[ \t]*\n|\Z)"
    ),
}
_PATTERN_NAMES = {"hs": "haskell", "zig": "zig", "ex": "elixir"}


def _by_pattern(package: str, path: str, text: str, suffix: str) -> Iterator[Pair]:
    """Pairs of a language that the index treats as plain text, without symbols."""
    for match in _BY_PATTERN[suffix].finditer(text):
        comment = re.sub(r"(?m)^[ \t]*(?:-- ?\|?|///)[ \t]?", "", match[1])
        first, rest = cleaned(comment)
        code = match[2][:CODE_CHARACTERS_MAX]
        if first and len(code.strip()) >= 40:
            yield Pair("doc", _PATTERN_NAMES[suffix], package, path, "", first, rest, code)


def _make(source: Path, target: Path) -> Counter[str]:
    package = msgspec.msgpack.decode(source.read_bytes(), type=Package)
    made = pairs_of(package)
    scratch = target.with_suffix(".tmp")
    scratch.write_bytes(msgspec.msgpack.encode(made))
    scratch.rename(target)
    return Counter(f"{p.language}/{p.kind}" for p in made)


def main(cache: Path, jobs: int) -> None:
    """Make the pairs of every cached package that has none yet."""
    out = cache / "pairs"
    out.mkdir(exist_ok=True)
    todo = [
        (path, out / path.name)
        for path in sorted((cache / "packages").glob("*.msgpack"))
        if not (out / path.name).exists()
    ]
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        futures = {pool.submit(_make, *job): job[0].name for job in todo}
        for i, future in enumerate(concurrent.futures.as_completed(futures), 1):
            try:
                future.result()
            except Exception as error:
                print(f"{futures[future]}: {error!r}", file=sys.stderr)
            if i % 100 == 0:
                print(f"[{i}/{len(todo)}]", file=sys.stderr, flush=True)


def read_all(cache: Path) -> Iterator[Pair]:
    """Every pair of the requested packages, in a fixed order."""
    decoder = msgspec.msgpack.Decoder(list[Pair])
    named = asked_for(cache)
    for path in sorted((cache / "pairs").glob("*.msgpack")):
        if named is None or path.name in named:
            yield from decoder.decode(path.read_bytes())
