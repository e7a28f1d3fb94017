"""Phrases that must not come back in what users read: part of `make lint`.

    python -m tests.wording

Checked are string literals of `src/holdfast` (messages, help texts, docstrings), comments on lines
of their own, the dashboard's scripts, and the pages. The list is short on purpose: each entry was
once in the product and had to be decoded by its readers. `wording: ok` at the end of a line exempts
that line.
"""

from __future__ import annotations

import ast
import gc
import re
import sys
from collections.abc import Iterator
from itertools import chain, groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

COUNTED = "files|lines|tokens|documents|commits|places|chunks|copies|symbols|results"
PHRASES: dict[str, str] = {
    r"(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more than\b|such\b)[a-z]+\b": "is not a …",
    r"\b(?:nobody|somebody|whoever|whomever)\b": "name the subject: the caller, the server, …",
    r"\bthe fate of\b": "the outcome of",
    r"\basks for nothing\b|\bnames no\b": "say what is accepted and what was given",
    r"\bto be had\b": "available, could not be started",
    r"\bnone of our business\b": "say what the code does with it",
    r"\bwhom to what\b": "name the missing argument",
    r"\bspeaks? (?:of|to|for)\b|\bhears? of\b": "is about, is sent to, is notified of",
    r"\b(?:server|database|backend|team|host) (?:is|was) away\b": "is unreachable",
    r"\bknows no\b": "has no",
    rf"\b1 (?:{COUNTED})\b": "counts agree with their noun",
}
"""A pattern, and what to write instead."""

PARTS = (
    *("is no ", "are no ", "was no ", "were no ", "nobody", "somebody", "whoever", "whomever"),
    *("the fate of", "asks for nothing", "names no", "to be had", "none of our business"),
    *("whom to what", "speak", "hear", " away", "knows no"),
    *(f"1 {noun}" for noun in COUNTED.split("|")),
)
"""Every text with one of the phrases contains one of these, in lower case."""

PAGES = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/*.md"]
NOT_PROSE = {"docs/requirements.md"}


def strings(path: Path) -> Iterator[tuple[int, str]]:
    """Every string literal of a Python file with the line it starts on, f-strings in parts."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def comments(path: Path) -> Iterator[tuple[int, str]]:
    """Every comment that has a line of its own."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("# "):
            yield number, line.strip()


def findings(root: Path = ROOT) -> list[str]:
    """`path:line: phrase: advice` for every phrase that should be reworded."""
    compiled = [(re.compile(pattern, re.IGNORECASE), advice) for pattern, advice in PHRASES.items()]
    found = []
    for path, texts in groupby(_texts(root), key=lambda each: each[0]):
        lines = [(line, text) for _, line, text in texts]
        whole = "\0".join(text for _, text in lines)  # searched once, for most have no phrase
        if not _may_have_a_phrase(whole):
            continue
        source = path.read_text(encoding="utf-8").splitlines()
        for pattern, advice in compiled:
            if pattern.search(whole) is None:
                continue
            for line, text in lines:
                for match in pattern.finditer(text):
                    at = line + text.count("\n", 0, match.start())
                    if at <= len(source) and source[at - 1].endswith("wording: ok"):
                        continue
                    found.append(f"{path.relative_to(root)}:{at}: {match.group()!r}: {advice}")
    return sorted(set(found))


def _texts(root: Path) -> Iterator[tuple[Path, int, str]]:
    for path in sorted((root / "src").rglob("*.py")):
        if _may_have_a_phrase(_joined(path.read_text(encoding="utf-8"))):
            for line, text in chain(strings(path), comments(path)):
                yield path, line, text
    for path in sorted((root / "src").rglob("*.js")):
        yield path, 1, path.read_text(encoding="utf-8")
    for pattern in PAGES:
        for path in sorted(root.glob(pattern)):
            if path.relative_to(root).as_posix() not in NOT_PROSE:
                yield path, 1, _prose(path.read_text(encoding="utf-8"))


def _may_have_a_phrase(text: str) -> bool:
    """Whether a text is worth parsing and searching, which takes ten times as long as this."""
    lower = text.lower()
    return any(part in lower for part in PARTS)


def _joined(source: str) -> str:
    """Python source with adjacent string literals joined, as the parser joins them."""
    return re.sub(r"""["']\s*\n\s*[a-zA-Z]{0,2}["']""", "", source)


def _prose(page: str) -> str:
    """A page with its code blocks blanked, so that lines keep their numbers."""
    return re.sub(r"(?ms)^```.*?^```", lambda block: "\n" * block.group().count("\n"), page)


if __name__ == "__main__":
    gc.disable()  # it would search all syntax trees for garbage
    reworded = findings()
    print(*reworded, sep="\n", end="\n" if reworded else "")
    sys.exit(1 if reworded else 0)
