r"""Operators of a query, such as `lang:` and `re:`.

    parse config lang:python path:src/ -path:*_test.py must:"yaml.load" re:load_\w+ sym:Loader

An operator is a name, one colon and a value, without spaces between. A value with spaces is put in
double quotes, where `\"` is a quote (and `\\` a backslash, except in `re:`, which keeps its
backslashes). An unquoted pattern includes the words after it when they look like a pattern
(`re:class .*Error`) or when only signs are before them (`re:^ def`), with a warning that shows it
in quotes. A leading backslash turns an operator into plain text. Operators are recognised up to a
blank line, or up to 200 characters of plain text, so that a pasted error message or snippet is not
parsed.

Everything else is plain text. An invalid operator is plain text too, with a warning that says what
is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from holdfast.files.policy import LANGUAGES, NAMES, STEMS
from holdfast.patterns import lazy_pattern

BLOCK_CHARACTERS = 200
NAMES_OF_OPERATORS = ("lang", "path", "-path", "must", "exclude", "re", "sym")

# `path::join` and `re::compile` are qualified names.
_OPERATOR = lazy_pattern(r"(-?)(lang|path|must|exclude|re|sym):(?!:)")
_ESCAPED = lazy_pattern(r"\\+(?=-?(?:lang|path|must|exclude|re|sym):(?!:))")
_NEARLY = lazy_pattern(r"(-?)([A-Za-z]+):(?![:/])(?=\S)")
_MEANT = {
    "language": "lang", "file": "path", "filename": "path", "dir": "path", "directory": "path",
    "folder": "path", "symbol": "sym", "regex": "re", "regexp": "re", "pattern": "re",
    **{name: name for name in ("lang", "path", "must", "exclude", "sym")},
}  # fmt: skip
"""Other tools' names for an operator, and operators in capitals. Not `Re:`, which starts the
subject of a mail.
"""
_BLANK_LINE = lazy_pattern(r"\n[ \t\r]*\n")
_LIKE_A_PATTERN = lazy_pattern(
    r"\\[wdsbWDSB.(\[]|[\])\w.][*+]|\.[*+?]|\[[^\]]+\]|\(\?|\^\S|\S\$(?:\s|$)"
)
_ANYTHING = lazy_pattern(r"[\^$.*?+]+")
"""A pattern without a letter, as in `re:^    return`, is not the whole pattern."""
_SPACE = lazy_pattern(r"\s+")
_TOKEN = lazy_pattern(r"\S+")

KNOWN_LANGUAGES = frozenset((*LANGUAGES.values(), *NAMES.values(), *STEMS.values()))
_ALIASES = {
    "py": "python", "js": "javascript", "jsx": "javascript", "node": "javascript",
    "ts": "typescript", "rb": "ruby", "rs": "rust", "golang": "go", "c++": "cpp", "cxx": "cpp",
    "cc": "cpp", "h": "c", "cs": "csharp", "c#": "csharp", "kt": "kotlin", "sh": "bash",
    "zsh": "bash", "md": "markdown", "yml": "yaml", "htm": "html", "ipynb": "notebook",
    "objective-c": "objc", "objectivec": "objc", "f#": "fsharp", "hs": "haskell", "ml": "ocaml",
    "ex": "elixir", "docker": "dockerfile", "terraform": "hcl", "make": "build", "txt": "text",
    "rst": "text", "vue": "html", "svelte": "html",
}  # fmt: skip


class Query(msgspec.Struct, frozen=True):
    """A parsed query. Operators may repeat: languages and paths widen it, the others narrow it.

    `text` is what to rank by. A file must be of one of `langs`, match one of `paths` and none of
    `not_paths`; a chunk must contain every `must` and no `exclude`, match every pattern, and be
    in a symbol that each of `symbols` names.
    """

    text: str = ""
    langs: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    not_paths: tuple[str, ...] = ()
    must: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether an operator says exactly what to find, so that no words are needed."""
        return bool(self.must or self.patterns or self.symbols)

    @property
    def filtered(self) -> bool:
        return self != Query(self.text)

    def values(self) -> list[tuple[str, str]]:
        """Every operator with its value, in the order of `render`."""
        found = zip(
            NAMES_OF_OPERATORS,
            (self.langs, self.paths, self.not_paths, self.must, self.exclude, self.patterns,
             self.symbols),
            strict=True,
        )  # fmt: skip
        return [(name, value) for name, values in found for value in values]


