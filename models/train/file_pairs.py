"""Training pairs about a file or a type as a whole, as questions about architecture are.

A file is its path and the names that it defines; the question is what tells them in other words:

- `file`: the first sentence of its header comment;
- `stem`: the words of its name, which is then left out of the path and of the names;
- `type`: the words of a type's name, and its text with that name blanked out.

A question about a file is answered by all of it, so in training the other pairs of that file are
not counted as wrong answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.index.facts.model import FileFacts
from models.train.pairs import CODE_CHARACTERS_MAX, Pair, cleaned, split_name

HEAD_CHARACTERS = 6_000
NAMES_MIN = 3
"""A file with fewer names says too little."""

_BLOCK = re.compile(
    r"/\*.*?\*/|\{-.*?-\}|\"\"\".*?\"\"\"|'''.*?'''|--\[\[.*?\]\]|=begin.*?=end"
    r"|(?:^[ \t]*(?://|#(?!\s*(?:include|define|if|el|end|pragma|undef|\[))|--)[^\n]*(?:\n|\Z))+",
    re.DOTALL | re.MULTILINE,
)
_LEADER = re.compile(
    r"^[ \t]*"
    r"(?:/\*+!?|\*+/|\*+|//[/!]?|#+!?|--\[\[|--+[ \t]?\|?|\{-+[ \t]?\|?|\"\"\"|'''|=begin)[ \t]?",
    re.MULTILINE,
)
_TRAILER = re.compile(r"(?:\*+/|\"\"\"|'''|\]\]|-\}|=end)\s*$")
_NO_HEADER = re.compile(
    r"author|version|permission|warrant|part of|coding:|vim:|@import|^global |\[cfg|"
    r"reference types",
    re.IGNORECASE,
)
_GENERIC = frozenset({
    "all", "api", "app", "base", "bin", "build", "cjs", "common", "config", "const", "constants",
    "core", "dist", "doc", "docs", "esm", "go", "helper", "helpers", "impl", "include", "index",
    "init", "internal", "js", "lib", "main", "misc", "mod", "module", "package", "py", "source",
    "sources", "src", "test", "tests", "type", "types", "util", "utils", "v", "version",
})  # fmt: skip
"""Names of files and folders that say nothing."""
_TYPES = frozenset({"class", "interface", "trait", "struct", "enum", "object", "union"})


def file_pairs(package: str, path: str, source: bytes, facts: FileFacts) -> Iterator[Pair]:
    """The pairs of one file about itself and its types."""
    names = list(dict.fromkeys(s.qualified for s in facts.symbols if s.kind != "section"))
    if facts.guessed or len(names) < NAMES_MIN:
        return
    text = source.decode("utf-8", "replace")
    code = "\n".join(names)[:CODE_CHARACTERS_MAX]
    told = header(text, facts)
    if told:
        yield Pair("file", facts.language, package, path, "", told[0], told[1], code)
    folder, _, file = path.rpartition("/")
    stem = file.split(".")[0]
    words = [word.lower() for word in split_name(stem)]
    if words and stem.lower() not in _GENERIC and any(len(word) > 2 for word in words):
        above = [word.lower() for word in split_name(folder.rpartition("/")[2])]
        asked = words if len(words) > 1 or _GENERIC.issuperset(above) else [*above, *words]
        blank = re.sub(r"\w+", lambda m: "" if _plain(m[0]) == _plain(stem) else m[0], code)
        if len(set(asked)) > 1:
            yield Pair(
                "stem", facts.language, package, folder, "", " ".join(asked), "", blank, path
            )
    for symbol in facts.symbols:
        parts = split_name(symbol.name)
        body = source[symbol.span.start : symbol.span.end].decode("utf-8", "replace")
        if symbol.kind in _TYPES and symbol.defined and len(parts) > 1 and len(body) > 200:
            blank = re.sub(rf"\b{re.escape(symbol.name)}\b", "", body[:CODE_CHARACTERS_MAX])
            outer = symbol.qualified.rpartition(".")[0]
            asked_type = " ".join(parts).lower()
            yield Pair("type", facts.language, package, folder, outer, asked_type, "", blank, path)


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def header(text: str, facts: FileFacts) -> tuple[str, str] | None:
    """The first sentence and the rest of the comment that opens a file; None without one."""
    starts = [symbol.span.start for symbol in facts.symbols if symbol.span.start > 0]
    head = text[: min([HEAD_CHARACTERS, *starts])]
    own = {cleaned(symbol.doc)[0] for symbol in facts.symbols[:2] if symbol.doc}
    for block in _BLOCK.finditer(head):
        said = _LEADER.sub("", _TRAILER.sub("", block[0]))
        said = re.sub(r"^\s*[\w./-]+\.\w{1,4}\s*[-:]*\s", "", said)
        first, rest = cleaned(said)
        if first and first not in own and not _NO_HEADER.search(first):
            return first, rest
    return None
