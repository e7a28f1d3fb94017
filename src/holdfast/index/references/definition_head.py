"""What stands before a definition: its comments and its attributes (decorators, annotations).

Pure. A replacement of a symbol often begins with the definition alone. It is tempting to replace
the lines of the symbol by it; but in some languages its attributes are among them, which are then
lost, and in others they are not, and are then doubled if the new text has them. So the head of both
texts is taken apart, and each part is kept unless the new text brings its own.

May keep an attribute that the new text should lose. Never drops one without saying so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from holdfast.index.facts.walk import Language

HEAD_BYTES_MAX = 20_000
"""A head longer than this is not taken apart."""
SHOWN_MAX = 80

_NAME_OF_ATTRIBUTE = re.compile(rb"@[\w.$:]*")
_SPACE = re.compile(rb"[ \t]*")
_BLANK = re.compile(rb"\s*")
_EXPORT = re.compile(rb"(export\s+(?:default\s+)?(?:declare\s+)?)((?:const|let|var)\s+)?")
_OPEN, _CLOSE, _QUOTES = b"([{", b")]}", b"\"'`"
_JAVASCRIPT = ("javascript", "typescript", "tsx")
_WHOLE_LINE = ("python", "elixir")
"""Languages in which an attribute ends with its logical line."""

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Head:
    """The ranges of comments and attributes before a definition, and where that begins."""

    comments: tuple[Range, ...]
    attributes: tuple[Range, ...]
    definition: int

    @property
    def start(self) -> int:
        return min([self.definition, *(first for first, _ in (*self.comments, *self.attributes))])

    @property
    def attributes_start(self) -> int:
        return self.attributes[0][0] if self.attributes else self.definition


def head_of(language: Language, text: bytes, at: int = 0) -> Head | None:
    """The head that begins at `at`; None if no definition follows, or it cannot be taken apart."""
    limit = at + HEAD_BYTES_MAX
    comments, attributes = list[Range](), list[Range]()
    while True:
        at = _BLANK.match(text, at).end()  # type: ignore[union-attr]
        if at >= min(len(text), limit):
            return None
        if _is_attribute(language, text, at):
            end = _attribute_end(language, text, at)
            attributes.append((at, end or at))
        elif (end := _comment_end(language, text, at)) is not None:
            comments.append((at, end))
        else:
            return Head(tuple(comments), tuple(attributes), at)
        if not end:
            return None
        at = end


def _is_attribute(language: Language, text: bytes, at: int) -> bool:
    if language.name == "java" and re.compile(rb"@interface\b").match(text, at):
        return False  # the definition of an annotation
    return text.startswith(language.attribute_marks, at)


def _comment_end(language: Language, text: bytes, at: int) -> int | None:
    """The end of the comment that begins here; 0 if it has none, None if none begins here."""
    if language.block_comments and text.startswith(b"/*", at):
        end = text.find(b"*/", at + 2)
        return end + 2 if end >= 0 else 0
    if text.startswith(language.comment_marks, at):
        end = text.find(b"\n", at)
        return max(end, 0)
    return None


def _attribute_end(language: Language, text: bytes, at: int) -> int | None:
    if not text.startswith(b"@", at):
        return _skip(language, text, text.index(b"[", at), brackets=True)
    if language.name in _WHOLE_LINE:
        return _skip(language, text, at, brackets=False)
    end = _NAME_OF_ATTRIBUTE.match(text, at).end()  # type: ignore[union-attr]
    if language.name == "scala" and text.startswith(b"[", end):
        end = _skip(language, text, end, brackets=True) or end
    while True:
        opened = _SPACE.match(text, end).end()  # type: ignore[union-attr]
        if not text.startswith(b"(", opened):
            return end
        closed = _skip(language, text, opened, brackets=True)
        if closed is None:
            return None
        end = closed


def _skip(language: Language, text: bytes, at: int, *, brackets: bool) -> int | None:
    """The end of a pair of brackets, or of a logical line; strings and comments are passed over."""
    depth, limit = 0, min(len(text), at + HEAD_BYTES_MAX)
    while at < limit:
        byte = text[at : at + 1]
        if byte in _QUOTES:
            mark = byte * 3 if text.startswith(byte * 3, at) else byte
            at += len(mark)
            while not text.startswith(mark, at):
                at += 2 if text.startswith(b"\\", at) else 1
                if at >= limit:
                    return None
            at += len(mark)
            continue
        if depth and (end := _comment_end(language, text, at)):
            at = end
            continue
        if byte in _OPEN:
            depth += 1
        elif byte in _CLOSE:
            depth -= 1
            if brackets and depth == 0:
                return at + 1
        elif byte == b"\n" and depth == 0 and not brackets:
            return at
        elif byte == b"\\":
            at += 1
        at += 1
    return None


def defines(language: Language, text: bytes, at: int, name: str) -> bool:
    """Whether the definition that begins here is that of a name."""
    lines = b"\n".join(text[at : at + 600].split(b"\n")[:2])
    word = rb"(?<![\w$])" + re.escape(name.encode()) + rb"(?![\w$])"
    if language.name == "python":
        before = rb"(?:(?:async\s+)?def|class|type)\s+"
        return re.match(rb"%s%s|%s\s*[:=]" % (before, word, word), lines) is not None
    found = re.search(word, lines)
    return found is not None and not re.search(rb"[{;=]", lines[: found.start()])


@dataclass(frozen=True, slots=True)
class Parts:
    """The replacements that put a new definition under the head that is kept."""

    replacements: tuple[tuple[int, int, bytes], ...]
    kept: tuple[Range, ...] = ()
    """Attributes that stay."""
    replaced: tuple[Range, ...] = ()
    """Attributes and comments that the new text replaces by its own."""
    exported: str = ""
    """The words of an export that stay."""


def under_head(
    language: Language, source: bytes, lead: int, span: Range, name: str, text: bytes
) -> Parts | None:
    """How to replace a definition by a text; None if one of them cannot be taken apart.

    `lead` is where the comments and attributes of the definition begin, `span` what is replaced.
    """
    old, new = head_of(language, source, lead), head_of(language, text)
    if old is None or new is None or not span[0] <= old.definition < span[1]:
        return None
    if not defines(language, text, new.definition, name):
        return None
    exported = _export(language, source[old.definition : span[1]], text[new.definition :], name)
    body = exported + text[new.definition :]
    comment, attributes = text[new.start : new.definition], text[new.attributes_start :]
    attributes = attributes[: new.definition - new.attributes_start] + body
    replaced = list[Range]()
    if new.comments:
        replaced += _others(source, old.comments, text, new.comments)
    if new.attributes:
        replaced += _others(source, old.attributes, text, new.attributes)
    match bool(new.comments), bool(new.attributes):
        case True, True:
            pieces = [(old.start, span[1], comment + body)]
        case True, False:
            pieces = [
                (old.start, old.attributes_start, comment),
                (old.definition, span[1], body),
            ]
        case False, True:
            pieces = [(old.attributes_start, span[1], attributes)]
        case _:
            pieces = [(old.definition, span[1], body)]
    kept = () if new.attributes else old.attributes
    return Parts(tuple(pieces), kept, tuple(replaced), exported.decode().strip())


def _others(
    source: bytes, old: tuple[Range, ...], text: bytes, new: tuple[Range, ...]
) -> list[Range]:
    """The old parts that are not among the new ones."""
    there = {_words(text, one) for one in new}
    return [one for one in old if _words(source, one) not in there]


def _words(text: bytes, part: Range) -> bytes:
    return b" ".join(text[part[0] : part[1]].split())


def _export(language: Language, old: bytes, new: bytes, name: str) -> bytes:
    """The words of an export that the new text does not repeat."""
    if language.name not in _JAVASCRIPT or new.startswith(b"export"):
        return b""
    found = _EXPORT.match(old)
    if found is None:
        return b""
    alone = re.match(re.escape(name.encode()) + rb"\s*[=:]", new)
    return found.group() if alone else found.group(1)
