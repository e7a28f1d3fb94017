"""Edits of symbols as data: the bytes to replace, and the places that are in doubt.

Pure. A plan is made from the texts that were read. Its token is a hash of those texts and all
replacements, so that it can be applied only to the same texts.
"""

from __future__ import annotations

import codecs
import difflib
import hashlib
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

CERTAIN = 0.9
"""A place with less confidence is in doubt: it is changed only if it is confirmed."""


@dataclass(frozen=True, slots=True, order=True)
class Replacement:
    """Bytes `[start, end)` of a file become `text`."""

    path: str
    start: int
    end: int
    text: bytes


@dataclass(frozen=True, slots=True, order=True)
class Doubt:
    """A place that may have to change: why it is in doubt, and its line."""

    path: str
    line: int
    why: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Plan:
    """The replacements of an edit, with the texts they apply to."""

    sources: Mapping[str, bytes]
    replacements: tuple[Replacement, ...]
    doubts: tuple[Doubt, ...] = ()
    """Places that are neither confirmed nor left out: while there are any, nothing is written."""
    notes: tuple[str, ...] = field(default=())

    @property
    def paths(self) -> list[str]:
        return sorted({one.path for one in self.replacements})

    def after(self, path: str) -> bytes:
        """The text of a file after its replacements."""
        return _applied(path, self.sources[path], [r for r in self.replacements if r.path == path])

    def texts_after(self) -> dict[str, bytes]:
        """The texts of all files after their replacements."""
        by_path: dict[str, list[Replacement]] = defaultdict(list)
        for one in self.replacements:
            by_path[one.path].append(one)
        return {path: _applied(path, self.sources[path], by_path[path]) for path in sorted(by_path)}

    @property
    def token(self) -> str:
        """A hash of the texts and the replacements."""
        hasher = hashlib.sha256()
        for path in self.paths:
            for part in (path.encode("utf-8", "surrogateescape"), self.sources[path]):
                hasher.update(len(part).to_bytes(8, "little") + part)
        for one in sorted(self.replacements):
            part = f"{one.path}\0{one.start}\0{one.end}\0".encode("utf-8", "surrogateescape")
            hasher.update(part + len(one.text).to_bytes(8, "little") + one.text)
        return hasher.hexdigest()[:16]

    def diff(self, shown: Callable[[bytes], bytes]) -> str:
        """The plan as a unified diff of the texts; `shown` masks secrets."""
        lines: list[str] = []
        for path, text in self.texts_after().items():
            before = _lines(shown(self.sources[path]))
            after = _lines(shown(text))
            lines += [
                line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
                for line in difflib.unified_diff(before, after, f"a/{path}", f"b/{path}")
            ]
        return "".join(lines)


def _applied(path: str, source: bytes, replacements: Iterable[Replacement]) -> bytes:
    pieces, at = list[bytes](), 0
    for one in sorted(replacements):
        if one.start < at:
            raise ValueError(f"two edits of {path} overlap at byte {one.start}")
        pieces += [source[at : one.start], one.text]
        at = one.end
    return b"".join([*pieces, source[at:]])


def _lines(text: bytes) -> list[str]:
    """The lines with their line feeds; a form feed or a carriage return does not end a line."""
    return [line.decode("utf-8", "replace") for line in io.BytesIO(text)]


def settle(
    doubtful: Iterable[tuple[Doubt, Replacement | None]],
    confirmed: frozenset[str],
    left_out: frozenset[str],
) -> tuple[list[Replacement], list[Doubt]]:
    """The confirmed replacements, and the remaining doubts. `*` stands for all."""
    edits, open_doubts = [], []
    for doubt, replacement in doubtful:
        if replacement is not None and confirmed & {doubt.place, "*"}:
            edits.append(replacement)
        elif not left_out & {doubt.place, "*"}:
            open_doubts.append(doubt)
    return edits, open_doubts


_INDENT = re.compile(r"[ \t]*")


def indented(text: str, indent: str, language: str = "") -> str:
    """The text with its lines indented, if its first line is not.

    The inner lines of Python's strings stay as they are, because blanks would change the value;
    those of docstrings are indented.
    """
    lines = text.strip("\n").split("\n")
    if not indent or _INDENT.match(lines[0]).group():  # type: ignore[union-attr]
        return "\n".join(lines)
    fixed = _in_strings("\n".join(lines)) if language == "python" else frozenset[int]()
    return "\n".join(
        indent + line if line.strip() and at not in fixed else line
        for at, line in enumerate(lines, start=1)
    )


def _in_strings(text: str) -> frozenset[int]:
    """The lines that begin inside a string of Python that is not a statement of its own."""
    lines = set[int]()
    opened, before = list[tuple[int, bool]](), tokenize.NEWLINE
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            name = tokenize.tok_name[token.type]
            starts = before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
            if name.endswith("STRING_START"):  # an f-string has several tokens in Python 3.12
                opened.append((token.start[0], starts))
            elif name == "STRING" and not starts:
                lines.update(range(token.start[0] + 1, token.end[0] + 1))
            elif name.endswith("STRING_END"):
                first, stands_alone = opened.pop()
                if not stands_alone:
                    lines.update(range(first + 1, token.end[0] + 1))
            if token.type not in (tokenize.NL, tokenize.COMMENT):
                before = token.type
    except (tokenize.TokenError, SyntaxError, IndexError):
        pass  # an incomplete text; the preview says that it does not parse
    return frozenset(lines)


def mark_length(source: bytes) -> int:
    """The length of the byte order mark, which stays at the beginning of the file."""
    return len(codecs.BOM_UTF8) if source.startswith(codecs.BOM_UTF8) else 0


def whole_lines(source: bytes, start: int, end: int) -> tuple[int, int]:
    """The byte range of all lines that a range touches, without the last line break."""
    first = source.rfind(b"\n", 0, start) + 1 or mark_length(source)
    last = source.find(b"\n", max(start, end - 1))
    if last < 0:
        return first, len(source)
    return first, last - (source[first:last][-1:] == b"\r")


def line_break(source: bytes) -> str:
    """How most lines of a file end."""
    return "\r\n" if source.count(b"\r\n") * 2 > source.count(b"\n") else "\n"
