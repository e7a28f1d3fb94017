"""Expressions reduced to chains of names, parsed from text rather than from syntax nodes.

Most callees are written as a path: `self.repo.save`, `Cart::new`, `makeCart().items`. A path looks
nearly the same in all languages, and reading a short slice of text costs a fraction of visiting its
syntax nodes, so one small parser serves every language. Anything else becomes "?", which never
resolves.
"""

from __future__ import annotations

import re
from functools import lru_cache

LONGEST = 240
"""Of a longer chain only the last name is kept."""

PLAIN = re.compile(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*\Z")
_PREFIX = re.compile(r"(?:(?:await|new|try|yield|throw|return|mut|co_await)\b[!?]?\s*|[&*!(]\s*)+")
_NAME = re.compile(r"#?[^\W\d][\w$]*(?:[!?](?![.!?:\-\w]))?|\$[\w$]*|@{1,2}\w+")
_SEPARATOR = re.compile(r"\s*(?:\?\.|!\.|!!\.|&\.|\?->|->|::|\.|\\|:)\s*")
_LAST_NAME = re.compile(r"(#?[^\W\d][\w$]*[!?]?)\s*(?:<[^()]*>)?\s*\Z")
_CLOSERS = {"(": ")", "[": "]", "{": "}", "<": ">"}


def _skip(text: str, at: int) -> int:
    """The position past the bracket that opens at `at`; -1 when it does not close."""
    opener, closer = text[at], _CLOSERS[text[at]]
    depth, i, size = 0, at, len(text)
    while i < size:
        char = text[i]
        if char == opener:
            depth += 1
        elif char == closer and not (char == ">" and text[i - 1] in "-="):
            depth -= 1
            if depth == 0:
                return i + 1
        elif char in "\"'" and opener != "<":
            end = text.find(char, i + 1)
            if end == -1:
                return -1
            i = end
        i += 1
    return -1


@lru_cache(maxsize=16_384)
def chain(text: str) -> str:
    """The chain in `text`, or "?". `new Cart(3).items` gives `Cart().items`."""
    if PLAIN.match(text):
        return text
    text = text.strip()
    if not text or len(text) > LONGEST:
        return "?"
    prefix = _PREFIX.match(text)
    start = prefix.end() if prefix else 0
    if start and text[:start].count("(") and text.endswith(")"):
        # `(await load())` is the chain inside; `(a).b` is not supported.
        opened = text[:start].count("(")
        body = text[start:]
        if body.endswith(")" * opened) and body.count("(") + opened == body.count(")"):
            text, start = body[: len(body) - opened].rstrip(), 0
        else:
            return "?"
    elif start and "(" in text[:start]:
        return "?"
    parts: list[str] = []
    i, size = start, len(text)
    while True:
        name = _NAME.match(text, i)
        if not name:
            return "?"
        word = name.group()
        if word[0] == "@":
            parts.append("self." + word.lstrip("@"))
        elif word != "await" or not parts:
            parts.append(word.rstrip("!") if i else word)
        i = name.end()
        while i < size and text[i] in "([{<!?'":
            char = text[i]
            if char in "!?":
                if _SEPARATOR.match(text, i) and text[i : i + 2] not in ("!!", "??"):
                    break
                i += 1
                continue
            if char == "'":
                return "?"
            end = _skip(text, i)
            if end == -1 or char == "[":
                if char == "[" and end != -1 and text[end : end + 1] in ("(", "{"):
                    i = end  # type arguments in brackets: `Max[int](…)`, `new Box[Int](…)`
                    continue
                return "?"
            if char in "({":
                parts[-1] += "()"
            i = end
        rest = text[i:].strip()
        if not rest:
            return ".".join(parts)
        separator = _SEPARATOR.match(text, i)
        if not separator:
            if rest[0] == "{" and rest[-1] == "}" and not parts[-1].endswith("()"):
                return ".".join(parts) + "()"  # a literal of a named type, `Cart { … }`
            return "?"
        i = separator.end()
        if text.startswith("<", i):  # a turbofish: `Vec::<u8>::new`
            end = _skip(text, i)
            if end == -1:
                return "?"
            i = end
            separator = _SEPARATOR.match(text, i)
            if separator:
                i = separator.end()
            elif i >= size:
                return ".".join(parts)
            else:
                return "?"


@lru_cache(maxsize=16_384)
def callee(text: str) -> tuple[str, str]:
    """The receiver and the name of a callee; the name is "" when there is none."""
    path = chain(text)
    if path == "?":
        last = _LAST_NAME.search(text[-LONGEST:])
        return ("?", last.group(1)) if last else ("?", "")
    if path.endswith("()"):  # the result of a call is called, so there is no name
        return "?", ""
    receiver, _, name = path.rpartition(".")
    return receiver, name


_WRAPPER = re.compile(
    r"(?:typing\.)?(?:Optional|Awaitable|Coroutine|Final|ClassVar|Annotated|Type|type|Promise|Task|"
    r"ValueTask|Box|Rc|Arc|Ref|RefMut|MutexGuard|Lazy|unique_ptr|shared_ptr|weak_ptr|Readonly|"
    r"Partial|NonNullable|Required)\s*[\[<]"
)
_NOISE = re.compile(
    r"^(?:const|final|struct|enum|union|class|mut|dyn|impl|readonly|static|volatile|inout|some|any|"
    r"unsigned|ref|out|in|params|val|var|override|private|public|protected|internal|open|"
    r"lateinit|let|implicit|using|lazy|typename|'\w+)\b\s*"
)


@lru_cache(maxsize=16_384)
def type_name(text: str) -> str:
    """The dotted name of the class that a type expression refers to; "" when there is none.

    Wrappers are removed (`Optional[Cart]`, `Box<Cart>`), and so is a union with None. Collections
    keep their own name: a list of carts is not a cart.
    """
    text = text.strip().strip("\"'")
    for _ in range(6):
        before = text
        text = text.lstrip("&*:?@ ").rstrip("?!&* ;,")
        text = text.removeprefix("std::")
        text = _NOISE.sub("", text)
        if "|" in text:
            options = [
                part.strip()
                for part in text.split("|")
                if part.strip() not in ("None", "null", "undefined", "nil", "")
            ]
            text = options[0] if len(options) == 1 else "|"
        wrapper = _WRAPPER.match(text)
        if wrapper and text[-1:] in ("]", ">"):
            text = text[wrapper.end() : -1].split(",")[0].strip().strip("\"'")
        if text == before:
            break
    if "|" in text or text[:1] in ("[", "(", "{", "<"):
        return ""
    cut = re.split(r"[<\[({\s]", text, maxsplit=1)[0]
    if text.endswith("[]") or "[]" in text:
        return ""
    cut = re.sub(r"::|\\|->", ".", cut).strip(".")
    return cut if re.fullmatch(r"[\w.$]+", cut) else ""