class Parsed(msgspec.Struct, frozen=True):
    """A query, and warnings about invalid operators."""

    query: Query
    warnings: tuple[str, ...] = ()


class _Draft(msgspec.Struct):
    values: dict[str, list[str]] = msgspec.field(
        default_factory=lambda: {n: [] for n in NAMES_OF_OPERATORS}
    )
    words: list[str] = msgspec.field(default_factory=list)
    warnings: list[str] = msgspec.field(default_factory=list)


def parse(query: str, wrong_pattern: Callable[[str], str | None] | None = None) -> Parsed:
    """Parse a query. `wrong_pattern` returns what is wrong with a `re:` pattern, or None."""
    draft = _Draft()
    blank = _BLANK_LINE.search(query)
    end = blank.start() if blank else len(query)
    at = passed = 0
    while (token := _TOKEN.search(query, at, end)) and passed <= BLOCK_CHARACTERS:
        at = token.start()
        operator = _OPERATOR.match(query, at, end)
        word = token[0]
        if operator is not None:
            name = operator[1] + operator[2]
            taken = _value(query, operator.end(), end, raw=name == "re")
            if isinstance(taken, str):
                problem: str | None = taken
                at = token.end()
            else:
                value, at = taken
                longer = _with_spaces(query, operator.end(), end, value) if name == "re" else None
                if longer and not (wrong_pattern and wrong_pattern(longer[0])):
                    value, at = longer
                    quoted = f"re:{written('re', value)}"
                    draft.warnings.append(f"the pattern is taken as {_shown(quoted)}")
                word = query[token.start() : at]
                value, problem = _checked(name, value, wrong_pattern)
                if problem is None:
                    draft.values[name].append(value)
                    continue
            draft.warnings.append(f"{_shown(word)} is taken as plain text: {problem}")
        else:
            at = token.end()
            nearly = _NEARLY.match(word)
            if _ESCAPED.match(word):
                word = word[1:]
            elif nearly is not None and nearly[2].lower() in _MEANT:
                meant = f"{nearly[1]}{_MEANT[nearly[2].lower()]}:{word[nearly.end() :]}"
                draft.warnings.append(
                    f"{_shown(word)} is taken as plain text; did you mean {_shown(meant)}?"
                )
        draft.words.append(word)
        passed += len(word) + 1
    # The rest is kept as written.
    rest = query[at:].strip()
    text = " ".join(draft.words)
    if rest:
        apart = "\n\n" if at <= end < len(query) and blank else " "
        text = f"{text}{apart}{rest}" if text else rest
    values = {name: tuple(dict.fromkeys(found)) for name, found in draft.values.items()}
    return Parsed(
        Query(
            text, values["lang"], values["path"], values["-path"], values["must"],
            values["exclude"], values["re"], values["sym"],
        ),
        tuple(draft.warnings),
    )  # fmt: skip


def _value(query: str, at: int, end: int, *, raw: bool) -> tuple[str, int] | str:
    """The value that starts at `at` and its end, or what is wrong with it."""
    if at >= end or query[at].isspace():
        return "it has no value"
    if query[at] != '"':
        token = _TOKEN.match(query, at, end)
        assert token is not None
        return token[0], token.end()
    letters: list[str] = []
    place = at + 1
    while place < end:
        letter = query[place]
        if letter == '"':
            after = place + 1
            if after < end and not query[after].isspace():
                return "something follows its closing quote"
            return ("".join(letters), after) if letters else "it has no value"
        if letter == "\\" and place + 1 < end:
            pair = query[place : place + 2]
            place += 2
            letters.append(pair[1] if pair == '\\"' or (pair == "\\\\" and not raw) else pair)
            continue
        letters.append(letter)
        place += 1
    return "its quote is not closed"


