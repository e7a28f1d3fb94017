"""Parameters and results, read from a signature when a call needs them.

Extraction keeps signatures as text. Only a few of them are needed to resolve a call, so they are
parsed on demand, by the two common forms: `name: Type` and `Type name`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from holdfast.index.facts.chains import chain
from holdfast.index.facts.languages.rules import split_list

NAME_FIRST = frozenset({"python", "javascript", "typescript", "tsx", "rust", "kotlin", "swift",
                        "scala", "notebook", "lua", "ruby"})  # fmt: skip
DEFAULTS_TELL = frozenset({"python", "javascript", "typescript", "tsx"})
"""Languages where a parameter without a type is often known by its default value."""
_PLAIN_DEFAULTS = frozenset({"None", "True", "False", "null", "undefined", "true", "false"})
_LAMBDA = re.compile(r"\w+(?:\s*:[^=]+)?\s*=\s*lambda\b\s*(.*)", re.DOTALL)
_ARROW = re.compile(r"[=:]\s*(?:async\s+)?(?:function\s*\*?\s*\w*\s*)?(?:<[^()]{0,300}>\s*)?\(")
_BARE_ARROW = re.compile(r"[=:]\s*(?:async\s+)?([A-Za-z_$][\w$]*)\s*=>")
_LAST_WORD = re.compile(r"([\w$]+)\s*(?:\[[^\]]*\])?$")


_STATIC = re.compile(r"(?:(?:public|private|protected|override)\s+){0,3}static\s")


def is_static(signature: str) -> bool:
    """Whether a member of a class in JavaScript or TypeScript belongs to the class itself."""
    return _STATIC.match(signature) is not None


class Shape(NamedTuple):
    """The parameters with their types and the type of the result.

    The type of a parameter is "" when it is not declared, or `=` and its default value.
    """

    parameters: dict[str, str]
    result: str
    required: int
    most: int
    """At most this many arguments; -1 when there is no limit."""
    own: dict[str, str] = {}  # noqa: RUF012
    """`self` or `cls` with a declared type: a function that is made a method elsewhere."""
    spread: dict[str, str] = {}  # noqa: RUF012
    """Variadic parameters: `*` for positional, `**` for keyword arguments."""
    unpacked: dict[str, str] = {}  # noqa: RUF012
    """Names from destructured parameters, each with its expression: `<Cart>.total`."""


@lru_cache(maxsize=8_192)
def shape(language: str, name: str, signature: str, method: bool = True) -> Shape:
    """Parse a signature. Parts that cannot be parsed are left out, and `self` of a method."""
    if language == "python" and (made := _LAMBDA.match(signature)):
        signature = f"{name}({made.group(1)})"
    opened = _opening(signature, name)
    if opened == -1 and (bare := _BARE_ARROW.search(signature)):  # `total = cart => …`
        return Shape({bare.group(1): ""}, "", 1, 1)
    if opened == -1:
        return Shape({}, _result(language, signature, len(signature), 0), 0, -1)
    closed = _closing(signature, opened)
    parts = split_list(signature[opened + 1 : closed])
    parameters: dict[str, str] = {}
    required, most = 0, 0
    own: dict[str, str] = {}
    pending: list[str] = []
    unpacked: dict[str, str] = {}
    spread: dict[str, str] = {}
    for part in parts:
        if part in ("*", "/", "void"):
            continue
        if method and part.lstrip("&*").replace("mut ", "") in ("self", "cls"):
            continue
        typed = method or ":" in part
        if language == "python" and typed and part.split(":")[0].strip() in ("self", "cls"):
            key, type_ = _parameter(language, part)
            own[key] = type_
            continue
        if language in ("typescript", "tsx") and part.startswith("this") and ":" in part:
            own["this"] = part.partition(":")[2].strip()
            continue
        variadic = part.startswith(("*", "...", "vararg ", "params ", "&$")) or "..." in part
        most = -1 if variadic or most == -1 else most + 1
        default = "=" in re.sub(r"[=!<>]=|=>|->", "", part) or "?:" in part.replace(" ", "")
        required += not (variadic or default)
        if language == "go":
            word, _, type_ = part.partition(" ")
            if type_:
                for each in (*pending, word):
                    parameters[each] = type_.strip()
                pending.clear()
            else:
                pending.append(word)
            continue
        if part[0] in "{[" and language in DEFAULTS_TELL:
            pattern, type_ = _pattern(part)
            parameters[pattern] = type_
            _unpack(pattern, f"<{type_}>" if type_ else "", unpacked)
            continue
        key, type_ = _parameter(language, part)
        if key:
            parameters[key] = type_
            if variadic and language in DEFAULTS_TELL and part[0] in "*.":
                spread[key] = "**" if part.startswith("**") else "*"
    result = _result(language, signature, closed + 1, opened)
    return Shape(parameters, result, required, most, own, spread, unpacked)


def _pattern(part: str) -> tuple[str, str]:
    """Split `{a, b}: T = {}` into the pattern and its type."""
    depth = 0
    for at, char in enumerate(part):
        depth += (char in "{[(") - (char in ")]}")
        if not depth:
            rest = part[at + 1 :].strip()
            return part[: at + 1], _default_off(rest[1:]) if rest.startswith(":") else ""
    return part, ""


def _unpack(pattern: str, value: str, types: dict[str, str], depth: int = 0) -> None:
    named = pattern.startswith("{")
    for place, part in enumerate(split_list(pattern.strip()[1:-1], holes=not named)):
        if not part or part.startswith("...") or depth > 3:
            continue
        key, colon, inner = part.partition(":")
        target = inner.strip() if named and colon and "=" not in key else part
        if target[:1] in ("{", "["):
            step = f".{key.strip()}" if named else f"[{place}]"
            if value:
                _unpack(target, value + step, types, depth + 1)
            continue
        name, _, default = target.partition("=")
        name = name.strip()
        member = key.strip() if named and target is not part else name
        made = chain(default.strip()) if default else "?"
        if value:
            types[name] = f"{value}.{member}" if named else f"{value}[{place}]"
        elif made.endswith("()"):
            types[name] = made


def place_in(pattern: str, name: str, depth: int = 0) -> tuple[list[str], str] | None:
    """How a name is taken from a destructured value, and its default; None if it is not.

    `{on: [first, ...rest]}` takes `rest` by `.on`, `1:`.
    """
    named = pattern.startswith("{")
    for place, part in enumerate(split_list(pattern.strip()[1:-1], holes=not named)):
        if part.startswith("..."):
            if part[3:].strip() == name and not named:
                return [f"{place}:"], ""
            continue
        key, colon, inner = part.partition(":")
        target = inner.strip() if named and colon and "=" not in key else part
        step = f".{key.partition('=')[0].strip()}" if named else str(place)
        if target[:1] in ("{", "["):
            found = place_in(_pattern(target)[0], name, depth + 1) if depth < 3 else None
            if found is not None:
                return [step, *found[0]], found[1]
            continue
        word, _, usual = target.partition("=")
        if word.strip() == name:
            return [step], usual.strip()
    return None


_DOC_PARAMETER = re.compile(r"@param\s*\{([^{}]{1,160})\}\s*\[?([\w$]+)")
_DOC_RESULT = re.compile(r"@returns?\s*\{([^{}]{1,160})\}")


@lru_cache(maxsize=4_096)
def documented(language: str, name: str, signature: str, doc: str) -> Shape:
    """A signature with types from its doc comment: `@param {Cart} cart`."""
    found = shape(language, name, signature)
    parameters = dict(found.parameters)
    for type_, parameter in _DOC_PARAMETER.findall(doc):
        if parameter in parameters and not parameters[parameter]:
            parameters[parameter] = type_.strip("?!= ")
    result = _DOC_RESULT.search(doc)
    written = result.group(1).strip("?!= ") if result and not found.result else found.result
    return found._replace(parameters=parameters, result=written)


def _opening(signature: str, name: str) -> int:
    """The position of the `(` before the parameters of `name`; -1 when there is none."""
    at = signature.find(name)
    while at != -1:
        end = at + len(name)
        before = signature[at - 1] if at else " "
        if not (before.isalnum() or before in "_$"):
            rest = signature[end:].lstrip().removeprefix("?").lstrip()  # `total?(cart)`
            if rest[:1] in ("<", "["):
                closer = ">" if rest[0] == "<" else "]"
                rest = rest[rest.find(closer, 0, rest.find("(") + 1 or None) + 1 :].lstrip()
                while rest[:1] == closer:
                    rest = rest[1:].lstrip()
            if rest[:1] == "(":
                return len(signature) - len(rest)
        at = signature.find(name, end)
    arrow = _ARROW.search(signature)
    return arrow.end() - 1 if arrow else -1


def _closing(text: str, opened: int) -> int:
    depth = 0
    for i in range(opened, len(text)):
        if text[i] == "(":
            depth += 1
        elif text[i] == ")":
            depth -= 1
            if depth == 0:
                return i
    return len(text)


def _parameter(language: str, part: str) -> tuple[str, str]:
    part = re.sub(r"^(?:@[\w.]+(?:\([^)]*\))?\s*)+", "", part)
    if language in NAME_FIRST:
        name, _, type_ = part.partition(":")
        name = name.split("=")[0].strip().lstrip("*&.").rstrip("?")
        if language in DEFAULTS_TELL and (not type_ or "=" in part.partition(":")[0]):
            value = part.partition("=")[2].strip()
            found = chain(value) if value[:1].isalpha() or value[:1] == "_" else "?"
            named = found != "?" and found not in _PLAIN_DEFAULTS
            type_ = f"={found}" if named else ""
        else:
            type_ = _default_off(type_)
        words = name.split()
        return (words[-1] if words else ""), type_
    part = _default_off(part)
    if language == "php":
        type_, dollar, name = part.rpartition("$")
        return (name.strip(), type_.strip(" &.")) if dollar else ("", "")
    match = _LAST_WORD.search(part)
    if not match:
        return "", ""
    type_ = part[: match.start()].strip()
    return (match.group(1), type_) if type_ else ("", "")


def _default_off(text: str) -> str:
    return re.split(r"(?<![=!<>])=(?![=>])", text)[0].strip()


def _result(language: str, signature: str, after: int, opened: int) -> str:
    tail = signature[after:].strip()
    if language in ("python", "rust", "swift", "notebook"):
        found = re.match(r"(?:async\s+|throws\s+|rethrows\s+)*->\s*(.+)", tail)
        return re.split(r"\bwhere\b", found.group(1))[0].strip() if found else ""
    if language in ("typescript", "tsx", "kotlin", "scala", "php"):
        tail = re.sub(r"^(?:\([^()]*\)\s*)+", "", tail) if language == "scala" else tail
        found = re.match(r":\s*(.+?)(?:=>|=\s*$|$)", tail)
        if found:
            return found.group(1).strip()
        bare = re.match(r".*?\bdef\s+\w+\s*:\s*(.+)", signature) if language == "scala" else None
        return bare.group(1).strip(" =") if bare else ""
    if language == "go":
        if tail.startswith("("):
            first = split_list(tail.strip("()"))
            return first[0].split()[-1] if first else ""
        return tail
    if language in ("java", "csharp", "c", "cpp"):
        words = re.sub(r"@[\w.]+(?:\([^)]*\))?|\[[^\]]*\]|template\s*<[^()]*?>(?=\s)", "",
                       signature[:opened]).strip()  # fmt: skip
        words = re.sub(r"[\w:~<>,]+\s*$", "", words, count=1).strip()
        words = re.sub(r"\b(?:public|private|protected|internal|static|final|abstract|virtual|"
                       r"override|async|synchronized|default|inline|constexpr|extern|explicit|"
                       r"friend|sealed|partial|native|new|unsafe)\b\s*", "", words)  # fmt: skip
        return re.sub(r"^<[^>]*>\s*", "", words).strip()
    return ""