def _with_spaces(query: str, at: int, end: int, value: str) -> tuple[str, int] | None:
    """An unquoted pattern with the words after it, and its end; None if they do not belong."""
    if query[at] == '"':
        return None
    last = first = at + len(value)
    while (token := _TOKEN.search(query, last, end)) and not _OPERATOR.match(token[0]):
        last = token.end()
        if last - at > BLOCK_CHARACTERS:
            return None
    belongs = _LIKE_A_PATTERN.search(query[first:last]) or (
        last > first and _ANYTHING.fullmatch(value)
    )
    return (query[at:last], last) if belongs else None


def _checked(
    name: str, value: str, wrong_pattern: Callable[[str], str | None] | None
) -> tuple[str, str | None]:
    """The normalised value, and what is wrong with it."""
    if name.startswith("-") and name != "-path":
        return value, f"unknown operator {name}:"
    match name:
        case "lang":
            language = value.lower()
            language = _ALIASES.get(language, language)
            if language not in KNOWN_LANGUAGES:
                language = LANGUAGES.get(f".{language}", language)
            if language in KNOWN_LANGUAGES:
                return language, None
            from difflib import get_close_matches

            near = get_close_matches(language, [*KNOWN_LANGUAGES, *_ALIASES], 1)
            meant = f"; did you mean lang:{near[0]}?" if near else ""
            return value, f"unknown language {value!r}{meant}"
        case "re":
            pattern = _unquoted(value)
            return pattern, wrong_pattern(pattern) if wrong_pattern else None
        case "path" | "-path":
            pattern = value.removeprefix(".") if value.startswith("./") else value
            wrong = not pattern.strip("/") or value == "." or pattern.startswith(("!", "#"))
            return pattern, "expected a path" if wrong else None
        case "sym" if not value.strip(".:#*"):
            return value, "expected a symbol name"
    return value, None


def alternatives(symbol: str) -> list[str]:
    """The names of which one must match: `a|b` and `a|sym:b` have two."""
    parts = [part.removeprefix("sym:") for part in symbol.split("|")]
    # In `operator|` and `operator||` it is part of the name.
    return parts if all(part.strip(".:#*") for part in parts) else [symbol]


def _unquoted(pattern: str) -> str:
    r"""A pattern with `\"` replaced by `"`, which means the same."""
    return re.sub(
        r"\\(.)", lambda pair: '"' if pair[1] == '"' else pair[0], pattern, flags=re.DOTALL
    )


def _shown(word: str) -> str:
    return word if len(word) <= 60 else word[:59] + "…"


def as_words(text: str) -> str:
    """A query for these words only: anything that looks like an operator is escaped."""
    blank = _BLANK_LINE.search(text)
    end = blank.start() if blank else len(text)
    found: list[str] = []
    at = passed = 0
    while (token := _TOKEN.search(text, at, end)) and passed <= BLOCK_CHARACTERS:
        found.append(text[at : token.start()])
        if _OPERATOR.match(token[0]) or _ESCAPED.match(token[0]):
            found.append("\\")
        found.append(token[0])
        at = token.end()
        passed += len(token[0]) + 1
    return "".join((*found, text[at:]))


def only_below(folder: str) -> str:
    """The operator that restricts a query to a directory below the root."""
    pattern = re.sub(r"([*?\[\]\\])", r"\\\1", folder)
    return f"path:{written('path', f'/{pattern}/')}"


def written(name: str, value: str, *, quoted: bool = False) -> str:
    """The value of an operator as it is written in a query, in quotes if it needs them."""
    if not quoted and value and not value.startswith(('"', ":")) and not _SPACE.search(value):
        return value
    if name != "re":
        value = value.replace("\\", "\\\\")
        return '"' + value.replace('"', '\\"') + '"'
    return '"' + re.sub(r'(\\.)|"', lambda m: m[1] or '\\"', value, flags=re.DOTALL) + '"'
